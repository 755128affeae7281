"""SUNet: a U-Net of Swin transformer blocks (Fan, Liu and Liu, 2022; Liu and others, 2021), the paper's network.

    3×3 convolution → patches → stages of blocks, merging 2×2 patches between them → as many stages back up,
    each joined by the encoder's features of its size → dual up-sampling to pixels → 3×3 convolution

A block is attention within windows of patches and then a multilayer perceptron, each added to what it was given. Every
other block shifts its windows by half, so that neighbours meet. The result is a residual, added elsewhere to the
estimate. Unlike the first published code, scores are divided by the root of the head size, the first convolution's
features reach the last one, and no parameter is without effect. Values, which have to be carried to a part in a
thousand, are normalised by the image and not by the patch; and blocks begin at nearly nothing.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from mc2.errors import InputError

BLOCKED = -100.0
"""Added to the score of two patches that a shift brought into one window from opposite sides of the image."""
SMALLEST_SQUARE = 1e-6
UNIT = 8
"""Channels that a GPU's matrix units take at once."""
KINDS = 64
"""Parts of different shapes that may be compiled."""


class SUNet(nn.Module):
    """[n, channels, h, w] → [n, 1, h, w], where h and w are multiples of `multiple`. The defaults are the paper's.

    patch: pixels along a side of a patch.
    embedding: width of the first stage; it doubles from stage to stage.
    depths: blocks per stage of the encoder; the decoder has the same but the last.
    heads: of attention, in every stage; the paper's are from 12 to 96 wide.
    head: width of a head, the same in every stage, for so many heads as that makes, instead of `heads`.
    window: patches along a side.
    mlp: hidden width of a perceptron, in widths.
    drop_path: part of the samples for which the deepest block is skipped in training; less for those before it.
    local: whether a perceptron also sees its patch's neighbours, by a convolution of 3×3 patches for every feature (as
        in Uformer: Wang and others, 2022); the paper's does not.
    """

    def __init__(
        self,
        channels: int,
        *,
        patch: int = 4,
        embedding: int = 96,
        depths: Sequence[int] = (8, 8, 8, 8),
        heads: int = 8,
        head: int = 0,
        window: int = 8,
        mlp: int = 4,
        drop_path: float = 0.1,
        local: bool = False,
    ) -> None:
        super().__init__()
        if embedding % (head or heads):
            name = f"head = {head}" if head else f"heads = {heads}"
            raise InputError(f"embedding = {embedding} must be a multiple of {name}")
        self.window = window
        self.run: Callable[..., Tensor] = run
        self.multiple = patch * window << len(depths) - 1
        widths = [embedding << level for level in range(len(depths))]
        before = [sum(depths[:level]) for level in range(len(depths))]
        deepest = max(sum(depths) - 1, 1)

        def stage(level: int) -> nn.ModuleList:
            width = widths[level]
            drops = [drop_path * (before[level] + number) / deepest for number in range(depths[level])]
            return nn.ModuleList(
                Block(width, width // head if head else heads, window, mlp * width, drop, number % 2 == 1, local)
                for number, drop in enumerate(drops)
            )

        up = range(len(depths) - 2, -1, -1)
        self.stem = Convolution(channels, embedding, 3, padding=1)
        self.embed = nn.Conv2d(embedding, embedding, patch, patch)
        self.encoder = nn.ModuleList(stage(level) for level in range(len(depths)))
        self.merges = nn.ModuleList(Merge(width) for width in widths[:-1])
        self.ups = nn.ModuleList(DualUp(widths[level + 1], widths[level], 2) for level in up)
        self.joins = nn.ModuleList(nn.Linear(2 * widths[level], widths[level]) for level in up)
        self.decoder = nn.ModuleList(stage(level) for level in up)
        self.last_up = DualUp(embedding, embedding, patch)
        self.output = Convolution(embedding, 1, 3, padding=1)
        self.apply(_start)
        for block in self.modules():
            if isinstance(block, Block):
                nn.init.normal_(block.out.weight, std=1e-3)
                nn.init.normal_(block.mlp[2].weight, std=1e-3)  # type: ignore[arg-type]
        for parameter in self.output.parameters():  # so that training begins at the estimate itself
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        stem = self.stem(x)
        x = self.embed(stem).permute(0, 2, 3, 1)  # [n, h/patch, w/patch, embedding] from here
        skips = []
        for level, blocks in enumerate(self.encoder):
            x = self._stage(x, blocks)
            if level < len(self.merges):
                skips.append(x)
                x = self._part(self.merges[level], x)
        for up, join, blocks in zip(self.ups, self.joins, self.decoder, strict=True):
            x = self._stage(join(torch.cat([self._part(up, x), skips.pop()], -1)), blocks)
        return self.output(self._part(self.last_up, x).permute(0, 3, 1, 2) + stem)

    def _stage(self, x: Tensor, blocks: nn.Module) -> Tensor:
        mask = shift_mask(x.shape[1], x.shape[2], self.window, x.device)
        for block in blocks:  # type: ignore[attr-defined]
            x = self._part(block, x, mask)
        return x

    def _part(self, part: nn.Module, *given: Tensor) -> Tensor:
        """What a part makes of what it is given; by compiled code in training, if there is any."""
        return self.run(part, *given) if self.training else part(*given)

    def compile_parts(self) -> None:
        """Compile blocks, merges and up-samplings for training: those of one shape share their code.

        The full network has 56 blocks of 8 kinds. As one graph, a network of 25 blocks took about three minutes.
        """
        torch._dynamo.config.recompile_limit = max(KINDS, torch._dynamo.config.recompile_limit)
        self.run = torch.compile(run, dynamic=False)


def run(part: nn.Module, *given: Tensor) -> Tensor:
    """A part's output: a function of the part as well, so that compiled code is for all parts of a shape."""
    found: Tensor = part(*given)
    return found


class Block(nn.Module):
    """A Swin block on patches [n, h, w, width]: attention within windows, then a perceptron.

    What decides where to look is normalised by the patch; values, and what the perceptron sees, by the image alone.
    """

    def __init__(
        self, width: int, heads: int, window: int, hidden: int, drop: float, shifted: bool, local: bool
    ) -> None:
        super().__init__()
        self.heads, self.window, self.drops = heads, window, drop > 0
        self.shift = window // 2 if shifted else 0
        self.norm = nn.LayerNorm(width)
        self.look = nn.Linear(width, 2 * width)  # queries and keys
        self.value = nn.Linear(width, width)
        self.position = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        self.out = nn.Linear(width, width)
        self.local = nn.Conv2d(width, width, 3, padding=1, groups=width) if local else None
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))
        nn.init.trunc_normal_(self.position, std=0.02)
        self.index: Tensor
        self.register_buffer("index", offsets(window), persistent=False)
        self.kept: Tensor  # a tensor and not a number, which compiled code would take for a constant
        self.register_buffer("kept", torch.tensor(1 - drop), persistent=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self._keep(self._attend(by_image(x), mask))
        near = by_image(x)
        if self.local is not None:
            near = near + self.local(near.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return x + self._keep(self.mlp(near))

    def _attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Attention in plain operations: compiled by torch 2.11, the fused one uses some biases as if transposed."""
        n, h, w, width = x.shape
        shift = self.shift if min(h, w) > self.window else 0
        x = to_windows(torch.roll(x, (-shift, -shift), (1, 2)) if shift else x, self.window)  # [n, windows, t, width]
        t = x.shape[2]
        query, key = (self._split(part) for part in self.look(self.norm(x)).chunk(2, -1))  # [n, windows, heads, t, …]
        bias = self.position[self.index.view(-1)].view(t, t, self.heads).permute(2, 0, 1)
        bias = bias + mask[:, None] if shift else bias
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1) + bias
        value = self._split(self.value(x))
        found = scores.softmax(-1).to(value.dtype) @ value
        found = self.out(found.transpose(2, 3).reshape(n, -1, t, width))
        found = from_windows(found, h, w, self.window)
        return torch.roll(found, (shift, shift), (1, 2)) if shift else found

    def _split(self, x: Tensor) -> Tensor:
        """[n, windows, t, width] → [n, windows, heads, t, width/heads]."""
        return x.view(*x.shape[:3], self.heads, -1).transpose(2, 3)

    def _keep(self, x: Tensor) -> Tensor:
        """Stochastic depth: 0 for some samples of the batch, and the others scaled so that the mean stays."""
        if not self.training or not self.drops:
            return x
        kept = torch.rand(len(x), 1, 1, 1, device=x.device) < self.kept
        return x * (kept / self.kept).to(x.dtype)


class Merge(nn.Module):
    """2×2 patches become one of twice the width: [n, h, w, width] → [n, h/2, w/2, 2 width]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(4 * width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, width = x.shape
        x = x.view(n, h // 2, 2, w // 2, 2, width).transpose(2, 3).reshape(n, h // 2, w // 2, 4 * width)
        return self.linear(x)


class DualUp(nn.Module):
    """Dual up-sampling, [n, h, w, width] → [n, factor h, factor w, out]: pixel shuffle and bilinear, fused by a sum.

    The sum of two 1×1 convolutions is that of the paths put together; each has its own before it grows, which gives the
    same and costs less.
    """

    def __init__(self, width: int, out: int, factor: int) -> None:
        super().__init__()
        self.factor = factor
        self.spread = nn.Linear(width, out * factor**2)
        self.spread_act = nn.PReLU()
        self.spread_out = nn.Linear(out, out)
        self.smooth = nn.Linear(width, width)
        self.smooth_act = nn.PReLU()
        self.smooth_out = nn.Linear(width, out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, _ = x.shape
        factor = self.factor
        spread = self.spread_out(self.spread_act(self.spread(x)).view(n, h, w, factor, factor, -1))
        spread = spread.transpose(2, 3).reshape(n, factor * h, factor * w, -1)
        return spread + grow(self.smooth_out(self.smooth_act(self.smooth(x))), factor)


class Convolution(nn.Conv2d):
    """A convolution from or to a few channels; on a GPU padded to a multiple of what its units take at once."""

    def forward(self, x: Tensor) -> Tensor:
        if not x.is_cuda:
            return super().forward(x)
        more, less = -self.in_channels % UNIT, -self.out_channels % UNIT
        x = functional.pad(x, (0, 0, 0, 0, 0, more)).contiguous(memory_format=torch.channels_last)
        weight = functional.pad(self.weight, (0, 0, 0, 0, 0, more, 0, less))
        assert self.bias is not None
        bias = functional.pad(self.bias, (0, less))
        return functional.conv2d(x, weight, bias, self.stride, self.padding)[:, : self.out_channels]


def by_image(x: Tensor) -> Tensor:
    """[n, h, w, width], divided by the root of the mean square over an image: patches still differ as they did.

    Without it, gains multiply from block to block until training falls apart: once after 5,000 steps.
    """
    square = x.float().square().mean((1, 2, 3), keepdim=True)
    return x * (square + SMALLEST_SQUARE).rsqrt().to(x.dtype)


def grow(x: Tensor, factor: int) -> Tensor:
    """Bilinear up-sampling of [n, h, w, width], as products with matrices: a GPU has no faster way back."""
    n, h, w, width = x.shape
    rows, columns = (
        functional.interpolate(torch.eye(size, device=x.device)[None], scale_factor=factor, mode="linear")[0].T
        for size in (h, w)
    )
    x = columns.to(x.dtype) @ x
    return (rows.to(x.dtype) @ x.view(n, h, -1)).view(n, factor * h, factor * w, width)


def to_windows(x: Tensor, size: int) -> Tensor:
    """[n, h, w, width] → [n, windows, size², width]."""
    n, h, w, width = x.shape
    x = x.view(n, h // size, size, w // size, size, width).transpose(2, 3)
    return x.reshape(n, -1, size * size, width)


def from_windows(x: Tensor, h: int, w: int, size: int) -> Tensor:
    """What `to_windows` did, undone."""
    n, _, _, width = x.shape
    x = x.view(n, h // size, w // size, size, size, width).transpose(2, 3)
    return x.reshape(n, h, w, width)


def shift_mask(h: int, w: int, size: int, device: torch.device) -> Tensor:
    """0 for patches of a shifted window that are neighbours in the image, else `BLOCKED`: [windows, size², size²]."""
    rows = (torch.arange(h, device=device) >= h - size // 2).long()  # those that the shift brings around
    columns = (torch.arange(w, device=device) >= w - size // 2).long()
    sides = to_windows((2 * rows[:, None] + columns)[None, :, :, None], size)[0, :, :, 0]
    return BLOCKED * (sides[:, :, None] != sides[:, None, :]).float()


def offsets(size: int) -> Tensor:
    """The number of the offset between every two patches of a window: [size², size²], below (2 size − 1)²."""
    place = torch.arange(size)
    row, column = place.repeat_interleave(size), place.repeat(size)
    step_y, step_x = (line[:, None] - line[None, :] + size - 1 for line in (row, column))
    return step_y * (2 * size - 1) + step_x


def _start(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=module.in_features**-0.5)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
