"""Boundary least squares against exact solutions, also of corners and jumps, and the misfit where there is none."""

import warnings

import numpy as np
import pytest

import mc2
from mc2.benchmark.methods.finite_differences import Direct
from mc2.compute.blas import one_thread
from mc2.fits.boundary import fit_boundary
from mc2.fits.jumps import find_breaks
from mc2.fits.samples import spread
from mc2.geometry import Annulus, Disk, Ellipse, Grid, Polygon, Rectangle, Square
from mc2.zoo import generate

GRID = Grid(48)
L_SHAPE = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
COMB = Polygon(
    [
        *[(-0.9, -0.8), (0.9, -0.8), (0.9, 0.8), (0.5, 0.8), (0.5, -0.2), (0.3, -0.2), (0.3, 0.8), (-0.1, 0.8)],
        *[(-0.1, -0.2), (-0.3, -0.2), (-0.3, 0.8), (-0.5, 0.8), (-0.5, 0.0), (-0.9, 0.0)],
    ]
)


@pytest.fixture(autouse=True)
def _on_one_thread():
    """As `solve` does: threads that wait for each other cost many times what they save."""
    with one_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*called on whole arrays")
        yield


def largest_error(problem, exact, grid=GRID, margin=0.0):
    """The largest error of the fit at pixels, and the fit. margin: pixels closer to the boundary are left out."""
    fit, mask = fit_boundary(problem), problem.mask(grid) & (problem.domain.distance(*grid.points()) > margin)
    x, y = (c[mask] for c in grid.points())
    return np.abs(fit.field.on_grid(grid, mask)[mask] - exact(x, y)).max(), fit


@pytest.mark.parametrize("index", range(20))
def test_the_zoo_to_rounding(index):
    problem = generate("test", index).problem
    error, fit = largest_error(problem, problem.exact)
    assert error < 1e-6 * np.ptp(problem.exact(*problem.domain.sample_interior(500, seed=0).T))
    assert fit.misfit < 1e-6


@pytest.mark.parametrize("family", ["laplace", "poisson", "yukawa", "helmholtz", "biharmonic"])
def test_singular_parts_in_a_hole(family):
    singular = {
        "laplace": "log(x**2 + y**2) + x/(x**2 + y**2)",
        "poisson": "log(x**2 + y**2) + sin(4*x)",
        "yukawa": "log(x**2 + y**2)*cos(3*x)",
        "helmholtz": "exp(-3*(x**2 + y**2))*y/(x**2 + y**2)",
        "biharmonic": "(x**2 + y**2)*log(x**2 + y**2) + x/(x**2 + y**2)",
    }[family]
    parameters = {"yukawa": {"lam": 9.0}, "helmholtz": {"k": 3.0}}.get(family, {})
    problem = mc2.problems.FAMILIES[family](Annulus(0.4, 1.1), exact=singular, **parameters)
    error, fit = largest_error(problem, problem.exact)
    rough = family in ("yukawa", "helmholtz")  # a lifted source that is singular in the hole
    assert error < (2e-2 if rough else 1e-9) * np.ptp(problem.exact(*problem.domain.sample_interior(500, seed=0).T))
    assert fit.basis.poles


def test_the_singularity_of_a_reentrant_corner():
    """r^(2/3) sin(2θ/3) around the L's inner corner, from its boundary values alone."""

    def exact(x, y):
        return np.hypot(x, y) ** (2 / 3) * np.sin(2 / 3 * np.mod(np.arctan2(y, x), 2 * np.pi))

    problem = mc2.Laplace(L_SHAPE, boundary=exact)
    error, fit = largest_error(problem, exact)
    assert error < 1e-6
    close = 0.01 * np.exp(1j * np.linspace(0.1, 1.4 * np.pi, 50))
    np.testing.assert_allclose(fit.field(close.real, close.imag), exact(close.real, close.imag), atol=1e-5)


@pytest.mark.slow
def test_screened_and_biharmonic_problems_with_a_reentrant_corner():
    """With data that are not those of a smooth solution, against finite differences."""
    for problem in (
        mc2.Yukawa(L_SHAPE, source="x", boundary="y**2", lam=10.0),
        mc2.Biharmonic(L_SHAPE, source=1, boundary="x**2", laplacian=0),
    ):
        grid = Grid(40)
        mask = problem.mask(grid)
        expected = Direct(refine=3).field(problem, grid)
        found = fit_boundary(problem).field.on_grid(grid, mask)
        assert np.abs(found - expected)[mask].max() < 5e-3 * np.ptp(expected[mask])
        assert np.sqrt(np.mean((found - expected)[mask] ** 2)) < 1e-3 * np.ptp(expected[mask])


@pytest.mark.parametrize(
    ("domain", "place", "turn"),
    [
        (Square(), (0.2, -1.0), 0.0),
        (Square(angle=0.3), (-np.sin(0.3 + np.pi), np.cos(0.3 + np.pi)), 0.3),
        (Disk(), (0.0, -1.0), 0.0),
    ],
    ids=["square", "turned", "disk"],
)
def test_a_jump(domain, place, turn):
    """The angle around a boundary point: two values, one to its left and one to its right."""

    def exact(x, y):
        z = (x - place[0] + 1j * (y - place[1])) * np.exp(-1j * turn)
        return np.angle(z * -1j) / np.pi  # the cut leads downwards, out of the domain

    problem = mc2.Laplace(domain, boundary=exact)
    assert largest_error(problem, exact)[0] < 1e-11
    jumps, _ = find_breaks(problem, domain.corners())
    assert len(jumps) == 1
    np.testing.assert_allclose(jumps[0], place, atol=1e-9)


def test_one_on_the_top_of_a_square_and_zero_elsewhere():
    """By separation of variables: Σ 4/(nπ) sin(nπ(x + 1)/2) sinh(nπ(y + 1)/2)/sinh(nπ), n odd."""

    def exact(x, y):
        total = np.zeros_like(x)
        for n in range(1, 4001, 2):
            k = n * np.pi / 2
            decay = np.exp(k * (y - 1)) * (1 - np.exp(-2 * k * (y + 1))) / (1 - np.exp(-4 * k))
            total += 4 / (n * np.pi) * np.sin(k * (x + 1)) * decay
        return total

    problem = mc2.Laplace(Square(), boundary=lambda x, y: np.where(y > 1 - 1e-9, 1.0, 0.0))
    assert largest_error(problem, exact)[0] < 1e-6
    assert largest_error(problem, exact, Grid(30), margin=0.05)[0] < 1e-8
    jumps, _ = find_breaks(problem, problem.domain.corners())
    assert sorted(np.round(jump, 8).tolist() for jump in jumps) == [[-1, 1], [1, 1]]


def test_jumps_between_constants_on_a_ring():
    """1 inside and 0 outside is smooth along each circle; the logarithm solves it."""
    inside = mc2.Laplace(Annulus(0.3, 1.0), boundary=lambda x, y: np.where(np.hypot(x, y) < 0.6, 1.0, 0.0))
    assert largest_error(inside, lambda x, y: np.log(np.hypot(x, y)) / np.log(0.3))[0] < 1e-9


def test_a_comb_of_fourteen_corners():
    """Smooth data that no smooth solution has, against plain walks and against finite differences."""
    problem = mc2.Laplace(COMB, boundary="cos(2*x)*y + x**2")
    fit = fit_boundary(problem)
    assert fit.misfit < 1e-3
    points = np.array([[0.7, 0.5], [0.1, 0.3], [-0.4, 0.4], [0.4, -0.21], [-0.31, -0.15], [0.0, -0.5]])
    walked = mc2.estimate(problem, 300_000, points=points, device="cpu")
    assert (np.abs(fit.field(*points.T) - walked.mean) < 4 * walked.standard_error + 1e-4).all()
    grid = Grid(80)
    error = (fit.field.on_grid(grid, problem.mask(grid)) - Direct(refine=3).field(problem, grid))[problem.mask(grid)]
    assert np.abs(error).max() < 3e-3
    assert np.sqrt(np.mean(error**2)) < 3e-4


@pytest.mark.parametrize("domain", [Rectangle(1.0, 0.2), Ellipse(1.0, 0.3)], ids=repr)
def test_a_singularity_near_a_thin_domain(domain):
    """Within the circle around the domain, where powers do not converge: double layers and poles around it do."""

    def exact(x, y):
        return np.log(np.hypot(x - 0.1, y - 0.4))

    error, fit = largest_error(mc2.Laplace(domain, boundary=exact), exact)
    assert error < 1e-6
    assert fit.misfit < 1e-6


def test_jumps_are_found_where_they_are():
    def steps(x, y):
        return np.where(y > 0.2, 1.0, x)

    jumps, kinks = find_breaks(mc2.Laplace(Disk(), boundary=steps), ())
    right = np.sqrt(1 - 0.04)
    np.testing.assert_allclose(sorted(jumps), [(-right, 0.2), (right, 0.2)], atol=1e-9)
    assert kinks == []
    # in a composition, and not where its parts are hidden
    domain = Disk(0.8) | Rectangle(1.0, 0.2)
    jumps, _ = find_breaks(mc2.Laplace(domain, boundary=lambda x, y: np.where(x > 0.1, 1.0, 0.0)), domain.corners())
    height = np.sqrt(0.63)
    np.testing.assert_allclose(sorted(jumps, key=lambda at: at[1]), [(0.1, -height), (0.1, height)], atol=1e-9)


def test_kinks_are_found_where_they_are():
    jumps, kinks = find_breaks(mc2.Laplace(Disk(), boundary="abs(x - 0.3)"), ())
    assert jumps == []
    height = np.sqrt(1 - 0.09)
    np.testing.assert_allclose(sorted(kinks, key=lambda at: at[1]), [(0.3, -height), (0.3, height)], atol=1e-6)
    # corners turn the data, too, and are known already
    jumps, kinks = find_breaks(mc2.Laplace(Square(), boundary="x + y"), Square().corners())
    assert (jumps, kinks) == ([], [])
    jumps, kinks = find_breaks(mc2.Laplace(Square(), boundary="abs(x - 0.25)"), Square().corners())
    assert jumps == []
    np.testing.assert_allclose(sorted(kinks, key=lambda at: at[1]), [(0.25, -1), (0.25, 1)], atol=1e-6)


@pytest.mark.parametrize("domain", [Disk(), Ellipse(1.0, 0.4), Annulus(0.3, 1.0)], ids=repr)
def test_smooth_data_have_no_breaks(domain):
    for text in ("sin(20*x)*exp(y)", "tanh(30*x)", "x", "1"):
        assert find_breaks(mc2.Laplace(domain, boundary=text), ()) == ([], [])


@pytest.mark.slow
def test_kinks_are_fitted():
    """|x| on the circle: u = 2/π − 4/π Σ (−1)ⁿ r²ⁿ cos(2nθ)/(4n² − 1)."""

    def exact(x, y):
        z, total = x + 1j * y, np.full(x.shape, 2 / np.pi)
        for n in range(1, 4000):
            total -= 4 / np.pi * (-1) ** n * (z ** (2 * n)).real / (4 * n * n - 1)
        return total

    error, fit = largest_error(mc2.Laplace(Disk(), boundary="abs(x)"), exact)
    assert error < 1e-7
    assert fit.misfit < 1e-6


def test_the_misfit_tells_what_cannot_be_fitted():
    """More jumps than there are poles for; and the error is that of the boundary values, all around."""
    rough = mc2.Laplace(Disk(), boundary=lambda x, y: np.sign(np.sin(60 * np.arctan2(y, x))))
    fit = fit_boundary(rough)
    assert fit.misfit > 0.1
    x, y = Disk().sample_boundary(4000, seed=1).T
    seen = np.sqrt(np.mean((fit.field(x, y) - rough.boundary(x, y)) ** 2))
    assert fit.error == pytest.approx(seen, rel=0.2)
    assert fit.misfit == pytest.approx(fit.error, rel=1e-6)  # the largest value is 1


def test_points_lie_on_the_boundary():
    domain = (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2))) - Disk(0.2)
    points, weights = spread(domain, [])
    assert 500 < points.shape[1] <= 1700
    np.testing.assert_allclose(domain.distance(*points), 0, atol=1e-9)
    assert weights.shape == points.shape[1:]


@pytest.mark.parametrize("domain", [Disk(), Square(), Annulus(0.3, 1.0), L_SHAPE], ids=repr)
def test_weights_are_lengths(domain):
    """A point's weight is the length of boundary that it stands for, crowded or not; weights integrate functions."""
    perimeter = sum(leaf.perimeter for leaf in domain.leaves())
    for crowded in ([], [corner.center for corner in domain.corners()]):
        points, weights = spread(domain, crowded)
        assert (weights**2).sum() == pytest.approx(perimeter, rel=1e-9)
        x = domain.sample_boundary(200_000, seed=0)[:, 0]
        assert (weights**2) @ np.cos(3 * points[0]) == pytest.approx(perimeter * np.cos(3 * x).mean(), abs=0.03)


def test_points_are_crowded_towards_places():
    corners = [corner.center for corner in L_SHAPE.corners()]
    points, _ = spread(L_SHAPE, corners)
    for corner in corners:
        away = np.hypot(*(points.T - corner).T)
        assert 0.5e-9 < away.min() < 1e-8
        assert (away < 1e-4).sum() > 50
    np.testing.assert_allclose(L_SHAPE.distance(*points), 0, atol=1e-12)


def test_a_grid_makes_no_difference():
    problem = generate("test", 1).problem
    one, two = fit_boundary(problem), fit_boundary(problem, GRID)
    x, y = problem.domain.sample_interior(100, seed=0).T
    np.testing.assert_allclose(one.field(x, y), two.field(x, y), atol=1e-9)


def seen_on_boundary(problem, fit, count=20_000):
    x, y = problem.domain.sample_boundary(count, seed=5).T
    return np.abs(fit.field(x, y) - problem.boundary(x, y))


@pytest.mark.parametrize(
    "text", ["cos(1600*arctan2(y, x))", "cos(800*arctan2(y, x))", "cos(120*arctan2(y, x))", "abs(y)"]
)
@pytest.mark.parametrize("domain", [Disk(), Ellipse(1.0, 0.7)], ids=repr)
def test_fits_are_judged_where_they_were_not_fitted(domain, text):
    """cos(1600θ) is the same at 1600 even points, a constant."""
    problem = mc2.Laplace(domain, boundary=text)
    fit = fit_boundary(problem)
    seen = seen_on_boundary(problem, fit)
    assert np.sqrt(np.mean(seen**2)) < 1.2 * fit.error + 1e-13
    assert fit.error <= fit.worst
    assert seen.max() < 2 * fit.worst + 1e-12


def test_fast_oscillations_are_fitted_as_far_as_affordable():
    """rⁿ cos nθ, up to a degree of 240."""
    for order in (100, 220):

        def exact(x, y, order=order):
            return np.hypot(x, y) ** order * np.cos(order * np.arctan2(y, x))

        problem = mc2.Laplace(Disk(), boundary=f"cos({order}*arctan2(y, x))")
        assert largest_error(problem, exact)[0] < 1e-5


@pytest.mark.parametrize("half", [1e-6, 1e-4, 1e-2])
def test_an_electrode_is_fitted_however_narrow(half):
    """1e4 on an arc of the circle: harmonic measure, by the angle under which the arc is seen."""
    text = f"where((x > 0)*(abs(y) < {np.sin(half):.17g}), 1e4, 0)"

    def exact(x, y):
        ends = np.exp(1j * np.array([half, -half]))
        seen = np.angle((ends[0] - (x + 1j * y)) / (ends[1] - (x + 1j * y)))
        return 1e4 * (seen / np.pi - half / np.pi)

    problem = mc2.Laplace(Disk(), boundary=text)
    error, fit = largest_error(problem, exact)
    assert len(fit.basis.jumps) == 2
    assert error < 1e-4 * 1e4 * half / np.pi
    assert fit.scale == 1e4


def test_a_narrow_bump_on_the_boundary_is_fitted():
    """The real part of δ/(1 + δ − z), which is 1 at z = 1 and half of it at a distance δ."""
    delta = 1e-4

    def exact(x, y):
        return (delta / (1 + delta - (x + 1j * y))).real

    text = f"{delta}*(1 + {delta} - x)/((1 + {delta} - x)**2 + y**2)"
    error, fit = largest_error(mc2.Laplace(Disk(), boundary=text), exact)
    assert error < 1e-8
    assert fit.scale > 0.9


def test_errors_are_never_below_rounding():
    """The terms are rounded, not their sum alone: 1e8 + x, less a constant, leaves eight digits."""
    for text, terms in (("1", 1.0), ("1e8 + x", 1e8), ("0", 0.0)):
        fit = fit_boundary(mc2.Laplace(Disk(), boundary=text))
        assert fit.error >= 1e-15 * terms
        assert fit.worst >= fit.error
    # poles with large coefficients that cancel
    domain = Disk() & L_SHAPE
    fit = fit_boundary(mc2.Laplace(domain, boundary="x**2"))
    ((basis, coefficients),) = fit.field.parts
    x, y = domain.sample_boundary(200, seed=0).T
    assert fit.error > 1e-16 * np.max(np.abs(coefficients) @ np.abs(basis.columns(x, y)))


def test_many_corners_take_bounded_time():
    angles = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    radius = 1 + 0.1 * np.cos(7 * angles)
    domain = Polygon(np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1))
    for problem in (mc2.Laplace(domain, boundary="abs(x)"), mc2.Yukawa(domain, source=0, boundary="abs(x)", lam=4.0)):
        fit = fit_boundary(problem)
        assert len(fit.basis.levels) < (30_000 if problem.name == "laplace" else 2000)
        assert fit.misfit < (1e-7 if problem.name == "laplace" else 1e-2)
