"""Exact derivatives of expressions.

One pass over the graph carries (∂u/∂x, ∂u/∂y, Δu) of every part, by the product rule Δ(ab) = aΔb + 2∇a·∇b + bΔa and
the chain rule ΔF(a) = F″(a)|∇a|² + F′(a)Δa. That keeps results far smaller than second derivatives along x and y
would be. Functions with kinks or jumps are refused: their Laplacian is not a function.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from mc2.errors import InputError
from mc2.functions.expression import (
    Expression,
    add,
    apply,
    check_growth,
    constant,
    growth_limit,
    is_constant,
    multiply,
    power,
    subtract,
)

ZERO, ONE = constant(0.0), constant(1.0)


class Derivatives(NamedTuple):
    """∂u/∂x, ∂u/∂y and Δu of an expression u."""

    x: Expression
    y: Expression
    laplacian: Expression


FLAT = Derivatives(ZERO, ZERO, ZERO)


def gradient(expression: Expression, kinks: bool = False) -> tuple[Expression, Expression]:
    """(∂u/∂x, ∂u/∂y).

    kinks: where u bends or jumps, take the derivative beside; else such functions are refused.
    """
    d = derivatives(expression, kinks)
    return d.x, d.y


def laplacian(expression: Expression) -> Expression:
    """Δu."""
    return derivatives(expression).laplacian


def derivatives(expression: Expression, kinks: bool = False) -> Derivatives:
    known: dict[Expression, Derivatives] = {}
    limit = growth_limit()
    for node in expression.order():
        check_growth(limit)
        parts = [known[argument] for argument in node.arguments]
        known[node] = _beside(node, parts) if kinks and node.operation in _KINKS else _differentiate(node, parts)
    known[expression].laplacian.order()  # refuses results that grew too large
    return known[expression]


def _times(a: Expression, b: Expression) -> Expression:
    """a·b, where zero times anything is zero."""
    return ZERO if is_constant(a, 0) or is_constant(b, 0) else multiply(a, b)


def _dot(a: Derivatives, b: Derivatives) -> Expression:
    """∇a·∇b."""
    return add(_times(a.x, b.x), _times(a.y, b.y))


def _linear(a: Derivatives, b: Derivatives, combine: Callable[[Expression, Expression], Expression]) -> Derivatives:
    return Derivatives(*(combine(p, q) for p, q in zip(a, b, strict=True)))


def _differentiate(node: Expression, parts: list[Derivatives]) -> Derivatives:
    operation = node.operation
    if not parts:
        return Derivatives(ONE if operation == "x" else ZERO, ONE if operation == "y" else ZERO, ZERO)
    if all(part == FLAT for part in parts):
        return FLAT
    if operation in ("add", "subtract"):
        return _linear(parts[0], parts[1], add if operation == "add" else _minus)
    if operation == "negative":
        return Derivatives(*(_minus(ZERO, part) for part in parts[0]))
    if operation in _BINARY_RULES:
        return _BINARY_RULES[operation](node, *parts)
    if operation in _CHAIN:
        return _chain(*_CHAIN[operation](node), parts[0])
    raise InputError(
        f"{operation} has no Laplacian where it bends or jumps: give the source and the boundary data instead of "
        "an exact solution that uses it"
    )


_KINKS = ("absolute", "sign", "minimum", "maximum", "less", "less_equal", "equal", "where")


def _beside(node: Expression, parts: list[Derivatives]) -> Derivatives:
    """Derivatives of a function that bends or jumps, everywhere else than there."""
    if node.operation == "absolute":
        side = apply("sign", node.arguments[0])
        return Derivatives(*(_times(side, part) for part in parts[0]))
    if node.operation in ("minimum", "maximum"):
        lower = apply("less_equal", *node.arguments)
        first, second = parts if node.operation == "minimum" else parts[::-1]
        return _linear(first, second, lambda p, q: apply("where", lower, p, q))
    if node.operation == "where":
        return _linear(parts[1], parts[2], lambda p, q: apply("where", node.arguments[0], p, q))
    return FLAT


def _minus(a: Expression, b: Expression) -> Expression:
    if is_constant(a, 0):
        return ZERO if is_constant(b, 0) else apply("negative", b)
    return subtract(a, b)


def _chain(first: Expression, second: Expression, inner: Derivatives) -> Derivatives:
    """Derivatives of F(a), from F′(a), F″(a) and the derivatives of a."""
    bend = _times(second, _dot(inner, inner))
    return Derivatives(_times(first, inner.x), _times(first, inner.y), add(bend, _times(first, inner.laplacian)))


def _product(node: Expression, da: Derivatives, db: Derivatives) -> Derivatives:
    a, b = node.arguments
    return Derivatives(
        add(_times(a, db.x), _times(b, da.x)),
        add(_times(a, db.y), _times(b, da.y)),
        add(add(_times(a, db.laplacian), _times(constant(2.0), _dot(da, db))), _times(b, da.laplacian)),
    )


def _quotient(node: Expression, da: Derivatives, db: Derivatives) -> Derivatives:
    """Derivatives of q = a/b, from a = qb: ∇q = (∇a − q∇b)/b and Δq = (Δa − 2∇q·∇b − qΔb)/b."""
    b = node.arguments[1]
    gx = _over(_minus(da.x, _times(node, db.x)), b)
    gy = _over(_minus(da.y, _times(node, db.y)), b)
    cross = _times(constant(2.0), _dot(Derivatives(gx, gy, ZERO), db))
    rest = _minus(_minus(da.laplacian, cross), _times(node, db.laplacian))
    return Derivatives(gx, gy, _over(rest, b))


def _over(a: Expression, b: Expression) -> Expression:
    return ZERO if is_constant(a, 0) else a / b


def _power(node: Expression, da: Derivatives, db: Derivatives) -> Derivatives:
    """Derivatives of aᵇ: the power rule where b is constant, else through exp(b log a)."""
    a, b = node.arguments
    if db == FLAT:
        first = _times(b, power(a, b - 1.0))
        second = _times(_times(b, b - 1.0), power(a, b - 2.0))
        return _chain(first, second, da)
    logarithm = apply("log", a)
    d_log = _chain(1.0 / a, -1.0 / power(a, constant(2.0)), da)
    return _chain(node, node, _product(multiply(b, logarithm), db, d_log))


def _angle(node: Expression, da: Derivatives, db: Derivatives) -> Derivatives:
    """Derivatives of atan2(a, b): with N = b∇a − a∇b and s = a² + b², ∇ = N/s and Δ = (bΔa − aΔb)/s − N·∇s/s²."""
    a, b = node.arguments
    s = a * a + b * b
    nx = _minus(_times(b, da.x), _times(a, db.x))
    ny = _minus(_times(b, da.y), _times(a, db.y))
    sx = 2.0 * add(_times(a, da.x), _times(b, db.x))
    sy = 2.0 * add(_times(a, da.y), _times(b, db.y))
    divergence = _minus(_times(b, da.laplacian), _times(a, db.laplacian))
    turn = add(_times(nx, sx), _times(ny, sy))
    return Derivatives(_over(nx, s), _over(ny, s), _minus(_over(divergence, s), _over(turn, s * s)))


_BINARY_RULES: dict[str, Callable[..., Derivatives]] = {
    "multiply": _product,
    "divide": _quotient,
    "power": _power,
    "arctan2": _angle,
}


def _integer_power(node: Expression) -> tuple[Expression, Expression]:
    a, n = node.arguments[0], node.number
    return _times(constant(n), power(a, constant(n - 1))), _times(constant(n * (n - 1)), power(a, constant(n - 2)))


def _tan(node: Expression) -> tuple[Expression, Expression]:
    first = 1.0 + node * node
    return first, 2.0 * node * first


def _inverse_sine(sign: float) -> Callable[[Expression], tuple[Expression, Expression]]:
    def rule(node: Expression) -> tuple[Expression, Expression]:
        a = node.arguments[0]
        root = apply("sqrt", 1.0 - a * a)
        return sign / root, sign * a / (root * root * root)

    return rule


def _arctan(node: Expression) -> tuple[Expression, Expression]:
    a = node.arguments[0]
    s = 1.0 + a * a
    return 1.0 / s, -2.0 * a / (s * s)


def _tanh(node: Expression) -> tuple[Expression, Expression]:
    first = 1.0 - node * node
    return first, -2.0 * node * first


def _erf(node: Expression) -> tuple[Expression, Expression]:
    a = node.arguments[0]
    first = (2 / math.sqrt(math.pi)) * apply("exp", -(a * a))
    return first, -2.0 * a * first


def _log_cosh(node: Expression) -> tuple[Expression, Expression]:
    slope = apply("tanh", node.arguments[0])
    return slope, 1.0 - slope * slope


def _clifford(node: Expression) -> tuple[Expression, Expression]:
    """Cₙ′ = Cₙ₊₁."""
    a, n = node.arguments[0], node.number
    return apply("clifford", a, number=n + 1), apply("clifford", a, number=n + 2)


_CHAIN: dict[str, Callable[[Expression], tuple[Expression, Expression]]] = {
    "integer_power": _integer_power,
    "sqrt": lambda node: (0.5 / node, -0.25 / (node * node * node)),
    "exp": lambda node: (node, node),
    "log": lambda node: (1.0 / node.arguments[0], -1.0 / (node.arguments[0] * node.arguments[0])),
    "sin": lambda node: (apply("cos", node.arguments[0]), -node),
    "cos": lambda node: (-apply("sin", node.arguments[0]), -node),
    "tan": _tan,
    "arcsin": _inverse_sine(1.0),
    "arccos": _inverse_sine(-1.0),
    "arctan": _arctan,
    "sinh": lambda node: (apply("cosh", node.arguments[0]), node),
    "cosh": lambda node: (apply("sinh", node.arguments[0]), node),
    "tanh": _tanh,
    "erf": _erf,
    "log_cosh": _log_cosh,
    "clifford": _clifford,
}
"""F′(a) and F″(a) of every smooth function F of one argument, from the node F(a)."""
