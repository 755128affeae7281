"""Uniform random points in a domain and on its boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mc2.checks import whole
from mc2.errors import InputError, short
from mc2.geometry.cover import cover

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain, Leaf

MAX_DRAWS = 2**21
"""Draws without a single hit after which a domain counts as empty."""

THIN = 1 / 64
"""Part of its bounding box below which a domain is thin."""
MOST_DRAWS = 2**26
"""Draws after which a domain is too thin to find enough points in it."""

COMPASS = 0.1 + np.arange(8) * (np.pi / 4)
"""Eight directions, none along an axis."""


def sample_interior(domain: Domain, count: int, seed: int | np.random.Generator) -> np.ndarray:
    """Points [count, 2] uniform over the domain, by rejection: in its bounding box, or if it is thin, in a cover."""
    xmin, xmax, ymin, ymax = domain.bounds
    low, sides = np.array([[xmin, ymin]]), np.array([xmax - xmin, ymax - ymin])

    def draw(random: np.random.Generator, n: int) -> np.ndarray:
        nonlocal low, sides
        if len(low) == 1:
            points = random.uniform((xmin, ymin), (xmax, ymax), (n, 2))
        else:
            points = low[random.integers(len(low), size=n)] + sides * random.random((n, 2))
        found = points[domain.contains(*points.T)]
        if len(low) == 1 and len(found) < THIN * n:
            covered = cover(domain)
            if len(covered[0]):
                low, sides = covered
        return found

    return _collect(draw, count, seed, f"{short(domain)} looks empty: no point inside found in its bounding box")


def sample_boundary(domain: Domain, count: int, seed: int | np.random.Generator) -> np.ndarray:
    """Points [count, 2] uniform by arc length: those of the leaves' outlines that bound the whole."""
    leaves = list(domain.leaves())
    lengths = np.array([leaf.perimeter for leaf in leaves])

    def draw(random: np.random.Generator, n: int) -> np.ndarray:
        owner = random.choice(len(leaves), n, p=lengths / lengths.sum())
        t = random.random(n)
        points = np.empty((n, 2))
        for k in np.unique(owner):
            points[owner == k] = leaves[k].outline(t[owner == k])
        return points if len(leaves) == 1 else points[bounds_whole(domain, leaves, owner, points)]

    return _collect(draw, count, seed, f"{short(domain)} looks empty: no boundary point found")


def bounds_whole(domain: Domain, leaves: list[Leaf], owner: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which points of the leaves' outlines lie on the boundary of the whole, each stretch counted once."""
    kept = np.abs(domain.distance(*points.T)) <= domain.rounding
    # Distance 0 is not enough: where A - B has a common edge of A and B, there is no interior on either side.
    candidates = np.flatnonzero(kept)
    x, y = points[candidates].T[:, :, None]
    reach = 1e-6 * domain.size
    around = domain.distance(x + reach * np.cos(COMPASS), y + reach * np.sin(COMPASS))  # [candidates, 8]
    kept[candidates] = (around > 1e-3 * reach).any(axis=1)
    # Where two outlines coincide, only the first one counts.
    for k in _meeting(leaves, points[kept], domain.rounding):
        later = np.flatnonzero(kept & (owner > k))
        kept[later] = np.abs(leaves[k].distance(*points[later].T)) > domain.rounding
    return kept


def _meeting(leaves: list[Leaf], points: np.ndarray, rounding: float) -> np.ndarray:
    """Leaves whose boxes meet that of some points."""
    if not len(points):
        return np.zeros(0, np.intp)
    boxes = np.array([leaf.bounds for leaf in leaves])
    low, high = points.min(axis=0) - 2 * rounding, points.max(axis=0) + 2 * rounding
    apart = (boxes[:, 0] > high[0]) | (boxes[:, 1] < low[0]) | (boxes[:, 2] > high[1]) | (boxes[:, 3] < low[1])
    return np.flatnonzero(~apart)


def _collect(
    draw: Callable[[np.random.Generator, int], np.ndarray], count: int, seed: int | np.random.Generator, failure: str
) -> np.ndarray:
    """Call ``draw(random, n)`` in growing batches until `count` points were kept."""
    count = whole("count", count, 0)
    random = np.random.default_rng(seed)
    batch = max(1024, min(2 * count, 2**20))
    kept: list[np.ndarray] = [np.empty((0, 2))]
    found = tried = 0
    while found < count:
        kept.append(draw(random, batch))
        found += len(kept[-1])
        tried += batch
        if found == 0 and tried >= MAX_DRAWS:
            raise InputError(failure)
        if found < count and tried >= MOST_DRAWS:
            raise InputError(f"{failure.split(' looks')[0]} is too thin: {found:,} of {tried:,} random points hit it")
        batch = min(2 * batch, 2**20)
    return np.concatenate(kept)[:count]
