"""Bases that solve their equations, and fits that keep what they should."""

import numpy as np
import pytest
from scipy import special

from mc2.correction.basis import Basis, make_basis
from mc2.correction.physics import correct_by_physics
from mc2.correction.projection import project, smooth_variance
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.problems import read_expression
from mc2.zoo import generate

OPERATORS = {
    "laplace": (0.0, 1.0, 0.0),
    "yukawa": (-30.0, 1.0, 0.0),
    "helmholtz": (49.0, 1.0, 0.0),
    "biharmonic": (0.0, 0.0, 1.0),
}
RING = Annulus(0.3, 1.2)


def laplacian(function, x, y, h=0.02):
    """Eighth order in h."""
    weights = {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}
    total = 2 * weights[0] * function(x, y)
    for step in range(1, 5):
        for dx, dy in ((step, 0), (-step, 0), (0, step), (0, -step)):
            total = total + weights[step] * function(x + dx * h, y + dy * h)
    return total / h**2


@pytest.mark.parametrize("name", OPERATORS)
def test_every_function_solves_the_equation(name):
    operator = OPERATORS[name]
    basis = make_basis(RING, operator)
    x, y = Annulus(0.5, 1.0).sample_interior(60, seed=0).T

    def value(x, y):
        return basis.columns(x, y, 8, 4)[0]

    if operator[2]:
        residual = laplacian(lambda x, y: laplacian(value, x, y), x, y)
    else:
        residual = operator[0] * value(x, y) + laplacian(value, x, y)
    scale = np.abs(value(x, y)).max(axis=1, keepdims=True)
    assert np.abs(residual / scale).max() < 2e-3 * 8**2
    assert (scale > 1e-3).all()


@pytest.mark.parametrize(("name", "function"), [("yukawa", special.iv), ("helmholtz", special.jv)])
def test_bessel_functions(name, function):
    basis = Basis(OPERATORS[name], (0.0, 0.0), 1.5)
    r = np.array([1e-6, 0.01, 0.3, 1.0, 1.5])
    columns, levels = basis.columns(r, np.zeros(5), 40)
    parameter = np.sqrt(abs(OPERATORS[name][0]))
    for n in (0, 1, 2, 7, 20, 40):
        found = columns[np.flatnonzero(levels == n)[0]]
        expected = function(n, parameter * r)
        np.testing.assert_allclose(found / found[-1], expected / expected[-1], rtol=1e-9, atol=1e-250)


def test_levels_are_in_order():
    for operator, per in ((OPERATORS["laplace"], 1), (OPERATORS["biharmonic"], 2)):
        columns, levels = make_basis(RING, operator).columns(np.array([0.5]), np.array([0.1]), 3, 3)
        assert len(columns) == len(levels) == 2 * per * 7
        assert (np.diff(levels) >= 0).all()


def _noisy(function, domain, sigma, seed=0, size=96):
    grid = Grid(size)
    mask = domain.mask(grid)
    x, y = (c[mask] for c in grid.points())
    truth = function(x, y)
    noise = np.random.default_rng(seed).normal(size=truth.size)
    return x, y, truth, truth + sigma * noise, np.full(truth.size, sigma**2)


def test_a_fit_removes_noise_and_knows_how_much_is_left():
    function = read_expression("exp(3*x)*cos(3*y) + log((x - 2)**2 + y**2)")
    basis = make_basis(Disk(), OPERATORS["laplace"])
    z = []
    for seed in range(20):
        x, y, truth, values, variance = _noisy(function, Disk(), 0.5, seed)
        found = project(values, variance, x, y, basis)
        z.append((found.values - truth)[::17] / found.standard_error[::17])
        assert np.sqrt(np.mean((found.values - truth) ** 2)) < 0.05
        assert 0.9 < found.misfit < 1.1
    assert 0.8 < np.std(z) < 1.3


def test_the_order_follows_the_data():
    basis = make_basis(Disk(), OPERATORS["laplace"])
    levels = []
    for n in (2, 9, 20, 40):
        x, y, _, values, variance = _noisy(lambda x, y, n=n: ((x + 1j * y) ** n).real, Disk(), 0.02)
        levels.append(project(values, variance, x, y, basis).level)
    assert pytest.approx(levels, abs=2) == [2, 9, 20, 40]
    assert levels == sorted(levels)


def test_terms_around_a_hole_are_found():
    function = read_expression("log(x**2 + y**2) + x/(x**2 + y**2)")
    x, y, truth, values, variance = _noisy(function, RING, 0.05)
    found = project(values, variance, x, y, make_basis(RING, OPERATORS["laplace"]))
    assert np.abs(found.values - truth).max() < 0.03
    without = Basis(OPERATORS["laplace"], (0.0, 0.0), 1.7)
    assert project(values, variance, x, y, without).misfit > 2


def test_smooth_variances():
    """Down to the boundary, where they fall by orders of magnitude."""
    domain, grid = Disk(0.9), Grid(128)
    mask, distance = domain.mask(grid), domain.distance(*grid.points())
    truth = np.where(mask, distance * (1.0 + 0.5 * grid.points()[0]), 1e9)
    noisy = truth * np.random.default_rng(0).chisquare(7, mask.shape) / 7
    ratio = (smooth_variance(noisy, mask, distance) / truth)[mask]
    assert 0.85 < np.quantile(ratio, 0.01) < np.quantile(ratio, 0.99) < 1.15
    assert 0.4 < ratio.min() < ratio.max() < 2.0
    assert (smooth_variance(noisy, mask, distance)[~mask] == 0).all()
    assert (smooth_variance(np.zeros(mask.shape), mask, distance)[mask] > 0).all()


@pytest.mark.parametrize("known", ["function", "field"])
@pytest.mark.parametrize("index", range(5))
def test_correction_of_real_walks(index, known):
    from mc2.evaluation.runner import standard_walks
    from mc2.zoo.scores import psnr

    instance, grid = generate("test", 20 + index), Grid(128)
    problem, found = instance.problem, standard_walks(instance, 8, 0, grid, "cpu")
    source = problem.source
    if known == "field" and source is not None:
        source = problem.on_grid(source, grid)
    made = correct_by_physics(found.mean, found.variance, found.mask, grid, problem.domain, problem.operator(), source)
    exact = problem.on_grid(problem.exact, grid)
    assert made.kept
    assert psnr(made.values, exact, found.mask) > psnr(found.mean, exact, found.mask) + 12
    assert (made.values[~found.mask] == 0).all()


def test_what_the_basis_cannot_explain_is_left_alone():
    """An estimate of something that does not solve the equation: a fit would be wrong, so there is none."""
    grid, domain = Grid(64), Rectangle(0.9, 0.7)
    mask = domain.mask(grid)
    x, y = grid.points()
    field = np.where(mask, np.sign(np.sin(9 * x * y)), 0.0)
    made = correct_by_physics(field, np.full(mask.shape, 1e-4), mask, grid, domain, OPERATORS["laplace"], None)
    assert not made.kept
    np.testing.assert_array_equal(made.values, field)
