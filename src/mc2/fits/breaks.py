"""Breaks: boundary points in the middle of a part at which its data jump or bend, as those of `where(x > 0, 1, 0)` do.

There the solution is singular, as where conditions change: the boundary is cut at these points for its fit.
"""

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.jumps import find_breaks
from mc2.functions import Expression, Function
from mc2.functions.terms import TermSum
from mc2.geometry import Domain
from mc2.geometry.pieces import STRAIGHT_ON, Pieces, successors
from mc2.problems import Problem
from mc2.problems.boundary_data import PartData
from mc2.problems.condition import Condition, FromExact
from mc2.problems.families import Laplace

Array = NDArray[np.float64]
APART = 1e-6
"""Of the domain's size: closer to the end of a side no break is looked for."""
SNAP = 1e-10
"""Of the whole boundary: a break closer to the end of a piece is taken to be there."""
MOST_FUNCTIONS = 8
"""Functions that are looked at one by one; more are looked at as one."""


class Breaks(NamedTuple):
    """A problem whose boundary is cut at breaks.

    problem: on the same domain, with more pieces. jumps, kinks: the pieces that end where data jump, or bend.
    """

    problem: Problem
    jumps: NDArray[np.intp]
    kinks: NDArray[np.intp]


def cut_at_breaks(problem: Problem) -> Breaks:
    """The problem with its boundary cut where its data jump or bend."""
    domain, none = problem.domain, np.zeros(0, np.intp)
    jumps, kinks = np.zeros((0, 2)), np.zeros((0, 2))
    for function in _functions(problem):
        found = find_breaks(Laplace.from_exact(domain, function), ())
        jumps, kinks = (
            np.concatenate([old, np.reshape(new, (-1, 2))]) for old, new in zip((jumps, kinks), found, strict=True)
        )
    places = _apart(domain, np.concatenate([jumps, kinks]))
    if not len(places):
        return Breaks(problem, none, none)
    pieces, cut = _cut(domain.pieces, places)
    near = np.abs(_complex(places)[:, None] - _complex(pieces.end)[None, cut]).argmin(0)
    jumping = np.array([np.hypot(*(jumps - places[k]).T).min(initial=np.inf) < APART * domain.size for k in near])
    split, own = copy(domain), copy(problem)
    split.__dict__["boundary"] = domain.boundary._replace(pieces=pieces)
    own.domain = split
    return Breaks(own, cut[jumping], cut[~jumping])


def _functions(problem: Problem) -> Iterator[Function]:
    """The functions that may break, each with NaN off the parts that have it."""
    by_text: dict[str, list[Function | None]] = {}
    for part, condition in enumerate(problem.conditions):
        for function in _of(condition):
            by_text.setdefault(function.text, [None] * len(problem.conditions))[part] = function
    found = list(by_text.values())
    if len(found) > MOST_FUNCTIONS:  # breaks between parts are known
        found = [[next((one for one in column if one is not None), None) for column in zip(*found, strict=True)]]
    for functions in found:
        yield PartData(problem.domain, functions)


def _of(condition: Condition) -> Iterator[Function]:
    for function in condition.functions.values():
        plain = function.exact if isinstance(function, FromExact) else function
        if isinstance(plain, TermSum) or (isinstance(plain, Expression) and plain.operation == "constant"):
            continue  # they are smooth
        yield plain
        if isinstance(function, FromExact):
            yield from (part for part in function.derivatives if not isinstance(part, TermSum))


def _apart(domain: Domain, places: Array) -> Array:
    """The places that are no ends of sides, each once."""
    pieces = domain.pieces
    following = successors(pieces.curve)
    turn = np.abs(np.angle(pieces.direction(0.0)[following] / pieces.direction(1.0)))
    ended = ~pieces.smooth | (turn > STRAIGHT_ON) | (pieces.part != pieces.part[following])
    known, kept = list(_complex(pieces.end[ended])), []
    for place in _complex(places):
        if np.abs(np.array(known) - place).min(initial=np.inf) > APART * domain.size:
            known.append(place)
            kept.append(place)
    return np.array([(place.real, place.imag) for place in kept]).reshape(-1, 2)


def _cut(pieces: Pieces, places: Array) -> tuple[Pieces, NDArray[np.intp]]:
    """Pieces cut at places, and those of them that end at one."""
    index, _ = pieces.nearest(*np.ascontiguousarray(places.T))
    t, _ = pieces.locate(index, places)
    inner = np.minimum(t, 1 - t) > SNAP * pieces.length.sum() / pieces.length[index]
    order = np.lexsort((t[inner], index[inner]))
    owner = np.concatenate([np.arange(pieces.size), index[inner][order]])
    first = np.concatenate([np.zeros(pieces.size), t[inner][order]])
    order = np.lexsort((first, owner))
    owner, first = owner[order], first[order]
    final = np.append(owner[1:] != owner[:-1], True)
    last = np.where(final, 1.0, np.append(first[1:], 1.0))
    at_ends = np.where(t > 0.5, index, _before(pieces)[index])[~inner]
    return pieces.cut(owner, first, last), np.flatnonzero(~final | (np.isin(owner, at_ends) & final))


def _before(pieces: Pieces) -> NDArray[np.intp]:
    """The piece that comes before each."""
    before = np.empty(pieces.size, np.intp)
    before[successors(pieces.curve)] = np.arange(pieces.size)
    return before


def _complex(points: Array) -> NDArray[np.complex128]:
    return np.asarray(points[:, 0] + 1j * points[:, 1])
