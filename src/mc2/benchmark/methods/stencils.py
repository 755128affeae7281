"""Five-point differences on a lattice of points, with arms that end exactly where they meet the boundary.

On a line through a lattice point, with neighbours at distances a and b on its two sides (Shortley and Weller, 1938),

    u″ ≈ 2/(a + b) · [(u_a − u)/a + (u_b − u)/b].

An arm is as long as the lattice spacing, or ends at its first crossing with the boundary, where u is known. The error
of the scheme is of second order although that of the formula is of first order where a ≠ b: those points are few, and
next to known values (Bramble and Hubbard, 1962). With a coefficient α every difference quotient is multiplied by α in
the middle of its arm, and a drift ω adds the differences of first order that are exact for parabolas,

    u′ ≈ [(u_a − u) b/a − (u_b − u) a/b]/(a + b).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mc2.errors import InputError
from mc2.functions.function import Function
from mc2.geometry import Domain, Grid
from mc2.problems.coefficients import Coefficients

Array = NDArray[np.float64]
Matrix: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
MAX_POINTS = 1 << 21
"""Most points of a lattice that reaches around the domain."""
SHORTEST = 1e-12
"""The least length of an arm, in spacings. A boundary value is moved by as much, far below the error of the scheme."""
TRACING, SAMPLING = 100, 128
"""Steps along an arm: by the distance itself, then also by at least one in `SAMPLING` of the arm."""


@dataclass(frozen=True)
class Lattice:
    """The grid's pixel centres, refined and continued to where the domain ends.

    x, y: coordinates of columns and rows.
    d: signed distance [rows, columns], not positive along the rim.
    pixels: where the grid's centres are among the rows and columns.
    """

    x: Array
    y: Array
    spacing: tuple[float, float]
    d: Array
    pixels: tuple[NDArray[np.intp], NDArray[np.intp]]

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        return self.d > 0

    def read(self, values: Array) -> Array:
        """Values at the points inside as a field on the grid; 0 outside the domain."""
        field = np.zeros(self.d.shape)
        field[self.inside] = values
        return field[np.ix_(*self.pixels)]


def make_lattice(domain: Domain, grid: Grid, refine: int) -> Lattice:
    """refine: lattice points per pixel and axis, an odd number, so that pixel centres are among them."""
    xmin, xmax, ymin, ymax = domain.bounds
    steps = [step / refine for step in grid.spacing]
    x, columns = _axis(grid.x, steps[0], refine, xmin, xmax)
    y, rows = _axis(grid.y, steps[1], refine, ymin, ymax)
    if x.size * y.size > MAX_POINTS:
        raise InputError(
            f"finite differences need {x.size} × {y.size} lattice points to reach around the domain, and "
            f"{MAX_POINTS:,} are allowed ({__name__}.MAX_POINTS): take a coarser grid, or refine less"
        )
    return Lattice(x, y, (steps[0], steps[1]), domain.distance(x[None, :], y[:, None]), (rows, columns))


def _axis(centres: Array, step: float, refine: int, low: float, high: float) -> tuple[Array, NDArray[np.intp]]:
    """Lattice coordinates along an axis, past the domain and the pixels at both ends, and where the pixels are."""
    before = max(0, int(np.ceil((centres[0] - low) / step))) + 1
    after = max(0, int(np.ceil((high - centres[-1]) / step))) + 1
    between = (centres.size - 1) * refine
    if before + after + between > MAX_POINTS:
        raise InputError("the domain is too large for finite differences on this grid: take a coarser one")
    points = centres[0] + step * np.arange(-before, between + after + 1)
    pixels = before + refine * np.arange(centres.size)
    points[pixels] = centres  # to the bit: a pixel is inside the mask and the lattice alike
    return points, pixels


@dataclass(frozen=True)
class Differences:
    """−Δ, or −∇·α∇ − ω·∇, at the points inside: matrix @ u − rim(g), for values u there and g on the boundary.

    matrix: [count, count].
    x, y: the points [count]. Of every arm that ends on the boundary, row [arms]: the point that it belongs to; weight
        [arms]: the coefficient of its end; edge [2, arms]: where that is.
    """

    matrix: Matrix
    x: Array
    y: Array
    row: NDArray[np.intp]
    weight: Array
    edge: Array

    def rim(self, boundary: Function) -> Array:
        """What the boundary values add at each point."""
        sums = np.zeros(self.x.size)
        np.add.at(sums, self.row, self.weight * boundary(*self.edge))
        return sums


def make_differences(domain: Domain, lattice: Lattice, coefficients: Coefficients | None = None) -> Differences:
    """The differences for every lattice point inside the domain. coefficients: α and ω, where these vary."""
    row, column = np.nonzero(lattice.inside)
    x, y = lattice.x[column], lattice.y[row]
    count = x.size
    number = np.full(lattice.d.shape, -1)
    number[row, column] = np.arange(count)
    diagonal, entries, rims = np.zeros(count), [], []
    for axis, step in enumerate(lattice.spacing):
        sides = []
        for sign in (1, -1):
            dx, dy = (sign, 0) if axis == 0 else (0, sign)
            beyond = lattice.d[row + dy, column + dx]
            arm = _arms(domain, x, y, dx * step, dy * step, lattice.d[row, column], beyond)
            sides.append((arm * step, arm < 1, number[row + dy, column + dx], x + arm * step * dx, y + arm * step * dy))
        span = sides[0][0] + sides[1][0]
        for sign, (arm, crossed, neighbour, ex, ey) in zip((1, -1), sides, strict=True):
            weight = 2 / (arm * span)
            if coefficients is not None:
                middle = (x + 0.5 * sign * arm, y) if axis == 0 else (x, y + 0.5 * sign * arm)
                weight = weight * coefficients.diffusion(*middle)
                weight += coefficients.drift[axis](x, y) * sign * (span - arm) / (arm * span)
            diagonal += weight
            free = np.flatnonzero(~crossed)
            entries.append((free, neighbour[free], -weight[free]))
            rims.append((np.flatnonzero(crossed), weight[crossed], np.stack([ex[crossed], ey[crossed]])))
    i, j, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = csr_array((value, (i, j)), (count, count)) + diags_array(diagonal)
    at, weight, edge = (np.concatenate(part, axis=-1) for part in zip(*rims, strict=True))
    return Differences(csr_array(matrix), x, y, at, weight, edge)


def _arms(domain: Domain, x: Array, y: Array, dx: float, dy: float, d: Array, beyond: Array) -> Array:
    """How far one can go from (x, y) towards (x + dx, y + dy), as a share of the way; 1 where the boundary is not met.

    d, beyond: distances at both ends, which often suffice: two balls that overlap hold all that is between them.
    """
    length = abs(dx) + abs(dy)
    arm = np.ones(x.size)
    near = np.flatnonzero(d + beyond <= length)
    low, high = _trace(domain, x[near], y[near], dx, dy, d[near], beyond[near] > 0)
    crossed = low < 1
    near, low, high = near[crossed], low[crossed], high[crossed]
    for _ in range(50):
        middle = 0.5 * (low + high)
        outside = domain.distance(x[near] + middle * dx, y[near] + middle * dy) <= 0
        low, high = np.where(outside, low, middle), np.where(outside, middle, high)
    arm[near] = np.clip(high, SHORTEST, np.nextafter(1, 0))
    return arm


def _trace(
    domain: Domain, x: Array, y: Array, dx: float, dy: float, d: Array, returns: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """The first crossing on the way lies in [low, high]; both are 1 where there is none.

    A step as long as the distance cannot pass the boundary, however thin what lies beyond. Where the way is almost
    tangent to the boundary such steps get ever shorter, so the last ones have a least length: an excursion shorter than
    that may be missed. returns: whether the far end is inside; where it is not, there is a crossing in any case.
    """
    length = abs(dx) + abs(dy)
    low, high = np.zeros(x.size), np.zeros(x.size)
    active, d, rounding = np.arange(x.size), d / length, 0.1 * domain.rounding / length
    for number in range(TRACING + SAMPLING):
        least = 0.0 if number < TRACING else 1 / SAMPLING
        high[active] = low[active] + np.maximum(d, least)
        passed = high[active] >= 1
        high[active[passed]] = 1.0
        low[active[passed & returns[active]]] = 1.0
        active = active[~passed]
        if not active.size:
            break
        d = domain.distance(x[active] + high[active] * dx, y[active] + high[active] * dy) / length
        going = d > rounding
        active, d = active[going], d[going]
        low[active] = high[active]
    return low, high
