"""What a network is given, and what becomes of its output: both from the estimate alone, never from the exact field.

With p the precision (one over the local variance) of every pixel of the mask, an estimate m is normalised to
z = (m − shift)/scale: shift is the precision-weighted mean, scale the spread of the means of 16 × 16 blocks, in which
the noise is small. The network's output is a residual r in these units:

    field = shift + scale · (base + r)
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.reading.models import DISTINCT, one_of, strict

SIZES = {"estimate": 1, "source": 2, "mask": 1, "error": 5}
"""What a network may be given, and how many channels each is."""
BLOCKS = 16
"""Blocks along a side of the image, whose means tell the scale."""
NEAR, FAR = 2, 8
"""Radii of local means, in pixels; each is taken twice, which makes the weights a pyramid."""
STEEP = 100.0
"""A usual ratio of a source to its solution, in units of the 256 × 256 grid."""
SMALLEST_SUM = 1e-10


@strict
@dataclass(frozen=True)
class Inputs:
    """Which inputs a network has, and what its output is added to.

    channels: of `SIZES`, the first three being the paper's. `error` is the walks' standard error, and what follows from
        it: means over neighbours, weighted by precision.
    base: `estimate`, or `mean` over the nearest neighbours.
    lifted: whether the lift of the source is taken out of the estimate before, and added after.
    variance: whether the walks' variance is looked at, also for shift and scale; else how much neighbours differ stands
        for it, as in the paper nothing but the first three is known.
    """

    task: ClassVar[str] = "correction"
    channels: Annotated[tuple[Annotated[str, one_of(*SIZES)], ...], DISTINCT] = ("estimate", "source", "mask")
    base: Annotated[str, one_of("estimate", "mean")] = "estimate"
    lifted: bool = False
    variance: bool = True

    def __post_init__(self) -> None:
        if "error" in self.channels and not self.variance:
            raise InputError("the channel 'error' is made of the variance: leave it out, or set variance = true")

    @property
    def size(self) -> int:
        """Channels of the network's input."""
        return sum(SIZES[name] for name in self.channels)


@dataclass(frozen=True)
class CorrectorData:
    """What is known of n problems; tensors of one device.

    mean, variance, source, mask: [n, h, w].
    mask: 0 or 1; the variance of one walk is infinite.
    walks: [n].
    pixel: width of a pixel, in those of the 256 × 256 grid on [-1, 1]².
    lift: [n, h, w], where inputs are lifted.
    """

    mean: Tensor
    variance: Tensor
    walks: Tensor
    source: Tensor
    mask: Tensor
    pixel: float = 1.0
    lift: Tensor | None = None

    @property
    def spacing(self) -> float:
        """Width of a pixel."""
        return self.pixel * Grid().spacing[0]

    def cut(self, rows: slice, columns: slice) -> "CorrectorData":
        """A part of every image."""
        fields = {name: getattr(self, name) for name in ("mean", "variance", "source", "mask", "lift")}
        return replace(self, **{name: f[:, rows, columns] for name, f in fields.items() if f is not None})


def pixel_of(grid: Grid) -> float:
    """Width of a grid's pixels, in those of the 256 × 256 grid."""
    return grid.spacing[0] / Grid().spacing[0]


class CorrectorChannels(NamedTuple):
    """channels: the network's input [n, c, h, w].
    base: [n, h, w], normalised.
    shift, scale: [n, 1, 1].
    """

    channels: Tensor
    base: Tensor
    shift: Tensor
    scale: Tensor


def prepare(given: CorrectorData, inputs: Inputs) -> CorrectorChannels:
    """A network's input from an estimate. All channels are 0 outside the mask."""
    mask = given.mask.float()
    mean = torch.nan_to_num(given.mean.float(), posinf=0.0, neginf=0.0)
    if inputs.lifted:
        assert given.lift is not None
        mean = mean - given.lift
    mean = mean * mask
    variance = given.variance.float() if inputs.variance else torch.full_like(mean, torch.inf)
    variance = _known(variance, mean, mask)
    total = _sum(mask).clamp_min(1)
    typical = _sum(variance) / total
    near = _local(variance, NEAR) / _local(mask, NEAR).clamp_min(SMALLEST_SUM)
    precision = mask / (near + 1e-3 * typical + SMALLEST_SUM)
    precision = precision / (_sum(precision) / total).clamp_min(SMALLEST_SUM)  # about 1
    shift = _sum(precision * mean) / _sum(precision).clamp_min(SMALLEST_SUM)
    centred = (mean - shift) * mask
    scale = (_spread(precision * centred, precision, mask) + 1e-3 * typical).sqrt().clamp_min(SMALLEST_SUM)
    z = centred / scale
    close = _local(precision * z, NEAR) / _local(precision, NEAR).clamp_min(SMALLEST_SUM)
    channels: list[Tensor] = []
    for name in inputs.channels:
        if name == "estimate":
            channels += [z.asinh()]
        elif name == "source":
            size = (_sum(given.source.square()) / total).sqrt().clamp_min(SMALLEST_SUM)
            channels += [(given.source * given.pixel**2 / (STEEP * scale)).asinh(), (given.source / size).asinh()]
        elif name == "mask":
            channels += [mask]
        elif name == "error":
            wide = _local(precision * z, FAR) / _local(precision, FAR).clamp_min(SMALLEST_SUM)
            walks = given.walks.view(-1, 1, 1).clamp(2, 32).log2() / 5  # how far to trust the variance
            errors = [_log_error(v, scale) for v in (variance, near)]
            channels += [close.asinh(), wide.asinh(), *errors, walks.expand_as(mask)]
    base = z if inputs.base == "estimate" else close * mask
    return CorrectorChannels(torch.stack(channels, 1) * mask[:, None], base, shift, scale)


def apply_network(network: nn.Module, channels: Tensor, multiple: int) -> Tensor:
    """A network's output [n, h, w] on images of any size, padded to a multiple of what it needs."""
    h, w = channels.shape[-2:]
    channels = functional.pad(channels, (0, -w % multiple, 0, -h % multiple))
    channels = channels.contiguous(memory_format=torch.channels_last)
    return network(channels)[:, 0, :h, :w]


def finish(prepared: CorrectorChannels, residual: Tensor, given: CorrectorData) -> Tensor:
    """The corrected field [n, h, w], 0 outside the mask."""
    field = prepared.shift + prepared.scale * (prepared.base + residual.float())
    return (field if given.lift is None else field + given.lift) * given.mask


def local_mean(given: CorrectorData) -> Tensor:
    """Means of an estimate over the nearest neighbours of every pixel, by precision: [n, h, w], 0 outside the mask."""
    prepared = prepare(given, Inputs(("estimate",), "mean"))
    return finish(prepared, torch.zeros_like(prepared.base), given)


def _sum(x: Tensor) -> Tensor:
    return x.sum((-2, -1), keepdim=True)


def _local(x: Tensor, radius: int) -> Tensor:
    """Weighted sums over the neighbours of every pixel of [n, h, w], up to a constant factor; 0 beyond the image."""
    x, size = x[:, None], 2 * radius + 1
    for _ in range(2):
        x = functional.avg_pool2d(functional.avg_pool2d(x, (size, 1), 1, (radius, 0)), (1, size), 1, (0, radius))
    return x[:, 0]


def _known(variance: Tensor, mean: Tensor, mask: Tensor) -> Tensor:
    """The variance where walks tell it, and elsewhere how much neighbours differ."""
    count = _local(mask, NEAR).clamp_min(SMALLEST_SUM)
    centred = (mean - _sum(mean) / _sum(mask).clamp_min(1)) * mask
    differing = (_local(centred.square(), NEAR) / count - (_local(centred, NEAR) / count).square()).clamp_min(0)
    return torch.where(variance.isfinite(), variance, differing) * mask


def _spread(weighted: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """Variance of the means of blocks, [n, 1, 1], each counted by its pixels."""
    sums, totals, pixels = (functional.adaptive_avg_pool2d(x, BLOCKS) for x in (weighted, weights, mask))
    means = sums / totals.clamp_min(SMALLEST_SUM)
    middle = _sum(pixels * means) / _sum(pixels).clamp_min(SMALLEST_SUM)
    return _sum(pixels * (means - middle).square()) / _sum(pixels).clamp_min(SMALLEST_SUM)


def _log_error(variance: Tensor, scale: Tensor) -> Tensor:
    return (variance.sqrt() / scale + 1e-4).log() / 4
