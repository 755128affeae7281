"""The parts of a walk over a block of lanes: numbers, a source sample, a step, the end.

`state` has a row of float32 lanes for every quantity a walk carries; `registers` is where programs run.
"""

from typing import Any, NamedTuple

import numpy as np

from mc2.compute.compile import LANES, inlined, scalar, switch
from mc2.functions.kernels import run_lanes
from mc2.geometry.kernels import distance_lanes, has_slit
from mc2.walks import green_kernels as green
from mc2.walks.random_kernels import draw, draw_choice

LAPLACE, POISSON, YUKAWA, BIHARMONIC, HELMHOLTZ = range(5)
GREEN, UNIFORM = range(2)

PROBE = 1e-3
"""Distance over which the gradient of the signed distance is taken at the end of a walk."""

REST = 0.25
"""Part of the distance that is left at the end of a walk in a domain with slits, so that it has a side."""

# rows of the lanes' state, in float32
X, Y, WEIGHT, SHARE, SUM, RADIUS = range(6)
# rows of the numbers drawn for a step
TURN, ANGLE, U1, U2 = range(4)

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
def draw_lanes(numbers: Any, pixel: Any, walk: Any, step: Any, key: Any) -> None:
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(LANES):
        numbers[TURN, i], numbers[ANGLE, i], numbers[U1, i], numbers[U2, i] = draw(
            pixel[i], walk[i], step[i], k0, k1, k2, k3
        )


@inlined
def draw_turns(numbers: Any, pixel: Any, walk: Any, step: Any, key: Any) -> None:
    """Only the first of the four, for walks without a source."""
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(LANES):
        numbers[TURN, i], _, _, _ = draw(pixel[i], walk[i], step[i], k0, k1, k2, k3)


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
            radius = state[RADIUS, i]
            r, logarithm, base = sample(radius, numbers[U1, i], numbers[U2, i])
            cos, sin = green.direction(numbers[ANGLE, i])
            registers[0, i] = state[X, i] + r * cos
            registers[1, i] = state[Y, i] + r * sin
            ratio = term(radius, r, logarithm, parameter)
            # the biharmonic share is 0 for the other families
            weight[i] = base * (state[SHARE, i] + state[WEIGHT, i] * ratio)

    return loop


sample_sources = switch(
    [
        _source_lanes(sample, term)
        for term in (poisson_term, yukawa_term, biharmonic_term, helmholtz_term)
        for sample in (green.green_sample, green.uniform_sample)
    ]
)
"""In the order of families and samplings: see `source_index`."""


@scalar
def source_index(family: Any, sampling: Any) -> Any:
    return 2 * (family - POISSON) + sampling


@inlined
def pick_lanes(
    rules: Any,
    state: Any,
    numbers: Any,
    pixel: Any,
    walk: Any,
    step: Any,
    key: Any,
    registers: Any,
    weight: Any,
    picked: Any,
) -> None:
    """Keep one source sample of every walk: each with a chance in proportion to its weight (a weighted reservoir).

    state[SUM] receives the sum of the weights' sizes; picked, of the chosen sample: x, y, and R²/4 over its weight.
    """
    sample_sources(source_index(rules.family, GREEN), state, numbers, rules.parameter, registers, weight)
    for i in range(LANES):
        size = abs(weight[i])
        state[SUM, i] += size
        taken = draw_choice(pixel[i], walk[i], step[i], key[0], key[1], key[2], key[3]) * state[SUM, i] < size
        base = f32(0.25) * state[RADIUS, i] * state[RADIUS, i] / max(size, f32(1e-30))
        picked[0, i] = registers[0, i] if taken else picked[0, i]
        picked[1, i] = registers[1, i] if taken else picked[1, i]
        picked[2, i] = base if taken else picked[2, i]


@inlined
def weigh_lanes(family: Any, state: Any, parameter: Any) -> None:
    """What a step does to a walk's weight (Yukawa, Helmholtz) or to its share of h (biharmonic)."""
    if family == YUKAWA:
        for i in range(LANES):
            state[WEIGHT, i] *= green.yukawa_decay(parameter * state[RADIUS, i])
    elif family == HELMHOLTZ:
        for i in range(LANES):
            state[WEIGHT, i] *= green.helmholtz_growth(parameter * state[RADIUS, i])
    elif family == BIHARMONIC:
        for i in range(LANES):
            state[SHARE, i] += f32(0.25) * state[RADIUS, i] * state[RADIUS, i]


@inlined
def step_lanes(tables: Any, rules: Any, state: Any, numbers: Any, step: Any, registers: Any, weight: Any) -> None:
    """Sample the source in every lane's ball, then jump to its rim."""
    if tables.source_code.shape[0] > 0:
        index = source_index(rules.family, rules.sampling)
        sample_sources(index, state, numbers, rules.parameter, registers, weight)
        run_lanes(tables.source_code, tables.source_constants, registers)
        for i in range(LANES):
            state[SUM, i] += weight[i] * registers[2, i]
    advance_lanes(rules, state, numbers, step)


@inlined
def advance_lanes(rules: Any, state: Any, numbers: Any, step: Any) -> None:
    """Jump to the rim of every lane's ball."""
    weigh_lanes(rules.family, state, rules.parameter)
    for i in range(LANES):
        cos, sin = green.direction(numbers[TURN, i])
        state[X, i] += state[RADIUS, i] * cos
        state[Y, i] += state[RADIUS, i] * sin
        step[i] = u32(step[i] + u32(1))


@inlined
def measure_lanes(tables: Any, rules: Any, x: Any, y: Any, distances: Any, radius: Any) -> None:
    """Radii of the balls around a block of points."""
    distance_lanes(tables.domain_code, tables.domain_constants, x, y, distances)
    for i in range(LANES):
        radius[i] = min(distances[0, i], rules.largest)


@scalar
def project_lanes(tables: Any, done: Any, distances: Any, registers: Any) -> None:
    """Put the boundary points nearest to finished walks into registers 0 and 1.

    The projection is one Newton step along the gradient of the signed distance, taken by forward differences.
    """
    x, y = done[X, :LANES], done[Y, :LANES]
    distance_lanes(tables.domain_code, tables.domain_constants, x, y, distances)
    if has_slit(tables.domain_code):
        _approach_lanes(tables, done, distances, registers)
        return
    for i in range(LANES):
        done[RADIUS, i] = distances[0, i]
        registers[0, i] = x[i] + f32(PROBE)
        registers[1, i] = y[i] + f32(PROBE)
    distance_lanes(tables.domain_code, tables.domain_constants, registers[0], y, distances)
    for i in range(LANES):
        registers[2, i] = (distances[0, i] - done[RADIUS, i]) * f32(1 / PROBE)
    distance_lanes(tables.domain_code, tables.domain_constants, x, registers[1], distances)
    for i in range(LANES):
        registers[0, i], registers[1, i] = project(
            x[i], y[i], done[RADIUS, i], registers[2, i], (distances[0, i] - done[RADIUS, i]) * f32(1 / PROBE)
        )


@inlined
def _approach_lanes(tables: Any, done: Any, distances: Any, registers: Any) -> None:
    """The same where there are slits: points stay on their side, `REST` of their distance away from the boundary."""
    x, y = done[X, :LANES], done[Y, :LANES]
    for i in range(LANES):
        done[RADIUS, i] = distances[0, i]
        registers[0, i] = x[i] + slit_probe(done[RADIUS, i])
        registers[1, i] = y[i] + slit_probe(done[RADIUS, i])
    distance_lanes(tables.domain_code, tables.domain_constants, registers[0], y, distances)
    for i in range(LANES):
        registers[2, i] = (distances[0, i] - done[RADIUS, i]) / slit_probe(done[RADIUS, i])
    distance_lanes(tables.domain_code, tables.domain_constants, x, registers[1], distances)
    for i in range(LANES):
        gy = (distances[0, i] - done[RADIUS, i]) / slit_probe(done[RADIUS, i])
        part = f32(1 - REST) * done[RADIUS, i]
        registers[0, i], registers[1, i] = project(x[i], y[i], part, registers[2, i], gy)


@scalar
def slit_probe(distance: Any) -> Any:
    """A length over which the gradient of a distance is taken without crossing a slit."""
    return max(f32(0.5) * abs(distance), f32(1e-6))


@scalar
def score_lanes(tables: Any, done: Any, distances: Any, registers: Any, scores: Any) -> None:
    """weight·g − share·h + sum for a block of finished walks, with g and h at the nearest boundary points."""
    project_lanes(tables, done, distances, registers)
    run_lanes(tables.boundary_code, tables.boundary_constants, registers)
    for i in range(LANES):
        scores[i] = done[WEIGHT, i] * registers[2, i] + done[SUM, i]
    if tables.laplacian_code.shape[0] > 0:
        run_lanes(tables.laplacian_code, tables.laplacian_constants, registers)
        for i in range(LANES):
            scores[i] -= done[SHARE, i] * registers[2, i]


@scalar
def project(x: Any, y: Any, distance: Any, gx: Any, gy: Any) -> Any:
    """The boundary point that a Newton step reaches; near a corner, where the gradient is short, at most doubled."""
    shift = distance / max(gx * gx + gy * gy, f32(0.25))
    return x - shift * gx, y - shift * gy
