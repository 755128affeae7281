"""Walks in the exterior of a body: from a large circle they return to a smaller one by the exact harmonic law.

A Brownian path in the plane that starts at a distance ρ > R from a center comes to the circle of radius R sooner or
later. Where it does has the density of Poisson's kernel: with a = R/ρ and φ uniform, the angle of
(e^{iφ} + a)/(1 + a e^{iφ}) from where it started. So walks on spheres need no end at infinity, and no radius at which
it is cut off; the solution that they estimate is the one that is bounded.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Exterior

Array = NDArray[np.float64]
MOST_RETURNS = 1000
"""Times that a walk returns, at most: each is more likely than not the last."""
TURN = 1 << 50
"""Keys the random numbers after every return."""

Walks = Callable[[Array, int, int], Array]
"""From starts [count, 2], a number of walks from each and a key to rows x, y, weight, share [4, count, walks]."""


def returned(domain: Exterior, x: Array, y: Array, random: np.random.Generator) -> Array:
    """Points [n, 2] of the inner circle, one for each point outside of it, by the exact law."""
    inner, _ = domain.circles
    z = x - domain.center[0] + 1j * (y - domain.center[1])
    share = inner / np.abs(z)
    turn = np.exp(2j * np.pi * random.random(x.size))
    place = inner * z / np.abs(z) * (turn + share) / (1 + share * turn)
    return np.stack([place.real + domain.center[0], place.imag + domain.center[1]], axis=1)


def walk_outside(domain: Exterior, points: Array, walks: int, keys: tuple[int, int], run: Walks) -> tuple[Array, int]:
    """Where walks end on the body [4, point, walk], and how many never did.

    keys: of their random numbers.
    run: walks from some starts to the body, or to the outer circle, where they are taken up again.
    """
    seed, key = keys
    random = np.random.default_rng((seed, key))
    far = _radius(domain, *points.T) > 0.99 * domain.circles[1]
    starts = points.copy()
    if far.any():  # every walk has a start of its own
        starts = np.repeat(points, walks, axis=0)
        away = np.repeat(far, walks)
        starts[away] = returned(domain, starts[away, 0], starts[away, 1], random)
    found = run(starts, walks * len(points) // len(starts), key).reshape(4, -1)
    middle = float(np.sqrt(np.prod(domain.circles)))
    for turn in range(1, MOST_RETURNS):
        beyond = np.flatnonzero(_radius(domain, found[0], found[1]) > middle)
        if not beyond.size:
            break
        again = returned(domain, found[0, beyond], found[1, beyond], random)
        found[:, beyond] = run(again, 1, key + turn * TURN).reshape(4, -1)
    beyond = np.flatnonzero(_radius(domain, found[0], found[1]) > middle)
    return found.reshape(4, len(points), -1), beyond.size


def _radius(domain: Exterior, x: Array, y: Array) -> Array:
    return np.hypot(x - domain.center[0], y - domain.center[1])
