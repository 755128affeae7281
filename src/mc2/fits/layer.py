"""Double layers on polygons: solutions of Δv = 0 as integrals over straight panels of the boundary.

v(z) = Re 1/(2πi) ∫ μ(τ) dτ/(τ − z) + Σ A log|z − hole|, with a density μ that is a polynomial on every panel. Any
boundary data have such a solution, and the equation for μ is well conditioned, whatever the number of corners (see
`mc2.fits.layer_fit`). Sums over all panels take a fast multipole method: time and memory grow like their number.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.compute.portions import portions
from mc2.fits import layer_kernels as kernels
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
ORDER = 32
"""Powers in expansions: their errors are at most 2^−32."""
LEAF_NODES = 32
"""Nodes of a leaf, about."""
LEAF_TARGETS = 48
"""Targets of a leaf, about."""
LEAVES = 256
"""Leaves whose rows of a matrix are made at a time, to begin with."""
FEW_ENTRIES = 1 << 20
"""Entries of a matrix up to which another thread is no help with a product."""
REACH = {2: 6.0, 4: 3.5, 8: 2.5, 16: 1.7}
"""By the number of nodes of a panel: half lengths from its middle within which its quadrature is not good enough."""


class Tree(NamedTuple):
    """levels: below the root. boxes: of all nodes, see `mc2.fits.layer_kernels`."""

    levels: int
    boxes: Array

    @staticmethod
    def over(low: Array, high: Array, per_leaf: float) -> "Tree":
        """A tree over items in the order of their places, with boxes from low [2, n] to high."""
        n = low.shape[1]
        levels = max(0, int(np.ceil(np.log2(max(n / per_leaf, 1.0)))))
        while (1 << levels) > n:
            levels -= 1
        boxes = np.empty(((2 << levels) - 1, 3))
        kernels.fill_boxes(low[0], high[0], low[1], high[1], levels, boxes)
        return Tree(levels, boxes)


class Pairs(NamedTuple):
    """Which nodes of a target tree and a source tree meet by expansions, and which source leaves a target leaf is near.

    far: [n, 2]. starts, leaves: the source leaves of target leaf k are leaves[starts[k] : starts[k + 1]].
    """

    far: NDArray[np.int64]
    starts: NDArray[np.int64]
    leaves: NDArray[np.int64]

    @staticmethod
    def between(targets: Tree, sources: Tree) -> "Pairs":
        """All pairs of two trees."""
        none = np.empty((0, 2), np.int64)
        arguments = targets.boxes, targets.levels, sources.boxes, sources.levels
        counts = kernels.list_pairs(*arguments, none, none)
        far, near = (np.empty((count, 2), np.int64) for count in counts)
        kernels.list_pairs(*arguments, far, near)
        near = near[np.argsort(near[:, 0], kind="stable")]
        starts = np.searchsorted(near[:, 0], np.arange((1 << targets.levels) + 1))
        return Pairs(far, starts, np.ascontiguousarray(near[:, 1]))


class Rule(NamedTuple):
    """A Gauss–Legendre rule on [−1, 1], and the matrix that makes coefficients of powers from values at its nodes."""

    nodes: Array
    weights: Array
    inverse: Array


@lru_cache
def rule(per: int) -> Rule:
    """The rule with so many nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(per)
    return Rule(nodes, weights, np.asarray(np.linalg.inv(np.vander(nodes, increasing=True)), float))


@dataclass(frozen=True, eq=False)
class Layer:
    """Panels along the boundary of a domain, in the order of a Hilbert curve.

    start, end: of every panel, with the domain on the left [panel].
    start_inward, end_inward: directions from there into the domain.
    per: nodes of a panel: the density is a polynomial of one degree less on each.
    holes: a point in each.
    size: of the domain.
    """

    start: Complex
    end: Complex
    start_inward: Complex
    end_inward: Complex
    per: int
    holes: Complex
    size: float

    @property
    def degree(self) -> int:
        """Of the density."""
        return self.per - 1

    @property
    def levels(self) -> NDArray[np.int64]:
        """One for every unknown: a value of the density at a node, or the strength of a hole's logarithm."""
        return np.zeros(self.nodes.size + self.holes.size, np.int64)

    @cached_property
    def nodes(self) -> Complex:
        """Of all panels."""
        middle, half = 0.5 * (self.start + self.end), 0.5 * (self.end - self.start)
        return (middle[:, None] + half[:, None] * rule(self.per).nodes).ravel()

    @cached_property
    def weights(self) -> Complex:
        """dτ at the nodes."""
        return (0.5 * (self.end - self.start)[:, None] * rule(self.per).weights).ravel()

    @cached_property
    def tree(self) -> Tree:
        """Over the panels."""
        ends = np.stack([self.start, self.end])
        low = np.stack([ends.real.min(0), ends.imag.min(0)])
        high = np.stack([ends.real.max(0), ends.imag.max(0)])
        return Tree.over(low, high, LEAF_NODES / self.per)

    @cached_property
    def panels(self) -> Array:
        """Of every panel its start, its end and the directions inwards there, as the kernels read them."""
        columns = self.start, self.end, self.start_inward, self.end_inward
        return np.ascontiguousarray(np.stack([part for z in columns for part in (z.real, z.imag)], axis=1))

    def sum(self, unknowns: Array, x: Array, y: Array) -> Array:
        """v at points of the domain, its boundary included."""
        out = self._panels(unknowns, x, y, slope=False)[0]
        for strength, hole in self._logarithms(unknowns):
            out += strength * np.log(np.hypot(x - hole.real, y - hole.imag))
        return out

    def gradient(self, unknowns: Array, x: Array, y: Array) -> tuple[Array, Array]:
        """∂v/∂x and ∂v/∂y at points; close to the ends of panels, where the density jumps a little, it is rough."""
        real, imaginary = self._panels(unknowns, x, y, slope=True)
        own = self.gradient_of_holes(unknowns, x, y)
        return real + own[0], own[1] - imaginary

    def stream(self, unknowns: Array, x: Array, y: Array) -> Array:
        """The conjugate of v without its logarithms: it grows along the boundary as ∂v/∂n does, n outward."""
        return self._panels(unknowns, x, y, slope=False)[1]

    def gradient_of_holes(self, unknowns: Array, x: Array, y: Array) -> tuple[Array, Array]:
        """The part of the gradient that is of the holes' logarithms."""
        out = np.zeros((2, x.size))
        for strength, hole in self._logarithms(unknowns):
            dx, dy = x - hole.real, y - hole.imag
            out += strength * np.stack([dx, dy]) / (dx * dx + dy * dy)
        return out[0], out[1]

    def _logarithms(self, unknowns: Array) -> list[tuple[float, complex]]:
        """The strength and the place of each."""
        return list(zip(unknowns[self.nodes.size :].tolist(), self.holes.tolist(), strict=True))

    def _panels(self, unknowns: Array, x: Array, y: Array, slope: bool) -> tuple[Array, Array]:
        """Real and imaginary parts of Φ, or of Φ'."""
        charges = Charges(self, unknowns[: self.nodes.size])
        real, imaginary = np.zeros((2, x.size))
        order = along_curve(x, y, self.size)
        for part in portions(x.size):
            own = order[part]
            real[own], imaginary[own] = charges.field(x[own], y[own], slope)
        return real, imaginary


def along_curve(x: Array, y: Array, size: float) -> NDArray[np.intp]:
    """The order of points along a Hilbert curve."""
    keys = np.empty(x.size, np.int64)
    if x.size:
        side = max(float(np.ptp(x)), float(np.ptp(y)), 1e-9 * size)
        kernels.hilbert_keys(x, y, float(x.min()), float(y.min()), side, keys)
    return np.argsort(keys, kind="stable")


@lru_cache
def _tables(order: int) -> tuple[Array, Array]:
    """Binomials n over k, and (k + l) over k."""
    from scipy.special import comb

    n = np.arange(order)
    return np.asarray(comb(n[:, None], n), float), np.asarray(comb(n[:, None] + n, n), float)


class Charges:
    """A density on a layer, made ready for sums."""

    def __init__(self, layer: Layer, density: Array) -> None:
        self.layer = layer
        charges = density * layer.weights
        self.real, self.imaginary = charges.real.copy(), charges.imag.copy()
        self.powers = np.ascontiguousarray(density.reshape(-1, layer.per) @ rule(layer.per).inverse.T)
        self.x, self.y = layer.nodes.real.copy(), layer.nodes.imag.copy()
        self.moments = np.empty((len(layer.tree.boxes), 2, ORDER))
        kernels.gather_moments(
            self.x, self.y, self.real, self.imaginary, layer.per, layer.tree.boxes, layer.tree.levels,
            _tables(ORDER)[0], self.moments,
        )  # fmt: skip

    def field(self, x: Array, y: Array, slope: bool) -> tuple[Array, Array]:
        """Real and imaginary parts of Φ, or of Φ', at points in the order of a curve."""
        if x.size > 4 * LEAF_TARGETS:
            halves = in_halves(lambda x, y: self._field(x, y, slope), x, y)
            return tuple(np.concatenate(pair) for pair in zip(*halves, strict=True))  # type: ignore[return-value]
        return self._field(x, y, slope)

    def _field(self, x: Array, y: Array, slope: bool) -> tuple[Array, Array]:
        out: tuple[Array, Array] = np.zeros(x.size), np.zeros(x.size)
        if not x.size:
            return out
        x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
        layer, places = self.layer, np.stack([x, y])
        tree = Tree.over(places, places, LEAF_TARGETS)
        pairs = Pairs.between(tree, layer.tree)
        local = self.local(tree, pairs)
        kernels.add_local(x, y, 1, tree.boxes, tree.levels, local, slope, *out)
        kernels.add_near(
            x, y, tree.levels, pairs.starts, pairs.leaves, layer.panels, layer.tree.levels, self.x, self.y, self.real,
            self.imaginary, self.powers, REACH[layer.per], kernels.TOUCHING * layer.size, slope, *out,
        )  # fmt: skip
        return out

    def local(self, tree: Tree, pairs: Pairs) -> Array:
        """Expansions of what is far, of all nodes of a tree of targets."""
        binomial, table = _tables(ORDER)
        local = np.zeros((len(tree.boxes), 2, ORDER))
        kernels.spread_far(pairs.far, tree.boxes, self.layer.tree.boxes, self.moments, table, local)
        kernels.pass_down(tree.boxes, tree.levels, binomial, local)
        return local


class Operator:
    """½ + K: from a density to the limits of its v from inside, at the nodes."""

    def __init__(self, layer: Layer) -> None:
        self.layer, self.tree = layer, layer.tree
        self.pairs = Pairs.between(self.tree, self.tree)
        panels = np.diff(np.arange((1 << self.tree.levels) + 1) * layer.start.size >> self.tree.levels)
        columns = np.add.reduceat(panels[self.pairs.leaves], self.pairs.starts[:-1])
        sizes = panels * columns * layer.per**2
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.entries = np.empty(int(self.offsets[-1]))
        z, w = _parts(layer.nodes), _parts(layer.weights)

        def fill(leaves: NDArray[np.int64]) -> None:
            for part in portions(leaves.size, LEAVES):
                kernels.near_matrix(
                    leaves[part], self.pairs.starts, self.pairs.leaves, layer.panels, self.tree.levels, *z, *w,
                    rule(layer.per).inverse, REACH[layer.per], self.offsets, self.entries,
                )  # fmt: skip

        in_halves(fill, self.leaves)

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The places of all leaves."""
        return np.arange(1 << self.tree.levels)

    def __call__(self, density: Array) -> Array:
        layer, charges = self.layer, Charges(self.layer, density)
        out, unused = np.zeros(density.size), np.zeros(density.size)
        local = charges.local(self.tree, self.pairs)
        kernels.add_local(charges.x, charges.y, layer.per, self.tree.boxes, self.tree.levels, local, False, out, unused)

        def multiply(leaves: NDArray[np.int64]) -> None:
            kernels.multiply_near(
                leaves, self.pairs.starts, self.pairs.leaves, layer.start.size, layer.per, self.tree.levels,
                self.entries, self.offsets, density, out,
            )  # fmt: skip

        if self.entries.size > FEW_ENTRIES:
            in_halves(multiply, self.leaves)
        else:
            multiply(self.leaves)
        return out


def _parts(z: Complex) -> tuple[Any, Any]:
    return z.real.copy(), z.imag.copy()
