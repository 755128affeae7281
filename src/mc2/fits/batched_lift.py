"""Lifts of many sources at once, in torch: those of `lift.py`, on one lattice around the grid.

What is left, v = u − w, solves the homogeneous equation at the grid's pixels, which is all that a network or a batch
sees; not where a domain reaches beyond.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mc2.fits.lift import kaiser, square_frequencies, steepness
from mc2.functions import Function
from mc2.geometry import Grid
from mc2.problems.operator import Operator
from mc2.walks.gpu.launch import Empty, evaluate_exact
from mc2.walks.gpu.packing import Packed

MARGIN = 0.25
"""How far the lattice reaches beyond the grid on every side, in units of the grid's side."""
WIDER = (0, 8, 24)
"""Pixels that it may have in addition, where a mode of a Helmholtz operator is near zero."""
CLEAR = 0.1
"""Smallest |k² − |ξ|²| that is accepted."""


@cache
def lattices(grid: Grid) -> tuple[Grid, ...]:
    """Around a grid, with its pixels among their points."""
    step, margins = grid.spacing[0], [int(np.ceil(MARGIN * grid.size)) + more for more in WIDER]
    ends = np.array([-step, step, -step, step])
    return tuple(Grid(grid.size + 2 * margin, bounds=tuple(grid.bounds + margin * ends)) for margin in margins)


def lattice_for(operator: Operator, grid: Grid) -> Grid:
    """The first lattice on which no mode of the operator is near zero, or the best one."""
    shift, gaps = operator.mass, {}
    for lattice in lattices(grid):
        base = 2 * np.pi / (lattice.bounds[1] - lattice.bounds[0])
        modes = np.arange(int(np.sqrt(max(shift, 0.0)) / base) + 2) ** 2
        gaps[lattice] = float(np.abs(shift - base**2 * (modes[:, None] + modes)).min())
        if shift <= 0 or gaps[lattice] > CLEAR:
            return lattice
    return max(gaps, key=lambda lattice: gaps[lattice])


def lift_sources(sources: Tensor, operators: Tensor, lattice: Grid, grid: Grid) -> Tensor:
    """w with Lw = f at the pixels of a grid [n, size, size], as precise as the sources.

    sources: f on the lattice [n, m, m].
    operators: L as coefficients of u, Δu, Δ²u, [n, 3]; all 0 for no source.
    """
    window, square, radius = _fixed(lattice, grid, sources.dtype, sources.device)
    transform = torch.fft.rfft2(torch.nan_to_num(sources, 0.0, 0.0, 0.0) * window)
    zero, one, two = operators.to(sources).T[:, :, None, None]
    symbol = zero - one * square + two * square.square()
    mean = torch.where(zero == 0, transform[:, :1, :1].real / lattice.size**2, 0.0)  # becomes a polynomial instead
    symbol[:, :1, :1] = torch.where(zero == 0, torch.inf, symbol[:, :1, :1])
    first, last = (lattice.size - grid.size) // 2, (lattice.size + grid.size) // 2
    periodic = torch.fft.irfft2(transform / symbol, s=lattice.shape)[:, first:last, first:last]
    lift = periodic + mean * torch.where(one != 0, radius / 4, radius.square() / 64)
    return torch.where((operators != 0).any(1)[:, None, None], lift, 0.0)


def lift_packed(packed: Packed, operators: NDArray[np.float64], grid: Grid, empty: Empty) -> Tensor:
    """The lifts of uploaded problems that are tables of atoms, float32 [n, size, size] on their device.

    operators: as above, on the host.
    empty: makes arrays there.
    """
    lift = torch.zeros((packed.count, *grid.shape), device="cuda")
    chosen = [lattice_for(Operator(*operator), grid) if operator.any() else None for operator in operators]
    for lattice in lattices(grid):
        numbers = np.array([number for number, own in enumerate(chosen) if own == lattice])
        if numbers.size:
            everywhere = torch.ones((packed.count, lattice.size**2), dtype=torch.uint8, device="cuda")
            sources = torch.as_tensor(evaluate_exact(packed, lattice, everywhere, empty)[1], device="cuda")
            own, rules = (torch.from_numpy(a).to("cuda", non_blocking=True) for a in (numbers, operators[numbers]))
            lift[own] = lift_sources(sources[own], rules, lattice, grid)
    return lift


@cache
def _fixed(lattice: Grid, grid: Grid, dtype: Any, device: Any) -> tuple[Tensor, Tensor, Tensor]:
    """What does not depend on sources: the window, |ξ|² of the modes, and r² of the pixels."""
    side, step, half = (
        lattice.bounds[1] - lattice.bounds[0],
        lattice.spacing[0],
        0.5 * (grid.bounds[1] - grid.bounds[0]),
    )
    along = lattice.x - 0.5 * (lattice.bounds[0] + lattice.bounds[1])
    line = kaiser(along, half, 0.5 * side, steepness((0.5 * side - half) / step))
    inner = along[(lattice.size - grid.size) // 2 : (lattice.size + grid.size) // 2]
    fields = line[:, None] * line, square_frequencies(lattice.size, side), inner[:, None] ** 2 + inner**2
    window, square, radius = (torch.from_numpy(field).to(device, dtype) for field in fields)
    return window, square, radius


def lift_of(source: Function | None, operator: Operator, grid: Grid) -> NDArray[np.float32]:
    """The lift of one source on a grid [n, n], as networks know it."""
    if source is None:
        return np.zeros(grid.shape, np.float32)
    rows, columns = grid.shape
    grid = _squared(grid)
    lattice = lattice_for(operator, grid)
    sources = torch.from_numpy(source(*lattice.points()))[None]
    lift = lift_sources(sources, torch.tensor([operator.coefficients], dtype=torch.float64), lattice, grid)
    found: NDArray[np.float32] = lift[0].float().numpy()
    return found[:rows, :columns]


def _squared(grid: Grid) -> Grid:
    """The square grid of which a grid is the lower left part."""
    count, (xmin, _, ymin, _), (width, height) = max(grid.shape), grid.bounds, grid.spacing
    return Grid(count, bounds=(xmin, xmin + count * width, ymin, ymin + count * height))
