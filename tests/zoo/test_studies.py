"""Studies against counts and fits done by hand, and their figures."""

import json
from collections import Counter

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.metrics import mse, psnr
from mc2.zoo import VERSION, generate, make_fields, to_record
from mc2.zoo.difficulty import tier
from mc2.zoo.laws import FAMILIES, POOLS
from mc2.zoo.studies import calibration, convergence, statistics, tiers
from mc2.zoo.studies.walking import Walker, first, spread

GRID = Grid(24)
BUDGETS = (1, 2, 4, 8, 16, 32)


@pytest.fixture(scope="module")
def slopes():
    return convergence.study_convergence(6, grid=GRID, device="cpu", budgets=(1, 4, 16), repeats=1)


@pytest.fixture(scope="module")
def hardness():
    return tiers.study_difficulty(11, "test", grid=GRID, device="cpu")


@pytest.fixture(scope="module")
def calibrated():
    return calibration.study_calibration(2, grid=GRID, device="cpu")


@pytest.fixture(scope="module")
def counted():
    return statistics.study_statistics("test", 60)


def test_slopes_of_power_laws():
    for rate in (-1.0, -0.5, 0.25):
        assert convergence.slope(BUDGETS, [7 * b**rate for b in BUDGETS]) == pytest.approx(rate, abs=1e-12)
    noise = np.random.default_rng(0).normal(size=6)
    fitted = np.polyfit(np.log(BUDGETS), noise, 1)[0]
    assert convergence.slope(BUDGETS, np.exp(noise)) == pytest.approx(fitted)


def test_summary_of_slopes():
    row = convergence.summarise([-1.06, -1.04, -1.0, -0.99, -0.94])
    assert row == {"median": -1.0, "min": -1.06, "max": -0.94, "within": pytest.approx(60.0), "count": 5}
    assert convergence.summarise([-1.05, -0.95])["within"] == 100.0


def test_convergence_of_walks(slopes):
    """Every slope is that of errors computed here from the fields."""
    assert [case["family"] for case in slopes["cases"]] == ["laplace", "poisson", "yukawa"] * 2
    for case, index in zip(slopes["cases"], (0, 1, 2, 5, 6, 7), strict=True):
        instance = generate("test", index)
        fields = make_fields([instance], (1, 4, 16), grid=GRID, device="cpu", max_steps=256)
        exact = instance.problem.on_grid(instance.problem.exact, GRID)
        errors = [np.mean((mean - exact)[fields.mask[0] == 1] ** 2) for mean in fields.mean[0]]
        np.testing.assert_allclose(case["mse"], errors)
        assert case["slope"] == pytest.approx(np.polyfit(np.log([1, 4, 16]), np.log(errors), 1)[0])
    assert slopes["overall"]["count"] == 6
    assert slopes["families"]["yukawa"]["median"] == np.median([slopes["cases"][n]["slope"] for n in (2, 5)])


def test_repeats_lower_the_noise():
    """Independent runs average out: with many, every slope is near −1, which single ones are not."""
    options = {"cases": 4, "families": ("laplace", "poisson"), "grid": Grid(10), "device": "cpu"}
    one = convergence.study_convergence(**options, repeats=1)
    many = convergence.study_convergence(**options, repeats=24)
    single, mean = ([abs(case["slope"] + 1) for case in study["cases"]] for study in (one, many))
    assert np.mean(mean) < 0.05 < np.mean(single)
    assert many["walks"] == 24 * one["walks"]


def test_cases_are_spread():
    assert [i.index for i in spread("test", ["laplace", "yukawa"], 5)] == [0, 2, 5, 7, 10]
    assert [i.family for i in spread("train", ["yukawa", "poisson"], 3)] == ["poisson", "yukawa", "yukawa"]
    assert [i.index for i in first("test", 3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", ["biharmonic"], 3), "unknown family in train 'biharmonic'"),
        (("exam", ["laplace"], 3), "unknown split 'exam'"),
        (("test", ["laplace"], 1001), "from 1 to 1000"),
        (("test", ["laplace", "poisson"], 1), "from 2 to 2000"),
        (("test", ["laplace", "laplace"], 4), "twice"),
    ],
)
def test_bad_choices(arguments, message):
    with pytest.raises(InputError, match=message):
        spread(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"budgets": [4]}, "two or more"), ({"repeats": 0}, "repeats = 0"), ({"max_steps": 0}, "max_steps = 0")],
)
def test_bad_convergence(options, message):
    with pytest.raises(InputError, match=message):
        convergence.study_convergence(3, grid=GRID, **options)


def test_walks_that_are_cut_off_are_counted():
    reports = []
    walker = Walker(GRID, "cpu", max_steps=2, report=lambda *numbers: reports.append(numbers), total=10)
    masks = [walked.mask for walked in walker.walk(first("test", 10), [2, 4])]
    facts = walker.facts()
    assert facts["walks"] == 4 * sum(mask.sum() for mask in masks)
    assert 0.1 < facts["truncated_share"] == facts["truncated"] / facts["walks"] < 1
    assert reports == [(8, 10), (10, 10)]


def test_tiers_of_known_errors():
    row = tiers.summarise([1e-3, 1e-2, 0.1, 1.0, 99.0, 100.0, 1e5, 1e-9])
    assert row["shares"] == [25.0, 25.0, 25.0, 25.0]
    assert row["count"] == 8
    assert tiers.summarise([1e-2, 1.0, 100.0])["quartiles"] == pytest.approx([-1.0, 0.0, 1.0])


def test_difficulty(hardness):
    assert set(hardness["families"]) == set(FAMILIES)
    assert {family: row["count"] for family, row in hardness["families"].items()} == dict.fromkeys(FAMILIES, 2) | {
        "laplace": 3
    }
    assert hardness["families"]["helmholtz"]["estimator"] == "reduced"
    for row in (*hardness["families"].values(), hardness["overall"]):
        assert sum(row["shares"]) == pytest.approx(100)
    instance = generate("test", 6)
    fields = make_fields([instance], [32], grid=GRID, device="cpu")
    error = mse(fields.mean[0, 0], fields.u[0], fields.mask[0].astype(bool))
    assert hardness["mse"]["poisson"][1] == pytest.approx(error, rel=1e-5)
    names = Counter(tier(error) for errors in hardness["mse"].values() for error in errors)
    assert hardness["overall"]["shares"] == pytest.approx([100 * names[name] / 11 for name in hardness["tiers"]])


def test_calibration(calibrated):
    fields = make_fields([generate("test", index) for index in (4, 9)], [8], grid=GRID, device="cpu")
    scores = [psnr(m[0], u, k.astype(bool)) for m, u, k in zip(fields.mean, fields.u, fields.mask, strict=True)]
    row = calibrated["families"]["helmholtz"]
    assert row["psnr"] == pytest.approx(np.mean(scores), abs=1e-4)
    assert row["std"] == pytest.approx(np.std(scores), abs=1e-4)
    assert row["difference"] == row["psnr"] - 10.93
    assert row["within"] == (abs(row["difference"]) <= 2)
    assert row["estimator"] == "reduced"
    assert list(calibrated["families"]) == list(FAMILIES)
    assert calibrated["families"]["biharmonic"]["allowed"] == 4
    train = tiers.study_difficulty(6, "train", grid=GRID, device="cpu")
    assert calibrated["tiers"] == train["overall"]["shares"]
    assert calibrated["very_hard_by_family"]["laplace"] == train["families"]["laplace"]["shares"][3]
    assert calibrated["tiers_within"][0] == (abs(calibrated["tiers"][0] - 20) <= 6)


def test_statistics_are_counts_of_records(counted):
    records = [to_record(generate("test", index)) for index in range(60)]
    kinds = Counter(record["kind"] for record in records)
    assert {name: row["count"] for name, row in counted["families"].items()} == kinds
    shapes = Counter(record["domain"].get("shape") or next(iter(record["domain"])) for record in records)
    assert {name: row["count"] for name, row in counted["domains"].items() if row["count"]} == shapes
    terms = Counter(record["terms"] for record in records)
    assert {int(name): row["count"] for name, row in counted["terms"].items()} == terms
    rejected = Counter(name for record in records for name in record["rejected"])
    assert {name: row["count"] for name, row in counted["filters"].items() if row["count"]} == rejected
    assert counted["attempts"] == 60 + rejected.total()
    assert counted["mean_retries"] == pytest.approx(rejected.total() / 60)
    harmonic = Counter(atom["type"] for record in records if record["kind"] == "laplace" for atom in record["atoms"])
    assert {name: row["count"] for name, row in counted["atoms"]["laplace"].items() if row["count"]} == harmonic
    waves = sorted(record["k"] for record in records if record["kind"] == "helmholtz")
    assert counted["quantiles"]["k"]["helmholtz"][::6] == [waves[0], waves[-1]]
    assert "laplace" not in counted["quantiles"]["std_f"]


def test_shares_add_up(counted):
    for table in (counted["families"], counted["domains"], counted["terms"], *counted["atoms"].values()):
        assert sum(row["share"] for row in table.values()) == pytest.approx(100)
        assert sum(row["expected"] for row in table.values()) == pytest.approx(100)
    assert sum(row["count"] for row in counted["retries"].values()) == 60
    assert counted["domains"]["union"]["expected"] == pytest.approx(100 * 3 / 11 * 3 / 7)
    assert counted["atoms"]["general"]["sech_bump"]["expected"] == pytest.approx(12.5)
    assert set(counted["atoms"]) == set(POOLS)


def test_statistics_of_training_have_two_pools():
    assert set(statistics.study_statistics("train", 6)["atoms"]) == {"laplace", "general"}
    with pytest.raises(InputError, match="count = 5001"):
        statistics.study_statistics("test", 5001)


@pytest.mark.parametrize(
    ("name", "draw", "words"),
    [
        ("slopes", convergence.draw_convergence, "1/B laplace poisson yukawa walks"),
        ("hardness", tiers.draw_difficulty, "helmholtz (reduced) MSE very hard"),
        ("calibrated", calibration.draw_calibration, "PSNR paper reduced medium"),
        ("counted", statistics.draw_statistics, "stadium difference narrow_bump h_dipole forcing"),
    ],
)
def test_figures_from_plain_data(name, draw, words, request):
    """A study survives JSON, and its figure is drawn from what comes back."""
    contents = json.loads(json.dumps(request.getfixturevalue(name), allow_nan=False))
    assert contents["generator_version"] == VERSION
    figure = draw(contents)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    said = " ".join(text.get_text() for text in figure.findobj(Text))
    for word in words.split():
        assert word in said
    pixels = np.asarray(canvas.buffer_rgba())
    assert pixels[..., :3].std() > 20
