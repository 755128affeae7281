"""Gradients of the functions of a Trefftz basis.

With D = ∂/∂x + i ∂/∂y and D' = ∂/∂x − i ∂/∂y, functions times e^{inθ} become their neighbours, n + 1 and n − 1:

| F | D F | D' F |
|---|---|---|
| rⁿ e^{inθ} | 0 | 2n rⁿ⁻¹ e^{i(n−1)θ} |
| r⁻ⁿ e^{inθ} | −2n r⁻ⁿ⁻¹ e^{i(n+1)θ} | 0 |
| Iₙ(μr) e^{inθ} | μ Iₙ₊₁ e^{i(n+1)θ} | μ Iₙ₋₁ e^{i(n−1)θ} |
| Kₙ(μr) e^{inθ} | −μ Kₙ₊₁ e^{i(n+1)θ} | −μ Kₙ₋₁ e^{i(n−1)θ} |
| Jₙ(kr) e^{inθ}, and Yₙ | −k Jₙ₊₁ e^{i(n+1)θ} | k Jₙ₋₁ e^{i(n−1)θ} |

and ∂F/∂x = (D F + D' F)/2, ∂F/∂y = (D F − D' F)/2i.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mc2.fits.basis import Basis, Jump, Pole

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


def gradients(basis: Basis, x: Array, y: Array) -> tuple[Array, Array]:
    """∂/∂x and ∂/∂y of all functions of a basis at points [column, point]."""
    out = np.empty((2, len(basis.levels), x.size))
    count = 2 * basis.degree + 1
    _around_center(basis, x, y, out[:, :count])
    for pole in basis.poles:
        stop = count + len(pole.levels)
        _around_pole(basis, pole, x, y, out[:, count:stop])
        count = stop
    for jump in basis.jumps:
        out[:, count] = _of_angle(jump, x, y)
        count += 1
    for corner in basis.corners:
        stop = count + len(corner.parts)
        out[:, count:stop] = corner.gradients(x, y)
        count = stop
    if basis.doubled:
        _double(basis, x, y, out[:, : len(basis.levels) - count], out[:, count:])
    return out[0], out[1]


def _around_center(basis: Basis, x: Array, y: Array, out: Array) -> None:
    higher = replace(basis.plain, degree=basis.degree + 1)
    functions = _joined(higher.columns(x, y))
    scale, radius = higher.scale, basis.radius
    share = 0.5 * basis.operator.mass * radius  # −½ mass·radius is ½ μ² radius for Iₙ
    # each function is divided by its series' leading factor and by scale: what its neighbours are multiplied by
    for n in range(basis.degree + 1):
        up: Complex = -share / (n + 1) * (scale[n + 1] / scale[n]) * functions[n + 1]
        down: Complex = 2 * n / radius * (scale[n - 1] / scale[n]) * functions[n - 1] if n else np.conj(up)
        _split(up, down, n, out[:, max(2 * n - 1, 0) : 2 * n + 1])


def _around_pole(basis: Basis, pole: Pole, x: Array, y: Array, out: Array) -> None:
    z: Complex = (x - pole.center[0]) + 1j * (y - pole.center[1])
    r = np.abs(z)
    turn: Complex = z / r
    first, last = pole.orders
    radial, ends = basis.singular(r, pole.radius, last + 1)
    sign, rate = basis.sign, basis.parameter
    column, up, down = 0, z, z
    for n in range(first, last + 1):
        above = turn ** (n + 1)
        if sign == 0 and n == 0:  # log r
            up = turn / r
            down = np.conj(up)
        elif sign == 0:
            up = -2 * n / pole.radius * radial[n + 1] * above
            down = np.zeros_like(up)
        else:
            up = -rate * radial[n + 1] * above / ends[n]
            down = -sign * rate * radial[n - 1] * turn ** (n - 1) / ends[n] if n else np.conj(up)
        wide = 2 if n else 1
        _split(up, down, n, out[:, column : column + wide])
        column += wide


def _split(up: Complex, down: Complex, n: int, out: Array) -> None:
    """The gradients of the real part, and for n > 0 of the imaginary part, from D F and D' F."""
    for axis, derivative in enumerate((0.5 * (up + down), -0.5j * (up - down))):
        out[axis, 0] = derivative.real
        if n:
            out[axis, 1] = derivative.imag


def _joined(columns: Array) -> list[Complex]:
    """Functions times e^{inθ}, n = 0, 1, …, from their real and imaginary parts, which follow each other."""
    return [columns[0] + 0j, *(columns[k] + 1j * columns[k + 1] for k in range(1, len(columns) - 1, 2))]


def _of_angle(jump: Jump, x: Array, y: Array) -> Array:
    """∇θ/π."""
    dx, dy = x - jump.center[0], y - jump.center[1]
    return np.stack([-dy, dx]) / (np.pi * (dx * dx + dy * dy))


def _double(basis: Basis, x: Array, y: Array, first: Array, second: Array) -> None:
    """By the product rule, for the second functions of the biharmonic basis."""
    offset = np.stack([x - basis.center[0], y - basis.center[1]])
    functions = basis.harmonic.columns(x, y)
    count = 2 * basis.degree + 1
    square = basis.radius**2
    factor, slope = (offset**2).sum(0) / square, 2 * offset / square
    second[:, :count] = first[:, :count] * factor + slope[:, None] * functions[:count]
    for pole in basis.poles:
        offset = np.stack([x - pole.center[0], y - pole.center[1]])
        r_square = (offset**2).sum(0)
        for n in pole.levels:
            if n == 1:  # times r² log(r/radius)
                unit, logarithm = basis.radius * pole.radius, 0.5 * np.log(r_square / square)
                factor, slope = r_square * logarithm / unit, offset * (2 * logarithm + 1) / unit
            else:
                factor, slope = r_square / square, 2 * offset / square
            second[:, count] = first[:, count] * factor + slope * functions[count]
            count += 1
