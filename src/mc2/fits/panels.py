"""Panels: the sides of a polygon, cut where a density on them needs it, as towards sharp corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.fits.layer import Layer, along_curve, rule
from mc2.geometry import Domain
from mc2.geometry.pieces import Pieces, successors

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Numbers = NDArray[np.intp]
SHORTEST = 2e-8
"""Length of a panel, in units of the domain's size, below which it is cut no further."""


@dataclass(frozen=True)
class Panels:
    """Panels of a boundary, in its order.

    piece: the line that each is on [panel].
    first, last: the fractions of its length between which it lies [panel].
    """

    pieces: Pieces
    piece: Numbers
    first: Array
    last: Array

    @staticmethod
    def whole(pieces: Pieces) -> Panels:
        """Every piece is one panel."""
        return Panels(pieces, np.arange(pieces.size), np.zeros(pieces.size), np.ones(pieces.size))

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.piece)

    @property
    def length(self) -> Array:
        return (self.last - self.first) * self.pieces.length[self.piece]

    def at(self, places: Array) -> tuple[Array, Array]:
        """x and y at places in [−1, 1] along every panel [panel, place]."""
        t = 0.5 * (self.first + self.last)[:, None] + 0.5 * (self.last - self.first)[:, None] * places
        start, end = self.pieces.start[self.piece], self.pieces.end[self.piece]
        x, y = (start[:, k, None] + (end - start)[:, k, None] * t for k in (0, 1))
        return x, y

    def cut(self, levels: NDArray[np.int64]) -> tuple[Panels, Numbers]:
        """Every panel cut in two so often; towards a corner at one end, only the part there is cut again.

        levels: how often, 0 for not at all. Also returns which of the panels each of the new ones lies in.
        """
        at_start, at_end = self.first == 0, self.last == 1
        ends: list[tuple[Array, Array, Numbers]] = []
        middle = 0.5 * (self.first + self.last)
        for first, last, towards_start, towards_end in (
            (self.first, middle, at_start, np.zeros_like(at_end)),
            (middle, self.last, np.zeros_like(at_start), at_end),
        ):
            left = np.flatnonzero(levels > 0)
            first, last, more = first[left], last[left], levels[left] - 1
            own_start, own_end = towards_start[left], towards_end[left]
            while left.size:
                again = (more > 0) & (own_start | own_end)
                ends.append((first[~again], last[~again], left[~again]))
                first, last, left, more = first[again], last[again], left[again], more[again] - 1
                own_start, own_end = own_start[again], own_end[again]
                half = 0.5 * (first + last)
                ends.append((np.where(own_start, half, first), np.where(own_start, last, half), left))
                first, last = np.where(own_start, first, half), np.where(own_start, half, last)
        kept = np.flatnonzero(levels <= 0)
        ends.append((self.first[kept], self.last[kept], kept))
        first, last, origin = (np.concatenate(column) for column in zip(*ends, strict=True))
        order = np.lexsort((first, self.piece[origin]))
        origin = origin[order]
        return Panels(self.pieces, self.piece[origin], first[order], last[order]), origin

    def divisible(self, size: float) -> NDArray[np.bool_]:
        """Which are long enough to be cut, in a domain of some size."""
        return np.asarray(self.length > SHORTEST * size)

    def layer(self, domain: Domain, per: int) -> tuple[Layer, Numbers]:
        """A layer on them, with so many nodes on each, and which of them each of its panels is."""
        x, y = self.at(np.array([-1.0, 1.0]))
        start, end = x[:, 0] + 1j * y[:, 0], x[:, 1] + 1j * y[:, 1]
        normal = 1j * self.pieces.direction(0.5)
        turned = _between(normal, normal[successors(self.pieces.curve)])  # at the end of every piece
        before = np.empty_like(turned)
        before[successors(self.pieces.curve)] = turned
        own = normal[self.piece]
        start_inward = np.where(self.first == 0, before[self.piece], own)
        end_inward = np.where(self.last == 1, turned[self.piece], own)
        order = along_curve(0.5 * (start + end).real, 0.5 * (start + end).imag, domain.size)
        holes = np.array([complex(*hole.center) for hole in domain.holes()], complex)
        inward = start_inward[order], end_inward[order]
        return Layer(start[order], end[order], *inward, per, holes, domain.size), order

    def values_from(self, old: Panels, origin: Numbers, values: Array, per: int) -> Array:
        """Polynomials at the nodes of all panels, from their values at the nodes of those that these were cut from."""
        nodes, _, inverse = rule(per)
        length = (old.last - old.first)[origin]
        scale, shift = (
            (self.last - self.first) / length,
            (self.first + self.last - (old.first + old.last)[origin]) / length,
        )
        places = shift[:, None] + scale[:, None] * nodes
        coefficients = (values @ inverse.T)[origin]
        out = np.zeros_like(places)
        for k in range(per - 1, -1, -1):
            out = out * places + coefficients[:, k, None]
        return out


def _between(one: NDArray[Any], other: NDArray[Any]) -> Complex:
    """The direction into the domain at a corner, from the inward normals of the sides before and after it."""
    # half of the angle inside, from the side after: its normal is a quarter turn from it
    turn = np.angle(other / one)
    turn = np.where(turn > np.pi - 1e-9, -np.pi, turn)  # the tip of a slit
    return other * np.exp(-0.5j * turn)
