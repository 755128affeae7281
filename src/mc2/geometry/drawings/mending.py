"""Polylines of a drawing become rings and slits: what is broken is mended where that is safe, or refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry.drawings.crossings import Array, Crossing, Indices, find_crossings
from mc2.geometry.drawings.drawing import TOUCHING, at

SPECK = 1e-6
"""Rings smaller than so many sizes of the drawing are left out."""
MAX_LOOPS = 100
"""Small loops that are cut off."""


class Polyline(NamedTuple):
    """A curve that is made of edges.

    points: [n, 2]. names: of the parts that edges belong to, n of a closed curve and n - 1 of an open one.
    smooth: [n], whether a vertex is no corner. place: which curve it is, for messages.
    """

    points: NDArray[np.float64]
    names: list[str | None]
    smooth: NDArray[np.bool_]
    closed: bool
    place: str

    @property
    def starts(self) -> NDArray[np.float64]:
        """Where edges begin."""
        return self.points if self.closed else self.points[:-1]

    @property
    def ends(self) -> NDArray[np.float64]:
        """Where edges end."""
        return np.roll(self.points, -1, axis=0) if self.closed else self.points[1:]

    @property
    def area(self) -> float:
        """Positive if a ring turns to the left."""
        x, y = (self.points - self.points[0]).T
        return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))

    @property
    def extent(self) -> float:
        """The longer side of its box."""
        return float(np.ptp(self.points, axis=0).max())

    def without(self, vertices: NDArray[np.bool_]) -> Polyline:
        """Without some vertices of a ring; the edge that begins there goes with each."""
        kept = ~vertices
        names = [name for name, keep in zip(self.names, kept, strict=True) if keep]
        return self._replace(points=self.points[kept], names=names, smooth=self.smooth[kept])


class Mended(NamedTuple):
    """What a drawing is made of. rings: closed, apart from each other. slits: open, within them."""

    rings: list[Polyline]
    slits: list[Polyline]


def mended(curves: Sequence[Polyline], size: float, tolerance: float, notes: list[str]) -> Mended:
    """Rings and slits without spikes, loops, specks and crossings.

    size: of the drawing. tolerance: length of loops and of ends that are too long, up to which they are cut off.
    notes: what was mended is added here.
    """
    rings = []
    for curve in curves:
        if curve.closed:
            ring = _without_spikes(curve, size, notes)
            if _has_area(ring, curve, size, notes):
                rings.append(_without_loops(ring, size, tolerance, notes))
    if not rings:
        _refuse_open([curve for curve in curves if not curve.closed])
        raise InputError("has no closed curve with an area")
    _refuse_crossings(rings, size)
    slits = [_slit(curve, rings, size, tolerance, notes) for curve in curves if not curve.closed]
    return Mended(rings, slits)


def _without_spikes(ring: Polyline, size: float, notes: list[str]) -> Polyline:
    """Without vertices where an edge goes back along the one before it."""
    count, where = 0, (0.0, 0.0)
    least = TOUCHING * size
    while len(ring.points) > 2:
        before = ring.points - np.roll(ring.points, 1, axis=0)
        after = np.roll(ring.points, -1, axis=0) - ring.points
        lengths = np.hypot(*before.T), np.hypot(*after.T)
        aside = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        back = (np.einsum("ij,ij->i", before, after) < 0) & (aside <= least * np.maximum(*lengths))
        short = lengths[1] <= least
        some = back | short
        if not some.any():
            break
        some &= ~np.roll(some, 1) if not some.all() else np.arange(len(some)) % 2 == 0  # no two neighbours at once
        spikes = np.flatnonzero(some & back & ~short & (lengths[0] > least))
        if spikes.size:
            where = _pair(ring.points[spikes[0]]) if not count else where
            count += spikes.size
        ring = ring.without(some)
    if count:
        notes.append(f"{ring.place}: {_counted(count, 'spike')} without width at {at(where)} left out")
    return ring


def _counted(count: int, what: str) -> str:
    return f"a {what}" if count == 1 else f"{count:,} {what}s"


def _pair(point: NDArray[np.float64]) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _has_area(ring: Polyline, original: Polyline, size: float, notes: list[str]) -> bool:
    """Whether a ring counts: specks do not, and larger ones without an area are refused."""
    where = at(_pair(original.points[0]))
    if original.extent <= SPECK * size:
        notes.append(f"{ring.place} at {where} is a speck of {original.extent:.3g}: left out")
        return False
    if len(ring.points) < 3 or abs(ring.area) <= TOUCHING * size * ring.extent:
        raise InputError(f"{ring.place} at {where} has no area: it is thinner than {TOUCHING * size:.2g}")
    return True


def _edges(curves: Sequence[Polyline]) -> tuple[Array, Array, Indices, Indices, Indices]:
    """All edges: starts, ends, numbers of the neighbours [n, 2], the curve of each, and its number in it."""
    joined, owner, number, total = [], [], [], 0
    for k, curve in enumerate(curves):
        count = len(curve.names)
        own = np.arange(count)
        sides = np.stack([own - 1, own + 1], axis=1)
        sides = sides % count if curve.closed else np.where((sides < 0) | (sides >= count), -1 - total, sides)
        joined.append(np.where(sides < 0, -1, sides + total).astype(np.intp))
        owner.append(np.full(count, k))
        number.append(own)
        total += count
    starts, ends = (np.concatenate(list(side)) for side in ((c.starts for c in curves), (c.ends for c in curves)))
    return starts, ends, np.concatenate(joined), np.concatenate(owner), np.concatenate(number)


def _without_loops(ring: Polyline, size: float, tolerance: float, notes: list[str]) -> Polyline:
    """Without small loops; a larger one is refused."""
    for _ in range(MAX_LOOPS):
        starts, ends, joined, _, _ = _edges([ring])
        found = find_crossings(starts, ends, joined, TOUCHING * size)
        if not found:
            return ring
        loops = [_loop(ring, crossing) for crossing in found]
        extent, first, count, point = min(loops)
        if extent > tolerance:
            raise InputError(
                f"{ring.place} crosses or touches itself at {at(point)}: loops of up to {tolerance:.3g} are cut "
                "off, larger ones are yours to mend"
            )
        notes.append(f"{ring.place}: a loop of {extent:.3g} at {at(point)} cut off")
        ring = _cut(ring, first, count, point)
        if len(ring.points) < 3:
            break
    raise InputError(f"{ring.place} crosses itself more than {MAX_LOOPS} times")


def _loop(ring: Polyline, crossing: Crossing) -> tuple[float, int, int, tuple[float, float]]:
    """The smaller of the two loops at a crossing: its extent, first vertex and count of vertices, and the crossing."""
    n = len(ring.points)
    choices = []
    for low, high in ((crossing.first, crossing.second), (crossing.second, crossing.first)):
        count = (high - low) % n
        inside = np.concatenate([ring.points[(low + 1 + np.arange(count)) % n], [crossing.point]])
        choices.append((float(np.ptp(inside, axis=0).max()), (low + 1) % n, count, crossing.point))
    return min(choices)


def _cut(ring: Polyline, first: int, count: int, point: tuple[float, float]) -> Polyline:
    """The ring with some vertices replaced by a point."""
    n = len(ring.points)
    rolled = ring._replace(
        points=np.roll(ring.points, -first, axis=0), smooth=np.roll(ring.smooth, -first),
        names=ring.names[first:] + ring.names[:first],
    )  # fmt: skip
    gone = np.arange(n) < count - 1
    kept = rolled.without(gone)
    kept.points[0], kept.smooth[0] = point, False
    return kept


def _refuse_crossings(rings: Sequence[Polyline], size: float) -> None:
    """Rings must be apart from each other."""
    starts, ends, joined, owner, _ = _edges(rings)
    for crossing in find_crossings(starts, ends, joined, TOUCHING * size, most=1):
        one, other = (rings[owner[edge]].place for edge in (crossing.first, crossing.second))
        how = "run along each other" if crossing.overlap else "cross or touch each other"
        raise InputError(f"{one} and {other} {how} at {at(crossing.point)}: keep them apart, or say overlaps='join'")


def _refuse_open(curves: Sequence[Polyline]) -> None:
    for curve in curves:
        start, end = _pair(curve.points[0]), _pair(curve.points[-1])
        raise InputError(
            f"{curve.place} is open: it goes from {at(start)} to {at(end)}, {math.dist(start, end):.3g} apart, "
            "and lies in no ring"
        )


def _slit(curve: Polyline, rings: Sequence[Polyline], size: float, tolerance: float, notes: list[str]) -> Polyline:
    """An open curve within the rings; an end that is a little too long is cut off where it leaves."""
    if not inside(rings, curve.points[len(curve.points) // 2] if len(curve.points) > 2 else curve.points.mean(axis=0)):
        _refuse_open([curve])
    curve = _trimmed(curve, rings, size, tolerance, notes)
    starts, ends, joined, owner, _ = _edges([*rings, curve])
    for crossing in find_crossings(starts, ends, joined, TOUCHING * size):
        if owner[crossing.second] != len(rings):
            continue
        apart = min(math.dist(crossing.point, curve.points[k]) for k in (0, -1))
        if crossing.overlap or apart > 2 * TOUCHING * size:
            other = rings[owner[crossing.first]].place if owner[crossing.first] < len(rings) else "itself"
            raise InputError(f"{curve.place} is open and crosses {other} at {at(crossing.point)}")
    return curve


def _trimmed(curve: Polyline, rings: Sequence[Polyline], size: float, tolerance: float, notes: list[str]) -> Polyline:
    """Without what is too long at either end by no more than the tolerance."""
    for back in (False, True):
        last = curve.points[0 if back else -1]
        starts, ends, joined, owner, number = _edges([*rings, curve])
        found = [
            crossing
            for crossing in find_crossings(starts, ends, joined, TOUCHING * size)
            if owner[crossing.second] == len(rings) != owner[crossing.first]
            and TOUCHING * size < math.dist(crossing.point, last) <= tolerance
        ]
        if not found:
            continue
        crossing = max(found, key=lambda one: math.dist(one.point, last))
        edge, point = int(number[crossing.second]), np.array([crossing.point])
        if back:
            rest = np.concatenate([point, curve.points[edge + 1 :]])
            curve = curve._replace(points=rest, names=curve.names[edge:], smooth=curve.smooth[edge:])
        else:
            rest = np.concatenate([curve.points[: edge + 1], point])
            curve = curve._replace(points=rest, names=curve.names[: edge + 1], smooth=curve.smooth[: edge + 2])
        notes.append(
            f"{curve.place} is {math.dist(crossing.point, last):.3g} too long at {at(crossing.point)}: cut off"
        )
    return curve


def inside(rings: Sequence[Polyline], point: NDArray[np.float64]) -> bool:
    """Whether a ray to the right crosses the rings an odd number of times."""
    x, y = point
    count = 0
    for ring in rings:
        (x0, y0), (x1, y1) = ring.starts.T, ring.ends.T
        spans = (y0 > y) != (y1 > y)
        with np.errstate(all="ignore"):
            crossing = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
        count += int((spans & (x < crossing)).sum())
    return count % 2 == 1
