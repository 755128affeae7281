"""The evaluation grid: cell centres of a square array of pixels."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from mc2.checks import numbers, whole
from mc2.errors import InputError, short

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

MAX_SIZE = 4096
"""Pixels along a side of a grid: all that is computed on one then fits into 2 GB."""
SHARED = 1024
"""Pixels along a side up to which the coordinates of all pixels are kept, shared by all who ask."""
BLOCK = 1 << 20
"""Pixels of which a grid is looked at at a time."""


@dataclass(frozen=True)
class Grid:
    """n × n cell centres: row = y, increasing; column = x.

    The centres on [xmin, xmax] are x_j = xmin + (j + 1/2)(xmax - xmin)/n, and likewise in y.

    size: n, from 1 to 4096 (`MAX_SIZE`); 256 is the paper's.
    bounds: (xmin, xmax, ymin, ymax).
    """

    size: int = 256
    bounds: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)

    def __post_init__(self) -> None:
        bounds = numbers("grid bounds", self.bounds, 4)
        if bounds[0] >= bounds[1] or bounds[2] >= bounds[3]:
            raise InputError(f"grid bounds = {short(bounds)} must be (xmin, xmax, ymin, ymax), each min below its max")
        object.__setattr__(self, "size", whole("grid size", self.size, 1, MAX_SIZE, f"{__name__}.MAX_SIZE"))
        object.__setattr__(self, "bounds", bounds)

    @classmethod
    def covering(cls, domain: "Domain", size: int = 256) -> "Grid":
        """The grid of square pixels around a domain: a square with the center of its bounding box, and its size."""
        xmin, xmax, ymin, ymax = domain.bounds
        x, y, half = xmin + 0.5 * (xmax - xmin), ymin + 0.5 * (ymax - ymin), 0.5 * domain.size
        return cls(size, (x - half, x + half, y - half, y + half))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.size, self.size

    @property
    def spacing(self) -> tuple[float, float]:
        """Width and height of a cell."""
        xmin, xmax, ymin, ymax = self.bounds
        return (xmax - xmin) / self.size, (ymax - ymin) / self.size

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """For ``imshow(field, origin="lower", extent=grid.extent)``."""
        return self.bounds

    @property
    def x(self) -> np.ndarray:
        """Column centres [n]."""
        return _centres(self.size, *self.bounds[:2])

    @property
    def y(self) -> np.ndarray:
        """Row centres [n]."""
        return _centres(self.size, *self.bounds[2:])

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of all centres, two arrays [n, n] to read only."""
        if self.size <= SHARED:
            return _points(self)
        return np.broadcast_to(self.x, self.shape), np.broadcast_to(self.y[:, None], self.shape)

    def blocks(self) -> Iterator[slice]:
        """Rows of the grid, some at a time, for what would take much memory if it were done at once."""
        rows = max(1, BLOCK // self.size)
        return (slice(first, min(first + rows, self.size)) for first in range(0, self.size, rows))


def as_grid(grid: Grid | int | None, domain: "Domain") -> Grid:
    """A grid as it is; for a number of pixels along a side, 256 if none is given, the grid that covers the domain."""
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
