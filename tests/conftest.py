"""What some machines need before any test runs."""

import os
import signal

# Small matrices and networks gain nothing from a second thread, which then waits actively and slows the walks' own.
# The libraries read this when they are loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

if not hasattr(np, "row_stack"):  # some releases of numba-cuda look for a function that NumPy has dropped
    np.row_stack = np.vstack  # noqa: NPY201
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells let their background jobs ignore Ctrl-C, and its tests
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="the first case of every test that is not marked slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--quick"):
        first = {(item.path, item.name.split("[")[0]): item for item in reversed(items)}
        chosen = {item for item in first.values() if not item.get_closest_marker("slow")}
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]
