"""A case: a problem with a known solution, in any units, and how it is to be solved."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import mc2
from mc2.functions.conversion import as_function
from mc2.geometry import Domain, Grid, from_description

GRID = 128
DATA = {"laplace": ("boundary",), "biharmonic": ("source", "boundary", "laplacian")}
"""What a family is given; all others have a source and a boundary."""
CLASSES = {"laplace": "Laplace", "poisson": "Poisson", "yukawa": "Yukawa", "biharmonic": "Biharmonic"}
CLASSES |= {"helmholtz": "Helmholtz"}

Field = Callable[[np.ndarray, np.ndarray], np.ndarray]
Data = str | float | Field


@dataclass(frozen=True)
class Draft:
    """A problem with its solution, about as large as the unit disk.

    domain: its description. family: the equation. data: arguments of the problem: source, boundary, laplacian, exact.
    parameter: λ of Yukawa, k of Helmholtz. truth: the solution, as text or as a function of arrays.
    accuracy: of the truth, relative to its largest value. note: what is special, in a few words.
    """

    domain: dict[str, Any]
    family: str
    data: dict[str, Data]
    truth: Data
    parameter: float = 0.0
    accuracy: float = 1e-12
    note: str = ""


@dataclass(frozen=True)
class Case:
    """A draft in units of its own, and how to solve it.

    size, offset: the domain is that many times larger, and moved by offset × size. value: the solution is that many
    times larger. options: of `mc2.solve`; a tolerance is that of the draft.
    """

    seed: int
    index: int
    kind: str
    draft: Draft
    options: dict[str, Any] = field(default_factory=dict)
    size: float = 1.0
    offset: tuple[float, float] = (0.0, 0.0)
    value: float = 1.0

    @property
    def domain(self) -> Domain:
        if "marks" in self.draft.domain:  # whose conditions are texts
            made = from_description(self.draft.domain).scale(self.size)
        else:
            made = from_description(enlarged(self.draft.domain, self.size))
        return made.move(*(part * self.size for part in self.offset)) if any(self.offset) else made

    @property
    def grid(self) -> Grid:
        """Square pixels over the whole domain."""
        xmin, xmax, ymin, ymax = self.domain.bounds
        half = 0.5 * max(xmax - xmin, ymax - ymin)
        x, y = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)
        return Grid(GRID, bounds=(x - half, x + half, y - half, y + half))

    @property
    def arguments(self) -> dict[str, Data]:
        """What the problem is made of, besides the domain."""
        family, size = self.draft.family, self.size
        order = 4 if family == "biharmonic" else 2
        factors = {"source": size**-order, "laplacian": size**-2, "boundary": 1.0, "exact": 1.0}
        found = {name: self.placed(data, factors[name] * self.value) for name, data in self.draft.data.items()}
        if family == "yukawa":
            found["lam"] = self.draft.parameter / size**2
        if family == "helmholtz":
            found["k"] = self.draft.parameter / size
        return found

    @cached_property
    def height(self) -> float:
        """The largest of a few values of the solution, divided by `value`."""
        return height(self.draft)

    def problem(self) -> mc2.Problem:
        return getattr(mc2, CLASSES[self.draft.family])(self.domain, **self.arguments)

    def truth(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The solution divided by `value`, so that its squares never overflow."""
        return evaluate(self.draft.truth, x / self.size - self.offset[0], y / self.size - self.offset[1])

    def placed(self, data: Data, factor: float) -> Data:
        """Data of the draft in the units of the case, times a factor; conditions follow the exact solution."""
        if hasattr(data, "conditions"):
            return data.conditions(self.size)
        if self.size == 1.0 and not any(self.offset) and factor == 1.0:
            return data
        if callable(data):
            return Placed(data, self.size, self.offset, factor)
        if isinstance(data, int | float):
            return factor * data
        places = {"x": _moved("x", self.size, self.offset[0]), "y": _moved("y", self.size, self.offset[1])}
        moved = re.sub(r"\b[xy]\b", lambda match: places[match[0]], data)
        return moved if factor == 1.0 else f"{factor!r}*({moved})"

    def code(self) -> str:
        """The case as a few lines of Python."""
        whole = repr(self.domain.describe())
        start = f"from validation.hunting.draw import draw\n\ncase = draw({self.seed}, {self.index})\n"
        if len(whole) > 600:
            domain, head = "case.domain", start
        else:
            domain, head = "from_description(\n    " + whole + "\n)", "from mc2.geometry import from_description\n"
        arguments = self.arguments
        given = ",\n    ".join(f"{name}={_shown(data)}" for name, data in arguments.items())
        imports = "from validation.hunting.disk import *\nfrom validation.hunting.case import Placed\n"
        functions = imports if any(callable(data) for data in arguments.values()) else ""
        options = "".join(f", {name}={value!r}" for name, value in self.solve_options().items())
        return (
            f"import mc2\n{head}{functions}\n"
            f"domain = {domain}\nproblem = mc2.{CLASSES[self.draft.family]}(\n    domain,\n    {given},\n)\n"
            f"solution = mc2.solve(problem{options}, grid=mc2.Grid({GRID}, bounds={self.grid.bounds}))\n"
        )

    def solve_options(self) -> dict[str, Any]:
        """Options with the tolerance in the units of the case."""
        options = dict(self.options)
        if "tolerance" in options:
            options["tolerance"] = float(f"{options['tolerance'] * self.value:.3g}")
        return options

    def scaled(self, **changes: Any) -> "Case":
        return replace(self, **changes)


@dataclass(frozen=True)
class Placed:
    """A function of arrays in other units."""

    function: Field
    size: float
    offset: tuple[float, float]
    factor: float

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.factor * self.function(x / self.size - self.offset[0], y / self.size - self.offset[1])


def evaluate(data: Data, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values of a function that is given as text, as a number or as a function of arrays."""
    values = data(x, y) if callable(data) else as_function(data, "truth")(x, y)
    return np.broadcast_to(np.asarray(values, float), np.shape(x))


def height(draft: Draft) -> float:
    """The largest of a few values inside and on the boundary."""
    domain = from_description(draft.domain)
    inside = evaluate(draft.truth, *domain.sample_interior(40, seed=0).T)
    given = draft.data.get("boundary", draft.truth)
    edge = evaluate(draft.truth if hasattr(given, "conditions") else given, *domain.sample_boundary(400, seed=0).T)
    return float(max(np.abs(inside).max(), np.abs(edge).max()))


def enlarged(description: Any, size: float) -> Any:
    """A domain's description with all lengths multiplied."""
    if isinstance(description, dict):
        return {key: part if key == "angle" else enlarged(part, size) for key, part in description.items()}
    if isinstance(description, list | tuple):
        return [enlarged(part, size) for part in description]
    return description * size if isinstance(description, int | float) else description


def zeroth(family: str, parameter: float) -> float:
    """The coefficient c of u in the operator Δu + cu."""
    return {"yukawa": -parameter, "helmholtz": parameter**2}.get(family, 0.0)


def make_data(family: str, parameter: float, u: str, laplacian: str, bilaplacian: str = "0") -> dict[str, Data]:
    """Source and boundary data of a solution u, from texts of u, Δu and Δ²u."""
    if family == "laplace":
        return {"boundary": u}
    if family == "biharmonic":
        return {"source": bilaplacian, "boundary": u, "laplacian": laplacian}
    c = zeroth(family, parameter)
    return {"source": laplacian if c == 0 else f"{laplacian} + {c!r}*({u})", "boundary": u}


def _moved(name: str, size: float, offset: float) -> str:
    scaled = name if size == 1.0 else f"{name}/{size!r}"
    return f"({scaled} - {offset!r})" if offset else f"({scaled})"


def _shown(data: Data) -> str:
    return repr(data) if not isinstance(data, str) else '"' + data + '"'


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """A number between two others, uniform in its logarithm, with three digits."""
    return float(f"{math.exp(random.uniform(math.log(low), math.log(high))):.3g}")


def uniform(random: np.random.Generator, low: float, high: float) -> float:
    """A number between two others, with four decimals."""
    return round(float(random.uniform(low, high)), 4)
