"""Lifts in batches: what is left of a solution has no source."""

import numpy as np
import pytest
import torch

from mc2.correction.lifted import around, lift_sources, sources_around
from mc2.geometry import Grid
from mc2.zoo import generate
from mc2.zoo.stream import Stream

GRID = Grid(128)


def test_the_wider_grid_has_the_same_pixels():
    wide = around(GRID)
    np.testing.assert_allclose(wide.x[32:-32], GRID.x, atol=1e-12)


@pytest.mark.parametrize("index", [1, 2, 4, 6, 9])
def test_what_is_left_is_homogeneous(index):
    problem = generate("test", index).problem
    operator = torch.tensor([problem.operator()])
    lift = lift_sources(torch.from_numpy(sources_around(problem.source, GRID))[None], operator, GRID)[0].double()
    left = torch.from_numpy(problem.on_grid(problem.exact, GRID)) - lift
    step = GRID.spacing[0]
    inner = left[1:-1, 1:-1]
    sides = left[2:, 1:-1] + left[:-2, 1:-1] + left[1:-1, 2:] + left[1:-1, :-2]
    found = (sides - 4 * inner) / step**2 + problem.operator()[0] * inner
    inside = problem.domain.distance(*GRID.points()) > 3 * step
    source = problem.on_grid(problem.source, GRID)
    assert found[torch.from_numpy(inside[1:-1, 1:-1])].abs().max() < 0.02 * np.abs(source).max()


def test_a_stream_has_lifts():
    first = next(iter(Stream(batch=3, budgets=(2,), grid=Grid(32), device="cpu", lifted=True)))
    assert (first.lift[0] == 0).all()  # Laplace has no source
    assert np.abs(first.lift[1:]).max(axis=(1, 2)).min() > 0
