"""The boundary of a problem as the kernels of reflecting walks read it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.functions.expression import Expression
from mc2.geometry import Domain
from mc2.geometry.pieces import Indices, Pieces, successors
from mc2.problems import Problem, Robin
from mc2.problems.condition import Condition
from mc2.problems.frame import Framed

Array = NDArray[np.float64]
QUARTER = 1.02 * np.tan(np.pi / 8)
"""Largest bulge of the arcs that walks know: a quarter of a circle, so that a share of the chord tells the place."""
TOUCH, SMOOTH, BEND = 2e-6, 5e-4, 0.2
"""Lengths by which walls go on past their ends, for rays that rounding might let through: at corners, and where the
boundary goes on with a smaller turn than the third. There, a ray along the wall is met far from where it should be."""
SAMPLES = 513
"""Places of a wall at which its coefficient is tabulated."""
ON_WALL = 1e-6
"""Part of the domain's size within which a point is on the boundary."""
AGREEMENT = 1e-3
"""Part of its largest value by which a coefficient may differ from its table."""


@dataclass(frozen=True)
class Boundary:
    """The pieces of a problem's boundary, and which of them reflect walks.

    pieces: of the domain, arcs cut to a quarter of a circle.
    ends, walls: their indices, of those with Dirichlet and of those with other conditions.
    """

    problem: Problem
    pieces: Pieces
    ends: Indices
    walls: Indices

    @classmethod
    def of(cls, problem: Problem) -> "Boundary":
        """The boundary of a problem."""
        pieces = _shorter(problem.domain.pieces)
        reflecting = np.array([condition.reflecting for condition in problem.conditions])[pieces.part]
        return cls(problem, pieces, np.flatnonzero(~reflecting), np.flatnonzero(reflecting))

    def tables(self, sampled: bool = False) -> tuple[Any, ...]:
        """The fields of the kernels' `Walls`.

        sampled: whether all walls count as having data, since something is left over there.
        """
        coefficients, given = self._coefficients, self._given | sampled
        after = np.where(np.abs(self._turn) < BEND, SMOOTH, TOUCH) * self.problem.domain.size
        before = np.empty_like(after)
        before[successors(self.pieces.curve)] = after
        past = np.column_stack([before, after])
        walls = _rows(self.pieces.take(self.walls), coefficients, given, past[self.walls])
        walls = np.column_stack([walls, np.zeros(self.walls.size) if self.values is None else self.values])
        none = np.zeros((self.ends.size, 2))
        ends = _rows(self.pieces.take(self.ends), none, np.zeros(self.ends.size), none)
        arrays = ends, walls, self._vertices(), coefficients
        return tuple(np.ascontiguousarray(array, np.float32) for array in arrays)

    @property
    def robin(self) -> bool:
        """Whether some wall takes up what it meets."""
        return bool(self._coefficients.max(initial=0.0) > 0)

    @property
    def given(self) -> bool:
        """Whether some wall has data that are not 0."""
        return bool(self._given.any())

    @property
    def straight(self) -> bool:
        """Whether all walls with data that are not 0 are lines."""
        return not self.pieces.bulge[self.walls[self._given]].any()

    @cached_property
    def convex(self) -> bool:
        """Whether no wall can hide another: the boundary is a single curve that never turns right."""
        pieces = self.pieces
        return bool(np.ptp(pieces.curve) == 0 and (pieces.bulge > -1e-14).all() and (self._turn > -1e-9).all())

    @cached_property
    def _turn(self) -> Array:
        """By how much the boundary turns at the end of every piece, positive to the left."""
        pieces = self.pieces
        return np.asarray(np.angle(pieces.direction(0.0)[successors(pieces.curve)] / pieces.direction(1.0)))

    def condition_of(self, piece: int) -> Condition:
        """The condition on a piece."""
        return self.problem.conditions[int(self.pieces.part[piece])]

    @cached_property
    def _given(self) -> NDArray[np.bool_]:
        return self.constants[self.walls] != 0

    @cached_property
    def values(self) -> Array | None:
        """The data of every wall, if all are constant."""
        values = self.constants[self.walls]
        return None if np.isnan(values).any() else values

    @cached_property
    def constants(self) -> Array:
        """The data of every piece, NaN where they vary along it; and 0, which index −1 finds."""
        values = [condition.value for condition in self.problem.conditions]
        each = np.array([float(value(0.0, 0.0)) if is_constant(value) else np.nan for value in values])
        return np.append(each[self.pieces.part], 0.0)

    @cached_property
    def _coefficients(self) -> Array:
        """μ at equidistant shares of the chord of every wall."""
        conditions = [self.condition_of(piece) for piece in self.walls]
        constant = all(is_constant(c.coefficient) for c in conditions if isinstance(c, Robin))
        share = np.linspace(0, 1, 2 if constant else SAMPLES)
        found = np.zeros((self.walls.size, share.size))
        for row, (piece, condition) in enumerate(zip(self.walls, conditions, strict=True)):
            if isinstance(condition, Robin):
                found[row] = self._along(int(piece), condition, share)
                between = 0.5 * (share[1:] + share[:-1])
                error = np.abs(self._along(int(piece), condition, between) - 0.5 * (found[row, 1:] + found[row, :-1]))
                if error.max() > AGREEMENT * found[row].max():
                    name = self.problem.domain.parts[int(self.pieces.part[piece])].name
                    raise InputError(
                        f"robin coefficient on {name!r} changes too fast along it for walks: mark a part of its own "
                        "where it jumps"
                    )
        return found

    def _along(self, piece: int, condition: Robin, share: Array) -> Array:
        """μ at shares of a piece's chord."""
        own = self.pieces.take(np.array([piece]))
        chord = own.start + share[:, None] * (own.end - own.start)
        t, _ = self.pieces.locate(np.full(share.size, piece), chord)
        return condition.weights(*self.pieces.at(t, np.full(share.size, piece)).T)[0]

    def _vertices(self) -> Array:
        """Corners between two walls at which the boundary turns right: position, and normals before and after."""
        pieces, follow = self.pieces, successors(self.pieces.curve)
        before, after = pieces.direction(1.0), pieces.direction(0.0)[follow]
        turn = self._turn
        reflecting = np.isin(np.arange(pieces.size), self.walls)
        slit = np.abs(turn) > np.pi - 1e-6
        chosen = np.flatnonzero(reflecting & reflecting[follow] & ((turn < -1e-6) | slit))
        a, b = -1j * before[chosen], -1j * after[chosen]
        return np.column_stack([pieces.end[chosen], a.real, a.imag, b.real, b.imag])


def is_constant(function: object) -> bool:
    """Whether a function is the same everywhere, as its text says."""
    inner = function.function if isinstance(function, Framed) else function
    return isinstance(inner, Expression) and inner.operation == "constant"


def _shorter(pieces: Pieces) -> Pieces:
    """The pieces, with arcs of more than a quarter of a circle cut in two."""
    parts = np.where(np.abs(pieces.bulge) > QUARTER, 2, 1)
    index = np.repeat(np.arange(pieces.size), parts)
    second = np.arange(index.size) - np.repeat(np.cumsum(parts) - parts, parts)
    return pieces.cut(index, second / parts[index], (second + 1) / parts[index])


def _rows(pieces: Pieces, coefficients: Array, given: Any, past: Array) -> Array:
    """Pieces as the kernels read them: see `star_kernels`."""
    chord = pieces.end - pieces.start
    length = np.hypot(*chord.T)
    along = chord / length[:, None]
    arc, half = np.abs(pieces.bulge) > 1e-14, 0.5 * pieces.turn
    radius = np.divide(0.5 * length, np.abs(np.sin(half)), out=np.zeros(pieces.size), where=arc)
    sense = np.where(arc, np.sign(pieces.bulge), 0.0)
    left = np.column_stack([-along[:, 1], along[:, 0]])
    middle = 0.5 * (pieces.start + pieces.end)
    center = middle + (sense * radius * np.cos(half))[:, None] * left
    return np.column_stack([
        pieces.start, pieces.end, along, length, -left, center, radius, sense, -sense[:, None] * left, np.cos(half),
        np.abs(half) / (2 * np.pi), coefficients.max(axis=1, initial=0.0),
        coefficients.min(axis=1, initial=np.inf) if coefficients.size else np.zeros(pieces.size), given,
        past, np.cos(np.minimum(np.abs(half) + past.min(axis=1, initial=np.inf) / np.maximum(radius, 1e-30), np.pi)),
    ])  # fmt: skip


def nearest_walls(boundary: Boundary, domain: Domain, x: Array, y: Array) -> NDArray[np.int32]:
    """The wall that each start point is on, or −1."""
    found = np.full(x.size, -1, np.int32)
    near = np.flatnonzero(np.abs(domain.distance(x, y)) <= ON_WALL * domain.size)
    if near.size:
        nearest, _ = boundary.pieces.nearest(x[near], y[near])
        number = np.full(boundary.pieces.size, -1)
        number[boundary.walls] = np.arange(boundary.walls.size)
        found[near] = number[nearest]
    return found
