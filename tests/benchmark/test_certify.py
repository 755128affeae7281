"""`mc2.certify`: every kind of field, errors that are known, and fields that are none."""

import math
import re

import numpy as np
import pytest
import torch
import xarray

import mc2
from mc2.functions.grid_function import GridFunction
from mc2.geometry import Disk, Grid, Rectangle

GRID = Grid(48)
X, Y = GRID.points()
EXACT = "sin(3*x)*cos(2*y)"
KNOWN = mc2.Poisson(Disk(1.0), exact=EXACT)
PROBLEM = mc2.Poisson(Disk(1.0), source=KNOWN.source, boundary=KNOWN.boundary)  # does not know its solution
MASK = PROBLEM.mask(GRID)
FEW = {"walks": 16, "points": 500}


def wrong(x, y):
    """The solution and a smooth error."""
    return np.sin(3 * x) * np.cos(2 * y) + error(x, y)


def error(x, y):
    return 1e-3 * (np.sin(4 * x + y) - 0.3)


FIELD = np.where(MASK, wrong(X, Y), 0.0)


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def held(found, true):
    """Whether the intervals for the root mean square and for the mean hold those of u − v, an array over the pixels."""
    overall = found.overall
    assert overall.rms.low <= overall.rms.estimate <= overall.rms.high
    assert abs(overall.mean.estimate) <= overall.rms.high
    return (
        overall.rms.low <= rms(true) <= overall.rms.high,
        overall.mean.low <= true.mean() <= overall.mean.high,
    )


def check(certify, true, seeds=20, ratio=1.3):
    """A certificate's intervals hold the error for 16 of 20 seeds or more, and its upper end is close to the error.

    At 95 %, fewer than 16 of 20 hold once in 390 times, and fewer than 4 of 5 once in 44.
    """
    found = [certify(seed) for seed in range(seeds)]
    assert (np.sum([held(one, true) for one in found], axis=0) >= 0.8 * seeds).all()
    assert np.median([one.overall.rms.high for one in found]) <= ratio * rms(true)


def same(found, other, rel=1e-4):
    """Whether two certificates are of one field, by the same walks."""
    for one, two in ((found.overall.rms, other.overall.rms), (found.overall.mean, other.overall.mean)):
        ends, others = ((i.estimate, i.low, i.high) for i in (one, two))
        assert ends == pytest.approx(others, rel=rel, abs=rel * other.overall.rms.high)


@pytest.fixture(scope="module")
def expected():
    """The certificate of the field, that of every kind of array must be like."""
    return mc2.certify(PROBLEM, FIELD, grid=GRID, **FEW)


def data_array(values=FIELD, name=None):
    return xarray.DataArray(values, dims=("y", "x"), coords={"x": GRID.x, "y": GRID.y}, name=name)


FIELDS = {
    "array and grid": (FIELD, GRID),
    "array and bounds": (FIELD, (-1, 1, -1, 1)),
    "masked array": (np.ma.masked_array(FIELD, ~MASK), GRID),
    "NaN outside": (np.where(MASK, FIELD, np.nan), GRID),
    "nested lists": (FIELD.tolist(), GRID),
    "float32": (FIELD.astype(np.float32), GRID),
    "tensor": (torch.tensor(FIELD, requires_grad=True), GRID),
    "GridFunction": GridFunction(FIELD, GRID),
    "DataArray": data_array(),
    "DataArray, transposed": data_array().T,
    "DataArray, descending": data_array()[::-1, ::-1],
    "Dataset": xarray.Dataset({"temperature": data_array()}),
    "Dataset of several": xarray.Dataset({"flux": data_array(0 * X), "u": data_array()}),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_arrays_of_every_kind(kind, expected):
    """They are all the same field, so they get the same certificate."""
    found = mc2.certify(PROBLEM, FIELDS[kind], **FEW)
    same(found, expected)
    assert found.walks == 8_000
    assert found.kind == "walks"
    assert found.note == ""


@pytest.mark.parametrize("make", [lambda: wrong, lambda: mc2.Poisson(Disk(), exact=wrong).exact])
def test_functions(make, expected):
    """A Python function, and one of ours; at the pixels of a grid."""
    same(mc2.certify(PROBLEM, make(), grid=GRID, **FEW), expected)


def test_the_error_of_an_array():
    check(lambda seed: mc2.certify(PROBLEM, FIELD, grid=GRID, seed=seed, **FEW), -error(X, Y)[MASK])


def test_functions_are_asked_on_a_grid_that_covers_the_domain():
    problem = mc2.Laplace(Rectangle(3.0, 1.0, center=(40, 7)), exact="(x - 40)*(y - 7)")
    found = mc2.certify(problem, lambda x, y: (x - 40) * (y - 7) + 0.5)
    assert found.overall.rms.estimate == pytest.approx(0.5, rel=2e-3)
    assert found.overall.mean.estimate == pytest.approx(-0.5, rel=2e-3)
    xmin, xmax, ymin, ymax = found.overall.bounds
    assert (xmin, xmax) == pytest.approx((37, 43), abs=0.02)
    assert (ymin, ymax) == pytest.approx((6, 8), abs=0.02)


def test_bounds_say_where_an_array_lies():
    problem, box = mc2.Laplace(Rectangle(3.0, 1.0, center=(40, 7)), exact="(x - 40)*(y - 7)"), (37, 43, 6, 8)
    x, y = Grid(48, bounds=box).points()
    check(lambda seed: mc2.certify(problem, 0 * X, grid=box, seed=seed, **FEW), ((x - 40) * (y - 7)).ravel())


def test_rectangular_arrays_and_parts_of_a_domain():
    """Only what is in the array is certified."""
    part = data_array()[20:, 5:40]
    inside = MASK[20:, 5:40]
    check(lambda seed: mc2.certify(PROBLEM, part, seed=seed, **FEW), -error(X, Y)[20:, 5:40][inside])
    assert mc2.certify(PROBLEM, part, **FEW).overall.bounds[2] == pytest.approx(GRID.y[20])


def test_points_of_ones_own():
    points = PROBLEM.domain.sample_interior(50, seed=4)
    check(lambda seed: mc2.certify(PROBLEM, wrong, walks=16, points=points, seed=seed), -error(*points.T))
    found = mc2.certify(PROBLEM, wrong, walks=64, points=points)
    assert found.points == pytest.approx(points, abs=1e-6)
    truth = KNOWN.exact(*found.points.T)
    assert np.abs((found.values - truth) / found.standard_error).max() < 5


@pytest.mark.parametrize("how", [{"walks": 2}, {"walks": 4, "corrector": "wos"}])
def test_solutions(how):
    """A solution is certified for its own problem and for an equal one, and on other pixels."""
    solution = mc2.solve(PROBLEM, grid=GRID, **how)
    true = (np.sin(3 * X) * np.cos(2 * Y) - solution.values)[MASK]
    check(lambda seed: mc2.certify(PROBLEM, solution, seed=seed, **FEW), true)
    check(lambda seed: mc2.certify(KNOWN, solution, seed=seed, **FEW), true)
    assert mc2.certify(PROBLEM, solution, **FEW).overall == solution.certify(**FEW).overall
    coarse = mc2.certify(PROBLEM, solution, grid=16, **FEW)
    assert len(np.unique(coarse.points[:, 0])) <= 16


def test_a_solution_is_judged_by_the_problem_it_is_certified_for():
    """Not by its own."""
    other = mc2.solve(mc2.Poisson(Disk(1.0), source=PROBLEM.source, boundary=f"{EXACT} + 0.25"))
    found = mc2.certify(PROBLEM, other)
    assert found.overall.rms.estimate == pytest.approx(0.25, rel=1e-3)
    smaller = mc2.solve(mc2.Poisson(Disk(0.5), source=PROBLEM.source, boundary=PROBLEM.boundary), grid=GRID)
    with pytest.raises(mc2.InputError, match="not known, at"):
        mc2.certify(PROBLEM, smaller)


@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_files_of_solutions(tmp_path, ending):
    solution = mc2.solve(PROBLEM, 2, grid=GRID)
    path = tmp_path / f"s.{ending}"
    solution.save(path)
    found = mc2.certify(PROBLEM, path, **FEW)
    same(found, mc2.certify(PROBLEM, (solution.values, GRID), **FEW), rel=1e-9)
    assert mc2.certify(PROBLEM, str(path), **FEW).overall == found.overall


def test_files_of_arrays(tmp_path, expected):
    np.save(tmp_path / "f.npy", FIELD)
    np.savez(tmp_path / "f.npz", u=FIELD, bounds=GRID.bounds)
    data_array(name="heat").to_netcdf(tmp_path / "f.nc", engine="scipy")
    for end in ("npz", "nc"):
        same(mc2.certify(PROBLEM, tmp_path / f"f.{end}", **FEW), expected)
    same(mc2.certify(PROBLEM, tmp_path / "f.npy", grid=GRID, **FEW), expected)


def test_methods_by_name():
    """Finite differences converge, and the certificate sees it; non-local means do not come near."""
    asked = (("fd", 24), ("fd", 96), ("nlm", 48))
    coarse, fine, denoised = (mc2.certify(PROBLEM, name, grid=size, walks=16).overall.rms for name, size in asked)
    assert 8 < coarse.estimate / fine.estimate < 32
    assert denoised.low > 100 * fine.high


@pytest.mark.parametrize(
    "problem",
    [
        mc2.Laplace(Disk(1.0), exact="exp(2*x)*cos(2*y)"),
        mc2.Yukawa(Disk(1.0), exact="sin(3*x)*cos(2*y)", lam=4.0),
        mc2.Biharmonic(Disk(1.0), exact="sin(2*x)*cos(2*y)"),
        mc2.Helmholtz(Disk(1.0), exact="sin(3*x)*cos(2*y)", k=1.2),
    ],
    ids=lambda problem: problem.name,
)
def test_all_families(problem):
    values = np.where(MASK, problem.exact(X, Y) + error(X, Y), 0.0)
    check(lambda seed: mc2.certify(problem, values, grid=GRID, seed=seed, **FEW), -error(X, Y)[MASK])


@pytest.mark.slow
def test_rough_sources_are_met():
    """Δw = f for w = −1.25 r² + 7.5 max(x − 0.1, 0)², which is therefore the solution with its own boundary values."""

    def solution(x, y):
        return -1.25 * (x**2 + y**2) + 7.5 * np.maximum(x - 0.1, 0) ** 2

    jump = mc2.Poisson(Disk(1.0), source="where(x > 0.1, 10, -5)", boundary=solution)
    # walks that meet the jump are noisy: the interval is wide, and holds
    values = solution(X, Y) + error(X, Y)
    check(lambda seed: mc2.certify(jump, (values, GRID), seed=seed), -error(X, Y)[MASK], seeds=5, ratio=10)
    smooth = mc2.Poisson(Disk(1.0), source="2.5", boundary=solution)  # as if a lattice had shown the mean
    blind = mc2.solve(smooth, grid=GRID)
    true = (solution(X, Y) - blind.values)[MASK]
    check(lambda seed: mc2.certify(jump, (blind.values, GRID), seed=seed), true, seeds=5)


@pytest.mark.parametrize(("size", "value"), [(1e-6, 1.0), (1.0, 1e100), (1e-6, 1e100), (1e6, 1e-100)])
def test_units_do_not_matter(size, value, expected):
    """The certificate of the unit problem, in other units."""
    unit_solution = f"sin(3*(x/{size}))*cos(2*(y/{size}))"
    source, boundary = f"{-13 * value / size**2}*{unit_solution}", f"{value}*{unit_solution}"
    problem = mc2.Poisson(Disk(size), source=source, boundary=boundary)
    box = Grid(48, bounds=(-size, size, -size, size))
    found = mc2.certify(problem, (value * FIELD, box), **FEW)
    for one, unit in ((found.overall.rms, expected.overall.rms), (found.overall.mean, expected.overall.mean)):
        ends = one.estimate / value, one.low / value, one.high / value
        assert ends == pytest.approx((unit.estimate, unit.low, unit.high), rel=1e-4)
    assert found.overall.bounds == pytest.approx([size * end for end in expected.overall.bounds])


def test_methods_in_any_units():
    """They work in float32, which does not reach this far."""
    problem = mc2.Laplace(Disk(1e-6), boundary="1e100*x")
    found = mc2.certify(problem, "nlm", grid=32)
    unit = mc2.certify(mc2.Laplace(Disk(1.0), boundary="x"), "nlm", grid=32)
    assert found.overall.rms.estimate == pytest.approx(1e94 * unit.overall.rms.estimate, rel=0.3)


@pytest.mark.parametrize("k", [5.0, 12.0])
def test_helmholtz_beyond_the_walks_limit_is_a_bound(k):
    problem = mc2.Helmholtz(Disk(1.0), exact="sin(3*x)*cos(2*y)", k=k)
    found = mc2.certify(problem, FIELD, grid=GRID)
    assert (found.kind, found.walks) == ("bound", 0)
    assert "not from walks" in found.note
    assert "bound" in str(found)
    assert held(found, -error(X, Y)[MASK]) == (True, True)
    assert found.overall.rms.high <= 1.3 * rms(error(X, Y)[MASK])
    exact = mc2.certify(problem, KNOWN.exact(X, Y), grid=GRID).overall.rms
    assert 0 < exact.high < 1e-9


# --- an electrode that one walk in fifteen thousand meets -------------------------------------------------------------

HALF_ANGLE = np.arcsin(1e-4)
ELECTRODE = mc2.Laplace(Disk(1.0), boundary="where((x > 0) * (abs(y) < 1e-4), 1e4, 0)")


def electrode(x, y):
    """The Poisson integral of 1e4 over an arc: with θ the angle at which it is seen, 1e4 (θ − half_angle)/π."""
    z = x + 1j * y
    seen = np.angle((np.exp(1j * HALF_ANGLE) - z) / (np.exp(-1j * HALF_ANGLE) - z)) % (2 * np.pi)
    return 1e4 * (seen - HALF_ANGLE) / np.pi


@pytest.mark.slow
def test_rare_data():
    true, held = electrode(X, Y)[MASK], []
    for seed in range(10):
        found = mc2.certify(ELECTRODE, 0 * X, grid=GRID, seed=seed, **FEW)
        overall = found.overall
        held.append(overall.rms.low <= rms(true) <= overall.rms.high)
        for region in (overall, *found.regions):
            assert abs(region.mean.estimate) <= region.rms.high
            assert region.rms.high > 0
    assert sum(held) >= 9


@pytest.mark.parametrize("how", [{}, {"walks": 16}, {"walks": 2}, {"tolerance": 1e-4}])
def test_solutions_of_rare_data(how):
    """Within its error bars, or not converged. Values near the electrode are 1e4: below 1e-11 is rounding."""
    for seed in range(2):
        solution = mc2.solve(ELECTRODE, grid=GRID, seed=seed, **how)
        miss = rms((electrode(X, Y) - solution.values)[MASK])
        assert miss <= 1.96 * rms(solution.standard_error[MASK]) + 1e-11 or not solution.converged
        overall = mc2.certify(ELECTRODE, solution, seed=seed, **FEW).overall
        assert overall.rms.low <= miss <= overall.rms.high + 1e-11
        assert overall.rms.high > 0


@pytest.mark.slow
def test_functions_that_cannot_be_looked_into_are_said_to_be():
    """Features of a function that is only called may be missed: the note says so."""
    table = np.linspace(-1, 1, 9)
    problem = mc2.Laplace(Disk(1.0), boundary=lambda x, y: np.interp(x, table, table**2))
    found = mc2.certify(problem, 0 * X, grid=GRID, walks=4, points=100)
    assert found.note.startswith("boundary data cannot be enclosed")
    assert found.note in str(found)


def test_sources_that_cannot_be_looked_into_are_said_to_be():
    """A heater that no sample meets cannot be found in a function that is only called."""
    hidden = np.vectorize(lambda x, y: -1e7 if math.hypot(x - 0.31, y + 0.27) < 2e-4 else 0.0)
    with pytest.warns(UserWarning, match="cannot be compiled"):
        problem = mc2.Poisson(Disk(1.0), source=lambda x, y: hidden(x, y), boundary="x")
    found = mc2.certify(problem, X, grid=GRID, walks=4, points=100)
    assert found.note.startswith("the source cannot be enclosed")


# --- mistakes ---------------------------------------------------------------------------------------------------------


def failing(x, y):
    raise KeyError("of\ntwo lines")


BAD = {
    "no problem": ({"problem": "p.toml", "field": wrong}, "problem = 'p.toml': must be a problem"),
    "nothing": ({"field": None}, "field = None: must be a Solution, an array with its grid"),
    "array without a grid": ({"field": FIELD}, "does not say where it lies: give grid=mc2.Grid"),
    "array with a size": ({"field": FIELD, "grid": 48}, "does not say where it lies"),
    "wrong grid": ({"field": FIELD, "grid": Grid(32)}, "48 × 48 values do not fit a grid of 32 × 32"),
    "bounds of two": ({"field": FIELD, "grid": (0, 1)}, "must be 4 numbers"),
    "bounds reversed": ({"field": FIELD, "grid": (1, -1, -1, 1)}, "each min below its max"),
    "elsewhere": ({"field": FIELD, "grid": (5, 6, 5, 6)}, "lies inside the domain"),
    "one dimension": ({"field": np.zeros(5), "grid": GRID}, "not float64 [5]"),
    "a batch": ({"field": np.zeros((1, 48, 48)), "grid": GRID}, "not float64 [1, 48, 48]"),
    "complex": ({"field": FIELD + 0j, "grid": GRID}, "real numbers [rows, columns], not complex128"),
    "text": ({"field": [["a", "b"]], "grid": GRID}, "real numbers"),
    "ragged": ({"field": [[1, 2], [3]], "grid": GRID}, "all rows of one length"),
    "NaN inside": ({"field": np.where(X > 0.5, np.nan, FIELD), "grid": GRID}, "not finite, or not known, at "),
    "masked inside": ({"field": np.ma.masked_array(FIELD, X > 0.5), "grid": GRID}, "not finite, or not known, at "),
    "infinite": ({"field": np.full(GRID.shape, np.inf), "grid": GRID}, "must be finite"),
    "absurd": ({"field": FIELD * 1e200, "grid": GRID}, "times the data"),
    "other dimensions": ({"field": data_array().rename(x="lon")}, "must have the dimensions x and y"),
    "several fields": ({"field": xarray.Dataset({"a": data_array(), "b": data_array()})}, "no variable called values"),
    "uneven": ({"field": data_array().assign_coords(x=GRID.x**3)}, "must have equal steps"),
    "scalar function": ({"field": lambda x, y: 1.0 if x > 0 else 0.0}, "failed on arrays of points: ValueError"),
    "failing function": ({"field": failing}, "failed on arrays of points: KeyError"),
    "function without values": ({"field": lambda x, y: None}, "one real number per point, not object"),
    "complex function": ({"field": lambda x, y: x + 1j * y}, "one real number per point, not complex128"),
    "NaN of a function": ({"field": lambda x, y: np.log(x)}, "not finite, or not known, at "),
    "unknown method": ({"field": "nml"}, "unknown method 'nml': did you mean 'nlm'?"),
    "no method": ({"field": "solution.csv"}, "must end in .npz, .npy, .nc"),
    "no file": ({"field": "none.npz"}, "none.npz: no such file"),
    "points of an array": ({"field": (FIELD, GRID), "points": [[0.0, 0.0]]}, "points of one's own need a field"),
    "points outside": ({"field": wrong, "points": [[2.0, 0.0]]}, "(2, 0) lies outside the domain"),
    "points that are NaN": ({"field": wrong, "points": [[np.nan, 0.0]]}, "(nan, 0) lies outside the domain"),
    "points that are none": ({"field": wrong, "points": "many"}, "points = 'many' must be a number of points"),
    "few points": ({"field": wrong, "points": 2}, "points = 2"),
    "one walk": ({"field": wrong, "walks": 1}, "walks = 1"),
    "per cent": ({"field": wrong, "confidence": 95}, "confidence = 95 must lie between 0 and 1"),
    "seed": ({"field": wrong, "seed": -1}, "seed = -1"),
    "unknown option": (
        {"field": wrong, "epsilom": 1e-3},
        "argument of certify 'epsilom': did you mean 'epsilon'?",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mistakes_are_one_line(name):
    arguments, message = BAD[name]
    with pytest.raises(mc2.InputError, match=re.escape(message)) as raised:
        mc2.certify(**{"problem": PROBLEM} | arguments)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400
