"""Vector-valued data: one problem for every channel, such as the colours of an image, to be solved together."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from mc2.errors import InputError
from mc2.functions.function import Function
from mc2.functions.tracing import PROBES
from mc2.geometry import Domain
from mc2.problems.problem import Problem

DATA = ("exact", "source", "boundary", "laplacian")
"""What may have a value for every channel."""


def channels(kind: Callable[..., Problem], domain: Domain, **data: Any) -> list[Problem]:
    """Problems that differ in their data alone, one for every channel: for `mc2.solve_many` and `mc2.estimate_many`.

    kind: of the problems, such as `mc2.Laplace`.
    domain: that all of them share.
    data: what the kind takes. `boundary`, `source`, `laplacian` and `exact` may have channels: a list with an entry for
        each; a function of x and y that returns as many values, such as three arrays for red, green and blue; or an
        image [row, column, channel] with its bounds. So may the entries of a dictionary by parts of the boundary. All
        else is common to the channels.
    """
    split = {name: _split(value, name) if name in DATA else value for name, value in data.items()}
    counts = {name: len(value) for name, value in split.items() if isinstance(value, _Channels)}
    if not counts:
        raise InputError("channels needs data with several values: a list, or a function that returns several")
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"channels must be as many everywhere: {told}")
    return [
        kind(domain, **{name: value[k] if isinstance(value, _Channels) else value for name, value in split.items()})
        for k in range(next(iter(counts.values())))
    ]


class _Channels(list[Any]):
    """Data of every channel."""


def _split(value: Any, name: str) -> Any:
    """The data of every channel, or the value itself if it is common to all."""
    if isinstance(value, Mapping):
        parts = {part: _split(own, f"{name} of {part!r}") for part, own in value.items()}
        counts = {len(own) for own in parts.values() if isinstance(own, _Channels)}
        if len(counts) > 1:
            raise InputError(f"{name}: channels must be as many on all parts, not {sorted(counts)}")
        return value if not counts else _Channels(
            {part: own[k] if isinstance(own, _Channels) else own for part, own in parts.items()}
            for k in range(counts.pop())
        )  # fmt: skip
    if isinstance(value, list):
        if not value:
            raise InputError(f"{name} = []: a list of channels needs an entry for each")
        return _Channels(value)
    image, *place = value if isinstance(value, tuple) else (value,)
    if isinstance(image, np.ndarray) and image.ndim == 3:
        planes = (np.ascontiguousarray(image[..., k]) for k in range(image.shape[2]))
        return _Channels((plane, *place) if place else plane for plane in planes)
    if callable(value) and not isinstance(value, Function):
        return _of_function(value)
    return value


def _of_function(function: Callable[..., Any]) -> Any:
    """A function for each of the values that it returns, or itself if it returns a single one."""
    try:
        probed = np.asarray(function(*PROBES.copy()), float)
    except Exception:  # what is wrong with it is told when a problem is made
        return function
    if probed.ndim != 2:
        return function
    points = PROBES.shape[1]
    if probed.shape[0] == points != probed.shape[1]:
        return _Channels(partial(_last_axis, function, k) for k in range(probed.shape[1]))
    return _Channels(_nth(function, k) for k in range(len(probed)))


def _nth(function: Callable[..., Any], number: int) -> Callable[[Any, Any], Any]:
    """One of the values that a function returns; a closure, which can be traced and compiled."""
    return lambda x, y: function(x, y)[number]


def _last_axis(function: Callable[..., Any], number: int, x: Any, y: Any) -> Any:
    return np.asarray(function(x, y))[..., number]
