"""Poles outside of a domain: crowded towards corners and other singular places, and in a ring all around."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mc2.fits.basis import Pole
from mc2.fits.samples import NEAREST
from mc2.geometry import Corner, Domain

Array = NDArray[np.float64]
POLES, FEWEST = 24, 6
"""For every place, unless there are too many; and at least."""


def crowd_poles(
    domain: Domain, corners: Sequence[Corner], bumps: Sequence[Corner], orders: tuple[int, int], most: int
) -> Iterator[Pole]:
    """Poles outside of every corner, at distances that shrink towards it (Gopal and Trefethen, 2019).

    bumps: narrow features, which may lie between two corners that belong to them; their poles reach farther.
    """
    count = max(FEWEST, min(POLES, most // max(len(corners) + len(bumps), 1)))
    steps = np.exp(-4 * (np.sqrt(count) - np.sqrt(np.arange(1, count + 1))))
    centers = np.array([corner.center for corner in corners])
    for number, corner in enumerate([*corners, *bumps]):
        reach = 0.5 * domain.size
        if number < len(corners):
            apart = np.hypot(*(centers - corner.center).T)
            reach = min(reach, 0.5 * apart[apart > 1e-6 * domain.size].min(initial=np.inf))
        for step in reach * steps[reach * steps > 4 * NEAREST * domain.size]:  # nearer ones hide between samples
            x = corner.center[0] + step * np.cos(corner.outward)
            y = corner.center[1] + step * np.sin(corner.outward)
            depth = -float(domain.distance(x, y))
            if depth > 0.1 * step:
                yield Pole((float(x), float(y)), depth, orders)


def ring_of_poles(domain: Domain, points: Array, orders: tuple[int, int], count: int) -> Iterator[Pole]:
    """Poles all around the domain, as far outside as there is room (method of fundamental solutions: Fairweather and
    Karageorghis, 1998). points: on the boundary."""
    h = 1e-6 * domain.size
    x, y = points[:, :: max(1, points.shape[1] // count)]
    slope_x = domain.distance(x - h, y) - domain.distance(x + h, y)
    slope_y = domain.distance(x, y - h) - domain.distance(x, y + h)
    outward = np.stack([slope_x, slope_y]) / np.maximum(np.hypot(slope_x, slope_y), 1e-300)
    for place, normal in zip(np.stack([x, y]).T, outward.T, strict=True):
        step = 0.1 * domain.size
        while step > 1e-4 * domain.size:
            center = place + step * normal
            depth = -float(domain.distance(*center))
            if depth > 0.6 * step:
                yield Pole((float(center[0]), float(center[1])), depth, orders)
                break
            step *= 0.7
