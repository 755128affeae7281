"""Holes: the bounded components of a domain's complement."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mc2.geometry.kernels import DIFFERENCE, UNION

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

UNIFORM_LINES, BOX_LINES, MAX_LINES = 257, 33, 1200
PATIENCE = 64
"""Moves towards the deepest point of a hole after which they become longer."""


class Hole(NamedTuple):
    """A point deep inside a hole, and a radius around it that stays within the hole."""

    center: tuple[float, float]
    radius: float


@lru_cache(maxsize=256)
def find_holes(domain: Domain) -> tuple[Hole, ...]:
    """Label the outside on a grid; every component that does not reach the border is a hole. The largest come first."""
    if _filled(domain):
        return ()
    from scipy import ndimage

    x, y = _lines(domain)
    d = domain.distance(x, y[:, None])
    # Strictly outside: the seam between two parts that share an edge has distance 0, and is no way out of a hole.
    labels, count = ndimage.label(d < -domain.rounding)
    enclosed = np.setdiff1d(np.arange(1, count + 1), _border(labels))
    deepest = ndimage.minimum_position(d, labels, enclosed)
    step = max(np.diff(x).max(), np.diff(y).max())
    holes = [_settle(domain, x[column], y[row], step) for row, column in deepest]
    xmin, xmax, ymin, ymax = domain.bounds
    # one that leads out of the domain's box through a gap that the grid has missed is none
    holes = [hole for hole in holes if xmin <= hole.center[0] <= xmax and ymin <= hole.center[1] <= ymax]
    return tuple(sorted(holes, key=lambda hole: -hole.radius))


def _filled(domain: Domain) -> bool:
    """Whether it is an intersection of shapes without holes, or one of them: then it has none either."""
    operations = domain.program.code[:, 0]
    return all(len(leaf.boxes) == 1 for leaf in domain.leaves()) and not np.isin(operations, (UNION, DIFFERENCE)).any()


def _lines(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Grid lines: evenly over the padded bounding box, and again over the box of every boundary curve."""
    xmin, xmax, ymin, ymax = domain.bounds
    margin = 0.05 * domain.size
    boxes = [box for leaf in domain.leaves() for box in leaf.boxes]
    per_box = max(5, min(BOX_LINES, MAX_LINES // len(boxes)))
    axes = []
    for low, high, k in ((xmin, xmax, 0), (ymin, ymax, 2)):
        inner = np.concatenate([np.linspace(box[k], box[k + 1], per_box) for box in boxes])
        inner = inner[(inner > low - margin) & (inner < high + margin)]
        lines = np.union1d(np.linspace(low - margin, high + margin, UNIFORM_LINES), inner)
        stride = -(-len(lines) // MAX_LINES)
        axes.append(np.union1d(lines[::stride], lines[-1:]))
    return axes[0], axes[1]


def _border(labels: np.ndarray) -> np.ndarray:
    return np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))


def _settle(domain: Domain, x: float, y: float, step: float) -> Hole:
    """Walk to the deepest point by compass search: eight neighbours, the step halved when none is deeper."""
    compass = np.arange(8) * (np.pi / 4)
    depth = -float(domain.distance(x, y))
    # A ball around a point outside stays outside, so a step of at most the depth cannot leave the hole.
    step = min(step, depth)
    xmin, xmax, ymin, ymax = domain.bounds
    moves = 0
    while step > 1e-9 * domain.size and step > 1e-6 * depth and xmin <= x <= xmax and ymin <= y <= ymax:
        to_x, to_y = x + step * np.cos(compass), y + step * np.sin(compass)
        depths = -domain.distance(to_x, to_y)
        best = int(np.argmax(depths))
        # Asking for a real gain keeps rounding from leading us along a flat ridge.
        if depths[best] > depth + 0.01 * step:
            x, y, depth = to_x[best], to_y[best], float(depths[best])
            moves += 1
            if moves % PATIENCE == 0:  # a long way: it began in a narrow corner
                step = min(2 * step, depth)
        else:
            step /= 2
    return Hole((float(x), float(y)), depth)
