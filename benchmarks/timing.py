"""What benchmarks share: the shortest of a few runs, and a NumPy that numba-cuda can load."""

import time

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it, NumPy 2.5 has dropped it
    np.row_stack = np.vstack  # noqa: NPY201


def best(run, repeats=3):
    """The shortest of a few runs: on a shared machine, the others only measure the neighbours."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result
