"""Points inside a domain at which an equation is fitted, and others at which the fit is judged."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary_points import REACH, Sides
from mc2.fits.junctions import Junction
from mc2.geometry import Domain

Array = NDArray[np.float64]
PLASTIC = 1.32471795724474602596
"""The real root of x³ = x + 1: multiples of its inverse powers spread evenly in the plane (Roberts, 2018)."""
LAYERED = 0.3
"""Layers of points along the boundary, as a part of the degree."""
THIN = 1 / 64
"""Part of its bounding box below which a domain's points are drawn at random."""
RINGS, NEAREST, FARTHEST = 14, 1e-7, 0.1
"""Distances from a junction, in units of the domain's size, at which there are more points, and how many distances."""
AROUND = 5
"""Points at each of them."""


class InnerPoints(NamedTuple):
    """Points inside a domain.

    x, y: the points. share: the part of the domain's area that each stands for. calm: less than 1 towards junctions
    where derivatives grow without bound. even: those that are spread over the whole domain.
    """

    x: Array
    y: Array
    share: Array
    calm: Array
    even: NDArray[np.bool_]


def inner_points(
    domain: Domain, count: int, sides: Sides, junctions: Sequence[Junction] = (), degree: int = 12, seed: int = 0
) -> InnerPoints:
    """Points all over a domain, in layers along its boundary, and around junctions.

    count: about, of those that are not around junctions.
    sides: of the boundary.
    degree: of the polynomials that are fitted: towards the boundary points must be as dense as their zeros.
    seed: other numbers give other points in between.
    """
    random = np.random.default_rng(seed)
    area, number = float(domain.pieces.areas().sum()), max(2, round(LAYERED * degree))
    x, y = _candidates(domain, 2 * count, seed)
    depth = domain.distance(x, y)
    edges = depth.max() * (1 - np.cos(0.5 * np.pi * np.arange(number + 1) / degree))
    within = np.flatnonzero(depth > edges[-1])[: count // 2]
    share = float(np.mean(depth > edges[-1])) / max(within.size, 1)
    parts = [np.stack([x[within], y[within], np.full(within.size, share), np.ones(within.size)])]
    for low, high in pairwise(edges):
        around = sides.points(max(32, count // (2 * number)), None if seed == 0 else int(random.integers(1 << 30)))
        place = low + (high - low) * (0.5 if seed == 0 else random.random(around.x.size))
        px, py = around.x - place * around.nx, around.y - place * around.ny
        own = around.length * (high - low) / area
        # where normals of two sides cross, a point may lie closer to the other one
        kept = domain.distance(px, py) > 1e-3 * place
        parts.append(np.stack([px, py, own, np.ones(px.size)])[:, kept])
    for junction in junctions:
        ring = _around(domain, junction, random, area)
        parts.append(np.concatenate([ring, np.zeros((1, ring.shape[1]))]))
    x, y, share, even = np.concatenate(parts, axis=1)
    calm = np.ones(x.size)
    for junction in junctions:
        if junction.first < 1:
            near = np.minimum(1.0, np.abs(x + 1j * y - junction.center) / (REACH * domain.size))
            calm *= near ** (1 - junction.first)
    return InnerPoints(x, y, share, calm, even > 0)


def _candidates(domain: Domain, count: int, seed: int) -> tuple[Array, Array]:
    """Points inside a domain, evenly."""
    xmin, xmax, ymin, ymax = domain.bounds
    shift = np.random.default_rng(seed).random(2) if seed else np.full(2, 0.5)
    draws = count
    for _ in range(2):
        t = (shift + np.arange(1, draws + 1)[:, None] * PLASTIC ** -np.arange(1, 3)) % 1.0
        x, y = xmin + (xmax - xmin) * t[:, 0], ymin + (ymax - ymin) * t[:, 1]
        inside = domain.contains(x, y)
        if inside.sum() >= 0.9 * count or inside.mean() < THIN:
            break
        draws = int(count / inside.mean()) + 1
    if inside.mean() < THIN:
        x, y = domain.sample_interior(count, seed).T
        return x, y
    return x[inside], y[inside]


def _around(domain: Domain, junction: Junction, random: np.random.Generator, area: float) -> Array:
    """Points around a junction, and their shares of the area [3, n]."""
    ratio = (FARTHEST / NEAREST) ** (1 / RINGS)
    steps = np.arange(RINGS)[:, None] + random.random((RINGS, AROUND))
    radius = domain.size * NEAREST * ratio**steps
    angle = junction.direction + junction.opening * (np.arange(AROUND) + random.random((RINGS, AROUND))) / AROUND
    z = (junction.center + radius * np.exp(1j * angle)).ravel()
    share = (radius**2 * np.log(ratio) * junction.opening / AROUND / area).ravel()
    inside = domain.distance(z.real, z.imag) > 1e-3 * np.abs(z - junction.center)
    return np.stack([z.real, z.imag, share])[:, inside]
