"""Derivatives against SymPy, which knows nothing of this package."""

import numpy as np
import pytest
import sympy

from mc2.errors import InputError
from mc2.functions.reader import read_expression
from tests.functions.samples import smooth_expression

POINTS = np.random.default_rng(5).uniform(-0.9, 0.9, (2, 50))
SX, SY = sympy.symbols("x y")

FIXED = [
    "x**2*y + 3",
    "sin(4*x)*cos(4*y)",
    "exp(-5*((x - 0.3)**2 + (y + 0.1)**2))",
    "tanh(3*x*y)/(1 + x**2)",
    "log(x**2 + y**2 + 0.01)",
    "atan2(y - 2, x*y + 3)",
    "(x + 2)**y",
    "(x + 2)**3.5",
    "sqrt(x**2 + y**2 + 0.1)",
    "asin(x*y/2) + acos(x/2) + atan(y) + sinh(x)*cosh(y)",
    "tan(x/2 + y/3)",
    "erf(x + y**2)",
    "log(exp(2*x) + exp(3*y))",
    "1/(x - 2)**3",
]
RANDOM = [smooth_expression(np.random.default_rng(seed)) for seed in range(30)]


def _laplacian(expression):
    return sympy.diff(expression, SX, 2) + sympy.diff(expression, SY, 2)


def _values(expression):
    return np.broadcast_to(sympy.lambdify((SX, SY), expression, ["scipy", "numpy"])(*POINTS), POINTS[0].shape)


def _assert_close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("text", FIXED + RANDOM)
def test_derivatives(text):
    expression = read_expression(text)
    reference = sympy.sympify(text)
    gx, gy = expression.gradient()
    _assert_close(gx(*POINTS), _values(sympy.diff(reference, SX)))
    _assert_close(gy(*POINTS), _values(sympy.diff(reference, SY)))
    laplacian = expression.laplacian()
    _assert_close(laplacian(*POINTS), _values(_laplacian(reference)))
    if text in FIXED:
        _assert_close(laplacian.laplacian()(*POINTS), _values(_laplacian(_laplacian(reference))))


def test_bessel_is_smooth_at_the_origin():
    u = read_expression("torch.special.i0(1.3*torch.sqrt(x**2 + y**2))")
    once, twice = u.laplacian(), u.laplacian().laplacian()
    for x, y in [(0.0, 0.0), *POINTS.T[:5]]:
        np.testing.assert_allclose([once(x, y), twice(x, y)], [1.69 * u(x, y), 1.69**2 * u(x, y)], rtol=1e-12)
    np.testing.assert_allclose(read_expression("i1(x)").gradient()[0](0.0, 0.0), 0.5)


def test_logaddexp_equals_its_definition():
    safe, plain = read_expression("logaddexp(2*x, 3*y)"), read_expression("log(exp(2*x) + exp(3*y))")
    _assert_close(safe.laplacian().laplacian()(*POINTS), plain.laplacian().laplacian()(*POINTS))


@pytest.mark.parametrize("text", ["abs(x)", "sign(y)*x", "min(x, y)", "max(x, 0)", "where(x < y, x, y)", "x*(y < 0)"])
def test_kinks_are_refused(text):
    with pytest.raises(InputError, match="no Laplacian"):
        read_expression(text).laplacian()


def test_kinks_of_constants_are_fine():
    assert float(read_expression("abs(-2)*x**2").laplacian()(0.3, 0.1)) == 4


@pytest.mark.slow
def test_growth_is_bounded():
    nested = "x*y"
    for _ in range(25):
        nested = f"sin({nested})*cos(x + y)"
    expression = read_expression(nested).laplacian().laplacian()
    with pytest.raises(InputError, match="too complex"):
        expression.laplacian().laplacian()
