"""Green's functions and weights against SciPy, and sampling against integrals."""

import numpy as np
import pytest
from scipy import special

from mc2.compute.compile import kernel
from mc2.walks import green_kernels as green

RNG = np.random.default_rng(0)
COUNT = 20_000


@kernel
def evaluate_yukawa(big, small, logarithm, ratio, decay):
    for i in range(big.size):
        ratio[i] = green.yukawa_ratio(big[i], small[i], logarithm[i])
        decay[i] = green.yukawa_decay(big[i])


@kernel
def evaluate_helmholtz(big, small, logarithm, ratio, growth):
    for i in range(big.size):
        ratio[i] = green.helmholtz_ratio(big[i], small[i], logarithm[i])
        growth[i] = green.helmholtz_growth(big[i])


@kernel
def evaluate_biharmonic(radius, r, logarithm, ratio, unused):
    for i in range(radius.size):
        ratio[i] = green.biharmonic_ratio(radius[i], r[i], logarithm[i])


@kernel
def sample(u1, u2, radius, out):
    for i in range(u1.size):
        out[0, i], out[1, i], out[2, i] = green.green_sample(radius, u1[i], u2[i])
        out[3, i], out[4, i], out[5, i] = green.uniform_sample(radius, u1[i], u2[i])


@kernel
def directions(u, cos, sin):
    for i in range(u.size):
        cos[i], sin[i] = green.direction(u[i])


def points(largest):
    """(S, s) with s = S√(u₁u₂) as walks draw it, in float32 and as float64."""
    big = RNG.uniform(largest / 50, largest, COUNT)
    small = big * np.sqrt(RNG.random(COUNT) * RNG.random(COUNT))
    return big, small, np.log(big / small)


def run(function, *arrays):
    out = np.zeros((2, COUNT), np.float32)
    function(*(array.astype(np.float32) for array in arrays), out[0], out[1])
    return out.astype(float)


@pytest.mark.parametrize("largest", [0.01, 0.5, 2, 4, 20])
def test_yukawa(largest):
    big, small, logarithm = points(largest)
    ratio, decay = run(evaluate_yukawa, big, small, logarithm)
    product = special.i0e(small) * np.exp(small - 2 * big) * special.k0e(big) / special.i0e(big)
    expected = (special.k0(small) - product) / logarithm
    assert np.abs(ratio - expected).max() < 1e-4  # where ln(S/s) is tiny
    assert np.abs(ratio - expected).mean() < 2e-7
    assert abs((ratio - expected).mean()) < 5e-8
    np.testing.assert_allclose(decay, 1 / special.i0(big.astype(np.float32).astype(float)), rtol=1e-6)
    assert ratio.min() >= 0
    assert ratio.max() <= 1


def test_helmholtz():
    big, small, logarithm = points(1.9)
    ratio, growth = run(evaluate_helmholtz, big, small, logarithm)
    y, j = special.y0, special.j0
    expected = np.pi / 2 * (y(big) * j(small) / j(big) - y(small)) / logarithm
    assert np.abs(ratio - expected).max() < 1e-4
    assert abs((ratio - expected).mean()) < 5e-8
    np.testing.assert_allclose(growth, 1 / j(big.astype(np.float32).astype(float)), rtol=2e-6)


def test_biharmonic():
    radius, r, logarithm = points(1.0)
    ratio, _ = run(evaluate_biharmonic, radius, r, logarithm)
    expected = (radius**2 - r**2 - r**2 * logarithm) / (4 * logarithm)
    assert np.abs((ratio - expected) / radius**2).max() < 1e-4
    assert abs(((ratio - expected) / radius**2).mean()) < 5e-8


def test_both_samplings_integrate_against_the_green_function():
    """∫G r² over a ball of radius R is R⁴/16: E[base·r²] must be that for both densities."""
    u1, u2 = RNG.random((2, 1_000_000)).astype(np.float32)
    out = np.empty((6, u1.size), np.float32)
    sample(u1, u2, np.float32(0.7), out)
    for r, logarithm, base in (out[:3], out[3:]):
        values = base.astype(float) * r.astype(float) ** 2
        assert abs(values.mean() - 0.7**4 / 16) < 4 * values.std() / 1000
        np.testing.assert_allclose(logarithm[r > 1e-3], np.log(0.7 / r[r > 1e-3]), atol=2e-6)


def test_directions():
    u = np.linspace(0, 1, 10_001).astype(np.float32)
    cos, sin = np.empty_like(u), np.empty_like(u)
    directions(u, cos, sin)
    np.testing.assert_allclose(cos, np.cos(2 * np.pi * u.astype(float)), atol=3e-7)
    np.testing.assert_allclose(sin, np.sin(2 * np.pi * u.astype(float)), atol=3e-7)
