"""A plain scalar Walk on Spheres in numba, in float32: what one would write first, and about as fast as good C++.

It solves the benchmark problem only (unit disk, u = sin 4x cos 4y), with everything written into the loop.
"""

import math

import numba
import numpy as np

f32 = np.float32
PI2 = f32(2 * math.pi)
OPTIONS = {"fastmath": True, "error_model": "numpy"}


@numba.njit(inline="always", **OPTIONS)
def random(state):
    """xorshift64*: a new state and a uniform number in (0, 1)."""
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    word = np.int64((state * np.uint64(2685821657736338717)) >> np.uint64(40))
    return state, (f32(word) + f32(0.5)) * f32(2.0**-24)


@numba.njit(**OPTIONS)
def horner(t, coefficients):
    total = f32(0)
    for c in coefficients:
        total = total * t + f32(c)
    return total


I0_SMALL = tuple(map(f32, (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0)))
I0_LARGE = tuple(
    map(
        f32,
        (
            0.00392377,
            -0.01647633,
            0.02635537,
            -0.02057706,
            0.00916281,
            -0.00157565,
            0.00225319,
            0.01328592,
            0.39894228,
        ),
    )
)
K0_SMALL = tuple(map(f32, (0.0000074, 0.0001075, 0.00262698, 0.0348859, 0.23069756, 0.4227842, -0.57721566)))
K0_LARGE = tuple(map(f32, (0.00053208, -0.0025154, 0.00587872, -0.01062446, 0.02189568, -0.07832358, 1.25331414)))


@numba.njit(**OPTIONS)
def bessel_i0(x):
    if x < f32(3.75):
        return horner((x / f32(3.75)) * (x / f32(3.75)), I0_SMALL)
    return f32(math.exp(x)) / f32(math.sqrt(x)) * horner(f32(3.75) / x, I0_LARGE)


@numba.njit(**OPTIONS)
def bessel_k0(x):
    if x < f32(2):
        return -f32(math.log(x / f32(2))) * bessel_i0(x) + horner(x * x / f32(4), K0_SMALL)
    return f32(math.exp(-x)) / f32(math.sqrt(x)) * horner(f32(2) / x, K0_LARGE)


@numba.njit(parallel=True, **OPTIONS)
def walk(points, walks, family, lam, epsilon, seed):
    """Means [count] over walks from points [count, 2]; family 0 Laplace, 1 Poisson, 2 Yukawa. Also steps taken."""
    means = np.zeros(len(points))
    steps = np.zeros(len(points), np.int64)
    mu, strength = f32(math.sqrt(lam)), f32(-(32 + lam))
    for point in numba.prange(len(points)):
        state = np.uint64(seed) + np.uint64(point + 1) * np.uint64(0x9E3779B97F4A7C15)
        total, taken = 0.0, 0
        for _ in range(walks):
            x, y, weight, value = f32(points[point, 0]), f32(points[point, 1]), f32(1), f32(0)
            for _ in range(128):
                radius = f32(1) - f32(math.sqrt(x * x + y * y))
                if radius < epsilon:
                    break
                if family > 0:
                    state, u1 = random(state)
                    state, u2 = random(state)
                    state, u3 = random(state)
                    r, angle = radius * f32(math.sqrt(u1 * u2)), PI2 * u3
                    part = f32(-0.25) * radius * radius * weight
                    if family == 2:
                        big = bessel_i0(mu * radius)
                        green = bessel_k0(mu * r) - bessel_i0(mu * r) * bessel_k0(mu * radius) / big
                        part *= green / f32(math.log(radius / r))
                        weight /= big
                    sx, sy = x + r * f32(math.cos(angle)), y + r * f32(math.sin(angle))
                    value += part * strength * f32(math.sin(f32(4) * sx)) * f32(math.cos(f32(4) * sy))
                state, u4 = random(state)
                x += radius * f32(math.cos(PI2 * u4))
                y += radius * f32(math.sin(PI2 * u4))
                taken += 1
            scale = f32(4) / f32(math.sqrt(x * x + y * y))
            total += value + weight * f32(math.sin(scale * x)) * f32(math.cos(scale * y))
        means[point] = total / walks
        steps[point] = taken
    return means, steps.sum()
