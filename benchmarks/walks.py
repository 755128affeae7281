"""Speed of the walks, always as ratios measured in one run.

python benchmarks/walks.py --json        CPU: the engine against the yardstick; CUDA where there is one
python benchmarks/walks.py --no-cpu --outlines --json        cost of a walk over the vertices of an outline
"""

import argparse
import json
import sys
import time
from functools import partial

import numba
import numpy as np
from timing import best as shortest
from yardstick import walk as yardstick

import mc2
from mc2.geometry import Disk, Grid, Polygon
from mc2.walks import estimate

U = "sin(4*x)*cos(4*y)"
FAMILIES = {"laplace": 0, "poisson": 1, "yukawa": 2}
LAMBDA = 25.0
REPEATS = 8
best = partial(shortest, repeats=REPEATS)


def problem(family):
    if family == "laplace":
        return mc2.Laplace(Disk(), boundary=U)
    if family == "poisson":
        return mc2.Poisson(Disk(), exact=U)
    return mc2.Yukawa(Disk(), exact=U, lam=LAMBDA)


def cpu(walks=8):
    results = {}
    points = np.argwhere(Disk().mask(Grid()))
    points = (points[:, ::-1] + 0.5) / 128 - 1
    for family, code in FAMILIES.items():
        results[family] = {}
        lam = LAMBDA if family == "yukawa" else 0.0
        task = problem(family)
        for threads in (1, 2):
            numba.set_num_threads(threads)
            yardstick(points[:100], walks, code, lam, np.float32(1e-4), 1)
            estimate(task, walks, threads=threads, device="cpu")
            old, (_, old_steps) = best(
                lambda code=code, lam=lam: yardstick(points, walks, code, lam, np.float32(1e-4), 1)
            )
            new, made = best(lambda task=task, threads=threads: estimate(task, walks, threads=threads, device="cpu"))
            total = walks * len(points)
            results[family][f"threads_{threads}"] = {
                "engine": total / new,
                "yardstick": total / old,
                "ratio": old / new,
                "engine_steps": made.record.steps / new,
                "yardstick_steps": old_steps / old,
            }
        one, two = (results[family][f"threads_{threads}"]["engine"] for threads in (1, 2))
        results[family]["scaling"] = two / one
    return results


def scaling():
    """Seconds of walking per walk, on one thread, over the cheapest of each row: budgets on 256², grids at 8 walks."""
    task = problem("poisson")
    rows = {"budgets": [(1, 256), (8, 256), (64, 256), (1024, 256)], "grids": [(8, 64), (8, 256), (8, 1024)]}
    results = {}
    for name, cases in rows.items():
        costs = dict.fromkeys(cases, float("inf"))
        for _ in range(REPEATS):  # in turn, so that all meet the same neighbours
            for walks, size in cases:
                for _ in range(20 if walks * size * size < 1e6 else 1):
                    made = estimate(task, walks, grid=Grid(size), device="cpu", threads=1)
                    costs[walks, size] = min(costs[walks, size], made.record.seconds / (walks * int(made.mask.sum())))
        least = min(costs.values())
        results[name] = {f"{walks} walks, {size}²": cost / least for (walks, size), cost in costs.items()}
    return results


def wiggly(vertices):
    """r(t) = 0.7 + Σ 0.12 k^-1.2 a_k cos(kt + b_k), k below 40, through as many points."""
    random, k = np.random.default_rng(7), np.arange(1, 40)
    a, b = random.standard_normal(39), random.uniform(0, 2 * np.pi, 39)
    t = np.arange(vertices) * (2 * np.pi / vertices)
    r = 0.7 + (0.12 * k**-1.2 * a * np.cos(np.outer(t, k) + b)).sum(1)
    return Polygon(np.stack([r * np.cos(t), r * np.sin(t)], axis=1))


def outlines(walks=4):
    """Cost of a walk, in CPU time on one thread, and its steps, over vertices; the cheapest of some runs, in turn."""
    tasks = {vertices: mc2.Laplace(wiggly(vertices), boundary="x*y") for vertices in (10, 100, 1_000, 10_000)}
    costs, steps = dict.fromkeys(tasks, float("inf")), {}
    for _ in range(3 * REPEATS):
        for vertices, task in tasks.items():
            start = time.process_time()
            made = estimate(task, walks, grid=Grid(128), device="cpu", threads=1)
            count = walks * int(made.mask.sum())
            costs[vertices] = min(costs[vertices], (time.process_time() - start) / count)
            steps[vertices] = made.record.steps / count
    return {
        f"{vertices} vertices": {
            "ratio": cost / costs[10],
            "steps": steps[vertices],
            "numbers_per_vertex": tasks[vertices].domain.program.constants.size / vertices,
        }
        for vertices, cost in costs.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scaling", action="store_true", help="also measure cost over budgets and grids")
    parser.add_argument("--outlines", action="store_true", help="also measure cost over an outline's vertices")
    parser.add_argument("--no-cpu", action="store_true", help="only CUDA")
    options = parser.parse_args()
    results = {} if options.no_cpu else {"cpu": cpu()}
    if options.scaling:
        results["scaling"] = scaling()
    if options.outlines:
        results["outlines"] = outlines()
    from mc2.walks.gpu.launch import unavailable

    reason = unavailable()
    if reason:
        print(f"CUDA: {reason}", file=sys.stderr)
    else:
        from walks_cuda import cuda

        results["cuda"] = cuda()
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        report(results)


def report(results):
    for family, rows in results.get("cpu", {}).items():
        for name, row in rows.items():
            if name != "scaling":
                walks, steps, slow = (row[key] / 1e6 for key in ("engine", "engine_steps", "yardstick"))
                print(
                    f"{family:8} {name}: {walks:6.2f} M walks/s ({steps:.0f} M steps/s), {row['ratio']:.1f} × the "
                    f"yardstick's {slow:.2f} M walks/s"
                )
        print(f"{family:8} two threads: {rows['scaling']:.2f} × one")
    for key in ("scaling", "outlines", "cuda"):
        if key in results:
            print(key, json.dumps(results[key], indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
