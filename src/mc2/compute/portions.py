"""Long work in portions of a fraction of a second: Ctrl-C is seen between them, and other threads can be told to stop.

A kernel that runs does not hear Python's signals, so no call of one should take longer than people wait.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from mc2.compute.blas import one_thread

FIRST = 1 << 14
"""Points in the first portion: most work is no more than that."""
SECONDS = 0.1
"""A portion takes about so long, as far as those before it can tell."""
SMALLEST = 1 << 7
"""Points in a portion, at least: a block of lanes."""
LARGE = 1 << 28
"""Entries of a matrix times its shorter side, from which linear algebra takes about a tenth of a second or more."""


class StoppedError(Exception):
    """Raised in a thread whose results nobody waits for any more."""


class Stop:
    """Tells threads to stop: those that work for it do so at their next portion."""

    _own = threading.local()

    def __init__(self) -> None:
        self.asked = False

    def obeying(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, to be called in another thread, which ends with `StoppedError` soon after `asked` is set."""

        def call(*arguments: Any) -> Any:
            Stop._own.stop = self
            try:
                return function(*arguments)
            finally:
                Stop._own.stop = None

        return call


def check_stop() -> None:
    """End this thread's work here if it was told to."""
    stop = getattr(Stop._own, "stop", None)
    if stop is not None and stop.asked:
        raise StoppedError


def portions(count: int, first: int = FIRST) -> Iterator[slice]:
    """Slices of 0 … count, as long as their predecessors say that a fraction of a second allows.

    first: points in the first one; `SMALLEST` for what may take long at every point.
    """
    if count <= first:
        check_stop()
        yield slice(0, count)
        return
    start, size = 0, first
    while start < count:
        check_stop()
        begin = time.perf_counter()
        yield slice(start, min(start + size, count))
        start += size
        spent = time.perf_counter() - begin
        while size > SMALLEST and spent > SECONDS:
            size, spent = size // 2, spent / 2
        if spent < SECONDS / 4:
            size *= 4


def interruptibly(function: Callable[..., Any], matrix: Any, *arguments: Any, **options: Any) -> Any:
    """What a function of linear algebra makes of a matrix, which may take long, and does not hear Ctrl-C.

    For a large matrix, the main thread waits for another one to do it, and forgets about that one if it is interrupted.
    """
    arguments = (matrix, *arguments)
    if matrix.size * min(matrix.shape) < LARGE or threading.current_thread() is not threading.main_thread():
        return function(*arguments, **options)
    results: list[Any] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            with one_thread():  # which some libraries count for every thread of ours
                results.append(function(*arguments, **options))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(SECONDS)
    if errors:
        raise errors[0]
    return results[0]
