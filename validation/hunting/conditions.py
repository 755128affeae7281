"""Problems with Neumann and Robin conditions, and their solutions: what `solve` claims of them, against the truth.

    python -m validation.hunting.conditions [--count 200] [--seed 0] [--only KIND …] [--json] [--strict]
    python -m validation.hunting.conditions --case 17

Every problem is drawn from (seed, index); the kinds take turns. Its boundary is cut into parts at random, in the middle
of smooth sides too, and each part is given u, ∂u/∂n or ∂u/∂n + μu of a solution that is known.
"""

import argparse
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

import mc2
from mc2 import Clamped, Dirichlet, Neumann, Robin
from mc2.errors import InputError
from mc2.geometry import Domain, from_description
from mc2.problems.condition import Condition
from validation.hunting.boundaries import angle
from validation.hunting.case import CLASSES, Data, Field, log_uniform, uniform
from validation.hunting.disk import arc_modes, continued, modes_of
from validation.hunting.judge import OutOfTime, deadline
from validation.hunting.shapes import UNIT_DISK, any_domain, notch, walled
from validation.hunting.sources import Text, family_of
from validation.markdown import table

Random = np.random.Generator
Row = dict[str, Any]
GRID = 96
FAMILIES = ("laplace", "poisson", "yukawa", "helmholtz")


@dataclass(frozen=True)
class Given:
    """A problem with its solution.

    problem: with its data alone. truth: its solution, as a function of arrays. note: what is special, in a few words.
    free: whether u is known but for a constant. accuracy: of the truth, relative to its largest value; errors below are
    held by any claim.
    """

    problem: mc2.Problem
    truth: Field
    note: str
    free: bool = False
    accuracy: float = 1e-12


def draw(seed: int, index: int) -> tuple[str, Given]:
    """The kind and the problem of a number. The same two numbers give the same problem."""
    names = list(KINDS)
    kind = names[index % len(names)]
    for attempt in range(50):
        random = np.random.default_rng((seed, index, attempt))
        try:
            return kind, KINDS[kind](random)
        except InputError:  # a part that is empty, or a pole that does not fit: another one
            continue
    raise RuntimeError(f"no problem of kind {kind} fits")


def cut_up(random: Random, domain: Domain, most: int = 4) -> Domain:
    """The domain with some pieces of its boundary marked: those beyond lines."""
    x, y = domain.sample_boundary(200, seed=int(random.integers(1 << 30))).T
    for number in range(int(random.integers(most + 1))):
        turn = random.uniform(0, 2 * np.pi)
        share = log_uniform(random, 1e-3, 0.5) if random.random() < 0.4 else random.uniform(0.1, 0.9)
        along = np.cos(turn) * x + np.sin(turn) * y
        level = float(np.quantile(along, 1 - share))
        where = f"{math.cos(turn)!r}*x + {math.sin(turn)!r}*y > {level!r}"
        try:
            domain = domain.mark(f"cut {number}", where)
        except InputError:
            continue
    return domain


def robin(random: Random) -> Data:
    """A coefficient: a number over many decades, or a function."""
    if random.random() < 0.25:
        return str(random.choice(["1 + x**2", "max(x, 0)", "exp(5*y)", "where(x > 0.1, 3, 0.2)"]))
    return log_uniform(random, 1e-8, 1e8) if random.random() < 0.5 else log_uniform(random, 0.1, 50)


def conditions(random: Random, domain: Domain, *, insulated: bool = False) -> dict[str, Condition]:
    """A condition for every part; data follow from the solution."""
    found: dict[str, Condition] = {}
    for part in domain.parts:
        kind = 1 if insulated else int(random.integers(3))
        found[part.name] = (Dirichlet(), Neumann(), Robin(robin(random)))[kind]
    return found


def posed(
    random: Random,
    domain: Domain,
    family: str,
    parameter: float,
    u: str,
    note: str,
    *,
    insulated: bool = False,
    held: Collection[str] = (),
) -> Given:
    """A problem that a text solves, in any units, which does not know its solution.

    insulated: Neumann data all around. held: parts with Dirichlet data.
    """
    size = log_uniform(random, 1e-6, 1e6) if random.random() < 0.15 else 1.0
    if size != 1.0:
        domain, u, parameter = (
            domain.scale(size),
            _stretched(u, size),
            parameter / size ** (2 - (family == "helmholtz")),
        )
        note += f"; size {size:g}"
    parameters = {"yukawa": {"lam": parameter}, "helmholtz": {"k": parameter}}.get(family, {})
    given = conditions(random, domain, insulated=insulated)
    if size != 1.0:
        given = {name: Robin(log_uniform(random, 0.1, 50) / size) if isinstance(one, Robin) else one
                 for name, one in given.items()}  # fmt: skip
    given |= {name: Dirichlet() for name in held}
    if not any(condition.reflecting for condition in given.values()):
        given[next(part.name for part in domain.parts if part.name not in held)] = Neumann()
    problem = getattr(mc2, CLASSES[family])(domain, exact=u, boundary=given, **parameters)
    problem.exact = None  # only the data say what it is
    free = all(isinstance(condition, Neumann) for condition in given.values()) and family in ("laplace", "poisson")
    kinds = " ".join(condition.word[0] for condition in given.values())
    return Given(problem, Text(u), f"{note}; {kinds}", free)


def _stretched(u: str, size: float) -> str:
    return re.sub(r"\b([xy])\b", lambda match: f"({match[0]}/{size!r})", u)


def smooth(random: Random) -> Given:
    """An entire solution, on any domain."""
    place, description = any_domain(random)
    family, parameter = family_of(random, FAMILIES, description)
    k = log_uniform(random, 0.5, 12)
    u = f"exp({k}*x)*sin({k}*y)/{math.exp(k):.6g} + x" if family == "laplace" else f"cos({k}*x + 1)*(1 + y) + x*y**2"
    return posed(random, cut_up(random, from_description(description)), family, parameter, u, f"{place}; k = {k:g}")


def insulated(random: Random) -> Given:
    """Neumann data all around."""
    place, description = any_domain(random)
    family, parameter = family_of(random, FAMILIES, description)
    u = "exp(x)*sin(y) + x" if family == "laplace" else "cos(2*x + 1)*(1 + y) + x*y**2"
    domain = cut_up(random, from_description(description))
    return posed(random, domain, family, parameter, u, place, insulated=True)


def corner(random: Random) -> Given:
    """r^p cos(pθ) at a re-entrant corner, with any power."""
    opening = uniform(random, 1.05 * np.pi, 1.97 * np.pi)
    power = (
        float(random.choice([0.5, 1.0, 1.5])) * np.pi / opening if random.random() < 0.8 else uniform(random, 0.2, 0.9)
    )
    u = f"(x**2 + y**2)**{power / 2!r}*cos({power!r}*arctan2(y, x))"
    domain = cut_up(random, from_description(notch(random, opening)), 2)
    return posed(random, domain, "laplace", 0.0, u, f"opening {opening:.3f}, power {power:.3f}")


def near_pole(random: Random) -> Given:
    """A logarithm around a point close outside the boundary."""
    for _ in range(50):
        place, description = any_domain(random)
        found = walled(random, description)
        if found is None:
            continue
        at, normal = found
        gap = log_uniform(random, 1e-3, 0.5)
        pole = at + gap * normal
        if -from_description(description).distance(pole.real, pole.imag) > 0.9 * gap:
            u = f"log((x - {pole.real!r})**2 + (y - {pole.imag!r})**2)"
            domain = cut_up(random, from_description(description))
            return posed(random, domain, "laplace", 0.0, u, f"{place}; gap {gap:g}")
    raise InputError("no pole fits")


def jump(random: Random) -> Given:
    """Data that jump or bend at a point p of the boundary, in the middle of a part or where parts meet.

    u is arg(z − p), which jumps, where it is given there, or Im w log w with w = z − p, whose derivative jumps.
    """
    for _ in range(50):
        place, description = any_domain(random, easy=0.7)
        found = walled(random, description)
        if found is None:
            continue
        domain, (at, outward) = cut_up(random, from_description(description)), found
        u = angle(at, outward)
        near = at + 1e-6 * np.exp(2j * np.pi * np.arange(8) / 8)
        held = {domain.parts[index].name for index in domain.part_index(near.real, near.imag)}
        if random.random() < 0.5:
            x, y = f"(x - {at.real!r})", f"(y - {at.imag!r})"
            u, held = f"{y}*0.5*log({x}**2 + {y}**2) + {x}*{u}", set()
        if len(held) < len(domain.parts):
            return posed(random, domain, "laplace", 0.0, u, place, held=held)
    raise InputError("no point fits")


ROUGH: dict[str, tuple[Callable[[int], np.ndarray], float]] = {
    "abs(x)": (lambda count: modes_of(Text("abs(x)"), count, 1 << 20), 2 / np.pi),
    "where(x > 0.3, 1, 0)": (lambda count: arc_modes(0.0, math.acos(0.3), count), math.acos(0.3) / np.pi),
    "max(y - 0.5, 0)": (
        lambda count: modes_of(Text("max(y - 0.5, 0)"), count, 1 << 20),
        (math.sqrt(3) - np.pi / 3) / (2 * np.pi),
    ),
    "cos(40*x)*x": (lambda count: modes_of(Text("cos(40*x)*x"), count), 0.0),
}
"""Data on the unit circle that are not smooth, or fast; their modes, and their means."""


def rough(random: Random) -> Given:
    """Data on the whole unit circle that are not smooth: the modes of the solution follow from theirs."""
    text = str(random.choice(list(ROUGH)))
    make, mean = ROUGH[text]
    modes = make(1 << 14).astype(complex)
    n, mu = np.arange(modes.size), log_uniform(random, 1e-3, 1e3)
    if random.random() < 0.5:
        modes[0] = 0.0
        modes[1:] /= n[1:]
        problem = mc2.Laplace(from_description(UNIT_DISK), boundary=Neumann(f"{text} - {mean!r}"))
        return Given(problem, Modes(modes), f"{text}, Neumann", True, 1e-11)
    problem = mc2.Laplace(from_description(UNIT_DISK), boundary=Robin(mu, text))
    return Given(problem, Modes(modes / (n + mu)), f"{text}, μ = {mu:g}", accuracy=1e-11)


@dataclass(frozen=True)
class Modes:
    """The harmonic function on the unit disk with these modes."""

    modes: np.ndarray

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return continued(self.modes, 0.0, x, y)


@dataclass(frozen=True)
class Strip:
    """Re arcosh(x + iy)/a): 0 on the segment from −a to a of y = 0, and without a slope on the rest of that line."""

    half: float
    center: float

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        w = ((np.asarray(x, float) - self.center) + 1j * np.maximum(y, 0.0)) / self.half
        return np.asarray(np.log(np.abs(w + np.sqrt(w - 1) * np.sqrt(w + 1))))


def electrode(random: Random) -> Given:
    """A narrow part where u = 0 on an insulated side."""
    half, center = log_uniform(random, 1e-5, 0.5), uniform(random, -0.4, 0.4)
    shape = {"shape": "rectangle", "a": 1.0, "b": 0.5, "center": [0.0, 0.5]}
    domain = from_description(shape).mark("electrode", f"abs(x - {center!r}) < {half!r}", on="bottom")
    truth = Strip(half, center)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it cannot be compiled
        problem = mc2.Laplace(domain, boundary={"electrode": 0, "bottom": Neumann(0), "*": truth})
    return Given(problem, truth, f"half-width {half:g}")


def plate(random: Random) -> Given:
    """Clamped parts, and simply supported ones, of a plate: smooth solutions, and x r^p cos(pθ) at a corner."""
    if random.random() < 0.5:
        opening, power = uniform(random, 1.05 * np.pi, 1.9 * np.pi), uniform(random, 0.3, 2.7)
        description, note = notch(random, opening), f"opening {opening:.3f}, power {power:.3f}"
        u = f"x*(x**2 + y**2)**{power / 2!r}*cos({power!r}*arctan2(y, x))"
    else:
        place, description = any_domain(random)
        k = log_uniform(random, 0.5, 8)
        u, note = f"cos({k}*x + 1)*(1 + y) + x*y**2", f"{place}; k = {k:g}"
    domain = cut_up(random, from_description(description), 2)
    size = log_uniform(random, 1e-6, 1e6) if random.random() < 0.2 else 1.0
    domain, u = domain.scale(size), _stretched(u, size)
    given: dict[str, Any] = {part.name: Clamped() if random.random() < 0.6 else u for part in domain.parts}
    given[domain.parts[0].name] = Clamped()
    problem = mc2.Biharmonic(domain, exact=u, boundary=given)
    problem.exact = None
    return Given(
        problem, Text(u), f"{note}; {sum(isinstance(one, str) for one in given.values())} supported; size {size:g}"
    )


KINDS: dict[str, Callable[[Random], Given]] = {
    "smooth": smooth,
    "insulated": insulated,
    "corner": corner,
    "near pole": near_pole,
    "jump": jump,
    "rough": rough,
    "electrode": electrode,
    "plate": plate,
}


def run(kind: str, given: Given, seconds: float = 30.0) -> Row:
    """Solve a problem, and compare the bound with the true error."""
    row: Row = {"kind": kind, "note": given.note, "family": given.problem.name}
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with deadline(seconds):
                solution = mc2.solve(given.problem, grid=GRID)
        except InputError as error:
            return row | {"outcome": "refused", "message": str(error), "seconds": time.perf_counter() - begin}
        except OutOfTime:
            return row | {"outcome": "out of time", "seconds": time.perf_counter() - begin}
        except Exception as error:  # a crash is what we hunt for
            return row | {"outcome": "crashed", "message": repr(error), "seconds": time.perf_counter() - begin}
    row |= {"outcome": "solved", "seconds": time.perf_counter() - begin, "method": solution.method}
    x, y = (c[solution.mask] for c in solution.grid.points())
    truth = given.truth(x, y)
    error = solution.values[solution.mask] - truth
    if given.free:
        error -= error.mean()
    size, bar = float(np.abs(truth).max()), solution.standard_error[solution.mask]
    true, claimed = float(np.sqrt(np.mean(error**2))), float(np.sqrt(np.mean(bar**2)))
    row |= {"relative error": true / size, "claimed": claimed / size}
    row["within"] = float(np.mean(np.abs(error) <= 1.96 * bar + given.accuracy * size))
    row["off"] = 0.0 if true < given.accuracy * size else true / max(claimed, 1e-300)
    return row


def report(rows: list[Row]) -> Row:
    """The rows by kind."""
    found = {}
    for kind in (*KINDS, "all"):
        own = [row for row in rows if kind in (row["kind"], "all")]
        solved = [row for row in own if row["outcome"] == "solved"]
        if not own:
            continue
        errors, widths = ([row[name] for row in solved] for name in ("relative error", "claimed"))
        found[kind] = {
            "problems": len(own),
            "solved": len(solved),
            **{what: sum(row["outcome"] == what for row in own) for what in ("refused", "out of time", "crashed")},
            "median error": _median(errors),
            "worst error": max(errors, default=None),
            "median claimed / true": _median([w / max(e, 1e-12) for w, e in zip(widths, errors, strict=True)]),
            "bound held": _mean([row["off"] <= 1 for row in solved]),
            "worst off": max((row["off"] for row in solved), default=None),
            "within": _mean([row["within"] for row in solved]),
            "median seconds": _median([row["seconds"] for row in own]),
            "most seconds": max(row["seconds"] for row in own),
        }
    return found


def _median(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def _mean(values: list[Any]) -> float | None:
    return float(np.mean(values)) if values else None


def broken(row: Row) -> bool:
    """Whether a claim is off by more than three times, or something crashed."""
    return row["outcome"] == "crashed" or row.get("off", 0.0) > 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="problems to draw")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other problems")
    parser.add_argument("--only", nargs="+", choices=list(KINDS), metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--case", type=int, help="one problem again")
    parser.add_argument("--seconds", type=float, default=30.0, help="after which a problem is given up")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a claim is off by more than three times")
    asked = parser.parse_args()
    if asked.case is not None:
        print(json.dumps(run(*draw(asked.seed, asked.case), asked.seconds), indent=2))
        return 0
    names, rows, index = list(KINDS), [], -1
    while len(rows) < asked.count:
        index += 1
        if asked.only and names[index % len(names)] not in asked.only:
            continue
        rows.append({"case": index} | run(*draw(asked.seed, index), asked.seconds))
        if broken(rows[-1]) or rows[-1]["outcome"] != "solved":
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    found = report(rows)
    if asked.json:
        print(json.dumps({"seed": asked.seed, "kinds": found, "cases": rows}, indent=1))
    else:
        head = ["kind", *found["all"]]
        print(table(head, [[kind, *(_cell(value) for value in row.values())] for kind, row in found.items()]))
    return int(asked.strict and any(map(broken, rows)))


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.2g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
