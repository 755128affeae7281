"""What a method is told of a problem whose exact solution is known: all but that.

The boundary data of PDEZoo's instances are the exact solution itself, which is known everywhere. Here they are known
on the boundary alone: whoever asks for them elsewhere gets an error. The truth has its own door, `Instance.truth`.
"""

import copy
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError
from mc2.functions import Function, TermSum
from mc2.functions.function import Array
from mc2.geometry import Domain
from mc2.problems import Condition, Problem
from mc2.problems.boundary_data import as_dirichlet
from mc2.problems.condition import FromExact

NEAR = 1e-3
"""Part of the domain's size within which a point is on the boundary: walks end within 1e-4 of it."""


def _check_near(domain: Domain, x: ArrayLike, y: ArrayLike) -> None:
    """Refuse points that are not on the boundary."""
    px, py = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    away = np.abs(domain.distance(px, py))
    far = np.flatnonzero(away > NEAR * domain.size)
    if far.size:
        at = f"({px.flat[far[0]]:.4g}, {py.flat[far[0]]:.4g})"
        raise InputError(
            f"boundary data are known on the boundary, and {at} is {np.ravel(away)[far[0]]:.2g} away from it"
        )


class BoundaryData(TermSum):
    """A sum of terms that can be asked for its values on the boundary only; the kernels' programs stay."""

    def __init__(self, data: TermSum, domain: Domain) -> None:
        super().__init__(data.terms, "boundary data", data.operator)
        self._domain = domain

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        _check_near(self._domain, x, y)
        return super().__call__(x, y)

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> TermSum:
        raise InputError("boundary data have no derivatives: they are known on the boundary alone")


def told(problem: Problem) -> Problem:
    """A problem without its exact solution, and without what would give it away."""
    hidden = copy.copy(problem)
    hidden.exact = None
    conditions = hidden.__dict__.pop("conditions", None)  # made of the data anew
    if problem.reflecting:
        hidden.conditions = tuple(_told(condition, problem.domain) for condition in conditions)
        hidden.boundary = as_dirichlet(hidden.conditions, problem.domain)
    else:
        hidden.boundary = _on_boundary(problem.boundary, problem.domain)
    if problem.laplacian is not None:
        hidden.laplacian = _on_boundary(problem.laplacian, problem.domain)
    return hidden


class OnBoundary(Function):
    """A function that can be asked for its values on the boundary only."""

    def __init__(self, function: Function, domain: Domain) -> None:
        self._function, self._domain = function, domain

    @property
    def text(self) -> str:
        return "boundary data"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        _check_near(self._domain, x, y)
        return self._function(x, y)


def _told(condition: Condition, domain: Domain) -> Condition:
    """A condition whose data, if they are those of an exact solution, are known on the boundary alone."""
    value = condition.value
    if isinstance(value, FromExact):
        gx, gy = (OnBoundary(part, domain) for part in value.derivatives)
        known: Function = FromExact(OnBoundary(value.exact, domain), (gx, gy))
    else:
        known = _on_boundary(value, domain)
    return replace(condition, value=known)  # type: ignore[type-var]


def _on_boundary(data: Function, domain: Domain) -> Function:
    return BoundaryData(data, domain) if isinstance(data, TermSum) else data
