"""Walks on an NVIDIA GPU: packing problems, launching, and results that stay on the device."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.geometry import Grid
from mc2.problems import Atoms
from mc2.walks.plan import SAMPLINGS, Plan

if TYPE_CHECKING:
    from mc2.walks.engine import Options, Place
    from mc2.walks.tasks import Progress

BLOCK = 128
"""Threads per block."""
POINT_REGISTERS = 32
"""Registers of a program on the GPU, where they are a thread's own memory."""
SEGMENT = 32
"""Most walks that a thread does for its point."""
BUSY_WARPS = 20_000
"""Warps that keep a large GPU busy to the end of a launch."""
WAVE = 1 << 24
"""Partial sums on the device at a time."""
MOST_WALKS = (1 << 31) - 1

Empty = Callable[[tuple[int, ...], Any], Any]
"""Makes a device array of a shape and a type."""


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

    programs = [function.program for function in plan.functions if function is not None]
    return all(
        program is not None and program.registers <= POINT_REGISTERS and CALL not in program.code[:, 0]
        for program in programs
    )


@dataclass(frozen=True)
class Packed:
    """Problems in the arrays that the kernels read; and which of them each kind of kernel is for.

    Made of NumPy arrays, so that another process can do the packing, until they are uploaded. constants, operators:
    of exact solutions that are tables of atoms, in float64. exact: whether all of them are.
    """

    arrays: tuple[Any, ...]
    constants: Any
    operators: Any
    groups: dict[str, Any]
    count: int
    exact: bool

    def upload(self, put: Callable[[NDArray[Any]], Any] | None = None) -> "Packed":
        """The same on the device. put: what takes an array there."""
        from numba import cuda

        up = put or cuda.to_device
        groups = {kind: up(numbers) for kind, numbers in self.groups.items()}
        arrays = tuple(map(up, self.arrays))
        return Packed(arrays, up(self.constants), up(self.operators), groups, self.count, self.exact)


def pack(
    plans: Sequence[Plan], instances: Sequence[int], options: "Options", walks: Sequence[int] | None = None
) -> Packed:
    """Put the programs of many problems behind each other. walks: the most for each of them, if they differ."""
    from mc2.walks.random_kernels import make_key

    domains, functions = _Pile(4), _Pile(5)
    programs = np.zeros((len(plans), 13), np.int32)
    shapes = np.zeros((len(plans), 12), np.float32)
    rules = np.zeros((len(plans), 6), np.float32)
    operators = np.zeros((len(plans), 3))
    groups: dict[str, list[int]] = {}
    for number, plan in enumerate(plans):
        program = plan.problem.domain.program
        programs[number, 0:2] = domains.add(program.code, program.constants, _domain_offsets(program.code))
        programs[number, 8:11], shapes[number] = _two_shapes(program.code, program.constants)
        operator = _table_operator(plan) if programs[number, 8] >= 0 else None
        if operator is None:
            for index, function in enumerate(plan.functions):
                if function is not None and function.program is not None:
                    code, constants = function.program.code, function.program.constants
                    programs[number, 2 + 2 * index : 4 + 2 * index] = functions.add(code, constants, _offsets(code))
            kind = "general" if plan.source is not None else "laplace"
        else:
            table = plan.problem.boundary.program
            terms = table.code[_offsets(table.code)]  # type: ignore[union-attr]
            programs[number, 2:4] = functions.add(terms, table.constants)  # type: ignore[union-attr]
            operators[number] = plan.problem.operator() if plan.source is not None else 0.0
            kind = {"laplace": "laplace table", "biharmonic": "biharmonic table"}.get(plan.name, "table")
        groups.setdefault(kind, []).append(number)
        programs[number, 11:13] = plan.family, MOST_WALKS if walks is None else walks[number]
        rules[number] = plan.parameter, options.epsilon, plan.largest, *(operator or (0.0, 0.0, 0.0))
    keys = np.stack([make_key(options.seed, instance) for instance in instances])
    arrays = (*domains.arrays(), shapes, *functions.arrays(), programs, rules, keys)
    chosen = {kind: np.array(numbers, np.int32) for kind, numbers in groups.items()}
    exact = not {"general", "laplace"} & groups.keys()
    return Packed(arrays, functions.exact_constants(), operators, chosen, len(plans), exact)


def _table_operator(plan: Plan) -> tuple[float, float, float] | None:
    """The operator that makes the source from the boundary's atoms, if all functions are made of the same atoms."""
    source, boundary, laplacian = plan.functions
    if not isinstance(boundary, Atoms) or boundary.operator != (1.0, 0.0, 0.0):
        return None
    for function in (source, laplacian):
        if function is not None and not (isinstance(function, Atoms) and function.atoms == boundary.atoms):
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
        code = np.concatenate(self.codes) if self.codes else np.zeros((1, self.width), np.int32)
        return code, self.exact_constants().astype(np.float32)

    def exact_constants(self) -> NDArray[np.float64]:
        return np.concatenate(self.constants) if self.constants else np.zeros(1)


def _two_shapes(code: NDArray[np.int32], constants: NDArray[np.float64]) -> tuple[list[int], NDArray[np.float64]]:
    """Two shapes, their Boolean (−1 for a single shape) and their constants; −1 throughout for any other domain."""
    from mc2.geometry.kernels import POLYGON, UNION

    found = np.zeros(12)
    operations = code[:, 0]
    if len(code) == 1 and operations[0] < POLYGON:
        found[:6] = constants[code[0, 2] : code[0, 2] + 6]
        return [int(operations[0]), -1, -1], found
    if len(code) == 3 and operations[0] < POLYGON and operations[1] < POLYGON and operations[2] >= UNION:
        order = [0, 1] if code[2, 2] == code[0, 1] else [1, 0]  # the Boolean may name them the other way round
        for place, row in enumerate(order):
            found[6 * place : 6 * place + 6] = constants[code[row, 2] : code[row, 2] + 6]
        return [int(operations[order[0]]), int(operations[order[1]]), int(operations[2])], found
    return [-1, -1, -1], found


def _domain_offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.geometry.kernels import UNION

    return code[:, 0] < UNION


def _offsets(code: NDArray[np.int32]) -> NDArray[np.bool_]:
    from mc2.problems.kernels import CONSTANT, FIRST_TERM, SEPARABLE

    operation = code[:, 0]
    return ((operation >= FIRST_TERM) & (operation <= CONSTANT)) | (operation == SEPARABLE)


def _segments(budgets: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(first walk, walks) of every segment, none across a budget; and which budget ends with it, or −1."""
    edges = sorted({*range(0, budgets[-1], SEGMENT), *budgets})
    pieces = np.array([(first, last - first) for first, last in pairwise(edges)], np.int32)
    where = {budget: index for index, budget in enumerate(budgets)}
    return pieces, np.array([where.get(last, -1) for last in edges[1:]], np.int32)


def _span(kind: str, points: int, walks: int) -> int:
    """Points per warp: many make a long queue that keeps its threads busy, but there must be enough warps as well."""
    from mc2.walks.cuda_kernels import ITEMS, POINTS

    best = {"laplace table": 32, "biharmonic table": 64}.get(kind, 128)  # as measured at 8 walks
    return 32 * max(1, min(best * 8 // (32 * walks), ITEMS // (32 * walks), POINTS // 32, points // (32 * BUSY_WARPS)))


@lru_cache(maxsize=16)
def _stream(kind: str) -> Any:
    """A stream for every kind of problems, so that they run beside each other."""
    from numba import cuda

    return cuda.stream()


@lru_cache(maxsize=16)
def _device_segments(budgets: tuple[int, ...], first: int, count: int) -> tuple[Any, Any, NDArray[np.int32]]:
    """Segments, and the budgets that they end, on the device."""
    from numba import cuda

    pieces, ends = _segments(budgets)
    part = pieces[first : first + count]
    return cuda.to_device(part), cuda.to_device(ends[first : first + count]), part


@lru_cache(maxsize=4)
def _workspace(name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """Device memory that is used again by launches of the same shape: asking for it takes longer than a walk."""
    from numba import cuda

    return cuda.device_array(shape, dtype)


@contextmanager
def quietly() -> Iterator[None]:
    """Without numba's advice on small launches: a small problem is a small launch."""
    from numba.core.errors import NumbaPerformanceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        yield


@quietly()
def launch(
    packed: Packed,
    x: Any,
    y: Any,
    keys: Any,
    budgets: Sequence[int],
    options: "Options",
    progress: "Progress | None" = None,
    empty: Empty | None = None,
) -> tuple[Any, Any, Any]:
    """Walk all uploaded problems from all points. Device arrays: sums [problem, budget, point, 2], mask, and counts.

    The sums are good until the next launch, which uses the same memory again. empty: makes the arrays that are not.
    """
    from numba import cuda

    from mc2.walks.cuda_kernels import WALKS, WARPS, add_segments, measure

    points = x.size
    segments = len(_segments(budgets)[0])
    wave = max(1, min(65_535, WAVE // (points * packed.count)))
    empty = empty or cuda.device_array
    mask, counts = empty((packed.count, points), np.uint8), empty((packed.count, 3), np.int64)
    starts = _workspace("starts", (packed.count, points), np.float32)
    blocks = -(-points // BLOCK)
    domain_code, domain_constants, _, _, _, programs, _, _ = packed.arrays
    measure[(blocks, packed.count), BLOCK](domain_code, domain_constants, programs, x, y, starts, mask, counts)
    if segments > 1:
        result = cuda.device_array((packed.count, len(budgets), points, 2), np.float64)
        running = cuda.device_array((packed.count, points, 2), np.float64)
    rules = (np.uint32(options.max_steps), np.int32(SAMPLINGS.index(options.sampling)), options.stratify)
    for first in range(0, segments, wave):
        device_part, ends, part = _device_segments(tuple(budgets), first, wave)
        sums = _workspace("sums", (packed.count, len(part), points, 2), np.float64)
        ready = cuda.event(timing=False)
        ready.record()
        for kind, chosen in packed.groups.items():  # beside each other, between what was and what will be launched
            span = _span(kind, points * packed.count * len(part), int(part[:, 1].max()))
            stream, done = _stream(kind), cuda.event(timing=False)
            ready.wait(stream)
            WALKS[kind][(-(-points // (span * WARPS)), chosen.size, len(part)), 32 * WARPS, stream](
                *packed.arrays, chosen, x, y, keys, starts, device_part, np.int32(span), *rules, sums, counts
            )
            done.record(stream)
            done.wait()
        if segments == 1:
            return sums, mask, counts
        add_segments[(blocks, packed.count), BLOCK](sums, ends, first == 0, running, result)
        if progress:
            cuda.synchronize()
            progress(int(part[-1].sum()) * points * packed.count, budgets[-1] * points * packed.count)
    return result, mask, counts


@quietly()
def take_fields(
    packed: Packed, grid: Grid, budgets: Sequence[int], options: "Options", empty: Empty | None = None
) -> tuple[Any, Any, Any, Any]:
    """Walk uploaded problems on a grid: mean and variance [problem, budget, n, n], mask [problem, n, n], counts."""
    from numba import cuda

    from mc2.walks.cuda_kernels import take_moments

    empty = empty or cuda.device_array
    x, y, keys = grid_points(grid)
    result, mask, counts = launch(packed, x, y, keys, budgets, options, empty=empty)
    shape = (packed.count, len(budgets), x.size)
    mean, variance = empty(shape, np.float32), empty(shape, np.float32)
    take_moments[(-(-x.size // BLOCK), packed.count, len(budgets)), BLOCK](
        result, mask, packed.arrays[5], _device_budgets(tuple(budgets)), mean, variance
    )
    fields, masks = (*shape[:2], *grid.shape), (packed.count, *grid.shape)
    return mean.reshape(fields), variance.reshape(fields), mask.reshape(masks), counts


@quietly()
def take_distances(packed: Packed, grid: Grid, empty: Empty | None = None) -> Any:
    """Signed distances [problem, n, n] of the pixels of a grid."""
    from numba import cuda

    from mc2.walks.cuda_kernels import measure

    empty = empty or cuda.device_array
    x, y, _ = grid_points(grid)
    shape = (packed.count, x.size)
    found, mask, counts = empty(shape, np.float32), empty(shape, np.uint8), empty((packed.count, 3), np.int64)
    code, constants, programs = packed.arrays[0], packed.arrays[1], packed.arrays[5]
    measure[(-(-x.size // BLOCK), packed.count), BLOCK](code, constants, programs, x, y, found, mask, counts)
    return found.reshape((packed.count, *grid.shape))


@quietly()
def take_exact(packed: Packed, grid: Grid, mask: Any, empty: Empty | None = None) -> tuple[Any, Any]:
    """The exact solution and the source [problem, n, n] of uploaded problems that are tables of atoms."""
    from numba import cuda

    from mc2.walks.cuda_kernels import exact_fields

    empty = empty or cuda.device_array
    x, y = exact_points(grid)
    shape = (packed.count, x.size)
    u, f = empty(shape, np.float32), empty(shape, np.float32)
    code, programs = packed.arrays[3], packed.arrays[5]
    exact_fields[(-(-x.size // BLOCK), packed.count), BLOCK](
        code, packed.constants, programs, packed.operators, x, y, mask.reshape(shape), u, f
    )
    fields = (packed.count, *grid.shape)
    return u.reshape(fields), f.reshape(fields)


@quietly()
def take_extended(packed: Packed, grid: Grid, empty: Empty | None = None) -> tuple[Any, Any]:
    """Signed distances and extended boundary data [problem, n, n] of uploaded problems that are tables of atoms."""
    from numba import cuda

    from mc2.walks.cuda_kernels import extended_fields

    empty = empty or cuda.device_array
    x, y = exact_points(grid)
    shape = (packed.count, x.size)
    distance, boundary = empty(shape, np.float32), empty(shape, np.float32)
    domain_code, domain_constants, _, code, _, programs, _, _ = packed.arrays
    extended_fields[(-(-x.size // BLOCK), packed.count), BLOCK](
        domain_code, domain_constants, code, packed.constants, programs, x, y, distance, boundary
    )
    fields = (packed.count, *grid.shape)
    return distance.reshape(fields), boundary.reshape(fields)


@lru_cache(maxsize=16)
def _device_budgets(budgets: tuple[int, ...]) -> Any:
    from numba import cuda

    return cuda.to_device(np.array(budgets, np.int64))


@cache
def exact_points(grid: Grid) -> tuple[Any, Any]:
    """Coordinates of all pixels of a grid, in float64, on the device."""
    from numba import cuda

    x, y = grid.points()
    return cuda.to_device(x.ravel()), cuda.to_device(y.ravel())


@cache
def grid_points(grid: Grid) -> tuple[Any, Any, Any]:
    """Coordinates in float32 and keys of all pixels of a grid, on the device."""
    from numba import cuda

    x, y = exact_points(grid)
    keys = np.arange(x.size, dtype=np.uint32)
    x, y = (array.copy_to_host().astype(np.float32) for array in (x, y))
    return cuda.to_device(x), cuda.to_device(y), cuda.to_device(keys)


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

    packed = pack([plan], [instance], options).upload()
    x, y, keys = (cuda.to_device(array) for array in (place.x, place.y, place.keys))
    result, _, counts = launch(packed, x, y, keys, budgets, options, progress)
    return np.ascontiguousarray(result.copy_to_host()[0].transpose(1, 0, 2)), counts.copy_to_host()[0]
