"""`Corrector`: from a noisy estimate to a solution."""

import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, unknown
from mc2.fits.edge import rarest
from mc2.fits.field import Field
from mc2.fits.misfit import hidden_oscillation
from mc2.fits.projection import Bins, Profile, Projection
from mc2.geometry import Domain, Grid
from mc2.problems import Problem
from mc2.solvers.physics import correct_by_physics
from mc2.solvers.solution import Solution
from mc2.walks import Estimate
from mc2.walks.engine import Options, walk

Array = NDArray[np.float64]
MET = 0.02
"""Walks per pixel, on average, that must meet a feature: neighbouring pixels make up for few."""


class Corrector(ABC):
    """Makes a solution from an estimate on a grid, without looking at the boundary data."""

    name: ClassVar[str]

    @abstractmethod
    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        """The corrected estimate. problem: what was walked."""


@dataclass(frozen=True)
class WalksEvaluator:
    """Evaluates the solution of walks alone: anywhere else than on the grid, it walks again."""

    problem: Problem
    estimate: Estimate

    def values(self, x: Array, y: Array) -> Array:
        inside = self.problem.domain.contains(x, y)
        found = self.problem.boundary(x, y)
        if inside.any():
            found[inside] = self._at(x[inside], y[inside]).mean
        return found

    def standard_error(self, x: Array, y: Array) -> Array:
        inside = self.problem.domain.contains(x, y)
        found = np.zeros(x.size)
        if inside.any():
            found[inside] = self._at(x[inside], y[inside]).standard_error
        return found

    def _at(self, x: Array, y: Array) -> Estimate:
        return walk(self.problem, [self.estimate.walks], _options(self.estimate), points=np.stack([x, y], axis=1))[0]


@dataclass(frozen=True)
class FitEvaluator:
    """Evaluates the solution of a fit.

    doubt: what to add to the square of its error bars, over the distance to the boundary.
    hidden: the same within a distance, given with it: see `hidden_oscillation`.
    """

    field: Field
    fit: Projection
    domain: Domain
    doubt: Profile | None
    hidden: tuple[float, float] = (0.0, 0.0)

    def values(self, x: Array, y: Array) -> Array:
        return self.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        square, distance = self.fit.standard_error(x, y) ** 2, np.abs(self.domain.distance(x, y))
        square += self.field.error(x, y) ** 2 + self.hidden[0] * (distance < self.hidden[1])
        if self.doubt is not None:
            square += self.doubt(distance)
        return np.sqrt(square)


@final
class NoCorrector(Corrector):
    """The walks' mean as it is."""

    name = "none"

    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        return _solution(self, estimate, problem, estimate.mean, WalksEvaluator(problem, estimate), Field(), 0.0)


@final
class PhysicsCorrector(Corrector):
    """Lift and Trefftz projection: see `mc2.solvers.physics`."""

    name = "physics"

    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        if estimate.walks < 2:
            raise InputError("the corrector 'physics' needs two or more walks per pixel, to know their variance")
        grid = _grid_of(estimate)
        start = time.perf_counter()
        made = correct_by_physics(
            estimate.mean, estimate.variance, estimate.mask, grid, problem.domain, problem.operator,
            problem.source,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        if not made.kept:
            warnings.warn(
                f"no solution of {problem.equation} explains the estimate (χ² per pixel {made.fit.misfit:.2g}): "
                "it is kept as it is",
                stacklevel=2,
            )
            return NoCorrector().correct(estimate, problem)
        distance = problem.domain.distance(*(c[estimate.mask] for c in grid.points()))
        hidden = hidden_oscillation(
            estimate.walks * estimate.variance[estimate.mask], Bins(distance), made.fit.level / float(distance.max())
        )
        evaluator = FitEvaluator(made.field, made.fit, problem.domain, made.doubt, hidden)
        return _solution(self, estimate, problem, made.values, evaluator, made.field, seconds)


@dataclass(frozen=True)
class GridEvaluator:
    """Evaluates the solution of a network: it is known on the grid only, and without error bars."""

    def values(self, x: Array, y: Array) -> Array:
        raise InputError("a network's solution is known on its grid only: read it off solution.values")

    def standard_error(self, x: Array, y: Array) -> Array:
        raise InputError("a network does not know its own error: see solution.certify")


@final
class NetworkCorrector(Corrector):
    """A trained network: see `mc2.solvers.learned`. weights: a shipped name."""

    def __init__(self, weights: str) -> None:
        self.name = weights  # type: ignore[misc]

    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        from mc2.fits.batched_lift import lift_of
        from mc2.solvers.learned import correct_by_network, load_network, source_of

        learned, grid = load_network(self.name), _grid_of(estimate)
        start = time.perf_counter()
        operator = problem.operator
        source = source_of(problem.source, operator, grid, estimate.mask)
        lift = lift_of(problem.source, operator, grid) if learned.inputs.lifted else None
        values = correct_by_network(
            learned,
            estimate.mean,
            estimate.variance,
            estimate.walks,
            estimate.mask,
            grid,
            source,
            lift,
            operator,
        ).astype(float)
        seconds = time.perf_counter() - start
        return _solution(self, estimate, problem, values, GridEvaluator(), Field(), seconds)


CORRECTORS: dict[str, Corrector] = {corrector.name: corrector for corrector in (NoCorrector(), PhysicsCorrector())}


def _grid_of(estimate: Estimate) -> Grid:
    """The grid of an estimate that can be corrected."""
    if estimate.grid is None:
        raise InputError("only an estimate on a grid can be corrected")
    bad = int((~np.isfinite(estimate.mean[estimate.mask])).sum())
    if bad:
        raise InputError(f"the estimate is no number at {bad:,} pixels, where walks met data that are not finite")
    return estimate.grid


def find_corrector(name: str) -> Corrector:
    """The corrector of a name, which may be that of shipped weights."""
    from mc2.networks.installed import installed_correctors

    if name in CORRECTORS:
        return CORRECTORS[name]
    if name in installed_correctors():
        return NetworkCorrector(name)
    raise unknown("corrector", name, ["rounds", *CORRECTORS, *installed_correctors()])


def _solution(
    corrector: Corrector,
    estimate: Estimate,
    problem: Problem,
    values: Array,
    evaluator: WalksEvaluator | FitEvaluator | GridEvaluator,
    field: Field,
    seconds: float,
) -> Solution:
    if estimate.grid is None:
        raise InputError("only an estimate on a grid can be corrected")
    return Solution(
        problem=problem,
        grid=estimate.grid,
        mask=estimate.mask,
        values=values,
        method=corrector.name,
        history=(),
        walks=estimate.walks * int(estimate.mask.sum()),
        seconds=estimate.record.seconds + seconds,
        evaluator=evaluator,
        fitted=field,
        options=_options(estimate),
        reason=f"{corrector.name}: a given number of walks, corrected once",
        known_error=_known_error(evaluator, estimate, problem),
    )


def _known_error(
    evaluator: WalksEvaluator | FitEvaluator | GridEvaluator, estimate: Estimate, problem: Problem
) -> Array | None:
    """The walks' own error; infinite where nothing is known; nothing where it is to be computed.

    From a few walks, a feature that hardly any of them meets is not known, nor is the error that it makes.
    """
    if isinstance(evaluator, GridEvaluator):
        return np.where(estimate.mask, np.inf, 0.0)
    share = rarest(problem)
    if estimate.walks * share < MET:
        warnings.warn(
            f"the data have features that one walk in about {1 / share:.0e} meets: {estimate.walks} walks per pixel do "
            "not know their own error, and error bars are infinite; use the corrector 'rounds'",
            stacklevel=5,
        )
        return np.where(estimate.mask, np.inf, 0.0)
    return estimate.standard_error if isinstance(evaluator, WalksEvaluator) else None


def _options(estimate: Estimate) -> Options:
    """How the estimate was walked; queries at points are too small for another device."""
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
