"""Problems as plain data: what a problem file would hold of them."""

from typing import Any

import numpy as np

from mc2.errors import InputError
from mc2.functions import Function, read_expression
from mc2.problems.boundary_data import PartData
from mc2.problems.condition import FromExact
from mc2.problems.problem import Problem
from mc2.problems.problem_file import parameters_of


def problem_as_data(problem: Problem) -> dict[str, Any] | None:
    """What a problem file would hold of a problem; None where it has functions that cannot be written down."""
    data: dict[str, Any] = {"family": problem.name, "domain": problem.domain.describe()}
    data |= {key: getattr(problem, name) for key, name in parameters_of(type(problem)).items()}
    if problem.coefficients is not None:
        drift = [_text(part) for part in problem.coefficients.drift]
        own = {"diffusion": problem.coefficients.diffusion, "reaction": problem.coefficients.reaction}
        data |= {"drift": drift} | {key: _text(function) for key, function in own.items()}
        if None in (*drift, data["diffusion"], data["reaction"]):
            return None
    by_parts = isinstance(problem.boundary, PartData) or problem.clamped
    for name in (*problem.data, "exact"):
        function = getattr(problem, name)
        if function is None:
            continue
        written = _parts_as_data(problem) if name == "boundary" and by_parts else _text(function)
        if written is None:
            return None
        data[name] = written
    return data


def _parts_as_data(problem: Problem) -> dict[str, Any] | None:
    """Conditions of all parts, as a problem file has them."""
    table: dict[str, Any] = {}
    for part, condition in zip(problem.domain.parts, problem.conditions, strict=True):
        given = {
            name: function for name, function in condition.functions.items() if not isinstance(function, FromExact)
        }
        texts = {name: _text(function) for name, function in given.items()}
        if None in texts.values():
            return None
        table[part.name] = {condition.word: texts}
    return table


def _text(function: Function) -> str | None:
    """A function as a text that is read as the same function again, if it has one."""
    try:
        again = read_expression(function.text)
    except InputError:
        return None
    x, y = np.array([0.31, -1.7, 2.9]), np.array([0.77, 1.3, -0.4])
    with np.errstate(all="ignore"):
        same = np.array_equal(function(x, y), again(x, y), equal_nan=True)
    return function.text if same else None
