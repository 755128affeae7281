"""The curves of SVG's shapes."""

from __future__ import annotations

import math

from mc2.errors import InputError
from mc2.geometry.drawings.segments import Segment, ellipse, first, last, polyline
from mc2.geometry.drawings.svg_paths import Subpath, read_path
from mc2.geometry.drawings.svg_values import length, numbers
from mc2.geometry.drawings.xml import Element


def subpaths(element: Element, name: str | None) -> list[Subpath]:
    """The curves of a shape, before its transform."""
    if element.tag == "path":
        return read_path(element.attributes.get("d", ""), name)
    if element.tag in ("polyline", "polygon"):
        values = numbers(element.attributes.get("points", ""), "points")
        if len(values) % 2:
            raise InputError(f"points has {len(values)} numbers: they must be pairs")
        corners = list(zip(values[::2], values[1::2], strict=True))
        closed = element.tag == "polygon" and len(corners) > 2
        return [Subpath(made, closed)] if len(made := polyline(corners, closed, name)) else []
    if element.tag == "line":
        ends = [(length(element, f"x{k}"), length(element, f"y{k}")) for k in (1, 2)]
        return [Subpath(made, False)] if (made := polyline(ends, False, name)) else []
    made = _rectangle(element, name) if element.tag == "rect" else _ellipse(element, name)
    return [Subpath(made, True)] if made else []


def _ellipse(element: Element, name: str | None) -> list[Segment]:
    center = length(element, "cx"), length(element, "cy")
    circle = element.tag == "circle"
    rx, ry = (length(element, "r" if circle else key) for key in ("rx", "ry"))
    if rx < 0 or ry < 0:
        raise InputError("its radius must not be negative")
    return list(ellipse(center, (rx, 0.0), (0.0, ry), 0.0, math.tau, name)) if rx and ry else []


def _rectangle(element: Element, name: str | None) -> list[Segment]:
    """A rectangle, whose corners may be rounded."""
    x, y, width, height = (length(element, key) for key in ("x", "y", "width", "height"))
    if width < 0 or height < 0:
        raise InputError("its width and height must not be negative")
    if not (width and height):
        return []
    rx = min(length(element, "rx", length(element, "ry")), width / 2)
    ry = min(length(element, "ry", length(element, "rx")), height / 2)
    if rx <= 0 or ry <= 0:
        return polyline([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], True, name)
    places = [(x + width - rx, y + ry), (x + width - rx, y + height - ry), (x + rx, y + height - ry), (x + rx, y + ry)]
    corners = [
        ellipse(place, (rx, 0.0), (0.0, ry), (k - 1) * math.pi / 2, k * math.pi / 2, name)
        for k, place in enumerate(places)
    ]
    made: list[Segment] = []
    for corner, following in zip(corners, [*corners[1:], corners[0]], strict=True):
        made += corner + polyline([last(corner[-1]), first(following[0])], False, name)
    return made
