"""Difficulty: how hard the zoo's instances are for 32 walks per pixel (paper, appendix A.6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.geometry import Grid
from mc2.metrics import mse
from mc2.zoo.difficulty import PAPER_SHARES, REFERENCE_WALKS, TIERS, shares
from mc2.zoo.instance import Instance
from mc2.zoo.studies.styling import COLOURS, label
from mc2.zoo.studies.walking import Report, Walker, estimators, first

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reference_errors(walker: Walker, instances: Sequence[Instance]) -> list[float]:
    """The mean squared error at 32 walks per pixel, by which tiers are told."""
    return [mse(walked.means[0], walked.exact, walked.mask) for walked in walker.walk(instances, [REFERENCE_WALKS])]


def study_difficulty(
    cases: int = 300,
    split: str = "train",
    *,
    grid: Grid | None = None,
    device: str = "auto",
    seed: int = 0,
    report: Report | None = None,
) -> dict[str, Any]:
    """Errors and tiers of a split's first instances, per family and overall, as plain data."""
    instances = first(split, cases)
    walker = Walker(grid or Grid(), device, seed, report=report, total=len(instances))
    errors = reference_errors(walker, instances)
    own = {
        family: [error for error, instance in zip(errors, instances, strict=True) if instance.family == family]
        for family in estimators(instances)
    }
    return {
        "split": split,
        "count": len(instances),
        "reference_walks": REFERENCE_WALKS,
        "tiers": list(TIERS),
        "families": {
            family: {**summarise(own[family]), "estimator": name} for family, name in estimators(instances).items()
        },
        "overall": summarise(errors),
        "paper_shares": list(PAPER_SHARES),
        **walker.facts(),
        "mse": own,
    }


def summarise(errors: Sequence[float]) -> dict[str, Any]:
    """shares: per cent in each tier. quartiles: of log₁₀ of the error."""
    return {
        "shares": shares(errors),
        "quartiles": np.quantile(np.log10(errors), (0.25, 0.5, 0.75)).tolist(),
        "count": len(errors),
    }


def draw_difficulty(contents: dict[str, Any]) -> "Figure":
    """The share of instances below an error, per family, and the limits of the tiers."""
    from mc2.plotting import panels

    figure, [ax] = panels(1, size=(6.4, 4.2))
    for family, errors in contents["mse"].items():
        ax.ecdf(errors, color=COLOURS[family], label=label(family, contents["families"][family]["estimator"]))
    ax.ecdf(np.concatenate(list(contents["mse"].values())), color="black", linewidth=2, label="all")
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    low, high = min(low, 1e-3), max(high, 1e3)
    ax.set_xlim(low, high)
    limits = [low, *list(TIERS.values())[:-1], high]
    for name, share, left, right in zip(TIERS, contents["overall"]["shares"], limits, limits[1:], strict=False):
        ax.axvline(right, color="black", linewidth=0.8, linestyle=":")
        ax.text(np.sqrt(left * right), 1.01, f"{name}\n{share:.0f} %", ha="center", va="bottom")
    ax.set(xlabel=f"MSE at {contents['reference_walks']} walks per pixel", ylabel="share of instances", ylim=(0, 1))
    ax.legend(loc="upper left")
    title = (
        f"PDEZoo {contents['generator_version']}, {contents['split']}: difficulty of {contents['count']:,} instances"
    )
    figure.suptitle(title)
    return figure
