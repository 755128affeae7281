"""The evaluation grid: cell centres of a square array of pixels."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mc2.errors import InputError, short
from mc2.geometry.checks import numbers, whole

MAX_SIZE = 16384


@dataclass(frozen=True)
class Grid:
    """n × n cell centres: row = y, increasing; column = x.

    The centres on [xmin, xmax] are x_j = xmin + (j + 1/2)(xmax - xmin)/n, and likewise in y.

    size: n, from 1 to 16384; 256 is the paper's.
    bounds: (xmin, xmax, ymin, ymax).
    """

    size: int = 256
    bounds: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)

    def __post_init__(self) -> None:
        bounds = numbers("grid bounds", self.bounds, 4)
        if bounds[0] >= bounds[1] or bounds[2] >= bounds[3]:
            raise InputError(f"grid bounds = {short(bounds)} must be (xmin, xmax, ymin, ymax), each min below its max")
        object.__setattr__(self, "size", whole("grid size", self.size, 1, MAX_SIZE))
        object.__setattr__(self, "bounds", bounds)

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
        """Coordinates of all centres, two arrays [n, n], shared by all who ask."""
        return _points(self)


@lru_cache(maxsize=4)
def _points(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(grid.x, grid.y)
    x.flags.writeable = y.flags.writeable = False
    return x, y


def _centres(count: int, low: float, high: float) -> np.ndarray:
    return low + (np.arange(count) + 0.5) * ((high - low) / count)
