"""Correction by physics of many estimates at once on an NVIDIA GPU: what `correct_by_physics` does, in batches.

Everything stays on the device: f on a lattice around the grid, its lift by Fourier transforms, variances made smooth,
products of basis functions, their Cholesky factors, the averaged fit. To be fast it is simpler in three places: one
degree for all, no terms around holes, and a lift that holds on the grid's square only, not on what a domain has beyond.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.fits.basis import make_basis
from mc2.fits.on_device import torch_on_device
from mc2.fits.projection import DEPENDENT, PRICE, SMOOTHING
from mc2.geometry import Disk, Grid
from mc2.problems import Problem
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN
from mc2.walks.gpu.launch import unavailable

if TYPE_CHECKING:
    import torch

    from mc2.walks.gpu.packing import Packed
    from mc2.walks.options import Options

DEGREE = 24
"""The degree of the bases; half of it where they are doubled."""
BINS = 16
"""Bins of the distance to the boundary."""
PIECES = 16
"""Into which points are split when products are summed, so that the whole device has work."""
NEAREST, FARTHEST = 2e-3, 0.5
"""Distances to the boundary, in units of the grid's side, between which variances have a profile."""


def correct_batch(
    problems: Sequence[Problem],
    walks: int = 8,
    *,
    instances: Sequence[int] | None = None,
    corrector: "BatchCorrector | None" = None,
    options: "Options | None" = None,
) -> "torch.Tensor":
    """Walk many problems with known solutions, as PDEZoo's are, and correct their estimates: fields [problem, n, n].

    walks: per pixel.
    instances: what keys their random numbers; 0, 1, 2, … if not given.
    corrector: made beforehand, for a grid of its own or to save what it keeps.
    options: of the walks.
    """
    from mc2.walks.gpu.launch import evaluate_distances, walk_fields
    from mc2.walks.gpu.packing import pack
    from mc2.walks.many import plan_for_batch
    from mc2.walks.options import Options

    chosen, corrector = options or Options(), corrector or BatchCorrector()
    plans = [plan_for_batch(problem, chosen) for problem in problems]
    _, put, empty = torch_on_device("a corrected batch")
    packed = pack(plans, list(instances or range(len(problems))), chosen).upload(put)
    if not packed.exact:
        raise InputError("only problems that are sums of atoms are corrected in batches, as those of PDEZoo are")
    mean, variance, mask, _ = walk_fields(packed, corrector.grid, [walks], chosen, empty)
    known = corrector.prepare(problems)  # while the device walks
    distance = evaluate_distances(packed, corrector.grid, empty)
    return corrector.correct(known, packed, mean, variance, mask, distance)


@dataclass(frozen=True)
class ProblemTables:
    """What is known of problems before they are walked.

    operators: L as coefficients of u, Δu, Δ²u [problem, 3], all 0 where there is no source. On the device: rules, for
    the kernel; levels, of every column (−1: not there).
    """

    operators: NDArray[np.float64]
    rules: Any
    levels: Any

    @property
    def count(self) -> int:
        """How many problems there are."""
        return len(self.operators)


class BatchCorrector:
    """Corrects estimates on one grid, on the GPU that torch uses. It keeps what does not depend on the problems."""

    def __init__(self, grid: Grid | None = None) -> None:
        if unavailable():
            raise InputError(f"batches are corrected on a GPU: {unavailable()}; mc2.solve works without one")
        self.grid = grid or Grid()
        if self.grid.size**2 % PIECES:
            raise InputError(f"batches are corrected on grids whose side is a multiple of 4, not of {self.grid.size}")
        torch, _, self.empty = torch_on_device("a corrected batch")
        self.device, self.side = torch.device("cuda"), self.grid.bounds[1] - self.grid.bounds[0]
        self.x, self.y = (self._put(c.ravel()) for c in self.grid.points())
        self.band = self._put(_band(self.grid.size))

    def prepare(self, problems: Sequence[Problem]) -> ProblemTables:
        """Everything that the host has to do for some problems."""
        operators = [
            (0.0, 0.0, 0.0) if problem.source is None else problem.operator.coefficients for problem in problems
        ]
        rules, levels = _bases(problems)
        return ProblemTables(np.array(operators), self._put(rules), self._put(levels))

    def correct(
        self, problems: ProblemTables, packed: "Packed", mean: Any, variance: Any, mask: Any, distance: Any
    ) -> "torch.Tensor":
        """Corrected fields [problem, n, n], 0 outside the masks.

        packed: the problems, uploaded.
        mean, variance, mask: [problem, n, n] device arrays of their estimates.
        distance: to the boundary, likewise.
        """
        import torch

        from mc2.fits.batched_lift import lift_packed

        n = self.grid.size
        mean, variance, mask, distance = (
            torch.as_tensor(array, device=self.device).reshape(problems.count, n * n)
            for array in (mean, variance, mask, distance)
        )
        inside = mask != 0
        lifted = lift_packed(packed, problems.operators, self.grid, self.empty).reshape(problems.count, n * n)
        deviation = self._deviation(variance, inside, distance)
        fitted = self._fit(problems, deviation, (mean - lifted) / deviation)
        return torch.where(inside, fitted * deviation + lifted, 0.0).reshape(problems.count, n, n)

    def _put(self, array: Any) -> "torch.Tensor":
        """On the device, without waiting for what it is doing."""
        import torch

        return torch.from_numpy(np.array(array)).to(self.device, non_blocking=True)

    def _deviation(self, variance: Any, inside: Any, distance: Any) -> Any:
        """Smooth standard deviations, infinite outside; see `Smoothing`. Bins of the distance are logarithmic."""
        import torch

        log = torch.log(torch.clamp(distance / self.side, NEAREST, FARTHEST) / NEAREST)
        place = torch.clamp(log * (BINS / np.log(FARTHEST / NEAREST)), max=BINS - 1).int()
        weight = inside.float()
        known = torch.where(inside, variance, 0.0)
        sums = self._binned(place, torch.stack([weight, known, log * weight]))
        for _ in range(3):  # an empty bin takes what its neighbours have
            padded = torch.nn.functional.pad(sums, (1, 1))
            sums = torch.where(sums[0] > 0, sums, padded[:, :, 2:] + padded[:, :, :-2])
        count = torch.clamp(sums[0], min=1e-6)
        overall = known.sum(1, keepdim=True) / weight.sum(1, keepdim=True)
        level, middle = torch.log(sums[1] / count + 1e-12 * overall), sums[2] / count
        rise, run = (torch.nn.functional.pad(line, (1, 1), mode="replicate") for line in (level, middle))
        slope = torch.clamp((rise[:, 2:] - rise[:, :-2]) / torch.clamp(run[:, 2:] - run[:, :-2], min=1e-3), 0.0, 2.0)
        level, middle, slope = (line.gather(1, place.long()) for line in (level, middle, slope))
        smooth = torch.exp(level + slope * (log - middle))
        n = self.grid.size
        blurred = self.band @ torch.stack([known / smooth, weight]).reshape(2, -1, n, n) @ self.band
        rest, weights = blurred.reshape(2, -1, n * n)
        found = smooth * rest / torch.clamp(weights, min=1e-6)
        return torch.where(inside, torch.sqrt(torch.maximum(found, 1e-9 * overall)), torch.inf)

    def _binned(self, place: Any, values: Any) -> Any:
        """Sums [value, problem, bin] of values [value, problem, pixel] whose bins are known."""
        import torch
        from numba import cuda

        from mc2.fits.cuda_kernels import add_to_bins

        sums = torch.zeros((*values.shape[:2], BINS), device=self.device)
        add_to_bins[(PIECES, *values.shape[1::-1]), 256](
            *(cuda.as_cuda_array(array) for array in (place, values, sums))
        )
        return sums

    def _fit(self, problems: ProblemTables, deviation: Any, target: Any) -> Any:
        """The averaged fit in units of the deviation [problem, pixel]; see `project`. The target is a column too."""
        import torch
        from numba import cuda

        from mc2.fits.cuda_kernels import fill_whitened

        levels = problems.levels
        count, points = levels.shape[1], self.x.numel()
        shape = (problems.count, PIECES, count + 1, points // PIECES)
        columns = torch.empty(shape, dtype=torch.float64, device=self.device)
        fill_whitened[(-(-points // 128), problems.count), 128](
            *(cuda.as_cuda_array(array) for array in (self.x, self.y, problems.rules, deviation, columns))
        )
        columns[:, :, count] = torch.nan_to_num(target, 0.0).reshape(problems.count, PIECES, -1)
        products = torch.matmul(columns, columns.transpose(-1, -2)).sum(1)
        sizes = torch.sqrt(torch.clamp(torch.diagonal(products, dim1=1, dim2=2), min=1e-290))
        even = products / (sizes[:, :, None] * sizes[:, None, :])
        unit = torch.eye(count, dtype=torch.float64, device=self.device)
        factor, _ = torch.linalg.cholesky_ex(even[:, :count, :count] + 1e-13 * unit)
        told = torch.diagonal(factor, dim1=1, dim2=2) ** 2 >= DEPENDENT  # false for what is not a number, too
        known = torch.cumprod((told & (levels >= 0)) * 1, 1) > 0
        factor = torch.where(known[:, :, None] & known[:, None, :], factor, unit)
        moments = even[:, :count, count:] * sizes[:, count:, None]
        found = torch.linalg.solve_triangular(factor, moments, upper=False)[:, :, 0]
        share = _shares(found, known, levels) * found
        back = torch.linalg.solve_triangular(factor.transpose(1, 2), share[:, :, None], upper=True)[:, :, 0]
        weights = torch.cat([back / sizes[:, :count], torch.zeros_like(back[:, :1])], 1)
        return torch.matmul(weights[:, None, None, :], columns).reshape(problems.count, points).float()


def _bases(problems: Sequence[Problem]) -> tuple[Any, Any]:
    """What the kernel needs to know of every problem's basis, and the level of its columns (−1: not there)."""
    count = 2 * DEGREE + 2
    rules, levels = np.zeros((len(problems), 6)), np.full((len(problems), count), -1)
    patterns = [np.sort(make_basis(Disk(), operator, degree, -1).levels) for operator, degree in _KINDS]
    for number, problem in enumerate(problems):
        operator = problem.operator
        doubled = int(operator.order == 4)
        basis = make_basis(problem.domain, operator, DEGREE, -1)
        rules[number] = basis.sign, basis.parameter, *basis.center, basis.radius, doubled
        levels[number, : len(patterns[doubled])] = patterns[doubled]
    return rules, levels


_KINDS = ((LAPLACIAN, DEGREE), (BILAPLACIAN, DEGREE // 2))


def _shares(coefficients: Any, known: Any, levels: Any) -> Any:
    """The share of every column in the average over levels, by Akaike weights. known: columns that tell something."""
    import torch

    gain = torch.where(known, coefficients**2 - PRICE, 0.0)
    last = torch.ones_like(known[:, :1])
    ends = torch.cat([levels[:, 1:] != levels[:, :-1], last], 1) & known
    score = 0.5 * torch.cumsum(gain, 1)
    score = torch.cat([torch.zeros_like(score[:, :1]), torch.where(ends, score, -torch.inf)], 1)
    weights = torch.softmax(score, 1)
    reach = torch.flip(torch.cumsum(torch.flip(weights, [1]), 1), [1])[:, 1:]
    return torch.where(known, reach, 0.0)


def _band(size: int) -> Any:
    """What takes two running means along an axis, with zeros beyond its ends; symmetric."""
    half = max(3, round(SMOOTHING * size)) // 2
    mean = (np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= half) / (2 * half + 1)
    return (mean @ mean).astype(np.float32)
