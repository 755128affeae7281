"""Cells of a region that are split again and again: boxes of the plane, and arcs of a boundary."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mc2.functions.function import Function
from mc2.geometry import Domain
from mc2.geometry.sampling import bounds_whole

Array = NDArray[np.float64]
SIDE, ARCS = 24, 384
"""Boxes along a side of the domain, and arcs along its boundary, to begin with."""


class Cells(ABC):
    """Pieces of a region, given by their lower and upper ends [n, dimensions] in coordinates of their own."""

    function: Function
    domain: Domain

    @abstractmethod
    def first(self) -> tuple[Array, Array]:
        """The pieces to begin with."""

    @abstractmethod
    def around(self, values: Array) -> Array:
        """Values of every first piece and its neighbours [neighbour, n]."""

    @abstractmethod
    def boxes(self, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
        """Boxes of the plane that hold the pieces: xlow, xhigh, ylow, yhigh."""

    @abstractmethod
    def points(self, at: Array) -> Array:
        """Points [2, n] of the plane at coordinates [n, dimensions]; nan where they are not of the region."""

    @abstractmethod
    def keep(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Which pieces may hold points of the region."""

    @abstractmethod
    def directions(self, at: Array) -> Array:
        """Ways [k, dimensions] to go from a coordinate, in coordinates per length."""

    def values(self, at: Array) -> Array:
        """The function at coordinates [..., dimensions]; nan where it has no value, or an infinite one."""
        values = self.function(*self.points(at.reshape(-1, at.shape[-1]))).reshape(at.shape[:-1])
        return np.where(np.isfinite(values), values, np.nan)


class Boxes(Cells):
    """Boxes of the plane; coordinates are x and y."""

    def __init__(self, function: Function, domain: Domain) -> None:
        self.function, self.domain = function, domain

    def first(self) -> tuple[Array, Array]:
        xmin, xmax, ymin, ymax = self.domain.bounds
        x, y = np.linspace(xmin, xmax, SIDE + 1), np.linspace(ymin, ymax, SIDE + 1)
        low, high = (np.stack(np.meshgrid(*ends), -1).reshape(-1, 2) for ends in ((x[:-1], y[:-1]), (x[1:], y[1:])))
        return low, high

    def around(self, values: Array) -> Array:
        padded = np.pad(values.reshape(SIDE, SIDE), 1, constant_values=np.nan)
        return np.stack([padded[i : i + SIDE, j : j + SIDE].ravel() for i in range(3) for j in range(3)])

    def boxes(self, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
        return low[:, 0], high[:, 0], low[:, 1], high[:, 1]

    def points(self, at: Array) -> Array:
        return np.where(self.domain.contains(*at.T), at.T, np.nan)

    def keep(self, low: Array, high: Array) -> NDArray[np.bool_]:
        reach = 0.5 * np.hypot(*(high - low).T)
        return np.asarray(self.domain.distance(*(0.5 * (low + high)).T) > -reach)

    def directions(self, at: Array) -> Array:
        angles = np.pi / 8 + np.arange(8) * np.pi / 4
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


class Arcs(Cells):
    """Arcs of outlines; the coordinate is the number of the outline plus the fraction of its length."""

    def __init__(self, function: Function, domain: Domain) -> None:
        self.function, self.domain = function, domain
        self.leaves = list(domain.leaves())
        self.lengths = np.array([leaf.perimeter for leaf in self.leaves])

    def first(self) -> tuple[Array, Array]:
        ends = []
        for number, leaf in enumerate(self.leaves):
            count = max(8, round(ARCS * leaf.perimeter / self.lengths.sum()))
            t = np.unique(np.concatenate([np.linspace(0, 1, count + 1), np.array(leaf.breaks)]))
            ends.append(number + np.stack([t[:-1], t[1:]]))
        low, high = np.concatenate(ends, axis=1)
        return low[:, None], high[:, None]

    def around(self, values: Array) -> Array:
        return np.stack([np.roll(values, 1), values, np.roll(values, -1)])

    def _owner(self, at: Array) -> NDArray[np.intp]:
        return np.clip(at.astype(np.intp), 0, len(self.leaves) - 1)

    def _outline(self, at: Array, owner: NDArray[np.intp]) -> Array:
        points = np.empty((2, len(at)))
        for number in np.unique(owner):
            own = owner == number
            points[:, own] = self.leaves[number].outline((at[own] - number) % 1.0).T
        return points

    def boxes(self, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
        """An arc of length s over a chord c stays within ½√(s² − c²) of it; where two curves meet, within s."""
        owner = self._owner(low[:, 0])
        a = self._outline(low[:, 0], owner)
        b = self._outline(np.minimum(high[:, 0], np.nextafter(owner + 1.0, 0.0)), owner)
        s = (high - low)[:, 0] * self.lengths[owner] * (1 + 1e-9)
        c = np.hypot(*(b - a))
        pad = np.where(c > s * (1 + 1e-6), s, 0.5 * np.sqrt(np.maximum(s * s - c * c, 0))) + self.domain.rounding
        (xlow, ylow), (xhigh, yhigh) = np.minimum(a, b) - pad, np.maximum(a, b) + pad
        return xlow, xhigh, ylow, yhigh

    def points(self, at: Array) -> Array:
        owner = self._owner(at[:, 0])
        points = self._outline(at[:, 0], owner)
        if len(self.leaves) == 1:
            return points
        return np.where(bounds_whole(self.domain, self.leaves, owner, points.T), points, np.nan)

    def keep(self, low: Array, high: Array) -> NDArray[np.bool_]:
        if len(self.leaves) == 1:
            return np.ones(len(low), bool)
        xlow, xhigh, ylow, yhigh = self.boxes(low, high)
        away = np.abs(self.domain.distance(0.5 * (xlow + xhigh), 0.5 * (ylow + yhigh)))
        return np.asarray(away <= 0.5 * np.hypot(xhigh - xlow, yhigh - ylow) + self.domain.rounding)

    def directions(self, at: Array) -> Array:
        return np.array([[-1.0], [1.0]]) / self.lengths[self._owner(at[:1])]


def halves(low: Array, high: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """All pieces cut in two along every coordinate, and the number of the piece that each is from."""
    parent = np.arange(len(low))
    for axis in range(low.shape[1]):
        middle = 0.5 * (low[:, axis] + high[:, axis])
        first_high, second_low = high.copy(), low.copy()
        first_high[:, axis], second_low[:, axis] = middle, middle
        low, high = np.concatenate([low, second_low]), np.concatenate([first_high, high])
        parent = np.concatenate([parent, parent])
    return low, high, parent
