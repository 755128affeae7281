"""Figures: one look for all of them, and files that are written whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.files import check_target, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def panels(count: int, title: str = "") -> tuple["Figure", list["Axes"]]:
    """A figure with square panels side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * count, 3.6), layout="constrained")
    axes = [figure.add_subplot(1, count, index + 1) for index in range(count)]
    if title:
        figure.suptitle(title)
    return figure, axes


def show_field(ax: "Axes", field: Any, mask: Any, extent: Any, title: str, colours: str = "viridis") -> None:
    """A field on a grid with its colour bar; pixels outside the mask stay empty."""
    image = ax.imshow(np.where(mask, field, np.nan), origin="lower", extent=extent, cmap=colours)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    ax.set_title(title)


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure in the format that the file's ending names."""
    check_target(path, *FORMATS)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150)
