"""A picture of a domain: filled, with its outline in a colour for every named part of the boundary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.plotting import outline_path, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mc2.geometry.domain import Domain

Array = NDArray[np.float64]
MOST_NAMED = 12
"""Parts that are named in a legend; of more, only the outline is drawn."""
POINTS = 48
"""Of every piece of a curve that is not straight."""
SIZE = 4.0
"""Inches of a picture's longer side."""


def domain_figure(domain: "Domain") -> "Figure":
    """A figure of a domain alone."""
    xmin, xmax, ymin, ymax = domain.bounds
    height = float(np.clip(SIZE * (ymax - ymin) / (xmax - xmin), 0.8, 1.6 * SIZE))
    figure, [ax] = panels(1, size=(SIZE + 1.5, height + 0.6))
    draw_domain(domain, ax)
    return figure


def draw_domain(domain: "Domain", ax: "Axes", legend: Sequence[str] | None = None) -> None:
    """Draw a domain in grey, and the parts of its boundary with their names.

    legend: what to say of every part, below the picture, instead of its name beside it.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch

    xmin, xmax, ymin, ymax = domain.bounds
    ax.add_patch(PathPatch(outline_path(domain), facecolor="0.92", edgecolor="none"))
    pieces, names = domain.pieces, [part.name for part in domain.parts]
    named = 1 < len(names) <= MOST_NAMED
    for index, name in enumerate(names if legend is None else legend):
        own = np.flatnonzero(pieces.part == index)
        lines: Any = [_line(pieces, int(piece)) for piece in own]
        width = 1.8 if named else 1.0
        ax.add_collection(LineCollection(lines, colors=part_colour(domain, index), linewidths=width, label=name))
    if legend is not None and len(names) <= MOST_NAMED:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize="small")
    elif named:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    margin = 0.03 * domain.size
    ax.set(xlim=(xmin - margin, xmax + margin), ylim=(ymin - margin, ymax + margin), aspect="equal")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def part_colour(domain: "Domain", part: int) -> str:
    """The colour of a part, the same in all pictures; one for all where there are too many to be named."""
    return f"C{part % 10}" if 1 < len(domain.parts) <= MOST_NAMED else "0.15"


class Stretch(NamedTuple):
    """A stretch of the boundary that lies on one part: points, outward normals, and how far along the boundary."""

    part: int
    along: Array
    x: Array
    y: Array
    nx: Array
    ny: Array


def stretches(domain: "Domain", count: int = 1200) -> list[Stretch]:
    """The boundary, curve after curve and part after part; no point is an end of a piece. count: of points, about."""
    pieces = domain.pieces
    begins = np.concatenate([[0.0], np.cumsum(pieces.length)])
    change = (np.diff(pieces.part) != 0) | (np.diff(pieces.curve) != 0)
    found = []
    for run in np.split(np.arange(pieces.size), np.flatnonzero(change) + 1):
        counts = np.ceil(count * pieces.length[run] / begins[-1]).astype(int)
        if len(run) == 1:
            counts = np.maximum(counts, 16)
        index, t = np.repeat(run, counts), np.concatenate([(np.arange(n) + 0.5) / n for n in counts])
        x, y = pieces.at(t, index).T
        normal = np.asarray(-1j * pieces.direction(t, index), complex)
        along = begins[index] + t * pieces.length[index]
        found.append(Stretch(int(pieces.part[run[0]]), along, x, y, normal.real, normal.imag))
    return found


def _line(pieces: Any, piece: int) -> Any:
    """Points [n, 2] along a piece."""
    t = np.linspace(0.0, 1.0, POINTS if pieces.turn[piece] else 2)
    return pieces.at(t, np.full(t.size, piece))
