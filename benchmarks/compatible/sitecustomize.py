"""For a NumPy that is newer than its numba-cuda: PYTHONPATH=src:benchmarks/compatible python …

numba-cuda 0.30 looks for a function that NumPy 2.5 has dropped. Python loads this file when it starts.
"""

import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # noqa: NPY201
