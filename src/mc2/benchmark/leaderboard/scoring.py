"""Scores of predictions against the exact solutions: per instance, per family and overall."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mc2.benchmark.leaderboard.predictions import Predictions
from mc2.benchmark.scores import METRICS, Distance, score_field, summarise
from mc2.errors import InputError
from mc2.zoo import FAMILIES, VERSION, Instance

Report = Callable[[int, int], None]
"""Called with the fields done and the fields in all."""


def score_predictions(
    predictions: Predictions, *, lpips: bool = True, progress: Report | None = None
) -> dict[str, Any]:
    """All metrics of all fields; plain data, ready for JSON. Exact fields are computed in float64.

    lpips: also compute LPIPS, which needs torch.
    """
    distance = None
    if lpips:
        from mc2.benchmark.lpips import lpips as shared

        distance = shared()
    rows = []
    for instance, field in zip(predictions.instances, predictions.fields, strict=True):
        rows.append(_score(instance, np.ascontiguousarray(field), predictions, distance))
        if progress:
            progress(len(rows), len(predictions.instances))
    return {
        "count": predictions.count,
        "split": predictions.split,
        "generator_version": VERSION,
        "grid": predictions.grid.size,
        "sha256": predictions.sha256,
        **_tables(rows),
        "instances": rows,
    }


def _score(instance: Instance, field: Any, predictions: Predictions, distance: Distance | None) -> dict[str, Any]:
    problem, grid = instance.problem, predictions.grid
    try:
        scores = score_field(field, problem.on_grid(instance.truth, grid), problem.mask(grid), distance)
    except InputError as error:
        raise InputError(f"{instance.id}: {error}") from None
    return {"id": instance.id, "family": instance.family, **scores}


def _tables(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean, standard deviation and median of every metric."""
    families = {family: [row for row in rows if row["family"] == family] for family in FAMILIES}
    return {
        "families": {family: _table(own) for family, own in families.items() if own},
        "overall": _table(rows),
    }


def _table(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {name: summarise(row[name] for row in rows) for name in METRICS if name in rows[0]} | {"count": len(rows)}


def means(scores: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """What an entry keeps of scores: every metric's mean, per family and overall; None for one that was left out.

    Without one of the families, nothing is kept as overall: it would not compare.
    """
    tables = {family: scores["families"].get(family, {}) for family in FAMILIES}
    tables["overall"] = scores["overall"] if all(tables.values()) else {}
    return {
        name: {metric: table[metric]["mean"] if metric in table else None for metric in METRICS}
        for name, table in tables.items()
    }
