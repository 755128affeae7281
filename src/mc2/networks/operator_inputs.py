"""What an operator network is given, and what becomes of its output: from the problem alone, never from its solution.

The problem Δu + cu = f, u = g is linear: with u its boundary data and its source are multiplied by any number, and
adding a constant to u and g adds c times that to f. So the network sees, and makes, fields without units,

    z = (u − shift)/scale,

where shift is the mean of the extended boundary data, and scale their spread and the source's size, in one. A network
that is not given g has shift 0, and the source's size alone for its scale; 1 if there is no source either.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import torch
from torch import Tensor

from mc2.networks.residual import STEEP
from mc2.reading.models import DISTINCT, one_of, strict

CHANNELS = ("source", "mask", "distance", "boundary", "parameter")
LARGEST_COEFFICIENT = 50.0
"""PDEZoo's largest λ, which becomes 1."""
SMALLEST_SCALE = 1e-10


@strict
@dataclass(frozen=True)
class OperatorInputs:
    """channels: of `CHANNELS`. The paper gives an FNO the `source` alone. `mask` and signed `distance` tell the domain,
    `boundary` is g at the nearest boundary point of every pixel, and `parameter` is c, the coefficient of u.
    """

    task: ClassVar[str] = "operator"
    channels: Annotated[tuple[Annotated[str, one_of(*CHANNELS)], ...], DISTINCT] = ("source",)

    @property
    def size(self) -> int:
        """Channels of the network's input."""
        return len(self.channels)

    @property
    def extended(self) -> bool:
        """Whether the distance or the extended boundary data are needed."""
        return bool({"distance", "boundary"} & set(self.channels))


@dataclass(frozen=True)
class OperatorData:
    """What is known of n problems.

    source, mask: [n, h, w].
    coefficient: of u in the equation, [n].
    distance, boundary: [n, h, w], where they are asked for.
    """

    source: Tensor
    mask: Tensor
    coefficient: Tensor
    distance: Tensor | None = None
    boundary: Tensor | None = None


class OperatorChannels(NamedTuple):
    """channels: the network's input [n, c, h, w].
    shift, scale: [n, 1, 1].
    """

    channels: Tensor
    shift: Tensor
    scale: Tensor


def prepare(known: OperatorData, inputs: OperatorInputs) -> OperatorChannels:
    """A network's input from a problem."""
    mask = known.mask.float()
    total = _sum(mask).clamp_min(1)
    coefficient = known.coefficient.float().view(-1, 1, 1)
    if "parameter" not in inputs.channels:
        coefficient = torch.zeros_like(coefficient)
    source, shift = known.source.float() * mask, torch.zeros_like(total)
    spread = torch.zeros_like(total)
    if "boundary" in inputs.channels:
        assert known.boundary is not None
        shift = _sum(known.boundary * mask) / total
        spread = _sum((known.boundary - shift).square() * mask) / total
        source = (source - coefficient * shift) * mask
    scale = (spread + _sum(source.square()) / total / STEEP**2).sqrt()
    scale = torch.where(scale > SMALLEST_SCALE, scale, 1.0)
    channels: list[Tensor] = []
    for name in inputs.channels:
        if name == "source":
            channels.append(source / (STEEP * scale))
        elif name == "mask":
            channels.append(mask)
        elif name == "distance":
            assert known.distance is not None
            channels.append(known.distance.float())
        elif name == "boundary":
            assert known.boundary is not None
            channels.append((known.boundary.float() - shift) / scale)
        elif name == "parameter":
            channels.append((coefficient / LARGEST_COEFFICIENT).expand_as(mask))
    return OperatorChannels(torch.stack(channels, 1), shift, scale)


def finish(prepared: OperatorChannels, output: Tensor, mask: Tensor) -> Tensor:
    """The field from a network's output [n, h, w], 0 outside the mask."""
    return (prepared.shift + prepared.scale * output.float()) * mask


def _sum(x: Tensor) -> Tensor:
    return x.sum((-2, -1), keepdim=True)
