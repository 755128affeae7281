"""Quadrature over a domain: nodes that crowd towards its boundary, so that what is singular there does no harm.

The domain is cut into strips at the heights of all corners, and of the tops and bottoms of all arcs. In a strip no
piece of the boundary begins or ends, so lines across it meet the same pieces in the same order. Along the strip and
across it nodes are those of the tanh-sinh rule (Takahasi and Mori, 1974).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mc2.geometry.boundary_rule import tanh_sinh
from mc2.geometry.pieces import Pieces

Array = NDArray[np.float64]
CLOSE = 1e-12
"""Heights that differ by less than this part of the domain's size are one."""


def domain_rule(pieces: Pieces, half: int) -> tuple[Array, Array]:
    """Points [n, 2] and their weights, which add up to the area.

    half: half as many nodes along a strip, and along each line across it.
    """
    pieces = _monotone(pieces)
    t, weights = tanh_sinh(half)
    heights = np.sort(np.concatenate([pieces.start[:, 1], pieces.end[:, 1]]))
    levels = heights[np.diff(heights, prepend=-np.inf) > CLOSE * (heights[-1] - heights[0])]
    found = []
    for low, high in pairwise(levels):
        y = low + t * (high - low)
        middle = 0.5 * (low + high)
        across = (np.minimum(pieces.start[:, 1], pieces.end[:, 1]) < middle) & (
            np.maximum(pieces.start[:, 1], pieces.end[:, 1]) > middle
        )
        x = np.sort(_crossings(pieces.take(across), y), axis=0)
        for left, right in zip(x[::2], x[1::2], strict=True):
            width = right - left
            px = left + t[:, None] * width
            own = (high - low) * weights * weights[:, None] * width
            found.append(np.stack([px, np.broadcast_to(y, px.shape), own]).reshape(3, -1))
    px, py, own = np.concatenate(found, axis=1)
    return np.stack([px, py], axis=1), own


def _monotone(pieces: Pieces) -> Pieces:
    """The pieces, with arcs cut where they are level."""
    first = np.angle(pieces.direction(0.0))
    turn = pieces.turn
    index, begin, end = [], [], []
    for number in range(pieces.size):
        low, high = sorted((first[number], first[number] + turn[number]))
        level = np.pi * np.arange(np.ceil(low / np.pi), np.floor(high / np.pi) + 1)
        cuts = np.sort((level - first[number]) / turn[number]) if turn[number] else np.zeros(0)
        cuts = np.concatenate([[0.0], cuts[(cuts > CLOSE) & (cuts < 1 - CLOSE)], [1.0]])
        index += [number] * (len(cuts) - 1)
        begin += cuts[:-1].tolist()
        end += cuts[1:].tolist()
    return pieces.cut(np.array(index, np.intp), np.array(begin), np.array(end))


def _crossings(pieces: Pieces, y: Array) -> Array:
    """x where pieces that all cross these heights do [piece, height]."""
    start, end = pieces.start, pieces.end
    share = (y - start[:, 1, None]) / (end[:, 1] - start[:, 1])[:, None]
    x = start[:, 0, None] + share * (end[:, 0] - start[:, 0])[:, None]
    curved = np.flatnonzero(np.abs(pieces.bulge) > CLOSE)
    if curved.size:
        own = pieces.take(curved)
        chord, bulge = own.end - own.start, own.bulge
        offset = (0.25 * (1 - bulge**2) / bulge)[:, None]
        center = own.start + 0.5 * chord + offset * np.stack([-chord[:, 1], chord[:, 0]], axis=1)
        square = ((own.start - center) ** 2).sum(axis=1)
        side = np.sign(own.at(np.full(len(curved), 0.5))[:, 0] - center[:, 0])
        rest = np.maximum(square[:, None] - (y - center[:, 1, None]) ** 2, 0.0)
        x[curved] = center[:, 0, None] + side[:, None] * np.sqrt(rest)
    return np.asarray(x)
