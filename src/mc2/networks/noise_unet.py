"""A convolutional U-Net that knows how noisy its input is: the network behind diffusion models.

The noise level becomes a few waves, a small perceptron makes features of them, and these scale and shift the channels
of every block, whose branches are normalised.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from mc2.networks.unet import Levels

WAVES = 16
"""Frequencies that a noise level is described by, from one in 8 units to four in one."""


class NoiseUNet(Levels):
    """[n, channels, h, w] and a number [n] for the noise → [n, channels, h, w]; see `Levels`.

    embedding: features of the noise level.
    """

    def __init__(
        self,
        channels: int,
        *,
        widths: Sequence[int] = (64, 96, 128, 192, 224),
        blocks: int = 2,
        patch: int = 2,
        embedding: int = 128,
    ) -> None:
        super().__init__(channels, channels, widths, blocks, patch, lambda width: Block(width, embedding))
        self.waves: Tensor
        self.register_buffer("waves", 2 * math.pi * torch.logspace(-3, 2, WAVES, 2.0), persistent=False)
        self.embed = nn.Sequential(nn.Linear(2 * WAVES, embedding), nn.SiLU(), nn.Linear(embedding, embedding))

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        phase = noise[:, None].float() * self.waves
        return self.run(x, functional.silu(self.embed(torch.cat([phase.cos(), phase.sin()], 1))))


class Block(nn.Module):
    """Two 3×3 convolutions, added to what they were given; the noise scales and shifts what is between them."""

    def __init__(self, width: int, embedding: int) -> None:
        super().__init__()
        groups = math.gcd(width, 8)
        self.norm = nn.GroupNorm(groups, width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.noise = nn.Linear(embedding, 2 * width)
        self.second_norm = nn.GroupNorm(groups, width)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.normal_(self.second.weight, std=1e-3)  # nearly nothing at first, which is what makes depth trainable

    def forward(self, x: Tensor, features: Tensor) -> Tensor:
        scale, shift = self.noise(features)[:, :, None, None].chunk(2, 1)
        y = self.second_norm(self.first(functional.silu(self.norm(x))))
        return x + self.second(functional.silu(y * (1 + scale) + shift))
