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


@scalar
def box_square(box: Any, x: Any, y: Any) -> Any:
    """The squared distance of a point to a box (xmin, ymin, xmax, ymax)."""
    u = max(box[0] - x, x - box[2], 0.0)
    v = max(box[1] - y, y - box[3], 0.0)
    return u * u + v * v


@kernel
def make_boxes(low: Any, high: Any, order: Any, boxes: Any, skips: Any) -> None:
    """Boxes [2n - 1, 4] around all pieces, around each half of them, and so on, a box before its halves.

    low, high: corners of the pieces' own boxes. order: of the pieces. skips: boxes within each, and itself.
    """
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, order.size
    waiting, place = 1, 0
    while waiting > 0:
        waiting -= 1
        first, last = stack[waiting, 0], stack[waiting, 1]
        boxes[place, :2], boxes[place, 2:] = np.inf, -np.inf
        for k in order[first:last]:
            for axis in range(2):
                boxes[place, axis] = min(boxes[place, axis], low[k, axis])
                boxes[place, axis + 2] = max(boxes[place, axis + 2], high[k, axis])
        skips[place] = 2 * (last - first) - 1
        place += 1
        if last - first > 1:
            middle = (first + last) // 2
            stack[waiting, 0], stack[waiting, 1] = middle, last
            stack[waiting + 1, 0], stack[waiting + 1, 1] = first, middle
            waiting += 2


@kernel
def nearest(pieces: Any, order: Any, boxes: Any, skips: Any, x: Any, y: Any, found: Any, distance: Any) -> None:
    """The nearest piece of every point; among equally near ones, the first that has it on its left."""
    count = order.size
    for i in range(x.size):
        best = np.inf
        box, place = 0, 0  # place: in the order, of the first piece in the box
        while box < boxes.shape[0]:
            if box_square(boxes[box], x[i], y[i]) >= best:
                place += (skips[box] + 1) // 2
                box += skips[box]
                continue
            if skips[box] == 1:
                best = min(best, piece_square(pieces[order[place]], x[i], y[i]))
                place += 1
            box += 1
        first, facing = count, count
        box, place = 0, 0
        while box < boxes.shape[0]:
            reach = max(abs(boxes[box, 0]), abs(boxes[box, 2])) + max(abs(boxes[box, 1]), abs(boxes[box, 3]))
            if box_square(boxes[box], x[i], y[i]) > best * (1 + TIE) + ROUNDING * reach * reach:
                place += (skips[box] + 1) // 2
                box += skips[box]
                continue
            if skips[box] == 1:
                k = order[place]
                tie = TIE * best + ROUNDING * (pieces[k, 0] ** 2 + pieces[k, 1] ** 2)
                if piece_square(pieces[k], x[i], y[i]) <= best + tie:
                    first = min(first, k)
                    if on_left(pieces[k], x[i], y[i]):
                        facing = min(facing, k)
                place += 1
            box += 1
        found[i] = facing if facing < count else first
        distance[i] = np.sqrt(best)
