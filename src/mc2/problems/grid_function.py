"""Functions that are known on a grid only: a measured source, or one that another program computed."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.problems.function import Array, Function

REACH = 3.0
"""Pixels beyond the known ones over which values are continued linearly; further out they stay as they are."""


class GridFunction(Function):
    """Values at the pixel centres of a grid, interpolated by cubic splines.

    values: [n, n], row = y; NaN where nothing is known, as outside a domain. Unknown pixels continue the nearest known
    one with its slope, so that a spline near the edge of what is known is not spoilt.
    """

    def __init__(self, values: ArrayLike, grid: Grid | None = None) -> None:
        try:
            array = np.array(values, float)
        except (TypeError, ValueError):
            raise InputError("values on a grid must be numbers") from None
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise InputError(f"values on a grid must be an array [n, n], not of shape {list(array.shape)}")
        self.grid = grid or Grid(len(array))
        if self.grid.size != len(array):
            raise InputError(
                f"{len(array)} × {len(array)} values do not fit a grid of {self.grid.size} × {self.grid.size}"
            )
        if not np.isfinite(array).any() or np.isinf(array).any():
            raise InputError("values on a grid must be finite, or NaN where unknown, and not unknown everywhere")
        self.values: NDArray[np.float64] = array

    @property
    def program(self) -> None:
        return None

    @property
    def text(self) -> str:
        return f"values on {self.grid.size} × {self.grid.size} pixels"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        from scipy.ndimage import map_coordinates

        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        step_x, step_y = self.grid.spacing
        place = np.stack([(y - self.grid.y[0]) / step_y, (x - self.grid.x[0]) / step_x]).reshape(2, -1)
        found = map_coordinates(self._coefficients, place, order=3, mode="nearest", prefilter=False)
        return np.asarray(found).reshape(x.shape)

    @cached_property
    def _coefficients(self) -> Array:
        """Of the spline."""
        from scipy.ndimage import spline_filter

        return np.asarray(spline_filter(self._filled(), order=3, mode="nearest"))

    def _filled(self) -> Array:
        from scipy.ndimage import distance_transform_edt

        unknown = np.isnan(self.values)
        if not unknown.any():
            return self.values
        index = distance_transform_edt(unknown, return_distances=False, return_indices=True)
        filled = self.values[tuple(index)]
        for axis in (0, 1):
            away = np.indices(filled.shape)[axis] - index[axis]
            far = np.maximum(np.abs(away) / REACH, 1.0)
            filled += _slope(self.values, axis)[tuple(index)] * away / far
        return filled


def _slope(values: Array, axis: int) -> Array:
    """The mean of the differences to known neighbours along an axis; 0 where there are none."""
    ahead = np.diff(values, axis=axis)
    pad = np.full(np.take(values, [0], axis).shape, np.nan)
    pair = np.stack([np.concatenate([pad, ahead], axis), np.concatenate([ahead, pad], axis)])
    known = np.isfinite(pair)
    return np.where(known, pair, 0.0).sum(0) / np.maximum(known.sum(0), 1)
