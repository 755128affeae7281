"""Walks through coefficients that vary against exact solutions: bias for several majorants, and rate.

    python -m validation.coefficients [--json] [--walks 2048] [--only "contrast 2" …]     some minutes
    python -m validation.coefficients --solve 200 [--json]     `solve` on instances of PDEZoo's split `coefficients`

z is the error at a point in its standard errors, at 200 points. Without bias it has mean 0 and variance 1. The slope is
that of log MSE over log budget, −1 in theory. The tests assert a part of it.
"""

import argparse
import json
import sys
import time
from dataclasses import replace

import numpy as np

import mc2
from mc2.geometry import Annulus, Disk, Ellipse, Polygon, Square
from mc2.problems import Problem
from mc2.walks import Options
from mc2.walks.options import MAX_REFLECTED
from mc2.walks.plan import make_plan
from mc2.walks.run import Run
from mc2.walks.start_points import StartPoints
from mc2.walks.tracking import run_tracked
from mc2.zoo import generate
from mc2.zoo.told import told
from validation.markdown import table

EXACT = "sin(3*x)*cos(2*y) + exp(x)*tanh(y)"
L_SHAPE = Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
PROBLEMS: dict[str, Problem] = {
    "contrast 2": mc2.Elliptic(Ellipse(1.2, 0.8), diffusion="1 + sin(3*x)*cos(2*y)/3", exact=EXACT),
    "contrast 10": mc2.Elliptic(Square(0.9, angle=0.3), diffusion="exp(1.15*sin(2*x + y))", exact=EXACT),
    "contrast 100": mc2.Elliptic(L_SHAPE, diffusion="exp(2.3*sin(2*x - y))", exact=EXACT),
    "negative": mc2.Elliptic(Disk(), diffusion="1/(1 + 0.5*x**2)", reaction="-1.5 - y", exact=EXACT),
    "screened": mc2.Elliptic(Annulus(0.35, 1.1), diffusion="1.5 + 0.5*x", reaction="20*(1 + x**2)", exact=EXACT),
    "drift": mc2.Elliptic(
        Disk(), diffusion="1 + 0.3*sin(2*x)", drift=("1 - 2*y + 0.5*x", "2*x + 0.3*y"), reaction="1 + x", exact=EXACT
    ),
}
"""Least and largest α in the domain are in the ratio that the name says; σ' < 0 somewhere in most of them."""
MAJORANTS = (0.5, 1.0, 2.0, 4.0)
POINTS = 200
DEPTH = 0.02
"""Least distance of a point from the boundary: nearer, few walks get away from it, and do not know their error."""
DOUBLINGS = 10


def walk(name: str, factor: float, budgets: list[int], seed: int = 0, count: int = POINTS) -> tuple[np.ndarray, int]:
    """Errors and standard errors at points [2, budget, point], with a factor of the majorant; and the steps in all."""
    problem = PROBLEMS[name]
    plan = make_plan(problem)
    plan = replace(plan, parameter=factor * plan.parameter)
    points = problem.domain.sample_interior(2 * count, seed=7)
    points = points[problem.domain.distance(*points.T) > DEPTH][:count]
    starts = StartPoints.make(problem, None, points, 0)
    options = Options(seed=seed, max_steps=MAX_REFLECTED, device="cpu")
    found = run_tracked(plan, Run(starts, budgets, options, 0))
    numbers = np.array(budgets)
    mean = found.sums[:, :, 0] / numbers
    variance = np.maximum(found.sums[:, :, 1] / numbers - mean**2, 0) / np.maximum(numbers - 1, 1)
    exact = problem.exact(*points.T)
    assert len(points) == count
    return np.stack([(mean - exact[:, None]).T, np.sqrt(variance).T]), int(found.counts[0])


def lowest(name: str) -> float:
    """The least σ' at points of the domain."""
    from mc2.walks.screened import Screened

    problem = PROBLEMS[name]
    return float(Screened(problem).potential(*problem.domain.sample_interior(2000, seed=1).T).min())


def measure(walks: int, only: list[str]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number, name in enumerate(only):
        for index, factor in enumerate(MAJORANTS):
            budgets = [max(2, walks >> k) for k in range(DOUBLINGS, -1, -1)]
            budgets = sorted(set(budgets))
            (errors, bars), steps = walk(name, factor, budgets, seed=10 * number + index)
            z = errors[-1] / bars[-1]
            squares = np.mean(errors**2, axis=1)
            rows.append({
                "problem": name, "majorant": factor, "least σ'": lowest(name), "points": z.size,
                "mean z": float(z.mean()), "std of z": float(z.std()), "largest": float(np.abs(z).max()),
                "slope": float(np.polyfit(np.log(budgets), np.log(squares), 1)[0]),
                "error of 1,024 walks": float(np.sqrt(np.mean(bars[-1] ** 2) * walks / 1024)),
                "steps": steps / (z.size * walks),
            })  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def solve(count: int) -> list[dict[str, object]]:
    """`solve` on the first instances of the split: true errors, error bars and seconds of processors and of clocks."""
    rows = []
    for index in range(count):
        instance = generate("coefficients", index)
        clock, busy = time.perf_counter(), time.process_time()
        found = mc2.solve(told(instance.problem), grid=64)
        clock, busy = time.perf_counter() - clock, time.process_time() - busy
        exact = instance.truth(*(c[found.mask] for c in found.grid.points()))
        scale = float(np.sqrt(np.mean(exact**2)))
        rows.append({
            "index": index, "error": float(np.sqrt(np.mean((found.values[found.mask] - exact) ** 2))) / scale,
            "bar": float(np.sqrt(np.mean(found.standard_error[found.mask] ** 2))) / scale,
            "converged": found.converged, "functions": found.history[0].functions,
            "walked": len(found.history) > 1, "seconds": clock, "processor": busy,
        })  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[dict[str, object]]) -> dict[str, float]:
    """Of `solve`: quantiles of relative errors and of seconds, and the share that lies within 1.96 error bars."""
    error, bar, seconds, busy = (
        np.array([row[key] for row in rows]) for key in ("error", "bar", "seconds", "processor")
    )
    return {
        "count": len(rows), "median": float(np.median(error)), "95 %": float(np.quantile(error, 0.95)),
        "largest": float(error.max()), "within 1.96 bars": float(np.mean(error <= 1.96 * bar)),
        "converged": float(np.mean([bool(row["converged"]) for row in rows])),
        "walked": float(np.mean([bool(row["walked"]) for row in rows])),
        "median seconds": float(np.median(seconds)), "median processor seconds": float(np.median(busy)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    parser.add_argument("--walks", type=int, default=2048, help="from every point")
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--solve", type=int, default=0, metavar="COUNT", help="instances of PDEZoo, instead")
    given = parser.parse_args()
    if given.solve:
        rows = solve(given.solve)
        print(json.dumps({"summary": summary(rows), "rows": rows}, indent=1))
        return
    rows = measure(given.walks, given.only)
    if given.json:
        print(json.dumps({"walks": given.walks, "rows": rows}, indent=1))
        return
    print(table(list(rows[0]), [[f"{v:.3g}" if isinstance(v, float) else v for v in row.values()] for row in rows]))


if __name__ == "__main__":
    main()
