"""What worker processes do, one core each: instances and their fields, and methods that run on the CPU."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.reproduce.studies import SPLIT, Row
from mc2.benchmark.runner import problem_values
from mc2.geometry import Grid
from mc2.walks.gpu.packing import Packed, pack
from mc2.walks.many import plan_for_batch
from mc2.walks.options import Options
from mc2.zoo import Instance, generate, make_fields
from mc2.zoo.fields import STANDARD, boundary_fields

ONE_CORE = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
"""Environment of a worker: one core, and no GPU, which belongs to the main process."""


@dataclass(frozen=True)
class Chunk:
    """Some instances with all that methods of the main process are given. Fields are [instance, n, n].

    indices: in the split.
    operators: coefficients of u, Δu, Δ²u, one triple each.
    exact: float64, 0 outside the mask.
    mask: bool.
    source: f.
    known_laplacian: what networks take for it; see `source_of`.
    distance, boundary, laplacian: signed distance to the boundary, and u and Δu at the boundary point nearest to every
        pixel (Δu for biharmonic problems alone, else 0).
    walks: mean and variance [instance, seed, budget, n, n], where a worker walked; else the problems packed for the
        GPU, for every seed.
    seconds: of the walks, per instance and seed.
    """

    indices: NDArray[np.int64]
    operators: NDArray[np.float64]
    exact: NDArray[np.float64]
    mask: NDArray[np.bool_]
    source: NDArray[np.float32]
    known_laplacian: NDArray[np.float32]
    distance: NDArray[np.float32]
    boundary: NDArray[np.float32]
    laplacian: NDArray[np.float32]
    walks: Any
    seconds: float = 0.0


def prepare(
    indices: Sequence[int], budgets: Sequence[int], seeds: Sequence[int], grid: Grid, on_gpu: bool, extended: bool
) -> Chunk:
    """Make instances.

    on_gpu: pack them for the GPU instead of walking here.
    extended: also make what only operator networks read: distance, boundary and laplacian.
    """
    instances = [generate(SPLIT, index) for index in indices]
    fields = [_fields(instance, grid, extended) for instance in instances]
    start = time.perf_counter()
    walks: Any = _packed(instances, seeds) if on_gpu else _walked(instances, budgets, seeds, grid)
    seconds = (time.perf_counter() - start) / (len(instances) * len(seeds))
    operators = np.array([instance.problem.operator.coefficients for instance in instances])
    exact, mask, source, known, distance, boundary, laplacian = map(np.stack, zip(*fields, strict=True))
    return Chunk(
        indices=np.array(indices), operators=operators, exact=exact, mask=mask, source=source, known_laplacian=known,
        distance=distance, boundary=boundary, laplacian=laplacian, walks=walks, seconds=seconds,
    )  # fmt: skip


def _fields(instance: Instance, grid: Grid, extended: bool) -> tuple[NDArray[Any], ...]:
    from mc2.solvers.learned import source_of

    problem = instance.problem
    mask = problem.mask(grid)
    exact = problem.on_grid(instance.truth, grid)
    source = np.zeros(grid.shape) if problem.source is None else problem.on_grid(problem.source, grid)
    known = source_of(problem.source, problem.operator, grid, mask)
    distance, boundary, laplacian = np.zeros((3, *grid.shape), np.float32)
    if extended:
        (distance,), (boundary,) = boundary_fields([problem], grid)
        if problem.laplacian is not None:
            laplacian = problem.laplacian(*problem.domain.project(*grid.points())).astype(np.float32)
    return (
        np.where(mask, exact, 0.0), mask, source.astype(np.float32), known.astype(np.float32), distance, boundary,
        laplacian,
    )  # fmt: skip


def walk_options(seed: int) -> Options:
    """How PDEZoo's instances are walked; Helmholtz problems with the exact solution in the source."""
    return Options(seed=seed, device="cpu", estimator="reduced", **STANDARD)


def _packed(instances: list[Instance], seeds: Sequence[int]) -> list[Packed]:
    found = []
    for seed in seeds:
        options = walk_options(seed)
        plans = [plan_for_batch(instance.problem, options) for instance in instances]
        found.append(pack(plans, [instance.key for instance in instances], options))
    return found


def _walked(instances: list[Instance], budgets: Sequence[int], seeds: Sequence[int], grid: Grid) -> Any:
    if not budgets:
        return np.zeros((2, len(instances), len(seeds), 0, *grid.shape), np.float32)
    found = [make_fields(instances, budgets, grid=grid, seed=seed, device="cpu") for seed in seeds]
    return np.stack([np.stack([getattr(part, name) for part in found], 1) for name in ("mean", "variance")])


def solve_rows(
    index: int,
    rows: Sequence[Row],
    budgets: Sequence[int],
    walks: NDArray[np.float32],
    seeds: Sequence[int],
    grid: Grid,
) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float64], str]]:
    """Fields of one instance by methods on this core.

    walks: mean and variance [2, seed, budget, n, n]. For every method: fields [walks of the row, seed, pixels of the
    mask], the seconds that each took, and an error, if there was one: then its fields are not numbers.
    """
    instance, found = generate(SPLIT, index), {}
    mask = instance.problem.mask(grid)
    for row in rows:
        fields = np.full((len(row.walks), len(seeds), np.count_nonzero(mask)), np.nan, np.float32)
        seconds = np.zeros(fields.shape[:2])
        error = ""
        try:
            method = known_method(row.method)
            for (place, part), _ in np.ndenumerate(seconds):
                budget = row.walks[place]
                values = problem_values(method, instance.problem, budget, seeds[part], grid)
                if budget:
                    values["estimate"], values["variance"] = walks[:, part, list(budgets).index(budget)]
                start = time.perf_counter()
                field = method.solve(Case(method, values))
                seconds[place, part] = time.perf_counter() - start
                fields[place, part] = np.asarray(field, np.float32)[mask]
        except Exception as problem:  # a field without scores, and told: thousands of others must not be lost
            error = f"{row.method} on {instance.id}: {type(problem).__name__}: {problem}"
        found[row.method] = fields, seconds, error
    return found


@cache
def known_method(name: str) -> Method:
    """A method, made once per process."""
    return make_method(name)


@contextmanager
def worker_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of one core each. They are ended when the block ends, whatever they are doing."""
    # spawned: a forked process would inherit the device
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start)
    before = {name: os.environ.get(name) for name in ONE_CORE}
    os.environ.update(ONE_CORE)
    try:
        for future in [pool.submit(time.sleep, 0.1) for _ in range(workers)]:  # so that all of them start now
            future.result()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    processes = list(getattr(pool, "_processes", {}).values())
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _start() -> None:
    """One core for torch as well, and an interruption of the main process is its own business."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
