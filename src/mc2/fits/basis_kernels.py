"""Columns of a Trefftz basis at points: radial functions times cos nθ and sin nθ, in blocks of lanes.

With Iₙ(s) = (s/2)ⁿ/n! Λₙ(s), and likewise Jₙ, all radial functions are rⁿ Λₙ: where Λ = 1, harmonic. The recurrence
Λₙ₋₁ = Λₙ ± q/(n(n + 1)) Λₙ₊₁, q = s²/4, is stable downwards, and starts from Λ's power series at an order where a few
terms suffice.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel, scalar

TERMS = 18
"""Terms of the power series: with q below the order they fall like 1/k!."""
LONG = 10_000
"""Largest q from which the recurrence of Iₙ starts: beyond, it starts at the order s, with as many terms, all of one
sign. (Those of Jₙ would cancel.)"""


@scalar
def _factors(sign: Any, parameter: Any, radius: Any, square: Any, factors: Any) -> None:
    """factors[n, lane] = Λₙ, n < its rows; for sign > 0 times e^{−s at the radius}, which keeps it from overflowing."""
    rows = factors.shape[0]
    limit = 0.25 * (parameter * radius) ** 2
    first = np.exp(-parameter * radius) if sign > 0 else 1.0
    if first == 0.0:  # all of it would be
        factors[:] = 0.0
        return
    long = sign > 0 and limit > LONG
    start = max(rows, int(parameter * radius if long else limit) + 1)
    terms = TERMS + (int(parameter * radius) if long else 0)
    above, here = np.empty(LANES), np.empty(LANES)
    for i in range(LANES):
        q = sign * 0.25 * parameter * parameter * square[i]
        term1, term2, sum1, sum2 = first, first, first, first
        for k in range(1, terms):
            term1 *= q / (k * (start + 1 + k))
            term2 *= q / (k * (start + k))
            sum1 += term1
            sum2 += term2
        above[i], here[i] = sum1, sum2
    for n in range(start, 0, -1):
        share = sign * 0.25 * parameter * parameter / (n * (n + 1))
        for i in range(LANES):
            below = here[i] + share * square[i] * above[i]
            above[i] = here[i]
            here[i] = below
        if n <= rows:
            factors[n - 1] = here


@scalar
def _block(sign: Any, parameter: Any, radius: Any, scale: Any, x: Any, y: Any, factors: Any, out: Any) -> None:
    """Columns at a block of points; x, y and the rows of out are of lanes."""
    square = x * x + y * y
    if sign != 0:
        _factors(sign, parameter, radius, square, factors)
    c, s, cx, cy = np.ones(LANES), np.zeros(LANES), x / radius, y / radius
    column = 0
    for n in range(scale.size):
        share = 1 / scale[n]
        for i in range(LANES):
            value = factors[n, i] * share
            out[column, i] = value * c[i]
            if n > 0:
                out[column + 1, i] = value * s[i]
        column += 2 if n > 0 else 1
        for i in range(LANES):
            c[i], s[i] = c[i] * cx[i] - s[i] * cy[i], s[i] * cx[i] + c[i] * cy[i]


@kernel
def fill_columns(sign: Any, parameter: Any, radius: Any, scale: Any, x: Any, y: Any, out: Any) -> None:
    """out[column, point]: level by level, cos before sin.

    sign: 0 for rⁿ, 1 for Iₙ(parameter·r), −1 for Jₙ. scale[n]: what level n is divided by.
    """
    factors, block = np.ones((scale.size, LANES)), np.empty((out.shape[0], LANES))
    px, py = np.zeros(LANES), np.zeros(LANES)
    for begin in range(0, x.size, LANES):
        count = min(LANES, x.size - begin)
        px[:count], py[:count] = x[begin : begin + count], y[begin : begin + count]
        _block(sign, parameter, radius, scale, px, py, factors, block)
        out[:, begin : begin + count] = block[:, :count]


@kernel
def add_columns(
    sign: Any, parameter: Any, radius: Any, scale: Any, x: Any, y: Any, coefficients: Any, out: Any
) -> None:
    """out[point] += the sum of coefficients times columns, which are not kept."""
    factors, block = np.ones((scale.size, LANES)), np.empty((coefficients.size, LANES))
    px, py = np.zeros(LANES), np.zeros(LANES)
    for begin in range(0, x.size, LANES):
        count = min(LANES, x.size - begin)
        px[:count], py[:count] = x[begin : begin + count], y[begin : begin + count]
        _block(sign, parameter, radius, scale, px, py, factors, block)
        for column in range(coefficients.size):
            for i in range(count):
                out[begin + i] += coefficients[column] * block[column, i]


@kernel
def add_powers(radius: Any, x: Any, y: Any, coefficients: Any, out: Any) -> None:
    """out[point] += what `add_columns` adds for rⁿ, by Horner's rule: Re Σ (a − ib) zⁿ."""
    zx, zy, real, imaginary = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    for begin in range(0, x.size, LANES):
        count = min(LANES, x.size - begin)
        zx[:count], zy[:count] = x[begin : begin + count], y[begin : begin + count]
        for i in range(LANES):
            zx[i], zy[i], real[i], imaginary[i] = zx[i] / radius, zy[i] / radius, 0.0, 0.0
        for n in range(coefficients.size // 2, 0, -1):
            a, b = coefficients[2 * n - 1], coefficients[2 * n]
            for i in range(LANES):
                first, second = real[i] + a, imaginary[i] - b
                real[i], imaginary[i] = first * zx[i] - second * zy[i], first * zy[i] + second * zx[i]
        for i in range(count):
            out[begin + i] += coefficients[0] + real[i]


@kernel
def add_poles(x: Any, y: Any, poles: Any, orders: Any, scale: Any, coefficients: Any, out: Any) -> None:
    """out[point] += the sum of coefficients times harmonic functions around poles.

    poles[pole]: x, y, and the radius at which they are 1. orders[pole]: the first and the last. scale: inside the
    logarithm of order 0. Coefficients come pole by pole, order by order, cos before sin.
    """
    for i in range(x.size):
        total, column = 0.0, 0
        for k in range(poles.shape[0]):
            dx, dy = x[i] - poles[k, 0], y[i] - poles[k, 1]
            square = dx * dx + dy * dy
            turn_x, turn_y = poles[k, 2] * dx / square, poles[k, 2] * dy / square
            c, s = 1.0, 0.0
            for n in range(orders[k, 1] + 1):
                if n >= orders[k, 0]:
                    if n == 0:
                        total += coefficients[column] * 0.5 * np.log(square / (scale * scale))
                        column += 1
                    else:
                        total += coefficients[column] * c + coefficients[column + 1] * s
                        column += 2
                c, s = c * turn_x - s * turn_y, s * turn_x + c * turn_y
        out[i] += total
