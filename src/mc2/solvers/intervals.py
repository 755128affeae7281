"""Confidence intervals for the error of a field: its mean and root mean square, over all of the domain and in boxes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.problems import Frame
from mc2.solvers.averaging import Scores

Array = NDArray[np.float64]
Bounds = tuple[float, float, float, float]
REGIONS = 3
"""Regions along each side of the field's bounding box."""
FEWEST = 8
"""Points from which an interval is made."""
CLEAR = 0.5
"""Part of the estimated error below which no lower end is claimed: mean squares are skewed, and it is hardly seen."""


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

    estimate: float
    low: float
    high: float

    def scaled(self, factor: float) -> "Interval":
        """In other units."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Region:
    """The error in a box.

    bounds: (xmin, xmax, ymin, ymax).
    points: from how many.
    mean: of u − value, with its sign.
    rms: the root of the mean square of u − value.
    """

    bounds: Bounds
    points: int
    mean: Interval
    rms: Interval

    def outward(self, frame: Frame) -> "Region":
        """In the user's units."""
        (xmin, xmax), (ymin, ymax) = frame.outward(self.bounds[:2], self.bounds[2:])
        bounds = float(xmin), float(xmax), float(ymin), float(ymax)
        return Region(bounds, self.points, self.mean.scaled(frame.value), self.rms.scaled(frame.value))


@dataclass(frozen=True)
class Drawn:
    """index: of the points that walks start from [count]. weight: what each stands for, 1 on average; None for all."""

    index: NDArray[np.intp]
    weight: Array | None


@dataclass(frozen=True)
class IntervalMaker:
    """Makes intervals.

    known: φ − v at all points.
    drawn: those that were walked from.
    scores: what walks say there of u − φ.
    quantile: of the intervals.
    floor: no upper end is below.
    hidden: mean and mean square of what walks have not met: see `LeftOver.hidden` and `Field.unsampled`.
    lift_error: standard error of φ at all points for a rough source; 0 where all of it is sampled well.
    """

    known: Array
    drawn: Drawn
    scores: Scores
    quantile: float
    floor: float
    hidden: tuple[float, float]
    lift_error: Array

    def region(self, inside: NDArray[np.bool_], bounds: Bounds) -> Region:
        """inside: which of all points."""
        chosen, share = inside[self.drawn.index], float(inside.mean())
        known, left, variance = self.known[self.drawn.index], self.scores.mean, self.scores.variance
        # an estimate e of variance v has e² of variance 4 e² v + 2 v²
        noise = 4 * np.maximum((known + left) ** 2 - variance, 0) * variance + 2 * variance**2
        mean = self._average(left, variance, chosen, share)
        square = self._average(2 * known * left + left**2 - variance, noise, chosen, share)
        base, base_square = float(self.known[inside].mean()), float(np.mean(self.known[inside] ** 2))
        low, middle, high = (base + end for end in mean)
        least, centre, most = (float(np.sqrt(max(base_square + end, 0.0))) for end in square)
        least = least if least > CLEAR * centre else 0.0
        (lower, shift, higher), reach = self._source(chosen, inside, share)
        reach += float(np.sqrt(self.hidden[1] / share)) + self.floor
        wider = self.hidden[0] / share + self.floor
        # |mean| is at least so much, and the root mean square is never less: that a rough source's noise seems to
        # have moved the mean is no proof that it has
        sure = max(low + min(shift - lower, 0.0) - wider, -(high + max(shift + higher, 0.0) + wider), 0.0)
        low, high = middle - float(np.hypot(middle - low, lower)), middle + float(np.hypot(high - middle, higher))
        low, high = low + shift - wider, high + shift + wider
        middle = float(np.clip(middle, low, high))  # without the noise of a rough source, as long as that is possible
        centre = max(centre, abs(middle))
        rms = Interval(centre, max(least - reach, sure, 0.0), max(most + reach, centre))
        return Region(bounds, int(chosen.sum()), Interval(middle, low, high), rms)

    def _average(
        self, values: Array, variance: Array, chosen: NDArray[np.bool_], share: float
    ) -> tuple[float, float, float]:
        """Low, mean and high of the average: over points drawn their spread tells, over all only the walks' noise."""
        if self.drawn.weight is None:
            count = int(chosen.sum())
            mean, error = float(values[chosen].mean()), float(np.sqrt(variance[chosen].sum())) / count
            return mean - self.quantile * error, mean, mean + self.quantile * error
        return _skewed(self.drawn.weight * chosen * values / share, self.quantile)

    def _source(
        self, chosen: NDArray[np.bool_], inside: NDArray[np.bool_], share: float
    ) -> tuple[tuple[float, float, float], float]:
        """What is left of the source does to the mean, and may do to the root mean square at most.

        Of the mean: how far the interval reaches down and up from what walks say, and between them what they say. Where
        the source is rough they are noisy, so that the root mean square is not added: its interval reaches as far as
        they allow, and as far as the lift itself says.
        """
        if self.scores.source_mean is None or self.scores.source_variance is None:
            return (0.0, 0.0, 0.0), 0.0
        left, variance = self.scores.source_mean, self.scores.source_variance
        low, middle, high = self._average(left, variance, chosen, share)
        weight = chosen / share if self.drawn.weight is None else self.drawn.weight * chosen / share
        # from the variances: where few walks meet the source, the squares themselves hardly spread
        noise = np.sqrt(np.sum(weight**2 * (4 * np.maximum(left**2 - variance, 0) * variance + 2 * variance**2)))
        square = max(float(np.mean(weight * (left**2 - variance))), 0.0) + self.quantile * float(noise) / len(left)
        own = self.quantile * float(np.sqrt(np.mean(self.lift_error[inside] ** 2)))
        ends = float(np.hypot(middle - low, own)), middle, float(np.hypot(high - middle, own))
        return ends, float(np.hypot(np.sqrt(square), own))


def _skewed(values: Array, quantile: float) -> tuple[float, float, float]:
    """Low, mean and high of the mean of values that may be skewed: Hall's transformation of Student's t."""
    mean, spread = float(values.mean()), float(values.std())
    error = spread / np.sqrt(values.size)
    if spread == 0:
        return mean, mean, mean
    skew = float(np.mean(((values - mean) / spread) ** 3)) / np.sqrt(values.size)

    def back(t: float) -> float:
        if abs(skew) < 1e-6:
            return t
        return float(3 / skew * (np.cbrt(1 + skew * (t - skew / 6)) - 1))

    return mean - error * back(quantile), mean, mean - error * back(-quantile)


def quantile_of(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * confidence))


def split_into_boxes(x: Array, y: Array, bounds: Bounds) -> list[tuple[NDArray[np.bool_], Bounds]]:
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
