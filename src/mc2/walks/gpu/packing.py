"""Problems packed for an NVIDIA GPU: their programs behind each other, in the arrays that the kernels read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.functions import TermSum
from mc2.walks.gpu.columns import (
    BOOLEAN,
    BOUNDARY,
    DOMAIN,
    FAMILY,
    LAPLACIAN,
    MOST_WALKS,
    PROGRAM_COLUMNS,
    RULE_COLUMNS,
    SHAPE_1,
    SHAPE_NUMBERS,
    SOURCE,
    TABLE,
)
from mc2.walks.plan import Plan

if TYPE_CHECKING:
    from mc2.functions import Function
    from mc2.walks.gpu.star_packing import StarArrays
    from mc2.walks.options import Options

STARS = "stars"
"""The kind of problems whose boundaries reflect walks."""
UNLIMITED = (1 << 31) - 1
"""Walks from a point, where nothing else limits them."""


class PackedArrays(NamedTuple):
    """What the kernels read, in the order of their arguments: on this machine, or on the device.

    domain_code, domain_constants: programs of the domains, behind each other.
    shapes: constants of the two shapes of each domain that has no more.
    code, constants: programs of the functions, behind each other.
    programs, rules: a row for each problem, see `mc2.walks.gpu.columns`.
    keys: of the problems' random numbers.
    """

    domain_code: Any
    domain_constants: Any
    shapes: Any
    code: Any
    constants: Any
    programs: Any
    rules: Any
    keys: Any


@dataclass(frozen=True)
class Packed:
    """Problems in the arrays that the kernels read; and which of them each kind of kernel is for.

    Made of NumPy arrays, so that another process can do the packing, until they are uploaded.

    constants, operators: of exact solutions that are tables of atoms, in float64.
    exact: whether all of them are.
    stars: the boundaries of those that reflect walks, if there are such.
    """

    arrays: PackedArrays
    constants: Any
    operators: Any
    groups: dict[str, Any]
    count: int
    exact: bool
    stars: "StarArrays | None" = None

    def upload(self, put: Callable[[NDArray[Any]], Any] | None = None) -> "Packed":
        """These problems on the device.

        put: what takes an array there.
        """
        from numba import cuda

        up = put or cuda.to_device
        groups = {kind: up(numbers) for kind, numbers in self.groups.items()}
        arrays = PackedArrays(*map(up, self.arrays))
        stars = None if self.stars is None else type(self.stars)(*map(up, self.stars))
        return Packed(arrays, up(self.constants), up(self.operators), groups, self.count, self.exact, stars)


def pack(
    plans: Sequence[Plan],
    instances: Sequence[int],
    options: "Options",
    walks: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> Packed:
    """Put the programs of many problems behind each other.

    walks: the most for each of them, if they differ.
    steps: where walks that reflect are cut off, for each, if not where the options say.
    """
    from mc2.walks.random_kernels import make_key

    domains, functions = _Pile(4), _Pile(5)
    programs = np.zeros((len(plans), PROGRAM_COLUMNS), np.int32)
    shapes = np.zeros((len(plans), 2 * SHAPE_NUMBERS), np.float32)
    rules = np.zeros((len(plans), RULE_COLUMNS), np.float32)
    operators = np.zeros((len(plans), 3))
    groups: dict[str, list[int]] = {}
    for number, plan in enumerate(plans):
        shape = plan.problem.domain.program
        programs[number, DOMAIN : DOMAIN + 2] = domains.add(shape.code, shape.constants, _domain_offsets(shape.code))
        programs[number, SHAPE_1 : BOOLEAN + 1], shapes[number] = _two_shapes(shape.code, shape.constants)
        tabled = programs[number, SHAPE_1] >= 0 and not plan.problem.reflecting
        operator = _table_operator(plan) if tabled else None
        table = None if operator is None else plan.problem.boundary
        if plan.problem.reflecting:
            kind, table = STARS, plan.problem.exact
        elif operator is None:
            for first, function in zip((SOURCE, BOUNDARY, LAPLACIAN), plan.functions, strict=True):
                if function is not None and function.program is not None:
                    programs[number, first : first + 2] = functions.add_function(function)
            kind = "general" if plan.source is not None else "laplace"
        else:
            kind = {"laplace": "laplace table", "biharmonic": "biharmonic table"}.get(plan.name, "table")
        if isinstance(table, TermSum):
            program = table.program
            programs[number, TABLE : TABLE + 2] = functions.add(program.code[_offsets(program.code)], program.constants)
            operators[number] = plan.problem.operator.coefficients if plan.problem.source is not None else 0.0
        groups.setdefault(kind, []).append(number)
        programs[number, FAMILY : MOST_WALKS + 1] = plan.family, UNLIMITED if walks is None else walks[number]
        rules[number] = plan.parameter, options.shell(plan.problem.domain), plan.largest, *(operator or (0.0, 0.0, 0.0))
    stars = None
    if STARS in groups:
        from mc2.walks.gpu.star_packing import pack_stars

        most = steps or [options.max_steps] * len(plans)
        stars = pack_stars(plans, groups[STARS], options, most, functions.add_function)
    keys = np.stack([make_key(options.seed, instance) for instance in instances])
    arrays = PackedArrays(*domains.arrays(), shapes, *functions.arrays(), programs, rules, keys)
    chosen = {kind: np.array(numbers, np.int32) for kind, numbers in groups.items()}
    exact = not {"general", "laplace", STARS} & groups.keys()
    return Packed(arrays, functions.exact_constants(), operators, chosen, len(plans), exact, stars)


def _table_operator(plan: Plan) -> tuple[float, float, float] | None:
    """The operator that makes the source from the boundary's atoms, if all functions are made of the same atoms."""
    source, boundary, laplacian = plan.functions
    if not isinstance(boundary, TermSum) or boundary.operator != (1.0, 0.0, 0.0):
        return None
    for function in (source, laplacian):
        if function is not None and not (isinstance(function, TermSum) and function.terms == boundary.terms):
            return None
    if laplacian is not None and laplacian.operator != (0.0, 1.0, 0.0):  # type: ignore[attr-defined]
        return None
    operator = source.operator if source is not None else (0.0, 0.0, 0.0)  # type: ignore[attr-defined]
    return operator if plan.name == "biharmonic" or operator[2] == 0 else None


class _Pile:
    """Instructions and constants of many programs behind each other."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.codes: list[NDArray[np.int32]] = []
        self.constants: list[NDArray[np.float64]] = []
        self.rows = 0
        self.numbers = 0

    def add(
        self, code: NDArray[np.int32], constants: NDArray[np.float64], offsets: NDArray[np.bool_] | slice = slice(None)
    ) -> list[int]:
        """Append a program; returns its first row and the row after its last.

        offsets: rows whose a is an offset.
        """
        code = code.copy()
        code[offsets, 2] += self.numbers
        self.codes.append(code)
        self.constants.append(constants)
        first = self.rows
        self.rows += len(code)
        self.numbers += len(constants)
        return [first, self.rows]

    def add_function(self, function: "Function") -> list[int]:
        """Append a function's program."""
        program = function.program
        assert program is not None
        return self.add(program.code, program.constants, _offsets(program.code))

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        code = np.concatenate(self.codes) if self.codes else np.zeros((1, self.width), np.int32)
        return code, self.exact_constants().astype(np.float32)

    def exact_constants(self) -> NDArray[np.float64]:
        return np.concatenate(self.constants) if self.constants else np.zeros(1)


def _two_shapes(code: NDArray[np.int32], constants: NDArray[np.float64]) -> tuple[list[int], NDArray[np.float64]]:
    """Two shapes, their Boolean (−1 for a single shape) and their constants; −1 throughout for any other domain."""
    from mc2.geometry.kernels import UNION
    from mc2.geometry.shape_kernels import POLYGON

    found = np.zeros(2 * SHAPE_NUMBERS)
    operations = code[:, 0]
    if len(code) == 1 and operations[0] < POLYGON:
        found[:SHAPE_NUMBERS] = constants[code[0, 2] :][:SHAPE_NUMBERS]
        return [int(operations[0]), -1, -1], found
    if len(code) == 3 and operations[0] < POLYGON and operations[1] < POLYGON and operations[2] >= UNION:
        order = [0, 1] if code[2, 2] == code[0, 1] else [1, 0]  # the Boolean may name them the other way round
        for place, row in enumerate(order):
            found[SHAPE_NUMBERS * place :][:SHAPE_NUMBERS] = constants[code[row, 2] :][:SHAPE_NUMBERS]
        return [int(operations[order[0]]), int(operations[order[1]]), int(operations[2])], found
    return [-1, -1, -1], found


def _domain_offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.geometry.kernels import UNION

    return code[:, 0] < UNION


def _offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.functions.kernels import CONSTANT, FIRST_TERM, SEPARABLE

    operation = code[:, 0]
    return ((operation >= FIRST_TERM) & (operation <= CONSTANT)) | (operation == SEPARABLE)
