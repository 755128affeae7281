"""Interpolation on a lattice."""

from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar

POINTS = 12
"""Points per axis from which values between lattice points are interpolated."""


@scalar
def _weights(t: Any, inverse: Any, out: Any) -> None:
    """Lagrange weights of `POINTS` equidistant nodes 0, 1, … at t. inverse[j]: 1 over the product of j − m, m ≠ j."""
    product = 1.0
    for j in range(POINTS):
        out[j] = inverse[j] * product
        product *= t - j
    product = 1.0
    for j in range(POINTS - 1, -1, -1):
        out[j] *= product
        product *= t - j


@kernel
def interpolate(lattice: Any, x: Any, y: Any, out: Any) -> None:
    """out[i] = the lattice [row, column] at column x[i], row y[i], by polynomials of degree 11 each way."""
    rows, columns = lattice.shape
    inverse, wx, wy = np.ones(POINTS), np.empty(POINTS), np.empty(POINTS)
    for j in range(POINTS):
        for m in range(POINTS):
            if m != j:
                inverse[j] /= j - m
    before = POINTS // 2 - 1
    for i in range(x.size):
        first_x = min(max(int(np.floor(x[i])) - before, 0), columns - POINTS)
        first_y = min(max(int(np.floor(y[i])) - before, 0), rows - POINTS)
        _weights(x[i] - first_x, inverse, wx)
        _weights(y[i] - first_y, inverse, wy)
        total = 0.0
        for a in range(POINTS):
            line = 0.0
            for b in range(POINTS):
                line += wx[b] * lattice[first_y + a, first_x + b]
            total += wy[a] * line
        out[i] = total
