"""Boundaries that reflect walks, packed for an NVIDIA GPU: the tables of `star_kernels` behind each other."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.functions import Function
from mc2.problems.condition import Condition, FromExact, Robin
from mc2.walks.gpu.columns import (
    BOX,
    CONVEX,
    DATA_COLUMNS,
    ENDS,
    GRADIENT_X,
    GRADIENT_Y,
    SCALED,
    STAR_COLUMNS,
    STAR_NUMBERS,
    STAR_SOURCE,
    STEPS,
    VALUE,
    VERTICES,
)
from mc2.walks.plan import Plan
from mc2.walks.stars import Walker
from mc2.walks.walls import ON_WALL

if TYPE_CHECKING:
    from mc2.walks.options import Options

Add = Callable[[Function], list[int]]
"""Puts a function's program behind others and returns its first row and the one after its last."""


class StarArrays(NamedTuple):
    """What the kernel of reflecting walks reads, in the order of its arguments: here, or on the device.

    ends, walls, vertices, coefficients: of all problems behind each other, see `star_kernels`.
    end_data, wall_data: the programs of every piece's data.
    columns, numbers: a row for each problem, see `mc2.walks.gpu.columns`.
    """

    ends: Any
    walls: Any
    vertices: Any
    coefficients: Any
    end_data: Any
    wall_data: Any
    columns: Any
    numbers: Any


def data_programs(condition: Condition) -> dict[int, Function]:
    """The functions that a condition's data are made of, by their columns."""
    value = condition.value
    if not isinstance(value, FromExact):
        return {VALUE: value}
    if not condition.reflecting:
        return {VALUE: value.exact}
    gx, gy = value.derivatives
    scaled: dict[int, Function] = {SCALED: value.exact} if isinstance(condition, Robin) else {}
    return scaled | {GRADIENT_X: gx, GRADIENT_Y: gy}


def pack_stars(
    plans: Sequence[Plan], chosen: Sequence[int], options: "Options", steps: Sequence[int], add: Add
) -> StarArrays:
    """The tables of some of many problems. steps: where the walks of each are cut off."""
    columns = np.zeros((len(plans), STAR_COLUMNS), np.int32)
    numbers = np.zeros((len(plans), STAR_NUMBERS), np.float32)
    piles: list[list[NDArray[Any]]] = [[], [], [], [], [], []]
    rows = [0, 0, 0]
    for index in chosen:
        problem = plans[index].problem
        source = plans[index].source
        walker = Walker(problem, plans[index].parameter, options, 0, source=source is not None)
        boundary, rules, tables = walker.boundary, walker.rules, walker.tables
        programs = [
            {column: add(function) for column, function in data_programs(condition).items()}
            for condition in problem.conditions
        ]
        data = [_data_rows(programs, boundary.pieces.part[pieces]) for pieces in (boundary.ends, boundary.walls)]
        for pile, table in zip(piles, (*tables, *data), strict=True):
            pile.append(table)
        for kind, (column, table) in enumerate(zip((ENDS, ENDS + 2, VERTICES), tables[:3], strict=True)):
            columns[index, column : column + 2] = rows[kind], rows[kind] + len(table)
            rows[kind] += len(table)
        columns[index, STEPS : CONVEX + 1] = steps[index], rules.robin, rules.given, rules.convex
        if source is not None:
            columns[index, STAR_SOURCE : STAR_SOURCE + 2] = add(source)
        near = ON_WALL * problem.domain.size
        numbers[index] = rules.rate, rules.epsilon, rules.cap, rules.wall_cap, near, *rules.box
        assert len(numbers[index, BOX:]) == len(rules.box)
    width = max((table.shape[1] for table in piles[3]), default=2)
    piles[3] = [np.pad(table, ((0, 0), (0, width - table.shape[1])), "edge") for table in piles[3]]
    joined: list[Any] = [*map(_joined, piles), columns, numbers]
    return StarArrays(*joined)


def _data_rows(programs: list[dict[int, list[int]]], part: NDArray[np.int64]) -> NDArray[np.int32]:
    """Where the programs of pieces' data are. programs: of every part of the boundary, by columns."""
    rows = np.zeros((len(programs), DATA_COLUMNS), np.int32)
    for row, found in zip(rows, programs, strict=True):
        for column, (first, last) in found.items():
            row[column : column + 2] = first, last
    return rows[part]


def _joined(tables: list[NDArray[Any]]) -> NDArray[Any]:
    """Tables behind each other, and a last row that nobody reads: not all devices have arrays without any."""
    return np.concatenate([*tables, np.zeros_like(tables[0], shape=(1, tables[0].shape[1]))])
