"""The equation on a grid: Δu + cu − f where it can be told, which is where the whole stencil lies in the mask.

The stencil is the cross of fourth order, (−1, 16, −30, 16, −1)/12 along each axis. It is made of shifted images rather
than a convolution, which a GPU may round to three digits: differences would be lost.
"""

from torch import Tensor

REACH = 2
"""Pixels that the stencil reaches to each side."""
STEEP = 100.0
"""A usual ratio of a source to its solution on [-1, 1]²: sources are told in units of this times the solution's."""


def residual(u: Tensor, f: Tensor, coefficient: Tensor, mask: Tensor, spacing: float) -> Tensor:
    """Δu + cu − f of fields [..., h, w], on the pixels [..., h − 4, w − 4]; 0 where the stencil leaves the mask.

    coefficient: c of each field, such as −λ, [...].
    spacing: width of a pixel.
    """
    middle = _shifted(u, 0, 0)
    near, far = (_shifted(u, 0, n) + _shifted(u, 0, -n) + _shifted(u, n, 0) + _shifted(u, -n, 0) for n in (1, REACH))
    laplacian = (16 * near - far - 60 * middle) / (12 * spacing**2)
    return (laplacian + coefficient[..., None, None] * middle - _shifted(f, 0, 0)) * inside(mask)


def inside(mask: Tensor) -> Tensor:
    """1 where the whole stencil lies in the mask, else 0: [..., h − 4, w − 4]."""
    found = _shifted(mask, 0, 0)
    for n in (-REACH, -1, 1, REACH):
        found = found * _shifted(mask, 0, n) * _shifted(mask, n, 0)
    return found


def _shifted(field: Tensor, down: int, right: int) -> Tensor:
    h, w = field.shape[-2:]
    return field[..., REACH + down : h - REACH + down, REACH + right : w - REACH + right]
