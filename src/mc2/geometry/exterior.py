"""`Exterior`: all of the plane outside of a body, as far as infinity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mc2.checks import finite, positive
from mc2.errors import InputError, short
from mc2.geometry.compositions import Difference
from mc2.geometry.domain import Bounds, Constants, Domain, Leaf
from mc2.geometry.pieces import Boundary, successors
from mc2.geometry.shapes import Disk

if TYPE_CHECKING:
    from mc2.geometry.parts import Where

AROUND = 1.1
"""Radius of the circle to which walks return, in units of that of a circle around the body's box."""
BEYOND = 1.05
"""Radius of the circle from which they return, in units of that of a circle around the window."""


@final
@dataclass(frozen=True, repr=False)
class Exterior(Domain):
    """The plane outside of a body. The signed distance is minus the body's, everywhere.

    Pictures and grids show a window, `bounds`; solutions are known beyond.

    body: a bounded domain without holes, such as a disk, a polygon or a union of several.
    reach: of the window, in half-sizes of the body.
    growth: of solutions: u − growth · log r stays bounded at infinity. ∮ ∂u/∂n around the body, with n out of the
        exterior, is then −2π growth.
    """

    body: Domain
    reach: float = 3.0
    growth: float = 0.0

    unbounded = True

    def __post_init__(self) -> None:
        if not isinstance(self.body, Domain) or self.body.unbounded:
            raise InputError(f"body = {short(self.body)}: must be a bounded domain, such as mc2.geometry.Disk(1.0)")
        object.__setattr__(self, "reach", positive("reach", self.reach))
        object.__setattr__(self, "growth", finite("growth", self.growth))
        if not 1.25 <= self.reach <= 50:
            raise InputError(f"reach = {self.reach:g} must lie between 1.25 and 50")
        if self.body.holes():
            raise InputError(f"the body {short(self.body)} has holes, which are no part of its exterior: fill them")

    @cached_property
    def bounds(self) -> Bounds:
        """The window (xmin, xmax, ymin, ymax) that grids cover."""
        (x, y), half = self.center, 0.5 * self.reach * self.body.size
        return x - half, x + half, y - half, y + half

    @cached_property
    def center(self) -> tuple[float, float]:
        """The middle of the body's box."""
        xmin, xmax, ymin, ymax = self.body.bounds
        return 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)

    @cached_property
    def circles(self) -> tuple[float, float]:
        """Radii of two circles around `center`: walks that reach the outer one return to the inner one."""
        xmin, xmax, ymin, ymax = self.body.bounds
        inner = AROUND * 0.5 * math.hypot(xmax - xmin, ymax - ymin)
        return inner, max(BEYOND * math.sqrt(0.5) * self.reach * self.body.size, 1.5 * inner)

    @cached_property
    def _walked(self) -> Difference:
        """The part of it in which walks are: within the outer circle."""
        return Difference(Disk(self.circles[1], center=self.center), self.body)

    @property
    def exactness(self) -> tuple[bool, bool]:
        inside, outside = self.body.exactness
        return outside, inside

    @property
    def registers(self) -> int:
        return self._walked.registers

    @property
    def depth(self) -> int:
        return 1 + self.body.depth

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        self._walked.emit(code, constants, out)

    def distance(self, x: Any, y: Any) -> np.ndarray:
        return -self.body.distance(x, y)

    def leaves(self) -> Iterator[Leaf]:
        return self.body.leaves()

    def find_boundary(self) -> Boundary:
        """The body's, run through the other way."""
        own = self.body.boundary
        before = np.empty(own.pieces.size, np.intp)
        before[successors(own.pieces.curve)] = np.arange(own.pieces.size)
        turned = own.pieces._replace(smooth=own.pieces.smooth[before]).reversed(np.ones(own.pieces.size, bool))
        return own._replace(pieces=turned.take(np.arange(own.pieces.size)[::-1]))

    def move(self, dx: float, dy: float) -> Exterior:
        return replace(self, body=self.body.move(dx, dy))

    def rotate(self, angle: float) -> Exterior:
        return replace(self, body=self.body.rotate(angle))

    def scale(self, factor: float) -> Exterior:
        return replace(self, body=self.body.scale(factor))

    def mark(self, name: str, where: str | Where | None = None, on: Any = None) -> Exterior:
        return replace(self, body=self.body.mark(name, where, on))

    def describe(self) -> dict[str, Any]:
        return {"exterior": self.body.describe(), "reach": self.reach, "growth": self.growth}

    def __repr__(self) -> str:
        more = "" if self.reach == 3.0 else f", reach={self.reach!r}"
        return f"Exterior({self.body!r}{more}{f', growth={self.growth!r}' if self.growth else ''})"


def need_bounded(domain: Domain, who: str) -> None:
    """Refuse an exterior domain on behalf of somebody who would take its window for all of it."""
    if domain.unbounded:
        raise InputError(f"{who} a bounded domain, not {short(domain)}")
