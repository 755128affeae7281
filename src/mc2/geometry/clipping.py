"""The boundary of a composition: the pieces of its operands, cut where they meet, of which some bound the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.geometry.crossings import find_cuts, split
from mc2.geometry.nearest import foot
from mc2.geometry.pieces import STRAIGHT_ON, Boundary, Indices, Numbers, Pieces, successors
from mc2.geometry.slit import Slit

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

SMALL = 1e3
"""What is smaller than so many times the rounding of distances does not exist: gaps between pieces, for one."""
HOLE = "hole {}"
BACK = 1e-9
"""Turns to the left by all but so many radians go back around the end of a slit."""
BEND = 0.1
"""Turns of fewer radians, where a smooth curve goes on, are what its pieces leave of its bend."""


class Soft(NamedTuple):
    """Whether the start and the end of every stretch are smooth where it goes on in its own operand."""

    start: NDArray[np.bool_]
    end: NDArray[np.bool_]


def clip(domain: Domain, operands: Sequence[Domain]) -> Boundary:
    """The boundary of a domain that is made of operands."""
    tolerance = SMALL * domain.rounding
    boundaries = [operand.boundary for operand in operands]
    names, given = _merged(boundaries)
    whole = _together(boundaries, names)
    owner = np.repeat(np.arange(len(operands)), [boundary.pieces.size for boundary in boundaries])
    stretches, of = split(whole, find_cuts(whole, owner, tolerance), tolerance)
    left, right = _sides(domain, operands, stretches, owner[of], tolerance)
    # a slit has a piece for each of its sides, of which the left one counts
    two_sided = np.array([isinstance(operand, Slit) for operand in operands], bool)[owner[of]]
    right &= ~two_sided
    kept = np.flatnonzero(left != right)
    starts, ends = _smooth_starts(whole, of), stretches.smooth
    soft = Soft(np.where(right, ends, starts)[kept], np.where(right, starts, ends)[kept])
    stretches = stretches.reversed(right).take(kept)
    first = _first_of_each(stretches, owner[of][kept], tolerance)
    pieces = _chained(stretches.take(first), Soft(*(side[first] for side in soft)), owner[of][kept][first], tolerance)
    return _named_holes(pieces, names, given)


def _merged(boundaries: Sequence[Boundary]) -> tuple[list[str], list[bool]]:
    """All names, each once."""
    given: dict[str, bool] = {}
    for boundary in boundaries:
        for name, own in zip(boundary.names, boundary.given, strict=True):
            given[name] = given.get(name, False) or own
    return list(given), list(given.values())


def _together(boundaries: Sequence[Boundary], names: list[str]) -> Pieces:
    """All pieces, with their parts by the merged names."""
    number = {name: k for k, name in enumerate(names)}
    renamed, curves = [], 0
    for boundary in boundaries:
        parts, own = np.array([number[name] for name in boundary.names], np.int64), boundary.pieces
        renamed.append(own._replace(part=parts[own.part], curve=own.curve + curves))
        curves += 1 + int(own.curve.max(initial=0))
    return Pieces(*(np.concatenate(column) for column in zip(*renamed, strict=True)))


def _smooth_starts(whole: Pieces, of: Indices) -> NDArray[np.bool_]:
    """Whether each stretch, in order, begins within a piece, or where the piece before its own ends smoothly."""
    at_start = np.empty(whole.size, bool)
    at_start[successors(whole.curve)] = whole.smooth
    begins = np.ones(len(of), bool)
    begins[1:] = of[1:] != of[:-1]
    return ~begins | at_start[of]


def _sides(
    domain: Domain, operands: Sequence[Domain], pieces: Pieces, owner: Indices, tolerance: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the domain is on the left and on the right of the middle of every piece."""
    middle = pieces.at(0.5)
    z = middle[:, 0] + 1j * middle[:, 1]
    for k, operand in enumerate(operands):  # arcs that stand for other curves are not exactly on them
        own = np.flatnonzero(owner == k)
        off = own[np.abs(operand.distance(z[own].real, z[own].imag)) > operand.rounding]
        for _ in range(3 if off.size else 0):
            z[off] = foot(operand, z[off])
    step = tolerance * 1j * pieces.direction(0.5)
    left, right = (domain.distance(at.real, at.imag) > domain.rounding for at in (z + step, z - step))
    return left, right


def _first_of_each(pieces: Pieces, owner: Indices, tolerance: float) -> Indices:
    """Which pieces stay: among those that lie on each other, the one of the first operand."""
    from scipy.spatial import cKDTree

    if not pieces.size:
        return np.zeros(0, np.intp)
    ends = np.concatenate([pieces.start, pieces.at(0.5)], axis=1)
    pairs = cKDTree(ends).query_pairs(2 * tolerance, output_type="ndarray")
    later = np.where(owner[pairs[:, 0]] > owner[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
    return np.setdiff1d(np.arange(pieces.size), later)


def _chained(pieces: Pieces, soft: Soft, owner: Indices, tolerance: float) -> Pieces:
    """The pieces in the order of closed curves."""
    from scipy.spatial import cKDTree

    if not pieces.size:
        return pieces
    tree: Any = cKDTree(pieces.start)
    around = tree.query_ball_point(pieces.end, 4 * tolerance)
    arriving, leaving = pieces.direction(1.0), pieces.direction(0.0)
    smooth = np.zeros(pieces.size, bool)
    following = np.full(pieces.size, -1)
    free = np.ones(pieces.size, bool)
    for k, near in enumerate(around):
        near = [near] if isinstance(near, int) else near
        candidates = [j for j in near if free[j]]
        if candidates:
            # where several meet, the sharpest turn to the left keeps what is connected in one curve
            turns = np.mod(-np.angle(-leaving[candidates] / arriving[k]), 2 * np.pi)
            turns = np.where(turns < BACK, 2 * np.pi, turns)  # around the end of a slit
            best = candidates[int(np.argmin(turns))]
            following[k] = best
            free[best] = False
            known = soft.end[k] and soft.start[best] and owner[k] == owner[best]
            smooth[k] = abs(np.angle(leaving[best] / arriving[k])) < (BEND if known else STRAIGHT_ON)
    order, curve = _walk(following)
    return pieces.take(order)._replace(curve=curve, smooth=smooth[order])


def _walk(following: Indices) -> tuple[Indices, Numbers]:
    """Pieces in the order in which they follow each other, and the number of the curve of each."""
    count = len(following)
    seen = np.zeros(count, bool)
    order, curve = np.empty(count, np.intp), np.empty(count, np.int64)
    has_predecessor = np.zeros(count, bool)
    has_predecessor[following[following >= 0]] = True
    done = number = 0
    # open chains first from where they begin, then rings from their first piece
    for begin in [*np.flatnonzero(~has_predecessor), *range(count)]:
        at = int(begin)
        if seen[at]:
            continue
        while at >= 0 and not seen[at]:
            seen[at] = True
            order[done], curve[done] = at, number
            done += 1
            at = int(following[at])
        number += 1
    return order, curve


def _named_holes(pieces: Pieces, names: list[str], given: list[bool]) -> Boundary:
    """Curves that surround holes and that nobody named become `hole 1`, `hole 2`, … in the order of the operands."""
    part = pieces.part.copy()
    own = np.array(given, bool) | (np.array(names) == "inner")
    area = np.bincount(pieces.curve, pieces.areas()) if pieces.size else np.zeros(0)
    unnamed = np.array([not own[part[pieces.curve == k]].any() for k in range(len(area))], bool)
    all_names, number = list(names), 1
    for k in np.flatnonzero((area < 0) & unnamed):
        while HOLE.format(number) in [name for name, own_name in zip(names, given, strict=True) if own_name]:
            number += 1
        part[pieces.curve == k] = len(all_names)
        all_names.append(HOLE.format(number))
        number += 1
    return compact(pieces._replace(part=part), all_names, [*given, *[False] * (len(all_names) - len(given))])


def compact(pieces: Pieces, names: Sequence[str], given: Sequence[bool]) -> Boundary:
    """Without names that no piece has, and with one number for each name; in the order in which they first appear."""
    numbers: dict[str, int] = {}
    order: list[int] = []
    for k in dict.fromkeys(pieces.part.tolist()):
        if numbers.setdefault(names[k], len(numbers)) == len(order):
            order.append(k)
    renumbered = np.array([numbers.get(name, 0) for name in names], np.int64)
    kept = pieces._replace(part=renumbered[pieces.part])
    return Boundary(kept, tuple(names[k] for k in order), tuple(bool(given[k]) for k in order))
