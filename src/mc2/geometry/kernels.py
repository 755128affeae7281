"""Signed distances, compiled: positive inside, never larger in size than the distance to the boundary.

A domain is a small program, so that one kernel serves every domain. Its `code` has rows ``(op, out, a, b)``:

- a shape writes its distance to register ``out``; ``a`` is where its constants start, and a polygon has ``b`` edges;
- an outline is a polygon of very many edges, with a tree over them (see `mc2.geometry.outline_kernels`), or a slit, for
  which ``b`` is 1;
- a Boolean combines registers ``a`` and ``b`` into ``out``, which is one of the two.

The distance of the whole is left in register 0. A shape's constants are its center, the cosine and sine of its angle
and two parameters; a polygon's are `EDGE` numbers per edge.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, inlined, kernel, scalar
from mc2.geometry.outline_kernels import SCRATCH, outline_lanes, outline_point

DISK, RECTANGLE, ELLIPSE, ANNULUS, TRIANGLE, HEXAGON, STADIUM, POLYGON, OUTLINE = range(9)
UNION, INTERSECTION, DIFFERENCE = range(9, 12)

PROGRAM_REGISTERS = 8
"""Most registers of a program."""
MAX_REGISTERS = PROGRAM_REGISTERS + SCRATCH
"""Rows of lanes that a program is run with: some instructions need room to work in."""
EDGE = 7
"""Constants of one edge: start x, start y, end y, edge x, edge y, 1/length², run over rise (0 if horizontal)."""


# One function per shape, in the frame of the shape.


@scalar
def disk(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Radius a."""
    return a - math.sqrt(x * x + y * y)


@scalar
def rectangle(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Half-widths a and b."""
    return min(a - abs(x), b - abs(y))


@scalar
def ellipse(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Semi-axes a and b: (1 - |(x/a, y/b)|) min(a, b), a lower bound."""
    least = min(a, b)
    # Scaling the quotients instead of the result takes the divisions out of the loop over lanes.
    u = x * (least / a)
    v = y * (least / b)
    return least - math.sqrt(u * u + v * v)


@scalar
def annulus(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Inner radius a, outer radius b."""
    r = math.sqrt(x * x + y * y)
    return min(b - r, r - a)


@scalar
def triangle(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Equilateral with circumradius a and a vertex at (0, a)."""
    T = type(x)
    half = T(0.5)
    return min(half * a + y, half * (a - y) - T(math.sqrt(0.75)) * abs(x))


@scalar
def hexagon(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Regular with circumradius a and a vertex at (a, 0)."""
    T = type(x)
    slant = T(math.sqrt(0.75))
    return min(slant * a - abs(y), slant * (a - abs(x)) - T(0.5) * abs(y))


@scalar
def stadium(x: Any, y: Any, a: Any, b: Any) -> Any:
    """Points within b of the segment from (-a, 0) to (a, 0)."""
    u = max(abs(x) - a, type(x)(0))
    return b - math.sqrt(u * u + y * y)


@scalar
def edge(so_far: Any, x: Any, y: Any, x0: Any, y0: Any, y1: Any, ex: Any, ey: Any, inverse: Any, slope: Any) -> Any:
    """Add an edge to the squared distance so far, whose sign tells the parity of crossings (negative: outside)."""
    T = type(x)
    u = x - x0
    v = y - y0
    t = min(max((u * ex + v * ey) * inverse, T(0)), T(1))
    du = u - t * ex
    dv = v - t * ey
    size = min(abs(so_far), du * du + dv * dv)
    crosses = ((y0 > y) != (y1 > y)) & (u < v * slope)
    return -size if (so_far < T(0)) != crosses else size


@scalar
def signed_root(square: Any) -> Any:
    """The square root of the size, with the sign of its argument."""
    return math.copysign(math.sqrt(abs(square)), square)


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
        elif op == UNION:
            _union_lanes(registers, out, a, b)
        elif op == INTERSECTION:
            _intersection_lanes(registers, out, a, b)
        else:
            _difference_lanes(registers, out, a, b)


# The same for one point, as a CUDA thread needs it.


@scalar
def shape_point(op: Any, cx: Any, cy: Any, cos: Any, sin: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Distance of one point to one shape."""
    dx, dy = x - cx, y - cy
    u = cos * dx + sin * dy
    v = cos * dy - sin * dx
    if op == DISK:
        return disk(u, v, a, b)
    if op == RECTANGLE:
        return rectangle(u, v, a, b)
    if op == ELLIPSE:
        return ellipse(u, v, a, b)
    if op == ANNULUS:
        return annulus(u, v, a, b)
    if op == TRIANGLE:
        return triangle(u, v, a, b)
    if op == HEXAGON:
        return hexagon(u, v, a, b)
    return stadium(u, v, a, b)


@scalar
def _polygon_point(constants: Any, at: Any, edges: Any, x: Any, y: Any) -> Any:
    T = type(x)
    square = T(-np.inf)
    for k in range(at, at + EDGE * edges, EDGE):
        square = edge(
            square,
            x,
            y,
            T(constants[k]),
            T(constants[k + 1]),
            T(constants[k + 2]),
            T(constants[k + 3]),
            T(constants[k + 4]),
            T(constants[k + 5]),
            T(constants[k + 6]),
        )
    return signed_root(square)


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
            found = _polygon_point(constants, a, b, x, y)
        elif op == OUTLINE:
            found = outline_point(constants, np.int64(a), x, y)
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
