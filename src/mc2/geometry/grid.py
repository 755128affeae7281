"""The evaluation grid: the centres of an array of pixels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from mc2.checks import CheckedArguments, numbers, whole
from mc2.errors import InputError, short

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

Bounds = tuple[float, float, float, float]

MAX_SIZE = 4096
"""Pixels along a side of a grid: all that is computed on one then fits into 2 GB."""
SHARED = 1024
"""Pixels along a side up to which the coordinates of all pixels are kept, shared by all who ask."""
BLOCK = 1 << 20
"""Pixels of which a grid is looked at at a time."""


@dataclass(frozen=True)
class Grid(metaclass=CheckedArguments):
    """ny × nx cell centres: row = y, increasing; column = x.

    The centres on [xmin, xmax] are x_j = xmin + (j + 1/2)(xmax - xmin)/nx, and likewise in y.

    nx: columns, from 1 to 4096 (`MAX_SIZE`); 256 is the paper's.
    ny: rows; as many as columns if they are left out.
    bounds: (xmin, xmax, ymin, ymax).
    """

    nx: int = 256
    ny: int = None  # type: ignore[assignment]  # as many as columns
    bounds: Bounds = (-1.0, 1.0, -1.0, 1.0)

    def __post_init__(self) -> None:
        if isinstance(self.ny, Sequence | np.ndarray):
            raise InputError(f"grid ny = {short(self.ny)} must be a number of rows: bounds are given by name, bounds=…")
        bounds = numbers("grid bounds", self.bounds, 4)
        if bounds[0] >= bounds[1] or bounds[2] >= bounds[3]:
            raise InputError(f"grid bounds = {short(bounds)} must be (xmin, xmax, ymin, ymax), each min below its max")
        rows = self.nx if self.ny is None else self.ny
        for name, count in (("nx", self.nx), ("ny", rows)):
            label = "grid size" if self.ny is None else f"grid {name}"
            object.__setattr__(self, name, whole(label, count, 1, MAX_SIZE, f"{__name__}.MAX_SIZE"))
        object.__setattr__(self, "bounds", bounds)

    @classmethod
    def covering(cls, domain: "Domain", size: int = 256) -> "Grid":
        """The grid of square pixels that covers a domain's bounding box, with its center.

        size: pixels along the longer side; as many as it takes along the other one.
        """
        return cls.over(domain.bounds, size)

    @classmethod
    def over(cls, bounds: Bounds, size: int = 256) -> "Grid":
        """The grid of square pixels that covers a box (xmin, xmax, ymin, ymax). size: as for `covering`."""
        size = whole("grid size", size, 1, MAX_SIZE, f"{__name__}.MAX_SIZE")
        xmin, xmax, ymin, ymax = numbers("grid bounds", bounds, 4)
        width, height = xmax - xmin, ymax - ymin
        longer = max(width, height)
        if not (width > 0 and height > 0):
            return cls(size, bounds=bounds)  # which says what is wrong
        step = longer / size
        counts = [max(1, min(size, math.ceil(side / step - 1e-9))) for side in (width, height)]
        x, y = xmin + 0.5 * width, ymin + 0.5 * height
        across, up = (0.5 * longer if count == size else 0.5 * step * count for count in counts)
        return cls(counts[0], counts[1], (x - across, x + across, y - up, y + up))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.ny, self.nx

    @property
    def size(self) -> int:
        """Pixels along a side, for those who know square grids only."""
        if self.nx != self.ny:
            raise InputError(f"the grid has {self.ny} × {self.nx} pixels, and a square one is needed: give one number")
        return self.nx

    @property
    def spacing(self) -> tuple[float, float]:
        """Width and height of a cell."""
        xmin, xmax, ymin, ymax = self.bounds
        return (xmax - xmin) / self.nx, (ymax - ymin) / self.ny

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """For ``imshow(field, origin="lower", extent=grid.extent)``."""
        return self.bounds

    @property
    def x(self) -> np.ndarray:
        """Column centres [nx]."""
        return _centres(self.nx, *self.bounds[:2])

    @property
    def y(self) -> np.ndarray:
        """Row centres [ny]."""
        return _centres(self.ny, *self.bounds[2:])

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of all centres, two arrays [ny, nx] to read only."""
        if max(self.shape) <= SHARED:
            return _points(self)
        return np.broadcast_to(self.x, self.shape), np.broadcast_to(self.y[:, None], self.shape)

    def blocks(self) -> Iterator[slice]:
        """Rows of the grid, some at a time, for what would take much memory if it were done at once."""
        rows = max(1, BLOCK // self.nx)
        return (slice(first, min(first + rows, self.ny)) for first in range(0, self.ny, rows))


def as_grid(grid: Grid | int | None, domain: "Domain") -> Grid:
    """A grid as it is; for a number of pixels along the longer side, 256 if none is given, the one that covers it."""
    if isinstance(grid, Grid):
        return grid
    if grid is None:
        return Grid.covering(domain)
    if isinstance(grid, Integral) and not isinstance(grid, bool):
        return Grid.covering(domain, int(grid))
    raise InputError(f"grid = {short(grid)} must be a Grid, or a number of pixels along a side, such as 256")


@lru_cache(maxsize=4)
def _points(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(grid.x, grid.y)
    x.flags.writeable = y.flags.writeable = False
    return x, y


def _centres(count: int, low: float, high: float) -> np.ndarray:
    return low + (np.arange(count) + 0.5) * ((high - low) / count)
