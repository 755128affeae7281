"""`Operator`: the left-hand side of an equation, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError

if TYPE_CHECKING:
    from mc2.functions.function import Function
    from mc2.problems.coefficients import Coefficients

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Operator:
    """L u = mass·u + diffusion·Δu + bilaplacian·Δ²u with constant coefficients; or L u = ∇·(α∇u) + ω·∇u − σu.

    Whoever works with an operator asks what it can do, never which family it belongs to.

    mass, diffusion, bilaplacian: numbers; NaN where coefficients vary, so that nobody takes them for what they are not.
    varying: α, ω and σ, where these are functions.
    """

    mass: float = 0.0
    diffusion: float = 1.0
    bilaplacian: float = 0.0
    varying: Coefficients | None = None

    @classmethod
    def varying_with(cls, coefficients: Coefficients) -> Operator:
        """∇·(α∇u) + ω·∇u − σu."""
        return cls(np.nan, np.nan, np.nan, coefficients)

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """The factors of u, Δu and Δ²u; refused where they are no numbers."""
        need_constant(self, "this method")
        return self.mass, self.diffusion, self.bilaplacian

    @property
    def order(self) -> int:
        """The order of the highest derivative: 4 with Δ², else 2."""
        return 4 if self.varying is None and self.bilaplacian else 2

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
    def has_symbol(self) -> bool:
        """Whether it is a multiplication in Fourier space, so that a lift can solve Lw = f."""
        return self.varying is None

    @property
    def has_trefftz(self) -> bool:
        """Whether solutions of Lu = 0 are known in closed form, to make bases of: for Δ + mass, and Δ²."""
        return self.has_green

    @property
    def has_green(self) -> bool:
        """Whether its Green's function on balls is known, so that walks on spheres can solve it."""
        own = self.mass, self.diffusion, self.bilaplacian
        return own[1:] == (1.0, 0.0) or own == (0.0, 0.0, 1.0)

    def symbol(self, square: Array) -> Array:
        """What L does to e^{iξ·x}, with square = |ξ|²."""
        need_constant(self, "a lift")
        return self.mass - self.diffusion * square + self.bilaplacian * square**2

    def expanded(self, x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """a, b and c of Lu = aΔu + b·∇u + cu at points: a, the two components of b, and c. Of second order only."""
        if self.order != 2:
            raise InputError("an equation of fourth order has no such form")
        if self.varying is None:
            zero = np.zeros(x.size)
            return zero + self.diffusion, zero, zero, zero + self.mass
        own, (ax, ay) = self.varying, self.varying.gradient
        return own.diffusion(x, y), ax(x, y) + own.drift[0](x, y), ay(x, y) + own.drift[1](x, y), -own.reaction(x, y)

    def applied_to(self, function: Function) -> Function:
        """Lu of a function u with exact derivatives."""
        if self.varying is not None:
            return self.varying.applied_to(function)
        return function.apply(*self.coefficients)


def need_constant(operator: Operator, who: str) -> None:
    """Refuse coefficients that vary on behalf of somebody who cannot do them."""
    if operator.varying is not None:
        raise InputError(
            f"{who} cannot do ∇·(α∇u) + ω·∇u − σu = f, only constant coefficients with α = 1 and ω = 0: "
            "the corrector 'collocation' can"
        )


IDENTITY = Operator(1.0, 0.0)
LAPLACIAN = Operator()
BILAPLACIAN = Operator(0.0, 0.0, 1.0)
