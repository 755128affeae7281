"""The eight primitive shapes of PDEZoo. The formulas hold in the frame of the shape: moved to its center and turned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from mc2.checks import positive
from mc2.errors import InputError
from mc2.geometry import curves
from mc2.geometry import shape_kernels as kernels
from mc2.geometry.domain import Bounds
from mc2.geometry.pieces import Pieces, make_pieces
from mc2.geometry.primitive import CorneredShape, Shape
from mc2.registry import Registry

MOST_ARCS = 4096
"""Arcs that stand for a quarter of an ellipse; only one that is stretched by thousands needs as many."""


@final
@dataclass(frozen=True, repr=False)
class Disk(Shape):
    """d = radius - r."""

    radius: float = 1.0

    op = kernels.DISK
    ranges = {"radius": (1.0, 1.0)}
    exactness = (True, True)
    sides = ("rim",)

    @property
    def perimeter(self) -> float:
        return 2 * math.pi * self.radius

    def reach(self, u: float, v: float) -> float:
        return self.radius

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.circle(self.radius, t)

    def own_pieces(self) -> Pieces:
        return make_pieces([_circle(self.radius)], [0], smooth=True)


@final
@dataclass(frozen=True, repr=False)
class Square(CorneredShape):
    """d = min(half - |x|, half - |y|)."""

    half: float = 1.0

    op = kernels.RECTANGLE
    sides = ("bottom", "right", "top", "left")
    ranges = {"half": (1.0, 1.0)}

    @property
    def vertices(self) -> np.ndarray:
        return self.half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])


@final
@dataclass(frozen=True, repr=False, init=False)
class Rectangle(CorneredShape):
    """d = min(a - |x|, b - |y|).

    a, b: half-widths. Or instead
    width, height: twice as much.
    """

    a: float
    b: float

    op = kernels.RECTANGLE
    sides = ("bottom", "right", "top", "left")
    ranges = {"a": (0.6, 1.2), "b": (0.6, 1.2)}

    def __init__(
        self,
        a: float | None = None,
        b: float | None = None,
        *,
        width: float | None = None,
        height: float | None = None,
        center: tuple[float, float] = (0.0, 0.0),
        angle: float = 0.0,
        name: str | None = None,
    ) -> None:
        given = {"a": a, "b": b, "width": width, "height": height}
        names = tuple(key for key, value in given.items() if value is not None)
        if names not in (("a", "b"), ("width", "height")):
            raise InputError(
                f"rectangle has {' and '.join(names) or 'no sides'}: give its half-widths a and b, or width and height"
            )
        if width is not None and height is not None:
            a, b = (0.5 * positive(f"rectangle {key}", given[key]) for key in names)
        for key, value in {"a": a, "b": b, "center": center, "angle": angle, "name": name}.items():
            object.__setattr__(self, key, value)
        self.__post_init__()

    @property
    def width(self) -> float:
        """Twice a."""
        return 2 * self.a

    @property
    def height(self) -> float:
        """Twice b."""
        return 2 * self.b

    @property
    def vertices(self) -> np.ndarray:
        return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (self.a, self.b)


@final
@dataclass(frozen=True, repr=False)
class Ellipse(Shape):
    """d = (1 - |(x/rx, y/ry)|) min(rx, ry), a lower bound of the distance."""

    rx: float
    ry: float

    op = kernels.ELLIPSE
    ranges = {"rx": (0.6, 1.2), "ry": (0.6, 1.2)}
    exactness = (False, False)
    sides = ("rim",)

    @property
    def perimeter(self) -> float:
        return curves.ellipse_length(self.rx, self.ry)

    def reach(self, u: float, v: float) -> float:
        return math.hypot(u * self.rx, v * self.ry)

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.ellipse(self.rx, self.ry, t)

    def own_pieces(self) -> Pieces:
        # as many arcs, each through three points of the ellipse, as bring their error below 1e-7 of its size
        stretched = max(self.rx, self.ry) / min(self.rx, self.ry)
        count = 4 * min(math.ceil(64 * math.sqrt(stretched)), MOST_ARCS)
        angle = np.arange(2 * count) * (np.pi / count)
        points = np.stack([self.rx * np.cos(angle), self.ry * np.sin(angle)], axis=1)
        start, middle = points[0::2] @ (1, 1j), points[1::2] @ (1, 1j)
        # the ends of an arc are seen from its middle under a right angle and a quarter of its turn
        seen = np.angle((np.roll(start, -1) - middle) / (middle - start))
        return make_pieces([(points[0::2], np.tan(0.5 * seen))], [0], smooth=True)


@final
@dataclass(frozen=True, repr=False)
class Annulus(Shape):
    """d = min(outer - r, r - inner)."""

    inner: float
    outer: float

    op = kernels.ANNULUS
    ranges = {"inner": (0.2, 0.6), "outer": (0.8, 1.4)}
    exactness = (True, True)
    sides = ("outer", "inner")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner >= self.outer:
            raise InputError(f"annulus inner = {self.inner} must be below outer = {self.outer}")

    @property
    def perimeter(self) -> float:
        return 2 * math.pi * (self.inner + self.outer)

    @property
    def boxes(self) -> tuple[Bounds, ...]:
        return Disk(self.inner, center=self.center).bounds, self.bounds

    def reach(self, u: float, v: float) -> float:
        return self.outer

    def curve(self, t: np.ndarray) -> np.ndarray:
        share = self.inner / (self.inner + self.outer)
        inner, outer = curves.circle(self.inner, t / share), curves.circle(self.outer, (t - share) / (1 - share))
        return np.where((t < share)[:, None], inner, outer)

    def own_pieces(self) -> Pieces:
        vertices, bulge = _circle(self.inner)
        return make_pieces([_circle(self.outer), (vertices[::-1], -bulge)], [0, 1], smooth=True)


@final
@dataclass(frozen=True, repr=False)
class Triangle(CorneredShape):
    """Equilateral, a corner up, with circumradius R: d = min(R/2 + y, R/2 - y/2 - (√3/2)|x|)."""

    radius: float = 1.0

    op = kernels.TRIANGLE
    sides = ("edge 0", "edge 1", "edge 2")
    ranges = {"radius": (0.6, 1.0)}

    @property
    def vertices(self) -> np.ndarray:
        return curves.circle(self.radius, 1 / 4 + np.arange(3) / 3)


@final
@dataclass(frozen=True, repr=False)
class Hexagon(CorneredShape):
    """Regular, a corner to the right, with circumradius R: d = min(h - |y|, h - (√3/2)|x| - |y|/2), h = (√3/2) R."""

    radius: float = 1.0

    op = kernels.HEXAGON
    sides = ("edge 0", "edge 1", "edge 2", "edge 3", "edge 4", "edge 5")
    ranges = {"radius": (0.6, 1.0)}

    @property
    def vertices(self) -> np.ndarray:
        return curves.circle(self.radius, np.arange(6) / 6)


@final
@dataclass(frozen=True, repr=False)
class Stadium(Shape):
    """d = radius - (distance to the segment from (-half_length, 0) to (half_length, 0))."""

    half_length: float
    radius: float

    op = kernels.STADIUM
    ranges = {"half_length": (0.2, 0.6), "radius": (0.25, 0.5)}
    exactness = (True, True)
    sides = ("bottom", "right", "top", "left")

    @property
    def perimeter(self) -> float:
        return 4 * self.half_length + 2 * math.pi * self.radius

    def reach(self, u: float, v: float) -> float:
        return abs(u) * self.half_length + self.radius

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.stadium(self.half_length, self.radius, t)

    def own_pieces(self) -> Pieces:
        a, r, quarter = self.half_length, self.radius, math.tan(math.pi / 8)
        vertices = np.array([(-a, -r), (a, -r), (a + r, 0), (a, r), (-a, r), (-a - r, 0)])
        return make_pieces([(vertices, np.array([0, 1, 1, 0, 1, 1]) * quarter)], [[0, 1, 1, 2, 3, 3]], smooth=True)


def _circle(radius: float) -> tuple[np.ndarray, float]:
    """Four quarters of a circle, counter-clockwise: where each begins, and their bulge."""
    return radius * np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]), math.tan(math.pi / 8)


def _is_shape(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Shape)


SHAPES: Registry[type[Shape]] = Registry(
    "shape",
    "mc2.shapes",
    {
        shape.__name__.lower(): shape
        for shape in (Disk, Square, Rectangle, Ellipse, Annulus, Triangle, Hexagon, Stadium)
    },
    fits=_is_shape,
    named=lambda shape: shape._name(),
)
"""The shapes by the names that descriptions use. Other packages add theirs: see `mc2.registry`."""
