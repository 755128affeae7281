"""Walk on Spheres on the CPU: blocks of lanes, one walk per lane, finished lanes refilled.

A task is a range of points of one problem and a range of walks. Every lane carries one walk; each turn of the main
loop moves all lanes by one step: random numbers, a source sample, the step, the distance at the new place. A walk
that came within ε of the boundary is put aside, and its lane takes up the next one. When a block of finished walks is
full, it is projected onto the boundary and scored. Every loop runs over all lanes, so it vectorises.

A walk's value depends on its own numbers only, not on its lane or its task, so results are the same to the bit for
any number of threads and any split into tasks.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel, scalar
from mc2.geometry.kernels import MAX_REGISTERS
from mc2.walks.cpu.block_kernels import (
    NOT_FINITE,
    PIXEL,
    STEP,
    WALK,
    draw_block,
    find_ended,
    measure_starts,
    put_aside,
    take_up,
)
from mc2.walks.cpu.lane_kernels import (
    RADIUS,
    SHARE,
    SUM,
    WEIGHT,
    X,
    Y,
    measure_lanes,
    pick_lanes,
    score_lanes,
    step_lanes,
)

f32 = np.float32
u32 = np.uint32


@scalar
def add_up(values: Any, marks: Any, sums: Any) -> None:
    """Sums and sums of squares of every point's walks in their own order, in float64, at each mark.

    sums: those of the walks before, at the first mark, to begin with.
    """
    walks = marks[-1]
    for point in range(sums.shape[0]):
        total, squares, mark = sums[point, 0, 0], sums[point, 0, 1], 0
        for index in range(walks):
            value = np.float64(values[point * walks + index])
            total += value
            squares += value * value
            if index + 1 == marks[mark]:
                sums[point, mark, 0] = total
                sums[point, mark, 1] = squares
                mark += 1


@kernel
def walk_task(
    tables: Any, rules: Any, key: Any, job: Any, registers: Any, sums: Any, counts: Any, exits: Any, samples: Any,
    stop: Any,
) -> None:  # fmt: skip
    """Do the walks of a job.

    registers: float32 rows of lanes, as many as the largest program needs.
    sums[point, mark]: sum and sum of squares over that many walks, added to what is at the first mark to begin with.
    counts: receives what `STEPS`, `TRUNCATED` and `NOT_FINITE` name.
    exits: float32 [4, walk] for where every walk ended, x and y, with its weight and its share; or without columns.
    samples: float32 [4, walk] for one source sample of every walk, x and y, the sum of the weights of all its samples,
    and R²/4 over this one's weight; or without columns. They are for problems whose source the tables do not have.
    stop: uint8 [1], which another thread may set to have the walks given up.
    """
    walks, pixels = job.marks[-1], job.pixels
    total = pixels.size * walks
    values = np.empty(total, f32)
    state, own, item = np.zeros((6, LANES), f32), np.zeros((3, LANES), u32), np.full(LANES, -1, np.int64)
    done, done_item = np.zeros((6, 2 * LANES), f32), np.empty(2 * LANES, np.int64)
    first, ending = np.empty(LANES, f32), np.empty(LANES + 1, np.int64)
    x, y, radius = state[X], state[Y], state[RADIUS]
    pixel, walk, step = own[PIXEL], own[WALK], own[STEP]
    numbers = np.empty((4, LANES), f32)
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    weight = np.empty(LANES, f32)
    scores = np.empty(LANES, f32)
    picking = samples.shape[1] > 0
    picked = np.zeros((3, LANES), f32)
    done_picked = np.zeros((3, 2 * LANES), f32)
    starts = measure_starts(tables, rules, job, distances, state)
    step[:] = rules.max_steps
    has_source = tables.source_code.shape[0] > 0
    waiting, active, point, number = 0, 0, 0, 0
    while stop[0] == 0:
        for index in range(find_ended(rules, radius, step, ending)):
            i = ending[index]
            if item[i] >= 0:
                put_aside(rules, state, step[i], i, done, waiting, counts)
                done_item[waiting] = item[i]
                if picking:
                    for row in range(3):
                        done_picked[row, waiting] = picked[row, i]
                waiting += 1
                active -= 1
            item[i], step[i] = -1, 0
            if point < pixels.size:
                take_up(rules, key, starts, point, pixels[point], u32(job.first_walk + number), i, state, own, first)
                item[i] = point * walks + number
                active += 1
                number += 1
                if number == walks:
                    point, number = point + 1, 0
        while waiting >= LANES or (active == 0 and waiting > 0):
            score_lanes(tables, done, distances, registers, scores)
            for i in range(min(LANES, waiting)):
                values[done_item[i]] = scores[i]
            if exits.shape[1] > 0:
                for i in range(min(LANES, waiting)):
                    end = exits[:, done_item[i]]
                    end[0], end[1] = registers[0, i], registers[1, i]
                    end[2], end[3] = done[WEIGHT, i], done[SHARE, i]
            if picking:
                for i in range(min(LANES, waiting)):
                    sample = samples[:, done_item[i]]
                    sample[0], sample[1] = done_picked[0, i], done_picked[1, i]
                    sample[2], sample[3] = done[SUM, i], done_picked[2, i]
            for i in range(LANES, waiting):
                done[:, i - LANES] = done[:, i]
                done_picked[:, i - LANES] = done_picked[:, i]
                done_item[i - LANES] = done_item[i]
            waiting = max(0, waiting - LANES)
        if active == 0:
            break
        draw_block(rules, key, pixel, walk, step, first, has_source or picking, numbers)
        if picking:
            pick_lanes(rules, state, numbers, pixel, walk, step, key, registers, weight, picked)
        step_lanes(tables, rules, state, numbers, step, registers, weight)
        measure_lanes(tables, rules, x, y, distances, radius)
    for index in range(total):
        counts[NOT_FINITE] += not np.isfinite(values[index])
    add_up(values, job.marks, sums)
