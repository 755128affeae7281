"""Endless training data, made as it is needed: instances, walks at mixed budgets, and fields.

On a GPU, a few processes draw instances while the device walks, and batches are torch tensors that never leave it. On
the CPU they are NumPy arrays. Instances are independent draws already, so a stream takes them in the order of their
indices: there is nothing to shuffle, and a batch is a pure function of the seed and its number.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.checks import whole
from mc2.errors import InputError, unknown
from mc2.fits.on_device import torch_on_device
from mc2.geometry import Grid
from mc2.walks import estimate_batch
from mc2.walks.engine import check_budgets
from mc2.walks.gpu.launch import evaluate_boundary, evaluate_exact, unavailable, walk_fields
from mc2.walks.gpu.packing import Packed, pack
from mc2.walks.many import plan_for_batch
from mc2.walks.options import Options
from mc2.zoo import media
from mc2.zoo.conditions import SPLIT
from mc2.zoo.fields import boundary_fields, exact_fields, standard
from mc2.zoo.instance import Instance, generate
from mc2.zoo.laws import FAMILIES, OTHERS, SPLITS, families_of, size_of

MAX_WORKERS = 8
Labels = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Examples:
    """A batch of n instances: NumPy arrays on the CPU, torch tensors on a GPU. Fields are 0 outside the mask.

    index: in the split.
    family: 0 … 4, in the order of `FAMILIES`; 5 for those of the split `coefficients`.
    parameter: λ or k, else 0.
    walks: per pixel, of each instance; all three [n].
    mean, variance: of the walks, float32 [n, size, size].
    u, f: exact solution and source, likewise.
    mask: uint8 [n, size, size]. If they were asked for, float32 [n, size, size]: lift, of the source; distance, signed;
        boundary, its data at the boundary point nearest to every pixel. Only the last two go on outside.
    """

    index: Any
    family: Any
    parameter: Any
    walks: Any
    mean: Any
    variance: Any
    u: Any
    f: Any
    mask: Any
    lift: Any = None
    distance: Any = None
    boundary: Any = None


@dataclass(frozen=True)
class Stream:
    """Iterate over it for `Examples`, without end.

    batch: instances per batch.
    budgets: every instance is walked at one of these, at random.
    split: `train` by default; it begins again when it is used up, with other walks.
    families: only these, in the order of the split; all of it if none is named.
    instances: use only the first so many of those.
    seed: of the walks and the budgets.
    start: the number of the first batch, to go on where a training run stopped.
    rank, ranks: this process and how many share the work: each gets other instances, and all together get what one
        would.
    device: `auto`, `cpu` or `cuda`.
    lifted: also make the lift of the source, which needs torch.
    extended: also make the signed distance and the extended boundary data.
    workers: processes that draw instances for a GPU; a few, by default. As always with processes, a script that uses
        them guards its main part by ``if __name__ == "__main__"``.
    """

    batch: int = 64
    budgets: Sequence[int] = (1, 2, 4, 8, 16, 32)
    split: str = "train"
    seed: int = 0
    start: int = 0
    instances: int | None = None
    rank: int = 0
    ranks: int = 1
    grid: Grid = Grid()  # noqa: RUF009 (it cannot be changed)
    device: str = "auto"
    workers: int | None = None
    lifted: bool = False
    families: Sequence[str] = ()
    extended: bool = False

    def __post_init__(self) -> None:
        whole("batch", self.batch, 1, 65_536)
        whole("start", self.start, 0)
        whole("rank", self.rank, 0, whole("ranks", self.ranks, 1) - 1)
        if self.split not in (*SPLITS, *OTHERS):
            raise unknown("split", self.split, [*SPLITS, *OTHERS])
        if self.extended and self.split == SPLIT:
            raise InputError(f"a stream of {SPLIT!r} has no boundary data to extend: u is not given everywhere there")
        if self.split == media.SPLIT and (self.device == "cuda" or self.lifted):
            raise InputError(f"streams of {self.split!r} are made on the CPU, without lifts: coefficients vary")
        for family in self.families:
            if family not in families_of(self.split):
                raise unknown(f"family of {self.split}", family, families_of(self.split))
        if self.instances is not None:
            whole("instances", self.instances, 1, self._size)
        object.__setattr__(self, "budgets", tuple(check_budgets(self.budgets)))
        if self.workers is not None:
            whole("workers", self.workers, 0, 1024)
        if self.device == "cuda" and unavailable():
            raise InputError(f"device 'cuda' cannot be used: {unavailable()}; use device 'cpu' or 'auto'")
        self.options  # noqa: B018 (checks seed and device)

    @property
    def options(self) -> Options:
        return Options(seed=self.seed, device=self.device, estimator="reduced", **standard(self.split))

    def __iter__(self) -> Iterator[Examples]:
        if self.device == "cpu" or self.split == media.SPLIT or (self.device == "auto" and unavailable()):
            return self._on_cpu()
        return self._on_gpu()

    def draw(self, number: int) -> "Draw":
        """The instances of a batch, before anything is computed."""
        positions = self.positions(number)
        length = self.instances or self._size
        epochs, places = zip(*(divmod(position, length) for position in positions), strict=True)
        instances = [generate(self.split, self._index(place)) for place in places]
        # what keys the walks: another number in every epoch, and none that a plain estimate uses
        keys = [(epoch + 1) << 40 | instance.key for epoch, instance in zip(epochs, instances, strict=True)]
        return Draw(instances, keys, self.budgets_of(number))

    def budgets_of(self, number: int) -> list[int]:
        """The walks per pixel of a batch's instances."""
        return [self._walks(position) for position in self.positions(number)]

    def positions(self, number: int) -> range:
        """Where a batch's instances are, counted over all epochs."""
        first = (number * self.ranks + self.rank) * self.batch
        return range(first, first + self.batch)

    @property
    def _turns(self) -> list[int]:
        """Which of the families that take turns are wanted, by their numbers."""
        every = families_of(self.split)
        return [turn for turn, family in enumerate(every) if not self.families or family in self.families]

    @property
    def _size(self) -> int:
        """Instances of the split that are of the wanted families."""
        whole_turns, rest = divmod(size_of(self.split), len(families_of(self.split)))
        return whole_turns * len(self._turns) + sum(turn < rest for turn in self._turns)

    def _index(self, place: int) -> int:
        """Where in the split the instance at a place among the wanted ones is."""
        turns = self._turns
        return place // len(turns) * len(families_of(self.split)) + turns[place % len(turns)]

    def _walks(self, position: int) -> int:
        from mc2.walks.random_kernels import make_key

        word = int(make_key(self.seed, (1 << 62) | position)[0])
        return self.budgets[word * len(self.budgets) >> 32]

    def _on_cpu(self) -> Iterator[Examples]:
        number = self.start
        own = asdict(self.options) | {"device": "cpu"}
        while True:
            drawn = self.draw(number)
            problems = [instance.problem for instance in drawn.instances]
            found = estimate_batch(problems, walks=drawn.walks, grid=self.grid, instances=drawn.keys, **own)
            u, f = exact_fields(problems, self.grid, found.mask)
            lift = None
            if self.lifted:
                from mc2.fits.batched_lift import lift_of

                lift = np.stack([lift_of(problem.source, problem.operator, self.grid) for problem in problems])
            around = boundary_fields(problems, self.grid) if self.extended else ()
            yield Examples(*drawn.labels(), found.mean[:, 0], found.variance[:, 0], u, f, found.mask, lift, *around)
            number += 1

    def _on_gpu(self) -> Iterator[Examples]:
        torch, put, empty = torch_on_device("a stream on a GPU")
        from mc2.fits.batched_lift import lift_packed

        most = [max(self.budgets)]
        with _ahead(self) as batches:
            for packed, labels in batches:
                uploaded = packed.upload(put)
                mean, variance, mask, _ = walk_fields(uploaded, self.grid, most, self.options, empty)
                u, f = evaluate_exact(uploaded, self.grid, mask, empty)
                around = evaluate_boundary(uploaded, self.grid, empty) if self.extended else ()
                around = tuple(torch.as_tensor(a, device="cuda") for a in around)
                mean, variance, u, f, mask = (torch.as_tensor(a, device="cuda") for a in (mean, variance, u, f, mask))
                index, family, parameter, walks = (torch.from_numpy(a).to("cuda", non_blocking=True) for a in labels)
                # kernels ran on the default stream
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                lift = lift_packed(uploaded, packed.operators, self.grid, empty) if self.lifted else None
                yield Examples(index, family, parameter, walks, mean[:, 0], variance[:, 0], u, f, mask, lift, *around)


@dataclass(frozen=True)
class Draw:
    """What a batch is made from."""

    instances: list[Instance]
    keys: list[int]
    walks: list[int]

    def labels(self) -> Labels:
        """index, family, parameter and walks of every instance."""
        return (
            np.array([instance.index for instance in self.instances]),
            np.array([(*FAMILIES, *media.FAMILIES).index(instance.family) for instance in self.instances]),
            np.array([sum(instance.parameters.values()) for instance in self.instances], np.float32),
            np.array(self.walks),
        )


def prepare(stream: Stream, number: int) -> tuple[Packed, Labels]:
    """A batch as the GPU wants it, made anywhere."""
    drawn = stream.draw(number)
    plans = [plan_for_batch(instance.problem, stream.options) for instance in drawn.instances]
    return pack(plans, drawn.keys, stream.options, drawn.walks), drawn.labels()


@contextmanager
def _ahead(stream: Stream) -> Iterator[Iterator[tuple[Packed, Labels]]]:
    """Prepared batches in their order, made ahead by other processes."""
    workers = stream.workers
    if workers is None:
        workers = min(MAX_WORKERS, max(1, (os.cpu_count() or 2) - 1))
    numbers = iter(range(stream.start, 1 << 62))
    if workers == 0:
        yield (prepare(stream, number) for number in numbers)
        return
    # spawned: a forked process would inherit the device
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    waiting: deque[Future[Any]] = deque(executor.submit(prepare, stream, next(numbers)) for _ in range(3 * workers))

    def batches() -> Iterator[Any]:
        while True:
            ready = waiting.popleft().result()
            waiting.append(executor.submit(prepare, stream, next(numbers)))
            yield ready

    try:
        yield batches()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
