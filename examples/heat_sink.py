"""A heat sink with fins: aluminium on a hot chip, cooled by a fan.

    python examples/heat_sink.py [picture.png]

All lengths are millimetres. The chip under the base gives off 2 W per millimetre of depth over a width of 12; the fins
lose 100 W/(m² K) = 1e-4 W/(mm² K) to air at 25 °C; aluminium conducts 0.2 W/(mm K). What goes in must come out: the
air takes 2 W/mm. Thin fins behave like lines, so that fin theory, which engineers compute by hand, is not far off.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2 import Neumann, Robin
from mc2.geometry import Polygon
from mc2.plotting import panels, save_figure

CONDUCTS, LOSES, AIR, POWER = 0.2, 1e-4, 25.0, 2.0
FINS, THICK, APART, TALL, BASE, CHIP = 4, 2.0, 8.0, 20.0, 4.0, 12.0


def outline():
    """The base, and fins from right to left."""
    half = 0.5 * (FINS - 1) * APART + 0.5 * THICK
    points = [(-half, 0.0), (half, 0.0)]
    for number in range(FINS):
        right = half - number * APART
        foot = [(right, BASE)] if number else []
        points += [*foot, (right, BASE + TALL), (right - THICK, BASE + TALL)]
        points += [(right - THICK, BASE)] if number < FINS - 1 else []
    return points


def problem():
    cooled = Robin(LOSES / CONDUCTS, LOSES / CONDUCTS * AIR)
    sink = Polygon(outline()).mark("bottom", "y < 1e-9").mark("chip", f"abs(x) < {CHIP / 2}", on="bottom")
    return mc2.Laplace(sink, boundary={"chip": Neumann(POWER / CHIP / CONDUCTS), "bottom": Neumann(0), "*": cooled})


def fin_theory():
    """The mean temperature of the base: fins of efficiency tanh(mL)/mL, a base without resistance."""
    length = TALL + 0.5 * THICK
    m = np.sqrt(2 * LOSES / (CONDUCTS * THICK))
    width = (FINS - 1) * APART + THICK
    surface = FINS * 2 * length * np.tanh(m * length) / (m * length) + width - FINS * THICK + 2 * BASE
    return AIR + POWER / (LOSES * surface)


def main(picture=None):
    solution = mc2.solve(problem())
    chip, taken = solution(0.0, 0.0), CONDUCTS * solution.flux("chip").value
    cooled = [part.name for part in solution.problem.domain.parts if part.name not in ("bottom", "chip")]
    lost = -CONDUCTS * solution.flux(cooled).value
    print(f"{chip:.6f} °C in the middle of the chip, error bar {solution.standard_error.max():.1e}")
    print(f"fin theory: {fin_theory():.1f} °C, if the base were all at one temperature")
    print(f"in through the chip {taken:.9f} W/mm, out into the air {lost:.9f} W/mm")
    if picture:
        figure, [ax] = panels(1, size=(6.6, 4.8))
        solution.plot(ax=ax, title="A heat sink: °C", isolines=16)
        save_figure(figure, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
