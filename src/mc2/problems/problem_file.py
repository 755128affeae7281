"""Problem files: a problem in TOML.

    family = "yukawa"                      # laplace, poisson, yukawa, biharmonic or helmholtz
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

Boundary data may differ between the named parts of the boundary; "*" stands for the rest:

    [boundary]
    left = 100
    top = {robin = {coefficient = 0.2, value = "4 + x"}}
    "*" = {neumann = 0}

A biharmonic problem also has `laplacian`, Δu on the boundary. `exact` gives a known solution, from which all data
follow that are left out. A file is data: reading one runs nothing.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from mc2.errors import InputError, short, unknown
from mc2.geometry import Domain, Grid, from_description
from mc2.problems.condition import CONDITIONS
from mc2.problems.families import FAMILIES
from mc2.problems.problem import Problem
from mc2.reading.plain import naming
from mc2.reading.toml import read_toml

MAX_TITLE = 200
"""Characters of a title, which is drawn above plots."""
_FUNCTIONS = ("source", "boundary", "laplacian", "exact")
_PARAMETERS = {"lambda": "lam", "k": "k"}
_KEYS = ("family", "domain", "grid", "bounds", "title", *_FUNCTIONS, *_PARAMETERS)


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file holds: the problem, the grid to show it on, and a title."""

    problem: Problem
    grid: Grid
    title: str


def read_problem(path: str | Path) -> ProblemFile:
    """Read a problem file. Errors name the file, the key, the value and what is allowed."""
    with naming(path):
        stem = "".join(letter if letter.isprintable() else "?" for letter in Path(path).stem)
        return problem_from_data(read_toml(path, "problem file"), title=stem, folder=Path(path).parent)


def problem_from_data(data: dict[str, Any], title: str = "", folder: Path | None = None) -> ProblemFile:
    """A problem from the contents of a problem file. folder: where the drawings are that it names; None: nowhere."""
    for key in data:
        if key not in _KEYS:
            raise unknown("key", key, _KEYS)
    family = data.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        raise InputError("key 'family' is missing") if family is None else unknown("family", family, FAMILIES)
    if "domain" not in data:
        raise InputError("key 'domain' is missing: a table such as [domain] with shape = \"disk\"")
    told = data.get("title", "")
    if not isinstance(told, str) or len(told) > MAX_TITLE or not told.isprintable():
        raise InputError(f"title = {short(told)}: must be one line of at most {MAX_TITLE} characters")
    problem = FAMILIES[family](from_description(data["domain"], folder), **_arguments(family, data))
    grid = _grid(data, problem.domain)
    problem.mask(grid)
    return ProblemFile(problem, grid, data.get("title", title))


def _grid(data: dict[str, Any], domain: Domain) -> Grid:
    """The grid of a file: it covers the domain unless bounds are given."""
    count = data.get("grid", 256)
    if isinstance(count, list):
        if len(count) != 2:
            raise InputError(f"grid = {short(count)}: must be a number of pixels, or two, of columns and rows")
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
        by_parts = key in ("boundary", "laplacian") and isinstance(data[key], dict)
        arguments[key] = _by_parts(key, data[key]) if by_parts else _function(key, data[key])
    for key, name in _PARAMETERS.items():
        needed = name in FAMILIES[family].parameters
        if needed and key not in data:
            raise InputError(f"{family} needs {key}: a positive number")
        if key in data and not needed:
            raise InputError(f"{family} takes no {key}")
        if needed:
            arguments[name] = data[key]
    return arguments


def _by_parts(key: str, table: dict[str, Any]) -> dict[str, Any]:
    """Boundary data by parts, each a function or a table that names a condition."""
    return {part: _condition(f"{key}.{part}", value) for part, value in table.items()}


def _condition(key: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return _function(key, value)
    if len(value) != 1:
        raise InputError(f"{key} = {short(value)}: must have one key, of {', '.join(CONDITIONS)}")
    [(word, given)] = value.items()
    if word not in CONDITIONS:
        raise unknown(f"condition of {key}", word, CONDITIONS)
    allowed = [field.name for field in fields(CONDITIONS[word])]  # type: ignore[arg-type]
    arguments = given if isinstance(given, dict) else {"value": given}
    for name in arguments:
        if name not in allowed:
            raise unknown(f"key of {key}.{word}", name, allowed)
    if "coefficient" in allowed and "coefficient" not in arguments:
        raise InputError(f"{key}.{word} needs a coefficient, such as {{coefficient = 0.2, value = 4}}")
    return CONDITIONS[word](**{name: _function(f"{key}.{word}.{name}", part) for name, part in arguments.items()})


def _function(key: str, value: Any) -> str | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{key} = {short(value)}: must be an expression text or a number")
    return value
