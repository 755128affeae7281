"""DXF: every kind of curve, blocks, layers, units; and files that are no DXF."""

import io
import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings import dxf
from tests.geometry.drawn import area, lengths, read

ezdxf = pytest.importorskip("ezdxf")


def written(draw, units=4):
    """The bytes of a file that `draw` draws into."""
    document = ezdxf.new("R2000", units=units)
    draw(document, document.modelspace())
    text = io.StringIO()
    document.write(text)
    return text.getvalue().encode()


def on(layer, **more):
    return {"layer": layer, **more}


SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def bulged(document, space):
    space.add_lwpolyline([(*p, math.tan(math.pi / 8)) for p in SQUARE], format="xyb", close=True)


def old_polyline(document, space):
    space.add_polyline2d([(*p, math.tan(math.pi / 8)) for p in SQUARE], format="xyb", close=True)


def from_below(document, space):
    space.add_lwpolyline(
        [(-x, y, -math.tan(math.pi / 8)) for x, y in SQUARE],
        format="xyb",
        close=True,
        dxfattribs={"extrusion": (0, 0, -1)},
    )


def lines(document, space):
    for p, q in zip(SQUARE, [*SQUARE[1:], SQUARE[0]], strict=True):
        space.add_line(*((q, p) if p[0] else (p, q)))


def slot(document, space):
    space.add_line((0, 0), (10, 0))
    space.add_arc((10, 3), 3, -90, 90)
    space.add_line((10, 6), (0, 6))
    space.add_arc((0, 3), 3, 90, 270)


def circle(document, space):
    space.add_circle((3, 4), 5)


def ellipse(document, space):
    space.add_ellipse((3, 4), (3, 4), 0.4)


def half_ellipse(document, space):
    space.add_ellipse((0, 0), (5, 0), 0.4, 0, math.pi)
    space.add_line((-5, 0), (5, 0))


def bezier(document, space):
    spline = space.add_spline(degree=3)
    spline.control_points = [(0, 0), (20, 50), (60, 50), (80, 0)]
    spline.knots = [0, 0, 0, 0, 1, 1, 1, 1]
    space.add_line((0, 0), (80, 0))


def rational_circle(document, space):
    spline = space.add_spline(degree=2)
    h = math.sqrt(0.5)
    spline.control_points = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)]
    spline.knots = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
    spline.weights = [1, h, 1, h, 1, h, 1, h, 1]


def through_points(document, space):
    t = np.arange(40) * 2 * math.pi / 40
    space.add_spline([(2 * math.cos(a), math.sin(a)) for a in t], dxfattribs={"flags": 1})


def blocks(document, space):
    block = document.blocks.new("B", base_point=(1, 1))
    block.add_lwpolyline([(1, 1), (2, 1), (2, 2)], close=True)
    outer = document.blocks.new("OUTER")
    outer.add_blockref("B", (5, 0), dxfattribs={"rotation": 90, "xscale": 2})
    space.add_blockref(
        "OUTER", (100, 100), dxfattribs={"column_count": 3, "row_count": 2, "column_spacing": 20, "row_spacing": 30}
    )


@pytest.mark.parametrize(
    ("draw", "expected", "digits"),
    [
        (bulged, 100 + 4 * (25 * math.pi / 2 - 25), 1e-5),
        (old_polyline, 100 + 4 * (25 * math.pi / 2 - 25), 1e-5),
        (from_below, 100 + 4 * (25 * math.pi / 2 - 25), 1e-5),
        (lines, 100, 1e-12),
        (slot, 60 + 9 * math.pi, 1e-5),
        (circle, 25 * math.pi, 1e-5),
        (ellipse, 10 * math.pi, 1e-5),
        (half_ellipse, 5 * math.pi, 1e-5),
        (bezier, 2100, 1e-5),
        (rational_circle, math.pi, 1e-4),
        (through_points, 2 * math.pi, 1e-4),
        (blocks, 6 * 2 * 0.5, 1e-12),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_areas(draw, expected, digits, tmp_path):
    found = read(tmp_path, "a.dxf", written(draw))
    assert found.units == "mm"
    assert area(found.domain) == pytest.approx(expected, rel=digits)


def test_places_of_blocks(tmp_path):
    """The block B, turned and stretched within OUTER, against its corners by hand."""
    found = read(tmp_path, "a.dxf", written(blocks))
    p = np.array([(105, 100), (105, 102), (104, 102)])
    corners = {tuple(np.round((x + 20 * k, y + 30 * j), 9)) for x, y in p for k in range(3) for j in range(2)}
    assert {tuple(np.round(q, 9)) for q in found.domain.pieces.start} == corners


def test_layers_name_parts(tmp_path):
    def draw(document, space):
        for name in ("walls", "Door 1", "hidden"):
            document.layers.add(name)
        document.layers.get("hidden").off()
        for number, (p, q) in enumerate(zip(SQUARE, [*SQUARE[1:], SQUARE[0]], strict=True)):
            space.add_line(p, q, dxfattribs=on("Door 1" if number == 2 else "walls"))
        space.add_circle((5, 5), 1, dxfattribs=on("hidden"))
        space.add_text("a", dxfattribs=on("walls"))
        block = document.blocks.new("B")
        block.add_circle((0, 0), 1)
        space.add_blockref("B", (3, 3), dxfattribs=on("Door 1"))

    content = written(draw)
    found = read(tmp_path, "a.dxf", content)
    assert lengths(found.domain) == pytest.approx({"walls": 30, "Door 1": 10 + 2 * math.pi}, rel=1e-5)
    assert found.notes == ("left out: 1 TEXT, 1 entities on layers that are off",)
    only = read(tmp_path, "a.dxf", content, layers=["HIDDEN"])
    assert lengths(only.domain) == pytest.approx({"hidden": 2 * math.pi}, rel=1e-5)
    with pytest.raises(InputError, match="unknown layer 'wall': did you mean 'walls'"):
        read(tmp_path, "a.dxf", content, layers=["wall"])


def test_units(tmp_path):
    content = written(circle, units=1)
    assert read(tmp_path, "a.dxf", content).units == "in"
    assert area(read(tmp_path, "a.dxf", content, units="mm").domain) == pytest.approx(25 * math.pi * 25.4**2, rel=1e-5)
    with pytest.raises(InputError, match="has no units"):
        read(tmp_path, "a.dxf", written(circle, units=0), units="mm")


def cycle(document, space):
    one, two = document.blocks.new("ONE"), document.blocks.new("TWO")
    one.add_blockref("TWO", (0, 0))
    two.add_blockref("ONE", (0, 0))
    space.add_blockref("ONE", (0, 0))


def bomb(document, space):
    document.blocks.new("B0").add_line((0, 0), (1, 0))
    for number in range(8):
        block = document.blocks.new(f"B{number + 1}")
        for _ in range(9):
            block.add_blockref(f"B{number}", (0, 0))
    space.add_blockref("B8", (0, 0))


def many(document, space):
    document.blocks.new("B").add_line((0, 0), (1, 0))
    space.add_blockref("B", (0, 0), dxfattribs={"column_count": 30000, "row_count": 30000})


def nowhere(document, space):
    space.add_blockref("B", (0, 0))


def tilted(document, space):
    space.add_circle((0, 0), 1, dxfattribs={"extrusion": (1, 0, 1)})


def wrong_bulge(document, space):
    space.add_lwpolyline([(0, 0, 1e9), (1, 0, 0)], format="xyb", close=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: written(cycle), "blocks nest more than 16 deep"),
        (lambda: written(bomb), "more than 100,000 entities"),
        (lambda: written(many), "repeats a block"),
        (lambda: written(tilted), "tilted plane"),
        (lambda: written(wrong_bulge), "bulge"),
        (lambda: written(lambda document, space: space.add_text("a")), "has no curves: only 1 TEXT"),
        (lambda: written(circle)[:700], "is no DXF file|has no curves"),
        (lambda: written(circle).replace(b"\nCIRCLE\n", b"\nCIRcLE\n"), "has no curves: only 1 CIRcLE"),
        (lambda: written(nowhere), "block 'B' is placed, and not defined"),
        (lambda: b"AutoCAD Binary DXF\r\n\x1a\x00", "save it as ASCII DXF"),
        (lambda: b"", "is no DXF file"),
        (lambda: b"\xff\x00abc\n" * 20, "is no DXF file"),
    ],
)
def test_what_cannot_be_read_is_refused(content, said):
    with pytest.raises(InputError, match=said):
        dxf.read_dxf(content())


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "ezdxf", None)
    with pytest.raises(InputError, match=r"ezdxf is needed to read DXF files: pip install 'mc2-pde\[drawings\]'"):
        read(tmp_path, "a.dxf", b"0\nEOF\n")
