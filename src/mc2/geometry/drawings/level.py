"""Domains from a distance function of one's own: where it is positive, traced along the curve on which it is zero."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.checks import numbers
from mc2.errors import InputError, one_line, short
from mc2.geometry.domain import Domain
from mc2.geometry.drawings.building import assemble
from mc2.geometry.drawings.drawing import at
from mc2.geometry.drawings.extras import needed
from mc2.geometry.drawings.mending import Mended, Polyline

Array = NDArray[np.float64]
Values = Callable[[Array, Array], Array]

CELLS = 512
"""Cells along the longer side of the bounds: what is narrower than one of them may be missed."""
PAIRS = 1 << 16
"""Pairs of points, near and far from each other, at which the function is checked beside those of the cells."""
ALLOWED = 1e-6
"""By how much a function may change beyond its allowance of 1 per length: rounding."""
CLOSE = 0.01
"""Vertices that are nearer to each other, in cells, are one."""
HALVINGS = 60
ROUNDS = 12
"""Times that edges are halved that are off the curve."""
MOST = 50_000
"""Vertices of all curves."""
CORNER = 0.2
"""Turns of fewer radians are no corners."""


def from_sdf(function: Any, bounds: Any, name: str | None = None, flatness: float = 1e-6) -> Domain:
    """The domain in which a signed distance function of one's own is positive.

    function: an expression such as "1 - sqrt(x*x + y*y)", or a function of arrays x and y. It may change by at most 1
        per length, as distances do; it is checked at many points, and refused with the place where it changes faster.
    bounds: (xmin, xmax, ymin, ymax) of a box that holds the domain. What is narrower than a 512th of its longer side
        may be missed.
    name: of the boundary.
    flatness: edges are off the curve by at most so many sizes of the box, about.
    """
    xmin, xmax, ymin, ymax = numbers("bounds", bounds, 4)
    if not (xmin < xmax and ymin < ymax):
        raise InputError(f"bounds = {short(bounds)} must be (xmin, xmax, ymin, ymax) with xmin < xmax and ymin < ymax")
    values, size = _values(function), max(xmax - xmin, ymax - ymin)
    nx, ny = (int(np.ceil(CELLS * side / size)) + 1 for side in (xmax - xmin, ymax - ymin))
    x, y = np.linspace(xmin, xmax, nx), np.linspace(ymin, ymax, ny)
    field = values(*np.meshgrid(x, y))
    _check_slopes(values, field, x, y)
    border = np.zeros(field.shape, bool)
    border[[0, -1]], border[:, [0, -1]] = True, True
    outside = np.argwhere(border & (field >= 0))
    if outside.size:
        row, column = outside[0]
        raise InputError(
            f"the function is not negative at {at((x[column], y[row]))}: bounds must hold the whole domain"
        )
    rings = _trace(values, field, x, y, flatness * size)
    return assemble(Mended([_polyline(ring, name) for ring in rings], []))


def _values(function: Any) -> Values:
    """The function with its values checked."""
    # expressions belong to a layer above this one: it is named here, not imported
    call = import_module("mc2.functions.reader").read_expression(function) if isinstance(function, str) else function
    if not callable(call):
        raise InputError(f"function = {short(function)} must be an expression, or a function of x and y")

    def values(x: Array, y: Array) -> Array:
        try:
            found = np.broadcast_to(np.asarray(call(x, y), float), x.shape)
        except Exception as error:
            raise InputError(f"the distance function fails: {one_line(error)}") from error
        bad = np.argwhere(~np.isfinite(found))
        if bad.size:
            place = tuple(bad[0])
            raise InputError(f"the distance function is not finite at {at((x[place], y[place]))}")
        return found

    return values


def _check_slopes(values: Values, field: Array, x: Array, y: Array) -> None:
    """Refuse a function that changes by more than 1 per length."""
    random = np.random.default_rng(0)
    low, size = np.array([x[0], y[0]]), np.array([x[-1] - x[0], y[-1] - y[0]])
    p = low + size * random.random((PAIRS, 2))
    length, angle = size.max() * 10 ** random.uniform(-5, -0.5, PAIRS), random.uniform(0, 2 * np.pi, PAIRS)
    q = np.clip(p + length[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), low, low + size)
    apart = np.hypot(*(q - p).T)
    slope = np.abs(values(*q.T) - values(*p.T)) / np.maximum(apart, 1e-300) * (apart > 0)
    worst = [(float(slope.max()), tuple(p[np.argmax(slope)]))]
    for axis, step in ((0, y[1] - y[0]), (1, x[1] - x[0])):
        steep = np.abs(np.diff(field, axis=axis)) / step
        row, column = np.unravel_index(np.argmax(steep), steep.shape)
        worst.append((float(steep[row, column]), (x[column], y[row])))
    steepest, place = max(worst)
    rounding = 1e-13 * float(np.abs(field).max()) / (1e-5 * float(size.max()))
    if steepest > 1 + ALLOWED + rounding:
        raise InputError(
            f"the function is no distance: it changes by {steepest:.4g} per length at {at(place)}, and 1 is allowed; "
            "divide it by its steepest slope"
        )


def _trace(values: Values, field: Array, x: Array, y: Array, tolerance: float) -> list[Array]:
    """Closed curves on which the function is zero."""
    contourpy = needed("contourpy", "to trace a distance function")
    lines = contourpy.contour_generator(x, y, field).lines(0.0)
    if not lines:
        raise InputError("the function is positive nowhere in bounds")
    rings = [_refined(values, _on_zero(values, np.asarray(line)[:-1], x, y), tolerance) for line in lines]
    for _ in range(4):  # a corner may be cut off by a few short edges
        rings = [_sharpened(ring, 100 * tolerance) for ring in rings]
    return rings


def _on_zero(values: Values, points: Array, x: Array, y: Array) -> Array:
    """Points on lines of the grid moved along these to where the function is zero, by halving."""
    lows, highs = [], []
    for axis, own in enumerate((x, y)):
        place = (points[:, axis] - own[0]) / (own[1] - own[0])
        nearest = np.rint(place)
        on = np.abs(place - nearest) < 1e-6  # on a line of the grid
        index = np.where(on, nearest, np.floor(place)).astype(np.intp)
        lows.append(own[index])
        highs.append(own[np.minimum(index + ~on, len(own) - 1)])
    low, high = np.stack(lows, axis=1), np.stack(highs, axis=1)
    below = values(*low.T) > 0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = ((values(*middle.T) > 0) == below)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    found = 0.5 * (low + high)
    return found[np.hypot(*(found - np.roll(found, 1, axis=0)).T) > CLOSE * (x[1] - x[0])]


def _refined(values: Values, ring: Array, tolerance: float) -> Array:
    """The ring with the middles of edges, moved onto the curve, where these are off it."""
    for _ in range(ROUNDS):
        following = np.roll(ring, -1, axis=0)
        along = following - ring
        length = np.hypot(*along.T)
        middle = 0.5 * (ring + following)
        normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / length[:, None]
        reach = np.minimum(0.5 * length, 0.5 * np.abs(values(*middle.T)) + 0.5 * length)
        low, high = middle - reach[:, None] * normal, middle + reach[:, None] * normal
        below, above = values(*low.T) > 0, values(*high.T) > 0
        crosses = below != above
        for _ in range(HALVINGS):
            center = 0.5 * (low + high)
            same = ((values(*center.T) > 0) == below)[:, None]
            low, high = np.where(same, center, low), np.where(same, high, center)
        moved = 0.5 * (low + high)
        off = crosses & (np.hypot(*(moved - middle).T) > tolerance)
        if not off.any():
            break
        places = np.flatnonzero(off) + 1
        ring = np.insert(ring, places, moved[off], axis=0)
        if len(ring) > MOST:
            raise InputError(f"the curve needs more than {MOST:,} vertices: allow a larger flatness")
    return ring


def _sharpened(ring: Array, short: float) -> Array:
    """The ring with corners that a short edge cuts off made whole: where its neighbours meet when they go on."""
    z = ring @ (1, 1j)
    along = np.roll(z, -1) - z
    turn = np.angle(along / np.roll(along, 1))  # at the start of every edge
    both = np.minimum(np.abs(turn), np.abs(np.roll(turn, -1)))
    cut = (np.abs(along) < short) & (turn * np.roll(turn, -1) > 0) & (both > 1e-4)
    cut &= np.abs(turn + np.roll(turn, -1)) > CORNER
    cut &= ~np.roll(cut, 1)
    before, after, gap = np.roll(along, 1), np.roll(along, -1), along
    with np.errstate(all="ignore"):
        share = (gap * after.conjugate()).imag / (before * after.conjugate()).imag
    meeting = z + share * before
    cut &= np.abs(meeting - z) < 10 * short
    z = np.where(cut, meeting, z)[~np.roll(cut, 1)]
    return np.stack([z.real, z.imag], axis=1)


def _polyline(ring: Array, name: str | None) -> Polyline:
    along = (np.roll(ring, -1, axis=0) - ring) @ (1, 1j)
    smooth = np.abs(np.angle(along / np.roll(along, 1))) < CORNER
    return Polyline(ring, [name] * len(ring), smooth, True, "curve")
