"""What the primitive shapes share: parameters, a center and an angle."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mc2.checks import finite, point, positive
from mc2.errors import InputError
from mc2.geometry import curves
from mc2.geometry.domain import Bounds, Constants, Leaf
from mc2.geometry.parts import part_name
from mc2.geometry.pieces import Boundary, Pieces, make_pieces, placed


@dataclass(frozen=True, repr=False)
class Shape(Leaf):
    """A shape with positive parameters, placed at a center and turned by an angle (radians, counter-clockwise)."""

    center: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)
    angle: float = field(default=0.0, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    """What the whole boundary is called; by default its sides have names of their own: `sides`."""

    op: ClassVar[int]
    ranges: ClassVar[dict[str, tuple[float, float]]]
    """The parameters, and the range that PDEZoo draws each from."""
    exactness: ClassVar[tuple[bool, bool]]
    sides: ClassVar[tuple[str, ...]]
    """Names of the parts of the boundary, counter-clockwise as `own_pieces` numbers them."""

    def __post_init__(self) -> None:
        for name in self.ranges:
            object.__setattr__(self, name, positive(f"{self._name()} {name}", getattr(self, name)))
        object.__setattr__(self, "center", point(f"{self._name()} center", self.center))
        object.__setattr__(self, "angle", finite(f"{self._name()} angle", self.angle))
        if self.name is not None:
            part_name(f"{self._name()} name", self.name)

    @classmethod
    def _name(cls) -> str:
        return cls.__name__.lower()

    @property
    def parameters(self) -> tuple[float, ...]:
        """The values of the parameters."""
        return tuple(getattr(self, name) for name in self.ranges)

    @abstractmethod
    def reach(self, u: float, v: float) -> float:
        """The largest u x + v y over the shape, for a unit vector (u, v), in its own frame."""

    @abstractmethod
    def curve(self, t: np.ndarray) -> np.ndarray:
        """The outline in the shape's own frame."""

    @abstractmethod
    def own_pieces(self) -> Pieces:
        """The boundary in the shape's own frame."""

    def find_boundary(self) -> Boundary:
        turn = complex(math.cos(self.angle), math.sin(self.angle))
        pieces = placed(self.own_pieces(), turn, self.center)
        if self.name is not None:
            return Boundary(pieces._replace(part=np.zeros_like(pieces.part)), (self.name,), (True,))
        return Boundary(pieces, self.sides, (False,) * len(self.sides))

    @cached_property
    def bounds(self) -> Bounds:
        (x, y), cos, sin = self.center, math.cos(self.angle), math.sin(self.angle)
        # The axes of the plane, seen from the frame of the shape, are (cos, -sin) and (sin, cos).
        return (
            x - self.reach(-cos, sin),
            x + self.reach(cos, -sin),
            y - self.reach(-sin, -cos),
            y + self.reach(sin, cos),
        )

    def outline(self, t: np.ndarray) -> np.ndarray:
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return self.curve(t) @ np.array([[cos, sin], [-sin, cos]]) + self.center

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        code.append((self.op, out, len(constants), 0))
        # A shape with one parameter repeats it: a square is a rectangle.
        a, b = (*self.parameters, *self.parameters)[:2]
        constants.extend((*self.center, math.cos(self.angle), math.sin(self.angle), a, b))

    def move(self, dx: float, dy: float) -> Self:
        x, y = self.center
        return dataclasses.replace(self, center=(x + finite("dx", dx), y + finite("dy", dy)))

    def rotate(self, angle: float) -> Self:
        turn, (x, y) = finite("angle", angle), self.center
        cos, sin = math.cos(turn), math.sin(turn)
        return dataclasses.replace(self, center=(cos * x - sin * y, sin * x + cos * y), angle=self.angle + turn)

    def scale(self, factor: float) -> Self:
        factor, (x, y) = positive("factor", factor), self.center
        sizes: dict[str, Any] = {name: factor * value for name, value in zip(self.ranges, self.parameters, strict=True)}
        scaled = dataclasses.replace(self, **sizes, center=(factor * x, factor * y))
        if not math.isclose(scaled.size, factor * self.size, rel_tol=1e-6):
            raise InputError(f"{self._name()} cannot be scaled: its parameters must be lengths that fix its size")
        return scaled

    def describe(self) -> dict[str, Any]:
        parameters = dict(zip(self.ranges, self.parameters, strict=True))
        data = {"shape": self._name(), **parameters, "center": list(self.center), "angle": self.angle}
        return data if self.name is None else data | {"name": self.name}

    def __repr__(self) -> str:
        arguments = [repr(value) for value in self.parameters]
        if self.center != (0.0, 0.0):
            arguments.append(f"center={self.center}")
        if self.angle != 0.0:
            arguments.append(f"angle={self.angle}")
        if self.name is not None:
            arguments.append(f"name={self.name!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"


class CorneredShape(Shape):
    """A polygon, given by its vertices [k, 2], counter-clockwise, and the names of its k sides in that order.

    One without an instruction of its own for the kernels, `op`, is computed as a polygon.
    """

    exactness = (True, False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not hasattr(self, "op"):
            self._check_vertices()

    def _check_vertices(self) -> None:
        """Refuse a shape of somebody else whose sides would have the wrong names or normals."""
        vertices = np.asarray(self.vertices)
        if vertices.ndim != 2 or vertices.shape[1] != 2 or len(self.sides) != len(vertices):
            raise InputError(
                f"{self._name()} has vertices {list(vertices.shape)} and {len(self.sides)} sides: it needs vertices "
                "[k, 2] and k names of sides"
            )
        x, y = vertices.T
        if not np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0:
            raise InputError(f"{self._name()} must have finite vertices, counter-clockwise")

    @property
    @abstractmethod
    def vertices(self) -> np.ndarray:
        """Vertices [k, 2] in the shape's own frame."""

    @property
    def breaks(self) -> tuple[float, ...]:
        return curves.polyline_breaks([self.vertices])

    @property
    def perimeter(self) -> float:
        return curves.polyline_length([self.vertices])

    def reach(self, u: float, v: float) -> float:
        return float((self.vertices @ (u, v)).max())

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.polyline([self.vertices], t)

    def own_pieces(self) -> Pieces:
        return make_pieces([(self.vertices, 0.0)], [range(len(self.sides))])

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        from mc2.geometry.polygon import Polygon

        if hasattr(self, "op"):
            super().emit(code, constants, out)
            return
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        Polygon(self.vertices @ np.array([[cos, sin], [-sin, cos]]) + self.center).emit(code, constants, out)
