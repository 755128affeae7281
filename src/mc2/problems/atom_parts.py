"""What the two atom pools are written with: parameters, separable terms, and numbers as text."""

import math

from mc2.problems.atoms import Parameter, Term, Values

AMPLITUDE = Parameter("a", 0.5, 1.5, "signed")
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


def point(v: Values) -> tuple[float, float]:
    """The point at distance rho in direction phi."""
    return tidy(v["rho"] * math.cos(v["phi"])), tidy(v["rho"] * math.sin(v["phi"]))


def unit(v: Values) -> tuple[float, float]:
    """The unit vector in direction phi."""
    return tidy(math.cos(v["phi"])), tidy(math.sin(v["phi"]))


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
