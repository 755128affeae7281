"""Batches for training, as tensors where the network is: from the stream, or from built files."""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.corrector_inputs import CorrectorData, pixel_of
from mc2.training.config import Config
from mc2.walks.gpu.launch import unavailable
from mc2.zoo.stream import Examples, Stream
from mc2.zoo.torch_data import ShardDataset

LOADERS = 4
"""Processes that read built files for a GPU."""


@dataclass(frozen=True)
class Batch:
    """given: what a correction may see.
    u: the exact field [n, h, w].
    family: its number, [n].
    parameter: λ or k, else 0, [n].
    distance, boundary: see `Examples`, [n, h, w], for tasks that ask for them. Built files have none of these.
    """

    given: CorrectorData
    u: Tensor
    family: Tensor | None
    parameter: Tensor | None = None
    distance: Tensor | None = None
    boundary: Tensor | None = None

    def needed(self, name: str) -> Tensor:
        """One of those that built files do not have."""
        found: Tensor | None = getattr(self, name)
        if found is None:
            raise InputError(f"built files hold no {name}, which this task needs: leave out folder")
        return found


Batches = Generator[Batch, None, None]
"""Without end; close it when you have enough."""


def training_batches(config: Config, start: int, rank: int, ranks: int, device: torch.device) -> Batches:
    """Batches without end, from the one numbered `start`; this process's part of each."""
    if config.batch % ranks:
        raise InputError(f"batch = {config.batch} must be a multiple of the {ranks} processes")
    own = config.batch // ranks
    if config.folder:
        return _from_files(config, start, rank, ranks, device)
    stream = Stream(
        batch=own, budgets=config.budgets, seed=config.seed, start=start, instances=config.instances or None,
        rank=rank, ranks=ranks, grid=Grid(config.grid), device=_maker(device), **_extras(config),
    )  # fmt: skip
    return _from_stream(stream, device)


def held_batches(config: Config, split: str, count: int, walks: int, device: torch.device) -> list[Batch]:
    """The first instances of a split, always with the same walks, kept in memory."""
    size = min(config.batch, count)
    stream = Stream(
        batch=size, budgets=(walks,), split=split, grid=Grid(config.grid), device=_maker(device), workers=0,
        **_extras(config),
    )  # fmt: skip
    with closing(iter(stream)) as made:  # type: ignore[type-var]
        return [_to_batch(next(made), stream.grid, device) for _ in range(-(-count // size))]


def _extras(config: Config) -> dict[str, Any]:
    """What a stream is asked for besides estimates and exact fields."""
    inputs = config.inputs
    wanted = {name: getattr(inputs, name, False) for name in ("lifted", "extended")}
    return wanted | {"families": config.families}


def _maker(device: torch.device) -> str:
    """Where instances are walked."""
    return "cuda" if device.type == "cuda" and not unavailable() else "cpu"


def _to_batch(examples: Examples, grid: Grid, device: torch.device) -> Batch:
    def put(values: Any) -> Tensor:
        return torch.as_tensor(values).to(device)

    names = ("mean", "variance", "walks", "f", "mask")
    mean, variance, walks, source, mask = (put(getattr(examples, name)) for name in names)
    lift, *around = (
        None if part is None else put(part) for part in (examples.lift, examples.distance, examples.boundary)
    )
    given = CorrectorData(mean, variance, walks, source, mask, pixel_of(grid), lift)
    return Batch(given, put(examples.u), put(examples.family), put(examples.parameter), *around)


def _from_stream(stream: Stream, device: torch.device) -> Batches:
    with closing(iter(stream)) as made:  # type: ignore[type-var]
        for examples in made:
            yield _to_batch(examples, stream.grid, device)


def _from_files(config: Config, start: int, rank: int, ranks: int, device: torch.device) -> Batches:
    """Instances in the order of a build, over and over, each at one of the budgets."""
    if _extras(config)["lifted"]:
        raise InputError("built files hold no lift: leave out folder, or set lifted = false")
    if _extras(config)["extended"] or config.families:
        raise InputError("built files hold no distances and cannot be taken by family: leave out folder")
    data = ShardDataset(config.folder)
    description = data.shards.description
    if description.grid != config.grid:
        raise InputError(f"{config.folder} has {description.grid} pixels along a side, but grid = {config.grid}")
    missing = [str(budget) for budget in config.budgets if budget not in data.shards.budgets]
    if missing:
        raise InputError(
            f"{config.folder} has no estimates at {', '.join(missing)} walks: build them, or change budgets"
        )
    length, own = min(config.instances or len(data), len(data)), config.batch // ranks
    # a budget for every position, as the stream chooses it
    chooser = Stream(batch=own, budgets=config.budgets, seed=config.seed, rank=rank, ranks=ranks, device="cpu")

    def positions() -> Iterator[list[int]]:
        for number in count(start):
            yield [position % length for position in chooser.positions(number)]

    grid, order = Grid(description.grid, bounds=description.bounds), list(data.shards.budgets)
    loader = DataLoader(data, batch_sampler=positions(), num_workers=LOADERS if device.type == "cuda" else 0)
    for number, found in enumerate(loader, start):
        walks = chooser.budgets_of(number)
        rows, parts = torch.arange(own), torch.tensor([order.index(number) for number in walks])
        mean, variance = (found[name][rows, parts].to(device) for name in ("mean", "variance"))
        source, mask, u = (found[name].to(device) for name in ("f", "mask", "u"))
        yield Batch(
            CorrectorData(mean, variance, torch.tensor(walks, device=device), source, mask, pixel_of(grid)), u, None
        )
