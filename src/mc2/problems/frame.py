"""Frames: units in which a problem is of ordinary size, so that millimetres, kilometres and offsets do not matter.

Walks are in float32, and lengths and tolerances of the geometry are compared with numbers of ordinary size. In its
frame every problem is: with x = center + length x' and u = value u', the equation Δu − λu = f becomes
Δ'u' − λ length² u' = f length²/value, and likewise for the other families: α stays, ω has the factor length.
"""

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mc2.functions.expression import Expression, X, Y, constant, multiply
from mc2.functions.function import Array, Function
from mc2.functions.intervals import enclose
from mc2.functions.terms import TermSum
from mc2.geometry import Domain, Exterior, Grid
from mc2.problems.boundary_data import PartData, part_points
from mc2.problems.condition import Clamped, Condition, FromExact, Robin
from mc2.problems.materials import moved
from mc2.problems.problem import Problem

ORDINARY = 8.0
"""Half-sizes from 1/8 to 8 are walked as they are: PDEZoo's are 0.4 … 1.7."""
NEAR = 4.0
"""So are centers within this many half-sizes of the origin."""
VALUES = 1e12
"""And data of sizes from 1e-12 to 1e12."""
SUBSTITUTED = 16.0
"""Up to this many half-sizes from the origin float32 can still tell x = center + length x' apart well enough."""
AGREEMENT = 1e-4
"""Part of a function's largest value by which float32 may be off before the function is evaluated in float64."""
SAMPLES = 512
"""Points inside the domain, and as many on its boundary, at which the size of the data is taken."""


@dataclass(frozen=True)
class Frame:
    """Coordinates and units in which a problem is of ordinary size: x = center + length x', u = value u'.

    center: of the domain's bounding box.
    length: half of the domain's size.
    value: the size of the data, as a power of two.
    Each is left at (0, 0), 1 and 1 where the problem is ordinary already, as all of PDEZoo's are.
    """

    center: tuple[float, float] = (0.0, 0.0)
    length: float = 1.0
    value: float = 1.0

    @classmethod
    def of(cls, problem: Problem) -> "Frame":
        """The frame of a problem, from its domain and from its data at some points."""
        around = cls.around(problem.domain)
        return cls(around.center, around.length, _value(problem, around.length))

    @classmethod
    def around(cls, domain: Domain) -> "Frame":
        """The frame of a domain, which leaves values as they are."""
        xmin, xmax, ymin, ymax = domain.bounds
        x, y, half = xmin + 0.5 * (xmax - xmin), ymin + 0.5 * (ymax - ymin), 0.5 * domain.size
        ordinary = 1 / ORDINARY <= half <= ORDINARY and max(abs(x), abs(y)) <= NEAR * half
        return cls() if ordinary or half <= 0 else cls((x, y), half)

    @property
    def trivial(self) -> bool:
        """Whether the problem stays as it is."""
        return self == Frame()

    def inward(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """The user's coordinates in the frame: x' = (x − center)/length."""
        return (np.asarray(x, float) - self.center[0]) / self.length, (
            np.asarray(y, float) - self.center[1]
        ) / self.length

    def outward(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """The frame's coordinates in the user's: x = center + length x'."""
        return self.center[0] + self.length * np.asarray(x, float), self.center[1] + self.length * np.asarray(y, float)

    def grid(self, grid: Grid) -> Grid:
        """A grid in the frame."""
        (xmin, xmax), (ymin, ymax) = self.inward(grid.bounds[:2], grid.bounds[2:])
        return Grid(grid.nx, grid.ny, (float(xmin), float(xmax), float(ymin), float(ymax)))

    def domain(self, domain: Domain) -> Domain:
        """A domain in the frame."""
        moved = domain if self.center == (0.0, 0.0) else domain.move(-self.center[0], -self.center[1])
        return moved if self.length == 1.0 else moved.scale(1.0 / self.length)

    def problem(self, problem: Problem) -> Problem:
        """A problem in the frame; itself if the frame is trivial."""
        if self.trivial:
            return problem
        framed = type(problem).__new__(type(problem))
        framed.domain = self.domain(problem.domain)
        if isinstance(framed.domain, Exterior):
            framed.domain = replace(framed.domain, growth=framed.domain.growth / self.value)
        for name, power in problem.lengths.items():
            setattr(framed, name, getattr(problem, name) * self.length**power)
        if problem.coefficients is not None:
            framed.coefficients = moved(problem.coefficients.mapped(self._coefficient, self.length), self.domain)
        powers, places = {"exact": 0, **_powers(problem)}, _samples(framed.domain)
        for name, points in places.items():
            function = getattr(problem, name)
            setattr(
                framed, name, None if function is None else self._data(function, powers[name], points, framed.domain)
            )
        if "data" in problem.__dict__:
            framed.data = problem.data
        if problem.reflecting or problem.clamped:
            framed.conditions = tuple(self._condition(condition) for condition in problem.conditions)
        return framed

    def _data(self, function: Function, power: int, points: Array, domain: Domain) -> Function:
        """Data of a problem in the frame; those of boundary parts part by part."""
        if isinstance(function, PartData):
            return function.mapped(domain, lambda part: Framed(part, self, power))
        return self._function(function, power, points)

    def _condition(self, condition: Condition) -> Condition:
        """a·u + b·∂u/∂n = value in the frame: derivatives and coefficients have the unit 1/length."""
        power = 1 if condition.reflecting else 0
        if isinstance(condition.value, FromExact):
            gx, gy = (Framed(part, self, 1) for part in condition.value.derivatives)
            value: Function = FromExact(Framed(condition.value.exact, self), (gx, gy))
        else:
            value = Framed(condition.value, self, power)
        if isinstance(condition, Clamped):
            return Clamped(value, self._condition(condition.turn).value)
        if isinstance(condition, Robin):
            assert isinstance(condition.coefficient, Function)
            return Robin(Framed(condition.coefficient, replace(self, value=1.0), 1), value)
        return replace(condition, value=value)  # type: ignore[type-var]

    def _coefficient(self, function: Function, power: int) -> Function:
        """A coefficient in the frame. Formulas stay formulas; nobody evaluates them in float32."""
        if isinstance(function, Expression):
            return multiply(constant(self.length**power), self._moved(function))
        return Framed(function, replace(self, value=1.0), power)

    def _moved(self, function: Expression) -> Expression:
        """function(outward)."""
        return _substitute(function, *(at + self.length * axis for at, axis in zip(self.center, (X, Y), strict=True)))

    def _function(self, function: Function, power: int, points: Array) -> Function:
        """function(outward) length^power/value: with a program if float32 is good enough for it, else in float64."""
        plain = Framed(function, self, power)
        if not isinstance(function, Expression) or self.value != 1.0 or self._offset > SUBSTITUTED:
            return plain
        scaled = multiply(constant(self.length**power), self._moved(function))
        single, exact = _in_both_precisions(scaled, *points)
        with np.errstate(all="ignore"):
            fits = np.abs(single - exact) <= AGREEMENT * np.max(np.abs(exact), initial=0.0)
        return scaled if fits.all() else plain

    @property
    def _offset(self) -> float:
        """Distance of the center from the origin, in half-sizes."""
        return max(map(abs, self.center)) / self.length


class Framed(Function):
    """Data in a frame: f(center + length x') length^power/value, always evaluated in float64.

    function: f. frame: the frame. power: of the length, 0 for values, 2 for Laplacians, 4 for bi-Laplacians.
    """

    def __init__(self, function: Function, frame: Frame, power: int = 0) -> None:
        self.function, self.frame, self.power = function, frame, power

    @property
    def text(self) -> str:
        return self.function.text

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        with np.errstate(all="ignore"):
            # value first: a source of 1e290 times length² would overflow
            return self.function(*self.frame.outward(x, y)) / self.frame.value * self.frame.length**self.power

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> "Framed":
        square = self.frame.length**2
        inner = self.function.apply(value, laplacian * square, bilaplacian * square**2)
        return Framed(inner, self.frame, self.power)


def _powers(problem: Problem) -> dict[str, int]:
    """The power of the length that makes data comparable with u, by their names."""
    return {"source": problem.operator.order, "boundary": 0, "laplacian": 2}


def _samples(domain: Domain) -> dict[str, Array]:
    """Where data are looked at, by their names: points [2, count] inside the domain or on its boundary."""
    inside, edge = domain.sample_interior(SAMPLES, seed=0).T, domain.sample_boundary(SAMPLES, seed=0).T
    return {"source": inside, "boundary": edge, "laplacian": edge, "exact": inside}


def _value(problem: Problem, length: float) -> float:
    """The power of two that is nearest to the largest of |g|, |f| length²/α and |h| length²; 1 if that is ordinary."""
    if all(isinstance(getattr(problem, name), TermSum) for name in problem.data):
        return 1.0  # as PDEZoo's are
    places = _samples(problem.domain)
    alpha = 0.0 if problem.coefficients is None else _logarithm(problem.coefficients.diffusion, places["source"])
    exponents = []  # logarithms: a product could overflow
    for name, power in _powers(problem).items():
        function = getattr(problem, name)
        if function is None or name not in problem.data:
            continue
        sizes = np.abs(function(*places[name]))
        largest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
        if largest < 1 / VALUES:  # samples may have missed what there is
            largest = max(largest, _bound(function, problem.domain))
        if largest > 0:
            exponents.append(math.log2(largest) + power * math.log2(length) - alpha * (power > 0))
    given = list(enumerate(problem.conditions if problem.reflecting or problem.clamped else ()))
    given += [(index, condition.turn) for index, condition in given if isinstance(condition, Clamped)]
    for index, condition in given:
        largest = float(np.abs(condition.data(*part_points(problem.domain, index, SAMPLES))).max())
        if largest > 0:
            exponents.append(math.log2(largest) + condition.reflecting * (math.log2(length) - alpha))
    if not exponents or abs(max(exponents)) <= math.log2(VALUES):
        return 1.0
    return 2.0 ** max(-1020, min(1020, round(max(exponents))))


def _logarithm(function: Function, points: Array) -> float:
    """The logarithm of the usual size of a positive function."""
    return float(np.median(np.log2(function(*points))))


def _bound(function: Function, domain: Domain) -> float:
    """An upper bound of |function| around a domain; 0 where there is none."""
    xmin, xmax, ymin, ymax = domain.bounds
    found = enclose(function, xmin, xmax, ymin, ymax)
    bound = 0.0 if found is None else float(np.max(np.abs(found)))
    return bound if math.isfinite(bound) else 0.0


def _substitute(expression: Expression, x: Expression, y: Expression) -> Expression:
    """The expression with x and y replaced."""
    replaced: dict[Expression, Expression] = {X: x, Y: y}
    for node in expression.order():
        if node.arguments:
            replaced[node] = Expression(node.operation, tuple(replaced[a] for a in node.arguments), node.number)
        else:
            replaced.setdefault(node, node)
    return replaced[expression]


def _in_both_precisions(function: Expression, x: Array, y: Array) -> tuple[Array, Array]:
    """Values at the same points, computed in float32 and in float64."""
    x, y = (c.astype(np.float32).astype(float) for c in (x, y))
    values: dict[Expression, Any] = {}
    with np.errstate(all="ignore"):
        for node in function.order():
            values[node] = np.asarray(node.evaluate(values, x, y), np.float32)
    return np.broadcast_to(values[function].astype(float), x.shape), function(x, y)


def for_float32(problem: Problem) -> Problem:
    """The problem itself; or one whose formulas that over- or underflow in float32 are evaluated in float64."""
    formulas = {n: f for n in problem.data if isinstance(f := getattr(problem, n), Expression) and f.arguments}
    if not formulas:
        return problem
    safe, places = problem, _samples(problem.domain)
    for name, function in formulas.items():
        single, exact = _in_both_precisions(function, *places[name])
        known = np.isfinite(exact)
        lost = np.max(np.abs(single), initial=0.0, where=known) < 0.5 * np.max(np.abs(exact), initial=0.0, where=known)
        if lost or not np.isfinite(single[known]).all():
            safe = copy(problem) if safe is problem else safe
            setattr(safe, name, Framed(function, Frame()))
    return safe
