"""`Operator`: the left-hand side of an equation, and what can be done with it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Operator:
    """L u = mass·u + diffusion·Δu + bilaplacian·Δ²u, with constant coefficients.

    Whoever works with an operator asks what it can do, never which family it belongs to.
    """

    mass: float = 0.0
    diffusion: float = 1.0
    bilaplacian: float = 0.0

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """The factors of u, Δu and Δ²u."""
        return self.mass, self.diffusion, self.bilaplacian

    @property
    def order(self) -> int:
        """The order of the highest derivative: 4 with Δ², else 2."""
        return 4 if self.bilaplacian else 2

    @property
    def screened(self) -> bool:
        """Whether solutions decay: Δu − λu with λ > 0."""
        return self.mass * self.diffusion < 0

    @property
    def oscillating(self) -> bool:
        """Whether solutions oscillate, so that a domain may have resonances: Δu + k²u."""
        return self.mass * self.diffusion > 0

    @cached_property
    def rate(self) -> float:
        """μ of Δu − μ²u, or k of Δu + k²u; 0 without a mass."""
        return float(np.sqrt(abs(self.mass)))

    @property
    def has_green(self) -> bool:
        """Whether its Green's function on balls is known, so that walks on spheres can solve it.

        Trefftz bases, solutions of Lu = 0 in closed form, are known for the same operators: Δ + mass, and Δ².
        """
        return (self.diffusion, self.bilaplacian) == (1.0, 0.0) or self.coefficients == (0.0, 0.0, 1.0)

    def symbol(self, square: Array) -> Array:
        """What L does to e^{iξ·x}, with square = |ξ|²."""
        return self.mass - self.diffusion * square + self.bilaplacian * square**2


IDENTITY = Operator(1.0, 0.0)
LAPLACIAN = Operator()
BILAPLACIAN = Operator(0.0, 0.0, 1.0)
