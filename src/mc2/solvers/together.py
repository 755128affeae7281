"""`solve_many`: problems that differ in their data alone, such as colours or load cases, at about the cost of one.

Walks do not depend on the data, nor do the functions that are fitted. So every path is walked once and scored for each
problem, and every matrix is factorised once. All that is judged and claimed is each problem's own.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from mc2.checks import checked
from mc2.compute.blas import one_thread
from mc2.fits.field import Field, mean_and_variance, residual
from mc2.fits.fields import fields_on_grid
from mc2.geometry import Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.solvers.averaging import CHUNK
from mc2.solvers.by_rounds import AVERAGING, RoundsCorrector, Solver, check_options, check_walks, prepare
from mc2.solvers.corrector import ROUNDS, Corrector, EstimateCorrector, Goal
from mc2.solvers.correctors import find_corrector
from mc2.solvers.ground import Ground
from mc2.solvers.solution import Solution
from mc2.solvers.solve import solve
from mc2.walks import estimate_many
from mc2.walks.channels import check_channels
from mc2.walks.exits import find_exits
from mc2.walks.options import Options, WalkOptions, in_frame, show_walk_options
from mc2.walks.plan import can_walk
from mc2.walks.schedule import Progress, threads_limited

Array = NDArray[np.float64]


@checked
@show_walk_options
def solve_many(
    problems: Sequence[Problem],
    walks: int = 8,
    *,
    tolerance: float | None = None,
    corrector: Any = ROUNDS,
    start: str = "walks",
    grid: Grid | int | None = None,
    max_seconds: float | None = None,
    max_walks: int | None = None,
    progress: Progress | None = None,
    **walking: Unpack[WalkOptions],
) -> list[Solution]:
    """Solve several problems of the same equation in the same domain, with different data, on one grid.

    Each solution has error bars, a history and a certificate of its own, and is that of `mc2.solve` for the problem
    alone, to the bit where walks were fitted. Where the boundary was fitted it agrees as far as its digits go: the
    functions are those that any of the problems asks for. Walks are common to all, so errors go together.

    problems: a list of them, such as one for each colour, or for each load.
    max_seconds: of all problems together.
    All else is as in `solve`. What is solved without walks (Neumann and Robin conditions, Helmholtz problems above half
    of the first eigenvalue, `trefftz`) is solved one after the other.
    """
    problems = check_channels(problems)
    chosen, goal = find_corrector(corrector), Goal(walks, tolerance, start, max_seconds, max_walks)
    options = Options.of(problems[0], walking, chosen.max_steps)
    grid = as_grid(grid, problems[0].domain)
    problems[0].mask(grid)  # refused in the user's units
    apart = any(problem.reflecting for problem in problems)
    apart = apart or not problems[0].operator.has_trefftz or not can_walk(problems[0])
    if apart or not isinstance(chosen, RoundsCorrector | EstimateCorrector):
        how = asdict(goal) | asdict(options) | {"corrector": corrector, "grid": grid, "progress": progress}
        return [solve(problem, **how) for problem in problems]
    frames = [Frame.of(problem) for problem in problems]
    framed = _in_frames(problems, frames)
    with threads_limited(options.threads):
        solutions = _solve(chosen, framed, frames, goal, grid, options, progress)
    asked = asdict(goal) | asdict(options) | {"corrector": corrector} if isinstance(corrector, str) else None
    return [
        # what the others have shaped cannot be found again from the problem alone
        replace(
            found if frame.trivial else found.outward(problem, grid, frame), asked=None if _is_shaped(found) else asked
        )
        for found, problem, frame in zip(solutions, problems, frames, strict=True)
    ]


def _is_shaped(found: Solution) -> bool:
    """Whether the data of other problems had a say in the functions that a solution is made of."""
    return any(step.kind == "boundary" for step in found.history)


def _in_frames(problems: list[Problem], frames: list[Frame]) -> list[Problem]:
    """Problems in units of ordinary size, all in one domain, so that what is known of it is found once."""
    framed = [frame.problem(problem) for problem, frame in zip(problems, frames, strict=True)]
    for own, problem in zip(framed, problems, strict=True):
        if own is not problem:
            own.domain = framed[0].domain
    return framed


def _solve(
    chosen: Corrector,
    problems: list[Problem],
    frames: list[Frame],
    goal: Goal,
    grid: Grid,
    options: Options,
    progress: Progress | None,
) -> list[Solution]:
    """The solutions in their frames."""
    grid, options = frames[0].grid(grid), in_frame(options, frames[0])
    if isinstance(chosen, EstimateCorrector):
        chosen.check_goal(goal)
        found = estimate_many(problems, goal.walks, grid=grid, **asdict(options), progress=progress)
        return [chosen.correct(own, problem) for own, problem in zip(found, problems, strict=True)]
    options, goals = check_options(options), [goal.scaled(1 / frame.value) for frame in frames]
    check_walks(goal)
    with one_thread():
        prepare(problems[0], options)
        return _Solvers(problems, goals, grid, options, progress).run()


class _Solvers:
    """Solvers of several problems, that take their steps together."""

    def __init__(
        self,
        problems: list[Problem],
        goals: list[Goal],
        grid: Grid,
        options: Options,
        progress: Progress | None,
    ) -> None:
        self.begin, self.grid, self.options, self.progress = time.perf_counter(), grid, options, progress
        self.ground = Ground(problems, options)
        self.mask = problems[0].mask(grid)
        self.solvers = [
            Solver(problem, options, goal, grid, progress, ground=self.ground)
            for problem, goal in zip(problems, goals, strict=True)
        ]

    def run(self) -> list[Solution]:
        """What `Solver.run` does, for all."""
        wanted: dict[int, list[Solver]] = {}
        for number, solver in enumerate(self.solvers, 1):
            solver.begin = self.begin
            solver.share = number / len(self.solvers)  # of the time: what is left of it is for those that follow
            wanted.setdefault(solver.search(), []).append(solver)
        for walks, solvers in wanted.items():
            if walks:
                self._average(walks, solvers)
        self.ground.forget()
        values = fields_on_grid([solver.rounds.field for solver in self.solvers], self.grid, self.mask)
        found = [solver.finish(own) for solver, own in zip(self.solvers, values, strict=True)]
        seconds = (time.perf_counter() - self.begin) / len(found)
        return [replace(solution, seconds=seconds) for solution in found]

    def _average(self, walks: int, solvers: list[Solver]) -> None:
        """Walk from every pixel, once for all of some solvers."""
        for solver in solvers:
            solver.begin_averaging = time.perf_counter()
        x, y = (c[self.mask] for c in self.grid.points())
        problems, fields = [solver.problem for solver in solvers], [solver.rounds.field for solver in solvers]
        found = average_many(problems, fields, x, y, walks, self.options, self.progress)
        for solver, (mean, variance) in zip(solvers, found, strict=True):
            solver.average(x, y, walks, mean, variance)


def average_many(
    problems: list[Problem],
    fields: list[Field],
    x: Array,
    y: Array,
    walks: int,
    options: Options,
    progress: Progress | None = None,
) -> list[tuple[Array, Array]]:
    """Mean and variance, as of `score_walks`, for every problem and field at points inside, from the same walks."""
    means, variances = np.zeros((2, len(problems), x.size))
    step, inside = max(1, CHUNK // walks), np.flatnonzero(problems[0].domain.contains(x, y))
    for first in range(0, inside.size, step):
        part = inside[first : first + step]
        points = np.stack([x[part], y[part]], axis=1)
        exits = find_exits(problems[0], points, walks, options, AVERAGING + first)
        for mean, variance, problem, field in zip(means, variances, problems, fields, strict=True):
            mean[part], variance[part] = mean_and_variance(residual(problem, field, exits))
        if progress:
            progress(min(first + step, inside.size) * walks, inside.size * walks)
    return list(zip(means, variances, strict=True))
