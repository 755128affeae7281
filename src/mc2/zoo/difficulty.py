"""Difficulty: four tiers by the walks' error at 32 walks per pixel (paper, appendix A.6)."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mc2.zoo.instance import Instance

REFERENCE_WALKS = 32
TIERS = {"easy": 1e-2, "medium": 1.0, "hard": 1e2, "very hard": np.inf}
"""The mean squared error below which an instance belongs to a tier."""
PAPER_SHARES = (20.0, 41.0, 30.0, 8.0)
"""Per cent of the training mix in each tier."""


def tier(error: float) -> str:
    """The tier of a mean squared error at 32 walks per pixel."""
    return next(name for name, limit in TIERS.items() if error < limit)


def shares(errors: Sequence[float]) -> list[float]:
    """Per cent of errors in every tier."""
    names = [tier(error) for error in errors]
    return [100 * names.count(name) / len(names) for name in TIERS]


def known_tier(instance: "Instance") -> str | None:
    """The tier of a test instance, as measured once (`mc2 zoo difficulty --split test`); none for other splits."""
    return measured_tier(instance.split, instance.index, instance.version)


def measured_tier(split: str, index: int, version: str) -> str | None:
    """The tier of a test instance by its index alone; none for other splits and versions."""
    measured = _measured()
    if split != "test" or version != measured["generator_version"]:
        return None
    return list(TIERS)[int(measured["test"][index])]


@cache
def _measured() -> Any:
    """`test`: a digit 0 … 3 for every instance."""
    return json.loads(files("mc2.zoo").joinpath("tiers.json").read_text("utf-8"))
