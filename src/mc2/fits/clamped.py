"""Clamped plates: boundary least squares for Δ²u = f with u and ∂u/∂n given, or u and Δu on some parts.

Every boundary point has two rows: u, and ∂u/∂n or Δu, in units that make all comparable. The basis is that of
biharmonic functions around the centre and around holes, which on smooth shapes and on most convex ones is enough; else
poles are crowded outside of corners, as those of Brubeck and Trefethen (2022), and stand around the domain.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.fits.basis import Basis, make_basis
from mc2.fits.boundary_points import BoundaryPoints, Rows, values_of
from mc2.fits.conditions import FITTED, GOOD, HOLE_DEGREE, ConditionFit, Fitter, ring
from mc2.fits.field import Field, lifted
from mc2.fits.lift import EXACT
from mc2.fits.poles import crowd_poles
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.problems.condition import Clamped

Array = NDArray[np.float64]
DEGREES = (10, 20, 32, 44)
"""Around the centre, tried while they help."""
HELPS = 0.1
"""Part to which a higher degree must bring the misfit for the next one to be tried."""
WITH_POLES = 20
"""Degree around the centre when there are poles."""
POLES = 60
"""Outside of corners together, or else around the domain; each has eight functions."""

MOST_CORNERS = 16
"""That have poles, the widest first."""


def fit_plate(problem: Problem, grid: Grid | None = None, start: Field | None = None) -> ConditionFit:
    """Solve a biharmonic problem of which some parts are clamped.

    grid: where it will be wanted. start: the lift of the source, if there is one already.
    """
    with one_thread():
        plate = Plate(problem, start or lifted(problem, grid, EXACT))
        for basis in plate.bases():
            if plate.fit(basis) < FITTED:
                break
        return plate.finish()


class Plate(Fitter):
    """Fits of a plate, and the best of them so far.

    Rows have a = 1 for u, b = 1 for ∂u/∂n, and neither for Δu.
    """

    def bases(self) -> Iterator[Basis]:
        """Bases to try: of rising degree, then with poles outside of corners and around the domain."""
        domain, operator = self.problem.domain, self.problem.operator
        for degree in DEGREES:
            yield make_basis(domain, operator, degree, HOLE_DEGREE)
            if len(self.misfits) > 1 and self.misfits[-1] > HELPS * self.misfits[-2]:
                break
        corners = sorted(domain.corners(), key=lambda corner: -corner.angle)
        if min(self.misfits) > GOOD:
            orders = 1, 2
            crowd = crowd_poles(domain, corners[:MOST_CORNERS], (), orders, POLES)
            poles = crowd if corners else ring(domain, self.sides.evenly(POLES), orders)
            basis = make_basis(domain, operator, WITH_POLES, HOLE_DEGREE)
            yield replace(basis, poles=(*basis.poles, *poles))

    def _sample(self, count: int, seed: int | None = None) -> tuple[BoundaryPoints, Rows]:
        """Every point twice: for u, and for ∂u/∂n or Δu."""
        points = self.sides.points(count, seed)
        second, slope = np.empty(points.x.size), np.zeros(points.x.size)
        for part, condition in enumerate(self.problem.conditions):
            on = points.part == part
            x, y, nx, ny = (column[on] for column in points[:4])
            if isinstance(condition, Clamped):
                second[on], slope[on] = condition.turn.data(x, y, nx, ny), 1.0
            else:
                assert self.problem.laplacian is not None
                second[on] = self.problem.laplacian(x, y)
        one, zero = np.ones(points.x.size), np.zeros(points.x.size)
        rows = Rows(
            np.concatenate([one, zero]),
            np.concatenate([zero, slope]),
            np.concatenate([values_of(self.problem, points), second]),
            np.concatenate([one, np.where(slope > 0, self.unit, self.unit**2)]),
        )
        return BoundaryPoints(*(np.concatenate([column, column]) for column in points)), rows

    def _functions(self, basis: Basis, points: BoundaryPoints, rows: Rows) -> Array:
        out, on = super()._functions(basis, points, rows), _curved(rows)
        out[:, on] = basis.laplacians(points.x[on], points.y[on])
        return out

    def _target(self, points: BoundaryPoints, rows: Rows) -> Array:
        out, on = super()._target(points, rows), _curved(rows)
        out[on] -= self.start.laplacian(points.x[on], points.y[on])
        return out


def _curved(rows: Rows) -> NDArray[np.bool_]:
    """The rows for Δu."""
    return (rows.a == 0) & (rows.b == 0)
