"""A plain scalar Walk on Stars in numba, in float32: the published algorithm (Sawhney, Miller, Gkioulekas, Crane 2023).

It solves Δu = 0 in a polygon, with constant u on some edges and constant ∂u/∂n on the others. Every step looks at all
edges three times: for the distance to the Dirichlet part, for silhouettes, and for the ray; and once more to see
whether its sample of the Neumann data is visible, if they are not 0.
"""

import math

import numba
import numpy as np
from yardstick import OPTIONS, PI2, f32, random


@numba.njit(**OPTIONS)
def distance(edges, x, y):
    nearest = f32(1e30)
    for k in range(len(edges)):
        ex, ey = edges[k, 2] - edges[k, 0], edges[k, 3] - edges[k, 1]
        t = ((x - edges[k, 0]) * ex + (y - edges[k, 1]) * ey) / (ex * ex + ey * ey)
        t = min(max(t, f32(0)), f32(1))
        dx, dy = x - edges[k, 0] - t * ex, y - edges[k, 1] - t * ey
        nearest = min(nearest, dx * dx + dy * dy)
    return f32(math.sqrt(nearest))


@numba.njit(**OPTIONS)
def silhouette(walls, follow, x, y):
    """The nearest vertex between two walls of which one is seen from the front and the other from behind."""
    nearest = f32(1e30)
    for k in range(len(walls)):
        j = follow[k]
        if j < 0:
            continue
        a = (walls[k, 2] - walls[k, 0]) * (y - walls[k, 1]) - (walls[k, 3] - walls[k, 1]) * (x - walls[k, 0])
        b = (walls[j, 2] - walls[j, 0]) * (y - walls[j, 1]) - (walls[j, 3] - walls[j, 1]) * (x - walls[j, 0])
        if a * b < 0:
            nearest = min(nearest, (x - walls[k, 2]) ** 2 + (y - walls[k, 3]) ** 2)
    return f32(math.sqrt(nearest))


@numba.njit(**OPTIONS)
def ray(walls, x, y, dx, dy, radius, on):
    """How far a ray goes, and the wall that it meets, or −1."""
    found = -1
    for k in range(len(walls)):
        if k == on:
            continue
        ex, ey = walls[k, 2] - walls[k, 0], walls[k, 3] - walls[k, 1]
        cross = dx * ey - dy * ex
        if cross == 0:
            continue
        ux, uy = walls[k, 0] - x, walls[k, 1] - y
        t, s = (ux * ey - uy * ex) / cross, (ux * dy - uy * dx) / cross
        if f32(0) < t < radius and f32(0) <= s <= f32(1):
            radius, found = t, k
    return radius, found


@numba.njit(parallel=True, **OPTIONS)
def walk(points, walks, ends, end_values, walls, follow, flow, epsilon, seed):
    """Means [count] over walks from points [count, 2], mean squares, and steps taken.

    ends, walls: edges [n, 4] with the domain on their left, and u on the first. follow: the wall after each, or −1.
    flow: ∂u/∂n on the walls.
    """
    means, squares = np.zeros(len(points)), np.zeros(len(points))
    steps = np.zeros(len(points), np.int64)
    length = np.sqrt((walls[:, 2] - walls[:, 0]) ** 2 + (walls[:, 3] - walls[:, 1]) ** 2)
    whole = f32(length.sum())
    for point in numba.prange(len(points)):
        state = np.uint64(seed) + np.uint64(point + 1) * np.uint64(0x9E3779B97F4A7C15)
        total, square, taken = 0.0, 0.0, 0
        for _ in range(walks):
            x, y, on, value = f32(points[point, 0]), f32(points[point, 1]), -1, f32(0)
            for _ in range(65536):
                free = distance(ends, x, y)
                if free < epsilon:
                    break
                radius = max(epsilon, f32(0.99) * min(free, silhouette(walls, follow, x, y)))
                state, u = random(state)
                dx, dy = f32(math.cos(PI2 * u)), f32(math.sin(PI2 * u))
                if on >= 0 and dx * (walls[on, 3] - walls[on, 1]) - dy * (walls[on, 2] - walls[on, 0]) > 0:
                    dx, dy = -dx, -dy
                if flow != 0:
                    state, u = random(state)
                    s, k = u * whole, 0
                    while k < len(walls) - 1 and s > length[k]:
                        s, k = s - length[k], k + 1
                    zx = walls[k, 0] + s / length[k] * (walls[k, 2] - walls[k, 0])
                    zy = walls[k, 1] + s / length[k] * (walls[k, 3] - walls[k, 1])
                    r = f32(math.sqrt((zx - x) ** 2 + (zy - y) ** 2))
                    if f32(0) < r < radius:
                        _, met = ray(walls, x, y, (zx - x) / r, (zy - y) / r, r * f32(0.9999), on)
                        if met < 0:
                            twice = f32(2) if on >= 0 else f32(1)
                            value += twice * flow * whole * f32(math.log(radius / r)) / PI2
                radius, on = ray(walls, x, y, dx, dy, radius, on)
                x += radius * dx
                y += radius * dy
                taken += 1
            nearest, best = f32(1e30), 0
            for k in range(len(ends)):
                near = distance(ends[k : k + 1], x, y)
                if near < nearest:
                    nearest, best = near, k
            score = np.float64(value + end_values[best])
            total += score
            square += score * score
        means[point], squares[point] = total / walks, square / walks
        steps[point] = taken
    return means, squares, steps.sum()
