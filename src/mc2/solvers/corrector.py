"""`Corrector`: a way to a solution, by a name that users type."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.checks import positive, whole
from mc2.errors import InputError, short, unknown, warn
from mc2.fits.edge import rarest
from mc2.fits.field import Field
from mc2.functions import Function
from mc2.geometry import Domain, Grid
from mc2.problems import Problem
from mc2.problems.operator import Operator, need_constant
from mc2.walks import Estimate
from mc2.walks.engine import check_budgets, walk, warned
from mc2.walks.options import Options
from mc2.walks.schedule import Progress

if TYPE_CHECKING:
    from mc2.solvers.solution import Evaluator, Solution

Array = NDArray[np.float64]
MAX_SECONDS = 20.0
"""Spent on a tolerance, if not said otherwise."""
STARTS = ("walks", "boundary")
MET = 0.02
"""Walks per pixel, on average, that must meet a feature: neighbouring pixels make up for few."""
ROUNDS = "mc2-rounds"
"""The name of the corrector that is used if none is named."""


@dataclass(frozen=True)
class Goal:
    """What a user asks for, besides the problem: see `mc2.solve`."""

    walks: int = 8
    tolerance: float | None = None
    start: str = "walks"
    max_seconds: float | None = None
    max_walks: int | None = None

    def __post_init__(self) -> None:
        whole("walks", self.walks, 1)
        for name in ("tolerance", "max_seconds"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        if self.max_walks is not None:
            whole("max_walks", self.max_walks, 1)
        if self.tolerance is None and (self.max_seconds, self.max_walks) != (None, None):
            raise InputError("max_seconds and max_walks are limits of a tolerance: give one, or say walks=…")
        if self.start not in STARTS:
            raise unknown("start", self.start, STARTS)

    def scaled(self, factor: float) -> "Goal":
        """With the tolerance in other units."""
        return replace(self, tolerance=None if self.tolerance is None else self.tolerance * factor)

    @property
    def seconds(self) -> float:
        """The limit in seconds."""
        if self.max_seconds is None:
            return MAX_SECONDS if self.max_walks is None else np.inf
        return self.max_seconds


class Corrector(ABC):
    """A way to a solution.

    name: as users type it, and as tables have it.
    reads: what it must know of a problem; see `mc2.benchmark.methods.method.READABLE`.
    max_steps: after which its walks are cut off, if not said otherwise.
    reflecting: whether it takes problems with Neumann and Robin conditions.
    highest_order: of the equations that it solves.
    varying: whether it takes problems whose coefficients vary.
    """

    name: str
    reads: tuple[str, ...] = ("problem", "grid", "walks", "seed")
    max_steps: ClassVar[int] = 128
    reflecting: ClassVar[bool] = False
    highest_order: ClassVar[int] = 4
    varying: ClassVar[bool] = False

    @abstractmethod
    def solve(
        self, problem: Problem, goal: Goal, grid: Grid, options: Options, progress: Progress | None = None
    ) -> "Solution":
        """The solution on a grid.

        problem: of ordinary size, as `mc2.problems.Frame` makes it.
        goal: what is asked for.
        options: of the walks.
        progress: called with (done, in all): of walks, or of the steps of a fit.
        """

    def values(self, problem: Problem, goal: Goal, grid: Grid, options: Options) -> Array:
        """The field alone [n, n], where nobody asks for error bars."""
        return self.solve(problem, goal, grid, options).values


@dataclass(frozen=True)
class Observed:
    """What a corrector of estimates may see: all but the boundary data.

    mean, variance: of the walks from every pixel, and of that mean, [n, n]. The variance is infinite for one walk.
    walks: per pixel.
    mask: the pixels inside the domain.
    source: f, or None where it is 0.
    What a corrector does not declare that it reads is missing in the benchmark.
    """

    mean: Array
    variance: Array
    walks: int
    mask: NDArray[np.bool_]
    grid: Grid
    domain: Domain
    operator: Operator
    source: Function | None

    @classmethod
    def of(cls, estimate: Estimate, problem: Problem) -> "Observed":
        """What is seen of a problem by an estimate on a grid."""
        if estimate.grid is None:
            raise InputError("only an estimate on a grid can be corrected")
        bad = int((~np.isfinite(estimate.mean[estimate.mask])).sum())
        if bad:
            raise InputError(f"the estimate is no number at {bad:,} pixels, where walks met data that are not finite")
        return cls(
            estimate.mean, estimate.variance, estimate.walks, estimate.mask, estimate.grid, problem.domain,
            problem.operator, problem.source,
        )  # fmt: skip


class EstimateCorrector(Corrector):
    """Makes a solution from walks of every pixel, corrected once, without looking at the boundary data.

    One of your own says what it makes of an estimate, in `field`, and needs a name.
    """

    reads: tuple[str, ...] = (
        "estimate", "variance", "walks", "mask", "grid", "domain", "family", "parameter", "source_function",
    )  # fmt: skip

    @abstractmethod
    def field(self, observed: Observed) -> NDArray[np.floating]:
        """The corrected field [n, n], of which only the mask counts."""

    @final
    def solve(
        self, problem: Problem, goal: Goal, grid: Grid, options: Options, progress: Progress | None = None
    ) -> "Solution":
        self.check_goal(goal)
        [found] = warned(walk(problem, check_budgets([goal.walks]), options, grid, progress=progress))
        return self.correct(found, problem)

    def check_goal(self, goal: Goal) -> None:
        """Refuse what only rounds can do."""
        if goal.tolerance is not None:
            raise InputError(f"a tolerance needs the corrector {ROUNDS!r}: {self.name!r} corrects a number of walks")
        if goal.start != "walks":
            raise InputError(f"start = {goal.start!r} is for the corrector {ROUNDS!r}, not for {self.name!r}")

    @final
    def checked_field(self, observed: Observed) -> Array:
        """The corrected field; what is none is refused."""
        found, shape = self.field(observed), list(observed.grid.shape)
        wanted = f"the corrector {self.name!r} must give a finite number at every pixel inside the domain"
        try:
            values = np.asarray(found, float)
        except (TypeError, ValueError):
            raise InputError(f"{wanted}, as an array {shape}, not {short(found)}") from None
        if list(values.shape) != shape:
            raise InputError(f"{wanted}, as an array {shape}, not {list(values.shape)}")
        if not np.isfinite(values[observed.mask]).all():
            raise InputError(f"{wanted}, and some of its values are not finite")
        return values

    def correct(self, estimate: Estimate, problem: Problem) -> "Solution":
        """The solution from an estimate on a grid.

        problem: what was walked.
        """
        from mc2.solvers.evaluators import GridEvaluator

        if not self.varying:
            need_constant(problem.operator, f"solutions by {self.name!r}")
        observed = Observed.of(estimate, problem)
        start = time.perf_counter()
        values = self.checked_field(observed)
        seconds = time.perf_counter() - start
        values = np.where(observed.mask, values, 0.0)
        unknown_error = np.where(observed.mask, np.inf, 0.0)
        return self.solution(estimate, problem, values, GridEvaluator(self.name), seconds, known_error=unknown_error)

    def solution(
        self,
        estimate: Estimate,
        problem: Problem,
        values: Array,
        evaluator: "Evaluator",
        seconds: float,
        *,
        fitted: Field | None = None,
        known_error: Array | None = None,
    ) -> "Solution":
        """A solution of this corrector.

        evaluator: what is asked for values and error bars at points.
        seconds: that the correction took.
        fitted: the field that was fitted, if there is one.
        known_error: the error bars on the grid, where they need not be computed.
        """
        from mc2.solvers.evaluators import options_of
        from mc2.solvers.solution import Solution

        assert estimate.grid is not None
        if known_error is None or np.isfinite(known_error).all():
            known_error = _unless_rare(estimate, problem, known_error)
        return Solution(
            problem=problem,
            grid=estimate.grid,
            mask=estimate.mask,
            values=values,
            method=self.name,
            history=(),
            walks=estimate.walks * int(estimate.mask.sum()),
            seconds=estimate.record.seconds + seconds,
            evaluator=evaluator,
            fitted=fitted or Field(),
            options=options_of(estimate),
            reason=f"{self.name}: a given number of walks, corrected once",
            known_error=known_error,
        )


def _unless_rare(estimate: Estimate, problem: Problem, known_error: Array | None) -> Array | None:
    """The error bars, but infinite ones, with a warning, where a feature is met by hardly any of a few walks.

    It is then not known, nor is the error that it makes.
    """
    share = rarest(problem)
    if estimate.walks * share >= MET:
        return known_error
    warn(
        f"the data have features that one walk in about {1 / share:.0e} meets: {estimate.walks} walks per pixel do "
        f"not know their own error, and error bars are infinite; use the corrector {ROUNDS!r}"
    )
    return np.where(estimate.mask, np.inf, 0.0)


@final
class CallableCorrector(EstimateCorrector):
    """A function of your own as a corrector: from an `Observed` to the corrected field [n, n]."""

    varying: ClassVar[bool] = True

    def __init__(self, function: Callable[[Observed], NDArray[np.floating]]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def field(self, observed: Observed) -> NDArray[np.floating]:
        try:
            return np.asarray(self.function(observed))
        except InputError:
            raise
        except Exception as error:  # whatever a user's function raises
            raise InputError(f"the corrector {self.name} failed: {type(error).__name__} {short(str(error))}") from error
