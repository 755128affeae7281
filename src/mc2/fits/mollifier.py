"""What a lift leaves of a rough source, averaged over small circles before walks meet it.

Next to a jump, f − Lw is as large as the jump and oscillates from lattice cell to lattice cell: it does next to nothing
to u, but walks that meet it at single points are noisy. Where circles around a point lie in the domain, the mean over
them of any solution of the homogeneous equation is a known multiple of its value at the centre (Gauss; Weber). So far
from a place z, u is the same whether the source at z stays there or is spread over circles around z. Only within these
it is not, and by how much is bounded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CIRCLES = 16, 256
"""Circles around a point, at least and at most, with one point on each: a sunflower, turned at random."""
WORK = 2_000_000
"""Points on them, about: where much is rough, there are fewer around each."""
CELLS = 3.0
"""Radius of the largest circle, in cells of the lattice: what oscillates within fewer is averaged out."""
GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True)
class Mollifier:
    """Spreads a source over circles, wherever it is rough.

    rough: the tiles [row, column] from which it is spread.
    corner, tile: lower left of the tiles, and their side.
    radius: of the largest circle. All circles around points of these tiles lie in the domain.
    shift: c₀/c₁ of the operator c₀u + c₁Δu.
    """

    rough: NDArray[np.bool_]
    corner: tuple[float, float]
    tile: float
    radius: float
    shift: float

    def spread(self, source: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
        """The source at points, after it was spread."""
        here = self._in(self.rough, x, y)
        out = np.zeros(x.size)
        out[~here] = source(x[~here], y[~here])
        near = np.flatnonzero(self._in(self._wide, x, y))
        count = int(np.clip(WORK // max(near.size, 1), *CIRCLES))
        radii = self.radius * np.sqrt((np.arange(count) + 0.5) / count)
        turn = np.random.default_rng(0).uniform(0.0, 2 * np.pi, near.size)
        for number, radius in enumerate(radii):
            angle = turn + GOLDEN * number
            px, py = x[near] + radius * np.cos(angle), y[near] + radius * np.sin(angle)
            hit = np.flatnonzero(self._in(self.rough, px, py))
            out[near[hit]] += source(px[hit], py[hit]) / (count * self._mean(radii))
        return out

    @property
    def local(self) -> float:
        """What spreading may change: at most this times the root mean square of what is spread (Young's inequality).

        A point source and one that is spread over a circle of radius r differ within it by log(r/…)/2π, whose integral
        is r²/4.
        """
        return self.radius**2 / 8

    def _mean(self, radii: Array) -> float:
        """The mean over the circles of a solution that is 1 at the centre."""
        from scipy.special import i0, j0

        bessel = j0 if self.shift > 0 else i0
        return float(np.mean(bessel(np.sqrt(abs(self.shift)) * radii)))

    @cached_property
    def _wide(self) -> NDArray[np.bool_]:
        from scipy.ndimage import binary_dilation

        reach = int(np.ceil(self.radius / self.tile))
        return np.asarray(binary_dilation(self.rough, np.ones((3, 3), bool), iterations=reach))

    def _in(self, tiles: NDArray[np.bool_], x: Array, y: Array) -> NDArray[np.bool_]:
        rows, columns = tiles.shape
        row, column = ((y - self.corner[1]) / self.tile).astype(int), ((x - self.corner[0]) / self.tile).astype(int)
        return tiles[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
