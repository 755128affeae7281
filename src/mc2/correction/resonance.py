"""How well posed a Helmholtz problem is: near an eigenvalue of the domain, small errors on the boundary become large.

Among the solutions of Δu + k²u = 0 whose mean square in the domain is 1, one is smallest on the boundary. Its size
there, the tension, is 0 at an eigenvalue and grows in proportion to the distance from it (Betcke and Trefethen, 2005);
an error of the boundary values is amplified by at most one over it.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.correction.basis import Basis
from mc2.correction.boundary import BoundaryFit, spread
from mc2.geometry import Domain
from mc2.problems import Problem

Array = NDArray[np.float64]
CLOSE = 1e-3
"""Relative distance from an eigenvalue at which there is a warning."""
INTERIOR, EDGE = 500, 400
"""Points inside, and on the boundary, from which mean squares are taken, about."""
SMALLEST = 1e-12


@dataclass(frozen=True)
class Boundary:
    """The answer of boundary least squares. error: a bound for its root mean square, the same everywhere."""

    fit: BoundaryFit
    error: float

    def values(self, x: Array, y: Array) -> Array:
        return self.fit.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        return np.full(x.size, self.error)


def answer_from_boundary(problem: Problem, fit: BoundaryFit) -> Boundary:
    """With an error bound, and a warning if the problem is close to one without a unique solution."""
    square, (points, weights) = problem.operator()[0], spread(problem.domain, [])
    few = slice(None, None, max(1, len(weights) // EDGE))
    below, here, above = (
        tension(problem.domain, replace(fit.basis, operator=(square * factor, 1.0, 0.0)), points[:, few], weights[few])
        for factor in (1 - CLOSE, 1.0, 1 + CLOSE)
    )
    slope = max(abs(here - below), abs(above - here)) / CLOSE
    if here < CLOSE * slope:
        warnings.warn(
            f"k² = {square:.6g} is within {max(here / slope, 1e-9):.1g} (relative) of a Dirichlet eigenvalue of the "
            f"domain: errors of the data are amplified up to {1 / max(here, 1e-300):.2g} times",
            stacklevel=3,
        )
    return Boundary(fit, fit.error / max(here, 1e-300))


def tension(domain: Domain, basis: Basis, points: Array, weights: Array) -> float:
    """The least root mean square on the boundary of a solution that has 1 inside. points, weights: of the boundary."""
    inside = domain.sample_interior(INTERIOR, seed=0).T
    rows = [basis.columns(*points) * weights / np.linalg.norm(weights), basis.columns(*inside) / np.sqrt(INTERIOR)]
    matrix = np.concatenate(rows, axis=1)
    matrix /= np.linalg.norm(matrix, axis=1)[:, None]
    left, sizes, _ = np.linalg.svd(matrix.T, full_matrices=False)
    orthonormal = left[:, sizes > SMALLEST * sizes[0]]
    least = float(np.linalg.svd(orthonormal[: points.shape[1]], compute_uv=False)[-1])
    # orthonormal on both together: on the boundary `least`, inside the rest of 1
    return least / float(np.sqrt(max(1 - least**2, 1e-30)))
