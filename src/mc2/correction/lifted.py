"""Lifts of many sources at once, for networks: those of `lift.py`, on one square around the grid, in torch.

What is left, v = u − w, solves the homogeneous equation at the grid's pixels, which is all that a network sees.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mc2.correction.lift import CLEAR, window
from mc2.geometry import Grid
from mc2.problems import Function


def around(grid: Grid) -> Grid:
    """The grid with a margin of a quarter of its size on every side, and the same pixels."""
    margin = grid.size // 4
    xmin, xmax, ymin, ymax = grid.bounds
    dx, dy = (margin * step for step in grid.spacing)
    return Grid(grid.size + 2 * margin, (xmin - dx, xmax + dx, ymin - dy, ymax + dy))


def sources_around(source: Function | None, grid: Grid) -> NDArray[np.float64]:
    """The values of a source on the wider grid."""
    wide = around(grid)
    return np.zeros(wide.shape) if source is None else source(*wide.points())


def lift_sources(sources: Tensor, operators: Tensor, grid: Grid) -> Tensor:
    """w with Lw = f at the pixels of a grid, float32 [n, size, size].

    sources: f on the wider grid [n, m, m]. operators: L as coefficients of u, Δu, Δ²u, [n, 3]. A mode that is close
    to a resonance of the square is lifted in part only.
    """
    wide, device = around(grid), sources.device
    side, margin, size = wide.bounds[1] - wide.bounds[0], grid.size // 4, wide.size
    t = (np.arange(size) + 0.5) * (side / size) - 0.5 * side
    line = torch.from_numpy(window(t, 0.5 * (grid.bounds[1] - grid.bounds[0]), 0.5 * side)).to(device)
    sources = torch.nan_to_num(sources.double(), 0.0, 0.0, 0.0) * line[:, None] * line[None, :]
    frequency = 2 * torch.pi * torch.fft.fftfreq(size, side / size, dtype=torch.float64, device=device)
    square = frequency[:, None].square() + frequency[None, : size // 2 + 1].square()
    zero, one, two = operators.double().to(device).T[:, :, None, None]
    symbol = zero - one * square + two * square.square()
    transform = torch.fft.rfft2(sources)
    mean = torch.where(zero == 0, sources.mean((-2, -1), keepdim=True), 0.0)
    transform[:, 0, 0] *= (zero != 0)[:, 0, 0]  # the mean becomes a polynomial instead
    symbol = torch.where(symbol.abs() < CLEAR, torch.where(symbol < 0, -CLEAR, CLEAR), symbol)
    periodic = torch.fft.irfft2(transform / symbol, s=(size, size))
    place = torch.from_numpy(t).to(device)
    radius = place[:, None].square() + place[None, :].square()
    polynomial = mean * torch.where(one != 0, radius / 4, radius.square() / 64)
    inside = slice(margin, margin + grid.size)
    return (periodic + polynomial)[:, inside, inside].float()
