"""Interval arithmetic: what values an expression can take on boxes of the plane.

Every operation maps intervals that hold its arguments to one that holds its result (Moore, Kearfott and Cloud, 2009),
for arrays of boxes at once. The enclosure holds the true range, is wider where an expression uses x or y more than
once, and shrinks to a point with the box where the expression is continuous: what samples of a function miss cannot
hide from it. Results are widened by a few units of rounding after every operation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.functions.expression import NUMPY, Expression
from mc2.functions.function import Array, Function

SLACK = 1e-15
"""Relative widening after every operation: a few units of rounding."""
EXACT = {"negative", "absolute", "sign", "minimum", "maximum", "less", "less_equal", "equal", "where"}
"""Operations without rounding."""
LANDAU = 0.785747
"""|Jₙ(s)| ≤ LANDAU s^(−1/3) for all n ≥ 0 and s > 0 (Landau, 2000)."""
TURN = 2 * np.pi


@dataclass(frozen=True)
class Interval:
    """The values of a part of an expression, per box.

    undefined: whether there may be points without a value.
    """

    low: Array
    high: Array
    undefined: NDArray[np.bool_] | bool = False


def enclose(
    function: Function, xlow: ArrayLike, xhigh: ArrayLike, ylow: ArrayLike, yhigh: ArrayLike
) -> tuple[Array, Array] | None:
    """The least and the largest value that a function may have on boxes; None if it is not an `Expression`.

    function: of x and y.
    xlow, xhigh, ylow, yhigh: sides of the boxes, broadcast together.

    Infinite where the function is unbounded or has no value at all; points without a value are left out otherwise.
    """
    if not isinstance(function, Expression):
        return None
    sides = np.broadcast_arrays(*(np.asarray(side, float) for side in (xlow, xhigh, ylow, yhigh)))
    x, y = Interval(sides[0], sides[1]), Interval(sides[2], sides[3])
    order = function.order()
    last = {argument: number for number, node in enumerate(order) for argument in node.arguments}
    found: dict[Expression, Interval] = {}
    with np.errstate(all="ignore"):
        for number, node in enumerate(order):
            if node.operation in ("x", "y"):
                found[node] = x if node.operation == "x" else y
            elif node.operation == "constant":
                found[node] = Interval(np.float64(node.number), np.float64(node.number))  # type: ignore[arg-type]
            else:
                result = _apply(node, [found[argument] for argument in node.arguments])
                found[node] = result if node.operation in EXACT else _widened(result)
            for argument in set(node.arguments):  # free what no later operation needs
                if last[argument] == number:
                    del found[argument]
    low, high = (np.broadcast_to(end, sides[0].shape) for end in (found[function].low, found[function].high))
    return np.array(low, float), np.array(high, float)


def _apply(node: Expression, arguments: list[Interval]) -> Interval:
    operation, first = node.operation, arguments[0]
    if operation in ("integer_power", "clifford"):
        rule = _integer_power if operation == "integer_power" else _clifford
        return rule(first, int(node.number))
    if operation == "multiply" and node.arguments[0] is node.arguments[1]:
        return _integer_power(first, 2)
    return RULES[operation](*arguments)


def _widened(result: Interval) -> Interval:
    low, high = result.low - SLACK * np.abs(result.low), result.high + SLACK * np.abs(result.high)
    # ∞ − ∞ and the like: nothing is known there
    return Interval(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high), result.undefined)


def _either(*flags: NDArray[np.bool_] | bool) -> NDArray[np.bool_] | bool:
    result: NDArray[np.bool_] | bool = False
    for flag in flags:
        if flag is not False:
            result = flag if result is False else result | flag
    return result


def _hull(choices: list[Array], undefined: NDArray[np.bool_] | bool) -> Interval:
    low, high = choices[0], choices[0]
    for choice in choices[1:]:
        low, high = np.minimum(low, choice), np.maximum(high, choice)
    return Interval(low, high, undefined)


def _add(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high, _either(a.undefined, b.undefined))


def _subtract(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low, _either(a.undefined, b.undefined))


def _negative(a: Interval) -> Interval:
    return Interval(-a.high, -a.low, a.undefined)


def _multiply(a: Interval, b: Interval) -> Interval:
    undefined, products = _either(a.undefined, b.undefined), []
    for p in (a.low, a.high):
        for q in (b.low, b.high):
            product = p * q
            unclear = np.isnan(product)  # 0·∞: ∞ stands for large numbers here, but may be met at a point
            if unclear.any():
                product, undefined = np.where(unclear, 0.0, product), _either(undefined, unclear)
            products.append(product)
    return _hull(products, undefined)


def _reciprocal(a: Interval) -> Interval:
    crossed = (a.low <= 0) & (a.high >= 0)
    low, high = 1 / a.high, 1 / a.low
    if crossed.any():
        low = np.where(crossed, np.where((a.low == 0) & (a.high > 0), low, -np.inf), low)
        high = np.where(crossed, np.where((a.high == 0) & (a.low < 0), high, np.inf), high)
        return Interval(low, high, _either(a.undefined, crossed))
    return Interval(low, high, a.undefined)


def _divide(a: Interval, b: Interval) -> Interval:
    return _multiply(a, _widened(_reciprocal(b)))


def _absolute(a: Interval) -> Interval:
    least = np.maximum(np.maximum(a.low, -a.high), 0.0)
    return Interval(least, np.maximum(-a.low, a.high), a.undefined)


def _integer_power(a: Interval, n: int) -> Interval:
    if n < 0:
        return _reciprocal(_widened(_integer_power(a, -n)))
    if n == 0:
        return Interval(np.ones_like(a.low), np.ones_like(a.low))
    if n % 2 == 0:
        a = _absolute(a)
    return Interval(a.low**n, a.high**n, a.undefined)


def _power(a: Interval, b: Interval) -> Interval:
    """aᵇ is monotone in a and in b for a ≥ 0. Below, it only has a value for integers b, where |aᵇ| = |a|ᵇ."""
    if np.ndim(b.low) == 0 and b.low == b.high and abs(b.low) < 1e9:
        if b.low == np.round(b.low):
            return _integer_power(a, int(b.low))
        a = _within(a, 0.0, np.inf)
    undefined = _either(a.undefined, b.undefined)
    below = a.low < 0
    base = _absolute(a) if below.any() else a
    base = Interval(np.where(below & (a.high >= 0), 0.0, base.low), base.high)
    result = _hull([p**q for p in (base.low, base.high) for q in (b.low, b.high)], undefined)
    if below.any():
        largest = np.maximum(np.abs(result.low), np.abs(result.high))
        low, high = np.where(below, -largest, result.low), np.where(below, largest, result.high)
        result = Interval(low, high, _either(undefined, below))
    return result


def _rising(operation: str) -> Callable[[Interval], Interval]:
    function = NUMPY[operation]
    return lambda a: Interval(function(a.low), function(a.high), a.undefined)


def _even(operation: str) -> Callable[[Interval], Interval]:
    """Rules for even functions that rise with |a|."""
    function = NUMPY[operation]

    def rule(a: Interval) -> Interval:
        size = _absolute(a)
        return Interval(function(size.low), function(size.high), a.undefined)

    return rule


def _within(a: Interval, least: float, largest: float) -> Interval:
    """The part of an interval on which a function is defined, with nan where there is none."""
    outside = (a.low < least) | (a.high > largest)
    if not outside.any():
        return a
    empty = (a.high < least) | (a.low > largest)
    low, high = np.clip(a.low, least, largest), np.clip(a.high, least, largest)
    return Interval(np.where(empty, np.nan, low), np.where(empty, np.nan, high), _either(a.undefined, outside))


def _sqrt(a: Interval) -> Interval:
    return _rising("sqrt")(_within(a, 0.0, np.inf))


def _log(a: Interval) -> Interval:
    return _rising("log")(_within(a, 0.0, np.inf))


def _arcsin(a: Interval) -> Interval:
    return _rising("arcsin")(_within(a, -1.0, 1.0))


def _arccos(a: Interval) -> Interval:
    a = _within(a, -1.0, 1.0)
    return Interval(np.arccos(a.high), np.arccos(a.low), a.undefined)


def _holds(a: Interval, first: float, period: float) -> NDArray[np.bool_]:
    """Whether a number first + n·period lies in the interval; unbounded ones hold it."""
    return ~(np.floor((a.high - first) / period) == np.floor((a.low - first) / period)) | ~np.isfinite(a.high - a.low)


def _wave(function: Callable[[Array], Array], peak: float) -> Callable[[Interval], Interval]:
    """Rules for sin and cos, which are 1 at peak + 2πn."""

    def rule(a: Interval) -> Interval:
        ends = function(a.low), function(a.high)
        low = np.where(_holds(a, peak + np.pi, TURN), -1.0, np.minimum(*ends))
        high = np.where(_holds(a, peak, TURN), 1.0, np.maximum(*ends))
        # the argument may be off by its rounding, which for large ones is a part of a turn
        blur = SLACK * (1 + np.abs(a.low) + np.abs(a.high))
        return Interval(np.maximum(low - blur, -1.0), np.minimum(high + blur, 1.0), a.undefined)

    return rule


def _tan(a: Interval) -> Interval:
    pole = _holds(a, 0.5 * np.pi, np.pi)
    return Interval(np.where(pole, -np.inf, np.tan(a.low)), np.where(pole, np.inf, np.tan(a.high)), a.undefined)


def _arctan2(y: Interval, x: Interval) -> Interval:
    corners = [np.arctan2(p, q) for p in (y.low, y.high) for q in (x.low, x.high)]
    result = _hull(corners, _either(y.undefined, x.undefined))
    cut = (y.low <= 0) & (y.high >= 0) & (x.low <= 0)  # the angle jumps there
    return Interval(np.where(cut, -np.pi, result.low), np.where(cut, np.pi, result.high), result.undefined)


def _minimum(a: Interval, b: Interval) -> Interval:
    return Interval(np.minimum(a.low, b.low), np.minimum(a.high, b.high), _either(a.undefined, b.undefined))


def _maximum(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.low, b.low), np.maximum(a.high, b.high), _either(a.undefined, b.undefined))


def _comparison(holds: Callable[[Array, Array], Array]) -> Callable[[Interval, Interval], Interval]:
    """1 where a < b (or a ≤ b) for all values, 0 where for none, and both between. It does not hold for nan."""

    def rule(a: Interval, b: Interval) -> Interval:
        always = holds(a.high, b.low) & ~np.asarray(_either(a.undefined, b.undefined))
        return Interval(np.where(always, 1.0, 0.0), np.where(holds(a.low, b.high), 1.0, 0.0))

    return rule


def _equal(a: Interval, b: Interval) -> Interval:
    """1 where both are one and the same number, 0 where they have none in common."""
    always = (a.low == a.high) & (b.low == b.high) & (a.low == b.low)
    always &= ~np.asarray(_either(a.undefined, b.undefined))
    return Interval(np.where(always, 1.0, 0.0), np.where((a.low <= b.high) & (b.low <= a.high), 1.0, 0.0))


def _where(condition: Interval, a: Interval, b: Interval) -> Interval:
    yes = (condition.low > 0) | (condition.high < 0)
    no = (condition.low == 0) & (condition.high == 0) & ~np.asarray(condition.undefined)
    low = np.where(yes, a.low, np.where(no, b.low, np.minimum(a.low, b.low)))
    high = np.where(yes, a.high, np.where(no, b.high, np.maximum(a.high, b.high)))
    if a.undefined is False and b.undefined is False:
        return Interval(low, high)
    return Interval(low, high, (~no & a.undefined) | (~yes & b.undefined))


def _clifford(a: Interval, n: int) -> Interval:
    """Cₙ' = Cₙ₊₁, so Cₙ rises above −(j/2)² with j the first zero of Jₙ₊₁; below, |Cₙ(q)| = |Jₙ(2√−q)| |q|^(−n/2)."""
    from scipy.special import jn_zeros

    function, turning = NUMPY["clifford"], -0.25 * float(jn_zeros(n + 1, 1)[0]) ** 2
    low, high = function(a.low, n), function(a.high, n)
    below = a.low < turning
    if below.any():
        depth = np.maximum(-np.minimum(a.high, turning), -turning)  # the nearest to 0 of the part below
        bound = np.minimum(1 / math.factorial(n), LANDAU * (2 * np.sqrt(depth)) ** (-1 / 3) * depth ** (-n / 2))
        low = np.where(below, -bound, low)
        high = np.where(below, np.where(a.high > turning, np.maximum(high, bound), bound), high)
    return Interval(low - 1e-13 * np.abs(low), high + 1e-13 * np.abs(high), a.undefined)


RULES: dict[str, Callable[..., Interval]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "power": _power,
    "sqrt": _sqrt,
    "log": _log,
    "sin": _wave(np.sin, 0.5 * np.pi),
    "cos": _wave(np.cos, 0.0),
    "tan": _tan,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arctan2": _arctan2,
    "absolute": _absolute,
    "minimum": _minimum,
    "maximum": _maximum,
    "less": _comparison(np.less),
    "less_equal": _comparison(np.less_equal),
    "equal": _equal,
    "where": _where,
    **{name: _rising(name) for name in ("exp", "arctan", "sinh", "tanh", "sign", "erf")},
    **{name: _even(name) for name in ("cosh", "log_cosh")},
}
"""How intervals go through every operation but `integer_power` and `clifford`, which take a number as well."""
