"""Polygons with holes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from mc2.checks import finite, positive
from mc2.errors import InputError
from mc2.geometry import curves, kernels
from mc2.geometry.domain import Bounds, Constants, Leaf
from mc2.geometry.outline_tree import OutlineTree, outline_tree
from mc2.geometry.parts import part_name
from mc2.geometry.pieces import Boundary, make_pieces, with_smooth
from mc2.geometry.rings import Ring, check_rings, read_names, read_rings, read_smooth
from mc2.geometry.shape_kernels import POLYGON

MOST_EDGES = 256
"""Edges that a distance visits one by one; with more there is a tree over them."""


@final
@dataclass(frozen=True, repr=False, init=False)
class Polygon(Leaf):
    """A simple polygon with holes, in either orientation.

    d = ± the least distance to an edge, positive where a ray to the right crosses an odd number of edges: exact.

    vertices: three or more corners (x, y) in order; the first may be repeated at the end.
    holes: rings of corners that lie inside, apart from each other.
    name: of the whole boundary; by default its parts are `edge 0` from vertex 0 to 1, `edge 1`, …, `hole 1`, ….
    names: instead, for every ring (the outer one first) a list with the name of each edge, or None for that.
    smooth: for every ring the numbers of the vertices that stand for a curve, and are no corners. Edges that meet at
        one are one edge.
    """

    rings: tuple[Ring, ...]
    """The outer ring, then the holes."""
    name: str | None = None
    names: tuple[tuple[str | None, ...], ...] | None = None
    smooth: tuple[tuple[int, ...], ...] | None = None

    def __init__(
        self, vertices: Any, holes: Any = (), *, name: str | None = None, names: Any = None, smooth: Any = None
    ) -> None:
        rings = read_rings(vertices, holes)
        check_rings([np.array(ring) for ring in rings])
        if name is not None and names is not None:
            raise InputError("polygon has a name and names: give one name for all edges, or one for each")
        object.__setattr__(self, "rings", rings)
        object.__setattr__(self, "name", None if name is None else part_name("polygon name", name))
        object.__setattr__(self, "names", None if names is None else read_names(names, rings))
        object.__setattr__(self, "smooth", None if smooth is None else read_smooth(smooth, rings))

    @property
    def vertices(self) -> Ring:
        """Corners of the outer ring."""
        return self.rings[0]

    @cached_property
    def bounds(self) -> Bounds:
        return _box(self.vertices)

    @property
    def exactness(self) -> tuple[bool, bool]:
        return True, True

    @property
    def boxes(self) -> tuple[Bounds, ...]:
        return tuple(_box(ring) for ring in self.rings)

    @property
    def breaks(self) -> tuple[float, ...]:
        return curves.polyline_breaks(self._arrays)

    @property
    def perimeter(self) -> float:
        return curves.polyline_length(self._arrays)

    def outline(self, t: np.ndarray) -> np.ndarray:
        return curves.polyline(self._arrays, t)

    @cached_property
    def _arrays(self) -> list[np.ndarray]:
        return [np.array(ring) for ring in self.rings]

    @property
    def vertex_count(self) -> int:
        return sum(map(len, self.rings))

    @property
    def turns(self) -> np.ndarray:
        edges = [np.roll(ring, -1, axis=0) - ring for ring in self._arrays]
        angles = [np.arctan2(edge[:, 1], edge[:, 0]) for edge in edges]
        return np.concatenate([np.abs(np.angle(np.exp(1j * (a - np.roll(a, 1))))) for a in angles])

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        if self.vertex_count > MOST_EDGES:
            code.append((kernels.OUTLINE, out, len(constants), 0))
            constants.frombytes(self._tree.constants().tobytes())
            return
        edges = [edge for ring in self.rings for edge in zip(ring, (*ring[1:], ring[0]), strict=True)]
        code.append((POLYGON, out, len(constants), len(edges)))
        for (x0, y0), (x1, y1) in edges:
            x, y = x1 - x0, y1 - y0
            constants.extend((x0, y0, y1, x, y, 1 / (x * x + y * y), x / y if y else 0.0))

    @cached_property
    def _tree(self) -> OutlineTree:
        """For very many edges: with the domain on their left."""
        return outline_tree(self._oriented, closed=True)

    @property
    def _oriented(self) -> list[np.ndarray]:
        """The rings with the domain on their left: the outer one counter-clockwise, holes clockwise."""
        return [ring if self._is_left(k) else ring[::-1] for k, ring in enumerate(self._arrays)]

    def _is_left(self, k: int) -> bool:
        """Whether a ring has the domain on its left."""
        x, y = (self._arrays[k] - self._arrays[k][0]).T
        return bool((np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0) == (k == 0))

    def find_boundary(self) -> Boundary:
        labels = self._labels()
        number = {label: k for k, label in enumerate(dict.fromkeys(labels))}
        part = np.array([number[label] for label in labels], np.int64)
        curves, parts, known = [], [], []
        begin = 0
        for k, ring in enumerate(self._arrays):
            own, smooth = part[begin : begin + len(ring)], self._is_smooth(k)
            begin += len(ring)
            # the domain is on the left of the outer ring if that is counter-clockwise, and of holes if clockwise
            forward = self._is_left(k)
            curves.append((ring if forward else ring[::-1], 0.0))
            parts.append(own if forward else np.roll(own[::-1], -1))
            known.append(np.roll(smooth if forward else smooth[::-1], -1))
        pieces = with_smooth(make_pieces(curves, parts, smooth=True), np.concatenate(known))
        given = {name for ring in self.names or () for name in ring} if self.name is None else {self.name}
        return Boundary(pieces, tuple(number), tuple(label in given for label in number))

    def _is_smooth(self, k: int) -> np.ndarray:
        """Which vertices of a ring are no corners."""
        found = np.zeros(len(self.rings[k]), bool)
        if self.smooth is not None:
            found[list(self.smooth[k])] = True
        return found

    def _labels(self) -> list[str]:
        """The part of every edge."""
        if self.name is not None:
            return [self.name] * self.vertex_count
        # edges that meet smoothly are one: numbered by the corners before them, and the first like the last
        corners = np.cumsum(~self._is_smooth(0)[1:], dtype=int).tolist()
        count = corners[-1] + 1 if not self._is_smooth(0)[0] else max(corners[-1], 1)
        found = [f"edge {k % count}" for k in (0, *corners)]
        for k, ring in enumerate(self.rings[1:], 1):
            found += [f"hole {k}"] * len(ring)
        given = [name for ring in self.names or () for name in ring]
        return [name or label for name, label in zip(given, found, strict=True)] if given else found

    def move(self, dx: float, dy: float) -> Polygon:
        return self._placed(1, complex(finite("dx", dx), finite("dy", dy)))

    def rotate(self, angle: float) -> Polygon:
        turn = finite("angle", angle)
        return self._placed(complex(math.cos(turn), math.sin(turn)), 0)

    def scale(self, factor: float) -> Polygon:
        return self._placed(positive("factor", factor), 0)

    def _placed(self, factor: complex, shift: complex) -> Polygon:
        """Multiplied by a complex factor and then moved. A tree moves along, so that it is made only once."""
        turn, moved = complex(factor), []
        for ring in self._arrays:
            x, y = ring.T
            points = x * turn.real - y * turn.imag + shift.real, x * turn.imag + y * turn.real + shift.imag
            moved.append(np.stack(points, axis=1).tolist())
        found = object.__new__(Polygon)  # what was checked once stays so
        object.__setattr__(found, "rings", tuple(tuple(map(tuple, ring)) for ring in moved))
        for field in ("name", "names", "smooth"):
            object.__setattr__(found, field, getattr(self, field))
        if self.vertex_count > MOST_EDGES:
            found.__dict__["_tree"] = self._tree.placed(turn, complex(shift))
        return found

    def describe(self) -> dict[str, Any]:
        outer, *holes = ([list(vertex) for vertex in ring] for ring in self.rings)
        data: dict[str, Any] = {"shape": "polygon", "vertices": outer, "holes": holes}
        if self.name is not None:
            data["name"] = self.name
        for field in ("names", "smooth"):
            if getattr(self, field) is not None:
                data[field] = [list(ring) for ring in getattr(self, field)]
        return data

    def __repr__(self) -> str:
        count = len(self.rings) - 1
        holes = f", {count} hole{'s' if count > 1 else ''}" if count else ""
        name = "" if self.name is None else f", name={self.name!r}"
        return f"Polygon(<{len(self.vertices)} vertices{holes}>{name})"


def _box(ring: Ring) -> Bounds:
    x, y = zip(*ring, strict=True)
    return min(x), max(x), min(y), max(y)
