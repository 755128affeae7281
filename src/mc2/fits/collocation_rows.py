"""Rows of collocation: the equation at points inside and the conditions on the boundary, each weighted like u."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.fits.boundary_points import BoundaryPoints, make_rows
from mc2.fits.collocation_basis import CollocationBasis
from mc2.fits.collocation_points import InnerPoints
from mc2.fits.features import features_in, features_on_boundary
from mc2.fits.junctions import Junction
from mc2.functions.expression import Expression
from mc2.functions.function import Function
from mc2.problems import Problem

Array = NDArray[np.float64]
UNIT = 8.0
"""Derivatives count by this part of the domain's size: Δu by its square."""
TURNS = 6
"""Points around the middle of a narrow feature."""


class Linear(NamedTuple):
    """Rows: matrix [column, row] of functions, and target [row]."""

    matrix: Array
    target: Array

    def left(self, coefficients: Array) -> Array:
        """What coefficients leave over in each row."""
        return np.asarray(coefficients @ self.matrix - self.target)

    def joined(self, other: "Linear") -> "Linear":
        """Both."""
        matrix = np.concatenate([self.matrix, other.matrix], axis=1)
        return Linear(matrix, np.concatenate([self.target, other.target]))


class Equations:
    """A problem as rows."""

    def __init__(self, problem: Problem, junctions: Sequence[Junction]) -> None:
        self.problem, self.junctions = problem, junctions
        self.unit = problem.domain.size / UNIT
        self.narrow_inside, self.narrow_outside = list(self._inside()), list(self._outside())

    def rows(self, basis: CollocationBasis, inner: InnerPoints, edge: BoundaryPoints) -> Linear:
        """All rows, each times the root of the part of the domain or of its boundary that it stands for."""
        inside, outside = self.inside(basis, inner), self.outside(basis, edge)
        shares = np.concatenate([np.sqrt(inner.share), np.sqrt(edge.length / edge.length.sum())])
        both = inside.joined(outside)
        return Linear(both.matrix * shares, both.target * shares)

    def inside(self, basis: CollocationBasis, inner: InnerPoints) -> Linear:
        """Lu = f at points inside, comparable with u."""
        x, y = inner.x, inner.y
        alpha, bx, by, c = self.problem.operator.expanded(x, y)
        jet = basis.jet(x, y)
        weight = inner.calm / self.stiffness(alpha, x, y)
        source = self.problem.source
        f = np.zeros(x.size) if source is None else source(x, y)
        return Linear((alpha * jet.laplacian + bx * jet.x + by * jet.y + c * jet.values) * weight, f * weight)

    def outside(self, basis: CollocationBasis, edge: BoundaryPoints) -> Linear:
        """The conditions at points of the boundary, comparable with u."""
        rows = make_rows(self.problem, edge, self.junctions, self.unit)
        matrix, on = rows.a * basis.columns(edge.x, edge.y), rows.b != 0
        alpha = self.problem.operator.expanded(edge.x, edge.y)[0]
        if on.any():
            jet = basis.jet(edge.x[on], edge.y[on])
            matrix[:, on] += rows.b[on] * alpha[on] * (jet.x * edge.nx[on] + jet.y * edge.ny[on])
        # the weights of rows are for α = 1
        weight = rows.weight * (rows.b + rows.a * self.unit) / (rows.b * alpha + rows.a * self.unit)
        return Linear(matrix * weight, rows.value * weight)

    def stiffness(self, alpha: Array, x: Array, y: Array) -> Array:
        """What Lu is for u = 1 that changes over the unit of length."""
        own, constant = self.problem.operator.varying, self.problem.operator.mass
        if own is None:
            return alpha / self.unit**2 + max(-constant, 0.0)
        drift = np.hypot(own.drift[0](x, y), own.drift[1](x, y))
        return alpha / self.unit**2 + drift / self.unit + np.maximum(own.reaction(x, y), 0.0)

    def narrow(self, basis: CollocationBasis, coefficients: Array) -> float:
        """What is left at narrow features that no other points meet, as a root mean square over all of the domain."""
        area, length = float(self.problem.domain.pieces.areas().sum()), float(self.problem.domain.pieces.length.sum())
        total = 0.0
        for points, widths in self.narrow_inside:
            left = np.abs(self.inside(basis, points).left(coefficients)).reshape(len(widths), -1)
            total += float(np.sum(left.max(1) ** 2 * np.pi * (2 * widths) ** 2)) / area
        for edge, widths in self.narrow_outside:
            left = np.abs(self.outside(basis, edge).left(coefficients))
            total += float(np.sum(left**2 * 4 * widths)) / length
        return float(np.sqrt(total))

    def _inside(self) -> Iterator[tuple[InnerPoints, Array]]:
        """Points in and around what is narrow in the source and in coefficients, and widths."""
        functions: list[Function] = [] if self.problem.source is None else [self.problem.source]
        own, domain = self.problem.operator.varying, self.problem.domain
        if own is not None:
            functions += [own.reaction, *own.drift] if own.materials else [*own.functions.values(), *own.gradient]
        turns = np.append(0.5 * np.exp(2j * np.pi * np.arange(TURNS) / TURNS), 0.0)
        for function in functions:
            if isinstance(function, Expression) and not function.arguments:
                continue
            found = features_in(function, domain)
            if not len(found.places):
                continue
            middle = found.places[:, 0] + 1j * found.places[:, 1]
            z = middle[:, None] + found.widths[:, None] * turns
            z = np.where(domain.contains(z.real, z.imag), z, middle[:, None])
            ones = np.ones(z.size)
            yield InnerPoints(z.real.ravel(), z.imag.ravel(), ones, ones, ones > 0), found.widths

    def _outside(self) -> Iterator[tuple[BoundaryPoints, Array]]:
        """Points where data of conditions are narrow, and widths."""
        domain = self.problem.domain
        for part, condition in enumerate(self.problem.conditions):
            for function in condition.functions.values():
                if isinstance(function, Expression) and not function.arguments:
                    continue
                found = features_on_boundary(function, domain)
                if not len(found.places):
                    continue
                x, y = found.places.T
                on = domain.part_index(x, y) == part
                x, y, widths, step = x[on], y[on], found.widths[on], 1e-6 * domain.size
                nx = domain.distance(x - step, y) - domain.distance(x + step, y)
                ny = domain.distance(x, y - step) - domain.distance(x, y + step)
                size = np.maximum(np.hypot(nx, ny), 1e-300)
                yield BoundaryPoints(x, y, nx / size, ny / size, widths, np.full(x.size, part)), widths
