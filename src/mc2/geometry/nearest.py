"""Nearest boundary points, from the signed distance alone.

Off the medial axis the nearest boundary point of z is z - d(z) ∇d(z): Newton's method finds it in a step or two where
the distance is exact, in a few where it is a lower bound. On the medial axis the gradient is useless, but the answer
lies on the circle of radius |d| around z: the best of some directions is refined there. A result q is known to be the
nearest point when |z - q| = |d(z)|, since no boundary point is nearer. Points are complex numbers x + iy here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.compute.compile import as_points
from mc2.errors import InputError

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

DIRECTIONS = np.exp(2j * np.pi * np.arange(32) / 32)
SLACK = 2.0
"""How many times the lower bound we accept as near, where the distance is not exact."""


def project(domain: Domain, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Boundary points (px, py), the nearest ones where the distance is exact."""
    x, y, shape = as_points(x, y)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("points to project must be finite")
    z = x + 1j * y
    d = _distance(domain, z)
    slack = np.where(np.where(d > 0, *domain.exactness), 1 + 1e-10, SLACK)
    best = _newton(domain, z)
    doubtful = np.flatnonzero(~_near(domain, z, best, slack * np.abs(d)))
    if doubtful.size:
        _keep_nearer(domain, z, best, doubtful, _newton(domain, _from_circle(domain, z[doubtful])))
        lost = np.flatnonzero(~_near(domain, z, best, np.inf))
        if lost.size:
            best[lost] = _nearest_sample(domain, z[lost])
    return best.real.reshape(shape)[()], best.imag.reshape(shape)[()]


def _distance(domain: Domain, z: np.ndarray) -> np.ndarray:
    return domain.distance(z.real, z.imag)


def foot(domain: Domain, z: np.ndarray) -> np.ndarray:
    """One Newton step along the gradient; its length is limited where the gradient vanishes."""
    h = 1e-6 * domain.size
    x, y = np.tile(z.real, (5, 1)), np.tile(z.imag, (5, 1))  # at z, and to either side of it along both axes
    x[1] += h
    x[2] -= h
    y[3] += h
    y[4] -= h
    here, right, left, above, below = domain.distance(x, y)
    along_x, along_y = (right - left) / (2 * h), (above - below) / (2 * h)
    step = here / np.maximum(along_x**2 + along_y**2, 0.01)
    return (x[0] - step * along_x) + 1j * (y[0] - step * along_y)


def _newton(domain: Domain, z: np.ndarray, steps: int = 60) -> np.ndarray:
    z = z.copy()
    active = np.arange(z.size)
    for _ in range(steps):
        # A tenth of the rounding allowance: the last step leaves room for the checks that follow.
        active = active[np.abs(_distance(domain, z[active])) > 0.1 * domain.rounding]
        if not active.size:
            break
        z[active] = foot(domain, z[active])
    return z


def _from_circle(domain: Domain, z: np.ndarray, steps: int = 30) -> np.ndarray:
    """Start at the best of some points on the circle of radius |d|, and turn towards the foot of a point on the way.

    A quarter of the way there we are off the medial axis, and the error in the angle shrinks about fourfold a step.
    """
    radius = np.abs(_distance(domain, z))
    direction = np.full_like(z, DIRECTIONS[0])
    least = np.full(z.shape, np.inf)
    for candidate in DIRECTIONS:
        left = np.abs(_distance(domain, z + radius * candidate))
        direction[left < least] = candidate
        least = np.minimum(left, least)
    for _ in range(steps):
        towards = foot(domain, z + 0.25 * radius * direction) - z
        direction = np.where(towards == 0, direction, towards / np.where(towards == 0, 1, np.abs(towards)))
    return z + radius * direction


def _near(domain: Domain, z: np.ndarray, found: np.ndarray, reach: np.ndarray | float) -> np.ndarray:
    """Which results are on the boundary and within reach."""
    on_boundary = np.abs(_distance(domain, found)) <= domain.rounding
    return on_boundary & (np.abs(found - z) <= reach + domain.rounding)


def _keep_nearer(domain: Domain, z: np.ndarray, best: np.ndarray, at: np.ndarray, other: np.ndarray) -> None:
    valid = _near(domain, z[at], other, np.inf)
    worse = ~_near(domain, z[at], best[at], np.abs(other - z[at]))
    take = valid & worse
    best[at[take]] = other[take]


def _nearest_sample(domain: Domain, z: np.ndarray) -> np.ndarray:
    """The nearest of many boundary points, for a domain that defeats Newton's method."""
    samples, tree = domain.boundary_tree
    _, index = tree.query(np.stack([z.real, z.imag], axis=1))
    return samples[index, 0] + 1j * samples[index, 1]
