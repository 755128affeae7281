"""Signed distances, compiled: positive inside, never larger in size than the distance to the boundary.

A domain is a small program, so that one kernel serves every domain. Its `code` has rows ``(op, out, a, b)``:

- a shape writes its distance to register ``out``; ``a`` is where its constants start, and a polygon has ``b`` edges;
- an outline is a polygon of very many edges, with a tree over them (see `mc2.geometry.outline_kernels`), or a slit, for
  which ``b`` is 1;
- members are very many shapes that are united, with a grid over them (see `mc2.geometry.member_kernels`);
- a Boolean combines registers ``a`` and ``b`` into ``out``, which is one of the two.

The distance of the whole is left in register 0. A shape's constants are its center, the cosine and sine of its angle
and two parameters; a polygon's are `EDGE` numbers per edge.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, inlined, kernel, scalar
from mc2.geometry.member_kernels import members_lanes, members_point
from mc2.geometry.outline_kernels import SCRATCH, outline_lanes, outline_point
from mc2.geometry.shape_kernels import (
    ANNULUS,
    DISK,
    EDGE,
    ELLIPSE,
    HEXAGON,
    POLYGON,
    RECTANGLE,
    STADIUM,
    TRIANGLE,
    annulus,
    disk,
    edge,
    ellipse,
    hexagon,
    polygon_point,
    rectangle,
    shape_point,
    signed_root,
    stadium,
    triangle,
)

OUTLINE, MEMBERS = range(8, 10)
UNION, INTERSECTION, DIFFERENCE = range(10, 13)

PROGRAM_REGISTERS = 8
"""Most registers of a program."""
MAX_REGISTERS = PROGRAM_REGISTERS + SCRATCH
"""Rows of lanes that a program is run with: some instructions need room to work in."""


@scalar
def union(a: Any, b: Any) -> Any:
    """In either."""
    return max(a, b)


@scalar
def intersection(a: Any, b: Any) -> Any:
    """In both."""
    return min(a, b)


@scalar
def difference(a: Any, b: Any) -> Any:
    """In the first and not in the second."""
    return min(a, -b)


# The same over a block of lanes: choose once, then a tight loop.


def _shape_lanes(shape: Any) -> Any:
    @inlined
    def loop(constants: Any, at: Any, x: Any, y: Any, registers: Any, out: Any) -> None:
        T = type(x[0])
        cx = T(constants[at])
        cy = T(constants[at + 1])
        cos = T(constants[at + 2])
        sin = T(constants[at + 3])
        a = T(constants[at + 4])
        b = T(constants[at + 5])
        for i in range(LANES):
            u = x[i] - cx
            v = y[i] - cy
            registers[out, i] = shape(cos * u + sin * v, cos * v - sin * u, a, b)

    return loop


def _boolean_lanes(boolean: Any) -> Any:
    @inlined
    def loop(registers: Any, out: Any, a: Any, b: Any) -> None:
        # Two loops that are plainly in place: one in which out might overlap a or b would not become vector code.
        if out == a:
            for i in range(LANES):
                registers[out, i] = boolean(registers[out, i], registers[b, i])
        else:
            for i in range(LANES):
                registers[out, i] = boolean(registers[a, i], registers[out, i])

    return loop


_disk_lanes = _shape_lanes(disk)
_rectangle_lanes = _shape_lanes(rectangle)
_ellipse_lanes = _shape_lanes(ellipse)
_annulus_lanes = _shape_lanes(annulus)
_triangle_lanes = _shape_lanes(triangle)
_hexagon_lanes = _shape_lanes(hexagon)
_stadium_lanes = _shape_lanes(stadium)
_union_lanes = _boolean_lanes(union)
_intersection_lanes = _boolean_lanes(intersection)
_difference_lanes = _boolean_lanes(difference)


@inlined
def _polygon_lanes(constants: Any, at: Any, edges: Any, x: Any, y: Any, registers: Any, out: Any) -> None:
    T = type(x[0])
    for i in range(LANES):
        registers[out, i] = T(-np.inf)
    for k in range(at, at + EDGE * edges, EDGE):
        x0 = T(constants[k])
        y0 = T(constants[k + 1])
        y1 = T(constants[k + 2])
        ex = T(constants[k + 3])
        ey = T(constants[k + 4])
        inverse = T(constants[k + 5])
        slope = T(constants[k + 6])
        for i in range(LANES):
            registers[out, i] = edge(registers[out, i], x[i], y[i], x0, y0, y1, ex, ey, inverse, slope)
    for i in range(LANES):
        registers[out, i] = signed_root(registers[out, i])


@scalar
def has_slit(code: Any) -> Any:
    """Whether a program has slits, on whose two sides a point can be as near."""
    found = False
    for row in range(code.shape[0]):
        found |= code[row, 0] == OUTLINE and code[row, 3] == 1
    return found


@scalar
def distance_lanes(code: Any, constants: Any, x: Any, y: Any, registers: Any) -> None:
    """Distances of `LANES` points, left in ``registers[0]``; registers is [MAX_REGISTERS, LANES], typed as x."""
    for row in range(code.shape[0]):
        op, out, a, b = code[row, 0], code[row, 1], code[row, 2], code[row, 3]
        if op == DISK:
            _disk_lanes(constants, a, x, y, registers, out)
        elif op == RECTANGLE:
            _rectangle_lanes(constants, a, x, y, registers, out)
        elif op == ELLIPSE:
            _ellipse_lanes(constants, a, x, y, registers, out)
        elif op == ANNULUS:
            _annulus_lanes(constants, a, x, y, registers, out)
        elif op == TRIANGLE:
            _triangle_lanes(constants, a, x, y, registers, out)
        elif op == HEXAGON:
            _hexagon_lanes(constants, a, x, y, registers, out)
        elif op == STADIUM:
            _stadium_lanes(constants, a, x, y, registers, out)
        elif op == POLYGON:
            _polygon_lanes(constants, a, b, x, y, registers, out)
        elif op == OUTLINE:
            outline_lanes(constants, a, x, y, registers[PROGRAM_REGISTERS:], registers[out])
        elif op == MEMBERS:
            members_lanes(constants, np.int64(a), x, y, registers[PROGRAM_REGISTERS:], registers[out])
        elif op == UNION:
            _union_lanes(registers, out, a, b)
        elif op == INTERSECTION:
            _intersection_lanes(registers, out, a, b)
        else:
            _difference_lanes(registers, out, a, b)


# The same for one point, as a CUDA thread needs it.


@scalar
def distance_point(code: Any, constants: Any, x: Any, y: Any, registers: Any) -> Any:
    """Distance of one point; registers is [MAX_REGISTERS], typed as x."""
    T = type(x)
    found = T(0)
    for row in range(code.shape[0]):
        # unsigned, or every access would first ask whether its index is negative
        op, out, a, b = code[row, 0], np.uint32(code[row, 1]), np.uint32(code[row, 2]), np.uint32(code[row, 3])
        if op < POLYGON:
            c = constants
            cx, cy, cos, sin = T(c[a]), T(c[a + 1]), T(c[a + 2]), T(c[a + 3])
            found = shape_point(op, cx, cy, cos, sin, T(c[a + 4]), T(c[a + 5]), x, y)
        elif op == POLYGON:
            found = polygon_point(constants, a, b, x, y)
        elif op == OUTLINE:
            found = outline_point(constants, np.int64(a), x, y)
        elif op == MEMBERS:
            found = members_point(constants, np.int64(a), x, y)
        elif op == UNION:
            found = union(registers[a], registers[b])
        elif op == INTERSECTION:
            found = intersection(registers[a], registers[b])
        else:
            found = difference(registers[a], registers[b])
        registers[out] = found
    return found


@kernel
def distance(code: Any, constants: Any, x: Any, y: Any, out: Any) -> None:
    """Distances of any number of points: flat arrays x, y and out of one type."""
    registers = np.empty((MAX_REGISTERS, LANES), x.dtype)
    block_x = np.zeros(LANES, x.dtype)
    block_y = np.zeros(LANES, x.dtype)
    for start in range(0, x.size, LANES):
        count = min(LANES, x.size - start)
        block_x[:count] = x[start : start + count]
        block_y[:count] = y[start : start + count]
        distance_lanes(code, constants, block_x, block_y, registers)
        out[start : start + count] = registers[0, :count]
