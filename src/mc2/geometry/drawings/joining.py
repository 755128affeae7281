"""Open curves whose ends meet, or nearly so, become longer ones and rings; what is drawn twice counts once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mc2.errors import InputError
from mc2.geometry.drawings.drawing import FARTHEST, SMALLEST, TOUCHING, Curve, at
from mc2.geometry.drawings.segments import Line, Point, Segment, begin_at, end_at, first, last, points, reverse


class _End(NamedTuple):
    """One of the two ends of an open curve. point: where. side: 0 where the curve begins, 1 where it ends."""

    curve: int
    side: int
    point: Point


def extent(curves: Sequence[Curve]) -> float:
    """The longer side of the box around all points that curves are given by."""
    every = np.array([point for curve in curves for segment in curve.segments for point in points(segment)])
    return float(np.ptp(every, axis=0).max())


def reach(curves: Sequence[Curve]) -> float:
    """The largest coordinate of the points that curves are given by."""
    return max(abs(x) for curve in curves for segment in curve.segments for point in points(segment) for x in point)


def check_extent(size: float, largest: float) -> None:
    """Refuse a drawing that is a point, or whose points rounding cannot tell apart."""
    if not size > 0:
        raise InputError("all its points are one")
    if not size >= SMALLEST or largest > FARTHEST * size:
        raise InputError(
            f"is {size:.3g} in size and reaches {largest:.3g} from the origin: it must be at least {SMALLEST:g}, and "
            f"reach at most {FARTHEST:g} times its size"
        )


def without_points(curves: Sequence[Curve], size: float, notes: list[str]) -> list[Curve]:
    """Curves without segments that are nothing but a point."""
    found, count = [], 0
    for curve in curves:
        kept = tuple(segment for segment in curve.segments if not _is_point(points(segment), TOUCHING * size))
        count += len(curve.segments) - len(kept)
        if kept:
            found.append(curve._replace(segments=_connected(kept, curve.closed)))
        else:
            notes.append(f"{curve.place} at {at(first(curve.segments[0]))} is a single point: left out")
            count -= len(curve.segments)
    if count > 0:
        notes.append(f"{count} repeated {'point' if count == 1 else 'points'} left out")
    return found


def _is_point(given: Sequence[Point], least: float) -> bool:
    return all(math.dist(given[0], other) <= least for other in given[1:])


def _connected(segments: tuple[Segment, ...], closed: bool) -> tuple[Segment, ...]:
    """Segments of which some were left out: each begins where the one before it ends."""
    made = [segments[0]]
    for segment in segments[1:]:
        made.append(begin_at(segment, last(made[-1])) if first(segment) != last(made[-1]) else segment)
    if closed and first(made[0]) != last(made[-1]):
        made[-1] = end_at(made[-1], first(made[0]))
    return tuple(made)


def without_copies(curves: Sequence[Curve], size: float, notes: list[str]) -> list[Curve]:
    """Each of several curves through the same points once."""
    kept: dict[tuple[object, ...], Curve] = {}
    for curve in curves:
        cells = {(round(x / (10 * TOUCHING * size)), round(y / (10 * TOUCHING * size))) for x, y in _corners(curve)}
        key = (len(curve.segments), tuple(sorted(cells)), _bulge(curve))
        if key in kept:
            notes.append(f"{curve.place} is {kept[key].place} again: left out")
        else:
            kept[key] = curve
    return list(kept.values())


def _corners(curve: Curve) -> list[Point]:
    return [point for segment in curve.segments for point in points(segment)]


def _bulge(curve: Curve) -> float:
    """Tells arcs over the same chord from each other, whatever their direction."""
    return round(sum(getattr(s, "bulge", 0.0) * (1 if first(s) <= last(s) else -1) for s in curve.segments), 9)


def join(curves: Sequence[Curve], size: float, gap: float, notes: list[str]) -> list[Curve]:
    """Open curves joined where their ends are at most `gap` apart; rings are left as they are.

    Where more than two ends meet, none are joined: there is no telling which.
    """
    opened = [curve for curve in curves if not curve.closed]
    ends = [
        _End(k, side, point)
        for k, curve in enumerate(opened)
        for side, point in enumerate((first(curve.segments[0]), last(curve.segments[-1])))
    ]
    partner: dict[int, int] = {}
    for i, j in _pairs(ends, size, gap):
        if i not in partner and j not in partner:
            partner[i], partner[j] = j, i
            _meet(opened, ends[i], ends[j], size, notes)
    return [curve for curve in curves if curve.closed] + _chains(opened, partner)


def _pairs(ends: Sequence[_End], size: float, gap: float) -> list[tuple[int, int]]:
    """Pairs of ends that may be joined, the nearest first."""
    from scipy.spatial import cKDTree

    if not ends:
        return []
    where = np.array([end.point for end in ends])
    tree = cKDTree(where)
    crowd = tree.query_ball_point(where, TOUCHING * size, return_length=True)
    pairs = tree.query_pairs(max(gap, TOUCHING * size), output_type="ndarray")
    pairs = pairs[(crowd[pairs] <= 2).all(axis=1)]
    apart = np.hypot(*(where[pairs[:, 0]] - where[pairs[:, 1]]).T)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], apart))
    return [(int(i), int(j)) for i, j in pairs[order]]


def _meet(curves: list[Curve], one: _End, other: _End, size: float, notes: list[str]) -> None:
    """Move two ends to a common point."""
    apart = math.dist(one.point, other.point)
    place = one.point
    if apart > TOUCHING * size:
        place = _corner(curves, one, other) or (
            (one.point[0] + other.point[0]) / 2,
            (one.point[1] + other.point[1]) / 2,
        )
        which = curves[one.curve].place
        if one.curve != other.curve:
            which += f" and {curves[other.curve].place}"
        notes.append(f"a gap of {apart:.3g} at {at(one.point)} is closed: {which}")
    for end in (one, other):
        curves[end.curve] = _moved(curves[end.curve], end.side, place)


def _moved(curve: Curve, side: int, place: Point) -> Curve:
    if side:
        return curve._replace(segments=(*curve.segments[:-1], end_at(curve.segments[-1], place)))
    return curve._replace(segments=(begin_at(curve.segments[0], place), *curve.segments[1:]))


def _corner(curves: Sequence[Curve], one: _End, other: _End) -> Point | None:
    """Where two lines meet when they go on, if that is near: so their directions stay."""
    ends = [(end.point, curves[end.curve].segments[-end.side]) for end in (one, other)]
    lines = [(point, segment) for point, segment in ends if isinstance(segment, Line)]
    if len(lines) < 2:
        return None
    (p, first_line), (q, second_line) = lines
    ux, uy = (first_line.end[k] - first_line.start[k] for k in (0, 1))
    vx, vy = (second_line.end[k] - second_line.start[k] for k in (0, 1))
    cross = ux * vy - uy * vx
    if abs(cross) < 0.1 * math.hypot(ux, uy) * math.hypot(vx, vy):
        return None
    share = ((q[0] - p[0]) * vy - (q[1] - p[1]) * vx) / cross
    return p[0] + share * ux, p[1] + share * uy


def _chains(opened: Sequence[Curve], partner: dict[int, int]) -> list[Curve]:
    """Follow the joints from curve to curve."""
    used = [False] * len(opened)
    found = []
    # chains that end somewhere first, from their ends; what is left are rings
    starts = [e for e in range(2 * len(opened)) if e not in partner] + [2 * k for k in range(len(opened))]
    for start in starts:
        if used[start // 2]:
            continue
        chain, end = [], start
        while not used[end // 2]:
            used[end // 2] = True
            curve = opened[end // 2]
            chain.append(_turned(curve) if end % 2 else curve)
            following = partner.get(end ^ 1)
            if following is None:
                break
            end = following
        found.append(_chained(chain, closed=start in partner))
    return found


def _turned(curve: Curve) -> Curve:
    return curve._replace(segments=tuple(reverse(segment) for segment in reversed(curve.segments)))


def _chained(chain: Sequence[Curve], closed: bool) -> Curve:
    more = f" and {len(chain) - 1} more" if len(chain) > 1 else ""
    segments = tuple(segment for curve in chain for segment in curve.segments)
    return Curve(segments, closed, chain[0].place + more)
