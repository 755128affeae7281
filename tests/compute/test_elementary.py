"""Every elementary function keeps the error that its module states."""

import numpy as np
import pytest
from scipy import special

from mc2.functions.expression import X, apply
from mc2.functions.machine import run

RNG = np.random.default_rng(1)
COUNT = 100_000
ANGLES = RNG.uniform(-1000, 1000, COUNT)
NORMAL = RNG.normal(0, 3, COUNT)

CASES = [  # operation, reference, points, absolute error, relative error
    ("sin", np.sin, ANGLES, 2e-7, 0),
    ("cos", np.cos, ANGLES, 2e-7, 0),
    ("exp", np.exp, RNG.uniform(-87, 88, COUNT), 0, 2e-7),
    ("log", np.log, np.exp(RNG.uniform(-80, 80, COUNT)), 2e-7, 2e-7),
    ("tanh", np.tanh, NORMAL, 0, 3e-7),
    ("erf", special.erf, NORMAL, 0, 3e-7),
    ("log_cosh", lambda x: np.logaddexp(x, -x) - np.log(2), 3 * NORMAL, 3e-7, 3e-7),
]


@pytest.mark.parametrize(("name", "reference", "points", "absolute", "relative"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error(name, reference, points, absolute, relative, dtype):
    points = points.astype(dtype).astype(float)
    expected = reference(points)
    error = np.abs(run(apply(name, X).program, points, 0.0, dtype) - expected)
    shrink = 1 if dtype is np.float32 else 1e-7
    assert np.all(error <= shrink * np.maximum(absolute, relative * np.abs(expected)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", range(5))
def test_clifford(order, dtype):
    q = np.linspace(0, 1000, 2001).astype(dtype).astype(float)
    s = 2 * np.sqrt(q[1:])
    expected = special.iv(order, s) / (s / 2) ** order
    got = run(apply("clifford", X, number=order).program, q, 0.0, dtype)
    np.testing.assert_allclose(got[1:], expected, rtol=2e-6 if dtype is np.float32 else 1e-13)
    np.testing.assert_allclose(got[0], 1 / special.factorial(order), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges(dtype):
    """Overflow, underflow and arguments without a value behave like NumPy's."""
    points = np.array([-np.inf, -1000.0, -1.0, 0.0, 1.0, 1000.0, np.inf, np.nan])
    for name in ("exp", "log", "tanh", "erf", "sqrt", "absolute", "sign"):
        expression = apply(name, X)
        np.testing.assert_allclose(run(expression.program, points, 0.0, dtype), expression(points, 0.0), rtol=1e-6)
