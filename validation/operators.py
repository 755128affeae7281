"""FNO and PINO on the same instances: PSNR and the residual of the equation, by family.

    python -m validation.operators [--methods fno,pino,fno-fair] [--count 30] [--grid 256]

Methods may also be paths of .safetensors files. Medians over the first validation instances; residuals are root mean
squares, in units of the source's and 100 times the solution's spread.
"""

import argparse

import numpy as np

from mc2.baselines import make_method
from mc2.geometry import Grid
from mc2.zoo import TRAINING, generate
from validation.diffusion import measure_field


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="fno,pino,fno-fair")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--grid", type=int, default=256)
    given = parser.parse_args()
    instances = [generate("validation", index) for index in range(given.count)]
    for name in given.methods.split(","):
        method = make_method(name)
        rows = [(instance.family, measure_field(method, instance, 8, Grid(given.grid))[1]) for instance in instances]
        for family in TRAINING:
            own = [row for other, row in rows if other == family]
            psnr, residual = (np.median([row[key] for row in own]) for key in ("psnr", "residual"))
            print(f"{method.name}, {family}: {psnr:.2f} dB, residual {residual:.3g} ({len(own)} instances)")


if __name__ == "__main__":
    main()
