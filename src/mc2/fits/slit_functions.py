"""Harmonic functions of domains with slits, which differ on the two sides of one.

Of a slit from inside to the boundary, the powers of √(z − tip) are corner functions of its tip. What is singular
elsewhere on it, as at the corner between it and the boundary, is so on one of its sides alone: each function there has
a twin, multiplied by that root, which has opposite signs on the two sides.

The outside of a slit with two tips is that of the unit circle in the coordinate w of Joukowski, with
z = middle + (b − a)/4 (w + 1/w): powers of 1/w, log |w|, and (1 ∓ 1/w)ⁿ log(1 ∓ 1/w), which are singular at the tips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_functions import CornerFunctions, Cut
from mc2.problems.operator import LAPLACIAN

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
LOGARITHMS = 8
"""Highest power that comes with a logarithm at the tips."""


@dataclass(frozen=True)
class TwinFunctions:
    """Corner functions times the root of the distance from a slit's tip, which changes its sign across the slit.

    corner: the functions, at a point of the slit.
    tip: the cut of the root.
    """

    corner: CornerFunctions
    tip: Cut

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The term of every function, and 0 for its real part or 1 for the imaginary one."""
        return self.corner.parts

    @property
    def levels(self) -> list[int]:
        """The power of every function, rounded up."""
        return self.corner.levels

    @cached_property
    def _logarithm(self) -> CornerFunctions:
        return CornerFunctions(LAPLACIAN, self.tip, 0.0, 2 * np.pi, 1.0, ())

    @cached_property
    def _unit(self) -> Complex:
        """The logarithm at the corner, on its side."""
        return self._logarithm.logarithm(np.array([self.corner.beside.real]), np.array([self.corner.beside.imag]))

    def _root(self, x: Array, y: Array) -> Complex:
        """The root, which is 1 at the corner on its side, and −1 on the other."""
        return np.asarray(np.exp(0.5 * (self._logarithm.logarithm(x, y) - self._unit)))

    def columns(self, x: Array, y: Array) -> Array:
        """All functions at points [column, point]."""
        root = self._root(x, y)
        terms = [root * value for value in self.corner.values(x, y)]
        return np.array([(terms[number].real, terms[number].imag)[part] for number, part in self.parts])

    def gradients(self, x: Array, y: Array) -> Array:
        """∂/∂x and ∂/∂y of all functions at points [2, column, point]."""
        x, y = self.corner.off_corner(x, y)
        root, own = self._root(x, y), 0.5 / (x + 1j * y - self.tip.points[0])
        both = zip(self.corner.values(x, y), self.corner.derivatives(x, y), strict=True)
        return _gradients([root * (slope + own * value) for value, slope in both], self.parts)

    def add_sum(self, coefficients: Array, x: Array, y: Array, out: Array) -> None:
        """Add the sum of coefficients times functions at points."""
        out += coefficients @ self.columns(x, y)


@dataclass(frozen=True)
class InnerSlit:
    """Functions outside of a slit with two tips, of Δu = 0.

    points: of the slit, from one tip to the other.
    degree: the highest power of 1/w.
    """

    points: tuple[complex, ...]
    degree: int

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """The term of every function, and 0 for its real part or 1 for the imaginary one."""
        both = [(number, part) for number in range(1, self.degree + 1) for part in (0, 1)]
        own = [(0, 0)]
        for tip in (0, 1):
            first = self.degree + 1 + tip * (LOGARITHMS + 1)
            own += [(first, 1)]  # the real part has no bound
            own += [(first + power, part) for power in range(1, LOGARITHMS + 1) for part in (0, 1)]
        return both + own

    @property
    def levels(self) -> list[int]:
        """About the power of 1/w of every function."""
        return [number if number <= self.degree else (number - self.degree) % LOGARITHMS for number, _ in self.parts]

    def _inverse(self, x: Array, y: Array) -> tuple[Complex, Complex]:
        """1/w, and the root √(ζ² − 1) in z = middle + (b − a)/2 ζ."""
        a, b = self.points[0], self.points[-1]
        z = x + 1j * y
        logarithm = np.zeros(z.size, complex)
        for first, second in pairwise(self.points):
            logarithm += np.log((z - second) / (z - first))
        root = 2 * (z - a) / (b - a) * np.exp(0.5 * logarithm)
        return 1 / ((2 * z - a - b) / (b - a) + root), root

    def columns(self, x: Array, y: Array) -> Array:
        """All functions at points [column, point]."""
        inverse, _ = self._inverse(x, y)
        powers = [inverse**number for number in range(self.degree + 1)]
        powers[0] = -np.log(inverse)
        for sign in (1, -1):
            s = 1 - sign * inverse
            s = np.where(np.abs(s) < 1e-300, 1e-300, s)
            powers += [s**power * np.log(s) for power in range(LOGARITHMS + 1)]
        return np.array([(powers[number].real, powers[number].imag)[part] for number, part in self.parts])

    def gradients(self, x: Array, y: Array) -> Array:
        """∂/∂x and ∂/∂y of all functions at points [2, column, point]."""
        inverse, root = self._inverse(x, y)
        scale = 2 / (self.points[-1] - self.points[0])
        own = -inverse / root * scale  # the derivative of 1/w by z
        slopes = [-own / inverse]
        slopes += [number * inverse ** (number - 1) * own for number in range(1, self.degree + 1)]
        for sign in (1, -1):
            s, slope = 1 - sign * inverse, -sign * own
            slopes += [slope / s]
            slopes += [
                slope * (power * s ** (power - 1) * np.log(s) + s ** (power - 1)) for power in range(1, LOGARITHMS + 1)
            ]
        return _gradients(slopes, self.parts)

    def add_sum(self, coefficients: Array, x: Array, y: Array, out: Array) -> None:
        """Add the sum of coefficients times functions at points."""
        out += coefficients @ self.columns(x, y)


def _gradients(slopes: list[Complex], parts: list[tuple[int, int]]) -> Array:
    """Gradients [2, column, point] of real and imaginary parts, from derivatives by z."""
    along = np.array([(slopes[number].real, slopes[number].imag)[part] for number, part in parts])
    across = np.array([(-slopes[number].imag, slopes[number].real)[part] for number, part in parts])
    return np.stack([along, across])
