"""A picture of what is known on a boundary: its parts in colours, their conditions, and the data along it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain
from mc2.geometry.picture import Stretch, draw_domain, part_colour, stretches
from mc2.plotting import beside
from mc2.problems.condition import Clamped, Condition, Robin
from mc2.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Values = Callable[[Stretch], Array | None]
WIDTH, HEIGHT, ROW = 10.0, 2.6, 1.6
"""Inches of a figure: how wide, how high at least without its rows, and of every row."""
LEGEND = 40
"""Characters of a function that a legend shows."""
PLENTY = 0.98
"""Part of the values that a panel shows where a few of them grow without bound."""
GROWS = 4.0
"""Times as wide as these that all values must be for that."""


def plot_problem(problem: Problem, title: str = "") -> "Figure":
    """The parts with their conditions, and the data along the boundary."""
    rows: dict[str, Values] = {}
    conditions = problem.conditions
    for name in ("u", *(name for condition in conditions for name in _left_sides(problem, condition))):
        if any(name in _left_sides(problem, condition) for condition in conditions):
            rows[name] = lambda at, name=name: _data(problem, conditions[at.part], name, at)  # type: ignore[misc]
    if problem.laplacian is not None and not problem.clamped:
        known = problem.laplacian
        rows["Δu"] = lambda at: known(at.x, at.y)
    figure, axes = boundary_panels(problem, list(rows), title or problem.equation)
    for ax, values in zip(axes, rows.values(), strict=True):
        draw_along(ax, problem.domain, values)
    return figure


def boundary_panels(problem: Problem, rows: Sequence[str], title: str) -> tuple["Figure", list["Axes"]]:
    """The outline with its parts and their conditions, and an empty panel for every row beside it."""
    domain = problem.domain
    pairs = zip(domain.parts, problem.conditions, strict=True)
    legend = [_told(problem, part.name, condition) for part, condition in pairs]
    figure, left, axes = beside(len(rows), title, (WIDTH, max(HEIGHT + 0.2 * len(legend), 1.0 + ROW * len(rows))))
    draw_domain(domain, left, legend)
    left.set_anchor("N")
    lasts = np.flatnonzero(np.diff(domain.pieces.curve))
    for ax, name in zip(axes, rows, strict=True):
        ax.set_ylabel(name)
        for seam in np.cumsum(domain.pieces.length)[lasts]:  # where one curve ends and the next begins
            ax.axvline(seam, color="0.7", linewidth=0.6)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    axes[-1].set_xlabel("distance along the boundary")
    return figure, axes


def draw_along(ax: "Axes", domain: Domain, values: Values, style: str = "-", colour: str | None = None) -> None:
    """Values along the boundary, in the colours of its parts; None on stretches that have none."""
    shown = []
    for stretch in stretches(domain):
        found = values(stretch)
        if found is not None:
            shown.append(found)
            ax.plot(stretch.along, found, style, color=colour or part_colour(domain, stretch.part), linewidth=1.2)
    everything = np.sort(np.concatenate(shown))
    cut = int(0.5 * (1 - PLENTY) * everything.size)
    low, high = everything[cut], everything[everything.size - 1 - cut]
    if np.ptp(everything) > GROWS * (high - low) > 0 and ax.get_yscale() == "linear":
        ax.set_ylim(low - 0.5 * (high - low), high + 0.5 * (high - low))


def _left_sides(problem: Problem, condition: Condition) -> list[str]:
    """What a condition is about."""
    slope = "∂u/∂n" if problem.operator.varying is None else "α ∂u/∂n"
    if isinstance(condition, Clamped):
        return ["u", slope]
    if isinstance(condition, Robin):
        return [f"{slope} + μu"]
    return [slope if condition.reflecting else "u"]


def _data(problem: Problem, condition: Condition, name: str, at: Stretch) -> Array | None:
    sides = _left_sides(problem, condition)
    if name not in sides:
        return None
    own = condition.turn if isinstance(condition, Clamped) and name != "u" else condition
    return own.data(at.x, at.y, at.nx, at.ny)


def _told(problem: Problem, part: str, condition: Condition) -> str:
    """A line that says what is known on a part."""
    sides, said = _left_sides(problem, condition), {name: _brief(own.text) for name, own in condition.functions.items()}
    if isinstance(condition, Robin):
        factor = said["coefficient"]
        sides = [sides[0].replace("μ", f"{factor} " if factor.replace(".", "").isalnum() else f"({factor}) ")]
    right = [said["value"], *([said["slope"]] if "slope" in said else [])]
    return f"{part}: " + ", ".join(f"{side} = {value}" for side, value in zip(sides, right, strict=True))


def _brief(text: str) -> str:
    """A text that fits into a legend."""
    return text if len(text) <= LEGEND else text[: LEGEND - 1] + "…"
