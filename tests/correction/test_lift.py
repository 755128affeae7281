"""The lift against the equation itself, differentiated by other means."""

import numpy as np
import pytest

from mc2.correction.lift import lift_field, make_lift
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.problems import read_expression
from mc2.zoo import generate

OPERATORS = {
    "poisson": (0.0, 1.0, 0.0),
    "yukawa": (-30.0, 1.0, 0.0),
    "helmholtz": (49.0, 1.0, 0.0),
    "biharmonic": (0.0, 0.0, 1.0),
}
DOMAINS = [Disk(), Annulus(0.3, 1.3), Rectangle(1.1, 0.4, center=(0.2, -0.3), angle=0.5)]
SOURCE = read_expression("sin(9*x)*cos(4*y) + exp(-12*((x - 0.2)**2 + y**2)) + 1.5")


def apply(lift, x, y):
    """Lw from the Fourier series itself, term by term."""
    k = lift.frequencies
    square = k[None, :] ** 2 + k[:, None] ** 2
    c0, c1, c2 = lift.operator
    spectrum = lift.spectrum * (c0 - c1 * square + c2 * square**2)
    along_x = np.exp(1j * np.outer(k, x - lift.corner[0]))
    along_y = np.exp(1j * np.outer(y - lift.corner[1], k))
    return np.einsum("pk,kl,lp->p", along_y, spectrum, along_x).real / lift.size**2 + lift.mean


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", OPERATORS)
def test_it_solves_the_equation(name, domain):
    lift = make_lift(SOURCE, domain, OPERATORS[name])
    x, y = domain.sample_interior(200, seed=1).T
    np.testing.assert_allclose(apply(lift, x, y), SOURCE(x, y), atol=1e-8 * np.abs(SOURCE(x, y)).max())


@pytest.mark.parametrize("name", ["poisson", "yukawa", "helmholtz"])
def test_by_finite_differences(name):
    """Values at points, differentiated numerically: no Fourier series in the check."""
    operator, domain, h = OPERATORS[name], DOMAINS[1], 0.01
    lift = make_lift(SOURCE, domain, operator)
    x, y = domain.sample_interior(100, seed=2).T
    stencil = {0: -49 / 18, 1: 1.5, 2: -0.15, 3: 1 / 90}  # sixth order
    total = operator[0] * lift(x, y)
    for step, weight in stencil.items():
        for sign in (1, -1) if step else (1,):
            total += weight * (lift(x + sign * step * h, y) + lift(x, y + sign * step * h)) / h**2
    np.testing.assert_allclose(total, SOURCE(x, y), atol=2e-4 * np.abs(SOURCE(x, y)).max())


@pytest.mark.parametrize("name", OPERATORS)
def test_grid_and_points_agree(name):
    lift, grid = make_lift(SOURCE, Disk(), OPERATORS[name]), Grid(40)
    x, y = grid.points()
    field = lift.on_grid(grid)
    np.testing.assert_allclose(lift(x, y), field, atol=1e-10 * np.abs(field).max())


def test_sources_of_the_zoo():
    for index in range(1, 40):
        problem = generate("test", index).problem
        if problem.source is None:
            continue
        lift = make_lift(problem.source, problem.domain, problem.operator())
        x, y = problem.domain.sample_interior(100, seed=index).T
        expected = problem.source(x, y)
        np.testing.assert_allclose(apply(lift, x, y), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", OPERATORS)
def test_a_source_on_the_grid(name):
    """Known at the pixels of a mask only: exact there, and close to the lift of the function up to a solution."""
    grid, domain = Grid(128), Disk(0.8)
    mask = domain.mask(grid)
    x, y = grid.points()
    lift = lift_field(np.where(mask, SOURCE(x, y), np.nan), mask, grid, OPERATORS[name])
    np.testing.assert_allclose(apply(lift, x[mask][::37], y[mask][::37]), SOURCE(x, y)[mask][::37], atol=1e-7)


def test_resonant_wave_numbers():
    """k equal to a mode of the first square: another side is taken."""
    side = 2 * (1 + 0.5)
    k = 2 * np.pi / side * np.hypot(2, 1)
    lift = make_lift(SOURCE, Disk(), (k * k, 1.0, 0.0))
    assert lift.side > side
    assert np.abs(lift.on_grid(Grid(32))).max() < 100
