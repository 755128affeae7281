"""Fits of boundary data with bounds for their error, whatever the conditions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary import BoundaryFit, fit_boundary
from mc2.fits.clamped import fit_plate
from mc2.fits.collocation import CollocationFit, fit_collocation
from mc2.fits.conditions import ConditionFit, fit_conditions, has_junctions
from mc2.fits.field import Field
from mc2.fits.layer_fit import Report
from mc2.fits.resonance import evaluator_from_boundary
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.solution import Evaluator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConditionEvaluator:
    """Evaluates a fit of conditions. Its error bars are a bound for the root mean square, the same everywhere.

    What the lift is wrong by is fitted on the boundary, and so is wrong inside as well.
    """

    found: ConditionFit

    def values(self, x: Array, y: Array) -> Array:
        return self.found.fit.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        own = self.found.fit.field.error(x, y)
        return np.hypot(self.found.error, (1 + self.found.amplification) * own)


@dataclass(frozen=True)
class CollocationEvaluator:
    """Evaluates a fit by collocation. Its error bars are a bound for the root mean square, the same everywhere."""

    found: CollocationFit

    def values(self, x: Array, y: Array) -> Array:
        return self.found.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        return np.full(x.size, self.found.error)


def bound_by_fit(problem: Problem) -> tuple[Field, Evaluator]:
    """What solves a problem that walks cannot judge, and what evaluates it with bounds for its error."""
    if not problem.operator.has_trefftz:
        found = fit_collocation(problem)
        return found.field, CollocationEvaluator(found)
    fit, evaluator = fit_and_bound(problem)
    return fit.field, evaluator


def fit_and_bound(
    problem: Problem, grid: Grid | None = None, report: Report | None = None
) -> tuple[BoundaryFit, Evaluator]:
    """A fit of the boundary data, and what evaluates it with bounds for its error.

    The problem must have Neumann, Robin or clamped conditions, slits, or solutions that oscillate.
    report: called with the steps of the fit that are done, and their number at most.
    """
    if has_junctions(problem) or problem.clamped:
        found = fit_plate(problem, grid) if problem.clamped else fit_conditions(problem, grid, report=report)
        return found.fit, ConditionEvaluator(found)
    fit = fit_boundary(problem, grid, report=report)
    return fit, evaluator_from_boundary(problem, fit)
