"""Integrals of a function with jumps, kinks or peaks against smooth ones: Lobatto's rules on cells that adapt to it.

A cell is split, along the axes along which the function is rough there, until what its rule leaves is small; so a jump
is followed down to cells a few thousandths of a lattice cell wide, at a cost that grows with its length only. The rules
have nodes on the cells' edges and corners: a jump that cuts off a corner would hide from Gauss's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
COARSE, FINE = 7, 4
"""Nodes of a rule along each side: of first cells and their halves, and of smaller ones, in which there is a jump."""
DEEP = 2
"""Splits after which cells have the smaller rule."""
BOTH = 0.3
"""An axis is split where the function is at least this rough along it, in units of the other."""


@dataclass(frozen=True)
class Nodes:
    """Where a function was sampled, and what the samples stand for.

    x, y: nodes.
    mass: value × weight.
    left: what all cells together may be wrong by.
    """

    x: Array
    y: Array
    mass: Array
    left: float


@dataclass(frozen=True)
class Peaks:
    """Places where a function has features too narrow to be found by sampling.

    x, y, width: [n].
    """

    x: Array
    y: Array
    width: Array


NO_PEAKS = Peaks(np.zeros(0), np.zeros(0), np.zeros(0))


def integrate(
    function: Callable[[Array, Array], Array],
    cells: Array,
    tolerance: float,
    most: int,
    peaks: Peaks = NO_PEAKS,
) -> Nodes:
    """Sample a function so that its integrals over cells are right.

    cells: [4, n], xmin, xmax, ymin, ymax.
    tolerance: of one cell's integral.
    most: evaluations, about.
    peaks: cells around them are split down to their width, whatever the samples say.
    """
    found: list[tuple[Array, Array, Array]] = []
    doubt = _Doubt()
    used, depth = 0, 0
    while cells.shape[1]:
        nodes, weights, to_series = _rule(COARSE if depth <= DEEP else FINE)
        x, y, area, values = _sample(function, cells, nodes)
        used += values.size
        along_x, along_y = _roughness(values, to_series)
        missed = np.maximum(along_x, along_y) * area
        unsure = _hides_peak(cells, peaks)
        split = (missed > tolerance) | unsure
        room = max(most - used, 0) // (4 * values[0].size)
        if split.sum() > room:  # for those that miss the most
            split &= missed >= np.sort(missed[split])[::-1][room]
            split &= np.cumsum(split) <= room
        mass = values * (weights[:, None] * weights) * (0.25 * area)[:, None, None]
        doubt.add(missed, mass.sum((1, 2)), split)
        found.append((x[~split].ravel(), y[~split].ravel(), mass[~split].ravel()))
        axes = along_x >= BOTH * along_y, along_y >= BOTH * along_x
        cells = _split(cells[:, split], *((axis | unsure)[split] for axis in axes))
        depth += 1
    x, y, mass = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else np.zeros((3, 0))
    return Nodes(x, y, mass, doubt.total)


class _Doubt:
    """What all cells together may be wrong by.

    Errors of cells that a jump crosses have either sign, and add up like noise. Those at a cusp all have the same,
    which splitting shows: how much it changes, as a part of what was thought to be missed, is taken for the rest too.
    """

    def __init__(self) -> None:
        self.squares, self.systematic = 0.0, 0.0
        self._part, self._before, self._missed = 0.0, 0.0, 0.0

    def add(self, missed: Array, mass: Array, split: NDArray[np.bool_]) -> None:
        """One level of cells: what each is thought to miss, what it holds, and whether it is split further."""
        if self._missed > 0:
            self._part = float(np.clip((mass.sum() - self._before) / self._missed, -1.0, 1.0))
        self.squares += float(np.sum(missed[~split] ** 2))
        self.systematic += self._part * float(missed[~split].sum())
        self._before, self._missed = float(mass[split].sum()), float(missed[split].sum())

    @property
    def total(self) -> float:
        return float(np.hypot(np.sqrt(self.squares), self.systematic))


@cache
def _rule(count: int) -> tuple[Array, Array, Array]:
    """Lobatto's nodes and weights on [-1, 1], and the matrix from values there to Legendre coefficients."""
    legendre = np.polynomial.legendre.Legendre.basis(count - 1)
    nodes = np.concatenate([[-1.0], np.sort(legendre.deriv().roots().real), [1.0]])
    weights = 2 / (count * (count - 1) * legendre(nodes) ** 2)
    return nodes, weights, np.linalg.inv(np.polynomial.legendre.legvander(nodes, count - 1))


def _sample(function: Callable[[Array, Array], Array], cells: Array, nodes: Array) -> tuple[Array, Array, Array, Array]:
    """Nodes x and y [cell, row, column], areas [cell], and values like the nodes."""
    xmin, xmax, ymin, ymax = cells[:, :, None, None]
    shape = cells.shape[1], nodes.size, nodes.size
    x = np.broadcast_to(0.5 * (xmin + xmax) + 0.5 * (xmax - xmin) * nodes, shape)
    y = np.broadcast_to(0.5 * (ymin + ymax) + 0.5 * (ymax - ymin) * nodes[:, None], shape)
    area = (cells[1] - cells[0]) * (cells[3] - cells[2])
    return x, y, area, function(x.ravel(), y.ravel()).reshape(shape)


def _roughness(values: Array, to_series: Array) -> tuple[Array, Array]:
    """What a Gauss rule may miss along x and along y, per area [cell].

    The rule is right for about twice the degree of the series. Where its terms fall like powers of a number, it misses
    about the square of the last two, in units of how much the function varies: no kink hides behind a constant. Where
    they fall more slowly, as at a cusp, it misses as much as they fall by when the degree is doubled.
    """
    series = to_series @ values @ to_series.T
    varies, largest = (np.abs(part).max((1, 2)) for part in (values - series[:, :1, :1], values))
    size = np.maximum(np.maximum(varies, 1e-12 * largest), 1e-300)  # rounding is no roughness
    found = []
    for axis in (2, 1):
        terms = np.abs(series).max(3 - axis)
        last, middle = terms[:, -2:].max(1), terms[:, (len(to_series) - 1) // 2 :][:, :2].max(1)
        fall = np.minimum(last / np.maximum(middle, 1e-300), 1.0)
        found.append(np.maximum(last**2 / size, np.where(last > 1e-12 * largest, last * fall, 0.0)))
    return found[0], found[1]


def _hides_peak(cells: Array, peaks: Peaks) -> NDArray[np.bool_]:
    """Which cells hold a peak that is narrower than they are."""
    hidden = np.zeros(cells.shape[1], bool)
    size = np.maximum(cells[1] - cells[0], cells[3] - cells[2])
    for x, y, width in zip(peaks.x, peaks.y, peaks.width, strict=True):
        near = (cells[0] <= x + width) & (x - width <= cells[1]) & (cells[2] <= y + width) & (y - width <= cells[3])
        hidden |= near & (size > width)
    return hidden


def _split(cells: Array, along_x: NDArray[np.bool_], along_y: NDArray[np.bool_]) -> Array:
    """Halves of cells along the axes that are named for each."""
    cells = _halved(cells, 0, along_x)
    return _halved(cells, 2, np.concatenate([along_y, along_y[along_x]]))


def _halved(cells: Array, low: int, chosen: NDArray[np.bool_]) -> Array:
    """All cells, the lower halves of those that are chosen in their places, and then the upper ones."""
    upper = cells[:, chosen]
    middle = 0.5 * (upper[low] + upper[low + 1])
    lower = cells.copy()
    lower[low + 1, chosen] = upper[low] = middle
    return np.concatenate([lower, upper], axis=1)
