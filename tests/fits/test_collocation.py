"""Collocation: derivatives, convergence, and bounds that hold where a fit fails."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.fits import collocation
from mc2.fits.boundary_points import Sides
from mc2.fits.collocation import fit_collocation
from mc2.fits.collocation_basis import make_collocation_basis, with_corners
from mc2.fits.collocation_points import inner_points
from mc2.fits.junctions import find_junctions
from mc2.geometry import Annulus, Disk, Ellipse, Polygon, Rectangle, Square
from mc2.geometry.domain_rule import domain_rule

WAVY = "1 + 0.5*sin(3*x)*cos(2*y)"
SMOOTH = {"diffusion": WAVY, "drift": (1, "y"), "reaction": "2 + x", "exact": "exp(x)*sin(2*y)"}
L_SHAPE = Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])


def error(problem, found):
    """Root mean square over the domain."""
    points, weights = domain_rule(problem.domain.pieces, 16)
    off = found.field(*points.T) - problem.exact(*points.T)
    return float(np.sqrt(weights @ off**2 / weights.sum()))


def test_derivatives():
    """Of all kinds of functions, against differences."""
    domain = L_SHAPE - Disk(0.1, center=(-0.5, -0.4))
    problem = mc2.Elliptic(domain, diffusion=WAVY, source=1, boundary=0)
    basis = with_corners(make_collocation_basis(domain, 6), find_junctions(problem), domain, 3.0, 400)
    assert len(basis.blocks) == 7
    x, y = domain.sample_interior(40, 1).T
    x, y = (c[domain.distance(x, y) > 0.05] for c in (x, y))
    jet, h, f = basis.jet(x, y), 1e-4, basis.columns
    east, west, north, south = f(x + h, y), f(x - h, y), f(x, y + h), f(x, y - h)
    np.testing.assert_allclose(jet.values, f(x, y), atol=1e-14)
    for one, other, most in (
        (jet.x, (east - west) / (2 * h), 1e-5),
        (jet.y, (north - south) / (2 * h), 1e-5),
        (jet.laplacian, (east + west + north + south - 4 * f(x, y)) / h**2, 1e-3),
    ):
        size = 1 + np.abs(one).max(axis=1, keepdims=True)
        assert (np.abs(one - other) / size).max() < most
    weights = np.random.default_rng(0).normal(size=basis.size)
    np.testing.assert_allclose(basis.sum(weights, x, y), weights @ jet.values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(basis.gradient(weights, x, y), [weights @ jet.x, weights @ jet.y], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(basis.laplacian(weights, x, y), weights @ jet.laplacian, rtol=1e-8, atol=1e-7)


def test_points_have_shares_of_the_area():
    for domain in (Disk(), L_SHAPE, Annulus(0.9, 1.0)):
        for seed in (0, 3):
            sides = Sides(domain, [])
            points = inner_points(domain, 600, sides, seed=seed)
            assert 300 < points.x.size < 1500
            assert domain.contains(points.x, points.y).all()
            square = points.share @ (points.x**2 + points.y**2)
            nodes, weights = domain_rule(domain.pieces, 12)
            assert square == pytest.approx(weights @ (nodes**2).sum(1) / weights.sum(), rel=0.05)


def test_the_error_falls_exponentially_with_the_degree(monkeypatch):
    """On an ellipse with a bump and a hole."""
    domain = (Ellipse(1.2, 0.8) | Disk(0.3, center=(1.1, 0.3))) - Disk(0.2, center=(-0.3, 0.1))
    problem = mc2.Elliptic(domain, **SMOOTH)
    monkeypatch.setattr(collocation, "CORNERS", ())
    for degree, most in ((8, 1e-4), (12, 1e-7), (16, 1e-12)):
        monkeypatch.setattr(collocation, "DEGREES", (degree,))
        found = fit_collocation(problem)
        assert found.basis.degree == degree
        assert error(problem, found) < most < found.error < 1e3 * most


@pytest.mark.parametrize(
    ("domain", "boundary"),
    [
        (Rectangle(1, 0.5), {"left": mc2.Neumann(), "top": mc2.Robin("2 + x"), "*": SMOOTH["exact"]}),
        (Disk(), mc2.Robin(1.0)),
        (Annulus(0.4, 1.0), {"inner": mc2.Neumann(), "outer": SMOOTH["exact"]}),
    ],
    ids=["sides", "robin", "annulus"],
)
def test_conditions(domain, boundary):
    problem = mc2.Elliptic(domain, boundary=boundary, **SMOOTH)
    found = fit_collocation(problem)
    assert error(problem, found) < 1e-11
    assert error(problem, found) < found.error < 1e-8


def test_neumann_conditions_all_around():
    problem = mc2.Elliptic(Rectangle(1, 0.5), diffusion=WAVY, exact="cos(x)*y**2", boundary=mc2.Neumann())
    found = fit_collocation(problem)
    points, weights = domain_rule(problem.domain.pieces, 16)
    off = found.field(*points.T) - problem.exact(*points.T)
    assert weights @ found.field(*points.T) == pytest.approx(0, abs=1e-10)
    assert np.std(off) < found.error < 1e-9
    given = {"diffusion": WAVY, "boundary": mc2.Neumann(1)}
    with pytest.raises(InputError, match=r"∮ α ∂u/∂n = 6, ∬ f = 2, which differ by 4"):
        fit_collocation(mc2.Elliptic(Rectangle(1, 0.5), source=1, **given))
    with pytest.raises(InputError, match="with a drift and no reaction"):
        fit_collocation(mc2.Elliptic(Rectangle(1, 0.5), source=1, drift=(1, 0), **given))


def test_corners_and_holes_are_fitted(monkeypatch):
    """Where solutions are singular, beside fits that know nothing of it."""
    given = {"diffusion": "1 + 0.5*sin(x)*cos(y)", "source": 1, "boundary": 0}
    monkeypatch.setattr(collocation, "CORNERS", ((16, 6.0),))
    monkeypatch.setattr(collocation, "DEGREES", (8, 16))
    for domain, most in ((Square(1.0), 1e-5), (L_SHAPE, 1e-5)):
        assert fit_collocation(mc2.Elliptic(domain, **given)).error < most
    ring = mc2.Elliptic(Annulus(0.3, 1.0), diffusion="exp(x)", source=1, boundary={"inner": 1, "outer": 0})
    assert fit_collocation(ring).error < 1e-7
    # Laplace's equation in between two values, in polar coordinates: α = 1/r is not smooth in the hole
    exact = mc2.Elliptic(Annulus(0.3, 1.0), diffusion="1/sqrt(x**2 + y**2)", exact="sqrt(x**2 + y**2)")
    found = fit_collocation(exact)
    assert error(exact, found) < found.error < 1e-4


HARD = {
    "narrow source": (Disk(), {"diffusion": WAVY, "exact": "exp(-((x - 0.31)**2 + (y - 0.2)**2)/1e-5)"}),
    "narrow solution": (Ellipse(1.2, 0.5), {"diffusion": "exp(x)", "exact": "tanh((x + y - 0.2)/0.01)"}),
    "waves": (Disk(), {"diffusion": WAVY, "exact": "sin(60*x)*cos(y)"}),
    "narrow diffusion": (Disk(), {"diffusion": "1 + 5*exp(-((x - 0.3)**2 + y**2)/1e-4)", "source": 1, "boundary": 0}),
    "drift": (Disk(), {"diffusion": 0.002, "drift": (1, 0), "source": 1, "boundary": 0}),
}


@pytest.mark.parametrize("name", HARD)
def test_bounds_hold_where_no_degree_resolves(name, monkeypatch):
    """An error bar is as large as the error, and what is not resolved is called so."""
    monkeypatch.setattr(collocation, "DEGREES", (8, 12, 16))  # what is not resolved by these is by no others
    domain, given = HARD[name]
    problem = mc2.Elliptic(domain, **given)
    found = fit_collocation(problem)
    assert not found.resolved
    if problem.exact is not None:
        assert error(problem, found) < found.error
    else:
        assert found.error > 0.01


def test_jumps_of_the_diffusion_are_refused():
    for jump in ("where(x > 0.1, 2, 1)", lambda x, y: np.where(x**2 + y**2 < 0.01, 100.0, 1.0)):
        with pytest.raises(InputError, match=r"diffusion jumps near \(.*several materials by regions="):
            fit_collocation(mc2.Elliptic(Disk(), diffusion=jump, source=1, boundary=0))


def test_constant_coefficients_too():
    """It agrees with solutions in closed form of the other families."""
    for problem in (
        mc2.Poisson(Disk(), exact="sin(3*x)*exp(y)"),
        mc2.Helmholtz(Disk(), k=5.0, exact="sin(3*x)*exp(y)"),
    ):
        assert error(problem, fit_collocation(problem)) < 1e-11
    with pytest.raises(InputError, match="equations of second order, not Δ²u = f"):
        fit_collocation(mc2.Biharmonic(Disk(), exact="x"))
