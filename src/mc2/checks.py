"""Checks of what users and files pass in: a number, a length, a point, the arguments of a class."""

import inspect
import math
from abc import ABCMeta
from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mc2.errors import InputError, short, unknown

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def finite(name: str, value: object) -> float:
    """A finite number as a float; a truth value or a text is none."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} = {short(value)} must be a finite number")
    return number


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    number = finite(name, value)
    if number <= 0:
        raise InputError(f"{name} = {short(value)} must be above 0")
    return number


def whole(name: str, value: object, low: int, high: int | None = None, limit: str = "") -> int:
    """An integer of at least `low` and at most `high`.

    limit: the name of a constant by which `high` can be raised.
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else low - 1
    if number < low or (high is not None and number > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raised = f"; the limit is {limit}" if limit and number > low else ""
        raise InputError(f"{name} = {short(value)} must be an integer {allowed}{raised}")
    return number


def point(name: str, value: object) -> tuple[float, float]:
    """A pair of finite numbers."""
    x, y = numbers(name, value, 2)
    return x, y


def numbers(name: str, value: object, count: int) -> tuple[float, ...]:
    """A fixed count of finite numbers."""
    entries = listed(name, value, f"{count} numbers")
    if len(entries) != count:
        raise InputError(f"{name} = {short(value)} must be {count} numbers")
    return tuple(finite(name, entry) for entry in entries)


def listed(name: str, value: object, what: str) -> Sequence[object]:
    """A list, tuple or array."""
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return list(value)
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} = {short(value)} must be a list of {what}")
    return value


class CheckedArguments(ABCMeta):
    """Makes classes whose objects are made with known arguments only; others are named, with the nearest known one."""

    def __call__(cls, *values: Any, **named: Any) -> Any:
        try:
            return super().__call__(*values, **named)
        except TypeError:
            _check_arguments(cls.__name__, cls.__signature__, values, named)
            raise

    @property
    def __signature__(cls) -> inspect.Signature:
        """What `help` and notebooks show: the arguments of `__init__`, not of `__call__`."""
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        own = [parameter for name, parameter in signature.parameters.items() if name != "self"]
        return signature.replace(parameters=own, return_annotation=inspect.Signature.empty)


def checked(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make a function refuse arguments that it does not take in one line, which names the nearest known one."""

    @wraps(function)
    def call(*values: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*values, **named)
        except TypeError:
            _check_arguments(function.__name__, inspect.signature(function), values, named)
            raise

    return call


def _check_arguments(kind: str, signature: inspect.Signature, values: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse arguments that a class or a function does not take, or that are missing or given twice."""
    try:
        signature.bind(*values, **named)
        return
    except TypeError as error:
        reason = str(error)
    known = list(signature.parameters.values())
    names = [parameter.name for parameter in known if parameter.kind is not parameter.VAR_POSITIONAL]
    for name in named:
        if name not in names:
            raise unknown(f"argument of {kind}", name, names) from None
    needed = [p.name for p in known if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    places = [p.name for p in known if p.kind is p.POSITIONAL_OR_KEYWORD]
    missing = [name for name in needed if name not in named and name not in places[: len(values)]]
    if missing:
        raise InputError(f"{kind} needs {', '.join(missing)}: it takes {', '.join(names)}") from None
    raise InputError(f"{kind}: {reason}; it takes {', '.join(names)}") from None
