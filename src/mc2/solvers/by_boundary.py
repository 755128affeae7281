"""`trefftz`: lift and boundary least squares alone, a classical spectral solver without walks."""

import time
from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.errors import InputError, warn
from mc2.fits.boundary import BoundaryFit, fit_boundary
from mc2.fits.conditions import has_junctions
from mc2.fits.field import Field
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.corrector import ROUNDS, Corrector, Goal
from mc2.solvers.evaluators import UnjudgedEvaluator
from mc2.solvers.fitted import fit_and_bound
from mc2.solvers.rounds import Round, rms
from mc2.solvers.solution import Evaluator, Solution
from mc2.walks.options import Options
from mc2.walks.schedule import Progress

Array = NDArray[np.float64]


@final
class BoundaryCorrector(Corrector):
    """Least squares on the boundary.

    Where solutions oscillate, conditions are not all Dirichlet, or there are slits, error bars are bounds from the
    misfit at fresh boundary points and the problem's condition.

    For other problems nothing judges the fit, and error bars are infinite: `Solution.certify` tells the error.
    """

    name = "trefftz"
    reads = ("problem", "grid", "mask")
    reflecting: ClassVar[bool] = True

    @one_thread()
    def solve(
        self, problem: Problem, goal: Goal, grid: Grid, options: Options, progress: Progress | None = None
    ) -> Solution:
        bounded = has_junctions(problem) or problem.clamped
        judged = problem.operator.oscillating or bounded
        if goal.tolerance is not None and not judged:
            raise InputError(f"a tolerance needs the corrector {ROUNDS!r}: {self.name!r} does not know its own error")
        begin = time.perf_counter()
        mask = problem.mask(grid)
        if judged:
            fit, evaluator = fit_and_bound(problem, grid, progress)
            error = rms(evaluator.standard_error(*(c[mask] for c in grid.points())))
            reason = "fitted on the boundary, judged at fresh boundary points"
            reason += ", by a bound" if bounded else "; walks cannot judge it"
        else:
            fit = fit_boundary(problem, grid, report=progress)
            evaluator, error = UnjudgedEvaluator(fit.field), np.inf
            reason = "fitted on the boundary, and judged by nothing: see certify"
        values, spent = fit.field.on_grid(grid, mask), time.perf_counter() - begin
        step = Round("boundary", 0, 0, fit.scale, fit.error, len(fit.basis.levels), error, True, spent)
        met = judged and (goal.tolerance is None or error <= goal.tolerance)
        if judged and not met:
            warn_of_error(
                f"the error bound is {error:.2g}, above the tolerance {goal.tolerance:g}: no basis fits better"
            )
        resolved = _resolved(fit)
        reason = reason if resolved else unresolved(fit.field)
        return solution_of_fit(
            problem, grid, options, self.name, fit.field, values, [step], evaluator,
            converged=met and resolved, reason=reason,
        )  # fmt: skip

    @one_thread()
    def values(self, problem: Problem, goal: Goal, grid: Grid, options: Options) -> Array:
        fitted = has_junctions(problem) or problem.clamped
        fit = fit_and_bound(problem, grid)[0] if fitted else fit_boundary(problem, grid)
        return fit.field.on_grid(grid, problem.mask(grid))


def solution_of_fit(
    problem: Problem,
    grid: Grid,
    options: Options,
    method: str,
    field: Field,
    values: Array,
    steps: Sequence[Round],
    evaluator: Evaluator,
    *,
    converged: bool,
    reason: str,
) -> Solution:
    """A solution from a single fit, which walks may have judged.

    values: of the field on the grid. steps: the fit, and who judged it, as the history tells them.
    """
    return Solution(
        problem=problem,
        grid=grid,
        mask=problem.mask(grid),
        values=values,
        method=method,
        history=tuple(steps),
        walks=sum(step.points * step.walks for step in steps),
        seconds=sum(step.seconds for step in steps),
        evaluator=evaluator,
        fitted=field,
        options=options,
        converged=converged,
        reason=reason,
    )


def _resolved(fit: BoundaryFit) -> bool:
    return fit.field.resolution is None or fit.field.resolution.resolved


def unresolved(field: Field) -> str:
    """Why a solution whose source a lift does not resolve has not converged."""
    found = field.resolution
    assert found is not None
    return (
        f"source unresolved: {found.left:.2g} of {found.scale:.2g} (root mean squares) is left between lattice points"
    )


def warn_of_error(text: str) -> None:
    """Say that a tolerance is not met."""
    warn(f"{text}; take the error bars as they are")
