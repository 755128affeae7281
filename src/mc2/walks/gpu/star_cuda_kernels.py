"""Walk on Stars on a GPU: the CPU's own functions of lanes, compiled for a single lane, which is a thread.

So the law of walks and their random numbers are the CPU's. Threads take points of all problems from one queue, and
walk from each as often as the segment says, one walk after the other. What a step needs of the data (the source, a
wall's, or where a walk has ended, its boundary value) is evaluated in one place of the loop, so that a warp's threads
do it together.
"""

import math
from types import FunctionType
from typing import Any

import numpy as np
from numba import cuda

from mc2.functions.kernels import run_point
from mc2.walks.cpu import star_kernels, star_step_kernels, star_task_kernels
from mc2.walks.cpu.star_kernels import (
    COSINE,
    CX,
    CY,
    EX,
    EY,
    LENGTH,
    MX,
    MY,
    RADIUS,
    SENSE,
    X0,
    X1,
    Y0,
    Y1,
    nearest_piece,
    outward,
)
from mc2.walks.cpu.star_step_kernels import StarRules, Walls
from mc2.walks.gpu import hardware_kernels
from mc2.walks.gpu.columns import (
    BOX,
    CAP,
    CONVEX,
    ENDS,
    GIVEN,
    GRADIENT_X,
    GRADIENT_Y,
    MOST_WALKS,
    NEAR,
    RATE,
    ROBIN,
    SCALED,
    SHELL,
    STAR_SOURCE,
    STEPS,
    VERTICES,
    WALL_CAP,
    WALLS,
)
from mc2.walks.gpu.launch import POINT_REGISTERS
from mc2.walks.random_kernels import first_turn

f32 = np.float32
u32 = np.uint32
PROGRAMS = 5
"""What a step may have to evaluate: the four programs of a piece's data, and the source."""

hardware_kernels.install()


def _for_one_lane(function: Any, **others: Any) -> Any:
    """A function of lanes for the device, with a single one. others: what it calls, made likewise."""
    inner = function.py_func
    own = FunctionType(inner.__code__, inner.__globals__ | {"LANES": 1} | others, inner.__name__)
    return cuda.jit(device=True)(own)


_first_hits = _for_one_lane(star_kernels.first_hits)
_measure = _for_one_lane(
    star_task_kernels.measure,
    **{name: _for_one_lane(getattr(star_kernels, name)) for name in ("end_squares", "silhouettes", "limit_radii")},
)
_draw_all, _aim, _settle, _sample_source, _jump = (
    _for_one_lane(getattr(star_step_kernels, name)) for name in ("draw_all", "aim", "settle", "sample_source", "jump")
)
_sample_walls = _for_one_lane(
    star_step_kernels.sample_walls, choose_walls=_for_one_lane(star_kernels.choose_walls), first_hits=_first_hits
)


@cuda.jit(device=True)
def _foot(rows: Any, k: Any, x: Any, y: Any) -> Any:
    """The point of a piece that is nearest to one that is nearly on it."""
    if rows[k, SENSE] == 0:
        ux, uy = x - rows[k, X0], y - rows[k, Y0]
        t = min(max(ux * rows[k, EX] + uy * rows[k, EY], f32(0)), rows[k, LENGTH])
        return rows[k, X0] + t * rows[k, EX], rows[k, Y0] + t * rows[k, EY]
    px, py = x - rows[k, CX], y - rows[k, CY]
    c = max(f32(math.sqrt(px * px + py * py)), f32(1e-20))
    if px * rows[k, MX] + py * rows[k, MY] >= c * rows[k, COSINE]:
        scale = rows[k, RADIUS] / c
        return rows[k, CX] + scale * px, rows[k, CY] + scale * py
    first = (x - rows[k, X0]) ** 2 + (y - rows[k, Y0]) ** 2 <= (x - rows[k, X1]) ** 2 + (y - rows[k, Y1]) ** 2
    return (rows[k, X0], rows[k, Y0]) if first else (rows[k, X1], rows[k, Y1])


@cuda.jit(device=True)
def _start_wall(tables: Any, near: Any, x: Any, y: Any) -> Any:
    """The wall that a start point is on, or −1."""
    wall, square = nearest_piece(tables.walls, x, y)
    _, other = nearest_piece(tables.ends, x, y)
    return np.int32(wall) if square <= near * near and square <= other else np.int32(-1)


@cuda.jit(fastmath=True, max_registers=128)
def walk_stars(
    ends: Any, walls: Any, vertices: Any, coefficients: Any, end_data: Any, wall_data: Any, columns: Any,
    numbers_of: Any, code: Any, constants: Any, programs: Any, keys: Any, chosen: Any, x0: Any, y0: Any, pixels: Any,
    starts: Any, everywhere: Any, segments: Any, stratify: Any, queue: Any, sums: Any, counts: Any,
) -> None:  # fmt: skip
    """sums[problem, segment, point]: sum and sum of squares over a segment's walks.

    ends, walls, vertices, coefficients: of all problems behind each other, see `star_kernels`.
    end_data, wall_data: the programs of every piece's data.
    columns, numbers_of: a row for each problem, see `mc2.walks.gpu.columns`.
    chosen: which problems this launch is for.
    starts[problem, point]: signed distances. everywhere: walk even where they are not positive.
    segments: first walk and number of walks.
    queue: [1], 0 at first: how many points were taken.
    """
    state, numbers = cuda.local.array((7, 1), np.float32), cuda.local.array((8, 1), np.float32)
    dx, dy, length = (
        cuda.local.array(1, np.float32), cuda.local.array(1, np.float32), cuda.local.array(1, np.float32),
    )  # fmt: skip
    other_x, other_y, other_length = (
        cuda.local.array(1, np.float32), cuda.local.array(1, np.float32), cuda.local.array(1, np.float32),
    )  # fmt: skip
    square, found, met = (
        cuda.local.array(1, np.float32), cuda.local.array((4, 1), np.float32), cuda.local.array((4, 1), np.float32),
    )  # fmt: skip
    on, hit, other_hit, picked = (
        cuda.local.array(1, np.int32), cuda.local.array(1, np.int32), cuda.local.array(1, np.int32),
        cuda.local.array(1, np.int32),
    )  # fmt: skip
    item, key = cuda.local.array(1, np.int32), cuda.local.array(4, np.uint32)
    pixel, walk, step = cuda.local.array(1, np.uint32), cuda.local.array(1, np.uint32), cuda.local.array(1, np.uint32)
    registers = cuda.local.array(POINT_REGISTERS, np.float32)
    points, parts = x0.size, segments.shape[0]
    items = np.int64(points) * parts * chosen.size
    item[0] = 0
    left, fresh = 0, False
    problem, segment, point, start_on = 0, 0, 0, np.int32(-1)
    start_radius, start_distance, total = f32(0), f32(0), f32(0)
    sum1, sum2 = np.float64(0), np.float64(0)
    steps, truncated, not_finite = 0, 0, 0
    while True:
        own, rule = columns[problem], numbers_of[problem]
        if left == 0:
            place = cuda.atomic.add(queue, 0, np.int64(1))
            if place >= items:
                break
            point = place % points
            segment = (place // points) % parts
            problem = chosen[place // (points * parts)]
            own, rule = columns[problem], numbers_of[problem]
            first = segments[segment, 0]
            left = max(min(segments[segment, 1], programs[problem, MOST_WALKS] - first), 0)
            if not (everywhere or starts[problem, point] > f32(0)):
                left = 0
            sum1, sum2 = np.float64(0), np.float64(0)
            steps, truncated, not_finite = 0, 0, 0
            if left == 0:
                sums[problem, segment, point, 0] = 0.0
                sums[problem, segment, point, 1] = 0.0
                continue
            walk[0], pixel[0], fresh = u32(first), pixels[point], True
            key[0], key[1], key[2], key[3] = keys[problem, 0], keys[problem, 1], keys[problem, 2], keys[problem, 3]
        tables = Walls(
            ends[own[ENDS] : own[ENDS + 1]], walls[own[WALLS] : own[WALLS + 1]],
            vertices[own[VERTICES] : own[VERTICES + 1]], coefficients[own[WALLS] : own[WALLS + 1]],
        )  # fmt: skip
        rules = StarRules(
            rule[RATE], rule[SHELL], rule[CAP], rule[WALL_CAP], u32(own[STEPS]), stratify, own[ROBIN] != 0,
            own[GIVEN] != 0, own[STAR_SOURCE + 1] > own[STAR_SOURCE], own[CONVEX] != 0, False, False, True,
            (rule[BOX], rule[BOX + 1], rule[BOX + 2], rule[BOX + 3]),
        )  # fmt: skip
        if fresh:
            state[0, 0], state[1, 0], state[2, 0] = x0[point], y0[point], f32(1)
            if walk[0] == u32(segments[segment, 0]):
                start_on = _start_wall(tables, rule[NEAR], x0[point], y0[point])
                on[0] = start_on
                _measure(tables, rules, state, on, square)
                start_radius, start_distance = state[3, 0], state[4, 0]
            on[0] = start_on
            state[3, 0], state[4, 0], state[5, 0], state[6, 0] = start_radius, start_distance, f32(0), f32(0)
            if start_on >= 0:
                state[5, 0], state[6, 0] = outward(tables.walls, start_on, x0[point], y0[point])
            step[0], total, fresh = u32(0), f32(0), False
        x, y, weight = state[0, 0], state[1, 0], state[2, 0]
        over = (state[4, 0] < rules.epsilon) or (step[0] >= rules.max_steps) or (weight == f32(0))
        over = over or star_task_kernels.lost(rules.box, x, y)
        sampled, data, mu, nx, ny = f32(0), -1, f32(0), f32(0), f32(0)
        source = f32(0)
        if over:
            data, _ = nearest_piece(tables.ends, x, y)
            if data >= 0:
                x, y = _foot(tables.ends, data, x, y)
                sampled = weight
                data += own[ENDS]
        else:
            more = rules.given or rules.robin or rules.rate > 0
            _draw_all(numbers, pixel, walk, step, key, more)
            if stratify and step[0] == u32(0):
                numbers[0, 0] = first_turn(pixel[0], walk[0], key[0], key[1], key[2], key[3])
            _aim(state, numbers, dx, dy, length)
            _first_hits(tables.walls, state[0], state[1], dx, dy, on, length, hit)
            if rules.robin:
                _settle(tables, rules, state, on)
            if rules.source and _sample_source(rules, state, numbers, dx, dy, length, item, found) > 0:
                source = found[2, 0]
            if rules.given and _sample_walls(
                tables, rules, state, numbers, on, item, met, picked, other_x, other_y, other_length, other_hit
            ) > 0:  # fmt: skip
                x, y, sampled, data = met[0, 0], met[1, 0], met[2, 0], int(picked[0])
                nx, ny = outward(tables.walls, data, x, y)
                mu = star_step_kernels.coefficient(tables, data, x, y)
                data += own[WALLS]
        for part in range(PROGRAMS):
            start, stop, factor, qx, qy = 0, 0, f32(0), x, y
            if part == PROGRAMS - 1:
                if source != f32(0):
                    start, stop = own[STAR_SOURCE], own[STAR_SOURCE + 1]
                    factor, qx, qy = source, found[0, 0], found[1, 0]
            elif sampled != f32(0):
                if over:
                    start, stop = end_data[data, 2 * part], end_data[data, 2 * part + 1]
                else:
                    start, stop = wall_data[data, 2 * part], wall_data[data, 2 * part + 1]
                factor = sampled
                if 2 * part == SCALED:
                    factor *= mu
                elif 2 * part == GRADIENT_X:
                    factor *= nx
                elif 2 * part == GRADIENT_Y:
                    factor *= ny
            if stop > start:
                registers[0], registers[1] = qx, qy
                total += factor * run_point(code[start:stop], constants, registers)
        if over:
            value = np.float64(total)
            sum1 += value
            sum2 += value * value
            steps += int(step[0])
            truncated += 1 if (state[4, 0] >= rules.epsilon) and (weight > f32(0)) else 0
            not_finite += 0 if math.isfinite(total) else 1
            left -= 1
            walk[0], fresh = u32(walk[0] + u32(1)), True
            if left == 0:
                sums[problem, segment, point, 0] = sum1
                sums[problem, segment, point, 1] = sum2
                cuda.atomic.add(counts, (problem, 0), np.int64(steps))
                if truncated > 0:
                    cuda.atomic.add(counts, (problem, 1), np.int64(truncated))
                if not_finite > 0:
                    cuda.atomic.add(counts, (problem, 2), np.int64(not_finite))
        else:
            _jump(tables, rules, state, numbers, on, dx, dy, length, hit, step)
            _measure(tables, rules, state, on, square)
