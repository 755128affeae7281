"""The method of particular solutions: eigenvalues of the Dirichlet Laplacian, to many digits.

Functions of a Trefftz basis satisfy Δu + λu = 0 for any λ. Among those whose mean square in the domain and on its
boundary together is 1, some are tiny on the boundary if λ is close to an eigenvalue, as many as it is multiple (Betcke
and Trefethen, 2005). How close it is they tell themselves: with an eigenfunction φ of the eigenvalue λ*, Green's
identity says (λ* − λ) ∫uφ = −∮ u ∂φ/∂n. With such functions in place of φ this is a small symmetric eigenproblem for
the distances from λ to all eigenvalues nearby, and from there λ goes on: the number of digits doubles every time.

A function with Δu + λu = 0 and ∫u² = 1 that is at most m on the boundary is off an eigenvalue by at most m √area · λ*
(Moler and Payne, 1968).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import interruptibly
from mc2.errors import InputError, short
from mc2.fits.basis import Basis, Pole, make_basis
from mc2.fits.boundary_points import BoundaryPoints, Sides, on_pieces
from mc2.fits.conditions import ring
from mc2.fits.corner_functions import CornerFunctions
from mc2.fits.junctions import INTEGER, Junction, find_junctions, make_corner_functions
from mc2.geometry import Domain
from mc2.geometry.boundary_rule import BoundaryRule, boundary_rule
from mc2.geometry.pieces import successors
from mc2.geometry.slit import has_slits
from mc2.problems import Laplace
from mc2.problems.operator import Operator

Array = NDArray[np.float64]
LEVELS = ((16, 8.0, 16, 0), (24, 12.0, 24, 0), (32, 16.0, 32, 0), (20, 8.0, 16, 120), (24, 12.0, 24, 240))
"""What is tried together: degree above kR, highest power of corner functions, degree around holes, and poles around
the domain."""
CROWDED = 16
"""Poles in a hole that crowd towards each of its corners."""
MOST_CROWDED = 400
"""Of all corners together."""
SHRINKS = 4.0
"""How fast those distances shrink."""
MOST = 500
"""Corner functions of a basis, about."""
PER_FUNCTION = 2
"""Points on the boundary for every function, at least, besides those that are crowded."""
MOST_POINTS = 12_000
"""Points on the boundary: more corners are too many."""
INTERIOR = 500
"""Points inside the domain, at least."""
DEPENDENT = 1e-13
"""Combinations of functions below this part of the largest are rounding."""
SMALL = 0.2
"""Size on the boundary of functions that may belong to an eigenvalue nearby."""
NEAR = 0.03
"""Relative distance of such an eigenvalue."""
STEPS = 12
"""From a first guess to an eigenvalue, at most."""
ROUNDING = 1e-14
"""Relative distance below which a step is rounding."""
SAFETY = 1.5
"""Times the largest value on the boundary that is met at points."""
CLOSEST = 1e-12
"""Distance of points from singular corners, in units of the domain's size."""
SLIT = 1.9 * np.pi
"""Angle of a corner beyond which squares of gradients are not integrated along the boundary."""


class Mode(NamedTuple):
    """An eigenvalue, its function, and a bound of the eigenvalue's relative error.

    basis, coefficients: of the function, whose mean square times the area is 1.
    """

    eigenvalue: float
    bound: float
    basis: Basis
    coefficients: Array


class ParticularSolutions:
    """Bases, points and weights for the eigenfunctions of a domain, which should be of ordinary size."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._rules: dict[int, BoundaryPoints] = {}
        self._singular: dict[int, tuple[tuple[Pole, ...], tuple[CornerFunctions, ...]]] = {}

    @cached_property
    def junctions(self) -> list[Junction]:
        """Corners at which eigenfunctions are singular: those of an angle π/n are not, by reflection."""
        found = find_junctions(Laplace(self.domain, 0))
        if has_slits(self.domain):
            raise InputError(f"modes of {short(self.domain)} are not known: it has slits")
        return [one for one in found if abs(one.first - round(one.first)) > INTEGER]

    @property
    def levels(self) -> int:
        """How many are worth trying: with crowded poles, larger bases are too ill-conditioned."""
        return len(LEVELS) if all(map(_is_cut_outside, self.junctions)) else 1

    @cached_property
    def radius(self) -> float:
        """Of a circle around the domain."""
        return make_basis(self.domain, Operator(1.0), 0, -1).radius

    @cached_property
    def area(self) -> float:
        return float(self.domain.pieces.areas().sum())

    def basis(self, eigenvalue: float, level: int) -> Basis:
        """Solutions of Δu + λu = 0."""
        degree, _, around_holes, _ = LEVELS[level]
        operator = Operator(eigenvalue)
        plain = make_basis(self.domain, operator, degree + int(operator.rate * self.radius), around_holes)
        if level not in self._singular:
            self._singular[level] = self._poles(level), self._corners(level)
        poles, corners = self._singular[level]
        return replace(
            plain, poles=(*plain.poles, *poles), corners=tuple(replace(own, operator=operator) for own in corners)
        )

    def _poles(self, level: int) -> tuple[Pole, ...]:
        """All around the domain, outside."""
        count, sides = LEVELS[level][3], Sides(self.domain, self.junctions)
        around = tuple(ring(self.domain, sides.evenly(count), (0, 0))) if count else ()
        # around corners of holes, angles would jump within the domain as well
        inner = [one for one in self.junctions if not _is_cut_outside(one)]
        each = min(CROWDED, MOST_CROWDED // max(len(inner), 1))
        return (*around, *(pole for one in inner for pole in self._crowd(one, each)))

    def _crowd(self, corner: Junction, count: int) -> Iterator[Pole]:
        """Poles in a hole, at distances from a corner that shrink towards it (Gopal and Trefethen, 2019)."""
        heading = np.exp(1j * (corner.direction + 0.5 * corner.opening + np.pi))
        reach = 0.5 * min(
            [abs(one.center - corner.center) for one in self.junctions if one is not corner], default=self.domain.size
        )
        for step in reach * np.exp(-SHRINKS * (np.sqrt(count) - np.sqrt(np.arange(1, count + 1)))):
            center = corner.center + step * heading
            depth = -float(self.domain.distance(center.real, center.imag))
            if depth > 0.1 * step:
                yield Pole((float(center.real), float(center.imag)), depth, (0, 1))

    def _corners(self, level: int) -> tuple[CornerFunctions, ...]:
        """Singular functions of all corners that have any, for λ = 0."""
        chosen = [one for one in self.junctions if _is_cut_outside(one)]
        found = make_corner_functions(Laplace(self.domain, 0), chosen, LEVELS[level][1], MOST)
        kept = []
        for own in found:
            assert isinstance(own, CornerFunctions)  # there are no slits
            terms = tuple(term for term in own.terms if not term.logs and abs(term.power % 1 - 0.5) < 0.5 - INTEGER)
            kept.append(replace(own, terms=terms))
        return tuple(own for own in kept if own.terms)

    def points(self, count: int, more: int = 0) -> BoundaryPoints:
        """Nodes of a quadrature along the boundary, which crowd towards corners.

        count: of equal distances, at least. more: levels of the rule above the first that has so many.
        """
        level = 1
        while True:
            found = self._rule(level)
            # crowded points do not count: functions would hide between the others
            if found.length.max() * count <= found.length.sum():
                return self._rule(level + more) if more else found
            level += 1

    def _rule(self, level: int) -> BoundaryPoints:
        if level not in self._rules:
            rule = boundary_rule(self.domain.pieces, np.arange(self.domain.pieces.size), level)
            if rule.weights.size > MOST_POINTS:
                raise InputError(
                    f"modes of {short(self.domain)} would take {rule.weights.size:,} points on its boundary, and "
                    f"{MOST_POINTS:,} are the most: its shape is too intricate"
                )
            found = on_pieces(self.domain, rule.piece, rule.t)._replace(length=rule.weights)
            kept = self._apart(found)
            found = found._replace(length=rule.weights + self._left_out(rule, kept))
            self._rules[level] = BoundaryPoints(*(column[kept] for column in found))  # type: ignore[arg-type]
        return self._rules[level]

    def _left_out(self, rule: BoundaryRule, kept: NDArray[np.bool_]) -> Array:
        """What the point next to a singular corner stands for besides its own length.

        At a reentrant corner squares of gradients grow like r^(2λ − 2), whose integral is known: it is what the other
        points have not of it.
        """
        more, pieces = np.zeros(kept.size), self.domain.pieces
        for one in [one for one in self.junctions if one.first < 1]:
            for index, at_end in ((one.piece, True), (int(successors(pieces.curve)[one.piece]), False)):
                own = np.flatnonzero(rule.piece == index)
                share = np.sort(rule.t[own])  # the rule is symmetric, and its nodes near 0 are not rounded
                distance = pieces.length[index] * (share[::-1] if at_end else share)
                power, here = 2 * one.first - 2, kept[own]
                whole = pieces.length[index] ** (power + 1) / (power + 1)
                missing = whole - float(rule.weights[own][here] @ distance[here] ** power)
                first = int(np.argmin(np.where(here, distance, np.inf)))
                more[own[first]] += max(missing, 0.0) / distance[first] ** power
        return more

    def _apart(self, points: BoundaryPoints) -> NDArray[np.bool_]:
        """Which points are not so close to a corner that rounding decides where they are."""
        kept = np.ones(points.x.size, bool)
        for one in self.junctions:
            kept &= np.hypot(points.x - one.center.real, points.y - one.center.imag) > CLOSEST * self.domain.size
        return kept

    def near(self, eigenvalue: float, level: int) -> list[Mode]:
        """Modes that λ is close to, the closest first; their bounds are not known yet."""
        basis = self.basis(eigenvalue, level)
        points = self.points(PER_FUNCTION * len(basis.levels))
        interior = self.domain.sample_interior(max(INTERIOR, 2 * len(basis.levels)), seed=0).T
        coefficients = self._small(basis, points, interior)
        if not len(coefficients):
            return []
        distances, combined = self._distances(basis, coefficients, points, interior)
        order = np.argsort(np.abs(distances))
        return [
            Mode(eigenvalue + float(distances[k]), np.inf, basis, combined[:, k] @ coefficients)
            for k in order[np.abs(distances[order]) < NEAR * eigenvalue]
        ]

    def _small(self, basis: Basis, points: BoundaryPoints, interior: Array) -> Array:
        """Coefficients [k, column] of functions that are small on the boundary and not inside."""
        rows = basis.columns(points.x, points.y) * np.sqrt(points.length)
        inner = basis.columns(*interior) * np.sqrt(self.area / interior.shape[1])
        matrix = np.concatenate([rows, inner], axis=1)
        norms = np.maximum(np.linalg.norm(matrix, axis=1), 1e-290)
        factor = interruptibly(np.linalg.qr, (matrix / norms[:, None]).T)
        left, sizes, right = np.linalg.svd(factor[1], full_matrices=False)
        kept = sizes > DEPENDENT * sizes[0]
        edge = factor[0][: rows.shape[1]] @ left[:, kept]
        _, sizes_on_edge, turned = interruptibly(np.linalg.svd, edge, full_matrices=False)
        chosen = turned[sizes_on_edge < SMALL]
        return np.asarray((chosen / sizes[kept]) @ right[kept] / norms)

    def _distances(
        self, basis: Basis, coefficients: Array, points: BoundaryPoints, interior: Array
    ) -> tuple[Array, Array]:
        """Distances from λ to eigenvalues nearby, and combinations [function, k] of functions with ∫uv = δ."""
        from scipy.linalg import eigh

        u = coefficients @ basis.columns(points.x, points.y)
        gx, gy = (coefficients @ slopes for slopes in basis.gradients(points.x, points.y))
        outward = gx * points.nx + gy * points.ny
        crossed = -(u * points.length) @ outward.T
        if any(one.opening > SLIT or not _is_cut_outside(one) for one in self.junctions):
            inner = coefficients @ basis.columns(*interior)
            product = inner @ inner.T * (self.area / inner.shape[1])
        else:  # 2λ ∫uv by Rellich's identity, which is exact
            # from the most singular corner, so that its sides have no part in it
            origin = self.junctions[0].center if self.junctions else complex(*basis.center)
            x, y = points.x - origin.real, points.y - origin.imag
            across, along = (x * points.nx + y * points.ny) * points.length, (x * gx + y * gy) * points.length
            product = basis.operator.mass * (u * across) @ u.T - (gx * across) @ gx.T - (gy * across) @ gy.T
            product = (product + along @ outward.T + outward @ along.T) / (2 * basis.operator.mass)
        try:
            return eigh(0.5 * (crossed + crossed.T), 0.5 * (product + product.T))
        except np.linalg.LinAlgError:  # functions that only look small where they were sampled
            return np.zeros(0), np.zeros((len(coefficients), 0))

    def converge(self, guess: float, level: int) -> list[Mode]:
        """From a guess to the eigenvalue next to it: as many modes as have it, and others found on the way.

        The last are known less well. Nothing if there is none near.
        """
        here, last = guess, np.inf
        for _ in range(STEPS):
            found = self.near(here, level)
            if not found:
                return []
            step = abs(found[0].eigenvalue - here)
            if step < ROUNDING * here or (step < 1e-9 * here and step > 0.1 * last):
                break
            here, last = found[0].eigenvalue, step
        return found

    def judged(self, mode: Mode) -> Mode:
        """With a bound for its error, from fresh points of the boundary."""
        fresh = self.points(PER_FUNCTION * len(mode.basis.levels), more=1)
        largest = float(np.abs(mode.basis.sum(mode.coefficients, fresh.x, fresh.y)).max())
        return mode._replace(bound=SAFETY * largest * float(np.sqrt(self.area)) + ROUNDING)


def _is_cut_outside(corner: Junction) -> bool:
    """Whether the angle around a corner can jump outside of the domain alone."""
    return corner.cut is not None and corner.cut.heading is not None
