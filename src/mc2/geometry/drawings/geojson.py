"""GeoJSON, and whatever has a `__geo_interface__`: shapely's and geopandas' geometries among them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from mc2.errors import InputError, short, unknown
from mc2.geometry.drawings.drawing import MAX_SEGMENTS, Collector, Drawing, check_point, clean_name, quoted
from mc2.geometry.drawings.segments import Line, Point, first, last, polyline
from mc2.reading.json import parse_json

MAX_NESTING = 16
"""Collections within one another."""
EARTH = 6_371_008.8
"""Mean radius of the Earth in metres."""
_GEOMETRIES = ("Polygon", "MultiPolygon", "LineString", "MultiLineString", "LinearRing", "GeometryCollection")
_NOTHING = ("Point", "MultiPoint")
_NAMES = ("name", "id", "label", "NAME")
"""Properties of a feature that may name its part."""


def read_geojson(content: bytes, names: str | None = None, degrees: bool = False) -> Drawing:
    """The polygons and lines of a GeoJSON file.

    names: the property of features that names the parts; None for name, id or label.
    degrees: coordinates are longitudes and latitudes, and become metres.
    """
    return from_interface(parse_json(content), names, degrees, directed=True)


def from_interface(data: Any, names: str | None = None, degrees: bool = False, directed: bool = False) -> Drawing:
    """The same from plain data. directed: rings should go around as GeoJSON has it, and it is said if they do not."""
    reader = _Reader(names, directed)
    reader.read(data, None, "", 0)
    drawing = reader.drawing()
    return _in_metres(drawing) if degrees else drawing


class _Reader:
    """Walks through features and geometries."""

    def __init__(self, names: str | None, directed: bool) -> None:
        self.collector = Collector()
        self.directed = directed
        self.names = (names,) if names is not None else _NAMES
        self.polygons = self.turned = self.count = 0

    def read(self, data: Any, name: str | None, place: str, depth: int) -> None:
        """Read an object and what is in it. place: where it is in the file."""
        if depth > MAX_NESTING:
            raise InputError(f"nests collections more than {MAX_NESTING} deep")
        if not isinstance(data, dict):
            raise InputError(f"{place or 'it'} is {short(data)}: it must be an object with a type")
        kind = data.get("type")
        if kind == "FeatureCollection":
            for k, feature in enumerate(_listed(data, "features", place)):
                self.read(feature, name, f"feature {k + 1}", depth + 1)
        elif kind == "GeometryCollection":
            for k, geometry in enumerate(_listed(data, "geometries", place)):
                self.read(geometry, name, f"{place} geometry {k + 1}".strip(), depth + 1)
        elif kind == "Feature":
            own = self._name(data) or name
            if data.get("geometry") is None:
                self.collector.ignore("features without geometry")
            else:
                self.read(data["geometry"], own, quoted(place or "feature", own, 0).removesuffix(" 0"), depth + 1)
        elif kind in _NOTHING:
            self.collector.ignore(f"{kind}s")
        elif kind in _GEOMETRIES:
            self._geometry(kind, data.get("coordinates"), name, f"{place} {kind}".strip())
        else:
            raise unknown(f"type of {place or 'the file'}", kind, ("FeatureCollection", "Feature", *_GEOMETRIES))

    def _name(self, feature: dict[str, Any]) -> str | None:
        """What names a feature: the first of the known properties, or its id."""
        properties = feature.get("properties")
        found = properties if isinstance(properties, dict) else {}
        for value in (*(found.get(key) for key in self.names), feature.get("id")):
            if isinstance(value, str | int | float) and not isinstance(value, bool) and clean_name(str(value)):
                return clean_name(str(value))
        return None

    def _geometry(self, kind: str, coordinates: Any, name: str | None, place: str) -> None:
        if kind == "Polygon":
            self._polygon(coordinates, name, place)
        elif kind == "MultiPolygon":
            for k, polygon in enumerate(_entries(coordinates, place)):
                self._polygon(polygon, name, f"{place} {k + 1}")
        elif kind == "MultiLineString":
            for k, line in enumerate(_entries(coordinates, place)):
                self._line(line, name, f"{place} {k + 1}", False)
        else:
            self._line(coordinates, name, place, kind == "LinearRing")

    def _polygon(self, rings: Any, name: str | None, place: str) -> None:
        self.polygons += 1
        for k, ring in enumerate(_entries(rings, place)):
            where = place if k == 0 else f"{place} hole {k}"
            own = name if k == 0 or name is None else f"{name} hole {k}"
            corners = self._points(ring, where)
            if len(corners) < 4 or corners[0] != corners[-1]:
                raise InputError(
                    f"{where} has {len(corners)} positions, the last {'' if corners[-1:] == corners[:1] else 'un'}like "
                    "the first: a ring has four or more, and ends where it begins"
                )
            self.turned += (_area(corners) > 0) == (k > 0)
            self.collector.add(polyline(corners[:-1], True, own), True, where, self.polygons)

    def _line(self, line: Any, name: str | None, place: str, ring: bool) -> None:
        corners = self._points(line, place)
        closed = ring or (len(corners) > 3 and corners[0] == corners[-1])
        self.collector.add(polyline(corners[:-1] if closed else corners, closed, name), closed, place)

    def _points(self, positions: Any, place: str) -> list[Point]:
        entries = _entries(positions, place)
        self.count += len(entries)
        if self.count > MAX_SEGMENTS:
            raise InputError(f"has more than {MAX_SEGMENTS:,} positions")
        found = []
        for k, entry in enumerate(entries):
            plain = isinstance(entry, list | tuple) and 2 <= len(entry) <= 4
            if not plain or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in entry):
                raise InputError(f"{place} position {k + 1} is {short(entry)}: it must be two numbers")
            x, y = (float(v) if abs(v) < 1e308 else math.inf for v in entry[:2])  # an integer may be no float
            found.append((x, y))
            check_point(found[-1], f"{place} position {k + 1}")
        return found

    def drawing(self) -> Drawing:
        if self.turned and self.directed:
            rings = "a ring is" if self.turned == 1 else f"{self.turned} rings are"
            self.collector.notes.append(f"{rings} turned around: outer rings go to the left, holes to the right")
        return self.collector.drawing()


def _listed(data: dict[str, Any], key: str, place: str) -> Sequence[Any]:
    found = data.get(key)
    if not isinstance(found, list | tuple):
        raise InputError(f"{place or 'it'}: {key} = {short(found)} must be a list")
    return found


def _entries(found: Any, place: str) -> Sequence[Any]:
    if not isinstance(found, list | tuple):
        raise InputError(f"{place}: coordinates are {short(found)}: they must be a list")
    return found


def _area(corners: Sequence[Point]) -> float:
    """Twice the area of a ring that ends where it begins, positive if it turns to the left."""
    x, y = corners[0]
    pairs = itertools.pairwise(corners)
    return math.fsum((a - x) * (d - y) - (c - x) * (b - y) for (a, b), (c, d) in pairs)


def _in_metres(drawing: Drawing) -> Drawing:
    """Mercator's projection, true to scale at the middle: it keeps angles, so that harmonic functions stay harmonic."""
    every = [point for curve in drawing.curves for segment in curve.segments for point in segment[:2]]
    longitudes, latitudes = zip(*every, strict=True)
    if max(map(abs, longitudes)) > 360 or max(map(abs, latitudes)) > 89:
        raise InputError("degrees: longitudes reach from -360 to 360, latitudes from -89 to 89")
    middle = math.radians(0.5 * (min(latitudes) + max(latitudes)))
    center = 0.5 * (min(longitudes) + max(longitudes))
    scale = EARTH * math.cos(middle)

    def place(point: Point) -> Point:
        north = math.asinh(math.tan(math.radians(point[1]))) - math.asinh(math.tan(middle))
        return scale * math.radians(point[0] - center), scale * north

    moved = (
        curve._replace(segments=tuple(Line(place(first(s)), place(last(s)), s.name) for s in curve.segments))
        for curve in drawing.curves
    )
    return Drawing(tuple(moved), "m", drawing.notes)
