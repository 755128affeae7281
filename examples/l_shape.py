"""An L-shaped domain, whose solution has an infinite slope at the re-entrant corner.

    python examples/l_shape.py [picture.png]

u = r^(2/3) cos(2φ/3) around the corner, φ measured from the middle of the domain, plus a smooth harmonic part. When
rounds of walks no longer help, boundary least squares takes over, with poles that crowd towards every corner.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Polygon
from mc2.metrics import psnr
from mc2.plotting import save_figure

CORNERS = [(0.0, 0.0), (0.9, 0.0), (0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9), (0.0, -0.9)]


def exact(x, y):
    angle = np.arctan2(x + y, y - x)
    return (x**2 + y**2) ** (1 / 3) * np.cos(2 / 3 * angle) + 0.2 * np.exp(x) * np.cos(y)


def problem():
    return mc2.Laplace(Polygon(CORNERS), exact=exact)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=16), mc2.estimate(task, walks=16)
    truth = task.on_grid(task.exact, solution.grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    print("steps:", ", ".join(step.kind if step.kept else f"{step.kind} (of no use)" for step in solution.history))
    if picture:
        save_figure(solution.plot(truth, "A re-entrant corner"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
