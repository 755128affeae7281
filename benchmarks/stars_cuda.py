"""Walks with reflecting parts on a GPU: milliseconds for instances of PDEZoo's split `conditions`, at 256 × 256.

python benchmarks/stars_cuda.py [--count 64] [--walks 8] [--json]
"""

import argparse
import json
from itertools import count, islice

import numpy as np
from timing import best

from mc2.geometry import Grid
from mc2.walks.gpu.launch import grid_points, launch
from mc2.walks.gpu.packing import pack
from mc2.walks.options import MAX_REFLECTED, Options
from mc2.walks.plan import can_walk, make_plan
from mc2.zoo import generate

REPEATS = 5


def measure(problems, walks, grid):
    """Milliseconds of one launch for all problems, and what was walked."""
    from numba import cuda

    options = Options(max_steps=MAX_REFLECTED, unit=1.0)
    plans = [make_plan(problem) for problem in problems]
    packing, packed = best(lambda: pack(plans, list(range(len(plans))), options), 1)
    packed = packed.upload()
    x, y, keys = grid_points(grid)

    def run():
        found = launch(packed, x, y, keys, [walks], options)
        cuda.synchronize()
        return found

    run()
    seconds, (sums, mask, counts) = best(run, REPEATS)
    inside, counts = mask.copy_to_host().reshape(len(plans), -1) == 1, counts.copy_to_host()
    sums = sums.copy_to_host()[:, 0]
    errors = []
    for problem, mean, own in zip(problems, sums[..., 0] / walks, inside, strict=True):
        exact = problem.on_grid(problem.exact, grid).ravel()[own]
        errors.append(float(np.sqrt(np.mean((mean[own] - exact) ** 2)) / np.sqrt(np.mean(exact**2))))
    steps = int(counts[:, 0].sum())
    return {
        "instances": len(plans),
        "walks": walks,
        "milliseconds": 1e3 * seconds,
        "milliseconds an instance": 1e3 * seconds / len(plans),
        "packing, milliseconds an instance": 1e3 * packing / len(plans),
        "walks/s": float(inside.sum()) * walks / seconds,
        "steps/s": steps / seconds,
        "steps a walk": steps / (float(inside.sum()) * walks),
        "truncated": int(counts[:, 1].sum()),
        "not finite": int(counts[:, 2].sum()),
        "median relative error": float(np.median(errors)),
    }


def main():
    from numba import cuda

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=64, help="instances")
    parser.add_argument("--walks", type=int, default=8, help="per pixel")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    problems = (generate("conditions", index).problem for index in count())
    chosen = list(islice(filter(can_walk, problems), given.count))
    grid = Grid()
    found = {"device": str(cuda.get_current_device().name), **measure(chosen, given.walks, grid)}
    each = [measure([problem], given.walks, grid)["milliseconds"] for problem in chosen[:16]]
    found["alone, milliseconds: median, largest of 16"] = [float(np.median(each)), max(each)]
    print(json.dumps(found, indent=1) if given.json else "\n".join(f"{k:45} {v}" for k, v in found.items()))


if __name__ == "__main__":
    main()
