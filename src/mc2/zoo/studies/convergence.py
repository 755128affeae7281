"""Convergence: the mean squared error of walks falls as 1/B, for every instance (paper, appendix A.5)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.checks import whole
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.metrics import mse
from mc2.walks.engine import check_budgets
from mc2.zoo.instance import Instance
from mc2.zoo.laws import TRAINING
from mc2.zoo.studies.styling import COLOURS, label
from mc2.zoo.studies.walking import Report, Walker, estimators, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BUDGETS = (1, 2, 4, 8, 16, 32)
BAND = (-1.05, -0.95)
MAX_STEPS = 256
"""Twice the usual, so that no walk is cut off."""
PAPER = {
    "laplace": {"median": -1.0, "min": -1.015, "max": -0.981, "within": 100.0},
    "poisson": {"median": -1.0, "min": -1.045, "max": -0.918, "within": 99.4},
    "yukawa": {"median": -1.0, "min": -1.043, "max": -0.944, "within": 99.4},
    "overall": {"median": -1.0, "min": -1.045, "max": -0.918, "within": 99.6},
}


def slope(budgets: Sequence[int], errors: Sequence[float]) -> float:
    """The least-squares slope of log error against log budget."""
    x = np.log(budgets)
    x -= x.mean()
    return float(x @ np.log(errors) / (x @ x))


def study_convergence(
    cases: int = 501,
    families: Sequence[str] = TRAINING,
    split: str = "test",
    budgets: Sequence[int] = BUDGETS,
    *,
    grid: Grid | None = None,
    max_steps: int = MAX_STEPS,
    device: str = "auto",
    seed: int = 0,
    repeats: int = 4,
    report: Report | None = None,
) -> dict[str, Any]:
    """Slopes of the error over nested budgets, as plain data.

    The slope of one case is itself random: its standard deviation is about 0.7/√n, where n counts the pixels that carry
    the squared error, often a thousand of fifty thousand. repeats: independent runs over which errors are averaged
    before the slope is taken, which lowers that noise as 1/√repeats.
    """
    budgets = check_budgets(budgets)
    if len(budgets) < 2:
        raise InputError(f"budgets = {budgets} must be two or more: a slope needs them")
    repeats = whole("repeats", repeats, 1, 1000)
    instances = spread(split, families, cases)
    walker = Walker(grid or Grid(), device, seed, max_steps, report, len(instances) * repeats)
    found = _fit(walker, instances, budgets, repeats)
    return {
        "split": split,
        "count": len(found),
        "families": {
            family: {**summarise([c["slope"] for c in found if c["family"] == family]), "estimator": estimator}
            for family, estimator in estimators(instances).items()
        },
        "overall": summarise([case["slope"] for case in found]),
        "paper": PAPER,
        "budgets": list(budgets),
        "repeats": repeats,
        **walker.facts(),
        "cases": found,
    }


def _fit(walker: Walker, instances: Sequence[Instance], budgets: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    """The error at every budget and its slope, for every instance."""
    errors = np.zeros((len(instances), len(budgets)))
    for repeat in range(repeats):
        for row, walked in zip(errors, walker.walk(instances, budgets, repeat), strict=True):
            row += [mse(mean, walked.exact, walked.mask) / repeats for mean in walked.means]
    return [
        {"id": instance.id, "family": instance.family, "slope": slope(budgets, row), "mse": row}
        for instance, row in zip(instances, errors.tolist(), strict=True)
    ]


def summarise(slopes: Sequence[float]) -> dict[str, Any]:
    """A row of the table. within: per cent in the band around −1."""
    values = np.array(slopes)
    return {
        "median": float(np.median(values)),
        "min": float(values.min()),
        "max": float(values.max()),
        "within": 100 * float(np.mean((values >= BAND[0]) & (values <= BAND[1]))),
        "count": len(slopes),
    }


def draw_convergence(contents: dict[str, Any]) -> "Figure":
    """Histograms of the slopes, and the error against the budget for a few cases."""
    from mc2.plotting import panels

    title = f"PDEZoo {contents['generator_version']}, {contents['split']}: error of the walks against their number"
    figure, axes = panels(2, title, size=(5.2, 4.2))
    _draw_slopes(axes[0], contents)
    _draw_errors(axes[1], contents)
    return figure


def _draw_slopes(ax: "Axes", contents: dict[str, Any]) -> None:
    reach = max(0.06, *(abs(case["slope"] + 1) for case in contents["cases"]))
    bins = np.linspace(-1 - reach, -1 + reach, 41).tolist()
    for family, row in contents["families"].items():
        slopes = [case["slope"] for case in contents["cases"] if case["family"] == family]
        ax.hist(slopes, bins, histtype="stepfilled", alpha=0.3, color=COLOURS[family])
        ax.hist(slopes, bins, histtype="step", color=COLOURS[family], label=label(family, row["estimator"]))
    ax.axvspan(*BAND, color="black", alpha=0.06, zorder=0)
    ax.axvline(-1, color="black", linewidth=0.8, linestyle="--")
    ax.set(xlabel="slope of log MSE against log walks", ylabel="cases")
    ax.set_title(f"{contents['overall']['within']:.1f} % of {contents['count']} within [−1.05, −0.95]")
    ax.legend()


def _draw_errors(ax: "Axes", contents: dict[str, Any]) -> None:
    """The easiest, the median and the hardest case of every family, each with the line that falls as 1/B."""
    budgets = np.array(contents["budgets"])
    for family in contents["families"]:
        own = sorted((c["mse"] for c in contents["cases"] if c["family"] == family), key=lambda errors: errors[-1])
        for errors in (own[0], own[len(own) // 2], own[-1]):
            ax.loglog(budgets, errors, "o", color=COLOURS[family], markersize=4)
            middle = np.exp(np.mean(np.log(errors) + np.log(budgets)))
            ax.loglog(budgets, middle / budgets, "--", color=COLOURS[family], linewidth=0.8)
    ax.set(xlabel="walks per pixel B", ylabel="MSE", title="easiest, median and hardest case; lines fall as 1/B")
    ax.set_xticks(budgets, [str(budget) for budget in budgets], minor=False)
    ax.minorticks_off()
