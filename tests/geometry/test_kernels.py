"""Blocks, single points and both precisions agree."""

import numba
import numpy as np
import pytest

from mc2.compute.compile import LANES
from mc2.geometry import kernels

from .plain import COMPOSED, LEAVES, build, name_of

each_tree = pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)


@numba.njit
def by_lanes(code, constants, x, y, registers):
    kernels.distance_lanes(code, constants, x, y, registers)


@numba.njit
def by_points(code, constants, x, y, registers, out):
    for i in range(x.size):
        out[i] = kernels.distance_point(code, constants, x[i], y[i], registers)


def points(dtype: type, count: int = LANES) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1.5, 1.5, (2, count)).astype(dtype)


@each_tree
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.slow
def test_a_point_equals_a_lane(tree, dtype):
    x, y = points(dtype)
    registers = np.empty((kernels.MAX_REGISTERS, LANES), dtype)
    by_lanes(*build(tree).program, x, y, registers)
    out = np.empty_like(x)
    by_points(*build(tree).program, x, y, np.empty(kernels.MAX_REGISTERS, dtype), out)
    assert np.allclose(out, registers[0], rtol=0, atol=4 * np.finfo(dtype).eps)


@each_tree
@pytest.mark.slow
def test_single_precision_agrees_to_rounding(tree):
    x, y = points(np.float32)
    registers = np.empty((kernels.MAX_REGISTERS, LANES), np.float32)
    by_lanes(*build(tree).program, x, y, registers)
    exact = build(tree).distance(x.astype(float), y.astype(float))
    assert np.abs(registers[0] - exact).max() < 20 * np.finfo(np.float32).eps


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_points(count, dtype):
    x, y = points(dtype, count)
    out = np.full(count, np.nan, dtype)
    kernels.distance(*build(COMPOSED[0]).program, x, y, out)
    outer, inner = 1 - np.hypot(x, y), np.hypot(x - dtype(0.2), y - dtype(0.1)) - dtype(0.4)
    assert np.allclose(out, np.minimum(outer, inner), atol=8 * np.finfo(dtype).eps)


def test_single_precision_stays_single():
    """A stray float64 constant would halve the speed: no conversion may stand in the loops."""

    @numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    def every_shape(x, y, a, b):
        d = min(kernels.disk(x, y, a, b), kernels.rectangle(x, y, a, b), kernels.ellipse(x, y, a, b))
        d = min(d, kernels.annulus(x, y, a, b), kernels.triangle(x, y, a, b), kernels.hexagon(x, y, a, b))
        d = min(d, kernels.stadium(x, y, a, b), kernels.edge(d, x, y, a, b, a, b, a, b, a))
        return kernels.signed_root(d)

    every_shape.compile((numba.float32,) * 4)
    assert every_shape.overloads[(numba.float32,) * 4].signature.return_type == numba.float32
    assert "fpext" not in every_shape.inspect_llvm((numba.float32,) * 4)
