"""The boundary of a domain as pieces: lines and circular arcs, each with the domain on its left.

An arc is given by its ends and its *bulge*, the tangent of a quarter of the angle by which it turns, positive to the
left; 0 is a line. No arc turns by more than half a circle. With the chord c as a complex number and the angle θ, the
arc is z(t) = start + c (exp(iθt) − 1)/(exp(iθ) − 1), t from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import piece_kernels

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Indices = NDArray[np.intp]

STRAIGHT_ON = 1e-6
"""Turns of fewer radians between two pieces are smooth."""


class Pieces(NamedTuple):
    """The boundary of a domain, cut into lines and circular arcs, with the domain on the left.

    start, end: the ends of every piece.
    bulge: the tangent of a quarter of the arc's angle, positive where it turns left; 0 for a line.
    part: the index of the boundary part it belongs to.
    curve: the number of the closed ring or open slit it belongs to.
    smooth: whether there is no corner at `end`.
    """

    start: Array  # [n, 2]
    end: Array  # [n, 2]
    bulge: Array  # [n]
    part: Numbers  # [n]
    curve: Numbers  # [n]
    smooth: NDArray[np.bool_]  # [n]

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.bulge)

    def take(self, index: Indices | NDArray[np.bool_]) -> Pieces:
        """Some of the pieces."""
        columns = (field[index] for field in self)
        return Pieces(*columns)  # type: ignore[arg-type]  # the same columns, with fewer rows

    @property
    def turn(self) -> Array:
        """The angle by which every piece turns, positive to the left."""
        return 4 * np.arctan(self.bulge)

    @property
    def length(self) -> Array:
        """Arc lengths."""
        half = 0.5 * self.turn
        return np.hypot(*(self.end - self.start).T) / np.sinc(half / np.pi)

    def at(self, t: Array | float, index: Indices | slice = slice(None)) -> Array:
        """Points [n, 2] at fractions t of the pieces' lengths."""
        half = 0.5 * self.turn[index]
        start, chord = _complex(self.start[index]), _complex(self.end[index] - self.start[index])
        share = t * np.sinc(half * t / np.pi) / np.sinc(half / np.pi)
        return _plane(start + chord * share * np.exp(1j * half * (t - 1)))

    def direction(self, t: Array | float, index: Indices | slice = slice(None)) -> Array:
        """The directions as complex numbers of size 1, at fractions t of the pieces' lengths."""
        chord = _complex(self.end[index] - self.start[index])
        return np.exp(1j * (np.angle(chord) + self.turn[index] * (t - 0.5)))

    def cut(self, index: Indices, first: Array, last: Array) -> Pieces:
        """The stretches from fraction `first` to fraction `last` of the pieces named by `index`."""
        whole = self.take(index)
        start = np.where((first == 0)[:, None], whole.start, self.at(first, index))
        end = np.where((last == 1)[:, None], whole.end, self.at(last, index))
        bulge = np.where((first == 0) & (last == 1), whole.bulge, np.tan(0.25 * whole.turn * (last - first)))
        return whole._replace(start=start, end=end, bulge=bulge, smooth=whole.smooth | (last < 1))

    def reversed(self, which: NDArray[np.bool_]) -> Pieces:
        """The same with some of the pieces run through the other way; what is smooth must be found anew."""
        swap = which[:, None]
        start, end = np.where(swap, self.end, self.start), np.where(swap, self.start, self.end)
        return self._replace(start=start, end=end, bulge=np.where(which, -self.bulge, self.bulge))

    def boxes(self) -> tuple[Array, Array]:
        """Lower left and upper right corners [n, 2] of boxes that hold the pieces."""
        sagitta = (0.5 * np.abs(self.bulge) * np.hypot(*(self.end - self.start).T))[:, None]
        return np.minimum(self.start, self.end) - sagitta, np.maximum(self.start, self.end) + sagitta

    def areas(self) -> Array:
        """By how much each piece adds to the area of the domain, seen from the first point of all."""
        origin = self.start[:1]
        p, q, turn = self.start - origin, self.end - origin, self.turn
        chord = np.hypot(*(q - p).T)
        radius = np.divide(0.5 * chord, np.sin(0.5 * turn), out=np.zeros_like(chord), where=turn != 0)
        return 0.5 * (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]) + 0.5 * radius**2 * (turn - np.sin(turn))

    def nearest(self, x: Array, y: Array) -> tuple[Indices, Array]:
        """The nearest piece of every point, and the distance to it.

        Of pieces that are equally near, one that has the point on its left comes first.
        """
        found, distance = np.empty(x.size, np.intp), np.empty(x.size)
        low, high = self.boxes()
        order = filling_order(0.5 * (low + high))
        boxes, skips = np.empty((2 * self.size - 1, 4)), np.empty(2 * self.size - 1, np.int64)
        piece_kernels.make_boxes(low, high, order, boxes, skips)
        table = piece_kernels.table(self.start, self.end, self.bulge)
        piece_kernels.nearest(table, order, boxes, skips, x, y, found, distance)
        return found, distance

    def locate(self, index: Indices, points: Array) -> tuple[Array, Array]:
        """The nearest points on given pieces: the fraction of the length where each lies, and its distance."""
        half = 0.5 * self.turn[index]
        start, chord = _complex(self.start[index]), _complex(self.end[index] - self.start[index])
        w = (_complex(points) - start) / chord  # the chord becomes 0 … 1
        arc = np.abs(half) > 1e-12
        # w = (exp(2i half t) − 1)/(exp(2i half) − 1), solved for t by its phase seen from the center
        around = 1 + w * np.expm1(2j * half)
        on_arc = np.angle(around * np.exp(-1j * half)) / np.where(arc, 2 * half, 1) + 0.5
        t = np.clip(np.where(arc, on_arc, w.real), 0, 1)
        # past the ends of an arc, the nearer end by its distance: the phase wraps round behind the center
        nearer = np.where(np.abs(w) <= np.abs(w - 1), 0.0, 1.0)
        t = np.where(arc & ((on_arc < 0) | (on_arc > 1)), nearer, t)
        return t, np.hypot(*(self.at(t, index) - points).T)


class Boundary(NamedTuple):
    """Pieces, the names of the parts they belong to, and which of these names somebody gave."""

    pieces: Pieces
    names: tuple[str, ...]
    given: tuple[bool, ...]


def make_pieces(
    curves: Sequence[tuple[Array, Array | float]], parts: Sequence[Sequence[int] | Numbers | int], smooth: bool = False
) -> Pieces:
    """Pieces of closed rings.

    curves: of every ring its vertices [k, 2] and the bulges that follow each of them.
    parts: of every ring the part of all its pieces, or of each of them.
    smooth: whether vertices are no corners; otherwise those are not that turn by almost nothing.
    """
    columns = []
    for number, ((vertices, bulge), part) in enumerate(zip(curves, parts, strict=True)):
        count = len(vertices)
        own = (np.broadcast_to(np.asarray(bulge, float), count), np.broadcast_to(np.asarray(part, np.int64), count))
        columns.append((vertices, np.roll(vertices, -1, axis=0), *own, np.full(count, number)))
    start, end, bulges, part_numbers, curve = (np.concatenate(column) for column in zip(*columns, strict=True))
    pieces = Pieces(start, end, bulges, part_numbers, curve.astype(np.int64), np.full(len(start), smooth))
    return pieces if smooth else with_smooth(pieces, np.zeros(len(start), bool))


def with_smooth(pieces: Pieces, known: NDArray[np.bool_]) -> Pieces:
    """Pieces that follow each other within their curves, with `smooth` from how they meet. known: smooth anyway."""
    following = successors(pieces.curve)
    turn = np.angle(pieces.direction(0.0)[following] / pieces.direction(1.0))
    return pieces._replace(smooth=known | (np.abs(turn) < STRAIGHT_ON))


def successors(curve: Numbers) -> Indices:
    """The index of the piece that follows each in its closed curve, where curves come one after the other."""
    following = np.arange(1, len(curve) + 1)
    firsts = np.flatnonzero(np.diff(curve, prepend=-1))
    lasts = np.append(firsts[1:], len(curve))[: len(firsts)] - 1
    following[lasts] = firsts
    return following


def placed(pieces: Pieces, factor: complex, shift: tuple[float, float]) -> Pieces:
    """The pieces turned and scaled about the origin by a complex factor, and then moved."""
    factor = complex(factor)
    turn = np.array([[factor.real, factor.imag], [-factor.imag, factor.real]])
    return pieces._replace(start=pieces.start @ turn + shift, end=pieces.end @ turn + shift)


def filling_order(points: Array) -> Indices:
    """The order of points [n, 2] along a curve that fills the plane: what is near in it is near in the plane."""
    low = points.min(axis=0)
    size = float(np.ptp(points, axis=0).max()) or 1.0
    place = ((points - low) / size * 65_535).astype(np.int64)
    key = np.zeros(len(points), np.int64)
    for bit in range(16):
        key |= ((place[:, 0] >> bit & 1) << 2 * bit) | ((place[:, 1] >> bit & 1) << 2 * bit + 1)
    return np.argsort(key, kind="stable")


def _complex(points: Array) -> NDArray[np.complex128]:
    return points[:, 0] + 1j * points[:, 1]


def _plane(z: NDArray[np.complex128]) -> Array:
    return np.stack([z.real, z.imag], axis=1)
