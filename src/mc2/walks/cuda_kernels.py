"""Walk on Spheres on a GPU: one thread per point and segment of walks, from the same scalar functions as the CPU.

Many problems run in one launch. Their programs lie behind each other in one array of instructions and one of
constants; `programs[problem]` says where each begins and ends. A thread does its walks one after the other in a single
loop over steps, so that a walk that ends early does not keep its neighbours waiting.
"""

import math
from typing import Any

import numpy as np
from numba import cuda

from mc2.geometry.kernels import MAX_REGISTERS, distance_point
from mc2.problems.kernels import CONSTANT, FIRST_TERM, SEPARABLE, run_point, separable_point, term_point
from mc2.walks import green_kernels as green
from mc2.walks.kernels import BIHARMONIC, GREEN, HELMHOLTZ, PROBE, YUKAWA, project
from mc2.walks.random_kernels import draw, first_turn

POINT_REGISTERS = 32
"""Registers of a program on the GPU, where they are a thread's own memory."""

SUM_OF_TERMS, GENERAL = range(2)
"""Kinds of functions: a plain sum of atoms needs no registers at all."""

DOMAIN, SOURCE, BOUNDARY, LAPLACIAN = range(4)

f32 = np.float32
u32 = np.uint32


@cuda.jit(device=True)
def _function(code: Any, constants: Any, first: Any, last: Any, kind: Any, x: Any, y: Any, registers: Any) -> Any:
    """The value of a function at a point."""
    if kind == SUM_OF_TERMS:
        total = f32(0)
        for row in range(first, last):
            operation = code[row, 0]
            if operation == SEPARABLE:
                total += separable_point(constants, code[row, 2], code[row, 3], x, y)
            elif FIRST_TERM <= operation < CONSTANT:
                total += term_point(operation, constants, code[row, 2], x, y)
        return total
    registers[0] = x
    registers[1] = y
    return run_point(code[first:last], constants, registers)


@cuda.jit(device=True)
def _source_weight(family: Any, radius: Any, r: Any, logarithm: Any, parameter: Any, weight: Any, share: Any) -> Any:
    """What multiplies the base weight of a source sample."""
    if family == YUKAWA:
        return -weight * green.yukawa_ratio(parameter * radius, parameter * r, logarithm)
    if family == BIHARMONIC:
        return share + green.biharmonic_ratio(radius, r, logarithm)
    if family == HELMHOLTZ:
        return -weight * green.helmholtz_ratio(parameter * radius, parameter * r, logarithm)
    return f32(-1)


@cuda.jit(fastmath={"contract"})
def walk_grid(
    domain_code: Any,
    domain_constants: Any,
    code: Any,
    constants: Any,
    programs: Any,
    rules: Any,
    keys: Any,
    x0: Any,
    y0: Any,
    pixels: Any,
    segments: Any,
    max_steps: Any,
    sampling: Any,
    stratify: Any,
    sums: Any,
    mask: Any,
    counts: Any,
) -> None:
    """sums[problem, segment, point]: sum and sum of squares over a segment's walks. mask[problem, point]: 1 inside.

    programs[problem]: first and last row of domain, source, boundary and Laplacian, then the family, then the kinds of
    the three functions. rules[problem]: parameter, ε and largest radius. segments: first walk and number of walks.
    Domains have constants of their own: their rows hold offsets into domain_constants.
    """
    point = cuda.grid(1)
    problem, segment = cuda.blockIdx.y, cuda.blockIdx.z
    if point >= x0.size:
        return
    own = programs[problem]
    distances = cuda.local.array(MAX_REGISTERS, np.float32)
    registers = cuda.local.array(POINT_REGISTERS, np.float32)
    domain = domain_code[own[0] : own[1]]
    start_x, start_y = x0[point], y0[point]
    start = distance_point(domain, domain_constants, start_x, start_y, distances)
    mask[problem, point] = 1 if start > f32(0) else 0
    if not start > f32(0):
        sums[problem, segment, point, 0] = 0.0
        sums[problem, segment, point, 1] = 0.0
        return
    family = own[8]
    parameter, epsilon, largest = rules[problem, 0], rules[problem, 1], rules[problem, 2]
    k0, k1, k2, k3 = keys[problem, 0], keys[problem, 1], keys[problem, 2], keys[problem, 3]
    pixel = pixels[point]
    walk, left = u32(segments[segment, 0]), segments[segment, 1]
    start = min(start, largest)
    x, y, radius = start_x, start_y, start
    weight, share, total = f32(1), f32(0), f32(0)
    step = u32(0)
    sum1, sum2 = np.float64(0), np.float64(0)
    steps, truncated, not_finite = np.int64(0), np.int64(0), np.int64(0)
    while left > 0:
        turn, around, u1, u2 = draw(pixel, walk, step, k0, k1, k2, k3)
        if stratify and step == u32(0):
            turn = first_turn(pixel, walk, k0, k1, k2, k3)
        if own[3] > own[2]:
            if sampling == GREEN:
                r, logarithm, base = green.green_sample(radius, u1, u2)
            else:
                r, logarithm, base = green.uniform_sample(radius, u1, u2)
            cos, sin = green.direction(around)
            value = _function(code, constants, own[2], own[3], own[9], x + r * cos, y + r * sin, registers)
            total += base * _source_weight(family, radius, r, logarithm, parameter, weight, share) * value
        if family == YUKAWA:
            weight *= green.yukawa_decay(parameter * radius)
        elif family == HELMHOLTZ:
            weight *= green.helmholtz_growth(parameter * radius)
        elif family == BIHARMONIC:
            share += f32(0.25) * radius * radius
        cos, sin = green.direction(turn)
        x += radius * cos
        y += radius * sin
        step = u32(step + u32(1))
        distance = distance_point(domain, domain_constants, x, y, distances)
        radius = min(distance, largest)
        if radius < epsilon or step >= max_steps:
            dx = distance_point(domain, domain_constants, x + f32(PROBE), y, distances)
            dy = distance_point(domain, domain_constants, x, y + f32(PROBE), distances)
            px, py = project(x, y, distance, (dx - distance) * f32(1 / PROBE), (dy - distance) * f32(1 / PROBE))
            total += weight * _function(code, constants, own[4], own[5], own[10], px, py, registers)
            if own[7] > own[6]:
                total -= share * _function(code, constants, own[6], own[7], own[11], px, py, registers)
            sum1 += np.float64(total)
            sum2 += np.float64(total) * np.float64(total)
            steps += step
            truncated += 1 if radius >= epsilon else 0
            not_finite += 0 if math.isfinite(total) else 1
            x, y, radius = start_x, start_y, start
            weight, share, total = f32(1), f32(0), f32(0)
            step = u32(0)
            walk = u32(walk + u32(1))
            left -= 1
    sums[problem, segment, point, 0] = sum1
    sums[problem, segment, point, 1] = sum2
    cuda.atomic.add(counts, (problem, 0), steps)
    if truncated > 0:
        cuda.atomic.add(counts, (problem, 1), truncated)
    if not_finite > 0:
        cuda.atomic.add(counts, (problem, 2), not_finite)


@cuda.jit
def add_segments(sums: Any, ends: Any, fresh: Any, running: Any, result: Any) -> None:
    """Add a wave of segments to the running sums, in order; keep them where a segment ends a budget.

    ends[segment]: the index of the budget that ends there, or −1. fresh: start the running sums at 0.
    result[problem, budget, point]: sums at budgets.
    """
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point >= running.shape[1]:
        return
    for part in range(2):
        total = 0.0 if fresh else running[problem, point, part]
        for segment in range(ends.size):
            total += sums[problem, segment, point, part]
            if ends[segment] >= 0:
                result[problem, ends[segment], point, part] = total
        running[problem, point, part] = total


@cuda.jit
def take_moments(result: Any, mask: Any, budgets: Any, mean: Any, variance: Any) -> None:
    """Means and variances of the means, in float32, from sums at budgets."""
    point, problem, budget = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if point >= result.shape[2]:
        return
    walks = np.float64(budgets[budget])
    centre = result[problem, budget, point, 0] / walks
    spread = max(result[problem, budget, point, 1] / walks - centre * centre, 0.0)
    mean[problem, budget, point] = centre
    unknown = math.inf if mask[problem, point] else 0.0
    variance[problem, budget, point] = spread / (walks - 1.0) if walks > 1.0 else unknown
