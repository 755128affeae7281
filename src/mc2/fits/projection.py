"""Trefftz projection: the homogeneous solution that fits an estimate best, by weighted least squares.

Noise has no reason to solve an equation, so a fit by a few dozen functions that do removes nearly all of it. How many
is left to evidence: columns come level by level, and the fits that end at each level are averaged with weights
e^{−criterion/2}, criterion = χ² + `PRICE` × columns (Akaike weights: Akaike, 1978; Buckland et al., 1997). So the error
bars know that the level is not known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.fits.basis import Basis
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]
DEGREES = (24, 40, 64)
"""Tried one after the other, while the best level is near the top."""
PRICE = 3.0
"""What a column must lower χ² by. Akaike's 2 gives error bars that are too wide."""
NEGLIGIBLE = 1e-4
"""Weight below which a level is left out."""
DEPENDENT = 1e-11
"""Part of a column's square norm that must be left after the columns before it; else it tells nothing."""
EXACT = 1e-10
"""No value counts as more certain than this part of the largest one."""
SMOOTHING = 1 / 8
"""Part of a grid's side over which variances are averaged, twice: those of a few walks are themselves noise."""
SMALL = 128
"""Side of a grid up to which they are averaged by products with a matrix, which SciPy's filter is slower than."""
MOST_KEPT = 1 << 26
"""Functions × points whose values are kept; for more, points are taken in portions."""
PORTION = 1 << 16
"""Points of such a portion."""
CELLS = 256
"""Along a side, in which quantities at scattered points are put together."""
BINS = 32
"""Bins of the distance to the boundary, over which variances have a profile."""


class SamplePoints:
    """Points, with the columns of bases there, which are kept for the next fit.

    laplacians: whether Δu is estimated as well; its columns follow those of u.
    """

    def __init__(self, x: Array, y: Array, laplacians: bool = False) -> None:
        self.x, self.y, self.laplacians = x, y, laplacians
        self._kept: dict[Basis, Array] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without what is kept, which is large and made anew when it is asked for."""
        return self.__dict__ | {"_kept": {}}

    def columns(self, basis: Basis) -> Array:
        """In the order of their levels [column, point]."""
        if basis not in self._kept:
            columns = basis.columns(self.x, self.y)
            if self.laplacians:
                columns = np.concatenate([columns, basis.laplacians(self.x, self.y)], axis=1)
            ordered = bool((np.diff(basis.levels) >= 0).all())
            self._kept[basis] = columns if ordered else columns[basis.order]
        return self._kept[basis]

    def products(self, basis: Basis, deviation: Array, target: Array) -> tuple[Array, Array]:
        """Products of all columns with each other and with the target, after division by the deviation."""
        if self.laplacians or len(basis.levels) * self.x.size <= MOST_KEPT:
            parts = in_halves(_products, self.columns(basis), deviation, target)
            products, moments = (first + second for first, second in zip(*parts, strict=True))
            return products, moments
        count = len(basis.levels)
        products, moments = np.zeros((count, count)), np.zeros(count)
        for first in range(0, self.x.size, PORTION):
            part = slice(first, first + PORTION)
            columns = basis.columns(self.x[part], self.y[part])[basis.order]
            more = _products(columns, deviation[part], target[part])
            products, moments = products + more[0], moments + more[1]
        return products, moments


@dataclass(frozen=True)
class Projection:
    """A fitted solution of the homogeneous equation.

    factor, spread: what makes the columns orthonormal under the fit's weights, in the order of their levels, and the
        variances of their coefficients then.
    level: the most likely one.
    misfit: χ² per point; 1 where the basis can explain the estimate.
    """

    basis: Basis
    coefficients: Array
    factor: Array
    spread: Array
    level: int
    misfit: float

    def __call__(self, x: Array, y: Array) -> Array:
        return self.basis.sum(self.coefficients, x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        """The standard error of the fitted values at points."""
        count = len(self.spread)
        if count == 0:
            return np.zeros(x.size)
        inverse = _solve_lower(self.factor[:count, :count], np.eye(count))
        orthonormal = inverse @ self.basis.columns(x, y)[self.basis.order[:count]]
        return np.asarray(np.sqrt(self.spread @ orthonormal**2))

    @cached_property
    def columns(self) -> int:
        """Functions that are in use."""
        return len(self.spread)


def project(
    values: Array,
    variance: Array,
    sites: SamplePoints,
    bases: Sequence[Callable[[int], Basis]],
    degrees: Sequence[int] = DEGREES,
) -> Projection:
    """Fit values with known variances at points, by whichever family of bases the evidence is for.

    bases: each makes the basis of a degree.
    """
    best: tuple[float, Projection] | None = None
    for make in bases:
        for degree in degrees:
            criterion, found = _fit(values, variance, sites, make(degree))
            if best is None or criterion < best[0]:
                best = criterion, found
            if found.level <= 0.75 * degree:
                break
    assert best is not None
    return best[1]


def _fit(values: Array, variance: Array, sites: SamplePoints, basis: Basis) -> tuple[float, Projection]:
    """The averaged fit, and the criterion of its best level.

    Columns are orthogonalised by a Cholesky factor of their products. That loses columns that nearly depend on those
    before them, about which an estimate with noise could not say anything either.
    """
    from scipy.linalg.lapack import dpotrf

    deviation = np.maximum(np.sqrt(variance), EXACT * max(float(np.abs(values).max()), 1e-100))
    target = values / deviation
    products, moments = sites.products(basis, deviation, target)
    factor, failed = dpotrf(products, lower=1, clean=1)
    usable = failed - 1 if failed else len(products)
    dependent = np.flatnonzero(np.diag(factor)[:usable] ** 2 < DEPENDENT * np.diag(products)[:usable])
    usable = int(dependent[0]) if dependent.size else usable
    levels = basis.levels[basis.order]
    ends = np.flatnonzero(np.diff(levels, append=levels[-1] + 1)) + 1  # columns up to every level
    ends = np.concatenate([[0], ends[ends <= usable]])  # no column at all is a fit too
    usable = int(ends[-1])
    coefficients = np.zeros(0)
    if usable:
        coefficients = _solve_lower(factor[:usable, :usable], moments[:usable])
    chi2 = float(target @ target) - np.concatenate([[0.0], np.cumsum(coefficients**2)])[ends]
    criterion = chi2 + PRICE * ends
    weights = np.exp(-0.5 * (criterion - criterion.min()))
    reach = np.cumsum(weights[::-1])[::-1] / weights.sum()  # that at least so many levels are in
    share = np.repeat(reach[1:], np.diff(ends))
    share = share[share > NEGLIGIBLE]
    count, best = len(share), int(np.argmin(criterion))
    own = coefficients[:count]
    found = np.zeros(len(levels))
    if count:
        found[basis.order[:count]] = _solve_lower(factor[:count, :count], share * own, transposed=True)
    spread = share + np.maximum(share * (1 - share), 0.0) * own**2  # a share may be above 1 by rounding
    rounding = 1e-12 * float(target @ target)  # of a difference of large numbers, where walks have no noise
    misfit = max(float(chi2[best]) - rounding, 0.0) / max(values.size - int(ends[best]), 1)
    level = int(levels[ends[best] - 1]) if ends[best] else 0
    return float(criterion[best]), Projection(basis, found, factor, spread, level, misfit)


def _products(columns: Array, deviation: Array, target: Array) -> tuple[Array, Array]:
    """Products of weighted columns with each other, and with a target."""
    weighted = columns * (1 / deviation)
    return weighted @ weighted.T, weighted @ target


def _solve_lower(factor: Array, right: Array, transposed: bool = False) -> Array:
    """x with factor x = right, or factorᵀ x = right, for a lower triangular factor.

    LAPACK's routine itself: SciPy's checks around it take longer than these small systems.
    """
    from scipy.linalg.lapack import dtrtrs

    found, failed = dtrtrs(factor, right, lower=1, trans=int(transposed))
    if failed:
        raise np.linalg.LinAlgError(f"the triangular factor of a fit is singular at {failed}")
    return np.asarray(found)


class Smoothing:
    """Takes their own noise out of variances.

    mask: where they are known [ny, nx].
    distance: to the boundary.
    """

    def __init__(self, mask: NDArray[np.bool_], distance: Array) -> None:
        self.mask, self.bins = mask, Bins(distance[mask])
        self.count = self._spread(mask.astype(float))[mask]

    def __call__(self, variance: Array) -> Array:
        """Smooth variances at the points of the mask, never 0.

        They fall to 0 at the boundary, where points tell the most, so they are not simply averaged over neighbours:
        first a profile over the distance is taken out, and only the rest is averaged.
        """
        profile = Profile(self.bins, variance)(self.bins.distance)
        rest = np.zeros(self.mask.shape)
        rest[self.mask] = variance / profile
        smooth = profile * self._spread(rest)[self.mask] / self.count
        return np.maximum(smooth, 1e-12 * max(float(smooth.max()), 1e-300))

    def _spread(self, field: Array) -> Array:
        from scipy.ndimage import uniform_filter

        size = max(field.shape)
        width = max(3, round(SMOOTHING * size))
        if size <= SMALL:
            down, across = (_moving_average(length, width) for length in field.shape)
            return np.asarray(down @ field @ across.T)
        return uniform_filter(uniform_filter(field, width, mode="constant"), width, mode="constant")


@lru_cache(maxsize=8)
def _moving_average(length: int, width: int) -> Array:
    """The matrix [length, length] of two moving averages, one after the other, with zeros beyond the ends."""
    offset = np.arange(length)[None, :] - np.arange(length)[:, None] + width // 2
    once = ((offset >= 0) & (offset < width)) / width
    return np.asarray(once @ once)


class Scattered(Smoothing):
    """Smoothing for points anywhere, which are put together in cells.

    x, y, distance: of the points.
    """

    def __init__(self, x: Array, y: Array, distance: Array) -> None:
        side = max(float(np.ptp(x)), float(np.ptp(y)), 1e-300) / (CELLS - 1)
        self.column, self.row = (((c - c.min()) / side).astype(int) for c in (x, y))
        self.bins = Bins(distance)
        self.count = self._spread(np.ones(x.size))

    def __call__(self, variance: Array) -> Array:
        profile = Profile(self.bins, variance)(self.bins.distance)
        smooth = profile * self._spread(variance / profile) / self.count
        return np.maximum(smooth, 1e-12 * max(float(smooth.max()), 1e-300))

    def _spread(self, field: Array) -> Array:
        cells = np.zeros((CELLS, CELLS))
        np.add.at(cells, (self.row, self.column), field)
        return super()._spread(cells)[self.row, self.column]


class Bins:
    """Points, sorted by about the same distance."""

    def __init__(self, distance: Array) -> None:
        self.distance = distance
        last = len(distance) - 1
        edges = np.unique(np.interp(np.linspace(0, last, BINS + 1), np.arange(last + 1), np.sort(distance)))
        self.place = np.clip(np.searchsorted(edges, distance, side="right") - 1, 0, max(len(edges) - 2, 0))
        self.count = np.maximum(np.bincount(self.place), 1)

    def mean(self, quantity: Array) -> Array:
        """In every bin."""
        return np.bincount(self.place, quantity) / self.count


class Profile:
    """The mean of a positive quantity over points at about the same distance; by powers of the distance in between."""

    def __init__(self, bins: Bins, quantity: Array) -> None:
        middle, mean = bins.mean(bins.distance), bins.mean(quantity)
        lowest = 1e-12 * max(float(mean.max()), 1e-288)
        self.log_middle, self.log_mean = np.log(np.maximum(middle, 1e-9)), np.log(np.maximum(mean, lowest))

    def __call__(self, distance: Array) -> Array:
        at = np.log(np.maximum(distance, 1e-9))
        profile = np.interp(at, self.log_middle, self.log_mean)
        if len(self.log_middle) > 1:  # closer than the first bin's middle, the first two bins' power goes on
            power = (self.log_mean[1] - self.log_mean[0]) / (self.log_middle[1] - self.log_middle[0])
            profile += np.clip(power, 0.0, 2.0) * np.minimum(at - self.log_middle[0], 0.0)
        return np.asarray(np.exp(profile))
