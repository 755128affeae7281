"""Curves as edges: arcs and cubic curves become lines that are off by a stated tolerance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mc2.geometry.drawings.drawing import Curve
from mc2.geometry.drawings.mending import Polyline
from mc2.geometry.drawings.segments import Arc, Cubic, Line, Segment, first, last, points

Array = NDArray[np.float64]
STRAIGHT = 1e-6
"""Where segments meet at a smaller angle, in radians, there is no corner."""
MOST = 10_000
"""Edges of one segment."""


def flattened(curve: Curve, tolerance: float) -> Polyline:
    """A curve as edges that are off by at most so many of its sizes; vertices within segments are smooth."""
    every = np.array([point for segment in curve.segments for point in points(segment)])
    least = tolerance * float(np.ptp(every, axis=0).max())
    stretches = [_points(segment, least) for segment in curve.segments]
    names = [segment.name for segment, own in zip(curve.segments, stretches, strict=True) for _ in own]
    inner = [np.arange(len(own)) > 0 for own in stretches]
    for k, segment in enumerate(curve.segments):
        if k or curve.closed:
            inner[k][0] = _goes_on(curve.segments[k - 1], segment)
    if not curve.closed:
        stretches.append(np.array([last(curve.segments[-1])]))
        inner.append(np.zeros(1, bool))
    return Polyline(np.concatenate(stretches), names, np.concatenate(inner), curve.closed, curve.place)


def _points(segment: Segment, least: float) -> Array:
    """Points along a segment from its beginning on, without its end."""
    if isinstance(segment, Line):
        return np.array([segment.start])
    if isinstance(segment, Cubic):
        p = np.array(segment[:4])
        bend = float(np.hypot(*(p[2:] - 2 * p[1:-1] + p[:-2]).T).max())
        count = max(1, min(MOST, math.ceil(math.sqrt(0.75 * bend / least))))
        t = (np.arange(count) / count)[:, None]
        return (1 - t) ** 3 * p[0] + 3 * t * (1 - t) ** 2 * p[1] + 3 * t**2 * (1 - t) * p[2] + t**3 * p[3]
    start, end = complex(*segment.start), complex(*segment.end)
    turn = 4 * math.atan(segment.bulge)
    radius = abs(end - start) / (2 * abs(math.sin(turn / 2)))
    step = 2 * math.acos(max(0.0, 1 - least / radius))
    count = max(1, min(MOST, math.ceil(abs(turn) / max(step, 1e-9))))
    center = (start + end) / 2 + (end - start) / 2 * 1j / math.tan(turn / 2)
    z = center + (start - center) * np.exp(1j * turn * np.arange(count) / count)
    z[0] = start
    return np.stack([z.real, z.imag], axis=1)


def _goes_on(before: Segment, after: Segment) -> bool:
    """Whether a segment begins in the direction in which the one before it ends."""
    return bool(abs(np.angle(_direction(after, 0) / _direction(before, 1))) < STRAIGHT)


def _direction(segment: Segment, end: int) -> complex:
    """The direction at the beginning (0) or the end (1) of a segment."""
    if isinstance(segment, Cubic):
        p: Sequence[complex] = [complex(*point) for point in segment[:4]]
        chords = [b - a for a, b in itertools.pairwise(p) if a != b] or [1 + 0j]
        return chords[-end]
    chord = complex(*last(segment)) - complex(*first(segment))
    turn = 4 * math.atan(segment.bulge) if isinstance(segment, Arc) else 0.0
    return chord * complex(math.cos(turn * (end - 0.5)), math.sin(turn * (end - 0.5))) or 1 + 0j
