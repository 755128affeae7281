"""A picture of a domain: filled, with its outline in a colour for every named part of the boundary."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.plotting import outline_path, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mc2.geometry.domain import Domain

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


def draw_domain(domain: "Domain", ax: "Axes") -> None:
    """Draw a domain in grey, and the parts of its boundary with their names."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch

    xmin, xmax, ymin, ymax = domain.bounds
    ax.add_patch(PathPatch(outline_path(domain), facecolor="0.92", edgecolor="none"))
    pieces, names = domain.pieces, [part.name for part in domain.parts]
    named = 1 < len(names) <= MOST_NAMED
    for index, name in enumerate(names):
        own = np.flatnonzero(pieces.part == index)
        lines: Any = [_line(pieces, int(piece)) for piece in own]
        colour = f"C{index % 10}" if named else "0.15"
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=1.8 if named else 1.0, label=name))
    if named:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    margin = 0.03 * domain.size
    ax.set(xlim=(xmin - margin, xmax + margin), ylim=(ymin - margin, ymax + margin), aspect="equal")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _line(pieces: Any, piece: int) -> Any:
    """Points [n, 2] along a piece."""
    t = np.linspace(0.0, 1.0, POINTS if pieces.turn[piece] else 2)
    return pieces.at(t, np.full(t.size, piece))
