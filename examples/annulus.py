"""Laplace's equation on an annulus, with logarithms and poles in the hole, off its middle as well.

    python examples/annulus.py [picture.png]

Polynomials cannot follow such a solution around a hole; functions that are singular inside it can.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Annulus
from mc2.metrics import psnr
from mc2.plotting import save_figure


def exact(x, y):
    square, beside = x**2 + y**2, (x - 0.05) ** 2 + (y + 0.1) ** 2
    return np.log(square) + 0.3 * np.log((x - 0.1) ** 2 + y**2) + 0.05 * y / square + 0.1 * (x - 0.05) / beside


def problem():
    return mc2.Laplace(Annulus(0.3, 0.9), exact=exact)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "Singular parts in the hole of an annulus"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
