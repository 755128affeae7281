"""The lift: any w with Lw = f on the domain. What is left, v = u − w, solves the homogeneous equation.

f is multiplied by a smooth window that is 1 on the domain's bounding box and 0 at the edge of a larger square, and the
equation is solved there with periodic boundary conditions, where L is a multiplication in Fourier space. No free-space
kernel is needed, since w may be anything outside the domain. The mean of the source, which no periodic
function has as its Laplacian, becomes a polynomial: m r²/4, or m r⁴/64 for Δ². The square's side is chosen so that no
mode of the Helmholtz operator is near zero. For a smooth f the error is 1e-11 of w or less. What a lattice cannot
show of f is measured and mended in `rough_lift`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import as_points
from mc2.fits.lift_kernels import interpolate
from mc2.functions import Function
from mc2.geometry import Grid
from mc2.geometry.domain import Bounds
from mc2.problems.operator import IDENTITY, LAPLACIAN, Operator
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]

MARGIN = 0.28
"""Width of the window's flank on each side, as a part of the longer side of the bounding box."""
FEWEST, MOST = 128, 1600
"""Lattice points along a side: as many as the source needs."""
TAIL = 1e-11
"""Part of the largest entry in the spectrum of Δ⁻¹f that may be left at the highest frequencies."""
EXACT = 1e-14
"""The tail of a lift that no walks follow to mend."""
RESOLVED = 0.375 * np.pi
"""Steepness of the window's flank for every lattice point along it: so its spectrum ends before the outer quarter."""
STEEPEST = 36.0, 72.0
"""Its limits: with the first it begins and ends within 1e-15 of 1 and 0."""
CLEAR = 0.5
"""Smallest |k² − |ξ|²| that is accepted."""


@dataclass(frozen=True)
class Lift:
    """A particular solution w of Lw = f, as a Fourier series on a square and a polynomial.

    spectrum: Fourier coefficients of the periodic part, those of real functions [n, n//2 + 1], row = y.
    size: n.
    side, corner: of the square; the corner is its lower left.
    mean: m, the mean of the windowed source where L has no constant term.
    operator: L as coefficients of u, Δu, Δ²u.
    tail: what is left at the highest frequencies, relative to the largest entry: see `TAIL`.
    source: Lw at the lattice points [n, n], if it is known.
    finer: points of the finer lattice, on which values are known, along one cell's side.
    """

    spectrum: NDArray[np.complex128]
    size: int
    side: float
    corner: tuple[float, float]
    mean: float
    operator: Operator
    tail: float = 0.0
    source: Array | None = None
    finer: float = 1.5

    @property
    def step(self) -> float:
        """Spacing of the finer lattice, on which values are known."""
        return self.side / self._finer_size

    @property
    def _finer_size(self) -> int:
        return int(self.finer * self.size)

    def on_grid(self, grid: Grid) -> Array:
        """w at the pixel centres [n, n], of which those in the bounding box are meant."""
        x, y = (self._indices(axis, corner) for axis, corner in zip((grid.x, grid.y), self.corner, strict=True))
        if x is not None and y is not None:
            return self._fine[np.ix_(y, x)]
        return self._summed(grid) + self._polynomial(grid.x[None, :], grid.y[:, None])

    def __call__(self, x: Any, y: Any) -> Array:
        """w at points inside the bounding box, by interpolation of degree 11 on the finer lattice."""
        x, y, shape = as_points(x, y)
        out = np.empty(x.size)
        interpolate(self._fine, (x - self.corner[0]) / self.step, (y - self.corner[1]) / self.step, out)
        return out.reshape(shape)

    def applied_roughly(self, x: Any, y: Any) -> Array:
        """Lw at points inside the bounding box, interpolated between lattice points: a hundred times less accurate.

        It must be known there, and rounding of the series does not show.
        """
        assert self.source is not None
        x, y, shape = as_points(x, y)
        step, out = self.side / self.size, np.empty(x.size)
        interpolate(self.source, (x - self.corner[0]) / step, (y - self.corner[1]) / step, out)
        return out.reshape(shape)

    def applied(self, x: Any, y: Any) -> Array:
        """Lw at points inside the bounding box: the source, as far as the lift knows it."""
        x, y, shape = as_points(x, y)
        return self._applied(x, y).reshape(shape)

    def gradient(self, x: Any, y: Any) -> tuple[Array, Array]:
        """∂w/∂x and ∂w/∂y at points inside the bounding box, interpolated as w is."""
        x, y, shape = as_points(x, y)
        out = [slope(x, y) for slope in self._slopes]
        if self.mean:
            dx, dy = (x - self.corner[0] - 0.5 * self.side), (y - self.corner[1] - 0.5 * self.side)
            factor = 0.5 * self.mean if self.operator.diffusion else self.mean / 16 * (dx * dx + dy * dy)
            out = [out[0] + factor * dx, out[1] + factor * dy]
        return out[0].reshape(shape), out[1].reshape(shape)

    def antiderivative(self, x: Any, y: Any) -> Array:
        """W with ∂W/∂x = w, at points inside the bounding box."""
        x, y, shape = as_points(x, y)
        periodic, constant = self._antiderivative
        left, low = (corner + 0.5 * self.side for corner in self.corner)
        dx, dy = x - left, y - low
        out = periodic(x, y) + constant(x, y) * dx
        if self.mean:
            if self.operator.diffusion:
                out += self.mean / 4 * (dx**3 / 3 + dx * dy * dy)
            else:
                out += self.mean / 64 * (dx**5 / 5 + 2 / 3 * dx**3 * dy**2 + dx * dy**4)
        return out.reshape(shape)

    @cached_property
    def _antiderivative(self) -> tuple["Lift", "Lift"]:
        """That of the periodic part: of what changes along x, and what is constant along it."""
        n = self.size
        along = 2j * np.pi * np.fft.fftfreq(n, self.side / n)[: n // 2 + 1]
        changing, constant = np.zeros_like(self.spectrum), np.zeros_like(self.spectrum)
        changing[:, 1:] = self.spectrum[:, 1:] / along[1:]
        changing[:, n // 2] = 0.0  # the highest frequency has no antiderivative that is real
        constant[:, 0] = self.spectrum[:, 0]
        make = (replace(self, spectrum=part, mean=0.0, operator=IDENTITY, source=None) for part in (changing, constant))
        return next(make), next(make)

    @cached_property
    def _slopes(self) -> tuple["Lift", "Lift"]:
        """The derivatives of the periodic part, as series of their own."""
        n = self.size
        along = 2j * np.pi * np.fft.fftfreq(n, self.side / n)
        along[n // 2] = 0.0  # the highest frequency has no derivative that is real
        slopes = along[: n // 2 + 1] * self.spectrum, along[:, None] * self.spectrum
        make = (replace(self, spectrum=spectrum, mean=0.0, operator=IDENTITY, source=None) for spectrum in slopes)
        return next(make), next(make)

    @property
    def largest_source(self) -> float:
        """The largest |Lw|, on the lattice."""
        return float(np.abs(self._applied._fine if self.source is None else self.source).max())

    @cached_property
    def _applied(self) -> "Lift":
        """Lw as a series of its own: it has the operator 1, so that its mean is part of the series."""
        square = square_frequencies(self.size, self.side)
        spectrum = self.operator.symbol(square) * self.spectrum
        spectrum[0, 0] = self.size**2 * self.mean if self.operator.mass == 0 else spectrum[0, 0]
        return replace(self, spectrum=spectrum, mean=0.0, operator=IDENTITY, source=None)

    @cached_property
    def laplacian(self) -> "Lift":
        """Δw of a biharmonic lift: itself the lift of f for the Laplacian."""
        square = square_frequencies(self.size, self.side)
        return replace(self, spectrum=-square * self.spectrum, operator=LAPLACIAN, source=None)

    @cached_property
    def _fine(self) -> Array:
        """w on the finer lattice; its polynomial, which is not periodic, is that of the square that is meant."""
        from scipy.fft import irfft2

        half, n = self.size // 2, self._finer_size
        padded = np.zeros((n, n // 2 + 1), complex)
        padded[:half, : half + 1] = self.spectrum[:half]
        padded[-half:, : half + 1] = self.spectrum[-half:]
        values = np.asarray(irfft2(padded, (n, n)))
        values *= (n / self.size) ** 2
        if self.mean:
            x, y = (corner + self.step * np.arange(n) for corner in self.corner)
            values += self._polynomial(x[None, :], y[:, None])
        return values

    def _indices(self, axis: Array, corner: float) -> NDArray[np.int64] | None:
        """Lattice points that pixel centres along an axis are, if they are; periodic."""
        exact = (axis - corner) / self.step
        index = np.rint(exact)
        return index.astype(int) % len(self._fine) if np.abs(index - exact).max() < 1e-7 else None

    def _summed(self, grid: Grid) -> Array:
        """The series summed along x, then along y."""
        n = self.size
        frequencies = 2 * np.pi * np.fft.fftfreq(n, self.side / n)
        along_x = np.exp(1j * np.outer(np.abs(frequencies[: n // 2 + 1]), grid.x - self.corner[0]))
        along_x[1 : (n + 1) // 2] *= 2  # those that stand for their conjugates too
        along_y = np.exp(1j * np.outer(grid.y - self.corner[1], frequencies))
        return np.asarray((along_y @ (self.spectrum @ along_x)).real / n**2)

    def _polynomial(self, x: Any, y: Any) -> Any:
        centre = self.corner[0] + 0.5 * self.side, self.corner[1] + 0.5 * self.side
        square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
        return self.mean / 4 * square if self.operator.diffusion else self.mean / 64 * square**2


def make_lift(
    source: Function, bounds: Bounds, operator: Operator, grid: Grid | None = None, tail: float = TAIL
) -> Lift:
    """The lift of a source that is known as a function in a box and around it, on the lattice that its tail asks for.

    bounds, operator, grid: see `lifts`.
    tail: see `TAIL`.
    """
    for lift in lifts(source, bounds, operator, grid):
        if lift.tail < tail:
            break
    return lift


def lifts(
    source: Function, bounds: Bounds, operator: Operator, grid: Grid | None = None, most: int = MOST
) -> Iterator[Lift]:
    """Lifts on ever finer lattices.

    bounds: (xmin, xmax, ymin, ymax) of the box, where Lw = f will hold.
    operator: L as coefficients of u, Δu, Δ²u.
    grid: where it will be wanted; the finer lattice then has its pixels among its points, if it can.
    most: lattice points along a side, at most; the first lattice may have more.
    """
    from scipy.fft import rfft2

    xmin, xmax, ymin, ymax = bounds
    centre = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
    half = 0.5 * max(xmax - xmin, ymax - ymin)
    start = 2 * half * (1 + 2 * MARGIN)
    step, aligned = _step(start, grid)
    size = 0
    while 3 * size <= most:
        size, side = _clear(start, step, operator)
        corner = _corner(centre, side, 2 * step, grid if aligned else None)  # two steps are three of the finer
        values = _windowed(source, corner, size, step, centre, half)
        transform = np.asarray(rfft2(values))  # in one thread: SciPy's others may never end when a process forks
        square = square_frequencies(size, side)
        tail = _tail(transform / (1 + square))
        made = solve_on_lattice(transform, size, side, corner, operator, square)
        yield replace(made, tail=tail, source=values)
        step /= 3  # a grid's pixels are then points of the lattice itself


def _step(start: float, grid: Grid | None) -> tuple[float, bool]:
    """The first lattice spacing to try, and whether the finer lattice can have the grid's pixels."""
    if grid is None or not np.isclose(*grid.spacing, rtol=1e-12):
        return start / (2 * FEWEST), False
    step = 1.5 * grid.spacing[0]
    while start / step < FEWEST:
        step /= 3
    return (step, True) if start / step < MOST / 2 else (start / (2 * FEWEST), False)


def _corner(centre: tuple[float, float], side: float, step: float, grid: Grid | None) -> tuple[float, float]:
    """The square's lower left corner: around the centre, and a whole number of steps from the grid's pixels."""
    x, y = centre[0] - 0.5 * side, centre[1] - 0.5 * side
    if grid is None:
        return x, y
    first_x, first_y = float(grid.x[0]), float(grid.y[0])
    return first_x + step * round((x - first_x) / step), first_y + step * round((y - first_y) / step)


def _windowed(
    source: Function, corner: tuple[float, float], size: int, step: float, centre: tuple[float, float], half: float
) -> Array:
    """The windowed source at lattice points."""
    x, y = (low + step * np.arange(size) for low in corner)
    outer = 0.5 * size * step - step
    steep = steepness((outer - half) / step)
    window_x, window_y = (kaiser(t - middle, half, outer, steep) for t, middle in zip((x, y), centre, strict=True))
    seen = np.ix_(np.flatnonzero(window_y), np.flatnonzero(window_x))
    values = np.zeros((size, size))
    # beyond the domain a source may have no value, such as a logarithm at its centre
    found = np.concatenate(in_halves(lambda rows: source(x[seen[1]], rows[:, None]), y[seen[0][:, 0]]))
    values[seen] = np.where(np.isfinite(found), found, 0.0) * window_y[seen[0]] * window_x[seen[1]]
    return values


def steepness(points: float) -> float:
    """The steepness of Kaiser's flank for so many lattice points along it."""
    return float(np.clip(RESOLVED * points, *STEEPEST))


def kaiser(t: NDArray[Any], half: float, outer: float, steepness: float) -> Array:
    """1 for |t| ≤ half, 0 from |t| = outer on, smooth in between: there, the integral of Kaiser's window (1966)."""
    share = np.clip((np.abs(t) - half) / (outer - half), 0.0, 1.0)
    values, flank = 1.0 - np.floor(share), (share > 0) & (share < 1)
    values[flank] = _beyond(share[flank], steepness) / _beyond(np.zeros(1), steepness)
    return values


def _beyond(share: Array, steepness: float) -> Array:
    """The part of Kaiser's window on [0, 1] that lies beyond."""
    from scipy.special import i0

    nodes, weights = _rule()
    place = 1 - (1 - share[:, None]) * nodes
    return np.asarray((1 - share) * (i0(2 * steepness * np.sqrt(place * (1 - place))) @ weights))


@cache
def _rule() -> tuple[Array, Array]:
    """Gauss and Legendre's on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    return 0.5 + 0.5 * nodes, 0.5 * weights


def _tail(transform: NDArray[np.complex128]) -> float:
    """The largest coefficient in the outer quarter of the frequencies, relative to the largest of all."""
    size = np.abs(transform)
    n = len(size)
    outer = max(size[np.abs(np.fft.fftfreq(n)) > 0.375].max(), size[:, int(0.375 * n) + 1 :].max())
    return float(outer / max(size.max(), 1e-300))


def square_frequencies(size: int, side: float) -> Array:
    """|ξ|² of the modes of real functions on a periodic square [n, n//2 + 1]."""
    frequencies = 2 * np.pi / side * size * np.fft.fftfreq(size)
    return np.asarray(frequencies[: size // 2 + 1] ** 2 + frequencies[:, None] ** 2)


def _clear(start: float, step: float, operator: Operator) -> tuple[int, float]:
    """An even number of lattice points, and their side: at least so long, and longer where a mode is close to k."""
    from scipy.fft import next_fast_len

    best = (0.0, 0)
    size = int(np.ceil(start / step))
    for _ in range(20):
        size = 2 * next_fast_len((size + 1) // 2, real=True)
        if operator.mass <= 0:
            return size, size * step
        gap = float(np.abs(operator.symbol(square_frequencies(size, size * step))).min())
        if gap > CLEAR:
            return size, size * step
        best = max(best, (gap, size))
        size += 1
    return best[1], best[1] * step


def solve_on_lattice(
    transform: NDArray[np.complex128],
    size: int,
    side: float,
    corner: tuple[float, float],
    operator: Operator,
    square: Array | None = None,
) -> Lift:
    """The lift whose source has this Fourier transform, which is written to.

    square: `square_frequencies`, if known.
    """
    square = square_frequencies(size, side) if square is None else square
    symbol = operator.symbol(square)
    mean = 0.0
    if operator.mass == 0:
        mean = float(transform[0, 0].real) / size**2
        transform[0, 0], symbol[0, 0] = 0.0, 1.0
    return Lift(transform / symbol, size, side, corner, mean, operator)
