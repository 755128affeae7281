"""Where walks end that come within ε of a re-entrant corner.

The boundary point that is nearest to them is the corner itself, for a whole sector of places. What is left there of a
singular solution may be far more than anywhere around, and would count for all of them. In truth a walk goes on, and
leaves by one of the two sides, about as far from the corner as it was: the wedge becomes a half-plane by w = z^(π/ω),
where the law of the end is Cauchy's.
"""

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Domain
from mc2.geometry.pieces import successors
from mc2.walks.random_kernels import hash4

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
BLOCK = 3
"""Of the random numbers of a walk: others are taken by its steps."""
AT = 1e-3
"""Part of ε within which an end is taken to be at the corner."""
FARTHEST = 100.0
"""Times ε that an end is moved, at most."""


def leave_corners(domain: Domain, ends: Complex, shell: float, key: NDArray[np.uint32], beside: float = 0.0) -> None:
    """Move ends [point, walk] that are re-entrant corners, or tips of slits, to the sides.

    shell: ε as a length.
    key: of the random numbers, see `make_key`.
    beside: how far from the side ends are left, as a length.
    """
    back, turn = domain.reentrant
    if not back.size:
        return
    from scipy.spatial import cKDTree

    pieces, following = domain.pieces, successors(domain.pieces.curve)
    places = np.stack([ends.real.ravel(), ends.imag.ravel()], axis=1)
    distance, nearest = cKDTree(pieces.end[back]).query(places, distance_upper_bound=AT * shell)
    at = np.flatnonzero(np.isfinite(distance))
    if not at.size:
        return
    chosen = np.asarray(nearest)[at]
    corner = back[chosen]
    apart, turned = _draw(*np.divmod(at, ends.shape[1]), key)
    apart, cauchy = shell * apart, np.tan(np.pi * (turned - 0.5))
    forward = cauchy > 0
    side = np.where(forward, following[corner], corner)
    longest = np.minimum(FARTHEST * shell, 0.5 * pieces.length[side])
    along = np.minimum(apart * np.abs(cauchy) ** (1 + turn[chosen] / np.pi), longest) / pieces.length[side]
    along = np.where(forward, along, 1 - along)
    ends.flat[at] = pieces.at(along, side) @ (1, 1j) + beside * 1j * pieces.direction(along, side)


def _draw(point: NDArray[np.intp], walk: NDArray[np.intp], key: NDArray[np.uint32]) -> tuple[Array, Array]:
    """Two numbers from 0 to 1 for each of some walks, which no step of theirs has."""
    pixel, number = point.astype(np.uint32), walk.astype(np.uint32)
    last = np.full(pixel.size, BLOCK, np.uint32)
    words = hash4.py_func(pixel + key[0], number + key[1], key[2] + 0 * last, key[3] + last)
    first, second = ((word >> np.uint32(8)) + 0.5 for word in words[:2])
    return first * 2.0**-24, second * 2.0**-24
