"""Closed forms on the unit disk: solutions of the homogeneous equations from their boundary values.

A mode zⁿ of the boundary values continues as zⁿ ρₙ(r), where ρₙ = 1 for Laplace and, for Δu + cu = 0,
ρₙ(r) = ₀F₁(n + 1; −cr²/4) / ₀F₁(n + 1; −c/4), which is r⁻ⁿ Jₙ(kr)/Jₙ(k).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

MANY, FEW = 1 << 17, 1 << 14
"""Modes of harmonic functions, and of what others have beyond them, where the boundary values are rough."""
Coefficients = np.ndarray
"""Complex cₙ, n = 0, 1, …: the boundary values are Re Σ cₙ zⁿ."""


def modes_of(
    values: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int, points: int | None = None
) -> Coefficients:
    """The first modes of a function on the unit circle, from its values at points; four times as many if not said."""
    points = points or 4 * count
    angle = 2 * np.pi * np.arange(points) / points
    found = np.fft.rfft(values(np.cos(angle), np.sin(angle)))[:count] * (2 / points)
    found[0] /= 2
    return found


def arc_modes(middle: float, half: float, count: int) -> Coefficients:
    """Fourier coefficients of the function that is 1 at angles within `half` of `middle`, else 0."""
    n = np.arange(1, count)
    rest = 2 * np.sin(n * half) / (np.pi * n) * np.exp(-1j * n * middle)
    return np.concatenate([[half / np.pi], rest])


def radial(n: int, c: float, r2: np.ndarray) -> np.ndarray:
    """ρₙ for Δu + cu = 0, as a function of r²: its series, or Bessel functions where that would cancel."""
    if c == 0:
        return np.ones_like(r2)
    if c > 0 and c > 16 * (n + 1):
        from scipy.special import jv

        k, r = np.sqrt(c), np.sqrt(r2)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = jv(n, k * r) / (r**n * jv(n, k))
        return np.where(r < 1e-6, (k / 2) ** n / (jv(n, k) * _factorial(n)), found)
    if c < 0 and -c > 400 * (n + 1):
        from scipy.special import ive

        k, r = np.sqrt(-c), np.sqrt(r2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return ive(n, k * r) * np.exp(k * (r - 1)) / (r**n * ive(n, k))
    return _series(n, -0.25 * c * r2) / _series(n, np.array(-0.25 * c))


def _series(n: int, z: np.ndarray) -> np.ndarray:
    """₀F₁(n + 1; z)."""
    term, total = np.ones_like(z), np.ones_like(z)
    for j in range(1, 400):
        term = term * z / (j * (n + j))
        total = total + term
        if np.max(np.abs(term)) <= 1e-17 * np.max(np.abs(total)):
            break
    return total


def _factorial(n: int) -> float:
    from scipy.special import gamma

    return float(gamma(n + 1.0))


def continued(modes: Coefficients, c: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The solution of Δu + cu = 0 with these boundary values."""
    z = np.asarray(x + 1j * y)
    found, radius = np.zeros(z.shape), np.clip(np.abs(z), 1e-9, 1 - 1e-9)
    # |z|ⁿ is below 1e-17 from n = 40 / -log|z| on: only points near the circle need many modes
    needed = np.minimum(2 ** np.ceil(np.log2(np.maximum(-40 / np.log(radius), 64))), modes.size).astype(int)
    for count in np.unique(needed):
        own = needed == count
        found[own] = (_harmonic if c == 0 else partial(_modified, c=c))(modes[:count], z[own])
    return found


def _power_series(modes: Coefficients, z: np.ndarray) -> np.ndarray:
    total = np.zeros_like(z)
    for mode in modes[::-1]:
        total = total * z + mode
    return total


def _harmonic(modes: Coefficients, z: np.ndarray) -> np.ndarray:
    return _power_series(modes, z).real


def _modified(modes: Coefficients, z: np.ndarray, c: float) -> np.ndarray:
    """The first modes one by one; of the rest, ρₙ is a short series in r², each term of which is a power series."""
    first = min(modes.size, max(32, int(abs(c) / 4)))
    r2, power, total = np.abs(z) ** 2, np.ones_like(z), np.zeros(z.shape)
    for n in range(first):
        if modes[n] != 0:
            total += (modes[n] * power).real * radial(n, c, r2)
        power = power * z
    n, terms = np.arange(first, modes.size), [np.ones(modes.size - first)]
    while n.size and np.abs(terms[-1]).max() > 1e-17:
        j = len(terms)
        terms.append(terms[-1] * (-0.25 * c) / (j * (n + j)))
    for j, term in enumerate(terms):
        total += r2**j * (power * _power_series(modes[first:] * term / sum(terms), z)).real
    return total


def raised(modes: Coefficients, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The V with ΔV = Re Σ cₙ zⁿ and V = 0 on the circle: Σ cₙ zⁿ (r² − 1) / (4 (n + 1))."""
    divided = modes / (4 * (1 + np.arange(modes.size)))
    return (x**2 + y**2 - 1) * continued(divided, 0.0, x, y)


def arc(middle: float, half: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The harmonic function that is 1 on an arc and 0 on the rest: what is left of the angle that the arc subtends."""
    z, first, last = x + 1j * y, np.exp(1j * (middle - half)), np.exp(1j * (middle + half))
    return (np.mod(np.angle((last - z) / (first - z)), 2 * np.pi) - half) / np.pi


@dataclass(frozen=True)
class Cosine:
    """cos(mθ) on the circle, continued by Δu + cu = 0; with `lift`, the V with ΔV = rᵐ cos(mθ) that is 0 there."""

    m: int
    c: float = 0.0
    lift: bool = False

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        z = x + 1j * y
        shape = (z**self.m).real
        if self.lift:
            return shape * (np.abs(z) ** 2 - 1) / (4 * (self.m + 1))
        return shape * radial(self.m, self.c, np.abs(z) ** 2)


@dataclass(frozen=True)
class Arc:
    """Height on an arc, 0 on the rest, continued by Δu + cu = 0; with `lift`, the V with that as Laplacian."""

    middle: float
    half: float
    height: float
    c: float = 0.0
    lift: bool = False

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.lift:
            return self.height * raised(arc_modes(self.middle, self.half, MANY), x, y)
        found = arc(self.middle, self.half, x, y)
        if self.c != 0:  # the modes' sum converges fast once that of Laplace, known in closed form, is taken off
            modes = arc_modes(self.middle, self.half, FEW)
            found = found + continued(modes, self.c, x, y) - continued(modes, 0.0, x, y)
        return self.height * found


@dataclass(frozen=True)
class Rim:
    """Any values on the circle, continued by Δu + cu = 0; with `lift`, the V with those as Laplacian, 0 there.

    From a million values, since where they bend the modes decay slowly: with n^-1.5 for a square root, n^-2 for a kink.
    """

    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    c: float = 0.0
    lift: bool = False

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        modes = _modes(self.values, MANY, 8 * MANY)
        if self.lift:
            return raised(modes, x, y)
        found = continued(modes, 0.0, x, y)
        if self.c != 0:
            found += continued(modes[:FEW], self.c, x, y) - continued(modes[:FEW], 0.0, x, y)
        return found


@dataclass(frozen=True)
class Grounded:
    """w less the solution of the homogeneous equation that agrees with it on the circle: it is 0 there.

    laplacian: of w, for the biharmonic equation, whose solutions also have no Laplacian on the circle.
    """

    w: Callable[[np.ndarray, np.ndarray], np.ndarray]
    c: float = 0.0
    laplacian: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    terms: int = 1 << 14

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = self.w(x, y) - continued(_modes(self.w, self.terms), self.c, x, y)
        if self.laplacian is not None:
            found -= raised(_modes(self.laplacian, self.terms), x, y)
        return found


@lru_cache(maxsize=8)
def _modes(
    values: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int, points: int | None = None
) -> Coefficients:
    return modes_of(values, count, points)


@dataclass(frozen=True)
class Side:
    """Boundary data of the square [-1, 1]²: a height on its right side, 0 on the others. exact: ask for x == 1."""

    height: float
    exact: bool = True

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        on = x == 1 if self.exact else x > 1 - 1e-9
        return np.where(on, self.height, 0.0)


def heated_side(height: float, terms: int = 2400) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The harmonic function with those data: a sum over odd n of sines along the side, which decay away from it."""

    def field(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = np.zeros(np.shape(x))
        for n in range(1, 2 * terms, 2):
            rate = 0.5 * np.pi * n
            # sinh(rate (x + 1)) / sinh(2 rate), written so that nothing overflows
            decay = np.exp(rate * (x - 1)) * (1 - np.exp(-2 * rate * (x + 1))) / (1 - np.exp(-4 * rate))
            total += 4 / (np.pi * n) * decay * np.sin(rate * (y + 1))
            if decay.max() < 1e-17:
                break
        return height * total

    return field
