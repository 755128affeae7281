"""Where the edges of polylines cross or touch each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

PAIRS = 1 << 20
"""Pairs of edges that are looked at at a time."""


class Crossing(NamedTuple):
    """Two edges with a point in common. overlap: they have a stretch in common."""

    first: int
    second: int
    point: tuple[float, float]
    overlap: bool


def find_crossings(start: Array, end: Array, joined: Indices, tolerance: float, most: int = 1000) -> list[Crossing]:
    """Pairs of edges that meet within a tolerance, at most so many.

    joined: [n, 2], numbers of the edges that share the start and the end of each edge: those do not count there.
    """
    found: list[Crossing] = []
    for i, j in _near(start, end, tolerance):
        neighbours = (joined[i] == j[:, None]).any(axis=1) | (joined[j] == i[:, None]).any(axis=1)
        i, j = i[~neighbours], j[~neighbours]
        point, overlap = _meeting(start[i], end[i], start[j], end[j], tolerance)
        for k in np.flatnonzero(np.isfinite(point[:, 0])):
            found.append(Crossing(int(i[k]), int(j[k]), (float(point[k, 0]), float(point[k, 1])), bool(overlap[k])))
            if len(found) == most:
                return found
    return found


def _near(start: Array, end: Array, tolerance: float) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of edges whose boxes meet, the lower number first: a sweep along the longer side of the drawing."""
    low, high = np.minimum(start, end) - tolerance, np.maximum(start, end) + tolerance
    if not len(low):
        return
    along = int(np.argmax(high.max(axis=0) - low.min(axis=0)))
    order = np.argsort(low[:, along], kind="stable")
    reach = np.searchsorted(low[order, along], high[order, along], side="right")
    counts = np.maximum(reach - np.arange(len(order)) - 1, 0)
    total = np.cumsum(counts)
    begin = 0
    while begin < len(order):
        before = total[begin - 1] if begin else 0
        stop = max(begin + 1, int(np.searchsorted(total, before + PAIRS, side="right")))
        own = counts[begin:stop]
        some = np.repeat(np.arange(begin, stop), own)
        offset = np.arange(len(some)) - np.repeat(np.cumsum(own) - own, own)
        i, j = order[some], order[some + offset + 1]
        across = 1 - along
        meet = (low[i, across] <= high[j, across]) & (low[j, across] <= high[i, across])
        if meet.any():
            yield np.minimum(i, j)[meet], np.maximum(i, j)[meet]
        begin = stop


def _meeting(a: Array, b: Array, c: Array, d: Array, tolerance: float) -> tuple[Array, NDArray[np.bool_]]:
    """A common point of the edges a-b and c-d, NaN where they have none, and whether they share a stretch."""
    u, v, w = b - a, d - c, c - a
    cross = _cross(u, v)
    lengths = np.hypot(*u.T), np.hypot(*v.T)
    with np.errstate(all="ignore"):
        t, s = _cross(w, v) / cross, _cross(w, u) / cross
        margin_t, margin_s = tolerance / lengths[0], tolerance / lengths[1]
        slanted = np.abs(cross) > 1e-12 * lengths[0] * lengths[1]
        meet = slanted & (t >= -margin_t) & (t <= 1 + margin_t) & (s >= -margin_s) & (s <= 1 + margin_s)
        point = np.where(meet[:, None], a + np.clip(t, 0, 1)[:, None] * u, np.nan)
        # along one line: where the ends of the second edge lie on the first
        aside = np.abs(_cross(u, w)) / lengths[0]
        ends = [np.sum((p - a) * u, axis=1) / lengths[0] for p in (c, d)]
    low, high = np.maximum(np.minimum(*ends), 0.0), np.minimum(np.maximum(*ends), lengths[0])
    on_line = ~slanted & (aside <= tolerance) & (high >= low - tolerance)
    middle = a + u * np.divide(0.5 * (low + high), lengths[0], out=np.zeros_like(low), where=lengths[0] > 0)[:, None]
    return np.where(on_line[:, None], middle, point), on_line & (high - low > tolerance)


def _cross(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
