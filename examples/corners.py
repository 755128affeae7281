"""A plus sign: twelve corners, four of them re-entrant.

    python examples/corners.py [picture.png]

With x² + y on the boundary the solution is singular at every corner, and nobody knows it in closed form: plain walks
from a few points check it, and a certificate tells the error. With the values of a harmonic function it is known.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Polygon
from mc2.metrics import psnr
from mc2.plotting import save_figure

A, B = 0.3, 0.85
PLUS = [(A, A), (A, B), (-A, B), (-A, A), (-B, A), (-B, -A), (-A, -A), (-A, -B), (A, -B), (A, -A), (B, -A), (B, A)]
POINTS = [(0.0, 0.0), (0.25, 0.25), (0.7, 0.1), (-0.1, 0.6), (-0.28, -0.31), (-0.6, 0.2)]


def exact(x, y):
    """Of the second problem only."""
    return np.exp(2 * x) * np.cos(2 * y) + x * y


def problem():
    return mc2.Laplace(Polygon(PLUS), lambda x, y: x**2 + y)


def harmonic():
    return mc2.Laplace(Polygon(PLUS), exact=exact)


def main(picture=None):
    solution = mc2.solve(problem(), walks=16)
    print(solution.certify(walks=16))
    check = mc2.estimate(problem(), walks=200_000, points=POINTS)
    for (x, y), mean, error in zip(POINTS, check.mean, check.standard_error, strict=True):
        print(f"u({x}, {y}) = {solution(x, y):.5f}, by 200,000 plain walks {mean:.5f} ± {error:.5f}")
    task = harmonic()
    smooth, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, smooth.grid)
    print(f"with harmonic values: {psnr(smooth.values, truth, smooth.mask):.1f} dB with {smooth.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(title="A plus sign with x² + y on its boundary"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
