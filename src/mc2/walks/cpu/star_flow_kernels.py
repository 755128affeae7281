"""What constant data of straight walls add to a step of walks that reflect, without samples: ∫ G h over walls.

The wall that a walk is on, and the nearest other one if it is near, are integrated in closed form. Of the others, the
wall that the ray meets at distance r counts with h ln(R/r) r/cos θ, whose mean over directions is the integral over all
that can be seen; only where a wall is near could cos θ make that large. The nearest wall is seen as a whole, as far as
it is in the ball: where the view of it began or ended there would be a silhouette, and balls contain none.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, inlined, scalar
from mc2.compute.elementary import log
from mc2.walks.cpu.star_kernels import (
    COSINE,
    CX,
    CY,
    EX,
    EY,
    FAR,
    LENGTH,
    MX,
    MY,
    NX,
    NY,
    RADIUS,
    SENSE,
    TOUCH,
    VALUE,
    X0,
    X1,
    Y0,
    Y1,
    arc_square,
)

NEAR = 0.3
"""Part of a ball's radius within which the nearest wall is integrated in closed form."""
(SQUARE, HEIGHT, BEHIND, AHEAD, FLOW, OWN_BEHIND, OWN_AHEAD, OWN_FLOW, RAY, SLANT) = range(10)
"""Rows of what is known of the walls of every lane: of the nearest, its squared distance, the distances of the ball's
center from its line and of the foot from its ends, and its data; the same of the wall that the walk is on; and, of the
one that the ray meets, its data, and cos θ."""
ROWS = 10

f32 = np.float32


@scalar
def arctan_part(s: Any, d: Any) -> Any:
    """d arctan(s/d) for d ≥ 0, to 1e-7 d."""
    a = abs(s)
    z = min(a, d) / max(max(a, d), f32(1e-20))
    t = z * z
    p = f32(0.0964213) + t * (f32(-0.0559115) + t * (f32(0.0218624) + t * f32(-0.0040544)))
    p = f32(0.9999993) + t * (f32(-0.3332986) + t * (f32(0.1994656) + t * (f32(-0.1390860) + t * p)))
    angle = z * p
    angle = f32(0.5 * math.pi) - angle if a > d else angle
    return d * angle if s > f32(0) else -d * angle


@scalar
def half_share(s: Any, height: Any, per_square: Any) -> Any:
    """∫ ln(R/r) along a line from the foot of the ball's center to s, odd in s. per_square: 1/R²."""
    square = (height * height + s * s) * per_square
    return s * (f32(1) - f32(0.5) * log(max(square, f32(1e-20)))) - arctan_part(s, height)


@scalar
def half_own_share(s: Any, radius: Any, per_radius: Any) -> Any:
    """The same along the wall that the center is on, for s ≥ 0."""
    inside = max(min(s, radius), f32(1e-12))
    return inside * (f32(1) - log(inside * per_radius))


@scalar
def line_integral(height: Any, behind: Any, ahead: Any, radius: Any) -> Any:
    """∫ ln(R/r) over the part of a line in a ball. behind, ahead: from the foot to its ends, negative beyond them."""
    reach = f32(math.sqrt(max(radius * radius - height * height, f32(0))))
    first, last = min(max(behind, -reach), reach), min(max(ahead, -reach), reach)
    per_square = f32(1) / (radius * radius)
    return half_share(first, height, per_square) + half_share(last, height, per_square)


@inlined
def look_at_walls(
    walls: Any, x: Any, y: Any, nx: Any, ny: Any, dx: Any, dy: Any, on: Any, hit: Any, near: Any, seen: Any
) -> None:
    """Fill the rows of `seen`, and near: the nearest other wall, or −1 where that is no line."""
    for i in range(LANES):
        near[i] = np.int32(-1)
        seen[SQUARE, i], seen[HEIGHT, i], seen[FLOW, i] = f32(FAR), f32(0), f32(0)
        seen[OWN_FLOW, i], seen[RAY, i] = f32(0), f32(0)
    for k in range(walls.shape[0]):
        x0, y0 = walls[k, X0], walls[k, Y0]
        if walls[k, SENSE] == 0:
            ex, ey, length, wx, wy = walls[k, EX], walls[k, EY], walls[k, LENGTH], walls[k, NX], walls[k, NY]
            flow = walls[k, VALUE]
            for i in range(LANES):
                ux, uy = x[i] - x0, y[i] - y0
                along, height = ux * ex + uy * ey, -(ux * wx + uy * wy)
                foot = min(max(along, f32(0)), length)
                px, py = foot * ex - ux, foot * ey - uy
                square = px * px + py * py
                own = on[i] == k
                nearer = (height > f32(0)) & (px * nx[i] + py * ny[i] <= f32(TOUCH)) & (square < seen[SQUARE, i])
                nearer = nearer & (on[i] != k)
                near[i] = np.int32(k) if nearer else near[i]
                seen[SQUARE, i] = square if nearer else seen[SQUARE, i]
                seen[HEIGHT, i] = height if nearer else seen[HEIGHT, i]
                seen[BEHIND, i] = along if nearer else seen[BEHIND, i]
                seen[AHEAD, i] = length - along if nearer else seen[AHEAD, i]
                seen[FLOW, i] = flow if nearer else seen[FLOW, i]
                seen[OWN_BEHIND, i] = along if own else seen[OWN_BEHIND, i]
                seen[OWN_AHEAD, i] = length - along if own else seen[OWN_AHEAD, i]
                seen[OWN_FLOW, i] = flow if own else seen[OWN_FLOW, i]
                cos = dx[i] * wx + dy[i] * wy
                seen[RAY, i] = flow if hit[i] == k else seen[RAY, i]
                seen[SLANT, i] = cos if hit[i] == k else seen[SLANT, i]
        else:
            cx, cy, radius = walls[k, CX], walls[k, CY], walls[k, RADIUS]
            mx, my, cosine, x1, y1 = walls[k, MX], walls[k, MY], walls[k, COSINE], walls[k, X1], walls[k, Y1]
            for i in range(LANES):
                end = min((x[i] - x0) ** 2 + (y[i] - y0) ** 2, (x[i] - x1) ** 2 + (y[i] - y1) ** 2)
                square = arc_square(x[i] - cx, y[i] - cy, radius, mx, my, cosine, end)
                nearer = (square < seen[SQUARE, i]) & (on[i] != k)
                near[i] = np.int32(-1) if nearer else near[i]
                seen[SQUARE, i] = square if nearer else seen[SQUARE, i]


@inlined
def add_flows(seen: Any, radius: Any, weight: Any, on: Any, length: Any, hit: Any, near: Any, flows: Any) -> None:
    """Add what the walls in a ball give to the sums of all walks. length: of the rays, as far as they go."""
    for i in range(LANES):
        big, r, height = radius[i], max(length[i], f32(1e-20)), seen[HEIGHT, i]
        per_radius = f32(1) / big
        close = (near[i] >= 0) & (height < f32(NEAR) * big)
        share = line_integral(height, seen[BEHIND, i], seen[AHEAD, i], big)
        total = share * seen[FLOW, i] if close else f32(0)
        own = half_own_share(seen[OWN_BEHIND, i], big, per_radius) + half_own_share(seen[OWN_AHEAD, i], big, per_radius)
        total += own * seen[OWN_FLOW, i] if on[i] >= 0 else f32(0)
        total *= f32(1 / math.pi) if on[i] >= 0 else f32(0.5 / math.pi)
        rayed = (hit[i] != on[i]) & ((hit[i] != near[i]) | (height >= f32(NEAR) * big))
        total -= seen[RAY, i] * r * log(r * per_radius) / max(seen[SLANT, i], f32(1e-7)) if rayed else f32(0)
        flows[i] += weight[i] * total
