"""Estimates of many problems at once on one grid: what training and benchmarks need.

On a GPU all problems go into one launch and results stay there, as arrays that torch, CuPy and numba share without a
copy (``torch.as_tensor(batch.mean)``). On the CPU the problems are walked one after the other on all cores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from mc2.checks import checked, whole
from mc2.errors import InputError, short
from mc2.geometry import Grid
from mc2.problems import Frame, Problem
from mc2.walks.engine import MAX_WALKS, check_budgets, choose_device, walk
from mc2.walks.options import MAX_KEY, Options, WalkOptions, show_walk_options, steps_allowed
from mc2.walks.plan import Plan, make_plan


@dataclass(frozen=True)
class BatchEstimate:
    """mean, variance: float32 [problem, budget, n, n].
    mask: uint8 [problem, n, n].
    counts: int64 [problem, 3].

    NumPy arrays on the CPU, device arrays on a GPU. Fields are 0 outside the mask. counts: steps taken, walks that ran
    out of steps, walks that met a value that is not finite.
    """

    mean: Any
    variance: Any
    mask: Any
    counts: Any
    budgets: tuple[int, ...]
    device: str


@checked
@show_walk_options
def estimate_batch(
    problems: Sequence[Problem],
    budgets: Sequence[int] = (8,),
    *,
    walks: Sequence[int] | None = None,
    grid: Grid | None = None,
    instances: Sequence[int] | None = None,
    **walking: Unpack[WalkOptions],
) -> BatchEstimate:
    """Nested estimates of many problems.

    budgets: increasing walks per pixel, for all problems.
    walks: instead, one number for every problem; the results then have one budget, named after the largest.
    grid: one for all; 256 × 256 on [-1, 1]², PDEZoo's, if not given.
    instances: what keys their random numbers, with the seed; 0, 1, 2, … if not given.
    estimator: of Helmholtz problems: `standard`, or `reduced` as in PDEZoo.
    All else is as in `estimate`.
    """
    chosen = Options.of(None, walking)
    each = None if walks is None else [whole("walks", number, 1, MAX_WALKS) for number in walks]
    checked = check_budgets(budgets if each is None else [max(each, default=1)])
    grid = grid or Grid()
    if not isinstance(grid, Grid):
        raise InputError(f"grid = {short(grid)} must be a Grid: one for all problems")
    numbers = [whole("instance", n, 0, MAX_KEY) for n in (range(len(problems)) if instances is None else instances)]
    if not problems or len(numbers) != len(problems) or len(each or numbers) != len(problems):
        raise InputError(
            f"a batch needs problems, and as many instance numbers and walks: {len(problems)} problems, "
            f"{len(numbers)} instance numbers" + (f", {len(each)} walks" if each is not None else "")
        )
    plans = [plan_for_batch(problem, chosen) for problem in problems]
    steps = [steps_allowed(problem, walking.get("max_steps")) for problem in problems]
    devices = {choose_device(chosen.device, plan) for plan in plans}
    if devices == {"cuda"}:
        from mc2.walks.gpu.launch import walk_fields
        from mc2.walks.gpu.packing import pack

        far = next((problem for problem in problems if not Frame.around(problem.domain).trivial), None)
        if far is not None:
            raise InputError(
                f"a batch on a GPU needs domains of about the size of PDEZoo's, and {short(far.domain)} is not: scale "
                "it, use mc2.estimate, or use device 'cpu'"
            )
        packed = pack(plans, numbers, chosen, each, steps).upload()
        return BatchEstimate(*walk_fields(packed, grid, checked, chosen), tuple(checked), "cuda")
    return _on_cpu(problems, checked, each, grid, numbers, replace(chosen, device="cpu"), steps)


def plan_for_batch(problem: Problem, options: Options) -> Plan:
    """A problem's plan. Only oscillating operators, Helmholtz's, have a choice of estimator."""
    return make_plan(problem, options.estimator if problem.operator.oscillating else "standard")


def _on_cpu(
    problems: Sequence[Problem],
    budgets: list[int],
    each: list[int] | None,
    grid: Grid,
    instances: list[int],
    options: Options,
    steps: list[int],
) -> BatchEstimate:
    shape = (len(problems), len(budgets), *grid.shape)
    mean, variance = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    mask, counts = np.zeros((len(problems), *grid.shape), np.uint8), np.zeros((len(problems), 3), np.int64)
    for index, (problem, instance) in enumerate(zip(problems, instances, strict=True)):
        own = replace(options, max_steps=steps[index])
        own = own if problem.operator.oscillating else replace(own, estimator="standard")
        estimates = walk(problem, budgets if each is None else [each[index]], own, grid, instance=instance)
        mean[index] = [estimate.mean for estimate in estimates]
        variance[index] = [estimate.variance for estimate in estimates]
        mask[index] = estimates[0].mask
        record = estimates[0].record
        counts[index] = record.steps, record.truncated, record.not_finite
    return BatchEstimate(mean, variance, mask, counts, tuple(budgets), "cpu")
