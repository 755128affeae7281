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

    return ThreadpoolController()


class _Limit:
    """The limit of the whole process, shared by all threads that want it: the last to leave restores what was."""

    def __init__(self) -> None:
        self.lock, self.users, self.limiter = threading.Lock(), 0, None

    def enter(self, controller: Any) -> None:
        with self.lock:
            if self.users == 0:
                self.limiter = controller.limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                limiter, self.limiter = self.limiter, None
                limiter.restore_original_limits()  # type: ignore[attr-defined]

    def renew_lock(self) -> None:
        """In a forked process: the thread that held the lock may not be there."""
        self.lock = threading.Lock()


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.renew_lock)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, BLAS libraries use one thread; threads that overlap in it leave what the first one found."""
    controller = _controller()
    if controller is None:
        yield
        return
    _limit.enter(controller)
    try:
        yield
    finally:
        _limit.leave()
