"""The lift: any w with Lw = f on the domain. What is left, v = u − w, solves the homogeneous equation.

f is multiplied by a smooth window that is 1 on the domain's bounding box and 0 at the edge of a larger square, and the
equation is solved there with periodic boundary conditions, where L is a multiplication in Fourier space. No free-space
kernel is needed, since w may be anything outside the domain. The mean of the source, which no periodic
function has as its Laplacian, becomes a polynomial: m r²/4, or m r⁴/64 for Δ². The square's side is chosen so that no
mode of the Helmholtz operator is near zero. For a smooth f the error is that of rounding.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain, Grid
from mc2.problems import Function

Array = NDArray[np.float64]
Operator = tuple[float, float, float]

MARGIN = 0.5
"""Width of the window's flank on each side."""
SIZES = (256, 512, 1024)
"""Points along a side: as many as the source needs."""
TAIL = 1e-10
"""Part of a spectrum's largest entry that may be left at the highest frequencies."""
STEEPNESS = 6.0
"""Of the flank erfc: it begins and ends within 1e-16 of 1 and 0."""
CLEAR = 0.5
"""Smallest |k² − |ξ|²| that is accepted."""
POINTS = 10
"""Points per axis from which values between lattice points are interpolated."""


@dataclass(frozen=True)
class Lift:
    """A particular solution w of Lw = f, as a Fourier series on a square and a polynomial.

    spectrum: Fourier coefficients of the periodic part [n, n], row = y. side: of the square. corner: its lower left.
    mean: m, the mean of the windowed source where L has no constant term.
    """

    spectrum: NDArray[np.complex128]
    side: float
    corner: tuple[float, float]
    mean: float
    operator: Operator

    @property
    def size(self) -> int:
        return len(self.spectrum)

    @cached_property
    def frequencies(self) -> NDArray[Any]:
        return 2 * np.pi * np.fft.fftfreq(self.size, self.side / self.size)

    def on_grid(self, grid: Grid) -> Array:
        """w at the pixel centres [n, n]: the series summed along x, then along y."""
        along_x = np.exp(1j * np.outer(self.frequencies, grid.x - self.corner[0]))
        along_y = np.exp(1j * np.outer(grid.y - self.corner[1], self.frequencies))
        periodic = (along_y @ self.spectrum @ along_x).real / self.size**2
        return periodic + self._polynomial(grid.x[None, :], grid.y[:, None])

    def __call__(self, x: Any, y: Any) -> Array:
        """w at points inside the bounding box, by interpolation of degree 9 on a lattice of half the spacing."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        step = self.side / len(self._fine)
        value = np.zeros(x.shape)
        columns, weights_x = _stencil((x - self.corner[0]) / step)
        rows, weights_y = _stencil((y - self.corner[1]) / step)
        for i in range(POINTS):
            line = np.zeros(x.shape)
            for j in range(POINTS):
                line += weights_x[j] * self._fine[(rows + i) % len(self._fine), (columns + j) % len(self._fine)]
            value += weights_y[i] * line
        return value + self._polynomial(x, y)

    def laplacian(self) -> "Lift":
        """Δw of a biharmonic lift: itself the lift of f for the Laplacian."""
        square = self.frequencies[None, :] ** 2 + self.frequencies[:, None] ** 2
        return Lift(-square * self.spectrum, self.side, self.corner, self.mean, (0.0, 1.0, 0.0))

    @cached_property
    def _fine(self) -> Array:
        """The periodic part on a lattice of half the spacing."""
        half, n = self.size // 2, self.size
        padded = np.zeros((2 * n, 2 * n), complex)
        ends = (slice(0, half), slice(-half, None))
        for rows in ends:
            for columns in ends:
                padded[rows, columns] = self.spectrum[rows, columns]
        return np.fft.ifft2(padded).real * 4

    def _polynomial(self, x: Any, y: Any) -> Any:
        centre = self.corner[0] + 0.5 * self.side, self.corner[1] + 0.5 * self.side
        square = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
        return self.mean * (square / 4 if self.operator[1] else square**2 / 64)


def make_lift(source: Function, domain: Domain, operator: Operator) -> Lift:
    """The lift of a source that is known as a function around the domain. operator: L as coefficients of u, Δu, Δ²u."""
    xmin, xmax, ymin, ymax = domain.bounds
    half = 0.5 * max(xmax - xmin, ymax - ymin)
    side = _clear_side(2 * (half + MARGIN), operator)
    corner = 0.5 * (xmin + xmax - side), 0.5 * (ymin + ymax - side)
    for size in SIZES:
        t = side / size * np.arange(size)
        window = fade(t - 0.5 * side, half, side)
        window = window[None, :] * window[:, None]
        values = np.zeros((size, size))
        seen = window > 0
        x, y = np.broadcast_arrays(corner[0] + t[None, :], corner[1] + t[:, None])
        values[seen] = source(x[seen], y[seen])
        # beyond the domain a source may have no value, such as a logarithm at its centre
        transform = np.fft.fft2(np.where(np.isfinite(values), values, 0.0) * window)
        if _tail(transform) < TAIL:
            break
    return _solve(transform, side, corner, operator)


def lift_field(field: Array, mask: NDArray[np.bool_], grid: Grid, operator: Operator) -> Lift:
    """The lift of a source that is known at the pixels of a mask only: each other pixel takes the nearest one's value.

    The series agrees with f at the pixels and has a kink at the mask's edge, so its error falls with the square of the
    spacing only; a source that is a function should be given as one.
    """
    from scipy.ndimage import distance_transform_edt

    xmin, xmax, ymin, _ = grid.bounds
    step, n = grid.spacing[0], grid.size
    pad = int(np.ceil(MARGIN / step))
    size = n + 2 * pad
    nearest = distance_transform_edt(~mask, return_distances=False, return_indices=True)
    values = np.pad(field[tuple(nearest)], pad, mode="edge")
    side = size * step
    t = (np.arange(size) + 0.5) * step - 0.5 * side
    window = fade(t, 0.5 * (xmax - xmin), side)
    transform = np.fft.fft2(values * window[:, None] * window[None, :])
    corner = xmin + 0.5 * step - pad * step, ymin + 0.5 * step - pad * step
    return _solve(transform, side, corner, operator)


def fade(t: NDArray[Any], half: float, side: float) -> Array:
    """1 for |t| ≤ half, 0 at the edge of the square, smooth in between."""
    from scipy.special import erfc

    share = np.clip((np.abs(t) - half) / (0.5 * side - half), 0.0, 1.0)
    return np.where(share >= 1, 0.0, 0.5 * erfc(STEEPNESS * (2 * share - 1)))


def _tail(transform: NDArray[np.complex128]) -> float:
    """The largest coefficient in the outer quarter of the frequencies, relative to the largest of all."""
    size = np.abs(transform)
    n = len(size)
    outer = np.abs(np.fft.fftfreq(n)) > 0.375
    return float(max(size[outer].max(), size[:, outer].max()) / max(size.max(), 1e-300))


def _symbol(frequencies: NDArray[Any], operator: Operator) -> Array:
    """What L does to e^{iξ·x}: c₀ − c₁|ξ|² + c₂|ξ|⁴."""
    square = frequencies[None, :] ** 2 + frequencies[:, None] ** 2
    return operator[0] - operator[1] * square + operator[2] * square**2


def _clear_side(side: float, operator: Operator) -> float:
    """The side, made a little longer where a mode would be close to k."""
    if operator[0] <= 0:
        return side
    best = (0.0, side)
    for longer in side * np.linspace(1.0, 1.2, 21):
        frequencies = 2 * np.pi / longer * np.arange(int(np.sqrt(operator[0]) * longer) + 2)
        gap = float(np.abs(_symbol(frequencies, operator)).min())
        if gap > CLEAR:
            return float(longer)
        best = max(best, (gap, float(longer)))
    return best[1]


def _solve(transform: NDArray[np.complex128], side: float, corner: tuple[float, float], operator: Operator) -> Lift:
    size = len(transform)
    symbol = _symbol(2 * np.pi * np.fft.fftfreq(size, side / size), operator)
    mean = 0.0
    if operator[0] == 0:
        mean = float(transform[0, 0].real) / size**2
        transform[0, 0], symbol[0, 0] = 0.0, 1.0
    return Lift(transform / symbol, side, corner, mean, operator)


def _stencil(position: Array) -> tuple[NDArray[np.intp], Array]:
    """First of `POINTS` lattice points around a position, in spacings, and their Lagrange weights [POINTS, ...]."""
    first = np.floor(position).astype(np.intp) - (POINTS // 2 - 1)
    t = position - first
    weights = np.ones((POINTS, *position.shape))
    for j in range(POINTS):
        for m in range(POINTS):
            if m != j:
                weights[j] *= (t - m) / (j - m)
    return first, weights
