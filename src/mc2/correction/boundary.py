"""Boundary least squares: the homogeneous solution that fits the boundary data best, without walks.

After the lift, v = u − w solves the homogeneous equation with data g − w (and h − Δw for the biharmonic equation). A
Trefftz basis satisfies the equation, so only the boundary is left to fit. Where the solution continues smoothly beyond
the boundary, as PDEZoo's do, the error falls exponentially with the degree, to rounding. Elsewhere there are poles all
around the domain, and crowded towards corners, jumps and kinks. The misfit on the boundary says how well it went.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.correction.basis import Basis, Jump, Pole, make_basis
from mc2.correction.field import Field, lifted
from mc2.correction.lift import EXACT
from mc2.geometry import Corner, Domain, Grid
from mc2.geometry.corners import look_around
from mc2.geometry.domain import Leaf
from mc2.geometry.sampling import bounds_whole
from mc2.problems import Problem

Array = NDArray[np.float64]
DEGREES = (16, 32, 64)
"""Tried one after the other, until the boundary is fitted."""
HOLE_DEGREE = 16
FITTED = 1e-12
"""Misfit at which no larger basis is tried."""
GOOD = 1e-7
"""Misfit at which no poles are tried: they are many, and not as well conditioned."""
SAMPLES = 1600
"""Points on the boundary, about; more are crowded towards corners, jumps and kinks."""
SMALLEST = 1e-13
"""Singular values below this part of the largest are noise."""
POLES = 24
"""For every corner, jump or kink; fewer where there are many."""
MOST_POLES = 240
RING = 128
"""Poles around the domain."""
MOST_BREAKS = 32
"""Jumps, and kinks, that are looked for on an outline."""
NEAREST = 1e-9
"""Distance of the nearest crowded sample to a corner or jump, in units of the domain's size."""
STEEP = 8.0
"""Times the usual difference between neighbours on the boundary, above which data may jump."""


@dataclass(frozen=True)
class BoundaryFit:
    """field: the solution. error: root mean square on the boundary. scale: the largest value that was fitted there."""

    field: Field
    basis: Basis
    error: float
    scale: float

    @property
    def misfit(self) -> float:
        """The error in units of the largest value."""
        return self.error / max(self.scale, 1e-300)


@one_thread()
def fit_boundary(problem: Problem, grid: Grid | None = None, start: Field | None = None) -> BoundaryFit:
    """Solve a problem from its source around the domain and its data on the boundary.

    grid: where it will be wanted. start: the lift of the source, if there is one already.
    """
    start = start or lifted(problem, grid, EXACT)
    best: BoundaryFit | None = None
    for basis, points in _bases(problem):
        if best is not None and basis.degree <= best.basis.degree and best.misfit < GOOD:
            break
        found = _fit(problem, start, basis, *points)
        if best is None or found.misfit < best.misfit:
            best = found
        if found.misfit < FITTED:
            break
    assert best is not None
    return best


def _bases(problem: Problem) -> Iterator[tuple[Basis, tuple[Array, Array]]]:
    """Bases to try, with points [2, n] and their weights: of rising degree, then with poles all around the domain."""
    domain, operator = problem.domain, problem.operator()
    points = spread(domain, [])
    waves = int(np.sqrt(max(operator[0], 0.0)) * domain.size)  # a Helmholtz basis begins to converge above kR
    for degree in DEGREES:
        plain = make_basis(domain, operator, degree + waves, HOLE_DEGREE)
        yield plain, points
    corners = domain.corners()
    jumps, kinks = ([look_around(domain, *place) for place in places] for places in find_breaks(problem, corners))
    rough = [*corners, *jumps, *kinks]
    orders = (1, 2) if plain.doubled else (0 if plain.sign else 1, 1)
    share = 2 if plain.doubled else 1  # with four times the functions, half the poles
    crowd, ring = _crowd(domain, rough, orders, MOST_POLES // share), _ring(domain, points[0], orders, RING // share)
    poles = (*plain.poles, *crowd, *ring)
    angles = () if plain.sign else tuple(Jump(jump.center, jump.outward) for jump in jumps)
    degree = DEGREES[1] + waves
    yield replace(plain, degree=degree, poles=poles, jumps=angles), spread(domain, [corner.center for corner in rough])


def _fit(problem: Problem, start: Field, basis: Basis, points: Array, weights: Array) -> BoundaryFit:
    x, y = points
    columns, data = [basis.columns(x, y)], [problem.boundary(x, y) - start(x, y)]
    if problem.laplacian is not None:
        # Δu is an order larger than u for a unit length: this keeps the two in balance
        share = basis.radius**2 / 16
        columns.append(share * basis.laplacians(x, y))
        data.append(share * (problem.laplacian(x, y) - start.laplacian(x, y)))
    matrix, target = np.concatenate(columns, axis=1), np.concatenate(data)
    rows = np.tile(weights, len(data))
    coefficients = _solve(matrix * rows, target * rows)
    error = float(np.linalg.norm((coefficients @ matrix - target) * rows) / np.linalg.norm(rows))
    return BoundaryFit(start.plus(basis, coefficients), basis, error, float(np.abs(target).max()))


def _solve(columns: Array, target: Array) -> Array:
    """Coefficients of the columns [column, point] with the least squares, after scaling each to the same size.

    The points are condensed by a QR factorisation first; singular values, which cost more, are those of its factor.
    """
    size = np.maximum(np.linalg.norm(columns, axis=1), 1e-300)
    count = len(columns)
    factor: Array = np.linalg.qr(np.column_stack([(columns / size[:, None]).T, target]), mode="r")  # type: ignore[assignment]
    found, *_ = np.linalg.lstsq(factor[:count, :count], factor[:count, count], rcond=SMALLEST)
    return np.asarray(found / size)


def find_breaks(
    problem: Problem, corners: Sequence[Corner]
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Boundary points where the boundary values jump, and others, away from corners, where their slope does."""
    jumps: list[tuple[float, float]] = []
    kinks: list[tuple[float, float]] = []
    for leaf in problem.domain.leaves():

        def data(t: Array, leaf: Leaf = leaf) -> Array:
            x, y = leaf.outline(t.ravel() % 1.0).T
            on = np.abs(problem.domain.distance(x, y)) <= problem.domain.rounding
            return np.where(on, problem.boundary(x, y), np.nan).reshape(t.shape)

        for found, places in ((_jumps(data), jumps), (_kinks(data), kinks)):
            near = 1e-2 / SAMPLES
            apart = np.hypot(*(leaf.outline((found + near) % 1.0) - leaf.outline((found - near) % 1.0)).T)
            whole = found[apart < 10 * near * leaf.perimeter]  # not the seam between two curves of one shape
            places += [(float(x), float(y)) for x, y in leaf.outline(whole % 1.0)]
    known = np.array([*jumps, *(corner.center for corner in corners), (np.inf, np.inf)])
    apart = 1e-5 * problem.domain.size
    return jumps, [kink for kink in kinks if np.hypot(*(known - kink).T).min() > apart]


def _jumps(data: Callable[[Array], Array]) -> Array:
    """Where a difference between neighbours stays however close they come. data: of fractions of the arc length."""
    t = (np.arange(SAMPLES) + 0.5) / SAMPLES
    values = data(t)
    change = np.abs(np.roll(values, -1) - values)
    chosen = _steep(change, values)
    low, high = t[chosen], t[chosen] + 1 / SAMPLES
    at_low, at_high = values[chosen], np.roll(values, -1)[chosen]
    for _ in range(40):
        middle = 0.5 * (low + high)
        between = data(middle)
        left = np.abs(between - at_low) > np.abs(between - at_high)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        at_low, at_high = np.where(left, at_low, between), np.where(left, between, at_high)
    return (0.5 * (low + high))[np.abs(at_high - at_low) > 0.5 * change[chosen]]


def _kinks(data: Callable[[Array], Array]) -> Array:
    """Where the second difference shrinks like the distance of its points, not like its square."""
    t = (np.arange(SAMPLES) + 0.5) / SAMPLES
    values = data(t)
    bend = np.abs(np.roll(values, -1) - 2 * values + np.roll(values, 1))
    chosen = _steep(bend, values)
    middle, reach, halvings = t[chosen], 1 / SAMPLES, 14
    for _ in range(halvings):
        reach /= 2
        tries = middle + reach * np.array([[-1.0], [0.0], [1.0]])
        bends = np.abs(data(tries - reach) - 2 * data(tries) + data(tries + reach))
        middle = np.take_along_axis(tries, np.argmax(np.nan_to_num(bends), axis=0)[None], 0)[0]
    left = np.abs(data(middle - reach) - 2 * data(middle) + data(middle + reach))
    found = np.sort(middle[left > 0.25 * bend[chosen] / 2**halvings])
    return found[np.diff(found, prepend=-1.0) > 1 / SAMPLES]


def _steep(change: Array, values: Array) -> NDArray[np.intp]:
    """The largest of some differences, where they stand out."""
    known = np.isfinite(change)
    if not known.any():
        return np.zeros(0, np.intp)
    limit = STEEP * np.median(change[known]) + 1e-9 * np.abs(values[np.isfinite(values)]).max()
    chosen = np.flatnonzero(known & (change > limit))
    return chosen[np.argsort(-change[chosen])][:MOST_BREAKS]


def _crowd(domain: Domain, corners: Sequence[Corner], orders: tuple[int, int], most: int) -> Iterator[Pole]:
    """Poles outside of every corner, at distances that shrink towards it (Gopal and Trefethen, 2019)."""
    count = max(6, min(POLES, most // max(len(corners), 1)))
    steps = np.exp(-4 * (np.sqrt(count) - np.sqrt(np.arange(1, count + 1))))
    centers = np.array([corner.center for corner in corners])
    for corner in corners:
        apart = np.hypot(*(centers - corner.center).T)
        reach = 0.5 * min(domain.size, apart[apart > 1e-6 * domain.size].min(initial=np.inf))
        for step in reach * steps:
            x = corner.center[0] + step * np.cos(corner.outward)
            y = corner.center[1] + step * np.sin(corner.outward)
            depth = -float(domain.distance(x, y))
            if depth > 0.1 * step:
                yield Pole((float(x), float(y)), depth, orders)


def _ring(domain: Domain, points: Array, orders: tuple[int, int], count: int) -> Iterator[Pole]:
    """Poles all around the domain, as far outside as there is room (method of fundamental solutions: Fairweather and
    Karageorghis, 1998). points: on the boundary."""
    h = 1e-6 * domain.size
    x, y = points[:, :: max(1, points.shape[1] // count)]
    slope_x = domain.distance(x - h, y) - domain.distance(x + h, y)
    slope_y = domain.distance(x, y - h) - domain.distance(x, y + h)
    outward = np.stack([slope_x, slope_y]) / np.maximum(np.hypot(slope_x, slope_y), 1e-300)
    for place, normal in zip(np.stack([x, y]).T, outward.T, strict=True):
        step = 0.1 * domain.size
        while step > 1e-4 * domain.size:
            center = place + step * normal
            depth = -float(domain.distance(*center))
            if depth > 0.6 * step:
                yield Pole((float(center[0]), float(center[1])), depth, orders)
                break
            step *= 0.7


def spread(domain: Domain, crowded: list[tuple[float, float]]) -> tuple[Array, Array]:
    """Points [2, n] on the boundary, evenly, and crowded towards some places; and the roots of their share of it."""
    leaves = list(domain.leaves())
    total = sum(leaf.perimeter for leaf in leaves)
    points, shares = [], []
    for number, leaf in enumerate(leaves):
        count = max(16, round(SAMPLES * leaf.perimeter / total))
        t = (np.arange(count) + 0.5) / count
        fine = np.arange(4096) / 4096
        outline = leaf.outline(fine)
        offsets = domain.size * np.geomspace(NEAREST, 0.1, 80) / leaf.perimeter
        for place in crowded:
            nearest = _nearest(leaf, place, fine[np.argmin(np.hypot(*(outline - place).T))])
            if np.hypot(*(leaf.outline(np.array([nearest]))[0] - place)) < 1e-7 * domain.size:
                t = np.concatenate([t, nearest + offsets, nearest - offsets])
        t = np.sort(t % 1.0)
        gaps = np.diff(t, append=t[0] + 1) + np.diff(t, prepend=t[-1] - 1)
        found = leaf.outline(t)
        on = bounds_whole(domain, leaves, np.full(len(t), number), found)
        points.append(found[on])
        shares.append(0.5 * gaps[on] * leaf.perimeter)
    return np.concatenate(points).T, np.sqrt(np.concatenate(shares))


def _nearest(leaf: Leaf, place: tuple[float, float], start: float) -> float:
    """The fraction of a leaf's arc length nearest to a place, by ever finer looks around a first guess."""
    width = 1 / 4096
    for _ in range(12):
        t = start + width * np.linspace(-1, 1, 21)
        points = leaf.outline(t % 1.0)
        start = float(t[np.argmin(np.hypot(*(points - place).T))])
        width /= 8
    return start
