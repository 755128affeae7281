"""Drawings of every kind as domains: what each of the readers makes of the drawing that ships with it.

    python examples/drawings.py

Prints the parts of the boundary, whose names come from the drawings, and solves Δu = −1 with u = 0 on each.
"""

from pathlib import Path

import mc2
from mc2.plotting import save_figure

FOLDER = Path(__file__).parent / "drawings"
OPTIONS = {".dxf": {"units": "cm"}, ".geojson": {"degrees": True}}


def main(picture=None, grid=64, names=("tee.obj", "curve.csv", "island.geojson")):
    """The largest value of u for every drawing. picture: of the last one's solution."""
    found = {}
    for name in names:
        path = FOLDER / name
        domain = mc2.read_domain(path, **OPTIONS.get(path.suffix, {}))
        accuracy = 1e-5 * domain.size**2  # u has the unit of an area
        solution = mc2.solve(mc2.Poisson(domain, source=-1, boundary=0), grid=grid, tolerance=accuracy)
        found[name] = float(solution.values.max())
        print(name, [part.name for part in domain.parts], f"largest u {found[name]:.6g}", solution.reason)
    if picture:
        save_figure(solution.plot(title=f"Δu = −1 in {name}"), Path(picture))
    return found


if __name__ == "__main__":
    main(names=tuple(path.name for path in sorted(FOLDER.iterdir())))
