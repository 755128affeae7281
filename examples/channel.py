"""Thin channels: a straight one, 1.9 long and 0.06 wide, with a known solution, and one with a bend, without.

    python examples/channel.py [picture.png]

The points that are fitted cover the domain, however little of the picture it fills. Around the bend no polynomial goes;
poles do, and a certificate tells the error.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Polygon, Rectangle
from mc2.metrics import psnr
from mc2.plotting import save_figure

BEND = [(-0.9, -0.83), (0.83, -0.83), (0.83, 0.9), (0.77, 0.9), (0.77, -0.77), (-0.9, -0.77)]


def exact(x, y):
    """In the straight channel."""
    return np.sin(6 * x) * np.cos(20 * y) + x


def problem():
    return mc2.Poisson(Rectangle(0.95, 0.03), exact=exact)


def bent():
    return mc2.Poisson(Polygon(BEND), source=lambda x, y: -1000 * (1 + x * y), boundary=lambda x, y: x + y)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    around = mc2.solve(bent(), walks=16)
    print("around the bend:", around.certify(walks=16))
    if picture:
        save_figure(around.plot(title="A channel with a bend"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
