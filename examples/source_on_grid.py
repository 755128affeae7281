"""Poisson's equation with a source that is known at pixels only, and only inside the domain.

    python examples/source_on_grid.py [picture.png]

Between the pixels, and a little beyond them, the source is interpolated, which is all the accuracy that is lost: the
same problem with the source as a function shows how much that is.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Disk, Grid, Rectangle
from mc2.metrics import psnr
from mc2.plotting import save_figure

DOMAIN = Disk(0.9) - Rectangle(0.25, 0.15, center=(0.2, 0.1), angle=0.4)


def exact(x, y):
    return np.sin(4 * x + 1) * np.cos(3 * y) * np.exp(0.5 * x * y) + 0.3 * np.tanh(4 * (x - y))


def known():
    """The problem with its source as a function."""
    return mc2.Poisson(DOMAIN, exact=exact)


def problem():
    grid, task = Grid(256), known()
    values = np.where(task.mask(grid), task.on_grid(task.source, grid), np.nan)
    return mc2.Poisson(DOMAIN, source=values, boundary=exact)


def main(picture=None):
    solution, other = mc2.solve(problem(), walks=16), mc2.solve(known(), walks=16)
    plain = mc2.estimate(problem(), walks=16)
    truth = known().on_grid(known().exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks, source on pixels")
    print(f"{psnr(other.values, truth, other.mask):.1f} dB with {other.walks:,} walks, source as a function")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "A source known at pixels"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
