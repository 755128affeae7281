"""Documentation that cannot drift: its tables are what the package and the measured results say."""

from types import SimpleNamespace

import pytest
from docs.measured import NETWORKS, reproduced
from docs.tables import BLOCKS, PAGES, result, rewritten

from mc2.zoo import VERSION, generate
from mc2.zoo.difficulty import known_tier, tier
from mc2.zoo.studies.calibration import ALLOWED_SHARE


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_tables_are_up_to_date(file):
    text = file.read_text("utf-8")
    assert rewritten(text) == text, "run python docs/tables.py"


def test_every_table_is_used():
    text = "".join(file.read_text("utf-8") for file in PAGES)
    assert all(f"<!-- begin {name} -->" in text for name in BLOCKS)


@pytest.mark.parametrize("name", ["zoo_calibration", "zoo_difficulty", "zoo_convergence", "zoo_test_difficulty"])
def test_results_are_of_this_generator(name):
    assert result(name)["generator_version"] == VERSION


def test_every_row_of_the_results_is_of_all_instances():
    found = reproduced("table")
    assert found["generator_version"] == VERSION
    for row in found["rows"]:
        assert (row["overall"]["count"], row["overall"]["failed"]) == (5000, 0)
        assert [own["count"] for own in row["families"].values()] == [1000] * 5
        assert sum(own["count"] for own in row["tiers"].values()) == 5000


def test_curve_and_table_agree_on_the_instances_that_they_share():
    """Two studies of one run: walked in other portions, with the same numbers."""
    curve = {row["method"]: row for row in reproduced("curve")["rows"] if row["walks"] == 8}
    shared = {row["method"]: row for row in reproduced("table")["first 100"] if row["walks"] == 8}
    assert set(NETWORKS) < set(curve)
    for method, row in curve.items():
        assert row["overall"]["count"] == shared[method]["overall"]["count"] == 100
        assert row["overall"]["mean"] == pytest.approx(shared[method]["overall"]["mean"], abs=0.02)


def test_quantities_are_as_accurate_as_wanted_and_within_their_bars():
    found = result("quantities")
    assert all(row["relative error"] <= row["wanted"] for row in found["table"])
    assert [row["quantity"] for row in found["table"] if not row["held"]] == []
    assert found["gradient"]["worst"] <= 1e-8
    assert found["gradient"]["within"] >= 0.95


def test_calibration_is_within_its_bars():
    found = result("zoo_calibration")
    for row in found["families"].values():
        assert abs(row["psnr"] - row["paper"]) <= row["allowed"]
    assert all(abs(a - b) <= ALLOWED_SHARE for a, b in zip(found["tiers"], found["paper_tiers"], strict=True))


def test_shipped_tiers_are_the_measured_ones():
    found = result("zoo_test_difficulty")
    families = list(found["families"])
    for index in range(5000):
        error = found["mse"][families[index % 5]][index // 5]
        assert known_tier(generate("test", index) if index < 50 else _bare(index)) == tier(error)


def _bare(index):
    """Where a test instance stands, without drawing it."""
    return SimpleNamespace(split="test", version=VERSION, index=index)
