"""Memory of a process that solves many problems, each with Python functions that it has never seen.

    python -m validation.leaks [--count 10000] [--json]

Functions take turns: most are traced into expressions, some can only be called on arrays, a few have branches and are
compiled. Ten thousand take about ten minutes on two cores. Memory is what the process holds, as the system says.
"""

import argparse
import gc
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mc2
from mc2.geometry import Disk

GRID = 16
ARRAY_EVERY, COMPILED_EVERY = 5, 100
"""One in so many functions is called on arrays, and one is compiled, which takes half a second."""
SHOWN = 1000
"""Problems after which memory is written down, again and again."""


def traced(number: int) -> Callable[[Any, Any], Any]:
    return lambda x, y: np.sin((1 + number % 7) * x + number) * y + number % 11


def on_arrays(number: int) -> Callable[[Any, Any], Any]:
    """A function that can be neither traced nor compiled."""
    places = np.linspace(-2, 2, 50)
    return lambda x, y: np.interp(x, places, np.cos(number * places)) + math.fsum([number, 1.0])


def compiled(number: int) -> Callable[[Any, Any], Any]:
    """A function that branches on its argument."""

    def function(x: Any, y: Any) -> Any:
        if x > 0.1 * (number % 9):
            return x * y + number
        return y + number

    return function


def kind(number: int) -> Callable[[int], Callable[[Any, Any], Any]]:
    if number % COMPILED_EVERY == 0:
        return compiled
    return on_arrays if number % ARRAY_EVERY == 0 else traced


def resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def measure(count: int) -> dict[str, Any]:
    begin, rows, kinds = time.perf_counter(), [], dict.fromkeys(("traced", "on_arrays", "compiled"), 0)
    for number in range(1, count + 1):
        make = kind(number)
        kinds[make.__name__] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a function is called on arrays
            mc2.solve(mc2.Laplace(Disk(), boundary=make(number)), 4, grid=GRID)
        if number % SHOWN == 0 or number == count:
            gc.collect()
            rows.append({"problems": number, "megabytes": resident(), "seconds": time.perf_counter() - begin})
            print(f"{number:,} problems: {rows[-1]['megabytes']:.0f} MB", file=sys.stderr)
    return {"count": count, "kinds": kinds, "memory": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="problems")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    options = parser.parse_args()
    found = measure(options.count)
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
