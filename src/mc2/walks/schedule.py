"""Work for many threads whose sums come out the same however it is split.

The walks of a point are added up in chunks of `CHUNK`, each in its own order, and the chunks in theirs. So a sum never
depends on threads, on tasks, or on which other budgets were asked for.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import Stop

CHUNK = 1024
"""Walks of a point that are added up together."""
TASK = 16_384
"""Walks in a task: about a millisecond of work."""
WAVE = 1 << 22
"""Partial sums kept at a time, which bounds memory whatever the budget."""

AWAKE = 0.05
"""Seconds after which the waiting thread looks at what is done."""
SLOW = 2048
"""Numbers in the programs of a problem above which even a single task may take long."""

Progress = Callable[[int, int], None]
"""Called with the walks done and the walks in all."""

Sums = NDArray[np.float64]
"""[point, mark, 2]: sums of the values and of their squares; of several problems, one pair behind the other."""


@dataclass(frozen=True)
class WalkSums:
    """Sums over the first walks of every point: all that more walks need to go on as if they had never stopped.

    walks: so many, counted from walk number 0, though the sums may begin later.
    whole: [point, 2], over whole chunks of walks.
    rest: [point, 2], over the walks of the last chunk, if that is not whole yet.
    """

    walks: int
    whole: NDArray[np.float64]
    rest: NDArray[np.float64]

    @classmethod
    def empty(cls, count: int, first_walk: int = 0, width: int = 2) -> "WalkSums":
        """Of no walks at all, so that the next one is number first_walk."""
        return cls(first_walk, np.zeros((count, width)), np.zeros((count, width)))

    @property
    def total(self) -> NDArray[np.float64]:
        return self.whole + self.rest


class Tally(NamedTuple):
    """What tasks have found.

    sums: [point, budget, 2].
    counts: of all tasks.
    last: the sums at the last budget, to go on from; None where that is not possible.
    """

    sums: Sums
    counts: NDArray[np.int64]
    last: WalkSums | None


@dataclass(frozen=True)
class WalkTask:
    """Points start…stop, and their walks first_walk… up to the last mark; marks are counted from first_walk."""

    start: int
    stop: int
    first_walk: int
    marks: NDArray[np.int64]

    @property
    def walks(self) -> int:
        return (self.stop - self.start) * int(self.marks[-1])


Work = Callable[[WalkTask, Sums], NDArray[np.int64]]
"""Fills the sums of a task and returns its counts."""


def run_tasks(
    count: int,
    budgets: Sequence[int],
    work: Work,
    threads: int,
    progress: Progress | None,
    stop: NDArray[np.uint8] | None = None,
    slow: bool = False,
    begun: WalkSums | None = None,
) -> Tally:
    """Sums [count, budget, 2] of all points at all budgets, and the counts of all tasks.

    stop: [1], which is set if the work is interrupted, for kernels that look at it.
    slow: a task may take long.
    begun: the walks that there are already; budgets count them too.
    """
    begun = begun or WalkSums.empty(count)
    width = begun.rest.shape[1]
    result = np.zeros((count, len(budgets), width))
    counts = np.zeros(3, np.int64)
    total, rest = begun.whole, begun.rest
    first_chunk, chunks = begun.walks // CHUNK, -(-budgets[-1] // CHUNK)
    wave = max(1, WAVE // (width * count))
    done = 0

    def report(task: WalkTask) -> None:
        nonlocal done
        done += task.walks
        if progress:
            progress(done, count * (budgets[-1] - begun.walks))

    for first in range(first_chunk, chunks, wave):
        last = min(first + wave, chunks)
        tasks = [task for chunk in range(first, last) for task in _tasks(count, budgets, chunk, threads, begun.walks)]
        # with a single chunk the marks are the budgets, and tasks can write where the result is wanted
        sums = [
            result[task.start : task.stop]
            if chunks == 1
            else np.zeros((task.stop - task.start, task.marks.size, width))
            for task in tasks
        ]
        for task, own in zip(tasks, sums, strict=True):
            if task.first_walk == begun.walks:
                own[:, 0] = begun.rest[task.start : task.stop]
        counts += _run(work, list(zip(tasks, sums, strict=True)), threads, report, stop, slow)
        if chunks > 1:
            total, rest = _add_up(tasks, sums, budgets, total, result)
        else:
            rest = result[:, -1]
    if budgets[-1] % CHUNK == 0 and chunks == 1:
        total, rest = rest, np.zeros_like(rest)
    return Tally(result, counts, WalkSums(budgets[-1], total, rest))


def is_slow(tables: Sequence[NDArray[Any]]) -> bool:
    """Whether a single task of a problem may take long.

    tables: codes and constants of its programs, in turn.
    """
    from mc2.functions.kernels import CALL

    return sum(array.size for array in tables) > SLOW or any(CALL in code[:, 0] for code in tables[2::2])


def _tasks(count: int, budgets: Sequence[int], chunk: int, threads: int, begun: int) -> list[WalkTask]:
    """The tasks of one chunk of walks: its marks are the budgets that fall inside, and its end.

    There are as many for each thread, and all of a size. begun: walks that there are already.
    """
    first = max(chunk * CHUNK, begun)
    last = min((chunk + 1) * CHUNK, budgets[-1]) - first
    marks = np.array([*(budget - first for budget in budgets if 0 < budget - first < last), last], np.int64)
    rounds = -(-count * last // (threads * TASK))
    size = -(-count // (threads * rounds))
    return [WalkTask(start, min(start + size, count), first, marks) for start in range(0, count, size)]


@cache
def pool(threads: int, purpose: str = "walks") -> ThreadPoolExecutor:
    """Threads are kept: starting them would take as long as a small estimate.

    purpose: none waits for another's.
    """
    return ThreadPoolExecutor(threads, thread_name_prefix="mc2")


_limit: ContextVar[int | None] = ContextVar("mc2_threads", default=None)


@contextmanager
def threads_limited(threads: int | None) -> Iterator[None]:
    """Within this, `in_halves` starts no second thread if threads is 1. None leaves everything as it is."""
    token = _limit.set(_limit.get() if threads is None else threads)
    try:
        yield
    finally:
        _limit.reset(token)


def in_halves(function: Callable[..., Any], *arrays: NDArray[Any]) -> list[Any]:
    """What a function makes of both halves of arrays, along their last axis: one in this thread, one in another.

    With one thread (see `threads_limited`) the halves follow each other, and the results are the same.
    """
    half = (arrays[0].shape[-1] + 1) // 2
    mine, other = [array[..., :half] for array in arrays], [array[..., half:] for array in arrays]
    if _limit.get() == 1:
        return [function(*mine), function(*other)]
    stop = Stop()
    helper = pool(2, "halves").submit(stop.obeying(function), *other)
    try:
        return [function(*mine), helper.result()]
    finally:
        stop.asked = True  # matters only after an interruption


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # a forked process has the pool, but not its threads


def _run(
    work: Work,
    jobs: list[tuple[WalkTask, Sums]],
    threads: int,
    report: Callable[[WalkTask], None],
    stop: NDArray[np.uint8] | None,
    slow: bool,
) -> NDArray[np.int64]:
    """Do all jobs, report each from this thread, and return their counts. An interruption drops what has not begun.

    This thread works like the others, unless it is the main one and the work may take long: then it only waits, where
    it hears Ctrl-C at once, and is woken up rarely, so as not to disturb the others.
    """
    waiting, done = deque(jobs), deque[tuple[WalkTask, NDArray[np.int64]]]()
    counts = np.zeros(3, np.int64)

    def pull() -> Iterator[None]:
        while waiting:
            try:
                task, sums = waiting.popleft()
            except IndexError:  # another thread was quicker
                return
            done.append((task, work(task, sums)))
            yield

    def collect() -> None:
        while done:
            task, found = done.popleft()
            np.add(counts, found, out=counts)
            report(task)

    long = stop is not None and threads > 1 and (slow or len(jobs) > threads)
    waits = long and threading.current_thread() is threading.main_thread()
    others = min(threads, len(jobs)) - (0 if waits else 1)
    helpers = [pool(threads).submit(lambda: deque(pull(), 0)) for _ in range(others)]
    try:
        if waits:
            while wait(helpers, AWAKE).not_done:
                collect()
        else:
            for _ in pull():
                collect()
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise
    finally:
        waiting.clear()
        for helper in helpers:
            helper.result()
    collect()
    return counts


def _add_up(
    tasks: list[WalkTask], sums: list[Sums], budgets: Sequence[int], total: Sums, result: Sums
) -> tuple[Sums, Sums]:
    """Put sums at budgets into the result, chunk after chunk.

    total: the sums of all chunks before. Returns those of all whole chunks, and of one that is not whole.
    """
    rest = np.zeros_like(total)
    for first_walk in sorted({task.first_walk for task in tasks}):
        found, end = np.empty_like(total), first_walk
        for task, own in zip(tasks, sums, strict=True):
            if task.first_walk != first_walk:
                continue
            part, end = slice(task.start, task.stop), first_walk + int(task.marks[-1])
            for mark, budget in enumerate(task.marks + first_walk):
                if budget in budgets:
                    result[part, budgets.index(budget)] = total[part] + own[:, mark]
            found[part] = own[:, -1]
        if end % CHUNK == 0:
            total = total + found
        else:
            rest = found
    return total, rest
