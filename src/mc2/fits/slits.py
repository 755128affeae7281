"""Slits in a domain: the way along each from its tip, on which functions of its two sides have their cut.

A slit that reaches the boundary has one tip inside; its cut goes on from there, outside of the domain. One that ends
inside as well has two tips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_functions import Cut
from mc2.fits.cuts import CutFinder
from mc2.geometry import Domain, Slit
from mc2.geometry.pieces import Pieces, successors

TIP = 1e-9
"""Radians by which the turn around a tip may differ from half a turn."""


@dataclass(frozen=True)
class SlitPath:
    """A slit within a domain.

    points: from a tip to the other end, as complex numbers.
    inner: whether that is a tip too.
    beyond: the way on from there, outside of the domain; None if there is none.
    corners: its tip, and corners of either side, as the pieces that end there; with their distances from the tip.
    """

    points: tuple[complex, ...]
    inner: bool
    beyond: Cut | None
    corners: dict[int, float] = field(default_factory=dict)

    def cut(self, distance: float = 0.0) -> Cut | None:
        """The cut of functions that are singular on the slit, so far from its tip."""
        if self.beyond is None:
            return None
        points = np.array(self.points)
        steps = np.abs(np.diff(points))
        along = np.append(0.0, np.cumsum(steps))
        left = along > distance + 1e-12 * along[-1]
        if not left.any():
            return self.beyond
        first = int(np.argmax(left))
        start = points[first] + (points[first - 1] - points[first]) * (along[first] - distance) / steps[first - 1]
        kept = [complex(start), *(complex(point) for point in points[first:-1])]
        return Cut((*kept, *self.beyond.points), self.beyond.heading)


def on_slits(domain: Domain, pieces: Pieces) -> NDArray[np.bool_]:
    """Which pieces of a boundary are sides of slits."""
    on = np.zeros(pieces.size, bool)
    slits = [leaf for leaf in domain.leaves() if isinstance(leaf, Slit)]
    if slits and pieces.size:
        x, y = np.ascontiguousarray(pieces.at(0.5).T)
        straight = pieces.bulge == 0
        for slit in slits:
            on |= straight & (slit.distance(x, y) > -domain.rounding)
    return on


def find_slits(domain: Domain, finder: CutFinder) -> list[SlitPath]:
    """The slits of a domain that have a tip and do not branch."""
    pieces = domain.pieces
    on = on_slits(domain, pieces)
    if not on.any():
        return []
    following = successors(pieces.curve)
    turn = np.angle(pieces.direction(0.0)[following] / pieces.direction(1.0))
    tips = on & on[following] & (np.abs(turn) > np.pi - TIP)
    found: list[SlitPath] = []
    for tip in np.flatnonzero(tips):
        path = _path(pieces, on, tips, int(tip), finder)
        known = {piece for other in found for piece in other.corners}
        if path is not None and int(tip) not in known:
            found.append(path)
    return found


def _path(
    pieces: Pieces, on: NDArray[np.bool_], tips: NDArray[np.bool_], tip: int, finder: CutFinder
) -> SlitPath | None:
    """The slit with a tip where a piece ends; None if it branches, so that its sides part."""
    following = successors(pieces.curve)
    before = np.argsort(following)
    # the pieces of both sides, away from the tip, and the pieces that end where they do
    back = list(_until(tip, before, on, tips[before]))
    forth = list(_until(int(following[tip]), following, on, tips))
    points, others = pieces.start[back] @ (1, 1j), pieces.end[forth] @ (1, 1j)
    if abs(points[-1] - others[-1]) > finder.domain.rounding:
        return None
    start = complex(*pieces.end[tip])
    corners = {tip: 0.0}
    for places, ending in ((points, before[back]), (others, np.array(forth))):
        distances = np.cumsum(np.abs(np.diff(np.append(start, places))))
        corners.update(zip(ending.tolist(), distances.tolist(), strict=True))
    last, first = int(before[back[-1]]), int(following[forth[-1]])
    if tips[last]:
        return SlitPath((start, *points.tolist()), True, None, corners)
    direction = complex(pieces.direction(0.0)[first])
    opening = np.pi - float(np.angle(direction / complex(pieces.direction(1.0)[last])))
    beyond = finder.find(complex(points[-1]), float(np.angle(direction)), opening)
    return SlitPath((start, *points.tolist()), False, beyond, corners)


def _until(piece: int, following: NDArray[np.intp], on: NDArray[np.bool_], stops: NDArray[np.bool_]) -> Iterator[int]:
    """A piece and those that follow it, as long as they are on slits, up to one that ends at a tip."""
    while on[piece]:
        yield piece
        if stops[piece]:
            return
        piece = int(following[piece])
