"""Cuts: paths from a boundary point that stay outside the domain, along which the angle around that point may jump.

Most corners see infinity: their cut is a ray. From inside a notch the shortest way out is searched on a grid, and from
the corner of a hole the way to the middle of that hole.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_functions import Cut
from mc2.geometry import Domain

Array = NDArray[np.float64]
FANS = (0.5, 0.3, 0.7, 0.15, 0.85)
"""Parts of the outside angle at which rays are tried."""
ALONG = 400
"""Points along a ray at which it is asked whether it is outside."""
HALVINGS = 20
"""Of the way between two such points, where a line comes close to the domain."""
CELLS = 192
"""Cells along the longer side of the grid on which paths are searched."""
MARGIN = 0.06
"""Margin of that grid around the domain, as a part of the domain's size."""
CLEAR = 1e-7
"""Distance from the domain, as a part of the distance from the corner, below which a path is not outside."""


class CutFinder:
    """Finds cuts of a domain's corners; what it learns of the domain is kept."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        xmin, xmax, ymin, ymax = domain.bounds
        self.reach = 1.1 * float(np.hypot(xmax - xmin, ymax - ymin))

    def find(self, corner: complex, direction: float, opening: float) -> Cut | None:
        """A cut from a corner. direction: of the side that follows it. opening: the angle of the domain there.

        None where no way out is found, as between sides that almost touch.
        """
        outside = 2 * np.pi - opening
        for share in FANS:
            heading = complex(np.exp(1j * (direction - share * outside)))
            if self._is_free(corner, heading * self._steps()):
                return Cut((corner,), heading)
        for hole in self.domain.holes():
            middle = complex(*hole.center)
            if self._is_clear(corner, middle):
                return Cut((corner, middle), None)
        return self._search(corner, [complex(np.exp(1j * (direction - share * outside))) for share in FANS])

    def _steps(self) -> Array:
        """Distances along a ray: from close by to beyond the domain."""
        near = np.geomspace(1e-6, 1e-2, ALONG // 4)
        return np.asarray(self.reach * np.concatenate([near, np.linspace(1e-2, 1.0, ALONG)[1:]]))

    def _is_free(self, corner: complex, steps: NDArray[Any]) -> bool:
        """Whether all points corner + step lie outside, and the lines between them.

        Around a point outside there is a disk outside, as wide as its distance: where two of them do not meet, it is
        asked in between.
        """
        for _ in range(HALVINGS):
            z = corner + steps
            depth = -self.domain.distance(z.real, z.imag)
            if (depth <= CLEAR * np.abs(steps)).any():
                return False
            bare = depth[1:] + depth[:-1] < np.abs(np.diff(steps))
            if not bare.any():
                break
            middle = 0.5 * (steps[1:] + steps[:-1])[bare]
            steps = np.insert(steps, np.flatnonzero(bare) + 1, middle)
        return True

    def _is_clear(self, first: complex, second: complex) -> bool:
        """Whether the line from one point, which may be a corner, to another is outside."""
        share = self._steps() / self.reach
        return self._is_free(first, share * (second - first))

    def _search(self, corner: complex, headings: Sequence[complex]) -> Cut | None:
        """The way along cells of the grid, made straight where it can be."""
        grid = self._grid
        for step in np.geomspace(0.3, 0.003, 12) * self.domain.size:
            for heading in headings:
                start = corner + step * heading
                cell = grid.cell(start)
                if cell is None or not self._is_clear(corner, start) or not self._is_clear(start, grid.place(cell)):
                    continue
                path, out = grid.way(cell)
                points = [corner, start, *path]
                return Cut(tuple(self._straightened(points)), grid.heading(path[-1]) if out else None)
        return None

    def _straightened(self, points: list[complex]) -> list[complex]:
        """With as few of the points as lines between them allow."""
        kept, here = [points[0]], 0
        while here < len(points) - 1:
            ahead = len(points) - 1
            while ahead > here + 1 and not self._is_clear(points[here], points[ahead]):
                ahead -= max(1, (ahead - here) // 8)
            here = max(ahead, here + 1)
            kept.append(points[here])
        return kept

    @cached_property
    def _grid(self) -> "_Grid":
        return _Grid(self.domain)


class _Grid:
    """Cells outside the domain, and from each the way out, or to the middle of its hole."""

    def __init__(self, domain: Domain) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import dijkstra

        xmin, xmax, ymin, ymax = domain.bounds
        margin = MARGIN * domain.size
        self.step = (domain.size + 2 * margin) / CELLS
        self.center = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
        x, y = (
            np.arange(low - margin, high + margin + self.step, self.step) for low, high in ((xmin, xmax), (ymin, ymax))
        )
        self.x, self.y = x, y
        depth = -domain.distance(x, y[:, None])
        free = depth > 0.5 * self.step
        number = np.arange(free.size).reshape(free.shape)
        first, second, costs = [], [], []
        for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
            a = number[: len(y) - dy, max(0, -dx) : len(x) - max(0, dx)]
            b = number[dy:, max(0, dx) : len(x) + min(0, dx)]
            both = free.flat[a] & free.flat[b]
            near = np.minimum(depth.flat[a], depth.flat[b])[both]
            first.append(a[both])
            second.append(b[both])
            costs.append(np.hypot(dx, dy) * (1 + 4 * self.step / near))  # the middle of a gap is better than its sides
        ends = [number[0], number[-1], number[:, 0], number[:, -1]]
        holes = [cell for hole in domain.holes() if (cell := self._number(complex(*hole.center), free)) is not None]
        self.sources = np.concatenate([*ends, np.array(holes, int)])
        self.out = np.zeros(free.size, bool)
        self.out[np.concatenate(ends)] = True
        graph = coo_array(
            (np.concatenate(costs), (np.concatenate(first), np.concatenate(second))), shape=(free.size, free.size)
        )
        self.length, self.before, _ = dijkstra(
            graph.tocsr(), directed=False, indices=self.sources, return_predecessors=True, min_only=True
        )
        self.free = free

    def _number(self, place: complex, free: NDArray[np.bool_]) -> int | None:
        column, row = (round((at - axis[0]) / self.step) for at, axis in ((place.real, self.x), (place.imag, self.y)))
        if not (0 <= row < free.shape[0] and 0 <= column < free.shape[1] and free[row, column]):
            return None
        return int(row * free.shape[1] + column)

    def cell(self, place: complex) -> int | None:
        """The cell at a place, if there is a way from it."""
        found = self._number(place, self.free)
        return found if found is not None and np.isfinite(self.length[found]) else None

    def place(self, cell: int) -> complex:
        """The middle of a cell."""
        row, column = divmod(cell, len(self.x))
        return complex(self.x[column], self.y[row])

    def way(self, cell: int) -> tuple[list[complex], bool]:
        """The cells from one to the last, and whether that is at the rim."""
        cells = [cell]
        while self.before[cells[-1]] >= 0:
            cells.append(int(self.before[cells[-1]]))
        return [self.place(one) for one in cells], bool(self.out[cells[-1]])

    def heading(self, last: complex) -> complex:
        """Away from the domain, from a place at the rim."""
        away = last - complex(*self.center)
        sideways = abs(away.real) / (self.x[-1] - self.x[0]) > abs(away.imag) / (self.y[-1] - self.y[0])
        return complex(np.sign(away.real), 0.0) if sideways else complex(0.0, np.sign(away.imag))
