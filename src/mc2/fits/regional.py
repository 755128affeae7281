"""Collocation in domains of several materials: a basis for each, with conditions where they meet.

In every region α is a number, and u is smooth up to the interfaces if these are; across them its slopes jump. So every
region has a basis of its own, on its own bounding box and with functions of its own holes. At points of interfaces
there are two rows more: u is the same from both sides, and so is α ∂u/∂n. Where interfaces have corners, solutions are
singular in a way that these bases do not know: they converge slowly, and say so by their bounds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.fits.boundary_points import BoundaryPoints, Sides
from mc2.fits.collocation import DEGREES, FEWEST, GAINS, Fitter
from mc2.fits.collocation_basis import CollocationBasis, Jet, make_collocation_basis
from mc2.fits.collocation_points import InnerPoints, inner_points
from mc2.fits.collocation_rows import Equations, Linear
from mc2.geometry import Domain
from mc2.problems import Problem
from mc2.problems.materials import Material, material_at

Array = NDArray[np.float64]
BESIDE = 1e-7
"""How far from an interface its sides are looked at, in units of the domain's size."""
MOST = 1200
"""Functions of all regions, at most."""
THINNEST = 1e-4
"""Part of the domain's area below which a region is not resolved."""


@dataclass(frozen=True, eq=False)
class RegionalBasis(CollocationBasis):
    """A basis for every region.

    bases: of the rest of the domain, and of the regions.
    materials: the regions.
    """

    bases: tuple[CollocationBasis, ...] = ()
    materials: tuple[Material, ...] = ()

    @cached_property
    def size(self) -> int:
        return sum(basis.size for basis in self.bases)

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """Where the functions of every region begin."""
        sizes = [basis.size for basis in self.bases]
        return np.cumsum([0, *sizes])

    @property
    def constants(self) -> NDArray[np.intp]:
        return self.first[:-1]

    def of(self, number: int) -> slice:
        """The functions of a region."""
        return slice(int(self.first[number]), int(self.first[number + 1]))

    def columns(self, x: Array, y: Array) -> Array:
        out = np.zeros((self.size, x.size))
        for number, on in self._regions(x, y):
            out[self.of(number), on] = self.bases[number].columns(x[on], y[on])
        return out

    def jet(self, x: Array, y: Array) -> Jet:
        out = np.zeros((4, self.size, x.size))
        for number, on in self._regions(x, y):
            for own, part in zip(out, self.bases[number].jet(x[on], y[on]), strict=True):
                own[self.of(number), on] = part
        return Jet(*out)

    def sum(self, coefficients: Array, x: Array, y: Array) -> Array:
        return self._by_regions(x, y, lambda basis, own, *at: basis.sum(own, *at)[None], coefficients, 1)[0]

    def gradient(self, coefficients: Array, x: Array, y: Array) -> Array:
        return self._by_regions(x, y, lambda basis, own, *at: basis.gradient(own, *at), coefficients, 2)

    def laplacian(self, coefficients: Array, x: Array, y: Array) -> Array:
        return self._by_regions(x, y, lambda basis, own, *at: basis.laplacian(own, *at)[None], coefficients, 1)[0]

    def _by_regions(self, x: Array, y: Array, what: Callable[..., Array], coefficients: Array, rows: int) -> Array:
        out = np.zeros((rows, x.size))
        for number, on in self._regions(x, y):
            out[:, on] = what(self.bases[number], coefficients[self.of(number)], x[on], y[on])
        return out

    def _regions(self, x: Array, y: Array) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """The regions that have some of the points, and which."""
        index = material_at(self.materials, x, y)
        for number in range(len(self.bases)):
            on = np.flatnonzero(index == number)
            if on.size:
                yield number, on


class RegionalFitter(Fitter):
    """Fits with a basis for every region."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        own = problem.operator.varying
        assert own is not None
        self.junctions = []
        self.materials, self.parts = own.materials, _parts(self.domain, own.materials)
        self.areas = np.array([float(part.pieces.areas().sum()) for part in self.parts])
        self.part_sides = [Sides(part, ()) for part in self.parts]
        self.equations: Equations = RegionalEquations(problem, self.materials, self.part_sides)

    def bases(self) -> Iterator[CollocationBasis]:
        for number, degree in enumerate(DEGREES):
            own = tuple(make_collocation_basis(part, degree) for part in self.parts)
            box = make_collocation_basis(self.domain, degree)
            basis = RegionalBasis(box.center, box.half, degree, (), own, self.materials)
            if number and basis.size > MOST:
                break
            yield basis
            if number > 1 and self.misfits[-1] > GAINS * self.misfits[-3]:
                break

    def inner(self, count: int, degree: int, seed: int = 0) -> InnerPoints:
        found = []
        for number, (part, sides, area) in enumerate(zip(self.parts, self.part_sides, self.areas, strict=True)):
            each = max(FEWEST, count // len(self.parts))
            points = inner_points(part, each, sides, (), degree, seed)
            on = material_at(self.materials, points.x, points.y) == number
            points = InnerPoints(*(column[on] for column in points))
            found.append(points._replace(share=points.share * area / self.areas.sum()))
        return InnerPoints(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


class RegionalEquations(Equations):
    """A problem as rows, with those of its interfaces."""

    def __init__(self, problem: Problem, materials: tuple[Material, ...], sides: list[Sides]) -> None:
        super().__init__(problem, ())
        self.materials, self.part_sides = materials, sides
        own = problem.operator.varying
        assert own is not None
        self.values = np.array([own.background, *(material.diffusion for material in materials)])

    def rows(self, basis: CollocationBasis, inner: InnerPoints, edge: BoundaryPoints) -> Linear:
        assert isinstance(basis, RegionalBasis)
        found, total = super().rows(basis, inner, edge), float(edge.length.sum())
        # points that are judged are others than those that are fitted: the boundary's tell which
        seed = crc32(edge.x.tobytes())
        for number in range(1, len(self.part_sides)):
            points = self.part_sides[number].points(max(FEWEST // 2, 16 * basis.degree), seed)
            found = found.joined(self._interface(basis, number, points, total))
        return found

    def _interface(self, basis: RegionalBasis, number: int, points: BoundaryPoints, total: float) -> Linear:
        """u and α ∂u/∂n from both sides of a region's boundary, where it meets another of a lower number."""
        step = BESIDE * self.problem.domain.size
        x, y = points.x + step * points.nx, points.y + step * points.ny
        own = material_at(self.materials, points.x - step * points.nx, points.y - step * points.ny)
        other = np.where(self.problem.domain.contains(x, y), material_at(self.materials, x, y), len(self.values))
        share = np.sqrt(points.length / total)
        matrices = [np.zeros((basis.size, 0))]
        for neighbour in range(number):
            on = np.flatnonzero((other == neighbour) & (own == number))
            if not on.size:
                continue
            both = np.zeros((2, basis.size, on.size))
            for side, sign in ((number, 1.0), (neighbour, -1.0)):
                jet = basis.bases[side].jet(points.x[on], points.y[on])
                both[0, basis.of(side)] = sign * jet.values
                flow = self.values[side] * (jet.x * points.nx[on] + jet.y * points.ny[on])
                both[1, basis.of(side)] = (
                    sign * flow * self.unit / np.sqrt(self.values[number] * self.values[neighbour])
                )
            matrices += [both[0] * share[on], both[1] * share[on]]
        matrix = np.concatenate(matrices, axis=1)
        return Linear(matrix, np.zeros(matrix.shape[1]))


def _parts(domain: Domain, materials: tuple[Material, ...]) -> list[Domain]:
    """The rest of the domain, and every region as far as it lies in the domain and under no other."""
    found = []
    for number in range(len(materials) + 1):
        part = domain if number == 0 else domain & materials[number - 1].shape
        for later in materials[number:]:
            part = part - later.shape
        name = "the rest of the domain" if number == 0 else f"region {materials[number - 1].name!r}"
        if not part.pieces.size or part.pieces.areas().sum() < THINNEST * domain.pieces.areas().sum():
            raise InputError(f"{name} is empty, or too small to be resolved")
        found.append(part)
    return found
