"""What people ask of a solution: derivatives, fluxes, integrals, extremes, values along a line, each with an error bar.

A fitted field is known in closed form, so its derivatives are too. Its error e is known by its standard error s at
points, and as good as solves the homogeneous equation. On a circle of radius r in which it does, ∂e/∂x is
(2/r) mean(e cos θ), so no slope of e has a root mean square above (√2/r) max s. Towards the boundary, where no such
circle is left, r stays at a small part of the domain's size (`NARROWEST`), which is what fits of moderate degree allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import point, whole
from mc2.compute.compile import as_points
from mc2.errors import InputError
from mc2.fits.basis import Basis
from mc2.fits.boundary_points import on_pieces
from mc2.fits.collocation_basis import CollocationBasis
from mc2.geometry import Exterior
from mc2.geometry.boundary_rule import BoundaryRule, boundary_rule
from mc2.geometry.domain_rule import domain_rule
from mc2.geometry.exterior import need_bounded
from mc2.geometry.parts import find_parts

if TYPE_CHECKING:
    from mc2.fits.field import Field
    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]

NARROWEST = 0.02
"""Least radius over which an error is taken to change, in units of the domain's size."""
STEP = 2e-3
"""The step of differences of the gradient, in units of the domain's size."""
ROUNDING = 1e-14
"""Relative rounding of one evaluation of a field."""
NODES = 14, 20
"""Half as many nodes along strips of the domain, in two rules for integrals whose difference is their error."""
AT_CORNER = 1e-9
"""Distance, in units of the domain's size, within which an end of a piece is the corner that it is next to."""
STARTS = 8
"""Places from which an extreme is refined."""


@dataclass(frozen=True)
class Answer:
    """A number with its standard error; `float(answer)` is the number."""

    value: float
    standard_error: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.12g} ± {self.standard_error:.1g}"


class Gradient(NamedTuple):
    """∂u/∂x and ∂u/∂y at points, and the standard error of each of them."""

    x: Array
    y: Array
    standard_error: Array


class Hessian(NamedTuple):
    """The second derivatives at points, and the standard error of each of them."""

    xx: Array
    xy: Array
    yy: Array
    standard_error: Array


class Along(NamedTuple):
    """Values along a line: distance from its start, points, u and its standard error; NaN outside the domain."""

    distance: Array
    x: Array
    y: Array
    values: Array
    standard_error: Array


class Extreme(NamedTuple):
    """The least or the largest value, its place and its standard error."""

    value: float
    x: float
    y: float
    standard_error: float


def gradient(solution: Solution, x: ArrayLike, y: ArrayLike) -> Gradient:
    """∇u at points of the domain, its boundary included."""
    px, py, shape = as_points(x, y)
    solution.check_inside(px, py)
    gx, gy = _slopes(solution, px, py)
    error = _slope_error(solution, px, py)
    return Gradient(*(array.reshape(shape)[()] for array in (gx, gy, error)))


def hessian(solution: Solution, x: ArrayLike, y: ArrayLike) -> Hessian:
    """Second derivatives at points inside the domain, by differences of the gradient (fourth order)."""
    px, py, shape = as_points(x, y)
    solution.check_inside(px, py)
    domain = solution.problem.domain
    gap = domain.distance(px, py)
    if (gap <= 1e-6 * domain.size).any():
        raise InputError(
            "second derivatives need points inside the domain, at least 1e-6 of its size from its boundary"
        )
    step = np.minimum(STEP * domain.size, gap / 4)

    def difference(dx: float, dy: float) -> tuple[Array, Array]:
        ahead, behind, far_ahead, far_behind = (
            np.stack(_slopes(solution, px + k * dx * step, py + k * dy * step)) for k in (1, -1, 2, -2)
        )
        slope = (8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * step)
        return slope[0], slope[1]

    (xx, yx), (xy, yy) = difference(1, 0), difference(0, 1)
    slopes = _slopes(solution, px, py)
    rounding = ROUNDING * np.hypot(*slopes) / step
    radius = np.maximum(gap, NARROWEST * domain.size)
    error = np.hypot(2 * _slope_error(solution, px, py) / radius, rounding)
    return Hessian(*(array.reshape(shape)[()] for array in (xx, 0.5 * (xy + yx), yy, error)))


def flux(solution: Solution, part: str | list[str] | None = None) -> Answer:
    """∫ α ∂u/∂n over parts of the boundary, n outward; over all of it if no part is named."""
    coarse, fine = (_flux(solution, rule) for rule in _rules(solution, part))
    rule = _rules(solution, part)[1]
    x, y = _on_boundary(solution, rule)
    bar = rule.weights @ (_diffusion(solution, x, y) * _slope_error(solution, x, y))
    return Answer(fine, float(np.hypot(bar, fine - coarse)))


def _flux(solution: Solution, rule: BoundaryRule) -> float:
    field, frame, domain = _fitted(solution), solution.frame, solution.problem.domain
    x, y = frame.inward(*rule.points.T)
    (gx, gy), streams = field.without_layers.gradient(x, y), 0.0
    chosen = np.unique(rule.piece)
    begin, end = (frame.inward(*on_pieces(domain, chosen, np.full(chosen.size, t))[:2]) for t in (0.0, 1.0))
    for layer, unknowns in field.layers:  # whose derivatives are rough at the boundary, and their integrals not
        own = layer.gradient_of_holes(unknowns, x, y)
        gx, gy = gx + own[0], gy + own[1]
        streams += float((layer.stream(unknowns, *end) - layer.stream(unknowns, *begin)).sum())
    diffusion, near = _diffusion(solution, *rule.points.T), AT_CORNER * domain.size / frame.length
    slopes = diffusion * _normal((gx, gy), *rule.normals.T)
    for (
        corner,
        found,
    ) in field.leading:  # nodes next to a corner are too inexact for slopes without bound
        at = np.atleast_1d(frame.outward(corner.cut.points[0].real, corner.cut.points[0].imag))
        here = float(_diffusion(solution, *at.reshape(2, 1))[0])
        slopes -= here * _normal(np.einsum("c,acp->ap", found, corner.gradients(x, y)), *rule.normals.T)
        streams += here * float((corner.stream(found, *end, near) - corner.stream(found, *begin, near)).sum())
    return rule.integrate(slopes) * (frame.value / frame.length) + streams * frame.value + _made_beyond(solution, rule)


def _made_beyond(solution: Solution, rule: BoundaryRule) -> float:
    """What the source makes flow through the boundary between pieces that only stand for it and itself."""
    problem, area = solution.problem, _beyond(solution, rule)
    operator = problem.operator
    if not area.any() or operator.order != 2 or operator.varying is not None:
        return 0.0
    made = -operator.mass * _on_nodes(solution, rule) if operator.mass else np.zeros(area.size)
    return float(area @ (made if problem.source is None else made + problem.source(*rule.points.T)))


def _on_nodes(solution: Solution, rule: BoundaryRule) -> Array:
    """Values of the fitted field at the nodes of a rule."""
    return _fitted(solution)(*solution.frame.inward(*rule.points.T)) * solution.frame.value


def _beyond(solution: Solution, rule: BoundaryRule) -> Array:
    """The area between a boundary and pieces that only stand for it, at the nodes of a rule."""
    moved = _on_boundary(solution, rule) - rule.points.T
    return np.asarray(rule.weights * (moved * rule.normals.T).sum(0))


def _on_boundary(solution: Solution, rule: BoundaryRule) -> Array:
    """The points [2, n] of the boundary itself at the nodes of a rule."""
    x, y = on_pieces(solution.problem.domain, rule.piece, rule.t)[:2]
    return np.stack([x, y])


def _diffusion(solution: Solution, x: Array, y: Array) -> Array:
    """α, which is 1 unless coefficients vary."""
    own = solution.problem.operator.varying
    return np.ones(x.size) if own is None else own.diffusion(x, y)


def integral(solution: Solution, weight: Any = None) -> Answer:
    """∫ u over the domain, or ∫ weight·u; weight: a function as problems take them.

    Without a weight, the divergence theorem turns it into integrals along the boundary: with the antiderivative of the
    lift, and with Green's identity for the solutions of the homogeneous equation.
    """
    need_bounded(solution.problem.domain, "integrals need")
    if weight is not None:
        return _weighted(solution, weight)
    if any(isinstance(basis, CollocationBasis) for basis, _ in _fitted(solution).parts):  # which solve no equation
        coarse, fine = (_over_domain(solution, half) for half in NODES)
    else:
        coarse, fine = (
            _integral(solution, rule) + float(_beyond(solution, rule) @ _on_nodes(solution, rule))
            for rule in _rules(solution, None)
        )
    return Answer(fine, float(np.hypot(_area(solution) * _typical_error(solution), fine - coarse)))


def _over_domain(solution: Solution, half: int) -> float:
    """∫ u by quadrature over the domain."""
    points, weights = domain_rule(solution.problem.domain.pieces, half)
    values = _fitted(solution)(*solution.frame.inward(*points.T)) * solution.frame.value
    return float(weights @ values)


def mean(solution: Solution) -> Answer:
    """The mean of u over the domain."""
    area, whole = _area(solution), integral(solution)
    return Answer(whole.value / area, whole.standard_error / area)


def along(solution: Solution, start: Any, end: Any, count: int = 201) -> Along:
    """Values at equidistant points of a line, both ends included."""
    (x0, y0), (x1, y1) = point("start", start), point("end", end)
    t = np.linspace(0.0, 1.0, whole("count", count, 2))
    x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
    values, error = np.full((2, len(t)), np.nan)
    inside = solution.problem.domain.distance(x, y) >= -solution.problem.domain.rounding
    if inside.any():
        values[inside] = solution.evaluator.values(x[inside], y[inside])
        error[inside] = solution.evaluator.standard_error(x[inside], y[inside])
    return Along(t * float(np.hypot(x1 - x0, y1 - y0)), x, y, values, error)


def extreme(solution: Solution, sign: int) -> Extreme:
    """The largest value for sign = 1, the least for −1: the best of the pixels and of the boundary, then refined."""
    domain = solution.problem.domain
    if isinstance(domain, Exterior) and domain.growth:
        need_bounded(domain, "extremes of what grows at infinity need")
    x, y = (c[solution.mask] for c in solution.grid.points())
    best = np.argsort(-sign * solution.values[solution.mask])[:STARTS]
    inner, outer = _climb(solution, x[best], y[best], sign), _slide(solution, sign)
    x, y, found = (np.concatenate(pair) for pair in zip(inner, outer, strict=True))
    top = int(np.argmax(sign * found))
    px, py = domain.project(x[top], y[top]) if domain.distance(x[top], y[top]) < 0 else (x[top], y[top])
    error = solution.evaluator.standard_error(np.atleast_1d(px), np.atleast_1d(py))
    return Extreme(float(found[top]), float(px), float(py), float(error[0]))


def _slide(solution: Solution, sign: int) -> tuple[Array, Array, Array]:
    """Search along the boundary, from the best nodes of a rule, in ever shorter stretches."""
    pieces, evaluate = solution.problem.domain.pieces, solution.evaluator.values
    rule = boundary_rule(pieces, np.arange(pieces.size))
    best = np.argsort(-sign * evaluate(*rule.points.T))[:STARTS]
    piece, t, reach = rule.piece[best], rule.t[best], 0.25
    around = np.linspace(-1, 1, 33)
    for _ in range(8):
        tried = np.clip(t[:, None] + reach * around, 0, 1)
        points = pieces.at(tried.ravel(), np.repeat(piece, len(around)))
        place = (sign * evaluate(*points.T)).reshape(tried.shape).argmax(1)
        t, reach = tried[np.arange(len(t)), place], reach / 10
    x, y = pieces.at(t, piece).T
    return x, y, evaluate(x, y)


def _climb(solution: Solution, x: Array, y: Array, sign: int) -> tuple[Array, Array, Array]:
    """Compass search from several places at once, within the domain."""
    domain, compass = solution.problem.domain, np.exp(2j * np.pi * np.arange(16) / 16)
    step, z = np.full(x.size, max(solution.grid.spacing)), x + 1j * y
    best = sign * solution.evaluator.values(x, y)
    while (step > 1e-9 * domain.size).any():
        around = z[:, None] + step[:, None] * compass
        inside = domain.distance(around.real, around.imag) >= -domain.rounding
        values = np.full(around.shape, -np.inf)
        if inside.any():
            values[inside] = sign * solution.evaluator.values(around.real[inside], around.imag[inside])
        place = values.argmax(1)
        top = values[np.arange(len(z)), place]
        better = top > best
        z, best = np.where(better, around[np.arange(len(z)), place], z), np.maximum(top, best)
        step = np.where(better, step, 0.4 * step)
    return z.real, z.imag, sign * best


def _fitted(solution: Solution) -> Field:
    field = solution.fitted
    if field.lift is None and not field.parts:
        if not solution.values.any() and not solution.standard_error.any():
            return field  # it is 0
        raise InputError(
            f"the method {solution.method!r} has fitted no function, only values at pixels: solve with the corrector "
            "'rounds' or 'physics' for derivatives and integrals"
        )
    return field


def _slopes(solution: Solution, x: Array, y: Array) -> tuple[Array, Array]:
    """∂u/∂x and ∂u/∂y at points, in the user's units."""
    frame = solution.frame
    gx, gy = _fitted(solution).gradient(*frame.inward(x, y))
    return gx * (frame.value / frame.length), gy * (frame.value / frame.length)


def _error(solution: Solution, x: Array, y: Array) -> Array:
    """Standard error of the fitted field: what walks added to it at the pixels is not in its derivatives."""
    error = solution.evaluator.standard_error(x, y)
    frame = solution.frame
    fitted = _fitted(solution)(*frame.inward(x, y)) * frame.value
    return np.hypot(error, solution.evaluator.values(x, y) - fitted)


def _slope_error(solution: Solution, x: Array, y: Array) -> Array:
    domain = solution.problem.domain
    radius = np.maximum(domain.distance(x, y), NARROWEST * domain.size)
    return np.sqrt(2) * _error(solution, x, y) / radius


def _typical_error(solution: Solution) -> float:
    return float(np.sqrt(np.mean(solution.standard_error[solution.mask] ** 2)))


def _rules(solution: Solution, part: str | list[str] | None) -> tuple[BoundaryRule, BoundaryRule]:
    pieces = solution.problem.domain.pieces
    chosen = np.arange(pieces.size)
    if part is not None:
        chosen = np.flatnonzero(np.isin(pieces.part, find_parts(solution.problem.domain, part)))
    return boundary_rule(pieces, chosen, 1), boundary_rule(pieces, chosen, 2)


def _area(solution: Solution) -> float:
    rule = _rules(solution, None)[1]
    return float(solution.problem.domain.pieces.areas().sum() + _beyond(solution, rule).sum())


def _integral(solution: Solution, rule: BoundaryRule) -> float:
    """∫ u by integrals along the boundary, in the user's units."""
    field, frame = _fitted(solution), solution.frame
    x, y = frame.inward(*rule.points.T)
    center = np.array(frame.inward(*rule.points.mean(0)))
    nx, ny, ds = rule.normals[:, 0], rule.normals[:, 1], rule.weights / frame.length
    total = 0.0 if field.lift is None else float(ds @ (nx * field.lift.antiderivative(x, y)))
    dx, dy = x - center[0], y - center[1]
    operator = solution.problem.operator if frame.trivial else solution.inner.problem.operator  # type: ignore[union-attr]
    for layer, unknowns in field.layers:
        slope = _normal(layer.gradient_of_holes(unknowns, x, y), nx, ny)
        values, p, dp = layer.sum(unknowns, x, y), 0.25 * (dx * dx + dy * dy), 0.5 * (dx * nx + dy * ny)
        # ∮ p ∂v/∂n is −∮ ψ ∂p/∂s with the stream function ψ, which is not as rough
        total += float(ds @ (values * dp - p * slope + layer.stream(unknowns, x, y) * 0.5 * (dy * nx - dx * ny)))
    for basis, coefficients in field.without_layers.parts:
        assert isinstance(basis, Basis)
        slope = _normal(basis.gradient(coefficients, x, y), nx, ny)
        p = np.full(x.size, 1 / operator.mass) if operator.mass else 0.25 * (dx * dx + dy * dy)
        flow = p * slope
        for corner, own in basis.leading(coefficients):  # all of whose flow adds up to 0
            at = corner.cut.points[0] - complex(*center)
            here = 1 / operator.mass if operator.mass else 0.25 * abs(at) ** 2
            flow -= here * _normal(np.einsum("c,acp->ap", own, corner.gradients(x, y)), nx, ny)
        total -= float(ds @ flow)
        if operator.mass:  # Lv = 0, so v = −Δv/mass
            continue
        values, dp = basis.sum(coefficients, x, y), 0.5 * (dx * nx + dy * ny)
        total += float(ds @ (values * dp))
        if operator.order == 4:  # and ∫ p Δv, with q of Δq = p
            inner = basis.to_laplacian(coefficients)
            curvature, change = basis.harmonic.sum(inner, x, y), _normal(basis.harmonic.gradient(inner, x, y), nx, ny)
            q, dq = p * p / 4, 0.5 * p * dp
            total += float(ds @ (curvature * dq - q * change))
    return total * frame.value * frame.length**2


def _normal(slopes: tuple[Array, Array], nx: Array, ny: Array) -> Array:
    return slopes[0] * nx + slopes[1] * ny


def _weighted(solution: Solution, weight: Any) -> Answer:
    """By two sizes of pixels: they cut the boundary roughly, by about as much as the two differ."""
    from mc2.functions import as_function
    from mc2.geometry import Grid

    function, domain, sums = as_function(weight, "weight"), solution.problem.domain, []
    for size in (512, 1024):
        grid = Grid.covering(domain, size)
        mask, cell = domain.mask(grid), grid.spacing[0] * grid.spacing[1]
        x, y = (c[mask] for c in grid.points())
        share = np.clip(0.5 + domain.distance(x, y) / grid.spacing[0], 0, 1)
        values = solution.evaluator.values(x, y) * function(x, y)
        sums.append(cell * float(share @ values))
    largest = float(np.abs(function(x, y)).max())
    return Answer(
        sums[1], float(np.hypot(_area(solution) * largest * _typical_error(solution), 2 * (sums[1] - sums[0])))
    )
