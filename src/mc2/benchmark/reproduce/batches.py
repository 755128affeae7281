"""Networks on many instances at once, from fields that were made before: what their methods do, in batches."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.operators import OperatorNetwork
from mc2.benchmark.methods.registry import kind_of
from mc2.benchmark.reproduce.workers import Chunk, known_method
from mc2.geometry import Grid
from mc2.problems import operator
from mc2.solvers.correctors import NetworkCorrector, OnePassCorrector
from mc2.solvers.learned import correct_by_network

BATCH = {"cuda": 25, "cpu": 5}
"""Fields that a network sees together, by device."""
BATCHED = (NetworkCorrector, OnePassCorrector, OperatorNetwork)
"""Networks, which run in the main process; all others run in workers, one instance at a time."""

Fields = NDArray[np.float32]


def is_batched(name: str) -> bool:
    """Whether a method runs here, by its name."""
    return kind_of(name) in BATCHED


def is_extended(name: str) -> bool:
    """Whether a method reads distances and boundary data around the domain."""
    method = known_method(name) if is_batched(name) else None
    return isinstance(method, OperatorNetwork) and method.learned.inputs.extended


def solve_batch(name: str, chunk: Chunk, places: NDArray[np.int64], walks: int, given: Any, grid: Grid) -> Fields:
    """Fields [item, n, n] of a network.

    places: the instance of every item, as its number in the chunk.

    given: mean and variance [2, item, n, n] of the items' estimates, from so many walks per pixel.
    """
    import torch

    method = _in_full_precision(name)
    solve, size = _solver(method), BATCH[method.learned.device.type]
    parts = []
    with torch.backends.cudnn.flags(allow_tf32=False):  # TensorFloat-32 would keep three digits only
        for first in range(0, len(places), size):
            part = slice(first, first + size)
            parts.append(solve(method, chunk, places[part], walks, given[:, part], grid))
    return np.concatenate(parts).astype(np.float32, copy=False)


@cache
def _in_full_precision(name: str) -> Any:
    """A network that computes as on a CPU: half precision would cost some of them decibels."""
    method: Any = known_method(name)
    network = getattr(method, "corrector", method)
    network.learned = replace(network.learned, half=False)
    return network


def _solver(method: Any) -> Callable[..., Fields]:
    if isinstance(method, OperatorNetwork):
        return _operator
    return _one_pass if isinstance(method, OnePassCorrector) else _network


def _network(method: NetworkCorrector, chunk: Chunk, places: Any, walks: int, given: Any, grid: Grid) -> Fields:
    operators = [operator.Operator(float(m), float(d), float(b)) for m, d, b in chunk.operators[places]]
    fields: Any = *given, walks, chunk.mask[places], grid, chunk.known_laplacian[places], None, operators
    return correct_by_network(method.learned, *fields, sweeps=method.sweeps)


def _one_pass(method: OnePassCorrector, chunk: Chunk, places: Any, walks: int, given: Any, grid: Grid) -> Fields:
    unknown = np.full_like(given[0], np.inf)
    fields = given[0], unknown, 1, chunk.mask[places], grid, chunk.source[places]
    return correct_by_network(method.learned, *fields, sweeps=0)


def _operator(method: OperatorNetwork, chunk: Chunk, places: Any, walks: int, given: Any, grid: Grid) -> Fields:
    """Biharmonic problems with known boundary data are Poisson's equation twice: first for Δu, then for u."""
    source = chunk.source[places]
    if not method.learned.inputs.extended:
        return _apply(method, chunk, places, source, None)
    twice = np.flatnonzero(chunk.operators[places, 2])
    if twice.size:
        inner = places[twice]
        source[twice] = _apply(method, chunk, inner, source[twice], chunk.laplacian[inner])
    return _apply(method, chunk, places, source, chunk.boundary[places])


def _apply(method: OperatorNetwork, chunk: Chunk, places: Any, source: Any, boundary: Any) -> Fields:
    """One pass of an operator network."""
    import torch

    from mc2.networks.corrector_inputs import apply_network
    from mc2.networks.operator_inputs import OperatorData, finish, prepare

    learned = method.learned

    def put(values: Any) -> "torch.Tensor":
        return torch.from_numpy(np.array(values, np.float32)).to(learned.device)

    around = () if boundary is None else (put(chunk.distance[places]), put(boundary))
    known = OperatorData(put(source), put(chunk.mask[places]), put(chunk.operators[places, 0]), *around)
    with torch.inference_mode():
        prepared = prepare(known, learned.inputs)
        output = apply_network(learned.network, prepared.channels, learned.multiple)
        found: Fields = finish(prepared, output, known.mask).cpu().numpy()
    return found
