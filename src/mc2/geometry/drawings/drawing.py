"""A drawing as its reader leaves it: closed and open curves with names, units, and what there is to say of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short, unknown
from mc2.geometry.drawings.segments import Affine, Line, Point, Segment, first, last, mapped, points

MAX_BYTES = 32 << 20
"""Bytes of a file that holds a drawing."""
MAX_SEGMENTS = 200_000
"""Lines, arcs and cubic curves of a drawing."""
MAX_NAME = 100
"""Characters of a name that a drawing gives to a part."""
LARGEST = 1e100
"""Largest coordinate."""
SMALLEST = 1e-100
"""Smallest size."""
FARTHEST = 1e8
"""Times its size that a drawing may reach from the origin: beyond, rounding cannot tell its points apart."""
TOUCHING = 1e-9
"""Points closer than so many sizes of the drawing are the same."""

MILLIMETRES = {
    "um": 1e-3, "mm": 1.0, "cm": 10.0, "m": 1e3, "km": 1e6, "in": 25.4, "ft": 304.8, "yd": 914.4,
    "px": 25.4 / 96, "pt": 25.4 / 72, "pc": 25.4 / 6,
}  # fmt: skip
"""Units by their names; a px is a 96th of an inch, as in CSS."""


class Curve(NamedTuple):
    """One curve of a drawing, from segment to segment.

    closed: the last segment ends where the first begins. place: which curve it is, for messages.
    polygon: the number of the polygon whose ring it is, the outer one before holes; 0 for other curves.
    """

    segments: tuple[Segment, ...]
    closed: bool
    place: str
    polygon: int = 0

    @property
    def name(self) -> str | None:
        """The name of the curve's first segment."""
        return self.segments[0].name


@dataclass(frozen=True)
class Drawing:
    """Curves as they were drawn.

    units: of the coordinates, "" if the drawing does not say. notes: what was left out or changed, a line each.
    """

    curves: tuple[Curve, ...]
    units: str = ""
    notes: tuple[str, ...] = ()

    def in_units(self, wanted: str | None) -> Drawing:
        """The same drawing with coordinates in other units; None: as they are."""
        if wanted is None:
            return self
        if not isinstance(wanted, str) or wanted not in MILLIMETRES:
            raise unknown("unit", wanted, MILLIMETRES)
        if not self.units:
            raise InputError(f"has no units: leave out units = {short(wanted)}")
        factor = MILLIMETRES[self.units] / MILLIMETRES[wanted]
        scaling: Affine = (factor, 0.0, 0.0, factor, 0.0, 0.0)
        moved = (
            curve._replace(segments=tuple(new for old in curve.segments for new in mapped(old, scaling)))
            for curve in self.curves
        )
        return Drawing(tuple(moved), wanted, self.notes)


@dataclass
class Collector:
    """Curves as a reader finds them, counted and checked."""

    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    """What the drawing has that is no curve, and how often."""
    total: int = 0

    def add(self, segments: Iterable[Segment], closed: bool, place: str, polygon: int = 0) -> None:
        """Take a curve in. Nothing is made of no segments."""
        found = tuple(segments)
        self.total += len(found)
        if self.total > MAX_SEGMENTS:
            raise InputError(f"has more than {MAX_SEGMENTS:,} segments ({__name__}.MAX_SEGMENTS): draw it with fewer")
        for segment in found:
            for point in points(segment):
                check_point(point, place)
        if found:
            self.curves.append(Curve(found, closed, place, polygon))

    def close(self, segments: Iterable[Segment], place: str) -> None:
        """Take in a curve that the drawing fills: a line leads back to its beginning, and that is said."""
        found = list(segments)
        start, end = first(found[0]), last(found[-1])
        if start != end:
            found.append(Line(end, start, found[0].name))
            if math.dist(start, end) > 1e-9 * _extent(found):
                self.notes.append(f"{place} is filled: closed from {at(end)} to {at(start)}; fill='none' keeps it open")
        self.add(found, True, place)

    def ignore(self, what: str) -> None:
        """Count something that is left out."""
        self.ignored[what] = self.ignored.get(what, 0) + 1

    def drawing(self, units: str = "") -> Drawing:
        """What was collected; a drawing without curves is refused."""
        left = ", ".join(f"{count} {what}" for what, count in sorted(self.ignored.items()))
        if not self.curves:
            raise InputError("has no curves" + (f": only {left}" if left else ""))
        said = [*self.notes, f"left out: {left}"] if left else self.notes
        return Drawing(tuple(self.curves), units, tuple(said))


def _extent(segments: list[Segment]) -> float:
    """How far points are from the first one."""
    return max(math.dist(point, first(segments[0])) for segment in segments for point in points(segment))


def check_point(point: Point, place: str) -> None:
    """Refuse coordinates that are no numbers, or too large for lengths to be computed."""
    for value in point:
        if not abs(value) <= LARGEST:  # also if it is not a number
            shown = "is not finite" if not math.isfinite(value) else f"{value:g} is beyond {LARGEST:g}"
            raise InputError(f"{place}: a coordinate {shown}")


def clean_name(text: str | None) -> str | None:
    """A name for a part from a text of a stranger: one line, not too long; None if nothing is left."""
    name = " ".join("".join(letter if letter.isprintable() else " " for letter in text or "").split())
    return name[:MAX_NAME].strip() or None


def quoted(kind: str, name: str | None, number: int) -> str:
    """How a curve is called in messages."""
    return f"{kind} {name!r}" if name else f"{kind} {number}"


def visible(text: str) -> str:
    """A text of a stranger in a message: short, in one line."""
    cut = text[:40]
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def at(point: Sequence[float] | NDArray[np.float64]) -> str:
    """A point in a message."""
    return f"({point[0]:.6g}, {point[1]:.6g})"
