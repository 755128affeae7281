"""Linear least squares of many columns that are nearly dependent."""

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import interruptibly

Array = NDArray[np.float64]
DEPENDENT = 1e-13
"""Singular values below this part of the largest are noise."""


def least_squares(columns: Array, target: Array) -> Array:
    """Coefficients of the columns [column, point] with the least squares, after scaling each to the same size.

    target: [point]; or [target, point], and then so are the coefficients.

    The points are condensed by a QR factorisation first; singular values, which cost more, are those of its factor.
    """
    return np.asarray(interruptibly(_solve_at_once, columns, target))


def _solve_at_once(columns: Array, target: Array) -> Array:
    size = np.linalg.norm(columns, axis=1)
    size = np.where(size > 1e-290, size, 1.0)  # a function that no row sees stays out
    count = len(columns)
    factor: Array = np.linalg.qr(np.column_stack([(columns / size[:, None]).T, target.T]), mode="r")  # type: ignore[assignment]
    right = factor[:count, count] if target.ndim == 1 else factor[:count, count:]
    found, *_ = np.linalg.lstsq(factor[:count, :count], right, rcond=DEPENDENT)
    return np.asarray(found.T / size)
