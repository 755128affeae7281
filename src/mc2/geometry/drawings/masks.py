"""Masks: pictures in PNG and arrays, whose pixels are inside or outside."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.checks import finite, numbers, positive
from mc2.errors import InputError, one_line, short, unknown
from mc2.geometry.drawings.contours import SOFT, STEPS, fit
from mc2.geometry.drawings.drawing import Collector, Drawing
from mc2.geometry.drawings.extras import needed
from mc2.geometry.drawings.segments import Affine, mapped

Array = NDArray[np.float64]

MAX_PIXELS = 1 << 24
"""Pixels of a mask."""
MAX_CONTOUR = 500_000
"""Points of all contours of a mask."""
LEAST_AREA = 3.0
"""Pixels that are left out, as noise, if so few are together."""
INSIDE = ("light", "dark")


def read_png(content: bytes, inside: str = "light", pixel: float = 1.0, level: float = 0.5) -> Drawing:
    """The outlines of the light or dark pixels of a picture, or of the opaque ones if it has transparent ones.

    pixel: the side of a pixel. The lower left corner of the picture is the origin.
    level: the shade from 0 to 1 at which the outline is drawn.
    """
    if inside not in INSIDE:
        raise unknown("choice of inside", inside, INSIDE)
    shades = _shades(content)
    side = positive("pixel", pixel)
    if inside == "dark":
        shades = 1 - shades
    rows, columns = shades.shape
    return _outlines(shades[::-1], (0.0, columns * side, 0.0, rows * side), level)


def read_mask(mask: Any, bounds: Any = None, level: float = 0.5) -> Drawing:
    """The outlines of what is inside in an array [rows, columns] of truth values, or of shares from 0 to 1.

    bounds: (xmin, xmax, ymin, ymax) of the array; None: pixels are 1 wide. Rows go up, as in all fields.
    """
    field = np.asarray(mask)
    if field.ndim != 2 or field.dtype.kind not in "biuf" or not field.size:
        raise InputError(f"a mask must be an array [rows, columns] of truth values or numbers, not {short(mask)}")
    if field.size > MAX_PIXELS:
        raise InputError(f"has {field.size:,} pixels: {MAX_PIXELS:,} are allowed ({__name__}.MAX_PIXELS)")
    if field.dtype.kind == "f" and not np.isfinite(field).all():
        raise InputError("a mask must be finite")
    if field.dtype.kind != "b" and (field.min() < 0 or field.max() > 1):
        raise InputError(f"a mask goes from 0 to 1, not from {field.min()} to {field.max()}: divide it first")
    rows, columns = field.shape
    box = (0.0, columns, 0.0, rows) if bounds is None else numbers("bounds", bounds, 4)
    if not (box[0] < box[1] and box[2] < box[3]):
        raise InputError(f"bounds = {short(bounds)} must be xmin < xmax, ymin < ymax")
    return _outlines(field.astype(float), (box[0], box[1], box[2], box[3]), level)


def _shades(content: bytes) -> Array:
    """A picture as shades from 0 to 1, the first row on top."""
    image_module = needed("PIL.Image", "to read PNG files")
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        raise InputError("is no PNG file")
    try:
        with image_module.open(io.BytesIO(content), formats=["PNG"]) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise InputError(f"has {width:,} × {height:,} pixels: {MAX_PIXELS:,} are allowed")
            if image.mode.startswith("I"):
                return np.asarray(image, float) / 65535
            found = np.asarray(image.convert("RGBA"), float) / 255
    except InputError:
        raise
    except Exception as error:  # the library lets many kinds through
        raise InputError(f"is no PNG file that can be read: {one_line(error)}") from None
    if found[..., 3].min() < 1:
        return found[..., 3]
    return found[..., :3] @ np.array([0.299, 0.587, 0.114])


def _outlines(field: Array, bounds: tuple[float, float, float, float], level: float) -> Drawing:
    """The curves along which the field passes through the level, as rings."""
    from contourpy import LineType, contour_generator

    level = finite("level", level)
    if not 0 < level < 1:
        raise InputError(f"level = {level:g} must be above 0 and below 1")
    padded = np.pad(field, 1)
    padded[padded == level] += 1e-9
    generator = contour_generator(z=padded, line_type=LineType.Separate)
    contours: list[Array] = [np.asarray(contour)[:-1] - 0.5 for contour in generator.lines(level)]
    total = sum(map(len, contours))
    if total > MAX_CONTOUR:
        raise InputError(f"its outlines have {total:,} points: {MAX_CONTOUR:,} are allowed; is it a photograph?")
    grey = np.count_nonzero((field > 0.02) & (field < 0.98))
    noise = SOFT if grey > 0.1 * total else STEPS
    rows, columns = field.shape
    sx, sy = (bounds[1] - bounds[0]) / columns, (bounds[3] - bounds[2]) / rows
    affine: Affine = (sx, 0.0, 0.0, sy, bounds[0], bounds[2])
    collector = Collector()
    number = 0
    for contour in contours:
        if abs(_area(contour)) < LEAST_AREA:
            collector.ignore(f"specks of less than {LEAST_AREA:g} pixels")
            continue
        number += 1
        place = f"outline {number} at pixel ({contour[0][0]:.0f}, {contour[0][1]:.0f})"
        collector.add((new for old in fit(contour, noise) for new in mapped(old, affine)), True, place)
    if not collector.curves:
        raise InputError("has no outline: all its pixels are outside" if not field.max() > level else "has only specks")
    return collector.drawing()


def _area(contour: Array) -> float:
    x, y = (contour - contour[0]).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
