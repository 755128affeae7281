"""What was once wrong without a word, or refused with the wrong one: each through the public names alone."""

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
import xarray

import mc2
from mc2.functions import GridFunction
from mc2.geometry import Disk, Grid, Polygon, Rectangle, Square
from tests.compute.test_blas import set_threads, threads

PROBLEM = mc2.Laplace(Disk(), boundary="x*y")


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


# --- comparisons ------------------------------------------------------------------------------------------------------

SIDES = [
    lambda x, y: np.where(x == 1, 100.0, 0.0),
    lambda x, y: np.where(x != 1, 0.0, 100.0),
    lambda x, y: (x == 1) * 100,
    lambda x, y: 100 - 100 * (x != 1),
]


@pytest.mark.parametrize("boundary", SIDES, ids=["==", "!=", "(==)*", "-(!=)"])
def test_a_side_of_a_square_is_warm(boundary):
    """By symmetry, its middle is a quarter as warm."""
    problem = mc2.Laplace(Square(), boundary=boundary)
    np.testing.assert_array_equal(problem.boundary(np.array([1.0, 0.5]), np.array([0.3, 1.0])), [100, 0])
    assert mc2.solve(problem, 16, grid=Grid(24))(0.0, 0.0) == pytest.approx(25, abs=0.1)


def test_conditions_in_a_source():
    problem = mc2.Poisson(Square(), source=lambda x, y: np.where(x == 0.25, 7.0, y), boundary=0)
    np.testing.assert_array_equal(problem.source(np.array([0.25, 0.5]), np.array([0.1, 0.1])), [7.0, 0.1])


def test_probes_meet_what_a_function_branches_on():
    """Symbols are told something else than numbers, but only beyond 123.456."""

    def fickle(x, y):
        return np.where(x > 123.456, 2.0 if isinstance(x, float | np.ndarray) else 1.0, 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot be compiled
        problem = mc2.Laplace(Disk(200.0), boundary=fickle)
    np.testing.assert_array_equal(problem.boundary(np.array([200.0, -200.0]), np.zeros(2)), [2, 0])


# --- arrays -----------------------------------------------------------------------------------------------------------

BOX = (47.0, 53.0, -23.0, -17.0)
FAR = Disk(2.5, center=(50.0, -20.0))


def arrays():
    """3 + 2x − y, on a grid that says where it lies."""
    grid = Grid(60, bounds=BOX)
    x, y = grid.points()
    values = 3 + 2 * x - y
    labelled = xarray.DataArray(values, dims=("y", "x"), coords={"x": grid.x, "y": grid.y})
    return {"Grid": (values, grid), "bounds": (values, BOX), "DataArray": labelled, "transposed": labelled.T}


@pytest.mark.parametrize("kind", ["Grid", "bounds", "DataArray", "transposed"])
def test_arrays_carry_their_bounds(kind):
    source = mc2.Poisson(FAR, source=arrays()[kind], boundary=0).source
    x, y = FAR.sample_interior(50, seed=0).T
    np.testing.assert_allclose(source(x, y), 3 + 2 * x - y, atol=1e-3)


@pytest.mark.parametrize(
    "source",
    [np.ones((8, 8)), GridFunction(np.ones((8, 8)), Grid(8, bounds=(47, 51, -23, -17)))],
    ids=["no bounds", "a part"],
)
def test_arrays_that_do_not_cover_the_domain_are_refused(source):
    with pytest.raises(mc2.InputError, match="do not cover the domain in"):
        mc2.Poisson(FAR, source=source, boundary=0)


# --- units ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-9, 1e-4])
def test_walks_in_a_small_disk(size):
    """Δu = −4/R², u = ½ on the rim: u(r) = 3/2 − r²/R², with error bars that tell at every pixel."""
    problem = mc2.Poisson(Disk(size), source=-4 / size**2, boundary=0.5)
    found = mc2.estimate(problem, 256, grid=Grid(12, bounds=(-size, size, -size, size)), device="cpu")
    x, y = (c[found.mask] / size for c in found.grid.points())
    bars = found.standard_error[found.mask]
    assert bars.min() > 0
    off = (found.mean[found.mask] - 1.5 + x**2 + y**2) / bars
    assert abs(off.mean()) < 4 / np.sqrt(off.size)
    assert rms(off) < 1.3


@pytest.mark.parametrize(
    ("size", "center", "value"),
    [(1e-9, (0, 0), 1.0), (1e9, (0, 0), 1.0), (1.0, (1e6, -1e6), 1.0), (1.0, (0, 0), 1e-290), (1.0, (0, 0), 1e290)],
)
def test_solutions_in_any_units(size, center, value):
    """They are what they are in units of their own, and so are their error bars and certificates."""
    x0, y0 = center
    x, y = f"((x - ({x0}))/{size})", f"((y - ({y0}))/{size})"
    problem = mc2.Poisson(Disk(size, center=center), exact=f"{value!r}*({x}*{y} + sin(3*{x}))")
    grid = Grid(24, bounds=(x0 - size, x0 + size, y0 - size, y0 + size))
    found = mc2.solve(problem, 4, grid=grid)
    plain = mc2.solve(mc2.Poisson(Disk(), exact="x*y + sin(3*x)"), 4, grid=Grid(24))
    np.testing.assert_allclose(found.values / value, plain.values, atol=1e-7)
    np.testing.assert_allclose(found.standard_error / value, plain.standard_error, rtol=1e-3)
    one, other = (solution.certify(8, 200).overall.rms for solution in (found, plain))
    assert one.high / value == pytest.approx(other.high, rel=0.2)  # rounding may choose other points


def test_values_of_1e_minus_300():
    found = mc2.solve(mc2.Laplace(Disk(), boundary="1e-300*x"), 4, grid=Grid(24))
    x = found.grid.points()[0][found.mask]
    off = 1e300 * found.values[found.mask] - x
    assert rms(off) < 1e-4
    assert rms(off) < 3e300 * rms(1e200 * found.standard_error[found.mask]) / 1e200
    certified = found.certify(8, 200).overall.rms
    assert 0 < certified.high * 1e300 < 1e-4


# --- devices, threads, seeds ------------------------------------------------------------------------------------------


def test_a_device_that_is_not_used_is_not_recorded():
    """By rounds none but the CPU is used, with a GPU or without."""
    with pytest.raises(mc2.InputError, match="mc2-rounds walks on the CPU"):
        mc2.solve(PROBLEM, 4, grid=Grid(24), device="cuda")


@pytest.mark.slow
def test_one_thread_starts_none():
    program = """
import threading, mc2
from mc2.geometry import Disk, Grid
problem = mc2.Poisson(Disk(), exact="sin(3*x)*cos(y)")
before = threading.active_count()
mc2.solve(problem, 4, grid=Grid(24), threads=1).certify(4, 100)
assert threading.active_count() == before, threading.enumerate()
mc2.solve(problem, 4, grid=Grid(24), threads=2)
assert threading.active_count() > before
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_solving_in_threads_leaves_blas_its_threads():
    """One solve begins while another is under way, and ends after it."""
    pytest.importorskip("threadpoolctl")
    before, began, ended, other = threads(), Event(), Event(), Event()

    def wait_for_the_other(*_):
        began.set()
        other.wait(10)

    def wait_for_the_first(*_):
        other.set()
        ended.wait(10)

    set_threads(2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(mc2.solve, PROBLEM, 2, grid=Grid(12), progress=wait_for_the_other)
        assert began.wait(10)
        second = pool.submit(mc2.solve, PROBLEM, 2, grid=Grid(12), progress=wait_for_the_first)
        first.result(20)
        ended.set()
        second.result(20)
    left = threads()
    set_threads(min(before))
    assert set(left) == {2}


@pytest.mark.parametrize("seed", [2**64, 2**65 + 3])
def test_seeds_that_would_be_those_of_others(seed):
    points = [[0.1, 0.2], [0.3, 0.4]]
    solution = mc2.solve(PROBLEM, 2, grid=Grid(12))
    for ask in (
        lambda: mc2.solve(PROBLEM, 2, grid=Grid(12), seed=seed),
        lambda: mc2.estimate(PROBLEM, 2, points=points, seed=seed),
        lambda: solution.certify(2, points, seed=seed),
    ):
        with pytest.raises(mc2.InputError, match=f"seed = {seed} must be an integer from 0 to"):
            ask()


# --- points and grids -------------------------------------------------------------------------------------------------


def test_points_outside_are_refused_by_name():
    with pytest.raises(mc2.InputError, match=r"2 of 3 points lie outside .* points\[1\] = \(2, 0\)"):
        mc2.estimate(PROBLEM, 8, points=[[0, 0], [2, 0], [0, 1.0001]])


@pytest.mark.parametrize(
    ("domain", "bounds"),
    [
        (Disk(3.0), (-3, 3, -3, 3)),
        (Rectangle(30, 10, center=(260, 90)), (230, 290, 80, 100)),
        (Disk(0.01, center=(5, 5)), (4.99, 5.01, 4.99, 5.01)),
    ],
)
def test_the_default_grid_covers_the_domain(domain, bounds):
    problem = mc2.Laplace(domain, boundary="x")
    for found in (mc2.estimate(problem, 1, device="cpu"), mc2.solve(problem, 2)):
        assert found.grid.nx == 256
        assert found.grid.bounds == pytest.approx(bounds, abs=max(found.grid.spacing))
        x, y = (c[found.mask] for c in found.grid.points())
        assert domain.contains(x, y).all()
        assert found.mask.sum() == pytest.approx(domain.contains(*found.grid.points()).sum())


# --- what a fit does not explain --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_error_bars_of_physics_on_a_polygon_of_500_vertices():
    """A circle with a jagged rim: its harmonic polynomials do not fit, and error bars say so.

    The true mean square error comes from walks at some pixels, less their own variance.
    """
    angle = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    radius = 0.75 + 0.05 * np.random.default_rng(2).uniform(-1, 1, 500)
    jagged = Polygon(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
    problem = mc2.Laplace(jagged, boundary=lambda x, y: x**2 - y)
    found = mc2.solve(problem, 64, grid=Grid(96), corrector="mc2-physics", device="cpu")
    assert found.method == "mc2-physics"
    rows, columns = np.argwhere(found.mask)[:: int(found.mask.sum() / 150)].T
    points = np.stack([found.grid.x[columns], found.grid.y[rows]], axis=1)
    walked = mc2.estimate(problem, 4000, points=points, seed=1, device="cpu")
    square = np.mean((walked.mean - found.values[rows, columns]) ** 2 - walked.standard_error**2)
    assert 0.6 < rms(found.standard_error[found.mask]) / np.sqrt(square) < 1.7


# --- tolerances -------------------------------------------------------------------------------------------------------


class StoppedError(Exception):
    """Raised to end a solve."""


def hopeless():
    """Two thousand jumps, which no basis fits."""
    return mc2.Laplace(Disk(), boundary=lambda x, y: np.sign(np.sin(1003 * np.arctan2(y, x))))


def test_what_a_tolerance_takes_is_said_before_it_is_spent():
    def progress(done, total):
        if total > 10_000:  # walks averaged at the pixels
            raise StoppedError

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(StoppedError):
            mc2.solve(hopeless(), tolerance=1e-6, grid=Grid(24), progress=progress)
    assert any("would take about" in str(warning.message) for warning in caught)


# --- mistakes ---------------------------------------------------------------------------------------------------------


def no_return(x, y):
    _ = x * y


MISTAKES = {
    "sed": (lambda: mc2.solve(PROBLEM, sed=3), "unknown argument of solve 'sed': did you mean 'seed'?"),
    "sed of walks": (lambda: mc2.estimate(PROBLEM, sed=3), "unknown argument of estimate 'sed': did you mean 'seed'?"),
    "grid": (lambda: mc2.solve(PROBLEM, grid=12.8), "grid = 12.8 must be a Grid, or a number of pixels"),
    "crossing": (
        lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),
        "the outline crosses itself: polygon edge 0 crosses or touches polygon edge 2",
    ),
    "gpu": (lambda: mc2.solve(PROBLEM, device="gpu"), "unknown device 'gpu': did you mean 'cuda'?"),
    "gpu of walks": (lambda: mc2.estimate(PROBLEM, device="gpu"), "unknown device 'gpu': did you mean 'cuda'?"),
    "None": (lambda: mc2.Laplace(Disk(), boundary=no_return), "boundary: the Python function returned None at"),
    "complex": (
        lambda: mc2.Laplace(Disk(), boundary=lambda x, y: (x + 1j * y) ** 2),
        "boundary: the Python function returned complex numbers at",
    ),
    "complex without imaginary part": (
        lambda: mc2.Poisson(Disk(), source=lambda x, y: x + 0j, boundary=0),
        "source: the Python function returned complex numbers at",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    ask, message = MISTAKES[mistake]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a cast, and a function that cannot be compiled
        with pytest.raises(mc2.InputError) as refused:
            ask()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_grid_may_be_a_number():
    found = mc2.solve(mc2.Laplace(Disk(3.0), boundary="x*y"), 4, grid=128)
    assert found.grid == Grid(128, bounds=(-3, 3, -3, 3))
    x, y = (c[found.mask] for c in found.grid.points())
    assert rms(found.values[found.mask] - x * y) < 1e-3
