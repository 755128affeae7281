"""Trefftz bases: functions that solve the homogeneous equation, level by level.

| equation | around the centre | around a hole |
|---|---|---|
| Δu = 0 | rⁿ e^{inθ} | log r, r⁻ⁿ e^{inθ} |
| Δu − μ²u = 0 | Iₙ(μr) e^{inθ} | Kₙ(μr) e^{inθ} |
| Δu + k²u = 0 | Jₙ(kr) e^{inθ} | Yₙ(kr) e^{inθ} |
| Δ²u = 0 | those of Δu = 0, also times r² | likewise |

Every function is scaled to about 1 on the domain.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.correction.basis_kernels import MODIFIED, ORDINARY, POWER, fill_columns
from mc2.geometry import Domain, Hole

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Basis:
    """The basis of an operator on a domain.

    operator: L as coefficients of u, Δu, Δ²u. center, radius: of a circle around the domain. holes: of the domain.
    """

    operator: tuple[float, float, float]
    center: tuple[float, float]
    radius: float
    holes: tuple[Hole, ...] = ()

    @property
    def doubled(self) -> bool:
        """Whether every function comes again, times r²."""
        return self.operator[2] != 0

    @property
    def kind(self) -> tuple[int, float]:
        """The radial function, and μ or k."""
        shift = self.operator[0]
        if shift == 0:
            return POWER, 0.0
        return (MODIFIED if shift < 0 else ORDINARY), float(np.sqrt(abs(shift)))

    def columns(self, x: Array, y: Array, degree: int, hole_degree: int = -1) -> tuple[Array, NDArray[np.int64]]:
        """The functions up to a degree at points, [column, point], and the level of every column.

        hole_degree: of the terms around holes; none below 0. Their levels alternate with those of the others.
        """
        kind, parameter = self.kind
        levels = np.concatenate(
            [np.full((1 if n == 0 else 2) * (2 if self.doubled else 1), n) for n in range(degree + 1)]
        )
        out = np.empty((len(levels), x.size))
        start = max(degree, int(parameter * self.radius)) + 40
        dx, dy = x - self.center[0], y - self.center[1]
        fill_columns(kind, parameter, self.radius, self._scale(degree), self.doubled, dx, dy, start, out)
        parts, places = [out], [levels]
        for hole in self.holes if hole_degree >= 0 else ():
            part, level = self._around(hole, x, y, hole_degree)
            parts.append(part)
            places.append(level)
        every, order = np.concatenate(parts), np.concatenate(places)
        sorting = np.argsort(order, kind="stable")
        return (out, levels) if len(parts) == 1 else (every[sorting], order[sorting])

    def laplacians(self, x: Array, y: Array, degree: int, hole_degree: int = -1) -> Array:
        """Δ of every column of the biharmonic basis. Where h is harmonic of degree ±n, Δ(r²h) = 4(1 ± n)h.

        Around a hole the logarithm has a term of its own: Δ(r² log r) = 4 log r + 4.
        """
        columns, levels = self.columns(x, y, degree, hole_degree)
        kinds = self._kinds(degree, hole_degree)
        out = np.zeros_like(columns)
        for column, (source, factor, constant) in enumerate(kinds):
            if source >= 0:
                out[column] = (factor * columns[source] + constant) / self.radius**2
        assert len(kinds) == len(levels)
        return out

    def _kinds(self, degree: int, hole_degree: int) -> list[tuple[int, float, float]]:
        """For every biharmonic column: the one its Laplacian is a multiple of (−1: it is harmonic), and the factors."""
        groups = [(n, 0, n) for n in range(degree + 1)]
        groups += [(n, number + 1, -n) for number in range(len(self.holes)) for n in range(hole_degree + 1)]
        groups.sort(key=lambda group: group[0])  # stable, as the columns are
        kinds: list[tuple[int, float, float]] = []
        for level, place, power in groups:
            width, first = (1 if level == 0 else 2), len(kinds)
            constant = 4.0 if place and level == 0 else 0.0
            kinds += [(-1, 0.0, 0.0)] * width
            kinds += [(first + part, 4.0 * (1 + power), constant) for part in range(width)]
        return kinds

    def _scale(self, degree: int) -> Array:
        """The largest value of every radial function on the disk."""
        from scipy.special import ive, jv

        kind, parameter = self.kind
        n = np.arange(degree + 1)
        if kind == POWER:
            return np.ones(degree + 1)
        if kind == MODIFIED:
            return np.maximum(ive(n, parameter * self.radius), 1e-290)
        s = parameter * self.radius * np.linspace(0.01, 1, 200)
        return np.maximum(np.abs(jv(n[:, None], s)).max(axis=1), 1e-290)

    def _around(self, hole: Hole, x: Array, y: Array, degree: int) -> tuple[Array, NDArray[np.int64]]:
        """Terms that are singular inside a hole, by upward recurrences, which are stable for them."""
        z = (x - hole.center[0]) + 1j * (y - hole.center[1])
        r = np.abs(z)
        turn = z / r
        radial = self._singular(r, hole.radius, degree)
        rows, levels = [], []
        for n in range(degree + 1):
            phase = turn**n
            own = [radial[n] * phase.real] if n == 0 else [radial[n] * phase.real, radial[n] * phase.imag]
            own += [row * (r / self.radius) ** 2 for row in own] if self.doubled else []
            rows += own
            levels += [n] * len(own)
        return np.array(rows), np.array(levels)

    def _singular(self, r: Array, inner: float, degree: int) -> list[Array]:
        from scipy.special import k0, k1, y0, y1

        kind, parameter = self.kind
        if kind == POWER:
            return [np.log(r / self.radius), *((inner / r) ** n for n in range(1, degree + 1))]
        first, second, sign = (k0, k1, 1.0) if kind == MODIFIED else (y0, y1, -1.0)
        s, edge = parameter * r, np.array([parameter * inner])
        rows, ends = [first(s), second(s)], [first(edge), second(edge)]
        for n in range(1, degree):
            for values, argument in ((rows, s), (ends, edge)):
                values.append(2 * n / argument * values[n] + sign * values[n - 1])
        return [row / max(abs(float(end[0])), 1e-300) for row, end in zip(rows, ends, strict=True)][: degree + 1]


def make_basis(domain: Domain, operator: tuple[float, float, float]) -> Basis:
    """The basis around the middle of a domain."""
    xmin, xmax, ymin, ymax = domain.bounds
    center = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
    return Basis(operator, center, 0.5 * float(np.hypot(xmax - xmin, ymax - ymin)), domain.holes())
