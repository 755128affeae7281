"""Domains with marks: the same set of points, with a piece of the boundary that has a name of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, final

import numpy as np

from mc2.checks import finite, numbers, positive
from mc2.errors import InputError, one_line, short, unknown
from mc2.geometry.domain import Bounds, Constants, Domain, Leaf
from mc2.geometry.parts import marked, part_name
from mc2.geometry.pieces import Boundary, placed

Placement = tuple[float, float, float, float]


@dataclass(frozen=True)
class Mark:
    """A part that was split off.

    name: of the new part.
    where: true on it: an expression or a function of x and y; None for all of `on`.
    on: the parts that it is split off; None for the whole boundary.
    placement: the domain was moved since: p → (c + is) p + (x, y) in complex numbers, as (x, y, c, s).
    """

    name: str
    where: str | Callable[..., Any] | None = None
    on: tuple[str, ...] | None = None
    placement: Placement = (0.0, 0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        part_name("mark", self.name)
        if not (self.where is None or isinstance(self.where, str) or callable(self.where)):
            raise InputError(
                f"mark {self.name!r}: where = {short(self.where)} must be a text such as 'x > 0', or a function of x, y"
            )

    @property
    def text(self) -> str:
        """The condition in one line."""
        return repr(self.where) if isinstance(self.where, str) else "its condition"

    def holds(self, x: np.ndarray, y: np.ndarray) -> Any:
        """The condition at points of the domain where it is now."""
        function = read_condition(self.where) if isinstance(self.where, str) else self.where
        dx, dy, cos, sin = self.placement
        z = (x - dx + 1j * (y - dy)) / complex(cos, sin) if self.placement != (0, 0, 1, 0) else x + 1j * y
        try:
            return function(z.real, z.imag)  # type: ignore[misc]  # None is handled by who calls
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"mark {self.name!r}: its condition fails: {one_line(error)}") from error

    def placed(self, dx: float, dy: float, factor: complex) -> Mark:
        """The mark of a domain that is multiplied by a complex factor and then moved."""
        x, y, cos, sin = self.placement
        turn, shift = complex(cos, sin) * factor, complex(x, y) * factor + complex(dx, dy)
        return replace(self, placement=(shift.real, shift.imag, turn.real, turn.imag))

    def describe(self) -> dict[str, Any]:
        """The mark as plain data."""
        if callable(self.where):
            raise InputError(f"mark {self.name!r} has a Python function for its condition: write it as an expression")
        data: dict[str, Any] = {"name": self.name}
        if self.where is not None:
            data["where"] = self.where
        if self.on is not None:
            data["on"] = list(self.on)
        if self.placement != (0.0, 0.0, 1.0, 0.0):
            data["placement"] = list(self.placement)
        return data


@final
@dataclass(frozen=True, repr=False)
class Marked(Domain):
    """A domain with a mark; all but the boundary's names is the domain's."""

    domain: Domain
    added: Mark

    def __post_init__(self) -> None:
        if self.domain.unbounded:
            raise InputError(f"mark {self.added.name!r} belongs to the body of an exterior domain: mark that")

    @property
    def bounds(self) -> Bounds:
        return self.domain.bounds

    @property
    def exactness(self) -> tuple[bool, bool]:
        return self.domain.exactness

    @property
    def registers(self) -> int:
        return self.domain.registers

    @property
    def depth(self) -> int:
        return self.domain.depth

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        self.domain.emit(code, constants, out)

    def leaves(self) -> Iterator[Leaf]:
        return self.domain.leaves()

    def find_boundary(self) -> Boundary:
        mark = self.added
        return marked(self.domain, mark.name, None if mark.where is None else mark.holds, mark.on, mark.text)

    def move(self, dx: float, dy: float) -> Marked:
        return self._placed(self.domain.move(dx, dy), finite("dx", dx), finite("dy", dy), 1)

    def rotate(self, angle: float) -> Marked:
        turn = complex(math.cos(finite("angle", angle)), math.sin(angle))
        return self._placed(self.domain.rotate(angle), 0, 0, turn)

    def scale(self, factor: float) -> Marked:
        return self._placed(self.domain.scale(factor), 0, 0, positive("factor", factor))

    def _placed(self, domain: Domain, dx: float, dy: float, factor: complex) -> Marked:
        """The same mark on the moved domain: its pieces move along, so that rounding cannot change where it lies."""
        found = Marked(domain, self.added.placed(dx, dy, factor))
        own = self.boundary
        found.__dict__["boundary"] = own._replace(pieces=placed(own.pieces, factor, (dx, dy)))
        return found

    def describe(self) -> dict[str, Any]:
        data = self.domain.describe()
        return data | {"marks": [*data.get("marks", []), self.added.describe()]}

    def __repr__(self) -> str:
        mark = self.added
        inner = f"({self.domain!r})" if self.domain.depth else repr(self.domain)
        on = "" if mark.on is None else f", on={mark.on[0] if len(mark.on) == 1 else mark.on!r}"
        return f"{inner}.mark({mark.name!r}, {mark.where!r}{on})"


def read_mark(data: Any) -> Mark:
    """A mark from what `Mark.describe` gives."""
    if not isinstance(data, dict):
        raise InputError(f'mark = {short(data)} must be a table such as {{"name": "heater", "where": "x > 0"}}')
    for key in data:
        if key not in ("name", "where", "on", "placement"):
            raise unknown("key of a mark", key, ["name", "where", "on", "placement"])
    where = data.get("where")
    if not (where is None or isinstance(where, str)):
        raise InputError(f"mark where = {short(where)} must be a text such as 'x > 0'")
    placement = numbers("mark placement", data.get("placement", (0.0, 0.0, 1.0, 0.0)), 4)
    x, y, cos, sin = placement
    if cos == sin == 0:
        raise InputError(f"mark placement = {short(placement)} must not shrink everything to a point")
    return Mark(data.get("name", ""), where, as_names(data.get("on")), (x, y, cos, sin))


def as_names(on: object) -> tuple[str, ...] | None:
    """One name or several as a tuple."""
    if on is None:
        return None
    if isinstance(on, str):
        return (on,)
    if isinstance(on, list | tuple) and on and all(isinstance(name, str) for name in on):
        return tuple(on)
    raise InputError(f"mark on = {short(on)} must be the name of a part, or a list of names")


def read_condition(text: str) -> Callable[..., Any]:
    """A condition from its text. Expressions belong to a layer above this one: it is named here, not imported."""
    function: Callable[..., Any] = import_module("mc2.functions.reader").read_expression(text)
    return function
