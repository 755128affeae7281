"""Path data of SVG: all commands, absolute and relative."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from mc2.errors import InputError, short
from mc2.geometry.drawings.drawing import MAX_SEGMENTS
from mc2.geometry.drawings.segments import Cubic, Line, Point, Segment, between, ellipse

_SPACE = re.compile(r"[\s,]*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FLAG = re.compile("[01]")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
"""Numbers that a command takes."""


class Subpath(NamedTuple):
    """Part of a path from one move to the next. closed: by a command Z."""

    segments: list[Segment]
    closed: bool


def read_path(text: str, name: str | None) -> list[Subpath]:
    """The subpaths of the attribute `d` of a path."""
    pen = _Pen(name)
    for letter, values in _commands(text):
        pen.draw(letter, values)
        if pen.count > MAX_SEGMENTS:
            raise InputError(f"has more than {MAX_SEGMENTS:,} segments")
    pen.lift()
    return pen.subpaths


def _commands(text: str) -> Iterator[tuple[str, list[float]]]:
    """Commands one by one, each with as many numbers as it takes."""
    place, letter, fresh = _skip(text, 0), "", False
    while place < len(text):
        if text[place].isalpha():
            letter, fresh = text[place], True
            if letter.upper() not in _COUNTS:
                raise InputError(f"d has {letter!r} at character {place + 1}: no command of a path")
            place = _skip(text, place + 1)
        if not letter:
            raise InputError(f"d begins with {short(text[:20])}: a path begins with M")
        if not fresh and letter in "zZ":
            raise InputError(f"d has {short(text[place : place + 20])} after z at character {place + 1}")
        values, place = _values(text, place, letter)
        yield letter, values
        letter, fresh = {"M": "L", "m": "l"}.get(letter, letter), False


def _values(text: str, place: int, letter: str) -> tuple[list[float], int]:
    values: list[float] = []
    for k in range(_COUNTS[letter.upper()]):
        if letter in "aA" and k in (3, 4):  # flags, which may stand together as in 01
            match = _FLAG.match(text, place)
        else:
            match = _NUMBER.match(text, place)
        if not match:
            found = short(text[place : place + 20]) if place < len(text) else "its end"
            raise InputError(
                f"d has {found} at character {place + 1}: command {letter} takes {_COUNTS[letter.upper()]} numbers"
            )
        values.append(float(match[0]))
        place = _skip(text, match.end())
    return values, place


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


class _Pen:
    """Draws commands one after the other."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.subpaths: list[Subpath] = []
        self.segments: list[Segment] = []
        self.count = 0
        self.begun: Point | None = None
        """Where the subpath begins."""
        self.here: Point = (0.0, 0.0)
        self.control: tuple[str, Point] | None = None
        """The last control point, and the kind of curve that it was of."""

    def draw(self, letter: str, values: list[float]) -> None:
        kind = letter.upper()
        if kind == "M":
            self.lift()
            self.here = self.begun = self._point(letter, values)
            self.control = None
            return
        if self.begun is None:
            raise InputError(f"d begins with {letter!r}: a path begins with M")
        if kind == "Z":
            self._line(self.begun)
            self.lift(closed=True)
            return
        control = self.control
        self.control = None
        if kind in "LHV":
            self._line(self._target(letter, values))
        elif kind == "A":
            self._arc(values, self._point(letter, values[5:]))
        else:
            self._curve(letter, values, control)

    def lift(self, closed: bool = False) -> None:
        """End a subpath; what follows a Z without a move begins where that subpath began."""
        if self.segments:
            self.subpaths.append(Subpath(self.segments, closed))
        if closed and self.begun is not None:
            self.here = self.begun
        self.segments, self.control = [], None

    def _point(self, letter: str, values: list[float]) -> Point:
        x, y = values[:2]
        return (self.here[0] + x, self.here[1] + y) if letter.islower() else (x, y)

    def _target(self, letter: str, values: list[float]) -> Point:
        x, y = self.here
        if letter in "hH":
            return (values[0] + (x if letter == "h" else 0.0), y)
        if letter in "vV":
            return (x, values[0] + (y if letter == "v" else 0.0))
        return self._point(letter, values)

    def _add(self, segments: list[Segment], end: Point) -> None:
        self.segments += segments
        self.count += len(segments)
        self.here = end

    def _line(self, end: Point) -> None:
        self._add([Line(self.here, end, self.name)] if end != self.here else [], end)

    def _curve(self, letter: str, values: list[float], control: tuple[str, Point] | None) -> None:
        """C, S, Q and T; S and T begin with the mirror image of the last control point of their own kind."""
        kind = letter.upper()
        given = [self._point(letter, values[k : k + 2]) for k in range(0, len(values), 2)]
        if kind in "ST":
            same = control is not None and control[0] == ("C" if kind == "S" else "Q")
            x, y = control[1] if same and control else self.here
            given.insert(0, (2 * self.here[0] - x, 2 * self.here[1] - y))
        start, end = self.here, given[-1]
        if kind in "CS":
            one, two = given[0], given[1]
            self.control = "C", two
        else:
            (x, y), self.control = given[0], ("Q", given[0])
            one = start[0] + 2 / 3 * (x - start[0]), start[1] + 2 / 3 * (y - start[1])
            two = end[0] + 2 / 3 * (x - end[0]), end[1] + 2 / 3 * (y - end[1])
        self._add([Cubic(start, one, two, end, self.name)] if len({start, one, two, end}) > 1 else [], end)

    def _arc(self, values: list[float], end: Point) -> None:
        """An arc from its ends to its centre (SVG 1.1, F.6): radii that are too short grow until they reach."""
        rx, ry = abs(values[0]), abs(values[1])
        if end == self.here or rx == 0 or ry == 0:
            self._line(end)
            return
        cos, sin = math.cos(math.radians(values[2])), math.sin(math.radians(values[2]))
        hx, hy = (self.here[0] - end[0]) / 2, (self.here[1] - end[1]) / 2
        px, py = (cos * hx + sin * hy) / rx, (-sin * hx + cos * hy) / ry
        reach = math.hypot(px, py)
        if not 0 < reach < math.inf:
            raise InputError(f"d has an arc with radii {values[0]:g} and {values[1]:g}, beyond the range of numbers")
        if reach > 1:
            rx, ry, px, py = rx * reach, ry * reach, px / reach, py / reach
        side = math.sqrt(max(0.0, 1 / math.hypot(px, py) ** 2 - 1)) * (-1 if values[3] == values[4] else 1)
        qx, qy = side * py, -side * px  # the centre, where the ellipse is the unit circle
        center = (
            cos * rx * qx - sin * ry * qy + (self.here[0] + end[0]) / 2,
            sin * rx * qx + cos * ry * qy + (self.here[1] + end[1]) / 2,
        )
        t0, t1 = math.atan2(py - qy, px - qx), math.atan2(-py - qy, -px - qx)
        turn = (t1 - t0) % math.tau if values[4] else -((t0 - t1) % math.tau)
        made = ellipse(center, (rx * cos, rx * sin), (-ry * sin, ry * cos), t0, t0 + turn, self.name)
        self._add(between(made, self.here, end), end)
