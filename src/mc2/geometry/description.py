"""Domains from plain data, as problem files and records hold them. The data may come from strangers."""

from pathlib import Path
from typing import Any

from mc2.checks import listed
from mc2.errors import InputError, short, unknown
from mc2.geometry.compositions import COMPOSITIONS, MAX_DEPTH
from mc2.geometry.domain import Domain
from mc2.geometry.exterior import Exterior
from mc2.geometry.marks import Marked, read_mark
from mc2.geometry.polygon import Polygon
from mc2.geometry.shapes import SHAPES
from mc2.geometry.slit import Slit


def from_description(data: Any, folder: Path | None = None) -> Domain:
    """Build a domain from what `Domain.describe` gives.

    A shape is ``{"shape": "disk", "radius": 1.0, "center": [0.0, 0.0], "angle": 0.0}``, in which whatever has a default
    may be left out; its whole boundary may have a name: ``"name": "pipe"``. A composition is ``{"union": [..., ...]}``,
    or intersection or difference, of two or more domains. ``{"exterior": ...}`` is all that is outside of one. Any of
    them may have ``"marks": [{"name": "heater", "where": "x > 0", "on": "bottom"}]``: see `Domain.mark`.

    folder: where drawings are: ``{"drawing": "plate.svg"}``, with the options of `mc2.read_domain`, is a file there or
    in a folder within. None: no drawing is read.
    """
    return _read(data, 0, folder)


def _read(data: Any, depth: int, folder: Path | None) -> Domain:
    if not isinstance(data, dict):
        raise InputError(f'domain = {short(data)} must be a table such as {{"shape": "disk", "radius": 1.0}}')
    if depth > MAX_DEPTH:
        raise InputError(f"the domain nests operations more than {MAX_DEPTH} deep")
    if "marks" in data:
        domain = _read({key: value for key, value in data.items() if key != "marks"}, depth, folder)
        for mark in map(read_mark, listed("marks", data["marks"], "tables")):
            domain = Marked(domain, mark)
            _ = domain.boundary
        return domain
    if "exterior" in data:
        return _read_exterior(data, depth, folder)
    if "shape" in data:
        return _read_shape(data)
    if "drawing" in data:
        return _read_drawing(data, folder)
    for key in data:
        if key not in COMPOSITIONS:
            raise unknown("key of a domain", key, ["shape", "drawing", "exterior", "marks", *COMPOSITIONS])
    if len(data) != 1:
        raise InputError(
            f"domain has {len(data)} keys ({', '.join(data)}): give one of shape, drawing, {', '.join(COMPOSITIONS)}"
        )
    [(name, parts)] = data.items()
    return COMPOSITIONS[name](*(_read(part, depth + 1, folder) for part in listed(name, parts, "domains")))


def _read_exterior(data: dict[str, Any], depth: int, folder: Path | None) -> Domain:
    """The exterior of a body."""
    options = {str(key): value for key, value in data.items() if key != "exterior"}
    return Exterior(_read(data["exterior"], depth + 1, folder), **options)


def _read_drawing(data: dict[str, Any], folder: Path | None) -> Domain:
    """What a file draws, if it is in the folder or below."""
    from mc2.geometry.drawings.files import read_drawing, say

    options = dict(data)
    name = options.pop("drawing")
    if folder is None:
        raise InputError(f"drawing = {short(name)}: only a problem file can name one")
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(f"drawing = {short(name)} must be the name of a file")
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"drawing = {short(name)} must be in the folder of the problem file, or below")
    found = read_drawing(path, **options)
    say(str(path), found.notes)
    return found.domain


def _read_shape(data: dict[str, Any]) -> Domain:
    kinds: dict[str, Any] = {**SHAPES, "polygon": Polygon, "slit": Slit}
    arguments = {str(key): value for key, value in data.items() if key != "shape"}
    if not isinstance(data["shape"], str) or data["shape"] not in kinds:
        raise unknown("shape", data["shape"], kinds)
    return kinds[data["shape"]](**arguments)
