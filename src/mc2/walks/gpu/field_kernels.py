"""What a GPU computes of fields before and after walks: their moments, exact solutions, and values on the boundary."""

import math
from typing import Any

import numpy as np
from numba import cuda

from mc2.functions.kernels import term_point
from mc2.geometry.kernels import MAX_REGISTERS, distance_point
from mc2.walks.gpu import hardware_kernels
from mc2.walks.gpu.columns import DOMAIN, MOST_WALKS, TABLE

FOOT_STEPS = 24
"""Newton steps to the boundary, at most: one or two where the distance is exact, a few where it is a lower bound."""
FOOT_PROBE = 1e-6
"""Half the length of the differences that tell the gradient of a distance in float64."""
FOOT_ERROR = 1e-9
"""How far from the boundary a point may stay."""

hardware_kernels.install()


@cuda.jit
def add_segments(sums: Any, ends: Any, fresh: Any, running: Any, result: Any) -> None:
    """Add a wave of segments to the running sums, in order; keep them where a segment ends a budget.

    ends[segment]: the index of the budget that ends there, or −1. fresh: start the running sums at 0.
    result[problem, budget, point]: sums at budgets.
    """
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point >= running.shape[1]:
        return
    for part in range(2):
        total = 0.0 if fresh else running[problem, point, part]
        for segment in range(ends.size):
            total += sums[problem, segment, point, part]
            if ends[segment] >= 0:
                result[problem, ends[segment], point, part] = total
        running[problem, point, part] = total


@cuda.jit
def take_moments(result: Any, mask: Any, programs: Any, budgets: Any, mean: Any, variance: Any) -> None:
    """Means and variances of the means, in float32, from sums at budgets, or at a problem's most walks."""
    point, problem, budget = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if point >= result.shape[2]:
        return
    count = np.float64(min(budgets[budget], programs[problem, MOST_WALKS]))
    centre = result[problem, budget, point, 0] / count
    spread = max(result[problem, budget, point, 1] / count - centre * centre, 0.0)
    mean[problem, budget, point] = centre
    unknown = math.inf if mask[problem, point] else 0.0
    variance[problem, budget, point] = spread / (count - 1.0) if count > 1.0 else unknown


@cuda.jit
def exact_fields(
    code: Any, constants: Any, programs: Any, operators: Any, x: Any, y: Any, mask: Any, u: Any, f: Any
) -> None:  # fmt: skip
    """u and f[problem, point] of tables of atoms, computed in float64; 0 outside the mask."""
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point >= x.size:
        return
    value, laplacian, bilaplacian = 0.0, 0.0, 0.0
    if mask[problem, point]:
        for row in range(programs[problem, TABLE], programs[problem, TABLE + 1]):
            a, b, c = term_point(code[row, 0], constants, code[row, 2], code[row, 3], x[point], y[point])
            value += a
            laplacian += b
            bilaplacian += c
    u[problem, point] = value
    operator = operators[problem]
    f[problem, point] = operator[0] * value + operator[1] * laplacian + operator[2] * bilaplacian


@cuda.jit
def boundary_fields(
    domain_code: Any, domain_constants: Any, code: Any, constants: Any, programs: Any, x: Any, y: Any, distance: Any,
    boundary: Any,
) -> None:  # fmt: skip
    """distance[problem, point], and boundary[problem, point]: u of tables of atoms at the foot of every point.

    The foot is found by Newton's method, p ← p − d∇d/|∇d|², in float64. Where the gradient vanishes, which is on the
    medial axis alone, steps are limited.
    """
    point, problem = cuda.grid(1), cuda.blockIdx.y
    if point >= x.size:
        return
    distances = cuda.local.array(MAX_REGISTERS, np.float64)
    domain = domain_code[programs[problem, DOMAIN] : programs[problem, DOMAIN + 1]]
    px, py = x[point], y[point]
    d = distance_point(domain, domain_constants, px, py, distances)
    distance[problem, point] = d
    for _ in range(FOOT_STEPS):
        if abs(d) <= FOOT_ERROR:
            break
        right = distance_point(domain, domain_constants, px + FOOT_PROBE, py, distances)
        left = distance_point(domain, domain_constants, px - FOOT_PROBE, py, distances)
        above = distance_point(domain, domain_constants, px, py + FOOT_PROBE, distances)
        below = distance_point(domain, domain_constants, px, py - FOOT_PROBE, distances)
        gx, gy = (right - left) / (2 * FOOT_PROBE), (above - below) / (2 * FOOT_PROBE)
        step = d / max(gx * gx + gy * gy, 0.01)
        px -= step * gx
        py -= step * gy
        d = distance_point(domain, domain_constants, px, py, distances)
    value = 0.0
    for row in range(programs[problem, TABLE], programs[problem, TABLE + 1]):
        value += term_point(code[row, 0], constants, code[row, 2], code[row, 3], px, py)[0]
    boundary[problem, point] = value
