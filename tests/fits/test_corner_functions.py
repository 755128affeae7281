"""Corner functions: that they solve their equations, and have the singularities and conditions they are made for."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

import mc2
from mc2 import Neumann, Robin
from mc2.fits.basis import Basis
from mc2.fits.boundary_points import on_pieces
from mc2.fits.corner_functions import CornerFunctions, Cut, Term
from mc2.fits.cuts import CutFinder
from mc2.fits.junctions import find_junctions, make_corner_functions
from mc2.geometry import Ellipse, Polygon, Rectangle
from mc2.problems.operator import LAPLACIAN, Operator
from tests.fits.test_basis import laplacian
from tests.fits.test_gradients import differences

OPERATORS = {"laplace": LAPLACIAN, "yukawa": Operator(-30.0), "helmholtz": Operator(49.0)}
ELL = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
TERMS = (Term(0.0, 1, False, True), Term(2 / 3), Term(1.0, 1), Term(5 / 3), Term(2.0, 1), Term(7.5))
CUTS = {
    "ray": Cut((0j,), complex(np.exp(-0.25j * np.pi))),
    "bent": Cut((0j, 0.3 - 0.3j, 0.4 - 3j), -1j),
}


def inside(count=80):
    x, y = ELL.sample_interior(4 * count, seed=0).T
    away = ELL.distance(x, y) > 0.12
    return x[away][:count], y[away][:count]


def functions(operator, cut):
    return CornerFunctions(operator, cut, 0.0, 1.5 * np.pi, 2.3, TERMS)


each = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
each_cut = pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)


@each
@each_cut
def test_equation_and_gradients(operator, cut):
    corner, (x, y) = functions(operator, cut), inside()
    values = corner.columns(x, y)
    size = np.abs(values).max(axis=1, keepdims=True)
    residual = laplacian(corner.columns, x, y) + operator.mass * values
    assert (np.abs(residual) < 1e-6 * size * (1 + abs(operator.mass))).all()
    for mine, theirs in zip(corner.gradients(x, y), differences(corner.columns, x, y, h=0.005), strict=True):
        np.testing.assert_allclose(mine / size, theirs / size, atol=1e-8)


@each
@each_cut
def test_sums(operator, cut):
    corner, (x, y) = functions(operator, cut), inside()
    coefficients = np.random.default_rng(0).normal(size=len(corner.parts))
    basis = Basis(operator, (0.0, 0.0), 1.5, 0, corners=(corner,))
    found = basis.sum(np.append(0.0, coefficients), x, y)
    np.testing.assert_allclose(found, coefficients @ corner.columns(x, y), rtol=1e-12, atol=1e-12)


def test_powers_and_logarithms():
    corner, (x, y) = functions(LAPLACIAN, CUTS["bent"]), inside()
    w = (x + 1j * y) / 2.3
    logarithm = np.log(np.abs(w)) + 1j * np.mod(np.arctan2(y, x), 2 * np.pi)
    expected = [logarithm.imag]
    for power, logs in ((2 / 3, 0), (1, 1), (5 / 3, 0), (2, 1), (7.5, 0)):
        value = np.exp(power * logarithm) * logarithm**logs
        expected += [value.real, value.imag]
    np.testing.assert_allclose(corner.columns(x, y), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("operator", "bessel"), [(Operator(-30.0), mpmath.besseli), (Operator(49.0), mpmath.besselj)])
def test_bessel_functions_of_any_order(operator, bessel):
    """Ratios between places; for a logarithm, the derivative by the order but for a multiple of the function."""
    corner = CornerFunctions(operator, CUTS["ray"], 0.0, 1.5 * np.pi, 2.3, (Term(5 / 3), Term(2.0, 1), Term(2.0, 0)))
    r = np.array([0.05, 0.4, 1.1])
    rows = corner.columns(r, np.zeros(3))[[0, 2, 4]]
    order = [float(bessel(5 / 3, operator.rate * s)) for s in r]
    np.testing.assert_allclose(rows[0] / rows[0, 0], np.array(order) / order[0], rtol=1e-10)
    by_order = [float(mpmath.diff(lambda n, s=s: bessel(n, operator.rate * s), 2)) for s in r]
    plain = [float(bessel(2, operator.rate * s)) for s in r]
    matrix = np.stack([by_order, plain], axis=1)
    share, *_ = np.linalg.lstsq(matrix, rows[1], rcond=None)
    np.testing.assert_allclose(matrix @ share, rows[1], rtol=1e-8)


@each
def test_conditions_hold_on_straight_sides(operator):
    """Every function without a logarithm is 0, or has the normal derivative 0, on both sides of its corner."""
    made = {type(operator): operator}
    assert made
    boundary = {"edge 0": 0, "edge 5": Neumann(0), "*": Neumann(0)}
    family = {0.0: mc2.Laplace, -30.0: mc2.Yukawa, 49.0: mc2.Helmholtz}[operator.mass]
    more = {0.0: {}, -30.0: {"source": 0, "lam": 30.0}, 49.0: {"source": 0, "k": 7.0}}[operator.mass]
    problem = family(ELL, boundary=boundary, **more)
    junctions = [junction for junction in find_junctions(problem) if abs(junction.opening - 1.5 * np.pi) < 1e-9]
    assert [junction.first for junction in junctions] == [pytest.approx(1 / 3)]
    (corner,) = make_corner_functions(problem, junctions, 5.0, 100)
    assert [term.power for term in corner.terms if not term.logs] == [
        pytest.approx((2 * k + 1) / 3) for k in range(8) if k not in (1, 4, 7)
    ]
    plain = [number for number, (term, _) in enumerate(corner.parts) if not corner.terms[term].logs]
    t = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(corner.columns(t, 0 * t)[plain], 0, atol=1e-12)  # after the corner: u = 0
    gx, _ = corner.gradients(0 * t, -t)
    np.testing.assert_allclose(gx[plain], 0, atol=1e-10)  # before it: ∂u/∂x = 0


def comb(teeth=3, width=0.1, height=0.5, base=0.1):
    points = [(0.0, 0.0), ((2 * teeth - 1) * width, 0.0)]
    for tooth in reversed(range(teeth)):
        x = 2 * tooth * width
        points += [(x + width, base + height), (x, base + height)]
        points += [(x, base), (x - width, base)] if tooth else []
    return Polygon(points)


@pytest.mark.parametrize(
    "domain",
    [
        comb(),
        Rectangle(width=2, height=2) - Rectangle(width=1.0, height=0.3, angle=0.3),
        Polygon([(0, 0), (1, 0), (0, 1)]),
    ],
    ids=["comb", "hole", "triangle"],
)
def test_cuts_stay_outside(domain):
    """So functions have no jump inside: they agree with their own gradients along lines."""
    problem = mc2.Laplace(domain, boundary=Robin(1, 0))
    junctions = find_junctions(problem)
    assert len(junctions) == len(domain.corners())
    for junction in junctions:
        assert junction.cut is not None
        points = np.array(junction.cut.points)
        ways = list(pairwise(points))
        if junction.cut.heading is not None:
            ways.append((points[-1], points[-1] + 3 * junction.cut.heading))
        for a, b in ways:
            z = a + np.linspace(1e-4, 1, 2000) * (b - a)
            assert (domain.distance(z.real, z.imag) < 0).all()
        (corner,) = make_corner_functions(problem, [junction], 5.0, 100)
        x, y = domain.sample_interior(400, seed=1).T
        angle = corner.logarithm(x, y).imag
        turn = np.exp(1j * (angle + junction.direction)) * np.abs(x + 1j * y - junction.center)
        if junction.cut.heading is not None:
            np.testing.assert_allclose(turn, x + 1j * y - junction.center, atol=1e-12)


def test_rays_come_before_searches():
    cut = CutFinder(ELL).find(0j, 0.0, 1.5 * np.pi)
    assert cut is not None
    assert len(cut.points) == 1


def test_a_cut_does_not_touch_another_corner():
    """Out of the corner (1, 1) of a U, the way at 45° meets the corner (2, 2) exactly."""
    notched = Polygon([(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 3), (0, 3)])
    problem = mc2.Laplace(notched, 0)
    cuts = {junction.center: junction.cut for junction in find_junctions(problem) if junction.opening > 4}
    for center, cut in cuts.items():
        path = center + np.geomspace(1e-3, 4, 20001) * cut.heading
        away = np.abs(path - center)
        assert (notched.distance(path.real, path.imag) < -0.04 * np.minimum(away, 1)).all()
    assert len(cuts) == 2


def test_points_on_an_ellipse_are_on_the_ellipse():
    """Not on the arcs that stand for it, which are up to 1e-7 off; its distance is only a bound."""
    shape = Ellipse(1.0, 0.3)
    points = on_pieces(shape, np.arange(shape.pieces.size), np.full(shape.pieces.size, 0.25))
    np.testing.assert_allclose(points.x**2 + (points.y / 0.3) ** 2, 1, rtol=1e-12)
    slope = points.x + 1j * points.y / 0.09
    np.testing.assert_allclose(points.nx + 1j * points.ny, slope / np.abs(slope), atol=1e-8)


def test_slopes_at_the_corner_itself_are_numbers():
    """They may be infinite there; integrals along sides meet the corner by rounding."""
    cut = Cut((1.0 + 2.0j,), np.exp(1.25j * np.pi))
    functions = CornerFunctions(LAPLACIAN, cut, 0.0, 1.5 * np.pi, 1.0, (Term(2 / 3), Term(2.0, 1)))
    at, near = (functions.gradients(np.array([1.0 + step]), np.array([2.0])) for step in (0.0, 1e-12))
    assert np.isfinite(at).all()
    assert np.abs(at).max() > np.abs(near).max()
