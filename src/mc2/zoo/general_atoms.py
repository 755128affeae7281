"""The 20 general atoms, for Poisson, Yukawa, Helmholtz and biharmonic solutions (paper, table of general atoms).

Where the paper leaves a range open (amplitudes, centres, product frequencies, the shift under the square root), the
values here are ours.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from mc2.functions.term_kernels import LOG_SHIFT, ROOT_SHIFT
from mc2.functions.terms import Term
from mc2.zoo.atom_parts import (
    AMPLITUDE,
    CENTER,
    DIRECTION,
    OUTSIDE,
    X_AXIS,
    Y_AXIS,
    choice,
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
    tidy,
    unit,
)
from mc2.zoo.atoms import AtomType, Values

_MONOMIALS = ("1", "x", "y", "x**2", "x*y", "y**2", "x**3", "x**2*y", "x*y**2", "y**3")


def _hyper(v: Values) -> list[Term]:
    return [separable(v["a"], v["f"], X_AXIS)]


def _special(v: Values) -> list[Term]:
    return [separable(v["a"], v["f"] if v["f"] == "erf" else "root", X_AXIS)]


def _write_special(v: Values) -> str:
    return f"{number(v['a'])}*" + ("torch.erf(x)" if v["f"] == "erf" else f"torch.sqrt(x**2 + {ROOT_SHIFT})")


def _plane_wave(v: Values) -> list[Term]:
    nx, ny = unit(v)
    return [separable(v["a"], "cos", (v["k"] * nx, v["k"] * ny, 0.0))]


def _write_along(v: Values) -> str:
    nx, ny = unit(v)
    return f"{number(nx)}*x + {number(ny)}*y"


def _gaussian(v: Values) -> list[Term]:
    return [Term("gaussian", (v["a"], v["w"], v["x0"], v["y0"]))]


def _write_gaussian(v: Values) -> str:
    return f"{number(v['a'])}*torch.exp(-{v['w']!r}*{squared_distance(v['x0'], v['y0'])})"


def _bumps(v: Values) -> list[Values]:
    """The Gaussians of a multi_rbf, each with the names of a single one."""
    return [{name: v[f"{name}_{i}"] for name in ("a", "w", "x0", "y0")} for i in range(1, v["n"] + 1)]


def _log_source(v: Values) -> list[Term]:
    return [Term("log_distance", (v["a"], *point(v)))]


def _write_log_source(v: Values) -> str:
    return f"{number(v['a'])}*0.5*torch.log({squared_distance(*point(v))})"


def _trig_product(v: Values) -> list[Term]:
    return [separable(v["a"], "sin", scaled(X_AXIS, v["k1"] * math.pi), "cos", scaled(Y_AXIS, v["k2"] * math.pi))]


def _write_trig_product(v: Values) -> str:
    return f"{number(v['a'])}*torch.sin({v['k1']}*torch.pi*x)*torch.cos({v['k2']}*torch.pi*y)"


def _product(v: Values) -> list[Term]:
    return [separable(v["a"], v["f1"], scaled(X_AXIS, v["k1"]), v["f2"], scaled(Y_AXIS, v["k2"]))]


def _logsumexp(v: Values) -> list[Term]:
    """log(eᵇˣ + eᶜʸ) = (bx + cy)/2 + log 2 + log cosh((bx − cy)/2)."""
    a, b, c = v["a"], v["b"], v["c"]
    line = Term("polynomial", (a * math.log(2), a * b / 2, a * c / 2))
    return [line, separable(a, "log_cosh", (b / 2, -c / 2, 0.0))]


def _sech_bump(v: Values) -> list[Term]:
    s, t = scaled(X_AXIS, v["b"], v["x0"]), scaled(Y_AXIS, v["c"], v["y0"])
    return [separable(v["a"], "sech_squared", s, "sech_squared", t)]


def _write_sech_bump(v: Values) -> str:
    s, t = f"{v['b']!r}*{shifted('x', v['x0'])}", f"{v['c']!r}*{shifted('y', v['y0'])}"
    return f"{number(v['a'])}/(torch.cosh({s})**2*torch.cosh({t})**2)"


def _sharp_transition(v: Values) -> list[Term]:
    nx, ny = unit(v)
    return [separable(v["a"], "tanh", (v["k"] * nx, v["k"] * ny, -v["k"] * v["c"]))]


_BUMPS = tuple(replace(p, name=f"{p.name}_{i}") for i in range(1, 5) for p in (AMPLITUDE, real("w", 2, 8), *CENTER))

_ATOMS = (
    AtomType(
        "poly",
        "polynomial of degree ≤ 3",
        tuple(real(f"c{i}", -1, 1) for i in range(10)),
        lambda v: [Term("polynomial", tuple(v[f"c{i}"] for i in range(10)))],
        lambda v: "(" + " + ".join(f"{number(v[f'c{i}'])}*{m}" for i, m in enumerate(_MONOMIALS)) + ")",
    ),
    AtomType(
        "trig",
        "a sin(kπx)",
        (AMPLITUDE, integer("k", 1, 6)),
        lambda v: [separable(v["a"], "sin", scaled(X_AXIS, v["k"] * math.pi))],
        lambda v: f"{number(v['a'])}*torch.sin({v['k']}*torch.pi*x)",
    ),
    AtomType(
        "exp",
        "a exp(bx)",
        (AMPLITUDE, real("b", -2, 2)),
        lambda v: [separable(v["a"], "exp", scaled(X_AXIS, v["b"]))],
        lambda v: f"{number(v['a'])}*torch.exp({number(v['b'])}*x)",
    ),
    AtomType(
        "log",
        "a log(x² + 0.01)",
        (AMPLITUDE,),
        lambda v: [separable(v["a"], "log", X_AXIS)],
        lambda v: f"{number(v['a'])}*torch.log(x**2 + {LOG_SHIFT})",
    ),
    AtomType(
        "hyper",
        "a sinh(x), a cosh(x) or a tanh(x)",
        (AMPLITUDE, choice("f", "sinh", "cosh", "tanh")),
        _hyper,
        lambda v: f"{number(v['a'])}*torch.{v['f']}(x)",
    ),
    AtomType(
        "special",
        "a erf(x) or a √(x² + 0.01)",
        (AMPLITUDE, choice("f", "erf", "sqrt")),
        _special,
        _write_special,
    ),
    AtomType(
        "harmonic_polar",
        "a rⁿ cos(nθ)",
        (AMPLITUDE, integer("n", 1, 6)),
        lambda v: [power_term(v["a"], v["n"], "cos")],
        lambda v: radial_power(v["a"], v["n"], "cos"),
    ),
    AtomType(
        "plane_wave",
        "a cos(k n·x)",
        (AMPLITUDE, real("k", 1, 8), DIRECTION),
        _plane_wave,
        lambda v: f"{number(v['a'])}*torch.cos({v['k']!r}*({_write_along(v)}))",
    ),
    AtomType(
        "yukawa_i0",
        "a I₀(μr), μ = √λ",
        (AMPLITUDE, real("lam", 0.5, 6)),
        lambda v: [Term("bessel", (v["a"], tidy(math.sqrt(v["lam"]))))],
        lambda v: f"{number(v['a'])}*torch.special.i0({tidy(math.sqrt(v['lam']))!r}*torch.sqrt(x**2 + y**2))",
    ),
    AtomType("log_source", "a log|x − x₀|, |x₀| = ρ", (AMPLITUDE, *OUTSIDE), _log_source, _write_log_source),
    AtomType(
        "gaussian_bump",
        "a exp(−w|x − x₀|²)",
        (AMPLITUDE, real("w", 0.8, 2), *CENTER),
        _gaussian,
        _write_gaussian,
    ),
    AtomType(
        "rational",
        "a / (1 + bx² + cy²)",
        (AMPLITUDE, real("b", 0.5, 3), real("c", 0.5, 3)),
        lambda v: [Term("rational", (v["a"], v["b"], v["c"]))],
        lambda v: f"{number(v['a'])}/(1 + {v['b']!r}*x**2 + {v['c']!r}*y**2)",
    ),
    AtomType(
        "product",
        "a f₁(k₁x) f₂(k₂y)",
        (
            AMPLITUDE,
            choice("f1", "sin", "cos", "tanh"),
            choice("f2", "sin", "cos", "tanh"),
            real("k1", 1, 6),
            real("k2", 1, 6),
        ),
        _product,
        lambda v: f"{number(v['a'])}*torch.{v['f1']}({v['k1']!r}*x)*torch.{v['f2']}({v['k2']!r}*y)",
    ),
    AtomType(
        "multi_rbf",
        "sum of 2–4 Gaussians a exp(−w|x − x₀|²)",
        (integer("n", 2, 4), *_BUMPS),
        lambda v: [_gaussian(bump)[0] for bump in _bumps(v)],
        lambda v: " + ".join(_write_gaussian(bump) for bump in _bumps(v)),
    ),
    AtomType(
        "high_freq_trig",
        "a sin(k₁πx) cos(k₂πy)",
        (AMPLITUDE, integer("k1", 2, 8), integer("k2", 2, 8)),
        _trig_product,
        _write_trig_product,
        hard=True,
    ),
    AtomType(
        "logsumexp",
        "a log(exp(bx) + exp(cy))",
        (AMPLITUDE, real("b", 1, 4), real("c", 1, 4)),
        _logsumexp,
        lambda v: f"{number(v['a'])}*torch.logaddexp({v['b']!r}*x, {v['c']!r}*y)",
    ),
    AtomType(
        "sech_bump",
        "a / (cosh²b(x − x₀) cosh²c(y − y₀))",
        (AMPLITUDE, real("b", 2, 6), real("c", 2, 6), *CENTER),
        _sech_bump,
        _write_sech_bump,
        hard=True,
    ),
    AtomType(
        "very_high_freq_trig",
        "a sin(k₁πx) cos(k₂πy)",
        (AMPLITUDE, integer("k1", 6, 15), integer("k2", 6, 15)),
        _trig_product,
        _write_trig_product,
        hard=True,
    ),
    AtomType(
        "narrow_bump",
        "a exp(−w|x − x₀|²)",
        (AMPLITUDE, real("w", 8, 25), *CENTER),
        _gaussian,
        _write_gaussian,
        hard=True,
    ),
    AtomType(
        "sharp_transition",
        "a tanh(k(n·x − c))",
        (AMPLITUDE, real("k", 5, 15), DIRECTION, real("c", -0.5, 0.5)),
        _sharp_transition,
        lambda v: f"{number(v['a'])}*torch.tanh({v['k']!r}*({_write_along(v)} - {number(v['c'])}))",
        hard=True,
    ),
)
GENERAL_ATOMS: Mapping[str, AtomType] = MappingProxyType({atom.name: atom for atom in _ATOMS})
"""By name. No atom is ever added: that would be another zoo."""
