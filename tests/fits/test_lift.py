"""The lift against the equation itself, differentiated by other means."""

import numpy as np
import pytest

from mc2.fits.lift import make_lift
from mc2.fits.rough_lift import find_lift
from mc2.functions import read_expression
from mc2.functions.grid_function import GridFunction
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN, Operator
from mc2.zoo import generate

OPERATORS = {
    "poisson": LAPLACIAN,
    "yukawa": Operator(-30.0),
    "helmholtz": Operator(49.0),
    "biharmonic": BILAPLACIAN,
}
DOMAINS = [Disk(), Annulus(0.3, 1.3), Rectangle(1.1, 0.4, center=(0.2, -0.3), angle=0.5)]
SOURCE = read_expression("sin(9*x)*cos(4*y) + exp(-12*((x - 0.2)**2 + y**2)) + 1.5")


def apply(lift, x, y):
    """Lw from the Fourier series itself, term by term: a term of the half spectrum stands for its conjugate too."""
    n = lift.size
    down, right = (2 * np.pi / lift.side * k for k in (n * np.fft.fftfreq(n), np.arange(n // 2 + 1)))
    square = right**2 + down[:, None] ** 2
    c0, c1, c2 = lift.operator.coefficients
    spectrum = lift.spectrum * (c0 - c1 * square + c2 * square**2)
    spectrum[:, 1 : n // 2] *= 2
    along_x = np.exp(1j * np.outer(right, x - lift.corner[0]))
    along_y = np.exp(1j * np.outer(y - lift.corner[1], down))
    return np.einsum("pk,kp->p", along_y, spectrum @ along_x).real / n**2 + lift.mean


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", OPERATORS)
def test_it_solves_the_equation(name, domain):
    lift = make_lift(SOURCE, domain.bounds, OPERATORS[name])
    x, y = domain.sample_interior(200, seed=1).T
    np.testing.assert_allclose(apply(lift, x, y), SOURCE(x, y), atol=1e-8 * np.abs(SOURCE(x, y)).max())


@pytest.mark.parametrize("grid", [None, Grid(64), Grid(48, bounds=(-2, 2, -1, 3))], ids=["none", "square", "moved"])
@pytest.mark.parametrize("name", ["poisson", "yukawa", "helmholtz"])
def test_by_finite_differences(name, grid):
    """Values at points, differentiated numerically: no Fourier series in the check."""
    operator, domain, h = OPERATORS[name], DOMAINS[1], 0.01
    lift = make_lift(SOURCE, domain.bounds, operator, grid)
    x, y = domain.sample_interior(100, seed=2).T
    stencil = {0: -49 / 18, 1: 1.5, 2: -0.15, 3: 1 / 90}  # sixth order
    total = operator.mass * lift(x, y)
    for step, weight in stencil.items():
        for sign in (1, -1) if step else (1,):
            total += weight * (lift(x + sign * step * h, y) + lift(x, y + sign * step * h)) / h**2
    np.testing.assert_allclose(total, SOURCE(x, y), atol=1e-6 * np.abs(SOURCE(x, y)).max())


GRIDS = {
    "any": (None, Grid(40)),
    "the grid's own": (Grid(40), Grid(40)),
    "another": (Grid(40), Grid(33, bounds=(-1, 0.9, -0.8, 1))),
    "off centre": (Grid(50, bounds=(-0.9, 1.3, -1, 1.2)), Grid(50, bounds=(-0.9, 1.3, -1, 1.2))),
    "of oblong pixels": (Grid(40, bounds=(-1, 1, -0.6, 0.6)), Grid(40, bounds=(-1, 1, -0.6, 0.6))),
}


@pytest.mark.parametrize("case", GRIDS)
@pytest.mark.parametrize("name", OPERATORS)
def test_grid_and_points_agree(name, case):
    given, grid = GRIDS[case]
    lift = make_lift(SOURCE, Disk().bounds, OPERATORS[name], given)
    x, y = (c[Disk(0.99).mask(grid)] for c in grid.points())
    field = lift.on_grid(grid)[Disk(0.99).mask(grid)]
    np.testing.assert_allclose(lift(x, y), field, atol=1e-10 * np.abs(field).max())


def test_a_grid_s_pixels_are_points_of_the_lattice():
    for grid in (Grid(40), Grid(256), Grid(50, bounds=(-0.9, 1.3, -1, 1.2))):
        lift = make_lift(SOURCE, Disk().bounds, OPERATORS["poisson"], grid)
        for axis, corner in ((grid.x, lift.corner[0]), (grid.y, lift.corner[1])):
            place = (axis - corner) / lift.step
            np.testing.assert_allclose(place, np.rint(place), atol=1e-9)


def test_the_laplacian_of_a_biharmonic_lift():
    """Against finite differences, and as a lift of the same source for the Laplacian."""
    lift, h = make_lift(SOURCE, Disk().bounds, OPERATORS["biharmonic"]), 0.01
    x, y = Disk(0.9).sample_interior(100, seed=3).T
    weights = {0: -49 / 18, 1: 1.5, 2: -0.15, 3: 1 / 90}
    total = 2 * weights[0] * lift(x, y)
    for step in (1, 2, 3):
        for dx, dy in ((step, 0), (-step, 0), (0, step), (0, -step)):
            total += weights[step] * lift(x + dx * h, y + dy * h)
    found = lift.laplacian
    np.testing.assert_allclose(found(x, y), total / h**2, atol=1e-7 * np.abs(found(x, y)).max())
    np.testing.assert_allclose(apply(found, x, y), SOURCE(x, y), atol=1e-8 * np.abs(SOURCE(x, y)).max())


def test_sources_of_the_zoo():
    for index in range(1, 40):
        problem = generate("test", index).problem
        if problem.source is None:
            continue
        lift = make_lift(problem.source, problem.domain.bounds, problem.operator)
        x, y = problem.domain.sample_interior(100, seed=index).T
        expected = problem.source(x, y)
        np.testing.assert_allclose(apply(lift, x, y), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", OPERATORS)
def test_a_source_on_the_grid(name):
    """Known at the pixels of a mask only: exact there, and close in between."""
    grid, domain = Grid(128), Disk(0.8)
    x, y = grid.points()
    mask = domain.mask(grid)
    source = GridFunction(np.where(mask, SOURCE(x, y), np.nan), grid)
    lift = make_lift(source, domain.bounds, OPERATORS[name], grid)
    found = apply(lift, x[mask][::37], y[mask][::37])
    np.testing.assert_allclose(found, SOURCE(x, y)[mask][::37], atol=1e-7)
    x, y = Disk(0.7).sample_interior(200, seed=4).T
    np.testing.assert_allclose(apply(lift, x, y), SOURCE(x, y), atol=5e-4)


def test_resonant_wave_numbers():
    """k equal to a mode of the first square: another side is taken."""
    side = 2 * (1 + 0.56)
    k = 2 * np.pi / side * np.hypot(2, 1)
    lift = make_lift(SOURCE, Disk().bounds, Operator(k * k))
    assert lift.side > side
    assert np.abs(lift.on_grid(Grid(32))).max() < 100


@pytest.mark.parametrize("name", OPERATORS)
def test_between_lattice_points_the_source_is_the_series(name):
    """Interpolation of the lattice's own values stands for Lw only where it is a hundred times as close as it needs."""
    domain = Disk()
    x, y = domain.sample_interior(200, seed=2).T
    lift = make_lift(SOURCE, domain.bounds, OPERATORS[name])
    np.testing.assert_allclose(lift.applied_roughly(x, y), lift.applied(x, y), atol=1e-9)


@pytest.mark.slow
def test_a_source_that_a_lattice_aliases_is_seen_between_its_points():
    domain = Disk()
    first = make_lift(read_expression("1"), domain.bounds, OPERATORS["poisson"])
    wave = 2 * np.pi * first.size / first.side  # is 1 at every lattice point, about
    source = read_expression(f"cos({wave!r}*(x - {first.corner[0]!r}))")
    x, y = domain.sample_interior(200, seed=2).T
    lift = make_lift(source, domain.bounds, OPERATORS["poisson"], tail=1.0)
    assert lift.size == first.size
    assert np.abs(lift.applied_roughly(x, y) - 1).max() < 1e-6
    assert find_lift(source, domain, OPERATORS["poisson"])[0].size != first.size
