"""How good is a solution that nobody can compare with the truth? A certificate says, from fresh walks.

    python examples/certificate.py [picture.png]

Few walks leave an error that is there to be seen. The certificate does not know the exact solution, which is compared
with it here, and takes nothing from the solver on trust: its walks are new, and their mean has no bias.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Disk, Rectangle
from mc2.metrics import psnr
from mc2.plotting import save_figure


def exact(x, y):
    return np.sin(5 * x + 1) * np.cos(4 * y) * np.exp(x * y) + 0.5 * np.tanh(6 * (x - y))


def problem():
    return mc2.Poisson(Disk(0.9) - Rectangle(0.3, 0.1, center=(0.1, 0.2), angle=0.5), exact=exact)


def main(picture=None):
    task = problem()
    solution, plain = mc2.solve(task, walks=4), mc2.estimate(task, walks=4)
    truth = task.on_grid(task.exact, solution.grid)
    print(solution.certify(walks=16))
    print(f"true error {np.sqrt(np.mean((solution.values - truth)[solution.mask] ** 2)):.3g}")
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB with {solution.walks:,} walks")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "What the certificate is about"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
