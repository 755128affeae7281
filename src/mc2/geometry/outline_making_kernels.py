"""Making the tree over very many edges, compiled: what `mc2.geometry.outline_kernels` reads."""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar
from mc2.geometry.outline_kernels import (
    CELLS,
    FARTHEST,
    LISTED,
    NODE,
    NODES,
    OUTSIDE,
    RUN,
    SPLIT,
    START,
    node_sign,
    node_square,
    open_node,
)

FEW = 4
"""Nodes of a cell, with which it is not cut any further."""
FEW_NEAR = 6
"""Likewise, of cells at the boundary that are no larger than the edges there."""
SMALL = 0.25
"""Cells of this part of their distance are not cut any further."""
MIDDLE = 0.25
"""Cells of this part of their distance, which is at least `CLEAR`, need only the distance of their middle."""
CLEAR = 2e-3
"""In units of the size. Nearer to the boundary, where walks end, distances are exact."""
THIN = 0.01
"""Radius of a run, as a part of its distance, up to which it is taken for its chord."""


@kernel
def make_nodes(start: Any, end: Any, chain: Any, signs: Any, nodes: Any) -> None:
    """The nodes [2n - 1, NODE] of n edges, a run before its halves. Edges of a chain follow each other.

    signs: of every edge the sign of the distance where its start, and its end, is the nearest point; or 0.
    """
    edges = start.shape[0]
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, edges
    waiting, place = 1, 0
    while waiting > 0:
        waiting -= 1
        low, high = stack[waiting, 0], stack[waiting, 1]
        node = nodes[place]
        place += 1
        one_chain = chain[low] == chain[high - 1]
        if one_chain:
            ex, ey = end[high - 1, 0] - start[low, 0], end[high - 1, 1] - start[low, 1]
            node[0], node[1], node[2], node[3] = start[low, 0], start[low, 1], ex, ey
        else:
            node[2] = node[3] = 0.0
            for axis in range(2):
                least = min(start[low:high, axis].min(), end[low:high, axis].min())
                most = max(start[low:high, axis].max(), end[low:high, axis].max())
                node[axis] = 0.5 * (least + most)
        square = node[2] * node[2] + node[3] * node[3]
        node[4] = 1 / square if square > 0 else 0.0
        node[5] = 0.0
        if high - low == 1:
            node[6], node[7] = signs[low, 0], signs[low, 1]
            continue
        for k in range(low, high):
            node[5] = max(node[5], node_square(node, 0, start[k, 0], start[k, 1]))
            if not one_chain:
                node[5] = max(node[5], node_square(node, 0, end[k, 0], end[k, 1]))
        node[5] = math.sqrt(node[5])
        node[6], node[7] = 2.0 * (high - low) - 1, RUN
        middle = (low + high) // 2
        if not one_chain:  # halves are whole chains, if they can be
            before, after = middle, middle
            while before > low and chain[before - 1] == chain[before]:
                before -= 1
            while after < high and chain[after - 1] == chain[after]:
                after += 1
            middle = before if after == high or (before > low and middle - before < after - middle) else after
        stack[waiting, 0], stack[waiting, 1] = middle, high
        stack[waiting + 1, 0], stack[waiting + 1, 1] = low, middle
        waiting += 2


@scalar
def _gather(c: Any, given: Any, near: Any, x: Any, y: Any, half: Any, thick: Any) -> Any:
    """Put into `near` the nodes that may be the nearest of a point within `half` of (x, y).

    given: nodes of a larger cell around. near: [3, many]: nodes, their distances from (x, y), and their radii.
    thick: runs are opened that have a larger radius, unless they are thin against their distance; all if negative.
    Returns how many they are, or −1 where they are too many; and a lower bound of the distance of (x, y).
    """
    most = near.shape[1]
    count, least = 0, np.inf  # least: an upper bound of the distance
    for index in range(given.size):
        near[0, count], count = given[index], count + 1
    kept, looked = 0, 0
    while looked < count:
        k = np.int64(near[0, looked])
        looked += 1
        distance, radius = math.sqrt(node_square(c, k, x, y)), c[k + 5]
        least = min(least, distance + radius)
        if distance - radius > least + 2 * half:
            continue
        if c[k + 7] == RUN and radius > (max(thick, THIN * (distance - radius - half)) if thick >= 0 else thick):
            if count + 2 > most:
                return -1, 0.0
            first = k + NODE
            second = first + NODE * (np.int64(c[first + 6]) if c[first + 7] == RUN else 1)
            near[0, count], near[0, count + 1] = first, second
            count += 2
            continue
        near[0, kept], near[1, kept], near[2, kept] = k, distance, radius
        kept += 1
    bound, count = np.inf, 0
    for index in range(kept):
        if near[1, index] - near[2, index] <= least + 2 * half:
            near[:, count] = near[:, index]
            bound = min(bound, near[1, count] - near[2, count])
            count += 1
    return count, bound


@kernel
def make_cells(c: Any, used: Any, coarse: Any, side: Any, reach: Any, smallest: Any, fixed: Any) -> Any:
    """Write the cells into the constants c of an outline, whose header and nodes are there.

    used: how many constants are there. coarse, side: cells along a side before and after cutting them by SPLIT, as
    often as needed; the numbers of the latter come first. reach: rounding of coordinates. smallest: half the side of a
    cell that is not cut any further. fixed: the sign of all distances, or 0 if it is found from the edges.
    Returns how many constants are there now, or −1 if c is too short.
    """
    width = -2 * c[START]
    inverse = side / width
    c[CELLS] = used
    used += side * side
    near = np.empty((3, c.size // NODE + 64))
    lists = np.empty(64 * near.shape[1], np.int64)
    stack = np.empty((16 * 64, 8))  # x, y, half side, where its number goes, cells along the side, list, count, sign
    waiting = 0
    lists[0] = np.int64(c[NODES])
    for i in range(coarse):
        for j in range(coarse):
            half = 0.5 * width / coarse
            stack[waiting, 0] = c[START] + (2 * i + 1) * half
            stack[waiting, 1] = c[START] + (2 * j + 1) * half
            stack[waiting, 2], stack[waiting, 3], stack[waiting, 4] = half, -1, coarse
            stack[waiting, 5], stack[waiting, 6], stack[waiting, 7] = 0, 1, fixed
            waiting += 1
    while waiting > 0:
        waiting -= 1
        x, y, half = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        slot, along = np.int64(stack[waiting, 3]), np.int64(stack[waiting, 4])
        first, count, sign = np.int64(stack[waiting, 5]), np.int64(stack[waiting, 6]), stack[waiting, 7]
        around = half * math.sqrt(2.0) + reach
        kept, bound = _gather(c, lists[first : first + count], near, x, y, around, around)
        if first + count + kept > lists.size or waiting + SPLIT * SPLIT > stack.shape[0]:
            return -1
        passed = lists[first + count : first + count + kept]  # what smaller cells begin with
        passed[:] = near[0, :kept].astype(np.int64)
        own, bound = _gather(c, passed, near, x, y, around, 0.0)
        mixed, middle = bound <= around, 0.0
        if mixed:
            own, bound = _gather(c, passed, near, x, y, around, -1.0)
        else:
            best, found = np.inf, np.int64(0)
            for k in range(own):
                best, found = open_node(c, 0, np.int64(near[0, k]), x, y, best, found)
            if sign == 0:
                sign = node_sign(c, found, x, y)
            middle = min(math.sqrt(best) - reach, FARTHEST)
        few = FEW
        if mixed:
            shortest = np.inf
            for k in range(own):
                shortest = min(shortest, 1 / math.sqrt(c[np.int64(near[0, k]) + 4]))
            few = FEW_NEAR if 2 * half < shortest else FEW
        done = own <= few or half <= smallest or (not mixed and around < SMALL * bound)
        if along == side:
            row, column = math.floor((y - c[START]) * inverse), math.floor((x - c[START]) * inverse)
            slot = np.int64(c[CELLS] + row * side + column)
        if along >= side and around <= MIDDLE * middle and middle - around >= CLEAR:
            c[slot] = middle if sign > 0 else OUTSIDE + middle
            continue
        if along >= side and done:
            if used + LISTED + own > c.size:
                return -1
            c[slot], c[used], c[used + 1], c[used + 2] = used, sign, 0.0, own
            for k in range(own):
                c[used + LISTED + k] = near[0, k]
                c[used + 1] = max(c[used + 1], near[2, k])
            used += LISTED + own
            continue
        block = used
        if along >= side:
            if used + SPLIT * SPLIT > c.size:
                return -1
            c[slot] = -block
            used += SPLIT * SPLIT
        for j in range(SPLIT):
            for i in range(SPLIT):
                stack[waiting, 0] = x + half * ((2 * i + 1) / SPLIT - 1)
                stack[waiting, 1] = y + half * ((2 * j + 1) / SPLIT - 1)
                stack[waiting, 2], stack[waiting, 3] = half / SPLIT, block + SPLIT * j + i
                stack[waiting, 4], stack[waiting, 5], stack[waiting, 6] = along * SPLIT, first + count, kept
                stack[waiting, 7] = sign
                waiting += 1
    return used
