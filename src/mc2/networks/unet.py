"""A convolutional U-Net with residual blocks, without normalisation: the alternative to SUNet.

3×3 convolution → levels of blocks, halving the image between them → back up, each level joined by a sum with the
features of its size → 3×3 convolution
"""

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional


class UNet(nn.Module):
    """[n, channels, h, w] → [n, 1, h, w], where h and w are multiples of `multiple`.

    widths: of the levels. blocks: per level, on the way down and on the way up. patch: pixels along a side of the cells
    that the first level works on; 1 is finest, 2 is four times faster.
    """

    def __init__(
        self, channels: int, *, widths: Sequence[int] = (32, 64, 128, 256), blocks: int = 2, patch: int = 1
    ) -> None:
        super().__init__()
        self.patch = patch
        self.multiple = patch << len(widths) - 1
        pairs = list(pairwise(widths))

        def level(width: int) -> nn.Sequential:
            return nn.Sequential(*(Block(width) for _ in range(blocks)))

        self.stem = nn.Conv2d(channels * patch**2, widths[0], 3, padding=1)
        self.encoder = nn.ModuleList(level(width) for width in widths[:-1])
        self.downs = nn.ModuleList(nn.Conv2d(fine, coarse, 2, 2) for fine, coarse in pairs)
        self.middle = level(widths[-1])
        self.ups = nn.ModuleList(nn.ConvTranspose2d(coarse, fine, 2, 2) for fine, coarse in reversed(pairs))
        self.decoder = nn.ModuleList(level(width) for width in reversed(widths[:-1]))
        self.output = nn.Conv2d(widths[0], patch**2, 3, padding=1)
        for parameter in self.output.parameters():  # so that training begins at the estimate itself
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        x = stem = self.stem(functional.pixel_unshuffle(x, self.patch))
        skips = []
        for level, down in zip(self.encoder, self.downs, strict=True):
            x = level(x)
            skips.append(x)
            x = down(x)
        x = self.middle(x)
        for up, level in zip(self.ups, self.decoder, strict=True):
            x = level(up(x) + skips.pop())
        return functional.pixel_shuffle(self.output(x + stem), self.patch)


class Block(nn.Module):
    """Two 3×3 convolutions, added to what they were given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.normal_(self.second.weight, std=1e-3)  # nearly nothing at first, which is what makes depth trainable

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(functional.silu(self.first(functional.silu(x))))
