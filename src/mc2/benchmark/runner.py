"""The protocol: a method, a fixed prefix of a split, fixed seeds; scores per instance, family, tier and overall."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2 import __version__
from mc2.benchmark.methods.method import Case, Method
from mc2.benchmark.methods.registry import as_method
from mc2.benchmark.scores import score_field, summarise
from mc2.checks import checked, whole
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks import Estimate
from mc2.walks.engine import walk
from mc2.walks.options import Options
from mc2.zoo import FAMILIES, Instance, conditions, generate, media
from mc2.zoo.difficulty import TIERS, known_tier
from mc2.zoo.fields import standard
from mc2.zoo.instance import version_of
from mc2.zoo.told import told

EVERY = (*FAMILIES, *media.FAMILIES)
Report = Callable[[int, int], None]
"""Called with the instances done and the instances in all."""
ESTIMATES = {"estimate", "variance", "walks", "mask", "grid"}
"""What walks find: a method that is told no more can play whatever the conditions are."""
POINTS = 256
"""Query points per instance in the setting `points`."""
TIMES = ("seconds", "walking_seconds")


@checked
def evaluate(
    method: Any,
    *,
    walks: int = 8,
    count: int = 250,
    split: str = "test",
    families: Sequence[str] = EVERY,
    seed: int = 0,
    grid: Grid | int | None = None,
    device: str = "auto",
    lpips: bool = True,
    keep: Callable[[Instance, NDArray[np.float32]], None] | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Judge a method on the first instances of a split of PDEZoo; plain data, ready for JSON.

    method: a name, such as `nlm`; the path of a network's weights; a `Method`, a `Corrector`, or a function from an
        `Observed` to the corrected field.
    walks: per pixel, of the estimate that a correction is given; per point in the setting `points`.
    families: leave out the others; those that the method cannot play in are left out too, and named as `absent`.
    seed: of the walks.
    grid: on [-1, 1]², or its pixels along a side; 256 if not given.
    lpips: also compute LPIPS, which needs torch.
    keep: called with every instance and its predicted field, 0 outside the mask.
    """
    method, count = as_method(method), whole("count", count, 1)
    grid = grid if isinstance(grid, Grid) else Grid() if grid is None else Grid(grid)
    if split == conditions.SPLIT and not (method.reflecting or set(method.reads) <= ESTIMATES):
        raise InputError(
            f"{method.name} cannot play in the split {split!r}: it takes no Neumann and Robin conditions, as "
            "trefftz, mc2-rounds and those that see nothing but the walks do"
        )
    method.check()
    distance = _distance(lpips and method.setting != "points")
    rows = []
    for index in range(count):
        instance = generate(split, index)
        if instance.family in families and instance.family in method.families:
            rows.append(_judge(method, instance, walks, seed, grid, device, distance, keep))
        if report:
            report(index + 1, count)
    if not rows:
        raise InputError(f"{method.name} can play in none of the first {count} instances of {split} that are asked for")
    return {
        "method": method.name,
        "setting": method.setting,
        "reads": list(method.reads),
        "walks": walks if {"estimate", "walks"} & set(method.reads) else 0,
        "count": len(rows),
        "seed": seed,
        "split": split,
        "grid": grid.size,
        "generator_version": version_of(split),
        "sampling": standard(split)["sampling"],
        "version": __version__,
        "hardware": hardware(),
        **tabulate(rows),
        "absent": [family for family in _asked(split) if family in families and family not in method.families],
        "instances": rows,
    }


def _asked(split: str) -> tuple[str, ...]:
    """The families that a table is about."""
    return media.FAMILIES if split == media.SPLIT else FAMILIES


def _distance(wanted: bool) -> Any:
    if not wanted:
        return None
    from mc2.benchmark.lpips import lpips

    return lpips()


def _judge(
    method: Method, instance: Instance, walks: int, seed: int, grid: Grid, device: str, distance: Any, keep: Any
) -> dict[str, Any]:
    """One row: what the instance is, its scores, and the time that the method and its walks took."""
    values, walking = case_values(method, instance, walks, seed, grid, device)
    case = Case(method, values)
    start = time.perf_counter()
    try:
        found = np.asarray(method.solve(case), np.float32)  # as predictions are stored
    except InputError as error:
        raise InputError(f"{method.name} on {instance.id}: {error}") from None
    seconds = time.perf_counter() - start
    row = {
        "index": instance.index,
        "id": instance.id,
        "family": instance.family,
        "estimator": instance.estimator,
        "tier": known_tier(instance),
        "seconds": seconds,
        "walking_seconds": walking,
    }
    exact, mask = instance.truth, instance.problem.mask(grid)
    if method.setting == "points":
        truth = exact(*values["points"].T)[:, None]
        return row | _scored(method, instance, found.reshape(-1, 1), truth, np.ones(truth.shape, bool), None)
    scores = _scored(method, instance, found, instance.problem.on_grid(exact, grid), mask, distance)
    if keep:
        keep(instance, np.where(mask, found, 0.0).astype(np.float32))
    return row | scores


def _scored(method: Method, instance: Instance, *fields: Any) -> dict[str, float]:
    try:
        return score_field(*fields)
    except InputError as error:
        raise InputError(f"{method.name} on {instance.id}: {error}") from None


def case_values(
    method: Method, instance: Instance, walks: int, seed: int, grid: Grid, device: str
) -> tuple[dict[str, Any], float]:
    """What the method reads, and the seconds that its walks took."""
    values = problem_values(method, instance.problem, walks, seed, grid)
    if method.setting == "points":
        values["points"] = instance.problem.domain.sample_interior(POINTS, seed=instance.index)
    if method.setting != "correction":
        return values, 0.0
    found = standard_walks(instance, walks, seed, grid, device)
    values |= {"estimate": found.mean.astype(np.float32), "variance": found.variance.astype(np.float32)}
    return values, found.record.seconds


def problem_values(method: Method, problem: Problem, walks: int, seed: int, grid: Grid) -> dict[str, Any]:
    """What a method reads of a problem, but for an estimate."""
    values: dict[str, Any] = {
        "family": problem.name,
        "parameter": sum(float(getattr(problem, name)) for name in problem.parameters),
        "grid": grid,
        "domain": problem.domain,
        "mask": problem.mask(grid),
        "source_function": problem.source,
        "walks": walks,
        "seed": seed,
    }
    if "source" in method.reads:
        values["source"] = np.zeros(grid.shape) if problem.source is None else problem.on_grid(problem.source, grid)
    if "problem" in method.reads:
        values["problem"] = told(problem)
    return values


def standard_walks(instance: Instance, walks: int, seed: int, grid: Grid, device: str) -> Estimate:
    """PDEZoo's standard estimate of an instance."""
    options = Options(seed=seed, device=device, estimator=instance.estimator, **standard(instance.split))
    return walk(instance.problem, [whole("walks", walks, 1)], options, grid, instance=instance.key)[0]


def tabulate(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Per family, per tier and overall: mean, standard deviation and median of every score, and of the times."""
    families = {family: [row for row in rows if row["family"] == family] for family in EVERY}
    tiers = {tier: [row for row in rows if row["tier"] == tier] for tier in TIERS}
    return {
        "families": {
            family: _table(own) | {"estimator": own[0]["estimator"]} for family, own in families.items() if own
        },
        "overall": _table(rows),
        "tiers": {tier: _table(own) for tier, own in tiers.items() if own},
    }


def _table(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    rows = list(rows)
    scores = [name for name in rows[0] if name not in ("index", "id", "family", "estimator", "tier")]
    return {name: summarise(row[name] for row in rows) for name in scores} | {"count": len(rows)}


def hardware() -> dict[str, Any]:
    """What the times were measured on."""
    from mc2.walks.gpu.launch import unavailable

    gpu = ""
    if not unavailable():
        from numba import cuda

        gpu = cuda.get_current_device().name
        gpu = gpu.decode() if isinstance(gpu, bytes) else str(gpu)
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "gpu": gpu,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
