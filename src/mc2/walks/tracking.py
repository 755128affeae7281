"""Walks through coefficients that vary, by delta tracking: see `mc2.walks.cpu.tracking_kernels`.

Walks that become light play roulette, and heavy ones are split; weights are never clamped. So a walk may end at several
places. Its copies are taken up one after the other, with one count of steps, which keys the random numbers: a walk's
value depends on its own numbers only.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.problems import Problem
from mc2.walks.engine import cores, rule_values
from mc2.walks.exits import Exits, Samples, on_boundary, onto
from mc2.walks.options import Options
from mc2.walks.plan import Plan, make_plan
from mc2.walks.run import Run
from mc2.walks.schedule import Progress, Tally, WalkTask, run_tasks
from mc2.walks.screened import Screened
from mc2.walks.start_points import StartPoints

Array = NDArray[np.float64]
Index = NDArray[np.int64]
PICK = np.uint32(0xFFFFFFFF)
"""In place of a step, for the number that picks one end, and one sample, of a walk."""


@dataclass(frozen=True)
class Trails:
    """What walks have met, with weights, as they come one after the other.

    end, sample: x, y and weight [3, n] of where they ended, and of where they sampled the source.
    end_of, sample_of: the walk of each.
    """

    end: Array
    end_of: Index
    sample: Array
    sample_of: Index


class Tracker:
    """Walks of a problem whose coefficients vary.

    plan: whose parameter is the majorant σ̄.
    source: whether the source is sampled.
    """

    def __init__(self, plan: Plan, options: Options, instance: int, source: bool) -> None:
        from mc2.walks.random_kernels import make_key

        if options.sampling != "green" or options.stratify:
            raise InputError("walks through coefficients that vary sample sources by 'green', and stratify nothing")
        rule_values(plan, options)  # which refuses an ε that is out of bounds
        self.problem, self.sigma, self.source = plan.problem, plan.parameter, source
        self.screened, self.key = Screened(plan.problem), make_key(options.seed, instance)
        self.shell, self.max_steps = options.shell(plan.problem.domain), np.uint32(options.max_steps)
        self.stop = np.zeros(1, np.uint8)

    def walk(self, starts: StartPoints, task: WalkTask) -> tuple[Trails, Index]:
        """What the walks of a task have met; and its counts: steps, and walks that ran out of them."""
        from mc2.walks.cpu.tracking_kernels import CUT_OFF, DEPTH, ENDED, GAP, WEIGHT, X, Y, settle, take_up

        walks = int(task.marks[-1])
        point = np.repeat(np.arange(task.start, task.stop), walks)
        x, y, pixel = starts.x[point].astype(float), starts.y[point].astype(float), starts.keys[point]
        number = np.tile(np.arange(task.first_walk, task.first_walk + walks, dtype=np.uint32), task.stop - task.start)
        state = np.stack([x, y, np.ones(x.size), self.problem.domain.distance(x, y)])
        waiting, pending = np.zeros((x.size, DEPTH, 5)), np.zeros(x.size, np.int64)
        item, step = np.arange(x.size), np.zeros(x.size, np.uint32)
        ends: list[Array] = [np.zeros((3, 0))]
        samples: list[Array] = [np.zeros((3, 0))]
        end_of, sample_of = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        counts = np.zeros(3, np.int64)
        while item.size and not self.stop[0]:
            inside, proposed = self._move(state, pixel, number, step)
            if self.source:
                samples.append(proposed)
                sample_of.append(item)
            state[GAP] = self.problem.domain.distance(state[X], state[Y])
            fate, alive = np.empty(item.size, np.uint8), np.empty(item.size, np.bool_)
            settle(
                state, self.shell, self.max_steps, pixel, number, step, self.key, inside, waiting, pending, item, fate
            )
            over = (fate == ENDED) | (fate == CUT_OFF)
            ends.append(state[: WEIGHT + 1, over])
            end_of.append(item[over])
            counts += np.array([item.size, np.count_nonzero(fate == CUT_OFF), 0])
            take_up(state, waiting, pending, item, fate, alive)
            if not alive.all():
                state, item = state[:, alive], item[alive]
                pixel, number, step = pixel[alive], number[alive], step[alive]
        found = (np.concatenate(part, -1) for part in (ends, end_of, samples, sample_of))
        return Trails(*found), counts  # type: ignore[arg-type]

    def chances(self, starts: StartPoints, task: WalkTask) -> Array:
        """A uniform number of every walk of a task, which no step of theirs has."""
        from mc2.walks.random_kernels import hash4

        walks = np.arange(task.first_walk, task.first_walk + int(task.marks[-1]), dtype=np.uint32)
        pixel, walk = (part.ravel() for part in np.meshgrid(starts.keys[task.start : task.stop], walks, indexing="ij"))
        last = np.full(pixel.size, PICK)
        words = hash4.py_func(pixel + self.key[0], walk + self.key[1], last, self.key[3] + 0 * last)
        return ((words[0] >> 8).astype(float) + 0.5) * 2.0**-24

    def _move(
        self, state: Array, pixel: NDArray[np.uint32], number: NDArray[np.uint32], step: NDArray[np.uint32]
    ) -> tuple[NDArray[np.bool_], Array]:
        """Move walks by a step. Returns which are inside of their balls, and samples of the source [3, walk]."""
        from mc2.walks.cpu import tracking_kernels as rows

        screened, count = self.screened, state.shape[1]
        here = screened.drift(state[rows.X], state[rows.Y])
        out, inside = np.empty((9, count)), np.empty(count, np.bool_)
        rows.propose(
            state[rows.X], state[rows.Y], state[rows.GAP], 0.5 * here, self.sigma, pixel, number, step, self.key,
            self.source, out, inside,
        )  # fmt: skip
        samples = np.empty((3, 0))
        if self.source:
            samples = np.stack([out[rows.POINT_X], out[rows.POINT_Y], state[rows.WEIGHT] * out[rows.SOURCE]])
        moved = np.flatnonzero(inside)
        x, y = out[rows.POINT_X, moved], out[rows.POINT_Y, moved]
        factor = self.sigma - screened.potential(x, y)
        if screened.drifts:
            change = screened.drift(x, y) - here[:, moved]
            factor -= 0.5 * (change * here[:, moved]).sum(0) + screened.divergence(x, y)
            factor *= out[rows.PLAIN, moved]
            factor += out[rows.SLOPED, moved] * (change * out[rows.NX : rows.NY + 1, moved]).sum(0)
        else:
            factor *= out[rows.PLAIN, moved]
        state[rows.X] = np.where(inside, out[rows.POINT_X], out[rows.EXIT_X])
        state[rows.Y] = np.where(inside, out[rows.POINT_Y], out[rows.EXIT_Y])
        state[rows.WEIGHT, moved] *= factor
        return inside, samples


def scores(tracker: Tracker, trails: Trails, count: int) -> Array:
    """The value of every walk, √α at its start times u."""
    problem, root = tracker.problem, tracker.screened.root
    on = onto(problem.domain, trails.end[0] + 1j * trails.end[1])
    data = trails.end[2] * root(on.real, on.imag) * problem.boundary(on.real, on.imag)
    values = np.bincount(trails.end_of, data, count).astype(float)
    if problem.source is not None and trails.sample_of.size:
        x, y, weight = trails.sample
        values += np.bincount(trails.sample_of, weight * problem.source(x, y) / root(x, y), count)
    return values


def run_tracked(plan: Plan, run: Run) -> Tally:
    """sums [count, budget, 2] over walks and their squares, and counts, as `run_cpu` gives them."""
    starts, options = run.starts, run.options
    tracker = Tracker(plan, options, run.instance, plan.source is not None)
    root = tracker.screened.root(starts.x.astype(float), starts.y.astype(float))

    def work(task: WalkTask, sums: Array) -> Index:
        trails, counts = tracker.walk(starts, task)
        walks = int(task.marks[-1])
        values = scores(tracker, trails, (task.stop - task.start) * walks).reshape(-1, walks)
        values /= root[task.start : task.stop, None]
        counts[2] = np.count_nonzero(~np.isfinite(values))
        squares = np.stack([values, values**2], -1)
        sums[:] = np.cumsum(np.concatenate([sums[:, :1], squares], 1), 1)[:, task.marks]
        return counts

    return run_tasks(
        starts.x.size,
        run.budgets,
        work,
        options.threads or cores(),
        run.progress,
        tracker.stop,
        slow=True,
        begun=run.begun,
    )


def find_tracked_exits(
    problem: Problem,
    points: Array,
    walks: int,
    options: Options,
    instance: int = 0,
    progress: Progress | None = None,
    *,
    sampled: bool = False,
) -> Exits:
    """What `find_exits` does, where coefficients vary: of every walk one end and one sample, with the weight of all."""
    starts, plan = StartPoints.make(problem, None, points, 0), make_plan(problem)
    tracker = Tracker(plan, options, instance, sampled)
    root = tracker.screened.root
    ends, samples = np.zeros((4, starts.x.size, walks)), np.zeros((3, starts.x.size, walks))
    own = root(starts.x.astype(float), starts.y.astype(float))[:, None]

    def work(task: WalkTask, sums: Array) -> Index:
        trails, counts = tracker.walk(starts, task)
        place = slice(task.start, task.stop), slice(task.first_walk, task.first_walk + int(task.marks[-1]))
        shape = samples[0][place].shape
        chance = tracker.chances(starts, task)
        for met, of, out, power in (
            (trails.end, trails.end_of, ends, 1), (trails.sample, trails.sample_of, samples, -1)
        ):  # fmt: skip
            weight = met[2] * root(met[0], met[1]) ** power
            picked, total = pick(of, weight, chance)
            out[0][place], out[1][place] = (
                np.where(picked < 0, start, met[row, picked] if of.size else start).reshape(shape)
                for row, start in enumerate((starts.x[task.start], starts.y[task.start]))
            )
            out[2][place] = total.reshape(shape) / own[task.start : task.stop]
        sums[:] = 0
        return counts

    counts = run_tasks(
        starts.x.size, [walks], work, options.threads or cores(), progress, tracker.stop, slow=True
    ).counts
    x, y, _, share = on_boundary(problem, ends, options, instance)
    met = Samples(samples[0], samples[1], samples[2], share) if sampled else None
    return Exits(x, y, ends[2], share, int(counts[0]), int(counts[1]), met)


def pick(of: Index, weight: Array, chance: Array) -> tuple[Index, Array]:
    """One of every walk's entries, with a chance in proportion to the size of its weight, and their sum with its sign.

    of: the walk of each entry. chance: a uniform number of every walk. Walks without entries get −1, and 0.
    """
    order = np.argsort(of, kind="stable")
    size = np.abs(weight[order])
    total = np.bincount(of, np.abs(weight), chance.size)
    entries = np.bincount(of, minlength=chance.size)
    first = np.cumsum(entries) - entries
    upto = np.cumsum(size)
    before = np.where(first > 0, upto[np.maximum(first - 1, 0)] if upto.size else 0.0, 0.0)
    index = np.searchsorted(upto, before + chance * total)
    index = np.clip(index, first, first + np.maximum(entries - 1, 0))
    some = total > 0
    chosen = np.where(some, order[np.minimum(index, max(order.size - 1, 0))] if order.size else -1, -1)
    return chosen, np.where(some, total * np.sign(weight[chosen] if order.size else 0.0), 0.0)
