"""Parts: named pieces of a domain's boundary, which pieces belong to each, and marks that split off new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.compute.compile import as_points
from mc2.errors import InputError, short, unknown
from mc2.geometry.pieces import Array, Boundary, Indices, Numbers, Pieces

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

MAX_NAME = 100
"""Characters of a part's name."""
PROBES = 4096
"""Places of a whole boundary, about, at which a mark's condition is looked at; 16 or more on every piece."""
FINER = 1 << 18
"""The same where it holds at none of those: parts may be narrow."""
HALVINGS = 60

Where = Callable[[Array, Array], Any]


class Part(NamedTuple):
    """A named piece of a boundary, and its length."""

    name: str
    length: float


def part_name(what: str, name: object) -> str:
    """The name of a part: a short text, and not "*", which stands for the rest."""
    if not isinstance(name, str) or not name.strip() or name == "*" or len(name) > MAX_NAME or not name.isprintable():
        raise InputError(f'{what} = {short(name)} must be a text of 1 to {MAX_NAME} characters other than "*"')
    return name


def list_parts(boundary: Boundary) -> tuple[Part, ...]:
    """The parts with their lengths, in the order in which they first appear along the boundary."""
    lengths = np.bincount(boundary.pieces.part, boundary.pieces.length, len(boundary.names))
    return tuple(Part(name, float(length)) for name, length in zip(boundary.names, lengths, strict=True))


def part_index(domain: Domain, x: Any, y: Any) -> Numbers:
    """The part of the nearest piece of the boundary; of two sides of a slit, the one that the point is on."""
    x, y, shape = as_points(x, y)
    pieces = domain.pieces
    if not pieces.size:
        raise InputError(f"{short(domain)} has no boundary: it is empty")
    nearest, _ = pieces.nearest(x, y)
    return pieces.part[nearest].reshape(shape)


def find_parts(domain: Domain, names: object) -> list[int]:
    """The indices of parts by their names."""
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Iterable):
        raise InputError(f"part = {short(names)} must be the name of a part, or a list of names")
    known = [part.name for part in domain.parts]
    wanted = list(given)
    for name in wanted:
        if name not in known:
            raise unknown("part of the boundary", name, known)
    return [known.index(name) for name in wanted]


def marked(domain: Domain, name: str, where: Where | None, on: object, what: str) -> Boundary:
    """The boundary with a new part where a condition holds. what: the condition, for messages."""
    pieces, names, given = domain.boundary
    allowed = np.ones(pieces.size, bool) if on is None else np.isin(pieces.part, find_parts(domain, on))
    if where is None:
        chosen = allowed
    else:
        for probes in (PROBES, FINER):
            found, of, chosen = _cut_where(pieces, allowed, where, probes)
            chosen &= allowed[of]
            if chosen.any():
                break
        pieces = found
    if not chosen.any():
        place = "the boundary" if on is None else ", ".join(repr(names[k]) for k in find_parts(domain, on))
        raise InputError(f"mark {name!r}: {what} holds nowhere on {place}")
    part = np.where(chosen, len(names), pieces.part)
    from mc2.geometry.clipping import compact

    return compact(pieces._replace(part=part), (*names, name), (*given, True))


def is_wide(domain: Domain, where: Where) -> bool:
    """Whether a condition holds on so much of the boundary that `PROBES` places meet it."""
    pieces = domain.pieces
    return bool(_cut_where(pieces, np.ones(pieces.size, bool), where, PROBES)[2].any())


def _cut_where(
    pieces: Pieces, allowed: NDArray[np.bool_], where: Where, probes: int
) -> tuple[Pieces, Indices, NDArray[np.bool_]]:
    """The pieces cut where a condition changes, the piece each is of, and whether the condition holds on it."""
    share = pieces.length / pieces.length.sum()
    counts = np.where(allowed, np.maximum(16, np.ceil(share * probes)).astype(np.intp), 1)
    index = np.repeat(np.arange(pieces.size), counts)
    place = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    t = (place + 0.5) / counts[index]
    holds = _truth(where, pieces.at(t, index))
    change = np.flatnonzero((index[1:] == index[:-1]) & (holds[1:] != holds[:-1]) & allowed[index[1:]])
    low, high, cut = t[change], t[change + 1], index[change]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = _truth(where, pieces.at(middle, cut)) == holds[change]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    t_cut = 0.5 * (low + high)
    owner = np.concatenate([np.arange(pieces.size), cut])
    first = np.concatenate([np.zeros(pieces.size), t_cut])
    begins = np.cumsum(counts) - counts
    truth = np.concatenate([holds[begins], ~holds[change]])
    order = np.lexsort((first, owner))
    owner, first, truth = owner[order], first[order], truth[order]
    last = np.where(np.append(owner[1:] != owner[:-1], True), 1.0, np.append(first[1:], 1.0))
    return pieces.cut(owner, first, last), owner, truth


def _truth(where: Where, points: Array) -> NDArray[np.bool_]:
    """Where a condition holds at points [n, 2]: what is neither 0, nor false, nor NaN."""
    values = np.broadcast_to(np.asarray(where(points[:, 0], points[:, 1])), len(points))
    return np.nan_to_num(np.asarray(values, float)) != 0
