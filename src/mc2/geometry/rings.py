"""Checks that rings of vertices make a polygon: an outer ring, then holes."""

from collections.abc import Sequence

import numpy as np

from mc2.checks import listed, point, whole
from mc2.errors import InputError
from mc2.geometry.parts import part_name

MAX_VERTICES = 100_000
"""Most vertices of all polygons in a domain, holes included: a tree over them has about 150 numbers for each."""

Ring = tuple[tuple[float, float], ...]

_CHUNK = 256


def read_rings(vertices: object, holes: object) -> tuple[Ring, ...]:
    """All rings as tuples of floats, the outer one first."""
    rings = [listed(_name(0), vertices, "points")]
    rings += [listed(_name(k), hole, "points") for k, hole in enumerate(listed("polygon holes", holes, "rings"), 1)]
    total = sum(map(len, rings))
    if total > MAX_VERTICES:
        raise InputError(
            f"a polygon may have {MAX_VERTICES:,} vertices ({__name__}.MAX_VERTICES), holes included, not {total:,}"
        )
    return tuple(
        _open(tuple(point(f"{_name(k)} vertex {i}", vertex) for i, vertex in enumerate(ring)))
        for k, ring in enumerate(rings)
    )


def _open(ring: Ring) -> Ring:
    """Without the last vertex, if it repeats the first, as drawings and GIS files write rings."""
    return ring[:-1] if len(ring) > 3 and ring[0] == ring[-1] else ring


def read_names(names: object, rings: tuple[Ring, ...]) -> tuple[tuple[str | None, ...], ...]:
    """A name, or None, for every edge of every ring."""
    found = []
    for k, (own, ring) in enumerate(zip(_for_each("names", names, rings), rings, strict=True)):
        given = listed(f"{_name(k)} names", own, "names")
        if len(given) != len(ring):
            raise InputError(f"{_name(k)} has {len(ring)} edges and {len(given)} names: give one for each, or None")
        found.append(tuple(None if one is None else part_name(f"{_name(k)} name", one) for one in given))
    return tuple(found)


def read_smooth(smooth: object, rings: tuple[Ring, ...]) -> tuple[tuple[int, ...], ...]:
    """Numbers of vertices of every ring."""
    found = []
    for k, (own, ring) in enumerate(zip(_for_each("smooth", smooth, rings), rings, strict=True)):
        given = listed(f"{_name(k)} smooth", own, "whole numbers")
        found.append(tuple(whole(f"{_name(k)} smooth", one, 0, len(ring) - 1) for one in given))
    return tuple(found)


def _for_each(what: str, given: object, rings: tuple[Ring, ...]) -> Sequence[object]:
    """A list with something for each ring."""
    own = listed(f"polygon {what}", given, "lists")
    if len(own) != len(rings):
        raise InputError(f"polygon {what} has {len(own)} lists: it needs one for each of {len(rings)} rings")
    return own


def check_rings(rings: list[np.ndarray]) -> None:
    """Refuse rings [k, 2] that are degenerate, cross or touch themselves or each other, or lie in the wrong place."""
    for k, ring in enumerate(rings):
        _check_vertices(_name(k), ring)
    for k, ring in enumerate(rings):
        _check_line(_name(k), ring)
    _check_crossings(rings)
    for k, ring in enumerate(rings):
        _check_area(_name(k), ring)
    _check_nesting(rings)


def check_chain(chain: np.ndarray) -> None:
    """Refuse the points [k, 2] of a slit that are too few, repeat each other, or make it cross or touch itself."""
    if len(chain) < 2:
        raise InputError(f"slit has {len(chain)} points: it needs two or more")
    _check_repeats("slit point", chain)
    start, end = chain[:-1], chain[1:]
    number = np.arange(len(start))
    order = np.argsort(np.minimum(start[:, 0], end[:, 0]), kind="stable")
    left = np.minimum(start[:, 0], end[:, 0])[order]
    for low in range(0, len(start), _CHUNK):
        some = order[low : low + _CHUNK, None]
        reach = np.searchsorted(left, np.maximum(start[some, 0], end[some, 0]).max(), side="right")
        others = order[low:reach]
        met = _meet(start[some], end[some], start[others], end[others]) & (np.abs(number[some] - others) > 1)
        if met.any():
            i, j = np.argwhere(met)[0]
            first, second = sorted((int(some[i, 0]), int(others[j])))
            raise InputError(f"slit crosses or touches itself: edge {first} and edge {second}")
    along = np.diff(chain @ (1, 1j))
    back = np.abs(np.angle(along[1:] / along[:-1])) > np.pi - 1e-9
    if back.any():
        raise InputError(f"slit goes back along itself at point {int(np.argmax(back)) + 1}")


def _name(ring: int) -> str:
    return "polygon" if ring == 0 else f"polygon hole {ring}"


def _check_vertices(name: str, ring: np.ndarray) -> None:
    if len(ring) < 3:
        raise InputError(f"{name} has {len(ring)} vertices: it needs three or more")
    _check_repeats(f"{name} vertex", ring)


def _check_repeats(name: str, points: np.ndarray) -> None:
    order = np.lexsort(points.T)
    same = np.flatnonzero((points[order[1:]] == points[order[:-1]]).all(axis=1))
    if same.size:
        first, second = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        kind = name.rsplit(" ", 1)[1]
        raise InputError(f"{name} {second} repeats {kind} {first}: give every {kind} once")


def _check_line(name: str, ring: np.ndarray) -> None:
    """Vertices on a line: the smaller of the two singular values of their coordinates is nothing but rounding."""
    sizes = np.linalg.svd(ring - ring.mean(axis=0), compute_uv=False)
    if sizes[1] <= 1e-14 * sizes[0]:
        raise InputError(f"{name} has no area: its vertices lie on a line")


def _check_area(name: str, ring: np.ndarray) -> None:
    x, y = (ring - ring.mean(axis=0)).T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    if area <= 1e-14 * np.ptp(ring, axis=0).max() ** 2:
        raise InputError(f"{name} has no area: it is thinner than rounding")


def _check_crossings(rings: list[np.ndarray]) -> None:
    """Closed edges may meet only where they follow each other in a ring.

    An edge that runs back along the one before it is caught too: one of the two then meets the far neighbour.
    """
    start = np.concatenate(rings)
    end = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    owner = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    number = np.concatenate([np.arange(len(ring)) for ring in rings])
    # Sorted by their left ends, an edge can only meet those that begin before its right end.
    order = np.argsort(np.minimum(start[:, 0], end[:, 0]), kind="stable")
    start, end, owner, number = start[order], end[order], owner[order], number[order]
    left, right = np.minimum(start[:, 0], end[:, 0]), np.maximum(start[:, 0], end[:, 0])
    counts = np.array([len(ring) for ring in rings])
    for low in range(0, len(start), _CHUNK):
        some = np.arange(low, min(low + _CHUNK, len(start)))[:, None]
        others = np.arange(low, np.searchsorted(left, right[some].max(), side="right"))
        step = (number[others] - number[some]) % counts[owner[some]]
        neighbours = (owner[others] == owner[some]) & ((step <= 1) | (step == counts[owner[some]] - 1))
        wrong = np.argwhere(~neighbours & _meet(start[some], end[some], start[others], end[others]))
        if wrong.size:
            i, j = low + wrong[0, 0], others[wrong[0, 1]]
            raise InputError(_crossing(*sorted([(int(owner[i]), int(number[i])), (int(owner[j]), int(number[j]))])))


def _crossing(one: tuple[int, int], other: tuple[int, int]) -> str:
    itself = "the outline crosses itself: " if one[0] == other[0] else ""
    return (
        f"{itself}{_name(one[0])} edge {one[1]} crosses or touches {_name(other[0])} edge {other[1]} "
        "(edge k goes from vertex k to the next)"
    )


def _cross(o: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Twice the area of the triangle o, a, b."""
    u, v = a - o, b - o
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def _meet(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Whether the closed segments a-b and c-d have a point in common."""
    boxes = (np.maximum(a, b) >= np.minimum(c, d)) & (np.maximum(c, d) >= np.minimum(a, b))
    straddle = np.sign(_cross(a, b, c)) * np.sign(_cross(a, b, d)) <= 0
    straddle &= np.sign(_cross(c, d, a)) * np.sign(_cross(c, d, b)) <= 0
    return boxes.all(axis=-1) & straddle


def _check_nesting(rings: Sequence[np.ndarray]) -> None:
    """Since no rings cross, one vertex of a hole tells where all of it lies."""
    first = np.array([ring[0] for ring in rings])
    outside = ~_inside(rings[0], first[1:])
    if outside.any():
        raise InputError(f"{_name(int(np.argmax(outside)) + 1)} lies outside the outer ring")
    for k, ring in enumerate(rings[1:], 1):
        within = _inside(ring, first)
        within[[0, k]] = False
        if within.any():
            raise InputError(f"{_name(int(np.argmax(within)))} lies in {_name(k)}")


def _inside(ring: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points [n, 2] lie in the ring: whether a ray to the right crosses it an odd number of times."""
    following = np.roll(ring, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    spans = (ring[:, 1] > y) != (following[:, 1] > y)
    rise = np.where(following[:, 1] == ring[:, 1], 1, following[:, 1] - ring[:, 1])
    crossing = ring[:, 0] + (y - ring[:, 1]) * (following[:, 0] - ring[:, 0]) / rise
    return (spans & (x < crossing)).sum(axis=1) % 2 == 1
