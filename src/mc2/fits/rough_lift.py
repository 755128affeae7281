"""Lifts of sources that a lattice cannot show: with jumps, kinks, peaks, or wild outside the domain.

Where differences between neighbouring lattice points say that f is rough, and around peaks that are narrower than a
cell, a smooth partition of unity χ takes f apart. (1 − χ)f is smooth and is sampled on the lattice, as ever. χf is
integrated over cells that adapt to it, and its masses are spread onto the lattice by smooth bumps that are divided out
again in Fourier space (a nonuniform Fourier transform: Dutt and Rokhlin, 1993). Rough places away from the domain are
left out: Lw may be anything there. So the lift has f's true Fourier coefficients up to half of the lattice's highest
frequency, and ends smoothly there: its error is local to where f is rough, and of the order of (lattice cell)² × jump.

How large it is, is measured: by what ending at lower frequencies changes, at every place; and by comparing Lw with f at
random points off the lattice.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from mc2.fits.lift import (
    CLEAR,
    MARGIN,
    TAIL,
    Lift,
    kaiser,
    lifts,
    solve_on_lattice,
    steepness,
)
from mc2.fits.lift_kernels import STEEP, WIDTH, partition, spread
from mc2.fits.mollifier import CELLS, Mollifier
from mc2.fits.quadrature import Nodes, Peaks, integrate
from mc2.fits.resolution import CLOSELY, ROUGHLY, Resolution, find_peaks, probe, probes, strongest_reach
from mc2.functions import Function
from mc2.geometry import Domain, Grid
from mc2.problems.operator import Operator, need_constant
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]
LATTICE, FINEST = 1024, 2400
"""Lattice points along a side: for a rough source, about; and at most, for one that oscillates everywhere."""
TILE = 8
"""Lattice points along a side of a tile: χ is 1 on tiles around rough places."""
ROUGH = 2e-5
"""Sixth difference between neighbours, as a part of f, root mean square, above which f counts as rough there."""
SPREAD_OUT = 0.15
"""Share of rough tiles in the domain above which a finer lattice is the better answer."""
ENDS, LOWER = (0.3, 0.5), 0.7
"""Frequencies between which a rough lift ends, as parts of the lattice's highest one; and times these, at which it ends
for comparison: that doubles the error at a jump."""
TOLERANCE, MOST_NODES = 2e-5, 3_000_000
"""Error of one cell's integral, as a part of f, root mean square, times a lattice cell; and evaluations of f, about."""
REACH = 3
"""Tiles from the domain beyond which rough places are left out."""
ROUNDING = 1e-13
"""Part of the largest boundary value below which a source is rounding."""
NEARLY = 1e-3
"""As `RESOLVED`, for a source that is rough everywhere, as values on a grid are: cells that adapt would not help."""


def find_lift(
    source: Function,
    domain: Domain,
    operator: Operator,
    grid: Grid | None = None,
    tail: float = TAIL,
    accuracy: float | None = None,
    largest: Callable[[], float] = lambda: 0.0,
) -> tuple[Lift, Resolution]:
    """A lift on the lattice that the source needs, and how well it knows the source.

    grid, tail: see `make_lift`.
    accuracy: of w, root mean square, for which a rough source has a finer lattice.
    largest: tells how large u is on the boundary, if asked: a source may be nothing but the rounding of a solution.
    """
    need_constant(operator, "a lift of the source")
    peaks = find_peaks(source, domain)
    rough: _Rough | None = None
    closely = ROUGHLY if tail == TAIL and accuracy is None else CLOSELY
    for lift in lifts(source, domain.bounds, operator, grid, FINEST):
        last = 3 * lift.size > FINEST
        if lift.tail < tail or last:
            found = probe(lift, source, domain, peaks, closely)
            enough = found.negligible and (accuracy is None or found.errors.max() <= 0.3 * accuracy)
            if enough or (last and found.worst <= NEARLY * found.scale):
                return lift, found
            if found.negligible:
                continue
        if rough is None and (whole := _of_all(lift, source, domain, peaks)) <= ROUNDING * largest():
            return lift, Resolution(0.0, 0.0, 0.0, np.full((1, 1), whole))
        # what is rough in few places only is not mended by a finer lattice; one that is fooled does not show it
        rough = _Rough(source, domain, operator, LATTICE if lift.tail < tail else min(lift.size, LATTICE), peaks)
        if 0 < rough.share <= SPREAD_OUT:
            break
    assert rough is not None
    if rough.size < LATTICE:
        rough = _Rough(source, domain, operator, LATTICE, peaks)
    lift, found = rough.lift()
    if accuracy is not None and found.resolved and rough.typical(found) > accuracy:
        lift, found = _Rough(source, domain, operator, 2 * LATTICE, peaks).lift()
    return lift, found


def _of_all(lift: Lift, source: Function, domain: Domain, peaks: Peaks) -> float:
    """What the whole source can do, about: as large as it is at random points, at peaks, or on the lattice."""
    seen = float(np.abs(source(*probes(domain, peaks))).max())
    return max(seen, lift.largest_source) * strongest_reach(domain, lift.operator)


class _Rough:
    """A source on a lattice, and where it is rough.

    size: lattice points along a side, about.
    """

    def __init__(self, source: Function, domain: Domain, operator: Operator, size: int, peaks: Peaks) -> None:
        self.source, self.domain, self.operator, self.peaks = source, domain, operator, peaks
        xmin, xmax, ymin, ymax = domain.bounds
        self.centre, self.half = (0.5 * (xmin + xmax), 0.5 * (ymin + ymax)), 0.5 * domain.size
        start = domain.size * (1 + 2 * MARGIN)
        self.step = start / (16 * (size // 16))
        self.size = _clear_size(16 * (size // 16), self.step, operator)
        self.side = self.size * self.step
        self.corner = self.centre[0] - 0.5 * self.side, self.centre[1] - 0.5 * self.side
        self.x, self.y = (low + self.step * np.arange(self.size) for low in self.corner)
        rows = in_halves(lambda y: source(*np.meshgrid(self.x, y)), self.y)
        values = np.concatenate(rows)
        self.finite = np.isfinite(values)
        self.values = np.where(self.finite, values, 0.0)
        tiles = self.size // TILE
        middle = (np.arange(tiles) + 0.5) * TILE * self.step
        self.distance = domain.distance(*np.meshgrid(self.corner[0] + middle, self.corner[1] + middle))
        self.inside, self.near = (self.distance > -reach * TILE * self.step for reach in (1, REACH))
        own = self._tiled(self.values**2).mean((1, 3))[self.inside]
        self.scale = max(float(np.sqrt(np.mean(own))), 1e-300)
        self.rough = self._find_rough()

    @property
    def share(self) -> float:
        """The share of the domain's tiles that are rough."""
        return float(self.rough[self.inside].mean())

    def typical(self, found: Resolution) -> float:
        """The error of w that was found, root mean square over the domain."""
        middle = self.x[TILE // 2 :: TILE], self.y[TILE // 2 :: TILE]
        x, y = (c[self.distance > 0] for c in np.meshgrid(*middle))
        return float(np.sqrt(np.mean(found.error(x, y) ** 2))) if x.size else 0.0

    def _tiled(self, field: NDArray[np.generic]) -> NDArray[np.generic]:
        """[tile row, row, tile column, column]."""
        tiles = self.size // TILE
        return field.reshape(tiles, TILE, tiles, TILE)

    @cached_property
    def _within(self) -> NDArray[np.bool_]:
        """The lattice points inside the domain."""
        tiles = self.distance > 0
        found = np.repeat(np.repeat(tiles, TILE, axis=0), TILE, axis=1)
        crossed = np.abs(self.distance) <= TILE * self.step
        row, column = np.nonzero(np.repeat(np.repeat(crossed, TILE, axis=0), TILE, axis=1))
        found[row, column] = self.domain.contains(self.x[column], self.y[row])
        return found

    def _find_rough(self) -> NDArray[np.bool_]:
        """Tiles in which f is not finite, changes fast, or has a peak."""
        rough = ~self.finite
        for axis in (0, 1):
            inner = [slice(None), slice(None)]
            inner[axis] = slice(3, -3)
            rough[tuple(inner)] |= np.abs(np.diff(self.values, n=6, axis=axis)) > ROUGH * self.scale
        tiles = np.asarray(self._tiled(rough).any((1, 3)))
        row, column = (
            np.clip(((place - low) / (TILE * self.step)).astype(int), 0, len(tiles) - 1)
            for place, low in zip((self.peaks.y, self.peaks.x), (self.corner[1], self.corner[0]), strict=True)
        )
        tiles[row, column] = True
        return tiles

    def lift(self) -> tuple[Lift, Resolution]:
        """The lift, and how well it knows the source."""
        transform, missed = self._transform()
        angle = 2 * np.pi * np.abs(np.fft.fftfreq(self.size))
        radius = np.hypot(angle[:, None], angle[: self.size // 2 + 1])
        ends, lower = (_taper(radius, factor) for factor in (1.0, LOWER))
        change = solve_on_lattice((ends - lower) * transform, self.size, self.side, self.corner, self.operator)
        lift = _half(solve_on_lattice(ends * transform, self.size, self.side, self.corner, self.operator))
        return lift, self._resolution(lift, change, missed)

    def _transform(self) -> tuple[NDArray[np.complex128], float]:
        """The Fourier transform of the windowed source, and a bound for the masses that cells have missed."""
        from scipy.fft import rfft2
        from scipy.ndimage import binary_dilation

        around = np.ones((3, 3), bool)
        wide = binary_dilation(self.rough, around)
        taken = np.concatenate(in_halves(lambda y: self._taken(wide, *np.meshgrid(self.x, y)), self.y))
        outer = 0.5 * self.side - self.step
        steep = steepness((outer - self.half) / self.step)
        window_x, window_y = (
            kaiser(t - middle, self.half, outer, steep) for t, middle in zip((self.x, self.y), self.centre, strict=True)
        )
        smooth = self.values * (1 - taken) * window_y[:, None] * window_x
        transform = np.asarray(rfft2(smooth))
        nodes = self._integrate(binary_dilation(wide, around) & self.near, wide)
        if nodes.mass.size:
            column, row = (nodes.x - self.corner[0]) / self.step, (nodes.y - self.corner[1]) / self.step
            spread_out = sum(in_halves(self._spread, column, row, nodes.mass / self.step**2))
            blur = _bump_transform(self.size)
            transform += rfft2(spread_out) / (blur[:, None] * blur[: self.size // 2 + 1])
        return transform, nodes.left

    def _spread(self, column: Array, row: Array, mass: Array) -> Array:
        lattice = np.zeros((self.size, self.size))
        spread(column, row, mass, lattice)
        return lattice

    def _taken(self, tiles: NDArray[np.bool_], x: Array, y: Array) -> Array:
        """χ for some tiles, at points."""
        out, side = np.empty(x.size), TILE * self.step
        first_x, first_y = (low - 0.5 * self.step for low in self.corner)  # lattice points are middles of their cells
        partition(tiles, (x.ravel() - first_x) / side, (y.ravel() - first_y) / side, _smooth_step(), out)
        return out.reshape(x.shape)

    def _integrate(self, tiles: NDArray[np.bool_], taken: NDArray[np.bool_]) -> Nodes:
        """χf over tiles, each of four cells. taken: the tiles that χ is made of."""
        row, column = (np.repeat(2 * index, 4) for index in np.nonzero(tiles))
        row, column = row + np.tile([0, 0, 1, 1], len(row) // 4), column + np.tile([0, 1, 0, 1], len(column) // 4)
        side = 0.5 * TILE * self.step
        xmin = self.corner[0] - 0.5 * self.step + side * column
        ymin = self.corner[1] - 0.5 * self.step + side * row

        def part(x: Array, y: Array) -> Array:
            values = self.source(x, y)
            return np.where(np.isfinite(values), values, 0.0) * self._taken(taken, x, y)

        cells = np.stack([xmin, xmin + side, ymin, ymin + side])
        tolerance = TOLERANCE * self.scale * self.step**2
        halves = in_halves(lambda own: integrate(part, own, tolerance, MOST_NODES // 2, self.peaks), cells)
        one, two = halves
        x, y, mass = (np.concatenate(pair) for pair in ((one.x, two.x), (one.y, two.y), (one.mass, two.mass)))
        return Nodes(x, y, mass, float(np.hypot(one.left, two.left)))

    def _resolution(self, lift: Lift, change: Lift, missed: float) -> Resolution:
        """change: what ending at lower frequencies would change. missed: masses."""
        from scipy.fft import irfft2
        from scipy.ndimage import uniform_filter

        moved = np.asarray(irfft2(change.spectrum, (self.size, self.size))) ** 2
        weight = np.asarray(self._tiled(self._within.astype(float)).sum((1, 3)))
        total = np.asarray(self._tiled(moved * self._within).sum((1, 3)))
        mean, around = total / np.maximum(weight, 1.0), [uniform_filter(part, 3) for part in (total, weight)]
        errors = np.sqrt(np.maximum(mean, around[0] / np.maximum(around[1], 1.0)))
        side = TILE * self.step
        seen = probe(lift, self.source, self.domain)
        if self.share > SPREAD_OUT and not seen.negligible:
            return replace(seen, resolved=False)
        found = replace(seen, errors=errors, corner=self.corner, tile=side)
        edge = self.domain.sample_boundary(512).T
        # what is wrong on the boundary is fitted there, and wrong inside as well; a missed mass is wrong by G times as
        # much, and G is about 1/3: the rest is for how little is known of what was missed
        floor = np.mean(found.error(*edge) ** 2) + (missed * self.half ** (2 if self.operator.order == 4 else 0)) ** 2
        if self.operator.order == 4:  # so is Δw, whose share of u is that of Δu on a disk of this size
            floor += np.mean((self.domain.size**2 / 16 * _half(change).laplacian(*edge)) ** 2)
        return replace(found, errors=np.sqrt(errors**2 + floor), mollifier=self._mollifier())

    def _mollifier(self) -> Mollifier | None:
        """Circles of the lift's lattice, whose cells are two of this one."""
        from scipy.ndimage import binary_dilation

        if self.operator.order == 4:  # the means of solutions are not multiples of their values there
            return None
        side, radius = TILE * self.step, CELLS * 2 * self.step
        tiles = binary_dilation(self.rough, np.ones((3, 3), bool)) & (self.distance > radius + 0.75 * side)
        return (
            Mollifier(tiles, self.corner, side, radius, self.operator.mass / self.operator.diffusion)
            if tiles.any()
            else None
        )


def _clear_size(size: int, step: float, operator: Operator) -> int:
    """A number of lattice points, a multiple of 16, for which no mode of a Helmholtz operator is near zero."""
    if operator.mass <= 0:
        return size
    gaps = {}
    for tried in range(size, size + 20 * 16, 16):
        base = 2 * np.pi / (tried * step)
        modes = np.arange(int(np.sqrt(operator.mass) / base) + 2) ** 2
        gaps[tried] = float(np.abs(operator.mass - base**2 * (modes[:, None] + modes)).min())
        if gaps[tried] > CLEAR:
            return tried
    return max(gaps, key=lambda tried: gaps[tried])


def _taper(radius: Array, factor: float) -> Array:
    """1 at low frequencies, 0 at high ones; radius: |ξ| times the lattice's spacing."""
    low, high = (factor * end * np.pi for end in ENDS)
    table = np.linspace(0.0, high, 4096)
    return np.interp(radius, table, kaiser(table, low, high, 20.0), right=0.0)


def _half(lift: Lift) -> Lift:
    """A lift with the lower half of its frequencies, above which there are none."""
    size, quarter = lift.size // 2, lift.size // 4
    rows = np.concatenate([lift.spectrum[:quarter], lift.spectrum[-quarter:]])
    return replace(lift, spectrum=np.asarray(rows[:, : quarter + 1] / 4, complex), size=size, finer=2.0)


@cache
def _smooth_step() -> Array:
    """From 0 to 1 on [-1, 1], two tiles, by Kaiser's flank."""
    return kaiser(np.linspace(2.0, 0.0, 1 << 14), 0.0, 2.0, steepness(2 * TILE))


@cache
def _bump_transform(size: int) -> Array:
    """The Fourier transform of the bump that masses are spread by, at the lattice's frequencies."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    values = np.exp(STEEP * (np.sqrt(1 - nodes**2) - 1)) * weights * (0.5 * WIDTH)
    return np.asarray(np.cos(np.outer(2 * np.pi * np.fft.fftfreq(size), 0.5 * WIDTH * nodes)) @ values)
