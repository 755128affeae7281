"""Fields of instances on a grid: u, f, the mask, and walk trajectories with their variances, made on demand."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.files import check_target, replacing
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks import estimate_batch
from mc2.walks.engine import check_budgets, choose_device
from mc2.walks.many import plan_for_batch
from mc2.walks.options import MAX_REFLECTED, Options
from mc2.walks.plan import Plan
from mc2.zoo.instance import Instance
from mc2.zoo.laws import OTHERS

STANDARD: dict[str, Any] = {"sampling": "uniform", "epsilon": 1e-4, "max_steps": 128, "unit": 1.0}
"""How PDEZoo walks: what the paper's own numbers point to. Its epsilon is a length, whatever the size of a domain."""


def standard(split: str) -> dict[str, Any]:
    """How the instances of a split are walked: those of version 2 by walks that reflect, or branch, and end later."""
    return STANDARD | ({"sampling": "green", "max_steps": MAX_REFLECTED} if split in OTHERS else {})


@dataclass(frozen=True)
class Fields:
    """Fields of n instances; all are 0 outside the mask.

    u, f: the exact solution and the source, float32 [n, size, size].
    mask: uint8 [n, size, size].
    mean, variance: of the walks at nested budgets, float32 [n, budget, size, size]; the variance is that of the mean,
        infinite for one walk.
    counts: [n, 3], steps taken, walks cut off, walks that met a value that is not finite.
    """

    instances: tuple[Instance, ...]
    budgets: tuple[int, ...]
    u: NDArray[np.float32]
    f: NDArray[np.float32]
    mask: NDArray[np.uint8]
    mean: NDArray[np.float32]
    variance: NDArray[np.float32]
    counts: NDArray[np.int64]
    device: str

    def save_npz(self, path: str | Path, number: int = 0, budget: int | None = None) -> None:
        """Write one instance in the paper's layout: `noisy`, `clean` and `mask`, float32 [size, size].

        number: which of the instances.
        budget: of the walks in `noisy`; the largest if not given.
        """
        path, budget = Path(path), self.budgets[-1] if budget is None else budget
        if budget not in self.budgets:
            raise InputError(f"budget {budget} was not walked: there are {', '.join(map(str, self.budgets))}")
        check_target(path, ".npz")
        with replacing(path) as file:
            self.write_npz(file, number, budget)

    def write_npz(self, file: BinaryIO, number: int, budget: int) -> None:
        """The same, to an open file."""
        np.savez(
            file,
            allow_pickle=False,
            noisy=self.mean[number, self.budgets.index(budget)],
            clean=self.u[number],
            mask=self.mask[number].astype(np.float32),
        )


def make_fields(
    instances: Sequence[Instance],
    budgets: Sequence[int] = (8,),
    *,
    grid: Grid | None = None,
    seed: int = 0,
    device: str = "auto",
    epsilon: float = STANDARD["epsilon"],
    max_steps: int | None = None,
    sampling: str | None = None,
    stratify: bool = False,
    threads: int | None = None,
) -> Fields:
    """Evaluate and walk instances, by default as PDEZoo does: see `standard`.

    budgets: increasing walks per pixel.
    grid: 256 × 256 on [-1, 1]² if not given.
    seed: of the walks; with the instance, it keys their random numbers.
    All else is as in `mc2.estimate`; epsilon is a length. Helmholtz problems are walked with u in the source.
    Instances of `conditions` and `coefficients` are not mixed with others.
    """
    grid, kinds = grid or Grid(), {instance.split if instance.split in OTHERS else "" for instance in instances}
    if len(kinds) > 1:
        raise InputError(f"instances of {max(kinds)!r} walk otherwise than others do: make their fields apart")
    own = standard(instances[0].split if instances else "test")
    chosen = Options(
        seed=seed, epsilon=epsilon, unit=STANDARD["unit"], stratify=stratify,
        max_steps=own["max_steps"] if max_steps is None else max_steps,
        sampling=own["sampling"] if sampling is None else sampling,
        estimator="reduced", device=device, threads=threads,  # reduced: for Helmholtz
    )  # fmt: skip
    problems, keys = [instance.problem for instance in instances], [instance.key for instance in instances]
    plans = [plan_for_batch(problem, chosen) for problem in problems]
    if {choose_device(device, plan) for plan in plans} == {"cuda"}:
        found = _on_gpu(plans, keys, check_budgets(budgets), grid, chosen)
    else:
        found = _on_cpu(problems, keys, budgets, grid, chosen)
    return Fields(tuple(instances), tuple(budgets), *found)


def exact_fields(
    problems: Sequence[Problem], grid: Grid, mask: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """u and f of problems with known solutions, 0 outside the mask: float32 [n, size, size], computed in float64."""
    u, f = np.zeros((2, len(problems), *grid.shape), np.float32)
    for number, problem in enumerate(problems):
        inside = mask[number].astype(bool)
        x, y = (c[inside] for c in grid.points())
        if problem.exact is None:
            raise InputError("only problems whose exact solutions are known have exact fields")
        u[number, inside] = problem.exact(x, y)
        if problem.source is not None:
            f[number, inside] = problem.source(x, y)
    return u, f


def boundary_fields(problems: Sequence[Problem], grid: Grid) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Signed distance, and boundary data at the boundary point nearest to every pixel, inside and outside the mask.

    Both float32 [n, size, size]; near rather than nearest where the distance is only a lower bound.
    """
    distance, boundary = np.zeros((2, len(problems), *grid.shape), np.float32)
    x, y = grid.points()
    for number, problem in enumerate(problems):
        distance[number] = problem.domain.distance(x, y)
        boundary[number] = problem.boundary(*problem.domain.project(x, y))
    return distance, boundary


def _on_cpu(
    problems: list[Problem], keys: list[int], budgets: Sequence[int], grid: Grid, options: Options
) -> tuple[Any, ...]:
    own = asdict(options) | {"device": "cpu"}
    batch = estimate_batch(problems, budgets, grid=grid, instances=keys, **own)
    return *exact_fields(problems, grid, batch.mask), batch.mask, batch.mean, batch.variance, batch.counts, "cpu"


def _on_gpu(plans: list[Plan], keys: list[int], budgets: list[int], grid: Grid, options: Options) -> tuple[Any, ...]:
    from mc2.walks.gpu.launch import evaluate_exact, walk_fields
    from mc2.walks.gpu.packing import pack

    packed = pack(plans, keys, options).upload()
    mean, variance, mask, counts = walk_fields(packed, grid, budgets, options)
    found = *evaluate_exact(packed, grid, mask), mask, mean, variance, counts
    return *(array.copy_to_host() for array in found), "cuda"
