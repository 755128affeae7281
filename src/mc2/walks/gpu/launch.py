"""Walks on an NVIDIA GPU: launching, and results that stay on the device."""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.walks.gpu.packing import STARS, Packed, pack
from mc2.walks.plan import SAMPLINGS, Plan

if TYPE_CHECKING:
    from mc2.walks.options import Options
    from mc2.walks.run import Run
    from mc2.walks.schedule import Progress, Tally

BLOCK = 128
"""Threads per block."""
POINT_REGISTERS = 32
"""Registers of a program on the GPU, where they are a thread's own memory."""
SEGMENT = 32
"""Most walks that a thread does for its point."""
BUSY_WARPS = 20_000
"""Warps that keep a large GPU busy to the end of a launch."""
STAR_BLOCKS = 1 << 11
"""Most blocks for walks that reflect, which take points from a queue: more than a large GPU holds at a time."""
WAVE = 1 << 24
"""Partial sums on the device at a time."""

Empty = Callable[[tuple[int, ...], Any], Any]
"""Makes a device array of a shape and a type."""


@cache
def unavailable() -> str:
    """Why CUDA cannot be used here, or nothing if it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own parts, when it is loaded: not ours to mend
        try:
            from numba import cuda
        except ImportError:
            return "numba-cuda is not installed (pip install 'mc2-pde[cuda]')"
        try:
            available = cuda.is_available()
        except Exception as error:
            return f"numba-cuda does not start ({str(error).splitlines()[0][:80]})"
        if available and "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
            from numba.cuda import dispatcher

            dispatcher.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few points are no mistake of the user's
    return "" if available else "no NVIDIA GPU was found"


def can_run(plan: Plan) -> bool:
    """Whether all functions of a plan can run on the GPU: formulas and atoms can, other Python functions cannot."""
    from mc2.functions.kernels import CALL

    functions = [function for function in plan.functions if function is not None]
    if plan.problem.reflecting:
        from mc2.walks.gpu.star_packing import data_programs

        given = [function for one in plan.problem.conditions for function in data_programs(one).values()]
        functions = [*given, *([] if plan.source is None else [plan.source])]
    programs = [function.program for function in functions]
    return all(
        program is not None and program.registers <= POINT_REGISTERS and CALL not in program.code[:, 0]
        for program in programs
    )


def _segments(budgets: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(first walk, walks) of every segment, none across a budget; and which budget ends with it, or −1."""
    edges = sorted({*range(0, budgets[-1], SEGMENT), *budgets})
    pieces = np.array([(first, last - first) for first, last in pairwise(edges)], np.int32)
    where = {budget: index for index, budget in enumerate(budgets)}
    return pieces, np.array([where.get(last, -1) for last in edges[1:]], np.int32)


def _span(kind: str, points: int, walks: int) -> int:
    """Points per warp: many make a long queue that keeps its threads busy, but there must be enough warps as well."""
    from mc2.walks.gpu.cuda_kernels import ITEMS, POINTS

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
    everywhere: bool = False,
) -> tuple[Any, Any, Any]:
    """Walk all uploaded problems from all points. Device arrays: sums [problem, budget, point, 2], mask, and counts.

    The sums are good until the next launch, which uses the same memory again. empty: makes the arrays that are not.
    everywhere: walks that reflect start even from points that seem to be on the boundary or beyond.
    """
    from numba import cuda

    from mc2.walks.gpu.cuda_kernels import WALKS, WARPS, measure
    from mc2.walks.gpu.field_kernels import add_segments

    points = x.size
    segments = len(_segments(budgets)[0])
    wave = max(1, min(65_535, WAVE // (points * packed.count)))
    empty = empty or cuda.device_array
    mask, counts = empty((packed.count, points), np.uint8), empty((packed.count, 3), np.int64)
    starts = _workspace("starts", (packed.count, points), np.float32)
    blocks = -(-points // BLOCK)
    own = packed.arrays
    measure[(blocks, packed.count), BLOCK](
        own.domain_code, own.domain_constants, own.programs, x, y, starts, mask, counts
    )
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
            stream, done = _stream(kind), cuda.event(timing=False)
            ready.wait(stream)
            if kind == STARS:
                assert packed.stars is not None
                from mc2.walks.gpu.star_cuda_kernels import walk_stars

                queue = cuda.to_device(np.zeros(1, np.int64))
                walk_stars[min(STAR_BLOCKS, -(-points * chosen.size * len(part) // BLOCK)), BLOCK, stream](
                    *packed.stars, own.code, own.constants, own.programs, own.keys, chosen, x, y, keys, starts,
                    everywhere, device_part, options.stratify, queue, sums, counts,
                )  # fmt: skip
                done.record(stream)
                done.wait()
                continue
            span = _span(kind, points * packed.count * len(part), int(part[:, 1].max()))
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
def walk_fields(
    packed: Packed, grid: Grid, budgets: Sequence[int], options: "Options", empty: Empty | None = None
) -> tuple[Any, Any, Any, Any]:
    """Walk uploaded problems on a grid: mean and variance [problem, budget, n, n], mask [problem, n, n], counts."""
    from numba import cuda

    from mc2.walks.gpu.field_kernels import take_moments

    empty = empty or cuda.device_array
    x, y, keys = grid_points(grid)
    result, mask, counts = launch(packed, x, y, keys, budgets, options, empty=empty)
    shape = (packed.count, len(budgets), x.size)
    mean, variance = empty(shape, np.float32), empty(shape, np.float32)
    take_moments[(-(-x.size // BLOCK), packed.count, len(budgets)), BLOCK](
        result, mask, packed.arrays.programs, _device_budgets(tuple(budgets)), mean, variance
    )
    fields, masks = (*shape[:2], *grid.shape), (packed.count, *grid.shape)
    return mean.reshape(fields), variance.reshape(fields), mask.reshape(masks), counts


@quietly()
def evaluate_distances(packed: Packed, grid: Grid, empty: Empty | None = None) -> Any:
    """Signed distances [problem, n, n] of the pixels of a grid."""
    from numba import cuda

    from mc2.walks.gpu.cuda_kernels import measure

    empty = empty or cuda.device_array
    x, y, _ = grid_points(grid)
    shape = (packed.count, x.size)
    found, mask, counts = empty(shape, np.float32), empty(shape, np.uint8), empty((packed.count, 3), np.int64)
    own = packed.arrays
    measure[(-(-x.size // BLOCK), packed.count), BLOCK](
        own.domain_code, own.domain_constants, own.programs, x, y, found, mask, counts
    )
    return found.reshape((packed.count, *grid.shape))


@quietly()
def evaluate_exact(packed: Packed, grid: Grid, mask: Any, empty: Empty | None = None) -> tuple[Any, Any]:
    """The exact solution and the source [problem, n, n] of uploaded problems that are tables of atoms."""
    from numba import cuda

    from mc2.walks.gpu.field_kernels import exact_fields

    empty = empty or cuda.device_array
    x, y = exact_points(grid)
    shape = (packed.count, x.size)
    u, f = empty(shape, np.float32), empty(shape, np.float32)
    exact_fields[(-(-x.size // BLOCK), packed.count), BLOCK](
        packed.arrays.code, packed.constants, packed.arrays.programs, packed.operators, x, y, mask.reshape(shape), u, f
    )
    fields = (packed.count, *grid.shape)
    return u.reshape(fields), f.reshape(fields)


@quietly()
def evaluate_boundary(packed: Packed, grid: Grid, empty: Empty | None = None) -> tuple[Any, Any]:
    """Signed distances and extended boundary data [problem, n, n] of uploaded problems that are tables of atoms."""
    from numba import cuda

    from mc2.walks.gpu.field_kernels import boundary_fields

    empty = empty or cuda.device_array
    x, y = exact_points(grid)
    shape = (packed.count, x.size)
    distance, boundary = empty(shape, np.float32), empty(shape, np.float32)
    own = packed.arrays
    boundary_fields[(-(-x.size // BLOCK), packed.count), BLOCK](
        own.domain_code, own.domain_constants, own.code, packed.constants, own.programs, x, y, distance, boundary
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


def run_cuda(plan: Plan, run: "Run") -> "Tally":
    """Sums [point, budget, 2] and counts of one problem: the GPU's `run_cpu`. It always begins with the first walk."""
    from numba import cuda

    from mc2.walks.schedule import Tally

    if run.begun is not None:
        raise InputError("walks are continued, and begun at another than the first, on the CPU only: use device 'cpu'")
    packed = pack([plan], [run.instance], run.options).upload()
    x, y, keys = (cuda.to_device(array) for array in (run.starts.x, run.starts.y, run.starts.keys))
    result, _, counts = launch(packed, x, y, keys, run.budgets, run.options, run.progress, everywhere=True)
    sums = np.ascontiguousarray(result.copy_to_host()[0].transpose(1, 0, 2))
    return Tally(sums, counts.copy_to_host()[0], None)
