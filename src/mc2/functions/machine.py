"""Running programs on NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.compute.compile import LANES, as_points
from mc2.compute.portions import FIRST, SMALLEST, portions
from mc2.functions.function import Program
from mc2.functions.kernels import CALL, SCRATCH, evaluate


def run(program: Program, x: ArrayLike, y: ArrayLike, dtype: Any = np.float64) -> NDArray[Any]:
    """Values of a program at points, computed in float64 or float32."""
    flat_x, flat_y, shape = as_points(x, y)
    registers = np.zeros((program.registers + SCRATCH, LANES), dtype)
    out = np.empty(flat_x.size, dtype)
    flat_x, flat_y = flat_x.astype(dtype, copy=False), flat_y.astype(dtype, copy=False)
    constants = program.constants.astype(dtype, copy=False)
    unknown = bool((program.code[:, 0] == CALL).any())  # a user's function may do anything
    for part in portions(flat_x.size, SMALLEST if unknown else FIRST):
        evaluate(program.code, constants, registers, flat_x[part], flat_y[part], out[part])
    return out.reshape(shape)
