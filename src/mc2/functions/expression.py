"""Functions of x and y as immutable expression graphs.

An `Expression` is an operation on other expressions. Equal ones are the same object, so a graph never computes
anything twice. Python's operators and NumPy's functions build expressions, so an ordinary Python function called with
`X` and `Y` becomes one. Operations carry the names of NumPy's functions.
"""

import math
import numbers
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.compute.portions import check_stop
from mc2.errors import InputError
from mc2.functions.function import Array, Function, Program

MAX_NODES = 20_000
"""Operations in an expression or in its derivatives: a sum of 10,000 characters stays below with its Δ²."""
GROWTH = 4
"""Times `MAX_NODES`: expressions that derivatives may make on the way."""
MAX_BYTES = 1 << 28
"""Most bytes of values held at a time when an expression is computed: more points are taken in portions."""


def _erf(a: Any) -> Any:
    from scipy.special import erf

    return erf(a)


def _clifford(a: Any, n: int) -> Any:
    """Cₙ(q) = Σ qᵏ/(k!(k+n)!), the Bessel–Clifford function: Cₙ(s²/4) = Iₙ(s)/(s/2)ⁿ, and Jₙ for negative q."""
    from scipy.special import factorial, iv, jv

    half = np.sqrt(np.abs(a))
    series = sum(np.asarray(a) ** k / (factorial(k) * factorial(k + n)) for k in range(12))
    return np.where(half < 0.3, series, np.where(np.asarray(a) > 0, iv(n, 2 * half), jv(n, 2 * half)) / half**n)


def _integer_power(a: Any, n: int) -> Any:
    return np.asarray(a, float) ** n


def _log_cosh(a: Any) -> Any:
    return np.logaddexp(a, -a) - math.log(2)


def _condition(compare: Callable[..., Any]) -> Callable[..., Any]:
    """1 where a comparison holds, else 0, as the kernels compute it: NumPy's truth values add up differently."""
    return lambda a, b: compare(a, b) * 1.0


NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negative": np.negative,
    "power": np.power,
    "integer_power": _integer_power,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "arctan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "absolute": np.absolute,
    "sign": np.sign,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "less": _condition(np.less),
    "less_equal": _condition(np.less_equal),
    "equal": _condition(np.equal),
    "where": np.where,
    "erf": _erf,
    "log_cosh": _log_cosh,
    "clifford": _clifford,
}
"""What every operation means, in NumPy. `constant`, `x` and `y` are the leaves."""

_interned: "weakref.WeakValueDictionary[tuple[Any, ...], Expression]" = weakref.WeakValueDictionary()


Operator = Callable[["Expression", Any], "Expression"]
Build = Callable[["Expression", "Expression"], "Expression"]


def _operators(operation: str) -> tuple[Operator, Operator]:
    """What Python calls for `a ∘ b`: on a, and on b if a does not know how."""

    def operator(self: "Expression", other: Any) -> "Expression":
        return _binary(operation, self, other)

    def reflected(self: "Expression", other: Any) -> "Expression":
        return _binary(operation, other, self)

    return operator, reflected


class Expression(Function):
    """An operation on expressions, or a leaf: a constant, x or y.

    operation: a name in `NUMPY`, or `constant`, `x`, `y`.
    arguments: the expressions it works on.
    number: the value of a constant; the exponent of `integer_power`; the order of `clifford`.
    """

    operation: str
    arguments: tuple["Expression", ...]
    number: float

    def __new__(cls, operation: str, arguments: tuple["Expression", ...] = (), number: float = 0.0) -> "Expression":
        # −0.0 == 0.0, but 1/−0.0 is not 1/0.0: the sign is part of the identity
        key = (operation, *map(id, arguments), number, math.copysign(1.0, number))
        found = _interned.get(key)
        if found is None:
            found = super().__new__(cls)
            found.operation, found.arguments, found.number = operation, arguments, number
            _interned[key] = found
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.operation, self.arguments, self.number)

    # --- building -----------------------------------------------------------------------------------------------

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("subtract")
    __mul__, __rmul__ = _operators("multiply")
    __truediv__, __rtruediv__ = _operators("divide")
    __pow__, __rpow__ = _operators("power")
    __lt__, __gt__ = _operators("less")
    __le__, __ge__ = _operators("less_equal")

    def __neg__(self) -> "Expression":
        return apply("negative", self)

    def __pos__(self) -> "Expression":
        return self

    def __abs__(self) -> "Expression":
        return apply("absolute", self)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; use np.where instead of if")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from mc2.functions.vocabulary import FUNCTIONS

        build = FUNCTIONS.get(ufunc.__name__)
        if method != "__call__" or options or build is None:
            return NotImplemented
        return build(*map(as_expression, inputs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return apply("where", *map(as_expression, args))
        return NotImplemented

    # --- using --------------------------------------------------------------------------------------------------

    def order(self) -> list["Expression"]:
        """All expressions it is built from, arguments before what uses them, without recursion."""
        done: dict[Expression, None] = {}
        stack = [self]
        while stack:
            node = stack[-1]
            missing = [argument for argument in node.arguments if argument not in done]
            if node in done or not missing:
                done.setdefault(node)
                stack.pop()
                if len(done) > MAX_NODES:
                    raise _too_complex()
            else:
                stack.extend(missing)
        return list(done)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        steps, held = _schedule(self.order())
        size = max(1, MAX_BYTES // (8 * held))
        if x.size <= size:
            return self._at(x, y, steps)
        out = np.empty(x.size)
        for start in range(0, x.size, size):
            part = slice(start, start + size)
            out[part] = self._at(x.flat[part], y.flat[part], steps)
        return out.reshape(x.shape)

    def _at(self, x: Array, y: Array, steps: "Steps") -> Array:
        values: dict[Expression, Any] = {}
        with np.errstate(all="ignore"):
            for node, finished in steps:
                check_stop()
                values[node] = node.evaluate(values, x, y)
                for argument in finished:
                    del values[argument]
        return np.array(np.broadcast_to(values[self], x.shape), float)

    def evaluate(self, values: dict["Expression", Any], x: Array, y: Array) -> Any:
        """This operation alone, given the values of its arguments."""
        if self.operation == "constant":
            return self.number
        if self.operation in ("x", "y"):
            return x if self.operation == "x" else y
        arguments = [values[argument] for argument in self.arguments]
        if self.operation in ("integer_power", "clifford"):
            return NUMPY[self.operation](arguments[0], int(self.number))
        return NUMPY[self.operation](*arguments)

    @cached_property
    def program(self) -> Program:
        from mc2.functions.assembler import assemble

        return assemble(self)

    @cached_property
    def text(self) -> str:
        from mc2.functions.vocabulary import write

        return write(self)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def gradient(self) -> tuple["Expression", "Expression"]:
        """(∂u/∂x, ∂u/∂y), exactly."""
        from mc2.functions.calculus import gradient

        return gradient(self)

    def laplacian(self) -> "Expression":
        """Δu, exactly."""
        from mc2.functions.calculus import laplacian

        return laplacian(self)

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> "Expression":
        result = constant(0.0) if value == 0 else value * self
        if laplacian or bilaplacian:
            first = self.laplacian()
            result = result + laplacian * first if laplacian else result
            result = result + bilaplacian * first.laplacian() if bilaplacian else result
        return result


Steps = list[tuple[Expression, list[Expression]]]


def _schedule(order: list[Expression]) -> tuple[Steps, int]:
    """Every operation with the values that no later one needs; and how many arrays are held at a time, at most."""
    last = {argument: node for node in order for argument in node.arguments}
    steps: Steps = []
    held = most = 1
    for node in order:
        finished = [argument for argument in dict.fromkeys(node.arguments) if last[argument] is node]
        steps.append((node, finished))
        held += bool(node.arguments)
        most = max(most, held)
        held -= sum(bool(argument.arguments) for argument in finished)
    return steps, most


def growth_limit() -> int:
    """How many expressions there may be before derivatives of one are given up on."""
    return len(_interned) + GROWTH * MAX_NODES


def check_growth(limit: int) -> None:
    """Refuse what has made too many expressions on the way to its derivatives."""
    if len(_interned) > limit:
        raise _too_complex()


def _too_complex() -> InputError:
    return InputError(
        f"expression is too complex: it, or its derivatives, have more than {MAX_NODES:,} operations "
        "(mc2.functions.expression.MAX_NODES): give the source and the boundary data, or a shorter expression"
    )


def constant(number: float) -> Expression:
    """A constant, which must be a finite number."""
    number = float(number)
    if not math.isfinite(number):
        raise InputError("a constant in the expression is not a finite number")
    return Expression("constant", (), number)


X, Y = Expression("x"), Expression("y")


def as_expression(value: Any) -> Expression:
    """An expression, or a real number as one. Anything else is a TypeError: it cannot be traced."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and value.shape == ()):
        return constant(float(value))
    raise TypeError(f"cannot make an expression of {type(value).__name__}")


def apply(operation: str, *arguments: Expression, number: float = 0.0) -> Expression:
    """An operation on expressions; done at once where all of them are constants."""
    node = Expression(operation, arguments, number)
    if all(argument.operation == "constant" for argument in arguments):
        return constant(float(node(0.0, 0.0)))
    return node


def is_constant(node: Expression, number: float) -> bool:
    return node.operation == "constant" and node.number == number


def _binary(operation: str, left: Any, right: Any) -> Any:
    try:
        left, right = as_expression(left), as_expression(right)
    except TypeError:
        return NotImplemented
    build = BUILD.get(operation)
    return build(left, right) if build else apply(operation, left, right)


def _without(neutral: float, operation: str, commutes: bool) -> Build:
    """An operation that leaves out a neutral number: on its right, and on its left as well if it commutes."""

    def build(a: Expression, b: Expression) -> Expression:
        if commutes and is_constant(a, neutral):
            return b
        return a if is_constant(b, neutral) else apply(operation, a, b)

    return build


add, subtract = _without(0, "add", commutes=True), _without(0, "subtract", commutes=False)
multiply, divide = _without(1, "multiply", commutes=True), _without(1, "divide", commutes=False)


def power(a: Expression, b: Expression) -> Expression:
    """aᵇ: repeated multiplication for small integers, a square root for ½."""
    if b.operation == "constant" and b.number == int(b.number) and abs(b.number) <= 64:
        return integer_power(a, int(b.number))
    if is_constant(b, 0.5):
        return apply("sqrt", a)
    return apply("power", a, b)


def integer_power(a: Expression, n: int) -> Expression:
    """aⁿ, with (c√a)² = c²a where a is never negative, so that r = √(x² + y²) leaves no root behind in r²."""
    if n == 1:
        return a
    if n == 0:
        return constant(1.0)
    if n == 2 and a.operation == "sqrt" and _never_negative(a.arguments[0]):
        return a.arguments[0]
    if n == 2 and a.operation == "multiply" and a.arguments[0].operation == "constant":
        scale, rest = a.arguments
        if rest.operation == "sqrt":
            return multiply(integer_power(scale, 2), integer_power(rest, 2))
    return apply("integer_power", a, number=n)


def _never_negative(node: Expression, depth: int = 4) -> bool:
    """Whether an expression is a sum of even powers: a simple, safe test that r² = (x − a)² + (y − b)² passes."""
    if node.operation == "add" and depth:
        return all(_never_negative(argument, depth - 1) for argument in node.arguments)
    return node.operation == "integer_power" and node.number % 2 == 0


BUILD: dict[str, Build] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "power": power,
}
"""Operations that are simplified, without changing any value, as they are built."""
