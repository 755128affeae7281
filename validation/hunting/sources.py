"""Kinds of cases whose source, or solution, is hard: jumps, kinks, narrow bumps, oscillations, poles, heaters."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mc2.geometry import from_description
from validation.hunting.case import Data, Draft, evaluate, log_uniform, make_data, uniform, zeroth
from validation.hunting.disk import Grounded
from validation.hunting.shapes import UNIT_DISK, Description, any_domain, interior_point

Random = np.random.Generator
SECOND_ORDER = ("poisson", "yukawa", "helmholtz")
SOURCED = (*SECOND_ORDER, "biharmonic")


def family_of(random: Random, allowed: tuple[str, ...], description: Description) -> tuple[str, float]:
    """A family and its parameter: λ over four decades; k mostly below what walks can solve, sometimes far above."""
    family = str(random.choice(allowed))
    if family == "yukawa":
        return family, log_uniform(random, 0.5, 5000)
    if family == "helmholtz":
        half = 0.5 * from_description(description).size
        low, high = ((0.3, 1.15), (3.0, 20.0))[int(random.random() < 0.35)]
        return family, round(log_uniform(random, low, high) / half, 4)
    return family, 0.0


@dataclass(frozen=True)
class Text:
    """An expression as a function of arrays."""

    text: str

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return evaluate(self.text, x, y)


@dataclass(frozen=True)
class Solved:
    """Texts of a function, of its Laplacian and of Δ² of it, such as make a problem.

    truth: where the text holds at the boundary only. smooth: whether `exact` alone would do.
    """

    u: str
    laplacian: str
    bilaplacian: str = "0"
    truth: Data | None = None
    note: str = ""
    smooth: bool = False


def line(random: Random, description: Description) -> str:
    """t: the signed distance from a line through the domain."""
    angle, (x, y, _) = uniform(random, -3, 3), interior_point(random, description, 0.0)
    a, b = round(float(np.cos(angle)), 6), round(float(np.sin(angle)), 6)
    # a unit vector with six digits is not one: its length is divided by
    length = float(np.hypot(a, b))
    if random.random() < 0.3:  # along an axis, where lattices and jumps can hide each other
        return f"(x - {x!r})"
    return f"(({a!r}*x + {b!r}*y - {a * x + b * y!r})/{length!r})"


def _jump(random: Random, family: str, domain: Description) -> Solved:
    t, a, b = line(random, domain), uniform(random, 1, 20), uniform(random, -3, 3)
    if family == "biharmonic":
        u = f"{a}*max({t}, 0)**4 + {b}*(x**2 + y**2)"
        return Solved(u, f"{12 * a}*max({t}, 0)**2 + {4 * b}", f"where({t} > 0, {24 * a}, 0)")
    u = f"{a}*max({t}, 0)**2 + {b}*(x**2 + y**2)"
    return Solved(u, f"where({t} > 0, {2 * a + 4 * b}, {4 * b})")


def _kink(random: Random, family: str, domain: Description) -> Solved:
    t, a = line(random, domain), uniform(random, 1, 20)
    power = float(random.choice([2.2, 2.5, 3.0])) + (2 if family == "biharmonic" else 0)
    second, fourth = a * power * (power - 1), a * power * (power - 1) * (power - 2) * (power - 3)
    texts = [f"{factor!r}*abs({t})**{power - less!r}" for factor, less in ((a, 0), (second, 2), (fourth, 4))]
    return Solved(texts[0], texts[1], texts[2], note=f"|t|^{power:g}")


def _oscillation(random: Random, family: str, domain: Description) -> Solved:
    t, k, phase = line(random, domain), log_uniform(random, 3, 5000), uniform(random, -3, 3)
    a = 1.0 if random.random() < 0.5 else 1000 / k**2  # a solution of height 1, or a source of height 1,000
    base, wave = "x**2 - y**2 + x", f"cos({k}*{t} + {phase})"
    u = f"{base} + {a!r}*{wave}"
    return Solved(u, f"{-a * k**2!r}*{wave}", f"{a * k**4!r}*{wave}", note=f"k = {k:g}", smooth=True)


def _steep(random: Random, family: str, domain: Description) -> Solved:
    t, k = line(random, domain), log_uniform(random, 3, 1000)
    h = f"tanh({k}*{t})"
    second = f"{-2 * k**2!r}*{h}*(1 - {h}**2)"
    fourth = f"{k**4!r}*(1 - {h}**2)*(16*{h} - 24*{h}**3)"
    return Solved(h, second, fourth, note=f"k = {k:g}", smooth=True)


def _pole(random: Random, family: str, domain: Description) -> Solved:
    """1/(p − t), singular on a line that just misses the domain."""
    angle, miss = uniform(random, -3, 3), log_uniform(random, 0.02, 0.5)
    a, b = round(float(np.cos(angle)), 6), round(float(np.sin(angle)), 6)
    points = from_description(domain).sample_boundary(4000, seed=0)
    p = round(float((points @ (a, b)).max()) + miss, 6)
    s, square = f"({p!r} - ({a!r}*x + {b!r}*y))", a * a + b * b
    return Solved(f"1/{s}", f"{2 * square!r}/{s}**3", f"{24 * square**2!r}/{s}**5", note=f"gap {miss:g}", smooth=True)


def _growing(random: Random, family: str, domain: Description) -> Solved:
    """exp(q (r² − R²)), small inside, with r = R the furthest point of the domain; beyond it grows."""
    q, points = log_uniform(random, 3, 30), from_description(domain).sample_boundary(4000, seed=0)
    far = round(float((points**2).sum(axis=1).max()), 6)
    r2 = "(x**2 + y**2)"
    u = f"exp({q}*({r2} - {far!r}))"
    second = f"({4 * q} + {4 * q * q!r}*{r2})*{u}"
    fourth = f"({32 * q**2!r} + {64 * q**3!r}*{r2} + {16 * q**4!r}*{r2}**2)*{u}"
    return Solved(u, second, fourth, note=f"q = {q:g}", smooth=True)


def _weak(random: Random, family: str, domain: Description) -> Solved:
    """r^α about a point inside: the source is infinite there, or nearly."""
    x, y, _ = interior_point(random, domain)
    power = float(random.choice([3.0, 3.5])) if family == "biharmonic" else float(random.choice([0.7, 1.0, 1.5, 2.5]))
    r2, a = f"((x - {x!r})**2 + (y - {y!r})**2)", 1.0
    texts, order = [], 4 if family == "biharmonic" else 2
    note = f"source r^{power - order:g}"
    for _ in range(3):
        texts.append(f"{a!r}*{r2}**{power / 2!r}")
        a, power = a * power**2, power - 2
    return Solved(*texts, note=note)


def _blister(random: Random, family: str, domain: Description) -> Solved:
    """A (1 − ρ²/a²)ⁿ within a small disk, 0 elsewhere, on a smooth ground: all that is special is in the disk."""
    x, y, depth = interior_point(random, domain)
    a = min(log_uniform(random, 0.001, 0.3), round(0.9 * depth, 6))
    height = uniform(random, 0.3, 3)
    rho2 = f"((x - {x!r})**2 + (y - {y!r})**2)"
    q = f"max(1 - {rho2}/{a * a!r}, 0)"
    inside = f"{rho2} < {a * a!r}"
    if family == "biharmonic":
        u = f"x*y + {height}*{q}**4"
        second = f"{4 * height / a**2!r}*(12*{q}**2 - 16*{q}**3)"
        return Solved(
            u, second, f"where({inside}, {16 * height / a**4!r}*(24 - 144*{q} + 144*{q}**2), 0)", note=f"a = {a:g}"
        )
    u = f"x*y + {height}*{q}**2"
    return Solved(u, f"where({inside}, {4 * height / a**2!r}*(2 - 4*{q}), 0)", note=f"a = {a:g}")


def _gaussian(random: Random, family: str, domain: Description) -> Solved:
    """A narrow Gaussian as a part of the solution."""
    x, y, _ = interior_point(random, domain)
    s = log_uniform(random, 0.001, 0.3)
    rho2 = f"((x - {x!r})**2 + (y - {y!r})**2)"
    q, e = f"({rho2}/{s * s!r})", f"exp(-{rho2}/{s * s!r})"
    u, second = f"x*y + {e}", f"{4 / s**2!r}*({q} - 1)*{e}"
    return Solved(u, second, f"{16 / s**4!r}*({q}**2 - 4*{q} + 2)*{e}", note=f"width {s:g}", smooth=True)


@dataclass(frozen=True)
class Bump:
    """The solution of Δu = A exp(−ρ²/s²): (A s²/4) (log ρ² + E₁(ρ²/s²))."""

    x: float
    y: float
    s: float
    height: float

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        from scipy.special import exp1

        rho2 = np.maximum((x - self.x) ** 2 + (y - self.y) ** 2, 1e-30 * self.s**2)
        return 0.25 * self.height * self.s**2 * (np.log(rho2) + exp1(rho2 / self.s**2))


def _bump(random: Random, family: str, domain: Description) -> Solved:
    """A narrow Gaussian source, mass about 1; its solution is a logarithm, to rounding, at the boundary."""
    x, y, depth = interior_point(random, domain)
    s = min(log_uniform(random, 0.001, 0.3), float(f"{depth / 6.4:.3g}"))
    height = float(f"{log_uniform(random, 0.1, 10) / s**2:.4g}")
    rho2 = f"((x - {x!r})**2 + (y - {y!r})**2)"
    source, outside = f"{height!r}*exp(-{rho2}/{s * s!r})", f"{0.25 * height * s * s!r}*log({rho2})"
    return Solved(outside, source, truth=Bump(x, y, s, height), note=f"width {s:g}")


def _heater(random: Random, family: str, domain: Description) -> Solved:
    """One to four disks of constant source: quadratic inside, logarithms outside."""
    sources, walls, inner = [], [], []
    for _ in range(int(random.integers(1, 5))):
        x, y, depth = interior_point(random, domain)
        a = min(log_uniform(random, 0.005, 0.3), round(0.8 * depth, 6))
        height = uniform(random, -100, 100)
        rho2, a2 = f"((x - {x!r})**2 + (y - {y!r})**2)", a * a
        sources.append(f"where({rho2} < {a2!r}, {height}, 0)")
        walls.append(f"{0.25 * height * a2!r}*log({rho2})")
        inner.append(
            f"where({rho2} < {a2!r}, {0.25 * height!r}*({rho2} - {a2!r} + {a2 * math.log(a2)!r}), {walls[-1]})"
        )
    return Solved(" + ".join(walls), " + ".join(sources), truth=" + ".join(inner))


MAKERS = {
    "jump": _jump,
    "kink": _kink,
    "oscillation": _oscillation,
    "steep": _steep,
    "pole": _pole,
    "growing": _growing,
    "weak": _weak,
    "blister": _blister,
    "gaussian": _gaussian,
    "bump": _bump,
    "heater": _heater,
}
POISSON_ONLY = ("bump", "heater")


def source_kind(name: str) -> Callable[[Random], Draft]:
    """The function that draws cases of this kind. Of smooth solutions, half are given as `exact` alone."""

    def make(random: Random) -> Draft:
        place, domain = any_domain(random, easy=0.65)
        family, parameter = family_of(random, ("poisson",) if name in POISSON_ONLY else SOURCED, domain)
        found = MAKERS[name](random, family, domain)
        data = make_data(family, parameter, found.u, found.laplacian, found.bilaplacian)
        if found.smooth and random.random() < 0.5:
            data = {"exact": found.u}
        truth = found.u if found.truth is None else found.truth
        return Draft(domain, family, data, truth, parameter, note=f"{place}; {found.note}")

    return make


def grounded(random: Random) -> Draft:
    """Any of the sources on the unit disk, with 0 on the boundary: the solution may be far smaller than the source."""
    name = str(random.choice(["jump", "kink", "oscillation", "weak", "blister", "bump", "heater"]))
    family, parameter = family_of(random, ("poisson",) if name in POISSON_ONLY else SOURCED, UNIT_DISK)
    found = MAKERS[name](random, family, UNIT_DISK)
    w = Text(found.u) if found.truth is None else found.truth if callable(found.truth) else Text(found.truth)
    c = zeroth(family, parameter)
    data = make_data(family, parameter, found.u, found.laplacian, found.bilaplacian) | {"boundary": 0.0}
    upper = None
    if family == "biharmonic":
        data["laplacian"] = 0.0
        upper = Text(found.laplacian)
    truth = Grounded(w, c, upper)
    return Draft(UNIT_DISK, family, data, truth, parameter, accuracy=1e-10, note=f"{name}; {found.note}")
