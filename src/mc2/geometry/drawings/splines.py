"""Splines: through given points, and those that drawings give by control points and knots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mc2.checks import finite
from mc2.errors import InputError
from mc2.geometry.drawings.drawing import LARGEST, TOUCHING
from mc2.geometry.drawings.segments import Cubic, Point, Segment, polyline

Array = NDArray[np.float64]
PIECES = 8
"""Cubic curves for each stretch of a spline that is none itself: it has weights, or a degree above 3."""
MAX_DEGREE = 10
"""Degree of a spline."""


def through(points: Any, closed: bool, corner: float = 60.0, name: str | None = None) -> list[Segment]:
    """A smooth curve through points: a cubic spline over the lengths of the chords.

    corner: degrees by which chords must turn at a point for it to be a corner, which stays sharp.
    """
    where = np.asarray(points, float)
    if len(where) > 1:
        least = TOUCHING * float(np.ptp(where, axis=0).max())
        where = where[np.concatenate([[True], np.hypot(*np.diff(where, axis=0).T) > least])]
        if closed and len(where) > 1 and np.hypot(*(where[0] - where[-1])) <= least:
            where = where[:-1]
    if len(where) < (3 if closed else 2):
        raise InputError(f"has {len(where)} different points: a curve needs 2, and a closed one 3")
    chords = np.diff(np.concatenate([where, where[:1]]) if closed else where, axis=0)
    sharp = _corners(chords, closed, math.radians(finite("corner", corner)))
    if closed and not sharp.size:
        return _spline(np.concatenate([where, where[:1]]), True, name)
    if closed:  # from the first corner once around
        where = np.roll(where, -int(sharp[0]), axis=0)
        where, sharp = np.concatenate([where, where[:1]]), sharp - sharp[0]
        ends = [*sharp.tolist(), len(where) - 1]
    else:
        ends = [0, *sharp.tolist(), len(where) - 1]
    runs = [where[low : high + 1] for low, high in itertools.pairwise(ends)]
    return [segment for run in runs for segment in _spline(run, False, name)]


def _corners(chords: Array, closed: bool, least: float) -> NDArray[np.intp]:
    """The points at which chords turn by more than a corner's angle."""
    direction = np.arctan2(chords[:, 1], chords[:, 0])
    turn = np.abs(np.angle(np.exp(1j * (direction - np.roll(direction, 1)))))
    if not closed:
        turn[0] = 0
    return np.flatnonzero(turn > least)


def _spline(points: Array, periodic: bool, name: str | None) -> list[Segment]:
    """Through points from the first to the last."""
    from scipy.interpolate import CubicSpline

    if len(points) == 2:
        return polyline([_point(p) for p in points], False, name)
    at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    kind: Literal["periodic", "natural", "not-a-knot"]
    kind = "periodic" if periodic else "natural" if len(points) == 3 else "not-a-knot"
    found = CubicSpline(at, points, bc_type=kind)
    return _cubics(points, found(at, 1), np.diff(at), name)


def _cubics(points: Array, slopes: Array, steps: Array, name: str | None) -> list[Segment]:
    """Cubic curves through points with slopes (derivatives by a parameter that goes on by `steps`)."""
    reach = steps[:, None] / 3
    one, two = points[:-1] + reach * slopes[:-1], points[1:] - reach * slopes[1:]
    rows = zip(points[:-1], one, two, points[1:], strict=True)
    return [Cubic(_point(p), _point(q), _point(r), _point(s), name) for p, q, r, s in rows]


def _point(p: Array) -> Point:
    return float(p[0]), float(p[1])


def from_control_points(
    control: Sequence[Point], knots: Sequence[float], degree: int, weights: Sequence[float], name: str | None
) -> list[Segment]:
    """A B-spline as cubic curves: exactly if it has a degree up to 3 and no weights."""
    from scipy.interpolate import PPoly

    t, where = np.asarray(knots, float), np.asarray(control, float)
    if not 1 <= degree <= MAX_DEGREE or len(where) <= degree or len(t) != len(where) + degree + 1:
        raise InputError(
            f"is a spline of degree {degree} with {len(where)} control points and {len(t)} knots: it needs a degree "
            f"from 1 to {MAX_DEGREE}, more control points than that, and as many knots as both and one more"
        )
    w = np.asarray(weights, float) if len(weights) else np.ones(len(where))
    usable = len(w) == len(where) and (w > 0).all() and np.isfinite(w).all()
    if not (usable and np.isfinite(where).all() and (np.abs(where) <= LARGEST).all() and np.isfinite(t).all()):
        raise InputError("is a spline whose points, knots and weights are not finite, or whose weights are not above 0")
    if (np.diff(t) < 0).any() or not t[degree] < t[len(where)]:
        raise InputError("is a spline whose knots do not increase")
    rational = bool(np.ptp(w) > 0)
    span = t[-1] - t[0]
    homogeneous = np.concatenate([where * w[:, None], w[:, None]], axis=1)
    pieces = [PPoly.from_spline(((t - t[0]) / span, column, degree)) for column in homogeneous.T]
    found: list[Segment] = []
    for k in range(degree, len(where)):
        width = (t[k + 1] - t[k]) / span
        if width > 0:
            steps = np.linspace(0, width, 1 + (PIECES if rational or degree > 3 else 1))
            points, slopes = _evaluate(np.stack([piece.c[:, k] for piece in pieces], axis=1), steps)
            found += _cubics(points, slopes, np.diff(steps), name)
    return found


def _evaluate(coefficients: Array, steps: Array) -> tuple[Array, Array]:
    """Points and slopes of one polynomial stretch in homogeneous coordinates."""
    value = np.stack([np.polyval(c, steps) for c in coefficients.T], axis=1)
    slope = np.stack([np.polyval(np.polyder(c), steps) for c in coefficients.T], axis=1)
    points = value[:, :2] / value[:, 2:]
    return points, (slope[:, :2] - points * slope[:, 2:]) / value[:, 2:]
