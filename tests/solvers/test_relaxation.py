"""Relaxation: solutions stay, noise goes."""

import numpy as np
import pytest
import torch

from mc2.geometry import Grid
from mc2.solvers.learned import SWEEPS, source_of
from mc2.solvers.relaxation import DAMPING, relax
from mc2.zoo import generate

GRID = Grid()


def problem_of(index):
    """The solution of a test instance, its source as networks take it, c, and the mask, as relaxation takes them."""
    problem = generate("test", index).problem
    mask = problem.mask(GRID)
    fields = problem.on_grid(problem.exact, GRID), source_of(problem.source, problem.operator, GRID, mask), mask
    u, f, inside = (torch.from_numpy(field)[None].double() for field in fields)
    return u, f, torch.tensor([problem.operator.mass]), inside


def relaxed(u, f, coefficient, mask):
    return relax(u, f, coefficient, mask, GRID.spacing[0], SWEEPS)


def noise_on(mask):
    return torch.randn(mask.shape, generator=torch.Generator().manual_seed(0), dtype=mask.dtype) * mask


@pytest.mark.parametrize("index", range(5))
def test_solutions_of_every_family_stay_and_noise_goes(index):
    u, *given, mask = problem_of(index)
    inside = mask == 1
    size = (u[inside].max() - u[inside].min()).item()

    def error(field):
        return (relaxed(field, *given, mask) - u)[inside].square().mean().sqrt().item() / size

    assert error(u) < 2e-4
    # of 1e-2: a mean over some ten pixels, and those at the edge keep theirs
    assert 2e-3 < error(u + 0.01 * size * noise_on(mask)) < 5e-3


def test_the_equation_matters():
    u, f, coefficient, mask = problem_of(2)  # Yukawa
    wrong, right = (relaxed(u, f, c, mask) for c in (0 * coefficient, coefficient))
    assert (wrong - u).abs().max() > 10 * (right - u).abs().max()


def test_a_sweep_on_what_alternates():
    rows, columns = np.indices(GRID.shape)
    both, one = (torch.from_numpy((-1.0) ** power)[None] for power in (rows + columns, rows))
    given = torch.zeros_like(both), torch.zeros(1), torch.ones_like(both), GRID.spacing[0]  # Laplace's equation
    for field, factor in ((both, 1 - 2 * DAMPING), (one, 1 - DAMPING)):
        once = relax(field, *given, 1)
        torch.testing.assert_close(once[:, 1:-1, 1:-1], factor * field[:, 1:-1, 1:-1])
        torch.testing.assert_close(once[:, 0], field[:, 0])
    torch.testing.assert_close(relax(both, *given, 0), both)


def test_pixels_at_the_edge_of_the_mask_stay():
    u, *given, mask = problem_of(1)
    noisy = u + noise_on(mask)
    inside = mask == 1
    whole = torch.zeros_like(inside)
    whole[:, 1:-1, 1:-1] = (
        inside[:, 1:-1, 1:-1]
        & (inside[:, 2:, 1:-1] & inside[:, :-2, 1:-1])
        & (inside[:, 1:-1, 2:] & inside[:, 1:-1, :-2])
    )
    assert torch.equal(relaxed(noisy, *given, mask) != noisy, whole)
