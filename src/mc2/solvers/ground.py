"""The ground of rounds: the points that are fitted, the functions, and the walks, common to problems of one domain."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.fits.basis import Basis, make_basis
from mc2.fits.boundary import BoundaryFit, fit_boundaries, fit_boundary
from mc2.fits.field import Field
from mc2.fits.layer_fit import Report
from mc2.fits.projection import SamplePoints, Scattered, Smoothing
from mc2.geometry import Domain, Grid
from mc2.problems import Problem
from mc2.problems.operator import Operator
from mc2.walks.exits import Exits, find_exits
from mc2.walks.options import Options

Array = NDArray[np.float64]
POINTS = 3600
"""Points that are fitted, spread evenly over the whole domain: about 30 for each function, or more."""
FINEST = 2048
"""Pixels along a side of a grid around a domain, at most: in thinner ones points are drawn at random."""
THINNEST = 2.0
"""Depth that a domain needs, as a multiple of the distance within which walks end: thinner ones are refused."""


class Bases:
    """The bases of an operator in a domain by their degrees, which are kept."""

    def __init__(self, domain: Domain, operator: Operator) -> None:
        self.domain, self.operator = domain, operator
        self._made: dict[int, Basis] = {}

    def __call__(self, degree: int) -> Basis:
        if degree not in self._made:
            self._made[degree] = make_basis(self.domain, self.operator, degree)
        return self._made[degree]


class Ground:
    """What the rounds of problems have in common that differ in their data alone: points, functions, and walks.

    problems: of the same equation in the same domain.
    options: of the walks.
    points: how many are fitted.

    Of several problems, walks are kept, so that each path is walked once, and boundary fits are made together.
    """

    def __init__(self, problems: Sequence[Problem], options: Options, points: int = POINTS) -> None:
        self.problems, self.options = list(problems), options
        first = self.problems[0]
        x, y, self.smoothing = spread_points(first.domain, points, options.shell(first.domain))
        self.points = np.stack([x, y], axis=1)
        self.sites = SamplePoints(x, y, first.laplacian is not None)
        self.bases = [Bases(first.domain, first.operator)]
        self._exits: dict[tuple[int, int, bool], Exits] = {}
        self._fits: list[BoundaryFit] = []

    def exits(self, walks: int, instance: int, sampled: bool = False) -> Exits:
        """Where walks from the points end. instance: keys their random numbers."""
        key = walks, instance, sampled
        if key not in self._exits:
            found = find_exits(self.problems[0], self.points, walks, self.options, instance, sampled=sampled)
            if len(self.problems) == 1:
                return found
            self._exits[key] = found
        return self._exits[key]

    def fit_boundary(
        self, problem: Problem, start: Field | None, accuracy: float | None, report: Report | None
    ) -> BoundaryFit:
        """Boundary least squares for one of the problems; for all of them together, if their lifts are to be found.

        start: the lift of its source, if it is good enough.
        accuracy, report: of the fit, see `fit_boundary`.
        """
        if len(self.problems) == 1 or start is not None:
            return fit_boundary(problem, start=start, accuracy=accuracy, report=report)
        if not self._fits:
            self._fits = fit_boundaries(self.problems, report=report)
        return self._fits[[own is problem for own in self.problems].index(True)]

    def forget(self) -> None:
        """Forget the walks and fits that were kept."""
        self._exits, self._fits = {}, []


def spread_points(domain: Domain, count: int, shell: float) -> tuple[Array, Array, Smoothing]:
    """About so many points all over a domain, and what smooths quantities there.

    shell: the distance from the boundary within which walks end. A domain of about that thickness is refused.
    """
    where, smoothing = cover(domain, count), None
    if where is not None:  # anywhere in their pixels, so that no function hides between them; and where float32 can
        places = np.random.default_rng(0).uniform(-0.5, 0.5, (2, *where.shape)) * where.spacing[0] + where.points()
        rounded = places.astype(np.float32).astype(float)
        distance = domain.distance(*rounded)
        inside = distance > 0
        if inside.sum() > 0.5 * count:
            smoothing = Smoothing(inside, distance)
    if smoothing is None:
        rounded = domain.sample_interior(count, 0).T.astype(np.float32).astype(float)
        distance = domain.distance(*rounded)
        inside = distance > 0
    if (deepest := float(distance.max(initial=0.0))) < THINNEST * shell:
        raise InputError(
            f"the domain is too thin: no point is farther than about {deepest:.2g} from the boundary, and walks end "
            f"within epsilon × half the domain's size = {shell:.2g} of it: lower epsilon, which may be 1e-6"
        )
    x, y = (c[inside] for c in rounded)
    return x, y, smoothing or Scattered(x, y, distance[inside])


def cover(domain: Domain, count: int) -> Grid | None:
    """A grid over the whole domain with about so many pixels inside; None if the domain is too thin for one."""
    xmin, xmax, ymin, ymax = domain.bounds
    half, x, y = 0.5 * domain.size, 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
    size = int(np.sqrt(count))
    while True:
        if size > FINEST:
            return None
        grid = Grid(size, bounds=(x - half, x + half, y - half, y + half))
        inside = int(domain.mask(grid).sum())
        if inside >= 0.9 * count:
            return grid
        size = int(size * min(8.0, np.sqrt(count / max(inside, 1)))) + 1
