"""Collocation: least squares over the equation inside a domain and the conditions on its boundary.

For operators whose coefficients vary no solutions are known in closed form, so a basis (`mc2.fits.collocation_basis`)
has to be fitted to the equation as well: a row for Lu = f at points all over the domain, and one for a·u + b·α ∂u/∂n at
points of its boundary. Every row is weighted so that it counts like u. Where data are smooth the error falls
exponentially with the degree, which is raised while the residual at fresh points falls.

That residual, times how much the problem amplifies it, bounds the error: the factor is the largest ratio, over all
functions of the basis, of the root mean square inside to that of the rows. Data and coefficients are searched for
narrow features that no point would meet (`mc2.fits.features`), and the residual is looked at there as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.compute.portions import interruptibly
from mc2.errors import InputError
from mc2.fits.boundary_points import BoundaryPoints, Sides, values_of
from mc2.fits.collocation_basis import CollocationBasis, make_collocation_basis, with_corners
from mc2.fits.collocation_points import InnerPoints, inner_points
from mc2.fits.collocation_rows import Equations, Linear
from mc2.fits.field import Field
from mc2.fits.insulated import integrate
from mc2.fits.junctions import find_junctions
from mc2.fits.least_squares import least_squares
from mc2.geometry.domain_rule import domain_rule
from mc2.geometry.exterior import need_bounded
from mc2.problems import Problem
from mc2.problems.boundary_data import insulated
from mc2.problems.coefficients import need_continuous
from mc2.problems.components import refuse_floating

Array = NDArray[np.float64]
FITTED = 1e-13
"""Misfit, as a part of the data, at which no larger basis is tried."""
DEGREES = (8, 12, 16, 20, 26, 34, 42)
"""Of the polynomials, one after the other, while they help."""
CORNERS = ((12, 4.0), (16, 6.0), (20, 8.0), (28, 8.0), (34, 8.0))
"""Degrees, and highest powers at corners, that are tried together."""
PLAIN = 26
"""The highest degree that is tried without corner functions where there are junctions."""
SINGULAR = 3.5
"""Powers above which what is singular at a junction is left to the polynomials."""
MOST_JUNCTIONS = 24
"""The most singular ones first."""
MOST = 420
"""Functions at all junctions, about."""
GAINS = 0.5
"""Part to which a larger basis, or two of them, must bring the misfit for the next one to be tried."""
GOOD = 1e-11
"""Misfit, as a part of the data, at which no corner functions are tried."""
ROUNDED = 0.1
"""Part of such a misfit to which a larger basis must bring it: what is left is rounding."""
PER_FUNCTION = 3.0
"""Points inside for every function."""
FEWEST = 400
"""Points inside, and points on the boundary, at least."""
TRIED, JUDGED = 1200, 4000
"""Fresh points inside at which every basis is judged, at least, and at which the best one is again."""
LAST = 1000
"""Seed of the last fresh points."""
HALF = 14
"""Of quadrature over the domain: see `domain_rule`."""
ROUNDING = 2e-15
"""Of the sum of the sizes of all that is added up: no error is below."""
INTERIOR = 600
"""Points inside at which functions are compared with their rows."""
SAFETY = 2.0
"""Times the amplification that is measured, since its points are a sample."""
SMALLEST = 1e-10
"""Combinations of functions below this part of the largest are rounding."""
UNRESOLVED = 1e-3
"""Misfit, as a part of the data, above which a basis does not resolve them."""
COMPATIBLE = 1e-6
"""Part of what flows in and out by which both may differ where nothing holds u."""


@dataclass(frozen=True)
class CollocationFit:
    """A solution by collocation.

    field: the solution.
    basis: that it is made of.
    misfit: root mean square of all weighted residuals at fresh points, in units of u.
    scale: that of all weighted data.
    rounding: of the field's values.
    points: that were fitted.
    amplification: the largest factor by which the root mean square of the error inside may exceed the misfit.
    """

    field: Field
    basis: CollocationBasis
    misfit: float
    scale: float
    rounding: float
    points: int
    amplification: float = np.inf

    @property
    def error(self) -> float:
        """A bound for the root mean square of the error."""
        return self.amplification * self.misfit + self.rounding

    @property
    def resolved(self) -> bool:
        """Whether the basis resolves the data and the coefficients at all."""
        return self.misfit <= UNRESOLVED * self.scale


@one_thread()
def fit_collocation(problem: Problem) -> CollocationFit:
    """Solve a problem of second order, whatever its coefficients, from its data on the domain and its boundary."""
    if problem.operator.order != 2:
        raise InputError(f"collocation solves equations of second order, not {problem.equation}")
    need_bounded(problem.domain, "collocation needs")
    refuse_floating(problem.domain, problem.operator, problem.conditions)
    if problem.operator.varying is not None:
        need_continuous(problem.operator.varying, problem.domain)
    fitter = _fitter(problem)
    for basis in fitter.bases():
        if fitter.fit(basis) <= FITTED:
            break
    return fitter.finish()


def _fitter(problem: Problem) -> "Fitter":
    """Fits of a problem, with a basis for every material."""
    own = problem.operator.varying
    if own is None or not own.materials:
        return Fitter(problem)
    from mc2.fits.regional import RegionalFitter

    return RegionalFitter(problem)


class Fitter:
    """Fits, and the best of them so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.domain = problem, problem.domain
        every = find_junctions(problem)
        self.junctions = [j for j in every if j.weakness < SINGULAR or j.jump][:MOST_JUNCTIONS]
        self.sides, self.equations = Sides(self.domain, every), Equations(problem, self.junctions)
        self.insulated = check_insulated(problem)
        self.best: CollocationFit | None = None
        self.misfits: list[float] = []

    def bases(self) -> Iterator[CollocationBasis]:
        """Bases to try: polynomials and functions of holes, then with corner functions."""
        for number, degree in enumerate(DEGREES):
            if self.junctions and degree > PLAIN:
                break
            yield make_collocation_basis(self.domain, degree)
            unresolved = not self.junctions and self.misfits[-1] > UNRESOLVED
            if number > 1 and self.misfits[-1] > GAINS * self.misfits[-3] and not unresolved:
                break
            if number and self.misfits[-1] < GOOD and self.misfits[-1] > ROUNDED * self.misfits[-2]:
                break
        if not self.junctions or min(self.misfits) < GOOD:
            return
        for number, (degree, highest) in enumerate(CORNERS):
            plain = make_collocation_basis(self.domain, degree)
            yield with_corners(plain, self.junctions, self.domain, highest, MOST)
            if number and self.misfits[-1] > GAINS * self.misfits[-2]:
                break

    def inner(self, count: int, degree: int, seed: int = 0) -> InnerPoints:
        """Points inside, as of `inner_points`."""
        return inner_points(self.domain, count, self.sides, self.junctions, degree, seed)

    def fit(self, basis: CollocationBasis) -> float:
        """Fit, judge at fresh points, and keep it if it is the best; returns its misfit as a part of the data."""
        count, around = max(FEWEST, int(PER_FUNCTION * basis.size)), max(FEWEST, 16 * basis.degree)
        seed = len(self.misfits) + 1
        inner = self.inner(count, basis.degree)
        fresh = self.inner(max(TRIED, count // 2), basis.degree, seed)
        fitted = self.equations.rows(basis, inner, self.sides.points(around))
        judged = self.equations.rows(basis, fresh, self.sides.points(around, seed))
        system = fitted.joined(self._mean(basis, fresh)) if self.insulated else fitted
        coefficients = least_squares(*system)
        narrow = self.equations.narrow(basis, coefficients)
        left = float(np.hypot(np.linalg.norm(judged.left(coefficients)), narrow))
        some = slice(None, None, max(1, fresh.x.size // 400))
        sizes = np.abs(coefficients) @ np.abs(basis.columns(fresh.x[some], fresh.y[some]))
        rounding = ROUNDING * float(sizes.max())
        misfit = max(left, float(np.linalg.norm(fitted.left(coefficients))), rounding)
        scale = max(float(np.linalg.norm(part.target)) for part in (fitted, judged))
        field = Field(None, ((basis, coefficients),))
        self.misfits.append(misfit / max(scale, 1e-300))
        if self.best is None or misfit < self.best.misfit:
            self.best = CollocationFit(field, basis, misfit, scale, rounding, system.target.size)
        return self.misfits[-1]

    def _mean(self, basis: CollocationBasis, points: InnerPoints) -> Linear:
        """A row that says that u is 0 on average."""
        x, y, share = points.x[points.even], points.y[points.even], points.share[points.even]
        return Linear((basis.columns(x, y) @ share)[:, None], np.zeros(1))

    def finish(self) -> CollocationFit:
        """The best fit, judged at more points, and how much its misfit may matter."""
        best = self.best
        assert best is not None
        ((_, coefficients),) = best.field.parts
        fresh = self.inner(JUDGED, best.basis.degree, LAST)
        judged = self.equations.rows(best.basis, fresh, self.sides.points(FEWEST, LAST))
        misfit = max(best.misfit, float(np.linalg.norm(judged.left(coefficients))))
        if self.insulated:
            points, weights = domain_rule(self.domain.pieces, HALF)
            coefficients = coefficients.copy()
            coefficients[best.basis.constants] -= float(weights @ best.field(*points.T)) / float(weights.sum())
        field = Field(None, ((best.basis, coefficients),))
        amplification = self._amplification(best.basis, judged.matrix)
        return replace(best, field=field, misfit=misfit, amplification=amplification)

    def _amplification(self, basis: CollocationBasis, weighted: Array) -> float:
        """The largest ratio of the root mean square of a sum of functions inside the domain to that of its rows."""
        x, y = self.domain.sample_interior(INTERIOR, seed=0).T
        inside = basis.columns(x, y) / np.sqrt(x.size)
        if self.insulated:
            inside -= inside.mean(axis=1, keepdims=True)
        both = np.concatenate([weighted, inside], axis=1)
        norms = np.linalg.norm(both, axis=1)
        kept = norms > SMALLEST * norms.max()
        both = both[kept] / norms[kept, None]
        return SAFETY * float(interruptibly(_largest_ratio, both.T, weighted.shape[1]))


def _largest_ratio(both: Array, rows: int) -> float:
    """Of columns, the largest ratio of the size below the first rows to that in them, over all combinations."""
    q, r = np.linalg.qr(both)
    left, sizes, _ = np.linalg.svd(r)
    orthonormal = q[:rows] @ left[:, sizes > SMALLEST * sizes[0]]
    # orthonormal on both together: on the rows `least`, inside the rest of 1
    least = float(max(np.linalg.eigvalsh(orthonormal.T @ orthonormal)[0], 1e-14))
    return float(np.sqrt(max(1 - least, 1e-30) / least))


def check_insulated(problem: Problem) -> bool:
    """Whether u is known but for a constant. Data that are not compatible are refused, and a drift as well."""
    if not problem.reflecting or not insulated(problem.conditions):
        return False
    if problem.operator.expanded(*problem.domain.sample_interior(256, 0).T)[3].any():
        return False
    if problem.operator.varying is not None and problem.operator.varying.drifts:
        raise InputError(
            "Neumann conditions all around with a drift and no reaction leave u open, and whether the data are "
            "compatible: give u, or a Robin condition, somewhere"
        )

    def flows(points: BoundaryPoints) -> Array:
        value = values_of(problem, points)
        return np.stack([value, np.abs(value)])

    flux, size = integrate(problem.domain, flows)
    points, weights = domain_rule(problem.domain.pieces, HALF)
    f = np.zeros(len(points)) if problem.source is None else problem.source(*points.T)
    source, scale = float(weights @ f), max(float(size), float(weights @ np.abs(f)))
    if abs(flux - source) > COMPATIBLE * scale:
        raise InputError(
            "a problem with Neumann conditions all around has a solution only if their integral is that of the source: "
            f"∮ α ∂u/∂n = {flux:.6g}, ∬ f = {source:.6g}, which differ by {flux - source:.3g}; "
            "give u, or a Robin condition, somewhere, or change one of them"
        )
    return True
