"""Speed of walks that reflect, as ratios measured in one run: the engine against the published algorithm in numba.

python benchmarks/stars.py [--json]
"""

import argparse
import json
import time

import numba
import numpy as np
from yardstick_stars import walk as yardstick

import mc2
from mc2 import Neumann
from mc2.geometry import Polygon
from mc2.walks import estimate

REPEATS = 7
SHAPES = {
    "square": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "L-shape": [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)],
    "16-gon": [(np.cos(k * np.pi / 8), np.sin(k * np.pi / 8)) for k in range(16)],
}
FLOWS = (0.0, 1.0)


def case(name, flow):
    """A problem, and its edges as the yardstick takes them: u = 1 on the first, and −1 on the third."""
    corners = SHAPES[name]
    edges = np.array([(*a, *b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)], np.float32)
    boundary = {"edge 0": 1, "edge 2": -1, "*": Neumann(flow)}
    walls = [k for k in range(len(edges)) if k not in (0, 2)]
    follow = np.array([walls.index((k + 1) % len(edges)) if (k + 1) % len(edges) in walls else -1 for k in walls])
    return mc2.Laplace(Polygon(corners), boundary), edges[[0, 2]], edges[walls], follow


def best(function):
    """The shortest processor time of some runs: this process's own, whatever else the machine does."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        found = function()
        times.append(time.process_time() - start)
    return min(times), found


def compare(name, flow, walks=256, count=400):
    """Both on one thread."""
    task, ends, walls, follow = case(name, flow)
    points = task.domain.sample_interior(count, 0)
    values = np.array([1, -1], np.float32)
    arguments = (ends, values, walls, follow, np.float32(flow), np.float32(1e-4 * 0.5 * task.domain.size), 1)
    numba.set_num_threads(1)
    yardstick(points[:10], 2, *arguments)
    estimate(task, 2, points=points[:10], threads=1)
    old, (means, squares, steps) = best(lambda: yardstick(points, walks, *arguments))
    new, found = best(lambda: estimate(task, walks, points=points, threads=1))
    variance = ((squares - means**2) / (walks - 1)).sum()
    return {
        "ratio": old / new,
        "ratio at equal error": old / new * variance / found.variance.sum(),
        "engine, walks/s": walks * count / new,
        "yardstick, walks/s": walks * count / old,
        "engine, ns/step": 1e9 * new / found.record.steps,
        "yardstick, ns/step": 1e9 * old / int(steps),
        "agree within, standard errors": float(
            abs((means - found.mean).sum()) / np.sqrt(variance + found.variance.sum())
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    results = {f"{name}, ∂u/∂n = {flow:g}": compare(name, flow) for name in SHAPES for flow in FLOWS}
    if given.json:
        print(json.dumps(results, indent=1, ensure_ascii=False))
        return
    for name, row in results.items():
        print(f"{name:22}", ", ".join(f"{key} {value:.3g}" for key, value in row.items()))


if __name__ == "__main__":
    main()
