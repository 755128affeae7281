"""`Problem`: an elliptic equation, a domain, and the data that make its solution unique."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mc2.checks import CheckedArguments
from mc2.errors import InputError, short
from mc2.functions.conversion import FunctionLike, as_function
from mc2.functions.equality import along_boundary
from mc2.functions.function import Array, Function
from mc2.functions.grid_function import GridFunction
from mc2.functions.terms import TermSum
from mc2.geometry import Domain, Grid
from mc2.geometry.exterior import need_bounded
from mc2.plotting import as_html, as_png
from mc2.problems.boundary_data import (
    BoundaryLike,
    PartData,
    agree_on_parts,
    as_dirichlet,
    checked,
    completed,
    read_conditions,
)
from mc2.problems.coefficients import Coefficients
from mc2.problems.components import refuse_floating
from mc2.problems.condition import Clamped, Condition, Dirichlet, FromExact
from mc2.problems.operator import IDENTITY, LAPLACIAN, Operator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST_LENGTH, LARGEST_LENGTH = 1e-100, 1e100
"""Bounds of a domain's size and coordinates: squares and their products must be float64 too."""
FARTHEST = 1e8
"""Times its size that a domain may reach from the origin: beyond, rounding is a ten-thousandth of it."""
LARGEST_PARAMETER = 1e100
"""Largest λ and k."""
_CHECKS = 512
"""Points inside the domain, and as many on its boundary, at which data are checked when a problem is made."""
_COVER = 128
"""Pixels along the longer side of a domain, at which it is checked that values on a grid cover it."""


class Problem(metaclass=CheckedArguments):
    """Lu = f in a domain, with data on its boundary.

    Every family is a small subclass that names its operator L and the data it needs. Data that are not given follow
    from `exact`, a known solution, if there is one: f = Lu, g = u, h = Δu.
    """

    name: ClassVar[str]
    equation: ClassVar[str]
    data: tuple[str, ...]
    """What a problem of the family must supply, in this order: of `source`, `boundary` and `laplacian`.

    A plate that is clamped all around has no `laplacian`."""
    parameters: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """Parameters of the operator, each with PDEZoo's range; any positive number is valid."""
    lengths: ClassVar[Mapping[str, int]] = {}
    """The power of 1/length that each parameter has as a unit."""
    coefficient_names: ClassVar[tuple[str, ...]] = ()
    """Arguments that are coefficients of the operator, each a function, or a list of them."""
    coefficients: Coefficients | None = None
    """α, ω and σ, where the operator has functions for coefficients."""

    unbounded: ClassVar[bool] = False
    """Whether its domain may be the exterior of a body."""

    domain: Domain
    source: Function | None
    boundary: Function
    """Dirichlet data; NaN on parts with another condition."""
    laplacian: Function | None
    exact: Function | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        missing = [name for name in cls.parameters if name not in cls.lengths]
        if missing:
            raise InputError(
                f"{cls.__name__} must say {missing[0]}'s unit: lengths = {{{missing[0]!r}: power of 1/length}}"
            )

    def __init__(self, domain: Domain, exact: FunctionLike | None, **given: BoundaryLike | None) -> None:
        if not isinstance(domain, Domain):
            raise InputError(f"domain = {short(domain)}: must be a domain, such as mc2.geometry.Disk(1.0)")
        _check_lengths(domain)
        if domain.unbounded and (not self.unbounded or exact is not None):
            need_bounded(domain, f"{self.name} problems {'with an exact solution ' if self.unbounded else ''}need")
        self.domain = domain
        self.exact = None if exact is None else as_function(exact, "exact")
        for name in ("source", "boundary", "laplacian"):
            setattr(self, name, self._read(name, given.get(name)))
        self._complete()
        self._check()

    def _read(self, name: str, value: BoundaryLike | None) -> Function | None:
        """Data as a function; boundary data by parts with the conditions that they are made of."""
        if value is None:
            return None
        if not isinstance(value, Condition | Mapping):
            return as_function(value, name)
        if name == "source":
            raise InputError(f"source = {short(value)}: must be a function, not conditions of boundary parts")
        known = None if self.exact is None else self.from_solution(self.exact)
        given = completed(read_conditions(value, self.domain, name), known, self.domain)
        conditions = checked(given, self.domain)
        if any(condition.reflecting for condition in conditions):
            need_bounded(self.domain, "Neumann and Robin conditions need")
        plate = "laplacian" in type(self).data
        clamped = [condition for condition in conditions if isinstance(condition, Clamped)]
        if plate and any(condition.reflecting for condition in conditions):
            raise InputError(
                f"{self.name} takes u and Δu, or a clamped condition, on every part of the boundary, no Neumann or "
                "Robin conditions"
            )
        if clamped and (not plate or name == "laplacian"):
            raise InputError(
                f"{self.name} takes no clamped conditions{' for Δu' * plate}: u and ∂u/∂n together are for biharmonic "
                "problems, given as their boundary"
            )
        if plate and name == "boundary" and len(clamped) == len(conditions):
            self.data = tuple(other for other in self.data if other != "laplacian")
        if name == "boundary":
            if any(condition.reflecting for condition in conditions):
                refuse_floating(self.domain, self.operator, conditions)
            self.conditions = conditions
        return as_dirichlet(conditions, self.domain)

    @classmethod
    def from_exact(cls, domain: Domain, exact: Function, **parameters: float) -> Self:
        """The problem that a function solves. Nothing is checked: for solutions known to be right, as PDEZoo's are."""
        problem = cls.__new__(cls)
        problem.domain, problem.exact = domain, exact
        problem.source = problem.laplacian = None
        for name in cls.parameters:
            setattr(problem, name, parameters[name])
        problem.boundary = exact
        problem._complete()
        return problem

    @classmethod
    @abstractmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        """L, from the values of the family's parameters."""

    def from_solution(self, exact: Function) -> FromExact:
        """What stands for data of conditions that follow from a known solution."""
        return FromExact(exact)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What is known on every part of the domain's boundary, in the order of `domain.parts`."""
        if isinstance(self.boundary, PartData):
            return tuple(Dirichlet(function) for function in self.boundary.functions)
        return (Dirichlet(self.boundary),) * len(self.domain.parts)

    @cached_property
    def reflecting(self) -> bool:
        """Whether some part has a Neumann or Robin condition, so that walks go on there."""
        return "conditions" in self.__dict__ and any(condition.reflecting for condition in self.conditions)

    @cached_property
    def clamped(self) -> bool:
        """Whether some part has a clamped condition, which only boundary least squares can meet."""
        return "conditions" in self.__dict__ and any(isinstance(condition, Clamped) for condition in self.conditions)

    @cached_property
    def operator(self) -> Operator:
        """L."""
        made = self.make_operator({name: getattr(self, name) for name in self.parameters})
        if not isinstance(made, Operator):
            raise InputError(f"{type(self).__name__}.make_operator must return an Operator, not {short(made)}")
        return made

    def _complete(self) -> None:
        """Fill in what follows from the exact solution, and refuse what is still missing."""
        follows = {"source": self.operator, "boundary": IDENTITY, "laplacian": LAPLACIAN}
        for name in self.data:
            if getattr(self, name) is not None:
                continue
            if self.exact is None:
                needs = ", ".join(self.data)
                clamped = "; or boundary=mc2.Clamped(u, slope) for a clamped plate" if name == "laplacian" else ""
                raise InputError(f"{self.name} needs {name}: give {needs}, or exact alone{clamped}")
            setattr(self, name, self.exact if name == "boundary" else follows[name].applied_to(self.exact))

    def _check(self) -> None:
        """Data must be finite where they are needed, and agree with the exact solution where there is one."""
        inside = self.domain.sample_interior(_CHECKS, seed=0).T
        edge = self.domain.sample_boundary(_CHECKS, seed=0).T
        places = {"source": inside, "boundary": edge, "laplacian": edge}
        for name in (*self.data, "exact"):
            function = getattr(self, name)
            if isinstance(function, GridFunction):
                function.check_cover(name, self.domain, *(edge if name in ("boundary", "laplacian") else self._cover()))
            elif name in ("boundary", "laplacian") and not isinstance(function, TermSum | PartData):
                setattr(self, name, along_boundary(function, name, self.domain, edge))
        by_parts = isinstance(self.boundary, PartData)  # which was checked part by part
        values = {
            name: _finite(getattr(self, name), name, places[name])
            for name in self.data
            if name != "boundary" or not by_parts
        }
        if self.exact is None:
            return
        _finite(self.exact, "exact", inside)
        try:
            expected = {
                name: known.applied_to(self.exact)
                for name, known in (("source", self.operator), ("laplacian", LAPLACIAN))
            }
        except InputError:  # no derivatives to compare with: only boundary values can be checked
            expected = {}
        if by_parts or self.clamped:
            agree_on_parts(self.conditions, self.from_solution(self.exact), self.domain)
        else:
            expected["boundary"] = self.exact
        zero = np.zeros(inside.shape[1])
        for name, function in expected.items():
            if isinstance(getattr(self, name), GridFunction):
                continue  # interpolated: it need not agree to the last digit
            if name in self.data or name == "source":
                place = places[name]
                _agree(self, name, function(*place), values.get(name, zero), place)

    def _cover(self) -> Array:
        """Points [2, n] all over the domain and along its boundary."""
        xmin, xmax, ymin, ymax = self.domain.bounds
        half, x, y = 0.5 * self.domain.size, 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
        points = np.stack(Grid(_COVER, bounds=(x - half, x + half, y - half, y + half)).points()).reshape(2, -1)
        return np.concatenate([points[:, self.domain.contains(*points)], self.domain.sample_boundary(_CHECKS).T], 1)

    def mask(self, grid: Grid) -> NDArray[np.bool_]:
        """The pixels inside the domain; at least one."""
        mask = self.domain.mask(grid)
        if not mask.any():
            raise InputError(f"the domain has no pixel centre of the {grid.ny} × {grid.nx} grid inside")
        return mask

    def on_grid(self, function: Function, grid: Grid) -> Array:
        """A function on the grid, 0 outside the domain."""
        mask = self.mask(grid)
        x, y = grid.points()
        field = np.zeros(grid.shape)
        for rows in grid.blocks():
            inside = mask[rows]
            if inside.any():
                field[rows][inside] = function(x[rows][inside], y[rows][inside])
        return field

    def plot_boundary(self, title: str = "") -> "Figure":
        """A matplotlib figure of the boundary's parts, their conditions, and the data along them."""
        from mc2.problems.boundary_figure import plot_problem

        return plot_problem(self, title)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return as_html(self._repr_png_(), repr(self))

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        from mc2.problems.problem_figure import draw_problem

        return as_png(draw_problem(self, Grid.covering(self.domain)))

    def __repr__(self) -> str:
        parts = [repr(self.domain)]
        parts += [f"{name}={getattr(self, name)}" for name in self.parameters]
        parts += [f"{name}={short(getattr(self, name).text)}" for name in self.data]
        return f"{type(self).__name__}({', '.join(parts)})"


def need_dirichlet(problem: Problem, who: str) -> None:
    """Refuse a problem with Neumann, Robin or clamped conditions on behalf of somebody who would not see them."""
    if problem.clamped:
        raise InputError(
            f"{who} need u and Δu on the whole boundary, and this plate is clamped: mc2.solve does it without walks, "
            "by boundary least squares"
        )
    if problem.reflecting:
        pairs = zip(problem.domain.parts, problem.conditions, strict=True)
        part, condition = next((part, condition) for part, condition in pairs if condition.reflecting)
        raise InputError(f"{who} need u on the whole boundary, and {part.name!r} has a {condition.word} condition")


def _check_lengths(domain: Domain) -> None:
    """Refuse domains whose lengths, squares or offsets float64 cannot hold."""
    size, largest = domain.size, max(map(abs, domain.bounds))
    if not SMALLEST_LENGTH <= size <= LARGEST_LENGTH or largest > LARGEST_LENGTH:
        raise InputError(
            f"the domain is {size:.3g} in size and reaches {largest:.3g} from the origin: both must lie between "
            f"{SMALLEST_LENGTH:g} and {LARGEST_LENGTH:g}; choose another unit of length"
        )
    if largest > FARTHEST * size:
        raise InputError(
            f"the domain is {size:.3g} in size and reaches {largest:.3g} from the origin, more than {FARTHEST:g} times "
            "as far: numbers cannot tell its points apart; move it to the origin"
        )


def _finite(function: Function, name: str, points: Array) -> Array:
    values = function(*points)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        x, y = points[:, bad[0]]
        raise InputError(f"{name} is not finite at ({x:.4g}, {y:.4g}), where it is needed: {short(function.text)}")
    return values


def _agree(problem: Problem, name: str, expected: Array, given: Array, points: Array) -> None:
    """Refuse data that contradict the exact solution, beyond rounding: that of u, and of its derivatives."""
    assert problem.exact is not None
    error = np.abs(expected - given)
    worst = int(np.argmax(error))
    order = {"boundary": 0, "laplacian": 2}.get(name, problem.operator.order)
    inside = problem.domain.sample_interior(_CHECKS, seed=0).T  # u may vanish on the whole boundary
    largest = max(float(np.abs(problem.exact(*place)).max()) for place in (points, inside))
    size = largest / problem.domain.size**order
    if error[worst] > 1e-6 * float(np.abs(expected).max()) + 1e-9 * size:
        x, y = points[:, worst]
        what = f"the {name} is {given[worst]:.6g}" if name in problem.data else f"{problem.equation} asks for 0"
        raise InputError(
            f"exact does not solve this {problem.name} problem: at ({x:.4g}, {y:.4g}) it gives {name} "
            f"{expected[worst]:.6g}, but {what}"
        )
