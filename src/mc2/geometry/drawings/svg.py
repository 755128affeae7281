"""SVG: paths and shapes with their transforms; ids and classes name the parts, width and height tell the units."""

from __future__ import annotations

from typing import NamedTuple

from mc2.errors import InputError, short, unknown
from mc2.geometry.drawings.drawing import Collector, Drawing, clean_name, quoted, visible
from mc2.geometry.drawings.segments import Affine, Line, compose, mapped
from mc2.geometry.drawings.svg_shapes import subpaths
from mc2.geometry.drawings.svg_values import frame, style, stylesheet, transform, viewport
from mc2.geometry.drawings.xml import MAX_DEPTH, Element, read_xml
from mc2.reading.plain import saying

MAX_DRAWN = 100_000
"""Elements that are drawn, counted as often as <use> draws them."""
_CONTAINERS = ("svg", "g", "a", "switch")
_SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
_SILENT = (
    "defs", "symbol", "style", "title", "desc", "metadata", "namedview", "script", "linearGradient", "radialGradient",
    "pattern", "marker", "filter", "view", "font",
)  # fmt: skip
"""Elements that draw nothing where they stand."""
_NAMES = ("id", "class")


def read_svg(content: bytes, names: str = "id") -> Drawing:
    """The drawing in an SVG file, with y upwards.

    names: "id" or "class", which of them names the parts where an element has both.
    """
    if names not in _NAMES:
        raise unknown("choice of names", names, _NAMES)
    root = read_xml(content)
    if root.tag != "svg":
        raise InputError(f"is no SVG: its outermost element is {short(root.tag)}")
    reader = _Reader(root, names)
    units, outer = frame(root)
    reader.draw(root, _State(outer, None, {}), 0)
    return reader.collector.drawing(units)


class _State(NamedTuple):
    """What an element is drawn with: the map to the plane, the name of its group, inherited properties."""

    affine: Affine
    name: str | None
    style: dict[str, str]


class _Reader:
    """Walks through the elements."""

    def __init__(self, root: Element, names: str) -> None:
        self.collector = Collector()
        self.order = names
        self.known: dict[str, Element] = {}
        self.sheet: dict[str, dict[str, str]] = {}
        self.drawn = 0
        self.kinds: dict[str, int] = {}
        waiting = [root]
        while waiting:
            element = waiting.pop()
            self.known.setdefault(element.attributes.get("id", ""), element)
            if element.tag == "style":
                self.sheet |= stylesheet(element.text)
            waiting += reversed(element.children)

    def draw(self, element: Element, state: _State, depth: int) -> None:
        """Draw an element and what is in it."""
        self.drawn += 1
        if self.drawn > MAX_DRAWN:
            raise InputError(f"draws more than {MAX_DRAWN:,} elements ({__name__}.MAX_DRAWN): <use> multiplies them")
        if depth > MAX_DEPTH:
            raise InputError(f"line {element.line}: <use> draws itself, or elements nest more than {MAX_DEPTH} deep")
        if element.tag in _SILENT:
            return
        with saying(f"line {element.line}: <{visible(element.tag)}>"):
            if element.tag not in (*_CONTAINERS, *_SHAPES, "use"):
                self.collector.ignore(f"<{visible(element.tag)}>")
                return
            look = style(element, state.style, self.sheet)
            if look.get("display") == "none":
                self.collector.ignore("hidden elements")
                return
            affine = compose(state.affine, transform(element.attributes.get("transform")))
            for name in ("clip-path", "mask"):
                if element.attributes.get(name, "none") != "none":
                    self.collector.ignore(name)
        inner = _State(affine, self._name(element) or state.name, look)
        if element.tag in _SHAPES:
            if look.get("visibility", "visible") != "visible":
                self.collector.ignore("hidden elements")
                return
            self._shape(element, inner)
        elif element.tag == "use":
            self._use(element, inner, depth)
        else:
            if element.tag == "svg" and depth:
                with saying(f"line {element.line}: <svg>"):
                    inner = inner._replace(affine=compose(affine, viewport(element, element.attributes.get("viewBox"))))
            self._children(element, inner, depth)

    def _children(self, element: Element, state: _State, depth: int) -> None:
        for child in element.children:
            self.draw(child, state, depth + 1)

    def _use(self, element: Element, state: _State, depth: int) -> None:
        """Another element drawn here."""
        target = element.attributes.get("href", "")
        found = self.known.get(target[1:]) if target[:1] == "#" and len(target) > 1 else None
        with saying(f"line {element.line}: <use>"):
            if found is None:
                raise InputError(f"href = {short(target)} must be # and the id of an element of this file")
            inner = viewport(element, found.attributes.get("viewBox") if found.tag == "symbol" else None)
        moved = state._replace(affine=compose(state.affine, inner))
        if found.tag == "symbol":
            self._children(found, moved, depth + 1)
        else:
            self.draw(found, moved, depth + 1)

    def _shape(self, element: Element, state: _State) -> None:
        """The curves of a shape. Filled curves are closed, as SVG fills them; others stay as they are."""
        self.kinds[element.tag] = self.kinds.get(element.tag, 0) + 1
        place = f"{quoted(element.tag, state.name, self.kinds[element.tag])} (line {element.line})"
        with saying(place):
            found = subpaths(element, state.name)
        filled = state.style.get("fill") not in ("none", "transparent")
        for number, (segments, closed) in enumerate(found, 1):
            if number > 1 and closed and state.name:
                segments = [segment._replace(name=f"{state.name} {number}") for segment in segments]
            image = [new for old in segments for new in mapped(old, state.affine)]
            area = len(image) > 1 or not isinstance(image[0], Line)
            if filled and area and not closed:
                self.collector.close(image, place)
            else:
                self.collector.add(image, closed, place)

    def _name(self, element: Element) -> str | None:
        """The name that an element gives: Inkscape's label, its id or its class."""
        own = element.attributes.get("label") if element.tag != "svg" else None
        found = [own, *(element.attributes.get(key) for key in (self.order, *_NAMES))]
        return next(filter(None, map(clean_name, found)), None) if element.tag != "svg" else None
