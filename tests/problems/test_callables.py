import math

import numpy as np
import pytest
from scipy.special import jv

from mc2.errors import InputError
from mc2.problems import Expression, as_function
from mc2.problems.callables import ArrayFunction, CompiledFunction

X, Y = np.random.default_rng(2).uniform(-1, 1, (2, 300))


def step(x, y):
    return 1.0 if x > 0 else math.sin(y)


def series(x, y):
    total = 0.0
    for k in range(1, 4):
        total += math.cos(k * x) / k
    return total


def test_formulas_are_traced():
    function = as_function(lambda x, y: np.exp(-(x**2)) * np.sin(3 * y) + 2, "source")
    assert isinstance(function, Expression)
    np.testing.assert_allclose(function(X, Y), np.exp(-(X**2)) * np.sin(3 * Y) + 2)
    assert function.program is not None


@pytest.mark.parametrize("python", [step, series])
def test_branches_and_loops_are_compiled(python):
    function = as_function(python, "boundary")
    assert isinstance(function, CompiledFunction)
    np.testing.assert_allclose(function(X, Y), [python(x, y) for x, y in zip(X, Y, strict=True)], rtol=1e-14)


def test_anything_else_is_called_on_arrays_and_says_so():
    with pytest.warns(UserWarning, match="boundary: .* called on whole arrays") as caught:
        function = as_function(lambda x, y: jv(0, x) + y, "boundary")
    assert isinstance(function, ArrayFunction)
    assert function.program is None
    assert "\n" not in str(caught[0].message)
    np.testing.assert_allclose(function(X, Y), jv(0, X) + Y)


def test_a_trace_that_disagrees_is_dropped():
    """A function may treat symbols differently from numbers; then the trace is not the function."""

    def fickle(x, y):
        return x if isinstance(x, Expression) else x + 1

    with pytest.warns(UserWarning, match="whole arrays"):
        function = as_function(fickle, "source")
    np.testing.assert_allclose(function(X, Y), X + 1)


def test_numbers_texts_and_atoms():
    from mc2.problems import GENERAL_ATOMS, HARMONIC_ATOMS

    assert float(as_function(2, "g")(0, 0)) == 2
    assert float(as_function(np.float64(2.5), "g")(0, 0)) == 2.5
    assert float(as_function("x + 1", "g")(1, 0)) == 2
    atoms = [HARMONIC_ATOMS["h_bilinear"](a=0.5), GENERAL_ATOMS["trig"](a=1.0, k=2)]
    assert float(as_function(atoms[0], "g")(2, 3)) == 3
    np.testing.assert_allclose(as_function(atoms, "g")(X, Y), 0.5 * X * Y + np.sin(2 * np.pi * X))


@pytest.mark.parametrize(
    "value",
    [None, True, [], [1, 2], {}, np.zeros(3), "x +", float("nan"), lambda x: x, lambda x, y: "a", lambda x, y: x[:1]],
)
def test_anything_else_is_refused(value):
    with pytest.raises(InputError) as refused:
        as_function(value, "boundary")
    assert str(refused.value).startswith("boundary")
    assert "\n" not in str(refused.value)
