"""Certified gradients: derivatives of a solution by walks that know nothing of how it was found.

What a fit φ leaves over, e = u − φ, solves the homogeneous equation. On a circle of radius r around a point its values
tell its slope there: ∂e/∂x = w(r) · mean(e cos θ), with w = 2/r where e is harmonic, μ/I₁(μr) for Δe = μ²e and
k/J₁(kr) for Δe = −k²e; for the biharmonic equation less (r/4) · mean(Δe cos θ). So walks start from opposite points of
that circle, and half of their difference is the score. Added to ∇φ, which is known, their mean is ∇u without bias.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import whole
from mc2.errors import InputError
from mc2.fits.field import Field, left_laplacian, residual
from mc2.problems import Problem
from mc2.problems.operator import Operator
from mc2.solvers.certificate import check_arguments, read_points
from mc2.solvers.intervals import Interval, quantile_of
from mc2.walks.exits import find_exits
from mc2.walks.options import Options
from mc2.walks.plan import can_walk

if TYPE_CHECKING:
    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]
INSTANCE = 3 << 40
"""Keys the random numbers: no other walks use them."""
SHARE = 0.9
"""Radius of the circles, as a part of the distance to the boundary."""
LARGEST = 1.5
"""Largest k × radius: J₁ grows up to 1.84."""
NEAREST = 1e-3
"""Distance from the boundary below which points are refused, in units of the domain's size."""
CHUNK = 1 << 18
"""Walks whose ends are kept at a time."""


@dataclass(frozen=True)
class CertifiedGradient:
    """∇u at points by walks, and how far the solution's gradient is off.

    points: [count, 2].
    x, y: unbiased estimates of ∂u/∂x and ∂u/∂y there.
    standard_error: of both [2, count].
    claimed: what the solution says [2, count].
    rms: the root mean square of the error of what it says, over points and both derivatives, with an interval.
    walks: in all.
    """

    points: Array
    x: Array
    y: Array
    standard_error: Array
    claimed: Array
    rms: Interval
    confidence: float
    walks: int

    def __str__(self) -> str:
        found = f"at most {self.rms.high:.1e}"
        if self.rms.low > 0:
            found = f"{self.rms.estimate:.1e} ({self.rms.low:.1e} … {self.rms.high:.1e})"
        return (
            f"error of the gradient, root mean square with {self.confidence:.0%} interval, from {self.walks:,} walks\n"
            f"{len(self.points):,} points: {found}"
        )


def certify_gradient(
    solution: "Solution", points: ArrayLike, walks: int, confidence: float, seed: int
) -> CertifiedGradient:
    """What `Solution.certify_gradient` documents."""
    places = read_points(points)
    check_arguments(walks, points, confidence, seed)
    if whole("walks", walks, 4) % 2:
        raise InputError(f"walks = {walks} must be even: they start from opposite points")
    claimed = np.stack(solution.gradient(*places)[:2])
    inner, frame = solution.inner or solution, solution.frame
    check_walkable(inner.problem, inner.fitted)
    x, y = frame.inward(*places)
    slopes, errors = _walked(inner.problem, inner.fitted, x, y, walks, inner.options, seed)
    scale = frame.value / frame.length
    known = np.stack(inner.fitted.gradient(x, y))
    true, errors = (known + slopes) * scale, errors * scale
    rms = _interval(claimed - true, errors**2, quantile_of(confidence))
    return CertifiedGradient(places.T, true[0], true[1], errors, claimed, rms, confidence, walks * x.size)


def check_walkable(problem: Problem, field: Field) -> None:
    """Refuse where walks of what is left over do not tell a gradient."""
    if problem.reflecting or problem.operator.varying is not None or not can_walk(problem):
        raise InputError("walks cannot judge this problem, nor its derivatives: see the note of certify")
    if not field.exact:
        raise InputError("derivatives are certified where the source is resolved, and this one is not: see reason")


def _walked(
    problem: Problem, field: Field, x: Array, y: Array, walks: int, options: Options, seed: int
) -> tuple[Array, Array]:
    """∇e at points [2, n] and its standard errors, from pairs of walks."""
    domain, pairs = problem.domain, walks // 2
    gap = domain.distance(x, y)
    if (gap < NEAREST * domain.size).any():
        raise InputError(f"points must be at least {NEAREST:g} of the domain's size inside, for circles around them")
    radius = SHARE * gap
    if problem.operator.oscillating:
        radius = np.minimum(radius, LARGEST / problem.operator.rate)
    slopes, errors = np.empty((2, 2, x.size))
    random, step = np.random.default_rng((seed, INSTANCE)), max(1, CHUNK // walks)
    for first in range(0, x.size, step):
        part = slice(first, first + step)
        angle = np.pi * (np.arange(pairs) + random.random((radius[part].size, pairs))) / pairs
        turn = np.exp(1j * np.stack([angle, angle + np.pi], axis=1))  # [point, side, pair]
        z = (x[part] + 1j * y[part])[:, None, None] + radius[part, None, None] * turn
        starts = np.stack([z.real, z.imag], axis=-1).reshape(-1, 2)
        exits = find_exits(problem, starts, 1, options, INSTANCE + seed + first)
        left = residual(problem, field, exits)[:, 0].reshape(z.shape)
        scores = _weight(problem.operator, radius[part])[:, None] * (left[:, 0] - left[:, 1])
        if problem.laplacian is not None:
            bent = left_laplacian(problem, field, exits)[:, 0].reshape(z.shape)
            scores -= 0.25 * radius[part, None] * (bent[:, 0] - bent[:, 1])
        for axis, share in enumerate((turn[:, 0].real, turn[:, 0].imag)):
            own = 0.5 * scores * share
            slopes[axis, part] = own.mean(axis=1)
            errors[axis, part] = own.std(axis=1, ddof=1) / np.sqrt(pairs)
    return slopes, errors


def _weight(operator: Operator, radius: Array) -> Array:
    """w(r)."""
    from scipy.special import iv, jv

    if not operator.mass:
        return 2 / radius
    bessel = iv if operator.screened else jv
    return np.asarray(operator.rate / bessel(1, operator.rate * radius))


def _interval(error: Array, variance: Array, quantile: float) -> Interval:
    """The root mean square of errors whose estimates have variances of their own."""
    square = float(np.mean(error**2 - variance))
    noise = quantile * float(np.sqrt(np.sum(4 * np.maximum(error**2 - variance, 0) * variance + 2 * variance**2)))
    low, high = square - noise / error.size, square + noise / error.size
    return Interval(*(float(np.sqrt(max(one, 0.0))) for one in (square, low, high)))
