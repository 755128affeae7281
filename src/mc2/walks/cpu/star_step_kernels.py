"""One step of walks that reflect, over a block of lanes: weights in a ball, samples of the data, the jump.

In a ball of radius R around x, G is the Green's function of Δ − λ that is 0 on its rim. A ray in direction θ that meets
a wall at distance r, or the rim at r = R, carries u there with the weight Q(r) = 2πr P/cos θ, P = −∂G/∂n: 1 for λ = 0.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mc2.compute.compile import LANES, inlined, scalar
from mc2.compute.elementary import log
from mc2.walks import green_kernels as green
from mc2.walks.cpu.star_kernels import (
    FACING,
    LARGEST,
    SMALLEST,
    X0,
    X1,
    Y0,
    Y1,
    choose_walls,
    first_hits,
    outward,
    sample_wall,
)
from mc2.walks.random_kernels import hash4, uniform

X, Y, WEIGHT, RADIUS, DISTANCE, NORMAL_X, NORMAL_Y = range(7)
"""Rows of the lanes' state, in float32: where a walk is, its weight, its ball's radius, the distance to where it can
end, and the outward normal of the wall that it is on, or 0."""
TURN, WHICH, U1, U2, V1, V2, SIDE, CHANCE = range(8)
"""Rows of the numbers drawn for a step."""
LIGHT, HEAVY = 0.2, 0.4
"""A walk with a weight below the first goes on with the second, as often as keeps its mean."""

f32 = np.float32
u32 = np.uint32


class Walls(NamedTuple):
    """The boundary as rows: see `star_kernels`. coefficients: μ at equidistant shares of every wall's chord."""

    ends: Any
    walls: Any
    vertices: Any
    coefficients: Any


class StarRules(NamedTuple):
    """How to walk.

    rate: √λ.
    epsilon: of the ends, of silhouettes.
    cap, wall_cap: of radii, and of those on Robin walls.
    robin, given, source: whether there are Robin walls, walls with data, and a source.
    convex: whether walls hide nothing.
    constant: whether the data of all walls are constant, and are added up.
    flows: whether they are added up without samples, since these walls are straight and λ = 0.
    settled: whether Robin walls take their share of walks that are on them: False only to measure what that is worth.
    box: xmin, xmax, ymin, ymax of the domain, and a little more.
    """

    rate: Any
    epsilon: Any
    cap: Any
    wall_cap: Any
    max_steps: Any
    stratify: bool
    robin: bool
    given: bool
    source: bool
    convex: bool
    constant: bool
    flows: bool
    settled: bool
    box: Any


@scalar
def hit_weight(big: Any, small: Any, logarithm: Any) -> Any:
    """Q(r) = s [K₁(s) + I₁(s) K₀(S)/I₀(S)] with S = big = √λ R ≤ 2, s = small = √λ r, logarithm = ln(R/r)."""
    t = f32(0.25) * small * small
    p = f32(-0.18156897) + t * (f32(-0.01919402) + t * (f32(-0.00110404) + t * f32(-0.00004686)))
    p = f32(1) + t * (f32(0.15443144) + t * (f32(-0.67278579) + t * p))
    v = small * f32(1 / 3.75)
    v = v * v
    i1 = f32(0.15084934) + v * (f32(0.02658733) + v * (f32(0.00301532) + v * f32(0.00032411)))
    i1 = f32(0.5) + v * (f32(0.87890594) + v * (f32(0.51498869) + v * i1))
    rest = green.k0_rest(big) / green.i0_small(big)
    # the series ends with −ln(s/2) I₁, which −ln(S/2) in K₀(S) makes small
    return p + small * small * i1 * (rest - logarithm)


@scalar
def green_weight(big: Any, small: Any, logarithm: Any) -> Any:
    """2πG = K₀(s) − I₀(s) K₀(S)/I₀(S), for S ≤ 2."""
    i0 = green.i0_small(small)
    return i0 * (logarithm - green.k0_rest(big) / green.i0_small(big)) + green.k0_rest(small)


@scalar
def wall_share(big: Any) -> Any:
    """∫ 2πG along a radius, in units of it: 1 for λ = 0."""
    t = big * big
    p = f32(-3.58674657e-3) + t * (f32(4.11635416e-4) + t * f32(-2.34163168e-5))
    return f32(1) + t * (f32(-1.38794151e-1) + t * (f32(2.31779797e-2) + t * p))


@inlined
def draw_all(numbers: Any, pixel: Any, walk: Any, step: Any, key: Any, more: Any) -> None:
    """Eight uniform numbers for a step; only the first four if no more are needed."""
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(LANES):
        a, b, c, d = hash4(u32(pixel[i] + k0), u32(walk[i] + k1), u32(step[i] + k2), k3)
        numbers[TURN, i], numbers[WHICH, i], numbers[U1, i], numbers[U2, i] = (
            uniform(a), uniform(b), uniform(c), uniform(d),
        )  # fmt: skip
    if more:
        for i in range(LANES):
            a, b, c, d = hash4(u32(pixel[i] + k0), u32(walk[i] + k1), u32(step[i] + k2), u32(k3 + u32(3)))
            numbers[V1, i], numbers[V2, i], numbers[SIDE, i], numbers[CHANCE, i] = (
                uniform(a), uniform(b), uniform(c), uniform(d),
            )  # fmt: skip


@inlined
def aim(state: Any, numbers: Any, dx: Any, dy: Any, length: Any) -> None:
    """A uniform direction for every lane, turned inward on a wall, and the ball's radius as the length of its ray."""
    for i in range(LANES):
        cos, sin = green.direction(numbers[TURN, i])
        sign = f32(-1) if cos * state[NORMAL_X, i] + sin * state[NORMAL_Y, i] > f32(0) else f32(1)
        dx[i], dy[i], length[i] = sign * cos, sign * sin, state[RADIUS, i]


@scalar
def coefficient(tables: Any, k: Any, x: Any, y: Any) -> Any:
    """μ of a wall at a point on it."""
    walls = tables.walls
    mu = walls[k, LARGEST]
    if walls[k, SMALLEST] == mu:
        return mu
    ex, ey = walls[k, X1] - walls[k, X0], walls[k, Y1] - walls[k, Y0]
    share = ((x - walls[k, X0]) * ex + (y - walls[k, Y0]) * ey) / (ex * ex + ey * ey)
    last = tables.coefficients.shape[1] - 1
    place = min(max(share, f32(0)), f32(1)) * f32(last)
    index = min(int(place), last - 1)
    low, high = tables.coefficients[k, index], tables.coefficients[k, index + 1]
    return low + (place - f32(index)) * (high - low)


@scalar
def _reach(length: Any, radius: Any) -> Any:
    """∫ ln(R/s) ds from 0 to a length, or to R."""
    inside = max(min(length, radius), f32(1e-12))
    return inside * (f32(1) + log(radius / inside))


@scalar
def own_share(tables: Any, rules: Any, k: Any, x: Any, y: Any, radius: Any) -> Any:
    """μ ∫ 2G along the wall that a walk is on: what it takes of u there."""
    walls = tables.walls
    before = f32(math.sqrt((x - walls[k, X0]) ** 2 + (y - walls[k, Y0]) ** 2))
    after = f32(math.sqrt((x - walls[k, X1]) ** 2 + (y - walls[k, Y1]) ** 2))
    length = (_reach(before, radius) + _reach(after, radius)) * f32(1 / math.pi)
    return coefficient(tables, k, x, y) * length * wall_share(rules.rate * radius)


@inlined
def settle(tables: Any, rules: Any, state: Any, on: Any) -> None:
    """Divide weights by 1 + c on Robin walls: u (1 + c) = ∫ 2P u + …, up to the third order in R."""
    for i in range(LANES):
        k = on[i]
        if k >= 0 and tables.walls[k, LARGEST] > 0:
            c = own_share(tables, rules, k, state[X, i], state[Y, i], state[RADIUS, i])
            state[WEIGHT, i] /= f32(1) + c


@inlined
def sample_source(rules: Any, state: Any, numbers: Any, dx: Any, dy: Any, length: Any, item: Any, found: Any) -> Any:
    """Sample the source on every ray, from G, where no wall hides it. Returns how many samples there are."""
    count = 0
    for i in range(LANES):
        radius = state[RADIUS, i]
        r, logarithm, base = green.green_sample(radius, numbers[U1, i], numbers[U2, i])
        ratio = f32(1)
        if rules.rate > 0:
            ratio = green_weight(rules.rate * radius, rules.rate * r, logarithm) / max(logarithm, f32(1e-7))
        if (item[i] >= 0) & (r < length[i]):
            found[0, count], found[1, count] = state[X, i] + r * dx[i], state[Y, i] + r * dy[i]
            found[2, count], found[3, count] = -state[WEIGHT, i] * base * ratio, f32(i)
            count += 1
    return count


@inlined
def sample_walls(
    tables: Any,
    rules: Any,
    state: Any,
    numbers: Any,
    on: Any,
    item: Any,
    found: Any,
    chosen: Any,
    dx: Any,
    dy: Any,
    length: Any,
    hit: Any,
) -> Any:
    """Sample the data of one wall in every ball, where no other wall hides it. Returns how many samples there are.

    found: rows of x, y, weight, lane. chosen: the wall of each.
    """
    walls = tables.walls
    total, share = found[0], found[1]
    choose_walls(walls, state[X], state[Y], state[RADIUS], on, numbers[WHICH], total, share, chosen)
    for i in range(LANES):
        x, y, radius, picked = state[X, i], state[Y, i], state[RADIUS, i], chosen[i]
        chance = share[i] / max(total[i], f32(1e-30))
        chosen[i] = np.int32(-1)
        length[i] = f32(0)
        if picked >= 0:
            own = on[i] == picked
            inside, zx, zy, far, weight = sample_wall(
                walls, picked, x, y, radius, own, numbers[V1, i], numbers[V2, i], numbers[SIDE, i]
            )
            dx[i], dy[i] = (zx - x) / max(far, f32(1e-20)), (zy - y) / max(far, f32(1e-20))
            nx, ny = outward(walls, picked, zx, zy)
            if inside and far < radius and (own or dx[i] * nx + dy[i] * ny >= f32(FACING)):
                logarithm = log(radius / max(far, f32(1e-20)))
                if rules.rate > 0:
                    logarithm = green_weight(rules.rate * radius, rules.rate * far, logarithm)
                twice = f32(1 / math.pi) if on[i] >= 0 else f32(0.5 / math.pi)
                found[0, i], found[1, i] = zx, zy
                found[2, i] = state[WEIGHT, i] * twice * logarithm * weight / chance
                chosen[i] = picked
                length[i] = far * f32(1 - 1e-4)
    if not rules.convex:
        first_hits(walls, state[X], state[Y], dx, dy, on, length, hit)
    count = 0
    for i in range(LANES):
        seen = rules.convex or hit[i] < 0 or hit[i] == chosen[i]
        if chosen[i] >= 0 and seen and item[i] >= 0:
            found[0, count], found[1, count], found[2, count] = found[0, i], found[1, i], found[2, i]
            found[3, count], chosen[count] = f32(i), chosen[i]
            count += 1
    return count


@inlined
def jump(
    tables: Any, rules: Any, state: Any, numbers: Any, on: Any, dx: Any, dy: Any, length: Any, hit: Any, step: Any
) -> None:
    """Go to where every ray ends, with the weight that u has there."""
    walls = tables.walls
    for i in range(LANES):
        r, k = length[i], hit[i]
        state[X, i] += r * dx[i]
        state[Y, i] += r * dy[i]
        step[i] = u32(step[i] + u32(1))
        if rules.rate > 0 or (rules.robin and k >= 0):
            logarithm = log(state[RADIUS, i] / max(r, f32(1e-20)))
            factor, value = f32(1), logarithm
            if rules.rate > 0:
                big, small = rules.rate * state[RADIUS, i], rules.rate * r
                factor = hit_weight(big, small, logarithm)
                value = green_weight(big, small, logarithm)
            if k >= 0 and k != on[i] and walls[k, LARGEST] > 0:
                nx, ny = outward(walls, k, state[X, i], state[Y, i])
                cos = max(dx[i] * nx + dy[i] * ny, f32(1e-7))
                factor = max(factor - coefficient(tables, k, state[X, i], state[Y, i]) * value * r / cos, f32(0))
            state[WEIGHT, i] *= factor
            if state[WEIGHT, i] < f32(LIGHT):
                stays = numbers[CHANCE, i] * f32(HEAVY) < state[WEIGHT, i]
                state[WEIGHT, i] = f32(HEAVY) if stays else f32(0)
        state[NORMAL_X, i], state[NORMAL_Y, i] = f32(0), f32(0)
        if k >= 0:
            state[NORMAL_X, i], state[NORMAL_Y, i] = outward(walls, k, state[X, i], state[Y, i])
        on[i] = k
