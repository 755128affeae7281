"""Enclosures against dense samples: of every operation, and of random expressions."""

import numpy as np
import pytest

from mc2.functions.callables import trace
from mc2.functions.expression import NUMPY, X, Y, apply, constant
from mc2.functions.intervals import enclose
from mc2.functions.reader import read_expression
from mc2.functions.terms import TermSum
from mc2.zoo import generate

BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "arctan2",
    "minimum",
    "maximum",
    "less",
    "less_equal",
    "equal",
]
UNARY = [name for name in NUMPY if name not in ("integer_power", "clifford", "where", *BINARY)]


def boxes(count, seed, largest=3.0):
    """Sides of random boxes of very different sizes, some of them with a side at 0."""
    random = np.random.default_rng(seed)
    low = random.uniform(-3, 3, (2, count)) * (random.random((2, count)) > 0.1)
    return low, low + largest * 10 ** random.uniform(-4, 0, (2, count))


def check(expression, count=200, seed=0, samples=60, rounding=1e-13):
    """Every value at points of the boxes, their corners included, lies in the enclosure."""
    low, high = boxes(count, seed)
    least, largest = enclose(expression, low[0], high[0], low[1], high[1])
    u = np.linspace(0, 1, samples)[:, None, None, None]
    shift = np.random.default_rng(seed + 1).uniform(0, 1, (samples, samples, 2, count))
    shift[0], shift[-1], shift[:, 0], shift[:, -1] = 0, 1, np.where(u[:, 0] < 0.5, 0, 1), np.where(u[:, 0] > 0.5, 0, 1)
    points = low + (high - low) * shift
    values = expression(points[:, :, 0], points[:, :, 1]).reshape(-1, count)
    slack = rounding * np.nanmax(np.where(np.isfinite(values), np.abs(values), 0), axis=0)
    assert not (values < least - slack).any()
    assert not (values > largest + slack).any()
    assert not np.isnan(least).any()
    assert not np.isnan(largest).any()
    return values, least, largest


@pytest.mark.parametrize("operation", UNARY)
def test_functions_of_one_variable(operation):
    """Enclosed, and as tightly as samples can tell where they are finite."""
    values, low, high = check(apply(operation, X))
    tight = np.isfinite(low) & np.isfinite(high) & ~np.isnan(values).any(axis=0)
    assert tight.sum() > 20
    width = np.ptp(values[:, tight], axis=0)
    assert ((high - low)[tight] <= 1.3 * width + 1e-12 * (1 + np.abs(high[tight]))).mean() > 0.95


@pytest.mark.parametrize("operation", BINARY)
def test_functions_of_two_variables(operation):
    values, low, high = check(apply(operation, X, Y))
    tight = np.isfinite(low) & np.isfinite(high) & ~np.isnan(values).any(axis=0)
    assert tight.sum() > 20
    width = np.ptp(values[:, tight], axis=0)
    assert ((high - low)[tight] <= 1.3 * width + 1e-12 * (1 + np.abs(high[tight]))).mean() > 0.9


@pytest.mark.parametrize("power", [-3, -2, -1, 2, 3, 4, 7, 64])
def test_integer_powers(power):
    values, low, high = check(X**power)
    finite = np.isfinite(low) & np.isfinite(high)
    width = np.ptp(values[:, finite], axis=0)
    assert ((high - low)[finite] <= 1.5 * width + 1e-11 * (1 + np.abs(high[finite]))).mean() > 0.8


@pytest.mark.parametrize("text", ["x**2.5", "x**65", "x**66", "x**(-1.5)", "(-2.0)**y", "abs(x)**y", "0.5**x"])
def test_real_powers(text):
    check(read_expression(text))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_bessel_clifford_functions(order):
    for scale in (1.0, 5.0, 60.0):
        check(apply("clifford", scale * X, number=order), samples=25, rounding=1e-9)


def test_bounds_that_are_known():
    def ends(text, *box):
        low, high = enclose(read_expression(text), *box)
        return float(low), float(high)

    assert ends("x**2", -1, 2, 0, 0) == pytest.approx((0, 4))
    assert ends("x*x", -1, 2, 0, 0) == pytest.approx((0, 4))
    assert ends("abs(x)", -3, 2, 0, 0) == pytest.approx((0, 3))
    assert ends("cos(x)", -1, 4, 0, 0) == pytest.approx((-1, 1))
    assert ends("sin(x)", 0, 1, 0, 0) == pytest.approx((0, np.sin(1)))
    assert ends("1/x", -1, 1, 0, 0) == (-np.inf, np.inf)
    assert ends("1/x**2", -1, 2, 0, 0) == (pytest.approx(0.25), np.inf)
    assert ends("log(x)", 0, 1, 0, 0) == (-np.inf, pytest.approx(0, abs=1e-12))
    assert ends("log(x)", -2, -1, 0, 0) == (-np.inf, np.inf)
    assert ends("x < y", 0, 1, 0.5, 2) == (0, 1)
    assert ends("x < y", 0, 1, 1.5, 2) == (1, 1)
    assert ends("where(x > 0, 5, -1)", -1, 1, 0, 0) == pytest.approx((-1, 5))
    assert ends("where(x > 0, 5, -1)", 0.1, 1, 0, 0) == pytest.approx((5, 5))
    assert ends("where(x > 0, 5, -1)", -1, -0.1, 0, 0) == pytest.approx((-1, -1))
    assert ends("3", 0, 1, 0, 1) == pytest.approx((3, 3))
    assert ends("arctan2(y, x)", -1, 1, -1, 1) == pytest.approx((-np.pi, np.pi))
    assert ends("arctan2(y, x)", 1, 2, -1, 1) == pytest.approx((-np.pi / 4, np.pi / 4))


def test_a_comparison_with_nothing_does_not_hold():
    """√x has no value for x < 0, where √x > −1 is false."""
    low, high = enclose(read_expression("where(sqrt(x) > -1, 1, 5)"), -1.0, 1.0, 0.0, 0.0)
    assert low <= 1
    assert high >= 5


def random_expression(random, depth):
    if depth == 0 or random.random() < 0.1:
        return [X, Y, constant(round(float(random.normal()), 2))][random.integers(3)]
    parts = [random_expression(random, depth - 1) for _ in range(3)]
    choice = random.random()
    if choice < 0.35:
        return apply(UNARY[random.integers(len(UNARY))], parts[0])
    if choice < 0.85:
        return apply(BINARY[random.integers(len(BINARY))], *parts[:2])
    if choice < 0.93:
        return apply("where", apply("less", parts[0], constant(0.1)), *parts[1:])
    return parts[0] ** int(random.integers(-3, 5))


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed):
    random = np.random.default_rng(seed)
    for number in range(25):
        try:
            expression = random_expression(random, 4)
        except Exception:  # a constant that is not finite
            continue
        # cancellation of samples: their rounding is that of the numbers they are made of
        check(expression, count=40, seed=number, samples=12, rounding=1e-9)


def test_enclosures_shrink_with_the_box():
    expression = read_expression("exp(x)*sin(3*y) + x**2*y - log(2 + x)*cos(x*y)")
    widths = []
    for size in (1e-1, 1e-2, 1e-3):
        low, high = enclose(expression, 0.3, 0.3 + size, -0.2, -0.2 + size)
        widths.append(float(high - low))
    np.testing.assert_allclose(widths[:2], 10 * np.array(widths[1:]), rtol=0.2)


def test_other_functions_have_none():
    problem = generate("test", 0).problem
    assert isinstance(problem.boundary, TermSum)
    assert enclose(problem.boundary, 0, 1, 0, 1) is None
    traced = trace(lambda x, y: np.where(x > 0, x, y))
    assert traced is not None
    assert enclose(traced, 0, 1, 0, 1) is not None
