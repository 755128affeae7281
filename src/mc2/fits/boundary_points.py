"""Points along a boundary, with normals: crowded towards junctions. There conditions are fitted and judged."""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.junctions import Junction
from mc2.fits.normals import moved_to_boundary
from mc2.fits.slits import on_slits
from mc2.geometry import Domain
from mc2.geometry.slit import BESIDE
from mc2.problems import Problem

Array = NDArray[np.float64]
FEWEST = 12
"""Points of every side between two junctions, at least."""
CROWDED, FEWEST_CROWDED, MOST_CROWDED = 24, 6, 1600
"""Points towards each end of a side; fewer where there are many sides."""
NEAREST, FARTHEST = 1e-8, 0.3
"""Where they begin and end, in units of the side's length."""
REACH = 0.15
"""Distance from a singular junction, in units of the domain's size, within which derivatives weigh less."""


class BoundaryPoints(NamedTuple):
    """Points on a boundary.

    x, y: the points. nx, ny: the outward normals. length: that they stand for. part: that they are on.
    """

    x: Array
    y: Array
    nx: Array
    ny: Array
    length: Array
    part: NDArray[np.int64]

    def joined(self, other: "BoundaryPoints") -> "BoundaryPoints":
        """Both, each for half of the length."""
        both = BoundaryPoints(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))
        return both._replace(length=0.5 * both.length)


class Rows(NamedTuple):
    """What a condition a·u + b·∂u/∂n = value says at boundary points, and how much it weighs.

    a, b, value: of the conditions. weight: makes a·u + b·∂u/∂n comparable with u.
    """

    a: Array
    b: Array
    value: Array
    weight: Array


class Sides:
    """The boundary of a domain as sides, which begin and end at junctions; closed curves without any are one side."""

    def __init__(self, domain: Domain, junctions: Sequence[Junction], near_ends: int = CROWDED) -> None:
        """near_ends: points towards each end of a side."""
        self.domain, self.pieces, self.near_ends = domain, domain.pieces, near_ends
        self.crowding: list[tuple[Array, Array]] | None = None  # of every side: shares, and points before each
        stops = np.zeros(self.pieces.size, bool)
        stops[[junction.piece for junction in junctions]] = True
        self.sides: list[tuple[NDArray[np.intp], bool]] = []  # the pieces of each, and whether it has ends
        for curve in np.unique(self.pieces.curve):
            own = np.flatnonzero(self.pieces.curve == curve)
            if not stops[own].any():
                self.sides.append((own, False))
                continue
            first = int(np.flatnonzero(stops[own])[0]) + 1
            own = np.roll(own, -first)
            self.sides += [(side, True) for side in np.split(own, np.flatnonzero(stops[own])[:-1] + 1)]

    def points(self, count: int, seed: int | None = None) -> BoundaryPoints:
        """Points along all sides.

        count: of those that are not crowded, about. seed: to put all of them at random between where they would be.
        """
        random = None if seed is None else np.random.default_rng(seed)
        near = int(np.clip(MOST_CROWDED // (2 * len(self.sides)), FEWEST_CROWDED, self.near_ends))
        total, found = float(self.pieces.length.sum()), []

        def steps(number: int) -> Array:
            return np.asarray(np.arange(number) + (0.5 if random is None else random.random(number)))

        for number, (side, ended) in enumerate(self.sides):
            n = max(FEWEST, round(count * float(self.pieces.length[side].sum()) / total))
            share = steps(n) / n
            if self.crowding is not None:
                at, before = self.crowding[number]
                share = np.interp(share, before, at)
            if ended:
                offsets = NEAREST * (FARTHEST / NEAREST) ** (steps(near) / near)
                share = np.sort(np.concatenate([0.5 - 0.5 * np.cos(np.pi * share), offsets, 1 - offsets]))
                edges = np.concatenate([[0.0], 0.5 * (share[1:] + share[:-1]), [1.0]])
                gaps = np.diff(edges)
            else:
                gaps = 0.5 * (np.diff(share, append=share[0] + 1) + np.diff(share, prepend=share[-1] - 1))
            found.append(self.at(side, share, gaps))
        return BoundaryPoints(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def crowded(self, crowding: "list[tuple[Array, Array]]") -> "Sides":
        """The same sides, of which half of the points lie where they are to be crowded.

        crowding: of every side shares of its length, and how many of all points are to lie before each.
        """
        found = copy(self)
        found.crowding = [(share, 0.5 * (share + passed)) for share, passed in crowding]
        return found

    def evenly(self, count: int) -> BoundaryPoints:
        """About so many points, at equal distances along every side, and none near its ends."""
        total, found = float(self.pieces.length.sum()), []
        for side, _ in self.sides:
            n = max(1, round(count * float(self.pieces.length[side].sum()) / total))
            found.append(self.at(side, (np.arange(n) + 0.5) / n, np.full(n, 1.0 / n)))
        return BoundaryPoints(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def at(self, side: NDArray[np.intp], share: Array, gaps: Array) -> BoundaryPoints:
        """Points at shares of a side's length. gaps: the shares that they stand for."""
        length = self.pieces.length[side]
        ends = np.cumsum(length)
        offset = share * ends[-1]
        place = np.minimum(np.searchsorted(ends, offset, side="right"), len(side) - 1)
        t = np.clip(1 - (ends[place] - offset) / length[place], 0.0, 1.0)
        return on_pieces(self.domain, side[place], t)._replace(length=gaps * ends[-1])


def on_pieces(domain: Domain, index: NDArray[np.intp], t: Array) -> BoundaryPoints:
    """Points at fractions t of the lengths of pieces; each stands for its whole piece."""
    pieces = domain.pieces
    points = pieces.at(t, index)
    z, normal = moved_to_boundary(domain, points[:, 0] + 1j * points[:, 1], -1j * pieces.direction(t, index))
    beside = on_slits(domain, pieces)[index]
    if beside.any():  # on their side
        z = z - np.where(beside, BESIDE * (np.abs(points).max() + domain.size), 0.0) * normal
    x, y, nx, ny = (np.ascontiguousarray(c) for c in (z.real, z.imag, normal.real, normal.imag))
    return BoundaryPoints(x, y, nx, ny, pieces.length[index], pieces.part[index])


def values_of(problem: Problem, points: BoundaryPoints) -> Array:
    """The values that conditions give at points."""
    value = np.empty(points.x.size)
    for part, condition in enumerate(problem.conditions):
        on = points.part == part
        value[on] = condition.data(points.x[on], points.y[on], points.nx[on], points.ny[on])
    return value


def make_rows(problem: Problem, points: BoundaryPoints, junctions: Sequence[Junction], unit: float) -> Rows:
    """The conditions at points. unit: the length over which u changes by about itself."""
    a, b = np.empty((2, points.x.size))
    for part, condition in enumerate(problem.conditions):
        on = points.part == part
        a[on], b[on] = condition.weights(points.x[on], points.y[on])
    weight = unit / (b + a * unit)
    z = points.x + 1j * points.y
    for junction in junctions:
        if junction.first < 1:  # where derivatives grow like r^(λ − 1)
            near = np.minimum(1.0, np.abs(z - junction.center) / (REACH * problem.domain.size))
            weight = np.where(b > 0, weight * near ** (1 - junction.first), weight)
    return Rows(a, b, values_of(problem, points), weight)
