import math

import numpy as np
import pytest
from scipy.special import jv

from mc2.errors import InputError
from mc2.functions import Expression, as_function
from mc2.functions.callables import ArrayFunction, CompiledFunction

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
        return x + 1 if isinstance(x, float | np.ndarray) else x

    with pytest.warns(UserWarning, match="whole arrays"):
        function = as_function(fickle, "source")
    np.testing.assert_allclose(function(X, Y), X + 1)


def test_numbers_texts_and_atoms():
    from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

    assert float(as_function(2, "g")(0, 0)) == 2
    assert float(as_function(np.float64(2.5), "g")(0, 0)) == 2.5
    assert float(as_function("x + 1", "g")(1, 0)) == 2
    atoms = [HARMONIC_ATOMS["h_bilinear"](a=0.5), GENERAL_ATOMS["trig"](a=1.0, k=2)]
    assert float(as_function(atoms[0], "g")(2, 3)) == 3
    np.testing.assert_allclose(as_function(atoms, "g")(X, Y), 0.5 * X * Y + np.sin(2 * np.pi * X))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        [],
        [1, 2],
        {},
        np.zeros(3),
        "x +",
        float("nan"),
        lambda x: x,
        lambda x, y: "a",
        lambda x, y: x[:1],
        np.sin,
    ],
)
def test_anything_else_is_refused(value):
    with pytest.raises(InputError) as refused:
        as_function(value, "boundary")
    assert str(refused.value).startswith("boundary")
    assert "\n" not in str(refused.value)


def half(x, y):
    if x > 0:
        return 1.0


def failing(x, y):
    raise KeyError("a")


RESULTS = [  # what is tried, and what the message must say
    (lambda x, y: None, "returned None at (0.31, 0.23): is there a return"),
    (half, "returned None at (-0.47, 0.11)"),
    (lambda x, y: np.exp(1j * x), "returned complex numbers"),
    (lambda x, y: (x + 1j * y) ** 2, "returned complex numbers"),
    (lambda x, y: "a", "returned 'a' at (0.31, 0.23): must be a real number"),
    (lambda x, y: np.zeros(3), "returned an array of shape (3,)"),
    (lambda x, y: x[:1], "returned an array of shape (1,) for arrays of 5 points"),
    (failing, "failed at x = 0.31, y = 0.23: KeyError 'a'"),
    (lambda x: x, "must be a function of two arguments, x and y, not <lambda>(x)"),
    (lambda x, y, z: x, "must be a function of two arguments, x and y, not <lambda>(x, y, z)"),
    (lambda x, y: 5.0 if type(x) is float else x, "is 5 for the numbers (0.31, 0.23), but 0.31 there for arrays"),
    (lambda x, y: (x > 0) + (y > 0), "is 2 for the numbers (0.31, 0.23), but 1 there for arrays"),
]


@pytest.mark.parametrize(("python", "message"), RESULTS, ids=[case[1][:25] for case in RESULTS])
def test_what_a_function_returns_is_said_exactly(python, message):
    with pytest.raises(InputError) as refused:
        as_function(python, "source")
    assert str(refused.value).startswith("source: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_conditions_are_traced():
    cases = [
        lambda x, y: np.where(x == 0.5, 100.0, y),
        lambda x, y: np.where(np.float64(0.5) == x, 100.0, 0.0),
        lambda x, y: (x != 0.5) * 5,
        lambda x, y: np.where((x == 0.5) & (y > 0) | ~(y >= -0.5), 1.0, 2.0),
        lambda x, y: np.where(np.isclose(x, 0.5), 1.0, 2.0),
    ]
    x = np.where(np.arange(300) % 2, X, 0.5)
    for python in cases:
        function = as_function(python, "source")
        assert isinstance(function, Expression)
        np.testing.assert_array_equal(function(x, Y), python(x, Y))
        from mc2.functions.machine import run

        np.testing.assert_array_equal(run(function.program, x, Y), python(x, Y))


def test_writing_into_the_arguments_harms_nobody():
    def counted(x, y):
        x += 1
        return jv(0, x) + y

    before = X.copy()
    with pytest.warns(UserWarning, match="whole arrays"):
        function = as_function(counted, "boundary")
    np.testing.assert_allclose(function(X, Y), jv(0, before + 1) + Y)
    np.testing.assert_array_equal(X, before)


def test_a_trace_is_compared_on_both_sides_of_every_branch():
    """Wrong for symbols beyond 123.456 only, where no fixed point would look."""

    def fickle(x, y):
        here = np.where(x > 123.456, 1.0, 0.0)
        return here if not isinstance(x, float | np.ndarray) else np.where(x > 123.456, 2.0, 0.0)

    with pytest.warns(UserWarning, match="whole arrays"):
        function = as_function(fickle, "source")
    np.testing.assert_array_equal(function(np.array([100.0, 200.0]), 0.0), [0.0, 2.0])
