"""The words of the expression language: functions, constants, and how an expression is written down."""

import inspect
import math
from collections.abc import Callable

from mc2.functions.expression import BUILD, NUMPY, Expression, apply, constant, integer_power, multiply


def _build(operation: str, arity: int) -> Callable[..., Expression]:
    """A builder with a fixed number of arguments, which the reader checks."""
    if arity == 1:
        return lambda a: apply(operation, a)
    if arity == 2:
        return BUILD.get(operation) or (lambda a, b: apply(operation, a, b))
    return lambda a, b, c: apply(operation, a, b, c)


def _logaddexp(a: Expression, b: Expression) -> Expression:
    """log(eᵃ + eᵇ) = (a + b)/2 + log 2 + log cosh((a − b)/2), which is smooth and never overflows."""
    return 0.5 * (a + b) + (apply("log_cosh", 0.5 * (a - b)) + math.log(2))


def _i0(a: Expression) -> Expression:
    """I₀(s) = C₀(s²/4), which is smooth also where s is a square root of 0."""
    return apply("clifford", multiply(constant(0.25), integer_power(a, 2)), number=0)


def _i1(a: Expression) -> Expression:
    """I₁(s) = (s/2) C₁(s²/4)."""
    return 0.5 * a * apply("clifford", multiply(constant(0.25), integer_power(a, 2)), number=1)


_UNARY = ["negative", "sqrt", "exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"]
_UNARY += ["absolute", "sign", "erf"]
_BINARY = ["add", "subtract", "multiply", "divide", "power", "arctan2", "minimum", "maximum"]
_BINARY += ["less", "less_equal", "equal"]

FUNCTIONS: dict[str, Callable[..., Expression]] = {
    **{name: _build(name, 1) for name in _UNARY},
    **{name: _build(name, 2) for name in _BINARY},
    "where": _build("where", 3),
    "greater": lambda a, b: apply("less", b, a),
    "greater_equal": lambda a, b: apply("less_equal", b, a),
    "not_equal": lambda a, b: 1.0 - apply("equal", a, b),
    "square": lambda a: integer_power(a, 2),
    "reciprocal": lambda a: 1.0 / a,
    "hypot": lambda a, b: apply("sqrt", integer_power(a, 2) + integer_power(b, 2)),
    "log2": lambda a: apply("log", a) / math.log(2),
    "log10": lambda a: apply("log", a) / math.log(10),
    "sigmoid": lambda a: 0.5 + 0.5 * apply("tanh", 0.5 * a),
    "logaddexp": _logaddexp,
    "i0": _i0,
    "i1": _i1,
}
"""Every function of the language under its NumPy name."""

for _short, _long in {
    "abs": "absolute",
    "neg": "negative",
    "pow": "power",
    "min": "minimum",
    "max": "maximum",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
}.items():
    FUNCTIONS[_short] = FUNCTIONS[_long]

ARITY = {name: len(inspect.signature(build).parameters) for name, build in FUNCTIONS.items()}

CONSTANTS = {"pi": math.pi, "e": math.e}

PREFIXES = ("torch.special.", "scipy.special.", "numpy.", "torch.", "math.", "np.")
"""Module names that may stand before a function or constant; they mean nothing."""

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**", "less": "<", "less_equal": "<="}
_SYMBOLS["equal"] = "=="
_MAX_TEXT = 2_000


def write(expression: Expression) -> str:
    """The expression as text that the reader accepts, or an ellipsis in place of parts that would grow too long."""
    texts: dict[Expression, str] = {}
    for node in expression.order():
        text = _write_node(node, [texts[argument] for argument in node.arguments])
        texts[node] = text if len(text) <= _MAX_TEXT else "…"
    return _bare(texts[expression])


def _write_node(node: Expression, parts: list[str]) -> str:
    if node.operation == "constant":
        return _number(node.number)
    if node.operation in ("x", "y"):
        return node.operation
    if node.operation in _SYMBOLS:
        return f"({parts[0]} {_SYMBOLS[node.operation]} {parts[1]})"
    if node.operation == "negative":
        return f"(-{parts[0]})"
    if node.operation == "integer_power":
        return f"({parts[0]} ** {_number(node.number)})"
    if node.operation in ("log_cosh", "clifford"):
        return _write_internal(node, parts[0])
    return f"{node.operation}({', '.join(map(_bare, parts))})"


def _write_internal(node: Expression, part: str) -> str:
    """The two operations that the language itself only has in disguise."""
    if node.operation == "log_cosh":
        return f"(logaddexp({part}, -{part}) - log(2))"
    if node.number == 0:
        return f"i0(2 * sqrt({_bare(part)}))"
    return f"C{node.number:.0f}({_bare(part)})"


def _number(value: float) -> str:
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 and str(value) != "-0.0" else repr(value)
    return f"({text})" if value < 0 or text.startswith("-") else text


def _bare(text: str) -> str:
    """Without the outermost parentheses, where they enclose the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]


assert set(_UNARY + _BINARY + ["where"]) <= set(NUMPY)
