"""Walk on Stars on the CPU: blocks of lanes, one walk per lane, finished lanes refilled, as in `kernels`.

The data are not looked at here: what a task leaves behind is where its walks ended, and where they met the source and
the walls, with weights. So data can be anything that is known there, in full precision.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import LANES, inlined, kernel, scalar
from mc2.walks.cpu.star_flow_kernels import ROWS, add_flows, look_at_walls
from mc2.walks.cpu.star_kernels import (
    VALUE,
    end_squares,
    first_hits,
    limit_radii,
    nearest_piece,
    outward,
    silhouettes,
)
from mc2.walks.cpu.star_step_kernels import (
    DISTANCE,
    NORMAL_X,
    NORMAL_Y,
    RADIUS,
    TURN,
    WEIGHT,
    X,
    Y,
    aim,
    draw_all,
    jump,
    sample_source,
    sample_walls,
    settle,
)
from mc2.walks.random_kernels import first_turn, hash4, uniform

STEPS, TRUNCATED, SOURCES, WALLS = range(4)
"""What a task counts; the last two are the samples that it has taken."""
FLOOR = 0.1
"""Part of ε that no ball is smaller than."""

f32 = np.float32
u32 = np.uint32


@inlined
def measure(tables: Any, rules: Any, state: Any, on: Any, square: Any) -> None:
    """Distances to where walks end, and radii of balls."""
    x, y, radius, distance = state[X], state[Y], state[RADIUS], state[DISTANCE]
    end_squares(tables.ends, x, y, square)
    for i in range(LANES):
        distance[i] = f32(math.sqrt(square[i]))
    silhouettes(tables.vertices, tables.walls, x, y, on, square)
    for i in range(LANES):
        radius[i] = min(min(distance[i], max(rules.epsilon, f32(0.99) * f32(math.sqrt(square[i])))), rules.cap)
    if rules.robin:
        floor = f32(FLOOR) * rules.epsilon
        limit_radii(tables.walls, x, y, on, rules.wall_cap, floor, distance, radius)


@scalar
def lost(box: Any, x: Any, y: Any) -> Any:
    """Whether rounding has let a walk through a wall, and it has gone away: it is counted with those cut off."""
    return not ((x > box[0]) & (x < box[1]) & (y > box[2]) & (y < box[3]))


@kernel
def star_task(
    tables: Any,
    rules: Any,
    key: Any,
    x0: Any,
    y0: Any,
    on0: Any,
    pixels: Any,
    first_walk: Any,
    walks: Any,
    exits: Any,
    end: Any,
    known: Any,
    sources: Any,
    source_walk: Any,
    samples: Any,
    sample_walk: Any,
    sample_wall: Any,
    counts: Any,
    stop: Any,
) -> None:
    """Walk from every point, `walks` times, beginning with walk number first_walk.

    on0: the wall that each point is on, or −1. pixels: the number that keys each point. exits: float32 [3, walk]: where
    every walk ended, x and y, and its weight there. end: int32 [walk]: the piece that is nearest there, or −1. known:
    float64 [walk]: what it met on walls, where that is added up here, since their data are constant. sources, samples:
    float32 [3, sample]: where sources and walls were met, x and y, and weights; with the walks, and the walls, that
    each belongs to. Those that do not fit are only counted, in counts. stop: uint8 [1], which another thread may set
    to have the walks given up.
    """
    total = x0.size * walks
    state, numbers = np.zeros((7, LANES), f32), np.zeros((8, LANES), f32)
    on, hit, item = np.full(LANES, -1, np.int32), np.empty(LANES, np.int32), np.full(LANES, -1, np.int64)
    dx, dy, length, square = np.zeros(LANES, f32), np.zeros(LANES, f32), np.empty(LANES, f32), np.empty(LANES, f32)
    other_x, other_y, other_length = np.zeros(LANES, f32), np.zeros(LANES, f32), np.empty(LANES, f32)
    other_hit, start = np.empty(LANES, np.int32), np.empty((2, x0.size), f32)
    found, chosen = np.zeros((4, LANES), f32), np.empty(LANES, np.int32)
    first, ending = np.empty(LANES, f32), np.empty(LANES + 1, np.int64)
    pixel, walk, step = np.zeros(LANES, u32), np.zeros(LANES, u32), np.full(LANES, rules.max_steps, u32)
    near, flows = np.empty(LANES, np.int32), np.zeros(LANES, f32)
    seen = np.zeros((ROWS, LANES), f32)
    sampled = rules.given and not rules.flows
    more = sampled or rules.robin or rules.rate > 0
    for begin in range(0, x0.size, LANES):
        for i in range(LANES):
            at = min(begin + i, x0.size - 1)
            state[X, i], state[Y, i], on[i] = x0[at], y0[at], on0[at]
        measure(tables, rules, state, on, square)
        for i in range(min(LANES, x0.size - begin)):
            start[0, begin + i], start[1, begin + i] = state[RADIUS, i], state[DISTANCE, i]
    started, active, point, number = 0, 0, 0, 0
    while stop[0] == 0:
        ended = 0
        for i in range(LANES):
            ending[ended] = i
            over = (state[DISTANCE, i] < rules.epsilon) | (step[i] >= rules.max_steps) | (state[WEIGHT, i] == f32(0))
            ended += over | lost(rules.box, state[X, i], state[Y, i])
        for index in range(ended):
            i = ending[index]
            if item[i] >= 0:
                exits[0, item[i]], exits[1, item[i]] = state[X, i], state[Y, i]
                exits[2, item[i]] = state[WEIGHT, i]
                end[item[i]], _ = nearest_piece(tables.ends, state[X, i], state[Y, i])
                if rules.flows:
                    known[item[i]] = flows[i]
                active -= 1
                counts[STEPS] += step[i]
                counts[TRUNCATED] += (state[DISTANCE, i] >= rules.epsilon) & (state[WEIGHT, i] > f32(0))
            item[i] = -1
            step[i] = 0
            if started < total:
                item[i] = started
                pixel[i], walk[i] = pixels[point], u32(first_walk + number)
                state[X, i], state[Y, i], state[WEIGHT, i], on[i] = x0[point], y0[point], f32(1), on0[point]
                state[RADIUS, i], state[DISTANCE, i] = start[0, point], start[1, point]
                flows[i] = f32(0)
                state[NORMAL_X, i], state[NORMAL_Y, i] = f32(0), f32(0)
                if on[i] >= 0:
                    state[NORMAL_X, i], state[NORMAL_Y, i] = outward(tables.walls, on[i], x0[point], y0[point])
                if rules.stratify:
                    first[i] = first_turn(pixel[i], walk[i], key[0], key[1], key[2], key[3])
                started += 1
                active += 1
                number += 1
                if number == walks:
                    point, number = point + 1, 0
        if active == 0:
            break
        draw_all(numbers, pixel, walk, step, key, more)
        if rules.stratify:
            for i in range(LANES):
                numbers[TURN, i] = first[i] if step[i] == 0 else numbers[TURN, i]
        aim(state, numbers, dx, dy, length)
        first_hits(tables.walls, state[X], state[Y], dx, dy, on, length, hit)
        if rules.robin and rules.settled:
            settle(tables, rules, state, on)
        if rules.source:
            count = sample_source(rules, state, numbers, dx, dy, length, item, found)
            for index in range(count):
                place = counts[SOURCES]
                if place < sources.shape[1]:
                    sources[0, place], sources[1, place] = found[0, index], found[1, index]
                    sources[2, place], source_walk[place] = found[2, index], item[int(found[3, index])]
                counts[SOURCES] += 1
        if rules.flows:
            look_at_walls(
                tables.walls, state[X], state[Y], state[NORMAL_X], state[NORMAL_Y], dx, dy, on, hit, near, seen
            )
            add_flows(seen, state[RADIUS], state[WEIGHT], on, length, hit, near, flows)
        if sampled:
            count = sample_walls(
                tables, rules, state, numbers, on, item, found, chosen, other_x, other_y, other_length, other_hit
            )
            if rules.constant:
                for index in range(count):
                    known[item[int(found[3, index])]] += found[2, index] * tables.walls[chosen[index], VALUE]
                count = 0
            for index in range(count):
                place = counts[WALLS]
                if place < samples.shape[1]:
                    samples[0, place], samples[1, place] = found[0, index], found[1, index]
                    samples[2, place], sample_walk[place] = found[2, index], item[int(found[3, index])]
                    sample_wall[place] = chosen[index]
                counts[WALLS] += 1
        jump(tables, rules, state, numbers, on, dx, dy, length, hit, step)
        measure(tables, rules, state, on, square)


@kernel
def pick_samples(
    sample_walk: Any, weight: Any, key: Any, pixels: Any, first_walk: Any, walks: Any, chosen: Any, total: Any
) -> None:
    """Some samples of every walk, each with a chance in proportion to its weight's size (weighted reservoirs).

    chosen: [walk, sample] receives their indices, or stays what it is; total: [walk] the sum of the walk's weights.
    """
    counts, sizes = np.zeros(total.size, np.uint32), np.zeros(total.size)
    for index in range(sample_walk.size):
        own = sample_walk[index]
        size = abs(np.float64(weight[index]))
        total[own] += weight[index]
        sizes[own] += size
        pixel, walk = u32(pixels[own // walks] + key[0]), u32(first_walk + own % walks + key[1])
        for place in range(chosen.shape[1]):
            a, _, _, _ = hash4(pixel, walk, u32(counts[own] + key[2]), u32(key[3] + u32(5 + place)))
            if uniform(a) * sizes[own] <= size:
                chosen[own, place] = index
        counts[own] += u32(1)
