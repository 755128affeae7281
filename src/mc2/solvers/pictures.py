"""Pictures of solutions: a filled field with isolines, cut along the domain's outline itself, and its errors."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.plotting import drawn, outline_path, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]

FIELD, ERRORS = "viridis", "magma"
"""Colour maps that are read alike with any kind of colour vision, and in grey."""
DECADES = 4
"""Powers of ten that errors are drawn over."""
MARGIN = 0.02
"""Empty margin around the grid as a part of its longer side, so that an outline is not cut at the frame."""
LONG = 3.0
"""Times as long as wide, from which a domain has panels above each other and few ticks on its short side."""
ARROWS = 24
"""Arrows of a gradient along the longer side."""


def plot(
    solution: "Solution",
    exact: Any = None,
    title: str = "",
    *,
    ax: "Axes | None" = None,
    isolines: int = 10,
    cmap: str = FIELD,
    levels: Any = None,
    gradient: bool = False,
) -> "Figure":
    """The solution beside its standard error and, given the exact field, its error; or alone, in given axes.

    Its arguments are those of `Solution.plot`.
    """
    if ax is not None:
        _field(ax, solution, isolines, cmap, levels, gradient)
        ax.set_title(title)
        return ax.figure  # type: ignore[return-value]
    figure, axes = _panels(solution, 2 if exact is None else 3, title)
    _field(axes[0], solution, isolines, cmap, levels, gradient)
    axes[0].set_title(f"u, from {solution.walks:,} walks" if solution.walks else "u, from the boundary")
    errors = {"standard error": solution.standard_error}
    if exact is not None:
        field = exact(*solution.grid.points()) if callable(exact) else np.asarray(exact, float)
        errors["|error|"] = np.abs(solution.values - field)
    norm = error_norm([part[solution.mask] for part in errors.values()])
    for own, (name, part) in zip(axes[1:], errors.items(), strict=True):
        image = show(own, solution, np.maximum(part, norm.vmin or 0.0), ERRORS, norm)
        own.set_title(name)
    figure.colorbar(image, ax=axes[1:], shrink=0.85, extend="min")
    return figure


def compare(first: "Solution", second: "Solution", title: str = "") -> "Figure":
    """Two solutions on one grid, with one colour bar, and their difference beside their standard errors' sum."""
    if first.grid != second.grid or not np.array_equal(first.mask, second.mask):
        raise InputError("solutions are compared on one grid: solve both with the same grid=…")
    from matplotlib.colors import Normalize

    figure, axes = _panels(first, 3, title)
    values = np.concatenate([one.values[one.mask] for one in (first, second)])
    norm = Normalize(values.min(), values.max())
    for ax, one, name in zip(axes, (first, second), "ab", strict=False):
        image = show(ax, one, one.values, FIELD, norm)
        ax.set_title(f"{name}: {one.method}")
    figure.colorbar(image, ax=axes[:2], shrink=0.85)
    off = np.abs(first.values - second.values)
    norm = error_norm([off[first.mask]])
    image = show(axes[2], first, np.maximum(off, norm.vmin or 0.0), ERRORS, norm)
    if off.any():
        axes[2].set_title("|a − b|")
        figure.colorbar(image, ax=axes[2], shrink=0.85, extend="min")
    else:
        axes[2].set_title("a − b is 0 everywhere")
    return figure


def error_norm(parts: list[Array]) -> "Normalize":
    """One logarithmic range of colours for several fields of errors."""
    from matplotlib.colors import LogNorm

    known = np.concatenate(parts)
    known = known[np.isfinite(known)]
    top = float(known.max(initial=0.0)) or 1.0
    typical = float(np.quantile(known, 0.02)) if known.size else top
    return LogNorm(min(max(typical, top * 10.0**-DECADES), 0.5 * top), top)


def show(ax: "Axes", solution: "Solution", field: Array, cmap: str, norm: "Normalize | None" = None) -> Any:
    """A field in colours, cut along the domain's outline, which is drawn."""
    from matplotlib.patches import PathPatch

    domain, bounds = solution.problem.domain, solution.grid.extent
    image = ax.imshow(
        drawn(_grown(field, solution.mask)),
        origin="lower",
        extent=bounds,
        cmap=cmap,
        norm=norm,
        interpolation="bilinear",
    )
    patch = PathPatch(outline_path(domain), facecolor="none", edgecolor="0.15", linewidth=0.9, transform=ax.transData)
    ax.add_patch(patch)
    image.set_clip_path(patch)
    margin = MARGIN * max(bounds[1] - bounds[0], bounds[3] - bounds[2])
    ax.set_xlim(bounds[0] - margin, bounds[1] + margin)
    ax.set_ylim(bounds[2] - margin, bounds[3] + margin)
    ax.set_aspect("equal")
    across, up = bounds[1] - bounds[0], bounds[3] - bounds[2]
    if across * LONG < up:  # its ends are all that there is room for
        ax.set_xticks(domain.bounds[:2])
        ax.tick_params(axis="x", labelrotation=90)
    elif up * LONG < across:
        ax.set_yticks(domain.bounds[2:])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return image


def _field(ax: "Axes", solution: "Solution", isolines: int, cmap: str, levels: Any, gradient: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    image = show(ax, solution, solution.values, cmap)
    inside = solution.values[solution.mask]
    image.set_clim(inside.min(), inside.max())
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85)
    if levels is None and isolines > 0 and np.ptp(inside) > 0:
        levels = MaxNLocator(isolines).tick_values(inside.min(), inside.max())
    if levels is not None and np.size(levels):
        x, y = solution.grid.points()
        grown = _grown(solution.values, solution.mask)
        style: Any = {"colors": "white", "linewidths": 0.6, "linestyles": "solid", "alpha": 0.8}
        lines = ax.contour(drawn(x), drawn(y), drawn(grown), levels=levels, **style)
        lines.set_clip_path(ax.patches[-1])
        bar.add_lines(lines)
    if gradient:
        _arrows(ax, solution)


def _arrows(ax: "Axes", solution: "Solution") -> None:
    step = -(-max(solution.grid.shape) // ARROWS)
    chosen = np.zeros(solution.grid.shape, bool)
    chosen[step // 2 :: step, step // 2 :: step] = True
    x, y = (c[chosen & solution.mask] for c in solution.grid.points())
    slope = solution.gradient(x, y)
    ax.quiver(x, y, -slope.x, -slope.y, color="0.1", width=0.004, pivot="mid")


def _grown(field: Array, mask: NDArray[np.bool_]) -> Array:
    """The field continued to pixels outside, by the nearest ones inside: the outline cuts through pixels."""
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(~mask, return_distances=False, return_indices=True)
    return np.asarray(field[tuple(nearest)])


def _panels(solution: "Solution", count: int, title: str) -> tuple["Figure", list["Axes"]]:
    """Panels of the grid's proportions: side by side, or one above the other if they are long and low."""
    xmin, xmax, ymin, ymax = solution.grid.extent
    aspect = (ymax - ymin) / (xmax - xmin)
    if aspect * LONG < 1:
        return panels(1, title, rows=count, size=(8.4, max(6.6 * aspect, 0.5) + 0.9))
    return panels(count, title, size=(4.2, float(np.clip(3.4 * aspect, 1.2, 6.0)) + 0.7))
