"""Lines, arcs and cubic curves as drawings have them: mapped, reversed, moved at an end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Point = tuple[float, float]


class Line(NamedTuple):
    """A straight segment."""

    start: Point
    end: Point
    name: str | None = None


class Arc(NamedTuple):
    """A circular arc. bulge: the tangent of a quarter of its angle, positive where it turns left."""

    start: Point
    end: Point
    bulge: float
    name: str | None = None


class Cubic(NamedTuple):
    """A cubic Bézier curve."""

    p0: Point
    p1: Point
    p2: Point
    p3: Point
    name: str | None = None


Segment = Line | Arc | Cubic
Affine = tuple[float, float, float, float, float, float]
"""(a, b, c, d, e, f): x' = a x + c y + e, y' = b x + d y + f."""

IDENTITY: Affine = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_PIECE = math.pi / 8
"""Angle of an ellipse's arc that one cubic curve takes: it is off by less than 1e-7 of the radius."""


def first(segment: Segment) -> Point:
    """Where a segment begins."""
    return segment.p0 if isinstance(segment, Cubic) else segment.start


def last(segment: Segment) -> Point:
    """Where a segment ends."""
    return segment.p3 if isinstance(segment, Cubic) else segment.end


def points(segment: Segment) -> tuple[Point, ...]:
    """The points that a segment is given by."""
    return segment[:4] if isinstance(segment, Cubic) else segment[:2]


def reverse(segment: Segment) -> Segment:
    """The same segment from its end to its beginning."""
    if isinstance(segment, Line):
        return Line(segment.end, segment.start, segment.name)
    if isinstance(segment, Arc):
        return Arc(segment.end, segment.start, -segment.bulge, segment.name)
    return Cubic(segment.p3, segment.p2, segment.p1, segment.p0, segment.name)


def begin_at(segment: Segment, point: Point) -> Segment:
    """The segment with its beginning moved a little; a cubic curve keeps its direction there."""
    if isinstance(segment, Cubic):
        x, y = segment.p1[0] + point[0] - segment.p0[0], segment.p1[1] + point[1] - segment.p0[1]
        return segment._replace(p0=point, p1=(x, y))
    return segment._replace(start=point)


def end_at(segment: Segment, point: Point) -> Segment:
    """The segment with its end moved a little."""
    return reverse(begin_at(reverse(segment), point))


def apply(affine: Affine, point: Point) -> Point:
    """The image of a point."""
    a, b, c, d, e, f = affine
    x, y = point
    return a * x + c * y + e, b * x + d * y + f


def compose(outer: Affine, inner: Affine) -> Affine:
    """The map that applies `inner` first."""
    a, b, c, d, _, _ = outer
    p, q, r, s, t, u = inner
    return (a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, *apply(outer, (t, u)))


def mapped(segment: Segment, affine: Affine) -> list[Segment]:
    """The image of a segment: an arc stays one when circles stay circles, and else becomes cubic curves."""
    if affine == IDENTITY:
        return [segment]
    if isinstance(segment, Line):
        return [Line(apply(affine, segment.start), apply(affine, segment.end), segment.name)]
    if isinstance(segment, Cubic):
        p0, p1, p2, p3 = (apply(affine, point) for point in segment[:4])
        return [Cubic(p0, p1, p2, p3, segment.name)]
    a, b, c, d, _, _ = affine
    if math.hypot(a - d, b + c) <= 1e-12 * math.hypot(a, b, c, d):
        return [Arc(apply(affine, segment.start), apply(affine, segment.end), segment.bulge, segment.name)]
    if math.hypot(a + d, b - c) <= 1e-12 * math.hypot(a, b, c, d):
        return [Arc(apply(affine, segment.start), apply(affine, segment.end), -segment.bulge, segment.name)]
    return _mapped_arc(segment, affine)


def _mapped_arc(arc: Arc, affine: Affine) -> list[Segment]:
    """Cubic curves for the image of an arc under a map that makes ellipses of circles."""
    (x0, y0), (x1, y1) = arc.start, arc.end
    up = (1 - arc.bulge**2) / (4 * arc.bulge)  # of the centre over the chord, in chords, to the left
    cx, cy = (x0 + x1) / 2 - up * (y1 - y0), (y0 + y1) / 2 + up * (x1 - x0)
    ux, uy = x0 - cx, y0 - cy
    a, b, c, d, _, _ = affine
    u, v = (a * ux + c * uy, b * ux + d * uy), (-a * uy + c * ux, -b * uy + d * ux)
    found = _cubics(apply(affine, (cx, cy)), u, v, 0.0, 4 * math.atan(arc.bulge), arc.name)
    return between(found, apply(affine, arc.start), apply(affine, arc.end))


def ellipse(center: Point, u: Point, v: Point, t0: float, t1: float, name: str | None = None) -> list[Segment]:
    """Arcs or cubic curves along center + u cos t + v sin t from t0 to t1, at most a full turn in either direction."""
    size = math.hypot(*u, *v)
    if abs(math.hypot(*u) - math.hypot(*v)) > 1e-12 * size or abs(u[0] * v[0] + u[1] * v[1]) > 1e-12 * size * size:
        return _cubics(center, u, v, t0, t1, name)
    turn = math.copysign(1.0, u[0] * v[1] - u[1] * v[0])
    ends = list(_steps(t0, t1, math.pi / 2))
    made: list[Segment] = []
    for low, high in itertools.pairwise(ends):
        start, end = _on(center, u, v, low), _on(center, u, v, high)
        made.append(Arc(start, end, turn * math.tan((high - low) / 4), name))
    return _closed(made, t1 - t0)


def _cubics(center: Point, u: Point, v: Point, t0: float, t1: float, name: str | None) -> list[Segment]:
    ends = list(_steps(t0, t1, _PIECE))
    made: list[Segment] = []
    for low, high in itertools.pairwise(ends):
        reach = 4 / 3 * math.tan((high - low) / 4)
        start, end = _on(center, u, v, low), _on(center, u, v, high)
        out, back = _on((0.0, 0.0), u, v, low + math.pi / 2), _on((0.0, 0.0), u, v, high + math.pi / 2)
        one = (start[0] + reach * out[0], start[1] + reach * out[1])
        made.append(Cubic(start, one, (end[0] - reach * back[0], end[1] - reach * back[1]), end, name))
    return _closed(made, t1 - t0)


def _steps(t0: float, t1: float, longest: float) -> Iterator[float]:
    count = max(1, math.ceil(abs(t1 - t0) / longest - 1e-9))
    for k in range(count + 1):
        yield t0 + (t1 - t0) * k / count


def _on(center: Point, u: Point, v: Point, t: float) -> Point:
    cos, sin = math.cos(t), math.sin(t)
    return center[0] + u[0] * cos + v[0] * sin, center[1] + u[1] * cos + v[1] * sin


def _closed(made: list[Segment], turn: float) -> list[Segment]:
    """A full turn ends where it began, to the bit."""
    return between(made, first(made[0]), first(made[0])) if abs(abs(turn) - math.tau) < 1e-9 else made


def between(made: list[Segment], start: Point, end: Point) -> list[Segment]:
    """The same with ends that are known more exactly."""
    made = [begin_at(made[0], start), *made[1:]]
    return [*made[:-1], end_at(made[-1], end)]


def polyline(corners: Sequence[Point], closed: bool, name: str | None = None) -> list[Segment]:
    """Lines from point to point, and back to the first if it is closed."""
    ends = [*corners[1:], corners[0]] if closed else corners[1:]
    return [Line(start, end, name) for start, end in zip(corners, ends, strict=False) if start != end]
