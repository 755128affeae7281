"""Slits: open curves that are cut out of a domain, with two sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from mc2.checks import finite, listed, point, positive
from mc2.errors import InputError, short
from mc2.geometry import curves, kernels
from mc2.geometry.domain import Bounds, Constants, Domain, Leaf
from mc2.geometry.outline_tree import OutlineTree, outline_tree
from mc2.geometry.parts import part_name
from mc2.geometry.pieces import Boundary, make_pieces
from mc2.geometry.rings import MAX_VERTICES, check_chain

SIDES = ("left", "right")
BESIDE = 1e-14
"""Distance of points on a side of a slit from its line, in units of the largest coordinate and the slit's size."""


@final
@dataclass(frozen=True, repr=False, init=False)
class Slit(Leaf):
    """A line from point to point, without width, to be subtracted: ``Disk() - Slit([(0, 0), (1, 0)])``.

    As a domain of its own it is empty: d = −(the least distance to the line), exact. What it is subtracted from has
    the line as boundary, with two sides: two parts, which can have two values.

    points: two or more points (x, y) in order. The line does not cross itself.
    names: of its left and its right side, as seen on the way from its first point to its last; or one name for both.
    """

    points: tuple[tuple[float, float], ...]
    names: tuple[str, str] = SIDES

    def __init__(self, points: Any, names: Any = SIDES) -> None:
        chain = tuple(point(f"slit point {k}", one) for k, one in enumerate(listed("slit points", points, "points")))
        if len(chain) > MAX_VERTICES:
            raise InputError(
                f"a slit may have {MAX_VERTICES:,} points (mc2.geometry.rings.MAX_VERTICES), not {len(chain):,}"
            )
        check_chain(np.array(chain))
        both = (names, names) if isinstance(names, str) else names
        if not isinstance(both, tuple | list) or len(both) != 2:
            raise InputError(f"slit names = {short(names)} must be one name, or a pair for its left and right side")
        object.__setattr__(self, "points", chain)
        object.__setattr__(self, "names", tuple(part_name("slit name", name) for name in both))

    @property
    def _array(self) -> np.ndarray:
        return np.array(self.points)

    @property
    def _around(self) -> np.ndarray:
        """There and back: a ring with the rest of the plane on its left."""
        return np.concatenate([self._array, self._array[-2:0:-1]])

    @cached_property
    def bounds(self) -> Bounds:
        (xmin, ymin), (xmax, ymax) = self._array.min(axis=0).tolist(), self._array.max(axis=0).tolist()
        return xmin, xmax, ymin, ymax

    @property
    def exactness(self) -> tuple[bool, bool]:
        return True, True

    @property
    def vertex_count(self) -> int:
        return len(self.points)

    @property
    def breaks(self) -> tuple[float, ...]:
        return curves.polyline_breaks([self._around])

    @property
    def perimeter(self) -> float:
        return curves.polyline_length([self._around])

    def outline(self, t: np.ndarray) -> np.ndarray:
        """There along the left side and back along the right one, `BESIDE` off the line: data may differ by side."""
        return curves.polyline([self._around], t, BESIDE * float(np.abs(self._array).max() + self.size))

    @cached_property
    def _tree(self) -> OutlineTree:
        return outline_tree([self._array], closed=False, sign=-1.0)

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        code.append((kernels.OUTLINE, out, len(constants), 1))
        constants.frombytes(self._tree.constants().tobytes())

    def find_boundary(self) -> Boundary:
        edges = len(self.points) - 1
        part = np.repeat([0, 0 if self.names[0] == self.names[1] else 1], edges)
        names = tuple(dict.fromkeys(self.names))
        given = self.names != SIDES
        return Boundary(make_pieces([(self._around, 0.0)], [part]), names, (given,) * len(names))

    def move(self, dx: float, dy: float) -> Slit:
        return self._placed(1, complex(finite("dx", dx), finite("dy", dy)))

    def rotate(self, angle: float) -> Slit:
        turn = finite("angle", angle)
        return self._placed(complex(math.cos(turn), math.sin(turn)), 0)

    def scale(self, factor: float) -> Slit:
        return self._placed(positive("factor", factor), 0)

    def _placed(self, factor: complex, shift: complex) -> Slit:
        """Multiplied by a complex factor and then moved; its tree moves along."""
        moved = (self._array @ (1, 1j)) * factor + shift
        found = object.__new__(Slit)
        object.__setattr__(found, "points", tuple(zip(moved.real.tolist(), moved.imag.tolist(), strict=True)))
        object.__setattr__(found, "names", self.names)
        found.__dict__["_tree"] = self._tree.placed(complex(factor), complex(shift))
        return found

    def describe(self) -> dict[str, Any]:
        return {"shape": "slit", "points": [list(one) for one in self.points], "names": list(self.names)}

    def __repr__(self) -> str:
        return f"Slit(<{len(self.points)} points>, names={self.names!r})"


def has_slits(domain: Domain) -> bool:
    """Whether a domain has slits, on which the boundary has two sides in one place."""
    return any(isinstance(leaf, Slit) for leaf in domain.leaves())
