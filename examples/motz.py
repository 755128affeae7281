"""Motz's problem: a plate that is insulated but for one side at 500 and half of another at 0.

Where that half ends heat flows without bound: u grows like √r there.

    python examples/motz.py [picture.png]

Every book on singularities has it (Motz, 1946). The coefficient of √r cos(θ/2) at that point is published to many
digits, 401.162453745… (Li, Mathon and Sermer, 1987). Here it follows from values of the solution on a half circle, on
which √r cos(θ/2) and all other terms of the solution are orthogonal.
"""

import sys
import time
from pathlib import Path

import numpy as np

import mc2
from mc2 import Neumann
from mc2.geometry import Rectangle
from mc2.plotting import panels, save_figure

PUBLISHED = 401.162453745


def problem():
    plate = Rectangle(width=2, height=1, center=(0, 0.5)).mark("cold", "x < 0", on="bottom")
    return mc2.Laplace(plate, boundary={"cold": 0, "right": 500, "*": Neumann(0)})


def coefficient(u, r=0.5):
    """Of √r cos(θ/2) around the origin."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    angle = 0.5 * np.pi * (nodes + 1)
    return float(weights @ (u(r * np.cos(angle), r * np.sin(angle)) * np.cos(0.5 * angle))) / np.sqrt(r)


def main(picture=None):
    begin = time.perf_counter()
    solution = mc2.solve(problem())
    found, seconds = coefficient(solution), time.perf_counter() - begin
    print(f"first coefficient {found:.9f} in {seconds:.2f} s, by the method {solution.method!r}")
    print(f"published         {PUBLISHED:.9f}")
    print(f"error bar of u    {solution.standard_error.max():.1e}")
    if picture:
        figure, [ax] = panels(1, size=(6.2, 3.6))
        solution.plot(ax=ax, title="Motz's problem, with isolines", isolines=24)
        save_figure(figure, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
