"""NAFEMS benchmark T4: heat through a plate with a hot bottom, an insulated left side, and two sides in the open air.

    python examples/nafems_t4.py [picture.png]

The plate is 0.6 m by 1 m, conducts 52 W/(m K), and loses 750 W/(m² K) to air at 0 °C through its right and top sides:
∂u/∂n + (750/52) u = 0. The benchmark asks for the temperature at (0.6, 0.2), where it says 18.3 °C; the digits here are
those of the series below.
"""

import sys
import time
from pathlib import Path

import numpy as np

import mc2
from mc2 import Neumann, Robin
from mc2.geometry import Rectangle
from mc2.plotting import panels, save_figure

WIDTH, HEIGHT, BIOT = 0.6, 1.0, 750 / 52
POINT = 0.6, 0.2


def problem():
    plate = Rectangle(width=WIDTH, height=HEIGHT, center=(WIDTH / 2, HEIGHT / 2))
    return mc2.Laplace(plate, boundary={"bottom": 100, "left": Neumann(0), "*": Robin(BIOT, 0)})


def series(x, y, terms=400):
    """The temperature by separation: cos(pₙx) with pₙ tan(pₙ w) = h/k, the right side's condition."""
    from scipy.optimize import brentq

    total = np.zeros(np.broadcast(x, y).shape)
    for n in range(terms):
        low, high = n * np.pi / WIDTH, (n + 0.5) * np.pi / WIDTH
        p = brentq(lambda p: p * np.sin(p * WIDTH) - BIOT * np.cos(p * WIDTH), low, high, xtol=1e-15 * high)
        amplitude = 100 * np.sin(p * WIDTH) / p / (WIDTH / 2 + np.sin(2 * p * WIDTH) / (4 * p))
        # at the top Z' = −(h/k) Z: Z = e^{−py} (1 + q e^{−2p(h − y)})/(1 + q e^{−2ph}), which never overflows
        q = (p - BIOT) / (p + BIOT)
        fall = np.exp(-p * y) * (1 + q * np.exp(-2 * p * (HEIGHT - y))) / (1 + q * np.exp(-2 * p * HEIGHT))
        total = total + amplitude * np.cos(p * x) * fall
    return total


def main(picture=None):
    begin = time.perf_counter()
    solution = mc2.solve(problem())
    found, seconds = solution(*POINT), time.perf_counter() - begin
    print(f"T(0.6, 0.2) = {found:.11f} °C in {seconds:.2f} s, error bar {solution.standard_error.max():.1e}")
    print(f"the series  = {series(*POINT):.11f} °C; the benchmark says 18.3")
    print("heat through the bottom:", solution.flux("bottom"), "× 52 W/m")
    if picture:
        figure, [ax] = panels(1, size=(3.6, 4.6))
        solution.plot(ax=ax, title="NAFEMS T4: °C", isolines=16)
        save_figure(figure, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
