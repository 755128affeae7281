"""More walks: estimates that go on, that are added up, and streams of ever better ones.

The sums of an estimate's walks and of their squares are kept as the engine adds them up, in float64. So an estimate
that goes on is the same, to the bit, as one that was made at once, and so is every estimate of a stream. Estimates that
are added up were begun apart from each other: their sum agrees with one run up to rounding.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.checks import checked, positive, whole
from mc2.errors import InputError, short
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.walks.engine import MAX_WALKS, check_budgets, estimate, walk, warned
from mc2.walks.estimate import Estimate, Record, Resumable
from mc2.walks.options import Options
from mc2.walks.schedule import CHUNK, Progress, WalkSums

SAME = (
    "problem", "seed", "instance", "first_point", "epsilon", "unit", "max_steps", "estimator", "sampling", "stratified",
)  # fmt: skip
"""What must be the same in the records of estimates that are added up."""
LEAST_WALKS = 64
"""Walks from every point before a stream may stop at a tolerance: fewer hardly know their own error."""


def merge(first: Estimate, second: Estimate) -> Estimate:
    """The estimate of the walks of both. The walks of one must follow those of the other."""
    if second.record.first_walk < first.record.first_walk:
        first, second = second, first
    _check_mergeable(first, second)
    one, other = first.need_resumable(), second.need_resumable()
    if one.sums.walks // CHUNK == other.sums.walks // CHUNK:  # they end in the same chunk
        whole_chunks, rest = one.sums.whole + other.sums.whole, one.sums.rest + other.sums.rest
    else:  # the chunk that the first ends in is whole in the second
        whole_chunks, rest = one.sums.whole + one.sums.rest + other.sums.whole, other.sums.rest
    sums = WalkSums(other.sums.walks, whole_chunks, rest)
    record = replace(first.record.with_work_of(second.record), walks=first.walks + second.walks)
    return _updated(first, replace(one, sums=sums), record)


def _updated(estimate: Estimate, resumable: Resumable, record: Record) -> Estimate:
    """An estimate at the same points from other sums. On the boundary, where nothing was walked, values stay."""
    mean, variance = resumable.moments(record.walks)
    known = ~resumable.walked
    mean[known], variance[known] = estimate.mean[known], estimate.variance[known]
    return replace(estimate, mean=mean, variance=variance, record=record, resumable=resumable)


def _check_mergeable(first: Estimate, second: Estimate) -> None:
    """Refuse estimates of other problems, places or walks."""
    for name in SAME:
        mine, other = getattr(first.record, name), getattr(second.record, name)
        if mine != other:
            what = "problem" if name == "problem" else f"{name}: {short(mine)} and {short(other)}"
            raise InputError(f"estimates can be added up only if they are of the same {what}")
    if first.grid != second.grid or not _same_points(first, second):
        raise InputError("estimates can be added up only if they are at the same points")
    end = first.record.first_walk + first.walks
    if end != second.record.first_walk:
        raise InputError(
            f"walks {first.record.first_walk}…{end - 1} and {second.record.first_walk}… do not follow each other: "
            f"give the second estimate first_walk={end}"
        )


def _same_points(first: Estimate, second: Estimate) -> bool:
    if first.points is None or second.points is None:
        return first.points is second.points
    return np.array_equal(first.points, second.points)


def go_on(earlier: Estimate, problem: Problem, walks: int, threads: int | None, progress: Progress | None) -> Estimate:
    """What `Estimate.continued` does."""
    record = earlier.record
    if not record.problem:
        raise InputError("this estimate does not say which problem it is of, as files from before do not")
    options = Options(
        seed=record.seed, epsilon=record.epsilon, max_steps=record.max_steps, sampling=record.sampling,
        stratify=record.stratified, estimator="reduced" if record.estimator == "reduced" else "standard",
        device="cpu", threads=threads, unit=None if record.unit == 0.5 * problem.domain.size else record.unit,
    )  # fmt: skip
    last = record.first_walk + record.walks + whole("walks", walks, 1, MAX_WALKS)
    found = walk(
        problem, check_budgets([last]), options, earlier.grid, earlier.points, record.instance, record.first_point,
        progress, earlier=earlier,
    )  # fmt: skip
    return warned(found)[0]


@checked
def stream(
    problem: Problem,
    where: Grid | int | ArrayLike | None = None,
    walks: int = 8,
    *,
    tolerance: float | None = None,
    max_walks: int | None = None,
    max_seconds: float | None = None,
    start: Estimate | None = None,
    threads: int | None = None,
    **how: Any,
) -> Iterator[Estimate]:
    """Ever better estimates of a problem's solution: each has all walks of the one before, and some more.

    Every estimate is the same, to the bit, as one that is made at once with as many walks. The stream goes on until a
    limit is reached, or until nobody asks for more.

    where: a `Grid` or a number of pixels along a side; or points [count, 2]. A grid of 256 that covers the domain if
        not given.
    walks: from every point, between one estimate and the next.
    tolerance: stop when the standard error, root mean square over the points, is below it, after 64 walks from every
        point at least. It is what the walks themselves say: data that few of them meet need more.
    max_walks: from every point, and max_seconds: stop there; the last estimate has no more walks.
    start: an estimate of the same problem to go on from, such as one that was loaded.
    threads: all cores if not given.
    how: all else is as in `estimate`: seed, epsilon, …
    """
    whole("walks", walks, 1, MAX_WALKS)
    for name, limit in (("tolerance", tolerance), ("max_seconds", max_seconds)):
        if limit is not None:
            positive(name, limit)
    most = MAX_WALKS if max_walks is None else whole("max_walks", max_walks, 1, MAX_WALKS)
    if start is not None and (where is not None or how):
        raise InputError(
            f"a stream from an estimate takes its points and options: leave out {', '.join(how) or 'where'}"
        )
    if where is None or isinstance(where, Grid | int):
        how["grid"] = where
    else:
        how["points"] = where

    def refined() -> Iterator[Estimate]:
        begin, found = time.perf_counter(), start
        while True:
            more = min(walks, most - (0 if found is None else found.walks))
            if more <= 0:
                return
            if found is None:
                found = estimate(problem, more, threads=threads, **{"device": "cpu"} | how)
            else:
                found = found.continued(problem, more, threads=threads)
            yield found
            if max_seconds is not None and time.perf_counter() - begin > max_seconds:
                return
            if tolerance is not None and found.walks >= LEAST_WALKS and _error(found) <= tolerance:
                return

    return refined()


def _error(found: Estimate) -> float:
    """The standard error, root mean square over all points."""
    return float(np.sqrt(found.variance[found.mask].mean()))
