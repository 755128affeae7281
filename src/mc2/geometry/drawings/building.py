"""From a drawing to a domain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mc2.checks import positive
from mc2.errors import InputError, unknown
from mc2.geometry.compositions import Difference, Union
from mc2.geometry.domain import Domain
from mc2.geometry.drawings.drawing import Drawing
from mc2.geometry.drawings.flattening import flattened
from mc2.geometry.drawings.joining import check_extent, extent, join, reach, without_copies, without_points
from mc2.geometry.drawings.mending import Mended, Polyline, inside, mended
from mc2.geometry.drawings.uniting import united
from mc2.geometry.polygon import Polygon
from mc2.geometry.slit import Slit

MAX_VERTICES = 200_000
"""Vertices of a drawing, those of its flattened curves included."""
MEND = 1e-3
"""Gaps and loops of so many sizes of the drawing are mended, unless told otherwise."""
FLATNESS = 1e-6
"""Curves become lines that are off by at most so many of their sizes, unless told otherwise."""
OVERLAPS = ("refuse", "join")


class Built(NamedTuple):
    """A domain, and what was mended or left out on the way to it, a line each."""

    domain: Domain
    notes: tuple[str, ...]


def build(drawing: Drawing, mend: float = MEND, flatness: float = FLATNESS, overlaps: str = "refuse") -> Built:
    """The domain of a drawing: inside an odd number of its closed curves; open curves within are slits."""
    if overlaps not in OVERLAPS:
        raise unknown("choice of overlaps", overlaps, OVERLAPS)
    mend, flatness = _share("mend", mend), _share("flatness", flatness)
    notes = list(drawing.notes)
    size = extent(drawing.curves)
    check_extent(size, reach(drawing.curves))
    curves = without_points(drawing.curves, size, notes)
    curves = without_copies(curves, size, notes)
    curves = join(curves, size, mend * size, notes)
    polylines = [flattened(curve, flatness) for curve in curves]
    total = sum(len(polyline.points) for polyline in polylines)
    if total > MAX_VERTICES:
        raise InputError(f"has {total:,} vertices, and {MAX_VERTICES:,} are allowed ({__name__}.MAX_VERTICES)")
    polylines = united(polylines, [curve.polygon for curve in curves], overlaps == "join", size, mend * size, notes)
    found = mended(polylines, size, mend * size, notes)
    return Built(assemble(found), tuple(notes))


def _share(name: str, value: float) -> float:
    number = positive(name, value)
    if number >= 0.5:
        raise InputError(f"{name} = {number:g} must be below 0.5: it is in sizes of the drawing")
    return number


def assemble(found: Mended) -> Domain:
    """Polygons: rings within an even number of others, each with those right within it as holes; without the slits."""
    depth = [sum(inside([other], ring.points[0]) for other in found.rings if other is not ring) for ring in found.rings]
    polygons = []
    for ring, own in zip(found.rings, depth, strict=True):
        if own % 2 == 0:
            holes = [
                hole
                for hole, level in zip(found.rings, depth, strict=True)
                if level == own + 1 and inside([ring], hole.points[0])
            ]
            polygons.append(_polygon([ring, *holes]))
    whole = Union(*polygons) if len(polygons) > 1 else polygons[0]
    slits = [_slit(curve, number) for number, curve in enumerate(found.slits, 1)]
    return Difference(whole, *slits) if slits else whole


def _polygon(rings: list[Polyline]) -> Polygon:
    """An outer ring and holes, with the names of their edges."""
    outer, *holes = (ring.points for ring in rings)
    names = [ring.names for ring in rings] if any(any(ring.names) for ring in rings) else None
    smooth = [np.flatnonzero(ring.smooth).tolist() for ring in rings]
    return Polygon(outer, holes, names=names, smooth=smooth if any(smooth) else None)


def _slit(curve: Polyline, number: int) -> Slit:
    """A slit whose sides are called by the name that the curve begins with, or by its number."""
    name = curve.names[0] or f"slit {number}"
    return Slit(curve.points, (f"{name} left", f"{name} right"))
