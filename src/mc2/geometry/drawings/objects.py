"""Drawings that are objects in Python: geometries of other libraries, arrays, points."""

from __future__ import annotations

from typing import Any

import numpy as np

from mc2.errors import InputError, short
from mc2.geometry.domain import Domain
from mc2.geometry.drawings.building import FLATNESS, MEND, build
from mc2.geometry.drawings.drawing import MAX_SEGMENTS, Collector, Drawing
from mc2.geometry.drawings.files import say
from mc2.geometry.drawings.geojson import from_interface
from mc2.geometry.drawings.masks import read_mask
from mc2.geometry.drawings.segments import polyline
from mc2.geometry.drawings.splines import through


def from_geometry(geometry: Any, names: str | None = None, degrees: bool = False, mend: float = MEND) -> Domain:
    """The domain of a geometry of shapely, geopandas or any other library whose objects have a `__geo_interface__`.

    geometry: such an object, or plain data as in GeoJSON. Several polygons are united.
    names: the property of features that names the parts; None for name, id or label.
    degrees: coordinates are longitudes and latitudes, and become metres.
    mend: gaps and loops up to so many sizes are mended, and a warning says so.
    """
    data = getattr(geometry, "__geo_interface__", geometry)
    if not isinstance(data, dict):
        raise InputError(f"{short(geometry)} is no geometry: it has no __geo_interface__")
    found = from_interface(data, names, degrees)
    return _built("geometry", found, mend=mend)


def from_mask(mask: Any, bounds: Any = None, level: float = 0.5, mend: float = MEND) -> Domain:
    """The domain of the pixels that are inside, with smooth sides and sharp corners where the pixels' steps allow it.

    mask: [rows, columns], truth values, or shares of pixels that are inside, from 0 to 1; rows go up.
    bounds: (xmin, xmax, ymin, ymax) of the array; None: pixels are 1 wide.
    level: the share at which the outline is drawn.
    mend: gaps and loops up to so many sizes are mended, and a warning says so.
    """
    return _built("mask", read_mask(mask, bounds, level), mend=mend)


def from_points(
    *rings: Any, slits: Any = (), smooth: bool = True, corner: float = 60.0, name: str | None = None,
    flatness: float = FLATNESS, mend: float = MEND,
) -> Domain:  # fmt: skip
    """The domain within closed curves through points.

    rings: arrays [n, 2]; the last point may repeat the first. Holes are rings within rings.
    slits: arrays [n, 2] of open curves within.
    smooth: whether a cubic spline goes through the points; otherwise lines do.
    corner: degrees by which lines between points must turn at a point for it to stay a corner of a smooth curve.
    name: of the part that all curves make.
    flatness: curves become lines that are off by at most so many of their sizes.
    mend: gaps and loops up to so many sizes are mended, and a warning says so.
    """
    collector = Collector()
    for kind, curves, closed in (("ring", rings, True), ("slit", slits, False)):
        for number, given in enumerate(curves, 1):
            place = f"{kind} {number}"
            points = _points(given, place)
            if smooth:
                segments = through(points, closed, corner, name)
            else:
                repeats = closed and np.array_equal(points[0], points[-1])
                segments = polyline(
                    [(float(x), float(y)) for x, y in (points[:-1] if repeats else points)], closed, name
                )
            collector.add(segments, closed, place)
    return _built("points", collector.drawing(), flatness=flatness, mend=mend)


def _points(given: Any, place: str) -> np.ndarray:
    try:
        points = np.asarray(given, float)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 2 or points.shape[1] != 2 or not 2 <= len(points) <= MAX_SEGMENTS:
        raise InputError(f"{place} = {short(given)} must be two or more points [n, 2], at most {MAX_SEGMENTS:,}")
    if not np.isfinite(points).all():
        raise InputError(f"{place}: point {int(np.argmin(np.isfinite(points).all(axis=1)))} is not finite")
    return points


def _built(what: str, drawing: Drawing, mend: float, flatness: float = FLATNESS) -> Domain:
    built = build(drawing, mend, flatness)
    say(what, built.notes)
    return built.domain
