"""Gradients of bases, lifts and fields against finite differences and SymPy."""

import numpy as np
import pytest
import sympy

import mc2
from mc2.fits.basis import Basis, Pole
from mc2.fits.field import lifted
from mc2.fits.lift import make_lift
from mc2.functions import read_expression
from mc2.geometry import Annulus
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN, Operator
from tests.fits.test_basis import POINTS, each_basis

SLOPE = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
"""Central differences of eighth order."""


def differences(function, x, y, h=0.01):
    """∂/∂x and ∂/∂y by finite differences."""
    along_x, along_y = (
        sum(w * (function(x + s * k * h, y + t * k * h) - function(x - s * k * h, y - t * k * h)) for k, w in terms)
        for terms in [SLOPE.items()]
        for s, t in ((1, 0), (0, 1))
    )
    return along_x / h, along_y / h


@each_basis
def test_functions_of_a_basis(basis):
    found, expected = basis.gradients(*POINTS), differences(basis.columns, *POINTS)
    size = np.abs(expected).max(axis=(0, 2), keepdims=True)[0]
    for mine, theirs in zip(found, expected, strict=True):
        assert (np.abs(mine - theirs) <= 1e-7 * size + 1e-12).all()


@each_basis
def test_sums_of_functions(basis):
    coefficients = np.random.default_rng(0).normal(size=len(basis.levels))
    for mine, rows in zip(basis.gradient(coefficients, *POINTS), basis.gradients(*POINTS), strict=True):
        np.testing.assert_allclose(mine, coefficients @ rows, rtol=1e-12, atol=1e-12)


X, Y = sympy.symbols("x y", real=True)
R, ANGLE = sympy.sqrt(X**2 + Y**2), sympy.atan2(Y, X)
CASES = {
    "power": (LAPLACIAN, False, R**3 * sympy.cos(3 * ANGLE)),
    "Bessel I": (Operator(-9.0), False, sympy.besseli(3, 3 * R) * sympy.cos(3 * ANGLE)),
    "Bessel J": (Operator(16.0), False, sympy.besselj(3, 4 * R) * sympy.cos(3 * ANGLE)),
    "pole": (LAPLACIAN, True, R**-3 * sympy.cos(3 * ANGLE)),
    "Bessel K": (Operator(-9.0), True, sympy.besselk(3, 3 * R) * sympy.cos(3 * ANGLE)),
    "Bessel Y": (Operator(16.0), True, sympy.bessely(3, 4 * R) * sympy.cos(3 * ANGLE)),
}


@pytest.mark.parametrize(("operator", "at_pole", "function"), CASES.values(), ids=CASES)
def test_against_symbols(operator, at_pole, function):
    """The ratio of a derivative to the value does not depend on scales."""
    basis = Basis(operator, (0.0, 0.0), 1.5, 3, (Pole((0.0, 0.0), 0.3, (1, 3)),) if at_pole else ())
    number = 7 + 4 if at_pole else 5
    slopes = basis.gradients(*POINTS[:, :8])
    values = basis.columns(*POINTS[:, :8])
    for axis, variable in enumerate((X, Y)):
        ratio = sympy.lambdify((X, Y), sympy.diff(function, variable) / function, ["scipy", "numpy"])
        np.testing.assert_allclose(slopes[axis][number] / values[number], ratio(*POINTS[:, :8]), rtol=1e-10)


@pytest.mark.parametrize("operator", [LAPLACIAN, Operator(-30.0), Operator(49.0), BILAPLACIAN], ids=str)
def test_lifts(operator):
    source = read_expression("sin(9*x)*cos(4*y) + exp(-12*((x - 0.2)**2 + y**2)) + 1.5")
    lift = make_lift(source, Annulus(0.3, 1.3).bounds, operator)
    for mine, theirs in zip(lift.gradient(*POINTS), differences(lift, *POINTS), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-7 * np.abs(theirs).max())


def test_fields():
    problem = mc2.Poisson(Annulus(0.3, 1.2), exact="exp(x)*y + x**3")
    field = mc2.solve(problem, 8, start="boundary", grid=32).fitted
    x, y = POINTS
    gx, gy = field.gradient(x[:, None], y[:, None])
    assert gx.shape == (POINTS.shape[1], 1)
    np.testing.assert_allclose(gx[:, 0], np.exp(x) * y + 3 * x**2, atol=1e-9)
    np.testing.assert_allclose(gy[:, 0], np.exp(x), atol=1e-9)
    assert lifted(mc2.Laplace(Annulus(0.3, 1.2), boundary="x")).gradient(x, y)[0].shape == x.shape
