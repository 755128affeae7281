"""Problem files: a problem in TOML.

    family = "yukawa"                      # laplace, poisson, yukawa, biharmonic or helmholtz; or elliptic
    lambda = 9.0                           # yukawa only; helmholtz has k
    source = "40*x*y"                      # functions are expressions in x and y, or numbers
    boundary = "x**2 - y"
    grid = 256                             # pixels along the longer side, or [columns, rows]; 256 if left out
    bounds = [-1, 1, -1, 1]                # xmin, xmax, ymin, ymax of the grid; it covers the domain if left out
    title = "Any text"                     # shown above plots

    [domain]
    difference = [
        { shape = "disk", radius = 1.0 },
        { shape = "rectangle", a = 0.3, b = 0.2, center = [0.2, 0.1], angle = 0.4 },
    ]

The domain may be a drawing beside the file: `domain = { drawing = "plate.svg" }`, with options of `mc2.read_domain`.

The family "elliptic" has coefficients, which are functions too: `diffusion`, `drift` (two of them) and `reaction`.

Boundary data may differ between the named parts of the boundary; "*" stands for the rest:

    [boundary]
    left = 100
    top = {robin = {coefficient = 0.2, value = "4 + x"}}
    "*" = {neumann = 0}

A biharmonic problem also has `laplacian`, Δu on the boundary, unless it is `{clamped = {value = 0, slope = 0}}`, with
u and ∂u/∂n. `exact` gives a known solution, from which all data follow that are left out. A file is data:
reading one runs nothing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from mc2.checks import positive
from mc2.errors import InputError, short, unknown
from mc2.geometry import Domain, Grid, from_description
from mc2.geometry.domain import Bounds
from mc2.problems.condition import CONDITIONS
from mc2.problems.elliptic import Elliptic
from mc2.problems.families import FAMILIES
from mc2.problems.problem import Problem
from mc2.reading.models import Number, Rule, called, line, read_as
from mc2.reading.plain import naming
from mc2.reading.toml import read_toml

MAX_TITLE = 200
"""Characters of a title, which is drawn above plots."""
_FUNCTIONS = ("source", "boundary", "laplacian", "exact")
_KEYS = {"lam": "lambda"}
"""The keys of parameters that are not called as in Python, where that name is taken."""
Datum = Annotated[Number | str, called("an expression text or a number")]


class ValueTable(TypedDict):
    """What a condition without a coefficient is given."""

    value: NotRequired[Datum]


class CoefficientTable(TypedDict):
    """What one with a coefficient is given."""

    coefficient: Datum
    value: NotRequired[Datum]


class SlopeTable(TypedDict):
    """What a clamped plate is given."""

    value: NotRequired[Datum]
    slope: NotRequired[Datum]


Boundary = Annotated[Datum | dict[str, Any], called("an expression text, a number, or a table by parts")]
Pair = Annotated[list[Datum], Rule(lambda pair: len(pair) == 2, "two expression texts or numbers, along x and y")]
Sides = Annotated[list[int], Rule(lambda sides: len(sides) == 2, "two numbers of pixels, of columns and rows")]
ProblemTable = TypedDict(
    "ProblemTable",
    {
        "family": Annotated[str, called("the name of an equation, such as 'poisson'")],
        "domain": Annotated[dict[str, Any], called('a table such as [domain] with shape = "disk"')],
        "grid": NotRequired[Annotated[int | Sides, called("a number of pixels, or two, of columns and rows")]],
        "bounds": NotRequired[list[Number]],
        "title": NotRequired[Annotated[str, line(MAX_TITLE)]],
        "source": NotRequired[Datum],
        "boundary": NotRequired[Boundary],
        "laplacian": NotRequired[Boundary],
        "exact": NotRequired[Datum],
        "diffusion": NotRequired[Datum],
        "drift": NotRequired[Pair],
        "reaction": NotRequired[Datum],
        "lambda": NotRequired[Number],
        "k": NotRequired[Number],
    },
)
"""What a file may say."""


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file holds: the problem, the grid to show it on, and a title.

    bounds: of the grid, if the file says them.
    """

    problem: Problem
    grid: Grid
    title: str
    bounds: Bounds | None = None

    def sized(self, size: int | None) -> Grid:
        """The file's grid; or the one with another number of pixels along its longer side, within the same bounds."""
        if size is None:
            return self.grid
        return Grid.over(self.problem.domain.bounds if self.bounds is None else self.bounds, size)


def read_problem(path: str | Path) -> ProblemFile:
    """Read a problem file. Errors name the file, the key, the value and what is allowed."""
    with naming(path):
        stem = "".join(letter if letter.isprintable() else "?" for letter in Path(path).stem)
        return problem_from_data(read_toml(path, "problem file"), title=stem, folder=Path(path).parent)


def problem_from_data(data: dict[str, Any], title: str = "", folder: Path | None = None) -> ProblemFile:
    """A problem from the contents of a problem file. folder: where the drawings are that it names; None: nowhere."""
    family = data.get("family")
    if isinstance(family, str) and family not in FAMILIES:  # first, since the other keys depend on it
        raise unknown("family", family, FAMILIES)
    kind = FAMILIES[family] if isinstance(family, str) else Problem
    own = parameters_of(kind).keys() - ProblemTable.__annotations__.keys()
    read_as(ProblemTable, {key: value for key, value in data.items() if key not in own})
    assert isinstance(family, str)
    problem = kind(from_description(data["domain"], folder), **_arguments(family, data))
    grid = _grid(data, problem.domain)
    problem.mask(grid)
    return ProblemFile(problem, grid, data.get("title", title), grid.bounds if "bounds" in data else None)


def parameters_of(family: type[Problem]) -> dict[str, str]:
    """The keys of a family's parameters, and their names in Python."""
    return {_KEYS.get(name, name): name for name in family.parameters}


def _grid(data: dict[str, Any], domain: Domain) -> Grid:
    """The grid of a file: it covers the domain unless bounds are given."""
    count = data.get("grid", 256)
    if isinstance(count, list):
        xmin, xmax, ymin, ymax = domain.bounds
        return Grid(count[0], count[1], data.get("bounds", (xmin, xmax, ymin, ymax)))
    return Grid.over(data["bounds"], count) if "bounds" in data else Grid.covering(domain, count)


def _arguments(family: str, data: dict[str, Any]) -> dict[str, Any]:
    """Functions and parameters under the names that the family's class takes."""
    allowed = (*FAMILIES[family].data, "exact")
    arguments: dict[str, Any] = {}
    for key in _FUNCTIONS:
        if key not in data:
            continue
        if key not in allowed:
            raise InputError(f"{family} takes no {key}: it takes {', '.join(allowed)}")
        told = data[key]
        by_parts = isinstance(told, dict)
        arguments[key] = {part: _condition(f"{key}.{part}", own) for part, own in told.items()} if by_parts else told
    parameters, coefficients = parameters_of(FAMILIES[family]), FAMILIES[family].coefficient_names
    for key in Elliptic.coefficient_names:
        if key in data and key not in (*coefficients, *parameters):
            raise InputError(f"{family} takes no {key}: the family 'elliptic' does")
        if key in data and key in coefficients:
            arguments[key] = data[key]
    for key in ("lambda", "k"):
        if key in data and key not in parameters:
            raise InputError(f"{family} takes no {key}")
    for key, name in parameters.items():
        if key not in data:
            raise InputError(f"{family} needs {key}: a positive number")
        arguments[name] = positive(key, data[key])
    return arguments


def _condition(key: str, told: Any) -> Any:
    """What is known on a part of the boundary: data that are u's own, or a table that names a condition."""
    if not isinstance(told, dict):
        return read_as(ValueTable, {"value": told}, key)["value"]
    if len(told) != 1:
        raise InputError(f"{key} = {short(told)}: must have one key, of {', '.join(CONDITIONS)}")
    [(word, given)] = told.items()
    if word not in CONDITIONS:
        raise unknown(f"condition of {key}", word, CONDITIONS)
    has = CONDITIONS[word].__annotations__
    table: Any = CoefficientTable if "coefficient" in has else SlopeTable if "slope" in has else ValueTable
    return CONDITIONS[word](**read_as(table, given if isinstance(given, dict) else {"value": given}, f"{key}.{word}"))
