"""Boundary values that jump, in the middle of an edge of a square.

    python examples/jump.py [picture.png]

The angle around the jump is harmonic and jumps with the data. Where the jump is, the solver finds out by itself.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Square
from mc2.metrics import psnr
from mc2.plotting import save_figure


def exact(x, y):
    return np.arctan2(x - 0.1, y + 0.8) + 0.5 * (x**2 - y**2) + 0.3 * np.exp(x) * np.sin(y)


def problem():
    return mc2.Laplace(Square(0.8), exact=exact)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "A jump in the boundary values"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
