"""One process or many: what `torchrun` tells by RANK and WORLD_SIZE, and how processes agree."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from mc2.errors import InputError


@dataclass(frozen=True)
class Processes:
    """This process's number, how many there are, and its device."""

    rank: int
    ranks: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the one that validates, writes and speaks."""
        return self.rank == 0

    def share(self, network: nn.Module) -> nn.Module:
        """The network, whose gradients become the mean over all processes."""
        if self.ranks == 1:
            return network
        numbers = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=numbers)

    def agree(self, *values: float) -> list[float]:
        """The first process's values, in every process."""
        if self.ranks == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.broadcast(tensor, 0)
        return tensor.tolist()

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """The mean over processes."""
        if self.ranks > 1:
            distributed.all_reduce(values)
            values /= self.ranks
        return values


@contextmanager
def join_processes(device: str) -> Iterator[Processes]:
    """Find the others, if there are any.

    device: `auto`, `cpu` or `cuda`; each process takes its own GPU.
    """
    on_gpu = torch.cuda.is_available() if device == "auto" else device == "cuda"
    if on_gpu and not torch.cuda.is_available():
        raise InputError("device 'cuda' cannot be used: torch finds no GPU; use device 'cpu' or 'auto'")
    rank, ranks = (int(os.environ.get(name, usual)) for name, usual in (("RANK", "0"), ("WORLD_SIZE", "1")))
    chosen = torch.device("cpu")
    if on_gpu:
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    if ranks == 1:
        yield Processes(0, 1, chosen)
        return
    distributed.init_process_group("nccl" if on_gpu else "gloo", rank=rank, world_size=ranks)
    try:
        yield Processes(rank, ranks, chosen)
    finally:
        distributed.destroy_process_group()
