"""Walk on Stars: walks for problems with Neumann and Robin conditions, on all cores.

What a walk has met is a list of points with weights: u at its start is the mean over walks of

    weight × g where it ended + Σ weight × h where it met walls + Σ weight × f where it met the source,

with g, h and f the data of the conditions and the source: see `docs/walks.md`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.functions import Function
from mc2.problems import Problem
from mc2.walks.engine import cores, rule_values
from mc2.walks.exits import Exits, Samples, WallSamples
from mc2.walks.options import Options
from mc2.walks.plan import Plan, make_plan
from mc2.walks.run import Run
from mc2.walks.schedule import Progress, Tally, WalkTask, run_tasks
from mc2.walks.start_points import StartPoints
from mc2.walks.walls import Boundary, nearest_walls

Array = NDArray[np.float64]
Single = NDArray[np.float32]
LARGEST_RATE = 2.0
"""Largest √λ R: beyond, a walk has lost most of its weight before it gets there."""
WALL = 0.02
"""Largest radius on a Robin wall, as a part of half the domain's size: what is neglected there is R²/18 of ∂²u/∂t²."""
SAMPLES, PICKED = 16, 2
"""Samples of the source and of walls that are expected of a walk: more are made room for where they are met. And
samples of walls that are kept of a walk where its data are what a fit leaves over."""
END = 1e-8
"""Part of a piece's length that no point is nearer to its ends, where derivatives may be infinite."""


@dataclass(frozen=True)
class Met:
    """What walks from some points have met, with weights.

    ends: x, y, weight [3, walk] where each ended, and end_piece, the piece of the boundary that is nearest, or −1.
    known: the sum of what each has met on walls, where their data are constant [walk]; there are no samples then.
    source: x, y, weight [3, sample], and source_walk, the walk of each.
    wall: x, y, weight [3, sample], with wall_walk, the walk of each, and wall_piece, the piece of the boundary.
    """

    boundary: Boundary
    ends: Single
    end_piece: NDArray[np.int64]
    known: Array
    source: Single
    source_walk: NDArray[np.int64]
    wall: Single
    wall_walk: NDArray[np.int64]
    wall_piece: NDArray[np.int64]


class Walker:
    """Walks of a problem.

    all_walls: whether walks sample all walls, even those whose data are 0.
    source: whether they sample the source.
    wall: the largest radius on a Robin wall, as a part of half the domain's size.
    settled: see `StarRules`.
    """

    def __init__(
        self,
        problem: Problem,
        rate: float,
        options: Options,
        instance: int,
        all_walls: bool = False,
        source: bool = False,
        wall: float = WALL,
        settled: bool = True,
    ) -> None:
        from mc2.walks.cpu.star_step_kernels import StarRules, Walls
        from mc2.walks.random_kernels import make_key

        if options.sampling != "green":
            raise InputError(
                f"sampling = {options.sampling!r}: walks that are reflected sample sources by 'green' only"
            )
        self.problem, self.boundary = problem, Boundary.of(problem)
        self.tables = Walls(*self.boundary.tables(all_walls))
        self.key, self.stop = make_key(options.seed, instance), np.zeros(1, np.uint8)
        domain, half = problem.domain, 0.5 * problem.domain.size
        xmin, xmax, ymin, ymax = domain.bounds
        cap = min(float(np.hypot(xmax - xmin, ymax - ymin)), LARGEST_RATE / rate if rate else np.inf)
        margin = 0.05 * domain.size
        box = tuple(map(np.float32, (xmin - margin, xmax + margin, ymin - margin, ymax + margin)))
        constant = self.boundary.values is not None and self.boundary.given and not all_walls
        self.rules = StarRules(
            np.float32(rate), np.float32(options.shell(domain)), np.float32(cap), np.float32(wall * half),
            np.uint32(options.max_steps), options.stratify, self.boundary.robin, all_walls or self.boundary.given,
            source, self.boundary.convex,
            constant, constant and self.boundary.straight and rate == 0, settled, box,
        )  # fmt: skip

    def walk(self, starts: StartPoints, on: NDArray[np.int32], task: WalkTask) -> tuple[Met, NDArray[np.int64]]:
        """What the walks of a task have met; and its counts: steps, and walks that ran out of them."""
        from mc2.walks.cpu.star_task_kernels import star_task

        part, walks = slice(task.start, task.stop), int(task.marks[-1])
        total = (task.stop - task.start) * walks
        exits, end = np.empty((3, total), np.float32), np.empty(total, np.int32)
        listed = self.rules.source, self.rules.given and not self.rules.constant
        room = [SAMPLES * total if asked else 0 for asked in listed]
        while True:
            counts, known = np.zeros(4, np.int64), np.zeros(total)
            source, wall = (np.empty((3, size), np.float32) for size in room)
            source_walk, wall_walk = (np.empty(size, np.int64) for size in room)
            wall_piece = np.empty(room[1], np.int32)
            star_task(
                self.tables, self.rules, self.key, starts.x[part], starts.y[part], on[part], starts.keys[part],
                task.first_walk, walks, exits, end, known,
                source, source_walk, wall, wall_walk, wall_piece, counts, self.stop,
            )  # fmt: skip
            if counts[2] <= room[0] and counts[3] <= room[1]:
                break
            room = [max(size, int(met)) for size, met in zip(room, counts[2:], strict=True)]
        sources, walls = slice(0, int(counts[2])), slice(0, int(counts[3]))
        own = self.boundary.walls[wall_piece[walls]]
        met = Met(
            self.boundary, exits, np.append(self.boundary.ends, -1)[end], known, source[:, sources],
            source_walk[sources], wall[:, walls], wall_walk[walls], own,
        )  # fmt: skip
        return met, counts[:2]


def by_condition(met: Met, points: Any, piece: NDArray[np.int64]) -> Array:
    """The data of the conditions at points that are nearly on pieces, part by part, in full precision."""
    boundary, values = met.boundary, met.boundary.constants[piece]
    varying = np.isnan(values)
    if varying.any():
        part = np.where(varying, boundary.pieces.part[piece], -1)
        for number in np.flatnonzero(np.bincount(part[varying])):
            on: Any = slice(None) if (part == number).all() else part == number
            data = boundary.problem.conditions[number].data
            values[on] = data(*place(boundary, piece[on], points[0][on], points[1][on]))
    return values


def place(boundary: Boundary, index: NDArray[np.int64], x: Any, y: Any) -> tuple[Array, Array, Array, Array]:
    """Points moved onto pieces that they are nearly on, and the outward normals there: never quite at their ends."""
    pieces = boundary.pieces
    if not pieces.bulge[index].any():  # lines
        start, chord = pieces.start[index], pieces.end[index] - pieces.start[index]
        length = np.hypot(*chord.T)
        along = chord / length[:, None]
        s = (x - start[:, 0]) * along[:, 0] + (y - start[:, 1]) * along[:, 1]
        s = np.clip(s, END * length, (1 - END) * length)
        return start[:, 0] + s * along[:, 0], start[:, 1] + s * along[:, 1], along[:, 1], -along[:, 0]
    t, _ = pieces.locate(index, np.stack([x, y], 1).astype(float))
    t = np.clip(t, END, 1 - END)
    points, normal = pieces.at(t, index), -1j * pieces.direction(t, index)
    return points[:, 0], points[:, 1], np.asarray(normal.real), np.asarray(normal.imag)


def scores(source: Function | None, met: Met) -> Array:
    """The value of every walk, with the source that it has met."""
    count = met.end_piece.size
    values = met.ends[2] * by_condition(met, met.ends, met.end_piece) + met.known
    if met.wall_walk.size:
        data = by_condition(met, met.wall, met.wall_piece)
        values += np.bincount(met.wall_walk, met.wall[2] * data, count)
    if source is not None and met.source_walk.size:
        x, y, weight = met.source.astype(float)
        values += np.bincount(met.source_walk, weight * source(x, y), count)
    return values


def run_stars(plan: Plan, run: Run) -> Tally:
    """sums [count, budget, 2] over walks and their squares, and counts, as `run_cpu` gives them."""
    starts, options = run.starts, run.options
    rule_values(plan, options)  # which refuses an ε that is out of bounds
    walker = Walker(plan.problem, plan.parameter, options, run.instance, source=plan.source is not None)
    on = nearest_walls(walker.boundary, plan.problem.domain, starts.x.astype(float), starts.y.astype(float))

    def work(task: WalkTask, sums: Array) -> NDArray[np.int64]:
        met, counts = walker.walk(starts, on, task)
        values = scores(plan.source, met).reshape(task.stop - task.start, -1)
        for part, terms in enumerate((values, values**2)):
            sums[..., part] = np.cumsum(np.concatenate([sums[:, :1, part], terms], 1), 1)[:, task.marks]
        return np.array([*counts, np.count_nonzero(~np.isfinite(values))])

    threads = options.threads or cores()
    return run_tasks(starts.x.size, run.budgets, work, threads, run.progress, walker.stop, begun=run.begun)


def find_star_exits(
    problem: Problem, points: Array, walks: int, options: Options, instance: int, progress: Progress | None,
    sampled: bool,
) -> Exits:  # fmt: skip
    """What `find_exits` does, where some parts of the boundary reflect walks."""
    from mc2.walks.cpu.star_task_kernels import pick_samples

    starts, plan = StartPoints.make(problem, None, points, 0), make_plan(problem)
    rule_values(plan, options)
    walker = Walker(problem, plan.parameter, options, instance, all_walls=True, source=sampled)
    on = nearest_walls(walker.boundary, problem.domain, starts.x.astype(float), starts.y.astype(float))
    shape = starts.x.size, walks
    ends, walls, source = np.empty((3, *shape)), np.empty((3, *shape, PICKED)), np.empty((3, *shape, 1))
    end_piece, wall_piece = np.empty(shape, np.int64), np.empty((*shape, PICKED), np.int64)

    def work(task: WalkTask, sums: Array) -> NDArray[np.int64]:
        met, counts = walker.walk(starts, on, task)
        part, count = slice(task.start, task.stop), int(task.marks[-1])
        rows = part, slice(task.first_walk, task.first_walk + count)
        ends[:, *rows] = met.ends.reshape(3, -1, count)
        end_piece[rows] = met.end_piece.reshape(-1, count)
        for samples, index, out in ((met.wall, met.wall_walk, walls), (met.source, met.source_walk, source)):
            chosen, total = np.full((met.end_piece.size, out.shape[-1]), -1), np.zeros(met.end_piece.size)
            pick_samples(index, samples[2], walker.key, starts.keys[part], task.first_walk, count, chosen, total)
            some, found = chosen >= 0, np.empty((3, *chosen.shape))
            found[0], found[1] = (np.repeat(c[part], count)[:, None] for c in (starts.x, starts.y))
            found[:2, some], found[2] = samples[:2, chosen[some]], total[:, None] / chosen.shape[1]
            out[:, *rows] = found.reshape(3, -1, count, chosen.shape[1])
            if out is walls:
                own = np.full(chosen.shape, walker.boundary.walls[0])
                own[some] = met.wall_piece[chosen[some]]
                wall_piece[rows] = own.reshape(-1, count, PICKED)
        sums[:] = 0
        return np.array([*counts, 0])

    counts = run_tasks(shape[0], [walks], work, options.threads or cores(), progress, walker.stop).counts
    return _exits(walker.boundary, ends, end_piece, walls, wall_piece, source if sampled else None, counts)


def _exits(
    boundary: Boundary,
    ends: Array,
    end_piece: NDArray[np.int64],
    walls: Array,
    wall_piece: NDArray[np.int64],
    source: Array | None,
    counts: NDArray[np.int64],
) -> Exits:
    """In full precision, on the boundary."""
    shape, part = end_piece.shape, np.where(end_piece >= 0, boundary.pieces.part[end_piece], -1)
    x, y = ends[0].copy(), ends[1].copy()
    on = end_piece >= 0
    x[on], y[on], _, _ = place(boundary, end_piece[on], x[on], y[on])
    placed = place(boundary, wall_piece.ravel(), walls[0].ravel(), walls[1].ravel())
    wall_x, wall_y, nx, ny = (np.broadcast_to(c, wall_piece.size).reshape(wall_piece.shape) for c in placed)
    met = WallSamples(wall_x, wall_y, nx, ny, boundary.pieces.part[wall_piece], walls[2])
    samples = (
        None if source is None else Samples(source[0, ..., 0], source[1, ..., 0], source[2, ..., 0], np.zeros(shape))
    )
    return Exits(x, y, np.where(on, ends[2], 0.0), np.zeros(shape), int(counts[0]), int(counts[1]), samples, part, met)
