"""What a field leaves over on the boundary, and how much of it walks have not met.

A walk ends on a feature of the boundary data as often as the feature is wide. One that is narrow enough is met by none,
and what walks say is then as if it were not there. So the boundary is looked at directly: at points all along it that
are crowded towards corners and towards features that are too narrow to be found by chance.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary_points import BoundaryPoints, Sides, make_rows, on_pieces
from mc2.fits.features import Features, features_on_boundary
from mc2.fits.field import Field
from mc2.fits.junctions import Junction, find_junctions
from mc2.fits.resolution import find_peaks
from mc2.fits.samples import FEWEST_CROWDED, MOST_CROWDED, NEAREST, SAMPLES, Samples, spread
from mc2.functions import Function
from mc2.functions.expression import Expression, is_constant
from mc2.functions.terms import TermSum
from mc2.geometry.pieces import Pieces
from mc2.problems import Problem
from mc2.problems.boundary_data import PartData
from mc2.problems.condition import ZERO, FromExact

Array = NDArray[np.float64]
NARROW = 0.01
"""Part of the boundary below which a feature is narrow."""
POINTS = 800
"""Points on the boundary at which conditions are looked at, besides those that are crowded."""
PLACES = 48
"""Places on the boundary around which much is left over, at most."""
MANY_SIDES = 64
"""Sides of a polygon above which all of them are sampled alike."""
SEEN = 0.5
"""Part of what is left at a place that walks must have met to count as having met it."""


class Edge:
    """The boundary of a problem, and its narrow features."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.features: list[Features] = []
        for data in (*_boundary_data(problem), problem.laplacian):
            if data is not None and not isinstance(data, TermSum):  # which are smooth
                self.features.append(features_on_boundary(data, problem.domain))

    @property
    def share(self) -> float:
        """The least part of the boundary that has half of what the data vary by."""
        return min((found.share for found in self.features), default=1.0)

    @property
    def narrow(self) -> bool:
        """Whether the data have features that few walks would meet."""
        size = self.problem.domain.size
        # a spike on data that vary elsewhere has a small part of their variation only
        return self.share < NARROW or any(bool((found.widths < NARROW * size).any()) for found in self.features)

    @property
    def enclosed(self) -> bool:
        """Whether no feature can have been missed."""
        return all(found.bound is not None for found in self.features)

    @cached_property
    def _samples(self) -> tuple[Array, Array]:
        """Points [2, n], and the lengths that they stand for."""
        domain = self.problem.domain
        narrow = [(float(x), float(y)) for found in self.features for x, y in found.places]
        if domain.pieces.size <= MANY_SIDES or domain.pieces.bulge.any():
            return spread(domain, [corner.center for corner in domain.corners()] + narrow).measured
        sides = along_sides(domain.pieces)
        return (sides.joined(spread(domain, narrow)) if narrow else sides).measured

    def left(self, field: Field) -> "LeftOver":
        """What a field leaves over."""
        if self.problem.reflecting:
            return self._left_by_conditions(field)
        problem, (points, length) = self.problem, self._samples
        data = problem.boundary(*points)
        left = np.abs(data - field(*points))
        if problem.laplacian is not None:
            reach = problem.domain.size**2 / 16  # of Δu on a disk of this size, in u
            left = left + reach * np.abs(problem.laplacian(*points) - field.laplacian(*points))
        return LeftOver(points, length, left, float(np.abs(data).max()), problem.domain.size / 256)

    @cached_property
    def _points(self) -> BoundaryPoints:
        """The same points with normals and parts, and others that are crowded where conditions change."""
        problem, (points, length) = self.problem, self._samples
        domain, pieces = problem.domain, problem.domain.pieces
        nearest, _ = pieces.nearest(*points)
        t, _ = pieces.locate(nearest, points.T)
        even = on_pieces(domain, nearest, t)._replace(length=length)
        return even.joined(Sides(domain, self._junctions).points(POINTS))

    @cached_property
    def _junctions(self) -> list[Junction]:
        return find_junctions(self.problem)

    def _left_by_conditions(self, field: Field) -> "LeftOver":
        """The same with derivatives on reflecting parts, in units of u: multiplied by a length, the domain's size."""
        problem, at, size = self.problem, self._points, self.problem.domain.size
        rows = make_rows(problem, at, self._junctions, size)
        gx, gy = field.gradient(at.x, at.y)
        own = rows.a * field(at.x, at.y) + rows.b * (gx * at.nx + gy * at.ny)
        left, scale = np.abs(rows.value - own) * rows.weight, np.abs(rows.value) * rows.weight
        return LeftOver(np.stack([at.x, at.y]), at.length, left, float(scale.max()), size / 256)


def _boundary_data(problem: Problem) -> list[Function]:
    """Data on the boundary: of problems with reflecting parts, u where it is given and the other values, and 0 else."""
    if not problem.reflecting:
        return [problem.boundary]
    walls = [condition.reflecting for condition in problem.conditions]
    values = [None if isinstance(condition.value, FromExact) else condition.value for condition in problem.conditions]
    found: list[Function] = []
    for chosen in (False, True):
        own = [
            value if wall == chosen and value is not None else ZERO for value, wall in zip(values, walls, strict=True)
        ]
        if any(not is_constant(value, value.number) if isinstance(value, Expression) else True for value in own):
            found.append(PartData(problem.domain, own))
    return found


def along_sides(pieces: Pieces) -> Samples:
    """Points on all sides of a polygon, evenly, and crowded towards their ends."""
    size, length = pieces.size, pieces.length
    even = np.maximum(1, np.rint(SAMPLES * length / length.sum())).astype(int)
    near = max(FEWEST_CROWDED // 2, MOST_CROWDED // size)
    offsets = NEAREST * (0.25 / NEAREST) ** (np.arange(near) / near)
    first = np.cumsum(even) - even
    index = np.repeat(np.arange(size), even)
    t = (np.arange(even.sum()) - first[index] + 0.5) / even[index]
    index = np.concatenate([index, np.repeat(np.arange(size), 2 * near)])
    t = np.concatenate([t, np.tile(np.concatenate([offsets, 1 - offsets]), size)])
    order = np.lexsort((t, index))
    index, t = index[order], t[order]
    middle = 0.5 * (t[1:] + t[:-1])
    same = index[1:] == index[:-1]
    share = np.append(np.where(same, middle, 1.0), 1.0) - np.append(0.0, np.where(same, middle, 0.0))
    return Samples(np.ascontiguousarray(pieces.at(t, index).T), np.sqrt(share * length[index]))


def rarest(problem: Problem) -> float:
    """About the share of walks that meet the narrowest feature of a problem's data; 1 if there is none."""
    shares = [Edge(problem).share]
    if problem.source is not None:
        widths = find_peaks(problem.source, problem.domain).width
        shares += [(float(width) / problem.domain.size) ** 2 for width in widths]
    return min(shares)


class LeftOver:
    """What a field leaves over on the boundary.

    points: [2, n].
    length: that they stand for.
    left: |data − field|.
    scale: of the data.
    pixel: a small length.
    """

    def __init__(self, points: Array, length: Array, left: Array, scale: float, pixel: float) -> None:
        self.points, self.length, self.left, self.scale, self.pixel = points, length, left, scale, pixel

    @property
    def rms(self) -> float:
        """Root mean square over the boundary."""
        return float(np.sqrt(np.sum(self.length * self.left**2) / self.length.sum()))

    def likely(self, x: Array, y: Array) -> Array | None:
        """Where it matters most, if that is in few places: in proportion to (its part of the boundary / distance)²."""
        part = self.left * self.length
        strongest = np.argsort(-part)[:PLACES]
        if part[strongest].sum() < 0.5 * part.sum() or len(part) <= PLACES:
            return None
        found = np.zeros(x.size)
        for k in strongest:
            square = (x - self.points[0, k]) ** 2 + (y - self.points[1, k]) ** 2
            found += part[k] ** 2 / (square + self.pixel**2)
        return found if found.sum() > 0 else None

    def hidden(self, largest: float) -> tuple[float, float]:
        """What walks have not met, if they have met nothing larger than this: mean and mean square over the boundary.

        Inside the domain it can do no more than about that: both are largest on the boundary.
        """
        unseen = self.left > largest / SEEN
        share = self.length / self.length.sum()
        return float(np.sum((share * self.left)[unseen])), float(np.sum((share * self.left**2)[unseen]))
