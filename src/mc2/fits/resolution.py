"""How well a lift knows its source: compared with it at random points, and at peaks, which these would miss."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.fits.features import features_in
from mc2.fits.lift import Lift
from mc2.fits.mollifier import Mollifier
from mc2.fits.quadrature import NO_PEAKS, Peaks
from mc2.functions import Function
from mc2.functions.terms import TermSum
from mc2.geometry import Domain
from mc2.problems.operator import Operator

Array = NDArray[np.float64]
PROBES = 2048
"""Random points in the domain at which Lw is compared with f."""
RESOLVED = 1e-6
"""Part of f, root mean square, that Lw may differ by at any of them for a lattice to do."""
CLOSELY = 1e-9
"""Likewise, for interpolation between lattice points to do instead of the series, which takes a Fourier transform."""
ROUGHLY = 1e-7
"""Likewise, where the answer is known no better than a few walks tell."""
FOURIER = 1e-15
"""Part of the largest |Lw| that rounding makes of it everywhere: much, where a source is huge outside the domain."""
NARROW = 1 / 64
"""Part of the domain's size below which a feature is a peak: about two cells of the first lattice."""


@dataclass(frozen=True)
class Resolution:
    """How well a lift knows its source.

    left, worst: f − Lw at random points of the domain, root mean square and largest.
    scale: f there, root mean square.
    errors: standard error of w [row, column], tile by tile; a single tile where a lattice does.
    resolved: whether that can be relied on; else it is only a bound from what is left.
    corner, tile: lower left of the tiles, and their side.
    mollifier: spreads what is left of a rough source, so that walks which meet it are less noisy; None if nothing does.
    """

    left: float
    worst: float
    scale: float
    errors: Array
    resolved: bool = True
    corner: tuple[float, float] = (0.0, 0.0)
    tile: float = 1.0
    mollifier: Mollifier | None = None

    @property
    def negligible(self) -> bool:
        """Whether nothing of f is left, as far as can be measured."""
        return self.worst <= RESOLVED * self.scale

    def error(self, x: Array, y: Array) -> Array:
        """Standard error of w at points."""
        rows, columns = self.errors.shape
        row = np.clip(((y - self.corner[1]) / self.tile).astype(int), 0, rows - 1)
        column = np.clip(((x - self.corner[0]) / self.tile).astype(int), 0, columns - 1)
        return np.asarray(self.errors[row, column])


def probe(
    lift: Lift, source: Function, domain: Domain, peaks: Peaks = NO_PEAKS, closely: float = CLOSELY
) -> Resolution:
    """Compare Lw with f at random points of the domain, and at peaks, which these would miss.

    closely: see `CLOSELY`.
    """
    x, y = probes(domain, peaks)
    given = source(x, y)
    close = closely * np.sqrt(np.mean(given**2))
    left = given - lift.applied_roughly(x, y) if lift.source is not None else np.full(1, np.inf)
    if np.abs(left).max() > close or FOURIER * lift.largest_source > close:
        left = given - lift.applied(x, y)
    rms, scale = (float(np.sqrt(np.mean(part[:PROBES] ** 2))) for part in (left, given))
    worst = float(np.abs(left).max())
    return Resolution(rms, worst, scale, np.full((1, 1), rms * strongest_reach(domain, lift.operator)))


def strongest_reach(domain: Domain, operator: Operator) -> float:
    """What a source of 1 can do: Δu = −1 on a disk of this size is 1 − r² times size²/16, no domain of it has more."""
    return float((domain.size**2 / 16) ** (2 if operator.order == 4 else 1))


def probes(domain: Domain, peaks: Peaks) -> Array:
    """Random points of the domain, and peaks [2, n]."""
    return np.concatenate([domain.sample_interior(PROBES, seed=1).T, (peaks.x, peaks.y)], axis=1)


def find_peaks(source: Function, domain: Domain) -> Peaks:
    """Features of a source that are narrower than samples would show."""
    if isinstance(source, TermSum):  # which are smooth
        return NO_PEAKS
    found = features_in(source, domain)
    narrow = found.widths < NARROW * domain.size
    x, y = found.places[narrow].T
    return Peaks(x, y, found.widths[narrow])
