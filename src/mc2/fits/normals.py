"""The true boundary where its pieces only stand for it: ellipses are made of arcs that are a millionth of them off."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
SLOPE = 1e-5
"""Step of the differences that give normals, in units of the domain's size."""


def moved_to_boundary(domain: Domain, z: NDArray[Any], normal: NDArray[Any]) -> tuple[Complex, Complex]:
    """Points on pieces of a boundary moved onto it where they are off, and the outward normals there.

    z, normal: of the pieces.
    """
    off = np.flatnonzero(np.abs(_distance(domain, z)) > domain.rounding)
    if not off.size:
        return z, normal
    place, outward, step = z[off], normal[off], SLOPE * domain.size
    slope = np.ones(off.size)
    for _ in range(4):
        place = place + _distance(domain, place) / slope * outward
        slopes = [_distance(domain, place + step * turn) - _distance(domain, place - step * turn) for turn in (1, 1j)]
        outward = -(slopes[0] + 1j * slopes[1])
        outward /= np.maximum(np.abs(outward), 1e-300)
        # where the distance is only a bound, it grows by less than the way
        slope = np.clip(np.hypot(*slopes) / (2 * step), 1e-3, 1.0)
    z, normal = z.copy(), normal.copy()
    z[off], normal[off] = place, outward
    return z, normal


def _distance(domain: Domain, z: Complex) -> Array:
    return np.asarray(domain.distance(np.ascontiguousarray(z.real), np.ascontiguousarray(z.imag)))
