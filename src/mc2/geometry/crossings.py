"""Where pieces of boundaries cross or touch each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mc2.geometry.pieces import Array, Indices, Pieces

PAIRS = 1 << 20
"""Pairs of pieces that are looked at at a time."""


class Cuts(NamedTuple):
    """piece: which is cut. t: at which fraction of its length. point: there, the same for all that are cut there."""

    piece: Indices
    t: Array
    point: Array  # [n, 2]


def find_cuts(pieces: Pieces, owner: Indices, tolerance: float) -> Cuts:
    """Where pieces of different owners cross, touch, or end on each other, to a tolerance."""
    found = [_cuts(pieces, first, second, tolerance) for first, second in _neighbours(pieces, owner, tolerance)]
    if not found:
        return Cuts(np.zeros(0, np.intp), np.zeros(0), np.zeros((0, 2)))
    return Cuts(*(np.concatenate(column) for column in zip(*found, strict=True)))


def split(pieces: Pieces, cuts: Cuts, tolerance: float) -> tuple[Pieces, Indices]:
    """The pieces cut at some places, and of every stretch the piece it is of. Cuts next to others count once."""
    order = np.lexsort((cuts.t, cuts.piece))
    piece, t, point = cuts.piece[order], cuts.t[order], cuts.point[order]
    away = [np.hypot(*(point - end[piece]).T) > tolerance for end in (pieces.start, pieces.end)]
    piece, t, point = (column[away[0] & away[1]] for column in (piece, t, point))
    repeated = np.zeros(len(piece), bool)
    repeated[1:] = (piece[1:] == piece[:-1]) & (np.hypot(*(point[1:] - point[:-1]).T) <= tolerance)
    piece, t, point = piece[~repeated], t[~repeated], point[~repeated]
    count = pieces.size
    owner = np.concatenate([np.arange(count), piece])
    first = np.concatenate([np.zeros(count), t])
    start = np.concatenate([pieces.start, point])
    order = np.lexsort((first, owner))
    owner, first, start = owner[order], first[order], start[order]
    last_of_piece = np.append(owner[1:] != owner[:-1], True)
    last = np.where(last_of_piece, 1.0, np.append(first[1:], 1.0))
    end = np.where(last_of_piece[:, None], pieces.end[owner], np.roll(start, -1, axis=0))
    return pieces.cut(owner, first, last)._replace(start=start, end=end), owner


def _neighbours(pieces: Pieces, owner: Indices, tolerance: float) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of pieces with different owners whose boxes meet: sorted by their left ends, each with those that follow
    before its right end."""
    low, high = pieces.boxes()
    low, high = low - tolerance, high + tolerance
    order = np.argsort(low[:, 0], kind="stable")
    ends = np.searchsorted(low[order, 0], high[order, 0], side="right")
    counts = ends - np.arange(len(order)) - 1
    begin = 0
    while begin < len(order):
        done = np.cumsum(counts[begin:])
        stop = begin + max(1, int(np.searchsorted(done, PAIRS)))
        some = np.repeat(np.arange(begin, stop), counts[begin:stop])
        offset = np.arange(len(some)) - np.repeat(
            np.cumsum(counts[begin:stop]) - counts[begin:stop], counts[begin:stop]
        )
        i, j = order[some], order[some + offset + 1]
        near = (owner[i] != owner[j]) & (low[i, 1] <= high[j, 1]) & (low[j, 1] <= high[i, 1])
        if near.any():
            yield i[near], j[near]
        begin = stop


def _cuts(pieces: Pieces, first: Indices, second: Indices, tolerance: float) -> tuple[Indices, Array, Array]:
    """Crossings of pairs, and the ends of each that lie on the other."""
    candidates = [*_crossings(pieces, first, second)]
    candidates += [ends[side] for ends in (pieces.start, pieces.end) for side in (first, second)]
    found: list[tuple[Indices, Array, Array]] = []
    for points in candidates:
        known = np.isfinite(points).all(axis=1)
        one, other, points = first[known], second[known], points[known]
        (t, distance), (s, other_distance) = pieces.locate(one, points), pieces.locate(other, points)
        met = (distance <= tolerance) & (other_distance <= tolerance)
        found += [(one[met], t[met], points[met]), (other[met], s[met], points[met])]
    pieces_cut, fractions, places = (np.concatenate(column) for column in zip(*found, strict=True))
    return pieces_cut, fractions, places


def _crossings(pieces: Pieces, first: Indices, second: Indices) -> tuple[Array, Array]:
    """The one or two points where the lines or circles of pairs of pieces meet; NaN where they do not."""
    arc = np.abs(pieces.bulge) > 1e-14
    swap = arc[first] & ~arc[second]
    first, second = np.where(swap, second, first), np.where(swap, first, second)  # lines before arcs
    p, along = pieces.start[first], pieces.end[first] - pieces.start[first]
    q, other = pieces.start[second], pieces.end[second] - pieces.start[second]
    with np.errstate(all="ignore"):
        lines = p + along * (_cross(q - p, other) / _cross(along, other))[:, None]
        center, radius = _circle(pieces, second)
        own_center, own_radius = _circle(pieces, first)
        # two circles meet on a line at right angles to the one through their centers
        apart = own_center - center
        square = (apart**2).sum(axis=1)
        share = 0.5 * (square + radius**2 - own_radius**2) / square
        chord_point = np.where(arc[first, None], center + share[:, None] * apart, p)
        chord = np.where(arc[first, None], np.stack([-apart[:, 1], apart[:, 0]], axis=1), along)
        unit = chord / np.hypot(*chord.T)[:, None]
        foot = chord_point + unit * ((center - chord_point) * unit).sum(axis=1)[:, None]
        height = radius**2 - ((foot - center) ** 2).sum(axis=1)
        # circles that touch: their one common point, whatever rounding says
        half = np.sqrt(np.where(np.abs(height) <= 1e-14 * radius**2, 0.0, height))[:, None] * unit
    curved = arc[second, None]
    return np.where(curved, foot + half, lines), np.where(curved, foot - half, np.nan)


def _circle(pieces: Pieces, index: Indices) -> tuple[Array, Array]:
    """Centers and radii of arcs."""
    start, along, bulge = pieces.start[index], (pieces.end - pieces.start)[index], pieces.bulge[index]
    offset = 0.25 * (1 - bulge**2) / bulge
    center = start + 0.5 * along + offset[:, None] * np.stack([-along[:, 1], along[:, 0]], axis=1)
    return center, np.hypot(*(start - center).T)


def _cross(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
