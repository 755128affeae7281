"""Columns of Trefftz bases on an NVIDIA GPU, for many problems at once. The mathematics is that of `basis_kernels`."""

import math
from typing import Any

from numba import cuda, float32

TERMS = 18
MOST_BINS = 32


@cuda.jit
def add_to_bins(place: Any, values: Any, sums: Any) -> None:
    """sums[value, problem, bin] += values[value, problem, pixel], where place[problem, pixel] is the bin.

    Blocks are numbered by piece of the pixels, problem and value, and add in their own memory first.
    """
    own = cuda.shared.array(MOST_BINS, float32)
    problem, value, bins = cuda.blockIdx.y, cuda.blockIdx.z, sums.shape[2]
    if cuda.threadIdx.x < bins:
        own[cuda.threadIdx.x] = 0.0
    cuda.syncthreads()
    for pixel in range(cuda.grid(1), place.shape[1], cuda.gridDim.x * cuda.blockDim.x):
        cuda.atomic.add(own, place[problem, pixel], values[value, problem, pixel])
    cuda.syncthreads()
    if cuda.threadIdx.x < bins:
        cuda.atomic.add(sums, (value, problem, cuda.threadIdx.x), own[cuda.threadIdx.x])


@cuda.jit
def fill_whitened(
    x: Any, y: Any, rules: Any, deviation: Any, out: Any
) -> None:  # fmt: skip
    """out[problem, piece, column, point]: columns over the deviations, level by level.

    They are 0 where the deviation is infinite. Points are split into pieces, and the last column is left to others.
    rules[problem]: sign, parameter, centre x and y, radius, and whether every function comes again, times r²; then
    there are half as many levels.
    """
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point >= x.size:
        return
    length = out.shape[3]
    own = out[problem, point // length]
    place = point % length
    columns = own.shape[0] - 1
    weight = 1.0 / deviation[problem, point]
    sign, parameter, radius = rules[problem, 0], rules[problem, 1], rules[problem, 4]
    dx, dy = x[point] - rules[problem, 2], y[point] - rules[problem, 3]
    square = dx * dx + dy * dy
    twice = rules[problem, 5] != 0
    top = (columns // 2 - 1) // 2 if twice else (columns - 1) // 2
    if weight == 0.0:
        for column in range(columns):
            own[column, place] = 0.0
        return
    if sign != 0.0:  # Λ of every level goes where its cosine will be
        share = sign * 0.25 * parameter * parameter
        start = max(top + 1, int(0.25 * (parameter * radius) ** 2) + 1)
        first = math.exp(-parameter * radius) if sign > 0 else 1.0
        term1, term2, above, here = first, first, first, first
        for k in range(1, TERMS):
            term1 *= share * square / (k * (start + 1 + k))
            term2 *= share * square / (k * (start + k))
            above += term1
            here += term2
        for n in range(start, 0, -1):
            below = here + share * square / (n * (n + 1)) * above
            above = here
            here = below
            if n <= top + 1:
                own[max(2 * n - 3, 0), place] = here
    c, s = weight, 0.0
    column = 0
    for n in range(top + 1):
        factor = own[column, place] if sign != 0.0 else 1.0
        width = 2 if n > 0 else 1
        own[column, place] = factor * c
        if n > 0:
            own[column + 1, place] = factor * s
        if twice:
            for part in range(width):
                own[column + width + part, place] = own[column + part, place] * square / (radius * radius)
            width *= 2
        column += width
        c, s = (c * dx - s * dy) / radius, (s * dx + c * dy) / radius
    for rest in range(column, columns):
        own[rest, place] = 0.0
