"""What people ask of solutions, against references: capacitances, resistances, torsion, capacities, modes, gradients.

    python -m validation.quantities [--instances 20] [--json]

Every quantity has an error bar of its own, and a reference from a closed form or a published table. Gradients are
compared at 100 points of each of some test instances of PDEZoo, whose exact solutions `solve` does not see. Takes about
a minute on two cores.
"""

import argparse
import copy
import json
import sys

import numpy as np
from scipy.special import ellipk, gamma, jn_zeros

import mc2
from mc2.geometry import Disk, Ellipse, Polygon, Rectangle, Square, Triangle
from mc2.zoo import generate
from validation.markdown import table

SMOOTH, CORNERS = 1e-8, 1e-6
"""Relative errors that are wanted."""
POINTS = 100
L_SHAPE = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
MODES = {
    "disk": (Disk(), np.sort(np.concatenate([np.repeat(jn_zeros(n, 4) ** 2, 2 if n else 1) for n in range(8)]))[:10]),
    "square": (Square(), np.sort([(m * m + n * n) * np.pi**2 / 4 for m in range(1, 8) for n in range(1, 8)])[:10]),
    # the first by Jones (2015), others from public programs for particular solutions, to 13 digits; the third, eighth
    # and ninth are those of its squares
    "L-shape": (L_SHAPE, [9.639723844021941, 15.197251926454308, 2 * np.pi**2, 29.521481114144848, 31.912635957137752,
                          41.47450989021491, 44.94848778135119, 5 * np.pi**2, 5 * np.pi**2, 56.70960988738507]),
}  # fmt: skip


def row(quantity, value, bar, reference, source, wanted):
    """One line of the table."""
    return {
        "quantity": quantity,
        "value": float(value),
        "error bar": float(bar),
        "reference": float(reference),
        "source": source,
        "relative error": abs(float(value) / float(reference) - 1),
        "wanted": wanted,
        "held": bool(abs(value - reference) <= 3 * bar + 1e-13 * abs(reference)),
    }


def electrical():
    """Capacitances and resistances."""
    cylinders = Disk(1.0, name="outer") - Disk(0.25, center=(0.5, 0.0), name="inner")
    found = mc2.capacitance(cylinders)["inner", "inner"]
    true = 2 * np.pi / np.arccosh((1 + 0.0625 - 0.25) / 0.5)
    yield row("capacitance, eccentric cylinders", found.value, found.standard_error, true, "inversion", SMOOTH)
    bend = Polygon([(0, 0), (6, 0), (6, 1), (1, 1), (1, 6), (0, 6)])
    found = mc2.resistance(bend, "edge 1", "edge 4")
    true = 11 - 2 * np.log(2) / np.pi
    yield row("resistance, strip with a square bend", found.value, found.standard_error, true, "Hall (1967)", CORNERS)
    contacts = Disk(1.0).mark("a", "x > cos(pi/6)").mark("b", "x < -cos(pi/6)")
    found = mc2.resistance(contacts, "a", "b")
    true = ellipk(np.cos(np.pi / 6) ** 2) / ellipk(np.sin(np.pi / 6) ** 2)
    yield row(
        "resistance, disk with two contacts", found.value, found.standard_error, true, "K(cos α)/K(sin α)", CORNERS
    )


def torsion():
    """The torsion constant of the unit square, 2 ∫ φ with Δφ = −2."""
    k = np.arange(1, 4000, 2)
    true = 1 / 3 - 64 / np.pi**5 * float(np.sum(np.tanh(k * np.pi / 2) / k**5))
    found = mc2.solve(mc2.Poisson(Rectangle(0.5, 0.5), source=-2, boundary=0), tolerance=1e-12, grid=32).integral()
    yield row("torsion constant, square", 2 * found.value, 2 * found.standard_error, true, "series", CORNERS)
    found = mc2.solve(mc2.Poisson(Ellipse(1.0, 0.6), source=-2, boundary=0), tolerance=1e-12, grid=32).integral()
    true = np.pi * 0.6**3 / 1.36
    yield row("torsion constant, ellipse", 2 * found.value, 2 * found.standard_error, true, "π a³b³/(a² + b²)", SMOOTH)


def capacities():
    """Logarithmic capacities (Pólya and Szegő, 1951)."""
    square, triangle = gamma(0.25) ** 2 / (4 * np.pi**1.5), 3 * gamma(1 / 3) ** 3 / (8 * np.pi**2)
    for name, body, true, source, wanted in (
        ("disk", Disk(2.0, center=(1, 3)), 2.0, "its radius", SMOOTH),
        ("ellipse", Ellipse(1.0, 0.6), 0.8, "(a + b)/2", SMOOTH),
        ("thin ellipse", Ellipse(1.0, 0.1), 0.55, "(a + b)/2", SMOOTH),
        ("half disk", Disk() & Rectangle(2.0, 2.0, center=(2, 0)), 4 / 27**0.5, "4/√27", CORNERS),
        ("square", Square(0.5), square, "Γ(1/4)²/(4 π^1.5)", CORNERS),
        ("triangle", Triangle(1.0), triangle, "3 Γ(1/3)³/(8 π²)", CORNERS),
    ):
        found = mc2.log_capacity(body)
        yield row(f"logarithmic capacity, {name}", found.value, found.standard_error, true, source, wanted)


def modes():
    """The first ten eigenvalues of three domains, of which each is a line."""
    for name, (domain, references) in MODES.items():
        found = mc2.modes(domain, len(references))
        for k, (mode, true) in enumerate(zip(found, references, strict=True), 1):
            own = row(f"λ{k}, {name}", mode.eigenvalue, mode.error, true, "closed form", SMOOTH)
            if name == "L-shape":
                closed = k in (3, 8, 9)
                own["source"] = "closed form" if closed else "Jones (2015)" if k == 1 else "others' programs"
                own["wanted"] = CORNERS
            yield own


def gradients(count):
    """Relative errors of gradients of test instances, and how many lie within their error bars."""
    for index in range(count):
        instance = generate("test", index)
        problem = copy.copy(instance.problem)
        problem.exact = None
        solution = mc2.solve(problem, tolerance=1e-10 * size(instance), grid=64, seed=index)
        x, y = problem.domain.sample_interior(POINTS, seed=index).T
        true = slopes_of(instance.problem.exact, x, y)
        found = solution.gradient(x, y)
        error = np.abs(np.array([found.x, found.y]) - true)
        scale = float(np.sqrt(np.mean(true**2)))
        yield {
            "id": instance.id,
            "family": instance.family,
            "relative error": float(np.sqrt(np.mean(error**2))) / scale,
            "relative bar": float(np.sqrt(np.mean(found.standard_error**2))) / scale,
            "within": float((error <= 1.96 * found.standard_error + 1e-13 * scale).mean()),
        }
        print(f"\rgradients: {index + 1}/{count} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def slopes_of(function, x, y, step=2e-3):
    """Derivatives of a function [2, n] by differences of eighth order, which are right to about 1e-12."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return np.array(
        [
            sum(
                weight * (function(x + j * dx, y + j * dy) - function(x - j * dx, y - j * dy))
                for j, weight in weights.items()
            )
            / step
            for dx, dy in ((step, 0), (0, step))
        ]
    )


def size(instance):
    """Of the exact solution on the boundary."""
    return float(np.abs(instance.problem.exact(*instance.problem.domain.sample_boundary(256).T)).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=20, help="of PDEZoo's test split, for gradients")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    rows = [own for part in (electrical, torsion, capacities, modes) for own in part()]
    slopes = list(gradients(given.instances))
    found = {
        "table": rows,
        "gradients": slopes,
        "gradient": {
            "instances": len(slopes),
            "points": POINTS,
            "median": float(np.median([own["relative error"] for own in slopes])),
            "worst": max(own["relative error"] for own in slopes),
            "within": float(np.mean([own["within"] for own in slopes])),
        },
    }
    if given.json:
        print(json.dumps(found, indent=1))
        return
    cells = [[f"{cell:.12g}" if isinstance(cell, float) else cell for cell in own.values()] for own in rows]
    print(table(list(rows[0]), cells))
    print(found["gradient"])


if __name__ == "__main__":
    main()
