"""DXF: lines, polylines, arcs, circles, ellipses, splines and blocks; layers name the parts."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mc2.errors import InputError, one_line, short, unknown
from mc2.geometry.drawings.drawing import Collector, Drawing, clean_name, visible
from mc2.geometry.drawings.extras import needed
from mc2.geometry.drawings.segments import (
    IDENTITY,
    Affine,
    Arc,
    Line,
    Point,
    Segment,
    compose,
    ellipse,
    mapped,
    polyline,
)
from mc2.geometry.drawings.splines import from_control_points, through
from mc2.reading.plain import saying

if TYPE_CHECKING:
    from ezdxf.document import Drawing as Document
    from ezdxf.entities.dxfentity import DXFEntity

MAX_BYTES = 8 << 20
"""Bytes of a DXF file: its library needs a hundred times as much memory."""
MAX_DRAWN = 100_000
"""Entities that are drawn, counted as often as blocks draw them."""
MAX_DEPTH = 16
"""Blocks within one another."""
UNITS = {1: "in", 2: "ft", 4: "mm", 5: "cm", 6: "m", 7: "km", 10: "yd", 13: "um"}
"""Units by their number in $INSUNITS."""


def read_dxf(content: bytes, layers: Iterable[str] | None = None) -> Drawing:
    """The drawing in the model space of a DXF file.

    layers: only these; None for all that are neither off nor frozen.
    """
    document = _document(content)
    reader = _Reader(document, layers)
    for entity in document.modelspace():
        reader.draw(entity, IDENTITY, None, 0)
    return reader.collector.drawing(UNITS.get(document.header.get("$INSUNITS", 0), ""))


def _document(content: bytes) -> Document:
    """What the library reads; whatever it says of a file that it cannot read is an error of the file."""
    needed("ezdxf", "to read DXF files")
    from ezdxf.filemanagement import dxf_stream_info, read

    if content.startswith(b"AutoCAD Binary DXF"):
        raise InputError("is a binary DXF file: save it as ASCII DXF")
    try:
        text = content.decode("utf-8", "surrogateescape")
        encoding = dxf_stream_info(io.StringIO(text)).encoding
        return read(io.StringIO(content.decode(encoding, "surrogateescape").replace("\r\n", "\n")))
    except Exception as error:  # the library lets many kinds through
        raise InputError(f"is no DXF file that can be read: {one_line(error)}") from None


class _Reader:
    """Walks through the entities."""

    def __init__(self, document: Document, layers: Iterable[str] | None) -> None:
        self.collector = Collector()
        self.blocks = document.blocks
        self.hidden = {layer.dxf.name.casefold() for layer in document.layers if layer.is_off() or layer.is_frozen()}
        self.wanted = None if layers is None else self._wanted(document, layers)
        self.drawn = 0

    @staticmethod
    def _wanted(document: Document, layers: Iterable[str]) -> set[str]:
        known = {layer.dxf.name.casefold(): layer.dxf.name for layer in document.layers}
        chosen = list(layers)
        for name in chosen:
            if name.casefold() not in known:
                raise unknown("layer", name, known.values())
        return {name.casefold() for name in chosen}

    def draw(self, entity: DXFEntity, affine: Affine, layer: str | None, depth: int) -> None:
        """Draw an entity. layer: of the block that it is in, which layer 0 stands for."""
        self.drawn += 1
        if self.drawn > MAX_DRAWN:
            raise InputError(f"draws more than {MAX_DRAWN:,} entities ({__name__}.MAX_DRAWN): blocks multiply them")
        from ezdxf.entities.dxfgfx import DXFGraphic

        kind = entity.dxftype()
        if not isinstance(entity, DXFGraphic):  # of a kind that the library does not know: it has no layer
            self.collector.ignore(visible(kind))
            return
        own = str(entity.dxf.get("layer", "0"))
        own = layer if own == "0" and layer is not None else own
        place = f"{kind} #{entity.dxf.get('handle', '?')} on layer {visible(own)!r}"
        if self.wanted is None and own.casefold() in self.hidden:
            self.collector.ignore("entities on layers that are off")
        elif kind == "INSERT":
            with saying(place):
                inner = _tried(lambda: self._placed(entity))
            self._insert(entity, [compose(affine, one) for one in inner], own, depth)
        elif self.wanted is None or own.casefold() in self.wanted:
            name = None if own == "0" else clean_name(own)
            with saying(place):
                found = _tried(lambda: _curve(entity, name))
            if found is None:
                self.collector.ignore(visible(kind))
                return
            segments, closed = found
            self.collector.add((new for old in segments for new in mapped(old, affine)), closed, place)

    def _placed(self, entity: Any) -> list[Affine]:
        """The maps of the block's copies."""
        across, down = int(entity.dxf.get("column_count", 1)), int(entity.dxf.get("row_count", 1))
        if across * down > MAX_DRAWN or min(across, down) < 0:
            raise InputError(f"repeats a block {across:,} × {down:,} times: {MAX_DRAWN:,} are allowed")
        steps = entity.dxf.get("column_spacing", 0.0), entity.dxf.get("row_spacing", 0.0)
        matrix = entity.matrix44()
        angle = math.radians(entity.dxf.get("rotation", 0.0))
        origin, x, y = (matrix.transform(point) for point in ((0, 0, 0), (1, 0, 0), (0, 1, 0)))
        found: list[Affine] = []
        for k in range(max(across, 1)):
            for j in range(max(down, 1)):
                dx, dy = k * steps[0], j * steps[1]
                e = origin.x + dx * math.cos(angle) - dy * math.sin(angle)
                f = origin.y + dx * math.sin(angle) + dy * math.cos(angle)
                found.append((x.x - origin.x, x.y - origin.y, y.x - origin.x, y.y - origin.y, e, f))
        return found

    def _insert(self, entity: Any, maps: list[Affine], layer: str, depth: int) -> None:
        if depth == MAX_DEPTH:
            raise InputError(f"block {visible(entity.dxf.name)!r}: blocks nest more than {MAX_DEPTH} deep")
        block = self.blocks.get(entity.dxf.get("name", ""))
        if block is None:
            raise InputError(f"block {visible(str(entity.dxf.get('name', '')))!r} is placed, and not defined")
        for affine in maps:
            for inner in block:
                self.draw(inner, affine, layer, depth + 1)


def _tried(make: Callable[[], Any]) -> Any:
    """What a function makes; an entity that the library cannot make sense of is an error of the file."""
    try:
        return make()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot be read: {one_line(error)}") from None


def _curve(entity: Any, name: str | None) -> tuple[list[Segment], bool] | None:
    """The segments of an entity and whether it is closed; None if it is no curve."""
    kind = entity.dxftype()
    dxf = entity.dxf
    if kind == "LINE":
        return polyline([_xy(dxf.start), _xy(dxf.end)], False, name), False
    if kind == "SPLINE":
        return _spline(entity, name)
    if kind == "ELLIPSE":
        return _ellipse(entity, name)
    if kind not in ("LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE"):
        return None
    if kind == "POLYLINE" and not entity.is_2d_polyline:
        if not entity.is_3d_polyline:
            return None
        corners = [_xy(vertex.dxf.location) for vertex in entity.vertices]
        return polyline(corners, bool(entity.is_closed), name), bool(entity.is_closed)
    segments, closed = _flat(entity, kind, name)
    return [new for old in segments for new in mapped(old, _side(dxf))], closed


def _flat(entity: Any, kind: str, name: str | None) -> tuple[list[Segment], bool]:
    """Entities that are given in a plane of their own."""
    dxf = entity.dxf
    if kind == "LWPOLYLINE":
        return _bulged([(x, y, bulge) for x, y, bulge in entity.get_points("xyb")], bool(entity.closed), name)
    if kind == "POLYLINE":
        vertices = [v for v in entity.vertices if not int(v.dxf.get("flags", 0)) & 16]  # 16: of a spline's frame
        corners = [(*_xy(v.dxf.location), float(v.dxf.get("bulge", 0.0))) for v in vertices]
        return _bulged(corners, bool(entity.is_closed), name)
    center, radius = _xy(dxf.center), float(dxf.radius)
    if radius <= 0:
        raise InputError(f"radius = {short(radius)} must be above 0")
    start, turn = 0.0, math.tau
    if kind == "ARC":
        start = math.radians(dxf.start_angle)
        turn = (math.radians(dxf.end_angle) - start) % math.tau or math.tau
    full = abs(turn - math.tau) < 1e-12
    return ellipse(center, (radius, 0.0), (0.0, radius), start, start + turn, name), full


def _bulged(corners: list[tuple[float, float, float]], closed: bool, name: str | None) -> tuple[list[Segment], bool]:
    """Lines and arcs between corners; each bulge is that of the segment that begins there."""
    made: list[Segment] = []
    ends = [*corners[1:], corners[0]] if closed else corners[1:]
    for (x, y, bulge), (u, v, _) in zip(corners, ends, strict=False):
        if not math.isfinite(bulge) or abs(bulge) > 1e6:
            raise InputError(f"bulge = {short(bulge)} must be a number up to 1e6")
        if (x, y) != (u, v):
            made.append(Arc((x, y), (u, v), bulge, name) if abs(bulge) > 1e-12 else Line((x, y), (u, v), name))
    return made, closed and len(made) > 1


def _ellipse(entity: Any, name: str | None) -> tuple[list[Segment], bool]:
    dxf = entity.dxf
    u, v = _xy(dxf.major_axis), _xy(entity.minor_axis)
    start, turn = float(dxf.start_param), (float(dxf.end_param) - float(dxf.start_param)) % math.tau
    if not math.hypot(*u) > 0 or not math.hypot(*v) > 0:
        raise InputError("has an axis of length 0")
    turn = math.tau if turn < 1e-12 else turn
    full = abs(turn - math.tau) < 1e-9
    return ellipse(_xy(dxf.center), u, v, start, start + (math.tau if full else turn), name), full


def _spline(entity: Any, name: str | None) -> tuple[list[Segment], bool]:
    control = [_xy(point) for point in entity.control_points]
    if control:
        knots, weights = list(entity.knots), list(entity.weights)
        found = from_control_points(control, knots, int(entity.dxf.degree), weights, name)
        return found, False  # whose ends meet if it is closed
    return through([_xy(point) for point in entity.fit_points], bool(entity.closed), 180.0, name), bool(entity.closed)


def _side(dxf: Any) -> Affine:
    """From an entity's own plane to that of the drawing: seen from above or, mirrored, from below."""
    x, y, z = dxf.get("extrusion", (0.0, 0.0, 1.0))
    if math.hypot(x, y) > 1e-9 * math.hypot(x, y, z) or z == 0:
        raise InputError(f"lies in a tilted plane: extrusion = ({x:g}, {y:g}, {z:g}) must be along z")
    return IDENTITY if z > 0 else (-1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _xy(point: Any) -> Point:
    return float(point[0]), float(point[1])
