"""Where walks start: the pixels of a grid, or points, inside the domain."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError, short
from mc2.geometry import Domain, Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.walks.estimate import Estimate, Record, Resumable, lay_out
from mc2.walks.schedule import WalkSums, WalkTask

if TYPE_CHECKING:
    from mc2.walks.cpu.block_kernels import Job


@dataclass(frozen=True)
class StartPoints:
    """The points inside the domain where walks start, and how to lay results out again.

    x, y: float32 [count], in the frame.
    keys: uint32 [count], the pixel or point numbers that key the random numbers.
    mask: the pixels or points that are walked.
    grid, points: in the user's coordinates.
    frame: of the problem.
    edge, edge_values: the points that lie on the boundary, and the boundary values there.
    """

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    keys: NDArray[np.uint32]
    mask: NDArray[np.bool_]
    grid: Grid | None
    points: NDArray[np.float64] | None
    frame: Frame = Frame()  # noqa: RUF009 (it cannot be changed)
    edge: NDArray[np.bool_] | None = None
    edge_values: NDArray[np.float64] | None = None

    @classmethod
    def make(
        cls,
        problem: Problem,
        grid: Grid | int | None,
        points: ArrayLike | None,
        first_point: int,
        frame: Frame | None = None,
    ) -> "StartPoints":
        array = edge = edge_values = None
        if points is None:
            grid = as_grid(grid, problem.domain)
            x, y = grid.points()
            mask = problem.mask(grid)
        else:
            if grid is not None:
                raise InputError("give grid or points, not both")
            array = _check_points(points)
            x, y = array[:, 0], array[:, 1]
            mask, edge = _inside(problem.domain, array)
            if problem.reflecting:  # from other parts of the boundary than Dirichlet's, walks start
                walls = np.array([condition.reflecting for condition in problem.conditions])
                start = np.flatnonzero(edge)[walls[problem.domain.part_index(x[edge], y[edge])]]
                mask[start], edge[start] = True, False
            edge_values = problem.boundary(x[edge], y[edge]) if edge.any() else np.zeros(0)
        frame = frame or Frame()
        keys = (np.flatnonzero(mask) + first_point).astype(np.uint32)
        x, y = frame.inward(x[mask], y[mask])
        return cls(
            x.astype(np.float32), y.astype(np.float32), keys, mask, None if points is not None else grid, array,
            frame, edge, edge_values,
        )  # fmt: skip

    def job(self, task: WalkTask) -> "Job":
        """A task's points and walks, as the kernels take them."""
        from mc2.walks.cpu.block_kernels import Job

        part = slice(task.start, task.stop)
        return Job(self.x[part], self.y[part], self.keys[part], task.first_walk, task.marks)

    def first(self) -> "StartPoints":
        """Only the first point."""
        return replace(self, x=self.x[:1], y=self.y[:1], keys=self.keys[:1])

    def finish(self, sums: NDArray[np.float64], record: Record, last: WalkSums | None = None) -> Estimate:
        """An estimate from sums [count, 2] over the walks and their squares.

        last: the same sums, as more walks need them.
        """
        mean, variance = lay_out(sums, record.walks, self.frame.value, self.mask)
        resumable = None if last is None else Resumable(last, self.frame.value, self.mask)
        if self.edge is None or self.edge_values is None:
            return Estimate(mean, variance, self.mask, record, self.grid, self.points, resumable)
        mean[self.edge] = self.edge_values
        return Estimate(mean, variance, self.mask | self.edge, record, self.grid, self.points, resumable)


def _check_points(points: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(points, float)
    except (TypeError, ValueError):
        raise InputError(f"points = {short(points)} must be numbers") from None
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise InputError(f"points must be an array [count, 2] of x and y, not of shape {list(array.shape)}")
    if not np.isfinite(array).all():
        raise InputError("points must be finite")
    return array


def _inside(domain: Domain, points: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points lie inside and which on the boundary, up to rounding; a point outside is refused."""
    distance = domain.distance(points[:, 0], points[:, 1])
    inside = distance > 0
    edge = ~inside & (distance >= -domain.rounding)
    outside = np.flatnonzero(~(inside | edge))
    if outside.size:
        x, y = points[outside[0]]
        raise InputError(
            f"{outside.size:,} of {len(points):,} points lie outside the domain, the first of them is "
            f"points[{outside[0]}] = ({x:.6g}, {y:.6g}): leave them out"
        )
    return inside, edge
