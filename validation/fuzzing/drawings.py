"""Inputs that are drawings: of every format edited or damaged, paths and geometries that may be nonsense, masks."""

import io
import json
import math
from functools import cache
from pathlib import Path

import numpy as np

from mc2.geometry.drawings import from_geometry, from_mask, from_points, read_drawing
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import NUMBERS, alter, damage, edit

FOLDER = Path(__file__).parents[2] / "examples" / "drawings"
TEXTUAL = (".svg", ".dxf", ".geojson", ".csv", ".obj")
ROOT = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="10mm" viewBox="{}">{}</svg>'
LENGTHS = ("10mm", "1e400mm", "-3", "10%", "nan", "1in", "", "1e-300px")
BOXES = ("0 0 10 10", "0 0 0 0", "0 0 1e308 1", "nan 0 1 1", "1 2")
TRANSFORMS = ("rotate(30)", "scale(0)", "matrix(1 0 0 1 1e300 0)", "skewX(90)", "translate(1", "scale(1e200) " * 4)
COMMANDS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
KINDS = {"Point": 0, "LineString": 1, "Polygon": 2, "MultiPolygon": 3, "MultiLineString": 2}


@cache
def samples():
    """The drawings of the examples, by their endings."""
    return {path.suffix: path.read_bytes() for path in sorted(FOLDER.iterdir())}


def usable(found):
    """A domain that was read must answer for its points."""
    domain = found.domain if hasattr(found, "domain") else found
    xmin, xmax, ymin, ymax = domain.bounds
    assert np.isfinite(domain.distance([xmin, 0.5 * (xmin + xmax)], [ymin, 0.5 * (ymin + ymax)])).all()
    return [part.name for part in domain.parts]


def drawing(rng, folder):
    """A drawing of the examples with tokens put in, or with damaged bytes."""
    ending = rng.choice(sorted(samples()))
    content = samples()[ending]
    change = edit if ending in TEXTUAL and rng.random() < 0.7 else damage
    return _read(folder / f"d{ending}", change(rng, content), **options(rng, ending))


def options(rng, ending):
    """Options of a reader, now and then of a wrong kind."""
    if rng.random() < 0.7:
        return {}
    name = rng.choice(
        ["units", "mend", "flatness", "overlaps", "names", "layers", "level", "smooth", "pixel", "corner"]
    )
    return {name: rng.choice(["mm", "join", "id", 0.1, 1e-9, 0, -1, True, None, [], ["0"], float("nan"), 10**9])}


def _read(path, content, **given):
    path.write_bytes(content)
    return Input(lambda: usable(read_drawing(path, **given)))


def svg(rng, folder):
    """An SVG file from a grammar."""
    shapes = "".join(_shape(rng) for _ in range(rng.choice([0, 1, 1, 2, 3, 12])))
    if rng.random() < 0.3:
        shapes = f'<g transform="{rng.choice(TRANSFORMS)}">{shapes}</g>'
    if rng.random() < 0.03:
        shapes = "<g>" * 500 + shapes + "</g>" * 500
    odd = rng.random() < 0.1
    text = ROOT.format(rng.choice(LENGTHS) if odd else "10mm", rng.choice(BOXES) if odd else "0 0 10 10", shapes)
    return _read(folder / "d.svg", text.encode("utf-8", "replace"))


def _shape(rng):
    kind = rng.randrange(5)
    if kind < 3:
        letters = [*rng.choices("LLLHVCSQTA", k=rng.choice([2, 3, 4, 6])), "Z"]
        if rng.random() < 0.2:
            letters = rng.choices(sorted(COMMANDS), k=rng.choice([1, 3, 6, 40]))
        path = "M0 0 " + " ".join(
            (letter if rng.random() < 0.5 else letter.lower()) + " ".join(_number(rng) for _ in range(COMMANDS[letter]))
            for letter in letters
        )
        return f'<path id="p{rng.randrange(3)}" d="{path}"/>'
    if kind == 3:
        return f'<circle cx="{_number(rng)}" cy="{_number(rng)}" r="{_number(rng)}"/>'
    sides = " ".join(f'{name}="{_number(rng)}"' for name in ("x", "y", "width", "height", "rx", "ry"))
    return f"<rect {sides}/>"


def _number(rng):
    if rng.random() < 0.03:
        return str(rng.choice(NUMBERS))
    return str(rng.choice([0, 1, 5, 10, round(rng.uniform(-10, 20), 2)]))


def geojson(rng, folder):
    """A GeoJSON file: of a grammar, and in half of the cases with a node replaced."""
    kind = rng.choice(sorted(KINDS))
    data = {"type": kind, "coordinates": _nested(rng, KINDS[kind])}
    if rng.random() < 0.5:
        feature = {"type": "Feature", "properties": {"name": "a"}, "geometry": data}
        data = {"type": "FeatureCollection", "features": [feature] * rng.choice([1, 2, 50])}
    if rng.random() < 0.5:
        data = alter(rng, data)
    return _read(folder / "d.geojson", json.dumps(data).encode("utf-8", "replace"), **options(rng, ".geojson"))


def _nested(rng, depth):
    """Coordinates: a point, a ring that crosses itself in one case of four, or lists of these."""
    if depth == 0:
        return [rng.uniform(-1, 1), rng.uniform(-1, 1)]
    if depth == 1:
        points = [_nested(rng, 0) for _ in range(rng.choice([1, 3, 4, 8, 60]))]
        if rng.random() < 0.75:
            x, y = (sum(column) / len(points) for column in zip(*points, strict=True))
            points.sort(key=lambda point: math.atan2(point[1] - y, point[0] - x))
        return [*points, points[0]]
    return [_nested(rng, depth - 1) for _ in range(rng.choice([1, 1, 2, 4]))]


def points(rng, folder):
    """Polylines as text: numbers, names, empty lines, and what is neither."""
    rows = [
        rng.choice([",", " ", ";"]).join([_number(rng), _number(rng), *(["a"] if rng.random() < 0.3 else [])])
        for _ in range(rng.choice([1, 3, 10, 300]))
    ]
    if rng.random() < 0.5:
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(["", "x,y", "v 1 2 3", "nan,1", "l 1 2", "1"]))
    if rng.random() < 0.4:
        rows = [f"v {row.replace(',', ' ')} 0" for row in rows] + [f"l {_number(rng)} {_number(rng)} 2"]
        return _read(folder / "d.obj", "\n".join(rows).encode())
    return _read(folder / "d.csv", "\n".join(rows).encode(), **options(rng, ".csv"))


def mask(rng, folder):
    """Pictures: noise, thin lines, blocks, of odd shapes and kinds of numbers; as arrays and as files."""
    shape = (rng.choice([1, 2, 7, 40]), rng.choice([1, 3, 40]))
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    field = numbers.random(shape) if rng.random() < 0.5 else numbers.random(shape) < rng.choice([0.1, 0.5, 0.95])
    if rng.random() < 0.2:
        field = rng.choice([np.zeros(shape), np.full(shape, np.nan), np.zeros(3), np.zeros((2, 2, 2)), np.array("a")])
    if rng.random() < 0.5 or np.ndim(field) != 2 or not np.isfinite(np.asarray(field, float)).all():
        return Input(lambda: usable(from_mask(field)))
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray((np.asarray(field, float) * 255).astype(np.uint8)).save(out, "png")
    content = out.getvalue()
    return _read(folder / "d.png", damage(rng, content) if rng.random() < 0.3 else content)


def geometry(rng, folder):
    """What has `__geo_interface__`, or says so; and splines through points."""
    kind = rng.choice(sorted(KINDS))
    data = {"type": kind, "coordinates": _nested(rng, KINDS[kind])}
    if rng.random() < 0.4:
        data = alter(rng, data)
    if rng.random() < 0.3:
        place = _nested(rng, 1) if rng.random() < 0.8 else alter(rng, _nested(rng, 1))
        return Input(lambda: usable(from_points(place)))
    return Input(lambda: usable(from_geometry(data)))


TARGETS = {
    "drawing": drawing, "svg": svg, "geojson": geojson, "points": points, "mask": mask, "geometry": geometry,
}  # fmt: skip
