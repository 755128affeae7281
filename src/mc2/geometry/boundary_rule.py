"""Quadrature along a boundary: nodes that crowd where it has corners, so that singular derivatives do no harm.

A piece with a corner at an end has the tanh-sinh rule (Takahasi and Mori, 1974): its nodes crowd at both ends twice
exponentially, and algebraic singularities there cost nothing. Smooth pieces have Gauss's rule.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry.pieces import Pieces, successors

Array = NDArray[np.float64]

REACH = 3.13
"""Parameter of the tanh-sinh rule at which it ends: t is then within 1e-16 of the end of a piece."""
ARC = 0.5
"""Radians by which a smooth arc may turn for every panel of Gauss's rule."""
POINTS = 8
"""Nodes of a panel, at the first level."""


class BoundaryRule(NamedTuple):
    """Nodes on a boundary, outward normals there, and weights that add up to its length.

    piece, t: which piece a node is on, and at which fraction of its length.
    """

    points: Array  # [n, 2]
    normals: Array  # [n, 2]
    weights: Array  # [n]
    piece: NDArray[np.intp]  # [n]
    t: Array  # [n]

    def integrate(self, values: Array) -> float:
        """The integral of a function along the boundary, from its values at the nodes."""
        return float(self.weights @ values)


def boundary_rule(pieces: Pieces, chosen: NDArray[np.intp], level: int = 1) -> BoundaryRule:
    """The rule for some of a boundary's pieces. level: 2 has twice as many nodes as 1, and so on."""
    following = successors(pieces.curve)
    ends = ~pieces.smooth | (pieces.part[following] != pieces.part)  # where conditions change, so may derivatives
    cornered = ends.copy()
    cornered[following] |= ends
    found = []
    for index in chosen:
        t, weights = tanh_sinh(24 * level) if cornered[index] else _gauss(pieces, int(index), level)
        where = np.full(len(t), index)
        normal = -1j * pieces.direction(t, where)
        normals = np.stack([normal.real, normal.imag], 1)
        found.append((pieces.at(t, where), normals, weights * pieces.length[index], where, t))
    points, normals, weights, piece, t = (np.concatenate(column) for column in zip(*found, strict=True))
    return BoundaryRule(points, normals, weights, piece, t)


def tanh_sinh(half: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1]."""
    s = REACH * np.arange(-half, half + 1) / half
    u = 0.5 * np.pi * np.sinh(s)
    weights = 0.25 * np.pi * np.cosh(s) / np.cosh(u) ** 2 * (REACH / half)
    return 1 / (1 + np.exp(-2 * u)), weights


def _gauss(pieces: Pieces, index: int, level: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1], in panels that turn little."""
    panels = max(1, int(np.ceil(abs(float(pieces.turn[index])) / ARC)))
    t, weights = _legendre(POINTS * level)
    t = (np.arange(panels)[:, None] + 0.5 + 0.5 * t).ravel() / panels
    return t, np.tile(0.5 * weights / panels, panels)


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[Array, Array]:
    """Gauss's nodes and weights on [−1, 1]."""
    return np.polynomial.legendre.leggauss(count)
