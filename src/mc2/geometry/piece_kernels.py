"""The nearest of some lines and circular arcs, compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import kernel, scalar

TIE = 1e-10
"""Squared distances that differ by less of themselves are equal."""
ROUNDING = 1e-22
"""Likewise, of squared coordinates."""


def table(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    bulge: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Pieces for the kernels [n, 9]: start, end, 1/length² of the chord, center, radius, sense (0: a line)."""
    along = end - start
    square = (along**2).sum(axis=1)
    arc = np.abs(bulge) > 1e-14
    # the center lies on the left of the middle of the chord by cot(θ/2)/2 of its length
    offset = np.where(arc, 0.25 * (1 - bulge**2) / np.where(arc, bulge, 1), 0.0)
    center = 0.5 * (start + end) + offset[:, None] * np.stack([-along[:, 1], along[:, 0]], axis=1)
    radius = np.hypot(*(start - center).T)
    inverse = 1 / np.where(square > 0, square, 1)
    return np.column_stack([start, end, inverse, center, radius, np.where(arc, np.sign(bulge), 0.0)])


@scalar
def piece_square(p: Any, x: Any, y: Any) -> Any:
    """The squared distance of a point to a piece, which is a row of the table."""
    ux, uy, vx, vy = x - p[0], y - p[1], x - p[2], y - p[3]
    if p[8] == 0:
        ex, ey = p[2] - p[0], p[3] - p[1]
        t = min(max((ux * ex + uy * ey) * p[4], 0.0), 1.0)
        return (ux - t * ex) ** 2 + (uy - t * ey) ** 2
    cx, cy = x - p[5], y - p[6]
    # an arc of at most half a circle: on the side of its chord away from the center, as seen from the center
    first = p[8] * ((p[0] - p[5]) * cy - (p[1] - p[6]) * cx)
    last = p[8] * (cx * (p[3] - p[6]) - cy * (p[2] - p[5]))
    if first >= 0 and last >= 0:
        return (np.sqrt(cx * cx + cy * cy) - p[7]) ** 2
    return min(ux * ux + uy * uy, vx * vx + vy * vy)


@scalar
def on_left(p: Any, x: Any, y: Any) -> Any:
    """Whether a point near a piece is on its left: within the circle of an arc that turns left."""
    if p[8] == 0:
        return (p[2] - p[0]) * (y - p[1]) - (p[3] - p[1]) * (x - p[0]) >= 0
    cx, cy = x - p[5], y - p[6]
    return p[8] * (p[7] - np.sqrt(cx * cx + cy * cy)) >= 0


@kernel
def nearest(pieces: Any, x: Any, y: Any, found: Any, distance: Any) -> None:
    """The nearest piece of every point; among equally near ones, the first that has it on its left."""
    for i in range(x.size):
        best, index, facing = np.inf, -1, False
        for k in range(pieces.shape[0]):
            square = piece_square(pieces[k], x[i], y[i])
            tie = TIE * square + ROUNDING * (pieces[k, 0] ** 2 + pieces[k, 1] ** 2)
            if square < best - tie:
                best, index = square, k
                facing = on_left(pieces[k], x[i], y[i])
            elif square <= best + tie and not facing and on_left(pieces[k], x[i], y[i]):
                index, facing = k, True
        found[i] = index
        distance[i] = np.sqrt(best)
