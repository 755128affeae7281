"""Narrow features: where a function is what no sample of it shows.

A bump of width 0.001 is missed by a lattice, and by a thousand random points. An enclosure (`mc2.functions.intervals`)
cannot miss it: on a box that holds the bump it is as large as the bump. So boxes on which the enclosure goes far beyond
what samples there have shown are split, the widest first, until samples show it too, or until the enclosure shrinks to
what they show. Functions without an enclosure are sampled densely, and climbed where they change the most.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.fits.cells import Arcs, Boxes, Cells, halves
from mc2.functions.equality import BoundaryFunction
from mc2.functions.expression import Expression
from mc2.functions.function import Function
from mc2.functions.intervals import enclose
from mc2.functions.terms import TermSum
from mc2.geometry import Domain
from mc2.geometry.sampling import bounds_whole

Array = NDArray[np.float64]
BOXES, WORK = 20_000, 1_500_000
"""Boxes on which a function is enclosed, at most; and, for long expressions, boxes times operations."""
BATCH = 256
"""Boxes that are split at a time: the ones that promise most."""
EXCESS = 0.25
"""What leaves the samples around it by less than this part of the range of the first samples is no feature."""
ALONE = 2.0
"""Times the range of all others around it by which a sample must be off them to stand alone."""
USUAL = 0.005
"""Share of the first samples, at either end, that does not count for their range."""
FAINT = 1e-3
"""What is smaller than this part of the largest value seen is no feature, either."""
SHORTEST_BOX = 1e-11
"""Side of a box that is not split any more, in units of the domain's size."""
PER_BOX, DENSE = 3, 65_536
"""Samples in every box; and of a function without an enclosure, in all boxes."""
RARE = 0.1
"""Part of a box's samples: what more of them show is not narrow."""
ALONG, SMALL_PART = 16_384, 0.01
"""Points along the boundary at which data are looked at for rare values, and the part of it that is rare."""
HIDDEN = 1.5
"""Times the largest value that many samples show: what is above has hidden between them."""
CLIMBS = 12
"""Steps uphill, each with narrower tries than the one before."""
MOST = 32
"""Features that are told apart."""


@dataclass(frozen=True)
class Features:
    """What was found.

    places: points [n, 2] at which the function is far from what the samples around it show, the farthest first.
    widths: the distance [n] at which it has lost half of that.
    largest: the largest |value| seen anywhere.
    bound: an upper bound on |function|; infinite if there may be none, None for functions that cannot be enclosed.
    share: the part of the boundary that has half of the function's variance, or less for what no sample shows.
    """

    places: Array
    widths: Array
    largest: float
    bound: float | None
    share: float = 1.0


def features_in(function: Function, domain: Domain) -> Features:
    """Narrow features of a function inside a domain.

    function: of x and y, such as a problem's source.
    """
    return _Search(Boxes(function, domain)).run()


def features_on_boundary(function: Function, domain: Domain) -> Features:
    """Narrow features of a function on the boundary of a domain.

    function: of x and y, such as a problem's boundary data.
    """
    narrow, rare = _Search(Arcs(function, domain)).run(), _rare(function, domain)
    new = [
        k
        for k, place in enumerate(rare.places)
        if not any(np.hypot(*(place - at)) < 4 * width for at, width in zip(narrow.places, narrow.widths, strict=True))
    ]
    places, widths = (
        np.concatenate([narrow.places, rare.places[new]]),
        np.concatenate([narrow.widths, rare.widths[new]]),
    )
    share = rare.share
    if narrow.largest > HIDDEN * rare.largest and len(widths):  # not even many samples show it
        share = min(share, float(widths.min()) / domain.size)
    return Features(places, widths, max(narrow.largest, rare.largest), narrow.bound, share)


def _rare(data: Function, domain: Domain) -> Features:
    """Places where data are far from what they are elsewhere, if half of that is on a small part of the boundary.

    Such a feature may be wide enough for samples to meet, and still be met by few walks.
    """
    leaves = list(domain.leaves())
    lengths = np.array([leaf.perimeter for leaf in leaves])
    counts = np.maximum(16, np.round(ALONG * lengths / lengths.sum())).astype(int)
    points = np.concatenate([leaf.outline((np.arange(n) + 0.5) / n) for leaf, n in zip(leaves, counts, strict=True)])
    if len(leaves) > 1:
        points = points[bounds_whole(domain, leaves, np.repeat(np.arange(len(leaves)), counts), points)]
    values = data(*points.T)
    off = (values - np.median(values)) ** 2
    ranked, largest = np.argsort(-off), float(np.abs(values).max())
    half = int(np.searchsorted(np.cumsum(off[ranked]), 0.5 * off.sum())) + 1
    share = half / len(points) if off.sum() > 0 else 1.0
    if share > SMALL_PART:
        return Features(np.empty((0, 2)), np.empty(0), largest, None, share)
    strong = np.sort(ranked[:half])
    runs = np.split(strong, np.flatnonzero(np.diff(strong) > 2) + 1)[:MOST]
    places, step = np.array([points[run[len(run) // 2]] for run in runs]), float(lengths.sum()) / ALONG
    return Features(places, np.array([0.5 * step * len(run) for run in runs]), largest, None, share)


def can_enclose(function: Function) -> bool:
    """Whether nothing of a function can hide from a search: it is a formula, or known to be smooth."""
    return isinstance(function, TermSum) or _formula(function) is not None


def _formula(function: Function) -> Expression | None:
    own = function.double if isinstance(function, BoundaryFunction) else function
    return own if isinstance(own, Expression) else None


class _Search:
    """The pieces that are left, and what samples have shown in and around each.

    root: the first piece that each lies in. least, most: of samples in the pieces that it was split from.
    below, above: its enclosure.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells, self.random = cells, np.random.default_rng(0)
        self.expression = _formula(cells.function)
        self.smallest, self.largest = np.inf, -np.inf
        self.candidates: list[tuple[Array, Array, NDArray[np.intp]]] = []  # coordinates, how far off, root

    def run(self) -> Features:
        low, high = self.cells.first()
        dense = self.expression is None and not isinstance(self.cells.function, TermSum)
        count = DENSE // len(low) if dense else PER_BOX
        at = low + (high - low) * self.random.random((count, *low.shape))
        values = self._look(at)
        if not np.isfinite(values).any():
            return Features(np.empty((0, 2)), np.empty(0), 0.0, None)
        self.range = float(np.ptp(np.nanquantile(values, (USUAL, 1 - USUAL))))  # of the first samples, but for few
        least, most = self._extremes(values)
        self.usual = np.fmin(np.fmax(0.0, least), most)  # per first piece: what a feature stands out of
        roots = np.broadcast_to(np.arange(len(low)), values.shape)
        off = np.fmax(values - most, least - values)
        self._note(at, np.where(off > most - least, off, 0.0), roots)  # where it is steep, samples differ
        if self.expression is not None:
            self._split(low, high, least, most)
        elif dense:
            self._climb(at, values)
        bound = self.bound if self.expression is not None else None
        places, widths = self._places()
        return Features(places, widths, max(abs(self.smallest), abs(self.largest)), bound)

    def _look(self, at: Array) -> Array:
        values = self.cells.values(at)
        self.smallest = min(self.smallest, float(np.fmin.reduce(values, axis=None, initial=np.inf)))
        self.largest = max(self.largest, float(np.fmax.reduce(values, axis=None, initial=-np.inf)))
        return values

    def _extremes(self, values: Array) -> tuple[Array, Array]:
        """The least and the largest of the samples in and around every first piece; of all, where there are none."""
        around = np.concatenate([self.cells.around(row) for row in values])
        ranked = np.sort(around, axis=0)  # nan last
        count = np.sum(np.isfinite(around), axis=0)
        ranks = [0, np.minimum(1, count - 1), np.maximum(count - 2, 0), np.maximum(count - 1, 0)]
        least, second, last_but_one, most = (ranked[rank, np.arange(around.shape[1])] for rank in ranks)
        # a sample that stands alone has met a narrow feature by chance: the next in rank is what is usual
        usual = last_but_one - second
        least = np.where(second - least > ALONE * usual, second, least)
        most = np.where(most - last_but_one > ALONE * usual, last_but_one, most)
        return np.where(count == 0, self.smallest, least), np.where(count == 0, self.largest, most)

    @property
    def limit(self) -> float:
        return max(EXCESS * self.range, FAINT * max(abs(self.smallest), abs(self.largest)), 1e-300)

    # --- with enclosures ----------------------------------------------------------------------------------------

    def _split(self, low: Array, high: Array, least: Array, most: Array) -> None:
        """Split the pieces whose enclosure promises most beyond what samples show, again and again."""
        cells, first_least, first_most = self.cells, least, most
        assert self.expression is not None
        kept = np.flatnonzero(cells.keep(low, high))
        low, high, root, least, most = low[kept], high[kept], kept, least[kept], most[kept]
        below, above = enclose(self.expression, *cells.boxes(low, high)) or (least, most)
        left = int(np.clip(WORK / len(self.expression.order()), 2 * len(low), BOXES))
        # a piece this small is a point to rounding
        shortest = SHORTEST_BOX * (high - low).max(initial=0.0)
        while left > 0:
            excess = np.maximum(above - most, least - below)
            beyond = excess > np.maximum(self.limit, most - least)  # where it is steep, enclosures are wide
            promising = np.flatnonzero(beyond & ((high - low).max(axis=1) > shortest))
            if not promising.size:
                break
            if promising.size > BATCH:
                promising = promising[np.argpartition(-excess[promising], BATCH)[:BATCH]]
            new_low, new_high, parent = halves(low[promising], high[promising])
            here = cells.keep(new_low, new_high)
            new_low, new_high, parent = new_low[here], new_high[here], promising[parent[here]]
            left -= len(parent)
            at = new_low + (new_high - new_low) * self.random.random((PER_BOX, *new_low.shape))
            values = self._look(at)
            roots = root[parent]
            off = np.fmax(values - first_most[roots], first_least[roots] - values)
            self._note(at, off, np.broadcast_to(roots, off.shape))
            inside = enclose(self.expression, *cells.boxes(new_low, new_high)) or (least, most)
            old = np.ones(len(low), bool)
            old[promising] = False
            low, high = np.concatenate([low[old], new_low]), np.concatenate([high[old], new_high])
            root = np.concatenate([root[old], roots])
            least = np.concatenate([least[old], np.fmin(least[parent], np.fmin.reduce(values, axis=0))])
            most = np.concatenate([most[old], np.fmax(most[parent], np.fmax.reduce(values, axis=0))])
            below = np.concatenate([below[old], np.maximum(inside[0], below[parent])])
            above = np.concatenate([above[old], np.minimum(inside[1], above[parent])])
        self.bound = float(np.maximum(np.abs(below), np.abs(above)).max(initial=0.0))

    def _note(self, at: Array, off: Array, root: NDArray[np.intp]) -> None:
        """Remember samples that are off by more than the limit."""
        chosen = off > self.limit
        self.candidates.append((at[chosen], off[chosen], root[chosen]))

    # --- without --------------------------------------------------------------------------------------------------

    def _climb(self, at: Array, values: Array) -> None:
        """From the samples that are farthest off the usual of their piece, uphill."""
        values = np.where(np.isfinite(values).any(axis=0), values, 0.0)
        self.usual = np.nanmedian(values, axis=0)
        off = np.nan_to_num(np.abs(values - self.usual))
        best = np.argmax(off - 6 * np.nanmedian(off, axis=0), axis=0)
        roots = np.argsort(-off[best, np.arange(len(best))])[:MOST]
        place = self._uphill(at[best[roots], roots], self.usual[roots], np.ptp(at[:, roots], axis=0))
        gain = np.nan_to_num(np.abs(self.cells.values(place) - self.usual[roots]))
        rare = (off[:, roots] > 0.5 * gain).mean(axis=0) < RARE
        self._note(place, np.where(rare, gain, 0.0), roots)

    def _uphill(self, at: Array, usual: Array, step: Array) -> Array:
        """Coordinates [n, dimensions] away from the usual values, by ever narrower tries around the best so far."""
        rows = np.arange(len(at))
        gain = np.nan_to_num(np.abs(self.cells.values(at) - usual))
        for _ in range(CLIMBS):
            tries = at + step * self.random.normal(size=(16, *at.shape))
            found = np.nan_to_num(np.abs(self._look(tries) - usual))
            best = np.argmax(found, axis=0)
            better = found[best, rows] > gain
            at = np.where(better[:, None], tries[best, rows], at)
            gain = np.where(better, found[best, rows], gain)
            step = 0.6 * step
        return at

    # --- what was found ---------------------------------------------------------------------------------------------

    def _places(self) -> tuple[Array, Array]:
        """The candidates that are farthest off, each without those within its width."""
        places: list[Array] = []
        widths: list[float] = []
        if not self.candidates:
            return np.empty((0, 2)), np.empty(0)
        at, off, root = (np.concatenate(parts) for parts in zip(*self.candidates, strict=True))
        points = self.cells.points(at).T
        left = off > self.limit
        while left.any() and len(places) < MOST:
            chosen = int(np.argmax(np.where(left, off, -1.0)))
            usual = float(self.usual[root[chosen]])
            step = self._width(at[chosen], usual) * np.abs(self.cells.directions(at[chosen])[0])
            top = self._uphill(at[chosen][None], self.usual[root[chosen]][None], step)[0]
            width, place = self._width(top, usual), self.cells.points(top[None])[:, 0]
            left[chosen] = False
            if any(np.hypot(*(place - other)) < own for other, own in zip(places, widths, strict=True)):
                continue  # the same feature, from its flank
            places.append(place)
            widths.append(width)
            left &= np.hypot(*(points - place).T) > max(4 * width, 1e-8 * self.cells.domain.size)
        return np.array(places).reshape(-1, 2), np.array(widths)

    def _width(self, at: Array, usual: float) -> float:
        """How far from a place the function has lost half of what makes it a feature."""
        distances = self.cells.domain.size * np.geomspace(1e-12, 1.0, 61)
        ways = self.cells.directions(at)
        values = self.cells.values(at + distances[:, None, None] * ways)  # [distance, way]
        here = float(self.cells.values(at[None])[0])
        lost = ~(np.abs(values - here) < 0.5 * abs(here - usual))
        lost[-1] = True
        return float(np.quantile(distances[np.argmax(lost, axis=0)], 0.75))
