"""FNO and PINO on the same instances: PSNR and the residual of the equation, by family.

    python -m validation.operators [--methods fno,pino,fno-fair] [--count 60] [--out operators.json]

Methods may also be paths of .safetensors files. Medians over the first validation instances; residuals are root mean
squares, in units of the source's and 100 times the solution's spread.
"""

import argparse
from pathlib import Path

import numpy as np

from mc2.benchmark.methods import make_method
from mc2.files import write_json
from mc2.geometry import Grid
from mc2.zoo import TRAINING, generate
from validation.diffusion import measure_field
from validation.markdown import table


def measure(name, count, grid):
    """Medians of PSNR and residual, by family."""
    method, rows = make_method(name), {family: [] for family in TRAINING}
    for instance in (generate("validation", index) for index in range(count)):
        rows[instance.family].append(measure_field(method, instance, 8, grid)[1])
    medians = {
        family: {key: float(np.median([row[key] for row in own])) for key in ("psnr", "residual")}
        for family, own in rows.items()
    }
    return method.name, medians


def residuals(found):
    """In Markdown: the residual of every method, and its PSNR."""
    rows = [
        (
            f"`{name}`",
            *(f"{families[family]['residual']:.3g} ({families[family]['psnr']:.1f} dB)" for family in TRAINING),
        )
        for name, families in found["methods"].items()
    ]
    return table((f"residual, median of {found['count'] // len(TRAINING)}", *TRAINING), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="fno,pino,fno-fair")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--grid", type=int, default=256)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    methods = dict(measure(name, given.count, Grid(given.grid)) for name in given.methods.split(","))
    found = {"count": given.count, "grid": given.grid, "methods": methods}
    print(residuals(found))
    if given.out:
        write_json(given.out, found)


if __name__ == "__main__":
    main()
