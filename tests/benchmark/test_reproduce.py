"""`mc2 reproduce`: the same numbers as `mc2 evaluate` and `mc2 bias`, in pieces that can be resumed."""

import json
from pathlib import Path

import numpy as np
import pytest

from mc2.benchmark.bias import study_bias
from mc2.benchmark.methods.registry import METHODS, make_method
from mc2.benchmark.reproduce import STUDIES, Row, Study, chosen_studies, reproduce
from mc2.benchmark.reproduce.studies import BALANCE
from mc2.benchmark.reproduce.workers import known_method
from mc2.benchmark.runner import evaluate
from mc2.benchmark.scores import METRICS, score_field
from mc2.errors import InputError
from mc2.geometry import Grid

pytest.importorskip("torch")

GRID = Grid(32)
TABLE = Study(
    "table", 5, 3, (Row("wos", (1, 8)), Row("gaussian_1"), Row("mc2-unet"), Row("fno-fair", (0,)), Row("trefftz", (0,)))
)
BIAS = Study("bias", 2, 2, (Row("gaussian_1"),), seeds=(0, 1, 2), columns=BALANCE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reproduced")
    found = reproduce(made, [TABLE, BIAS], grid=GRID, device="cpu", workers=1)
    assert found["finished"]
    assert not found["errors"]
    return made


def test_declared_rows_are_methods() -> None:
    for study in STUDIES.values():
        assert {row.method for row in study.rows} <= METHODS.keys()
        assert len({row.method for row in study.rows}) == len(study.rows)
        assert study.count % study.chunk == 0


@pytest.mark.parametrize("method", ["wos", "gaussian_1", "mc2-unet", "fno-fair", "trefftz"])
@pytest.mark.slow
def test_scores_are_those_of_evaluate(folder: Path, method: str) -> None:
    """One instance of every family. The networks' batches round differently, and Trefftz ends at float32."""
    expected = evaluate(make_method(method), walks=8, count=5, grid=GRID, device="cpu")["instances"]
    found = np.load(folder / "table.npz")[method][-1]
    for number, name in enumerate(METRICS):
        close = {"rel": 1e-3 if method in ("mc2-unet", "fno-fair") else 1e-4, "abs": 1e-6}
        assert found[:, number] == pytest.approx([row[name] for row in expected], **close), name


def test_bias_is_that_of_study_bias(folder: Path) -> None:
    expected = study_bias(make_method("gaussian_1"), cases=2, repeats=3, grid=GRID, device="cpu")["instances"]
    found = np.load(folder / "bias.npz")["gaussian_1"][0]
    for number, name in enumerate(BALANCE[:-1]):
        assert found[:, number] == pytest.approx([float(row[name]) for row in expected], rel=1e-4), name


def test_summary_has_standard_errors(folder: Path) -> None:
    summary = json.loads((folder / "table.json").read_text())
    values = np.load(folder / "table.npz")["wos"][1, :, 0].astype(float)
    row = next(row for row in summary["rows"] if (row["method"], row["walks"]) == ("wos", 8))
    assert row["overall"]["psnr"]["mean"] == pytest.approx(values.mean(), rel=1e-5)
    assert row["overall"]["psnr"]["standard_error"] == pytest.approx(values.std(ddof=1) / 5**0.5, rel=1e-5)
    assert row["families"]["poisson"]["count"] == 1
    assert [run["minutes"] > 0 for run in summary["runs"]] == [True]


def test_goes_on_from_chunks_and_from_packed_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is computed again: the pool of workers is not even started."""

    def refuse(workers: int) -> None:
        raise AssertionError(f"{workers} workers were started")

    monkeypatch.setattr("mc2.benchmark.reproduce.run.worker_pool", refuse)
    for name in ("settings.json", "table.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    assert reproduce(tmp_path, [TABLE], grid=GRID, device="cpu")["done"]["table"]["trefftz"] == 5
    (folder / "table.npz").unlink()
    assert reproduce(folder, [TABLE], grid=GRID, device="cpu")["done"]["table"]["trefftz"] == 5
    (folder / "table.npz").unlink()
    lost = folder / "chunks/table/wos/00003-00004.npz"
    kept = lost.read_bytes()
    lost.unlink()
    with pytest.raises(AssertionError, match="workers were started"):
        reproduce(folder, [TABLE], grid=GRID, device="cpu")
    lost.write_bytes(kept)


def test_a_smaller_run_keeps_what_was_packed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mc2.benchmark.reproduce.run.worker_pool", None)  # nothing is to do
    before = reproduce(folder, [TABLE], grid=GRID, device="cpu")["files"][0]
    for name in ("settings.json", "table.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    reproduce(tmp_path, [TABLE.limited(2, ["wos"])], grid=GRID, device="cpu")
    old, new = np.load(before), np.load(tmp_path / "table.npz")
    assert set(new) == set(old)
    assert all(np.array_equal(new[name], old[name], equal_nan=True) for name in old)


@pytest.mark.slow
def test_stops_in_time_and_packs(tmp_path: Path) -> None:
    found = reproduce(tmp_path, [TABLE], grid=GRID, device="cpu", workers=1, seconds=0.01)
    assert not found["finished"]
    assert (tmp_path / "table.npz").exists()


@pytest.mark.slow
def test_methods_that_cannot_be_made_are_left_to_a_run_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(name: str) -> object:
        if name == "gaussian_1":
            raise InputError("there is none")
        return known_method(name)

    monkeypatch.setattr("mc2.benchmark.reproduce.run.known_method", make)
    for name in ("settings.json", "table.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    found = reproduce(tmp_path, [TABLE], grid=GRID, device="cpu")
    assert found["errors"] == ["gaussian_1 was left out: there is none"]
    assert "gaussian_1" not in found["done"]["table"]
    assert np.array_equal(np.load(tmp_path / "table.npz")["gaussian_1"], np.load(folder / "table.npz")["gaussian_1"])


def test_chosen_studies() -> None:
    (table,) = chosen_studies(["table"], count=7, only=["wos", "fd"], without=["fd"])
    assert (table.count, [row.method for row in table.rows]) == (7, ["wos"])
    assert [study.name for study in chosen_studies(only=["trefftz"])] == ["table"]
    with pytest.raises(InputError, match="nlmm"):
        chosen_studies(only=["nlmm"])
    with pytest.raises(InputError, match="tables"):
        chosen_studies(["tables"])


def test_other_settings_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="grid = 32, not 64"):
        reproduce(folder, [TABLE], grid=Grid(64), device="cpu")


def test_batch_scores_and_fields_that_are_not_finite() -> None:
    from mc2.benchmark.lpips import lpips
    from mc2.benchmark.reproduce.scoring import score_batch

    random = np.random.default_rng(0)
    exact, mask = random.normal(size=(3, 40, 40)), random.random((3, 40, 40)) < 0.7
    predicted = (exact + 0.1 * random.normal(size=exact.shape)).astype(np.float32)
    predicted[2, 5, 5], mask[2, 5, 5] = np.nan, True
    found = score_batch(predicted, exact, mask, "cpu")
    assert np.isnan(found[2]).all()
    for number in range(2):
        expected = score_field(predicted[number], exact[number], mask[number], lpips())
        for place, name in enumerate(METRICS):  # LPIPS is a float32 network, whose sums a batch orders otherwise
            assert found[number, place] == pytest.approx(expected[name], rel=1e-4 if name == "lpips" else 1e-10), name
