"""Jumps and kinks of boundary data, found by bisection between samples of them."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mc2.fits.features import Features
from mc2.fits.samples import SAMPLES, project
from mc2.geometry import Corner
from mc2.geometry.domain import Leaf
from mc2.problems import Problem

Array = NDArray[np.float64]
MOST_BREAKS = 32
"""Jumps, and kinks, that are looked for on an outline."""
STEEP = 8.0
"""Times the usual difference between neighbours on the boundary, above which data may jump."""


def find_breaks(
    problem: Problem, corners: Sequence[Corner], features: Sequence[Features] = ()
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Boundary points where the boundary values jump, and others, away from corners, where their slope does.

    features: of the data, too narrow to be met by chance: jumps are looked for around them as well.
    """
    jumps: list[tuple[float, float]] = []
    kinks: list[tuple[float, float]] = []
    for leaf in problem.domain.leaves():

        def data(t: Array, leaf: Leaf = leaf) -> Array:
            x, y = leaf.outline(t.ravel() % 1.0).T
            on = np.abs(problem.domain.distance(x, y)) <= problem.domain.rounding
            values = np.full(x.size, np.nan)
            values[on] = problem.boundary(x[on], y[on])
            return values.reshape(t.shape)

        t = np.sort(np.concatenate([(np.arange(SAMPLES) + 0.5) / SAMPLES, *_around(leaf, features)]) % 1.0)
        for found, places in ((_jumps(data, t), jumps), (_kinks(data), kinks)):
            near = 1e-2 / SAMPLES  # of the length
            apart = np.hypot(*(leaf.outline((found + near) % 1.0) - leaf.outline((found - near) % 1.0)).T)
            whole = found[apart < 10 * near * leaf.perimeter]  # not the seam between two curves of one shape
            places += [(float(x), float(y)) for x, y in leaf.outline(whole % 1.0)]
    known = np.array([*jumps, *(corner.center for corner in corners), (np.inf, np.inf)])
    apart = 1e-5 * problem.domain.size
    return jumps, [kink for kink in kinks if np.hypot(*(known - kink).T).min() > apart]


def _around(leaf: Leaf, features: Sequence[Features]) -> Iterator[Array]:
    """Fractions of a leaf's arc length in and around features that lie on it."""
    steps = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
    for found in features:
        for place, width in zip(found.places, found.widths, strict=True):
            nearest = project(leaf, (float(place[0]), float(place[1])))
            if nearest is not None:
                offsets = steps * width / leaf.perimeter
                yield np.concatenate([nearest - offsets[1:], nearest + offsets])


def _jumps(data: Callable[[Array], Array], t: Array) -> Array:
    """Where a difference between neighbours stays however close they come. data: at fractions t of the arc length."""
    values = data(t)
    change = np.abs(np.roll(values, -1) - values)
    chosen = _steep(change, values)
    low, high = t[chosen], np.append(t[1:], t[0] + 1)[chosen]
    at_low, at_high = values[chosen], np.roll(values, -1)[chosen]
    for _ in range(40):
        middle = 0.5 * (low + high)
        between = data(middle)
        left = np.abs(between - at_low) > np.abs(between - at_high)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        at_low, at_high = np.where(left, at_low, between), np.where(left, between, at_high)
    return (0.5 * (low + high))[np.abs(at_high - at_low) > 0.5 * change[chosen]]


def _kinks(data: Callable[[Array], Array]) -> Array:
    """Where the second difference shrinks like the distance of its points, not like its square."""
    t = (np.arange(SAMPLES) + 0.5) / SAMPLES
    values = data(t)
    bend = np.abs(np.roll(values, -1) - 2 * values + np.roll(values, 1))
    chosen = _steep(bend, values)
    middle, reach, halvings = t[chosen], 1 / SAMPLES, 14
    for _ in range(halvings):
        reach /= 2
        tries = middle + reach * np.array([[-1.0], [0.0], [1.0]])
        bends = np.abs(data(tries - reach) - 2 * data(tries) + data(tries + reach))
        middle = np.take_along_axis(tries, np.argmax(np.nan_to_num(bends), axis=0)[None], 0)[0]
    left = np.abs(data(middle - reach) - 2 * data(middle) + data(middle + reach))
    found = np.sort(middle[left > 0.25 * bend[chosen] / 2**halvings])
    return found[np.diff(found, prepend=-1.0) > 1 / SAMPLES]


def _steep(change: Array, values: Array) -> NDArray[np.intp]:
    """The largest of some differences, where they stand out."""
    known = np.isfinite(change)
    if not known.any():
        return np.zeros(0, np.intp)
    limit = STEEP * np.median(change[known]) + 1e-9 * np.abs(values[np.isfinite(values)]).max()
    chosen = np.flatnonzero(known & (change > limit))
    return chosen[np.argsort(-change[chosen])][:MOST_BREAKS]
