"""`Field`: a function that satisfies Lu = f in a domain, as a lift and a sum of basis functions.

It does so as well as the lift knows the source: what is left of it, ρ = f − Lu, and what that makes of u, is known too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import as_points
from mc2.fits.basis import Basis, growing
from mc2.fits.collocation_basis import CollocationBasis
from mc2.fits.corner_functions import CornerFunctions
from mc2.fits.layer import Layer
from mc2.fits.lift import TAIL, Lift
from mc2.fits.resolution import Resolution
from mc2.fits.rough_lift import find_lift
from mc2.geometry import Exterior, Grid
from mc2.geometry.grid import SHARED
from mc2.problems import Problem
from mc2.problems.condition import Condition
from mc2.walks.exits import Exits, Samples, WallSamples
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]
AnyBasis = Basis | Layer | CollocationBasis


@dataclass(frozen=True)
class Field:
    """A field.

    lift: of the source, if there is one.
    parts: bases, or double layers, with coefficients; a basis for collocation alone solves no equation.
    resolution: how well the lift knows the source.
    """

    lift: Lift | None = None
    parts: tuple[tuple[AnyBasis, Array], ...] = ()
    resolution: Resolution | None = None

    def __call__(self, x: Any, y: Any) -> Array:
        """Values at points of the domain, its boundary included."""
        x, y, shape = as_points(x, y)
        out = self.lift(x, y) if self.lift else np.zeros(x.size)
        for basis, coefficients in self.parts:
            out += basis.sum(coefficients, x, y)
        return out.reshape(shape)

    def laplacian(self, x: Any, y: Any) -> Array:
        """Δ of the field at points, for the biharmonic equation and for fits by collocation."""
        x, y, shape = as_points(x, y)
        out = self.lift.laplacian(x, y) if self.lift else np.zeros(x.size)
        for basis, coefficients in self.parts:
            if isinstance(basis, CollocationBasis):
                out += basis.laplacian(coefficients, x, y)
                continue
            assert isinstance(basis, Basis)  # double layers are harmonic
            out += basis.harmonic.sum(basis.to_laplacian(coefficients), x, y)
        return out.reshape(shape)

    def gradient(self, x: Any, y: Any) -> tuple[Array, Array]:
        """∂/∂x and ∂/∂y of the field at points of the domain, its boundary included."""
        x, y, shape = as_points(x, y)
        out = np.stack(self.lift.gradient(x, y)) if self.lift else np.zeros((2, x.size))
        for basis, coefficients in self.parts:
            out += basis.gradient(coefficients, x, y)
        return out[0].reshape(shape), out[1].reshape(shape)

    def applied(self, problem: Problem, x: Array, y: Array) -> Array:
        """Lu of the field at points, where it is not f: by the lift, or by derivatives of what was collocated."""
        out = self.lift.applied(x, y) if self.lift else np.zeros(x.size)
        for basis, own in self.parts:
            if isinstance(basis, CollocationBasis):
                a, bx, by, c = problem.operator.expanded(x, y)
                gx, gy = basis.gradient(own, x, y)
                out += a * basis.laplacian(own, x, y) + bx * gx + by * gy + c * basis.sum(own, x, y)
        return out

    @property
    def layers(self) -> list[tuple[Layer, Array]]:
        """The parts that are double layers."""
        return [(part, unknowns) for part, unknowns in self.parts if isinstance(part, Layer)]

    @property
    def without_layers(self) -> "Field":
        """All but those."""
        return replace(self, parts=tuple(own for own in self.parts if not isinstance(own[0], Layer)))

    @property
    def leading(self) -> list[tuple[CornerFunctions, Array]]:
        """Harmonic functions of corners whose slopes grow towards these as those of the field do, with coefficients."""
        return [own for part, found in self.parts if not isinstance(part, Layer) for own in part.leading(found)]

    @property
    def exact(self) -> bool:
        """Whether Lu = f, as far as can be measured."""
        if any(isinstance(basis, CollocationBasis) for basis, _ in self.parts):
            return False
        return self.resolution is None or self.resolution.negligible

    def error(self, x: Array, y: Array) -> Array:
        """Standard error at points for what the lift does not know of the source."""
        return np.zeros(x.size) if self.resolution is None else self.resolution.error(x, y)

    @property
    def unsampled(self) -> float:
        """Root mean square of the error that walks do not see, since the source was spread before they met it."""
        found = self.resolution
        return 0.0 if found is None or found.mollifier is None else found.mollifier.local * found.left

    def on_grid(self, grid: Grid, mask: NDArray[np.bool_]) -> Array:
        """Values at the pixels of a mask, 0 elsewhere."""
        field = np.zeros(grid.shape)
        if max(grid.shape) > SHARED:  # too many pixels to do at once
            return self._by_blocks(grid, mask, field)
        x, y = (c[mask] for c in grid.points())
        field[mask] = np.concatenate(in_halves(replace(self, lift=None), x, y))
        if self.lift:
            field[mask] += self.lift.on_grid(grid)[mask]
        return field

    def _by_blocks(self, grid: Grid, mask: NDArray[np.bool_], field: Array) -> Array:
        x, y = grid.points()
        for rows in grid.blocks():
            inside = mask[rows]
            field[rows][inside] = np.concatenate(in_halves(self, x[rows][inside], y[rows][inside]))
        return field

    def plus(self, basis: AnyBasis, coefficients: Array) -> "Field":
        """With another part added."""
        own = dict(self.parts)
        own[basis] = own[basis] + coefficients if basis in own else coefficients
        return replace(self, parts=tuple(own.items()))


def lifted(problem: Problem, grid: Grid | None = None, tail: float = TAIL, accuracy: float | None = None) -> Field:
    """The field to start from: the lift of the problem's source; in an exterior domain what grows at infinity.

    tail, accuracy: see `find_lift`.
    """
    if problem.source is None:
        domain = problem.domain
        return Field().plus(*growing(domain)) if isinstance(domain, Exterior) and domain.growth else Field()
    lift, resolution = find_lift(
        problem.source, problem.domain, problem.operator, grid, tail, accuracy, lambda: _largest(problem)
    )
    return Field(lift, (), resolution)


def _largest(problem: Problem) -> float:
    """The largest boundary value, about."""
    values = np.abs(problem.boundary(*problem.domain.sample_boundary(256).T))
    return float(values.max(initial=0.0, where=np.isfinite(values)))


def scores(problem: Problem, field: Field, exits: Exits) -> Array:
    """Score of each walk [point, walk], with the field's values as boundary data: their mean is its value there."""
    values = exits.weight * field(exits.x, exits.y)
    if exits.walls is not None:
        values += on_walls(problem, exits.walls, lambda condition, *at: flow(condition, field, *at))
    return values if problem.laplacian is None else values - exits.share * field.laplacian(exits.x, exits.y)


def residual(problem: Problem, field: Field, exits: Exits) -> Array:
    """Score of each walk [point, walk] for what a field leaves over: with data minus field as boundary data."""
    if exits.walls is not None and exits.part is not None:
        known = np.zeros(exits.x.shape)
        for number in np.unique(exits.part[exits.part >= 0]):
            on = exits.part == number
            known[on] = problem.conditions[number].value(exits.x[on], exits.y[on])
        data = np.where(exits.part < 0, 0.0, exits.weight * (known - at_points(field, exits.x, exits.y)))
        return data + on_walls(problem, exits.walls, lambda own, *at: own.data(*at) - flow(own, field, *at))
    data = exits.weight * at_points(lambda x, y: problem.boundary(x, y) - field(x, y), exits.x, exits.y)
    if problem.laplacian is not None:
        data -= exits.share * left_laplacian(problem, field, exits)
    return data


def flow(condition: Condition, field: Field, x: Array, y: Array, nx: Array, ny: Array) -> Array:
    """a·u + b·∂u/∂n of a field: what a condition says of it."""
    a, b = condition.weights(x, y)
    gx, gy = field.gradient(x, y)
    values = b * (gx * nx + gy * ny)
    return values + a * field(x, y) if a.any() else values


def on_walls(problem: Problem, walls: WallSamples, data: Callable[..., Array]) -> Array:
    """Scores [point, walk] of data that walks meet on Neumann and Robin parts.

    data: of a condition, at points with normals.
    """
    found = np.zeros(walls.x.shape)
    for number in np.unique(walls.part):
        on = (walls.part == number) & (walls.weight != 0)
        at = (walls.x[on], walls.y[on], walls.nx[on], walls.ny[on])
        condition = problem.conditions[number]
        if at[0].size:
            halves = in_halves(lambda *part, own=condition: data(own, *part), *at)
            found[on] = walls.weight[on] * np.concatenate(halves)
    return np.asarray(found.sum(-1))


def left_laplacian(problem: Problem, field: Field, exits: Exits) -> Array:
    """What a field leaves over of Δu where walks end."""
    assert problem.laplacian is not None
    known = problem.laplacian
    return at_points(lambda x, y: known(x, y) - field.laplacian(x, y), exits.x, exits.y)


def source_residual(problem: Problem, field: Field, samples: Samples) -> Array:
    """Scores of walks for what a field leaves over of the source [point, walk]: their mean is its error of u.

    Where it is rough, it is spread first, which changes that error by no more than `Field.unsampled`.
    """
    assert problem.source is not None
    source = problem.source
    mollifier = None if field.resolution is None else field.resolution.mollifier

    def left(x: Array, y: Array) -> Array:
        return source(x, y) - field.applied(problem, x, y)

    def spread(x: Array, y: Array) -> Array:
        return left(x, y) if mollifier is None else mollifier.spread(left, x, y)

    return samples.weight * at_points(spread, samples.x, samples.y)


def at_points(function: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    """Values of a function at points [point, walk]."""
    return np.concatenate(in_halves(function, x.ravel(), y.ravel())).reshape(x.shape)


def mean_and_variance(scores: Array) -> tuple[Array, Array]:
    """The mean of the scores [point, walk] of every point, and the variance of that mean."""
    by_walk = np.ascontiguousarray(scores.T)  # NumPy is slow along short axes
    count = len(by_walk)
    mean = by_walk.sum(0) / count
    by_walk = by_walk - mean
    return mean, np.einsum("wp,wp->p", by_walk, by_walk) / (count * (count - 1))
