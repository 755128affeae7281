"""Reflecting walks against exact solutions: every equation and kind of condition on five domains, and the bias of ε.

    python -m validation.stars [--json] [--walks 4096] [--only laplace]     a few minutes
    python -m validation.stars --bias 4194304                               the bias of ε, as JSON

z is the error of a pixel's mean in its standard errors. Without bias it has mean 0 and variance 1. The tests assert a
part of it.
"""

import argparse
import json
import sys

import numpy as np

import mc2
from mc2 import Dirichlet, Neumann, Robin
from mc2.geometry import Annulus, Disk, Domain, Grid, Polygon, Rectangle, Square
from mc2.problems import FAMILIES, Problem
from mc2.walks import Options, estimate, trajectory
from mc2.walks.schedule import WalkTask
from mc2.walks.stars import Walker, scores
from mc2.walks.start_points import StartPoints
from mc2.walks.walls import nearest_walls
from validation.markdown import table

DOMAINS: dict[str, Domain] = {
    "disk": Disk(1.0).mark("a", "x > 0.5").mark("b", "x < -0.3"),
    "square": Square(0.9, angle=0.3),
    "annulus": Annulus(0.35, 1.1),
    "L-shape": Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]),
    "polygon": Polygon(
        [(-0.9, -0.8), (0.9, -0.7), (0.8, 0.9), (-0.2, 0.5), (-0.8, 0.8)],
        holes=[[(-0.3, -0.3), (0.2, -0.2), (0.0, 0.2)]],
    ),
}
EQUATIONS = {"laplace": {}, "poisson": {}, "yukawa": {"lam": 25.0}}
SOLUTIONS = dict.fromkeys(EQUATIONS, "sin(3*x)*cos(2*y) + exp(x)*tanh(y)") | {
    "laplace": "exp(x)*cos(y) + log((x - 2)**2 + (y - 1)**2)"
}
T4 = mc2.Laplace(
    Rectangle(width=0.6, height=1.0, center=(0.3, 0.5)),
    {"bottom": 100, "left": Neumann(0), "right": Robin(750 / 52, 0), "top": Robin(750 / 52, 0)},
)
T4_EXACT = 18.25375653713
"""T(0.6, 0.2), from the series."""
PORTION = 1 << 14
KINDS = ("neumann", "robin", "mixed")
ROUNDING = 1e-6
"""Of walks in float32: a pixel may lie on the boundary, where they have no noise."""


def conditions(kind: str, equation: str, domain: Domain) -> dict[str, object]:
    """`neumann`: but on one part, where u must be given; `robin`: everywhere; `mixed`: all three kinds in turn."""
    names = [part.name for part in domain.parts]
    if kind == "robin":
        return {name: Robin("1 + 0.5*x") if index % 2 else Robin(2.0) for index, name in enumerate(names)}
    if kind == "neumann":
        own = {"*": Neumann()}
        return own if equation == "yukawa" else {names[0]: Dirichlet()} | own
    each = (Neumann(), Robin(3.0), Dirichlet())
    return {name: each[index % 3] for index, name in enumerate(names)} | (
        {} if len(names) > 2 else {names[0]: Robin(1.5)}
    )


def problem(equation: str, kind: str, name: str) -> Problem:
    """A problem with a known solution."""
    domain = DOMAINS[name]
    given = conditions(kind, equation, domain)
    return FAMILIES[equation](domain, boundary=given, exact=SOLUTIONS[equation], **EQUATIONS[equation])


def errors(task: Problem, walks: int = 4096, size: int = 16, **options) -> tuple[np.ndarray, mc2.Estimate]:
    """z of every pixel, and the estimate."""
    grid = Grid.covering(task.domain, size)
    found = estimate(task, walks, grid=grid, **options)
    error = found.mean - task.on_grid(task.exact, grid)
    return (error / np.sqrt(found.variance + ROUNDING**2))[found.mask], found


def slope(task: Problem, seeds: int = 4) -> float:
    """The slope of log MSE over log budget, from 1 to 256 walks; −1 in theory."""
    grid = Grid.covering(task.domain, 24)
    exact, budgets = task.on_grid(task.exact, grid), [2**power for power in range(9)]
    total = np.zeros(len(budgets))
    for seed in range(seeds):
        for index, one in enumerate(trajectory(task, budgets, grid=grid, seed=seed)):
            total[index] += np.mean((one.mean - exact)[one.mask] ** 2)
    return float(np.polyfit(np.log(budgets), np.log(total), 1)[0])


def bias(epsilon: float, settled: bool, walks: int = 1 << 22) -> tuple[float, float]:
    """The error of T(0.6, 0.2) in the benchmark T4 of NAFEMS, and its standard error, where balls on walls have
    the radius ε: with the factor 1/(1 + 2μR/π) of a step from a Robin wall, and without.
    """
    walker = Walker(T4, 0.0, Options(epsilon=epsilon, max_steps=1_000_000), 0, wall=epsilon, settled=settled)
    starts = StartPoints.make(T4, None, [(0.6, 0.2)], 0)
    on, total = nearest_walls(walker.boundary, T4.domain, starts.x, starts.y), np.zeros(2)
    for first in range(0, walks, PORTION):
        met, _ = walker.walk(starts, on, WalkTask(0, 1, first, np.array([PORTION])))
        found = scores(T4.source, met)
        total += found.sum(), (found**2).sum()
    mean = total[0] / walks
    return float(mean - T4_EXACT), float(np.sqrt((total[1] / walks - mean**2) / walks))


def own_bias(epsilon: float, walks: int = 1 << 22) -> tuple[float, float]:
    """The same for walks as they are, with this ε."""
    found = estimate(T4, walks, points=[(0.6, 0.2)], epsilon=epsilon)
    return float(found.mean[0] - T4_EXACT), float(found.standard_error[0])


def biases(walks: int) -> list[dict[str, float]]:
    """A row for every ε."""
    rows = []
    for epsilon in (3e-3, 1e-3, 1e-4):
        names = ("without the factor", "with the factor", "as it is")
        runs = (bias(epsilon, False, walks), bias(epsilon, True, walks), own_bias(epsilon, walks))
        rows.append({"epsilon": epsilon, **{name: [*run] for name, run in zip(names, runs, strict=True)}})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def measure(walks: int, only: list[str]) -> list[dict[str, object]]:
    """A row for every case."""
    rows = []
    for equation in only:
        for kind in KINDS:
            for name in DOMAINS:
                task = problem(equation, kind, name)
                z, found = errors(task, walks)
                total = found.walks * int(found.mask.sum())
                rows.append({
                    "equation": equation, "conditions": kind, "domain": name, "pixels": int(z.size),
                    "mean z": float(z.mean()), "largest": float(np.abs(z).max()), "std of z": float(z.std()),
                    "steps": found.record.steps / total, "truncated": found.record.truncated,
                    "seconds": found.record.seconds,
                })  # fmt: skip
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    parser.add_argument("--walks", type=int, default=4096, help="from every pixel")
    parser.add_argument("--only", nargs="+", choices=list(EQUATIONS), default=list(EQUATIONS))
    parser.add_argument("--bias", type=int, default=0, metavar="WALKS", help="the bias of ε, instead")
    given = parser.parse_args()
    if given.bias:
        print(json.dumps({"walks": given.bias, "rows": biases(given.bias)}, indent=1))
        return
    rows = measure(given.walks, given.only)
    if given.json:
        groups = {
            f"{equation}, {kind}": float(
                np.mean([r["mean z"] for r in rows if (r["equation"], r["conditions"]) == (equation, kind)])
            )
            for equation in given.only
            for kind in KINDS
        }
        print(json.dumps({"walks": given.walks, "groups": groups, "rows": rows}, indent=1))
        return
    print(table(list(rows[0]), [[f"{v:.3g}" if isinstance(v, float) else v for v in row.values()] for row in rows]))


if __name__ == "__main__":
    main()
