"""Linear algebra on one thread: matrices here are small, and threads that wait for each other cost more than
they save.
"""

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


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, BLAS libraries use one thread."""
    controller = _controller()
    if controller is None:
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield
