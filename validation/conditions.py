"""`mc2.solve` on PDEZoo's split `conditions`: errors, what error bars claim of them, and seconds.

    python -m validation.conditions [--count 200] [--json]

Methods are told the data on the boundary alone. A bar is a bound of the root mean square of the error: `held` is the
share of problems whose error is below it, `covered` the share of pixels within 1.96 of them.
"""

import argparse
import json
import sys
import time

import numpy as np

import mc2
from mc2.geometry import Grid
from mc2.zoo import generate
from mc2.zoo.told import told
from validation.markdown import table

ROUNDING = 1e-13
"""Of the largest value: errors below are held by any bar."""


def solve(index, grid):
    """A row for one instance."""
    instance = generate("conditions", index)
    begin = time.perf_counter()
    solution = mc2.solve(told(instance.problem), grid=grid)
    seconds = time.perf_counter() - begin
    x, y = (c[solution.mask] for c in grid.points())
    truth, bar = instance.truth(x, y), solution.standard_error[solution.mask]
    error = solution.values[solution.mask] - truth
    size, floor = float(np.sqrt(np.mean(truth**2))), ROUNDING * float(np.abs(truth).max())
    rms, claimed = float(np.sqrt(np.mean(error**2))), float(np.sqrt(np.mean(bar**2)))
    return {
        "index": index,
        "family": instance.family,
        "kinds": " ".join(one.kind[0] for one in instance.boundary),
        "relative": rms / size,
        "claimed": claimed / size,
        "held": bool(rms <= claimed + floor),
        "covered": float(np.mean(np.abs(error) <= 1.96 * bar + floor)),
        "converged": bool(solution.converged),
        "seconds": seconds,
    }


def summary(rows):
    """What the rows say together."""
    relative, seconds = ([row[name] for row in rows] for name in ("relative", "seconds"))
    return {
        "problems": len(rows),
        "median error": float(np.median(relative)),
        "90 % of errors below": float(np.quantile(relative, 0.9)),
        "worst error": max(relative),
        "median claimed / true": float(np.median([row["claimed"] / max(row["relative"], 1e-15) for row in rows])),
        "bars held": float(np.mean([row["held"] for row in rows])),
        "pixels covered": float(np.mean([row["covered"] for row in rows])),
        "median seconds": float(np.median(seconds)),
        "most seconds": max(seconds),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="problems, the first ones of the split")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    grid, rows = Grid(128), []
    for index in range(given.count):
        rows.append(solve(index, grid))
        print(f"\r{len(rows)}/{given.count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    families = {row["family"]: [one for one in rows if one["family"] == row["family"]] for row in rows}
    found = {family: summary(own) for family, own in families.items()} | {"all": summary(rows)}
    if given.json:
        print(
            json.dumps({"families": found, "worst": sorted(rows, key=lambda row: -row["relative"])[:10], "rows": rows})
        )
        return
    cells = [[name, *(f"{value:.2g}" for value in row.values())] for name, row in found.items()]
    print(table(["family", *found["all"]], cells))


if __name__ == "__main__":
    main()
