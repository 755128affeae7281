"""Functions that are known on a grid only: a measured source, or one that another program computed."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import numbers
from mc2.errors import InputError, short
from mc2.functions.function import Array, Function
from mc2.geometry import Domain, Grid

REACH = 3.0
"""Pixels beyond the known ones over which values are continued linearly; further out they stay as they are."""
COVERED = (0.5, 2.0)
"""Pixels that a domain may reach beyond the array, and beyond what is known in it."""

Bounds = tuple[float, float, float, float]


class GridFunction(Function):
    """Values at the pixel centres of a grid, interpolated by cubic splines.

    values: [rows, columns], row = y increasing; NaN where nothing is known, as outside a domain. Unknown pixels
        continue the nearest known one with its slope, so that a spline near the edge of what is known is not spoilt.
    grid: a `Grid` of as many pixels, or bounds (xmin, xmax, ymin, ymax) of the outer pixels' outer edges; [-1, 1]² if
        neither is given, for which the array must be square.
    """

    def __init__(self, values: ArrayLike, grid: Grid | Bounds | None = None) -> None:
        try:
            array = np.array(values, float)
        except (TypeError, ValueError):
            raise InputError("values on a grid must be numbers") from None
        if array.ndim != 2 or 0 in array.shape or (grid is None and array.shape[0] != array.shape[1]):
            raise InputError(f"values on a grid must be an array [n, n], not of shape {list(array.shape)}")
        if isinstance(grid, Grid) and grid.shape != array.shape:
            raise InputError(f"{len(array)} × {array.shape[1]} values do not fit a grid of {grid.ny} × {grid.nx}")
        if not np.isfinite(array).any() or np.isinf(array).any():
            raise InputError("values on a grid must be finite, or NaN where unknown, and not unknown everywhere")
        self.values: NDArray[np.float64] = array
        bounds = grid.bounds if isinstance(grid, Grid) else grid or Grid(1).bounds
        self.bounds: Bounds = Grid(1, bounds=bounds).bounds
        """(xmin, xmax, ymin, ymax)."""

    @classmethod
    def from_xarray(cls, array: Any) -> "GridFunction":
        """From an `xarray.DataArray` with equidistant coordinates x and y, in either order and direction."""
        dims = tuple(map(str, array.dims))
        if sorted(dims) != ["x", "y"] or any(name not in array.coords for name in dims):
            raise InputError(f"a DataArray must have the dimensions x and y, with coordinates, not {', '.join(dims)}")
        values = np.asarray(array.values)
        values = values if dims == ("y", "x") else values.T
        bounds: list[float] = []
        for name, axis in (("x", 1), ("y", 0)):
            along = np.asarray(array.coords[name].values)
            order = np.argsort(along)
            bounds += _ends(name, along[order])
            values = np.take(values, order, axis)
        return cls(values, (bounds[0], bounds[1], bounds[2], bounds[3]))

    @property
    def grid(self) -> Grid:
        """The grid of the array."""
        rows, columns = self.values.shape
        return Grid(columns, rows, self.bounds)

    @property
    def spacing(self) -> tuple[float, float]:
        """Width and height of a pixel."""
        xmin, xmax, ymin, ymax = self.bounds
        rows, columns = self.values.shape
        return (xmax - xmin) / columns, (ymax - ymin) / rows

    @property
    def text(self) -> str:
        rows, columns = self.values.shape
        return f"values on {columns} × {rows} pixels"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        from scipy.ndimage import map_coordinates

        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        place = self._place(x, y).reshape(2, -1)
        found = map_coordinates(self._coefficients, place, order=3, mode="nearest", prefilter=False)
        return np.asarray(found).reshape(x.shape)

    def covers(self, x: Array, y: Array) -> NDArray[np.bool_]:
        """Whether points lie in the array, and near pixels with known values."""
        from scipy.ndimage import distance_transform_edt

        beyond, unknown = COVERED
        row, column = self._place(x, y)
        rows, columns = self.values.shape
        within = (np.minimum(row, column) >= -0.5 - beyond) & (row <= rows - 0.5 + beyond)
        within &= column <= columns - 0.5 + beyond
        gap = distance_transform_edt(np.isnan(self.values))
        nearest = np.clip(np.rint(row), 0, rows - 1).astype(int), np.clip(np.rint(column), 0, columns - 1).astype(int)
        return np.asarray(within & (gap[nearest] <= unknown))

    def check_cover(self, name: str, domain: Domain, x: Array, y: Array) -> None:
        """Refuse values that do not cover points of a domain; name is what the function is called in messages."""
        missing = np.flatnonzero(~self.covers(x, y))
        if not missing.size:
            return
        here = "({:.4g}, {:.4g}, {:.4g}, {:.4g})"
        rows, columns = self.values.shape
        bounds = "(xmin, xmax, ymin, ymax)"
        raise InputError(
            f"{name}: {self.text} of the box {here.format(*self.bounds)} do not cover the domain in "
            f"{here.format(*domain.bounds)}: nothing is known near ({x[missing[0]]:.4g}, {y[missing[0]]:.4g}); say "
            f"where they lie, as GridFunction(values, Grid({columns}, {rows}, {bounds}))"
        )

    def _place(self, x: Array, y: Array) -> Array:
        """Row and column of points, as real numbers."""
        step_x, step_y = self.spacing
        left, low = self.bounds[0] + 0.5 * step_x, self.bounds[2] + 0.5 * step_y
        return np.stack([(y - low) / step_y, (x - left) / step_x])

    @cached_property
    def _coefficients(self) -> Array:
        """The coefficients of the spline."""
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


def read_bounds(name: str, value: Any) -> Grid | Bounds:
    """A `Grid`, or four numbers as bounds."""
    if isinstance(value, Grid):
        return value
    xmin, xmax, ymin, ymax = numbers(f"{name} bounds", value, 4)
    return xmin, xmax, ymin, ymax


def _ends(name: str, centres: Array) -> list[float]:
    """Where an axis of pixels with these centres begins and ends."""
    if centres.dtype.kind not in "iuf" or len(centres) < 2 or not np.isfinite(centres).all():
        raise InputError(f"a DataArray's coordinate {name} = {short(centres)} must be two or more finite numbers")
    step = (float(centres[-1]) - float(centres[0])) / (len(centres) - 1)
    if step <= 0 or np.abs(np.diff(centres) - step).max() > 1e-3 * step:
        raise InputError(f"a DataArray's coordinate {name} must have equal steps: interpolate it to an even grid first")
    return [float(centres[0]) - 0.5 * step, float(centres[-1]) + 0.5 * step]


def _slope(values: Array, axis: int) -> Array:
    """The mean of the differences to known neighbours along an axis; 0 where there are none."""
    ahead = np.diff(values, axis=axis)
    pad = np.full(np.take(values, [0], axis).shape, np.nan)
    pair = np.stack([np.concatenate([pad, ahead], axis), np.concatenate([ahead, pad], axis)])
    known = np.isfinite(pair)
    return np.where(known, pair, 0.0).sum(0) / np.maximum(known.sum(0), 1)
