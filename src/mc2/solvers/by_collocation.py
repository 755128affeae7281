"""`collocation`: least squares over the equation and its conditions, for coefficients that vary."""

import time
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.fits.collocation import fit_collocation
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.by_boundary import solution_of_fit, warn_of_error
from mc2.solvers.corrector import Corrector, Goal
from mc2.solvers.fitted import CollocationEvaluator
from mc2.solvers.rounds import Round
from mc2.solvers.solution import Solution
from mc2.walks.options import Options
from mc2.walks.schedule import Progress

Array = NDArray[np.float64]


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
        met = goal.tolerance is None or found.error <= goal.tolerance
        if not met:
            warn_of_error(
                f"the error bound is {found.error:.2g}, above the tolerance {goal.tolerance:g}: no basis fits better"
            )
        reason = "fitted by collocation, judged at fresh points, by a bound"
        if not found.resolved:
            reason = (
                f"not resolved by {found.basis.size} functions: {found.misfit:.2g} of {found.scale:.2g} is left at "
                "fresh points (root mean squares, in units of u)"
            )
        return solution_of_fit(
            problem, grid, options, self.name, found.field, values, step, CollocationEvaluator(found),
            converged=met and found.resolved, reason=reason,
        )  # fmt: skip

    def values(self, problem: Problem, goal: Goal, grid: Grid, options: Options) -> Array:
        return fit_collocation(problem).field.on_grid(grid, problem.mask(grid))
