"""Points in text files: CSV with columns x, y and perhaps a name, and the lines and faces of OBJ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from mc2.errors import InputError, short
from mc2.geometry.drawings.drawing import MAX_SEGMENTS, Collector, Drawing, clean_name
from mc2.geometry.drawings.segments import Line, Point, Segment, polyline
from mc2.geometry.drawings.splines import through

OPEN = "open"
"""A line `# open` before a block of points says that its ends are not joined."""


def decode(content: bytes) -> str:
    """A text file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not a text file in UTF-8") from None


def read_csv(content: bytes, smooth: bool = False, corner: float = 60.0) -> Drawing:
    """Rings of points from lines `x, y` or `x, y, name`; an empty line begins the next ring.

    The name is that of the piece from this point to the next. Two points are a slit, and so is a block after a line
    `# open`. smooth: a spline goes through the points. corner: degrees of a turn that stays a corner.
    """
    collector = Collector()
    for number, (line, rows, opened) in enumerate(_blocks(decode(content)), 1):
        place = f"curve {number} (line {line})"
        points, names = [row[0] for row in rows], [row[1] for row in rows]
        closed = not opened and len(points) > 2
        if closed and points[0] == points[-1]:
            points, names = points[:-1], names[:-1]
        if len(points) < 2:
            raise InputError(f"{place} has one point: a curve has two or more")
        if smooth and len(points) > 2:
            if len(set(names)) > 1:
                raise InputError(f"{place}: a smooth curve has one name, not {len(set(names))}")
            collector.add(through(points, closed, corner, names[0]), closed, place)
        else:
            collector.add(_named(points, names, closed), closed, place)
    return collector.drawing()


def _blocks(text: str) -> Iterator[tuple[int, list[tuple[Point, str | None]], bool]]:
    """Blocks of points: the line that each begins at, its points with names, and whether it is open."""
    rows: list[tuple[Point, str | None]] = []
    begun, opened, count, header = 0, False, 0, True
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            if rows:
                yield begun, rows, opened
                rows, opened = [], False
            opened = opened or words.lstrip("# ").casefold() == OPEN
            continue
        row = _row(line, number, header)
        header = False
        if row is None:
            continue
        begun = begun if rows else number
        rows.append(row)
        count += 1
        if count > MAX_SEGMENTS:
            raise InputError(f"has more than {MAX_SEGMENTS:,} points")
    if rows:
        yield begun, rows, opened


def _row(line: str, number: int, header: bool) -> tuple[Point, str | None] | None:
    """A point and a name; None for the line of headings."""
    separator = next((mark for mark in (",", ";", "\t") if mark in line), None)
    cells = [cell.strip().strip('"') for cell in line.split(separator)]
    try:
        x, y = float(cells[0]), float(cells[1])
    except (ValueError, IndexError):
        if header and not any(_is_number(cell) for cell in cells):
            return None
        raise InputError(f"line {number} is {short(line)}: it must be x, y or x, y, name") from None
    if not (math.isfinite(x) and math.isfinite(y)) or len(cells) > 3:
        raise InputError(f"line {number} is {short(line)}: it must be two finite numbers, and perhaps a name")
    return (x, y), clean_name(cells[2]) if len(cells) > 2 else None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _named(points: list[Point], names: list[str | None], closed: bool) -> list[Segment]:
    ends = [*points[1:], points[0]] if closed else points[1:]
    return [Line(p, q, name) for p, q, name in zip(points, ends, names, strict=False) if p != q]


def read_obj(content: bytes) -> Drawing:
    """The polylines of a Wavefront OBJ file and the outer edges of its faces, in x and y; groups name the parts."""
    reader = _Obj()
    for number, line in enumerate(decode(content).splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            reader.read(number, words)
    return reader.drawing()


class _Obj:
    """What was read so far."""

    def __init__(self) -> None:
        self.collector = Collector()
        self.vertices: list[Point] = []
        self.name: str | None = None
        self.edges: dict[tuple[int, int], str | None] = {}
        """Edges of faces, in the direction in which they were last gone through."""
        self.times: Counter[tuple[int, int]] = Counter()

    def read(self, number: int, words: list[str]) -> None:
        kind, *rest = words
        if kind == "v":
            self._vertex(number, rest)
        elif kind in ("g", "o"):
            self.name = clean_name(" ".join(rest))
        elif kind == "l":
            places = self._places(number, rest, 2)
            closed = places[0] == places[-1] and len(places) > 3
            points = [self.vertices[k] for k in (places[:-1] if closed else places)]
            self.collector.add(polyline(points, closed, self.name), closed, f"polyline (line {number})")
        elif kind == "f":
            places = self._places(number, rest, 3)
            for edge in zip(places, [*places[1:], places[0]], strict=True):
                key = (min(edge), max(edge))
                self.times[key] += 1
                self.edges[key] = self.name
            if len(self.times) > MAX_SEGMENTS:
                raise InputError(f"has more than {MAX_SEGMENTS:,} edges")

    def _vertex(self, number: int, words: list[str]) -> None:
        try:
            point = float(words[0]), float(words[1])
        except (ValueError, IndexError):
            raise InputError(f"line {number} must be v, x and y") from None
        if len(self.vertices) == MAX_SEGMENTS or not all(map(math.isfinite, point)):
            raise InputError(f"line {number}: vertices must be finite, and at most {MAX_SEGMENTS:,}")
        self.vertices.append(point)

    def _places(self, number: int, words: list[str], least: int) -> list[int]:
        """Indices of vertices from their numbers, which count from 1, or back from the last one if negative."""
        found = []
        for word in words:
            text = word.partition("/")[0]
            plain = len(text) < 12 and text.removeprefix("-").isdecimal()
            k = int(text) if plain else 0
            if not 0 < abs(k) <= len(self.vertices):
                raise InputError(
                    f"line {number}: {short(word)} must be the number of one of {len(self.vertices)} vertices"
                )
            found.append(k - 1 if k > 0 else len(self.vertices) + k)
        if len(found) < least:
            raise InputError(f"line {number} has {len(found)} vertices: it needs {least} or more")
        return found

    def drawing(self) -> Drawing:
        for key, times in self.times.items():
            if times == 1:
                points = [self.vertices[k] for k in key]
                self.collector.add(polyline(points, False, self.edges[key]), False, "outer edge of faces")
        return self.collector.drawing()
