"""Walk on Spheres on the CPU: blocks of lanes, one walk per lane, finished lanes refilled.

A task is a range of points of one problem and a range of walks. Every lane carries one walk; each turn of the main
loop moves all lanes by one step: random numbers, a source sample, the step, the distance at the new place. A walk
that came within ε of the boundary is put aside, and its lane takes up the next one. When a block of finished walks is
full, it is projected onto the boundary and scored. Every loop runs over all lanes, so it vectorises.

A walk's value depends on its own numbers only, not on its lane or its task, so results are the same to the bit for
any number of threads and any split into tasks.
"""

from typing import Any, NamedTuple

import numpy as np

from mc2.compute.compile import LANES, inlined, kernel, scalar
from mc2.geometry.kernels import MAX_REGISTERS, distance_lanes
from mc2.problems.kernels import run_lanes
from mc2.walks import green_kernels as green
from mc2.walks.random_kernels import draw, first_turn

LAPLACE, POISSON, YUKAWA, BIHARMONIC, HELMHOLTZ = range(5)
GREEN, UNIFORM = range(2)

STEPS, TRUNCATED, NOT_FINITE = range(3)
"""What a task counts."""

PROBE = 1e-3
"""Distance over which the gradient of the signed distance is taken at the end of a walk."""

# rows of the lanes' state, in float32
_X, _Y, _WEIGHT, _SHARE, _SUM, _RADIUS = range(6)
# rows of the numbers drawn for a step
_TURN, _ANGLE, _U1, _U2 = range(4)

f32 = np.float32
u32 = np.uint32


class Tables(NamedTuple):
    """The programs of a problem: int32 codes, and constants in float32. A code without rows stands for no function."""

    domain_code: Any
    domain_constants: Any
    source_code: Any
    source_constants: Any
    boundary_code: Any
    boundary_constants: Any
    laplacian_code: Any
    laplacian_constants: Any


class Rules(NamedTuple):
    """How to walk. parameter: μ or k, else 0. largest: a cap on radii. max_steps: where a walk is cut off."""

    family: int
    sampling: int
    parameter: Any
    epsilon: Any
    largest: Any
    max_steps: Any
    stratify: bool


@inlined
def _draw_lanes(numbers: Any, pixel: Any, walk: Any, step: Any, key: Any) -> None:
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(LANES):
        numbers[_TURN, i], numbers[_ANGLE, i], numbers[_U1, i], numbers[_U2, i] = draw(
            pixel[i], walk[i], step[i], k0, k1, k2, k3
        )


@inlined
def _draw_turns(numbers: Any, pixel: Any, walk: Any, step: Any, key: Any) -> None:
    """Only the first of the four, for walks without a source."""
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(LANES):
        numbers[_TURN, i], _, _, _ = draw(pixel[i], walk[i], step[i], k0, k1, k2, k3)


@scalar
def poisson_term(radius: Any, r: Any, logarithm: Any, parameter: Any) -> Any:
    return f32(-1)


@scalar
def yukawa_term(radius: Any, r: Any, logarithm: Any, parameter: Any) -> Any:
    return -green.yukawa_ratio(parameter * radius, parameter * r, logarithm)


@scalar
def helmholtz_term(radius: Any, r: Any, logarithm: Any, parameter: Any) -> Any:
    return -green.helmholtz_ratio(parameter * radius, parameter * r, logarithm)


@scalar
def biharmonic_term(radius: Any, r: Any, logarithm: Any, parameter: Any) -> Any:
    return green.biharmonic_ratio(radius, r, logarithm)


def _source_lanes(sample: Any, term: Any) -> Any:
    """Where to sample the source in every lane's ball, and with what weight."""

    @inlined
    def loop(state: Any, numbers: Any, parameter: Any, registers: Any, weight: Any) -> None:
        for i in range(LANES):
            radius = state[_RADIUS, i]
            r, logarithm, base = sample(radius, numbers[_U1, i], numbers[_U2, i])
            cos, sin = green.direction(numbers[_ANGLE, i])
            registers[0, i] = state[_X, i] + r * cos
            registers[1, i] = state[_Y, i] + r * sin
            ratio = term(radius, r, logarithm, parameter)
            # the biharmonic share is 0 for the other families
            weight[i] = base * (state[_SHARE, i] + state[_WEIGHT, i] * ratio)

    return loop


_poisson_green = _source_lanes(green.green_sample, poisson_term)
_poisson_uniform = _source_lanes(green.uniform_sample, poisson_term)
_yukawa_green = _source_lanes(green.green_sample, yukawa_term)
_yukawa_uniform = _source_lanes(green.uniform_sample, yukawa_term)
_helmholtz_green = _source_lanes(green.green_sample, helmholtz_term)
_helmholtz_uniform = _source_lanes(green.uniform_sample, helmholtz_term)
_biharmonic_green = _source_lanes(green.green_sample, biharmonic_term)
_biharmonic_uniform = _source_lanes(green.uniform_sample, biharmonic_term)


@inlined
def _sample_sources(
    family: Any, sampling: Any, state: Any, numbers: Any, parameter: Any, registers: Any, weight: Any
) -> None:
    if family == POISSON:
        if sampling == GREEN:
            _poisson_green(state, numbers, parameter, registers, weight)
        else:
            _poisson_uniform(state, numbers, parameter, registers, weight)
    elif family == YUKAWA:
        if sampling == GREEN:
            _yukawa_green(state, numbers, parameter, registers, weight)
        else:
            _yukawa_uniform(state, numbers, parameter, registers, weight)
    elif family == HELMHOLTZ:
        if sampling == GREEN:
            _helmholtz_green(state, numbers, parameter, registers, weight)
        else:
            _helmholtz_uniform(state, numbers, parameter, registers, weight)
    elif sampling == GREEN:
        _biharmonic_green(state, numbers, parameter, registers, weight)
    else:
        _biharmonic_uniform(state, numbers, parameter, registers, weight)


@inlined
def _weigh_lanes(family: Any, state: Any, parameter: Any) -> None:
    """What a step does to a walk's weight (Yukawa, Helmholtz) or to its share of h (biharmonic)."""
    if family == YUKAWA:
        for i in range(LANES):
            state[_WEIGHT, i] *= green.yukawa_decay(parameter * state[_RADIUS, i])
    elif family == HELMHOLTZ:
        for i in range(LANES):
            state[_WEIGHT, i] *= green.helmholtz_growth(parameter * state[_RADIUS, i])
    elif family == BIHARMONIC:
        for i in range(LANES):
            state[_SHARE, i] += f32(0.25) * state[_RADIUS, i] * state[_RADIUS, i]


@inlined
def _step_lanes(tables: Any, rules: Any, state: Any, numbers: Any, step: Any, registers: Any, weight: Any) -> None:
    """Sample the source in every lane's ball, then jump to its rim."""
    if tables.source_code.shape[0] > 0:
        _sample_sources(rules.family, rules.sampling, state, numbers, rules.parameter, registers, weight)
        run_lanes(tables.source_code, tables.source_constants, registers)
        for i in range(LANES):
            state[_SUM, i] += weight[i] * registers[2, i]
    _advance_lanes(rules, state, numbers, step)


@inlined
def _advance_lanes(rules: Any, state: Any, numbers: Any, step: Any) -> None:
    """Jump to the rim of every lane's ball."""
    _weigh_lanes(rules.family, state, rules.parameter)
    for i in range(LANES):
        cos, sin = green.direction(numbers[_TURN, i])
        state[_X, i] += state[_RADIUS, i] * cos
        state[_Y, i] += state[_RADIUS, i] * sin
        step[i] = u32(step[i] + u32(1))


@inlined
def _measure_lanes(tables: Any, rules: Any, x: Any, y: Any, distances: Any, radius: Any) -> None:
    """Radii of the balls around a block of points."""
    distance_lanes(tables.domain_code, tables.domain_constants, x, y, distances)
    for i in range(LANES):
        radius[i] = min(distances[0, i], rules.largest)


@scalar
def _project_lanes(tables: Any, done: Any, distances: Any, registers: Any) -> None:
    """Put the boundary points nearest to finished walks into registers 0 and 1.

    The projection is one Newton step along the gradient of the signed distance, taken by forward differences.
    """
    x, y = done[_X, :LANES], done[_Y, :LANES]
    distance_lanes(tables.domain_code, tables.domain_constants, x, y, distances)
    for i in range(LANES):
        done[_RADIUS, i] = distances[0, i]
        registers[0, i] = x[i] + f32(PROBE)
        registers[1, i] = y[i] + f32(PROBE)
    distance_lanes(tables.domain_code, tables.domain_constants, registers[0], y, distances)
    for i in range(LANES):
        registers[2, i] = (distances[0, i] - done[_RADIUS, i]) * f32(1 / PROBE)
    distance_lanes(tables.domain_code, tables.domain_constants, x, registers[1], distances)
    for i in range(LANES):
        registers[0, i], registers[1, i] = project(
            x[i], y[i], done[_RADIUS, i], registers[2, i], (distances[0, i] - done[_RADIUS, i]) * f32(1 / PROBE)
        )


@scalar
def _score_lanes(tables: Any, done: Any, distances: Any, registers: Any, scores: Any) -> None:
    """weight·g − share·h + sum for a block of finished walks, with g and h at the nearest boundary points."""
    _project_lanes(tables, done, distances, registers)
    run_lanes(tables.boundary_code, tables.boundary_constants, registers)
    for i in range(LANES):
        scores[i] = done[_WEIGHT, i] * registers[2, i] + done[_SUM, i]
    if tables.laplacian_code.shape[0] > 0:
        run_lanes(tables.laplacian_code, tables.laplacian_constants, registers)
        for i in range(LANES):
            scores[i] -= done[_SHARE, i] * registers[2, i]


@scalar
def project(x: Any, y: Any, distance: Any, gx: Any, gy: Any) -> Any:
    """The boundary point that a Newton step reaches; near a corner, where the gradient is short, at most doubled."""
    shift = distance / max(gx * gx + gy * gy, f32(0.25))
    return x - shift * gx, y - shift * gy


@scalar
def _add_up(values: Any, marks: Any, sums: Any) -> None:
    """Sums and sums of squares of every point's walks in their own order, in float64, at each mark."""
    walks = marks[-1]
    for point in range(sums.shape[0]):
        total, squares, mark = 0.0, 0.0, 0
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
) -> None:
    """Walk from every point, marks[-1] times, beginning with walk number first_walk.

    registers: float32 rows of lanes, as many as the largest program needs. pixels: the number that keys each point.
    marks: increasing numbers of walks. sums[point, mark]: sum and sum of squares over that many walks.
    counts: receives what `STEPS`, `TRUNCATED` and `NOT_FINITE` name.
    """
    walks = marks[-1]
    total = x0.size * walks
    values = np.empty(total, f32)
    state = np.zeros((6, LANES), f32)
    done = np.zeros((6, 2 * LANES), f32)
    numbers = np.empty((4, LANES), f32)
    first = np.empty(LANES, f32)
    distances = np.empty((MAX_REGISTERS, LANES), f32)
    weight = np.empty(LANES, f32)
    scores = np.empty(LANES, f32)
    start_radius = np.empty(x0.size + LANES, f32)
    item = np.full(LANES, -1, np.int64)
    done_item = np.empty(2 * LANES, np.int64)
    ending = np.empty(LANES + 1, np.int64)
    pixel, walk, step = np.zeros(LANES, u32), np.zeros(LANES, u32), np.full(LANES, rules.max_steps, u32)
    x, y, radius = state[_X], state[_Y], state[_RADIUS]
    for begin in range(0, x0.size, LANES):
        for i in range(LANES):
            x[i], y[i] = x0[min(begin + i, x0.size - 1)], y0[min(begin + i, x0.size - 1)]
        _measure_lanes(tables, rules, x, y, distances, start_radius[begin : begin + LANES])
    has_source = tables.source_code.shape[0] > 0
    started, waiting, active = 0, 0, 0
    point, number = 0, 0
    radius[:] = 0
    while True:
        ended = 0
        for i in range(LANES):  # a list without branches: which walks end is what a processor cannot guess
            ending[ended] = i
            # the cap only ever shortens radii that are larger than ε
            ended += (radius[i] < rules.epsilon) | (step[i] >= rules.max_steps)
        for index in range(ended):
            i = ending[index]
            if item[i] >= 0:
                for row in range(_RADIUS):
                    done[row, waiting] = state[row, i]
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
                state[_WEIGHT, i], state[_SHARE, i], state[_SUM, i] = f32(1), f32(0), f32(0)
                if rules.stratify:
                    first[i] = first_turn(pixel[i], walk[i], key[0], key[1], key[2], key[3])
                started += 1
                active += 1
                number += 1
                if number == walks:
                    point, number = point + 1, 0
        while waiting >= LANES or (active == 0 and waiting > 0):
            _score_lanes(tables, done, distances, registers, scores)
            for i in range(min(LANES, waiting)):
                values[done_item[i]] = scores[i]
            for i in range(LANES, waiting):
                done[:, i - LANES] = done[:, i]
                done_item[i - LANES] = done_item[i]
            waiting = max(0, waiting - LANES)
        if active == 0:
            break
        if has_source:
            _draw_lanes(numbers, pixel, walk, step, key)
        else:
            _draw_turns(numbers, pixel, walk, step, key)
        if rules.stratify:
            for i in range(LANES):
                numbers[_TURN, i] = first[i] if step[i] == 0 else numbers[_TURN, i]
        _step_lanes(tables, rules, state, numbers, step, registers, weight)
        _measure_lanes(tables, rules, x, y, distances, radius)
    for index in range(total):
        counts[NOT_FINITE] += not np.isfinite(values[index])
    _add_up(values, marks, sums)
