"""Corners: boundary points where the boundary turns, at the vertices of shapes and where outlines cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import kernels, shape_kernels
from mc2.geometry.pieces import successors

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain, Leaf

SAMPLES = 2048
"""Points of an outline between which it is asked whether it is part of the boundary."""
CIRCLE = np.arange(1440) * (2 * np.pi / 1440)
RADIUS = 1e-4
"""Radius of the circle around a boundary point on which its angle is measured, in units of the domain's size."""
MOST_CORNERS = 1024
"""Vertices and crossings of outlines that are looked at."""
MOST_LEAVES = 64
"""Shapes whose outlines are followed; the corners of more are those of the boundary's pieces."""
STRAIGHT = 0.03
"""Turns of fewer radians are no corners."""
TIP = 3.14159
"""Radians by which the boundary turns at the tip of a slit, at least."""
TURNING_BACK = (kernels.UNION, kernels.DIFFERENCE, shape_kernels.POLYGON, kernels.OUTLINE, kernels.MEMBERS)
"""Instructions without which a domain has no re-entrant corners."""


class Corner(NamedTuple):
    """center: the point. angle: of the domain there, in radians. outward: direction of the middle of the outside."""

    center: tuple[float, float]
    angle: float
    outward: float


def find_corners(domain: Domain) -> tuple[Corner, ...]:
    """All corners of a domain, each once; of a domain with very many vertices and crossings, some of them."""
    size = domain.size
    leaves = list(domain.leaves())
    if len(leaves) > MOST_LEAVES:
        places = domain.pieces.end[~domain.pieces.smooth]
    else:
        places = np.concatenate([np.concatenate([_vertices(leaf), _crossings(domain, leaf)]) for leaf in leaves])
    places = places[np.abs(domain.distance(*places.T)) <= 1e-9 * size]
    places = places[:: -(-len(places) // MOST_CORNERS) or 1]
    found: list[Corner] = []
    centers = np.full((len(places), 2), np.inf)
    for x, y in places:
        if (np.hypot(x - centers[: len(found), 0], y - centers[: len(found), 1]) < 1e-7 * size).any():
            continue
        corner = look_around(domain, float(x), float(y))
        if corner.angle > 0 and abs(corner.angle - np.pi) > STRAIGHT:
            centers[len(found)] = x, y
            found.append(corner)
    return tuple(found)


def find_reentrant(domain: Domain) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The boundary's pieces at whose ends it turns back, tips of slits included, and by how many radians."""
    if domain.unbounded or not np.isin(domain.program.code[:, 0], TURNING_BACK).any():
        return np.empty(0, np.intp), np.empty(0)
    pieces = domain.pieces
    turn = np.angle(pieces.direction(0.0)[successors(pieces.curve)] / pieces.direction(1.0))
    back = np.flatnonzero((turn < -STRAIGHT) | (np.abs(turn) > TIP))  # at a tip the sign is rounding
    return back, np.abs(turn[back])


def _vertices(leaf: Leaf) -> np.ndarray:
    """Vertices [n, 2] of an outline; the sharpest, if there are very many."""
    breaks = np.array(leaf.breaks)
    if len(breaks) > MOST_CORNERS:
        sharpest = np.argsort(-leaf.turns)[:MOST_CORNERS]
        breaks = breaks[np.sort(sharpest[leaf.turns[sharpest] > 0.5 * STRAIGHT])]
    return leaf.outline(breaks)


def look_around(domain: Domain, x: float, y: float) -> Corner:
    """How a boundary point sees the domain: the angle inside, and the middle of the largest arc outside."""
    reach = RADIUS * domain.size
    inside = domain.distance(x + reach * np.cos(CIRCLE), y + reach * np.sin(CIRCLE)) > 0
    if inside.all() or not inside.any():
        return Corner((x, y), 2 * np.pi * float(inside.mean()), 0.0)
    first = int(np.flatnonzero(inside)[0])
    turned = np.roll(inside, -first)  # begins inside, so no arc outside is cut in two
    edges = np.flatnonzero(np.diff(turned.astype(int), append=1))
    starts, stops = edges[0::2] + 1, edges[1::2] + 1
    longest = int(np.argmax(stops - starts))
    middle = first + 0.5 * (starts[longest] + stops[longest] - 1)
    return Corner((x, y), 2 * np.pi * float(inside.mean()), float(middle * CIRCLE[1]))


def _crossings(domain: Domain, leaf: Leaf) -> np.ndarray:
    """Points [n, 2] of a leaf's outline where it begins or ceases to be the domain's boundary."""

    def part(t: np.ndarray) -> np.ndarray:
        return np.abs(domain.distance(*leaf.outline(t % 1.0).T)) <= domain.rounding

    t = (np.arange(SAMPLES) + 0.5) / SAMPLES
    on = part(t)
    change = np.flatnonzero(on != np.roll(on, -1))
    low, high = t[change], t[change] + 1 / SAMPLES
    for _ in range(45):
        middle = 0.5 * (low + high)
        same = part(middle) == on[change]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return leaf.outline(0.5 * (low + high) % 1.0)
