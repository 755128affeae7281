"""Speed of the walks, always as ratios measured in one run.

python benchmarks/walks.py --json        CPU: the engine against the yardstick; CUDA where there is one
"""

import argparse
import json
import sys
from functools import partial

import numba
import numpy as np
from timing import best as shortest
from yardstick import walk as yardstick

import mc2
from mc2.geometry import Disk, Grid
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--scaling", action="store_true", help="also measure cost over budgets and grids")
    parser.add_argument("--no-cpu", action="store_true", help="only CUDA")
    options = parser.parse_args()
    results = {} if options.no_cpu else {"cpu": cpu()}
    if options.scaling:
        results["scaling"] = scaling()
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
    for key in ("scaling", "cuda"):
        if key in results:
            print(key, json.dumps(results[key], indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
