"""Very many shapes that are united, in the programs of the kernels: see `mc2.geometry.member_kernels`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mc2.errors import InputError
from mc2.geometry import kernels
from mc2.geometry import member_kernels as grid

if TYPE_CHECKING:
    from mc2.geometry.domain import Constants, Leaf

MANY = 256
"""Shapes that are visited one by one; for more there is a grid."""
MARGIN = 0.25
"""The grid reaches beyond the shapes by this part of their size."""
MOST_NUMBERS = 1 << 24
"""Numbers of a grid and its shapes: places are counted in float32, which can count no farther."""


class Members:
    """Shapes and polygons whose union a program computes at once."""

    registers = 1

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = leaves

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        """Append the instruction, and its constants."""
        own: list[tuple[int, int, int, int]] = []
        begin, count = len(constants), len(self.leaves)
        shapes = type(constants)("d")
        for leaf in self.leaves:
            leaf.emit(own, shapes, out)
        found = np.zeros(grid.HEADER + grid.ROW * count + len(shapes))
        first = grid.HEADER + grid.ROW * count
        rows = [(op, first + place, edges) for op, _, place, edges in own]
        found[grid.HEADER : first] = np.ravel(rows)
        found[first:] = shapes
        lists = self._lists(found)
        if sum(map(len, lists)) > MOST_NUMBERS:
            raise InputError(f"{count:,} shapes need more than {MOST_NUMBERS:,} numbers: join some of them to polygons")
        for part in lists:
            constants.frombytes(part.tobytes())
        code.append((kernels.MEMBERS, out, begin, 0))

    def _lists(self, found: np.ndarray) -> list[np.ndarray]:
        """The constants with the ends of lists, and the lists."""
        boxes = np.array([leaf.bounds for leaf in self.leaves])
        low, high = boxes[:, ::2], boxes[:, 1::2]
        corner, size = low.min(axis=0), np.maximum(high.max(axis=0) - low.min(axis=0), 1e-300)
        margin = MARGIN * size.max()
        corner, size = corner - margin, size + 2 * margin
        cells = 4 * len(self.leaves)
        columns = max(1, min(cells, round(math.sqrt(cells * size[0] / size[1]))))
        rows = max(1, cells // columns)
        ends = len(found)
        found = np.concatenate([found, np.zeros(columns * rows)])
        found[: grid.HEADER] = (
            *corner, columns / size[0], rows / size[1], columns, rows, len(self.leaves), ends, len(found)
        )  # fmt: skip
        room = 16 * columns * rows
        while True:
            lists = np.empty(room)
            used = grid.make_lists(found, lists)
            if used >= 0:
                return [found, lists[:used]]
            room *= 4
