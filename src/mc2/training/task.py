"""`Task`: what the loop has to know of what a network is trained for."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from mc2.networks.corrector_inputs import apply_network
from mc2.training.config import Config
from mc2.training.data import Batch
from mc2.zoo import FAMILIES


class Task(ABC):
    """The loss of a batch, and scores of held instances. Forward: the network, or what stands for it on many devices.

    score: the name of the scores, under which the log has them. unit: of the scores, for people.
    """

    score: ClassVar[str] = "psnr"
    unit: ClassVar[str] = "PSNR / dB"

    def __init__(self, config: Config) -> None:
        self.config = config
        self.prepare: Any = None

    @abstractmethod
    def loss(self, forward: Any, network: nn.Module, batch: Batch) -> Tensor:
        """What training makes small: a number."""

    @abstractmethod
    def scores(self, network: nn.Module, batch: Batch, number: int) -> Tensor:
        """How good the network is on each of a batch's instances, [n]; more is better. number: of the batch."""

    @abstractmethod
    def scores_before(self, batch: Batch, number: int) -> Tensor:
        """The same without a network: what it has to improve on."""

    def compile(self) -> None:
        """Make the inputs by compiled code from here on."""
        if self.prepare is not None:
            self.prepare = torch.compile(self.prepare)

    def half(self, device: torch.device) -> torch.autocast:
        """Networks run in half precision within this, if they are to."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self.config.precision == "bf16")

    def run(self, forward: Any, network: nn.Module, channels: Tensor) -> Tensor:
        """A network's output [n, h, w], for networks of one field."""
        with self.half(channels.device):
            return apply_network(forward, channels, network.multiple)  # type: ignore[arg-type]

    def validate(self, network: nn.Module, batches: Sequence[Batch]) -> dict[str, float]:
        """Mean scores per family and overall."""
        with torch.no_grad():
            found = [self.scores(network, batch, number) for number, batch in enumerate(batches)]
        return by_family(torch.cat(found), batches)

    def before(self, batches: Sequence[Batch]) -> dict[str, float]:
        """Mean scores without a network."""
        with torch.no_grad():
            found = [self.scores_before(batch, number) for number, batch in enumerate(batches)]
        return by_family(torch.cat(found), batches)


def by_family(scores: Tensor, batches: Sequence[Batch]) -> dict[str, float]:
    """Means of scores per family and overall."""
    families = torch.cat([batch.family for batch in batches if batch.family is not None])
    parts = {name: scores[families == number] for number, name in enumerate(FAMILIES)} | {"overall": scores}
    return {name: float(own.mean()) for name, own in parts.items() if len(own)}
