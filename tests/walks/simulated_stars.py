"""The GPU's kernel of reflecting walks in numba's simulator: prints the means of one walk from every point.

python tests/walks/simulated_stars.py WALKS EQUATION,CONDITIONS,DOMAIN …     cases of `validation.stars`

Run in a process of its own, in which everything that would be compiled stays plain Python.
"""

import json
import os
import sys

if __name__ == "__main__":  # before numba is imported
    os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}

import numba
import numpy as np

POINTS = [(-0.3, 0.4), (-0.6, -0.3)]


def plain(function=None, **options):
    """Instead of `numba.njit`."""
    if function is None:
        return plain
    function.py_func, function.targetoptions = function, {}
    return function


def simulate(cases, walks):
    """Means [case, point] and counts."""
    from numba import cuda

    jit = cuda.jit
    cuda.jit = lambda *arguments, max_registers=None, **options: jit(*arguments, **options)
    from validation.stars import problem

    from mc2.walks.gpu.packing import pack
    from mc2.walks.gpu.star_cuda_kernels import walk_stars
    from mc2.walks.options import MAX_REFLECTED, Options
    from mc2.walks.plan import make_plan

    plans = [make_plan(problem(*case)) for case in cases]
    packed = pack(plans, list(range(len(plans))), Options(max_steps=MAX_REFLECTED))
    x, y = np.asarray(POINTS, np.float32).T
    starts = np.ones((len(plans), len(POINTS)), np.float32)
    sums, counts = np.zeros((len(plans), 1, len(POINTS), 2)), np.zeros((len(plans), 3), np.int64)
    own = packed.arrays
    with np.errstate(all="ignore"):  # random numbers overflow, as they should
        walk_stars[1, 1](
            *packed.stars, own.code, own.constants, own.programs, own.keys, np.arange(len(plans)), x.copy(), y.copy(),
            np.arange(len(POINTS), dtype=np.uint32), starts, False, np.array([[0, walks]]), False,
            np.zeros(1, np.int64), sums, counts,
        )  # fmt: skip
    return sums[:, 0, :, 0] / walks, counts


if __name__ == "__main__":
    numba.njit = plain
    means, counts = simulate([case.split(",") for case in sys.argv[2:]], int(sys.argv[1]))
    print(json.dumps({"means": means.tolist(), "counts": counts.tolist()}))
