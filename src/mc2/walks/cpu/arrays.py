"""Walks for problems with Python functions that cannot be compiled: the functions are called once per step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import LANES
from mc2.walks.engine import rule_values
from mc2.walks.plan import Plan
from mc2.walks.run import Run
from mc2.walks.schedule import Tally, WalkSums, WalkTask, run_tasks
from mc2.walks.start_points import StartPoints

PADDING = -1
"""In place of a walk's number, where a block is only filled up."""


def run_arrays(plan: Plan, run: Run) -> Tally:
    """Walks as those of `run_cpu`, on one thread, where functions are called on whole arrays."""
    tally, missing = run_arrays_many([plan], run)
    return tally._replace(counts=np.append(tally.counts[:2], missing))


def run_arrays_many(plans: Sequence[Plan], run: Run) -> tuple[Tally, NDArray[np.int64]]:
    """The same for problems that differ in their data alone: sums one behind the other [point, budget, 2·problem].

    Second, for every problem, how many walks met a value that is not finite.
    """
    from mc2.walks.cpu.lane_kernels import Rules, Tables
    from mc2.walks.random_kernels import make_key

    domain = plans[0].problem.domain.program
    none = (np.zeros((0, 5), np.int32), np.zeros(1, np.float32))
    tables = Tables(domain.code, domain.constants.astype(np.float32), *none, *none, *none)
    rules = Rules(*rule_values(plans[0], run.options))
    key, starts = make_key(run.options.seed, run.instance), run.starts
    missing = np.zeros(len(plans), np.int64)

    def work(task: WalkTask, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        walks = int(task.marks[-1])
        point = np.repeat(np.arange(task.start, task.stop), walks)
        number = np.tile(np.arange(task.first_walk, task.first_walk + walks, dtype=np.uint32), task.stop - task.start)
        values, counts = _walk(plans, tables, rules, key, starts, point, number)
        missing[:] += (~np.isfinite(values)).sum(1)
        values = values.reshape(len(plans), -1, walks)
        terms = np.stack([values, values**2], -1).transpose(1, 2, 0, 3).reshape(-1, walks, 2 * len(plans))
        sums[:] = np.cumsum(np.concatenate([sums[:, :1], terms], 1), 1)[:, task.marks]
        return counts

    begun = run.begun or WalkSums.empty(starts.x.size, width=2 * len(plans))
    return run_tasks(starts.x.size, run.budgets, work, 1, run.progress, begun=begun), missing


def _walk(
    plans: Sequence[Plan],
    tables: Any,
    rules: Any,
    key: Any,
    starts: StartPoints,
    point: NDArray[np.int64],
    number: NDArray[np.uint32],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The value of every walk [plan, walk], given its point and its number."""
    from mc2.walks.cpu.array_kernels import project_arrays, start_arrays, step_arrays
    from mc2.walks.cpu.lane_kernels import RADIUS, SHARE, WEIGHT, X, Y

    count = len(point)
    padded = -(-count // LANES) * LANES
    state = np.zeros((6, padded), np.float32)
    state[X, :count], state[Y, :count] = starts.x[point], starts.y[point]
    state[X, count:], state[Y, count:] = starts.x[point[0]], starts.y[point[0]]
    start_arrays(tables, rules, state)
    pixel, walk = np.zeros(padded, np.uint32), np.zeros(padded, np.uint32)
    pixel[:count], walk[:count] = starts.keys[point], number
    step = np.zeros(padded, np.uint32)
    met = np.zeros((len(plans), padded), np.float32)  # sums over the source
    final, final_met = np.zeros((6, padded), np.float32), np.zeros((len(plans), padded), np.float32)
    active = np.where(np.arange(padded) < count, np.arange(padded), PADDING)
    counts = np.zeros(3, np.int64)
    while active.size:
        samples, weights = np.zeros((2, active.size), np.float32), np.zeros(active.size, np.float32)
        step_arrays(tables, rules, key, state, pixel, walk, step, samples, weights)
        for own, plan in zip(met, plans, strict=True):
            if plan.source is not None:
                own += weights * plan.source(samples[0], samples[1]).astype(np.float32)
        ended = (state[RADIUS] < rules.epsilon) | (step >= rules.max_steps)
        real = ended & (active != PADDING)
        counts[0] += int(step[real].sum())
        counts[1] += int((state[RADIUS, real] >= rules.epsilon).sum())
        final[:, active[real]], final_met[:, active[real]] = state[:, real], met[:, real]
        keep = ~ended & (active != PADDING)
        state, met, pixel, walk, step, active = _keep(keep, state, met, pixel, walk, step, active)
    project_arrays(tables, final)
    values = np.empty((len(plans), padded))
    for value, plan, total in zip(values, plans, final_met, strict=True):
        _, boundary, laplacian = plan.functions
        value[:] = final[WEIGHT] * boundary(final[X], final[Y]) + total
        if laplacian is not None:
            value -= final[SHARE] * laplacian(final[X], final[Y])
    return values[:, :count], counts


def _keep(
    keep: NDArray[np.bool_], state: Any, met: Any, pixel: Any, walk: Any, step: Any, active: Any
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """The walks that go on, filled up to whole blocks with ended ones, which no longer count."""
    active = np.where(keep, active, PADDING)
    index = np.flatnonzero(keep)
    if index.size % LANES:
        index = np.concatenate([index, np.flatnonzero(~keep)[: LANES - index.size % LANES]])
    kept = np.ascontiguousarray(state[:, index]), np.ascontiguousarray(met[:, index])
    return *kept, pixel[index], walk[index], step[index], active[index]
