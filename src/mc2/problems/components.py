"""Components of a domain that float: nothing holds u there but Neumann conditions, so that it has no value."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry import Domain
from mc2.problems.boundary_data import insulated
from mc2.problems.condition import Condition
from mc2.problems.operator import Operator

Array = NDArray[np.float64]
ALONG = 16
"""Points of every piece of a ring, to tell what lies within."""


def refuse_floating(domain: Domain, operator: Operator, conditions: Sequence[Condition]) -> None:
    """Refuse a domain of several components of which one has Neumann conditions all around, without a mass.

    If all are insulated it is refused too: each would have a constant of its own.
    """
    varying = operator.varying
    if operator.mass if varying is None else varying.reacts:
        return
    pieces = domain.pieces
    curves = np.unique(pieces.curve)
    areas = np.array([pieces.areas()[pieces.curve == curve].sum() for curve in curves])
    outer = np.flatnonzero(areas > 0)
    if outer.size < 2:
        return
    rings = [_ring(domain, int(curve)) for curve in curves]
    for number in outer:
        inside = [k for k in range(len(curves)) if k == number or _home(rings, areas, outer, k) == number]
        parts = np.unique(pieces.part[np.isin(pieces.curve, curves[inside])])
        if insulated([conditions[part] for part in parts]):
            x, y = rings[number][0]
            raise InputError(
                f"the component of the domain at ({x:.4g}, {y:.4g}) has Neumann conditions all around "
                f"({domain.parts[parts[0]].name!r}, …): u is not fixed there; give u, or a Robin condition, on a part "
                "of its boundary, or solve it on its own"
            )


def _ring(domain: Domain, curve: int) -> Array:
    """Points [n, 2] along a curve."""
    own = np.flatnonzero(domain.pieces.curve == curve)
    t = np.tile(np.arange(ALONG) / ALONG, own.size)
    return domain.pieces.at(t, np.repeat(own, ALONG))


def _home(rings: list[Array], areas: Array, outer: NDArray[np.intp], k: int) -> int:
    """The smallest outer ring around a hole or a slit; itself for an outer ring."""
    if areas[k] > 0:
        return k
    around = [number for number in outer if _within(rings[number], rings[k][ALONG // 2])]
    return int(min(around, key=lambda number: areas[number], default=-1))


def _within(ring: Array, point: Array) -> bool:
    """Whether a ring winds around a point."""
    z = (ring[:, 0] - point[0]) + 1j * (ring[:, 1] - point[1])
    return bool(abs(np.angle(np.roll(z, -1) / np.where(z == 0, 1e-300, z)).sum()) > np.pi)
