"""Points inside a domain at which an equation is fitted, and others at which the fit is judged."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary_points import REACH
from mc2.fits.junctions import Junction
from mc2.geometry import Domain

Array = NDArray[np.float64]
PLASTIC = 1.22074408460575947536
"""The real root of x⁴ = x + 1: multiples of its inverse powers spread evenly in three dimensions (Roberts, 2018)."""
TRIES = 6
"""Candidates for every point that is kept."""
FLAT = 3e-3
"""Depth, as a part of the largest one, from which towards the boundary points get no denser."""
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


def inner_points(domain: Domain, count: int, junctions: Sequence[Junction] = (), seed: int = 0) -> InnerPoints:
    """Points all over a domain, denser towards its boundary as polynomials ask for, and around junctions.

    count: about, of those that are not around junctions. seed: other numbers give other points in between.
    """
    x, y, choice = _candidates(domain, TRIES * count, seed)
    depth = domain.distance(x, y)
    density = 1 / np.sqrt(depth / depth.max() + FLAT)
    factor = count / density.sum()
    for _ in range(8):
        factor *= count / np.minimum(factor * density, 1.0).sum()
    chance = np.minimum(factor * density, 1.0)
    kept = choice < chance
    share = 1 / chance[kept]
    parts = [np.stack([x[kept], y[kept], share / share.sum(), np.ones(share.size)])]
    area = float(domain.pieces.areas().sum())
    random = np.random.default_rng(seed)
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


def _candidates(domain: Domain, count: int, seed: int) -> tuple[Array, Array, Array]:
    """Points inside a domain, evenly, and a number from 0 to 1 for each."""
    xmin, xmax, ymin, ymax = domain.bounds
    shift = np.random.default_rng(seed).random(3) if seed else np.full(3, 0.5)
    draws = count
    for _ in range(2):
        t = (shift + np.arange(1, draws + 1)[:, None] * PLASTIC ** -np.arange(1, 4)) % 1.0
        x, y = xmin + (xmax - xmin) * t[:, 0], ymin + (ymax - ymin) * t[:, 1]
        inside = domain.contains(x, y)
        if inside.sum() >= 0.9 * count or inside.mean() < THIN:
            break
        draws = int(count / inside.mean()) + 1
    if inside.mean() < THIN:
        random = np.random.default_rng(seed)
        x, y = domain.sample_interior(count, random).T
        return x, y, random.random(count)
    return x[inside], y[inside], t[inside, 2]


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
