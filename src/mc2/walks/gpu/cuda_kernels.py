"""Walk on Spheres on a GPU, from the same scalar functions as on the CPU.

Many problems run in one launch. Their programs lie behind each other in one array of instructions and one of
constants; `programs[problem]` says where each begins and ends. A warp takes the walks of its points from a queue, so
that none of its threads idles while others walk on. Some walk of a warp ends at almost every step, so what an ending
walk needs (two more distances, the boundary value) is done in the same places of the loop as the others' distances
and sources.
"""

import math
from typing import Any

import numpy as np
from numba import cuda

from mc2.functions.kernels import run_point, term_point
from mc2.geometry.kernels import INTERSECTION, MAX_REGISTERS, UNION, distance_point, has_slit
from mc2.geometry.shape_kernels import shape_point
from mc2.walks import green_kernels as green
from mc2.walks.cpu.lane_kernels import BIHARMONIC, GREEN, HELMHOLTZ, PROBE, REST, YUKAWA, project, slit_probe
from mc2.walks.gpu import hardware_kernels
from mc2.walks.gpu.columns import (
    BOOLEAN,
    BOUNDARY,
    DOMAIN,
    EPSILON,
    FAMILY,
    LAPLACIAN,
    LARGEST,
    MOST_WALKS,
    ON_LAPLACIAN,
    ON_VALUE,
    PARAMETER,
    SHAPE_1,
    SHAPE_2,
    SOURCE,
)
from mc2.walks.gpu.launch import POINT_REGISTERS
from mc2.walks.random_kernels import draw, first_turn

WALKING, PROBING_X, PROBING_Y, READY, STARTING, IDLE = map(np.int32, range(6))
"""What a thread is doing. All threads of a warp share one loop, in which nothing long waits for a few of them."""

WARPS = 4
"""Warps per block."""
ITEMS = 1024
"""Most walks in a warp's queue."""
VALUES = WARPS * ITEMS
POINTS = 256
"""Most points in a warp's queue."""
QUEUES = WARPS * POINTS
FULL_WARP = 0xFFFFFFFF
CROWD = 12
"""Walks of a warp that are scored together, where scoring is all there is to evaluate."""

f32 = np.float32
u32 = np.uint32

hardware_kernels.install()


@cuda.jit(device=True)
def _function(code: Any, constants: Any, first: Any, last: Any, x: Any, y: Any, registers: Any) -> Any:
    """The value of a function at a point."""
    registers[0] = x
    registers[1] = y
    return run_point(code[first:last], constants, registers)


@cuda.jit(device=True)
def _sum_terms(code: Any, constants: Any, first: Any, last: Any, x: Any, y: Any) -> Any:
    """u, Δu and Δ²u of a sum of atoms; what a caller does not use, the compiler does not compute."""
    u, laplacian, bilaplacian = f32(0), f32(0), f32(0)
    row = u32(first)
    while row < u32(last):
        a, b, c = term_point(code[row, 0], constants, code[row, 2], code[row, 3], x, y)
        u += a
        laplacian += b
        bilaplacian += c
        row = u32(row + u32(1))
    return u, laplacian, bilaplacian


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


@cuda.jit(device=True)
def _combine(boolean: Any, a: Any, b: Any) -> Any:
    if boolean == UNION:
        return max(a, b)
    return min(a, b) if boolean == INTERSECTION else min(a, -b)


def _terms(order: int) -> Any:
    """Contributions from a table of atoms. The same terms, in one pass, serve walks that go on and walks that end."""

    @cuda.jit(device=True)
    def contribution(
        code: Any, constants: Any, own: Any, first: Any, last: Any, c0: Any, c1: Any, ending: Any, factor: Any,
        weight: Any, share: Any, x: Any, y: Any, registers: Any,
    ) -> Any:  # fmt: skip
        u, laplacian, bilaplacian = _sum_terms(code, constants, first, last, x, y)
        if order == 0:
            return weight * u
        if order == 1:
            return weight * u if ending else factor * (c0 * u + c1 * laplacian)
        return weight * u - share * laplacian if ending else factor * bilaplacian

    return contribution


@cuda.jit(device=True)
def _general(
    code: Any, constants: Any, own: Any, first: Any, last: Any, c0: Any, c1: Any, ending: Any, factor: Any, weight: Any,
    share: Any, x: Any, y: Any, registers: Any,
) -> Any:  # fmt: skip
    """Contributions from a program for each function."""
    if not ending:
        return factor * _function(code, constants, first, last, x, y, registers)
    value = weight * _function(code, constants, own[BOUNDARY], own[BOUNDARY + 1], x, y, registers)
    if own[LAPLACIAN + 1] > own[LAPLACIAN]:
        value -= share * _function(code, constants, own[LAPLACIAN], own[LAPLACIAN + 1], x, y, registers)
    return value


def _make_walk(contribution: Any, has_source: bool, any_domain: bool) -> Any:
    """The kernel for one kind of problems.

    has_source and any_domain are fixed, so that walks without a source compute nothing for it, and domains of one or
    two shapes need no more than their own code.
    """

    @cuda.jit(fastmath=True, max_registers=64)
    def walk(
        domain_code: Any, domain_constants: Any, shapes: Any, code: Any, constants: Any, programs: Any, rules: Any,
        keys: Any, chosen: Any, x0: Any, y0: Any, pixels: Any, starts: Any, segments: Any, span: Any, max_steps: Any,
        sampling: Any, stratify: Any, sums: Any, counts: Any,
    ) -> None:  # fmt: skip
        """sums[problem, segment, point]: sum and sum of squares over a segment's walks.

        programs, rules, shapes: a row for each problem, see `mc2.walks.gpu.columns`.
        chosen: which problems this launch is for.
        starts[problem, point]: signed distances.
        segments: first walk and number of walks.
        span: points per warp.
        """
        # one queue per warp: its points inside the domain, and the value of every walk
        queue = cuda.shared.array(QUEUES, np.uint16)
        values = cuda.shared.array(VALUES, np.float32)
        distances = cuda.local.array(MAX_REGISTERS, np.float32)
        registers = cuda.local.array(POINT_REGISTERS, np.float32)
        # indices are unsigned, or every access would first ask whether its index is negative
        lane, warp = u32(cuda.threadIdx.x & 31), u32(cuda.threadIdx.x >> 5)
        below = u32((u32(1) << lane) - u32(1))
        base, own_queue = u32((cuda.blockIdx.x * WARPS + warp) * span), u32(warp * u32(POINTS))
        own_values = u32(warp * u32(ITEMS))
        problem, segment = chosen[cuda.blockIdx.y], cuda.blockIdx.z
        own, rule, s, own_starts = programs[problem], rules[problem], shapes[problem], starts[problem]
        domain = domain_code[own[DOMAIN] : own[DOMAIN + 1]]
        slits = has_slit(domain) if any_domain else False
        op1, op2, boolean, family = own[SHAPE_1], own[SHAPE_2], own[BOOLEAN], own[FAMILY]
        s0, s1, s2, s3, s4, s5 = s[0], s[1], s[2], s[3], s[4], s[5]
        t0, t1, t2, t3, t4, t5 = s[6], s[7], s[8], s[9], s[10], s[11]
        rows, rows_end = own[SOURCE], own[SOURCE + 1]
        parameter, epsilon, largest = rule[PARAMETER], rule[EPSILON], rule[LARGEST]
        c0, c1 = rule[ON_VALUE], rule[ON_LAPLACIAN]
        k0, k1, k2, k3 = keys[problem, 0], keys[problem, 1], keys[problem, 2], keys[problem, 3]
        first = u32(segments[segment, 0])
        walks = u32(max(min(segments[segment, 1], own[MOST_WALKS] - segments[segment, 0]), 0))
        inside = u32(0)
        for offset in range(0, span, 32):
            point = u32(base + u32(offset) + lane)
            is_inside = False
            if point < x0.size:
                is_inside = own_starts[point] > f32(0)
                if not is_inside:
                    sums[problem, segment, point, 0] = 0.0
                    sums[problem, segment, point, 1] = 0.0
            votes = u32(cuda.ballot_sync(FULL_WARP, is_inside))
            if is_inside:
                queue[u32(own_queue + inside + u32(cuda.popc(votes & below)))] = offset + lane
            inside = u32(inside + u32(cuda.popc(votes)))
        cuda.syncwarp()
        items, taken = u32(inside * walks), u32(0)
        item, pixel, number = u32(0), u32(0), u32(0)
        x, y, radius = f32(0), f32(0), f32(0)
        weight, share, total = f32(1), f32(0), f32(0)
        distance, dx = f32(0), f32(0)
        step, state = u32(0), STARTING
        steps, truncated, not_finite = np.int32(0), np.int32(0), np.int32(0)
        while True:
            wanted = u32(cuda.ballot_sync(FULL_WARP, state == STARTING))
            if state == STARTING:
                item = u32(taken + u32(cuda.popc(wanted & below)))
                state = IDLE
                if item < items:
                    turns = u32(item // inside)
                    point = u32(base + queue[u32(own_queue + item - turns * inside)])
                    number = u32(first + turns)
                    x, y, radius, pixel = x0[point], y0[point], min(own_starts[point], largest), pixels[point]
                    weight, share, total, step, state = f32(1), f32(0), f32(0), u32(0), WALKING
            taken = u32(taken + u32(cuda.popc(wanted)))
            if not cuda.any_sync(FULL_WARP, state != IDLE):
                break
            scoring = state == READY
            if not has_source:
                # scoring is all there is to evaluate: wait for a crowd, so that the warp does it together
                ready = cuda.ballot_sync(FULL_WARP, scoring)
                others = cuda.any_sync(FULL_WARP, state < READY)
                scoring = scoring and (cuda.popc(ready) >= CROWD or not others)
            qx, qy, factor, turn = x, y, f32(0), f32(0)
            if state == WALKING:
                turn, around, u1, u2 = draw(pixel, number, step, k0, k1, k2, k3)
                if stratify and step == u32(0):
                    turn = first_turn(pixel, number, k0, k1, k2, k3)
                if has_source:
                    if sampling == GREEN:
                        r, logarithm, part = green.green_sample(radius, u1, u2)
                    else:
                        r, logarithm, part = green.uniform_sample(radius, u1, u2)
                    cos, sin = green.direction(around)
                    qx, qy = x + r * cos, y + r * sin
                    factor = part * _source_weight(family, radius, r, logarithm, parameter, weight, share)
            if scoring or (has_source and state == WALKING):
                total += contribution(
                    code, constants, own, rows, rows_end, c0, c1, scoring, factor, weight, share, qx, qy, registers
                )  # fmt: skip
            if scoring:
                values[u32(own_values + item)] = total
                not_finite = np.int32(not_finite + (0 if math.isfinite(total) else 1))
                state = STARTING
            if state == WALKING:
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
            # one distance for all: where a walk stands or, at its end, to the right and above, for the gradient
            probe = slit_probe(distance) if slits else f32(PROBE)
            px = x + probe if state == PROBING_X else x
            py = y + probe if state == PROBING_Y else y
            if any_domain:
                found = distance_point(domain, domain_constants, px, py, distances)
            else:  # one or two shapes, which stay in registers
                found = shape_point(op1, s0, s1, s2, s3, s4, s5, px, py)
                if boolean >= 0:
                    found = _combine(boolean, found, shape_point(op2, t0, t1, t2, t3, t4, t5, px, py))
            if state == WALKING:
                distance, radius = found, min(found, largest)
                if radius < epsilon or step >= max_steps:
                    state = PROBING_X
                    steps = np.int32(steps + step)
                    truncated = np.int32(truncated + (1 if radius >= epsilon else 0))
            elif state == PROBING_X:
                dx, state = found, PROBING_Y
            elif state == PROBING_Y:
                per_length = f32(1) / probe if slits else f32(1 / PROBE)
                gx, gy = (dx - distance) * per_length, (found - distance) * per_length
                x, y = project(x, y, f32(1 - REST) * distance if slits else distance, gx, gy)
                state = READY
        cuda.syncwarp()
        place = lane
        while place < inside:
            sum1, sum2 = np.float64(0), np.float64(0)
            index = place
            while index < items:
                value = np.float64(values[u32(own_values + index)])
                sum1 += value
                sum2 += value * value
                index = u32(index + inside)
            point = u32(base + queue[u32(own_queue + place)])
            sums[problem, segment, point, 0] = sum1
            sums[problem, segment, point, 1] = sum2
            place = u32(place + u32(32))
        if steps > 0:
            cuda.atomic.add(counts, (problem, 0), np.int64(steps))
        if truncated > 0:
            cuda.atomic.add(counts, (problem, 1), np.int64(truncated))
        if not_finite > 0:
            cuda.atomic.add(counts, (problem, 2), np.int64(not_finite))

    return walk


@cuda.jit(fastmath=True)
def measure(
    domain_code: Any, domain_constants: Any, programs: Any, x0: Any, y0: Any, starts: Any, mask: Any, counts: Any
) -> None:  # fmt: skip
    """starts[problem, point]: signed distances. mask[problem, point]: 1 inside, 0 outside. counts: set to 0."""
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point < 3:
        counts[problem, point] = 0
    if point >= x0.size:
        return
    distances = cuda.local.array(MAX_REGISTERS, np.float32)
    domain = domain_code[programs[problem, DOMAIN] : programs[problem, DOMAIN + 1]]
    found = distance_point(domain, domain_constants, x0[point], y0[point], distances)
    starts[problem, point] = found
    mask[problem, point] = 1 if found > f32(0) else 0


WALKS = {
    "laplace table": _make_walk(_terms(0), has_source=False, any_domain=False),
    "table": _make_walk(_terms(1), has_source=True, any_domain=False),
    "biharmonic table": _make_walk(_terms(2), has_source=True, any_domain=False),
    "laplace": _make_walk(_general, has_source=False, any_domain=True),
    "general": _make_walk(_general, has_source=True, any_domain=True),
}
"""A kernel for every kind of problem: tables of atoms on one or two shapes, and anything. Compiled when first used."""
