"""`solve`: from a problem to its solution, with error bars."""

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.correction.averaging import Averaging, average, make_averaging
from mc2.correction.boundary import fit_boundary
from mc2.correction.correctors import find_corrector
from mc2.correction.resonance import answer_from_boundary
from mc2.correction.rounds import Round, Rounds, rms
from mc2.correction.solution import Solution
from mc2.errors import InputError, short, unknown
from mc2.geometry import Grid
from mc2.geometry.checks import positive, whole
from mc2.problems import Problem
from mc2.walks import estimate
from mc2.walks.engine import Options
from mc2.walks.plan import can_walk
from mc2.walks.tasks import Progress

Array = NDArray[np.float64]
PER_ROUND = 2
"""Walks from every point in a round: the fewest that tell their variance. Many small rounds gain the most."""
MAX_STEPS = 1024
"""Where walks of rounds are cut off, if not said otherwise: they are few, and the last digits count."""
ROUNDING = 1e-13
"""Of the largest boundary value: what is left is rounding then, and there is no use in another round."""
ENOUGH = 1e-9
"""Likewise: what is left is so little that only a tolerance is a reason to average walks at every pixel."""
MOST_WALKS = 64
"""Walks per point after which a tolerance is given up on."""
MOST_AVERAGED = 4096
"""Walks per pixel that are averaged for a tolerance, at most."""
AVERAGING = 1 << 32
"""Keys the random numbers of averaged walks: rounds use small numbers."""
STARTS = ("walks", "boundary")
_prepared: set[str] = set()


def solve(
    problem: Problem,
    walks: int = 8,
    *,
    tolerance: float | None = None,
    corrector: str = "rounds",
    start: str = "walks",
    grid: Grid | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Solution:
    """Solve a problem on a grid.

    walks: from each of about 3,600 points that are fitted; with another corrector than `rounds`, from every pixel.
    tolerance: instead, go on until the standard error, root mean square over the domain, is below it.
    corrector: `rounds` (walk what is left, fit it, repeat), `physics` (fit walks from every pixel once, without the
    boundary data), `none` (the walks' mean), or the name of a network's weights: `mc2` or `mc2-unet`.
    start: `walks`; or `boundary`, which fits the boundary data first and leaves to the walks what that leaves over: on
    smooth problems the most accurate.
    grid: where; 256 × 256 on [-1, 1]² if not given. progress: called with (walks done, walks in all).
    options: those of `mc2.estimate`, such as seed, epsilon and threads.

    A Helmholtz problem that walks cannot solve, with k² above half the first eigenvalue, is solved by boundary least
    squares alone; the solution's method says so.
    """
    grid, chosen = grid or Grid(), Options(**({"max_steps": MAX_STEPS} | options))
    whole("walks", walks, 1)
    if tolerance is not None:
        positive("tolerance", tolerance)
    if start not in STARTS:
        raise unknown("start", start, STARTS)
    if not isinstance(problem, Problem):
        raise InputError(f"problem = {short(problem)}: must be a problem, such as mc2.Poisson(...)")
    if corrector != "rounds":
        if tolerance is not None:
            raise InputError("a tolerance needs the corrector 'rounds': the others correct a given number of walks")
        correct = find_corrector(corrector).correct
        return correct(estimate(problem, walks, grid=grid, progress=progress, **options), problem)
    if chosen.estimator != "standard":
        raise unknown("estimator of rounds", chosen.estimator, ["standard"])
    if not can_walk(problem):
        with one_thread():
            return _from_boundary(problem, grid, chosen, tolerance)
    if tolerance is None and walks < PER_ROUND:
        raise InputError(f"walks = {walks}: rounds need {PER_ROUND} or more, to know their own error")
    with one_thread():
        _prepare(problem, chosen)
        return _Solver(problem, grid, chosen, progress).run(walks, tolerance, start)


def _prepare(problem: Problem, options: Options) -> None:
    """Compile or load the kernels, once, so that seconds are of solving."""
    if problem.name not in _prepared:
        Rounds(problem, options, points=64).walk(PER_ROUND)
        _prepared.add(problem.name)


def _from_boundary(problem: Problem, grid: Grid, options: Options, tolerance: float | None) -> Solution:
    begin = time.perf_counter()
    mask, fit = problem.mask(grid), fit_boundary(problem, grid)
    answer, values = answer_from_boundary(problem, fit), fit.field.on_grid(grid, mask)
    spent = time.perf_counter() - begin
    step = Round("boundary", 0, 0, fit.scale, fit.error, len(fit.basis.levels), answer.error, True, spent)
    converged = _met(tolerance, answer.error, 0)
    return Solution(problem, grid, mask, values, "boundary", (step,), 0, spent, answer, fit.field, options, converged)


def _met(tolerance: float | None, error: float, walks: int) -> bool:
    """Whether the tolerance is met; if not, there is a warning."""
    if tolerance is None or error <= tolerance:
        return True
    warnings.warn(
        f"the standard error is {error:.2g}, above the tolerance {tolerance:g}: no basis fits this problem better, and "
        f"{walks:,} walks were spent; take the error bars as they are",
        stacklevel=5,
    )
    return False


class _Solver:
    """The state of a solve by rounds."""

    def __init__(self, problem: Problem, grid: Grid, options: Options, progress: Progress | None) -> None:
        self.begin = time.perf_counter()
        self.problem, self.grid, self.options = problem, grid, options
        self.mask = problem.mask(grid)
        self.progress = progress
        self.rounds = Rounds(problem, options, grid)
        self.averaging: Averaging | None = None
        self.added: Array | None = None

    def run(self, walks: int, tolerance: float | None, start: str) -> Solution:
        """Rounds while they help, then boundary least squares if it does, then averages at the pixels."""
        rounds, budget = self.rounds, MOST_WALKS if tolerance else walks
        left, untried = budget, True
        if start == "boundary":
            rounds.fit_boundary(PER_ROUND)
            left, untried = left - PER_ROUND, False
        while left >= PER_ROUND and rounds.error > (tolerance or 0.0):
            count = left if left < 2 * PER_ROUND else PER_ROUND
            if untried and rounds.slow:
                rounds.fit_boundary(count)
                untried = False
            elif rounds.helped:
                rounds.walk(count)
            else:
                break
            left -= count
            if self.progress:
                self.progress(budget - left, budget)
            if rounds.history[-1].after <= ROUNDING * self.scale:
                break
        if not rounds.helped:
            self._average(left, tolerance)
        return self._finish(tolerance)

    @property
    def scale(self) -> float:
        return max(step.before for step in self.rounds.history)

    def _average(self, left: int, tolerance: float | None) -> None:
        """Walk from every pixel with what is left of the budget, or as much as the tolerance needs."""
        rounds, last = self.rounds, self.rounds.history[-1]
        spread = last.after if last.kept else last.before
        enough = spread <= ENOUGH * self.scale if tolerance is None else rounds.error <= tolerance
        if enough:
            return
        if tolerance is not None:
            left = int(np.clip(np.ceil((1.1 * spread / tolerance) ** 2), PER_ROUND, MOST_AVERAGED))
        if left < PER_ROUND:
            return
        begin, problem, field = time.perf_counter(), self.problem, rounds.field
        x, y = (c[self.mask] for c in self.grid.points())
        mean, variance = average(problem, field, x, y, left, self.options, AVERAGING, self.progress)
        self.averaging = make_averaging(
            problem, field, mean, variance, problem.domain.distance(x, y),
            walks=left, options=self.options, instance=AVERAGING,
        )  # fmt: skip
        self.added = self.averaging.share(x, y) * mean
        error = rms(self.averaging.standard_error(x, y))
        noise = np.sqrt(mean**2 + (left - 1) * variance)
        spent = time.perf_counter() - begin
        rounds.history.append(Round("pixels", x.size, left, rms(noise), rms(noise), 0, error, True, spent))

    def _finish(self, tolerance: float | None) -> Solution:
        rounds = self.rounds
        values = rounds.field.on_grid(self.grid, self.mask)
        if self.added is not None:
            values[self.mask] += self.added
        if rounds.truncated > 1e-3 * rounds.walks:
            warnings.warn(
                f"{rounds.truncated:,} of {rounds.walks:,} walks ran out of steps and are biased: raise max_steps",
                stacklevel=4,
            )
        converged = _met(tolerance, rounds.error, rounds.walks)
        seconds = time.perf_counter() - self.begin
        return Solution(
            self.problem, self.grid, self.mask, values, "rounds", tuple(rounds.history), rounds.walks, seconds,
            _ByRounds(rounds, self.averaging), rounds.field, self.options, converged,
        )  # fmt: skip


class _ByRounds:
    """The answer of rounds: the fitted field, and what walks add to it where they were averaged."""

    def __init__(self, rounds: Rounds, averaging: Averaging | None) -> None:
        self.rounds, self.averaging = rounds, averaging

    def values(self, x: Array, y: Array) -> Array:
        values = self.rounds.field(x, y)
        return values if self.averaging is None else values + self.averaging.values(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        if self.averaging is None:
            return self.rounds.standard_error(x, y)
        return np.hypot(self.averaging.standard_error(x, y), self.rounds.rounding)
