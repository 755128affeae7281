"""Corner functions: solutions that are singular at a boundary point, as the solution of a problem is there.

Seen from a corner, in polar coordinates with θ = 0 along the side that follows it, solutions are a smooth function plus
multiples of r^λ cos λθ and r^λ sin λθ with the powers λ that the angle and the conditions on its two sides ask for;
where λ is an integer, of Re and Im of w^λ log w, with w = r e^{iθ} (Kondrat'ev, 1967; Grisvard, 1985). For Δu − μ²u and
Δu + k²u the place of r^λ is taken by I_λ(μr) and J_λ(kr), and that of w^λ log w by their derivatives by the order.

The angle jumps along a *cut*, a path that stays outside the domain: to infinity, or to a point inside a hole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_kernels import add_corner
from mc2.fits.radial_series import radial_series
from mc2.problems.operator import LAPLACIAN, Operator

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


NEXT = 1e-14
"""Distance from a corner, in units of its coordinates and of the domain, within which rounding takes a point for it."""


class Term(NamedTuple):
    """w^power (log w)^logs, of which the real part is taken (cosine), the imaginary part (sine), or both."""

    power: float
    logs: int = 0
    cosine: bool = True
    sine: bool = True


@dataclass(frozen=True)
class Cut:
    """A path outside the domain, along which the angle around its first point jumps.

    points: of the path, as complex numbers; the first is the corner.
    heading: the direction, of size 1, in which it goes on from the last point to infinity; None if it ends there.
    """

    points: tuple[complex, ...]
    heading: complex | None


@dataclass(frozen=True)
class CornerFunctions:
    """Functions that are singular at a corner.

    operator: of the equation that they solve; those of a cut that ends solve Δu = 0 alone.
    cut: begins at the corner.
    direction: of the side where θ = 0, in radians.
    opening: the angle of the domain there.
    radius: the distance at which powers have the size 1: about the farthest of the domain.
    terms: the functions.
    """

    operator: Operator
    cut: Cut
    direction: float
    opening: float
    radius: float
    terms: tuple[Term, ...]

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """The term of every function, and 0 for its real part or 1 for the imaginary one."""
        return [
            (number, part)
            for number, term in enumerate(self.terms)
            for part in (0, 1)
            if (term.cosine, term.sine)[part]
        ]

    @property
    def levels(self) -> list[int]:
        """The power of every function, rounded up."""
        return [int(np.ceil(self.terms[number].power)) for number, _ in self.parts]

    def columns(self, x: Array, y: Array) -> Array:
        """All functions at points [column, point]."""
        terms = self.values(x, y)
        return np.array([(terms[number].real, terms[number].imag)[part] for number, part in self.parts])

    def values(self, x: Array, y: Array) -> list[Complex]:
        """All terms at points."""
        logarithm = self.logarithm(x, y)
        radial = self._radial(logarithm)
        return [self._value(number, logarithm, radial) for number in range(len(self.terms))]

    def derivatives(self, x: Array, y: Array) -> list[Complex]:
        """The derivatives by z of all terms at points; of solutions of Δu = 0."""
        logarithm = self.logarithm(x, y)
        ratio, radial = self._logarithm_slope(x, y), self._radial(logarithm, slopes=True)
        return [self._slopes(number, logarithm, radial, ratio, x, y)[0] for number in range(len(self.terms))]

    def gradients(self, x: Array, y: Array) -> Array:
        """∂/∂x and ∂/∂y of all functions at points [2, column, point]; at the corner itself, those next to it."""
        x, y = self.off_corner(x, y)
        logarithm = self.logarithm(x, y)
        ratio, radial = self._logarithm_slope(x, y), self._radial(logarithm, slopes=True)
        slopes = [self._slopes(number, logarithm, radial, ratio, x, y) for number in range(len(self.terms))]
        out = np.empty((2, len(self.parts), x.size))
        for column, (number, part) in enumerate(self.parts):
            for axis, slope in enumerate(slopes[number]):
                out[axis, column] = (slope.real, slope.imag)[part]
        return out

    def off_corner(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Points that are the corner but for rounding, where slopes may be infinite, moved off it into the domain."""
        corner = self.cut.points[0]
        near = NEXT * (abs(corner) + self.radius)
        at = np.flatnonzero(np.hypot(x - corner.real, y - corner.imag) < near)
        if at.size:
            place = corner + 2 * near * np.exp(1j * (self.direction + 0.5 * self.opening))
            x, y = x.copy(), y.copy()
            x[at], y[at] = place.real, place.imag
        return x, y

    def add_sum(self, coefficients: Array, x: Array, y: Array, out: Array, factor: complex = 1.0) -> None:
        """Add the sum of coefficients times functions at points. factor: of functions, before Re is taken."""
        weights = np.zeros(len(self.terms), complex)
        for (number, part), coefficient in zip(self.parts, coefficients, strict=True):
            weights[number] += coefficient * (factor, -1j * factor)[part]  # Re(−i F) = Im F
        cut, heading, ended = self._path
        add_corner(
            x, y, cut, heading, ended, self._turn, self.radius, self._powers, self._logs, *self._ladder,
            self._series, weights, out,
        )  # fmt: skip

    def stream(self, coefficients: Array, x: Array, y: Array, near: float) -> Array:
        """The stream function of the sum, if it is harmonic: its derivative along a curve is that of u to the right.

        near: the distance within which a point counts as the corner.
        """
        corner, out = self.cut.points[0], np.zeros(x.size)
        far = np.hypot(x - corner.real, y - corner.imag) > near
        self.add_sum(coefficients, np.where(far, x, corner.real), np.where(far, y, corner.imag), out, -1j)
        return out

    def leading(self, coefficients: Array) -> tuple[CornerFunctions, Array] | None:
        """Harmonic functions with coefficients, whose slopes grow towards the corner as the sum's, if any do."""
        kept = [number for number, term in enumerate(self.terms) if 0 < term.power < 1 and not term.logs]
        own = coefficients[[number in kept for number, _ in self.parts]]
        if not own.any():
            return None
        if self._series.size:  # P at the corner, where its argument is −1
            at_corner = self._series[:, 0] @ (-1.0) ** np.arange(self._series.shape[2])
            own = own * [at_corner[number] for number, _ in self.parts if number in kept]
        return replace(self, operator=LAPLACIAN, terms=tuple(self.terms[number] for number in kept)), own

    def logarithm(self, x: Array, y: Array) -> Complex:
        """log w at points."""
        return self._plain_logarithm(x + 1j * y) - 1j * self._turn

    def _plain_logarithm(self, z: Complex) -> Complex:
        points = self.cut.points
        angle = np.zeros(z.size)
        for first, second in pairwise(points):
            angle += np.angle((z - first) / (z - second))
        size = np.abs(z - points[0])
        if self.cut.heading is None:
            size = size / np.abs(z - points[-1])
        else:
            angle += np.angle(-(z - points[-1]) * np.conj(self.cut.heading))
        return np.log(np.maximum(size / self.radius, 1e-300)) + 1j * angle

    def _logarithm_slope(self, x: Array, y: Array) -> Complex:
        """The derivative of log w by z."""
        z = x + 1j * y
        slope = 1 / (z - self.cut.points[0])
        return slope if self.cut.heading is not None else slope - 1 / (z - self.cut.points[-1])

    @cached_property
    def _turn(self) -> float:
        """What the angle is short of, seen from a point next to the corner, in the middle of its opening."""
        return float(self._plain_logarithm(np.array([self.beside])).imag[0]) - 0.5 * self.opening

    @property
    def beside(self) -> complex:
        """A point next to the corner, in the middle of its opening."""
        return self.cut.points[0] + 1e-6 * self._room * complex(np.exp(1j * (self.direction + 0.5 * self.opening)))

    @property
    def _room(self) -> float:
        """A length within which the cut goes straight."""
        points = self.cut.points
        first = abs(points[1] - points[0]) if len(points) > 1 else np.inf
        return min(first, self.radius if self.cut.heading is not None else first)

    @property
    def _path(self) -> tuple[Complex, complex, bool]:
        """The cut as the kernel reads it."""
        heading = self.cut.heading
        return np.array(self.cut.points, complex), 1.0 + 0j if heading is None else heading, heading is None

    @cached_property
    def _powers(self) -> Array:
        return np.array([term.power for term in self.terms])

    @cached_property
    def _logs(self) -> NDArray[np.int64]:
        return np.array([term.logs for term in self.terms], np.int64)

    @cached_property
    def _ladder(self) -> tuple[NDArray[np.int64], Array]:
        """For every term, the nearest one before it of which it is a whole stride's power away, and that stride.

        Complex powers cost much, and products little: strides that occur often are shared.
        """
        parents, strides = np.full(len(self.terms), -1, np.int64), np.zeros(len(self.terms))
        common = [0.0, 1.0, float(np.pi / self.opening)]
        for k, power in enumerate(self._powers):
            for stride in common:
                before = np.flatnonzero(np.abs(self._powers[:k] + stride - power) < 1e-12)
                if before.size:
                    parents[k], strides[k] = before[0], stride
                    break
        return parents, strides

    @cached_property
    def _series(self) -> Array:
        """Chebyshev coefficients of the radial factors and their derivatives by the power [term, 2, degree + 1]."""
        if not self.operator.mass:
            return np.zeros((len(self.terms), 2, 0))
        return radial_series(self.operator, self._powers, self.radius)

    def _radial(self, logarithm: Complex, slopes: bool = False) -> Array:
        """P and Q of every term at points [term, 2, point], see `add_corner`; P is 1 for powers.

        slopes: with their derivatives by t = 2(r/radius)² − 1 [term, 4, point].
        """
        from numpy.polynomial.chebyshev import chebder, chebvander

        if not self._series.size:
            plain = np.zeros((len(self.terms), 4 if slopes else 2, logarithm.size))
            plain[:, 0] = 1.0
            return plain
        t = 2 * np.exp(2 * logarithm.real) - 1
        rows = chebvander(t, self._series.shape[2] - 1)
        found = self._series @ rows.T
        if not slopes:
            return found
        return np.concatenate([found, chebder(self._series, axis=2) @ rows[:, :-1].T], axis=1)

    def _value(self, number: int, logarithm: Complex, radial: Array) -> Complex:
        power, logs, *_ = self.terms[number]
        p, q = radial[number]
        factor = p * logarithm + q if logs and self._series.size else p * logarithm**logs
        return np.exp(power * logarithm) * factor

    def _slopes(
        self, number: int, logarithm: Complex, radial: Array, ratio: Complex, x: Array, y: Array
    ) -> tuple[Complex, Complex]:
        """∂/∂x and ∂/∂y of a term: by log w, of which `ratio` is the derivative, and by the radial series."""
        power, logs, *_ = self.terms[number]
        p, q, p_slope, q_slope = radial[number]
        growth = np.exp(power * logarithm)
        if self._series.size:
            inner, own = (p * logarithm + q, p) if logs else (p, np.zeros_like(p))
            along = growth * (power * inner + own) * ratio
            by_square = growth * (p_slope * logarithm + q_slope if logs else p_slope) * (4 / self.radius**2)
            corner = self.cut.points[0]
            return along + by_square * (x - corner.real), 1j * along + by_square * (y - corner.imag)
        more = logs * logarithm ** (logs - 1) if logs else np.zeros_like(growth)
        along = growth * (power * logarithm**logs + more) * ratio
        return along, 1j * along
