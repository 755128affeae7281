"""Linear algebra on one thread: matrices here are small, and threads that wait for each other cost more than
they save.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # only slower without it
        return None
    import scipy.linalg  # noqa: F401  it brings a library of its own, which must be loaded to be found

    return ThreadpoolController().select(user_api="blas")


class _Limit:
    """One thread for all who want it at the same time: the last of them to leave restores what the first one found."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.found: list[int] = []

    def enter(self, libraries: list[Any]) -> list[int]:
        """Limit all libraries; returns the threads that they had."""
        with self.lock:
            found = [library.num_threads for library in libraries]
            if self.users == 0:
                self.found = found
            self.users += 1
            for library in libraries:
                _set_threads(library, 1)
            return found

    def leave(self, libraries: list[Any], found: list[int]) -> None:
        """Restore the libraries whose limit is this thread's own, and with the last to leave those that all share."""
        with self.lock:
            self.users -= 1
            for library, own, shared in zip(libraries, found, self.found, strict=True):
                if getattr(library, "threading_layer", "") == "openmp":
                    _set_threads(library, own)
                elif self.users == 0:
                    _set_threads(library, shared)

    def renew_lock(self) -> None:
        """In a forked process: the thread that held the lock may not be there."""
        self.lock = threading.Lock()


def _set_threads(library: Any, threads: int) -> None:
    """From any thread: newer threadpoolctl lets only the thread that set a limit first set it again."""
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(threads)
    release(force=True)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.renew_lock)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, BLAS libraries use one thread. Threads may be in it at the same time."""
    controller = _controller()
    if controller is None:
        yield
        return
    found = _limit.enter(controller.lib_controllers)
    try:
        yield
    finally:
        _limit.leave(controller.lib_controllers, found)
