"""Helmholtz problems that walks cannot solve, and one close to resonance.

    python examples/resonance.py [picture.png]

Walks have a finite variance only while k² is well below the domain's first eigenvalue, 5.783 for the unit disk. Above
half of it, boundary least squares solves the problem alone; it bounds its error, and warns where k² is close to any
eigenvalue, since errors of the data are then amplified without limit.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import mc2
from mc2.geometry import Disk
from mc2.metrics import psnr
from mc2.plotting import save_figure

K, RESONANT = 4.0, 2.405


def exact(x, y):
    return np.cos(K * (0.8 * x + 0.6 * y)) + x * y


def problem(k=K):
    """With the boundary values, and the source for a k, of the same solution."""
    return mc2.Helmholtz(Disk(1.0), k=k, exact=exact)


def main(picture=None):
    for k in (K, RESONANT):
        task = problem(k)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            solution = mc2.solve(task)
        truth = task.on_grid(task.exact, solution.grid)
        print(f"k = {k}: {psnr(solution.values, truth, solution.mask):.1f} dB by the method {solution.method!r}")
        print(f"largest error {np.abs(solution.values - truth).max():.1e}, bound {solution.error.max():.1e}")
        for warning in warned:
            print("warning:", warning.message)
    try:
        mc2.estimate(task, walks=16)
    except mc2.InputError as refusal:
        print("plain walks:", refusal)
    if picture:
        save_figure(solution.plot(truth, "Close to resonance"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
