"""Between a lattice and points off it: interpolation, and its opposite, spreading."""

from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar

POINTS = 12
"""Points per axis from which values between lattice points are interpolated."""
WIDTH, STEEP = 8, 18.4
"""Points per axis to which masses are spread, and the steepness of the bump that they are spread by."""


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


@scalar
def bump(t: Any) -> Any:
    """e^{β(√(1 − t²) − 1)} for |t| ≤ 1: narrow in space and in frequency (Barnett, Magland and af Klinteberg, 2019)."""
    return np.exp(STEEP * (np.sqrt(max(1.0 - t * t, 0.0)) - 1.0))


@kernel
def spread(x: Any, y: Any, mass: Any, lattice: Any) -> None:
    """Add masses at column x[i], row y[i] to a periodic lattice [row, column], each as a bump `WIDTH` points wide."""
    rows, columns = lattice.shape
    wx, wy = np.empty(WIDTH), np.empty(WIDTH)
    half = 0.5 * WIDTH
    for i in range(x.size):
        first_x, first_y = int(np.ceil(x[i] - half)), int(np.ceil(y[i] - half))
        for a in range(WIDTH):
            wx[a] = bump((first_x + a - x[i]) / half)
            wy[a] = mass[i] * bump((first_y + a - y[i]) / half)
        for a in range(WIDTH):
            line = lattice[(first_y + a) % rows]
            for b in range(WIDTH):
                line[(first_x + b) % columns] += wy[a] * wx[b]


@kernel
def partition(tiles: Any, x: Any, y: Any, steps: Any, out: Any) -> None:
    """out[i] = χ at column x[i], row y[i], in units of tiles: smooth, and 1 where all tiles around are set.

    A tile's part is the product of S(t + ½) − S(t − ½) along each axis, t from its middle, so that all add up to 1.
    steps: S at equidistant points of [-1, 1], rising smoothly from 0 to 1.
    """
    rows, columns = tiles.shape
    scale = 0.5 * (steps.size - 1)
    wx, wy = np.empty(4), np.empty(4)
    for i in range(x.size):
        column, row = int(np.floor(x[i])), int(np.floor(y[i]))
        for a in range(4):  # S at both ends of the tiles before, around and behind the point
            for place, weights in ((x[i] - column + 1.0 - a, wx), (y[i] - row + 1.0 - a, wy)):
                at = min(max(place + 1.0, 0.0), 2.0) * scale
                low = min(int(at), steps.size - 2)
                weights[a] = steps[low] + (at - low) * (steps[low + 1] - steps[low])
        total = 0.0
        for a in range(3):
            for b in range(3):
                if tiles[(row + a - 1) % rows, (column + b - 1) % columns]:
                    total += (wy[a] - wy[a + 1]) * (wx[b] - wx[b + 1])
        out[i] = total
