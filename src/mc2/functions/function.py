"""`Function`: what a problem's source, boundary data and exact solution are, however they were written.

Every function of the plane can be called on arrays. Most also have a `Program`, which the walk kernels run; those
that do not are called on whole arrays between steps. Functions with closed-form derivatives know how to apply an
operator to themselves, which is how f, g and h follow from an exact solution.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Program:
    """A function as data: instructions for the kernels in `mc2.functions.kernels`.

    code: int32 rows (operation, out, a, b, c); out, a, b, c are registers, offsets or small integers.
    constants: float64 numbers the instructions refer to.
    registers: how many registers it needs. 0 and 1 hold x and y, 2 receives the result.
    """

    code: NDArray[np.int32]
    constants: Array
    registers: int


class Function(ABC):
    """A real function of x and y."""

    @property
    def program(self) -> Program | None:
        """The function as instructions for the kernels, or None where it can only be called on whole arrays."""
        return None

    @property
    @abstractmethod
    def text(self) -> str:
        """The function in one line, for people."""

    @abstractmethod
    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Values at points, in float64, with NumPy broadcasting. Not finite where the function has no value."""

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> "Function":
        """The function value·u + laplacian·Δu + bilaplacian·Δ²u of this function u."""
        raise InputError(
            f"{self.text} has no exact derivatives: write it as an expression, or give the source and the boundary "
            "data instead of an exact solution"
        )
