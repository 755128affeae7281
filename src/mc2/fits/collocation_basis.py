"""Bases for collocation: functions with derivatives, which need not solve any equation.

Products of Chebyshev polynomials on the domain's bounding box, of a total degree; and where these converge slowly,
harmonic functions times polynomials: log r and r^−k of holes, and corner functions (`mc2.fits.corner_functions`). With
coefficients that vary, a solution is singular at a corner as one with constant coefficients is, but every term is
followed by its products with polynomials. Δ(HP) = 2∇H·∇P + HΔP, since H is harmonic.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_functions import CornerFunctions, Term
from mc2.fits.junctions import INTEGER, Junction
from mc2.geometry import Domain
from mc2.problems.operator import LAPLACIAN

Array = NDArray[np.float64]
PORTION = 4096
"""Points at which all functions are held at a time."""
MARGIN = 1e-3
"""By which the box of the polynomials is larger than the domain's: their slopes are steepest at its sides."""

HIGHEST = 10
"""Power of 1/r for a hole, at most; less where there are several."""
MOST_HOLES = 16
"""The largest ones first."""


class Jet(NamedTuple):
    """Functions at points [column, point]: values, ∂/∂x, ∂/∂y and Δ."""

    values: Array
    x: Array
    y: Array
    laplacian: Array


class Harmonic(Protocol):
    """Functions that solve Δu = 0."""

    def columns(self, x: Array, y: Array) -> Array:
        """Values [column, point]."""
        ...

    def gradients(self, x: Array, y: Array) -> Array:
        """∂/∂x and ∂/∂y [2, column, point]."""
        ...


@dataclass(frozen=True)
class HoleFunctions:
    """log |z/radius|, and Re and Im of (radius/z)^k for k = 1 … degree, with z from the middle of a hole.

    center: of the hole. radius: of a disk in it. degree: highest k.
    """

    center: complex
    radius: float
    degree: int

    def columns(self, x: Array, y: Array) -> Array:
        z = x + 1j * y - self.center
        powers = self._powers(z)
        return np.concatenate([np.log(np.abs(z) / self.radius)[None], powers.real, powers.imag])

    def gradients(self, x: Array, y: Array) -> Array:
        z = x + 1j * y - self.center
        k = np.arange(1, self.degree + 1)[:, None]
        slopes = -k * self._powers(z) / z  # d/dz; ∂/∂y is i times that
        first = (1 / z)[None]
        return np.stack(
            [
                np.concatenate([first.real, slopes.real, slopes.imag]),
                np.concatenate([-first.imag, -slopes.imag, slopes.real]),
            ]
        )

    def _powers(self, z: NDArray[np.complex128]) -> NDArray[np.complex128]:
        return np.asarray(np.cumprod(np.broadcast_to(self.radius / z, (self.degree, z.size)), axis=0), complex)


@dataclass(frozen=True)
class Products:
    """Harmonic functions times powers of x and y.

    harmonic: the functions.
    center, scale: powers are of (x − center)/scale.
    pairs: of every product, which function, and the powers of x and y.
    """

    harmonic: Harmonic
    center: complex
    scale: float
    pairs: tuple[tuple[int, int, int], ...]

    @cached_property
    def _index(self) -> NDArray[np.intp]:
        return np.array(self.pairs, np.intp).reshape(-1, 3).T

    def columns(self, x: Array, y: Array) -> Array:
        """Values [column, point]."""
        which, i, j = self._index
        px, py = self._powers(x, y)
        return np.asarray(self.harmonic.columns(x, y)[which] * px[i] * py[j])

    def jet(self, x: Array, y: Array) -> Jet:
        """All at points."""
        which, i, j = self._index
        px, py = self._powers(x, y)
        h, (hx, hy) = self.harmonic.columns(x, y)[which], self.harmonic.gradients(x, y)[:, which]
        a, b = i[:, None] / self.scale, j[:, None] / self.scale
        low_x, low_y = px[np.maximum(i - 1, 0)], py[np.maximum(j - 1, 0)]
        p, gx, gy = px[i] * py[j], a * low_x * py[j], b * px[i] * low_y
        curved = a * (a - 1 / self.scale) * px[np.maximum(i - 2, 0)] * py[j]
        curved += b * (b - 1 / self.scale) * px[i] * py[np.maximum(j - 2, 0)]
        return Jet(h * p, hx * p + h * gx, hy * p + h * gy, 2 * (hx * gx + hy * gy) + h * curved)

    def _powers(self, x: Array, y: Array) -> tuple[Array, Array]:
        most = int(self._index[1:].max(initial=0)) + 1
        return tuple(  # type: ignore[return-value]
            np.cumprod(np.concatenate([np.ones((1, x.size)), np.tile(u, (most - 1, 1))]), axis=0)
            for u in ((x - self.center.real) / self.scale, (y - self.center.imag) / self.scale)
        )


@dataclass(frozen=True, eq=False)
class CollocationBasis:
    """Chebyshev products Tᵢ Tⱼ with i + j ≤ degree, and other functions times polynomials.

    center, half: of the box of the polynomials, in x and in y.
    degree: of the polynomials.
    blocks: the other functions.
    """

    center: tuple[float, float]
    half: tuple[float, float]
    degree: int
    blocks: tuple[Products, ...] = ()

    @cached_property
    def _pairs(self) -> NDArray[np.intp]:
        """i and j of every product [2, column]; T₀T₀ is the first."""
        i, j = np.divmod(np.arange((self.degree + 1) ** 2), self.degree + 1)
        return np.stack([i, j])[:, i + j <= self.degree]

    @cached_property
    def size(self) -> int:
        """How many functions."""
        return self._pairs.shape[1] + sum(len(block.pairs) for block in self.blocks)

    @property
    def levels(self) -> range:
        """One entry for every function."""
        return range(self.size)

    @property
    def constants(self) -> NDArray[np.intp]:
        """The functions that are 1, which together are 1 all over the domain."""
        return np.zeros(1, np.intp)

    def columns(self, x: Array, y: Array) -> Array:
        """Values of all functions at points [column, point]."""
        i, j = self._pairs
        tx, ty = (_chebyshev(axis, self.degree)[0] for axis in self._inward(x, y))
        return np.concatenate([tx[i] * ty[j], *(block.columns(x, y) for block in self.blocks)])

    def jet(self, x: Array, y: Array) -> Jet:
        """Values and derivatives of all functions at points."""
        i, j = self._pairs
        (tx, dx, ddx), (ty, dy, ddy) = (_chebyshev(axis, self.degree) for axis in self._inward(x, y))
        rx, ry = 1 / self.half[0], 1 / self.half[1]
        laplacian = rx * rx * ddx[i] * ty[j] + ry * ry * tx[i] * ddy[j]
        plain = Jet(tx[i] * ty[j], rx * dx[i] * ty[j], ry * tx[i] * dy[j], laplacian)
        jets = [plain, *(block.jet(x, y) for block in self.blocks)]
        return Jet(*(np.concatenate(parts) for parts in zip(*jets, strict=True)))

    def sum(self, coefficients: Array, x: Array, y: Array) -> Array:
        """Values at points of the functions with coefficients."""
        return self._summed(coefficients, x, y, lambda block, own, px, py: (own @ block.columns(px, py),), 0)[0]

    def gradient(self, coefficients: Array, x: Array, y: Array) -> Array:
        """∂/∂x and ∂/∂y of that [2, point]."""
        return self._summed(coefficients, x, y, lambda block, own, px, py: [own @ c for c in block.jet(px, py)[1:3]], 1)

    def laplacian(self, coefficients: Array, x: Array, y: Array) -> Array:
        """Δ of that."""
        return self._summed(coefficients, x, y, lambda block, own, px, py: (own @ block.jet(px, py).laplacian,), 2)[0]

    def leading(self, coefficients: Array) -> list[tuple[CornerFunctions, Array]]:
        """Harmonic functions of corners whose slopes grow towards these as those of the sum do, with coefficients."""
        found, first = [], self._pairs.shape[1]
        for block in self.blocks:
            own = coefficients[first : first + len(block.pairs)]
            first += len(block.pairs)
            if isinstance(block.harmonic, CornerFunctions):
                constant = np.zeros(len(block.harmonic.parts))
                for (column, *powers), coefficient in zip(block.pairs, own, strict=True):
                    constant[column] += coefficient * (not any(powers))
                found.append(block.harmonic.leading(constant))
        return [own for own in found if own is not None]

    def _matrix(self, coefficients: Array) -> Array:
        """Coefficients of the polynomials [i, j]."""
        i, j = self._pairs
        matrix = np.zeros((self.degree + 1, self.degree + 1))
        matrix[i, j] = coefficients[: i.size]
        return matrix

    def _inward(self, x: Array, y: Array) -> tuple[Array, Array]:
        return (x - self.center[0]) / self.half[0], (y - self.center[1]) / self.half[1]

    def _summed(self, coefficients: Array, x: Array, y: Array, of_block: Callable[..., object], order: int) -> Array:
        """Sums in portions. of_block: what a block adds. order: of derivatives: values, gradient or Laplacian."""
        out = np.empty((2 if order == 1 else 1, x.size))
        matrix, count = self._matrix(coefficients), self._pairs.shape[1]
        rx, ry = 1 / self.half[0], 1 / self.half[1]
        for first in range(0, x.size, PORTION):
            px, py = x[first : first + PORTION], y[first : first + PORTION]
            (tx, dx, ddx), (ty, dy, ddy) = (_chebyshev(axis, self.degree) for axis in self._inward(px, py))

            def plain(left: Array, right: Array) -> Array:
                return np.einsum("ip,ip->p", left, matrix @ right)

            if order == 0:
                found = [plain(tx, ty)]
            elif order == 1:
                found = [rx * plain(dx, ty), ry * plain(tx, dy)]
            else:
                found = [rx * rx * plain(ddx, ty) + ry * ry * plain(tx, ddy)]
            start = count
            for block in self.blocks:
                own = coefficients[start : start + len(block.pairs)]
                start += len(block.pairs)
                if own.any():
                    found = [a + b for a, b in zip(found, of_block(block, own, px, py), strict=True)]  # type: ignore[call-overload]
            out[:, first : first + PORTION] = found
        return out


def _chebyshev(t: Array, degree: int) -> tuple[Array, Array, Array]:
    """T₀ … T_degree at points, and their first two derivatives, each [degree + 1, point]."""
    values, first, second = np.zeros((3, max(degree + 1, 2), t.size))
    values[0], values[1], first[1] = 1.0, t, 1.0
    for n in range(1, degree):
        values[n + 1] = 2 * t * values[n] - values[n - 1]
        first[n + 1] = 2 * values[n] + 2 * t * first[n] - first[n - 1]
        second[n + 1] = 4 * first[n] + 2 * t * second[n] - second[n - 1]
    return values[: degree + 1], first[: degree + 1], second[: degree + 1]


def make_collocation_basis(domain: Domain, degree: int) -> CollocationBasis:
    """Polynomials, with functions for every hole of a domain."""
    xmin, xmax, ymin, ymax = domain.bounds
    half = (0.5 + MARGIN) * (xmax - xmin), (0.5 + MARGIN) * (ymax - ymin)
    plain = CollocationBasis((0.5 * (xmin + xmax), 0.5 * (ymin + ymax)), half, degree)
    holes = domain.holes()[:MOST_HOLES]
    highest = min(max(2, degree // 2), int(HIGHEST / np.sqrt(max(len(holes), 1))))
    return replace(plain, blocks=tuple(_of_hole(domain, *hole, highest) for hole in holes))


def _of_hole(domain: Domain, center: tuple[float, float], radius: float, highest: int) -> Products:
    """log r times polynomials, and r^−k times a few: what coefficients that vary make of them."""
    harmonic = HoleFunctions(complex(*center), radius, highest)
    pairs = [(0, i, n - i) for n in range(highest + 1) for i in range(n + 1)]
    for k in range(1, highest + 1):
        # by the conjugate of z alone: the others make lower powers of 1/z
        pairs += [(part, 0, m) for part in (k, highest + k) for m in range((highest - k) // 2 + 1)]
    return Products(harmonic, complex(*center), domain.size, tuple(pairs))


def with_corners(
    basis: CollocationBasis, junctions: list[Junction], domain: Domain, highest: float, most: int
) -> CollocationBasis:
    """With functions that are singular at junctions.

    highest: power of the distance, with all that they are multiplied by. most: functions in all, about.
    """
    junctions = [junction for junction in junctions if junction.cut is not None]
    while True:
        found = [_of_junction(junction, domain, highest) for junction in junctions]
        blocks = tuple(block for block in found if block is not None)
        if highest < 1.0 or sum(len(block.pairs) for block in blocks) <= most:
            return replace(basis, blocks=(*basis.blocks, *blocks))
        highest *= 0.85


def _of_junction(junction: Junction, domain: Domain, highest: float) -> Products | None:
    """The leading singular functions times polynomials, up to a power."""
    mixed = junction.after.reflecting != junction.before.reflecting
    count = int(highest * junction.opening / np.pi + (0.5 if mixed else 0.0) + 1e-9)
    powers = ((np.arange(1, count + 1) - (0.5 if mixed else 0.0)) * np.pi / junction.opening).tolist()
    kept: list[Term] = [Term(0.0, 1)] if junction.jump else []
    for power in powers:
        whole = abs(power - round(power)) < INTEGER
        power = float(round(power)) if whole else power
        follows = (power - old.power for old in kept if (old.logs == 1) == whole)
        if not any(abs(step - round(step)) < INTEGER for step in follows):
            kept.append(Term(power, int(whole)))
    if not kept:
        return None
    assert junction.cut is not None
    xmin, xmax, ymin, ymax = domain.bounds
    radius = max(abs(complex(x, y) - junction.center) for x in (xmin, xmax) for y in (ymin, ymax))
    functions = CornerFunctions(LAPLACIAN, junction.cut, junction.direction, junction.opening, radius, tuple(kept))
    pairs = []
    for column, (number, part) in enumerate(functions.parts):
        power, logs, *_ = kept[number]
        for n in range(int(highest - power + 1e-9) + 1):
            leading = n == 0 and not logs
            if leading and part != (0 if junction.after.reflecting else 1):
                continue  # it does not meet the conditions
            pairs += [(column, i, n - i) for i in range(n + 1)]
    return Products(functions, junction.center, radius, tuple(pairs))
