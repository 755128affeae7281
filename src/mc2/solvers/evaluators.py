"""What solutions of correctors are asked for at points: values and error bars, anywhere in the domain."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.fits.field import Field
from mc2.fits.misfit import hidden_oscillation
from mc2.fits.projection import Bins, Profile, Projection
from mc2.problems import Problem
from mc2.solvers.corrector import Observed
from mc2.walks import Estimate
from mc2.walks.engine import walk
from mc2.walks.options import Options

Array = NDArray[np.float64]


def options_of(estimate: Estimate) -> Options:
    """How an estimate was walked; queries at points are too small for another device."""
    record = estimate.record
    return Options(
        seed=record.seed,
        epsilon=record.epsilon,
        unit=record.unit,
        max_steps=record.max_steps,
        sampling=record.sampling,
        stratify=record.stratified,
        estimator="reduced" if record.estimator == "reduced" else "standard",
        device="cpu",
    )


@dataclass(frozen=True)
class WalksEvaluator:
    """Evaluates the solution of walks alone: anywhere else than on the grid, it walks again."""

    problem: Problem
    estimate: Estimate

    def values(self, x: Array, y: Array) -> Array:
        inside = self.problem.domain.contains(x, y)
        values = np.empty(x.size)
        values[~inside] = self.problem.boundary(x[~inside], y[~inside])
        if inside.any():
            values[inside] = self._at(x[inside], y[inside]).mean
        return values

    def standard_error(self, x: Array, y: Array) -> Array:
        inside = self.problem.domain.contains(x, y)
        errors = np.zeros(x.size)
        if inside.any():
            errors[inside] = self._at(x[inside], y[inside]).standard_error
        return errors

    def _at(self, x: Array, y: Array) -> Estimate:
        points = np.stack([x, y], axis=1)
        return walk(self.problem, [self.estimate.walks], options_of(self.estimate), points=points)[0]


@dataclass(frozen=True)
class FitEvaluator:
    """Evaluates the solution of a fit to walks.

    field: what was fitted.
    fit: its last part, which knows the standard error.
    observed: the walks that it was fitted to.
    doubt: what to add to the square of its error bars, over the distance to the boundary.
    """

    field: Field
    fit: Projection
    observed: Observed
    doubt: Profile | None

    def values(self, x: Array, y: Array) -> Array:
        return self.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        square, distance = self.fit.standard_error(x, y) ** 2, np.abs(self.observed.domain.distance(x, y))
        square += self.field.error(x, y) ** 2 + self.hidden[0] * (distance < self.hidden[1])
        if self.doubt is not None:
            square += self.doubt(distance)
        return np.sqrt(square)

    @cached_property
    def hidden(self) -> tuple[float, float]:
        """What to add to the square of error bars within a distance, and that distance: see `hidden_oscillation`."""
        seen = self.observed
        distance = seen.domain.distance(*(c[seen.mask] for c in seen.grid.points()))
        level = self.fit.level / float(distance.max())
        return hidden_oscillation(seen.walks * seen.variance[seen.mask], Bins(distance), level)


@dataclass(frozen=True)
class UnjudgedEvaluator:
    """Evaluates a field that nothing has judged: it does not know its own error."""

    field: Field

    def values(self, x: Array, y: Array) -> Array:
        return self.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        return np.full(x.size, np.inf)


@dataclass(frozen=True)
class GridEvaluator:
    """A solution that is known on its grid only, and without error bars, as a network's is.

    name: of the corrector.
    """

    name: str

    def values(self, x: Array, y: Array) -> Array:
        raise InputError(f"a solution by {self.name} is known on its grid only: read it off solution.values")

    def standard_error(self, x: Array, y: Array) -> Array:
        raise InputError(f"a solution by {self.name} does not know its own error: see solution.certify")
