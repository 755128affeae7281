"""Conditions in boundary data that hold on a whole side, such as x == 1 on the right side of a square.

Walks end on the boundary up to rounding, in single precision: there x may be 0.99999994. So in boundary data a == b
means that the point lies within a small length of where a = b,

    |a − b| ≤ length · |∇(a − b)|,     length = 10⁻⁵ × size of the domain + 10⁻⁶ × its largest coordinate,

whatever the units of a and b. Inequalities stay as they are, so that jumps stay where they belong, unless a = b holds
along the boundary (x ≥ 1 on that side): then they are read with that equality, a ≤ b as "less or equal", a < b as "less
and not equal". Functions that cannot be read so, and change within rounding all the same, are refused.
"""

from collections.abc import Callable

import numpy as np

from mc2.errors import InputError
from mc2.geometry import Domain
from mc2.problems.calculus import gradient
from mc2.problems.expression import Expression, apply, constant, multiply, subtract
from mc2.problems.function import Array, Function

OF_SIZE, OF_COORDINATE = 1e-5, 1e-6
"""The two parts of the length within which equality holds: well above rounding, well below what can be seen."""
SINGLE = 2e-7
"""Rounding of a coordinate in single precision, with some to spare."""
_FEW = 2
"""Of some hundred points: a jump at a place of its own meets not even so many within rounding."""
_JUMPS = ("less", "less_equal", "sign", "arctan2", "divide", "tan")


def along_boundary(function: Function, name: str, domain: Domain, points: Array) -> Function:
    """Boundary data that do not change within rounding; refused where that cannot be had. points: on it [2, n]."""
    x, y = points
    largest = max(domain.size, *map(abs, domain.bounds))
    if isinstance(function, Expression):
        length = float(f"{OF_SIZE * domain.size + OF_COORDINATE * largest:.2g}")  # for people: two digits do

        def touches(a: Expression, b: Expression) -> bool:
            gap = np.abs(subtract(a, b)(x, y)) <= margin(a, b, SINGLE * largest)(x, y)
            return int(gap.sum()) >= _FEW

        function = _rebuilt(function, length, touches)
    if not isinstance(function, Expression) or any(node.operation in _JUMPS for node in function.order()):
        _refuse_jumps(function, name, points, SINGLE * largest)
    return function


def without_equalities(expression: Expression) -> Expression:
    """The same function with a == b written as (a ≤ b)·(b ≤ a), for kernels that have no such operation."""
    return _rebuilt(expression, 0.0, lambda a, b: False)


def margin(a: Expression, b: Expression, length: float) -> Expression:
    """The difference of a and b at a length from where they are equal: length·|∇(a − b)|."""
    along_x, along_y = gradient(subtract(a, b), kinks=True)
    return multiply(constant(length), apply("sqrt", along_x * along_x + along_y * along_y))


def _rebuilt(expression: Expression, length: float, touches: Callable[[Expression, Expression], bool]) -> Expression:
    """Equalities within a length; inequalities and signs too, where `touches` says that they hold along the boundary."""
    if not any(node.operation in ("equal", "less", "less_equal", "sign") for node in expression.order()):
        return expression
    new: dict[Expression, Expression] = {}
    for node in expression.order():
        arguments = tuple(new[argument] for argument in node.arguments)
        made = Expression(node.operation, arguments, node.number)
        if node.operation == "equal":
            made = _equal(*arguments, length)
        elif node.operation in ("less", "less_equal") and touches(*arguments):
            equal = _equal(*arguments, length)
            made = equal + made - equal * made if node.operation == "less_equal" else made - equal * made
        elif node.operation == "sign" and touches(arguments[0], constant(0.0)):
            made = made - made * _equal(arguments[0], constant(0.0), length)
        new[node] = made
    return new[expression]


def _equal(a: Expression, b: Expression, length: float) -> Expression:
    if length == 0:
        return multiply(apply("less_equal", a, b), apply("less_equal", b, a))
    return apply("less_equal", apply("absolute", subtract(a, b)), margin(a, b, length))


def _refuse_jumps(function: Function, name: str, points: Array, rounding: float) -> None:
    """Refuse a function that changes within rounding at several points of the boundary.

    A smooth function changes a hundred times less over the rounding than over a hundred times that; one that jumps at
    these points changes as much.
    """
    corners = rounding * np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])[:, :, None]
    with np.errstate(all="ignore"):
        here = function(*points)
        moved = np.array([function(*(points + step)) for step in corners])
        change = np.nan_to_num(np.abs(moved - here), nan=0.0, posinf=0.0)
        wider = [function(*(points + times * step)) for step in corners for times in (15.0, 50.0, 100.0)]
        far = np.nan_to_num(np.abs(np.array(wider) - here), nan=0.0, posinf=0.0).max(axis=0)
        largest = np.abs(here[np.isfinite(here)]).max(initial=0.0)
    near = change.max(axis=0)
    bad = np.flatnonzero((near > 0.5 * far) & (near > 1e-6 * largest))
    if bad.size >= _FEW:
        first = bad[0]
        x, y = points[:, first]
        beside = moved[change[:, first].argmax(), first]
        raise InputError(
            f"{name} changes within rounding along the boundary: it is {here[first]:.6g} at ({x:.6g}, {y:.6g}) and "
            f"{beside:.6g} beside it; compare with a tolerance, as abs(x - 1) < 1e-5, or use np.where(x == 1, …)"
        )
