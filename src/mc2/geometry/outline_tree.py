"""Trees over very many edges, for the kernels: see `mc2.geometry.outline_kernels`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry import outline_kernels as kernels
from mc2.geometry.outline_making_kernels import make_cells, make_nodes
from mc2.geometry.pieces import filling_order

Array = NDArray[np.float64]

MARGIN = 0.25
"""Cells reach beyond the edges on all sides by this part of the size of their box."""
SMALLEST = 5e-6
"""Half the side of the smallest cells, in units of the size: walks end before they meet smaller ones."""
ROUNDING = 1e-6
"""By how much float32 may be off in telling cells apart, in units of the size."""
MOST_NUMBERS = 1 << 24
"""Numbers of a tree: places are counted in float32, which can count no farther."""
SHORTER = 0.02
"""Part of the distance to a slit by which walks stay away from it: see `mc2.geometry.outline_kernels.SHORT`."""


@dataclass(frozen=True)
class OutlineTree:
    """Edges in a frame of their own, and where that frame is: p = center + factor q, in complex numbers."""

    numbers: Array
    center: complex
    factor: complex

    def placed(self, factor: complex, shift: complex) -> OutlineTree:
        """The same edges, multiplied by a complex factor and then moved."""
        return replace(self, center=factor * self.center + shift, factor=factor * self.factor)

    def constants(self) -> Array:
        """What the kernels read."""
        size, found = abs(self.factor), self.numbers.copy()
        turn = self.factor / size
        found[: kernels.SHORT] = self.center.real, self.center.imag, turn.real / size, turn.imag / size, size
        return found


def outline_tree(chains: Sequence[Array], closed: bool, sign: float = 0.0) -> OutlineTree:
    """A tree over the edges of chains of points [n, 2].

    closed: whether every chain goes on to where it begins. Then the sign of the distance is positive on its left.
    sign: of all distances, where there is no inside.
    """
    low = np.min([chain.min(axis=0) for chain in chains], axis=0)
    high = np.max([chain.max(axis=0) for chain in chains], axis=0)
    size, center = float((high - low).max()), 0.5 * low + 0.5 * high
    own = [(chain - center) / size for chain in _in_order(chains)]
    starts = own if closed else [chain[:-1] for chain in own]
    ends = [np.roll(chain, -1, axis=0) if closed else chain[1:] for chain in own]
    signs = np.concatenate([_vertex_signs(chain) if closed else np.zeros((len(chain) - 1, 2)) for chain in own])
    owner = np.repeat(np.arange(len(own)), [len(start) for start in starts])
    numbers = _numbers(np.concatenate(starts), np.concatenate(ends), owner, signs, sign)
    return OutlineTree(numbers, complex(*center), complex(size))


def _in_order(chains: Sequence[Array]) -> list[Array]:
    """Chains so that those that are near each other follow each other."""
    centers = np.array([0.5 * (chain.min(axis=0) + chain.max(axis=0)) for chain in chains])
    return [chains[k] for k in filling_order(centers)]


def _vertex_signs(ring: Array) -> Array:
    """The sign of the distance where the start, and the end, of each edge is the nearest point: 0 unless it is sharp.

    Around a vertex at which the ring turns by less than a right angle, the side of either edge tells the sign.
    """
    along = (np.roll(ring, -1, axis=0) - ring) @ (1, 1j)
    turn = np.angle(along / np.roll(along, 1))
    at_start = np.where(np.abs(turn) > 0.5 * np.pi, -np.sign(turn), 0.0)
    return np.stack([at_start, np.roll(at_start, -1)], axis=1)


def _numbers(start: Array, end: Array, owner: NDArray[np.int64], signs: Array, sign: float) -> Array:
    """The header, without its place, nodes and cells."""
    count = len(start)
    nodes = np.empty((2 * count - 1, kernels.NODE))
    make_nodes(start, end, owner, signs, nodes)
    used = kernels.HEADER + nodes.size
    coarse, side = _sides(count)
    room = used + side * side + 100 * count + 10_000
    while room <= MOST_NUMBERS:
        found = np.zeros(room)
        header = 1 - SHORTER if sign else 1.0, -0.5 - MARGIN, side, 0, kernels.HEADER, sign or -1.0
        found[kernels.SHORT : kernels.HEADER] = header
        found[kernels.HEADER : used] = nodes.ravel()
        made = make_cells(found, used, coarse, side, ROUNDING, SMALLEST, sign)
        if made >= 0:
            return found[:made].copy()
        room *= 2
    raise InputError(
        f"an outline of {count:,} edges needs more than {MOST_NUMBERS:,} numbers: draw it with fewer, or less entangled"
    )


def _sides(count: int) -> tuple[int, int]:
    """Cells along a side, before and after they are cut into smaller ones: about four for each edge."""
    exponent = max(2, math.floor(0.5 * math.log2(4 * count)))
    return 1 + exponent % 2, 1 << exponent
