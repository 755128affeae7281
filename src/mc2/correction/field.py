"""`Field`: a function that satisfies Lu = f in a domain, as a lift and a sum of basis functions."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import as_points
from mc2.correction.basis import Basis
from mc2.correction.lift import Lift, make_lift
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks.exits import Exits
from mc2.walks.tasks import pool

Array = NDArray[np.float64]
HALVES = 2
"""Threads that evaluate a field on a grid."""


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
        out = self.lift.laplacian()(x, y) if self.lift else np.zeros(x.size)
        for basis, coefficients in self.parts:
            out += basis.harmonic.sum(basis.to_laplacian(coefficients), x, y)
        return out.reshape(shape)

    def on_grid(self, grid: Grid, mask: NDArray[np.bool_]) -> Array:
        """Values at the pixels of a mask, 0 elsewhere."""
        field = np.zeros(grid.shape)
        x, y = (c[mask] for c in grid.points())
        rest = replace(self, lift=None)
        field[mask] = np.concatenate(list(pool(HALVES).map(rest, np.array_split(x, HALVES), np.array_split(y, HALVES))))
        if self.lift:
            field[mask] += self.lift.on_grid(grid)[mask]
        return field

    def plus(self, basis: Basis, coefficients: Array) -> "Field":
        """With another part added."""
        own = dict(self.parts)
        own[basis] = own[basis] + coefficients if basis in own else coefficients
        return replace(self, parts=tuple(own.items()))


def lifted(problem: Problem, grid: Grid | None = None) -> Field:
    """The field to start from: the lift of the problem's source."""
    if problem.source is None:
        return Field()
    return Field(make_lift(problem.source, problem.domain.bounds, problem.operator(), grid))


def worth(problem: Problem, field: Field, exits: Exits) -> Array:
    """What walks with these ends are worth [point, walk], with the field's values as boundary data."""
    values = exits.weight * field(exits.x, exits.y)
    return values if problem.laplacian is None else values - exits.share * field.laplacian(exits.x, exits.y)


def residual(problem: Problem, field: Field, exits: Exits) -> Array:
    """What walks of the problem that a field leaves over are worth: with data minus field."""
    data = exits.weight * problem.boundary(exits.x, exits.y)
    if problem.laplacian is not None:
        data -= exits.share * problem.laplacian(exits.x, exits.y)
    return data - worth(problem, field, exits)
