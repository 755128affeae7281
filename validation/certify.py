"""What `mc2.certify` says of other methods' fields, against the exact solutions of PDEZoo.

    python -m validation.certify [--methods fd nlm …] [--count 20] [--json]

Every field is certified with the problem's data alone: its exact solution is taken away first. Of each method: how many
95 % intervals hold the true error, root mean square and mean; the upper end over the true error; seconds a field.
Twenty fields of each of five methods take about a minute on two cores.
"""

import argparse
import copy
import json
import sys
import time

import numpy as np

import mc2
from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.runner import case_values
from mc2.geometry import Grid
from mc2.zoo import generate
from validation.markdown import table

METHODS = ("fd", "fno-fair", "mc2", "mc2-unet", "nlm")
GRID = Grid()


def fields(name, count):
    """The first test instances that a method can play in, each with the method's field."""
    method, index = make_method(name), 0
    while count:
        instance = generate("test", index)
        index += 1
        if instance.family in method.families:
            values, _ = case_values(method, instance, 8, 0, GRID, "cpu")
            yield instance, np.asarray(method.solve(Case(method, values)), float)
            count -= 1


def judged(name, count, seed):
    """A row for every field."""
    rows = []
    for instance, field in fields(name, count):
        problem = copy.copy(instance.problem)
        problem.exact = None
        start = time.perf_counter()
        made = mc2.certify(problem, field, grid=GRID, seed=seed + instance.index)
        seconds = time.perf_counter() - start
        mask = problem.mask(GRID)
        left = (instance.problem.on_grid(instance.problem.exact, GRID) - field)[mask]
        rms, mean, whole = float(np.sqrt(np.mean(left**2))), float(left.mean()), made.overall
        rows.append(
            {
                "id": instance.id,
                "family": instance.family,
                "kind": made.kind,
                "true rms": rms,
                "rms": [whole.rms.low, whole.rms.high],
                "mean": [whole.mean.low, whole.mean.high],
                "rms held": bool(whole.rms.low <= rms <= whole.rms.high),
                "mean held": bool(whole.mean.low <= mean <= whole.mean.high),
                "upper / true": whole.rms.high / rms,
                "off": _off(whole.rms, rms),
                "seconds": seconds,
            }
        )
        print(f"\r{name}: {len(rows)}/{count} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def _off(interval, true):
    """Half widths of the interval by which the truth is off its middle: 1 at an end."""
    half = 0.5 * (interval.high - interval.low)
    return abs(true - interval.low - half) / max(half, 1e-300)


def summary(name, rows):
    return {
        "method": name,
        "fields": len(rows),
        "rms held": sum(row["rms held"] for row in rows),
        "mean held": sum(row["mean held"] for row in rows),
        "upper / true, median": float(np.median([row["upper / true"] for row in rows])),
        "largest": max(row["upper / true"] for row in rows),
        "half widths off, largest": max(row["off"] for row in rows),
        "seconds, median": float(np.median([row["seconds"] for row in rows])),
        "seconds, most": max(row["seconds"] for row in rows),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=METHODS, metavar="NAME", help="of mc2 evaluate")
    parser.add_argument("--count", type=int, default=20, help="fields of each")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other points and walks")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    rows = {name: judged(name, given.count, given.seed) for name in given.methods}
    found = {"count": given.count, "table": [summary(name, own) for name, own in rows.items()], "rows": rows}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    lines = [[f"{cell:.3g}" if isinstance(cell, float) else cell for cell in row.values()] for row in found["table"]]
    print(table(list(found["table"][0]), lines))


if __name__ == "__main__":
    main()
