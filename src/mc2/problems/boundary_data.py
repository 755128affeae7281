"""Boundary data by parts: a condition for every named part of the boundary, and Dirichlet data as one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError, short, unknown
from mc2.functions import Function, FunctionLike
from mc2.functions.equality import along_boundary
from mc2.functions.grid_function import GridFunction
from mc2.problems.condition import Array, Clamped, Condition, Dirichlet, FromExact, Robin

if TYPE_CHECKING:
    from mc2.geometry import Domain

BoundaryLike = FunctionLike | Condition | Mapping[str, FunctionLike | Condition]
REST = "*"
"""Stands for all parts that are not named."""
CHECKS = 64
"""Points of every part at which its data are checked."""


class PartData(Function):
    """Dirichlet data by parts: every point takes the function of the part that it is on, or nearest to.

    domain: whose parts are meant. functions: one for each, in their order; None, where u is not given, is NaN.
    """

    def __init__(self, domain: Domain, functions: Sequence[Function | None]) -> None:
        self.domain, self.functions = domain, tuple(functions)

    @property
    def text(self) -> str:
        pairs = zip(self.domain.parts, self.functions, strict=True)
        return ", ".join(f"{part.name}: {'–' if function is None else function.text}" for part, function in pairs)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        flat, out = (x.ravel(), y.ravel()), np.full(x.size, np.nan)
        part, known = np.full(x.size, -1), np.isfinite(flat[0]) & np.isfinite(flat[1])
        part[known] = self.domain.part_index(flat[0][known], flat[1][known])
        for index, function in enumerate(self.functions):
            on = part == index
            if function is not None and on.any():
                out[on] = function(flat[0][on], flat[1][on])
        return out.reshape(x.shape)

    def mapped(self, domain: Domain, change: Callable[[Function], Function]) -> PartData:
        """The same on another domain with as many parts, with every function changed."""
        return PartData(domain, [None if function is None else change(function) for function in self.functions])


def read_conditions(given: Condition | Mapping[Any, Any], domain: Domain, name: str) -> tuple[Condition, ...]:
    """A condition for every part of the domain's boundary, in their order."""
    if isinstance(given, Condition):
        return (given,) * len(domain.parts)
    known = [part.name for part in domain.parts]
    for key in given:
        if key not in (*known, REST):
            raise unknown("part of the boundary", key, [*known, REST])
    missing = [part for part in known if part not in given]
    if missing and REST not in given:
        raise InputError(f'{name} says nothing of the parts {", ".join(missing)}: name them, or give "*" for the rest')
    return tuple(_condition(given.get(part, given.get(REST)), f"{name} {part!r}") for part in known)


def _condition(value: Any, name: str) -> Condition:
    if isinstance(value, Condition):
        return value
    try:
        return Dirichlet(value)
    except InputError as error:
        raise InputError(str(error).replace("dirichlet value", name, 1)) from None


def completed(conditions: tuple[Condition, ...], exact: FromExact | None, domain: Domain) -> tuple[Condition, ...]:
    """With data that are left out taken from the exact solution."""
    found = []
    for condition, part in zip(conditions, domain.parts, strict=True):
        if condition.value is None:
            if exact is None:
                raise InputError(f"boundary {part.name!r} has a {condition.word} condition without a value: give one")
            condition = replace(condition, value=exact if condition.reflecting else exact.exact)
        if isinstance(condition, Clamped) and condition.slope is None:
            if exact is None:
                raise InputError(f"boundary {part.name!r} has a clamped condition without a slope, ∂u/∂n: give one")
            condition = replace(condition, slope=exact)
        found.append(condition)
    return tuple(found)


def checked(conditions: tuple[Condition, ...], domain: Domain) -> tuple[Condition, ...]:
    """Conditions whose data are finite on their parts, and whose equalities hold up to rounding there."""
    return tuple(_checked(condition, domain, index) for index, condition in enumerate(conditions))


def _checked(condition: Condition, domain: Domain, index: int) -> Condition:
    x, y, *_ = part_points(domain, index, CHECKS)
    part, ready = domain.parts[index].name, {}
    for name, function in condition.functions.items():
        plain = not condition.reflecting and name == "value"
        label = f"boundary {part!r}" if plain else f"{condition.word} {name} on {part!r}"
        ready[name] = along_boundary(function, label, domain, np.stack([x, y]))
        values = ready[name](x, y)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            place = f"({x[bad[0]]:.4g}, {y[bad[0]]:.4g})"
            raise InputError(f"{label} is not finite at {place}, where it is needed: {short(function.text)}")
        if name == "coefficient" and values.min() < 0:
            low = int(np.argmin(values))
            raise InputError(
                f"{label} is {values[low]:.4g} at ({x[low]:.4g}, {y[low]:.4g}): it must not be negative, since then a "
                "solution need not exist, and walks would grow without bound"
            )
    return replace(condition, **ready)  # type: ignore[type-var]


def part_points(domain: Domain, index: int, count: int) -> tuple[Array, Array, Array, Array]:
    """Points on a part, evenly by arc length, and none at its ends; with the outward normals there."""
    own = domain.pieces.take(np.flatnonzero(domain.pieces.part == index))
    ends = np.cumsum(own.length)
    along = (np.arange(count) + 0.5) / count * ends[-1]
    place = np.minimum(np.searchsorted(ends, along), own.size - 1)
    t = 1 - (ends[place] - along) / own.length[place]
    points, normal = own.at(t, place), -1j * own.direction(t, place)
    return points[:, 0], points[:, 1], np.asarray(normal.real), np.asarray(normal.imag)


def as_dirichlet(conditions: tuple[Condition, ...], domain: Domain) -> Function:
    """The Dirichlet data of all parts as one function."""
    functions = [None if condition.reflecting else condition.value for condition in conditions]
    if functions[0] is not None and all(function is functions[0] for function in functions):
        return functions[0]
    return PartData(domain, functions)


def insulated(conditions: Sequence[Condition]) -> bool:
    """Whether no condition holds u itself anywhere, so that it is known but for a constant."""
    from mc2.functions.expression import Expression, is_constant

    def free(condition: Condition) -> bool:
        if not condition.reflecting:
            return False
        if not isinstance(condition, Robin):
            return True
        return isinstance(condition.coefficient, Expression) and is_constant(condition.coefficient, 0.0)

    return all(map(free, conditions))


def agree_on_parts(conditions: Sequence[Condition], exact: FromExact, domain: Domain) -> None:
    """Refuse conditions that contradict a known solution, beyond rounding."""
    samples = domain.sample_boundary(256), domain.sample_interior(256)
    size = max(float(np.abs(exact(*points.T)).max()) for points in samples)
    pairs = list(enumerate(conditions))
    pairs += [(index, condition.turn) for index, condition in pairs if isinstance(condition, Clamped)]
    for index, condition in pairs:
        part = domain.parts[index]
        if isinstance(condition.value, FromExact | GridFunction):
            continue  # it is the solution's own, or interpolated
        x, y, nx, ny = part_points(domain, index, CHECKS)
        try:
            known = replace(condition, value=exact).data(x, y, nx, ny)  # type: ignore[type-var]
        except InputError:  # no derivatives to compare with
            continue
        error, given = np.abs(known - condition.data(x, y, nx, ny)), condition.data(x, y, nx, ny)
        worst = int(np.argmax(error))
        scale = size / (domain.size if condition.reflecting else 1.0)
        if error[worst] > 1e-6 * float(np.abs(known).max()) + 1e-9 * scale:
            raise InputError(
                f"exact does not solve this problem: at ({x[worst]:.4g}, {y[worst]:.4g}) on {part.name!r} it gives "
                f"{condition.word} data {known[worst]:.6g}, but they are {given[worst]:.6g}"
            )
