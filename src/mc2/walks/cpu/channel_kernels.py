"""The walks of `kernels` for several problems at once, which differ in their data alone: every path is walked once.

A walk's path depends on the domain and the equation, not on the data. So the sources of all problems are sampled at the
same places, and their boundary data where the same walks end. For each problem that is what its own walks would do.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel, scalar
from mc2.functions.kernels import run_lanes
from mc2.geometry.kernels import MAX_REGISTERS
from mc2.walks.cpu.block_kernels import (
    PIXEL,
    STEP,
    WALK,
    draw_block,
    find_ended,
    measure_starts,
    put_aside,
    take_up,
)
from mc2.walks.cpu.kernels import add_up
from mc2.walks.cpu.lane_kernels import (
    LAPLACE,
    RADIUS,
    SHARE,
    WEIGHT,
    X,
    Y,
    advance_lanes,
    measure_lanes,
    project_lanes,
    sample_sources,
    source_index,
)

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
    tables: Any, rules: Any, key: Any, job: Any, registers: Any, sums: Any, counts: Any, missing: Any, codes: Any,
    constants: Any, spans: Any, sources: Any, stop: Any,
) -> None:  # fmt: skip
    """What `walk_task` does, for several channels.

    tables: of the domain alone.
    sums[channel, point, mark]: as in `walk_task`.
    missing[channel]: receives the number of walks whose value is not finite.
    codes, constants: of all programs, one behind the other.
    spans[channel, function]: where they are; see `run_function`.
    sources[channel]: the first channel that has the same source.
    """
    channels, walks, pixels = spans.shape[0], job.marks[-1], job.pixels
    total = pixels.size * walks
    values = np.empty((channels, total), f32)
    state, own, item = np.zeros((6, LANES), f32), np.zeros((3, LANES), u32), np.full(LANES, -1, np.int64)
    done, done_item = np.zeros((6, 2 * LANES), f32), np.empty(2 * LANES, np.int64)
    first, ending = np.empty(LANES, f32), np.empty(LANES + 1, np.int64)
    x, y, radius = state[X], state[Y], state[RADIUS]
    pixel, walk, step = own[PIXEL], own[WALK], own[STEP]
    totals, done_totals = np.zeros((channels, LANES), f32), np.zeros((channels, 2 * LANES), f32)
    numbers, weight = np.empty((4, LANES), f32), np.empty(LANES, f32)
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    starts = measure_starts(tables, rules, job, distances, state)
    step[:] = rules.max_steps
    has_source = rules.family != LAPLACE
    waiting, active, point, number = 0, 0, 0, 0
    while stop[0] == 0:
        for index in range(find_ended(rules, radius, step, ending)):
            i = ending[index]
            if item[i] >= 0:
                put_aside(rules, state, step[i], i, done, waiting, counts)
                done_item[waiting] = item[i]
                for channel in range(channels):
                    done_totals[channel, waiting] = totals[channel, i]
                waiting += 1
                active -= 1
            item[i], step[i] = -1, 0
            if point < pixels.size:
                take_up(rules, key, starts, point, pixels[point], u32(job.first_walk + number), i, state, own, first)
                item[i] = point * walks + number
                for channel in range(channels):
                    totals[channel, i] = f32(0)
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
        draw_block(rules, key, pixel, walk, step, first, has_source, numbers)
        if has_source:
            index = source_index(rules.family, rules.sampling)
            sample_sources(index, state, numbers, rules.parameter, registers, weight)
            for channel in range(channels):
                if sources[channel] < channel:
                    continue
                met = totals[channel]
                run_function(codes, constants, spans[channel, SOURCE], registers)
                for i in range(LANES):
                    met[i] += weight[i] * registers[2, i]
        advance_lanes(rules, state, numbers, step)
        measure_lanes(tables, rules, x, y, distances, radius)
    for channel in range(channels):
        for index in range(total):
            missing[channel] += not np.isfinite(values[channel, index])
        add_up(values[channel], job.marks, sums[channel])
