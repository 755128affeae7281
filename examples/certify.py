"""A field from somewhere else: how wrong is it? Here a plate with a small heater, by finite differences.

    python examples/certify.py [picture.png]

The five-point scheme on a coarse grid stands for anybody's program: all that is known of it is an array. `mc2.certify`
does not know the exact solution either, which has a closed form here: at a distance r
from the heater's centre it is a multiple of r² inside of the heater and of ln r outside.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve

import mc2
from mc2.geometry import Grid, Square
from mc2.metrics import psnr
from mc2.plotting import save_figure

CENTER, RADIUS, POWER = (0.3, 0.2), 0.2, 100.0


def exact(x, y):
    """Δu = −100 in the heater, 0 outside; continuous, with its normal derivative, at its rim."""
    square = (x - CENTER[0]) ** 2 + (y - CENTER[1]) ** 2
    outside = RADIUS**2 * np.log(np.maximum(square, RADIUS**2) / RADIUS**2)
    return -POWER / 4 * (np.minimum(square, RADIUS**2) - RADIUS**2 + outside)


def problem():
    heater = f"(x - {CENTER[0]})**2 + (y - {CENTER[1]})**2 < {RADIUS**2}"
    return mc2.Poisson(Square(1.0), source=f"where({heater}, {-POWER}, 0)", boundary=exact)


def five_points(task, grid):
    """Finite differences on cell centres, with boundary values half a cell beyond the outermost ones."""
    count, step = grid.size, grid.spacing[0]
    along = diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(count, count)).tolil()
    along[0, 0] = along[-1, -1] = -3.0  # the ghost cell is twice the boundary value less the cell
    matrix = (kron(eye_array(count), along) + kron(along, eye_array(count))).tocsr()
    x, y = grid.points()
    right = step**2 * task.source(x, y)
    for side in (0, -1):
        edge = np.full(count, -1.0 if side == 0 else 1.0)
        right[:, side] -= 2 * task.boundary(edge, grid.y)
        right[side, :] -= 2 * task.boundary(grid.x, edge)
    return spsolve(matrix, right.ravel()).reshape(grid.shape)


def main(picture=None):
    task, grid = problem(), Grid(64)
    field = five_points(task, grid)
    truth = exact(*grid.points())
    print(mc2.certify(task, field, grid=grid))
    print(f"true error {np.sqrt(np.mean((field - truth) ** 2)):.3g}")
    solution, plain = mc2.solve(task, grid=grid), mc2.estimate(task, walks=4, grid=grid)
    print(f"{psnr(solution.values, truth, solution.mask):.1f} dB by mc2.solve, {solution.reason}")
    print(f"{psnr(field, truth, solution.mask):.1f} dB by finite differences")
    print(f"{psnr(plain.mean, truth, plain.mask):.1f} dB by plain walks, {plain.walks} from every pixel")
    if picture:
        save_figure(solution.plot(truth, "A heater"), Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
