"""Averaging: where no basis fits what is left, its walks are averaged at every pixel, with the fit as control variate.

The walks' mean is unbiased and has noise; the fit has no noise and an error. Both sizes are known as profiles over the
distance to the boundary, so the mean is taken with the share that leaves the least error (Wiener, 1949), and not at all
where what is left cannot be told from noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.correction.field import Field, mean_and_variance, residual, source_residual
from mc2.correction.projection import BINS, Bins, Profile
from mc2.problems import Problem
from mc2.walks.engine import Options
from mc2.walks.exits import find_exits
from mc2.walks.tasks import Progress

Array = NDArray[np.float64]
CHUNK = 1 << 20
"""Walks whose ends are kept at a time."""


@dataclass(frozen=True)
class Averaging:
    """walks: from every point. instance: keys their random numbers. signal, noise: mean squares of what is left, and
    of the noise of its walks' means. unsure: of the first, in units of the second."""

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
        mean, _ = average(self.problem, self.field, x, y, self.walks, self.options, self.instance)
        return self.share(x, y) * mean

    def share(self, x: Array, y: Array) -> Array:
        """Of the walks' mean that is taken."""
        distance = np.abs(self.problem.domain.distance(x, y))
        noise = self.noise(distance)
        signal = np.maximum(self.signal(distance) - self.unsure * noise, 0.0)
        return np.asarray(signal / np.maximum(signal + noise, 1e-300))

    def standard_error(self, x: Array, y: Array) -> Array:
        distance = np.abs(self.problem.domain.distance(x, y))
        return np.sqrt((self.share(x, y) + self.unsure) * self.noise(distance))


def average(
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
) -> tuple[Array, Array]:
    """What a field leaves over at points, from walks: their mean, and its variance. On the boundary it is known.

    sampled: walks also meet what the field leaves over of the source.
    """
    mean, variance = problem.boundary(x, y) - field(x, y), np.zeros(x.size)
    step, inside = max(1, CHUNK // walks), np.flatnonzero(problem.domain.contains(x, y))
    for first in range(0, inside.size, step):
        part = inside[first : first + step]
        points = np.stack([x[part], y[part]], axis=1)
        # every part has random numbers of its own
        exits = find_exits(problem, points, walks, options, instance + first, sampled=sampled)
        scores = residual(problem, field, exits)
        if exits.samples is not None:
            scores += source_residual(problem, field, exits.samples)
        mean[part], variance[part] = mean_and_variance(scores)
        if progress:
            progress(min(first + step, inside.size) * walks, inside.size * walks)
    return mean, variance


def make_averaging(
    problem: Problem, field: Field, mean: Array, variance: Array, distance: Array, **how: int | Options
) -> Averaging:
    """From the walks' means and their variances at points whose distances to the boundary are known."""
    bins = Bins(distance)
    signal, noise = Profile(bins, mean**2 - variance), Profile(bins, variance)
    unsure = float(np.sqrt(2 * BINS / len(mean)))  # the mean square of so much noise is uncertain by this part
    return Averaging(problem, field, signal=signal, noise=noise, unsure=unsure, **how)  # type: ignore[arg-type]
