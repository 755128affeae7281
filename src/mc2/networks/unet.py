"""A convolutional U-Net with residual blocks, without normalisation: the alternative to SUNet.

3×3 convolution → levels of blocks, halving the image between them → back up, each level joined by a sum with the
features of its size → 3×3 convolution
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional


class Levels(nn.Module):
    """The way down and up again of [n, channels, h, w], where h and w are multiples of `multiple`, to out channels.

    widths: of the levels.
    blocks: per level, on the way down and on the way up.
    patch: pixels along a side of the cells that the first level works on; 1 is finest, 2 is four times faster.
    block: makes one, of a width.
    """

    def __init__(
        self,
        channels: int,
        out: int,
        widths: Sequence[int],
        blocks: int,
        patch: int,
        block: Callable[[int], nn.Module],
    ) -> None:
        super().__init__()
        self.patch = patch
        self.multiple = patch << len(widths) - 1
        pairs = list(pairwise(widths))

        def level(width: int) -> nn.ModuleList:
            return nn.ModuleList(block(width) for _ in range(blocks))

        self.stem = nn.Conv2d(channels * patch**2, widths[0], 3, padding=1)
        self.encoder = nn.ModuleList(level(width) for width in widths[:-1])
        self.downs = nn.ModuleList(nn.Conv2d(fine, coarse, 2, 2) for fine, coarse in pairs)
        self.middle = level(widths[-1])
        self.ups = nn.ModuleList(nn.ConvTranspose2d(coarse, fine, 2, 2) for fine, coarse in reversed(pairs))
        self.decoder = nn.ModuleList(level(width) for width in reversed(widths[:-1]))
        self.output = nn.Conv2d(widths[0], out * patch**2, 3, padding=1)
        for parameter in self.output.parameters():  # so that training begins at nothing, added to the estimate
            nn.init.zeros_(parameter)

    def run(self, x: Tensor, *features: Tensor) -> Tensor:
        """features: what every block is given besides the image."""
        x = stem = self.stem(functional.pixel_unshuffle(x, self.patch))
        skips = []
        for level, down in zip(self.encoder, self.downs, strict=True):
            x = _through(level, x, *features)
            skips.append(x)
            x = down(x)
        x = _through(self.middle, x, *features)
        for up, level in zip(self.ups, self.decoder, strict=True):
            x = _through(level, up(x) + skips.pop(), *features)
        return functional.pixel_shuffle(self.output(x + stem), self.patch)


class UNet(Levels):
    """[n, channels, h, w] → [n, 1, h, w]; see `Levels`."""

    def __init__(
        self, channels: int, *, widths: Sequence[int] = (32, 64, 128, 256), blocks: int = 2, patch: int = 1
    ) -> None:
        super().__init__(channels, 1, widths, blocks, patch, Block)

    def forward(self, x: Tensor) -> Tensor:
        return self.run(x)


class Block(nn.Module):
    """Two 3×3 convolutions, added to what they were given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.normal_(self.second.weight, std=1e-3)  # nearly nothing at first, which is what makes depth trainable

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(functional.silu(self.first(functional.silu(x))))


def _through(blocks: nn.Module, x: Tensor, *features: Tensor) -> Tensor:
    for block in blocks:  # type: ignore[attr-defined]
        x = block(x, *features)
    return x
