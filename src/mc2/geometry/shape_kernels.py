"""Signed distances of single shapes, compiled: positive inside, their sizes at most the distance to the boundary."""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import scalar

DISK, RECTANGLE, ELLIPSE, ANNULUS, TRIANGLE, HEXAGON, STADIUM, POLYGON = range(8)
"""What shapes are called in programs."""
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


# By their names in programs.


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
def polygon_point(constants: Any, at: Any, edges: Any, x: Any, y: Any) -> Any:
    """Distance of one point to a polygon."""
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
