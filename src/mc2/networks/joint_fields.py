"""The joint fields (u, f, λ, mask) that a diffusion model is trained on (paper, section 5.1).

Every instance is told without units, as linear equations allow: u and f share a scale, so that Δu − λu = f stays an
equation between the channels,

    (u − shift)/(2 scale), (f + λ shift)/(2 · 100 scale), λ/50 − 1/2, mask − 1/2,

the first two 0 outside the mask. shift is the mean of u over the mask, and scale² the variance of u plus the mean
square of (f + λ shift)/100, a usual ratio of the two. So all channels have a spread of about 1/2. In training, both
come from the exact fields; a sampler takes them from what it knows.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from mc2.networks.preconditioning import SPREAD
from mc2.networks.residual import STEEP, residual
from mc2.reading.models import POSITIVE, Number, strict

LARGEST = 50.0
"""PDEZoo's largest λ."""
SMALLEST_SCALE = 1e-10


@strict
@dataclass(frozen=True)
class JointFields:
    """noise_mean, noise_spread: of ln σ, for the noise levels of training. Those of Karras and others, the defaults,
    are for images of 64² pixels; smooth fields on many pixels need more noise before their shape is hidden.
    """

    task: ClassVar[str] = "diffusion"
    noise_mean: Number = -1.2
    noise_spread: Annotated[Number, POSITIVE] = 1.2

    @property
    def size(self) -> int:
        """Channels of the network's input: u, f, λ and the mask."""
        return 4


@dataclass(frozen=True)
class Units:
    """Where 0 is and what counts as 1, of n instances: shift, scale, both [n, 1, 1]."""

    shift: Tensor
    scale: Tensor

    def field(self, x: Tensor, mask: Tensor) -> Tensor:
        """u from joint fields [n, 4, h, w], 0 outside the mask."""
        return (self.shift + self.scale / SPREAD * x[:, 0]) * mask


def units_of(mean: Tensor, variance: Tensor, f: Tensor, lam: Tensor, mask: Tensor) -> Units:
    """Units from the mean and the variance of u over the mask, [n, 1, 1], its source and λ [n]."""
    size = (_source(f, lam, mean).square() * mask).sum((1, 2), keepdim=True) / _pixels(mask)
    return Units(mean, (variance + size / STEEP**2).sqrt().clamp_min(SMALLEST_SCALE))


def exact_units(u: Tensor, f: Tensor, lam: Tensor, mask: Tensor) -> Units:
    """Units from the exact solution, as in training."""
    mean = (u * mask).sum((1, 2), keepdim=True) / _pixels(mask)
    variance = ((u - mean).square() * mask).sum((1, 2), keepdim=True) / _pixels(mask)
    return units_of(mean, variance, f, lam, mask)


def join(u: Tensor, f: Tensor, lam: Tensor, mask: Tensor, units: Units) -> Tensor:
    """The joint fields [n, 4, h, w]."""
    mask = mask.float()
    return torch.stack(
        [
            SPREAD * (u - units.shift) / units.scale * mask,
            SPREAD * _source(f, lam, units.shift) / (STEEP * units.scale) * mask,
            (lam.view(-1, 1, 1) / LARGEST - 0.5).expand_as(mask),
            mask - 0.5,
        ],
        1,
    )


def joint_residual(x: Tensor, lam: Tensor, mask: Tensor, spacing: float) -> Tensor:
    """(Δu − λu)/100 − f of the first two channels, [n, h − 4, w − 4], where the whole stencil lies in the mask."""
    return residual(x[:, 0], STEEP * x[:, 1], -lam, mask, spacing) / STEEP


def _source(f: Tensor, lam: Tensor, shift: Tensor) -> Tensor:
    """The source of u − shift."""
    return f + lam.view(-1, 1, 1) * shift


def _pixels(mask: Tensor) -> Tensor:
    return mask.sum((1, 2), keepdim=True).clamp_min(1)
