"""PDEZoo for PyTorch: an endless stream, and built shards as a map-style data set."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset

from mc2.errors import InputError
from mc2.zoo.shards import Shards
from mc2.zoo.stream import Examples, Stream


class StreamDataset(IterableDataset[dict[str, torch.Tensor]]):
    """A `Stream` whose batches are dicts of tensors, on the device where they were made.

    Use it with ``DataLoader(dataset, batch_size=None)``, or iterate over it directly: it makes whole batches, and
    brings its own processes.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        names = [field.name for field in fields(Examples)]
        for examples in self.stream:
            made = {name: getattr(examples, name) for name in names}
            yield {name: torch.as_tensor(field) for name, field in made.items() if field is not None}


class ShardDataset(Dataset[dict[str, Any]]):
    """The instances of a folder made by `mc2 zoo build`, one at a time, as dicts of tensors.

    folder: where they are.
    walks: which budget's estimate to give; all of them, [budget, n, n], if not given.
    """

    def __init__(self, folder: str | Path, walks: int | None = None) -> None:
        self.shards = Shards(folder)
        budgets = list(self.shards.budgets)
        if walks is not None and walks not in budgets:
            raise InputError(f"{folder} has no estimates at {walks} walks: there are {', '.join(map(str, budgets))}")
        self.walks, self.part = walks, slice(None) if walks is None else budgets.index(walks)

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, number: int) -> dict[str, Any]:
        found = self.shards[number]
        tensors = {name: torch.from_numpy(found[name]) for name in ("u", "f", "mask")}
        for name in ("mean", "variance"):
            tensors[name] = torch.from_numpy(found[name])[self.part]
        walks = torch.from_numpy(found["budgets"])[self.part]
        return tensors | {"walks": walks, "index": torch.tensor(int(found["index"]))}
