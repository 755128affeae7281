"""Trefftz projection: the homogeneous solution that fits an estimate best, by weighted least squares.

Noise has no reason to solve an equation, so a fit by a few dozen functions that do removes nearly all of it. How many
is decided by evidence: columns come level by level, and the level with the least χ² + 2 × columns is taken (Akaike,
1974).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.correction.basis import Basis

Array = NDArray[np.float64]
DEGREES = (16, 32, 64)
"""Tried one after the other, while the best level is near the top."""
HOLE_DEGREE = 8
SMOOTHING = 4.0
"""Pixels over which variances are averaged: those of eight walks are themselves noise."""


@dataclass(frozen=True)
class Projection:
    """values, standard_error: at the points. level, columns: what evidence chose. misfit: χ² per point; 1 where the
    basis can explain the estimate."""

    values: Array
    standard_error: Array
    level: int
    columns: int
    misfit: float


def project(values: Array, variance: Array, x: Array, y: Array, basis: Basis) -> Projection:
    """Fit values with known variances at points; without terms around holes, and with them where there are holes."""
    best: tuple[float, Projection] | None = None
    for hole_degree in (-1, HOLE_DEGREE) if basis.holes else (-1,):
        for degree in DEGREES:
            criterion, found = _fit(values, variance, x, y, basis, degree, hole_degree)
            if best is None or criterion < best[0]:
                best = criterion, found
            if found.level <= 0.75 * degree:
                break
    assert best is not None
    return best[1]


def _fit(
    values: Array, variance: Array, x: Array, y: Array, basis: Basis, degree: int, hole_degree: int
) -> tuple[float, Projection]:
    """The fit at the best level, and its criterion."""
    deviation = np.sqrt(variance)
    columns, levels = basis.columns(x, y, degree, hole_degree)
    factor, _ = np.linalg.qr((columns / deviation).T)
    target = values / deviation
    coefficients = factor.T @ target
    ends = np.flatnonzero(np.diff(levels, append=levels[-1] + 1)) + 1  # columns up to every level
    chi2 = float(target @ target) - np.cumsum(coefficients**2)[ends - 1]
    criterion = chi2 + 2 * ends
    chosen = int(np.argmin(criterion))
    kept = int(ends[chosen])
    fitted = deviation * (factor[:, :kept] @ coefficients[:kept])
    error = deviation * np.sqrt(np.einsum("ij,ij->i", factor[:, :kept], factor[:, :kept]))
    misfit = float(chi2[chosen] / max(values.size - kept, 1))
    return float(criterion[chosen]), Projection(fitted, error, int(levels[kept - 1]), kept, misfit)


def smooth_variance(variance: Array, mask: NDArray[np.bool_]) -> Array:
    """Variances averaged over neighbouring pixels of the mask [n, n]; never 0 inside it."""
    from scipy.ndimage import gaussian_filter

    weight = mask.astype(float)
    total, count = (gaussian_filter(part, SMOOTHING, mode="constant") for part in (variance * weight, weight))
    smooth = np.divide(total, count, out=np.zeros_like(total), where=mask)
    return np.where(mask, np.maximum(smooth, 1e-12 * max(float(smooth.max()), 1e-300)), 0.0)
