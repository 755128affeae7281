"""Relaxation: takes out of a field what differs from pixel to pixel, by the equation.

A solution of Δu = f is, at every pixel, the mean of its four neighbours less h²f/4. Damped sweeps towards that, as in
multigrid methods (Brandt, 1977), reduce whatever alternates between neighbours to 0.6 times or less, each of them, and
hardly touch anything smooth.
"""

from torch import Tensor

DAMPING = 0.8
"""The damping of a sweep: what is best against all that alternates."""


def relax(u: Tensor, f: Tensor, coefficient: Tensor, mask: Tensor, spacing: float, sweeps: int) -> Tensor:
    """Fields [n, h, w] after some sweeps towards Δu + cu = f. Pixels without all four neighbours in the mask stay.

    f, mask: [n, h, w].
    coefficient: c of each field, such as −λ, [n].
    spacing: width of a pixel.
    """
    step = DAMPING * _sides(mask.float()).eq(4) * mask[:, 1:-1, 1:-1]
    for _ in range(sweeps):
        middle = u[:, 1:-1, 1:-1]
        laplacian = f[:, 1:-1, 1:-1] - coefficient[:, None, None] * middle
        u = u.clone()
        u[:, 1:-1, 1:-1] += step * ((_sides(u) - spacing**2 * laplacian) / 4 - middle)
    return u


def _sides(field: Tensor) -> Tensor:
    """Sums of four neighbours, [n, h − 2, w − 2]."""
    return field[:, 2:, 1:-1] + field[:, :-2, 1:-1] + field[:, 1:-1, 2:] + field[:, 1:-1, :-2]
