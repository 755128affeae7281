"""Boundary least squares: the homogeneous solution that fits the boundary data best, without walks.

After the lift, v = u − w solves the homogeneous equation with data g − w (and h − Δw for the biharmonic equation). A
Trefftz basis satisfies the equation, so only the boundary is left to fit. Where the solution continues smoothly beyond
the boundary, as PDEZoo's do, the error falls exponentially with the degree, to rounding. Elsewhere, for Δu = 0 on
polygons, there are double layers (see `mc2.fits.layer_fit`), which any number of corners suits; and else poles all
around the domain, and crowded towards corners, jumps, kinks and narrow features of the data. The misfit on the
boundary says how well it went: at fresh points, which were not fitted and are at random places between those that were.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.errors import InputError
from mc2.fits.basis import Basis, Jump, make_basis
from mc2.fits.boundary_points import Sides
from mc2.fits.features import Features, features_on_boundary
from mc2.fits.field import Field, lifted
from mc2.fits.jumps import find_breaks
from mc2.fits.layer import Layer
from mc2.fits.layer_fit import Report, can_fit_layer, fit_layer
from mc2.fits.least_squares import least_squares
from mc2.fits.lift import EXACT
from mc2.fits.poles import crowd_poles, ring_of_poles
from mc2.fits.room import Room
from mc2.fits.samples import SAMPLES, Layout, Samples
from mc2.functions.terms import TermSum
from mc2.geometry import Domain, Grid
from mc2.geometry.corners import look_around
from mc2.problems import Problem
from mc2.problems.problem import need_dirichlet

Array = NDArray[np.float64]
Place = tuple[float, float]
DEGREES = (16, 32, 64)
"""Tried one after the other, until the boundary is fitted."""
HOLE_DEGREE = 16
FITTED = 1e-12
"""Misfit at which no larger basis is tried."""
GOOD = 1e-7
"""Misfit at which no poles are tried: they are many, and not as well conditioned."""
LAYER_GOOD = 3e-11
"""Misfit for every side of a polygon at which a double layer is good enough, if no accuracy is asked for."""
FEW_SIDES = 32
"""Sides of a polygon up to which data that jump have poles, and angles around the jumps, before a double layer."""
HELPS = 1e-2
"""Part to which a higher degree must bring the misfit for another to be tried before a double layer is."""
PER_FUNCTION = 3
"""Points for every function around the centre, at least."""
UNRESOLVED = 1e-3
"""Misfit all around the boundary at which the data oscillate too fast for the bases so far."""
HIGH_DEGREE, HIGH_SAMPLES = 240, 4096
"""The last degree that is tried then, half of it for the biharmonic equation, and how many points it is fitted at."""
MOST_WAVES = 300
"""Largest k × radius of a Helmholtz problem: its basis needs as many degrees, and time grows like their cube."""
MANY_WAVES = 64
"""Above, only one degree is tried."""
BLIND = 3.0
"""Times the misfit at points that were fitted that it is at fresh ones, for these to be fitted as well."""
ROUNDING = 1e-15
"""No error is claimed below this part of the sum of the sizes of all that is added up."""
MOST_POLES = 240
"""Near corners, jumps, kinks and narrow features together."""
MOST_ROUGH = 48
"""Jumps, kinks and corners, the sharpest first, that have poles; a fourth for the biharmonic equation."""
RING = 128
"""Poles around the domain."""
CLOSE = 0.5, 0.2
"""How deep in a thin body poles are, and how far apart, in units of the room there; see `mc2.fits.room`."""
MOST_CLOSE = 300
"""Poles in thin bodies."""


@dataclass(frozen=True)
class BoundaryFit:
    """A solution from its boundary data.

    field: the solution.
    basis: that it is made of; or a double layer.
    error: root mean square of its misfit on the boundary by arc length, at fresh points; never below rounding.
    scale: the largest value that was to be fitted there.
    worst: the largest misfit at fresh points.
    rounding: of the field's values, from the sizes of all terms.
    """

    field: Field
    basis: Basis | Layer
    error: float
    scale: float
    worst: float
    rounding: float

    @property
    def misfit(self) -> float:
        """The error in units of the largest value."""
        return self.error / max(self.scale, 1e-300)


def fit_boundary(
    problem: Problem,
    grid: Grid | None = None,
    start: Field | None = None,
    accuracy: float | None = None,
    report: Report | None = None,
) -> BoundaryFit:
    """Solve a problem from its source around the domain and its data on the boundary.

    grid: where it will be wanted.
    start: the lift of the source, if there is one already.
    accuracy: root mean square of the misfit on the boundary at which nothing better is looked for.
    report: called with the steps done, and their number at most.
    """
    return fit_boundaries([problem], grid, None if start is None else [start], accuracy, report)[0]


@one_thread()
def fit_boundaries(
    problems: Sequence[Problem],
    grid: Grid | None = None,
    starts: Sequence[Field] | None = None,
    accuracy: float | None = None,
    report: Report | None = None,
) -> list[BoundaryFit]:
    """The same for problems that differ in their data alone: fits by the same functions, which are factorised once."""
    for problem in problems:
        need_dirichlet(problem, "boundary fits")
    waves = count_waves(problems[0])
    starts = starts or [lifted(problem, grid, EXACT) for problem in problems]
    systems = _Systems()
    fitters = [_Fitter(problem, start, waves, systems) for problem, start in zip(problems, starts, strict=True)]
    features = [found for fitter in fitters for found in fitter.features]
    layered = can_fit_layer(problems[0])
    left = _fit_degrees(fitters, features, layered, report)
    if not layered or problems[0].domain.pieces.size <= FEW_SIDES:
        good = [fitter for fitter in left if fitter.misfit < GOOD]
        left = good + _fit_poles([fitter for fitter in left if fitter.misfit >= GOOD], features, layered)
    if layered:
        left = [fitter for fitter in left if not _fit_layer(fitter, accuracy, report)]
    for fitter in left:
        if fitter.oscillates:
            systems.fitters = [fitter]
            fitter.resolve()
    return [fitter.found for fitter in fitters]


def _fit_degrees(
    fitters: "list[_Fitter]", features: list[Features], layered: bool, report: Report | None
) -> "list[_Fitter]":
    """Fit functions around the centre, and around holes, of rising degree; those for which that is not enough."""
    first, left = fitters[0], fitters
    problem, waves, systems = first.problem, first.waves, first.systems
    layout = _even_layout(problem, waves, features)
    degrees = DEGREES[-1:] if waves > MANY_WAVES else DEGREES
    slow: list[_Fitter] = []
    last = dict.fromkeys(map(id, fitters), np.inf)
    for number, degree in enumerate(degrees, 1):
        systems.fitters = [fitter for fitter in left if fitter not in slow]
        if not systems.fitters:
            break
        basis = make_basis(problem.domain, problem.operator, degree + waves, HOLE_DEGREE)
        for fitter in systems.fitters:
            misfit = fitter.fit(basis, layout).misfit
            if misfit < FITTED:
                left = [other for other in left if other is not fitter]
            elif layered and misfit > HELPS * last[id(fitter)]:
                slow.append(fitter)
            last[id(fitter)] = misfit
        if report:
            report(number, len(degrees))
    return left


def _fit_poles(fitters: "list[_Fitter]", features: list[Features], layered: bool) -> "list[_Fitter]":
    """Fit functions with poles; those for which a double layer, if there is one, is to be tried as well."""
    if not fitters:
        return []
    problems, domain, systems = [fitter.problem for fitter in fitters], fitters[0].problem.domain, fitters[0].systems
    corners = domain.corners()
    breaks = zip(*(find_breaks(problem, corners, features) for problem in problems), strict=True)
    jumps, kinks = (_apart(places, domain) for places in breaks)
    if layered and not jumps:  # there are angles around jumps, which no polynomial has
        return fitters
    basis, layout = _with_poles(problems[0], fitters[0].waves, features, jumps, kinks)
    systems.fitters = fitters
    misfits = [fitter.fit(basis, layout).misfit for fitter in fitters]
    if domain.unbounded and max(misfits) >= GOOD:  # around thin bodies
        room, plain = Room(domain, Sides(domain, [])), make_basis(problems[0].domain, problems[0].operator, DEGREES[0])
        basis = replace(plain, poles=(*plain.poles, *room.poles(*CLOSE, (1, 1), MOST_CLOSE)))
        misfits = [fitter.fit(basis, layout).misfit for fitter in fitters]
    return [fitter for fitter, misfit in zip(fitters, misfits, strict=True) if not (layered and misfit < GOOD)]


def _fit_layer(fitter: "_Fitter", accuracy: float | None, report: Report | None) -> bool:
    """Fit a double layer, if no fit so far is better; whether it is good enough."""
    best, sides = fitter.found, fitter.problem.domain.pieces.size
    target = LAYER_GOOD * sides * best.scale if accuracy is None else accuracy
    if best.error < target:
        return True
    found = fit_layer(fitter.problem, fitter.start, target, report)
    if found.error < best.error:
        field = fitter.start.plus(found.layer, found.unknowns)
        fitter.spread_out = False
        fitter.best = BoundaryFit(field, found.layer, found.error, found.scale, found.worst, found.rounding)
    return fitter.found.error < max(target, GOOD * found.scale)


def count_waves(problem: Problem) -> int:
    """About the degree above which a Helmholtz basis begins to converge, kR. Refused where that is too high."""
    k = problem.operator.rate if problem.operator.oscillating else 0.0
    xmin, xmax, ymin, ymax = problem.domain.bounds
    x, y = problem.domain.sample_boundary(512, seed=0).T if k else np.zeros((2, 1))
    radius = float(np.hypot(x - 0.5 * (xmin + xmax), y - 0.5 * (ymin + ymax)).max())
    if k * radius > MOST_WAVES:
        raise InputError(
            f"k = {k:g} on a domain of radius {radius:.3g}: k × radius = {k * radius:.4g} waves are more than boundary "
            f"least squares resolves, {MOST_WAVES}: take a smaller k or a smaller domain"
        )
    return int(min(k * problem.domain.size, k * radius + 2 * DEGREES[0]))


class _Systems:
    """Least squares of several fitters by the same functions at the same points: what they have in common, once.

    fitters: those that go on.
    """

    def __init__(self) -> None:
        self.fitters: list[_Fitter] = []
        self._basis: Basis | None = None
        self._functions: dict[int, tuple[Array, Array]] = {}
        self._coefficients: dict[int, tuple[Samples, dict[int, Array]]] = {}

    def functions(self, fitter: "_Fitter", basis: Basis, points: Array) -> Array:
        """Functions at points [column, row], kept as long as the basis is the same."""
        if basis is not self._basis:
            self._basis, self._functions, self._coefficients = basis, {}, {}
        if id(points) not in self._functions:
            self._functions[id(points)] = points, fitter.functions(basis, *points)
        return self._functions[id(points)][1]

    def coefficients(self, fitter: "_Fitter", basis: Basis, samples: Samples) -> Array:
        """The fitter's coefficients with the least squares. They are found for all fitters at once."""
        matrix = self.functions(fitter, basis, samples.points)
        if id(samples) not in self._coefficients:
            targets = np.stack([each.target(samples) for each in self.fitters])
            rows = np.tile(samples.weights, targets.shape[1] // samples.weights.size)
            found = least_squares(matrix * rows, targets[0] * rows if len(targets) == 1 else targets * rows)
            by_fitter = dict(zip(map(id, self.fitters), np.atleast_2d(found), strict=True))
            self._coefficients[id(samples)] = samples, by_fitter
        return self._coefficients[id(samples)][1][id(fitter)]


class _Fitter:
    """Fits of a problem's boundary data, and the best of them so far."""

    def __init__(self, problem: Problem, start: Field, waves: int, systems: _Systems) -> None:
        self.problem, self.start, self.waves, self.systems = problem, start, waves, systems
        self.features = [
            features_on_boundary(data, problem.domain)
            for data in (problem.boundary, problem.laplacian)
            if data is not None and not isinstance(data, TermSum)  # which are smooth
        ]
        self.best: BoundaryFit | None = None
        self.spread_out = False
        self.targets: dict[int, tuple[Samples, Array]] = {}
        # Δu is an order larger than u for a unit length: this keeps the two in balance
        self.share = make_basis(problem.domain, problem.operator, 0, -1).radius ** 2 / 16

    def fit(self, basis: Basis, layout: Layout, thorough: bool = False) -> BoundaryFit:
        """Fit at some points and judge at others; once more at both if these show what the first did not."""
        found, fitted = self._fit(basis, layout.fitted, layout.fresh)
        # data that oscillate all around are left to `resolve`
        if found.misfit > GOOD and found.error > BLIND * fitted and (thorough or not self.oscillates):
            again, _ = self._fit(basis, layout.all, layout.fresher)
            return again if again.misfit < found.misfit else found
        return found

    def _fit(self, basis: Basis, samples: Samples, fresh: Samples) -> tuple[BoundaryFit, float]:
        """The fit, and the root mean square of its misfit at the points that were fitted."""
        matrix, target = self.systems.functions(self, basis, samples.points), self.target(samples)
        rows = np.tile(samples.weights, target.size // samples.weights.size)
        coefficients = self.systems.coefficients(self, basis, samples)
        fitted = float(np.linalg.norm((coefficients @ matrix - target) * rows) / np.linalg.norm(rows))
        field = self.start.plus(basis, coefficients)
        left = np.abs(self._left(field, *fresh.points))
        rows = np.tile(fresh.weights, left.size // fresh.weights.size)
        few = fresh.points[:, :: max(1, fresh.weights.size // 64)]
        sizes = np.abs(coefficients) @ np.abs(self.functions(basis, *few))
        rounding = ROUNDING * float(max(sizes.max(), np.abs(self.start(*few)).max()))
        error = max(float(np.linalg.norm(left * rows) / np.linalg.norm(rows)), fitted, rounding)
        scale = max(float(np.abs(self.target(part)).max()) for part in (samples, fresh))
        found = BoundaryFit(field, basis, error, scale, max(float(left.max()), rounding), rounding)
        if self.best is None or found.misfit < self.best.misfit:
            self.best, self.spread_out = found, float(np.median(left)) > 0.1 * found.error
        return found, fitted

    def target(self, samples: Samples) -> Array:
        """The data to be fitted at points."""
        if id(samples) not in self.targets:
            self.targets[id(samples)] = samples, self._left(self.start, *samples.points)
        return self.targets[id(samples)][1]

    def functions(self, basis: Basis, x: Array, y: Array) -> Array:
        """The basis at points, and its Laplacians where they are given [column, row]."""
        if self.problem.laplacian is None:
            return basis.columns(x, y)
        return np.concatenate([basis.columns(x, y), self.share * basis.laplacians(x, y)], axis=1)

    def _left(self, field: Field, x: Array, y: Array) -> Array:
        """What a field leaves over of the data at points."""
        left = self.problem.boundary(x, y) - field(x, y)
        if self.problem.laplacian is None:
            return left
        return np.concatenate([left, self.share * (self.problem.laplacian(x, y) - field.laplacian(x, y))])

    @property
    def found(self) -> BoundaryFit:
        """The best fit."""
        assert self.best is not None
        return self.best

    @property
    def misfit(self) -> float:
        """Of the best so far, in units of the data."""
        return np.inf if self.best is None else self.best.misfit

    @property
    def oscillates(self) -> bool:
        """Whether the best misfit is large, and all around, not just at a few places."""
        return self.best is not None and self.best.misfit > UNRESOLVED and self.spread_out

    def resolve(self) -> None:
        """Fit data that oscillate fast with a high degree and more points, as far as that is affordable."""
        domain, operator = self.problem.domain, self.problem.operator
        basis = make_basis(domain, operator, HIGH_DEGREE // (2 if operator.order == 4 else 1), HOLE_DEGREE)
        if basis.degree > self.waves + DEGREES[-1]:
            self.fit(basis, Layout(domain, [], HIGH_SAMPLES), thorough=True)


def _even_layout(problem: Problem, waves: int, features: list[Features]) -> Layout:
    """Samples for functions around the centre: crowded only towards narrow features of the data."""
    return Layout(problem.domain, _narrow(features), max(SAMPLES, 2 * PER_FUNCTION * (DEGREES[-1] + waves)))


def _narrow(features: list[Features]) -> list[Place]:
    return [(float(x), float(y)) for found in features for x, y in found.places]


def _with_poles(
    problem: Problem, waves: int, features: list[Features], jumping: list[Place], bent: list[Place]
) -> tuple[Basis, Layout]:
    """A basis with poles all around the domain, crowded towards whatever is rough, and where to sample the boundary.

    features, jumping, bent: of the data, which are narrow, or jump, or have a kink.
    """
    domain, operator = problem.domain, problem.operator
    layout = _even_layout(problem, waves, features)
    plain = make_basis(domain, operator, DEGREES[1] + waves, HOLE_DEGREE)
    share = 2 if plain.doubled else 1  # with four times the functions, half the poles
    narrow = _narrow(features)
    jumps, kinks, bumps = ([look_around(domain, *at) for at in places] for places in (jumping, bent, narrow))
    sharp = sorted(domain.corners(), key=lambda corner: -abs(corner.angle - np.pi))
    rough = [*jumps, *kinks, *sharp][: MOST_ROUGH // share**2]
    orders = (1, 2) if plain.doubled else (0 if plain.sign else 1, 1)
    crowd = crowd_poles(domain, rough, bumps, orders, MOST_POLES // share)
    poles = (*plain.poles, *crowd, *ring_of_poles(domain, layout.fitted.points, orders, RING // share))
    # in an exterior domain the angle would jump behind the body as well
    angles = () if plain.sign or domain.unbounded else tuple(Jump(jump.center, jump.outward) for jump in jumps)
    places = [*(corner.center for corner in rough), *narrow]
    return replace(plain, poles=poles, jumps=angles), Layout(domain, places, layout.count)


def _apart(found: Iterable[list[tuple[float, float]]], domain: Domain) -> list[tuple[float, float]]:
    """Places of several lists, each once. Those of a single list are kept as they are."""
    (first, *others), near = found, 1e-6 * domain.size
    places = list(first)
    for place in (place for other in others for place in other):
        if not places or np.hypot(*(np.array(places) - place).T).min() > near:
            places.append(place)
    return places
