"""Smooth curves with sharp corners through the stair-steps of pixels.

A contour of pixels is off the true curve by up to half a pixel. Corners are where its arms, some pixels long, meet at
an angle that does not grow with their length; between corners, a contour becomes a line if it is one to half a pixel,
and else the smoothing spline (Dierckx 1975) of fewest knots that is off by no more than stair-steps are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry.drawings import segments as drawn
from mc2.geometry.drawings.segments import Line, Point, Segment, end_at, first, last, polyline
from mc2.geometry.drawings.splines import from_control_points

Array = NDArray[np.float64]


class Noise(NamedTuple):
    """How far a contour may be off the curve, in pixels, and what is told from it.

    rms: of smoothing splines. line: largest distance of a line. gap: length at corners that is not looked at.
    arms: lengths of the two arms of a corner, and degrees by which they must turn.
    """

    rms: float
    line: float
    gap: float
    arms: tuple[tuple[float, float], ...]


STEPS = Noise(rms=0.32, line=0.62, gap=1.2, arms=((5.0, 40.0), (7.0, 32.0), (10.0, 24.0)))
"""Noise of outlines of pixels that are either inside or outside."""
SOFT = Noise(rms=0.06, line=0.2, gap=1.0, arms=((2.5, 25.0), (4.0, 20.0)))
"""Noise of outlines of pixels whose shade tells how much of them is inside."""
CONCENTRATED = 0.85
"""A corner turns arms by at least so much of what it turns arms of twice the length."""


class _Corner(NamedTuple):
    """A place along a contour, by its arc length, where it turns at once."""

    at: float
    turn: float


def fit(contour: Array, noise: Noise) -> list[Segment]:
    """A closed curve through a closed contour of pixels [n, 2], whose first point is not repeated."""
    s = np.concatenate([[0.0], np.cumsum(_lengths(contour))])
    corners = _bent(contour, s, find_corners(contour, s, noise), noise)
    if not corners:
        return _ring(contour, noise)
    pieces = [
        _piece(_between(contour, s, low, high, noise.gap), noise) for low, high in _stretches(corners, float(s[-1]))
    ]
    return _assembled(pieces, [_at(contour, s, corner) for corner in corners])


def _stretches(corners: Sequence[float], total: float) -> list[tuple[float, float]]:
    """From each corner to the next."""
    return list(zip(corners, [*corners[1:], corners[0] + total], strict=True))


def _bent(contour: Array, s: Array, corners: list[float], noise: Noise) -> list[float]:
    """Without corners in the middle of what is a line."""
    total = float(s[-1])
    for corner in list(corners) if len(corners) > 2 else []:
        k = corners.index(corner)
        low, high = corners[k - 1] - (total if k == 0 else 0.0), corners[(k + 1) % len(corners)]
        high += total if high <= corner else 0.0
        if _line(_between(contour, s, low + total, high + total, noise.gap), noise) is not None:
            corners = [other for other in corners if other != corner]
    return corners


def _lengths(contour: Array) -> Array:
    return np.hypot(*(np.roll(contour, -1, axis=0) - contour).T)


def _at(contour: Array, s: Array, where: float | Array) -> Array:
    """Points of a closed contour by their arc length."""
    around = np.concatenate([contour, contour[:1]])
    wrapped = np.mod(where, s[-1])
    return np.stack([np.interp(wrapped, s, around[:, k]) for k in (0, 1)], axis=-1)


def find_corners(contour: Array, s: Array, noise: Noise) -> list[float]:
    """Arc lengths of the corners of a closed contour."""
    total = s[-1]
    places = np.arange(0, total, 0.5)
    found: list[_Corner] = []
    for arm, degrees in noise.arms:
        if total < 6 * arm:
            break
        short, long = _turns(contour, s, places, arm), _turns(contour, s, places, 2 * arm)
        size = np.abs(short)
        reach = int(arm)  # in steps of half a pixel
        peak = size >= np.max([np.roll(size, k) for k in range(-reach, reach + 1)], axis=0)
        sharp = peak & (size > math.radians(degrees)) & (size > CONCENTRATED * np.abs(long))
        for k in np.flatnonzero(sharp):
            apart = [abs((places[k] - other.at + total / 2) % total - total / 2) for other in found]
            if min(apart, default=math.inf) > arm:
                found.append(_Corner(float(places[k]), float(short[k])))
    return sorted(corner.at for corner in found)


def _turns(contour: Array, s: Array, places: Array, arm: float) -> Array:
    """By how much lines fitted to the arms before and after each place turn, in radians."""
    steps = np.linspace(1.0, 1.0 + arm, max(6, int(2 * arm)))
    directions = []
    for side in (-1, 1):
        points = _at(contour, s, places[:, None] + side * steps)  # [places, steps, 2]
        z = points[..., 0] + 1j * points[..., 1]
        z = z - z.mean(axis=1, keepdims=True)
        axis = np.exp(0.5j * np.angle((z**2).sum(axis=1)))  # of the line that fits best
        along = side * (z[:, -1] - z[:, 0])
        directions.append(np.where((axis * along.conj()).real < 0, -axis, axis))
    return np.angle(directions[1] / directions[0])


def _between(contour: Array, s: Array, low: float, high: float, gap: float) -> Array:
    """Points from one corner to the next, without those right beside the corners."""
    gap = min(gap, 0.2 * (high - low))
    own = np.concatenate([s[:-1] + turn * s[-1] for turn in range(3)])
    inner = own[(own > low + gap) & (own < high - gap)]
    return _at(contour, s, np.concatenate([[low + gap], inner, [high - gap]]))


def _piece(points: Array, noise: Noise) -> list[Segment]:
    """A line or a spline through the points between two corners."""
    line = _line(points, noise)
    if line is not None:
        return [line]
    return _spline(points, noise, False) or polyline([_point(p) for p in points], False)


def _line(points: Array, noise: Noise) -> Line | None:
    """The line that fits best, if no point is far from it and it does not bend."""
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle, full_matrices=False)
    along, aside = (points - middle) @ axes[0], (points - middle) @ axes[1]
    if np.abs(aside).max() > noise.line:
        return None
    if len(points) > 8:
        x = along / np.abs(along).max()
        bend = np.polyfit(x, aside, 2)[0]
        if abs(bend) > 0.7 * noise.line:
            return None
    ends = [middle + axes[0] * ((point - middle) @ axes[0]) for point in (points[0], points[-1])]
    return Line(_point(ends[0]), _point(ends[1]))


def _ring(contour: Array, noise: Noise) -> list[Segment]:
    around = np.concatenate([contour, contour[:1]])
    return _spline(around, noise, True) or polyline([_point(p) for p in contour], True)


def _spline(points: Array, noise: Noise, periodic: bool) -> list[Segment]:
    """The spline of fewest knots that is off by `noise.rms`; nothing if there are too few points for one."""
    from scipy.interpolate import splprep

    if len(points) < 6:
        return []
    for rms in (noise.rms, 0.7 * noise.rms, 0.4 * noise.rms):
        (knots, control, degree), at = _quietly(splprep, points.T, s=len(points) * rms**2, per=periodic)
        found = from_control_points(list(zip(*control, strict=True)), list(knots), degree, (), None)
        if _off(points, knots, control, at) <= 2 * noise.line:
            break
    if periodic:
        found = [*found[:-1], end_at(found[-1], first(found[0]))]
    return found


def _quietly(splprep: Any, columns: Array, **options: Any) -> Any:
    """Without its warnings: how far the spline is off is looked at by us."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return splprep(columns, **options)


def _off(points: Array, knots: Array, control: Sequence[Array], at: Array) -> float:
    from scipy.interpolate import splev

    return float(np.hypot(*(np.array(splev(at, (knots, control, 3))).T - points).T).max())


def _assembled(pieces: list[list[Segment]], corners: list[Array]) -> list[Segment]:
    """Pieces that meet in sharp corners: where they meet when they go straight on, if that is near."""
    made: list[Segment] = []
    for k, piece in enumerate(pieces):
        start = _meeting(pieces[k - 1], piece, corners[k])
        following = (k + 1) % len(pieces)
        end = _meeting(piece, pieces[following], corners[following])
        made += _extended(piece, start, end)
    return made


def _meeting(before: list[Segment], after: list[Segment], corner: Array) -> Point:
    p, u = _tip(before[-1], True)
    q, v = _tip(after[0], False)
    cross = u[0] * v[1] - u[1] * v[0]
    if abs(cross) > 0.05:
        share = ((q[0] - p[0]) * v[1] - (q[1] - p[1]) * v[0]) / cross
        met = p[0] + share * u[0], p[1] + share * u[1]
        if math.dist(met, corner) < 3:
            return met
    return _point(corner)


def _tip(segment: Segment, end: bool) -> tuple[Point, Point]:
    """The end of a segment and the direction there."""
    given = drawn.points(segment)
    (x, y), (u, v) = (given[-2], given[-1]) if end else (given[0], given[1])
    length = math.hypot(u - x, v - y) or 1.0
    return (given[-1] if end else given[0]), ((u - x) / length, (v - y) / length)


def _extended(piece: list[Segment], start: Point, end: Point) -> list[Segment]:
    """A piece led on to two points: lines are moved there, and others are continued by lines."""
    if len(piece) == 1 and isinstance(piece[0], Line):
        return [Line(start, end)]
    return [
        *polyline([start, first(piece[0])], False), *piece, *polyline([last(piece[-1]), end], False),
    ]  # fmt: skip


def _point(p: Any) -> Point:
    return float(p[0]), float(p[1])
