import copy

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.functions.expression import X, Y, constant
from mc2.functions.reader import read_expression

POINTS = np.random.default_rng(3).uniform(-1, 1, (2, 100))


def test_operators_build_what_they_compute():
    x, y = POINTS
    cases = [
        lambda x, y: (x + 2) * (3 - y) / (1 + x * x) - x**3 + 2**y,
        lambda x, y: abs(-x) + np.sqrt(x * x + 1) ** 3,
        lambda x, y: np.where(x > y, np.sin(x), np.exp(y)),
        lambda x, y: np.where(x <= 0.1, 1.0, y) + np.maximum(x, 0.2) * np.hypot(x, y),
        lambda x, y: np.arctan2(y, x) + np.logaddexp(3 * x, y) + np.square(y),
        lambda x, y: 5.0 + 0 * x,
    ]
    for function in cases:
        np.testing.assert_allclose(function(X, Y)(x, y), function(x, y), rtol=1e-13)


def test_equal_expressions_are_the_same_object():
    assert read_expression("sin(x)*y + 1") is read_expression(" torch.sin( x ) * y+1.0")
    assert copy.deepcopy(X * Y) is X * Y


def test_long_sums_need_no_recursion():
    expression = read_expression("+".join(["x"] * 5000))
    assert float(expression(2.0, 0.0)) == 10_000
    assert len(expression.program.code) == 5000
    assert float(expression.laplacian()(2.0, 0.0)) == 0
    assert expression.text


def test_values_are_kept_when_simplifying():
    """No rewriting changes where an expression has no value."""
    assert np.isnan(read_expression("0*log(x)")(-1.0, 0.0))
    assert np.isnan(read_expression("sqrt(x)**2")(-1.0, 0.0))
    assert float(read_expression("sqrt(x**2 + y**2)**2")(3.0, 4.0)) == 25


def test_broadcasting_and_constants():
    assert read_expression("x + y")(np.ones((3, 1)), np.ones(4)).shape == (3, 4)
    np.testing.assert_array_equal(constant(2.5)(np.zeros(3), 0.0), [2.5] * 3)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_constants_are_finite(number):
    with pytest.raises(InputError, match="finite"):
        constant(number)


def test_an_expression_has_no_truth_value():
    with pytest.raises(TypeError, match=r"np\.where"):
        bool(X < Y)


@pytest.mark.parametrize("text", ["x", "-x**2/3", "where(x <= y, i0(x), -2.5)", "logaddexp(x, 2*y) + atan2(y, x + 9)"])
def test_text_reads_back(text):
    expression = read_expression(text)
    again = read_expression(expression.text)
    np.testing.assert_allclose(again(*POINTS), expression(*POINTS), rtol=1e-12)


def test_comparisons_are_numbers():
    """1.0 or 0.0, not NumPy's booleans, for which 1 + 1 is 1, −1 is an error, and sinh(1) a number of 16 bits."""
    x, y = np.array([0.5, -0.5, 2.0]), np.array([1.0, 2.0, -1.0])
    np.testing.assert_array_equal(read_expression("(x > 0) + (y > 0)")(x, y), [2, 1, 1])
    np.testing.assert_array_equal(read_expression("(x > 0) - (y > 0)")(x, y), [0, -1, 1])
    np.testing.assert_array_equal(read_expression("-(x >= 0)")(x, y), [-1, 0, -1])
    np.testing.assert_allclose(read_expression("sinh(x > 0)")(x, y), np.sinh([1.0, 0.0, 1.0]), rtol=1e-15)
