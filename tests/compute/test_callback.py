"""Callbacks compute what their functions do, and leave memory when they are no longer used."""

import ctypes
import gc

import numba
import numpy as np
import pytest

from mc2.compute.callback import NotANumberError, compile_callback
from mc2.functions.conversion import as_function

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


@numba.njit
def fibonacci(n):
    if n < 2:
        return 1
    return fibonacci(n - 1) + fibonacci(n - 2)


def whole(x, y):
    if x > y:
        return 3
    return -1


def looped(x, y):
    total = 0.0
    for k in range(5):
        total += np.sin(k * x) / (k + y)
    return total


def with_arrays(x, y):
    return np.interp(x, np.array([0.0, 1.0]), np.array([1.0, y])) + np.sum(np.array([x, y]) * 2.0)


def recursive(x, y):
    return fibonacci(int(10 * x)) + y


@pytest.mark.parametrize("function", [whole, looped, with_arrays, recursive])
@pytest.mark.parametrize("point", [(0.5, 0.25), (0.25, 0.5)])
def test_same_as_in_python(function, point):
    callback = compile_callback(function)
    assert SIGNATURE(callback.address)(*point) == pytest.approx(float(function(*point)), rel=1e-14)


def test_no_number_is_refused():
    with pytest.raises(NotANumberError):
        compile_callback(lambda x, y: np.array([x, y]))


def resident():
    """Megabytes of this process."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def branching(k):
    def function(x, y):
        if x > k:
            return x + k
        return y * k

    return function


def on_arrays(k):
    return lambda x, y: (np.atleast_1d(np.asarray(x)) * k + np.cumsum(np.ones(3))[0]).reshape(np.shape(x))


@pytest.mark.filterwarnings("ignore:.*called on whole arrays")
@pytest.mark.parametrize("make", [branching, on_arrays])
@pytest.mark.slow
def test_forgotten_functions_leave_memory(make):
    """A megabyte or two stayed for each when numba kept them."""
    for k in range(8):
        as_function(make(k), "f")
    before = resident()
    for k in range(8, 48):
        as_function(make(k), "f")
    assert resident() - before < 8
