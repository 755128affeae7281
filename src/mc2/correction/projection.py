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
SMOOTHING = 10.0
"""Pixels over which variances are averaged: those of eight walks are themselves noise."""
BINS = 32
"""Of the distance to the boundary, over which variances have a profile."""


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


def smooth_variance(variance: Array, mask: NDArray[np.bool_], distance: Array) -> Array:
    """Variances [n, n] without their own noise; never 0 inside the mask. distance: to the boundary.

    Variances fall to 0 at the boundary, where pixels tell the most, so they are not simply averaged over neighbours:
    first a profile over the distance is taken out, and only the rest is averaged.
    """
    from scipy.ndimage import gaussian_filter

    profile = _profile(distance[mask], variance[mask])
    rest = np.zeros(mask.shape)
    rest[mask] = variance[mask] / profile
    total, count = (gaussian_filter(part, SMOOTHING, mode="constant") for part in (rest, mask.astype(float)))
    smooth = np.zeros(mask.shape)
    smooth[mask] = profile * total[mask] / count[mask]
    return np.where(mask, np.maximum(smooth, 1e-12 * max(float(smooth.max()), 1e-300)), 0.0)


def _profile(distance: Array, variance: Array) -> Array:
    """The mean variance of points at about the same distance, at every point; by powers of the distance in between."""
    edges = np.unique(np.quantile(distance, np.linspace(0, 1, BINS + 1)))
    place = np.clip(np.searchsorted(edges, distance, side="right") - 1, 0, max(len(edges) - 2, 0))
    count = np.maximum(np.bincount(place), 1)
    middle, mean = (np.bincount(place, values) / count for values in (distance, variance))
    lowest = 1e-12 * max(float(mean.max()), 1e-288)
    log_middle, log_mean = np.log(np.maximum(middle, 1e-9)), np.log(np.maximum(mean, lowest))
    at = np.log(np.maximum(distance, 1e-9))
    profile = np.interp(at, log_middle, log_mean)
    if len(middle) > 1:  # closer than the first bin's middle, the first two bins' power goes on
        power = (log_mean[1] - log_mean[0]) / (log_middle[1] - log_middle[0])
        profile += np.clip(power, 0.0, 2.0) * np.minimum(at - log_middle[0], 0.0)
    return np.exp(profile)
