"""The GPU's own sine, cosine, exponential and logarithm, in place of the polynomials that serve the CPU.

In float32 they are good to about 5e-7 (absolute for sin, cos and log, relative for exp up to |x| = 10), at a fraction
of the cost.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from mc2.compute import elementary
from mc2.walks import green_kernels as green

f32 = np.float32


@cache
def install() -> None:
    """Let all CUDA kernels use the hardware's functions.

    numba-cuda compiles a CPU function for the device when it first meets it, and keeps the result under this name. If
    the name should ever change, kernels use the polynomials, which are as right but slower.
    """
    for function, replacement in (
        (elementary.sin, _sin),
        (elementary.cos, _cos),
        (elementary.exp, _exp),
        (elementary.log, _log),
        (green.direction, _direction),
    ):
        function._CUDATypingContext__dispatcher = cuda.jit(device=True, fastmath=True)(replacement)


def _sin(x: Any) -> Any:
    return math.sin(_reduced(x)) if elementary.is_single(x) else math.sin(x)


def _cos(x: Any) -> Any:
    return math.cos(_reduced(x)) if elementary.is_single(x) else math.cos(x)


def _exp(x: Any) -> Any:
    return math.exp(x)


def _log(x: Any) -> Any:
    return math.log(x)


def _direction(u: Any) -> Any:
    angle = f32(2 * math.pi) * (u - f32(0.5))
    return -math.cos(angle), -math.sin(angle)


@cuda.jit(device=True, fastmath=True)
def _reduced(x: Any) -> Any:
    """x less whole turns, into [−π, π], where the hardware's sine is good to 5e-7."""
    turns = elementary.nearest(x * f32(0.15915494309189535))
    return x - turns * f32(6.28125) - turns * f32(1.9353071795864769e-3)
