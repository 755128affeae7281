"""The 12 harmonic atoms, for Laplace solutions (paper, table of harmonic atoms): parts of holomorphic functions."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from mc2.functions.terms import Term
from mc2.zoo.atom_parts import (
    AMPLITUDE,
    DIRECTION,
    OUTSIDE,
    X_AXIS,
    Y_AXIS,
    choice,
    circle,
    integer,
    number,
    point,
    power_term,
    radial_power,
    real,
    scaled,
    separable,
    shifted,
    squared_distance,
)
from mc2.zoo.atoms import AtomType, Values

_PART = choice("part", "cos", "sin")


def _exp_trig(v: Values) -> list[Term]:
    return [separable(v["a"], "exp", scaled(X_AXIS, v["k"]), v["part"], scaled(Y_AXIS, v["k"]))]


def _write_exp_trig(v: Values) -> str:
    k = number(v["k"])
    return f"{number(v['a'])}*torch.exp({k}*x)*torch.{v['part']}({k}*y)"


def _polar(v: Values) -> list[Term]:
    return [power_term(v["a"], v["n"], v["part"])]


def _write_polar(v: Values) -> str:
    return radial_power(v["a"], v["n"], v["part"])


def _inverse_power(v: Values, n: int) -> list[Term]:
    """a·Re((z − z₀)⁻ⁿ)."""
    return [Term("complex_power", (v["a"], 0.0, *point(v), -n))]


def _write_inversion(v: Values) -> str:
    x0, y0 = point(v)
    return f"{number(v['a'])}*{shifted('x', x0)}/{squared_distance(x0, y0)}"


def _write_dipole(v: Values) -> str:
    x0, y0 = point(v)
    top = f"({shifted('x', x0)}**2 - {shifted('y', y0)}**2)"
    return f"{number(v['a'])}*{top}/{squared_distance(x0, y0)}**2"


def _turned(v: Values) -> tuple[float, float]:
    """cos 2φ and sin 2φ: turning the axes by φ turns z² by 2φ."""
    return circle(2 * v["phi"])


def _quadratic(v: Values) -> list[Term]:
    """u² − v² = Re((c − is)z²) and 2uv = Im((c − is)z²) = Re((−s − ic)z²) along turned axes u, v."""
    c, s = _turned(v)
    factor = (c, -s) if v["part"] == "cos" else (-s, -c)
    return [Term("complex_power", (v["a"] * factor[0], v["a"] * factor[1], 0.0, 0.0, 2))]


def _write_quadratic(v: Values) -> str:
    c, s = map(number, _turned(v))
    if v["part"] == "cos":
        return f"{number(v['a'])}*({c}*(x**2 - y**2) + {s}*(2*x*y))"
    return f"{number(v['a'])}*({c}*(2*x*y) - {s}*(x**2 - y**2))"


_ATOMS = (
    AtomType(
        "h_polar",
        "a rⁿ cos(nθ) or sin",
        (AMPLITUDE, integer("n", 1, 6), _PART),
        _polar,
        _write_polar,
        weight=2,
    ),
    AtomType(
        "h_exp_trig",
        "a exp(kx) cos(ky) or sin",
        (AMPLITUDE, real("k", -3, 3), _PART),
        _exp_trig,
        _write_exp_trig,
        weight=2,
    ),
    AtomType(
        "h_trig_hyp",
        "a sin(kx) sinh(ky) etc.",
        (AMPLITUDE, real("k", 0.5, 4), choice("f", "sin", "cos"), choice("g", "sinh", "cosh")),
        lambda v: [separable(v["a"], v["f"], scaled(X_AXIS, v["k"]), v["g"], scaled(Y_AXIS, v["k"]))],
        lambda v: f"{number(v['a'])}*torch.{v['f']}({v['k']!r}*x)*torch.{v['g']}({v['k']!r}*y)",
        weight=2,
    ),
    AtomType(
        "h_log_source",
        "a log|x − x₀|, |x₀| = ρ",
        (AMPLITUDE, *OUTSIDE),
        lambda v: [Term("log_distance", (v["a"], *point(v)))],
        lambda v: f"{number(v['a'])}*0.5*torch.log({squared_distance(*point(v))})",
        weight=2,
    ),
    AtomType(
        "h_linear",
        "ax + by",
        (AMPLITUDE, replace(AMPLITUDE, name="b")),
        lambda v: [Term("polynomial", (0.0, v["a"], v["b"]))],
        lambda v: f"({number(v['a'])}*x + {number(v['b'])}*y)",
    ),
    AtomType(
        "h_bilinear",
        "axy",
        (AMPLITUDE,),
        lambda v: [Term("polynomial", (0.0, 0.0, 0.0, 0.0, v["a"]))],
        lambda v: f"{number(v['a'])}*x*y",
    ),
    AtomType(
        "h_arctan",
        "a atan2(y − y₀, x + ρ)",
        (AMPLITUDE, real("rho", 1.8, 2.5), real("y0", -0.5, 0.5)),
        # the cut runs left from (−ρ, y₀), away from the domain
        lambda v: [Term("angle", (v["a"], -v["rho"], v["y0"]))],
        lambda v: f"{number(v['a'])}*torch.atan2({shifted('y', v['y0'])}, {shifted('x', -v['rho'])})",
    ),
    AtomType(
        "h_inversion",
        "a (x − x₀)/|x − x₀|²",
        (AMPLITUDE, *OUTSIDE),
        lambda v: _inverse_power(v, 1),
        _write_inversion,
    ),
    AtomType(
        "h_dipole",
        "a (Δx² − Δy²)/|Δ|⁴",
        (AMPLITUDE, *OUTSIDE),
        lambda v: _inverse_power(v, 2),
        _write_dipole,
    ),
    AtomType(
        "h_quadratic",
        "a(u² − v²) or 2a·uv along turned axes",
        (AMPLITUDE, DIRECTION, _PART),
        _quadratic,
        _write_quadratic,
        weight=2,
    ),
    AtomType(
        "h_high_freq_exp_trig",
        "a exp(kx) cos(ky) or sin",
        (AMPLITUDE, real("k", 4, 10), _PART),
        _exp_trig,
        _write_exp_trig,
        hard=True,
        weight=2,
    ),
    AtomType(
        "h_high_n_polar",
        "a rⁿ cos(nθ) or sin",
        (AMPLITUDE, integer("n", 6, 12), _PART),
        _polar,
        _write_polar,
        hard=True,
        weight=2,
    ),
)
HARMONIC_ATOMS: Mapping[str, AtomType] = MappingProxyType({atom.name: atom for atom in _ATOMS})
"""By name. No atom is ever added: that would be another zoo."""
