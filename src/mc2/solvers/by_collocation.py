"""`collocation`: least squares over the equation and its conditions, for coefficients that vary.

Where walks can solve the problem, a few of them meet what the fit leaves over, on the boundary and of the source. They
know nothing of how the bound for its error was found: where they contradict it, it is not believed.
"""

import time
from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.fits.collocation import CollocationFit, fit_collocation
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.averaging import score_walks
from mc2.solvers.by_boundary import solution_of_fit, warn_of_error
from mc2.solvers.corrector import Corrector, Goal
from mc2.solvers.fitted import CollocationEvaluator
from mc2.solvers.rounds import Round
from mc2.solvers.solution import Solution
from mc2.walks.options import Options
from mc2.walks.plan import can_walk
from mc2.walks.schedule import Progress

Array = NDArray[np.float64]
JUDGES, WALKS = 256, 4
"""Points from which walks judge a fit, and how many from each."""
DISBELIEVED = 2.5
"""The square of the error that walks see must exceed this times (bound² + its own standard error) to be believed."""
INSTANCE = 1 << 41
"""Keys the random numbers of these walks."""


@final
class CollocationCorrector(Corrector):
    """Collocation in Chebyshev polynomials, with functions for holes and corners: any equation of second order.

    Error bars are bounds from the residuals at fresh points and the problem's condition.
    """

    name = "collocation"
    reads = ("problem", "grid", "mask")
    highest_order: ClassVar[int] = 2
    reflecting: ClassVar[bool] = True
    varying: ClassVar[bool] = True

    def solve(
        self, problem: Problem, goal: Goal, grid: Grid, options: Options, progress: Progress | None = None
    ) -> Solution:
        begin = time.perf_counter()
        mask = problem.mask(grid)
        found = fit_collocation(problem)
        values, spent = found.field.on_grid(grid, mask), time.perf_counter() - begin
        step = Round(
            "collocation", found.points, 0, found.scale, found.misfit, found.basis.size, found.error, True, spent
        )
        steps, agreed = [step], True
        if problem.operator.varying is not None and can_walk(problem):
            judge, found = judged(problem, found, options)
            steps, agreed = [step, judge], judge.kept
        met = goal.tolerance is None or found.error <= goal.tolerance
        if not met:
            warn_of_error(
                f"the error bound is {found.error:.2g}, above the tolerance {goal.tolerance:g}: no basis fits better"
            )
        reason = "fitted by collocation, judged at fresh points, by a bound"
        if len(steps) > 1:
            reason += ", and by walks, which agree" if agreed else "; walks contradict it, and are believed"
        if not found.resolved:
            reason = (
                f"not resolved by {found.basis.size} functions: {found.misfit:.2g} of {found.scale:.2g} is left at "
                "fresh points (root mean squares, in units of u)"
            )
        return solution_of_fit(
            problem, grid, options, self.name, found.field, values, steps, CollocationEvaluator(found),
            converged=met and found.resolved and agreed, reason=reason,
        )  # fmt: skip

    def values(self, problem: Problem, goal: Goal, grid: Grid, options: Options) -> Array:
        return fit_collocation(problem).field.on_grid(grid, problem.mask(grid))


def judged(problem: Problem, found: CollocationFit, options: Options) -> tuple[Round, CollocationFit]:
    """What walks say of a fit, and the fit with its error as they see it if they contradict its bound."""
    begin = time.perf_counter()
    quiet = replace(options, device="cpu", sampling="green", stratify=False, estimator="standard")
    x, y = problem.domain.sample_interior(JUDGES, seed=options.seed & 0xFFFFFFFF).T
    seen = score_walks(problem, found.field, x, y, WALKS, quiet, INSTANCE, sampled=problem.source is not None)
    mean, variance = seen.mean, seen.variance
    if seen.source_mean is not None and seen.source_variance is not None:
        mean, variance = mean + seen.source_mean, variance + seen.source_variance
    squares = mean**2 - variance
    square, unsure = float(squares.mean()), float(squares.std()) / np.sqrt(squares.size)
    agreed = bool(square <= DISBELIEVED * (found.error**2 + unsure))
    if not agreed:
        found = replace(found, amplification=float(np.sqrt(square)) / found.misfit)
    spent, error = time.perf_counter() - begin, found.error
    return Round("judge", x.size, WALKS, found.misfit, found.misfit, found.basis.size, error, agreed, spent), found
