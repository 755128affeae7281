"""The geometry of walks that reflect, over blocks of lanes (float32): distances, silhouettes, rays, samples of walls.

The boundary is given as rows of numbers, one for every line or arc with the domain on its left: *ends* for pieces on
which walks end, *walls* for those that reflect them. Columns are named below; an arc is no longer than half a circle.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, inlined, scalar
from mc2.compute.elementary import log

f32 = np.float32
u32 = np.uint32

(
    X0, Y0, X1, Y1, EX, EY, LENGTH, NX, NY, CX, CY, RADIUS, SENSE, MX, MY, COSINE, HALF, LARGEST, SMALLEST, GIVEN,
    BEFORE, AFTER, WIDER, VALUE
) = range(24)  # fmt: skip
"""Ends of a piece; its chord's direction and length; a line's outward normal; an arc's center, radius and sense (1
where the domain is on the center's side, −1 where it is outside; 0: a line), the direction of its middle, the cosine of
half its angle, and that half in turns; the largest and smallest Robin coefficient; whether it has data that are not 0;
for rays, how far a line goes on at its ends, and the cosine of an arc's half that is as much wider; its
data, where they are constant.
"""

FAR = 1e30
"""Instead of infinity, in squares of lengths."""
TOUCH = 2e-6
"""Length by which rounding may put a point on the wrong side of a wall, or past its end."""
FACING = -0.01
"""Cosine down to which a wall counts as seen from its front: pieces that go on smoothly are seen along themselves."""
CURVED = 0.02
"""Part of its radius that a walk jumps from a wall that curves away, where nothing is exact."""
LIMIT = math.e
"""r² ln(R/r) is at most R²/2e."""


@inlined
def end_squares(ends: Any, x: Any, y: Any, square: Any) -> None:
    """Squared distances to the nearest of some pieces."""
    for i in range(LANES):
        square[i] = f32(FAR)
    for k in range(ends.shape[0]):
        x0, y0, x1, y1 = ends[k, X0], ends[k, Y0], ends[k, X1], ends[k, Y1]
        if ends[k, SENSE] == 0:
            ex, ey, length = ends[k, EX], ends[k, EY], ends[k, LENGTH]
            for i in range(LANES):
                square[i] = min(square[i], line_square(x[i] - x0, y[i] - y0, ex, ey, length))
        else:
            cx, cy, radius = ends[k, CX], ends[k, CY], ends[k, RADIUS]
            mx, my, cosine = ends[k, MX], ends[k, MY], ends[k, COSINE]
            for i in range(LANES):
                near = min((x[i] - x0) ** 2 + (y[i] - y0) ** 2, (x[i] - x1) ** 2 + (y[i] - y1) ** 2)
                square[i] = min(square[i], arc_square(x[i] - cx, y[i] - cy, radius, mx, my, cosine, near))


@scalar
def line_square(ux: Any, uy: Any, ex: Any, ey: Any, length: Any) -> Any:
    """Squared distance to a line, from its start."""
    t = min(max(ux * ex + uy * ey, f32(0)), length)
    dx, dy = ux - t * ex, uy - t * ey
    return dx * dx + dy * dy


@scalar
def arc_square(px: Any, py: Any, radius: Any, mx: Any, my: Any, cosine: Any, near: Any) -> Any:
    """Squared distance to an arc, from its center. near: the squared distance to the nearer of its ends."""
    c = f32(math.sqrt(px * px + py * py))
    return (c - radius) * (c - radius) if px * mx + py * my >= c * cosine else near


@scalar
def nearest_piece(pieces: Any, x: Any, y: Any) -> Any:
    """The nearest of some pieces, or −1, and the square of its distance."""
    least, found = f32(FAR), -1
    for k in range(pieces.shape[0]):
        x0, y0, x1, y1 = pieces[k, X0], pieces[k, Y0], pieces[k, X1], pieces[k, Y1]
        if pieces[k, SENSE] == 0:
            square = line_square(x - x0, y - y0, pieces[k, EX], pieces[k, EY], pieces[k, LENGTH])
        else:
            near = min((x - x0) ** 2 + (y - y0) ** 2, (x - x1) ** 2 + (y - y1) ** 2)
            px, py = x - pieces[k, CX], y - pieces[k, CY]
            square = arc_square(px, py, pieces[k, RADIUS], pieces[k, MX], pieces[k, MY], pieces[k, COSINE], near)
        if square < least:
            least, found = square, k
    return found, least


@inlined
def silhouettes(vertices: Any, walls: Any, x: Any, y: Any, on: Any, square: Any) -> None:
    """Squared distances to the nearest place where the walls turn away from a point.

    vertices: rows of x, y and the outward normals before and after. Of an arc that curves away it is where a tangent
    touches it; for a point on the arc itself, a small part of its radius.
    """
    for i in range(LANES):
        square[i] = f32(FAR)
    for k in range(vertices.shape[0]):
        vx, vy, ax, ay = vertices[k, 0], vertices[k, 1], vertices[k, 2], vertices[k, 3]
        bx, by = vertices[k, 4], vertices[k, 5]
        for i in range(LANES):
            ux, uy = x[i] - vx, y[i] - vy
            hidden = max(ux * ax + uy * ay, ux * bx + uy * by) > f32(-TOUCH)
            square[i] = min(square[i], ux * ux + uy * uy if hidden else f32(FAR))
    for k in range(walls.shape[0]):
        if walls[k, SENSE] < 0:
            cx, cy, radius = walls[k, CX], walls[k, CY], walls[k, RADIUS]
            mx, my, cosine = walls[k, MX], walls[k, MY], walls[k, COSINE]
            own = (f32(CURVED) * radius) ** 2
            for i in range(LANES):
                px, py = x[i] - cx, y[i] - cy
                c = max(f32(math.sqrt(px * px + py * py)), f32(1e-20))
                cos = min(radius / c, f32(1))
                sin = f32(math.sqrt(max(f32(1) - cos * cos, f32(0))))
                most = (cos * (px * mx + py * my) + sin * abs(px * my - py * mx)) / c
                touching = (most >= cosine - f32(1e-4)) & (c > radius - f32(TOUCH))
                tangent = max((c - radius) * (c + radius), f32(0))
                tangent = own if on[i] == k else tangent
                square[i] = min(square[i], tangent if touching else f32(FAR))


@inlined
def limit_radii(walls: Any, x: Any, y: Any, on: Any, cap: Any, floor: Any, distance: Any, radius: Any) -> None:
    """Shorten radii so that no reflectance 1 − μ ln(R/r) r/cos θ is negative, nor below `floor`.

    cap: largest radius on a Robin wall, where the term of the wall itself is known up to the third order in it.
    """
    for k in range(walls.shape[0]):
        mu = walls[k, LARGEST]
        if mu <= 0:
            continue
        x0, y0, x1, y1 = walls[k, X0], walls[k, Y0], walls[k, X1], walls[k, Y1]
        if walls[k, SENSE] == 0:
            ex, ey, length = walls[k, EX], walls[k, EY], walls[k, LENGTH]
            nx, ny = walls[k, NX], walls[k, NY]
            for i in range(LANES):
                ux, uy = x[i] - x0, y[i] - y0
                height = -(ux * nx + uy * ny)
                square = max(line_square(ux, uy, ex, ey, length), f32(2 * LIMIT) * max(height, f32(0)) / mu)
                square = f32(FAR) if height < f32(-TOUCH) else square
                square = cap * cap if on[i] == k else square
                radius[i] = min(radius[i], f32(math.sqrt(square)))
        else:
            cx, cy, own, sense = walls[k, CX], walls[k, CY], walls[k, RADIUS], walls[k, SENSE]
            mx, my, cosine = walls[k, MX], walls[k, MY], walls[k, COSINE]
            least = min(cap, f32(0.1) * own)
            factor = f32(LIMIT) / (mu * own + (f32(0) if sense > 0 else f32(LIMIT)))
            for i in range(LANES):
                px, py = x[i] - cx, y[i] - cy
                near = min((x[i] - x0) ** 2 + (y[i] - y0) ** 2, (x[i] - x1) ** 2 + (y[i] - y1) ** 2)
                c = f32(math.sqrt(px * px + py * py))
                power = sense * (own - c) * (own + c)
                square = max(arc_square(px, py, own, mx, my, cosine, near), factor * max(power, f32(0)))
                behind = (sense < f32(0)) & (power < f32(-2 * TOUCH) * own)
                square = f32(FAR) if behind else square
                square = least * least if on[i] == k else square
                radius[i] = min(radius[i], f32(math.sqrt(square)))
    for i in range(LANES):
        radius[i] = max(radius[i], min(distance[i], floor))


@inlined
def first_hits(walls: Any, x: Any, y: Any, dx: Any, dy: Any, on: Any, length: Any, hit: Any) -> None:
    """The first wall that every ray meets from its front, within its length, which is shortened to there.

    on: the wall that a ray starts from, or −1. hit: receives the wall, or −1.
    """
    for i in range(LANES):
        hit[i] = np.int32(-1)
    for k in range(walls.shape[0]):
        if walls[k, SENSE] == 0:
            x0, y0, ex, ey = walls[k, X0], walls[k, Y0], walls[k, EX], walls[k, EY]
            nx, ny, first, last = walls[k, NX], walls[k, NY], -walls[k, BEFORE], walls[k, LENGTH] + walls[k, AFTER]
            for i in range(LANES):
                speed = dx[i] * nx + dy[i] * ny
                ux, uy = x[i] - x0, y[i] - y0
                gap = -(ux * nx + uy * ny)
                t = max(gap, f32(0)) / max(speed, f32(1e-20))
                s = ux * ex + uy * ey + t * (dx[i] * ex + dy[i] * ey)
                met = (speed > f32(0)) & (gap > f32(-TOUCH)) & (t < length[i])
                met = met & (s > first) & (s < last) & (on[i] != k)
                length[i] = t if met else length[i]
                hit[i] = np.int32(k) if met else hit[i]
        else:
            cx, cy, radius, sense = walls[k, CX], walls[k, CY], walls[k, RADIUS], walls[k, SENSE]
            mx, my, least = walls[k, MX], walls[k, MY], walls[k, WIDER] * radius
            for i in range(LANES):
                px, py = x[i] - cx, y[i] - cy
                c = f32(math.sqrt(px * px + py * py))
                gap = sense * (radius - c)
                b = px * dx[i] + py * dy[i]
                square = b * b - (c - radius) * (c + radius)
                t = -b + sense * f32(math.sqrt(max(square, f32(0))))
                # on the circle itself rounding decides the sign of what is under the root
                touching = abs(gap) < f32(TOUCH)
                on_circle = max(f32(-2) * b, f32(0)) if sense > f32(0) else f32(0)
                t = on_circle if touching else t
                along = (px + t * dx[i]) * mx + (py + t * dy[i]) * my
                met = (square > f32(0)) & (t > f32(0)) & ((sense > f32(0)) | (b < f32(0)))
                met = met | (touching & ((sense > f32(0)) | (b < f32(0))))
                met = met & ((on[i] != k) | (t > f32(0))) & (t < length[i]) & (along >= least)
                length[i] = t if met else length[i]
                hit[i] = np.int32(k) if met else hit[i]


@scalar
def outward(walls: Any, k: Any, x: Any, y: Any) -> Any:
    """The outward normal of a wall at a point on it."""
    sense = walls[k, SENSE]
    if sense == 0:
        return walls[k, NX], walls[k, NY]
    px, py = x - walls[k, CX], y - walls[k, CY]
    scale = sense / max(f32(math.sqrt(px * px + py * py)), f32(1e-20))
    return px * scale, py * scale


@scalar
def line_share(height: Any, s: Any, radius: Any, length: Any) -> Any:
    """About how much of a line lies in a ball: half of the chord, or 0. s: of the nearest point of its line."""
    reach = f32(math.sqrt(max(radius * radius - height * height, f32(0))))
    seen = (height >= f32(FACING) * radius) & (s + reach > f32(0)) & (s - reach < length)
    return reach if seen else f32(0)


@scalar
def arc_share(c: Any, height: Any, own: Any, half: Any, radius: Any) -> Any:
    """The same for an arc of radius `own`. c: the distance of the ball's center from the arc's. half: see `HALF`."""
    reach = f32(math.sqrt(max(radius * radius - height * height, f32(0))))
    whole = f32(2) * f32(math.sqrt(c * own))
    part = reach * f32(math.sqrt(own / max(c, f32(1e-20))))
    return f32(2 * math.pi) * half * own if (reach >= whole) & (reach > f32(0)) else part


@inlined
def choose_walls(
    walls: Any, x: Any, y: Any, radius: Any, on: Any, chance: Any, total: Any, share: Any, chosen: Any
) -> None:
    """One of the walls with data in every ball, or −1, with a chance of share/total.

    chance: uniform numbers, which are used up: whether a wall is taken, of those so far, leaves another such number.
    """
    for i in range(LANES):
        total[i], share[i], chosen[i] = f32(0), f32(1), np.int32(-1)
    for k in range(walls.shape[0]):
        if walls[k, GIVEN] == 0:
            continue
        if walls[k, SENSE] == 0:
            x0, y0, ex, ey, length = walls[k, X0], walls[k, Y0], walls[k, EX], walls[k, EY], walls[k, LENGTH]
            nx, ny = walls[k, NX], walls[k, NY]
            for i in range(LANES):
                ux, uy = x[i] - x0, y[i] - y0
                height = f32(0) if on[i] == k else -(ux * nx + uy * ny)
                part = line_share(height, ux * ex + uy * ey, radius[i], length)
                _choose(k, part, i, chance, total, share, chosen)
        else:
            cx, cy, own, half = walls[k, CX], walls[k, CY], walls[k, RADIUS], walls[k, HALF]
            for i in range(LANES):
                px, py = x[i] - cx, y[i] - cy
                c = f32(math.sqrt(px * px + py * py))
                part = arc_share(c, f32(0) if on[i] == k else c - own, own, half, radius[i])
                _choose(k, part, i, chance, total, share, chosen)


@inlined
def _choose(k: Any, part: Any, i: Any, chance: Any, total: Any, share: Any, chosen: Any) -> None:
    total[i] += part
    scaled = chance[i] * total[i]
    taken = (scaled <= part) & (part > f32(0))
    rest = (scaled - part) / max(total[i] - part, f32(1e-30))
    kept = rest if part > f32(0) else chance[i]
    chance[i] = scaled / max(part, f32(1e-30)) if taken else kept
    share[i] = part if taken else share[i]
    chosen[i] = np.int32(k) if taken else chosen[i]


@scalar
def sample_wall(walls: Any, k: Any, x: Any, y: Any, radius: Any, own: Any, u1: Any, u2: Any, side: Any) -> Any:
    """A point of a wall within a ball: (found, x, y, distance, 1/density).

    The distance along the wall from the point that is nearest has the density ln(S/s)/2S on both sides, as far as S,
    where the wall leaves the ball.
    """
    s = u1 * u2
    sign = f32(1) if side < f32(0.5) else f32(-1)
    if walls[k, SENSE] == 0:
        height = f32(0) if own else -((x - walls[k, X0]) * walls[k, NX] + (y - walls[k, Y0]) * walls[k, NY])
        reach = f32(math.sqrt(max(radius * radius - height * height, f32(0))))
        foot = (x - walls[k, X0]) * walls[k, EX] + (y - walls[k, Y0]) * walls[k, EY]
        place = foot + sign * s * reach
        found = (place >= f32(0)) & (place <= walls[k, LENGTH])
        weight = f32(2) * reach / max(-log(s), f32(1e-7))
        far = f32(math.sqrt(height * height + s * s * reach * reach))
        return found, walls[k, X0] + place * walls[k, EX], walls[k, Y0] + place * walls[k, EY], far, weight
    rho = walls[k, RADIUS]
    px, py = x - walls[k, CX], y - walls[k, CY]
    c = f32(math.sqrt(px * px + py * py))
    height = f32(0) if own else c - rho
    whole = f32(2) * f32(math.sqrt(c * rho))
    chord = f32(math.sqrt(max(radius * radius - height * height, f32(0))))
    if chord >= whole:  # all of the circle is within the ball: uniform over the arc
        angle = f32(2 * math.pi) * walls[k, HALF] * (f32(2) * u1 - f32(1))
        cos, sin = f32(math.cos(angle)), f32(math.sin(angle))
        zx, zy = walls[k, MX] * cos - walls[k, MY] * sin, walls[k, MX] * sin + walls[k, MY] * cos
        found, weight = True, f32(4 * math.pi) * walls[k, HALF] * rho
    else:
        q = sign * s * chord  # 2 √(cρ) sin(φ/2), φ the angle from the nearest point
        half = q / whole
        cosine = f32(math.sqrt(max(f32(1) - half * half, f32(0))))
        cos, sin = f32(1) - f32(2) * half * half, f32(2) * half * cosine
        ax, ay = px / c, py / c
        zx, zy = ax * cos - ay * sin, ax * sin + ay * cos
        found = zx * walls[k, MX] + zy * walls[k, MY] >= walls[k, COSINE]
        weight = f32(2) * chord / max(-log(s), f32(1e-7)) * rho / max(f32(0.5) * whole * cosine, f32(1e-20))
    zx, zy = walls[k, CX] + rho * zx, walls[k, CY] + rho * zy
    far = f32(math.sqrt((zx - x) ** 2 + (zy - y) ** 2))
    return found & (far < radius), zx, zy, far, weight
