"""Walks on an NVIDIA GPU: packing problems, launching, and results that stay on the device."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Grid
from mc2.walks.plan import SAMPLINGS, Plan

if TYPE_CHECKING:
    from mc2.walks.engine import Options, Place
    from mc2.walks.tasks import Progress

BLOCK = 128
"""Threads per block."""
SEGMENT = 32
"""Most walks that a thread does for its point."""
WAVE = 1 << 24
"""Partial sums on the device at a time."""


@cache
def unavailable() -> str:
    """Why CUDA cannot be used here, or nothing if it can."""
    try:
        from numba import cuda
    except ImportError:
        return "numba-cuda is not installed (pip install 'mc2-pde[cuda]')"
    try:
        available = cuda.is_available()
    except Exception as error:
        return f"numba-cuda does not start ({str(error).splitlines()[0][:80]})"
    return "" if available else "no NVIDIA GPU was found"


def can_run(plan: Plan) -> bool:
    """Whether all functions of a plan can run on the GPU: formulas and atoms can, other Python functions cannot."""
    from mc2.problems.kernels import CALL

    limit = 32  # cuda_kernels.POINT_REGISTERS, which only loads where CUDA does
    programs = [function.program for function in plan.functions if function is not None]
    return all(
        program is not None and program.registers <= limit and CALL not in program.code[:, 0] for program in programs
    )


@dataclass(frozen=True)
class Packed:
    """Problems in the arrays that `cuda_kernels.walk_grid` reads, on the device."""

    arrays: tuple[Any, ...]
    count: int


def pack(plans: Sequence[Plan], instances: Sequence[int], options: "Options") -> Packed:
    """Put the programs of many problems behind each other."""
    from numba import cuda

    from mc2.walks.random_kernels import make_key

    domains, functions = _Pile(4), _Pile(5)
    programs = np.zeros((len(plans), 12), np.int32)
    rules = np.zeros((len(plans), 3), np.float32)
    for number, plan in enumerate(plans):
        program = plan.problem.domain.program
        programs[number, 0:2] = domains.add(program.code, program.constants, _domain_offsets(program.code))
        for index, function in enumerate(plan.functions):
            if function is not None and function.program is not None:
                code, constants = function.program.code, function.program.constants
                programs[number, 2 + 2 * index : 4 + 2 * index] = functions.add(code, constants, _offsets(code))
                programs[number, 9 + index] = _kind(code)
        programs[number, 8] = plan.family
        rules[number] = plan.parameter, options.epsilon, plan.largest
    keys = np.stack([make_key(options.seed, instance) for instance in instances])
    arrays = (*domains.arrays(), *functions.arrays(), programs, rules, keys)
    return Packed(tuple(cuda.to_device(array) for array in arrays), len(plans))


class _Pile:
    """Instructions and constants of many programs behind each other."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.codes: list[NDArray[np.int32]] = []
        self.constants: list[NDArray[np.float64]] = []
        self.rows = 0
        self.numbers = 0

    def add(self, code: NDArray[np.int32], constants: NDArray[np.float64], offsets: NDArray[np.bool_]) -> list[int]:
        """Append a program; returns its first row and the row after its last. offsets: rows whose a is an offset."""
        code = code.copy()
        code[offsets, 2] += self.numbers
        self.codes.append(code)
        self.constants.append(constants)
        first = self.rows
        self.rows += len(code)
        self.numbers += len(constants)
        return [first, self.rows]

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        if not self.codes:
            return np.zeros((1, self.width), np.int32), np.zeros(1, np.float32)
        return np.concatenate(self.codes), np.concatenate(self.constants).astype(np.float32)


def _domain_offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.geometry.kernels import UNION

    return code[:, 0] < UNION


def _offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.problems.kernels import CONSTANT, FIRST_TERM, SEPARABLE

    operation = code[:, 0]
    return ((operation >= FIRST_TERM) & (operation <= CONSTANT)) | (operation == SEPARABLE)


def _kind(code: NDArray[np.int32]) -> int:
    """Whether a program only adds terms up."""
    from mc2.problems.kernels import CONSTANT, FIRST_TERM, OPCODE, SEPARABLE
    from mc2.walks.cuda_kernels import GENERAL, SUM_OF_TERMS

    operation = code[:, 0]
    terms = ((operation >= FIRST_TERM) & (operation < CONSTANT)) | (operation == SEPARABLE)
    sums = (operation == OPCODE["add"]) | (operation == OPCODE["copy"])
    return SUM_OF_TERMS if terms.any() and np.all(terms | sums) else GENERAL


def _segments(budgets: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(first walk, walks) of every segment, none across a budget; and which budget ends with it, or −1."""
    edges = sorted({*range(0, budgets[-1], SEGMENT), *budgets})
    pieces = np.array([(first, last - first) for first, last in pairwise(edges)], np.int32)
    where = {budget: index for index, budget in enumerate(budgets)}
    return pieces, np.array([where.get(last, -1) for last in edges[1:]], np.int32)


def launch(
    packed: Packed,
    x: Any,
    y: Any,
    keys: Any,
    budgets: Sequence[int],
    options: "Options",
    progress: "Progress | None" = None,
) -> tuple[Any, Any, Any]:
    """Walk all problems from all points. Device arrays: sums [problem, budget, point, 2], mask, and counts."""
    from numba import cuda

    from mc2.walks.cuda_kernels import add_segments, walk_grid

    points = x.size
    pieces, ends = _segments(budgets)
    wave = max(1, min(65_535, WAVE // (points * packed.count)))
    result = cuda.device_array((packed.count, len(budgets), points, 2), np.float64)
    running = cuda.device_array((packed.count, points, 2), np.float64)
    mask = cuda.device_array((packed.count, points), np.uint8)
    counts = cuda.to_device(np.zeros((packed.count, 3), np.int64))
    blocks = -(-points // BLOCK)
    sampling = np.int32(SAMPLINGS.index(options.sampling))
    for first in range(0, len(pieces), wave):
        part = cuda.to_device(pieces[first : first + wave])
        sums = cuda.device_array((packed.count, len(part), points, 2), np.float64)
        walk_grid[(blocks, packed.count, len(part)), BLOCK](
            *packed.arrays, x, y, keys, part, np.uint32(options.max_steps), sampling, options.stratify, sums, mask,
            counts,
        )  # fmt: skip
        last = cuda.to_device(ends[first : first + wave])
        add_segments[(blocks, packed.count), BLOCK](sums, last, first == 0, running, result)
        if progress:
            cuda.synchronize()
            done = int(pieces[min(first + wave, len(pieces)) - 1].sum())
            progress(done * points * packed.count, budgets[-1] * points * packed.count)
    return result, mask, counts


@cache
def grid_points(grid: Grid) -> tuple[Any, Any, Any]:
    """Coordinates and keys of all pixels of a grid, on the device."""
    from numba import cuda

    x, y = grid.points()
    keys = np.arange(x.size, dtype=np.uint32)
    return tuple(cuda.to_device(array) for array in (x.ravel().astype(np.float32), y.ravel().astype(np.float32), keys))


def run_cuda(
    plan: Plan,
    place: "Place",
    budgets: Sequence[int],
    options: "Options",
    instance: int,
    progress: "Progress | None",
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """sums [point, budget, 2] and counts of one problem: the GPU's `run_cpu`."""
    from numba import cuda

    packed = pack([plan], [instance], options)
    x, y, keys = (cuda.to_device(array) for array in (place.x, place.y, place.keys))
    result, _, counts = launch(packed, x, y, keys, budgets, options, progress)
    return np.ascontiguousarray(result.copy_to_host()[0].transpose(1, 0, 2)), counts.copy_to_host()[0]
