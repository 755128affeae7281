"""The steps of `kernels` on whole arrays, for functions that have to be called from Python in between."""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel
from mc2.geometry.kernels import MAX_REGISTERS, distance_lanes
from mc2.walks.cpu import lane_kernels as lanes
from mc2.walks.random_kernels import first_turn

f32 = np.float32


@kernel
def start_arrays(tables: Any, rules: Any, state: Any) -> None:
    """Radii for walks at the beginning, with weight 1."""
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    for begin in range(0, state.shape[1], LANES):
        block = state[:, begin : begin + LANES]
        x, y = block[lanes.X].copy(), block[lanes.Y].copy()
        distance_lanes(tables.domain_code, tables.domain_constants, x, y, distances)
        for i in range(LANES):
            block[lanes.RADIUS, i] = min(distances[0, i], rules.largest)
            block[lanes.WEIGHT, i] = f32(1)


@kernel
def step_arrays(
    tables: Any, rules: Any, key: Any, state: Any, pixel: Any, walk: Any, step: Any, samples: Any, weights: Any
) -> None:
    """One step of every walk, in whole blocks. The caller adds weights · source(samples) to the walks' sums."""
    numbers = np.empty((4, LANES), f32)
    block = np.empty((6, LANES), f32)
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    sample = np.empty((2, LANES), f32)
    for begin in range(0, state.shape[1], LANES):
        part = slice(begin, begin + LANES)
        block[:] = state[:, part]
        lanes.draw_lanes(numbers, pixel[part], walk[part], step[part], key)
        if rules.stratify:
            for i in range(LANES):
                if step[begin + i] == 0:
                    numbers[lanes.TURN, i] = first_turn(
                        pixel[begin + i], walk[begin + i], key[0], key[1], key[2], key[3]
                    )
        if rules.family != lanes.LAPLACE:
            lanes.sample_sources(
                lanes.source_index(rules.family, rules.sampling), block, numbers, rules.parameter, sample, weights[part]
            )
            samples[:, part] = sample
        lanes.advance_lanes(rules, block, numbers, step[part])
        distance_lanes(tables.domain_code, tables.domain_constants, block[lanes.X], block[lanes.Y], distances)
        for i in range(LANES):
            block[lanes.RADIUS, i] = min(distances[0, i], rules.largest)
        state[:, part] = block


@kernel
def project_arrays(tables: Any, state: Any) -> None:
    """Replace positions by the boundary points that are nearest."""
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    registers = np.empty((3, LANES), f32)
    block = np.empty((6, LANES), f32)
    for begin in range(0, state.shape[1], LANES):
        block[:] = state[:, begin : begin + LANES]
        lanes.project_lanes(tables, block, distances, registers)
        state[lanes.X, begin : begin + LANES] = registers[0]
        state[lanes.Y, begin : begin + LANES] = registers[1]
