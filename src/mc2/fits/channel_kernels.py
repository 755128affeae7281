"""Sums of the same functions with several sets of coefficients: every function is evaluated once."""

from typing import Any

import numpy as np

from mc2.compute.compile import LANES, kernel


@kernel
def add_poles_many(x: Any, y: Any, poles: Any, orders: Any, scale: Any, coefficients: Any, out: Any) -> None:
    """out[channel, point] += what `add_poles` adds for coefficients[channel]."""
    dx, dy, c, s = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    turn_x, turn_y, px, py = np.zeros(LANES), np.zeros(LANES), np.ones(LANES), np.ones(LANES)
    total = np.zeros((out.shape[0], LANES))
    for begin in range(0, x.size, LANES):
        count, column = min(LANES, x.size - begin), 0
        px[:count], py[:count] = x[begin : begin + count], y[begin : begin + count]
        total[:] = 0.0
        for k in range(poles.shape[0]):
            for i in range(LANES):
                dx[i], dy[i] = px[i] - poles[k, 0], py[i] - poles[k, 1]
                share = poles[k, 2] / (dx[i] * dx[i] + dy[i] * dy[i])
                turn_x[i], turn_y[i], c[i], s[i] = share * dx[i], share * dy[i], 1.0, 0.0
            for n in range(orders[k, 1] + 1):
                if n >= orders[k, 0] and n == 0:
                    for i in range(LANES):
                        value = 0.5 * np.log((dx[i] * dx[i] + dy[i] * dy[i]) / (scale * scale))
                        for channel in range(out.shape[0]):
                            total[channel, i] += coefficients[channel, column] * value
                    column += 1
                elif n >= orders[k, 0]:
                    for channel in range(out.shape[0]):
                        a, b = coefficients[channel, column], coefficients[channel, column + 1]
                        for i in range(LANES):
                            total[channel, i] += a * c[i] + b * s[i]
                    column += 2
                for i in range(LANES):
                    c[i], s[i] = c[i] * turn_x[i] - s[i] * turn_y[i], s[i] * turn_x[i] + c[i] * turn_y[i]
        for channel in range(out.shape[0]):
            for i in range(count):
                out[channel, begin + i] += total[channel, i]
