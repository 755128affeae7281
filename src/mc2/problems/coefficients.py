"""`Coefficients`: α, ω and σ of ∇·(α∇u) + ω·∇u − σu, as functions, with the derivatives of α."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.errors import InputError, short
from mc2.functions.calculus import derivatives
from mc2.functions.conversion import FunctionLike, as_function
from mc2.functions.expression import Expression, add, constant, multiply, subtract
from mc2.functions.function import Array, Function
from mc2.functions.grid_function import GridFunction
from mc2.functions.reader import read_expression
from mc2.geometry import Domain

if TYPE_CHECKING:
    from mc2.problems.materials import Material

STEP = 2e-3
"""Step of differences that stand for derivatives of functions without a formula, in units of the domain's size."""
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
"""Weights of the differences f(+kh) − f(−kh), k = 1 … 4, in f′, with an error of order h⁸."""
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
"""Weights of the sums f(+kh) − 2f + f(−kh) in f″."""
LINES = 97
"""Lines along either axis on which jumps are looked for, an odd number of steps apart from most people's jumps."""
ALONG = 769
"""Points on each of them."""
STEEP = 0.02
"""Change between neighbouring points, as a part of the function's range, that is looked into."""
SUSPECTS = 64
"""Pairs of neighbours that are looked into, the steepest first."""


class Composed(Function):
    """A function that is computed from others point by point.

    compute: from arrays of x and y to values. text: in one line, for people.
    """

    def __init__(self, compute: Callable[[Array, Array], Array], text: str) -> None:
        self._compute, self._text = compute, text

    @property
    def text(self) -> str:
        return self._text

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        with np.errstate(all="ignore"):
            return np.asarray(self._compute(x, y))


@dataclass(frozen=True)
class Coefficients:
    """α > 0, ω and σ, each a function of x and y.

    diffusion: α. drift: the two components of ω. reaction: σ.
    step: of differences, where α has no formula; a length.
    slopes, curvature: ∇α and Δα, if they are known already.
    materials, background: regions where α is another number than in the rest, and that number.
    """

    diffusion: Function
    drift: tuple[Function, Function]
    reaction: Function
    step: float
    slopes: tuple[Function, Function] | None = None
    curvature: Function | None = None
    materials: tuple["Material", ...] = ()
    background: float = 1.0

    @property
    def functions(self) -> dict[str, Function]:
        """The coefficients by the names that messages use."""
        drift_x, drift_y = self.drift
        return {"diffusion": self.diffusion, "drift x": drift_x, "drift y": drift_y, "reaction": self.reaction}

    @cached_property
    def numbers(self) -> tuple[float, float, float, float] | None:
        """α, ω and σ where all of them are numbers."""
        found = [number_of(function) for function in self.functions.values()]
        return None if None in found else tuple(found)  # type: ignore[return-value]

    @cached_property
    def drifts(self) -> bool:
        """Whether ω is anything but the number 0."""
        return any(number_of(part) != 0 for part in self.drift)

    @cached_property
    def reacts(self) -> bool:
        """Whether σ is anything but the number 0."""
        return number_of(self.reaction) != 0

    @cached_property
    def gradient(self) -> tuple[Function, Function]:
        """∇α: exact for formulas, beside their kinks; else by differences."""
        if self.slopes is not None:
            return self.slopes
        known = self._derivatives(kinks=True)
        if known is not None:
            return known.x, known.y
        return self._difference(self.diffusion, 1, 0), self._difference(self.diffusion, 0, 1)

    @cached_property
    def laplacian(self) -> Function:
        """Δα, likewise; formulas with kinks have none and are refused."""
        if self.curvature is not None:
            return self.curvature
        known = self._derivatives(kinks=False)
        if known is not None:
            return known.laplacian
        alpha, h = self.diffusion, self.step

        def compute(x: Array, y: Array) -> Array:
            total = np.zeros(x.shape)
            for k, weight in enumerate(SECOND, 1):
                around = alpha(x + k * h, y) + alpha(x - k * h, y) + alpha(x, y + k * h) + alpha(x, y - k * h)
                total += weight * (around - 4 * alpha(x, y))
            return total / h**2

        return Composed(compute, f"Laplacian of {alpha.text}")

    @cached_property
    def drift_slopes(self) -> tuple[Function, Function, Function, Function]:
        """∂ω₁/∂x, ∂ω₁/∂y, ∂ω₂/∂x, ∂ω₂/∂y: exact for formulas, beside their kinks; else by differences."""
        found: list[Function] = []
        for part in self.drift:
            if isinstance(part, Expression):
                known = derivatives(part, True)
                found += [known.x, known.y]
            else:
                found += [self._difference(part, 1, 0), self._difference(part, 0, 1)]
        return tuple(found)  # type: ignore[return-value]

    def _derivatives(self, kinks: bool) -> Any:
        """Exact derivatives of α; None where it has no formula."""
        if not isinstance(self.diffusion, Expression):
            return None
        try:
            return derivatives(self.diffusion, kinks)
        except InputError as error:
            raise InputError(f"diffusion = {short(self.diffusion.text)}: {error}") from None

    def _difference(self, function: Function, dx: int, dy: int) -> Function:
        h = self.step

        def compute(x: Array, y: Array) -> Array:
            total = np.zeros(x.shape)
            for k, weight in enumerate(FIRST, 1):
                total += weight * (function(x + k * h * dx, y + k * h * dy) - function(x - k * h * dx, y - k * h * dy))
            return total / h

        return Composed(compute, f"derivative of {function.text}")

    def applied_to(self, u: Function) -> Function:
        """∇·(α∇u) + ω·∇u − σu of a function that can be written as an expression."""
        formula = as_formula(u)
        if formula is None:
            raise InputError(
                f"{short(u.text)} has no exact derivatives: write it as an expression, or give the source and the "
                "boundary data instead of an exact solution"
            )
        du = derivatives(formula)
        alpha, slopes = self.diffusion, self.gradient
        parts = (alpha, *slopes, *self.drift, self.reaction)
        if all(isinstance(part, Expression) for part in parts):
            a, ax, ay, wx, wy, s = parts
            total = multiply(a, du.laplacian)  # type: ignore[arg-type]
            for factor, slope in ((ax, du.x), (ay, du.y), (wx, du.x), (wy, du.y)):
                total = add(total, _product(factor, slope))  # type: ignore[arg-type]
            return subtract(total, _product(s, formula))  # type: ignore[arg-type]

        def compute(x: Array, y: Array) -> Array:
            gx, gy = du.x(x, y), du.y(x, y)
            along = (slopes[0](x, y) + self.drift[0](x, y)) * gx + (slopes[1](x, y) + self.drift[1](x, y)) * gy
            return alpha(x, y) * du.laplacian(x, y) + along - self.reaction(x, y) * formula(x, y)

        return Composed(compute, f"∇·(α∇u) + ω·∇u − σu of u = {u.text}")

    def flux_of(self, u: Function) -> tuple[Function, Function]:
        """α∇u of a function that can be written as an expression."""
        from mc2.problems.condition import gradient_of

        alpha = self.diffusion

        def part(slope: Function) -> Function:
            if isinstance(alpha, Expression) and isinstance(slope, Expression):
                return _product(alpha, slope)
            return Composed(lambda x, y: alpha(x, y) * slope(x, y), f"α times {slope.text}")

        gx, gy = gradient_of(u)
        return part(gx), part(gy)

    def mapped(self, change: Callable[[Function, int], Function], length: float) -> "Coefficients":
        """In a frame of another length: Δ has the unit 1/length², and so has the whole equation.

        change: a function, and the power of the length that makes it comparable with the others, to that in the frame.
        """
        smooth = self.curvature is not None or not isinstance(self.diffusion, Expression) or self._smooth
        return Coefficients(
            change(self.diffusion, 0),
            (change(self.drift[0], 1), change(self.drift[1], 1)),
            change(self.reaction, 2),
            self.step / length,
            (change(self.gradient[0], 1), change(self.gradient[1], 1)),
            change(self.laplacian, 2) if smooth else None,
            self.materials,
            self.background,
        )

    @property
    def _smooth(self) -> bool:
        try:
            return self._derivatives(kinks=False) is not None
        except InputError:
            return False

    def check(self, inside: Array, edge: Array, domain: Domain) -> None:
        """Refuse coefficients that are not finite in a domain, and α that is not positive there.

        inside, edge: points [2, n] all over the domain, and along its boundary.
        """
        points = np.concatenate([inside, edge], axis=1)
        for name, function in self.functions.items():
            if isinstance(function, GridFunction):
                function.check_cover(name, domain, *points)
            values = function(*points)
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                raise InputError(f"{name} is not finite at {_at(points, bad[0])}: {short(function.text)}")
        alpha = self.diffusion(*points)
        low = int(np.argmin(alpha))
        if alpha[low] <= 0:
            raise InputError(f"diffusion is {alpha[low]:.4g} at {_at(points, low)}: it must be positive everywhere")
        for part in self.gradient:
            bad = np.flatnonzero(~np.isfinite(part(*points)))
            if bad.size:
                raise InputError(
                    f"the gradient of the diffusion is not finite at {_at(points, bad[0])}: the diffusion must be "
                    "smooth on the domain and its boundary"
                )


def read_coefficients(diffusion: FunctionLike, drift: Any, reaction: FunctionLike, size: float) -> Coefficients:
    """Coefficients as users give them. size: of the domain."""
    pair = (0.0, 0.0) if drift is None or (np.isscalar(drift) and drift == 0) else drift
    if isinstance(pair, str) or not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(f"drift = {short(drift)}: must be a pair of functions, such as (1.0, 'y')")
    x, y = (as_function(part, f"drift {axis}") for part, axis in zip(pair, "xy", strict=True))
    return Coefficients(as_function(diffusion, "diffusion"), (x, y), as_function(reaction, "reaction"), STEP * size)


def as_formula(function: Function) -> Expression | None:
    """A function as an expression, if it can be written as one."""
    if isinstance(function, Expression):
        return function
    try:
        return read_expression(function.text)
    except InputError:
        return None


def find_jump(function: Function, domain: Domain) -> tuple[float, float] | None:
    """A point inside a domain where a function jumps, if one is found: its change stays however close two points come.

    Looked for between points on lines along both axes. What is narrower than their distances may be missed.
    """
    if number_of(function) is not None:
        return None
    xmin, xmax, ymin, ymax = domain.bounds
    for axis in (0, 1):
        span = (xmin, xmax, ymin, ymax) if axis == 0 else (ymin, ymax, xmin, xmax)
        along = span[0] + (np.arange(ALONG) + 0.5) / ALONG * (span[1] - span[0])
        across = span[2] + (np.arange(LINES) + 0.5) / LINES * (span[3] - span[2])
        first = np.stack(np.meshgrid(along[:-1], across)).reshape(2, -1)
        second = np.stack(np.meshgrid(along[1:], across)).reshape(2, -1)
        if axis:
            first, second = first[::-1], second[::-1]
        inside = domain.contains(*first) & domain.contains(*second)
        found = _jump_between(function, first[:, inside], second[:, inside])
        if found is not None:
            return found
    return None


def _jump_between(function: Function, low: Array, high: Array) -> tuple[float, float] | None:
    """The first jump between pairs of points [2, n], by bisection."""
    if not low.size:
        return None
    at_low, at_high = function(*low), function(*high)
    change = np.abs(at_high - at_low)
    reach = float(np.ptp(at_low))
    steep = np.flatnonzero(change > max(STEEP * reach, 1e-9 * float(np.abs(at_low).max())))
    steep = steep[np.argsort(-change[steep])][:SUSPECTS]
    if not steep.size:
        return None
    low, high, at_low, at_high = low[:, steep], high[:, steep], at_low[steep], at_high[steep]
    for _ in range(30):
        middle = 0.5 * (low + high)
        between = function(*middle)
        left = np.abs(between - at_low) > np.abs(between - at_high)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        at_low, at_high = np.where(left, at_low, between), np.where(left, between, at_high)
    jumps = np.flatnonzero(np.abs(at_high - at_low) > 0.25 * change[steep])
    return None if not jumps.size else (float(low[0, jumps[0]]), float(low[1, jumps[0]]))


def need_continuous(coefficients: Coefficients, domain: Domain) -> None:
    """Refuse α that jumps, but between materials: ∇·(α∇u) asks for conditions there."""
    if coefficients.materials:
        return
    place = find_jump(coefficients.diffusion, domain)
    if place is not None:
        raise InputError(
            f"diffusion jumps near ({place[0]:.4g}, {place[1]:.4g}): give domains made of several materials "
            "by regions=, each with its shape; or a diffusion that is continuous"
        )


def number_of(function: Function) -> float | None:
    """A function that is a number; else None."""
    return function.number if isinstance(function, Expression) and function.operation == "constant" else None


def _product(a: Expression, b: Expression) -> Expression:
    """a·b, where zero times anything is zero."""
    return constant(0.0) if number_of(a) == 0 or number_of(b) == 0 else multiply(a, b)


def _at(points: Array, index: int) -> str:
    return f"({points[0, index]:.4g}, {points[1, index]:.4g})"
