"""How the package compiles: scalar functions, loops over lanes, cached kernels.

A *scalar* function is plain Python on numbers. It preserves the type of its argument (float32 stays float32) by
writing every constant as ``T(0.5)`` with ``T = type(x)``, and it is branch-free where it is hot, so that a loop over
it becomes vector instructions. The same function runs in plain Python, in CPU kernels and on CUDA.

A *kernel* is compiled on first use for the types it is given and cached on disk. It works on blocks of `LANES`
points, so that the cost of choosing what to compute (a shape, an atom, an operation) is paid once per block.

Compiled code lives in this folder and in files called ``*kernels.py``: their contents key the cache.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from mc2.compute.kernel_cache import make_cache

LANES = 128
"""Points per block: large enough to hide the choice of what to compute, small enough to stay in the first cache."""

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}


@cache
def _source_stamp() -> str:
    """Hash of all compiled sources: numba itself would not notice an edit in a function that a kernel calls."""
    package = Path(__file__).parent.parent
    files = sorted({*package.rglob("*kernels.py"), *Path(__file__).parent.glob("*.py")})
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def scalar(function: Callable[..., Any]) -> Any:
    """Compile a function of numbers, to be called from kernels (without the wrappers that Python would need)."""
    return numba.njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """Like `scalar`, and inlined by force: passing arrays to a function costs as much as a block of simple work."""
    dispatcher = scalar(function)
    dispatcher.targetoptions["forceinline"] = True
    return dispatcher


def pasted(function: Callable[..., Any]) -> Any:
    """Like `inlined`, but before types are known, as if its lines stood in the caller: for what one lane does."""
    return numba.njit(function, inline="always", no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function of arrays on first use, and cache the machine code on disk."""
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    dispatcher = numba.njit(function, **(_OPTIONS | options))
    dispatcher._cache = make_cache(function, _source_stamp())
    return dispatcher


def switch(functions: Sequence[Any]) -> Any:
    """A function of (index, ...) that calls ``functions[index](...)``, found by bisection."""
    middle = len(functions) // 2
    if middle == 0:
        only = functions[0]

        @inlined
        def call(index: Any, *arguments: Any) -> Any:
            return only(*arguments)

        return call
    low, high = switch(functions[:middle]), switch(functions[middle:])

    @inlined
    def choose(index: Any, *arguments: Any) -> Any:
        if index < middle:
            return low(index, *arguments)
        return high(index - middle, *arguments)

    return choose


def as_points(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Two broadcast coordinates as flat float64 arrays, and the shape to give results back in."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel()), x.shape
