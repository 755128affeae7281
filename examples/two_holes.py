"""A disk with two round holes, and logarithms and poles in both.

    python examples/two_holes.py [picture.png]

Every hole brings functions of its own; the solver finds the holes by itself.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Disk
from mc2.metrics import psnr
from mc2.plotting import save_figure


def exact(x, y):
    right, left = (x - 0.4) ** 2 + (y - 0.1) ** 2, (x + 0.35) ** 2 + (y + 0.25) ** 2
    beside = (x + 0.35) ** 2 + (y + 0.2) ** 2
    return np.log(right) - 0.5 * np.log(left) + 0.05 * (x - 0.4) / right + 0.05 * (y + 0.2) / beside


def problem():
    domain = Disk(0.95) - Disk(0.2, center=(0.4, 0.1)) - Disk(0.25, center=(-0.35, -0.25))
    return mc2.Laplace(domain, exact=exact)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "Singular parts in two holes"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
