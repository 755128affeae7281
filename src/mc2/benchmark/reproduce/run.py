"""Runs studies, chunk by chunk: the GPU walks and networks correct while other processes do the rest."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2 import __version__
from mc2.benchmark.reproduce.batches import is_batched, is_extended, solve_batch
from mc2.benchmark.reproduce.scoring import balance_batch, score_batch
from mc2.benchmark.reproduce.store import Store, check_settings
from mc2.benchmark.reproduce.studies import BALANCE, Row, Study
from mc2.benchmark.reproduce.workers import Chunk, known_method, prepare, solve_rows, walk_options, worker_pool
from mc2.benchmark.runner import hardware
from mc2.checks import whole
from mc2.errors import InputError
from mc2.files import make_folder
from mc2.folders import holding
from mc2.geometry import Grid
from mc2.walks.engine import choose_device
from mc2.zoo import VERSION

GROUP = 25
"""Instances that one worker prepares at a time, and that are walked together on a GPU."""
AHEAD = 2
"""Chunks that are prepared before they are needed."""
Report = Callable[[str, int, int], None]
"""Called with the name of a study, the chunks done and the chunks in all."""


class OutOfTimeError(Exception):
    """The time that a run was given is over."""


def reproduce(
    folder: Path,
    studies: Sequence[Study],
    *,
    grid: Grid | None = None,
    device: str = "auto",
    workers: int | None = None,
    seconds: float | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Run studies, in their order, going on where an earlier run in the same folder stopped.

    folder: for the files that `store.py` describes.
    workers: processes beside this one; as many as there are cores by default.
    seconds: stop cleanly after so many, with what is done until then packed. Methods that cannot be made here, for want
        of weights or of a package, are left to a run elsewhere, and told. Returns the files, and for every study how
        many instances each method has done.
    """
    start, grid = time.monotonic(), grid or Grid()
    make_folder(folder)
    with holding(folder):
        check_settings(folder, {"grid": grid.size, "generator_version": VERSION})
        impossible = _impossible(studies)
        errors = list(impossible.values())
        stores = [Store(folder, study.limited(None, without=list(impossible))) for study in studies]
        on_gpu = _on_gpu(device)
        deadline = np.inf if seconds is None else start + seconds
        finished = True
        try:
            if any(_todo(store) for store in stores):
                with worker_pool(whole("workers", workers or os.cpu_count() or 1, 1, 256)) as pool:
                    for store in stores:
                        _Run(store, pool, grid, on_gpu, deadline, errors, report).go()
        except OutOfTimeError:
            finished = False
        finally:
            notes = {"grid": grid.size, "version": __version__, "errors": errors[:100]}
            written = [path for store in stores for path in store.pack(notes, hardware())]
    done = {
        store.study.name: {row.method: int(store.done(row.method).sum()) for row in store.study.rows}
        for store in stores
    }
    return {"finished": finished, "files": [str(path) for path in written], "done": done, "errors": errors}


def _impossible(studies: Sequence[Study]) -> dict[str, str]:
    """Why methods cannot be made here, by their names."""
    found = {}
    for name in dict.fromkeys(row.method for study in studies for row in study.rows):
        try:
            known_method(name)
        except InputError as error:
            found[name] = f"{name} was left out: {error}"
    return found


def _on_gpu(device: str) -> bool:
    """Whether to walk on a GPU."""
    from mc2.walks.many import plan_for_batch
    from mc2.zoo import generate

    return choose_device(device, plan_for_batch(generate("test", 0).problem, walk_options(0))) == "cuda"


def _todo(store: Store) -> list[NDArray[np.int64]]:
    """Chunks of instances for which some method is not done."""
    study = store.study
    chunks = [np.arange(first, min(first + study.chunk, study.count)) for first in range(0, study.count, study.chunk)]
    return [chunk for chunk in chunks if store.missing(chunk)]


class _Run:
    """One study on one pool of workers."""

    def __init__(
        self, store: Store, pool: Executor, grid: Grid, on_gpu: bool, deadline: float, errors: list[str], report: Any
    ) -> None:
        import torch

        self.store, self.study, self.pool, self.grid = store, store.study, pool, grid
        self.on_gpu, self.deadline, self.errors, self.report = on_gpu, deadline, errors, report
        self.device = torch.device("cuda" if torch.cuda.is_available() and on_gpu else "cpu")
        self.seconds = 0.0  # of walks, per instance and seed

    def go(self) -> None:
        """All chunks, and how long they took."""
        start = time.monotonic()
        try:
            self._all_chunks()
        finally:
            self.store.spent = time.monotonic() - start

    def _all_chunks(self) -> None:
        """What workers solve of one chunk is collected when the next one is on its way."""
        chunks = _todo(self.store)
        extended = any(is_extended(row.method) for row in self.study.rows)
        coming: list[list[Future[Chunk]]] = []
        waiting: Any = None
        for number, indices in enumerate(chunks):
            while len(coming) <= number + AHEAD and len(coming) < len(chunks):
                coming.append(self._prepare(chunks[len(coming)], extended))
            self._say(number, len(chunks))
            chunk = _joined([self._wait(future) for future in coming[number]])
            coming[number] = []
            walks = self._walks(chunk)
            rows = [self.study.row(method) for method in self.store.missing(indices)]
            solving = self._solve_by_workers(chunk, walks, [row for row in rows if not _here(row)])
            for row in rows:
                if _here(row):
                    self._solve_here(chunk, walks, row)
            if waiting:
                self._collect(*waiting)
            waiting = chunk, walks, solving
        if waiting:
            self._collect(*waiting)
        self._say(len(chunks), len(chunks))

    def _say(self, done: int, total: int) -> None:
        if self.report:
            self.report(self.study.name, done, total)

    def _wait(self, future: Future[Any]) -> Any:
        """A result, unless time runs out."""
        left = self.deadline - time.monotonic()
        try:
            return future.result(timeout=None if left == np.inf else max(0.0, left))
        except TimeoutError:
            raise OutOfTimeError from None

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTimeError

    def _prepare(self, indices: NDArray[np.int64], extended: bool) -> list[Future[Chunk]]:
        groups = [indices[first : first + GROUP].tolist() for first in range(0, len(indices), GROUP)]
        if not self.on_gpu:
            groups = [[index] for index in indices.tolist()]
        study = self.study
        return [
            self.pool.submit(prepare, group, study.budgets, study.seeds, self.grid, self.on_gpu, extended)
            for group in groups
        ]

    def _walks(self, chunk: Chunk) -> NDArray[np.float32]:
        """Mean and variance [2, instance, seed, budget, n, n]."""
        self.seconds = chunk.seconds
        if not self.on_gpu:
            return np.concatenate(chunk.walks, axis=1)
        study, first = self.study, 0
        shape = (2, len(chunk.indices), len(study.seeds), len(study.budgets), *self.grid.shape)
        found, start = np.zeros(shape, np.float32), time.perf_counter()
        for packed in chunk.walks:
            self._check_time()
            last = first + packed[0].count
            self._walk_group(packed, found[:, first:last])
            first = last
        self.seconds = (time.perf_counter() - start) / (len(chunk.indices) * len(study.seeds))
        return found

    def _walk_group(self, packed: Any, found: NDArray[np.float32]) -> None:
        """Walk a group on the GPU, once for every seed, into its part of what `_walks` returns."""
        from mc2.walks.gpu.launch import walk_fields

        if not self.study.budgets:
            return
        for number, seed in enumerate(self.study.seeds):
            options = walk_options(seed)
            mean, variance, _, _ = walk_fields(packed[number].upload(), self.grid, self.study.budgets, options)
            found[0, :, number], found[1, :, number] = mean.copy_to_host(), variance.copy_to_host()

    def _solve_by_workers(self, chunk: Chunk, walks: Any, rows: list[Row]) -> tuple[list[Row], list[Future[Any]]]:
        """Send instances to the workers, with the estimates that some row needs."""
        if not rows:
            return rows, []
        study = self.study
        wanted = [budget for budget in study.budgets if any(budget in row.walks for row in rows)]
        places = [study.budgets.index(budget) for budget in wanted]
        return rows, [
            self.pool.submit(
                solve_rows, int(index), rows, wanted, walks[:, number][:, :, places], study.seeds, self.grid
            )
            for number, index in enumerate(chunk.indices)
        ]

    def _collect(self, chunk: Chunk, walks: Any, solving: tuple[list[Row], list[Future[Any]]]) -> None:
        """Score what workers solved, and keep it."""
        rows, futures = solving
        found = [self._wait(future) for future in futures]
        for row in rows:
            own = [part[row.method] for part in found]
            self.errors += [error for _, _, error in own if error]
            solved = np.zeros((len(row.walks), len(chunk.indices), len(self.study.seeds), *self.grid.shape), np.float32)
            for number, (field, _, _) in enumerate(own):
                solved[:, number][..., chunk.mask[number]] = field
            seconds = np.stack([part.mean(1) for _, part, _ in own], 1)  # [walks, instance]
            self._keep(chunk, walks, row, solved, seconds)

    def _solve_here(self, chunk: Chunk, walks: Any, row: Row) -> None:
        """Raw walks and networks: solve, score, keep."""
        self._check_time()
        study, count = self.study, len(chunk.indices)
        places = np.repeat(np.arange(count), len(study.seeds))
        solved, seconds = [], np.zeros((len(row.walks), count))
        for number, budget in enumerate(row.walks):
            start = time.perf_counter()
            given = self._estimates(walks, budget)
            if row.method == "wos":
                solved.append(given[0])
                seconds[number] = self.seconds * budget / study.budgets[-1]
                continue
            items = given.reshape(2, -1, *self.grid.shape)
            field = solve_batch(row.method, chunk, places, budget, items, self.grid)
            solved.append(field.reshape(given[0].shape))
            seconds[number] = (time.perf_counter() - start) / len(places)
        self._keep(chunk, walks, row, np.stack(solved), seconds)

    def _estimates(self, walks: Any, budget: int) -> NDArray[np.float32]:
        """Mean and variance [2, instance, seed, n, n] at a budget; zeros for methods without walks."""
        if not budget:
            return np.zeros((*walks.shape[:3], *self.grid.shape), np.float32)
        found: NDArray[np.float32] = walks[:, :, :, self.study.budgets.index(budget)]
        return found

    def _keep(self, chunk: Chunk, walks: Any, row: Row, solved: Any, seconds: NDArray[np.float64]) -> None:
        """Score fields [walks of the row, instance, seed, n, n] and write the numbers."""
        self._check_time()
        measured = []
        for number, budget in enumerate(row.walks):
            if self.study.columns == BALANCE:
                given = walks[0, :, :, self.study.budgets.index(budget)]
                own = balance_batch(given, solved[number], chunk.exact, chunk.mask)
            else:
                own = score_batch(solved[number][:, 0], chunk.exact, chunk.mask, self.device)
            measured.append(np.column_stack([own, seconds[number]]))
        self.store.write(row.method, chunk.indices, np.stack(measured))


def _here(row: Row) -> bool:
    """Whether the main process runs a row: raw walks, which are there already, and networks."""
    return row.method == "wos" or is_batched(row.method)


def _joined(parts: list[Chunk]) -> Chunk:
    """Groups of instances as one; their walks, or what is packed of them, in a list."""
    arrays = [field.name for field in fields(Chunk) if field.name not in ("walks", "seconds")]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
    seconds = float(np.mean([part.seconds for part in parts]))
    return Chunk(**joined, walks=[part.walks for part in parts], seconds=seconds)


def print_progress(study: str, done: int, total: int) -> None:
    """One line on stderr per chunk, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {study}: {done} of {total} chunks", file=sys.stderr, flush=True)
