"""Trefftz bases: functions that solve the homogeneous equation, level by level.

| equation | around the centre | around a pole |
|---|---|---|
| Δu = 0 | rⁿ e^{inθ} | log r, r⁻ⁿ e^{inθ} |
| Δu − μ²u = 0 | Iₙ(μr) e^{inθ} | Kₙ(μr) e^{inθ} |
| Δu + k²u = 0 | Jₙ(kr) e^{inθ} | Yₙ(kr) e^{inθ} |
| Δ²u = 0 | those of Δu = 0, also times r² | likewise; for n = 1, r log r e^{iθ} (Michell, 1899) |

A pole sits outside the domain: one of many orders in every hole; for corners, many of low order, ever closer to the
corner (Gopal and Trefethen, 2019). Where boundary values jump, the angle around that point is a solution of the first
and the last equation. Corner functions know the corner's angle instead; see `mc2.fits.corner_functions`. Every function
is scaled to about 1 on the domain.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import check_stop, portions
from mc2.errors import InputError
from mc2.fits.basis_kernels import add_columns, add_poles, add_powers, fill_columns
from mc2.fits.corner_functions import CornerFunctions, Cut, Term
from mc2.fits.gradients import gradients
from mc2.fits.slit_functions import InnerSlit, TwinFunctions
from mc2.geometry import Domain, Exterior
from mc2.problems.operator import LAPLACIAN, Operator, need_constant

Array = NDArray[np.float64]
HOLE_DEGREE = 8
MOST_HOLES, MOST_AROUND_HOLES = 256, 800
"""Holes that have a pole, the largest first, and functions around all of them: with many, each has fewer."""
PORTION = 1 << 14
"""Points whose columns are held at a time, where they have to be."""
ENTRIES = 1 << 21
"""Gradients of functions at points that are held at a time."""


@dataclass(frozen=True)
class Pole:
    """A point outside the domain.

    radius: of a disk around it that is outside too.
    orders: the first and the last.
    """

    center: tuple[float, float]
    radius: float
    orders: tuple[int, int]

    @property
    def levels(self) -> list[int]:
        """The order of every function around it, cos before sin."""
        first, last = self.orders
        return [n for n in range(first, last + 1) for _ in range(2 if n else 1)]


@dataclass(frozen=True)
class Jump:
    """A boundary point where data jump.

    direction: of the outward normal, in radians, where the angle has its cut.
    """

    center: tuple[float, float]
    direction: float


@dataclass(frozen=True)
class Basis:
    """The basis of an operator, up to a degree, around a centre and poles.

    operator: L.
    center, radius: of a circle around the domain.

    The biharmonic basis is the harmonic one, and then a second function for each of its first columns, whose Laplacian
    is a multiple of it. It has no corner functions.
    """

    operator: Operator
    center: tuple[float, float]
    radius: float
    degree: int
    poles: tuple[Pole, ...] = ()
    jumps: tuple[Jump, ...] = ()
    corners: tuple[CornerFunctions | TwinFunctions | InnerSlit, ...] = ()

    @property
    def doubled(self) -> bool:
        """Whether this is the biharmonic basis."""
        return self.operator.order == 4

    @property
    def sign(self) -> int:
        """0 for powers, 1 for the modified Bessel functions, −1 for the ordinary ones."""
        return -int(np.sign(self.operator.mass))

    @property
    def parameter(self) -> float:
        """μ or k."""
        return self.operator.rate

    @cached_property
    def harmonic(self) -> "Basis":
        """The harmonic half of the biharmonic basis."""
        return replace(self, operator=LAPLACIAN)

    @cached_property
    def plain(self) -> "Basis":
        """The functions around the centre alone; of the biharmonic basis, those of its harmonic half."""
        return replace(self.harmonic if self.doubled else self, poles=(), jumps=(), corners=())

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """The level of every column: its degree, or its order around a pole."""
        own = [n for n in range(self.degree + 1) for _ in range(2 if n else 1)]
        own += [level for pole in self.poles for level in pole.levels]
        singular = [level for corner in self.corners for level in corner.levels]
        return np.array(own + [0] * len(self.jumps) + singular + (own if self.doubled else []))

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Columns by their levels."""
        return np.argsort(self.levels, kind="stable")

    def columns(self, x: Array, y: Array) -> Array:
        """All functions at points [column, point]."""
        out = np.empty((len(self.levels), x.size))
        count = self._main
        fill_columns(*self._rules, *self._shifted(x, y), out[:count])
        for pole in self.poles:
            stop = count + len(pole.levels)
            out[count:stop] = self._around(pole, x, y)
            count = stop
        for jump in self.jumps:
            out[count] = angle(jump, x, y)
            count += 1
        for corner in self.corners:
            stop = count + len(corner.parts)
            out[count:stop] = corner.columns(x, y)
            count = stop
        if self.doubled:
            self._double(x, y, out[: len(self._growth)], out[count:])
        return out

    def sum(self, coefficients: Array, x: Array, y: Array) -> Array:
        """The sum of coefficients times functions at points."""
        if self.poles and (self.sign or self.doubled):
            return np.concatenate([coefficients @ self.columns(*part) for part in _parts(x, y)])
        out = np.empty(x.size)
        for part in portions(x.size):
            out[part] = self._sum(coefficients, x[part], y[part])
        return out

    def gradients(self, x: Array, y: Array) -> tuple[Array, Array]:
        """∂/∂x and ∂/∂y of all functions at points [column, point]."""
        return gradients(self, x, y)

    def gradient(self, coefficients: Array, x: Array, y: Array) -> tuple[Array, Array]:
        """∂/∂x and ∂/∂y of the sum of coefficients times functions, at points."""
        out, size = np.empty((2, x.size)), max(1, ENTRIES // len(self.levels))
        for first in range(0, x.size, size):
            check_stop()
            part = slice(first, first + size)
            out[:, part] = [coefficients @ rows for rows in self.gradients(x[part], y[part])]
        return out[0], out[1]

    def leading(self, coefficients: Array) -> list[tuple[CornerFunctions, Array]]:
        """Harmonic functions of corners whose slopes grow towards these as those of the sum do, with coefficients."""
        found = []
        first = len(self.levels) - sum(len(corner.parts) for corner in self.corners)
        for corner in self.corners:
            if isinstance(corner, CornerFunctions):  # functions of a whole slit have no one corner to lead at
                found.append(corner.leading(coefficients[first : first + len(corner.parts)]))
            first += len(corner.parts)
        return [own for own in found if own is not None]

    def _sum(self, coefficients: Array, x: Array, y: Array) -> Array:
        out = np.zeros(x.size)
        shifted = self._shifted(x, y)
        self._add_main(shifted, coefficients[: self._main], out)
        if self.poles:
            poles = np.array([(*pole.center, pole.radius) for pole in self.poles])
            orders = np.array([pole.orders for pole in self.poles])
            add_poles(x, y, poles, orders, self.radius, coefficients[self._main :], out)
        first = self._main + sum(len(pole.levels) for pole in self.poles)
        for number, jump in enumerate(self.jumps, first):
            out += coefficients[number] * angle(jump, x, y)
        first += len(self.jumps)
        for corner in self.corners:
            corner.add_sum(coefficients[first : first + len(corner.parts)], x, y, out)
            first += len(corner.parts)
        if self.doubled:
            twice = np.zeros(x.size)
            self._add_main(shifted, coefficients[-self._main :], twice)
            out += twice * (shifted[0] ** 2 + shifted[1] ** 2) / self.radius**2
        return out

    def _add_main(self, shifted: tuple[Array, Array], coefficients: Array, out: Array) -> None:
        """Add the sum of functions around the centre, up to the last level in use."""
        level = (int(np.flatnonzero(coefficients)[-1]) + 1) // 2 if coefficients.any() else 0
        used = coefficients[: 2 * level + 1]
        if self.sign == 0:
            add_powers(self.radius, *shifted, used, out)
        else:
            sign, parameter, radius, scale = self._rules
            add_columns(sign, parameter, radius, scale[: level + 1], *shifted, used, out)

    def laplacians(self, x: Array, y: Array) -> Array:
        """Δ of every function of the biharmonic basis [column, point]."""
        first = self.harmonic.columns(x, y)
        second = self._growth[:, None] * first[: len(self._growth)] + self._extra[:, None]
        return np.concatenate([np.zeros_like(first), second])

    def to_laplacian(self, coefficients: Array) -> Array:
        """Coefficients, in the harmonic half, of the Laplacian of a biharmonic sum."""
        second = coefficients[-len(self._growth) :]
        found = np.zeros(len(coefficients) - len(second))
        found[: len(second)] = self._growth * second
        found[0] += self._extra @ second
        return found

    def from_laplacian(self, coefficients: Array) -> Array:
        """Coefficients of a biharmonic sum whose Laplacian has these, in the harmonic half."""
        second = coefficients[: len(self._growth)] / self._growth
        second[0] -= self._extra @ second / self._growth[0]
        return np.concatenate([np.zeros(len(coefficients)), second])

    @cached_property
    def _main(self) -> int:
        """Columns around the centre."""
        return 2 * self.degree + 1

    @cached_property
    def _growth(self) -> Array:
        """The Laplacian of every second function, in units of its first: for rⁿ 4(1 + n), around a pole 4(1 − n)."""
        own = [4 * (1 + n) / self.radius**2 for n in range(self.degree + 1) for _ in range(2 if n else 1)]
        for pole in self.poles:
            own += [4 * (1 - n) / self.radius**2 if n != 1 else 2 / (self.radius * pole.radius) for n in pole.levels]
        return np.array(own)

    @cached_property
    def _extra(self) -> Array:
        """A constant that comes with it: Δ(r² log r) = 4 log r + 4."""
        poles = [4 / self.radius**2 if n == 0 else 0.0 for pole in self.poles for n in pole.levels]
        return np.array([0.0] * self._main + poles)

    def _double(self, x: Array, y: Array, first: Array, second: Array) -> None:
        """The second function for every first one: times r²; around a pole of order 1, r log r e^{iθ} (Michell)."""
        dx, dy = self._shifted(x, y)
        second[: self._main] = first[: self._main] * (dx * dx + dy * dy) / self.radius**2
        count = self._main
        for pole in self.poles:
            r = np.hypot(x - pole.center[0], y - pole.center[1])
            for n in pole.levels:
                if n == 1:  # first is inner/r e^{iθ}
                    second[count] = first[count] * r * r * np.log(r / self.radius) / (self.radius * pole.radius)
                else:
                    second[count] = first[count] * (r / self.radius) ** 2
                count += 1

    @property
    def scale(self) -> Array:
        """What each level of the functions around the centre is divided by."""
        return self._rules[3]

    @cached_property
    def _rules(self) -> tuple[int, float, float, Array]:
        """What the kernels need to know; each level is divided by its largest value on the disk."""
        rules = self.sign, self.parameter, self.radius
        if self.sign == 0:
            return *rules, np.ones(self.degree + 1)
        r = self.radius * np.linspace(0.005, 1.0, 200)
        radial = np.empty((self._main, r.size))
        fill_columns(*rules, np.ones(self.degree + 1), r, np.zeros_like(r), radial)
        largest = np.abs(radial[np.maximum(2 * np.arange(self.degree + 1) - 1, 0)]).max(axis=1)
        return *rules, np.maximum(largest, 1e-290)

    def _shifted(self, x: Array, y: Array) -> tuple[Array, Array]:
        return np.ascontiguousarray(x - self.center[0]), np.ascontiguousarray(y - self.center[1])

    def _around(self, pole: Pole, x: Array, y: Array) -> Array:
        """Functions that are singular at a pole."""
        z = (x - pole.center[0]) + 1j * (y - pole.center[1])
        r = np.abs(z)
        turn = z / r
        radial, ends = self.singular(r, pole.radius, pole.orders[1])
        rows, phase = [], turn ** pole.orders[0]
        for n in range(pole.orders[0], pole.orders[1] + 1):
            share = radial[n] / ends[n]
            rows += [share * phase.real, share * phase.imag][: 2 if n else 1]
            phase = phase * turn
        return np.array(rows)

    def singular(self, r: Array, inner: float, top: int) -> tuple[list[Array], list[float]]:
        """Radial functions of orders 0 … top, and their sizes at the radius `inner`, by which they are divided.

        By upward recurrences, which are stable here.
        """
        from scipy.special import k0, k1, y0, y1

        if self.sign == 0:
            return [np.log(r / self.radius), *((inner / r) ** n for n in range(1, top + 1))], [1.0] * (top + 1)
        first, second = (k0, k1) if self.sign > 0 else (y0, y1)
        s, edge = self.parameter * r, np.array([self.parameter * inner])
        rows, ends = [first(s), second(s)], [first(edge), second(edge)]
        for n in range(1, top):
            for values, argument in ((rows, s), (ends, edge)):
                values.append(2 * n / argument * values[n] + self.sign * values[n - 1])
        return rows[: top + 1], [max(abs(float(end[0])), 1e-300) for end in ends[: top + 1]]


def _parts(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """Points in portions, so that their columns fit into memory."""
    for first in range(0, max(x.size, 1), PORTION):
        check_stop()
        yield x[first : first + PORTION], y[first : first + PORTION]


def angle(jump: Jump, x: Array, y: Array) -> Array:
    """The angle around a jump from the opposite of its outward direction, in (−1, 1)."""
    z = ((x - jump.center[0]) + 1j * (y - jump.center[1])) * -np.exp(-1j * jump.direction)
    return np.asarray(np.angle(z) / np.pi)


def make_basis(domain: Domain, operator: Operator, degree: int, hole_degree: int = HOLE_DEGREE) -> Basis:
    """The basis around the middle of a domain and around its holes; without the latter for a hole_degree below 0.

    In an exterior domain, where nothing may grow, it is a constant and functions around the bodies, up to the degree.
    """
    if not operator.has_trefftz:
        need_constant(operator, "a fit of the boundary data")
        raise InputError(f"no solutions are known in closed form for {operator}: use the corrector 'collocation'")
    if domain.unbounded:
        return _decaying(domain, operator, degree)
    xmin, xmax, ymin, ymax = domain.bounds
    center = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
    holes = domain.holes()[:MOST_HOLES] if hole_degree >= 0 else ()
    hole_degree = min(hole_degree, max(1, (MOST_AROUND_HOLES // max(len(holes), 1) - 1) // 2))
    poles = tuple(Pole(hole.center, hole.radius, (0, hole_degree)) for hole in holes)
    return Basis(operator, center, 0.5 * float(np.hypot(xmax - xmin, ymax - ymin)), degree, poles)


def _decaying(domain: Domain, operator: Operator, degree: int) -> Basis:
    """Bounded functions around bodies. Logarithms come as differences, which are bounded."""
    xmin, xmax, ymin, ymax = domain.bounds
    center, radius = (0.5 * (xmin + xmax), 0.5 * (ymin + ymax)), 0.5 * float(np.hypot(xmax - xmin, ymax - ymin))
    bodies = domain.holes()[:MOST_HOLES]
    degree = min(degree, max(1, MOST_AROUND_HOLES // (2 * max(len(bodies), 1))))
    poles = tuple(Pole(body.center, body.radius, (1, degree)) for body in bodies) if degree > 0 else ()
    term = Term(0.0, 1, cosine=True, sine=False)
    differences = tuple(
        CornerFunctions(
            operator, Cut((complex(*one.center), complex(*other.center)), None), 0.0, np.pi, radius, (term,)
        )
        for one, other in pairwise(bodies)
    )
    return Basis(operator, center, radius, 0, poles, corners=differences)


def growing(domain: Exterior) -> tuple[Basis, Array]:
    """growth · log r, with r from the middle of a body, as a basis with coefficients."""
    xmin, xmax, ymin, ymax = domain.bounds
    body, radius = domain.holes()[0], 0.5 * float(np.hypot(xmax - xmin, ymax - ymin))
    basis = Basis(LAPLACIAN, body.center, radius, 0, (Pole(body.center, body.radius, (0, 0)),))
    return basis, domain.growth * np.array([np.log(radius), 1.0])
