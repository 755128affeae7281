"""Lifts in batches: what is left of a solution has no source."""

import numpy as np
import pytest

from mc2.fits.batched_lift import lattice_for, lattices, lift_of
from mc2.geometry import Grid
from mc2.problems.operator import Operator
from mc2.zoo import generate
from mc2.zoo.stream import Stream

GRID = Grid(128)


def test_lattices_have_the_same_pixels():
    for lattice, more in zip(lattices(GRID), (0, 8, 24), strict=True):
        inside = slice(32 + more, -32 - more)
        np.testing.assert_allclose(lattice.x[inside], GRID.x, atol=1e-12)
        np.testing.assert_allclose(lattice.y[inside], GRID.y, atol=1e-12)


def test_a_resonant_lattice_is_avoided():
    first, second, _ = lattices(GRID)
    resonant = (2 * np.pi / (first.bounds[1] - first.bounds[0])) ** 2 * (3**2 + 1)
    assert lattice_for(Operator(resonant + 0.01), GRID) == second
    assert lattice_for(Operator(resonant + 0.5), GRID) == first
    assert lattice_for(Operator(-resonant), GRID) == first


@pytest.mark.parametrize("index", [1, 2, 4, 6, 9])
def test_what_is_left_is_homogeneous(index):
    problem = generate("test", index).problem
    left = problem.on_grid(problem.exact, GRID) - lift_of(problem.source, problem.operator, GRID).astype(float)
    step = GRID.spacing[0]
    inner = left[1:-1, 1:-1]
    sides = left[2:, 1:-1] + left[:-2, 1:-1] + left[1:-1, 2:] + left[1:-1, :-2]
    found = (sides - 4 * inner) / step**2 + problem.operator.mass * inner
    inside = problem.domain.distance(*GRID.points()) > 3 * step
    source = problem.on_grid(problem.source, GRID)
    assert np.abs(found[inside[1:-1, 1:-1]]).max() < 0.02 * np.abs(source).max()


def test_a_stream_has_lifts():
    first = next(iter(Stream(batch=3, budgets=(2,), grid=Grid(32), device="cpu", lifted=True)))
    assert (first.lift[0] == 0).all()  # Laplace has no source
    assert np.abs(first.lift[1:]).max(axis=(1, 2)).min() > 0
