"""How the studies' figures look."""

from typing import TYPE_CHECKING, Any

from mc2.zoo.laws import FAMILIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = dict(zip(FAMILIES, ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple"), strict=True))


def label(family: str, estimator: str) -> str:
    """A family in a legend; walks that are not of its own equation are named."""
    return family if estimator == "standard" else f"{family} ({estimator})"


def bars(ax: "Axes", found: dict[str, float], expected: dict[str, Any], title: str, unit: str) -> None:
    """Horizontal bars from the top down, each with a black mark at what is expected, where something is."""
    places = list(range(len(found)))
    ax.barh(places, list(found.values()), color="tab:blue", alpha=0.6)
    marks = [(place, expected[name]) for place, name in enumerate(found) if expected.get(name) is not None]
    if marks:
        ax.plot([mark for _, mark in marks], [place for place, _ in marks], "k|", markersize=9, markeredgewidth=1.5)
    ax.set_yticks(places, list(found))
    ax.invert_yaxis()
    ax.set(title=title, xlabel=unit)
