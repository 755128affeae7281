"""What the two atom pools are written with: parameters, separable terms, and numbers as text."""

import math

from mc2.functions.terms import Term
from mc2.zoo.atoms import Parameter, Values

AMPLITUDE = Parameter("a", 0.1, 1.0, "signed")
DIRECTION = Parameter("phi", 0.0, 2 * math.pi)
CENTER = (Parameter("x0", -0.5, 0.5), Parameter("y0", -0.5, 0.5))
OUTSIDE = (Parameter("rho", 1.8, 2.5), DIRECTION)
"""A point at distance ρ from the origin: outside the primitive domains."""

Axis = tuple[float, float, float]
X_AXIS: Axis = (1.0, 0.0, 0.0)
Y_AXIS: Axis = (0.0, 1.0, 0.0)


def real(name: str, low: float, high: float) -> Parameter:
    return Parameter(name, low, high)


def integer(name: str, low: int, high: int) -> Parameter:
    return Parameter(name, low, high, "integer")


def choice(name: str, *options: str) -> Parameter:
    return Parameter(name, kind="choice", options=options)


def separable(a: float, f: str, s: Axis, g: str = "one", t: Axis = (0.0, 0.0, 0.0)) -> Term:
    """a·F(s)·G(t), with s and t given by their coefficients of x, y and 1."""
    return Term("separable", (a, *s, *t), (f, g))


def scaled(axis: Axis, k: float, center: float = 0.0) -> Axis:
    """k·(axis − center)."""
    return k * axis[0], k * axis[1], k * (axis[2] - center)


def tidy(value: float) -> float:
    """A derived number to 12 decimals, so that tables and texts do not depend on a platform's last digit."""
    return round(value, 12)


def circle(angle: float) -> tuple[float, float]:
    """cos and sin of an angle, to 12 decimals and the same on every platform: libraries differ in the last digit."""
    quarter = round(angle / (0.5 * math.pi))
    rest = angle - quarter * (0.5 * math.pi)
    cos = sin = 1.0
    for n in range(18, 0, -2):  # Horner's scheme for the two Taylor series on [-π/4, π/4]
        cos = 1.0 - rest * rest / (n * (n - 1)) * cos
        sin = 1.0 - rest * rest / (n * (n + 1)) * sin
    sin *= rest
    cos, sin = ((cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos))[quarter % 4]
    return tidy(cos), tidy(sin)


def point(v: Values) -> tuple[float, float]:
    """The point at distance rho in direction phi."""
    cos, sin = circle(v["phi"])
    return tidy(v["rho"] * cos), tidy(v["rho"] * sin)


def unit(v: Values) -> tuple[float, float]:
    """The unit vector in direction phi."""
    return circle(v["phi"])


def number(value: float) -> str:
    """A number as text that reads back to the same number, in parentheses if negative."""
    return f"({value!r})" if value < 0 else repr(value)


def shifted(name: str, center: float) -> str:
    """(x − center) as text."""
    return f"({name} - {number(center)})"


def squared_distance(x0: float, y0: float) -> str:
    return f"({shifted('x', x0)}**2 + {shifted('y', y0)}**2)"


def radial_power(a: float, n: int, part: str) -> str:
    """a·rⁿ·cos(nθ) or sin as text."""
    return f"{number(a)}*(x**2 + y**2)**{n / 2!r}*torch.{part}({n}*torch.atan2(y, x))"


def power_term(a: float, n: int, part: str) -> Term:
    """a·Re(zⁿ), or a·Im(zⁿ) = a·Re(−i zⁿ)."""
    return Term("complex_power", (a, 0.0, 0.0, 0.0, n) if part == "cos" else (0.0, -a, 0.0, 0.0, n))
