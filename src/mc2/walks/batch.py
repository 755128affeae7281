"""Estimates of many problems at once on one grid: what training and benchmarks need.

On a GPU all problems go into one launch and results stay there, as arrays that torch, CuPy and numba share without a
copy (``torch.as_tensor(batch.mean)``). On the CPU the problems are walked one after the other on all cores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks.engine import Options, check_budgets, choose_device, trajectory
from mc2.walks.plan import Plan, make_plan


@dataclass(frozen=True)
class Batch:
    """mean, variance: float32 [problem, budget, n, n]. mask: uint8 [problem, n, n]. counts: int64 [problem, 3].

    NumPy arrays on the CPU, device arrays on a GPU. Fields are 0 outside the mask. counts: steps taken, walks that ran
    out of steps, walks that met a value that is not finite.
    """

    mean: Any
    variance: Any
    mask: Any
    counts: Any
    budgets: tuple[int, ...]
    device: str


def estimate_batch(
    problems: Sequence[Problem],
    budgets: Sequence[int] = (8,),
    *,
    grid: Grid | None = None,
    instances: Sequence[int] | None = None,
    **options: Any,
) -> Batch:
    """Nested estimates of many problems. instances: what keys their random numbers; 0, 1, 2, … if not given.

    All else as in `estimate`. A Helmholtz problem is walked as `estimator` says.
    """
    chosen = Options(**options)
    checked = check_budgets(budgets)
    grid = grid or Grid()
    numbers = list(range(len(problems))) if instances is None else list(instances)
    if not problems or len(numbers) != len(problems):
        raise InputError(f"a batch needs problems and as many instance numbers: {len(problems)} and {len(numbers)}")
    plans = [make_plan(problem, _estimator(problem, chosen)) for problem in problems]
    devices = {choose_device(chosen.device, plan) for plan in plans}
    if devices == {"cuda"}:
        return _on_gpu(plans, checked, grid, numbers, chosen)
    return _on_cpu(problems, checked, grid, numbers, options)


def _estimator(problem: Problem, options: Options) -> str:
    """Only Helmholtz problems have a choice."""
    return options.estimator if problem.name == "helmholtz" else "standard"


def _on_cpu(
    problems: Sequence[Problem], budgets: list[int], grid: Grid, instances: list[int], options: dict[str, Any]
) -> Batch:
    shape = (len(problems), len(budgets), *grid.shape)
    mean, variance = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    mask, counts = np.zeros((len(problems), *grid.shape), np.uint8), np.zeros((len(problems), 3), np.int64)
    for index, (problem, instance) in enumerate(zip(problems, instances, strict=True)):
        own = options | {"device": "cpu", "estimator": _estimator(problem, Options(**options))}
        estimates = trajectory(problem, budgets, grid=grid, instance=instance, **own)
        mean[index] = [estimate.mean for estimate in estimates]
        variance[index] = [estimate.variance for estimate in estimates]
        mask[index] = estimates[0].mask
        record = estimates[0].record
        counts[index] = record.steps, record.truncated, record.not_finite
    return Batch(mean, variance, mask, counts, tuple(budgets), "cpu")


def _on_gpu(plans: list[Plan], budgets: list[int], grid: Grid, instances: list[int], options: Options) -> Batch:
    from numba import cuda

    from mc2.walks.cuda import BLOCK, grid_points, launch, pack, quietly
    from mc2.walks.cuda_kernels import take_moments

    x, y, keys = grid_points(grid)
    result, mask, counts = launch(pack(plans, instances, options), x, y, keys, budgets, options)
    shape = (len(plans), len(budgets), x.size)
    mean, variance = cuda.device_array(shape, np.float32), cuda.device_array(shape, np.float32)
    blocks = -(-x.size // BLOCK)
    with quietly():
        take_moments[(blocks, len(plans), len(budgets)), BLOCK](
            result, mask, cuda.to_device(np.array(budgets, np.int64)), mean, variance
        )
    fields, masks = (len(plans), len(budgets), *grid.shape), (len(plans), *grid.shape)
    mean, variance, mask = mean.reshape(fields), variance.reshape(fields), mask.reshape(masks)
    return Batch(mean, variance, mask, counts, tuple(budgets), "cuda")
