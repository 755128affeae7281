"""`solve`: from a problem to its solution, with error bars."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from mc2.checks import checked
from mc2.errors import InputError, short
from mc2.geometry import Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.problems.operator import need_constant
from mc2.problems.problem import need_dirichlet
from mc2.solvers.corrector import ROUNDS, Corrector, Goal, Observed
from mc2.solvers.correctors import find_corrector
from mc2.solvers.solution import Solution
from mc2.walks.options import Options, WalkOptions, in_frame, show_walk_options
from mc2.walks.schedule import Progress, threads_limited


@checked
@show_walk_options
def solve(
    problem: Problem,
    walks: int = 8,
    *,
    tolerance: float | None = None,
    corrector: str | Path | Corrector | Callable[[Observed], NDArray[np.floating]] = ROUNDS,
    start: str = "walks",
    grid: Grid | int | None = None,
    max_seconds: float | None = None,
    max_walks: int | None = None,
    progress: Progress | None = None,
    **walking: Unpack[WalkOptions],
) -> Solution:
    """Solve a problem on a grid.

    walks: from each of about 3,600 points that are fitted; with another corrector than `mc2-rounds`, from every pixel.
    tolerance: instead, go on until the standard error, root mean square over the domain, is below it.
    corrector: how, by a name: `mc2-rounds` (walk what is left, fit it, repeat), `mc2-physics` (fit walks from every
        pixel once, without the boundary data), `wos` (the walks' mean), `trefftz` (fit the boundary data, no walks),
        `collocation` (fit the equation and its data, no walks), or a network's (`mc2`, `mc2-unet`, `sunet-compact`).
        Or the path of a network's weights; or a `Corrector` or a function of your own, see `mc2.solvers`.
    start: of `mc2-rounds`: `walks`; or `boundary`, which fits the boundary data first and leaves to the walks what
        that leaves over: on smooth problems the most accurate.
    grid: where; a number of pixels along a side, 256 if not given, covers the domain.
    max_seconds, max_walks: at which a tolerance is given up on, after one round at least; 20 seconds if neither is
        given. What it would take is said before they are spent.
    seed, epsilon, unit, sampling, stratify, estimator, device, threads: of the walks, as of `mc2.estimate`.
    max_steps: where a walk is cut off; if not given, 1,024 in rounds, else 128, and 65,536 where some part reflects.
    progress: called with (done, in all): of walks, or of the steps of a fit; each begins anew.

    A problem that walks cannot solve is solved by boundary least squares alone, and the solution's method says so:
    Helmholtz problems with k² above half the first eigenvalue, or with Neumann or Robin conditions, and problems with
    Neumann conditions all around. One with coefficients that vary is solved by collocation, and its method says so too.
    """
    if not isinstance(problem, Problem):
        several = "; for several at once, use mc2.solve_many" if isinstance(problem, list | tuple) else ""
        raise InputError(f"problem = {short(problem)}: must be a problem, such as mc2.Poisson(...){several}")
    goal = Goal(walks, tolerance, start, max_seconds, max_walks)
    chosen = find_corrector(corrector)
    if not chosen.reflecting:
        need_dirichlet(problem, f"solutions by {chosen.name!r}")
    if not chosen.varying:
        need_constant(problem.operator, f"solutions by {chosen.name!r}")
    options = Options.of(problem, walking, chosen.max_steps)
    grid, frame = as_grid(grid, problem.domain), Frame.of(problem)
    if not frame.trivial:
        problem.mask(grid)  # refused in the user's units
    with threads_limited(options.threads):
        framed, own = frame.problem(problem), in_frame(options, frame)
        found = chosen.solve(framed, goal.scaled(1 / frame.value), frame.grid(grid), own, progress)
    asked = asdict(goal) | asdict(options) | {"corrector": corrector} if isinstance(corrector, str) else None
    return replace(found if frame.trivial else found.outward(problem, grid, frame), asked=asked)
