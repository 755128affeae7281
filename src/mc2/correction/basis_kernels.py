"""Columns of a Trefftz basis at points: radial functions times cos nθ and sin nθ."""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar

POWER, MODIFIED, ORDINARY = range(3)
"""Radial functions: rⁿ, Iₙ(μr), Jₙ(kr)."""
HUGE = 1e200


@scalar
def _bessel(kind: Any, s: Any, top: Any, values: Any) -> None:
    """values[n] = Iₙ(s) e^{−s} or Jₙ(s), n ≤ top, by Miller's backward recurrence from well above top."""
    start = values.size - 1
    above, here = 0.0, 1e-200
    total = 0.0
    sign = 1.0 if kind == MODIFIED else -1.0
    for n in range(start, 0, -1):
        if n <= top:
            values[n] = here
        if kind == MODIFIED or n % 2 == 0:
            total += 2 * here
        above, here = here, 2 * n / s * here + sign * above
        if abs(here) > HUGE:
            above /= HUGE
            here /= HUGE
            total /= HUGE
            for m in range(n, top + 1):
                values[m] /= HUGE
    values[0] = here
    total += here
    for n in range(top + 1):
        values[n] /= total


@kernel
def fill_columns(
    kind: Any, parameter: Any, radius: Any, scale: Any, doubled: Any, x: Any, y: Any, start: Any, out: Any
) -> None:
    """out[column, point]: level by level, cos before sin; with `doubled`, each level again times (r/radius)².

    scale[n]: what the radial function of level n is divided by. start: where backward recurrences begin.
    """
    top = scale.size - 1
    values = np.zeros(start + 1)
    for i in range(x.size):
        r = math.sqrt(x[i] * x[i] + y[i] * y[i])
        if kind == POWER:
            values[0] = 1.0
            for n in range(1, top + 1):
                values[n] = values[n - 1] * (r / radius)
        else:
            s = max(parameter * r, 1e-8)
            _bessel(kind, s, top, values)
            if kind == MODIFIED:
                factor = math.exp(s - parameter * radius)
                for n in range(top + 1):
                    values[n] *= factor
        c1, s1 = (x[i] / r, y[i] / r) if r > 0 else (1.0, 0.0)
        c, s = 1.0, 0.0
        square = (r / radius) ** 2
        column = 0
        for n in range(top + 1):
            value = values[n] / scale[n]
            out[column, i] = value * c
            column += 1
            if n > 0:
                out[column, i] = value * s
                column += 1
            if doubled:
                out[column, i] = value * c * square
                column += 1
                if n > 0:
                    out[column, i] = value * s * square
                    column += 1
            c, s = c * c1 - s * s1, s * c1 + c * s1
