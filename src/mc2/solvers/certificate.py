"""Certificates: the error of anybody's field, estimated without bias from fresh walks, with confidence intervals.

With any control variate φ, such as a fit, the error of a field v is u − v = (u − φ) + (φ − v). The second part is known
at every pixel. The first is the solution of the problem that φ leaves over, on the boundary and of the source: walks
from random pixels estimate it without bias, up to their ε, and so they do its products. The better φ is, the narrower
is the interval; that it is any good need not be known.

Intervals are for the mean over pixels and the mean square, corrected for skewness (Hall, 1992). Pixels are drawn more
often where the boundary says that much is left over. Where it has values that no walk has met, intervals reach as far
as these could matter.
"""

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import whole
from mc2.compute.blas import one_thread
from mc2.errors import InputError, short
from mc2.fits.collocation import fit_collocation
from mc2.fits.edge import Edge, LeftOver
from mc2.fits.features import can_enclose
from mc2.fits.field import Field
from mc2.problems import Frame, Problem
from mc2.solvers.averaging import score_walks
from mc2.solvers.intervals import FEWEST, Bounds, Drawn, Interval, IntervalMaker, Region, quantile_of, split_into_boxes
from mc2.walks.options import MAX_KEY, Options
from mc2.walks.plan import can_walk

if TYPE_CHECKING:
    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]
INSTANCE = 1 << 40
"""Keys the random numbers of certificates: no other walks use them."""
ROUNDING = 1e-15
"""Part of the largest value that no upper end is below."""
CONTROL = 0.2
"""Part of a claim's error that a control variate found for it may have: the interval is then narrow enough."""
COMPARED = 512
"""Points at which the two are compared to tell, about."""
UNSAMPLED = 1e-10
"""Part of the largest value below which an error for the source is not worth sampling it."""
FITTED = ("mc2-rounds", "trefftz", "collocation")
"""Correctors whose fitted fields are as good as any that could be found for a control variate."""
NOT_ENCLOSED = "{} cannot be enclosed: a feature narrower than all samples may be missed"


@dataclass(frozen=True, repr=False)
class Certificate:
    """The error of a field.

    overall, regions: averages, with confidence intervals.
    confidence: that each interval holds the truth, such as 0.95.
    kind: `walks`; or `bound` where walks cannot judge, from least squares: its ends are bounds.
    points: [count, 2], where walks began.
    values, standard_error: unbiased estimates of u there, and their standard errors.
    walks: in all.
    note: what the intervals rest on.
    """

    overall: Region
    regions: tuple[Region, ...]
    confidence: float
    points: Array
    values: Array
    standard_error: Array
    walks: int
    kind: str = "walks"
    note: str = ""

    def __str__(self) -> str:
        rows = [("overall", self.overall)]
        for region in self.regions:
            xmin, xmax, ymin, ymax = region.bounds
            rows.append((f"[{xmin:.3g}, {xmax:.3g}] × [{ymin:.3g}, {ymax:.3g}]", region))
        lines = [f"error, root mean square with {self.confidence:.0%} interval, from {self.walks:,} walks"]
        if self.kind == "bound":
            lines = ["error, root mean square with a bound from least squares (walks cannot judge here)"]
        width = max(len(name) for name, _ in rows)
        for name, region in rows:
            lines.append(f"{name:{width}} {_interval_text(region.rms)}, {region.points:,} points")
        return "\n".join([*lines, self.note] if self.note else lines)

    def __repr__(self) -> str:
        return (
            f"Certificate(error {_interval_text(self.overall.rms)}, root mean square with "
            f"{self.confidence:.0%} {'interval' if self.kind == 'walks' else 'bound'}, {self.walks:,} walks)"
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return f'<pre style="font-family: monospace">{escape(str(self))}</pre>'

    def outward(self, frame: Frame) -> "Certificate":
        """In the user's units."""
        return replace(
            self,
            overall=self.overall.outward(frame),
            regions=tuple(region.outward(frame) for region in self.regions),
            points=np.stack(frame.outward(*self.points.T), axis=1),
            values=self.values * frame.value,
            standard_error=self.standard_error * frame.value,
        )


def _interval_text(rms: Interval) -> str:
    if rms.low <= 0:
        return f"at most {rms.high:.1e}" + (f" (about {rms.estimate:.1e})" if rms.estimate > 0.3 * rms.high else "")
    return f"{rms.estimate:.1e} ({rms.low:.1e} … {rms.high:.1e})"


@dataclass(frozen=True)
class Claim:
    """What is to be certified, in a problem's frame.

    x, y: points inside the domain [n].
    value: the field there [n].
    likely: where errors are likely, in any unit [n], such as error bars; or nothing.
    drawn: whether the points are all pixels, from which some are drawn; else walks start from all of them.
    """

    x: Array
    y: Array
    value: Array
    likely: Array | None = None
    drawn: bool = True


def certify_claim(
    problem: Problem,
    field: Field,
    claim: Claim,
    options: Options,
    *,
    walks: int,
    points: int,
    confidence: float,
    seed: int,
) -> Certificate:
    """The error of a claim by fresh walks.

    field: the control variate φ.
    points: how many are drawn.
    """
    edge = Edge(problem)
    left = edge.left(field)
    fitted, lift_error = field(claim.x, claim.y), field.error(claim.x, claim.y)
    known = fitted - claim.value
    drawn = _draw(claim, known, left, points, (options.seed, seed)) if claim.drawn else _all(claim)
    x, y = claim.x[drawn.index], claim.y[drawn.index]
    scale = max(float(np.abs(claim.value).max()), float(np.abs(fitted).max()), left.scale)
    sampled = not field.exact or float(lift_error.max()) > UNSAMPLED * scale
    scores = score_walks(problem, field, x, y, walks, options, INSTANCE + seed, sampled=sampled)
    quantile, floor = quantile_of(confidence), ROUNDING * scale
    if not sampled:
        floor += quantile * float(np.sqrt(np.mean(lift_error**2)))
    hidden_mean, hidden_square = left.hidden(scores.largest)
    make = IntervalMaker(
        known, drawn, scores, quantile, floor, (hidden_mean + field.unsampled, hidden_square + field.unsampled**2),
        np.zeros_like(lift_error) if field.exact else lift_error,
    )  # fmt: skip
    bounds = float(claim.x.min()), float(claim.x.max()), float(claim.y.min()), float(claim.y.max())
    regions = [
        make.region(inside, box)
        for inside, box in split_into_boxes(claim.x, claim.y, bounds)
        if inside[drawn.index].sum() >= FEWEST
    ]
    return Certificate(
        make.region(np.ones(claim.x.size, bool), bounds),
        tuple(regions),
        confidence,
        np.stack([x, y], axis=1),
        fitted[drawn.index] + scores.mean + (0.0 if scores.source_mean is None else scores.source_mean),
        np.sqrt(scores.variance + (0.0 if scores.source_variance is None else scores.source_variance)),
        walks * x.size,
        note=_note(problem, edge),
    )


def _note(problem: Problem, edge: Edge) -> str:
    """What the intervals rest on, where they rest on samples of data that nobody can look into."""
    sampled = [] if edge.enclosed else ["boundary data"]
    if problem.source is not None and not can_enclose(problem.source):
        sampled.insert(0, "the source")
    return NOT_ENCLOSED.format(" and ".join(sampled)) if sampled else ""


def bound_claim(claim: Claim, fitted: Array, error: float, confidence: float) -> Certificate:
    """The error of a claim where walks cannot judge: by a fit, and a bound for its own error."""
    known = fitted - claim.value
    bounds = float(claim.x.min()), float(claim.x.max()), float(claim.y.min()), float(claim.y.max())

    def region(inside: NDArray[np.bool_], box: Bounds) -> Region:
        mean, rms = float(known[inside].mean()), float(np.sqrt(np.mean(known[inside] ** 2)))
        # the bound is for the root mean square over all pixels
        own = error * float(np.sqrt(inside.size / inside.sum()))
        intervals = Interval(mean, mean - own, mean + own), Interval(rms, max(rms - own, 0.0), rms + own)
        return Region(box, int(inside.sum()), *intervals)

    boxes = [(inside, box) for inside, box in split_into_boxes(claim.x, claim.y, bounds) if inside.sum() >= FEWEST]
    return Certificate(
        region(np.ones(known.size, bool), bounds),
        tuple(region(inside, box) for inside, box in boxes),
        confidence,
        np.stack([claim.x, claim.y], axis=1),
        fitted,
        np.full(fitted.size, error),
        0,
        kind="bound",
        note="a bound from the misfit at fresh points of the boundary, or of the domain, and the problem's condition, "
        "not from walks",
    )


def certify(solution: "Solution", walks: int, points: int | ArrayLike, confidence: float, seed: int) -> Certificate:
    """What `Solution.certify` documents."""
    check_arguments(walks, points, confidence, seed)
    inner = solution.inner or solution
    claim = _claim_of(solution, points)
    if not can_walk(inner.problem):
        error = float(np.sqrt(np.mean(inner.evaluator.standard_error(claim.x, claim.y) ** 2)))
        found = bound_claim(claim, inner.fitted(claim.x, claim.y), error, confidence)
    else:
        count = points if isinstance(points, int) else 0
        fitted = inner.method in FITTED
        field = inner.fitted if fitted else control_for(inner.problem, inner.options, claim)
        found = certify_claim(
            inner.problem, field, claim, inner.options, walks=walks, points=count, confidence=confidence, seed=seed
        )
    return found.outward(solution.frame)


def control_for(problem: Problem, options: Options, claim: Claim) -> Field:
    """The control variate that `solve` would find, from walks of its own; no better than a claim's error asks for."""
    from mc2.solvers.by_rounds import find_control

    if not problem.operator.has_trefftz:
        with one_thread():
            return fit_collocation(problem).field
    steps = max(options.max_steps, 1024)
    quiet = replace(options, device="cpu", estimator="standard", stratify=False, max_steps=steps)
    some = slice(None, None, max(1, claim.x.size // COMPARED))
    x, y, value = claim.x[some], claim.y[some], claim.value[some]

    def enough(field: Field) -> float:
        return CONTROL * float(np.sqrt(np.mean((field(x, y) - value) ** 2)))

    return find_control(problem, quiet, enough)


def check_arguments(walks: int, points: object, confidence: float, seed: int) -> None:
    """Refuse what no certificate can be made with."""
    whole("walks", walks, 2)
    whole("seed", seed, 0, MAX_KEY - INSTANCE)  # beyond, random numbers would be those of other walks
    if isinstance(points, int):
        whole("points", points, FEWEST)
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence!r} must lie between 0 and 1, such as 0.95")


def _claim_of(solution: "Solution", points: int | ArrayLike) -> Claim:
    inner = solution.inner or solution
    if isinstance(points, int):
        bars = inner.standard_error[inner.mask]
        x, y = (c[inner.mask] for c in inner.grid.points())
        known = bool(np.isfinite(bars).all() and bars.sum() > 0)
        return Claim(x, y, inner.values[inner.mask], bars if known else None)
    x, y = solution.frame.inward(*read_points(points))
    x, y = x.astype(np.float32).astype(float), y.astype(np.float32).astype(float)
    return Claim(x, y, inner(x, y), drawn=False)


def read_points(points: ArrayLike) -> Array:
    """Points as an array [2, count]."""
    try:
        array = np.asarray(points, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise InputError(f"points = {short(points)} must be a number of points, or an array [count, 2]")
    return array.T


def _all(claim: Claim) -> Drawn:
    return Drawn(np.arange(claim.x.size), None)


def _draw(claim: Claim, known: Array, left: LeftOver, count: int, seed: tuple[int, int]) -> Drawn:
    """Pixels with replacement: half of them anywhere, the others where errors are likely.

    Of a field without error bars, that is where φ − v is large: u − φ, which is multiplied by it, matters most there.
    """
    size = claim.x.size
    shares = [np.full(size, 1 / size)]
    for likely in (np.abs(known) if claim.likely is None else claim.likely, left.likely(claim.x, claim.y)):
        if likely is not None and likely.sum() > 0:
            shares.append(likely / likely.sum())
    share = 0.5 * shares[0] + 0.5 * np.mean(shares[1:] or shares, axis=0)
    index = np.random.default_rng(seed).choice(size, count, p=share / share.sum())
    return Drawn(index, 1 / (size * share[index]))
