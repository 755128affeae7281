"""Boundary fits by double layers: polygons with any number of corners, whatever the data.

The limit of a double layer from inside is (½ + K)μ, and that must be g: an integral equation of the second kind, which
is well conditioned on any polygon, so a Krylov method takes a dozen products with ½ + K (Rokhlin, 1985), each of which
costs as much as the number of panels. Every hole has a logarithm, as strong as the integral of μ around it
(Mikhlin, 1957). Sides are one panel each, and cut only where the misfit at fresh points says so: where the data are
rough, and towards corners in so far as they are sharp.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import check_stop
from mc2.fits.field import Field
from mc2.fits.layer import Layer, Operator, rule
from mc2.fits.panels import Panels
from mc2.geometry import Domain
from mc2.geometry.domain import Leaf
from mc2.problems import Problem

Array = NDArray[np.float64]
Report = Callable[[int, int], None]
"""Called with the steps done, and their number at most."""
MOST_NODES = 160_000
"""Nodes of all panels: about half a gigabyte for products of near ones."""
MANY_SIDES = 2_000
"""From so many sides on, panels have fewer nodes."""
ROUNDS = 8
"""Times that panels are cut where the misfit is large."""
MOST_STEPS = 200
"""Of the Krylov method."""
SEAMS = 2000
"""Boundary points at which seams are looked for."""
FRESH = 3
"""Points of every panel at which the fit is judged."""
DEEPEST = 6
"""Times that a panel is cut towards a corner in one round."""
STALLED = 0.7
"""A round that brings the misfit to no less than this part is the last but one, and another the last."""
UNSOLVED = 0.02
"""Part of the target that the Krylov method may leave: that is smooth, and does not fade away from the boundary."""
ROUNDING = 1e-12
"""Part of the largest density that no misfit is below: what the fast multipole method leaves."""


@dataclass(frozen=True)
class LayerFit:
    """A double layer that fits data on a boundary.

    layer, unknowns: the solution.
    error: root mean square of the misfit at fresh points, by arc length; worst: the largest one.
    scale: the largest value that was fitted.
    rounding: of the values.
    """

    layer: Layer
    unknowns: Array
    error: float
    worst: float
    scale: float
    rounding: float


def can_fit_layer(problem: Problem) -> bool:
    """Whether a problem's homogeneous solutions are double layers: Δu = 0 on polygons with Dirichlet data."""
    if problem.domain.unbounded:
        return False
    operator, pieces = problem.operator, problem.domain.pieces
    if operator.order != 2 or operator.mass or problem.reflecting or pieces.bulge.any():
        return False
    middles = 0.5 * (pieces.start + pieces.end)
    if len(np.unique(middles @ np.array([1, 1j]))) < pieces.size:
        return False  # two sides in one place, as of a slit: their densities cannot be told apart
    return _is_whole(problem.domain) and len(problem.domain.holes()) == _rings_of_holes(problem.domain)


def _is_whole(domain: Domain) -> bool:
    """Whether the pieces are all of the boundary: seams between shapes that only share an edge are not among them."""
    if isinstance(domain, Leaf):
        return True
    _, away = domain.pieces.nearest(*np.ascontiguousarray(domain.sample_boundary(SEAMS, seed=0).T))
    return bool(away.max() < 1e-6 * domain.size)


def _rings_of_holes(domain: Domain) -> int:
    """Closed curves that run clockwise: one around every hole."""
    pieces = domain.pieces
    p, q = pieces.start - pieces.start[:1], pieces.end - pieces.start[:1]
    areas = np.bincount(pieces.curve, p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])
    return int((areas < 0).sum())


def fit_layer(problem: Problem, start: Field, target: float, report: Report | None = None) -> LayerFit:
    """Fit what a field leaves over of a problem's boundary data.

    target: the root mean square of the misfit on the boundary at which it is good enough.
    report: called with the rounds of cutting panels that are done, and their number at most.
    """
    return _Fitter(problem, start, target).run(report)


class _Fitter:
    def __init__(self, problem: Problem, start: Field, target: float) -> None:
        self.problem, self.start, self.target = problem, start, target
        self.size = problem.domain.size
        pieces = problem.domain.pieces
        self.per = 4 if pieces.size > MANY_SIDES else 8
        self.panels = Panels.whole(pieces)
        self.random = np.random.default_rng(0)
        self.total = float(pieces.length.sum())

    def run(self, report: Report | None) -> LayerFit:
        self.data = self._data(self.panels)
        self._resolve_data()
        best, density, left = self._solve(np.zeros_like(self.data))
        stalled = 0
        for number in range(1, ROUNDS):
            if report:
                report(number, ROUNDS)
            levels = self._where(left)
            if best.error <= max(self.target, best.rounding) or stalled > 1 or not levels.any():
                break
            old = self.panels
            panels, origin = old.cut(levels)
            if panels.size * self.per > MOST_NODES:
                break
            self.panels, density = panels, panels.values_from(old, origin, density, self.per)
            self._renew_data(origin, levels)
            found, density, left = self._solve(density)
            stalled += found.error > STALLED * best.error
            best = min(best, found, key=lambda fit: fit.error)
        return best

    def _given(self, x: Array, y: Array) -> Array:
        """What is to be fitted at points."""
        flat = x.ravel(), y.ravel()
        return (self.problem.boundary(*flat) - self.start(*flat)).reshape(x.shape)

    def _data(self, panels: Panels) -> Array:
        """What is to be fitted at all nodes [panel, node]."""
        return self._given(*panels.at(rule(self.per).nodes))

    def _renew_data(self, origin: NDArray[np.intp], levels: NDArray[np.int64]) -> None:
        """The data at the nodes of panels that some of the others were cut to."""
        new = levels[origin] > 0
        data = self.data[origin]
        panels = self.panels
        data[new] = self._data(Panels(panels.pieces, panels.piece[new], panels.first[new], panels.last[new]))
        self.data = data

    def _resolve_data(self) -> None:
        """Cut panels on which the data are no polynomial."""
        nodes, _, inverse = rule(self.per)
        places = 0.5 * (nodes[1:] + nodes[:-1])
        between = np.vander(places, self.per, increasing=True) @ inverse
        asked = np.ones(self.panels.size, bool)
        while asked.any() and 2 * self.panels.size * self.per < MOST_NODES:
            check_stop()
            panels = self.panels
            some = Panels(panels.pieces, panels.piece[asked], panels.first[asked], panels.last[asked])
            off = np.abs(self.data[asked] @ between.T - self._given(*some.at(places))).max(axis=1)
            share = off * np.sqrt(some.length / self.total)
            rough = share > 0.3 * self.target / np.sqrt(panels.size)
            levels = np.zeros(panels.size, np.int64)
            levels[asked] = rough & some.divisible(self.size)
            if not levels.any():
                return
            self.panels, origin = panels.cut(levels)
            self._renew_data(origin, levels)
            asked = levels[origin] > 0

    def _solve(self, first: Array) -> tuple[LayerFit, Array, Array]:
        """The layer that fits on these panels, its density, and the mean square of its misfit on every panel."""
        layer, order = self.panels.layer(self.problem.domain, self.per)
        system = _System(layer, self.panels.pieces.curve[self.panels.piece[order]])
        data = self.data[order].ravel()
        scale = float(np.abs(self.data).max())
        unknowns = system.solve(data, first[order].ravel(), UNSOLVED * self.target)
        density = np.empty_like(self.data)
        density[order] = unknowns[: data.size].reshape(-1, self.per)
        places = self.random.uniform(-1, 1, (self.panels.size, FRESH))
        x, y = self.panels.at(places)
        left = np.abs(self._given(x, y) - layer.sum(unknowns, x.ravel(), y.ravel()).reshape(x.shape))
        square = np.mean(left**2, axis=1)
        rounding = ROUNDING * max(float(np.abs(density).max()), scale)
        error = max(float(np.sqrt(square @ self.panels.length / self.total)), rounding)
        return LayerFit(layer, unknowns, error, max(float(left.max()), rounding), scale, rounding), density, square

    def _where(self, square: Array) -> NDArray[np.int64]:
        """How often every panel is to be cut, from the mean squares of the misfit on them."""
        panels = self.panels
        share = square * panels.length / self.total
        order = np.argsort(-share)
        left = share.sum() - np.cumsum(share[order])
        count = int(np.searchsorted(-left, -0.1 * self.target**2)) + 1
        levels = np.zeros(panels.size, np.int64)
        chosen = order[:count]
        chosen = chosen[panels.divisible(self.size)[chosen]]
        wanted = 0.1 * self.target**2 / max(count, 1)
        # towards a corner the share falls by about 2^3 for every cut
        levels[chosen] = np.clip(np.ceil(np.log2(np.maximum(share[chosen] / wanted, 1.0)) / 3), 1, DEEPEST)
        return levels


class _System:
    """(½ + K)μ + Σ log|z − hole| ∫ μ = g, on the nodes of a layer. curve: that each panel is part of."""

    def __init__(self, layer: Layer, curve: NDArray[np.int64]) -> None:
        self.layer, self.operator = layer, Operator(layer)
        lengths = np.abs(layer.weights)
        self.roots = np.sqrt(lengths)
        # an integral around every hole, over its closed curve
        rows, columns = [], []
        for hole in layer.holes:
            chosen = np.repeat(curve == _around(layer, curve, hole), layer.per)
            rows.append(np.where(chosen, lengths / lengths[chosen].sum(), 0.0))
            columns.append(np.log(np.abs(layer.nodes - hole)))
        self.rows, self.columns = np.array(rows), np.array(columns)

    def __call__(self, scaled: Array) -> Array:
        check_stop()
        density = scaled / self.roots
        out = self.operator(density)
        if len(self.rows):
            out += (self.rows @ density) @ self.columns
        return out * self.roots

    def solve(self, data: Array, first: Array, error: float) -> Array:
        """The density, and the strengths of the logarithms, from a first guess. error: of the data."""
        found = gmres(
            self, data * self.roots, first * self.roots, error * float(np.linalg.norm(self.roots)), MOST_STEPS
        )
        density = found / self.roots
        return np.concatenate([density, self.rows @ density]) if len(self.rows) else density


def _around(layer: Layer, curve: NDArray[np.int64], hole: complex) -> int:
    """The closed curve that runs around a hole: the clockwise one that winds around a point in it."""
    turns = np.angle((layer.end - hole) / (layer.start - hole))
    winding = np.bincount(curve, turns) / (2 * np.pi)
    return int(np.argmin(winding))


def gmres(system: Callable[[Array], Array], right: Array, first: Array, error: float, most: int) -> Array:
    """Solve a system by GMRES (Saad and Schultz, 1986) from a first guess, to an error of the residual's norm."""
    found = first.copy()
    residual = right - system(first) if first.any() else right
    size = float(np.linalg.norm(residual))
    if size <= error:
        return found
    basis, columns = [residual / size], []
    for step in range(most):
        vector = system(basis[-1])
        known = np.array(basis)
        products = known @ vector
        vector = vector - products @ known
        again = known @ vector
        vector -= again @ known
        norm = float(np.linalg.norm(vector))
        columns.append(np.append(products + again, norm))
        hessenberg = np.zeros((step + 2, step + 1))
        for k, column in enumerate(columns):
            hessenberg[: k + 2, k] = column
        target = np.zeros(step + 2)
        target[0] = size
        weights = np.linalg.lstsq(hessenberg, target, rcond=None)[0]
        left = float(np.linalg.norm(hessenberg @ weights - target))
        if left <= error or norm <= 1e-14 * size or step == most - 1:
            return found + weights @ known
        basis.append(vector / norm)
    return found
