"""Drawings in files: the ending chooses the reader."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mc2.checks import checked
from mc2.errors import InputError, short, unknown
from mc2.geometry.domain import Domain
from mc2.geometry.drawings import drawing as drawings
from mc2.geometry.drawings import dxf
from mc2.geometry.drawings.building import build
from mc2.geometry.drawings.drawing import Drawing
from mc2.geometry.drawings.dxf import read_dxf
from mc2.geometry.drawings.geojson import read_geojson
from mc2.geometry.drawings.masks import read_png
from mc2.geometry.drawings.polylines import read_csv, read_obj
from mc2.geometry.drawings.svg import read_svg
from mc2.reading.plain import naming, read_plain

COMMON = ("units", "mend", "flatness", "overlaps")
"""Options that every reader takes."""
MOST_NOTES = 5
"""Notes that a warning repeats; the others are counted."""


class Reader(NamedTuple):
    """read: makes a drawing of a file's content. options: that it takes. most: bytes that a file may have."""

    read: Callable[..., Drawing]
    options: tuple[str, ...] = ()
    most: int = drawings.MAX_BYTES


READERS = {
    ".svg": Reader(read_svg, ("names",)),
    ".dxf": Reader(read_dxf, ("layers",), dxf.MAX_BYTES),
    ".geojson": Reader(read_geojson, ("names", "degrees")),
    ".json": Reader(read_geojson, ("names", "degrees")),
    ".png": Reader(read_png, ("inside", "pixel", "level")),
    ".csv": Reader(read_csv, ("smooth", "corner")),
    ".txt": Reader(read_csv, ("smooth", "corner")),
    ".obj": Reader(read_obj),
}
"""Readers by the endings of files."""


class Reading(NamedTuple):
    """A domain, the units of its coordinates ("" if the file does not say), and what was mended or left out."""

    domain: Domain
    units: str
    notes: tuple[str, ...]


def read_drawing(path: str | os.PathLike[str], **options: Any) -> Reading:
    """Read a drawing with the units of its coordinates, and notes in the place of a warning.

    options: those of `read_domain`, by name, and only those that this kind of file has.
    """
    with naming(path):
        ending = Path(path).suffix.lower()
        if ending not in READERS:
            raise InputError(f"ending {short(ending)} is not that of a drawing: {', '.join(READERS)} are")
        reader = READERS[ending]
        for name, value in options.items():
            if name not in (*reader.options, *COMMON):
                raise unknown(f"option for {ending}", name, (*reader.options, *COMMON))
            _check(name, value)
        content = read_plain(path, reader.most, "drawing")
        own = {name: value for name, value in options.items() if name in reader.options}
        rest = {name: value for name, value in options.items() if name in COMMON and name != "units"}
        drawing = reader.read(content, **own).in_units(options.get("units"))
        built = build(drawing, **rest)
        return Reading(built.domain, drawing.units, built.notes)


def _check(name: str, value: object) -> None:
    """Refuse an option of a wrong kind; what numbers and choices may be is checked by who takes them."""
    if name in ("degrees", "smooth") and not isinstance(value, bool):
        raise InputError(f"{name} = {short(value)} must be true or false")
    if name == "layers" and not (isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value)):
        raise InputError(f"layers = {short(value)} must be a list of names")
    if name in ("units", "overlaps", "names", "inside") and not isinstance(value, str):
        raise InputError(f"{name} = {short(value)} must be a text")


@checked
def read_domain(
    path: str | os.PathLike[str],
    *,
    units: str | None = None,
    mend: float | None = None,
    flatness: float | None = None,
    overlaps: str | None = None,
    names: str | None = None,
    layers: Sequence[str] | None = None,
    degrees: bool | None = None,
    inside: str | None = None,
    pixel: float | None = None,
    level: float | None = None,
    smooth: bool | None = None,
    corner: float | None = None,
) -> Domain:
    """The domain that a file draws: inside an odd number of its closed curves; open curves within are slits.

    path: a file that ends in .svg, .dxf, .geojson, .json, .png, .csv, .txt or .obj.
    units: of the coordinates, such as "mm", if the file says what its own are; they stay as they are if not given.
    mend: gaps and loops up to so many sizes of the drawing are mended, and a warning says so; 1e-3 if not given.
    flatness: curves become lines that are off by at most so many of their sizes; 1e-6 if not given.
    overlaps: "refuse", if not given, or "join": what becomes of closed curves that overlap.
    names: SVG: "id" or "class", whichever goes first as the name of a part. GeoJSON: the property that names parts.
    layers: DXF: only these layers.
    degrees: GeoJSON: whether coordinates are longitudes and latitudes, which become metres.
    inside: PNG: "light" or "dark" pixels.
    pixel: PNG: the side of a pixel.
    level: PNG: the shade of the outline.
    smooth: CSV: whether a spline goes through the points.
    corner: CSV: degrees of a turn that stays sharp.
    """
    options = {
        "units": units, "mend": mend, "flatness": flatness, "overlaps": overlaps, "names": names, "layers": layers,
        "degrees": degrees, "inside": inside, "pixel": pixel, "level": level, "smooth": smooth, "corner": corner,
    }  # fmt: skip
    found = read_drawing(path, **{name: value for name, value in options.items() if value is not None})
    say(os.fspath(path), found.notes)
    return found.domain


def say(what: str, notes: tuple[str, ...]) -> None:
    """Warn of what was mended or left out."""
    if notes:
        more = f"; and {len(notes) - MOST_NOTES:,} more" if len(notes) > MOST_NOTES else ""
        name = what if what.isprintable() else ascii(what)
        warnings.warn(f"{name}: {'; '.join(notes[:MOST_NOTES])}{more}", stacklevel=3)
