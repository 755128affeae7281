"""Running programs on NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.compute.compile import LANES, as_points
from mc2.problems.function import Program
from mc2.problems.kernels import SCRATCH, evaluate


def run(program: Program, x: ArrayLike, y: ArrayLike, dtype: Any = np.float64) -> NDArray[Any]:
    """Values of a program at points, computed in float64 or float32."""
    flat_x, flat_y, shape = as_points(x, y)
    registers = np.zeros((program.registers + SCRATCH, LANES), dtype)
    out = np.empty(flat_x.size, dtype)
    evaluate(
        program.code,
        program.constants.astype(dtype, copy=False),
        registers,
        flat_x.astype(dtype, copy=False),
        flat_y.astype(dtype, copy=False),
        out,
    )
    return out.reshape(shape)
