"""Averaging: where no basis fits what is left, its walks are averaged at every pixel, with the fit as control variate.

The walks' mean is unbiased and has noise; the fit has no noise and an error. Both sizes are known as profiles over the
distance to the boundary, so the mean is taken with the share that leaves the least error (Wiener, 1949), and not at all
where what is left cannot be told from noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.fits.field import Field, mean_and_variance, residual, source_residual
from mc2.fits.projection import BINS, Bins, Profile
from mc2.problems import Problem
from mc2.walks.exits import find_exits
from mc2.walks.options import Options
from mc2.walks.schedule import Progress

Array = NDArray[np.float64]
CHUNK = 1 << 20
"""Walks whose ends are kept at a time."""


@dataclass(frozen=True)
class Averaging:
    """What walks add to a field where no basis fits what it leaves over.

    walks: from every point.
    instance: keys their random numbers.
    signal, noise: mean squares of what is left, and of the noise of its walks' means, over the distance.
    unsure: relative uncertainty of `signal`, as a multiple of `noise`.
    """

    problem: Problem
    field: Field
    walks: int
    options: Options
    instance: int
    signal: Profile
    noise: Profile
    unsure: float

    def values(self, x: Array, y: Array) -> Array:
        """What to add to the field at points."""
        found = score_walks(self.problem, self.field, x, y, self.walks, self.options, self.instance)
        return self.share(x, y) * found.mean

    def share(self, x: Array, y: Array) -> Array:
        """The share of the walks' mean that is taken, from 0 to 1."""
        distance = np.abs(self.problem.domain.distance(x, y))
        noise = self.noise(distance)
        signal = np.maximum(self.signal(distance) - self.unsure * noise, 0.0)
        return np.asarray(signal / np.maximum(signal + noise, 1e-300))

    def standard_error(self, x: Array, y: Array) -> Array:
        distance = np.abs(self.problem.domain.distance(x, y))
        return np.sqrt((self.share(x, y) + self.unsure) * self.noise(distance))


@dataclass(frozen=True)
class Scores:
    """What walks say at points.

    mean, variance: of what a field leaves over of the boundary data: the walks' mean, and the variance of that mean.
    source_mean, source_variance: the same for what it leaves over of the source; None where that was not sampled.
    largest: of the boundary data that walks have met.
    """

    mean: Array
    variance: Array
    source_mean: Array | None
    source_variance: Array | None
    largest: float


def score_walks(
    problem: Problem,
    field: Field,
    x: Array,
    y: Array,
    walks: int,
    options: Options,
    instance: int,
    progress: Progress | None = None,
    *,
    sampled: bool = False,
) -> Scores:
    """What a field leaves over at points. On the boundary it is known.

    sampled: whether walks also meet what it leaves over of the source.
    """
    walked = _walked(problem, x, y)
    mean, variance, largest = np.zeros(x.size), np.zeros(x.size), 0.0
    mean[~walked] = problem.boundary(x[~walked], y[~walked]) - field(x[~walked], y[~walked])
    source_mean, source_variance = np.zeros((2, x.size))
    step, inside = max(1, CHUNK // walks), np.flatnonzero(walked)
    for first in range(0, inside.size, step):
        part = inside[first : first + step]
        points = np.stack([x[part], y[part]], axis=1)
        # every part has random numbers of its own
        exits = find_exits(problem, points, walks, options, instance + first, sampled=sampled)
        scores = residual(problem, field, exits)
        mean[part], variance[part] = mean_and_variance(scores)
        largest = max(largest, float(np.abs(scores).max()))
        if exits.samples is not None:
            own = source_residual(problem, field, exits.samples)
            source_mean[part], source_variance[part] = mean_and_variance(own)
        if progress:
            progress(min(first + step, inside.size) * walks, inside.size * walks)
    if not sampled:
        return Scores(mean, variance, None, None, largest)
    return Scores(mean, variance, source_mean, source_variance, largest)


def _walked(problem: Problem, x: Array, y: Array) -> NDArray[np.bool_]:
    """Which points walks start from: all but those on the boundary where u is given."""
    inside = problem.domain.contains(x, y)
    if problem.reflecting and not inside.all():
        walls = np.array([condition.reflecting for condition in problem.conditions])
        inside[~inside] = walls[problem.domain.part_index(x[~inside], y[~inside])]
    return inside


def make_averaging(
    problem: Problem, field: Field, mean: Array, variance: Array, distance: Array, **how: int | Options
) -> Averaging:
    """From the walks' means and their variances at points whose distances to the boundary are known."""
    bins = Bins(distance)
    signal, noise = Profile(bins, mean**2 - variance), Profile(bins, variance)
    unsure = float(np.sqrt(2 * BINS / len(mean)))  # the mean square of so much noise is uncertain by this part
    return Averaging(problem, field, signal=signal, noise=noise, unsure=unsure, **how)  # type: ignore[arg-type]
