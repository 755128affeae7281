"""Boundary least squares for Dirichlet, Neumann and Robin conditions: a row a·u + b·∂u/∂n = value for each.

As in `mc2.fits.boundary` a Trefftz basis satisfies the equation, so only the boundary is left to fit. Here the basis
has corner functions at all junctions, where sides meet or conditions change: with them, solutions that are singular
there are fitted as well as smooth ones (Motz, 1946; Li, Mathon and Sermer, 1987). Narrow parts of the boundary, such as
electrodes, have poles that crowd towards them. Poles all around the domain come last, where its shape asks for them.

Rows are weighted so that each counts like u: derivatives by a length, and less near junctions where they grow without
bound. The misfit at fresh points, times how much the problem amplifies it, bounds the error: that factor is the largest
ratio, over all functions of the basis, of the root mean square inside to that of the rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.compute.portions import interruptibly
from mc2.fits.basis import Basis, Pole, make_basis
from mc2.fits.boundary import BoundaryFit, count_waves
from mc2.fits.boundary_points import CROWDED, BoundaryPoints, Rows, Sides, make_rows
from mc2.fits.breaks import cut_at_breaks
from mc2.fits.cuts import CutFinder
from mc2.fits.field import Field, lifted
from mc2.fits.insulated import check_compatible, is_insulated, with_mean_zero
from mc2.fits.junctions import Junction, find_junctions, make_corner_functions
from mc2.fits.layer_fit import Report
from mc2.fits.least_squares import least_squares
from mc2.fits.lift import EXACT
from mc2.fits.room import Room
from mc2.fits.slit_functions import InnerSlit
from mc2.fits.slits import find_slits
from mc2.geometry import Domain, Grid
from mc2.geometry.slit import has_slits
from mc2.problems import Problem
from mc2.problems.components import refuse_floating

Array = NDArray[np.float64]
FITTED = 1e-13
"""Misfit at which no larger basis is tried."""
GOOD = 1e-9
"""Misfit at which no poles are tried."""
MOST = 1000
"""Functions of a basis, about."""
PER_FUNCTION = 3
"""Points for every function, at least."""
FEWEST_POINTS = 400
"""Points on the whole boundary that are not crowded, at least."""
PLAIN = (12, 24, 48)
"""Degrees around the centre that are tried without corner functions, while they help."""
HELPS = 1e-3
"""Part to which a higher degree must bring the misfit for functions around the centre to be enough."""
CORNERS = ((12, 4.0), (20, 8.0), (28, 11.0), (40, 15.0))
"""Degrees around the centre, and highest powers of corner functions, that are tried together."""
RINGS = ((16, 4.0, 100), (20, 6.0, 200), (24, 8.0, 300))
"""The same, and how many poles around the domain."""
CLOSE = ((0.5, 0.15), (0.3, 0.08))
"""How deep poles are in the room next to the boundary, and how far apart, as parts of that room; see `Room`."""
MOST_BASES = len(PLAIN) + len(CORNERS) + len(RINGS) + len(CLOSE)
GAINS = 0.05
"""Part to which a larger basis must bring the misfit for the next one to be tried without poles."""
NARROW, MOST_NARROW = 0.05, 12
"""Width of parts of the boundary, in units of the domain's size, below which poles crowd towards their ends; and the
number of such ends, at most: those of the narrowest."""
NEAREST_POLE, POLE_FACTOR = 1e-3, 1.6
"""The distance of the first of these poles, in units of the width, and about that of each from the next."""
CROWDED_AT_POLES = 96
"""Points towards each end of a side where there are such poles."""
SAME = 1e-9
"""Distance, in units of the domain's size, of points that are one."""
HOLE_DEGREE = 16
SLIT_POWERS = 5
"""Powers of the functions around a slit with two tips for each of a corner's: they are those of a root."""
UNIT = 4.0
"""Derivatives count by this part of the domain's radius."""
ROUNDING = 1e-15
"""Rounding as a part of the sum of the sizes of all that is added up: no error is claimed to be below."""
INTERIOR = 600
"""Points inside the domain at which functions are compared with their rows."""
SAFETY = 1.5
"""Times the amplification that is measured, since its points are a sample."""
SMALLEST = 1e-10
"""Combinations of functions below this part of the largest are rounding."""


def has_junctions(problem: Problem) -> bool:
    """Whether a problem's boundary is fitted with functions of its junctions: conditions are mixed, or it has slits."""
    slits = problem.operator.order == 2 and not problem.domain.unbounded and has_slits(problem.domain)
    return problem.reflecting or slits


def fit_conditions(
    problem: Problem, grid: Grid | None = None, start: Field | None = None, report: Report | None = None
) -> "ConditionFit":
    """Solve a problem from its source around the domain and the conditions on its boundary.

    grid: where it will be wanted. start: the lift of the source, if there is one already.
    report: called with the bases that have been tried, and their number at most.
    """
    refuse_floating(problem.domain, problem.operator, problem.conditions)
    with one_thread():
        fitter = Fitter(problem, start or lifted(problem, grid, EXACT))
        if fitter.insulated:
            check_compatible(problem, fitter.start)
        for number, basis in enumerate(fitter.bases(), 1):
            misfit = fitter.fit(basis)
            if report:
                report(number, MOST_BASES)
            if misfit < FITTED:
                break
        return fitter.finish()


@dataclass(frozen=True)
class ConditionFit:
    """A solution from the conditions on its boundary.

    fit: the field and its misfit, in units of u, at fresh boundary points.
    amplification: the largest factor by which the root mean square of the error inside may exceed that of the misfit.
    """

    fit: BoundaryFit
    amplification: float

    @property
    def error(self) -> float:
        """A bound for the root mean square of the error."""
        return self.amplification * self.fit.error + self.fit.rounding


class Fitter:
    """Fits of a problem's conditions, and the best of them so far."""

    def __init__(self, problem: Problem, start: Field) -> None:
        problem, jumps, kinks = cut_at_breaks(problem)
        self.problem, self.start = problem, start
        self.waves = count_waves(problem)
        self.junctions = find_junctions(problem, jumps, kinks)
        harmonic = problem.operator.order == 2 and not problem.operator.mass
        slits = find_slits(problem.domain, CutFinder(problem.domain)) if harmonic else []
        self.slits = [slit for slit in slits if slit.inner]
        self.orders = (0, 1) if problem.operator.mass else (1, 1)
        self.narrow = tuple(poles_at_narrow_parts(problem.domain, self.junctions, self.orders))
        self.sides = Sides(problem.domain, self.junctions, CROWDED_AT_POLES if self.narrow else CROWDED)
        self.radius = make_basis(problem.domain, problem.operator, 0, -1).radius
        self.unit = self.radius / UNIT
        self.insulated = is_insulated(problem)
        self.best: BoundaryFit | None = None
        self.misfits: list[float] = []

    def bases(self) -> Iterator[Basis]:
        """Bases to try: around the centre, with corner functions, and with poles around the domain."""
        problem = self.problem

        def plain(degree: int) -> Basis:
            return make_basis(problem.domain, problem.operator, degree + self.waves, HOLE_DEGREE)

        for degree in PLAIN:
            yield plain(degree)
            if len(self.misfits) > 1 and self.misfits[-1] > HELPS * self.misfits[-2]:
                break
        for number, (degree, highest) in enumerate(CORNERS):
            yield self._with_corners(plain(degree), highest)
            if number and self.misfits[-1] > GAINS * self.misfits[-2]:
                break
        for degree, highest, count in RINGS:
            if min(self.misfits) < GOOD:
                break
            basis = self._with_corners(plain(degree), highest)
            yield replace(basis, poles=(*basis.poles, *self._ring(count)))

        if min(self.misfits) < GOOD:
            return
        room = Room(problem.domain, self.sides)
        self.sides = self.sides.crowded(room.crowding)
        for depth, apart in CLOSE:
            basis = self._with_corners(plain(PLAIN[0]), 4.0)
            yield replace(basis, poles=(*basis.poles, *room.poles(depth, apart, self.orders, MOST // 2)))
            if min(self.misfits) < GOOD:
                break

    def _with_corners(self, basis: Basis, highest: float) -> Basis:
        corners = make_corner_functions(self.problem, self.junctions, highest, MOST // 2)
        inner = tuple(InnerSlit(slit.points, int(SLIT_POWERS * highest)) for slit in self.slits)
        return replace(basis, corners=(*basis.corners, *corners, *inner), poles=(*basis.poles, *self.narrow))

    def _ring(self, count: int) -> Iterator[Pole]:
        """Poles outside every side, as far as there is room (Fairweather and Karageorghis, 1998)."""
        around = self.sides.evenly(count)
        return ring(self.problem.domain, around, self.orders)

    def fit(self, basis: Basis) -> float:
        """Fit, judge at fresh points, and keep it if it is the best; returns its misfit in units of the data."""
        count = max(FEWEST_POINTS, PER_FUNCTION * len(basis.levels))
        points, rows = self._sample(count)
        fresh, fresh_rows = self._sample(count, seed=len(self.misfits))
        matrix = self._functions(basis, points, rows)
        target = self._target(points, rows)
        weight = rows.weight * np.sqrt(points.length / points.length.sum())
        coefficients = least_squares(matrix * weight, target * weight)
        fitted = float(np.linalg.norm((coefficients @ matrix - target) * weight))
        field = self.start.plus(basis, coefficients)
        judged = self._functions(basis, fresh, fresh_rows)
        expected = self._target(fresh, fresh_rows)
        left = np.abs(coefficients @ judged - expected) * fresh_rows.weight
        rounding = ROUNDING * float((np.abs(coefficients) @ np.abs(judged)).max() + 0)
        error = max(float(np.linalg.norm(left * np.sqrt(fresh.length / fresh.length.sum()))), fitted, rounding)
        scale = max(float(np.abs(target * rows.weight).max()), float(np.abs(expected * fresh_rows.weight).max()))
        found = BoundaryFit(field, basis, error, scale, max(float(left.max()), rounding), rounding)
        self.misfits.append(found.misfit)
        if self.best is None or found.misfit < self.best.misfit:
            self.best, self.weighted = found, matrix * weight
        return found.misfit

    def finish(self) -> ConditionFit:
        """The best fit, and how much its misfit may matter."""
        best = self.best
        assert best is not None
        assert isinstance(best.basis, Basis)
        amplification = self._amplification(best.basis, self.weighted)
        if self.insulated:
            best = replace(best, field=with_mean_zero(best.field, self.problem.domain))
        return ConditionFit(best, amplification)

    def _sample(self, count: int, seed: int | None = None) -> tuple[BoundaryPoints, Rows]:
        """About so many points, those near junctions apart, and what the conditions say there."""
        points = self.sides.points(count, seed)
        return points, make_rows(self.problem, points, self.junctions, self.unit)

    def _functions(self, basis: Basis, points: BoundaryPoints, rows: Rows) -> Array:
        """a·u + b·∂u/∂n for every function of a basis [column, point]."""
        out = rows.a * basis.columns(points.x, points.y)
        on = rows.b != 0
        gx, gy = basis.gradients(points.x[on], points.y[on])
        out[:, on] += rows.b[on] * (gx * points.nx[on] + gy * points.ny[on])
        return out

    def _target(self, points: BoundaryPoints, rows: Rows) -> Array:
        """What the lift leaves over of the conditions."""
        gx, gy = self.start.gradient(points.x, points.y)
        known = self.start(points.x, points.y)
        return rows.value - rows.a * known - rows.b * (gx * points.nx + gy * points.ny)

    def _amplification(self, basis: Basis, weighted: Array) -> float:
        """The largest ratio of the root mean square of a sum of functions inside the domain to that of its rows."""
        x, y = self.problem.domain.sample_interior(INTERIOR, seed=0).T
        inside = basis.columns(x, y) / np.sqrt(x.size)
        if self.insulated:
            inside -= inside.mean(axis=1, keepdims=True)
        both = np.concatenate([weighted, inside], axis=1)
        norms = np.linalg.norm(both, axis=1)
        both = both[norms > SMALLEST * norms.max()] / norms[norms > SMALLEST * norms.max(), None]
        left, sizes, _ = interruptibly(np.linalg.svd, both.T, full_matrices=False)
        orthonormal = left[: weighted.shape[1], sizes > SMALLEST * sizes[0]]
        least = float(np.linalg.svd(orthonormal, compute_uv=False)[-1])
        # orthonormal on both together: on the rows `least`, inside the rest of 1
        return SAFETY * float(np.sqrt(max(1 - least**2, 1e-30))) / max(least, 1e-300)


def poles_at_narrow_parts(domain: Domain, junctions: Sequence[Junction], orders: tuple[int, int]) -> Iterator[Pole]:
    """Poles outside the ends of narrow parts, at distances that grow from much less than their width to the domain's.

    Corner functions at the two ends are powers of one length or the other: near by, where both matter, they would need
    huge coefficients. Poles whose distances shrink by a constant factor do not (Gopal and Trefethen, 2019).
    """
    found = [junction for junction in junctions if junction.changes]
    centers = np.array([junction.center for junction in found])
    apart = np.abs(centers[:, None] - centers)
    width = np.where(apart > SAME * domain.size, apart, np.inf).min(axis=1, initial=np.inf)
    narrow = [k for k in np.argsort(width) if width[k] < NARROW * domain.size][:MOST_NARROW]
    for k in narrow:
        outward = -np.exp(1j * (found[k].direction + 0.5 * found[k].opening))
        least, most = NEAREST_POLE * width[k], 0.5 * domain.size
        count = int(np.log(most / least) / np.log(POLE_FACTOR))
        for step in least * (most / least) ** (np.arange(count) / count):
            center = found[k].center + step * outward
            depth = -float(domain.distance(center.real, center.imag))
            if depth > 0.3 * step:
                yield Pole((float(center.real), float(center.imag)), depth, orders)


def ring(domain: Domain, around: BoundaryPoints, orders: tuple[int, int]) -> Iterator[Pole]:
    """Poles outside points of the boundary, as far along their normals as there is room."""
    for x, y, nx, ny in zip(around.x, around.y, around.nx, around.ny, strict=True):
        step = 0.1 * domain.size
        while step > 1e-4 * domain.size:
            center = x + step * nx, y + step * ny
            depth = -float(domain.distance(*center))
            if depth > 0.6 * step:
                yield Pole((float(center[0]), float(center[1])), depth, orders)
                break
            step *= 0.7
