"""The protocol: methods get what they declare, and scores are those of the metrics."""

import json

import numpy as np
import pytest

from mc2.benchmark.bias import decompose, draw_bias, study_bias
from mc2.benchmark.curve import equivalent_budget, measure_curve, shipped_curve
from mc2.benchmark.methods.method import READABLE, Case, Method
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.paper import paper_psnr
from mc2.benchmark.results import add_references, read_results, write_results
from mc2.benchmark.runner import evaluate, standard_walks
from mc2.benchmark.scores import score_field
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, generate, make_fields

GRID = Grid(24)
SMALL = {"grid": GRID, "device": "cpu", "lpips": False}


class Half(Method):
    """A correction that is wrong in a known way: half of the estimate."""

    name = "half"
    setting = "correction"
    reads = ("estimate",)

    def solve(self, case):
        return 0.5 * case.estimate


class Points(Method):
    """Knows the truth of the first instances, and is perfect."""

    name = "oracle"
    setting = "points"
    reads = ("problem", "points")

    def __init__(self):
        self.truths = (generate("test", index).truth for index in range(5))

    def solve(self, case):
        assert case.problem.exact is None
        return next(self.truths)(*case.points.T)


def test_scores_are_those_of_the_metrics():
    found = evaluate(make_method("wos"), walks=4, count=10, **SMALL)
    fields = make_fields([generate("test", n) for n in range(10)], [4], grid=GRID, device="cpu")
    for n, row in enumerate(found["instances"]):
        problem = generate("test", n).problem
        expected = score_field(fields.mean[n, 0], problem.on_grid(problem.exact, GRID), fields.mask[n])
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        assert row["walking_seconds"] > 0
    laplace = [row["psnr"] for row in found["instances"] if row["family"] == "laplace"]
    assert found["families"]["laplace"]["psnr"]["mean"] == pytest.approx(np.mean(laplace))
    assert found["overall"]["psnr"]["std"] == pytest.approx(np.std([row["psnr"] for row in found["instances"]]))
    assert list(found["families"]) == list(FAMILIES)
    assert sum(row["count"] for row in found["tiers"].values()) == 10
    again = evaluate(make_method("wos"), walks=4, count=10, **SMALL)
    assert again["overall"]["psnr"] == found["overall"]["psnr"]
    other = evaluate(make_method("wos"), walks=4, count=10, seed=1, **SMALL)
    assert other["overall"]["psnr"] != found["overall"]["psnr"]


def test_methods_are_handed_only_what_they_declare():
    class Curious(Half):
        name = "curious"

        def solve(self, case):
            return case.problem.boundary

    with pytest.raises(InputError, match="curious asks for 'problem', but declares that it reads estimate"):
        evaluate(Curious(), count=1, **SMALL)
    with pytest.raises(InputError, match="cannot read problem in the setting 'correction'"):

        class Cheat(Half):
            reads = ("estimate", "problem")

    assert "problem" not in READABLE["correction"]
    assert "estimate" not in READABLE["dense"]


def test_points():
    found = evaluate(Points(), count=5, **SMALL)
    assert found["overall"]["psnr"]["mean"] > 140  # fields are float32
    assert found["walks"] == 0


def test_predictions_that_are_no_fields():
    class Broken(Half):
        name = "broken"

        def solve(self, case):
            return np.full(case.estimate.shape, np.nan)

    with pytest.raises(InputError, match=r"broken on pdezoo-1/test/0000000: the prediction has .* not finite"):
        evaluate(Broken(), count=1, **SMALL)


def test_results_files(tmp_path):
    kept = []
    found = evaluate(Half(), count=6, keep=lambda instance, field: kept.append((instance.id, field)), **SMALL)
    found = add_references(found)
    write_results(found, tmp_path / "r.json")
    assert read_results(tmp_path / "r.json") == json.loads(json.dumps(found))
    assert found["equivalent_budget"] == {}  # not the full grid
    assert [name for name, _ in kept] == [row["id"] for row in found["instances"]]
    assert all((field[~generate("test", n).problem.mask(GRID)] == 0).all() for n, (_, field) in enumerate(kept))
    (tmp_path / "r.json").write_text("[]")
    with pytest.raises(InputError, match="no results file"):
        read_results(tmp_path / "r.json")


def test_curve_and_equivalent_budgets():
    curve = measure_curve([1, 4, 16], count=5, grid=GRID, device="cpu")
    means = curve["overall"]["psnr"]["mean"]
    assert means == sorted(means)
    assert equivalent_budget(means[1], curve=curve) == pytest.approx(4)
    assert equivalent_budget(0.5 * (means[1] + means[2]), curve=curve) == pytest.approx(8)
    assert equivalent_budget(means[-1] + 1, curve=curve) is None
    assert equivalent_budget(means[0] - 1, curve=curve) is None
    shipped = shipped_curve()
    assert shipped["count"] == 250
    for family in FAMILIES:
        assert 7 < equivalent_budget(shipped["families"][family]["psnr"]["mean"][3], family) < 9


def test_the_paper_s_numbers():
    assert paper_psnr("wos", 8, "laplace") == 25.22
    assert paper_psnr("wos", 16384, "overall") == 42.14
    assert paper_psnr("nlm", 8, "poisson") == 21.56
    assert paper_psnr("nlm", 16, "poisson") is None
    assert paper_psnr("cocogen", 8, "helmholtz") is None
    assert paper_psnr("unheard of", 8, "laplace") is None


def test_bias_and_variance_of_a_known_correction():
    """Half of an unbiased estimate: bias −u/2, a quarter of the variance, factor 1/2."""
    instance = generate("test", 0)
    found = decompose(Half(), instance, 8, 40, GRID, "cpu")
    mask, u = found["mask"], instance.problem.on_grid(instance.problem.exact, GRID)
    scale = np.ptp(u[mask]) ** 2
    np.testing.assert_allclose(found["variance"], 0.25 * found["raw_variance"], rtol=1e-5)
    assert found["bias2"][mask].mean() == pytest.approx((0.25 * u[mask] ** 2).mean() / scale, rel=0.05)
    np.testing.assert_allclose(found["factors"], 0.5, rtol=1e-6)
    raw = [standard_walks(instance, 8, seed, GRID, "cpu").mean for seed in range(40)]
    np.testing.assert_allclose(found["raw_variance"][mask], np.var(raw, axis=0, ddof=1)[mask] / scale, rtol=1e-4)


def test_bias_study():
    contents = study_bias(Half(), cases=5, repeats=4, grid=GRID, device="cpu")
    assert contents["overall"]["lipschitz"] == pytest.approx(0.5, rel=1e-5)
    assert len(draw_bias(contents).axes) >= 4
    exact = study_bias(make_method("wos"), cases=2, repeats=4, grid=GRID, device="cpu")
    assert exact["overall"]["lipschitz"] == pytest.approx(1)
    with pytest.raises(InputError, match="oracle is no correction"):
        study_bias(Points(), cases=1, repeats=2, grid=GRID)


def test_a_case_holds_copies_of_nothing_else():
    case = Case(Half(), {"estimate": 1, "mask": 2})
    assert case.estimate == 1
    with pytest.raises(InputError, match="asks for 'mask'"):
        _ = case.mask
