"""The eight primitive shapes of PDEZoo. The formulas hold in the frame of the shape: moved to its center and turned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from mc2.errors import InputError
from mc2.geometry import curves, kernels
from mc2.geometry.domain import Bounds
from mc2.geometry.primitive import CorneredShape, Shape


@final
@dataclass(frozen=True, repr=False)
class Disk(Shape):
    """d = radius - r."""

    radius: float = 1.0

    op = kernels.DISK
    ranges = {"radius": (1.0, 1.0)}
    exactness = (True, True)

    @property
    def perimeter(self) -> float:
        return 2 * math.pi * self.radius

    def reach(self, u: float, v: float) -> float:
        return self.radius

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.circle(self.radius, t)


@final
@dataclass(frozen=True, repr=False)
class Square(CorneredShape):
    """d = min(half - |x|, half - |y|)."""

    half: float = 1.0

    op = kernels.RECTANGLE
    ranges = {"half": (1.0, 1.0)}

    @property
    def vertices(self) -> np.ndarray:
        return self.half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])


@final
@dataclass(frozen=True, repr=False)
class Rectangle(CorneredShape):
    """d = min(a - |x|, b - |y|), with half-widths a and b."""

    a: float
    b: float

    op = kernels.RECTANGLE
    ranges = {"a": (0.6, 1.2), "b": (0.6, 1.2)}

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

    @property
    def perimeter(self) -> float:
        return curves.ellipse_length(self.rx, self.ry)

    def reach(self, u: float, v: float) -> float:
        return math.hypot(u * self.rx, v * self.ry)

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.ellipse(self.rx, self.ry, t)


@final
@dataclass(frozen=True, repr=False)
class Annulus(Shape):
    """d = min(outer - r, r - inner)."""

    inner: float
    outer: float

    op = kernels.ANNULUS
    ranges = {"inner": (0.2, 0.6), "outer": (0.8, 1.4)}
    exactness = (True, True)

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


@final
@dataclass(frozen=True, repr=False)
class Triangle(CorneredShape):
    """Equilateral, a corner up, with circumradius R: d = min(R/2 + y, R/2 - y/2 - (√3/2)|x|)."""

    radius: float = 1.0

    op = kernels.TRIANGLE
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

    @property
    def perimeter(self) -> float:
        return 4 * self.half_length + 2 * math.pi * self.radius

    def reach(self, u: float, v: float) -> float:
        return abs(u) * self.half_length + self.radius

    def curve(self, t: np.ndarray) -> np.ndarray:
        return curves.stadium(self.half_length, self.radius, t)


SHAPES: dict[str, type[Shape]] = {
    shape.__name__.lower(): shape for shape in (Disk, Square, Rectangle, Ellipse, Annulus, Triangle, Hexagon, Stadium)
}
"""The shapes by the names that descriptions use."""
