"""Python functions as `Function`s: traced, compiled, or called on whole arrays, in that order of preference.

A function that only uses arithmetic and NumPy's functions is traced: called once with the symbols X and Y, it becomes
an `Expression`, with exact derivatives. One with branches or loops is compiled by numba. Anything else that works on
NumPy arrays is called on whole arrays, and a warning says so.
"""

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError
from mc2.problems.expression import Expression, X, Y, as_expression
from mc2.problems.function import Array, Function, Program

_PROBES = np.array([[0.31, -0.47, 0.05, -0.12, 0.73], [0.23, 0.11, -0.64, -0.39, 0.52]])
"""A few points with nothing special about them, to compare a traced function with the original."""


def from_callable(function: Callable[..., Any], name: str) -> Function:
    """A Python function of x and y as a `Function`; name is what it is called in messages."""
    traced = trace(function)
    if traced is not None:
        return traced
    return compile_function(function, name) or ArrayFunction(function, name)


def trace(function: Callable[..., Any]) -> Expression | None:
    """The expression that a function computes, or None if it does more than arithmetic."""
    try:
        traced = as_expression(function(X, Y))
        with np.errstate(all="ignore"):
            direct = np.broadcast_to(np.asarray(function(*_PROBES), float), _PROBES[0].shape)
    except InputError:
        raise
    except Exception:  # whatever a user's function raises on symbols: it is not a formula
        return None
    return traced if np.allclose(traced(*_PROBES), direct, rtol=1e-9, atol=1e-12, equal_nan=True) else None


class CompiledFunction(Function):
    """A Python function that numba compiled, in float64."""

    def __init__(self, entry: Any, name: str) -> None:
        self._entry = entry  # keeps the machine code alive: the program holds only its address
        self._name = name

    @property
    def text(self) -> str:
        return f"Python function {self._name} (compiled)"

    @cached_property
    def program(self) -> Program:
        from mc2.problems.kernels import OPCODE

        low, high = np.array([self._entry.address], np.int64).view(np.int32)
        return Program(np.array([[OPCODE["call"], 2, low, high, 0]], np.int32), np.zeros(1), 3)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        from mc2.problems.machine import run

        return run(self.program, x, y)


def compile_function(function: Callable[..., Any], name: str) -> CompiledFunction | None:
    """The function compiled for numbers, or None if numba cannot, or if it raises exceptions of its own."""
    import numba

    double = numba.types.float64
    try:
        scalar = numba.njit(function, error_model="numpy")
        scalar.compile((double, double))
        if not isinstance(scalar.overloads[(double, double)].signature.return_type, numba.types.Number):
            return None
        entry = numba.cfunc(double(double, double))(lambda x, y: float(scalar(x, y)))
        float(function(0.5, 0.25))
    except Exception:  # numba has many ways to say that it cannot
        return None
    return CompiledFunction(entry, getattr(function, "__name__", name))


class ArrayFunction(Function):
    """A Python function that is called on whole arrays."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self._name = name
        self(*_PROBES)
        warnings.warn(
            f"{name}: this Python function cannot be compiled, so it is called on whole arrays, which is slower; "
            "arithmetic, NumPy functions and np.where can be compiled",
            stacklevel=6,
        )

    @property
    def text(self) -> str:
        return f"Python function {getattr(self._function, '__name__', self._name)} (called on arrays)"

    @property
    def program(self) -> None:
        return None

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self._function(x, y), float)
            if values.shape not in ((), x.shape):
                raise ValueError(f"it returned an array of shape {values.shape}")
            return np.array(np.broadcast_to(values, x.shape))
        except Exception as error:
            raise InputError(
                f"{self._name}: the Python function failed on arrays of shape {x.shape}: {_first_line(error)}; it must "
                "return one real number per point"
            ) from error


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__} {str(error).strip()}".splitlines()[0][:200]
