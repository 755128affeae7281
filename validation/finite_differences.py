"""Finite differences against exact solutions: their order for every family on five domains, and PDEZoo.

    python -m validation.finite_differences        prints three tables (about two minutes)

The tests assert the orders on smaller grids.
"""

import copy
import time

import numpy as np

from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.geometry import Grid
from mc2.metrics import psnr
from mc2.problems import CONSTANT
from mc2.zoo import generate
from validation.walks import DOMAINS, problem

SIZES = (32, 64, 128, 256)
METHODS = ("fd", "fd_amg", "fd_3")


def errors(family: str, domain: str, sizes=SIZES, method: str = "fd") -> np.ndarray:
    """Root mean square and largest error over the mask, in the units of the solution: [2, sizes]."""
    task, solver = problem(family, domain), make_method(method)
    found = []
    for size in sizes:
        grid = Grid(size)
        error = (solver.field(task, grid) - task.on_grid(task.exact, grid))[task.mask(grid)]
        found.append((np.sqrt(np.mean(error**2)), np.abs(error).max()))
    return np.array(found).T


def order(sizes, error) -> float:
    """Minus the slope of log error over log size, by least squares; 2 in theory."""
    return -float(np.polyfit(np.log(sizes), np.log(error), 1)[0])


def blind(instance, method, grid: Grid) -> Case:
    """The instance as the method may see it: without its exact solution."""
    task = copy.copy(instance.problem)
    task.exact = None
    return Case(method, {"problem": task, "grid": grid})


def score(name: str, count: int = 25) -> dict[str, np.ndarray]:
    """PSNR and seconds of a method on the first test instances of PDEZoo, by family: [instances, 2]."""
    method, grid = make_method(name), Grid()
    rows: dict[str, list[tuple[float, float]]] = {}
    for index in range(count):
        instance = generate("test", index)
        case = blind(instance, method, grid)
        start = time.perf_counter()
        found = method.solve(case)
        seconds = time.perf_counter() - start
        task = instance.problem
        rows.setdefault(instance.family, []).append(
            (psnr(found, task.on_grid(task.exact, grid), task.mask(grid)), seconds)
        )
    return {family: np.array(row) for family, row in rows.items()}


def main() -> None:
    table = {(family, domain): errors(family, domain) for family in CONSTANT for domain in DOMAINS}
    for which, what in enumerate(("root mean square", "largest")):
        print(f"order of the {what} error from {SIZES[0]} to {SIZES[-1]} pixels, and the error at {SIZES[-1]}")
        print(f"  {'':11}", "".join(f"{name:>18}" for name in DOMAINS))
        for family in CONSTANT:
            row = [table[family, domain][which] for domain in DOMAINS]
            print(f"  {family:11}", "".join(f"{order(SIZES, e):10.2f} {e[-1]:.1e}" for e in row))
    for name in METHODS[:2]:
        score(name, 1)  # whatever is compiled or loaded on first use
    print("PDEZoo, first 25 test instances, 256 × 256: mean PSNR in dB, mean seconds")
    for name in METHODS:
        rows = score(name)
        rows["overall"] = np.concatenate(list(rows.values()))
        print(
            f"  {name:9}",
            "  ".join(f"{family} {r[:, 0].mean():.1f} {r[:, 1].mean():.2f}" for family, r in rows.items()),
        )


if __name__ == "__main__":
    main()
