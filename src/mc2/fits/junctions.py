"""Junctions: boundary points at which a solution may be singular, and the powers with which it is.

These are corners, and points where one condition ends and another begins. At a corner of angle ω between two Dirichlet
or two Neumann sides the powers are kπ/ω, between one of each (k − ½)π/ω. A Robin side counts as Neumann; since it mixes
u into its own derivative, each power λ is followed by λ + 1, λ + 2, …, and so it is where a side is curved.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.fits.corner_functions import CornerFunctions, Cut, Term
from mc2.fits.cuts import CutFinder
from mc2.fits.normals import moved_to_boundary
from mc2.fits.slit_functions import TwinFunctions
from mc2.fits.slits import find_slits
from mc2.geometry.pieces import STRAIGHT_ON, successors
from mc2.problems import Problem
from mc2.problems.condition import Condition, Dirichlet, Robin

Array = NDArray[np.float64]
INTEGER = 1e-7
"""Distance from an integer at which a power counts as one."""
FLAT = 1e-4
"""Curvature, times the size of the domain, below which a side counts as straight."""
JUMPS = 1e-9
"""Part of the data by which Dirichlet data must differ at a corner to count as jumping."""
AROUND = 1e-9
"""Radians by which the opening at the tip of a slit may differ from a full turn."""
SHARPEST = 1e-6
"""Angles below, in radians, are no corners but mistakes."""
MOST_JUNCTIONS = 512
"""The most singular ones first."""


@dataclass(frozen=True)
class Junction:
    """A boundary point at which a solution may be singular.

    piece: of the boundary, which ends there.
    center: the point. direction: of the side that follows it, in radians. opening: the angle of the domain.
    after, before: the conditions on the two sides.
    bent: whether powers are followed by greater ones, λ + 1, λ + 2, …
    jump: whether Dirichlet data jump there.
    cut: where the angle around it jumps; None if there is no way for one.
    tip: for a corner of one side of a slit, the cut of functions of the slit's tip: it is no corner of the other side.
    """

    piece: int
    center: complex
    direction: float
    opening: float
    after: Condition
    before: Condition
    bent: bool
    jump: bool
    cut: Cut | None
    tip: Cut | None = None

    @property
    def changes(self) -> bool:
        """Whether one condition ends there and another begins."""
        return not _same(self.after, self.before)

    @property
    def first(self) -> float:
        """The smallest power."""
        mixed = self.after.reflecting != self.before.reflecting
        return float(np.pi / self.opening) * (0.5 if mixed else 1.0)

    @property
    def weakness(self) -> float:
        """How regular the solution is there; singular functions matter where it is small."""
        return self.first if abs(self.first - round(self.first)) > INTEGER else self.first + 1.0

    def terms(self, highest: float) -> tuple[Term, ...]:
        """The functions, up to a power."""
        mixed = self.after.reflecting != self.before.reflecting
        count = int(highest * self.opening / np.pi + (0.5 if mixed else 0.0) + 1e-9)
        powers = (np.arange(1, count + 1) - (0.5 if mixed else 0.0)) * np.pi / self.opening
        sine = not self.after.reflecting
        around = self.opening > 2 * np.pi - AROUND  # a tip: data on the two sides differ by such powers as well
        robin = isinstance(self.after, Robin) or isinstance(self.before, Robin)
        found: dict[tuple[float, int], Term] = {}

        def add(power: float, logs: int, cosine: bool, sine: bool) -> None:
            key = (round(power, 9), logs)
            old = found.get(key, Term(power, logs, False, False))
            found[key] = Term(old.power, logs, old.cosine or cosine, old.sine or sine)

        if self.jump:
            add(0.0, 1, False, True)
        for power in powers.tolist():
            whole = abs(power - round(power)) < INTEGER
            power = float(round(power)) if whole else power
            other = around and not whole
            add(power, int(whole), not sine or other, sine or other)
            for more in range(1, int(highest - power) + 1) if self.bent else ():
                add(power + more, int(whole), True, True)
                if robin and np.abs(powers - power - more).min() < INTEGER:  # it resonates with another of the powers
                    add(power + more, 1 + int(whole), True, True)
        return tuple(sorted(found.values()))

    def one_sided(self, highest: float) -> tuple[Term, ...]:
        """The functions that are singular, whichever part of them is 0 on the two sides that meet there."""
        terms = [term for term in self.terms(highest) if term.logs or abs(term.power - round(term.power)) > INTEGER]
        return tuple(term if not term.power else term._replace(cosine=True) for term in terms)


def find_junctions(
    problem: Problem, jumps: NDArray[np.intp] | None = None, kinks: NDArray[np.intp] | None = None
) -> list[Junction]:
    """The points of a domain's boundary at which the solution may be singular, the most singular first.

    jumps, kinks: pieces that end where the data of one condition jump, or bend.
    """
    pieces, conditions = problem.domain.pieces, problem.conditions
    following = successors(pieces.curve)
    ends, starts = pieces.direction(1.0), pieces.direction(0.0)[following]
    turn = np.angle(starts / ends)
    turn = np.where(turn > np.pi - 1e-9, -np.pi, turn)  # the tip of a slit
    other = np.array(
        [not _same(conditions[i], conditions[j]) for i, j in zip(pieces.part, pieces.part[following], strict=True)]
    )
    jumping, bending = (np.isin(np.arange(pieces.size), () if own is None else own) for own in (jumps, kinks))
    other |= jumping | bending
    curvature = np.abs(pieces.turn / pieces.length) * problem.domain.size
    smooth = np.abs(turn) < STRAIGHT_ON
    found, cuts = [], CutFinder(problem.domain)
    slits = {piece: slit for slit in find_slits(problem.domain, cuts) for piece in slit.corners}
    for k in np.flatnonzero(~pieces.smooth | other):
        after, before = conditions[pieces.part[following[k]]], conditions[pieces.part[k]]
        point, direction = _placed(problem, pieces.end[k], starts[k]) if smooth[k] else (pieces.end[k], starts[k])
        bent = (
            isinstance(after, Robin) or isinstance(before, Robin) or max(curvature[k], curvature[following[k]]) > FLAT
        )
        angle = np.pi if smooth[k] else float(np.pi - turn[k])
        if angle < SHARPEST:
            continue
        center, along = complex(*point), float(np.angle(direction))
        slit = slits.get(int(k))
        cut = cuts.find(center, along, angle) if slit is None else slit.cut(slit.corners[int(k)])
        tip = slit.cut() if slit is not None and slit.corners[int(k)] > 0 else None
        if cut is not None and cut.heading is None:
            bent = True  # functions that are singular in the middle of a hole do not keep straight sides straight
            cut = None if problem.operator.varying is None and problem.operator.mass else cut
        jump = not after.reflecting if jumping[k] else _jumps(after, before, point)
        found.append(Junction(int(k), center, along, angle, after, before, bool(bent), jump, cut, tip))
    return sorted(found, key=lambda junction: junction.weakness)[:MOST_JUNCTIONS]


def _placed(problem: Problem, point: Array, direction: complex) -> tuple[Array, complex]:
    """A point in the middle of a smooth side, and the direction of the side there."""
    z, normal = moved_to_boundary(problem.domain, np.array([complex(*point)]), np.array([-1j * direction]))
    return np.array([z[0].real, z[0].imag]), complex(1j * normal[0])


def _same(one: Condition, other: Condition) -> bool:
    """Whether two conditions are equal, as functions that are written alike are."""
    return one is other or (type(one) is type(other) and one.functions == other.functions)


def _jumps(after: Condition, before: Condition, point: Array) -> bool:
    if not (isinstance(after, Dirichlet) and isinstance(before, Dirichlet)) or _same(after, before):
        return False
    x, y = point[:, None]
    values = [float(condition.data(x, y, x, y)[0]) for condition in (after, before)]
    return abs(values[0] - values[1]) > JUMPS * max(map(abs, values))


def make_corner_functions(
    problem: Problem, junctions: list[Junction], highest: float, most: int
) -> tuple[CornerFunctions | TwinFunctions, ...]:
    """Functions around the junctions that have a cut.

    highest: power. most: functions in all, about; with many junctions the powers of each end earlier.
    """
    junctions = [junction for junction in junctions if junction.cut is not None]
    while True:
        terms = [
            junction.terms(highest) if junction.tip is None else junction.one_sided(highest) for junction in junctions
        ]
        if highest < 1.0 or sum(term.cosine + term.sine for own in terms for term in own) <= most:
            break
        highest *= 0.8
    found: list[CornerFunctions | TwinFunctions] = []
    xmin, xmax, ymin, ymax = problem.domain.bounds
    for junction, own in zip(junctions, terms, strict=True):
        if not own:
            continue
        assert junction.cut is not None
        radius = max(abs(complex(x, y) - junction.center) for x in (xmin, xmax) for y in (ymin, ymax))
        functions = CornerFunctions(problem.operator, junction.cut, junction.direction, junction.opening, radius, own)
        found.append(functions)
        if junction.tip is not None and not problem.operator.mass:
            found.append(TwinFunctions(functions, junction.tip))
    return tuple(found)
