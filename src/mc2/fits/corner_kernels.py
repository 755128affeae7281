"""Sums of corner functions at points, without keeping any of their columns."""

from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar


@scalar
def corner_logarithm(z: Any, cut: Any, heading: Any, ended: Any, turn: Any, radius: Any) -> Any:
    """log w, where w is the place seen from the corner cut[0]: |w| = 1 at the radius, arg w = 0 along its first side.

    cut: points of the path along which the angle jumps. It ends at the last of them if ended, else it goes on from
    there in the direction of heading. turn: the angle that is left out.
    """
    last = cut.size - 1
    angle = 0.0
    for k in range(last):
        angle += np.angle((z - cut[k]) / (z - cut[k + 1]))
    size = abs(z - cut[0])
    if ended:
        size /= abs(z - cut[last])
    else:
        angle += np.angle(-(z - cut[last]) * np.conj(heading))
    return complex(np.log(max(size / radius, 1e-300)), angle - turn)


@kernel
def add_corner(
    x: Any,
    y: Any,
    cut: Any,
    heading: Any,
    ended: Any,
    turn: Any,
    radius: Any,
    powers: Any,
    logs: Any,
    parents: Any,
    strides: Any,
    series: Any,
    coefficients: Any,
    out: Any,
) -> None:
    """out[point] += the real part of Σ coefficient · w^power · (log w)^logs, times its radial series where it has one.

    parents, strides: of every term the one before it that it is a multiple of, or −1, and by which power of w.
    series[term, 0 or 1]: Chebyshev coefficients, in 2(r/radius)² − 1, of the factor P of w^power, and of its
    derivative Q by the power, which (log w)¹ comes with: w^power (log w P + Q); of no length where P = 1.
    """
    count, depth = powers.size, series.shape[2]
    terms, ladder = np.empty(count, np.complex128), np.empty(count, np.complex128)
    radial = np.ones(2)
    for i in range(x.size):
        z = complex(x[i], y[i])
        logarithm = corner_logarithm(z, cut, heading, ended, turn, radius)
        t = 2 * (abs(z - cut[0]) / radius) ** 2 - 1
        total = 0.0
        previous, step = -1.0, complex(1.0, 0.0)
        for k in range(count):
            if parents[k] < 0:
                ladder[k] = np.exp(powers[k] * logarithm)
            else:
                if strides[k] != previous:
                    previous = strides[k]
                    step = np.exp(previous * logarithm)
                ladder[k] = ladder[parents[k]] * step
            terms[k] = ladder[k]
            if depth:
                for part in range(2):
                    above, here = 0.0, 0.0
                    for j in range(depth - 1, 0, -1):
                        here, above = 2 * t * here - above + series[k, part, j], here
                    radial[part] = t * here - above + series[k, part, 0]
                terms[k] *= radial[0] * logarithm + radial[1] if logs[k] else radial[0]
            else:
                for _ in range(logs[k]):
                    terms[k] *= logarithm
            total += (coefficients[k] * terms[k]).real
        out[i] += total
