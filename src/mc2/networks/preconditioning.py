"""What stands between a network and a denoiser (Karras and others, 2022).

A field x = y + σn of data y and noise n, with σ_d the spread of the data, is denoised by

    D(x; σ) = c_skip x + c_out F(c_in x; c_noise),
    c_skip = σ_d²/(σ² + σ_d²), c_out = σσ_d/√(σ² + σ_d²), c_in = 1/√(σ² + σ_d²), c_noise = ln(σ)/4.

So the network F has an input and a target of unit spread at every noise level. Its own error, (D − y)/c_out, has unit
size before anything is learned. Where σ → 0, D is x; where σ → ∞, D is c_out F.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

SPREAD = 0.5
"""σ_d: root mean square of the data."""

Denoiser = Callable[[Tensor, Tensor], Tensor]
"""From noisy fields [n, channels, h, w] and their noise levels [n] to the mean of what they may have been."""


def coefficients(sigma: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """c_skip, c_out, c_in and c_noise at noise levels."""
    total = (sigma.square() + SPREAD**2).sqrt()
    return (SPREAD / total).square(), sigma * SPREAD / total, 1 / total, sigma.log() / 4


def denoise(network: Callable[[Tensor, Tensor], Tensor], x: Tensor, sigma: Tensor, multiple: int = 1) -> Tensor:
    """D(x; σ) for fields [n, channels, h, w] of any size.

    multiple: of which the network needs images to be.
    """
    skip, out, into, noise = coefficients(sigma.float())
    h, w = x.shape[-2:]
    padded = functional.pad(into[:, None, None, None] * x, (0, -w % multiple, 0, -h % multiple))
    found = network(padded.contiguous(memory_format=torch.channels_last), noise)[..., :h, :w].float()
    return skip[:, None, None, None] * x + out[:, None, None, None] * found
