"""What the studies share: which instances are looked at, and walking them a few at a time."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.checks import whole
from mc2.errors import InputError, unknown
from mc2.geometry import Grid
from mc2.zoo.fields import STANDARD, make_fields
from mc2.zoo.instance import VERSION, Instance, generate
from mc2.zoo.laws import FAMILIES, SPLITS, family_of

Report = Callable[[int, int], None]
"""Called with the instances done and the instances in all."""
BATCH = 8
"""Instances whose fields are held at once."""


def check_split(split: str) -> str:
    """The split, if there is one of this name."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return split


def first(split: str, count: int) -> list[Instance]:
    """The first instances of a split."""
    check_split(split)
    return [generate(split, index) for index in range(whole("cases", count, 1, SPLITS[split]))]


def spread(split: str, families: Sequence[str], count: int) -> list[Instance]:
    """The first instances of each family, in index order; as many of each, and one more of those named first."""
    check_split(split)
    there = {family_of(split, index) for index in range(len(FAMILIES))}
    for family in families:
        if family not in there:
            raise unknown(f"family in {split}", family, there)
    if len(set(families)) != len(families):
        raise InputError(f"families = {','.join(families)} names one twice")
    count = whole("cases", count, len(families), SPLITS[split] // len(there) * len(families))
    chosen: list[int] = []
    for place, family in enumerate(families):
        own = (index for index in range(SPLITS[split]) if family_of(split, index) == family)
        chosen += islice(own, (count - place - 1) // len(families) + 1)
    return [generate(split, index) for index in sorted(chosen)]


@dataclass(frozen=True)
class WalkedInstance:
    """An instance with its estimates.

    means: float32 [budget, n, n].
    exact: float64 [n, n], 0 outside the mask.
    """

    instance: Instance
    means: NDArray[np.float32]
    exact: NDArray[np.float64]
    mask: NDArray[np.bool_]


@dataclass
class Walker:
    """Walks instances as PDEZoo does, and keeps count of walks that run out of steps or meet no finite value.

    total: instances that will be walked in all, for the report.
    """

    grid: Grid
    device: str = "auto"
    seed: int = 0
    max_steps: int = STANDARD["max_steps"]
    report: Report | None = None
    total: int = 0
    done: int = 0
    walks: int = 0
    truncated: int = 0
    not_finite: int = 0
    start: float = field(default_factory=time.perf_counter)

    def walk(self, instances: Sequence[Instance], budgets: Sequence[int], repeat: int = 0) -> Iterator[WalkedInstance]:
        """Nested estimates of one instance after the other.

        repeat: another number gives independent walks.
        """
        x, y = self.grid.points()
        for begin in range(0, len(instances), BATCH):
            batch = instances[begin : begin + BATCH]
            fields = make_fields(
                batch, budgets, grid=self.grid, seed=self.seed + repeat, device=self.device, max_steps=self.max_steps
            )
            self.device = fields.device
            for instance, mean, inside in zip(batch, fields.mean, fields.mask, strict=True):
                mask = inside.astype(bool)
                exact = np.zeros(mask.shape)
                exact[mask] = instance.truth(x[mask], y[mask])
                yield WalkedInstance(instance, mean, exact, mask)
            self.walks += int(fields.mask.sum()) * budgets[-1]
            self.truncated += int(fields.counts[:, 1].sum())
            self.not_finite += int(fields.counts[:, 2].sum())
            self.done += len(batch)
            if self.report:
                self.report(self.done, self.total)

    def facts(self) -> dict[str, Any]:
        """How it was walked, as plain data."""
        return {
            "generator_version": VERSION,
            "grid": self.grid.size,
            "seed": self.seed,
            "sampling": STANDARD["sampling"],
            "epsilon": STANDARD["epsilon"],
            "max_steps": self.max_steps,
            "device": self.device,
            "walks": self.walks,
            "truncated": self.truncated,
            "truncated_share": self.truncated / self.walks if self.walks else 0.0,
            "not_finite": self.not_finite,
            "seconds": time.perf_counter() - self.start,
        }


def estimators(instances: Sequence[Instance]) -> dict[str, str]:
    """The name of the walk of every family that occurs, in the zoo's order of families."""
    names = {instance.family: instance.estimator for instance in instances}
    return {family: names[family] for family in FAMILIES if family in names}
