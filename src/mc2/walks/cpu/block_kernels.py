"""Blocks of lanes, each with a walk: which of them have ended, and what a lane takes up next.

Walks of one problem and of several problems at once go through the same blocks, so they take the same paths. `state`
is that of `lane_kernels`. `item` has the walk of every lane, counted within the job, or −1; `own` has its numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from mc2.compute.compile import LANES, inlined, pasted
from mc2.walks.cpu.lane_kernels import RADIUS, SHARE, SUM, TURN, WEIGHT, X, Y, draw_lanes, draw_turns, measure_lanes
from mc2.walks.random_kernels import first_turn

STEPS, TRUNCATED, NOT_FINITE = range(3)
"""What a task counts."""

PIXEL, WALK, STEP = range(3)
"""Rows of `own`: the numbers of the walk that a lane has, which key its random numbers."""

f32 = np.float32
u32 = np.uint32


class Job(NamedTuple):
    """Walk from every point, marks[-1] times.

    x, y: float32 [point].
    pixels: the number that keys each point.
    first_walk: the number of the first walk.
    marks: increasing numbers of walks, at which sums are wanted.
    """

    x: Any
    y: Any
    pixels: Any
    first_walk: Any
    marks: Any


@inlined
def measure_starts(tables: Any, rules: Any, job: Any, distances: Any, state: Any) -> Any:
    """Rows X, Y and RADIUS of a job's first balls, found in lanes that are free yet."""
    starts = np.empty((6, job.x.size + LANES), f32)
    for begin in range(0, job.x.size, LANES):
        for i in range(LANES):
            at = min(begin + i, job.x.size - 1)
            state[X, i], state[Y, i] = job.x[at], job.y[at]
            starts[X, begin + i], starts[Y, begin + i] = job.x[at], job.y[at]
        measure_lanes(tables, rules, state[X], state[Y], distances, starts[RADIUS, begin : begin + LANES])
    state[RADIUS, :] = 0
    return starts


@pasted
def find_ended(rules: Any, radius: Any, step: Any, ending: Any) -> Any:
    """How many walks have ended or are cut off; their lanes are put at the front of `ending`."""
    ended = 0
    for i in range(LANES):  # a list without branches: which walks end is what a processor cannot guess
        ending[ended] = i
        # the cap only ever shortens radii that are larger than ε
        ended += (radius[i] < rules.epsilon) | (step[i] >= rules.max_steps)
    return ended


@pasted
def put_aside(rules: Any, state: Any, steps: Any, i: Any, done: Any, place: Any, counts: Any) -> None:
    """Keep the end of lane i's walk until it is scored; steps: that it took."""
    for row in range(RADIUS):
        done[row, place] = state[row, i]
    counts[STEPS] += steps
    counts[TRUNCATED] += state[RADIUS, i] >= rules.epsilon


@pasted
def take_up(
    rules: Any, key: Any, starts: Any, point: Any, pixel: Any, walk: Any, i: Any, state: Any, own: Any, first: Any
) -> None:
    """Give lane i a walk from a point; pixel, walk: its numbers."""
    own[PIXEL, i], own[WALK, i] = pixel, walk
    state[X, i], state[Y, i], state[RADIUS, i] = starts[X, point], starts[Y, point], starts[RADIUS, point]
    state[WEIGHT, i], state[SHARE, i], state[SUM, i] = f32(1), f32(0), f32(0)
    if rules.stratify:
        first[i] = first_turn(pixel, walk, key[0], key[1], key[2], key[3])


@pasted
def draw_block(rules: Any, key: Any, pixel: Any, walk: Any, step: Any, first: Any, whole: Any, numbers: Any) -> None:
    """The random numbers of a step; whole: all four, or only the direction."""
    if whole:
        draw_lanes(numbers, pixel, walk, step, key)
    else:
        draw_turns(numbers, pixel, walk, step, key)
    if rules.stratify:
        for i in range(LANES):
            numbers[TURN, i] = first[i] if step[i] == 0 else numbers[TURN, i]
