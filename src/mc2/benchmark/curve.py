"""Raw walks at every budget: the curve that others are measured on, and the budget that a score is worth."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from mc2.benchmark.scores import score_field, summarise
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, VERSION, generate, make_fields
from mc2.zoo.fields import STANDARD


def measure_curve(
    budgets: Sequence[int],
    *,
    count: int = 250,
    split: str = "test",
    seed: int = 0,
    grid: Grid | None = None,
    device: str = "auto",
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Scores of nested raw walks over the first instances of a split, as plain data: lists over the budgets."""
    grid = grid or Grid()
    found: dict[str, list[list[dict[str, float]]]] = {family: [] for family in FAMILIES}
    for index in range(count):
        instance = generate(split, index)
        fields = make_fields([instance], budgets, grid=grid, seed=seed, device=device)
        exact = instance.problem.on_grid(instance.truth, grid)
        found[instance.family].append([score_field(mean, exact, fields.mask[0]) for mean in fields.mean[0]])
        if report:
            report(index + 1, count)
    everything = [row for rows in found.values() for row in rows]
    return {
        "method": "wos",
        "budgets": list(budgets),
        "count": count,
        "split": split,
        "seed": seed,
        "grid": grid.size,
        "generator_version": VERSION,
        "sampling": STANDARD["sampling"],
        "families": {family: _columns(rows) for family, rows in found.items() if rows},
        "overall": _columns(everything),
    }


def _columns(rows: list[list[dict[str, float]]]) -> dict[str, Any]:
    """Mean and standard deviation over instances of every score, at every budget."""
    columns = {}
    for name in rows[0][0]:
        each = [summarise(row[budget][name] for row in rows) for budget in range(len(rows[0]))]
        columns[name] = {key: [entry[key] for entry in each] for key in ("mean", "std")}
    return columns


@cache
def shipped_curve() -> dict[str, Any]:
    """The curve of the first 250 test instances that comes with the package."""
    data: dict[str, Any] = json.loads(files("mc2.benchmark").joinpath("data/wos_curve.json").read_text("utf-8"))
    return data


def equivalent_budget(psnr: float, family: str = "overall", curve: dict[str, Any] | None = None) -> float | None:
    """Walks per pixel at which raw walks have this mean PSNR, between measured budgets; none beyond them.

    The PSNR is taken as linear in the logarithm of the budget, which it nearly is.
    """
    curve = curve or shipped_curve()
    means = (curve["overall"] if family == "overall" else curve["families"][family])["psnr"]["mean"]
    if not means[0] <= psnr <= means[-1]:
        return None
    return float(np.exp2(np.interp(psnr, means, np.log2(curve["budgets"]))))
