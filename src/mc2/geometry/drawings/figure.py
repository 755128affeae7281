"""A picture of a drawing: the domain, with a colour for each part of its boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mc2.geometry.drawings.files import Reading
from mc2.plotting import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 30
"""Parts that the legend names."""


def draw_reading(reading: Reading, title: str = "") -> Figure:
    """The domain of a drawing, its parts and their lengths. Long boundaries have many colours, which repeat."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.path import Path

    domain = reading.domain
    pieces = domain.pieces
    figure, [ax] = panels(1, title, size=(9.0, 6.0))
    steps = [_along(float(turn)) for turn in pieces.turn]
    lines = [np.stack([pieces.at(t, slice(k, k + 1))[0] for t in step]) for k, step in enumerate(steps)]
    rings = [
        np.concatenate([lines[k] for k in np.flatnonzero(pieces.curve == curve)]) for curve in np.unique(pieces.curve)
    ]
    whole = Path.make_compound_path(*(Path(ring, closed=False) for ring in rings))
    ax.add_collection(PathCollection([whole], facecolors="0.92", edgecolors="none"))
    colours = colormaps["tab10" if len(domain.parts) <= 10 else "tab20"].colors  # type: ignore[attr-defined]
    for number, part in enumerate(domain.parts):
        own = [lines[k] for k in np.flatnonzero(pieces.part == number)]
        label = f"{part.name}  {part.length:.4g}" if number < MOST_NAMED else None
        style = "solid" if number < len(colours) else "dashed"
        drawn = LineCollection(
            own, colors=[colours[number % len(colours)]], linewidths=2, label=label, linestyles=style
        )
        ax.add_collection(drawn)
    ax.autoscale_view()
    ax.set_aspect("equal")
    unit = f" ({reading.units})" if reading.units else ""
    ax.set_xlabel(f"x{unit}")
    ax.set_ylabel(f"y{unit}")
    ax.legend(title=f"parts and lengths{unit}", loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return figure


def _along(turn: float) -> np.ndarray:
    """Fractions of a piece that are drawn: more where it bends more."""
    return np.linspace(0, 1, 2 + int(abs(turn) / 0.05))
