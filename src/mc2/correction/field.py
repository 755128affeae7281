"""`Field`: a function that satisfies Lu = f in a domain, as a lift and a sum of basis functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import as_points
from mc2.correction.basis import Basis
from mc2.correction.lift import TAIL, Lift, make_lift
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks.exits import Exits
from mc2.walks.tasks import in_halves

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Field:
    """lift: of the source, if there is one. parts: bases with coefficients."""

    lift: Lift | None = None
    parts: tuple[tuple[Basis, Array], ...] = ()

    def __call__(self, x: Any, y: Any) -> Array:
        """Values at points of the domain, its boundary included."""
        x, y, shape = as_points(x, y)
        out = self.lift(x, y) if self.lift else np.zeros(x.size)
        for basis, coefficients in self.parts:
            out += basis.sum(coefficients, x, y)
        return out.reshape(shape)

    def laplacian(self, x: Any, y: Any) -> Array:
        """Δ of the field at points, for the biharmonic equation."""
        x, y, shape = as_points(x, y)
        out = self.lift.laplacian(x, y) if self.lift else np.zeros(x.size)
        for basis, coefficients in self.parts:
            out += basis.harmonic.sum(basis.to_laplacian(coefficients), x, y)
        return out.reshape(shape)

    def on_grid(self, grid: Grid, mask: NDArray[np.bool_]) -> Array:
        """Values at the pixels of a mask, 0 elsewhere."""
        field = np.zeros(grid.shape)
        x, y = (c[mask] for c in grid.points())
        field[mask] = np.concatenate(in_halves(replace(self, lift=None), x, y))
        if self.lift:
            field[mask] += self.lift.on_grid(grid)[mask]
        return field

    def plus(self, basis: Basis, coefficients: Array) -> "Field":
        """With another part added."""
        own = dict(self.parts)
        own[basis] = own[basis] + coefficients if basis in own else coefficients
        return replace(self, parts=tuple(own.items()))


def lifted(problem: Problem, grid: Grid | None = None, tail: float = TAIL) -> Field:
    """The field to start from: the lift of the problem's source. tail: see `make_lift`."""
    if problem.source is None:
        return Field()
    return Field(make_lift(problem.source, problem.domain.bounds, problem.operator(), grid, tail))


def worth(problem: Problem, field: Field, exits: Exits) -> Array:
    """What walks with these ends are worth [point, walk], with the field's values as boundary data."""
    values = exits.weight * field(exits.x, exits.y)
    return values if problem.laplacian is None else values - exits.share * field.laplacian(exits.x, exits.y)


def residual(problem: Problem, field: Field, exits: Exits) -> Array:
    """What walks of the problem that a field leaves over are worth: with data minus field."""
    data = exits.weight * at_exits(lambda x, y: problem.boundary(x, y) - field(x, y), exits)
    if problem.laplacian is not None:
        data -= exits.share * left_laplacian(problem, field, exits)
    return data


def left_laplacian(problem: Problem, field: Field, exits: Exits) -> Array:
    """What a field leaves over of Δu where walks end."""
    assert problem.laplacian is not None
    known = problem.laplacian
    return at_exits(lambda x, y: known(x, y) - field.laplacian(x, y), exits)


def at_exits(function: Callable[[Array, Array], Array], exits: Exits) -> Array:
    """Values of a function where walks end [point, walk]."""
    return np.concatenate(in_halves(function, exits.x.ravel(), exits.y.ravel())).reshape(exits.x.shape)


def mean_and_variance(worth: Array) -> tuple[Array, Array]:
    """Of the walks from every point: their mean, and its variance."""
    by_walk = np.ascontiguousarray(worth.T)  # NumPy is slow along short axes
    return by_walk.mean(0), by_walk.var(0, ddof=1) / len(by_walk)
