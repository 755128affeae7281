"""Tension: zero at eigenvalues that are known, in proportion to the distance from them elsewhere."""

import warnings

import numpy as np
import pytest
from scipy.special import jn_zeros, jv, y0

import mc2
from mc2.compute.blas import one_thread
from mc2.errors import InputError
from mc2.fits.basis import make_basis
from mc2.fits.boundary import fit_boundary
from mc2.fits.resonance import evaluator_from_boundary, tension
from mc2.fits.samples import spread
from mc2.geometry import Annulus, Disk, Grid, Polygon, Rectangle, Square
from mc2.problems.operator import Operator

# domain and eigenvalue
KNOWN = {
    "disk, first": (Disk(), jn_zeros(0, 1)[0] ** 2),
    "disk, second radial": (Disk(), jn_zeros(0, 2)[1] ** 2),
    "disk, double": (Disk(), jn_zeros(3, 1)[0] ** 2),
    "half the radius": (Disk(0.5), 4 * jn_zeros(1, 1)[0] ** 2),
    "square, first": (Square(), 2 * (np.pi / 2) ** 2),
    "square, second": (Square(), 5 * (np.pi / 2) ** 2),
    "rectangle": (Rectangle(1.0, 0.5), (np.pi / 2) ** 2 + np.pi**2),
    "turned": (Square(0.8, center=(0.1, 0.3), angle=0.4), 2 * (np.pi / 1.6) ** 2),
}
each_known = pytest.mark.parametrize("name", KNOWN)


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def tension_at(domain, square, degree=24):
    points, weights = spread(domain, [])
    few = slice(None, None, 4)
    return tension(domain, make_basis(domain, Operator(square), degree), points[:, few], weights[few])


@each_known
def test_tension_vanishes_at_eigenvalues(name):
    domain, square = KNOWN[name]
    assert tension_at(domain, square) < 1e-6
    assert tension_at(domain, 1.1 * square) > 1e-3
    assert tension_at(domain, 0.9 * square) > 1e-3


@each_known
def test_tension_grows_in_proportion_to_the_distance(name):
    domain, square = KNOWN[name]
    once, twice, tenfold = (tension_at(domain, square * (1 + 1e-4 * times)) for times in (1, 2, 10))
    assert twice / once == pytest.approx(2, rel=0.02)
    assert tenfold / once == pytest.approx(10, rel=0.05)
    assert tension_at(domain, square * (1 - 1e-4)) == pytest.approx(once, rel=0.02)


def test_tension_of_a_mode_by_hand():
    """J₀(kr) on the disk of radius 1 near its first zero: its root mean square on the circle over that inside."""
    k = jn_zeros(0, 1)[0] * 1.001
    from scipy.special import j0

    r = np.sqrt((np.arange(4000) + 0.5) / 4000)  # evenly by area
    expected = abs(j0(k)) / np.sqrt(np.mean(j0(k * r) ** 2))
    assert tension_at(Disk(), k * k) == pytest.approx(expected, rel=0.05)


def disk_eigenvalues():
    return np.sort(np.concatenate([jn_zeros(n, 12) ** 2 for n in range(40)]))


@pytest.mark.parametrize("k", [3.0, 5.0, 7.5, 10.0, 12.34, 15.0, 20.0])
def test_warnings_where_an_eigenvalue_is_close_and_nowhere_else(k):
    problem = mc2.Helmholtz(Disk(), exact=f"cos({0.6 * k}*x)*sin({0.8 * k}*y) + exp(x)", k=k)
    away = np.abs(disk_eigenvalues() / k**2 - 1).min()
    assert not 0.8e-3 < away < 1.2e-3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluator_from_boundary(problem, fit_boundary(problem))
    assert len(caught) == (away < 1e-3)


def test_the_error_bound_holds():
    """Close to an eigenvalue the same misfit on the boundary makes a larger error inside, and the bound follows."""
    square, bounds = jn_zeros(0, 2)[1] ** 2, []
    for away in (1e-6, 1e-4, 1e-2):
        k = float(np.sqrt(square * (1 + away)))
        problem = mc2.Helmholtz(Disk(), exact=f"cos({0.6 * k}*x)*cos({0.8 * k}*y) + sin(x)", k=k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = evaluator_from_boundary(problem, fit_boundary(problem))
        x, y = Disk().sample_interior(500, seed=0).T
        error = evaluator.values(x, y) - problem.exact(x, y)
        assert np.sqrt(np.mean(error**2)) < evaluator.error + 1e-14
        assert (evaluator.standard_error(x, y) >= evaluator.error).all()
        bounds.append(evaluator.error)
    assert bounds[0] > 10 * bounds[1] > 100 * bounds[2]


def test_tension_with_a_hole():
    """Functions around the hole count: without them the annulus has no modes of its own."""
    from scipy.optimize import brentq
    from scipy.special import j0, y0

    k = brentq(lambda k: j0(0.4 * k) * y0(k) - j0(k) * y0(0.4 * k), 4.5, 6.0)
    assert tension_at(Annulus(0.4, 1.0), k * k) < 1e-6
    assert tension_at(Annulus(0.4, 1.0), 1.05 * k * k) > 1e-3


L_SHAPE = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])


def bessel_ratio(order, k, r):
    """Jₙ(kr)/Jₙ(k) by power series, also where both underflow."""

    def series(q):
        term, total = np.ones_like(q), np.ones_like(q)
        for j in range(1, 30):
            term = term * -q / (j * (j + order))
            total = total + term
        return total

    return r**order * series(0.25 * (k * r) ** 2) / series(np.array(0.25 * k * k))


def solved(problem, exact, grid=None):
    """True error of `solve`, root mean square over pixels, and its error bar."""
    grid = grid or Grid(64)
    solution = mc2.solve(problem, grid=grid)
    x, y = (c[solution.mask] for c in grid.points())
    assert solution.method == "trefftz"
    error = np.sqrt(np.mean((solution.values[solution.mask] - exact(x, y)) ** 2))
    return error, float(solution.standard_error[solution.mask].max())


def test_more_waves_than_are_resolved_are_refused():
    """An error of 1.2e9 with a bar of 3e-22 else."""
    with pytest.raises(InputError, match=r"k = 500 .* smaller") as caught:
        mc2.solve(mc2.Helmholtz(Disk(1.0), k=500.0, source=0, boundary=1), grid=Grid(16))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [10.0, 50.0, 100.0])
def test_many_waves_are_resolved(k):
    error, bar = solved(
        mc2.Helmholtz(Disk(1.0), k=k, source=0, boundary=1), lambda x, y: jv(0, k * np.hypot(x, y)) / jv(0, k)
    )
    assert error < 1e-11
    assert error < bar < 1e-9
    error, bar = solved(
        mc2.Helmholtz(L_SHAPE, k=k, source=0, boundary=f"cos({0.6 * k}*x + {0.8 * k}*y)"),
        lambda x, y: np.cos(k * (0.6 * x + 0.8 * y)),
    )
    assert error < 1e-11
    assert error < bar < 1e-9


@pytest.mark.parametrize("order", [40, 200, 800, 1600, 3200])
def test_data_that_oscillate_faster_than_samples_are_no_success(order):
    """cos(1600θ) is constant at 1600 even points, and was fitted so: an error of 1.6 with a bar of 8e-15."""
    problem = mc2.Helmholtz(Disk(1.0), k=3.0, source=0, boundary=f"cos({order}*arctan2(y, x))")
    error, bar = solved(
        problem, lambda x, y: bessel_ratio(order, 3.0, np.hypot(x, y)) * np.cos(order * np.arctan2(y, x))
    )
    assert error < 1.96 * bar
    assert (error < 1e-12) if order <= 200 else (bar > 0.5)


@pytest.mark.parametrize("half", [1e-4, 1e-2])
def test_a_narrow_electrode_is_seen(half):
    """One of half-width 1e-4 fell between all samples, and the answer was 0 ± 0."""
    height = 1e4
    text = f"where((x > 0)*(abs(y) < {np.sin(half):.17g}), {height}, 0)"

    def exact(x, y):
        r, angle = np.hypot(x, y), np.arctan2(y, x)
        total = half / np.pi * bessel_ratio(0, 3.0, r)
        for n in range(1, 1500):
            total += 2 / np.pi * np.sin(n * half) / n * bessel_ratio(n, 3.0, r) * np.cos(n * angle)
        return height * total

    error, bar = solved(mc2.Helmholtz(Disk(1.0), k=3.0, source=0, boundary=text), exact, Grid(24))
    size = height * half / np.pi
    assert error < 1.96 * bar
    assert error < 1e-2 * size
    assert bar < 5 * size


@pytest.mark.parametrize("domain", [L_SHAPE, Annulus(0.3, 1.0), Rectangle(1.0, 0.4, angle=0.2)], ids=repr)
@pytest.mark.parametrize("away", [0.3, 0.03, 0.003])
def test_the_bound_holds_for_waves_from_a_point_nearby(domain, away):
    """Y₀ around a point outside: ever harder to fit the closer it is."""
    k = 14.0
    point = domain.sample_boundary(1, seed=3)[0]
    h = 1e-6
    slope = np.array([domain.distance(*(point + step)) - domain.distance(*(point - step)) for step in h * np.eye(2)])
    center = point - away * slope / np.hypot(*slope)
    assert domain.distance(*center) < 0

    def exact(x, y):
        return y0(k * np.hypot(x - center[0], y - center[1]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = mc2.Helmholtz(domain, k=k, source=0, boundary=exact)
        evaluator = evaluator_from_boundary(problem, fit_boundary(problem))
    x, y = domain.sample_interior(4000, seed=1).T
    error = np.sqrt(np.mean((evaluator.values(x, y) - exact(x, y)) ** 2))
    assert error < 1.96 * evaluator.error
    assert evaluator.error < 1


def test_the_distance_to_an_eigenvalue():
    """From both sides of the disk's second radial eigenvalue."""
    square = jn_zeros(0, 2)[1] ** 2
    for away in (-1e-3, 1e-5, 1e-3):
        problem = mc2.Helmholtz(Disk(), k=float(np.sqrt(square * (1 + away))), source=0, boundary="x")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = evaluator_from_boundary(problem, fit_boundary(problem))
        assert evaluator.distance == pytest.approx(abs(away) * square, rel=0.3)
