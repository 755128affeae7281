"""What attributes of SVG say: lengths, transforms, styles."""

from __future__ import annotations

import math
import re

from mc2.errors import InputError, short
from mc2.geometry.drawings.drawing import MILLIMETRES
from mc2.geometry.drawings.segments import IDENTITY, Affine, compose
from mc2.geometry.drawings.xml import Element

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*(%|[a-zA-Z]*)\s*")
_LIST = re.compile(rf"\s*{_NUMBER}(?:[\s,]+{_NUMBER}|{_NUMBER.replace('[+-]?', '[+-]', 1)})*[\s,]*")
_NUMBERS = re.compile(_NUMBER)
_CALL = re.compile(r"[\s,]*([a-zA-Z]+)\s*\(([^()]*)\)")
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_STYLES = ("fill", "display", "visibility")
"""Properties that decide whether and how a curve is read."""


def length(element: Element, name: str, default: float = 0.0, whole: float | None = None) -> float:
    """An attribute that is a length, in px. whole: of what a percentage is."""
    text = element.attributes.get(name)
    if text is None or text.strip() == "auto":
        return default
    number, unit = split_length(text, f"{name} = {short(text)}")
    if unit == "%":
        if whole is None:
            raise InputError(f"{name} = {short(text)}: a percentage that cannot be known here")
        return number / 100 * whole
    return number * MILLIMETRES[unit or "px"] / MILLIMETRES["px"]


def split_length(text: str, what: str) -> tuple[float, str]:
    """A number and its unit: "", "%" or one of those that are known."""
    match = _LENGTH.fullmatch(text)
    if not match or (match[2] not in ("", "%") and match[2] not in MILLIMETRES):
        raise InputError(f"{what} must be a number with one of the units {', '.join(MILLIMETRES)}, or none")
    number = float(match[1])
    if not math.isfinite(number):
        raise InputError(f"{what} is beyond the range of numbers")
    return number, match[2]


def numbers(text: str, what: str) -> list[float]:
    """A list of numbers."""
    if not text.strip(" \t\r\n,"):
        return []
    if not _LIST.fullmatch(text):
        raise InputError(f"{what} = {short(text)} must be numbers")
    return [float(entry) for entry in _NUMBERS.findall(text)]


def transform(text: str | None) -> Affine:
    """The map of the attribute `transform`: functions from the outermost to the innermost."""
    found, place = IDENTITY, 0
    for match in _CALL.finditer(text or ""):
        if match.start() != place:
            break
        found, place = compose(found, _function(match[1], numbers(match[2], f"transform {match[1]}"))), match.end()
    if (text or "")[place:].strip(" \t\r\n,"):
        raise InputError(f"transform = {short(text)} is none: {short((text or '')[place:])} cannot be read")
    if not all(map(math.isfinite, found)):
        raise InputError(f"transform = {short(text)} is beyond the range of numbers")
    if abs(found[0] * found[3] - found[1] * found[2]) <= 1e-14 * math.hypot(*found[:4]) ** 2:
        raise InputError(f"transform = {short(text)} makes everything flat")
    return found


def _function(name: str, values: list[float]) -> Affine:
    match name, values:
        case "matrix", [a, b, c, d, e, f]:
            return a, b, c, d, e, f
        case "translate", [x, *rest] if len(rest) < 2:
            return 1.0, 0.0, 0.0, 1.0, x, rest[0] if rest else 0.0
        case "scale", [x, *rest] if len(rest) < 2:
            return x, 0.0, 0.0, rest[0] if rest else x, 0.0, 0.0
        case "rotate", [angle]:
            cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            return cos, sin, -sin, cos, 0.0, 0.0
        case "rotate", [angle, x, y]:
            back = compose(_function("rotate", [angle]), (1.0, 0.0, 0.0, 1.0, -x, -y))
            return compose((1.0, 0.0, 0.0, 1.0, x, y), back)
        case "skewX", [angle]:
            return 1.0, 0.0, math.tan(math.radians(angle)), 1.0, 0.0, 0.0
        case "skewY", [angle]:
            return 1.0, math.tan(math.radians(angle)), 0.0, 1.0, 0.0, 0.0
    raise InputError(
        f"transform {short(name)} with {len(values)} numbers: known are matrix (6), translate (1 or 2), "
        "scale (1 or 2), rotate (1 or 3), skewX and skewY (1)"
    )


def stylesheet(text: str) -> dict[str, dict[str, str]]:
    """Properties of simple selectors: `path`, `.class`, `#id`; others are of no interest here."""
    found: dict[str, dict[str, str]] = {}
    for match in _RULE.finditer(_COMMENT.sub("", text)):
        for selector in match[1].split(","):
            found.setdefault(selector.strip(), {}).update(declarations(match[2]))
    return found


def declarations(text: str) -> dict[str, str]:
    """The properties that matter in a text such as `fill: none; stroke: red`."""
    pairs = (entry.partition(":") for entry in text.split(";"))
    found = {name.strip(): value.partition("!")[0].strip() for name, _, value in pairs}
    return {name: found[name] for name in _STYLES if name in found}


def style(element: Element, inherited: dict[str, str], sheet: dict[str, dict[str, str]]) -> dict[str, str]:
    """The properties of an element: its own style, then rules for its id, class and tag, then attributes, then the
    parent's."""
    found = dict(inherited)
    found.pop("display", None)  # which is not inherited: nothing in what is not displayed is looked at
    found |= {name: element.attributes[name] for name in _STYLES if name in element.attributes}
    classes = element.attributes.get("class", "").split()
    for selector in ("*", element.tag, *(f".{name}" for name in classes), f"#{element.attributes.get('id', '')}"):
        found |= sheet.get(selector, {})
    return found | declarations(element.attributes.get("style", ""))


def frame(root: Element) -> tuple[str, Affine]:
    """The units of the coordinates that are read, and the map to them: the drawing's box, with y upwards.

    The units are those of the width: a drawing that is 120mm wide is read in millimetres. They are "" without a width.
    """
    sizes = [_size(root, name) for name in ("width", "height")]
    units = next((unit for _, unit in filter(None, sizes)), "")
    width, height = (entry and entry[0] * MILLIMETRES[entry[1]] / MILLIMETRES[units] for entry in sizes)
    box = _box(root.attributes.get("viewBox"))
    if box is None:
        factor = MILLIMETRES["px"] / MILLIMETRES[units] if units else 1.0
        return units, (factor, 0.0, 0.0, -factor, 0.0, height or 0.0)
    inner = _fitted(box, width, height, root.attributes.get("preserveAspectRatio", ""))
    return units, compose((1.0, 0.0, 0.0, -1.0, 0.0, height or box[3] * inner[3]), inner)


def viewport(element: Element, view_box: str | None) -> Affine:
    """The map from what is inside an <svg>, or a symbol that is used, to what is around it."""
    x, y = length(element, "x"), length(element, "y")
    box = _box(view_box)
    shift: Affine = (1.0, 0.0, 0.0, 1.0, x, y)
    if box is None:
        return shift
    width, height = length(element, "width"), length(element, "height")
    if width <= 0 or height <= 0:
        raise InputError("needs a width and a height above 0: what it draws has a viewBox")
    return compose(shift, _fitted(box, width, height, element.attributes.get("preserveAspectRatio", "")))


def _size(root: Element, name: str) -> tuple[float, str] | None:
    """Width or height of the drawing with its unit; None where it is not said."""
    text = root.attributes.get(name, "auto")
    if text.strip() in ("auto", ""):
        return None
    number, unit = split_length(text, f"{name} = {short(text)}")
    if unit == "%":
        return None
    if number <= 0:
        raise InputError(f"{name} = {short(text)} must be above 0")
    return number, unit or "px"


def _box(text: str | None) -> tuple[float, float, float, float] | None:
    """A viewBox: x, y, width, height."""
    if text is None:
        return None
    values = numbers(text, "viewBox")
    if len(values) != 4 or not min(values[2:]) > 0 or not all(map(math.isfinite, values)):
        raise InputError(f"viewBox = {short(text)} must be x, y, width and height, the latter above 0")
    x, y, width, height = values
    return x, y, width, height


def _fitted(box: tuple[float, float, float, float], width: float | None, height: float | None, ratio: str) -> Affine:
    """The map from a viewBox to a box at the origin: its proportions are kept unless `ratio` says "none"."""
    x, y, w, h = box
    sx, sy = (width or 0.0) / w, (height or 0.0) / h
    if not (sx and sy):
        sx = sy = sx or sy or 1.0
    if ratio.strip().startswith("none"):
        return sx, 0.0, 0.0, sy, -sx * x, -sy * y
    scale = max(sx, sy) if "slice" in ratio else min(sx, sy)
    room_x, room_y = ((sx - scale) * w, (sy - scale) * h)
    left = 0.0 if "xMin" in ratio else room_x if "xMax" in ratio else room_x / 2
    above = 0.0 if "YMin" in ratio else room_y if "YMax" in ratio else room_y / 2
    return scale, 0.0, 0.0, scale, left - scale * x, above - scale * y
