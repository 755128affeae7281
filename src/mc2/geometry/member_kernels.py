"""The distance to the union of very many shapes, compiled: a grid whose cells know which of them can be the deepest.

The constants of members are a header, and after it, counted from where the header begins:

- a row of three numbers for each member: what it is in programs, where its constants are, and its edges;
- for each cell, where its list ends; and the lists, one after the other, of the members' numbers.

A member is on a cell's list unless another one is deeper at every point of the cell.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel, scalar
from mc2.geometry.shape_kernels import POLYGON, polygon_point, shape_point

LEFT, BOTTOM, ACROSS, UP, COLUMNS, ROWS, COUNT, ENDS, LISTS = range(9)
"""The header: the corner of the grid, cells per length along x and y and how many they are, how many members there are,
and where the ends of lists and the lists begin. The rows of the members follow."""
HEADER = 9
ROW = 3


@scalar
def member_point(c: Any, at: Any, member: Any, x: Any, y: Any) -> Any:
    """The distance to one member."""
    T = type(x)
    row = at + HEADER + ROW * member
    op, k = np.int64(c[row]), at + np.int64(c[row + 1])
    if op == POLYGON:
        return polygon_point(c, k, np.int64(c[row + 2]), x, y)
    return shape_point(op, T(c[k]), T(c[k + 1]), T(c[k + 2]), T(c[k + 3]), T(c[k + 4]), T(c[k + 5]), x, y)


@scalar
def members_point(c: Any, at: Any, x: Any, y: Any) -> Any:
    """The largest of the members' distances; beyond the grid, in float32, a lower bound of the size of the distance."""
    T = type(x)
    found = T(-np.inf)
    columns, rows = np.int64(c[at + COLUMNS]), np.int64(c[at + ROWS])
    u = (x - T(c[at + LEFT])) * T(c[at + ACROSS])
    v = (y - T(c[at + BOTTOM])) * T(c[at + UP])
    inside = (u >= T(0)) & (u < T(columns)) & (v >= T(0)) & (v < T(rows))
    if not inside:
        if T(1) + T(1e-10) != T(1):
            for member in range(np.int64(c[at + COUNT])):
                found = max(found, member_point(c, at, member, x, y))
            return found
        # q, the nearest point of the grid: all members m are in it, and |p − m|² ≥ |p − q|² + |q − m|²
        u_in = min(max(u, T(0)), T(columns) * T(0.999999))
        v_in = min(max(v, T(0)), T(rows) * T(0.999999))
        beyond_x = (u - u_in) / T(c[at + ACROSS])
        beyond_y = (v - v_in) / T(c[at + UP])
        x, y, u, v = x - beyond_x, y - beyond_y, u_in, v_in
        if not (u >= T(0)) or not (v >= T(0)):
            return found
        cell = np.int64(v) * columns + np.int64(u)
        found = min(_deepest(c, at, cell, x, y), T(0))
        return -math.sqrt(found * found + beyond_x * beyond_x + beyond_y * beyond_y)
    return _deepest(c, at, np.int64(v) * columns + np.int64(u), x, y)


@scalar
def _deepest(c: Any, at: Any, cell: Any, x: Any, y: Any) -> Any:
    """The largest distance to the members of a cell's list."""
    found = type(x)(-np.inf)
    ends, lists = at + np.int64(c[at + ENDS]), at + np.int64(c[at + LISTS])
    first = np.int64(c[ends + cell - 1]) if cell > 0 else 0
    for k in range(first, np.int64(c[ends + cell])):
        found = max(found, member_point(c, at, np.int64(c[lists + k]), x, y))
    return found


PLACE, END, ACTIVE, OWN_X, OWN_Y, BEYOND = range(6)
SCRATCH = 6
"""Rows of lanes that `members_lanes` works in."""


@scalar
def members_lanes(constants: Any, at: Any, x: Any, y: Any, scratch: Any, distances: Any) -> None:
    """The same for a block of lanes. scratch: [SCRATCH, LANES]; distances: [LANES]."""
    T = type(x[0])
    if T(1) + T(1e-10) != T(1):
        for i in range(LANES):
            distances[i] = members_point(constants, at, x[i], y[i])
        return
    c = constants[at:]
    left, bottom, across, up = c[LEFT], c[BOTTOM], c[ACROSS], c[UP]
    columns = np.uint32(c[COLUMNS])
    right, top = T(columns) * T(0.999999), T(np.uint32(c[ROWS])) * T(0.999999)
    ends, lists, one = np.uint32(c[ENDS]), np.uint32(c[LISTS]), np.uint32(1)
    active = 0
    for i in range(LANES):
        u, v = (x[i] - left) * across, (y[i] - bottom) * up
        u_in, v_in = min(u if u > T(0) else T(0), right), min(v if v > T(0) else T(0), top)
        beyond_x, beyond_y = (u - u_in) / across, (v - v_in) / up
        scratch[OWN_X, i], scratch[OWN_Y, i] = x[i] - beyond_x, y[i] - beyond_y
        scratch[BEYOND, i] = beyond_x * beyond_x + beyond_y * beyond_y
        end = np.uint32(ends + np.uint32(v_in) * columns + np.uint32(u_in))
        scratch[PLACE, i] = c[end - one] if end > ends else T(0)
        scratch[END, i], scratch[ACTIVE, i], distances[i] = c[end], T(i), T(-np.inf)
        active += 1
    # No branch of this loop depends on how long a lane's list is: see `mc2.geometry.outline_kernels.outline_lanes`.
    while active > 0:
        going, active = active, 0
        for index in range(going):
            lane = np.uint32(scratch[ACTIVE, index])
            place = scratch[PLACE, lane]
            member = np.int64(c[lists + np.uint32(place)])
            found = member_point(c, 0, member, scratch[OWN_X, lane], scratch[OWN_Y, lane])
            distances[lane] = max(distances[lane], found)
            scratch[PLACE, lane], scratch[ACTIVE, active] = place + T(1), T(lane)
            active += int(place + T(1) < scratch[END, lane])
    for i in range(LANES):
        if scratch[BEYOND, i] > T(0):
            near = min(distances[i], T(0))
            distances[i] = -math.sqrt(near * near + scratch[BEYOND, i])


BLOCK = 8
"""Cells along the side of a block, for which lists are made first."""


@scalar
def _select(c: Any, given: Any, count: Any, x: Any, y: Any, half: Any, depth: Any, chosen: Any) -> Any:
    """Choose the members that can be the deepest within `half` of a point; returns how many they are."""
    most, kept = -np.inf, 0
    for k in range(count):
        depth[k] = member_point(c, 0, given[k], x, y)
        most = max(most, depth[k])
    for k in range(count):
        if depth[k] >= most - 2 * half:
            chosen[kept] = given[k]
            kept += 1
    return kept


@kernel
def make_lists(c: Any, lists: Any) -> Any:
    """Write the ends of all lists into the constants c, and the lists, in the order of cells, into an own array.

    Returns how long the lists are together, or −1 if the array is too short.
    """
    columns, rows, count = np.int64(c[COLUMNS]), np.int64(c[ROWS]), np.int64(c[COUNT])
    width, height = 1 / c[ACROSS], 1 / c[UP]
    half = 0.5 * math.sqrt(width * width + height * height) * 1.001
    everyone, depth = np.arange(count), np.empty(count)
    blocks = (columns + BLOCK - 1) // BLOCK
    near, nearby = np.empty((blocks, count), np.int64), np.empty(blocks, np.int64)
    used = 0
    for row in range(rows):
        for column in range(columns):
            block = column // BLOCK
            if row % BLOCK == 0 and column % BLOCK == 0:
                x, y = c[LEFT] + (column + 0.5 * BLOCK) * width, c[BOTTOM] + (row + 0.5 * BLOCK) * height
                nearby[block] = _select(c, everyone, count, x, y, BLOCK * half, depth, near[block])
            if used + nearby[block] > lists.size:
                return -1
            x, y = c[LEFT] + (column + 0.5) * width, c[BOTTOM] + (row + 0.5) * height
            used += _select(c, near[block], nearby[block], x, y, half, depth, lists[used:])
            c[np.int64(c[ENDS]) + row * columns + column] = used
    return used
