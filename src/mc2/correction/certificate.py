"""Certificates: the error of a solution, estimated without bias from fresh walks, with confidence intervals.

At a point, fitted field + mean of its residual walks − value is an unbiased estimate of u − value, up to the walks' ε;
its square, less the variance of the mean, is one of the squared error. Both are averaged over points, all together and
in regions.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.correction.averaging import average
from mc2.errors import InputError, short
from mc2.geometry.checks import whole

if TYPE_CHECKING:
    from mc2.correction.solution import Solution

Array = NDArray[np.float64]
INSTANCE = 1 << 40
"""Keys the random numbers of certificates: no other walks use them."""
REGIONS = 3
"""Regions along each side of the solution's bounding box."""


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Region:
    """Where, as (xmin, xmax, ymin, ymax), from how many points, and the error there.

    mean: of u − value, with its sign. rms: the root of the mean square of u − value.
    """

    bounds: tuple[float, float, float, float]
    points: int
    mean: Interval
    rms: Interval


@dataclass(frozen=True)
class Certificate:
    """The error of a solution.

    overall, regions: averages, with confidence intervals. points: [count, 2]. values, standard_error: unbiased
    estimates of u there, and their standard errors. walks: in all.
    """

    overall: Region
    regions: tuple[Region, ...]
    confidence: float
    points: Array
    values: Array
    standard_error: Array
    walks: int

    def __str__(self) -> str:
        rows = [("overall", self.overall)]
        for region in self.regions:
            xmin, xmax, ymin, ymax = region.bounds
            rows.append((f"[{xmin:.2f}, {xmax:.2f}] × [{ymin:.2f}, {ymax:.2f}]", region))
        lines = [f"error, root mean square with {self.confidence:.0%} interval, from {self.walks:,} walks"]
        for name, region in rows:
            rms = region.rms
            interval = f"({rms.low:.1e} … {rms.high:.1e})"
            lines.append(f"{name:34} {rms.estimate:.1e} {interval}, {region.points:,} points")
        return "\n".join(lines)


def certify(solution: "Solution", walks: int, points: int | ArrayLike, confidence: float, seed: int) -> Certificate:
    """What `Solution.certify` documents."""
    whole("walks", walks, 2)
    whole("seed", seed, 0)
    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence!r} must lie between 0 and 1, such as 0.95")
    if solution.method == "boundary":
        raise InputError(
            "walks cannot certify this solution: k² is not below half of the first eigenvalue, where their variance is "
            "too large; its error bars come from the misfit on the boundary and the condition of the problem"
        )
    chosen = _places(solution, points, seed)
    x, y = chosen.x, chosen.y
    mean, variance = average(solution.problem, solution.fitted, x, y, walks, solution.options, INSTANCE + seed)
    estimate = solution.fitted(x, y) + mean
    make = _Maker(estimate - chosen.value, variance, chosen.weight, _quantile(confidence))
    bounds = float(x.min()), float(x.max()), float(y.min()), float(y.max())
    return Certificate(
        make.region(np.ones(x.size, bool), bounds),
        tuple(make.region(inside, box) for inside, box in _split(x, y, bounds) if inside.sum() >= 8),
        confidence,
        np.stack([x, y], axis=1),
        estimate,
        np.sqrt(variance),
        walks * x.size,
    )


@dataclass(frozen=True)
class _Places:
    """Coordinates, which float32 can hold, the solution's values there, and what each point stands for.

    weight: pixels, where points were drawn; nothing where they were given.
    """

    x: Array
    y: Array
    value: Array
    weight: Array | None


def _places(solution: "Solution", points: int | ArrayLike, seed: int) -> _Places:
    """Pixels are drawn with replacement, half of them in proportion to the error bars: errors may be concentrated."""
    if isinstance(points, int):
        whole("points", points, 8)
        inside = np.flatnonzero(solution.mask)
        bars = solution.standard_error.ravel()[inside]
        known = np.isfinite(bars).all() and bars.sum() > 0
        share = 0.5 / inside.size + 0.5 * bars / bars.sum() if known else np.full(inside.size, 1 / inside.size)
        random = np.random.default_rng((solution.options.seed, seed))
        drawn = random.choice(inside.size, points, p=share / share.sum())
        x, y = (c.ravel()[inside[drawn]] for c in solution.grid.points())
        return _Places(x, y, solution.values.ravel()[inside[drawn]], 1 / (inside.size * share[drawn]))
    try:
        array = np.asarray(points, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise InputError(f"points = {short(points)} must be a number of points, or an array [count, 2]")
    x, y = array.T.astype(np.float32).astype(float)
    return _Places(x, y, solution(x, y), None)


@dataclass(frozen=True)
class _Maker:
    """error, variance: at points. weight: of each, where they were drawn at random. quantile: of the intervals."""

    error: Array
    variance: Array
    weight: Array | None
    quantile: float

    def region(self, inside: NDArray[np.bool_], bounds: tuple[float, float, float, float]) -> Region:
        error, variance = self.error[inside], self.variance[inside]
        weight = None if self.weight is None else self.weight[inside]
        square = error**2 - variance
        # the square of a normal estimate of e has the variance 4 e² v + 2 v²
        noise = 4 * np.maximum(square, 0) * variance + 2 * variance**2
        mean = self._interval(error, variance, weight)
        low, middle, high = (float(np.sqrt(max(end, 0.0))) for end in self._interval(square, noise, weight))
        return Region(bounds, len(error), Interval(mean[1], mean[0], mean[2]), Interval(middle, low, high))

    def _interval(self, values: Array, variance: Array, weight: Array | None) -> tuple[float, float, float]:
        """Low, mean and high: over points drawn their spread tells, at given ones only the walks' noise counts."""
        if weight is None:
            mean, error = float(values.mean()), float(np.sqrt(variance.sum())) / len(values)
        else:
            mean = float(np.average(values, weights=weight))
            error = float(np.linalg.norm(weight * (values - mean)) / weight.sum())
        return mean - self.quantile * error, mean, mean + self.quantile * error


def _quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * confidence))


def _split(
    x: Array, y: Array, bounds: tuple[float, float, float, float]
) -> list[tuple[NDArray[np.bool_], tuple[float, float, float, float]]]:
    """Equal boxes, and which points lie in each."""
    columns = np.linspace(bounds[0], bounds[1], REGIONS + 1)
    rows = np.linspace(bounds[2], bounds[3], REGIONS + 1)
    column = np.clip(np.searchsorted(columns, x, side="right") - 1, 0, REGIONS - 1)
    row = np.clip(np.searchsorted(rows, y, side="right") - 1, 0, REGIONS - 1)
    return [
        ((column == i) & (row == j), (columns[i], columns[i + 1], rows[j], rows[j + 1]))
        for j in range(REGIONS)
        for i in range(REGIONS)
    ]
