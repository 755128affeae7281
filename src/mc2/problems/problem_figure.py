"""A picture of a problem: where it is posed and what it is given."""

from typing import TYPE_CHECKING

import numpy as np

from mc2.geometry import Grid
from mc2.plotting import drawn, panels, show_field
from mc2.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_problem(problem: Problem, grid: Grid, title: str = "") -> "Figure":
    """Mask, data and, where it is known, the exact solution, side by side."""
    inside = [name for name in ("source", "exact") if getattr(problem, name) is not None]
    edges = [name for name in ("boundary", "laplacian") if getattr(problem, name) is not None]
    figure, axes = panels(1 + len(inside) + len(edges), f"{title}: {problem.equation}" if title else problem.equation)
    mask = problem.mask(grid)
    axes[0].imshow(drawn(mask), origin="lower", extent=grid.extent, cmap="Greys", vmin=0, vmax=2)
    axes[0].set_title(f"domain ({mask.mean():.0%} of the grid)")
    remaining = iter(axes[1:])
    names = {"source": "source f", "exact": "exact solution u", "boundary": "boundary g", "laplacian": "boundary Δu"}
    for name in sorted(inside + edges, key=list(names).index):
        if name in inside:
            field = problem.on_grid(getattr(problem, name), grid)
            show_field(next(remaining), field, mask, grid.extent, names[name])
        else:
            _show_boundary(next(remaining), problem, name, grid, names[name])
    return figure


def _show_boundary(ax: "Axes", problem: Problem, name: str, grid: Grid, title: str) -> None:
    """Values along the boundary as coloured points, also where the domain leaves the grid."""
    points = problem.domain.sample_boundary(4000, seed=0)
    values = getattr(problem, name)(points[:, 0], points[:, 1])
    drawn = ax.scatter(points[:, 0], points[:, 1], c=values, s=4, cmap="viridis")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    reach = np.concatenate([points, np.reshape(grid.bounds, (2, 2)).T])
    ax.set_xlim(reach[:, 0].min(), reach[:, 0].max())
    ax.set_ylim(reach[:, 1].min(), reach[:, 1].max())
    ax.set_aspect("equal")
    ax.set_title(title)
