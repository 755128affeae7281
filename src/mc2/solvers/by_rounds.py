"""`mc2-rounds`, the default: walk what is left over, fit it, repeat, with boundary least squares where it helps."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.errors import InputError, unknown, warn
from mc2.fits.conditions import has_junctions
from mc2.fits.field import Field
from mc2.fits.layer_fit import can_fit_layer
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.solvers.averaging import Averaging, make_averaging, score_walks
from mc2.solvers.by_boundary import BoundaryCorrector, unresolved, warn_of_error
from mc2.solvers.by_collocation import CollocationCorrector
from mc2.solvers.corrector import ROUNDS, Corrector, Goal
from mc2.solvers.ground import Ground
from mc2.solvers.rounds import Round, Rounds, rms
from mc2.solvers.solution import Solution
from mc2.walks.options import Options
from mc2.walks.plan import can_walk
from mc2.walks.schedule import Progress

Array = NDArray[np.float64]
PER_ROUND = 2
"""Walks from every point in a round: the fewest that tell their variance. Many small rounds gain the most."""
ROUNDING = 1e-13
"""Part of the largest score at which what is left is rounding, and there is no use in another round."""
ENOUGH = 1e-9
"""Below 1e-9 of the data, walks are averaged at every pixel only if a tolerance was given."""
FITS = 1e-2
"""Part of the data that may be left, if no tolerance was given, of a fit that is not helped by walks at every pixel."""
MOST_WALKS = 64
"""Walks per point after which a tolerance is given up on."""
AVERAGING = 1 << 32
"""Keys the random numbers of averaged walks: rounds use small numbers."""
JUDGES = 8
"""Walks from every point, seen by no fit, that judge whether a tolerance is met."""
SOURCE_WALKS = 8
"""Walks from every point that judge what a lift has left of the source."""
MANY_CORNERS = 16
"""Sides of a polygon from which on its boundary data are fitted first, unless they have a smooth solution."""
CONTROL_WALKS = 16
"""Walks from each of the points that a control variate is fitted to."""
_prepared: set[str] = set()


@final
class RoundsCorrector(Corrector):
    """Walks of what a fit leaves over are fitted, round by round; walks: per fitted point, of which there are 3,600.

    With Neumann or Robin conditions it begins with boundary least squares. A problem that walks cannot solve is solved
    by these alone: Helmholtz problems, where k² is too large or some part reflects, and those with Neumann conditions
    all around. One whose coefficients vary is solved by collocation.
    """

    name = ROUNDS
    max_steps: ClassVar[int] = 1024  # walks are few, and the last digits count
    reflecting: ClassVar[bool] = True
    varying: ClassVar[bool] = True

    def solve(
        self, problem: Problem, goal: Goal, grid: Grid, options: Options, progress: Progress | None = None
    ) -> Solution:
        options = check_options(options)
        if not problem.operator.has_trefftz:
            return CollocationCorrector().solve(problem, goal, grid, options)
        if not can_walk(problem):
            return BoundaryCorrector().solve(problem, goal, grid, options, progress)
        check_walks(goal)
        with one_thread():
            prepare(problem, options)
            return Solver(problem, options, goal, grid, progress).run()


def check_options(options: Options) -> Options:
    """Options of walks as rounds take them."""
    if options.estimator != "standard":
        raise unknown(f"estimator of {ROUNDS}", options.estimator, ["standard"])
    if options.device == "cuda":
        raise InputError(
            f"{ROUNDS} walks on the CPU: use device 'cpu' or 'auto', or another corrector, such as 'mc2-physics'"
        )
    return replace(options, device="cpu")


def check_walks(goal: Goal) -> None:
    """Refuse fewer walks than rounds need."""
    if goal.tolerance is None and goal.walks < PER_ROUND:
        raise InputError(f"walks = {goal.walks}: rounds need {PER_ROUND} or more, to know their own error")


def find_control(problem: Problem, options: Options, enough: Callable[[Field], float]) -> Field:
    """A field that `solve` would find from few walks, for use as a control variate.

    enough: tells the standard error below which a field need not be fitted any better.
    """
    with one_thread():
        prepare(problem, options)
        solver = Solver(problem, options, Goal(CONTROL_WALKS), enough=enough)
        solver.refine()
    return solver.rounds.field


def prepare(problem: Problem, options: Options) -> None:
    """Compile or load the kernels, once, so that seconds are of solving."""
    name = problem.name + " reflecting" * problem.reflecting
    if name not in _prepared:
        Rounds(problem, options, points=64).walk(PER_ROUND)
        _prepared.add(name)


class Solver:
    """The state of a solve by rounds."""

    def __init__(
        self,
        problem: Problem,
        options: Options,
        goal: Goal,
        grid: Grid | None = None,
        progress: Progress | None = None,
        enough: Callable[[Field], float] = lambda field: 0.0,
        ground: Ground | None = None,
    ) -> None:
        """enough: see `find_control`. ground: what it has in common with other problems that are solved together."""
        self.begin = time.perf_counter()
        self.problem, self.options, self.goal, self.enough = problem, options, goal, enough
        self.grid = grid or Grid.covering(problem.domain, 16)
        self.progress = progress
        self.rounds = Rounds(problem, options, grid, accuracy=goal.tolerance, ground=ground)
        self.averaging: Averaging | None = None
        self.added: Array | None = None
        self.begin_averaging, self.share = 0.0, 1.0
        self.limit, self.told = "", False

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        return self.problem.mask(self.grid)

    def run(self) -> Solution:
        """Rounds while they help, with boundary least squares if it does, then averages at the pixels."""
        walks = self.search()
        if walks:
            self.begin_averaging = time.perf_counter()
            x, y = (c[self.mask] for c in self.grid.points())
            problem, field = self.problem, self.rounds.field
            found = score_walks(problem, field, x, y, walks, self.options, AVERAGING, self.progress)
            self.average(x, y, walks, found.mean, found.variance)
        return self.finish(self.rounds.field.on_grid(self.grid, self.mask))

    def search(self) -> int:
        """Rounds while they help, with boundary least squares if it does; returns the walks to average per pixel."""
        rounds, left = self.rounds, self.refine()
        rounds.judge_edge()
        rounds.judge_common()
        if self.goal.tolerance is not None and rounds.helped and not self._spent():
            rounds.judge(JUDGES)
        if not rounds.field.exact:
            rounds.judge_source(SOURCE_WALKS)
        return 0 if rounds.helped else self._walks_to_average(left)

    def refine(self) -> int:
        """Rounds and boundary least squares, while they help; returns the walks per point that are left."""
        rounds = self.rounds
        budget = MOST_WALKS if self.goal.tolerance else self.goal.walks
        left, untried = budget, True
        if self.goal.start == "boundary" or rounds.edge.narrow or self._cornered or has_junctions(self.problem):
            rounds.fit_boundary(PER_ROUND, self.progress)
            left, untried = left - PER_ROUND, False
        while left >= PER_ROUND and rounds.fit_error > self._worth_fitting:
            if rounds.history and self._spent():  # one round there is, whatever the limits
                break
            count = left if left < 2 * PER_ROUND else PER_ROUND
            if untried and rounds.slow:
                rounds.fit_boundary(count, self.progress)
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
        return left

    @property
    def _cornered(self) -> bool:
        """Whether there are so many corners that a basis around the middle cannot be the answer."""
        problem = self.problem
        return problem.domain.pieces.size >= MANY_CORNERS and can_fit_layer(problem)

    @property
    def _worth_fitting(self) -> float:
        """The error below which no better fit is wanted: the tolerance, less what the source takes of it."""
        tolerance = max(self.goal.tolerance or 0.0, self.enough(self.rounds.field))
        if self.rounds.field.exact:
            return tolerance
        return max(0.7 * tolerance, 0.1 * rms(self.rounds.source_error(*self.rounds.points.T)))

    @property
    def _worth_averaging(self) -> float:
        """The error below which walks at the pixels would not help: the tolerance, or half of the source's error."""
        return max(self.goal.tolerance or 0.0, 0.5 * rms(self.rounds.source_error(*self.rounds.points.T)))

    @property
    def scale(self) -> float:
        return max(step.before for step in self.rounds.history)

    def _spent(self) -> bool:
        """Whether a limit is reached."""
        if self.goal.tolerance is None:
            return False
        if time.perf_counter() - self.begin > self.share * self.goal.seconds:
            self.limit = f"max_seconds = {self.goal.seconds:g}"
        elif self.goal.max_walks is not None and self.rounds.walks >= self.goal.max_walks:
            self.limit = f"max_walks = {self.goal.max_walks:,}"
        return bool(self.limit)

    def _walks_to_average(self, left: int) -> int:
        """Walks from every pixel: what is left of the budget, or as many as the tolerance needs; 0 if none."""
        rounds, tolerance = self.rounds, self.goal.tolerance
        last = next(step for step in reversed(rounds.history) if step.kind != "source")
        spread = last.after if last.kept else last.before
        enough = spread <= ENOUGH * self.scale if tolerance is None else rounds.fit_error <= self._worth_averaging
        if enough:
            return 0
        if tolerance is not None:
            left = self._walks_for(tolerance, spread)
        return left if left >= PER_ROUND else 0

    def average(self, x: Array, y: Array, walks: int, mean: Array, variance: Array) -> None:
        """Take up what walks from every pixel say: their means, and the variances of these."""
        rounds, problem = self.rounds, self.problem
        self.averaging = make_averaging(
            problem, rounds.field, mean, variance, problem.domain.distance(x, y),
            walks=walks, options=self.options, instance=AVERAGING,
        )  # fmt: skip
        self.added = self.averaging.share(x, y) * mean
        error = rms(np.hypot(self.averaging.standard_error(x, y), rounds.source_error(x, y)))
        noise = np.sqrt(mean**2 + (walks - 1) * variance)
        spent = time.perf_counter() - self.begin_averaging
        rounds.history.append(Round("pixels", x.size, walks, rms(noise), rms(noise), 0, error, True, spent))

    def _walks_for(self, tolerance: float, spread: float) -> int:
        """Walks per pixel that a tolerance takes, or as many as the limits allow; says so if they are too few."""
        goal, rounds, pixels = self.goal, self.rounds, int(self.mask.sum())
        needed = max(int(np.ceil((1.1 * spread / tolerance) ** 2)), PER_ROUND)
        seconds = goal.seconds - (time.perf_counter() - self.begin)
        limits = {f"max_seconds = {goal.seconds:g}": seconds * rounds.rate}
        if goal.max_walks is not None:
            limits[f"max_walks = {goal.max_walks:,}"] = goal.max_walks - rounds.walks
        name = min(limits, key=lambda name: limits[name])
        allowed = int(min(max(limits[name], 0) // pixels, 1 << 24))
        if needed <= allowed:
            return needed
        self.limit, self.told = name, True
        warn(
            f"no basis fits this problem: the tolerance {tolerance:g} would take about {needed * pixels:.1e} walks, "
            f"{needed * pixels / rounds.rate:.2g} seconds; {name} allows {allowed * pixels:.1e}"
        )
        return allowed

    def finish(self, values: Array) -> Solution:
        """The solution. values: of the fitted field on the grid."""
        rounds, tolerance = self.rounds, self.goal.tolerance
        if self.added is not None:
            values[self.mask] += self.added
        if rounds.truncated > 1e-3 * rounds.walks:
            warn(f"{rounds.truncated:,} of {rounds.walks:,} walks ran out of steps and are biased: raise max_steps")
        error = 0.0
        if tolerance is not None:
            error = rounds.error if self.averaging is not None else rounds.total_error
        met = self._fits if tolerance is None else error <= tolerance
        if tolerance is not None and not met and not self.told:
            warn_of_error(
                f"the standard error is {error:.2g}, above the tolerance {tolerance:g}, after {rounds.walks:,} "
                f"walks: {self._reason(met)}",
            )
        first = rounds.lift_step()
        return Solution(
            problem=self.problem, grid=self.grid, mask=self.mask, values=values, method=ROUNDS,
            history=(*([first] if first else []), *rounds.history), walks=rounds.walks,
            seconds=time.perf_counter() - self.begin, evaluator=_RoundsEvaluator(rounds, self.averaging),
            fitted=rounds.field, options=self.options, converged=met and rounds.resolved and self._met_by_fresh_walks,
            reason=self._reason(met),
        )  # fmt: skip

    @property
    def _fits(self) -> bool:
        """Whether a basis fits the problem well enough for an answer without a tolerance, or walks were averaged."""
        return self.averaging is not None or self.rounds.total_error <= FITS * self.scale

    @property
    def _met_by_fresh_walks(self) -> bool:
        """Whether a fit was ever met by walks that it had not seen: not if there was a single round."""
        steps = [step.kind for step in self.rounds.history if step.kind != "source"]
        return steps != ["walks"]

    def _reason(self, met: bool) -> str:
        """Why it stopped, and against what it was judged."""
        rounds = self.rounds
        if not rounds.resolved:
            return unresolved(rounds.field)
        judged = "judged by walks"
        if rounds.hidden > 0:
            judged += " and at the boundary, where it is too narrow for them"
        if not rounds.field.exact:
            judged += ", the source by lattices of two resolutions and by walks"
        if self.goal.tolerance is not None and met:
            return f"tolerance met, {judged}"
        if self.limit:
            return f"stopped at {self.limit}, {judged}"
        if self.averaging is not None:
            return f"no basis fits better: walks averaged at every pixel, {judged}"
        if rounds.history and rounds.history[-1].after <= ROUNDING * self.scale:
            return f"rounding reached, {judged}"
        known = rms(rounds.source_error(*rounds.points.T))
        if self.goal.tolerance is not None and known > 0.5 * self.goal.tolerance:
            return f"the source is not resolved to the tolerance, {judged}"
        if self.goal.tolerance is None and not met:
            return f"no basis fits this problem, {judged}"
        if not rounds.helped:
            return f"no basis fits better, {judged}"
        return f"walks spent, {judged}"


class _RoundsEvaluator:
    """Evaluates the solution of rounds: the fitted field, and what walks add to it where they were averaged."""

    def __init__(self, rounds: Rounds, averaging: Averaging | None) -> None:
        self.rounds, self.averaging = rounds, averaging

    def values(self, x: Array, y: Array) -> Array:
        values = self.rounds.field(x, y)
        return values if self.averaging is None else values + self.averaging.values(x, y)

    def standard_error(self, x: Array, y: Array) -> Array:
        if self.averaging is None:
            return self.rounds.standard_error(x, y)
        rest = np.hypot(self.rounds.source_error(x, y), self.rounds.rounding)
        return np.hypot(self.averaging.standard_error(x, y), rest)
