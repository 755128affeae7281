"""The picture of one instance: where it is posed, what is exact, and what walks make of it."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.geometry import Grid
from mc2.metrics import mse, psnr
from mc2.plotting import panels, show_field, symmetric
from mc2.zoo.conditions import plain
from mc2.zoo.fields import Fields
from mc2.zoo.instance import Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

DECADES = 3
"""That the colours of errors span, downwards from nearly the largest one."""
SYMBOLS = {"lam": "λ", "k": "k"}


def draw_instance(fields: Fields, grid: Grid, number: int = 0) -> "Figure":
    """The domain, what is given and u on the left, then the estimate at every budget with its |error| beneath.

    Estimates have the colours of u, so what leaves its range is clipped. Errors share one scale.
    """
    from matplotlib.colors import Normalize

    instance, mask, u = fields.instances[number], fields.mask[number].astype(bool), fields.u[number]
    columns = 2 + len(fields.budgets)
    figure, axes = panels(columns, rows=2, size=(2.9, 2.75))
    lines = describe(instance).splitlines()
    figure.suptitle("\n".join(textwrap.fill(line, int(10 * figure.get_figwidth())) for line in lines))
    top, bottom = axes[:columns], axes[columns:]
    colours = Normalize(float(u[mask].min()), float(u[mask].max()))
    show_domain(top[0], instance, mask, grid)
    if instance.problem.source is None:
        _show_boundary(bottom[0], instance, colours, top[0].get_xlim())
    else:
        _show_source(bottom[0], fields.f[number], mask, grid)
    image = show_field(top[1], u, mask, grid.extent, "exact solution u", norm=colours, bar=False)
    for ax, budget, mean in zip(top[2:], fields.budgets, fields.mean[number], strict=True):
        title = f"{budget:,} {'walk' if budget == 1 else 'walks'}: {psnr(mean, u, mask):.2f} dB"
        show_field(ax, mean, mask, grid.extent, title, norm=colours, bar=False)
    figure.colorbar(image, ax=top[1:], extend="both", label="estimates clipped\nto the range of u", pad=0.01)
    _show_rate(bottom[1], fields, number)
    _show_errors(bottom[2:], fields, number, grid)
    for ax in (*top, bottom[0], *bottom[2:]):
        ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    return figure


def describe(instance: Instance) -> str:
    """An instance in two lines: what is solved and where, and of what and how."""
    values = [f"{SYMBOLS[name]} = {value:.4g}" for name, value in instance.parameters.items()]
    equation = ", ".join([f"{instance.family}, {instance.problem.equation}", *values])
    walk = " (walks Δu = f − k²u, u known)" if instance.estimator == "reduced" else ""
    atoms = ", ".join(atom.type.name for atom in instance.atoms)
    return (
        f"{instance.id}: {equation}, on {in_words(plain(instance.domain).describe())}\n"
        f"{len(instance.atoms)} atoms: {atoms}; estimator: {instance.estimator}{walk}"
    ) + "".join(f"\n{one.part}: {one.kind} {one.coefficient or ''}".rstrip() for one in instance.boundary)


def in_words(description: dict[str, Any]) -> str:
    """A domain's description as a reader says it: the difference of an ellipse and a disk."""
    if "shape" in description:
        name = description["shape"]
        sizes = [
            f"{key.replace('_', ' ')} {value:.3g}"
            for key, value in description.items()
            if key not in ("shape", "center", "angle")
        ]
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name} ({', '.join(sizes)})"
    [(operation, parts)] = description.items()
    *most, last = [in_words(part).partition(" (")[0] for part in parts]
    return f"the {operation} of {', '.join(most)} and {last}"


def show_domain(ax: "Axes", instance: Instance, mask: Any, grid: Grid) -> None:
    """The mask, the outline of the domain also where it leaves the grid, and the grid's frame."""
    xmin, xmax, ymin, ymax = grid.bounds
    reach = 1.04 * max(*map(abs, grid.bounds), *map(abs, instance.domain.bounds))
    x, y = Grid(400, bounds=(-reach, reach, -reach, reach)).points()
    distance = instance.domain.distance(x, y)
    leaves = (distance > 0)[(x < xmin) | (x > xmax) | (y < ymin) | (y > ymax)].any()
    ax.imshow(np.where(mask, 1.0, np.nan), origin="lower", extent=grid.extent, cmap="Greys", vmin=0, vmax=4)
    ax.contour(x, y, distance, levels=[0.0], colors=["tab:blue"], linewidths=1.5)
    ax.plot([xmin, xmax, xmax, xmin, xmin], [ymin, ymin, ymax, ymax, ymin], "k--", linewidth=0.8)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set_title("domain, leaves the grid" if leaves else f"domain, {mask.mean():.0%} of the grid")


def _show_source(ax: "Axes", f: Any, mask: Any, grid: Grid) -> None:
    """f in colours around 0; its peaks are clipped."""
    image = show_field(ax, f, mask, grid.extent, "source f", "RdBu_r", norm=symmetric(f[mask]), bar=False)
    ax.figure.colorbar(image, ax=ax, extend="both")


def _show_errors(axes: list["Axes"], fields: Fields, number: int, grid: Grid) -> None:
    """|error| at every budget, on one logarithmic scale."""
    from matplotlib.colors import LogNorm

    mask, u = fields.mask[number].astype(bool), fields.u[number]
    error = np.abs(fields.mean[number] - u)
    largest = float(np.quantile(error[:, mask], 0.999)) or 1.0
    smallest = largest * 10.0**-DECADES
    for ax, mean, field in zip(axes, fields.mean[number], error, strict=True):
        shown = np.maximum(field, smallest)  # an error of 0 has no logarithm
        title = f"|error|, MSE {mse(mean, u, mask):.3g}"
        scale = LogNorm(smallest, largest)
        image = show_field(ax, shown, mask, grid.extent, title, "magma", norm=scale, bar=False)
    axes[0].figure.colorbar(image, ax=axes, extend="both", label="|error|", pad=0.01)


def _show_boundary(ax: "Axes", instance: Instance, colours: "Normalize", reach: tuple[float, float]) -> None:
    """Boundary values in the colours of u: all that a problem without a source is given."""
    x, y = instance.domain.sample_boundary(4000, seed=0).T
    ax.scatter(x, y, c=instance.problem.boundary(x, y), s=4, norm=colours)
    ax.set(xlim=reach, ylim=reach, aspect="equal", title="boundary values (f = 0)")


def _show_rate(ax: "Axes", fields: Fields, number: int) -> None:
    """The mean squared error against the budget, beside the line that falls as 1/B."""
    mask, u = fields.mask[number].astype(bool), fields.u[number]
    budgets = np.array(fields.budgets)
    errors = [mse(found, u, mask) for found in fields.mean[number]]
    line = np.array([budgets[0] / 1.5, budgets[-1] * 1.5])
    ax.loglog(line, np.exp(np.mean(np.log(errors) + np.log(budgets))) / line, "k--", linewidth=0.8, label="1/B")
    ax.loglog(budgets, errors, "o", color="tab:blue", label="MSE")
    named = fields.budgets[:: -(-len(budgets) // 6)]  # more than six labels would overlap
    ax.set_xticks(named, [f"{budget:,}" for budget in named])
    ax.set_box_aspect(1)
    ax.minorticks_off()
    ax.set(title="MSE against walks B")
    ax.legend(fontsize=8)
