"""Relaxation: solutions stay, noise goes."""

import numpy as np
import pytest
import torch

from mc2.correction.inputs import Given, pixel_of
from mc2.correction.learned import SWEEPS, source_of
from mc2.correction.relaxation import DAMPING, relax
from mc2.geometry import Grid
from mc2.zoo import generate

GRID = Grid()


def given_of(instance, dtype=torch.float64):
    """A problem, as relaxation is given it, its operator and its solution."""
    problem = instance.problem
    mask = problem.mask(GRID)
    source = torch.from_numpy(source_of(problem.source, problem.operator(), GRID, mask))[None].to(dtype)
    u = torch.from_numpy(problem.on_grid(problem.exact, GRID))[None].to(dtype)
    given = Given(u, u, torch.tensor([8]), source, torch.from_numpy(mask)[None].to(dtype), pixel_of(GRID))
    return given, torch.tensor([problem.operator()], dtype=dtype), u


@pytest.mark.parametrize("index", range(5))
def test_solutions_of_every_family_stay_and_noise_goes(index):
    given, operators, u = given_of(generate("test", index))
    inside = given.mask == 1
    size = (u[inside].max() - u[inside].min()).item()
    noise = 0.01 * size * torch.randn(u.shape, generator=torch.Generator().manual_seed(0), dtype=u.dtype) * given.mask
    moved = (relax(u, given, operators, SWEEPS) - u)[inside].square().mean().sqrt().item() / size
    left = (relax(u + noise, given, operators, SWEEPS) - u)[inside].square().mean().sqrt().item() / size
    assert moved < 2e-4
    assert 2e-3 < left < 5e-3  # of 1e-2: a mean over some ten pixels, and those at the edge keep theirs


def test_the_equation_matters():
    given, operators, u = given_of(generate("test", 2))  # Yukawa
    wrong = relax(u, given, operators * torch.tensor([0.0, 1.0, 1.0]), SWEEPS)
    right = relax(u, given, operators, SWEEPS)
    assert (wrong - u).abs().max() > 10 * (right - u).abs().max()


def test_a_sweep_on_what_alternates():
    rows, columns = np.indices(GRID.shape)
    both, one = (torch.from_numpy((-1.0) ** power)[None] for power in (rows + columns, rows))
    zero, mask = torch.zeros(1, *GRID.shape, dtype=torch.float64), torch.ones(1, *GRID.shape)
    given = Given(zero, zero, torch.tensor([8]), zero, mask, pixel_of(GRID))
    laplace = torch.tensor([[0.0, 1.0, 0.0]])
    for field, factor in ((both, 1 - 2 * DAMPING), (one, 1 - DAMPING)):
        once = relax(field, given, laplace, 1)
        torch.testing.assert_close(once[:, 1:-1, 1:-1], factor * field[:, 1:-1, 1:-1])
        torch.testing.assert_close(once[:, 0], field[:, 0])
    torch.testing.assert_close(relax(both, given, laplace, 0), both)


def test_pixels_at_the_edge_of_the_mask_stay():
    given, operators, u = given_of(generate("test", 1))
    noise = torch.randn(u.shape, generator=torch.Generator().manual_seed(0), dtype=u.dtype) * given.mask
    changed = relax(u + noise, given, operators, SWEEPS) != u + noise
    whole = (
        torch.nn.functional.conv2d(
            given.mask[None], torch.tensor([[[[0, 1, 0], [1, 1, 1], [0, 1, 0.0]]]]).double(), padding=1
        )[0]
        == 5
    )
    assert torch.equal(changed, whole)
