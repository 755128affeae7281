"""A convolutional U-Net that knows how noisy its input is: the network behind diffusion models.

The noise level becomes a few waves, a small perceptron makes features of them, and these scale and shift the channels
of every block. Otherwise it is built as `mc2.networks.unet`, with normalised branches.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

WAVES = 16
"""Frequencies that a noise level is described by, from one in 8 units to four in one."""


class NoiseUNet(nn.Module):
    """[n, channels, h, w] and a number [n] for the noise → [n, channels, h, w]; h and w are multiples of `multiple`.

    widths: of the levels. blocks: per level, on the way down and on the way up. patch: pixels along a side of the cells
    that the first level works on. embedding: features of the noise level.
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
        super().__init__()
        self.patch = patch
        self.multiple = patch << len(widths) - 1
        pairs = list(pairwise(widths))

        def level(width: int) -> nn.ModuleList:
            return nn.ModuleList(Block(width, embedding) for _ in range(blocks))

        self.waves: Tensor
        self.register_buffer("waves", 2 * math.pi * torch.logspace(-3, 2, WAVES, 2.0), persistent=False)
        self.embed = nn.Sequential(nn.Linear(2 * WAVES, embedding), nn.SiLU(), nn.Linear(embedding, embedding))
        self.stem = nn.Conv2d(channels * patch**2, widths[0], 3, padding=1)
        self.encoder = nn.ModuleList(level(width) for width in widths[:-1])
        self.downs = nn.ModuleList(nn.Conv2d(fine, coarse, 2, 2) for fine, coarse in pairs)
        self.middle = level(widths[-1])
        self.ups = nn.ModuleList(nn.ConvTranspose2d(coarse, fine, 2, 2) for fine, coarse in reversed(pairs))
        self.decoder = nn.ModuleList(level(width) for width in reversed(widths[:-1]))
        self.output = nn.Conv2d(widths[0], channels * patch**2, 3, padding=1)
        for parameter in self.output.parameters():
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        phase = noise[:, None].float() * self.waves
        features = functional.silu(self.embed(torch.cat([phase.cos(), phase.sin()], 1)))
        x = stem = self.stem(functional.pixel_unshuffle(x, self.patch))
        skips = []
        for blocks, down in zip(self.encoder, self.downs, strict=True):
            x = run(blocks, x, features)
            skips.append(x)
            x = down(x)
        x = run(self.middle, x, features)
        for up, blocks in zip(self.ups, self.decoder, strict=True):
            x = run(blocks, up(x) + skips.pop(), features)
        return functional.pixel_shuffle(self.output(x + stem), self.patch)


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


def run(blocks: nn.Module, x: Tensor, features: Tensor) -> Tensor:
    for block in blocks:  # type: ignore[attr-defined]
        x = block(x, features)
    return x
