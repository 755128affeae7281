"""The room next to a boundary, outside of the domain, and poles in it.

The room at a point is the radius of the largest disk outside that touches the boundary there. Poles at a part of it are
as close to the boundary, and to each other, as its bends and narrow places ask for: those in a thin body lie along its
middle, and crowd towards its tips (method of fundamental solutions: Fairweather and Karageorghis, 1998).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mc2.fits.basis import Pole
from mc2.fits.boundary_points import Sides
from mc2.geometry import Domain

Array = NDArray[np.float64]
POINTS = 4000
"""Points of the boundary at which the room next to it is looked for, about."""
FEWEST = 3
"""On every piece of it."""
WIDEST, NARROWEST, NARROWEST_CORNERED = 0.5, 2e-4, 0.02
"""The largest room that is looked for, and the least, in units of the boundary's size; corners have functions."""
SHRINKS = 0.93
"""Part of a radius that is tried after it."""
TOUCHING = 0.97
"""Part of a disk's radius that must be free around its middle."""


class Room:
    """The room next to points along the sides of a boundary: many, and at least some on every piece of it."""

    def __init__(self, domain: Domain, sides: Sides) -> None:
        pieces, found, self.shares = domain.pieces, [], []
        for side, _ in sides.sides:
            length = pieces.length[side]
            counts = np.maximum(FEWEST, np.ceil(POINTS * length / pieces.length.sum())).astype(int)
            edges = np.concatenate([np.arange(n) / n * own for n, own in zip(counts, length, strict=True)])
            edges = (edges + np.repeat(np.cumsum(length) - length, counts)) / length.sum()
            gaps = np.diff(edges, append=1.0)
            self.shares.append(edges + 0.5 * gaps)
            found.append(sides.at(side, self.shares[-1], gaps))
        x, y, nx, ny, self.length, _ = (np.concatenate(column) for column in zip(*found, strict=True))
        self.place, self.outward = x + 1j * y, nx + 1j * ny
        size = float(max(np.ptp(x), np.ptp(y)))
        self.least = size * (NARROWEST_CORNERED if any(ended for _, ended in sides.sides) else NARROWEST)
        self.radius, left, radius = np.zeros(x.size), np.arange(x.size), WIDEST * size
        while radius > self.least and left.size:
            center = self.place[left] + radius * self.outward[left]
            free = pieces.nearest(center.real, center.imag)[1] > TOUCHING * radius
            self.radius[left[free]], left = radius, left[~free]
            radius *= SHRINKS

    @property
    def crowding(self) -> list[tuple[Array, Array]]:
        """Of every side shares of its length, and how many of the points should be before each, to see all bends."""
        weights, found, first = self.length / np.maximum(self.radius, self.least), [], 0
        for share in self.shares:
            passed = np.cumsum(weights[first : first + share.size])
            found.append((np.append(0.0, share), np.append(0.0, passed / passed[-1])))
            found[-1][0][-1] = 1.0
            first += share.size
        return found

    def poles(self, depth: float, apart: float, orders: tuple[int, int], most: int) -> Iterator[Pole]:
        """Poles outside.

        depth, apart: how far from the boundary, and from each other, in units of the room.
        most: poles; with more, all are farther apart.
        """
        chosen = np.flatnonzero(self.radius)
        if not chosen.size:
            return
        passed = np.cumsum(self.length[chosen] / self.radius[chosen])
        count = min(most, int(np.ceil(passed[-1] / apart)))
        for k in np.unique(chosen[np.searchsorted(passed, (np.arange(count) + 0.5) / count * passed[-1])]):
            step = float(depth * self.radius[k])
            center = complex(self.place[k] + step * self.outward[k])
            yield Pole((center.real, center.imag), step, orders)
