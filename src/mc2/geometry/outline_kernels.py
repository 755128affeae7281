"""The distance to very many edges, compiled: a tree of cells that know which edges are near.

Chains of edges are halved again and again. Every run of edges that comes of it is a *node*: its chord, and a radius
within which the run stays around it, so that the distance to the run is known to that radius. Single edges are nodes
with radius 0. The plane is cut into cells, and these into 4 × 4 cells, until a cell needs few nodes: those that may be
the nearest of a point in it, and that are thin against their distance. Where a cell may meet an edge, all its nodes are
single edges.

In float32, in which walks are, the distance is that to the cell's nodes less their radii: a lower bound, exact near
the boundary. A cell that is small against its distance from the boundary has no nodes, but the distance of its middle:
less the way to it that is a lower bound within a third or so, for one number that is read. Any ball within the domain
is good enough for a walk. In float64 nodes are opened down to their edges, and the distance is exact.

The constants of an outline are a header, see `HEADER`, and after it, counted from where the header begins:

- nodes of `NODE` numbers, a run before its halves: start x, start y, chord x, chord y, 1/chord² (0 for a point),
  radius, and two more. Of an edge: the sign of the distance where its start, and where its end, is the nearest point;
  0 where the side of the edge tells. Of a run: how many nodes it is, itself included, and `RUN`.
- cells: numbers that are negative for 4 × 4 smaller cells (where these begin), below 1 the distance of a cell's middle,
  below 2 the same outside, and 1 more; else where the cell's leaf is;
- leaves: the sign of the distance in the cell (0: it is found from the nearest edge), the largest radius of its nodes,
  their number, and where these are.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, scalar

CENTER_X, CENTER_Y, COSINE, SINE, SIZE, SHORT, START, SIDE, CELLS, NODES, FAR = range(11)
"""The header. An outline is kept in a frame of its own, so that it can be moved, turned and scaled by a few numbers:
the center of that frame, the cosine and sine of its angle over its size, and its size; and by how much distances are
shortened in float32 (for slits: walks must not come so near that rounding could bring them to the other side). In that
frame: the lower and left end of the cells, how many there are along a side, and where their numbers begin, where nodes
begin, and the sign of the distance outside all cells."""
HEADER = 11
NODE = 8
"""Numbers of a node."""
RUN = 2.0
"""The last number of a node that is a run of edges."""
SPLIT = 4
"""A cell is cut into so many along both sides."""
U1, U2, U3, U4, U5, U6, U7 = map(np.uint32, range(1, 8))
"""Offsets without a sign, or every access would first ask whether its index is negative."""
LISTED = 3
"""Where the nodes of a leaf begin."""
OUTSIDE, LEAF = 1.0, 2.0
"""Numbers of cells from which on distances are negative, and from which on there are leaves."""
FARTHEST = 0.95
"""The largest distance of a cell's middle that is kept; larger ones are cut off there."""


@scalar
def node_square(c: Any, k: Any, x: Any, y: Any) -> Any:
    """The squared distance of a point to a node's chord."""
    T = type(x)
    u = x - T(c[k])
    v = y - T(c[k + U1])
    ex = T(c[k + U2])
    ey = T(c[k + U3])
    t = min(max((u * ex + v * ey) * T(c[k + U4]), T(0)), T(1))
    du = u - t * ex
    dv = v - t * ey
    return du * du + dv * dv


@scalar
def node_sign(c: Any, k: Any, x: Any, y: Any) -> Any:
    """On which side of an edge, whose nearest point is the nearest of all, a point lies: 1 on the left, else -1."""
    T = type(x)
    u = x - T(c[k])
    v = y - T(c[k + U1])
    ex = T(c[k + U2])
    ey = T(c[k + U3])
    t = (u * ex + v * ey) * T(c[k + U4])
    at_end = T(c[k + U6]) if t <= T(0) else (T(c[k + U7]) if t >= T(1) else T(0))
    side = T(1) if ex * v - ey * u > T(0) else T(-1)
    return side if at_end == T(0) else at_end


@scalar
def open_node(c: Any, at: Any, first: Any, x: Any, y: Any, best: Any, found: Any) -> Any:
    """The least of a squared distance and those to the edges of a node; and the edge it belongs to."""
    T = type(x)
    k = first
    last = first + NODE * (np.int64(c[first + 6]) if c[first + 7] == RUN else 1)
    while k < last:
        square = node_square(c, k, x, y)
        if c[k + U7] != RUN:
            if square < best:
                best, found = square, k
            k += NODE
        else:
            nearest = max(math.sqrt(square) - T(c[k + 5]), T(0))
            k += NODE if nearest * nearest < best else NODE * np.int64(c[k + U6])
    return best, found


@scalar
def _between(x: Any, low: Any, high: Any) -> Any:
    """The nearest number of an interval; its lower end for what is no number, so that no place is looked up wrongly."""
    return min(x if x > low else low, high)


@scalar
def is_single(x: Any) -> Any:
    """Whether a number is in single precision; known when compiled."""
    T = type(x)
    return T(1) + T(1e-10) == T(1)


@scalar
def outline_point(c: Any, at: Any, x: Any, y: Any) -> Any:
    """The signed distance of a point to the outline whose constants begin at `at`."""
    T = type(x)
    x, y = x - T(c[at + CENTER_X]), y - T(c[at + CENTER_Y])
    cosine, sine = T(c[at + COSINE]), T(c[at + SINE])
    x, y = cosine * x + sine * y, cosine * y - sine * x
    start = T(c[at + START])
    side = np.int32(c[at + SIDE])
    inverse = T(side) / (T(-2) * start)
    u = (x - start) * inverse
    v = (y - start) * inverse
    # beyond all cells: q, the nearest point of theirs. All edges e are in the cells, and |p − e|² ≥ |p − q|² + |q − e|²
    last = T(side) * T(0.999999)
    u_in = _between(u, T(0), last)
    v_in = _between(v, T(0), last)
    beyond_x = (u - u_in) / inverse
    beyond_y = (v - v_in) / inverse
    beyond = beyond_x * beyond_x + beyond_y * beyond_y
    best = T(np.inf)
    if not is_single(x) and beyond > T(0):
        best, found = open_node(c, at, at + np.int64(c[at + NODES]), x, y, best, at)
        return T(c[at + SIZE]) * T(c[at + FAR]) * math.sqrt(best)
    qx = x - beyond_x
    qy = y - beyond_y
    i = np.int32(u_in)
    j = np.int32(v_in)
    value = T(c[at + np.int32(c[at + CELLS]) + j * side + i])
    width = T(1) / inverse
    while value < T(0):
        u_in = (u_in - T(i)) * T(SPLIT)
        v_in = (v_in - T(j)) * T(SPLIT)
        i = np.int32(u_in)
        j = np.int32(v_in)
        value = T(c[at - np.int32(value) + SPLIT * j + i])
        width *= T(1 / SPLIT)
    if value < T(LEAF):
        sign = T(1) if value < T(OUTSIDE) else T(-1)
        middle = value if value < T(OUTSIDE) else value - T(OUTSIDE)
        off_x, off_y = u_in - T(i) - T(0.5), v_in - T(j) - T(0.5)
        away = width * math.sqrt(off_x * off_x + off_y * off_y)
        if is_single(x):
            best = (middle - away) * T(c[at + SHORT])
        else:
            most = middle + away + T(1e-5) if middle < T(0.99 * FARTHEST) else T(np.inf)
            best, found = open_node(c, at, at + np.int64(c[at + NODES]), qx, qy, most * most, at)
            best = math.sqrt(best)
        return T(c[at + SIZE]) * sign * math.sqrt(best * best + beyond)
    leaf = at + np.int32(value)
    sign = T(c[leaf])
    first = leaf + LISTED
    found = at
    if is_single(x):
        for k in range(first, first + np.int32(c[leaf + 2])):
            node = at + np.int32(c[k])
            square = node_square(c, node, qx, qy)
            found = node if square < best else found
            best = min(best, square)
        best = (math.sqrt(best) - T(c[leaf + 1])) * T(c[at + SHORT])
    else:
        for k in range(first, first + np.int32(c[leaf + 2])):
            best, found = open_node(c, at, at + np.int64(c[k]), qx, qy, best, found)
        best = math.sqrt(best)
    if sign == T(0):
        sign = node_sign(c, found, qx, qy)
    return T(c[at + SIZE]) * sign * math.sqrt(best * best + beyond)


U, V, CELL, ACTIVE, OWN_X, OWN_Y, WIDTH = range(7)
SCRATCH = 7
"""Rows of lanes that `outline_lanes` works in."""


@scalar
def outline_lanes(constants: Any, at: Any, x: Any, y: Any, scratch: Any, distances: Any) -> None:
    """The same for a block of lanes. scratch: [SCRATCH, LANES]; distances: [LANES]."""
    if not is_single(x[0]):
        for i in range(LANES):
            distances[i] = outline_point(constants, at, x[i], y[i])
        return
    T = type(x[0])
    c = constants[at:]
    center_x, center_y, cosine, sine = c[CENTER_X], c[CENTER_Y], c[COSINE], c[SINE]
    for i in range(LANES):
        u, v = x[i] - center_x, y[i] - center_y
        scratch[OWN_X, i], scratch[OWN_Y, i] = cosine * u + sine * v, cosine * v - sine * u
    start = c[START]
    side = np.uint32(c[SIDE])
    inverse = T(side) / (T(-2) * start)
    cells = np.uint32(c[CELLS])
    last = T(side) * T(0.999999)
    four, width = np.uint32(SPLIT), T(1) / inverse
    # No branch of what follows depends on a lane: a processor would guess it wrong, and wait for memory each time.
    active = 0
    for i in range(LANES):
        u = _between((scratch[OWN_X, i] - start) * inverse, T(0), last)
        v = _between((scratch[OWN_Y, i] - start) * inverse, T(0), last)
        i_cell, j_cell = np.uint32(u), np.uint32(v)
        cell = c[cells + j_cell * side + i_cell]
        scratch[U, i], scratch[V, i], scratch[CELL, i] = u - T(i_cell), v - T(j_cell), cell
        scratch[WIDTH, i] = width
        scratch[ACTIVE, active] = T(i)
        active += cell < T(0)
    while active > 0:
        going, active = active, 0
        for index in range(going):
            lane = np.uint32(scratch[ACTIVE, index])
            u, v = scratch[U, lane] * T(SPLIT), scratch[V, lane] * T(SPLIT)
            i_cell, j_cell = np.uint32(u), np.uint32(v)
            cell = c[np.uint32(-scratch[CELL, lane]) + four * j_cell + i_cell]
            scratch[U, lane], scratch[V, lane], scratch[CELL, lane] = u - T(i_cell), v - T(j_cell), cell
            scratch[WIDTH, lane] *= T(1 / SPLIT)
            scratch[ACTIVE, active] = T(lane)
            active += cell < T(0)
    stop = start + last / inverse
    for i in range(LANES):  # as if all were distances of a cell's middle; others get a new one below
        cell, off_x, off_y = scratch[CELL, i], scratch[U, i] - T(0.5), scratch[V, i] - T(0.5)
        middle = cell if cell < T(OUTSIDE) else cell - T(OUTSIDE)
        distances[i] = middle - scratch[WIDTH, i] * math.sqrt(off_x * off_x + off_y * off_y)
        scratch[U, i] = T(1) if cell < T(OUTSIDE) else T(-1)
    active = 0
    for i in range(LANES):
        scratch[ACTIVE, active] = T(i)
        active += scratch[CELL, i] >= T(LEAF)
    listed, one, two = np.uint32(LISTED), np.uint32(1), np.uint32(2)
    for index in range(active):
        lane = np.uint32(scratch[ACTIVE, index])
        leaf = np.uint32(scratch[CELL, lane])
        qx, qy = _between(scratch[OWN_X, lane], start, stop), _between(scratch[OWN_Y, lane], start, stop)
        least, nearest = T(np.inf), np.uint32(0)
        for place in range(leaf + listed, leaf + listed + np.uint32(c[leaf + two])):
            node = np.uint32(c[place])
            square = node_square(c, node, qx, qy)
            nearest = node if square < least else nearest
            least = min(least, square)
        distances[lane] = math.sqrt(least) - c[leaf + one]
        sign = c[leaf]
        scratch[U, lane] = node_sign(c, nearest, qx, qy) if sign == T(0) else sign
    size, short = c[SIZE], c[SHORT]
    for i in range(LANES):
        beyond_x = scratch[OWN_X, i] - _between(scratch[OWN_X, i], start, stop)
        beyond_y = scratch[OWN_Y, i] - _between(scratch[OWN_Y, i], start, stop)
        near = distances[i] * short
        far = math.sqrt(near * near + beyond_x * beyond_x + beyond_y * beyond_y)
        distances[i] = size * scratch[U, i] * far
