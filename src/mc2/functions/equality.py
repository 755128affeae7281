"""Conditions in boundary data that hold on a whole side, such as x == 1 on the right side of a square.

Walks end on the boundary up to rounding: there x may be 0.99999994. So in boundary data a == b means that the point
lies within a small length of where a = b,

    |a − b| ≤ length · |∇(a − b)|,

whatever the units of a and b. The length is 10⁻¹¹ of the largest coordinate for points in double precision, as fits and
`solve` have them, and for the kernels of `estimate`, in single precision, 10⁻⁵ × size + 10⁻⁶ × largest coordinate of
the domain. Inequalities stay as they are, so that jumps stay where they belong, unless a = b holds along the boundary,
up to rounding: then they are within that length what they are on the boundary, as x ≥ 1 is true on that side, and x < 1
is not. What cannot be read so, such as a compiled `if x == 1`, is only called at points that were first projected on
the boundary in double precision; it is refused where it changes within rounding even then.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError
from mc2.functions.calculus import gradient
from mc2.functions.expression import Expression, apply, constant, multiply, subtract
from mc2.functions.function import Array, Function, Program
from mc2.geometry import Domain
from mc2.geometry.nearest import foot
from mc2.geometry.slit import has_slits

OF_SIZE, OF_COORDINATE = 1e-5, 1e-6
"""The two parts of the length within which equality holds in single precision."""
SINGLE = 2e-7
"""Rounding of a coordinate in single precision, with some to spare."""
DOUBLE = 1e-11
"""Length within which equality holds in double precision, of the largest coordinate."""
_FEW = 2
"""A jump at a place of its own meets not even so many of some hundred points within rounding."""
_JUMPS = ("less", "less_equal", "sign", "arctan2", "divide", "tan")


class BoundaryFunction(Function):
    """Boundary data that know that points are on the boundary only up to rounding.

    given: as the user wrote it.
    double: for points in double precision.
    single: for the kernels, in single precision; None where there is no such function, and points are projected first.
    """

    def __init__(self, given: Function, double: Function, single: Function | None, domain: Domain) -> None:
        self.given, self.double, self.single, self.domain = given, double, single, domain

    @property
    def text(self) -> str:
        return self.given.text

    @property
    def program(self) -> Program | None:
        return None if self.single is None else self.single.program

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(x, y)
        if np.float32 in (x.dtype, y.dtype):
            flat = projected(self.domain, x.astype(float).ravel(), y.astype(float).ravel())
            return self.double(*flat).reshape(x.shape)
        return self.double(x, y)


def along_boundary(function: Function, name: str, domain: Domain, points: Array) -> Function:
    """Boundary data that do not change within rounding; refused where that cannot be had.

    points: on it [2, n].
    """
    largest = max(domain.size, *map(abs, domain.bounds))
    double = single = function
    if isinstance(function, Expression):
        if not any(node.operation in (*_JUMPS, "equal") for node in function.order()):
            return function
        double = within(function, DOUBLE * largest, points, domain.rounding)
        length = OF_SIZE * domain.size + OF_COORDINATE * largest
        single = within(function, length, points, SINGLE * largest)
    jumps = _jumps(single, points, SINGLE * largest)
    if jumps:
        _check_projected(double, name, domain, points, SINGLE * largest)
    if not jumps and double is single is function:
        return function
    return BoundaryFunction(function, double, None if jumps else single, domain)


def projected(domain: Domain, x: Array, y: Array) -> tuple[Array, Array]:
    """Points near the boundary, put on it in double precision."""
    on = foot(domain, x + 1j * y)
    off = np.flatnonzero(np.abs(domain.distance(on.real, on.imag)) > domain.rounding)
    if off.size:  # at corners, and where the distance is only a bound
        on.real[off], on.imag[off] = domain.project(on.real[off], on.imag[off])
    return on.real, on.imag


def within(function: Expression, length: float, points: Array, rounding: float) -> Expression:
    """Equalities within a length, and so inequalities whose sides are equal, up to rounding, at several points."""

    def truth(condition: Expression) -> bool | None:
        gap = _gap(condition)
        near = np.abs(gap(*points)) <= margin(gap, rounding)(*points)
        if near.sum() < _FEW:
            return None
        true = float(condition(*points[:, near]).mean())
        # on a slanted side either comes out, by rounding, and what is meant is what it says
        return condition.operation == "less_equal" if 0.25 < true < 0.75 else true > 0.5

    return _rebuilt(function, length, truth)


def without_equalities(expression: Expression) -> Expression:
    """A function with a == b written as |a − b| ≤ 0, for kernels that have no such operation."""
    return _rebuilt(expression, 0.0, lambda condition: None)


def margin(gap: Expression, length: float) -> Expression:
    """The size of a function at a length from where it is 0: length·|∇gap|."""
    along_x, along_y = gradient(gap, kinks=True)
    return multiply(constant(length), apply("sqrt", along_x * along_x + along_y * along_y))


def _rebuilt(expression: Expression, length: float, truth: Callable[[Expression], bool | None]) -> Expression:
    """Equalities within a length, and inequalities that have a truth along the boundary, where a = b."""
    if not any(node.operation in ("equal", "less", "less_equal", "sign") for node in expression.order()):
        return expression
    new: dict[Expression, Expression] = {}
    for node in expression.order():
        arguments = tuple(new[argument] for argument in node.arguments)
        made = Expression(node.operation, arguments, node.number)
        if node.operation == "equal":
            made = _zero(_gap(made), length)
        elif node.operation in ("less", "less_equal"):
            made = _settled(made, length, truth(made))
        elif node.operation == "sign" and length:
            below, above = apply("less", *arguments, constant(0.0)), apply("less", constant(0.0), *arguments)
            settled = [_settled(condition, length, truth(condition)) for condition in (above, below)]
            made = made if settled == [above, below] else subtract(*settled)
        new[node] = made
    return new[expression]


def _settled(condition: Expression, length: float, truth: bool | None) -> Expression:
    """A condition that is one thing within a length of where its two sides are equal."""
    if truth is None:
        return condition
    equal = _zero(_gap(condition), length)
    return apply("maximum", condition, equal) if truth else multiply(condition, 1.0 - equal)


def _gap(condition: Expression) -> Expression:
    """a − b of a comparison of a with b."""
    a, b = condition.arguments
    return subtract(a, b)


def _zero(gap: Expression, length: float) -> Expression:
    """Whether a point lies within a length of where a function is 0."""
    return apply("less_equal", apply("absolute", gap), margin(gap, length) if length else constant(0.0))


def _around(rounding: float) -> Array:
    """Four steps as long as the rounding [4, 2, 1]."""
    return rounding * np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])[:, :, None]


def _jumps(function: Function, points: Array, rounding: float) -> bool:
    """Whether a function changes within rounding at several points.

    A smooth function changes a hundred times less over the rounding than over a hundred times that; one that jumps at
    these points changes as much.
    """
    with np.errstate(all="ignore"):
        here = function(*points)
        near = _change(function, here, points, [1.0], rounding)
        far = _change(function, here, points, [15.0, 50.0, 100.0], rounding)
        largest = np.abs(here[np.isfinite(here)]).max(initial=0.0)
    return int(((near > 0.5 * far) & (near > 1e-6 * largest)).sum()) >= _FEW


def _change(function: Function, here: Array, points: Array, times: list[float], rounding: float) -> Array:
    """The largest change of a function over steps of some times the rounding."""
    moved = [function(*(points + factor * step)) for step in _around(rounding) for factor in times]
    return np.asarray(np.nan_to_num(np.abs(np.array(moved) - here), nan=0.0, posinf=0.0).max(axis=0))


def _check_projected(function: Function, name: str, domain: Domain, points: Array, rounding: float) -> None:
    """Refuse a function that is something else where walks meet the boundary: off by rounding, then projected."""
    with np.errstate(all="ignore"):
        here = function(*points)
        for step in _around(rounding):
            x, y = projected(domain, *(points + step))
            there = function(x, y)
            wrong = np.flatnonzero(np.abs(there - here) > 1e-3 * np.abs(here).max())
            if wrong.size >= _FEW:
                k = wrong[0]
                if has_slits(domain):
                    raise InputError(
                        f"{name} has two values on a slit, {here[k]:.6g} and {there[k]:.6g} near ({x[k]:.6g}, "
                        f"{y[k]:.6g}): give each of its sides data of its own, as "
                        'boundary={"left": …, "right": …, "*": …}'
                    )
                raise InputError(
                    f"{name} changes within rounding along the boundary: it is {here[k]:.6g} and {there[k]:.6g} near "
                    f"({x[k]:.6g}, {y[k]:.6g}); compare with a tolerance, as abs(x - 1) < 1e-5, or write "
                    "np.where(x == 1, …)"
                )
