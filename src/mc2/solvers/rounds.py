"""Rounds: walk what is left over, fit it, subtract it, again (sequential control variates: Gobet and Maire, 2004).

A fitted field satisfies Lu = f, so what it leaves over is again a homogeneous problem, with smaller data g − u: its
walks have smaller noise, by as much as the fit was good, and the error falls by a constant factor a round. Every round
is guarded: the same walks are scored again with the new field, and it is kept only if they then spread less.

Where the lift does not know all of the source, walks that sample what is left of it, f − Lu, judge what is claimed.
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary import BoundaryFit
from mc2.fits.conditions import fit_conditions, has_junctions
from mc2.fits.edge import SEEN, Edge
from mc2.fits.field import (
    Field,
    left_laplacian,
    lifted,
    mean_and_variance,
    residual,
    scores,
    source_residual,
)
from mc2.fits.layer_fit import Report
from mc2.fits.projection import DEGREES, Profile, Projection, project
from mc2.fits.resolution import PROBES
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.ground import POINTS, Ground
from mc2.walks.exits import Exits
from mc2.walks.options import Options

Array = NDArray[np.float64]
HELPED = 0.9
"""A round is kept if the spread of the walks falls at least to this part."""
SLOW = 0.5
"""A round that lowers it to no less than this part tells that the basis is about to fail."""
ROUNDING = 1e-15
"""No error bar is below this part of the largest value that is added up."""
JUDGED = 256
"""Points at which error bars are computed to tell how large they are."""
CONTRADICTED = 1.5
"""Believe the error that the walks see if its square exceeds this times the claimed one, beyond their noise."""
BETTER = 0.3
"""Part of an accuracy that the misfit of a boundary fit may have: walks then need not be many to see that it is met."""
LIFTED = 1e7
"""Times rounding that an accuracy must be for the lift that rounds begin with to do for a boundary fit."""
SOURCE = 1 << 33
"""Keys the random numbers of walks that judge the source: rounds use small numbers."""


@dataclass(frozen=True)
class Round:
    """One step of a solution.

    kind: `lift` for the source, `walks` for a fit of walks, `boundary` for boundary least squares, `judge` for walks
    that no fit has seen, `source` for walks that judge what the lift has left over, `pixels` for walks that are
    averaged at every pixel.
    points, walks: how many, and how many from each.
    before, after: root mean square of the walks' scores, without and with what the step added; for a lift, of the
    source at random points and of what is left of it there.
    functions: fitted; for a lift, lattice points along a side.
    error: the standard error that it leaves, root mean square over the points.
    kept: whether it helped; for a lift, whether nothing is left of the source; for `source`, whether walks agree.
    """

    kind: str
    points: int
    walks: int
    before: float
    after: float
    functions: int
    error: float
    kept: bool
    seconds: float


class Rounds:
    """A field that gets better round by round.

    options: of the walks.
    grid: where the field will be wanted.
    points: how many are fitted.
    accuracy: of the lift, where the source is rough, and of boundary fits.
    ground: what it has in common with other problems' rounds.
    """

    def __init__(
        self,
        problem: Problem,
        options: Options,
        grid: Grid | None = None,
        points: int = POINTS,
        accuracy: float | None = None,
        ground: Ground | None = None,
    ) -> None:
        self.problem, self.options, self.accuracy = problem, options, accuracy
        start = time.perf_counter()
        self.field: Field = lifted(problem, grid, accuracy=accuracy)
        self._lifting = time.perf_counter() - start
        self.fit: Projection | None = None
        self.boundary: BoundaryFit | None = None
        self.doubt: Profile | None = None
        self.source_doubt: float | None = None
        self.history: list[Round] = []
        self.helped, self.slow = True, False
        self.edge = Edge(problem)
        self.hidden = 0.0
        self.common = 0.0
        self.largest = 0.0
        self.truncated = 0
        self.rate = 1e5  # walks per second, with their scores; as measured last
        self.ground = ground or Ground([problem], options, points)
        self.points, self.smoothing = self.ground.points, self.ground.smoothing
        edge, some = problem.domain.sample_boundary(256).T, self.points[:: max(1, len(self.points) // 256)].T
        parts = problem.boundary(*edge), self.field(*edge), self.field(*some)
        self.rounding = ROUNDING * max(float(np.nanmax(np.abs(part), initial=0.0)) for part in parts)
        self.amplification = 1.0

    @property
    def walks(self) -> int:
        """Walks in all."""
        return sum(step.points * step.walks for step in self.history)

    @property
    def error(self) -> float:
        """Root mean square of the standard error."""
        return self.history[-1].error if self.history else np.inf

    @property
    def total_error(self) -> float:
        """Root mean square of the standard error, with all that judges have added."""
        return rms(self.standard_error(*self._judged))

    @property
    def fit_error(self) -> float:
        """The part of it that is not of the source: what more walks or another fit can lower."""
        return float(np.sqrt(max(self.error**2 - rms(self.source_error(*self._judged)) ** 2, 0.0)))

    @property
    def resolved(self) -> bool:
        """Whether what is known of the source can be relied on."""
        return self.field.resolution is None or self.field.resolution.resolved

    def lift_step(self) -> Round | None:
        """What is known of the source, as a step of the history."""
        found, lift = self.field.resolution, self.field.lift
        if found is None or lift is None:
            return None
        error = rms(self.field.error(*self._judged))
        return Round("lift", PROBES, 0, found.scale, found.left, lift.size, error, found.negligible, self._lifting)

    def judge(self, walks: int) -> None:
        """Compare the error bars with walks that no fit has seen."""
        start = time.perf_counter()
        _, left = self._scored(walks)
        self._note("judge", walks, left, left, 0, start)

    def judge_common(self) -> None:
        """Add to error bars what large parts of the domain have in common, after the last step."""
        mean, variance, bars = self._last
        self.common = self._common(mean, variance, float(np.median(bars)))

    def judge_edge(self) -> None:
        """Add to error bars what is left over on the boundary where no walk has met it: at narrow places."""
        self.hidden = self.edge.left(self.field).hidden(self.largest)[1] if self.edge.narrow else 0.0
        if self.boundary is not None and self.boundary.worst > self.largest / SEEN:
            self.hidden = max(self.hidden, (self.amplification * self.boundary.error) ** 2)

    def judge_source(self, walks: int) -> None:
        """Compare what is claimed of the source with walks that sample what the lift has left of it."""
        resolution = self.field.resolution
        assert resolution is not None
        start = time.perf_counter()
        exits = self.ground.exits(walks, SOURCE, sampled=True)
        assert exits.samples is not None
        self.truncated += exits.truncated
        scores = source_residual(self.problem, self.field, exits.samples)
        seen, noise = _excess(*mean_and_variance(scores))
        claimed = rms(self.field.error(*self._judged)) if resolution.resolved else 0.0
        agree = resolution.resolved and seen <= CONTRADICTED * claimed**2 + 3 * noise
        self.source_doubt = None if agree else max(seen, 0.0) + 2 * noise + self.field.unsampled**2
        error, spent = rms(self.standard_error(*self._judged)), time.perf_counter() - start
        self.history.append(Round("source", len(self.points), walks, rms(scores), rms(scores), 0, error, agree, spent))

    def walk(self, walks: int) -> None:
        """A round with fresh walks, two or more from every point."""
        start = time.perf_counter()
        exits, before = self._scored(walks)
        estimates = [before]
        if self.problem.laplacian is not None:
            estimates.append(left_laplacian(self.problem, self.field, exits))
        values, variances = zip(*map(mean_and_variance, estimates), strict=True)
        variances = tuple(map(self.smoothing, variances))
        degrees = [degree for degree in DEGREES if self.fit is None or degree >= self.fit.basis.degree]
        fit = project(np.concatenate(values), np.concatenate(variances), self.ground.sites, self.ground.bases, degrees)
        added = Field(None, ((fit.basis, fit.coefficients),))
        after = before - scores(self.problem, added, exits)
        self.helped = rms(after) <= HELPED * rms(before)
        if self.helped:
            self.field, self.fit, self.boundary = self.field.plus(fit.basis, fit.coefficients), fit, None
        self._note("walks", walks, before, after, fit.columns, start)

    def fit_boundary(self, walks: int, report: Report | None = None) -> None:
        """Boundary least squares instead of what there is, if fresh walks say that it is better.

        report: called with the steps of the fit that are done, and their number at most.
        """
        begin = time.perf_counter()
        exits, before = self._scored(walks)
        # the lift of a rough source is as good as it gets; that of a smooth one is made better where no walks follow
        good = not self.field.exact or (self.accuracy is not None and self.accuracy > LIFTED * self.rounding)
        start = replace(self.field, parts=()) if good and not self.problem.domain.unbounded else None
        found = self._fitted(start, report)
        after = residual(self.problem, found.field, exits)
        self.helped = rms(after) <= HELPED * rms(before)
        if self.edge.narrow:  # walks hardly meet what is to be fitted
            self.helped |= self.edge.left(found.field).rms <= SLOW * self.edge.left(self.field).rms
        if self.helped:
            self.field, self.fit, self.boundary = found.field, None, found
        self._note("boundary", walks, before, after, len(found.basis.levels), begin)

    def _fitted(self, start: Field | None, report: Report | None) -> BoundaryFit:
        """Boundary least squares. start: the lift, if it is good enough. report: see `fit_boundary`."""
        if not has_junctions(self.problem):
            wanted = None if self.accuracy is None else BETTER * self.accuracy
            return self.ground.fit_boundary(self.problem, start, wanted, report)
        found = fit_conditions(self.problem, start=start)
        self.amplification = found.amplification
        return found.fit

    def standard_error(self, x: Array, y: Array) -> Array:
        """What the last fit and the lift say of the error at points, and more where walks contradict them."""
        square = self.rounding**2 + self.hidden + self.common + self.source_error(x, y) ** 2
        if self.fit:
            square += self.fit.standard_error(x, y) ** 2
        if self.doubt:
            square += self.doubt(np.abs(self.problem.domain.distance(x, y)))
        return np.sqrt(square)

    def source_error(self, x: Array, y: Array) -> Array:
        """The part of it that is of the source: what the lift says, or walks, if they contradict it."""
        return self.field.error(x, y) if self.source_doubt is None else np.full(x.size, np.sqrt(self.source_doubt))

    def _scored(self, walks: int) -> tuple[Exits, Array]:
        """Fresh walks, and their scores for what the field leaves over."""
        start = time.perf_counter()
        exits = self._exits(walks)
        scores = residual(self.problem, self.field, exits)
        self.rate = scores.size / (time.perf_counter() - start)
        return exits, scores

    def _exits(self, walks: int) -> Exits:
        found = self.ground.exits(walks, len(self.history) + 1)
        self.truncated += found.truncated
        return found

    def _note(self, kind: str, walks: int, before: Array, after: Array, functions: int, start: float) -> None:
        """Judge what the step has left over, and write it down."""
        if kind != "judge":
            self.slow = rms(after) > SLOW * rms(before)
        left = after if self.helped else before
        self.largest = float(np.abs(left).max())
        self.doubt, self.common = None, 0.0
        bars = self.standard_error(*self._judged)
        claimed = rms(bars)
        mean, variance = mean_and_variance(left)
        self.doubt = self._doubt(mean, variance, claimed)
        self._last = mean, variance, bars
        if kind != "walks":  # what is fitted next may mend it
            self.judge_common()
        error = claimed if self.doubt is None and not self.common else rms(self.standard_error(*self._judged))
        seconds = time.perf_counter() - start
        self.history.append(
            Round(kind, len(self.points), walks, rms(before), rms(after), functions, error, self.helped, seconds)
        )

    @property
    def _judged(self) -> Array:
        """Some of the points [2, n]."""
        return self.points[:: max(1, len(self.points) // JUDGED)].T

    def _doubt(self, mean: Array, variance: Array, claimed: float) -> Profile | None:
        """Compare the fit's error bars with the error that the walks see in it: what to add to their square.

        The error is larger when the basis cannot fit what is left; after a step of little help, nothing is claimed. It
        is then taken to be spread over the domain as the variance of the walks is, and half of it evenly: an error that
        all points have in common does not fall towards the boundary. (That the walks may be those that were fitted does
        not matter: with the fit as control variate they have little of their noise left.)
        """
        seen, noise = _excess(mean, variance)
        if self.fit is not None and not self.slow and seen <= CONTRADICTED * claimed**2 + 2 * noise:
            return None
        share = max(seen - claimed**2, noise) / max(float(variance.mean()), 1e-300)
        return Profile(self.smoothing.bins, 0.5 * share * (variance + variance.mean()))

    @cached_property
    def _blocks(self) -> NDArray[np.intp]:
        """Which of four by four parts of the domain each point lies in."""
        quarters = len(self.points) // 4 * np.arange(1, 4)
        column, row = (np.searchsorted(np.sort(c)[quarters], c) for c in self.points.T)
        return 4 * row + column

    def _common(self, mean: Array, variance: Array, usual: float) -> float:
        """The square of an error that large parts of the domain have in common, if walks see one that is not claimed.

        usual: the error bar of most points. Averages over many points have little noise.
        """
        block = self._blocks
        count = np.maximum(np.bincount(block, minlength=16), 1)
        means, noise = np.bincount(block, mean, 16) / count, np.bincount(block, variance, 16) / count**2
        excess = means**2 - noise
        seen, unsure = float(excess.mean()), float(np.sqrt(np.sum(2 * noise**2 + 4 * means**2 * noise))) / 16
        return seen if seen > CONTRADICTED * usual**2 + 2 * unsure else 0.0


def _excess(mean: Array, variance: Array) -> tuple[float, float]:
    """The mean square of what walks say over points, less their noise; and its standard error."""
    excess = mean**2 - variance
    return float(excess.mean()), float(excess.std()) / np.sqrt(excess.size)


def rms(values: Array) -> float:
    """Root mean square."""
    flat = values.ravel()
    return float(np.sqrt(np.dot(flat, flat) / flat.size))
