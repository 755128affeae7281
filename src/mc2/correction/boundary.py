"""Boundary least squares: the homogeneous solution that fits the boundary data best, without walks.

After the lift, v = u − w solves the homogeneous equation with data g − w (and h − Δw for the biharmonic equation). A
Trefftz basis satisfies the equation, so only the boundary is left to fit. Where the solution continues smoothly beyond
the boundary, as PDEZoo's do, the error falls exponentially with the degree, to rounding; at re-entrant corners and
jumps it does not. The misfit on the boundary says which.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.correction.basis import Basis, make_basis
from mc2.correction.lift import Lift, make_lift
from mc2.geometry import Domain, Grid
from mc2.problems import Problem

Array = NDArray[np.float64]
DEGREES = (16, 32, 64)
"""Tried one after the other, until the boundary is fitted."""
HOLE_DEGREE = 8
FITTED = 1e-10
"""Largest misfit, relative to the largest value, at which no higher degree is tried."""
SAMPLES = 1600
"""Points on the boundary, about."""
SMALLEST = 1e-13
"""Singular values below this part of the largest are noise."""


@dataclass(frozen=True)
class BoundaryFit:
    """A solution as a lift and a sum of basis functions.

    misfit: largest error on the boundary, in units of the largest boundary value.
    """

    lift: Lift | None
    basis: Basis
    degree: int
    hole_degree: int
    coefficients: Array
    misfit: float

    def on_grid(self, grid: Grid, mask: NDArray[np.bool_]) -> Array:
        """The solution on a grid, 0 outside the mask."""
        field = np.zeros(grid.shape)
        x, y = (c[mask] for c in grid.points())
        field[mask] = self.coefficients @ self.basis.columns(x, y, self.degree, self.hole_degree)[0]
        if self.lift:
            field[mask] += self.lift.on_grid(grid)[mask]
        return field


def fit_boundary(problem: Problem) -> BoundaryFit:
    """Solve a problem from its source around the domain and its data on the boundary."""
    operator = problem.operator()
    lift = None if problem.source is None else make_lift(problem.source, problem.domain, operator)
    basis = make_basis(problem.domain, operator)
    x, y = boundary_points(problem.domain)
    data = [problem.boundary(x, y) - (lift(x, y) if lift else 0.0)]
    if problem.laplacian is not None:
        # Δu is an order larger than u for a unit length: this keeps the two in balance
        share = basis.radius**2 / 16
        data.append(share * (problem.laplacian(x, y) - (lift.laplacian()(x, y) if lift else 0.0)))
    target = np.concatenate(data)
    hole_degree = HOLE_DEGREE if basis.holes else -1
    best: BoundaryFit | None = None
    for degree in DEGREES:
        rows = [basis.columns(x, y, degree, hole_degree)[0]]
        if problem.laplacian is not None:
            rows.append(share * basis.laplacians(x, y, degree, hole_degree))
        found = _solve(np.concatenate(rows, axis=1), target)
        misfit = float(np.abs(found @ np.concatenate(rows, axis=1) - target).max() / max(np.abs(target).max(), 1e-300))
        if best is None or misfit < best.misfit:
            best = BoundaryFit(lift, basis, degree, hole_degree, found, misfit)
        if misfit < FITTED:
            break
    assert best is not None
    return best


def _solve(columns: Array, target: Array) -> Array:
    """Coefficients of the columns [column, point] with the least squares, after scaling each to the same size."""
    size = np.linalg.norm(columns, axis=1)
    found, *_ = np.linalg.lstsq((columns / size[:, None]).T, target, rcond=SMALLEST)
    return np.asarray(found / size)


def boundary_points(domain: Domain) -> Array:
    """Points [2, n] spread evenly over the outlines of the shapes that bound the domain."""
    leaves = list(domain.leaves())
    total = sum(leaf.perimeter for leaf in leaves)
    counts = [max(16, round(SAMPLES * leaf.perimeter / total)) for leaf in leaves]
    points = np.concatenate([leaf.outline((np.arange(n) + 0.5) / n) for leaf, n in zip(leaves, counts, strict=True)]).T
    return points[:, np.abs(domain.distance(*points)) <= 1e-9]
