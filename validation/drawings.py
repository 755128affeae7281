"""Drawings: what readers make of those in examples/drawings, and of thirty that are broken.

    python -m validation.drawings [--json]

Areas are compared with computations that share nothing with the readers: formulas, sums over triangles or pixels,
shapely's rings, the library ezdxf, SciPy's splines. Takes about twenty seconds.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from mc2.errors import InputError
from mc2.geometry.drawings import from_points, from_sdf, read_drawing
from validation.markdown import table

FOLDER = Path(__file__).parents[1] / "examples" / "drawings"
REPEATS = 3
DEPTH = "(1 - x*x/4 - y*y)/5"
"""No distance, but it changes by less than 1 per length."""


def shoelace(points):
    """The area within a ring."""
    x, y = np.transpose(points)
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def area_of_svg(path):
    """Of the plate, by its measures: rounded corners, a disk, a slot with round ends."""
    return 120 * 80 - 2 * (1 - np.pi / 4) * 15**2 - np.pi * 14**2 - (28 * 12 + np.pi * 6**2)


def area_of_dxf(path):
    """Of the bracket: ezdxf's flattening of its outline, less SciPy's B-spline of its rim, three bolts and a window."""
    import ezdxf
    from ezdxf.path import make_path
    from scipy.interpolate import BSpline

    space = ezdxf.readfile(path).modelspace()
    outline = shoelace([(p.x, p.y) for p in make_path(space.query("LWPOLYLINE")[0]).flattening(1e-7)])
    spline = space.query("SPLINE")[0]
    assert not len(spline.weights)
    knots, degree, control = np.array(spline.knots), spline.dxf.degree, np.array(spline.control_points)[:, :2]
    rim = shoelace(BSpline(knots, control, degree)(np.linspace(knots[degree], knots[-degree - 1], 200_001)[:-1]))
    bolts, window = np.pi * (7**2 + 7**2 + 5**2), 14 * 35 + 0.5 * np.pi * 7 * (7 + 4)
    return outline - rim - bolts - window


def area_of_geojson(path):
    """By shapely."""
    from shapely.geometry import shape

    return sum(shape(feature["geometry"]).area for feature in json.loads(path.read_text())["features"])


def area_of_png(path):
    """The sum of all pixels' shades."""
    from PIL import Image

    return float(np.asarray(Image.open(path).convert("L"), float).sum()) / 255


def area_of_csv(path):
    """Of the wing, which is sharp at its tail, less its spar: SciPy's splines by chord length through their points."""
    from scipy.interpolate import CubicSpline

    areas = {}
    rows = [row for line in path.read_text().splitlines()[1:] if len(row := line.split(",")) == 3]
    for name, ends in (("wing", "not-a-knot"), ("spar", "periodic")):
        points = np.array([[float(x), float(y)] for x, y, own in rows if own == name])
        points = np.concatenate([points, points[:1]]) if np.any(points[0] != points[-1]) else points
        along = np.append(0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
        spline = CubicSpline(along, points, bc_type=ends)
        areas[name] = shoelace(spline(np.linspace(0, along[-1], 200_001)[:-1]))
    return areas["wing"] - areas["spar"]


def area_of_obj(path):
    """The sum over its triangles."""
    rows = [line.split() for line in path.read_text().splitlines()]
    vertices = np.array([[float(word) for word in row[1:3]] for row in rows if row[:1] == ["v"]])
    faces = [[int(word) - 1 for word in row[1:]] for row in rows if row[:1] == ["f"]]
    return sum(shoelace(vertices[face]) for face in faces)


AREAS = {
    ".svg": area_of_svg, ".dxf": area_of_dxf, ".geojson": area_of_geojson, ".png": area_of_png, ".csv": area_of_csv,
    ".obj": area_of_obj,
}  # fmt: skip


def measured(name, make, area):
    """One line of the table of readers: the least seconds of a few readings."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        domain = make()
        pieces = domain.pieces
        seconds.append(time.perf_counter() - start)
    found = float(pieces.areas().sum())
    return {
        "drawing": name,
        "rings": len(np.unique(pieces.curve)),
        "parts": [part.name for part in domain.parts],
        "vertices": pieces.size,
        "area": found,
        "expected": float(area),
        "relative difference": abs(found - area) / area,
        "seconds": min(seconds),
    }


def readers():
    """A line for every drawing of the examples, and for what is drawn by a program."""
    for path in sorted(FOLDER.iterdir()):
        yield measured(path.name, lambda path=path: read_drawing(path).domain, AREAS[path.suffix](path))
    t = 2 * np.pi * np.arange(24) / 24
    ellipse = np.stack([2 * np.cos(t), np.sin(t)], axis=1)
    yield measured("from_points, 24 points of an ellipse", lambda: from_points(ellipse), 2 * np.pi)
    yield measured(f"from_sdf, {DEPTH}", lambda: from_sdf(DEPTH, (-2.1, 2.1, -1.1, 1.1)), 2 * np.pi)


def svg(body, head='viewBox="0 0 100 100"'):
    return f'<svg xmlns="http://www.w3.org/2000/svg" {head} fill="none">{body}</svg>'


def path(data):
    return svg(f'<path id="rim" d="{data}"/>')


def geo(*rings, kind="Polygon"):
    return json.dumps({"type": kind, "coordinates": list(rings)})


BOX = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
SQUARE = "M0 0H100V100H0Z"
BROKEN = (
    ("a gap of a thousandth of a millimetre", ".svg", path("M0 0H100V100H0V0.001")),
    ("sides drawn one by one that miss each other by 0.02", ".svg",
     svg('<path d="M0 0H100"/><path d="M100.02 0V100"/><path d="M100 100.02H0"/><path d="M0 100V0.02"/>')),
    ("a gap of a tenth of its size", ".svg", path("M0 0H100V100H0V10")),
    ("a side that is missing", ".svg", path("M0 0H100V100H0")),
    ("a vertex that is repeated three times", ".geojson", geo([BOX[0], BOX[1], BOX[1], *BOX[1:]])),
    ("a ring that is drawn clockwise", ".geojson", geo(BOX[::-1])),
    ("a hole with the sense of its ring", ".geojson", geo(BOX, [[0.2, 0.2], [0.6, 0.2], [0.6, 0.6], [0.2, 0.2]])),
    ("a ring that is not closed", ".geojson", geo(BOX[:-1])),
    ("a spike", ".svg", path("M0 0H100V100H50V140V100H0Z")),
    ("a loop of a thousandth", ".svg", path("M0 0H100V100H0V50L0.05 50.05L0.05 49.95L0 50V0Z")),
    ("a bow tie", ".svg", path("M0 0L100 100H0L100 0Z")),
    ("no area: there and back", ".svg", path("M0 0H100H0Z")),
    ("a single point", ".svg", path("M10 10Z")),
    ("a circle without a radius", ".svg", svg('<circle cx="1" cy="1" r="0"/>')),
    ("a ring drawn twice", ".svg", svg(f'<path d="{SQUARE}"/><path d="{SQUARE}"/>')),
    ("two squares that overlap", ".svg", svg(f'<path d="{SQUARE}"/><path d="M50 50H150V150H50Z"/>')),
    ("two squares with a common side", ".svg", svg(f'<path d="{SQUARE}"/><path d="M100 0H200V100H100Z"/>')),
    ("a hole that touches the rim in a point", ".svg", svg(f'<path d="{SQUARE}"/><path d="M0 50L40 30V70Z"/>')),
    ("a hole that crosses the rim", ".geojson", geo(BOX, [[0.5, 0.5], [1.5, 0.5], [1.5, 0.7], [0.5, 0.5]])),
    ("a speck of dust beside a plate", ".svg", svg(f'<path d="{SQUARE}"/><path d="M150 150h1e-4v1e-4h-1e-4Z"/>')),
    ("an open line that leaves the plate", ".svg", svg(f'<path d="{SQUARE}"/><path id="crack" d="M50 50H130"/>')),
    ("an open line outside of the plate", ".svg", svg(f'<path d="{SQUARE}"/><path d="M150 50H180"/>')),
    ("only text and pictures", ".svg", svg('<text x="1" y="2">plate</text><image width="3" height="3"/>')),
    ("a coordinate that is no number", ".svg", path("M0 0H100VnanH0Z")),
    ("a coordinate that is infinite", ".geojson", '{"type": "Polygon", "coordinates": [[[0, 0], [1e999, 0], [1, 1]]]}'),
    ("XML that ends too early", ".svg", svg(f'<path d="{SQUARE}"/>')[:-9]),
    ("an entity that grows without bound", ".svg",
     '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + svg("<text>&b;</text>")),
    ("a file that is empty", ".geojson", ""),
    ("words where numbers belong", ".csv", "x,y\n0,0\n1,0\nred,blue\n"),
    ("a face with a vertex that is not there", ".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"),
)  # fmt: skip
"""What is broken, the ending of the file, and its content."""


def outcome(what, ending, content, folder):
    """What a broken drawing gets."""
    file = folder / f"drawing{ending}"
    file.write_text(content, "utf-8")
    try:
        found = read_drawing(file)
    except InputError as error:
        text = " ".join(str(error).split()).replace(str(file), file.name)
        return {"drawing": what, "ending": ending, "gets": "refused", "said": text}
    said = "; ".join(found.notes)
    area = float(found.domain.pieces.areas().sum())
    return {"drawing": what, "ending": ending, "gets": "mended" if said else "read", "said": said, "area": area}


def broken():
    with tempfile.TemporaryDirectory() as folder:
        return [outcome(*case, Path(folder)) for case in BROKEN]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    found = {"readers": list(readers()), "broken": broken()}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    for rows in found.values():
        names = list(dict.fromkeys(name for row in rows for name in row))
        print(table(names, [[str(row.get(name, "")) for name in names] for row in rows]), "\n")


if __name__ == "__main__":
    main()
