"""Relaxation: takes out of a field what differs from pixel to pixel, by the equation.

A solution of Δu = f is, at every pixel, the mean of its four neighbours less h²f/4. Damped sweeps towards that, as in
multigrid methods (Brandt, 1977), reduce whatever alternates between neighbours to 0.6 times or less, each of them, and
hardly touch anything smooth.
"""

from torch import Tensor

from mc2.correction.inputs import Given

DAMPING = 0.8
"""Of a sweep: what is best against all that alternates."""


def relax(field: Tensor, given: Given, operators: Tensor, sweeps: int) -> Tensor:
    """A field [n, h, w] after some sweeps. Pixels that have not all four neighbours in the mask are left as they are.

    operators: coefficients of u, Δu, Δ²u, [n, 3]. Of second order, they are Δu + cu = f. A source of fourth order is
    one of the Laplacian already: see `source_of`.
    """
    zeroth = (operators[:, 0] * (operators[:, 2] == 0))[:, None, None]
    step = DAMPING * _sides(given.mask.float()).eq(4) * given.mask[:, 1:-1, 1:-1]
    source = given.source[:, 1:-1, 1:-1]
    for _ in range(sweeps):
        middle = field[:, 1:-1, 1:-1]
        laplacian = source - zeroth * middle
        field = field.clone()
        field[:, 1:-1, 1:-1] += step * ((_sides(field) - given.spacing**2 * laplacian) / 4 - middle)
    return field


def _sides(field: Tensor) -> Tensor:
    """Sums of four neighbours, [n, h − 2, w − 2]."""
    return field[:, 2:, 1:-1] + field[:, :-2, 1:-1] + field[:, 1:-1, 2:] + field[:, 1:-1, :-2]
