"""Python functions as `Function`s: traced, compiled, or called on whole arrays, in that order of preference.

A function that only uses arithmetic and NumPy's functions is traced: called once with symbols, it becomes an
`Expression`, with exact derivatives. One with branches or loops is compiled by numba. Anything else that works on
NumPy arrays is called on whole arrays, and a warning says so.
"""

import dis
import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError, short, warn
from mc2.functions.function import Array, Function, Program
from mc2.functions.tracing import PROBES, trace


def from_callable(function: Callable[..., Any], name: str) -> Function:
    """A Python function of x and y as a `Function`; name is what it is called in messages."""
    values = _probed(function, name)
    traced = trace(function)
    if traced is not None:
        return traced
    return compile_function(function, name, values) or ArrayFunction(function, name)


def _probed(function: Callable[..., Any], name: str) -> Array:
    """Values at `PROBES`, NaN where it fails for a number.

    Refuses a function that takes no x and y, fails on numbers and on arrays, or does not return real numbers.
    """
    try:
        if isinstance(function, np.ufunc) and function.nin != 2:  # it would write into its second argument
            raise TypeError
        inspect.signature(function).bind(0.0, 0.0)
    except TypeError:
        raise InputError(f"{name}: must be a function of two arguments, x and y, not {_described(function)}") from None
    except ValueError:  # a function that does not tell its arguments
        pass
    number = np.float64 if _inverts(function) else float
    numbers = [_attempt(function, number(x), number(y)) for x, y in PROBES.T]
    together = _attempt(function, *PROBES.copy())  # a function may write into what it is given
    if isinstance(together, Exception) and isinstance(numbers[0], Exception):
        raise InputError(f"{name}: the Python function failed at x = 0.31, y = 0.23: {_first_line(numbers[0])}")
    for (x, y), value in zip(PROBES.T, numbers, strict=True):
        if not isinstance(value, Exception):
            _real(value, (), f"{name}: the Python function returned", f"at ({x:g}, {y:g})")
    if isinstance(together, Exception):
        return np.array([np.nan if isinstance(value, Exception) else float(value) for value in numbers])
    values = _real(together, PROBES[0].shape, f"{name}: the Python function returned", "for arrays of 5 points")
    for (x, y), one, other in zip(PROBES.T, numbers, values, strict=True):
        if not isinstance(one, Exception) and not np.isclose(float(one), other, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise InputError(
                f"{name}: the Python function is {float(one):.6g} for the numbers ({x:g}, {y:g}), but {other:.6g} "
                "there for arrays: it must not depend on the type of x and y"
            )
    return values


def _attempt(function: Callable[..., Any], x: Any, y: Any) -> Any:
    """What a function returns, or the exception it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(x, y)
    except Exception as error:
        return error


def _inverts(function: Callable[..., Any]) -> bool:
    """Whether a function uses ~, which is "not" for NumPy's truth values only: ~True is −2."""
    try:
        return any(step.opname == "UNARY_INVERT" for step in dis.get_instructions(function))
    except TypeError:
        return False


def _real(value: Any, shape: tuple[int, ...], start: str, where: str) -> Array:
    """Real numbers, one per point; start and where are of the message that refuses anything else."""
    if value is None:
        raise InputError(f"{start} None {where}: is there a return for every case?")
    try:
        array = np.asarray(value)
    except Exception:  # objects that are no arrays, such as lists of lists of different lengths
        array = np.array(None)
    if array.dtype.kind == "c":
        raise InputError(f"{start} complex numbers {where}: take the .real or .imag part")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{start} {short(value)} {where}: must be a real number")
    if array.shape not in ((), shape):
        raise InputError(f"{start} an array of shape {array.shape} {where}: must be one real number per point")
    return np.array(np.broadcast_to(array.astype(float), shape))


def _described(function: Callable[..., Any]) -> str:
    try:
        return f"{getattr(function, '__name__', 'function')}{inspect.signature(function)}"
    except ValueError:
        return short(function)


class CompiledFunction(Function):
    """A Python function that numba compiled, in float64."""

    def __init__(self, entry: Any, name: str, function: Callable[..., Any]) -> None:
        self._entry = entry  # keeps the machine code alive: the program holds only its address
        self._name, self._function = name, function

    def __reduce__(self) -> Any:
        """Pickled as the Python function, which is compiled again: an address means nothing elsewhere."""
        return from_callable, (self._function, self._name)

    @property
    def text(self) -> str:
        return f"Python function {self._name} (compiled)"

    @cached_property
    def program(self) -> Program:
        from mc2.functions.kernels import OPCODE

        low, high = np.array([self._entry.address], np.int64).view(np.int32)
        return Program(np.array([[OPCODE["call"], 2, low, high, 0]], np.int32), np.zeros(1), 3)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        from mc2.functions.machine import run

        return run(self.program, x, y)


def compile_function(function: Callable[..., Any], name: str, expected: Array) -> CompiledFunction | None:
    """The function compiled for numbers, or None if numba cannot, or if it raises exceptions of its own.

    expected: what it is at `PROBES`; None too if the compiled function differs.
    """
    from mc2.compute.callback import compile_callback

    try:
        entry = compile_callback(function)
        for x, y in PROBES.T.tolist():
            float(function(x, y))
    except Exception:  # numba has many ways to say that it cannot
        return None
    compiled = CompiledFunction(entry, getattr(function, "__name__", name), function)
    return compiled if np.allclose(compiled(*PROBES), expected, rtol=1e-9, atol=1e-12, equal_nan=True) else None


class ArrayFunction(Function):
    """A Python function that is called on whole arrays."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self._name = name
        self(*PROBES)
        warn(
            f"{name}: this Python function cannot be compiled, so it is called on whole arrays, which is slower; "
            "arithmetic, NumPy functions and np.where can be compiled"
        )

    @property
    def text(self) -> str:
        return f"Python function {getattr(self._function, '__name__', self._name)} (called on arrays)"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        try:
            with np.errstate(all="ignore"):
                values = self._function(x.copy(), y.copy())
        except Exception as error:
            raise InputError(
                f"{self._name}: the Python function failed on arrays of shape {x.shape}: {_first_line(error)}; it must "
                "return one real number per point"
            ) from error
        return _real(values, x.shape, f"{self._name}: the Python function returned", f"for arrays of shape {x.shape}")


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__} {str(error).strip()}".splitlines()[0][:200]
