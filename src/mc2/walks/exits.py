"""Where walks leave the domain, and where they meet the source: all that data in full precision need to know of them.

A walk's score is weight × g − share × h at the boundary point where it ends, plus sum × f at one point that it has
sampled the source at. With the points at hand, g, h and f can be anything that is known there, in full precision, such
as what a fit has left over. (One sample of a walk is chosen with a chance in proportion to its weight, so that its
expectation is the sum over all of them.)
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain, Exterior
from mc2.geometry.nearest import foot
from mc2.geometry.slit import has_slits
from mc2.problems import Problem
from mc2.walks.corner_ends import leave_corners
from mc2.walks.engine import NO_ENDS, cores, rule_values
from mc2.walks.exterior import walk_outside
from mc2.walks.options import Options
from mc2.walks.plan import make_plan
from mc2.walks.random_kernels import make_key
from mc2.walks.schedule import Progress, WalkTask, is_slow, run_tasks
from mc2.walks.start_points import StartPoints

Array = NDArray[np.float64]

BESIDE = 1e-9
"""How far from a slit walks end, in units of the domain's size, so that they are on one of its sides."""


@dataclass(frozen=True)
class Samples:
    """Where walks sample the source.

    x, y: points inside the domain [point, walk].
    weight: what f there is multiplied by in an estimate of u.
    laplacian_weight: the same in an estimate of Δu, for the biharmonic equation.
    """

    x: Array
    y: Array
    weight: Array
    laplacian_weight: Array


@dataclass(frozen=True)
class WallSamples:
    """Where walks meet the data of Neumann and Robin conditions.

    x, y: boundary points [point, walk, sample].
    nx, ny: the outward normals there.
    part: the boundary part.
    weight: what the data there are multiplied by in an estimate of u.
    """

    x: Array
    y: Array
    nx: Array
    ny: Array
    part: NDArray[np.int64]
    weight: Array


@dataclass(frozen=True)
class Exits:
    """Where walks end.

    x, y: boundary points [point, walk].
    weight, share: what g and −h there are multiplied by (1 and 0, but for Yukawa, Helmholtz, biharmonic problems).
    steps: taken in all.
    truncated: walks that ran out of steps.
    samples: where they sample the source, if that was asked for.
    part, walls: where some parts reflect walks, the part where each ends, or −1, and where they meet the others.
    """

    x: Array
    y: Array
    weight: Array
    share: Array
    steps: int
    truncated: int
    samples: Samples | None = None
    part: NDArray[np.int64] | None = None
    walls: WallSamples | None = None


def find_exits(
    problem: Problem,
    points: Array,
    walks: int,
    options: Options,
    instance: int = 0,
    progress: Progress | None = None,
    *,
    sampled: bool = False,
) -> Exits:
    """Walk from points [count, 2], which must lie inside the domain, and return where the walks end. CPU only.

    sampled: also where they sample the source; the problem must have one.
    """
    if problem.reflecting:
        from mc2.walks.stars import find_star_exits

        return find_star_exits(problem, points, walks, options, instance, progress, sampled)
    if problem.operator.varying is not None:
        from mc2.walks.tracking import find_tracked_exits

        return find_tracked_exits(problem, points, walks, options, instance, progress, sampled=sampled)
    if isinstance(problem.domain, Exterior):
        return _from_outside(problem, points, walks, options, instance, progress)
    found, met, counts = _walk(problem, points, walks, options, instance, progress, sampled)
    samples = _samples(problem, met.astype(float)) if sampled else None
    return Exits(*on_boundary(problem, found, options, instance), int(counts[0]), int(counts[1]), samples)


def _from_outside(
    problem: Problem, points: Array, walks: int, options: Options, instance: int, progress: Progress | None
) -> Exits:
    """Walks in an exterior domain, which return from a large circle."""
    assert isinstance(problem.domain, Exterior)
    totals = np.zeros(3, np.int64)

    def run(starts: Array, each: int, key: int) -> Array:
        nonlocal totals
        found, _, counts = _walk(problem, starts, each, options, key, progress, False)
        totals = totals + counts
        return found.astype(float)

    found, lost = walk_outside(problem.domain, points, walks, (options.seed, instance), run)
    return Exits(*on_boundary(problem, found, options, instance), int(totals[0]), int(totals[1]) + lost)


def on_boundary(
    problem: Problem, found: NDArray[np.floating], options: Options, instance: int
) -> tuple[Array, Array, Array, Array]:
    """x, y, weight and share, with the points on the boundary in full precision."""
    x, y, weight, share = found.astype(float)
    on = onto(problem.domain, (x + 1j * y).ravel())
    on = on.reshape(x.shape)
    beside = BESIDE * problem.domain.size * has_slits(problem.domain)
    leave_corners(problem.domain, on, options.shell(problem.domain), make_key(options.seed, instance), beside)
    return on.real, on.imag, weight, share


def _walk(
    problem: Problem,
    points: Array,
    walks: int,
    options: Options,
    instance: int,
    progress: Progress | None,
    sampled: bool,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Ends and source samples [4, point, walk] as the kernels leave them, and their counts."""
    from mc2.compute.compile import LANES
    from mc2.functions.kernels import SCRATCH
    from mc2.walks.cpu.kernels import walk_task
    from mc2.walks.cpu.lane_kernels import Rules, Tables

    starts = StartPoints.make(problem, None, points, 0)
    plan = replace(make_plan(problem, returning=True), source=None)
    none = np.zeros((0, 5), np.int32), np.zeros(1, np.float32)
    domain = problem.domain.program
    tables = Tables(domain.code, domain.constants.astype(np.float32), *none, *none, *none)
    rules, key = Rules(*rule_values(plan, options)), make_key(options.seed, instance)
    found, stop = np.empty((4, starts.x.size, walks), np.float32), np.zeros(1, np.uint8)
    met = np.empty((4, starts.x.size, walks if sampled else 0), np.float32)

    def work(task: WalkTask, sums: Array) -> NDArray[np.int64]:
        part, count = slice(task.start, task.stop), int(task.marks[-1])
        own, counts = np.empty((4, (task.stop - task.start) * count), np.float32), np.zeros(3, np.int64)
        samples = np.zeros_like(own) if sampled else NO_ENDS[1]
        registers = np.zeros((3 + SCRATCH, LANES), np.float32)
        walk_task(tables, rules, key, starts.job(task), registers, sums, counts, own, samples, stop)
        found[:, part, task.first_walk : task.first_walk + count] = own.reshape(4, -1, count)
        if sampled:
            met[:, part, task.first_walk : task.first_walk + count] = samples.reshape(4, -1, count)
        return counts

    threads = options.threads or cores()
    counts = run_tasks(starts.x.size, [walks], work, threads, progress, stop, is_slow(tables)).counts
    return found, met, counts


def onto(domain: Domain, z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Ends of walks, from float32 to full precision; beside a slit, on the side where they are."""
    if has_slits(domain):
        pieces = domain.pieces
        nearest, _ = pieces.nearest(z.real.copy(), z.imag.copy())
        t, _ = pieces.locate(nearest, np.stack([z.real, z.imag], axis=1))
        inward = 1j * pieces.direction(t, nearest)
        return pieces.at(t, nearest) @ (1, 1j) + BESIDE * domain.size * inward
    on = foot(domain, z)
    off = np.flatnonzero(np.abs(domain.distance(on.real, on.imag)) > domain.rounding)
    if off.size:  # at corners, and where the distance is only a bound
        on.real[off], on.imag[off] = domain.project(on.real[off], on.imag[off])
    return on


def _samples(problem: Problem, met: Array) -> Samples:
    """With the signs of the Green's functions: −G for Δ, and +G for Δ²."""
    x, y, total, base = met
    return Samples(x, y, total if problem.operator.order == 4 else -total, -total * base)
