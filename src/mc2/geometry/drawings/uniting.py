"""The union of what rings enclose: every edge of the result keeps the name of the edge that it lies on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mc2.errors import InputError, one_line
from mc2.geometry.drawings.drawing import at
from mc2.geometry.drawings.extras import needed
from mc2.geometry.drawings.mending import Polyline, inside, mended


def united(
    curves: Sequence[Polyline], polygons: Sequence[int], join: bool, size: float, tolerance: float, notes: list[str]
) -> list[Polyline]:
    """Curves with the polygons among them united, and, if they are to be joined, all other rings too.

    polygons: of every curve the number of the polygon that it bounds, 0 for none.
    """
    groups: dict[int, list[Polyline]] = {}
    others = []
    for number, (curve, polygon) in enumerate(zip(curves, polygons, strict=True)):
        if curve.closed and (polygon or join):
            groups.setdefault(polygon or -1 - number, []).append(curve)
        else:
            others.append(curve)
    for outer, *holes in groups.values():
        for hole in holes:
            if not inside([outer], hole.points[0]):
                raise InputError(f"{hole.place} lies outside its polygon at {at(hole.points[0])}")
    if len(groups) > 1:
        clean = [mended(group, size, tolerance, notes) for group in groups.values()]
        return [*_union([found.rings for found in clean if found.rings]), *others]
    return [*(curve for group in groups.values() for curve in group), *others]


def _union(polygons: Sequence[Sequence[Polyline]]) -> list[Polyline]:
    """The rings around the union of polygons, each an outer ring and holes."""
    shapely = needed("shapely", "to unite shapes")
    shapes = [shapely.Polygon(outer.points, [hole.points for hole in holes]) for outer, *holes in polygons]
    for shape, (outer, *_) in zip(shapes, polygons, strict=True):
        if not shape.is_valid:
            raise InputError(f"{outer.place} is no polygon: {one_line(ValueError(shapely.is_valid_reason(shape)))}")
    united = shapely.unary_union(shapes)
    rings = [ring for polygon in _polygons(united) for ring in (polygon.exterior, *polygon.interiors)]
    known = [curve for polygon in polygons for curve in polygon]
    tree = shapely.STRtree([line for curve in known for line in _lines(shapely, curve)])
    names = [name for curve in known for name in curve.names]
    owner = np.repeat(np.arange(len(known)), [len(curve.names) for curve in known])
    vertices = ((curve.points.tolist(), curve.smooth) for curve in known)
    smooth = {tuple(p) for points, flags in vertices for p, flag in zip(points, flags, strict=True) if flag}
    found = []
    for ring in rings:
        points = np.array(ring.coords)[:-1]
        middle = 0.5 * (points + np.roll(points, -1, axis=0))
        nearest = tree.nearest(shapely.points(middle))
        flags = np.array([tuple(point) in smooth for point in points.tolist()])
        place = known[owner[nearest[0]]].place
        found.append(Polyline(points, [names[k] for k in nearest], flags, True, place))
    return found


def _lines(shapely: Any, curve: Polyline) -> Any:
    return shapely.linestrings(np.stack([curve.starts, curve.ends], axis=1))


def _polygons(shape: Any) -> Iterable[Any]:
    """The polygons of a union; what has no area is left out."""
    parts = getattr(shape, "geoms", [shape])
    return [part for part in parts if part.geom_type == "Polygon" and not part.is_empty]
