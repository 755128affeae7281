"""Running walks: from a problem, budgets and places to estimates."""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import checked, whole
from mc2.errors import InputError, short, warn
from mc2.geometry import Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.problems.frame import for_float32
from mc2.walks.estimate import Estimate, Record
from mc2.walks.options import MAX_KEY, Options, WalkOptions, in_frame, show_walk_options
from mc2.walks.plan import SAMPLINGS, Plan, make_plan
from mc2.walks.run import Run
from mc2.walks.schedule import Progress, Tally, WalkSums, WalkTask, is_slow, run_tasks
from mc2.walks.start_points import StartPoints

MAX_WALKS = 1 << 31
MAX_POINTS = 1 << 24
"""Points of an estimate, as many as the largest grid has."""
MAX_SUMS = 1 << 25
"""Points times budgets of an estimate: 16 bytes each while they are summed, and as many in the results."""
NO_ENDS = np.empty((4, 0), np.float32), np.empty((4, 0), np.float32)
"""For walks whose ends and source samples nobody asks for."""
LARGEST_VALUE = 1e140
"""Bound of the data's size and its inverse in `estimate`: the variance must be a float64 too."""
_prepared: set[tuple[str, bool, str]] = set()


@checked
@show_walk_options
def estimate(
    problem: Problem,
    walks: int = 8,
    *,
    grid: Grid | int | None = None,
    points: ArrayLike | None = None,
    instance: int = 0,
    first_point: int = 0,
    first_walk: int = 0,
    progress: Progress | None = None,
    **walking: Unpack[WalkOptions],
) -> Estimate:
    """Estimate the solution of a problem by Walk on Spheres.

    walks: per point; 8 gives a noisy picture, 1,000 a fair one: the error falls as 1/√walks.
    grid: where; a number of pixels along a side, 256 if not given, covers the domain.
    points: instead, an array [count, 2] of points of the domain; on its boundary the boundary value is returned.
    seed, instance: key the random numbers, together with the pixel (or first_point + the index) and the walk.
    first_point: see seed.
    first_walk: the number of the first walk from every point, for estimates that are to be added up: those of other
        walks of the same problem. On the CPU.
    epsilon: a walk ends this close to the boundary, as a part of half the domain's size; 1e-4 is small against the
        noise of any practical budget.
    unit: the length that epsilon is a part of, instead of half the domain's size.
    max_steps: where a walk is cut off. If not given, 128, ten times the usual length; 65,536 with Neumann or Robin
        conditions, where walks go on until they meet another part, and with coefficients that vary.
    sampling: of sources: `green`, or `uniform` as in PDEZoo, where no walk is reflected.
    stratify: spread the first directions evenly.
    estimator: `standard`, or `reduced` for PDEZoo's Helmholtz trajectories.
    device: `auto`, `cpu` or `cuda`.
    threads: on the CPU; all cores if not given.
    progress: called with (walks done, walks in all).
    """
    options = Options.of(problem, walking)
    last = whole("first_walk", first_walk, 0, MAX_WALKS - 1) + whole("walks", walks, 1, MAX_WALKS)
    budgets = check_budgets([last])
    return warned(walk(problem, budgets, options, grid, points, instance, first_point, progress, first_walk))[0]


@checked
@show_walk_options
def trajectory(
    problem: Problem,
    budgets: Sequence[int],
    *,
    grid: Grid | int | None = None,
    points: ArrayLike | None = None,
    instance: int = 0,
    first_point: int = 0,
    progress: Progress | None = None,
    **walking: Unpack[WalkOptions],
) -> list[Estimate]:
    """Nested estimates at several budgets from one run: each is made of the first walks of the next.

    budgets: increasing numbers of walks per point.
    All else is as in `estimate`.
    """
    options = Options.of(problem, walking)
    return warned(walk(problem, check_budgets(budgets), options, grid, points, instance, first_point, progress))


def walk(
    problem: Problem,
    budgets: list[int],
    chosen: Options,
    grid: Grid | int | None = None,
    points: ArrayLike | None = None,
    instance: int = 0,
    first_point: int = 0,
    progress: Progress | None = None,
    first_walk: int = 0,
    earlier: Estimate | None = None,
) -> list[Estimate]:
    """What `trajectory` does, without its warnings. Walks are in the problem's frame, whatever its units.

    first_walk: the number of the first one; budgets count those before it.
    earlier: an estimate that there is already, to go on from; budgets count its walks.
    """
    instance = whole("instance", instance, 0, MAX_KEY)
    count = math.prod(as_grid(grid, problem.domain).shape) if points is None else np.size(points) // 2
    check_count(count, budgets)
    frame, plan = frame_and_plan(problem, chosen)
    starts = StartPoints.make(problem, grid, points, whole("first_point", first_point, 0, (1 << 32) - 1), frame)
    own = in_frame(chosen, frame)
    begun = WalkSums.empty(starts.x.size, first_walk) if first_walk else None
    if earlier is not None:
        if plan.digest != earlier.record.problem:
            raise InputError("the estimate is of another problem: more walks of it need the problem that it is of")
        first_walk, begun = earlier.record.first_walk, earlier.need_resumable().sums
    device = choose_device("cpu" if begun is not None and chosen.device == "auto" else chosen.device, plan)
    runner, run = _runner(device, plan), Run(starts, budgets, own, instance, progress, begun)
    if plan.key(device) not in _prepared and starts.x.size:  # load the kernels, so that seconds are of walking
        runner(plan, run.first())
        _prepared.add(plan.key(device))
    start = time.perf_counter()
    if starts.x.size:
        found = runner(plan, run)
    else:  # all points are on the boundary
        found = Tally(np.zeros((0, len(budgets), 2)), np.zeros(3, np.int64), WalkSums.empty(0, budgets[-1]))
    seconds = time.perf_counter() - start
    record = make_record(
        plan, chosen, found.counts, problem=problem, instance=instance, device=device, seconds=seconds,
        first_walk=first_walk, first_point=first_point,
    )  # fmt: skip
    if earlier is not None:
        record = record.with_work_of(earlier.record)
    return [
        starts.finish(
            found.sums[:, index],
            replace(record, walks=budget - first_walk),
            found.last if budget == budgets[-1] else None,
        )
        for index, budget in enumerate(budgets)
    ]


def frame_and_plan(problem: Problem, chosen: Options) -> tuple[Frame, Plan]:
    """The units in which a problem is walked, and the plan of its walks in them."""
    plan, frame = make_plan(problem, chosen.estimator), Frame.of(problem)
    if not 1 / LARGEST_VALUE <= frame.value <= LARGEST_VALUE:
        raise InputError(
            f"the data are of size {frame.value:.0e}, whose square is no float64, so that no variance can be given: "
            "rescale the data, or use mc2.solve"
        )
    framed = for_float32(problem) if frame.trivial else frame.problem(problem)
    # a second plan only now: what is wrong with the problem is said in the user's units
    return frame, plan if framed is problem else make_plan(framed, chosen.estimator)


def make_record(
    plan: Plan,
    chosen: Options,
    counts: NDArray[np.int64],
    *,
    problem: Problem,
    instance: int,
    device: str,
    seconds: float,
    first_walk: int,
    first_point: int,
) -> Record:
    """The record of an estimate, but for its number of walks. problem: in the user's units."""
    return Record(
        walks=1, steps=int(counts[0]), truncated=int(counts[1]), not_finite=int(counts[2]), seed=chosen.seed,
        instance=instance, epsilon=chosen.epsilon, max_steps=chosen.max_steps, estimator=plan.name,
        sampling=chosen.sampling, stratified=chosen.stratify, device=device, seconds=seconds,
        unit=chosen.length_unit(problem.domain), first_walk=first_walk, first_point=first_point, problem=plan.digest,
    )  # fmt: skip


def choose_device(device: str, plan: Plan) -> str:
    """`cpu` or `cuda`: what was asked for, or for `auto` the GPU where there is one and the functions allow it."""
    if device == "cpu":
        return "cpu"
    if plan.problem.operator.varying is not None:
        if device == "cuda":
            raise InputError("device 'cuda' walks no problems with coefficients that vary: use 'cpu' or 'auto'")
        return "cpu"
    from mc2.walks.gpu.launch import can_run, unavailable

    reason = unavailable()
    if device == "cuda" and reason:
        raise InputError(f"device 'cuda' cannot be used: {reason}; use device 'cpu' or 'auto'")
    if device == "cuda" and not can_run(plan):
        raise InputError(
            "device 'cuda' cannot run Python functions that are not formulas, nor data that need float64: write them "
            "with arithmetic, NumPy functions and np.where, in units in which they are of ordinary size, or use "
            "device 'cpu'"
        )
    return "cuda" if not reason and can_run(plan) else "cpu"


def _runner(device: str, plan: Plan) -> Callable[[Plan, Run], Tally]:
    if device == "cuda":
        from mc2.walks.gpu.launch import run_cuda

        return run_cuda
    if plan.problem.reflecting:
        from mc2.walks.stars import run_stars

        return run_stars
    if plan.problem.operator.varying is not None:
        from mc2.walks.tracking import run_tracked

        return run_tracked
    if plan.compiled:
        return run_cpu
    from mc2.walks.cpu.arrays import run_arrays

    return run_arrays


def run_cpu(plan: Plan, run: Run) -> Tally:
    """sums [count, budget, 2] over walks and their squares, and the kernels' counts, from all cores."""
    from mc2.walks.cpu.kernels import walk_task
    from mc2.walks.cpu.lane_kernels import Rules
    from mc2.walks.random_kernels import make_key

    tables, registers = plan.tables()
    stop = np.zeros(1, np.uint8)
    rules = Rules(*rule_values(plan, run.options))
    key, starts = make_key(run.options.seed, run.instance), run.starts

    def work(task: WalkTask, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        counts = np.zeros(3, np.int64)
        walk_task(tables, rules, key, starts.job(task), registers.copy(), sums, counts, *NO_ENDS, stop)
        return counts

    threads = run.options.threads or cores()
    return run_tasks(starts.x.size, run.budgets, work, threads, run.progress, stop, is_slow(tables), run.begun)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rule_values(plan: Plan, options: Options) -> tuple[Any, ...]:
    """The fields of the kernels' `Rules`, in their types."""
    domain = plan.problem.domain
    shell = options.shell(domain)
    if not 2e-7 <= shell / (0.5 * domain.size) <= 0.5:
        raise InputError(
            f"epsilon = {options.epsilon:g} of unit = {options.unit} is {shell / (0.5 * domain.size):.2g} of half the "
            "domain's size: it must lie between 2e-7 and 0.5; leave unit out"
        )
    return (
        plan.family,
        SAMPLINGS.index(options.sampling),
        np.float32(plan.parameter),
        np.float32(shell),
        np.float32(plan.largest),
        np.uint32(options.max_steps),
        options.stratify,
    )


def check_budgets(budgets: Sequence[int]) -> list[int]:
    """Budgets as increasing whole numbers."""
    if isinstance(budgets, str) or not hasattr(budgets, "__len__") or not len(budgets):
        raise InputError(f"budgets = {short(budgets)} must be a list of walks per point, such as [1, 2, 4, 8]")
    checked = [whole("walks", budget, 1, MAX_WALKS) for budget in budgets]
    if sorted(set(checked)) != checked:
        raise InputError(f"budgets = {short(checked)} must increase")
    return checked


def check_count(count: int, budgets: Sequence[int]) -> None:
    """Refuse more points, or more points times budgets, than fit into memory."""
    if count > MAX_POINTS:
        raise InputError(
            f"{count:,} points are more than the {MAX_POINTS:,} of one estimate ({__name__}.MAX_POINTS): take them in "
            "portions, with first_point"
        )
    if count * len(budgets) > MAX_SUMS:
        raise InputError(
            f"{len(budgets)} budgets at {count:,} points are more than the {MAX_SUMS:,} sums of one estimate "
            f"({__name__}.MAX_SUMS): take fewer budgets, or points in portions, with first_point"
        )


def warned(found: list[Estimate]) -> list[Estimate]:
    """Nested estimates, after the user is warned of walks that went wrong."""
    warn_of_walks(found[-1])
    return found


def warn_of_walks(found: Estimate) -> None:
    record, walks = found.record, found.walks * int(found.mask.sum())
    if record.not_finite:
        warn(
            f"{record.not_finite:,} of {walks:,} walks met a source or boundary value that is not finite: the estimate "
            "is not a number where they started"
        )
    if record.truncated > 1e-3 * walks:
        warn(f"{record.truncated:,} of {walks:,} walks ran out of steps and are biased: raise max_steps")
