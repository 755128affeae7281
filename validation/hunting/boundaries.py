"""Kinds of cases whose boundary data or domain are hard: electrodes, jumps, kinks, corners, fast oscillations."""

import numpy as np

from mc2.geometry import from_description
from validation.hunting.case import Draft, log_uniform, make_data, uniform, zeroth
from validation.hunting.disk import Arc, Cosine, Rim, Side, heated_side
from validation.hunting.shapes import (
    HARD,
    SQUARE,
    UNIT_DISK,
    Description,
    any_domain,
    convex,
    notch,
    stays_outside,
    walled,
)
from validation.hunting.sources import MAKERS, Text, family_of

Random = np.random.Generator
ALL = ("laplace", "laplace", "poisson", "yukawa", "helmholtz", "biharmonic")


def _shifted(at: complex, turn: complex) -> tuple[str, str]:
    """Real and imaginary part of (z − at)·turn as texts."""
    x, y = f"(x - {at.real!r})", f"(y - {at.imag!r})"
    return f"({turn.real!r}*{x} - {turn.imag!r}*{y})", f"({turn.imag!r}*{x} + {turn.real!r}*{y})"


def angle(at: complex, outward: complex) -> str:
    """arg(z − at), with its cut along the outward direction."""
    real, imaginary = _shifted(at, -outward.conjugate())
    return f"arctan2({imaginary}, {real})"


def harmonic(random: Random, description: Description, u: str, note: str) -> Draft:
    """A problem of any family that a harmonic function solves: the source is cu."""
    family, parameter = family_of(random, ALL, description)
    return Draft(description, family, make_data(family, parameter, u, "0"), u, parameter, note=note)


def electrode(random: Random) -> Draft:
    """A voltage on a piece of the boundary, half-width 1e-4 to 0.3, and nearly 0 on the rest."""
    for _ in range(50):
        place, domain = any_domain(random, easy=0.6)
        found = walled(random, domain)
        if found is None:
            continue
        (first, normal), half = found, log_uniform(random, 1e-4, 0.3)
        aim = first + 2 * half * 1j * normal
        second = complex(*map(float, from_description(domain).project(aim.real, aim.imag)))
        if abs(second - first) > half and stays_outside(domain, second, normal):
            height = float(random.choice([1.0, 1.0, 100.0, 1e4]))
            u = f"{height / np.pi!r}*({angle(second, normal)} - {angle(first, normal)})"
            return harmonic(random, domain, u, f"{place}; half-width {half:g}")
    raise RuntimeError("no electrode fits")


def corner_jump(random: Random) -> Draft:
    """Data that jump, or bend, exactly at or very near a vertex: arg w or Im(w log w) about it."""
    for _ in range(50):
        domain = {"polygon": HARD["polygon"], "convex": convex, "notch": notch}[
            str(random.choice(["polygon", "convex", "notch"]))
        ](random)
        corners = from_description(domain).corners()
        if not corners:
            continue
        corner = corners[int(random.integers(len(corners)))]
        at, outward = complex(*corner.center), complex(np.exp(1j * corner.outward))
        at += float(random.choice([0.0, 0.0, 1e-6, 1e-3])) * outward
        if stays_outside(domain, at, outward):
            real, imaginary = _shifted(at, -outward.conjugate())
            if random.random() < 0.5:
                return harmonic(random, domain, angle(at, outward), "jump")
            u = f"{imaginary}*0.5*log({real}**2 + {imaginary}**2) + {real}*{angle(at, outward)}"
            return harmonic(random, domain, u, "kink")
    raise RuntimeError("no corner fits")


def arc(random: Random) -> Draft:
    """An electrode on the unit disk as `where` would have it: a height on an arc, 0 on the rest, no source."""
    half, middle = log_uniform(random, 1e-4, 1.0), uniform(random, -2.0, 2.0)
    height = float(random.choice([1.0, 1.0, 100.0, 1e4]))
    family, parameter = family_of(random, ALL, UNIT_DISK)
    g = f"where(abs(arctan2(y, x) - ({middle})) < {half}, {height}, 0)"
    data, truth = {"boundary": g}, Arc(middle, half, height, zeroth(family, parameter))
    if family != "laplace":
        data["source"] = "0"
    if family == "biharmonic":
        data["laplacian"] = "0"
        if random.random() < 0.5:
            data, truth = {"source": "0", "boundary": "0", "laplacian": g}, Arc(middle, half, height, lift=True)
    accuracy = 1e-12 if isinstance(truth, Arc) and truth.c == 0 and not truth.lift else 1e-9
    return Draft(UNIT_DISK, family, data, truth, parameter, accuracy, f"half-width {half:g}")


def fast(random: Random) -> Draft:
    """cos(mθ) on the unit circle, m up to 3,000."""
    m, (family, parameter) = round(log_uniform(random, 1, 3000)), family_of(random, ALL, UNIT_DISK)
    g, c = f"cos({m}*arctan2(y, x))", zeroth(family, parameter)
    data, truth = {"boundary": g}, Cosine(m, c)
    if family != "laplace":
        data["source"] = "0"
    if family == "biharmonic":
        data["laplacian"] = "0"
        if random.random() < 0.5:
            data, truth = {"source": "0", "boundary": "0", "laplacian": g}, Cosine(m, lift=True)
    return Draft(UNIT_DISK, family, data, truth, parameter, accuracy=1e-11, note=f"m = {m}")


def corner(random: Random) -> Draft:
    """r^p cos(pθ) at a re-entrant corner: the exponent of the corner, or a worse one."""
    opening = uniform(random, 1.05 * np.pi, 1.97 * np.pi)
    power = float(np.pi / opening) if random.random() < 0.6 else uniform(random, 0.1, 0.9)
    u = f"(x**2 + y**2)**{power / 2!r}*cos({power!r}*arctan2(y, x))"
    return harmonic(random, notch(random, opening), u, f"opening {opening:.3f}, power {power:.3f}")


def charge(random: Random) -> Draft:
    """The logarithm of the distance to a charge just outside, or in a hole, of a hard domain."""
    for _ in range(50):
        place, domain = any_domain(random, easy=0.2)
        found = walled(random, domain)
        if found is not None:
            (at, normal), away = found, log_uniform(random, 1e-3, 0.5)
            q = at + away * normal
            made = from_description(domain)
            if made.distance(q.real, q.imag) < -0.2 * away:
                u = f"log((x - {q.real!r})**2 + (y - {q.imag!r})**2)"
                return harmonic(random, domain, u, f"{place}; {away:g} outside")
    raise RuntimeError("no charge fits")


def smooth(random: Random) -> Draft:
    """An entire function on a hard domain: whatever goes wrong, the domain did it."""
    name = str(random.choice(list(HARD)))
    domain = HARD[name](random)
    family, parameter = family_of(random, ALL, domain)
    if family == "laplace":
        u = ["exp(x)*cos(y) + x*y", "x**3 - 3*x*y**2", "sinh(2*y)*sin(2*x)"][int(random.integers(3))]
    else:
        u = ["sin(2*x + y) + y**2", "exp(0.5*x - y)", "x**4 - x*y**2 + 1"][int(random.integers(3))]
    return Draft(domain, family, {"exact": u}, u, parameter, note=name)


def polygonal(random: Random) -> Draft:
    """A polygon of 3 to 300 vertices, with a source that jumps or a charge nearby."""
    domain = HARD["polygon"](random)
    family, parameter = family_of(random, ("poisson", "yukawa", "helmholtz", "biharmonic"), domain)
    found = MAKERS[str(random.choice(["jump", "kink"]))](random, family, domain)
    data = make_data(family, parameter, found.u, found.laplacian, found.bilaplacian)
    return Draft(domain, family, data, found.u, parameter, note=f"{len(domain['vertices'])} vertices")


def wave(random: Random) -> Draft:
    """Helmholtz far above what walks can do: a plane wave without a source, k up to 500."""
    place, domain = any_domain(random, easy=0.6)
    k, turn = log_uniform(random, 3, 500), uniform(random, -3, 3)
    a, b = float(np.cos(turn)), float(np.sin(turn))
    u = f"cos({k}*({a!r}*x + {b!r}*y) + {uniform(random, -3, 3)})"
    return Draft(domain, "helmholtz", {"source": "0", "boundary": u}, u, k, note=f"{place}; k = {k:g}")


def drum(random: Random) -> Draft:
    """Helmholtz on the unit disk with one mode on the boundary, k up to 500: near its resonances it is ill posed."""
    k, m = log_uniform(random, 2, 500), int(random.choice([0, 0, 1, 5]))
    g = "1" if m == 0 else f"cos({m}*arctan2(y, x))"
    return Draft(UNIT_DISK, "helmholtz", {"source": "0", "boundary": g}, Cosine(m, k * k), k, 1e-9, f"k = {k:g}")


def rim(random: Random) -> Draft:
    """Data that bend, peak or end in a root on the unit circle, without a source; or the heated side of a square."""
    if random.random() < 0.2:
        height = float(random.choice([1.0, 100.0]))
        data = {"boundary": Side(height, bool(random.random() < 0.7))}
        return Draft(SQUARE, "laplace", data, heated_side(height), accuracy=1e-9, note="a side")
    a, w = uniform(random, -0.9, 0.9), log_uniform(random, 0.003, 0.3)
    rims = {
        "kink": f"abs(x - {a})",
        "ramp": f"max(x - {a}, 0)",
        "root": f"sqrt(abs(y - {a}))",
        "peak": f"exp(-(y - {a})**2/{w * w!r})",
        "tent": f"max(1 - abs(y - {a})/{w}, 0)",
        "spike": f"1/({1 + w} - x)",
    }
    name = str(random.choice(list(rims)))
    return on_rim(random, rims[name], f"{name}; a = {a}, w = {w:g}")


def on_rim(random: Random, g: str, note: str) -> Draft:
    """A problem on the unit disk with these boundary data, and no source."""
    family, parameter = family_of(random, ALL, UNIT_DISK)
    data, c = {"boundary": g}, zeroth(family, parameter)
    if family != "laplace":
        data["source"] = "0"
    lift = family == "biharmonic" and bool(random.random() < 0.5)
    if family == "biharmonic":
        data |= {"boundary": "0", "laplacian": g} if lift else {"laplacian": "0"}
    truth = Rim(Text(g), c, lift)
    return Draft(UNIT_DISK, family, data, truth, parameter, accuracy=1e-9, note=note)


KINDS = {
    "electrode": electrode,
    "arc": arc,
    "corner jump": corner_jump,
    "fast": fast,
    "corner": corner,
    "charge": charge,
    "smooth": smooth,
    "polygonal": polygonal,
    "wave": wave,
    "drum": drum,
    "rim": rim,
}
