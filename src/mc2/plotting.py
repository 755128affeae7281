"""Figures: one look for all of them, and files that are written whole or not at all."""

import base64
import html
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.files import check_target, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.path import Path as MatplotlibPath

FORMATS = (".png", ".svg", ".pdf")
MOST_DRAWN = 1024
"""Pixels along a side of a field that are drawn: a panel has fewer itself."""


@cache
def _figure_class() -> type["Figure"]:
    """Figures that notebooks show: those of matplotlib are shown only where pyplot has been set up."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            return as_png(self)

    return ShownFigure


def panels(
    count: int, title: str = "", rows: int = 1, size: tuple[float, float] = (3.4, 3.6)
) -> tuple["Figure", list["Axes"]]:
    """A figure with rows of `count` panels side by side, in reading order.

    size: of one panel, in inches.
    """
    figure = _figure_class()(figsize=(size[0] * count, size[1] * rows), layout="constrained")
    axes = [figure.add_subplot(rows, count, index + 1) for index in range(rows * count)]
    if title:
        figure.suptitle(title, parse_math=False)  # a title is a text, whatever signs it has
    return figure, axes


def beside(rows: int, title: str, size: tuple[float, float]) -> tuple["Figure", "Axes", list["Axes"]]:
    """A figure with one panel on the left, and on the right rows of wide ones that share their horizontal axis.

    size: of all of it, in inches.
    """
    figure = _figure_class()(figsize=size, layout="constrained")
    cells = figure.add_gridspec(rows, 2, width_ratios=(2, 3))
    left, right = figure.add_subplot(cells[:, 0]), [figure.add_subplot(cells[0, 1])]
    right += [figure.add_subplot(cells[row, 1], sharex=right[0]) for row in range(1, rows)]
    for ax in right[:-1]:
        ax.tick_params(labelbottom=False)
    if title:
        figure.suptitle(title, parse_math=False)
    return figure, left, right


def show_field(
    ax: "Axes",
    field: Any,
    mask: Any,
    extent: Any,
    title: str,
    colours: str = "viridis",
    *,
    norm: "Normalize | None" = None,
    bar: bool = True,
) -> "AxesImage":
    """A field on a grid; pixels outside the mask stay empty.

    norm: the range of its colours.
    bar: whether it is drawn.

    Returns the image, from which several panels can share one colour bar.
    """
    field, mask = (drawn(array) for array in (field, mask))
    image = ax.imshow(np.where(mask, field, np.nan), origin="lower", extent=extent, cmap=colours, norm=norm)
    if bar:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
    ax.set_title(title)
    return image


def drawn(array: Any) -> Any:
    """An array [n, n] with no more pixels than a picture can show."""
    step = -(-len(array) // MOST_DRAWN)
    return array[::step, ::step]


def symmetric(values: Any, share: float = 0.99) -> "Normalize":
    """Colours around 0 that reach as far as the smallest `share` of |values|: a few peaks do not fade all else."""
    from matplotlib.colors import Normalize

    limit = float(np.quantile(np.abs(values), share)) or 1.0
    return Normalize(-limit, limit)


def save_figure(figure: "Figure", path: Path, dpi: int = 150) -> None:
    """Write a figure in the format that the file's ending names."""
    check_target(path, *FORMATS)
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=dpi)


def outline_path(domain: Any, points: int = 48) -> "MatplotlibPath":
    """A domain's boundary as a path to fill, holes and all. points: of every full circle that an arc is a part of."""
    from matplotlib.path import Path as MatplotlibPath

    pieces, vertices, codes = domain.pieces, [], []
    if domain.unbounded:  # it fills its window
        xmin, xmax, ymin, ymax = domain.bounds
        vertices.append(np.array([(xmin, ymin), (xmax, ymin), (xmax, ymax), (xmin, ymax), (xmin, ymin)]))
        codes.append([MatplotlibPath.MOVETO, *[MatplotlibPath.LINETO] * 3, MatplotlibPath.CLOSEPOLY])
    for curve in np.unique(pieces.curve):
        own = np.flatnonzero(pieces.curve == curve)
        counts = np.maximum(1, np.ceil(np.abs(pieces.turn[own]) / (2 * np.pi) * points)).astype(int)
        index = np.repeat(own, counts)
        t = np.concatenate([np.arange(count) / count for count in counts])
        ring = pieces.at(t, index)
        vertices.append(np.concatenate([ring, ring[:1]]))
        codes.append([MatplotlibPath.MOVETO, *[MatplotlibPath.LINETO] * (len(ring) - 1), MatplotlibPath.CLOSEPOLY])
    return MatplotlibPath(np.concatenate(vertices), np.concatenate(codes))


def as_png(figure: "Figure") -> bytes:
    """A figure as notebooks show it."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100)
    return content.getvalue()


def as_html(picture: bytes, text: str) -> str:
    """A PNG picture with a text below, as notebooks show it."""
    said, data = html.escape(text), base64.b64encode(picture).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{said}"/><div>{said}</div>'
