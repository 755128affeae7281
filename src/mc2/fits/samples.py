"""Samples of a boundary: points spread evenly along it and crowded towards some places, each with its length."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain
from mc2.geometry.domain import Leaf
from mc2.geometry.sampling import bounds_whole

Array = NDArray[np.float64]
SAMPLES = 1600
"""Points on the boundary, about, or more for large bases; others are crowded towards corners, jumps and kinks."""
CROWDED, FEWEST_CROWDED, MOST_CROWDED = 80, 24, 1600
"""Points on either side of a place that they are crowded towards; fewer where there are many places."""
NEAREST = 1e-9
"""Distance of the nearest crowded sample to a corner or jump, in units of the domain's size."""
MOST_PROJECTED = 4096
"""Places on an outline that are remembered."""


class Samples(NamedTuple):
    """Points [2, n] on the boundary, and the roots of the lengths that they stand for."""

    points: Array
    weights: Array

    @property
    def measured(self) -> tuple[Array, Array]:
        """The points, and the lengths themselves."""
        return self.points, self.weights**2

    def joined(self, other: "Samples") -> "Samples":
        """Both, each for half of the length."""
        weights = np.concatenate([self.weights, other.weights]) / np.sqrt(2)
        return Samples(np.concatenate([self.points, other.points], axis=1), weights)


@dataclass(frozen=True)
class Layout:
    """Where to sample a boundary: evenly at about `count` points, and crowded towards some places."""

    domain: Domain
    places: list[tuple[float, float]]
    count: int

    @cached_property
    def fitted(self) -> Samples:
        """Points to fit."""
        return spread(self.domain, self.places, self.count)

    @cached_property
    def fresh(self) -> Samples:
        """Points to judge a fit at."""
        return self.others(0)

    def others(self, seed: int) -> Samples:
        """As many points, at random between those that are fitted."""
        return spread(self.domain, self.places, self.count, seed)

    @cached_property
    def all(self) -> Samples:
        """All of these points, to be fitted."""
        return self.fitted.joined(self.fresh)

    @cached_property
    def fresher(self) -> Samples:
        """Points to judge that at."""
        return self.others(1)


def spread(
    domain: Domain, crowded: list[tuple[float, float]], count: int = SAMPLES, seed: int | None = None
) -> Samples:
    """Points on the boundary, evenly, and crowded towards some places.

    crowded: the places.
    count: of the even ones, about.
    seed: to put all of them at random between where they would be.
    """
    random = None if seed is None else np.random.default_rng(seed)
    leaves = list(domain.leaves())
    total = sum(leaf.perimeter for leaf in leaves)
    near = int(np.clip(MOST_CROWDED // max(len(crowded), 1), FEWEST_CROWDED, CROWDED))
    points, shares = [], []
    places = np.array(crowded).reshape(-1, 2)
    for number, leaf in enumerate(leaves):
        n = max(16, round(count * leaf.perimeter / total))
        t = (np.arange(n) + (0.5 if random is None else random.random(n))) / n
        for place in places[np.abs(leaf.distance(*places.T)) <= 1e-7 * domain.size].tolist():
            nearest = project(leaf, (place[0], place[1]), 1e-7 * domain.size)
            if nearest is not None:
                for side in (-1, 1):
                    exponents = np.arange(near) + (0.0 if random is None else random.random(near))
                    offsets = domain.size * NEAREST * (0.1 / NEAREST) ** (exponents / (near - 1))
                    t = np.concatenate([t, nearest + side * offsets / leaf.perimeter])
        t = np.sort(t % 1.0)
        gaps = np.diff(t, append=t[0] + 1) + np.diff(t, prepend=t[-1] - 1)
        found = leaf.outline(t)
        on = bounds_whole(domain, leaves, np.full(len(t), number), found)
        points.append(found[on])
        shares.append(0.5 * gaps[on] * leaf.perimeter)
    return Samples(np.concatenate(points).T, np.sqrt(np.concatenate(shares)))


def project(leaf: Leaf, place: tuple[float, float], near: float | None = None) -> float | None:
    """The fraction of a leaf's arc length at a place, by ever finer looks; None if the leaf does not pass near it."""
    near = 1e-7 * leaf.size if near is None else near
    known: dict[Any, float | None] = leaf.__dict__.setdefault("_projected", {})  # leaves never change
    if (place, near) not in known and len(known) < MOST_PROJECTED:
        known[place, near] = _search(leaf, place, near)
    return known[place, near] if (place, near) in known else _search(leaf, place, near)


def _search(leaf: Leaf, place: tuple[float, float], near: float) -> float | None:
    if abs(float(leaf.distance(*place))) > near:
        return None
    t = np.arange(4096) / 4096
    width, start = 1 / 4096, float(t[np.argmin(np.hypot(*(leaf.outline(t) - place).T))])
    for _ in range(12):
        t = start + width * np.linspace(-1, 1, 21)
        points = leaf.outline(t % 1.0)
        start = float(t[np.argmin(np.hypot(*(points - place).T))])
        width /= 8
    return start if np.hypot(*(leaf.outline(np.array([start % 1.0]))[0] - place)) < near else None
