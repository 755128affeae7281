"""The walks of `kernels` for several problems at once, which differ in their data alone: every path is walked once.

A walk's path depends on the domain and the equation, not on the data. So the sources of all problems are sampled at the
same places, and their boundary data where the same walks end. For each problem that is what its own walks would do.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel, scalar
from mc2.functions.kernels import run_lanes
from mc2.geometry.kernels import MAX_REGISTERS
from mc2.walks.cpu.kernels import STEPS, TRUNCATED, add_up
from mc2.walks.cpu.lane_kernels import (
    LAPLACE,
    RADIUS,
    SHARE,
    SUM,
    TURN,
    WEIGHT,
    X,
    Y,
    advance_lanes,
    draw_lanes,
    draw_turns,
    measure_lanes,
    project_lanes,
    sample_sources,
    source_index,
)
from mc2.walks.random_kernels import first_turn

SOURCE, BOUNDARY, LAPLACIAN = range(3)
"""The functions of a channel, in the order of its spans."""

f32 = np.float32
u32 = np.uint32


@scalar
def run_function(codes: Any, constants: Any, span: Any, registers: Any) -> None:
    """Run one of many programs; span: where its code begins and ends, and its constants."""
    run_lanes(codes[span[0] : span[1]], constants[span[2] : span[3]], registers)


@scalar
def score_channels(
    done: Any,
    done_sums: Any,
    codes: Any,
    constants: Any,
    spans: Any,
    sources: Any,
    registers: Any,
    waiting: Any,
    items: Any,
    values: Any,
) -> None:
    """weight·g − share·h + sum of every channel for finished walks, whose ends are in registers 0 and 1."""
    count = min(LANES, waiting)
    scores = np.empty(LANES, f32)
    for channel in range(spans.shape[0]):
        own = done_sums[sources[channel]]
        run_function(codes, constants, spans[channel, BOUNDARY], registers)
        for i in range(LANES):
            scores[i] = done[WEIGHT, i] * registers[2, i] + own[i]
        if spans[channel, LAPLACIAN, 1] > spans[channel, LAPLACIAN, 0]:
            run_function(codes, constants, spans[channel, LAPLACIAN], registers)
            for i in range(LANES):
                scores[i] -= done[SHARE, i] * registers[2, i]
        for i in range(count):
            values[channel, items[i]] = scores[i]


@kernel
def walk_channels(
    tables: Any,
    rules: Any,
    key: Any,
    registers: Any,
    x0: Any,
    y0: Any,
    pixels: Any,
    first_walk: Any,
    marks: Any,
    sums: Any,
    counts: Any,
    missing: Any,
    codes: Any,
    constants: Any,
    spans: Any,
    sources: Any,
    stop: Any,
) -> None:
    """What `walk_task` does, for several channels.

    tables: of the domain alone. sums[channel, point, mark]: as in `walk_task`. missing[channel]: receives the number of
    walks whose value is not finite. codes, constants: of all programs, one behind the other. spans[channel, function]:
    where they are; see `run_function`. sources[channel]: the first channel that has the same source.
    """
    channels, walks = spans.shape[0], marks[-1]
    total = x0.size * walks
    values = np.empty((channels, total), f32)
    state, done = np.zeros((6, LANES), f32), np.zeros((6, 2 * LANES), f32)
    totals, done_totals = np.zeros((channels, LANES), f32), np.zeros((channels, 2 * LANES), f32)
    numbers, first, weight = np.empty((4, LANES), f32), np.empty(LANES, f32), np.empty(LANES, f32)
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    start_radius = np.empty(x0.size + LANES, f32)
    item, done_item = np.full(LANES, -1, np.int64), np.empty(2 * LANES, np.int64)
    ending = np.empty(LANES + 1, np.int64)
    pixel, walk, step = np.zeros(LANES, u32), np.zeros(LANES, u32), np.full(LANES, rules.max_steps, u32)
    x, y, radius = state[X], state[Y], state[RADIUS]
    for begin in range(0, x0.size, LANES):
        for i in range(LANES):
            x[i], y[i] = x0[min(begin + i, x0.size - 1)], y0[min(begin + i, x0.size - 1)]
        measure_lanes(tables, rules, x, y, distances, start_radius[begin : begin + LANES])
    has_source = rules.family != LAPLACE
    started, waiting, active = 0, 0, 0
    point, number = 0, 0
    radius[:] = 0
    while stop[0] == 0:
        ended = 0
        for i in range(LANES):
            ending[ended] = i
            ended += (radius[i] < rules.epsilon) | (step[i] >= rules.max_steps)
        for index in range(ended):
            i = ending[index]
            if item[i] >= 0:
                for row in range(RADIUS):
                    done[row, waiting] = state[row, i]
                for channel in range(channels):
                    done_totals[channel, waiting] = totals[channel, i]
                done_item[waiting] = item[i]
                waiting += 1
                active -= 1
                counts[STEPS] += step[i]
                counts[TRUNCATED] += radius[i] >= rules.epsilon
            item[i] = -1
            step[i] = 0
            if started < total:
                item[i] = started
                pixel[i], walk[i] = pixels[point], u32(first_walk + number)
                x[i], y[i], radius[i] = x0[point], y0[point], start_radius[point]
                state[WEIGHT, i], state[SHARE, i], state[SUM, i] = f32(1), f32(0), f32(0)
                for channel in range(channels):
                    totals[channel, i] = f32(0)
                if rules.stratify:
                    first[i] = first_turn(pixel[i], walk[i], key[0], key[1], key[2], key[3])
                started += 1
                active += 1
                number += 1
                if number == walks:
                    point, number = point + 1, 0
        while waiting >= LANES or (active == 0 and waiting > 0):
            project_lanes(tables, done, distances, registers)
            score_channels(done, done_totals, codes, constants, spans, sources, registers, waiting, done_item, values)
            for i in range(LANES, waiting):
                done[:, i - LANES] = done[:, i]
                done_totals[:, i - LANES] = done_totals[:, i]
                done_item[i - LANES] = done_item[i]
            waiting = max(0, waiting - LANES)
        if active == 0:
            break
        if has_source:
            draw_lanes(numbers, pixel, walk, step, key)
        else:
            draw_turns(numbers, pixel, walk, step, key)
        if rules.stratify:
            for i in range(LANES):
                numbers[TURN, i] = first[i] if step[i] == 0 else numbers[TURN, i]
        if has_source:
            index = source_index(rules.family, rules.sampling)
            sample_sources(index, state, numbers, rules.parameter, registers, weight)
            for channel in range(channels):
                if sources[channel] < channel:
                    continue
                own = totals[channel]
                run_function(codes, constants, spans[channel, SOURCE], registers)
                for i in range(LANES):
                    own[i] += weight[i] * registers[2, i]
        advance_lanes(rules, state, numbers, step)
        measure_lanes(tables, rules, x, y, distances, radius)
    for channel in range(channels):
        for index in range(total):
            missing[channel] += not np.isfinite(values[channel, index])
        add_up(values[channel], marks, sums[channel])
