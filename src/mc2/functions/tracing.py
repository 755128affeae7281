"""Tracing: a Python function called once with symbols becomes an `Expression`.

What was traced is then compared with the function itself, at a few points and on both sides of every place where the
expression branches: a function may treat symbols differently from numbers.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from mc2.errors import InputError
from mc2.functions.expression import Expression, X, Y, apply, as_expression, constant, subtract
from mc2.functions.function import Array

PROBES = np.array([[0.31, -0.47, 0.05, -0.12, 0.73], [0.23, 0.11, -0.64, -0.39, 0.52]])
"""A few points with nothing special about them, to compare a traced function with the original."""
_SCALES = np.geomspace(1e-9, 1e9, 73)
_ALONG = np.concatenate([-_SCALES[::-1], [0.0], _SCALES])
_PLACES = (0.0, 0.37, -0.61, 52.0)
"""Lines parallel to the axes at these places, and _ALONG them, are searched for branches."""
_BRANCHES = 64
"""Branches that are looked at; a function with more is traced too."""
_CONDITIONS = ("less", "less_equal", "equal")
_COMBINED = ("multiply", "maximum", "subtract")
"""What and, or and not are made of: a·b, max(a, b), 1 − a."""


class Symbol(NDArrayOperatorsMixin):
    """Stands for x, y, or what a function makes of them: every operator and NumPy function builds an expression.

    An `Expression` itself compares by identity, as the key of a dictionary must; here x == 1 is a condition.
    """

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no truth value; use np.where instead of if")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from mc2.functions.vocabulary import FUNCTIONS

        if isinstance(options.get("out"), tuple) and isinstance(options["out"][0], Symbol):
            del options["out"]  # x += 1 makes a new symbol, as it makes a new number
        build = _LOGIC.get(ufunc.__name__) or FUNCTIONS.get(ufunc.__name__)
        if method != "__call__" or options or build is None:
            return NotImplemented
        return Symbol(build(*map(_expression, inputs)))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return Symbol(apply("where", *map(_expression, args)))
        if function is np.isclose and len(args) == 2:
            return Symbol(_isclose(_expression(args[0]), _expression(args[1]), **kwargs))
        return NotImplemented


def _expression(value: Any) -> Expression:
    return value.expression if isinstance(value, Symbol) else as_expression(value)


def _isclose(a: Expression, b: Expression, rtol: float = 1e-5, atol: float = 1e-8) -> Expression:
    return apply("less_equal", abs(a - b), constant(atol) + constant(rtol) * abs(b))


def _truth(node: Expression) -> Expression:
    """A condition, which is 0 or 1; anything else cannot be combined by &, | and ~."""
    if not all(part.operation in (*_CONDITIONS, *_COMBINED) or part.number in (0.0, 1.0) for part in _parts(node)):
        raise TypeError("only conditions can be combined by &, | and ~")
    return node


def _parts(node: Expression) -> Iterator[Expression]:
    """What a combination of conditions is made of."""
    yield node
    for argument in node.arguments if node.operation in _COMBINED else ():
        yield from _parts(argument)


_LOGIC: dict[str, Callable[..., Expression]] = {
    **dict.fromkeys(("bitwise_and", "logical_and"), lambda a, b: _truth(a) * _truth(b)),
    **dict.fromkeys(("bitwise_or", "logical_or"), lambda a, b: apply("maximum", _truth(a), _truth(b))),
    **dict.fromkeys(("invert", "logical_not"), lambda a: 1.0 - _truth(a)),
}


def trace(function: Callable[..., Any]) -> Expression | None:
    """The expression that a function computes, or None if it does more than arithmetic."""
    try:
        traced = _expression(function(Symbol(X), Symbol(Y)))
        points = np.concatenate([PROBES, *_beside_branches(traced)], axis=1)
        with np.errstate(all="ignore"):
            direct = np.broadcast_to(np.asarray(function(*points.copy()), float), points[0].shape)
    except InputError:
        raise
    except Exception:  # whatever a user's function raises on symbols: it is not a formula
        return None
    return traced if np.allclose(traced(*points), direct, rtol=1e-9, atol=1e-12, equal_nan=True) else None


def _beside_branches(expression: Expression) -> Iterator[Array]:
    """Points [2, k] on both sides of where an expression branches, found on lines parallel to the axes."""
    lines = [np.stack([_ALONG, np.full(_ALONG.size, place)]) for place in _PLACES]
    points = np.stack([*lines, *(line[::-1] for line in lines)], axis=1)  # [2, line, along]
    branches = [gap for node in expression.order() if (gap := _branch(node)) is not None]
    for gap in branches[:_BRANCHES]:
        values = gap(*points)
        line, start = np.nonzero((values[:, :-1] >= 0) != (values[:, 1:] >= 0))
        if line.size:
            yield _bisected(gap, points[:, line, start], points[:, line, start + 1])


def _branch(node: Expression) -> Expression | None:
    """What changes its sign where an operation branches."""
    if node.operation in (*_CONDITIONS, "minimum", "maximum"):
        return subtract(*node.arguments)
    return node.arguments[0] if node.operation in ("sign", "absolute") else None


def _bisected(gap: Expression, low: Array, high: Array) -> Array:
    """Neighbouring numbers on both sides of a change of sign, and points a little further away."""
    sign, first, last = gap(*low) >= 0, low, high
    for _ in range(130):  # from 10⁹ to the spacing of numbers near 10⁻³⁰
        middle = 0.5 * (low + high)
        same = (gap(*middle) >= 0) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high, 0.99 * low + 0.01 * first, 0.99 * high + 0.01 * last], axis=1)
