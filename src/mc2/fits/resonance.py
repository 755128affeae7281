"""How well posed a Helmholtz problem is: near an eigenvalue of the domain, small errors on the boundary become large.

Among the solutions of Δu + k²u = 0 whose mean square in the domain is 1, one is smallest on the boundary. Its size
there, the tension, is 0 at an eigenvalue and grows in proportion to the distance from it (Betcke and Trefethen, 2005);
an error of the boundary values is amplified by at most one over it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import interruptibly
from mc2.errors import warn
from mc2.fits.basis import Basis, make_basis
from mc2.fits.boundary import HOLE_DEGREE, BoundaryFit, count_waves
from mc2.fits.poles import crowd_poles
from mc2.fits.samples import spread
from mc2.geometry import Corner, Domain
from mc2.problems import Problem
from mc2.problems.operator import Operator

Array = NDArray[np.float64]
CLOSE = 1e-3
"""Relative distance from an eigenvalue at which there is a warning."""
AMONG = 0.15
"""Likewise, as a part of the usual distance between eigenvalues, which is less where there are many waves."""
INTERIOR, EDGE = 500, 400
"""Points inside, and on the boundary, from which mean squares are taken, at least."""
PER_FUNCTION = 2
"""Likewise, for every function of the basis."""
BEYOND = 16
"""Degrees above kR of the basis whose tension is measured."""
CORNER_POLES, MOST_CORNERS = 8, 8
"""For every corner at which eigenfunctions are singular, and how many of these at most."""
SAFETY = 1.5
"""Times the bound that is measured: its points are a sample."""
DEPENDENT = 1e-12


@dataclass(frozen=True)
class BoundaryEvaluator:
    """Evaluates the solution of boundary least squares.

    error: a bound for its root mean square, the same everywhere, but for what the lift says of single places.
    distance: from k² to the nearest eigenvalue, about; an error ρ of the source makes one of ρ/distance at most.
    """

    fit: BoundaryFit
    error: float
    distance: float

    def values(self, x: Array, y: Array) -> Array:
        return self.fit.field(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        return np.hypot(self.error, self.fit.field.error(x, y))


def evaluator_from_boundary(problem: Problem, fit: BoundaryFit) -> BoundaryEvaluator:
    """With an error bound, and a warning if the problem is close to one without a unique solution.

    The error solves the homogeneous equation, so its root mean square inside is at most its root mean square on the
    boundary, the misfit at fresh points, over the tension; and it is never below rounding.
    """
    domain, square = problem.domain, problem.operator.mass
    singular = _singular(domain)
    basis = _modes(problem, singular)
    inside = max(INTERIOR, PER_FUNCTION * len(basis.levels))
    places = [corner.center for corner in singular]
    points, weights = spread(domain, places, max(EDGE, PER_FUNCTION * len(basis.levels)))
    spacing = 4 * np.pi / (_area(domain) * square)  # of eigenvalues, relative to k² (Weyl)
    close = min(CLOSE, AMONG * spacing)
    below, here, above = (
        tension(domain, replace(basis, operator=Operator(square * factor)), points, weights, inside)
        for factor in (1 - close, 1.0, 1 + close)
    )
    slope = max(abs(here - below), abs(above - here)) / close
    if here < close * slope:
        warn(
            f"k² = {square:.6g} is within {max(here / slope, 1e-9):.1g} (relative) of a Dirichlet eigenvalue of the "
            f"domain: errors of the data are amplified up to {1 / max(here, 1e-300):.2g} times"
        )
    distance = square * min(here / max(slope, 1e-300), 0.5 * spacing)
    resolution, amplified = fit.field.resolution, SAFETY / max(here, 1e-300)
    if resolution is not None and not resolution.resolved:
        source = SAFETY * resolution.left / distance
    else:  # what the lift is wrong by is fitted on the boundary, and wrong inside as well
        source = (1 + amplified) * float(np.sqrt(np.mean(fit.field.error(*points) ** 2)))
    return BoundaryEvaluator(fit, amplified * fit.error + source + fit.rounding, distance)


def _singular(domain: Domain) -> list[Corner]:
    """Corners at which eigenfunctions are singular: those of an angle π/n are not, by reflection."""
    found = [corner for corner in domain.corners() if abs(np.pi / corner.angle - round(np.pi / corner.angle)) > 0.02]
    return sorted(found, key=lambda corner: -corner.angle)[:MOST_CORNERS]


def _modes(problem: Problem, singular: list[Corner]) -> Basis:
    """A basis that resolves what is near an eigenfunction: degrees above kR, and poles at singular corners."""
    plain = make_basis(problem.domain, problem.operator, count_waves(problem) + BEYOND, HOLE_DEGREE)
    poles = crowd_poles(problem.domain, singular, [], (0, 1), CORNER_POLES * len(singular))
    return replace(plain, poles=(*plain.poles, *poles))


def _area(domain: Domain) -> float:
    """About."""
    xmin, xmax, ymin, ymax = domain.bounds
    x, y = np.random.default_rng(0).uniform((xmin, ymin), (xmax, ymax), (4096, 2)).T
    return (xmax - xmin) * (ymax - ymin) * max(float(domain.contains(x, y).mean()), 1e-3)


def tension(domain: Domain, basis: Basis, points: Array, weights: Array, inside: int = INTERIOR) -> float:
    """The least root mean square on the boundary of a solution that has 1 inside.

    points, weights: of the boundary.
    inside: points in the domain.
    """
    interior = domain.sample_interior(inside, seed=0).T
    rows = [basis.columns(*points) * weights / np.linalg.norm(weights), basis.columns(*interior) / np.sqrt(inside)]
    matrix = np.concatenate(rows, axis=1)
    matrix /= np.linalg.norm(matrix, axis=1)[:, None]
    left, sizes, _ = interruptibly(np.linalg.svd, matrix.T, full_matrices=False)
    orthonormal = left[:, sizes > DEPENDENT * sizes[0]]
    least = float(interruptibly(np.linalg.svd, orthonormal[: points.shape[1]], compute_uv=False)[-1])
    # orthonormal on both together: on the boundary `least`, inside the rest of 1
    return least / float(np.sqrt(max(1 - least**2, 1e-30)))
