"""Certified fluxes: what flows through a closed curve of the boundary, by walks.

What a fit φ leaves over, e = u − φ, is harmonic for the equations of Laplace and Poisson, so its flux through a curve
of the boundary is that through any contour that separates the curve from all others. Halfway there is much room: from
random points of the contour, walks start at opposite points of circles, as in `mc2.solvers.gradient_certificate`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mc2.checks import whole
from mc2.errors import InputError, short
from mc2.fits.field import residual
from mc2.geometry import Domain, Exterior
from mc2.geometry.parts import find_parts
from mc2.solvers.gradient_certificate import SHARE, check_walkable
from mc2.walks.exits import find_exits
from mc2.walks.options import MAX_KEY

if TYPE_CHECKING:
    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]
INSTANCE = 5 << 40
"""Keys the random numbers: no other walks use them."""
LINES = 400
"""Grid lines across a domain, on which contours are found."""
TIGHT = 1e-3
"""Distance of a contour from the boundary, in units of the domain's size, below which there is no room for circles."""


@dataclass(frozen=True)
class CertifiedFlux:
    """∫ ∂u/∂n over a part of the boundary, by walks.

    value, standard_error: unbiased.
    claimed: what the solution says.
    walks: in all.
    """

    value: float
    standard_error: float
    claimed: float
    walks: int

    def __str__(self) -> str:
        value = f"{self.value:.12g} ± {self.standard_error:.1g} from {self.walks:,} walks"
        return f"{value}; {self.claimed:.12g} is off by {self.claimed - self.value:+.1g} ± {self.standard_error:.1g}"


def certify_flux(solution: "Solution", part: str | list[str], walks: int, seed: int) -> CertifiedFlux:
    """What `Solution.certify_flux` documents."""
    whole("walks", walks, 64)
    whole("seed", seed, 0, MAX_KEY - INSTANCE)
    claimed = solution.flux(part).value
    inner = solution.inner or solution
    problem, field, domain = inner.problem, inner.fitted, inner.problem.domain
    check_walkable(problem, field)
    if problem.operator.mass or problem.operator.order != 2:
        raise InputError(f"fluxes are certified for Laplace and Poisson problems, not for {problem.name}")
    contour = _contour(domain, _whole_curves(domain, part))
    random = np.random.default_rng((seed, INSTANCE))
    points, normals, length = _along(contour, walks // 2, random)
    gap = domain.distance(points.real, points.imag)
    if (gap < TIGHT * domain.size).any():
        raise InputError(f"there is too little room around {short(part)} for walks that tell its flux")
    turn = normals * np.exp(1j * np.pi * (random.random(points.size) - 0.5))
    z = points + SHARE * gap * turn * np.array([[1], [-1]])
    starts = np.stack([z.real, z.imag], axis=-1).reshape(-1, 2)
    left = residual(problem, field, find_exits(problem, starts, 1, inner.options, INSTANCE + seed)).reshape(z.shape)
    scores = length * (left[0] - left[1]) / (SHARE * gap) * (turn * normals.conj()).real
    value = claimed + float(scores.mean()) * solution.frame.value
    error = float(scores.std(ddof=1)) / np.sqrt(scores.size) * solution.frame.value
    return CertifiedFlux(value, error, claimed, 2 * points.size)


def _whole_curves(domain: Domain, part: str | list[str]) -> NDArray[np.bool_]:
    """Which pieces of the boundary belong to a part, which must be made of whole curves, and not of all."""
    pieces = domain.pieces
    chosen = np.isin(pieces.part, find_parts(domain, part))
    if len(set(pieces.curve[chosen]) & set(pieces.curve[~chosen])):
        raise InputError(
            f"{short(part)} is not a closed curve: walks tell the flux through whole curves, such as holes"
        )
    if chosen.all() and not domain.unbounded:
        raise InputError(f"{short(part)} is the whole boundary: its flux is the integral of the source")
    return chosen


def _contour(domain: Domain, chosen: NDArray[np.bool_]) -> list[NDArray[np.complex128]]:
    """Closed lines halfway between some pieces of the boundary and all others, with the former on their left."""
    from contourpy import contour_generator

    xmin, xmax, ymin, ymax = domain.bounds
    reach = 0.6 * domain.size if isinstance(domain, Exterior) else 0.02 * domain.size
    x, y = (np.linspace(low - reach, high + reach, LINES) for low, high in ((xmin, xmax), (ymin, ymax)))
    px, py = (c.ravel() for c in np.meshgrid(x, y))
    near = domain.pieces.take(chosen).nearest(px, py)[1]
    far = np.full(px.size, np.inf)
    if not chosen.all():
        far = domain.pieces.take(~chosen).nearest(px, py)[1]
    if isinstance(domain, Exterior):  # where walks return from counts as another curve
        far = np.minimum(far, np.abs(domain.circles[1] - np.hypot(px - domain.center[0], py - domain.center[1])))
        beyond = np.hypot(px - domain.center[0], py - domain.center[1]) > domain.circles[1]
        far = np.where(beyond, 0.0, far)
    lines = contour_generator(x, y, (near - far).reshape(LINES, LINES)).lines(0.0)
    return [
        np.asarray(line)[:, 0] + 1j * np.asarray(line)[:, 1] for line in lines
    ]  # contourpy has higher values on the left


def _along(
    contour: list[NDArray[np.complex128]], count: int, random: np.random.Generator
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], float]:
    """Points spread over lines, the normals there, to the side that belongs to the part, and the lines' length."""
    start = np.concatenate([line[:-1] for line in contour])
    step = np.concatenate([np.diff(line) for line in contour])
    ends = np.cumsum(np.abs(step))
    place = (np.arange(count) + random.random(count)) / count * ends[-1]
    index = np.minimum(np.searchsorted(ends, place, side="right"), len(ends) - 1)
    share = 1 - (ends[index] - place) / np.abs(step[index])
    direction = step[index] / np.abs(step[index])
    return start[index] + share * step[index], -1j * direction, float(ends[-1])
