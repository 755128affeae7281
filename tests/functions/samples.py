"""Random expressions with their values, built side by side: the text never decides what the value should be."""

from collections.abc import Callable

import numpy as np

Sample = tuple[str, np.ndarray]

UNARY: dict[str, Callable[..., np.ndarray]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh,
    "sinh": np.sinh, "cosh": np.cosh, "abs": np.abs, "sign": np.sign, "atan": np.arctan, "asin": np.arcsin,
    "acos": np.arccos, "square": np.square,
}  # fmt: skip
BINARY: dict[str, Callable[..., np.ndarray]] = {
    "min": np.minimum, "max": np.maximum, "atan2": np.arctan2, "pow": np.power, "hypot": np.hypot,
    "logaddexp": np.logaddexp,
}  # fmt: skip
SMOOTH = ("sin", "cos", "tanh", "exp", "atan", "sinh", "cosh", "square")
PREFIXES = ("", "", "np.", "torch.", "math.", "numpy.")


def random_expression(rng: np.random.Generator, x: np.ndarray, y: np.ndarray, depth: int = 4) -> Sample:
    """A well-formed expression and its values at the points."""
    kind = rng.integers(0, 7) if depth else rng.integers(0, 2)
    if kind == 0:
        number = f"{rng.uniform(0, 3):.{rng.integers(0, 6)}f}" if rng.random() < 0.8 else "2e-1"
        return number, np.full_like(x, float(number))
    if kind == 1:
        return ("x", x) if rng.random() < 0.5 else ("y", y)
    a, va = random_expression(rng, x, y, depth - 1)
    if kind == 2:
        name = rng.choice(list(UNARY))
        return f"{rng.choice(PREFIXES)}{name}({a})", UNARY[name](va)
    if kind == 3:
        return f"(-{a})", -va
    b, vb = random_expression(rng, x, y, depth - 1)
    if kind == 4:
        name = rng.choice(list(BINARY))
        return f"{rng.choice(PREFIXES)}{name}({a}, {b})", BINARY[name](va, vb)
    if kind == 5:
        exponent = int(rng.integers(-3, 6))
        return f"({a})**{exponent}", va**exponent
    sign = rng.choice(list("+-*/"))
    value = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[sign](va, vb)
    return f"({a} {sign} {b})", value


def smooth_expression(rng: np.random.Generator, depth: int = 3) -> str:
    """An expression that is smooth on the whole plane."""
    kind = rng.integers(0, 5) if depth else rng.integers(0, 2)
    if kind == 0:
        return f"{rng.uniform(0.2, 2):.3f}"
    if kind == 1:
        return str(rng.choice(["x", "y"]))
    a = smooth_expression(rng, depth - 1)
    if kind == 2:
        name = rng.choice(SMOOTH)
        return f"({a})**2" if name == "square" else f"{name}(0.5*({a}))"
    b = smooth_expression(rng, depth - 1)
    if kind == 3:
        return f"({a})/(2 + ({b})**2)"
    return f"({a} {rng.choice(list('+-*'))} {b})"


def assert_same(got: np.ndarray, expected: np.ndarray, nearby: np.ndarray, text: str) -> None:
    """Equal up to rounding, judged by what a change of 1e-12 in x and y does: tan(1e6 x) has few digits to compare."""
    calm = np.isfinite(nearby) == np.isfinite(expected)
    shift = np.where(np.isfinite(nearby) & np.isfinite(expected), np.abs(nearby - expected), 0.0)
    error = np.where(got == expected, 0.0, np.abs(got - expected))
    same = np.isnan(got) & np.isnan(expected)
    close = error <= 1e-9 * np.abs(expected) + 1e-12 + shift
    assert np.all(same | close | ~calm), text
