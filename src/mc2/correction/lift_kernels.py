"""Interpolation on a periodic lattice."""

from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar

POINTS = 10
"""Points per axis from which values between lattice points are interpolated."""


@scalar
def _weights(t: Any, inverse: Any, out: Any) -> None:
    """Lagrange weights of `POINTS` equidistant nodes 0, 1, … at t. inverse[j]: 1 over the product of j − m, m ≠ j."""
    for j in range(POINTS):
        product = inverse[j]
        for m in range(POINTS):
            if m != j:
                product *= t - m
        out[j] = product


@kernel
def interpolate(lattice: Any, x: Any, y: Any, out: Any) -> None:
    """out[i] = the periodic lattice [row, column] at column x[i], row y[i], by polynomials of degree 9 each way."""
    rows, columns = lattice.shape
    inverse, wx, wy = np.ones(POINTS), np.empty(POINTS), np.empty(POINTS)
    for j in range(POINTS):
        for m in range(POINTS):
            if m != j:
                inverse[j] /= j - m
    before = POINTS // 2 - 1
    for i in range(x.size):
        first_x, first_y = int(np.floor(x[i])) - before, int(np.floor(y[i])) - before
        _weights(x[i] - first_x, inverse, wx)
        _weights(y[i] - first_y, inverse, wy)
        total = 0.0
        for a in range(POINTS):
            line = 0.0
            row = (first_y + a) % rows
            for b in range(POINTS):
                line += wx[b] * lattice[row, (first_x + b) % columns]
            total += wy[a] * line
        out[i] = total
