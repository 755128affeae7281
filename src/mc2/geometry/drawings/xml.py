"""XML as a small tree: no entities, nothing from outside, nothing deep."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from mc2.errors import InputError, one_line

MAX_ELEMENTS = 100_000
"""Elements of an XML file."""
MAX_DEPTH = 64
"""Elements within one another."""
MAX_TEXT = 1 << 20
"""Characters of the text of an element."""
_NAMESPACED = ("href", "label")


@dataclass
class Element:
    """An element with its attributes and children; names have no namespace. text: what is directly in it."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""


def read_xml(content: bytes) -> Element:
    """The root of an XML file."""
    builder = _Builder()
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(f"is not XML: {one_line(error)}") from None
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise InputError(f"is not XML that can be read: {one_line(error)}") from None
    if builder.root is None:
        raise InputError("is not XML: it has no element")
    return builder.root


class _Builder:
    """What expat calls."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise InputError(f"has more than {MAX_ELEMENTS:,} elements ({__name__}.MAX_ELEMENTS)")
        if len(self.open) == MAX_DEPTH:
            raise InputError(f"line {self.parser.CurrentLineNumber}: nests elements more than {MAX_DEPTH} deep")
        found = Element(_local(tag), _attributes(attributes), self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(found)
        else:
            self.root = found
        self.open.append(found)

    def _end(self, _: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        if len(self.open[-1].text) + len(text) > MAX_TEXT:
            raise InputError(f"line {self.open[-1].line}: has more than {MAX_TEXT:,} characters of text")
        self.open[-1].text += text

    def _entity(self, name: str, *_: object) -> None:
        shown = name if name.isprintable() else ascii(name)
        raise InputError(
            f"line {self.parser.CurrentLineNumber}: declares the entity {shown[:40]!r}: save it as plain SVG, "
            "which has none"
        )


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _attributes(found: dict[str, str]) -> dict[str, str]:
    """Attributes without a namespace, and those links and labels that have one."""
    named = {_local(name): value for name, value in found.items() if _local(name) in _NAMESPACED}
    return named | {name: value for name, value in found.items() if " " not in name}
