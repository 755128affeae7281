"""Several right-hand sides at once: problems that differ in their data alone, such as colours or load cases.

Where a walk goes depends on the domain and the equation. So problems that have these in common are walked together:
every path once, with each problem's source sampled along it and each problem's data where it ends. Every estimate is
what the problem's own walks would have given.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import checked, whole
from mc2.compute.compile import LANES
from mc2.errors import InputError, short
from mc2.geometry import Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.walks import engine
from mc2.walks.engine import MAX_WALKS
from mc2.walks.estimate import Estimate
from mc2.walks.options import MAX_KEY, Options, WalkOptions, in_frame, show_walk_options
from mc2.walks.plan import Plan
from mc2.walks.run import Run
from mc2.walks.schedule import Progress, Tally, WalkSums, WalkTask, is_slow, run_tasks
from mc2.walks.start_points import StartPoints

MOST = 1024
"""Problems that are solved together, at most."""
_prepared: set[bool] = set()


def check_channels(problems: object) -> list[Problem]:
    """Problems of the same equation in the same domain, as a list."""
    if not isinstance(problems, Sequence) or not problems or not all(isinstance(p, Problem) for p in problems):
        raise InputError(f"problems = {short(problems)} must be a list of problems, such as [mc2.Laplace(...), ...]")
    if len(problems) > MOST:
        raise InputError(
            f"{len(problems)} problems are more than the {MOST} that are solved together: take some at a time"
        )
    first: Problem = problems[0]
    for number, problem in enumerate(problems[1:], 1):
        if type(problem) is not type(first) or problem.operator != first.operator:
            raise InputError(
                f"problems that are solved together must have the same equation: problems[{number}] is "
                f"{_described(problem)}, problems[0] {_described(first)}"
            )
        if not same_domain(problem, first):
            raise InputError(
                f"problems that are solved together must have the same domain: that of problems[{number}] is another "
                "than that of problems[0]"
            )
    return list(problems)


def _described(problem: Problem) -> str:
    values = [f"{name} = {getattr(problem, name):g}" for name in problem.parameters]
    if problem.coefficients is not None:
        values += [f"{name} = {short(function.text)}" for name, function in problem.coefficients.functions.items()]
    return " with ".join([problem.name, ", ".join(values)]) if values else problem.name


def same_domain(one: Problem, other: Problem) -> bool:
    """Whether two problems have the same domain, with the same parts of its boundary."""
    mine, theirs = one.domain, other.domain
    return mine is theirs or (
        np.array_equal(mine.program.code, theirs.program.code)
        and np.array_equal(mine.program.constants, theirs.program.constants)
        and mine.parts == theirs.parts
    )


@checked
@show_walk_options
def estimate_many(
    problems: Sequence[Problem],
    walks: int = 8,
    *,
    grid: Grid | int | None = None,
    points: ArrayLike | None = None,
    instance: int = 0,
    first_point: int = 0,
    first_walk: int = 0,
    progress: Progress | None = None,
    **walking: Unpack[WalkOptions],
) -> list[Estimate]:
    """Estimates of several problems from the same walks: of one equation in one domain, with different data.

    Each is what `mc2.estimate` gives for the problem alone, but all of them take little longer than one. As they have
    their walks in common, their errors go together: that of a difference is less than that of two other estimates.

    problems: a list of them, such as one for each colour, or for each load.
    All else is as in `estimate`. On a GPU, or where conditions reflect walks, they are walked one after the other.
    """
    problems = check_channels(problems)
    options = [Options.of(problem, walking) for problem in problems]
    chosen = options[0]
    last = whole("first_walk", first_walk, 0, MAX_WALKS - 1) + whole("walks", walks, 1, MAX_WALKS)
    how: dict[str, Any] = {"grid": grid, "points": points, "instance": instance, "first_point": first_point}
    if problems[0].operator.varying is not None:
        raise InputError("walks of several problems together cannot do coefficients that vary: use mc2.estimate")
    framed = [engine.frame_and_plan(problem, chosen) for problem in problems]
    devices = {engine.choose_device("cpu" if first_walk else chosen.device, plan) for _, plan in framed}
    if devices == {"cuda"} or any(problem.reflecting for problem in problems):
        found = [
            engine.walk(problem, [last], own, **how, first_walk=first_walk)[0]
            for problem, own in zip(problems, options, strict=True)
        ]
    else:
        found = _walk_together(problems, framed, chosen, first_walk, last, how, progress)
    for estimate in found:
        engine.warn_of_walks(estimate)
    return found


def _walk_together(
    problems: list[Problem],
    framed: list[tuple[Frame, Plan]],
    chosen: Options,
    first_walk: int,
    last: int,
    how: dict[str, Any],
    progress: Progress | None,
) -> list[Estimate]:
    """The estimates, from walks on the CPU: one run for data with formulas, one for the others."""
    grid, points, instance = how["grid"], how["points"], whole("instance", how["instance"], 0, MAX_KEY)
    count = math.prod(as_grid(grid, problems[0].domain).shape) if points is None else np.size(points) // 2
    engine.check_count(count * len(problems), [last])
    first_point = whole("first_point", how["first_point"], 0, (1 << 32) - 1)
    starts = StartPoints.make(problems[0], grid, points, first_point, framed[0][0])
    own = in_frame(chosen, framed[0][0])
    found: dict[int, Estimate] = {}
    for compiled in (True, False):
        group = [index for index, (_, plan) in enumerate(framed) if plan.compiled == compiled]
        if not group:
            continue
        plans = [framed[index][1] for index in group]
        if compiled not in _prepared and starts.x.size:  # load the kernels, so that seconds are of walking
            nothing = WalkSums.empty(1, width=2 * len(group))
            _run(compiled, plans, Run(starts.first(), [1], own, begun=nothing))
            _prepared.add(compiled)
        begin = time.perf_counter()
        begun = WalkSums.empty(starts.x.size, first_walk, 2 * len(group))
        tally, missing = _run(compiled, plans, Run(starts, [last], own, instance, progress, begun))
        seconds = (time.perf_counter() - begin) / len(group)
        for place, index in enumerate(group):
            counts = np.append(tally.counts[:2], missing[place])
            record = engine.make_record(
                framed[index][1], chosen, counts, problem=problems[index], instance=instance, device="cpu",
                seconds=seconds, first_walk=first_walk, first_point=first_point,
            )  # fmt: skip
            mine = _starts_of(problems[index], starts, framed[index][0])
            pair = slice(2 * place, 2 * place + 2)
            sums = WalkSums(last, tally.last.whole[:, pair], tally.last.rest[:, pair]) if tally.last else None
            found[index] = mine.finish(tally.sums[:, 0, pair], replace(record, walks=last - first_walk), sums)
    return [found[index] for index in range(len(problems))]


def _run(compiled: bool, plans: list[Plan], run: Run) -> tuple[Tally, NDArray[np.int64]]:
    """The sums of all plans, one behind the other, and how many walks of each met a value that is not finite."""
    if not run.starts.x.size:
        sums = WalkSums.empty(0, run.budgets[-1], 2 * len(plans))
        nothing = Tally(np.zeros((0, 1, 2 * len(plans))), np.zeros(3, np.int64), sums)
        return nothing, np.zeros(len(plans), np.int64)
    if compiled:
        return run_channels(plans, run)
    from mc2.walks.cpu.arrays import run_arrays_many

    return run_arrays_many(plans, run)


def _starts_of(problem: Problem, starts: StartPoints, frame: Frame) -> StartPoints:
    """The same points, with a problem's own units and values on the boundary."""
    if starts.edge is None or starts.points is None:
        return replace(starts, frame=frame)
    x, y = starts.points[starts.edge].T
    return replace(starts, frame=frame, edge_values=problem.boundary(x, y) if x.size else np.zeros(0))


def run_channels(plans: list[Plan], run: Run) -> tuple[Tally, NDArray[np.int64]]:
    """Sums [count, budget, 2·plan] from all cores, and how many walks of every plan met a value that is not finite."""
    from mc2.walks.cpu.channel_kernels import walk_channels
    from mc2.walks.cpu.lane_kernels import Rules, Tables
    from mc2.walks.random_kernels import make_key

    domain, none = plans[0].problem.domain.program, (np.zeros((0, 5), np.int32), np.zeros(1, np.float32))
    tables = Tables(domain.code, domain.constants.astype(np.float32), *none, *none, *none)
    code, constants, spans, registers = _programs(plans)
    stop, rules = np.zeros(1, np.uint8), Rules(*engine.rule_values(plans[0], run.options))
    key, missing = make_key(run.options.seed, run.instance), []
    source_texts = [code[a:b].tobytes() + constants[c:d].tobytes() for a, b, c, d in spans[:, 0].tolist()]
    sources = np.array([source_texts.index(text) for text in source_texts])

    def work(task: WalkTask, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        counts, met = np.zeros(3, np.int64), np.zeros(len(plans), np.int64)
        own = np.ascontiguousarray(sums.reshape(*sums.shape[:2], len(plans), 2).transpose(2, 0, 1, 3))
        walk_channels(
            tables, rules, key, run.starts.job(task), np.zeros((registers, LANES), np.float32), own, counts, met,
            code, constants, spans, sources, stop,
        )  # fmt: skip
        sums[:] = own.transpose(1, 2, 0, 3).reshape(sums.shape)
        missing.append(met)
        return counts

    threads, slow = run.options.threads or engine.cores(), is_slow((tables.domain_code, tables.domain_constants, code))
    tally = run_tasks(run.starts.x.size, run.budgets, work, threads, run.progress, stop, slow, run.begun)
    return tally, np.sum(missing, axis=0)


def _programs(plans: list[Plan]) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64], int]:
    """The programs of all functions one behind the other, where each is, and the registers that they need."""
    from mc2.functions.kernels import SCRATCH

    codes, constants = [np.zeros((0, 5), np.int32)], [np.zeros(1, np.float32)]
    spans, registers = np.zeros((len(plans), 3, 4), np.int64), 3
    for own, plan in zip(spans, plans, strict=True):
        for span, function in zip(own, plan.functions, strict=True):
            program = None if function is None else function.program
            at, number = sum(map(len, codes)), sum(map(len, constants))
            span[:] = at, at, number, number
            if program is not None:
                codes.append(program.code)
                constants.append(program.constants.astype(np.float32))
                span[1::2] = at + len(program.code), number + program.constants.size
                registers = max(registers, program.registers)
    return np.concatenate(codes), np.concatenate(constants), spans, registers + SCRATCH
