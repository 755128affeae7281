"""Fits that keep what they should, and know how well."""

from functools import partial

import numpy as np
import pytest

from mc2.fits.basis import make_basis
from mc2.fits.projection import Bins, Profile, SamplePoints, Smoothing, project
from mc2.functions import read_expression
from mc2.functions.grid_function import GridFunction
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN
from mc2.solvers.physics import correct_by_physics
from mc2.zoo import generate

HARMONIC, BIHARMONIC = LAPLACIAN, BILAPLACIAN
RING = Annulus(0.3, 1.2)
SMOOTH = read_expression("exp(3*x)*cos(3*y) + log((x - 2)**2 + y**2)")


def bases(domain, operator=HARMONIC):
    """Without functions around holes, and with them."""
    return [partial(make_basis, domain, operator, hole_degree=-1), partial(make_basis, domain, operator)]


def noisy(function, domain, sigma, seed=0, size=96):
    """Points with their true values, those with noise, and its variances, which differ by a factor of 9."""
    grid = Grid(size)
    x, y = (c[domain.mask(grid)] for c in grid.points())
    deviation = sigma * np.exp(np.log(3) * x / 2)
    noise = np.random.default_rng(seed).normal(size=x.size)
    return SamplePoints(x, y), function(x, y), function(x, y) + deviation * noise, deviation**2


def test_a_fit_removes_noise_and_knows_how_much_is_left():
    z = []
    for seed in range(20):
        sites, truth, values, variance = noisy(SMOOTH, Disk(), 0.5, seed, size=64)
        found = project(values, variance, sites, bases(Disk())[:1])
        error = found(sites.x, sites.y) - truth
        z.append(error[::17] / found.standard_error(sites.x, sites.y)[::17])
        assert np.sqrt(np.mean(error**2)) < 0.075
        assert 0.9 < found.misfit < 1.1
        assert found.columns < 40
    assert 0.8 < np.std(z) < 1.3


def test_known_columns_give_the_textbook_s_fit():
    """No choice of level: weighted least squares by another route, and its covariance."""
    sites, _, values, variance = noisy(SMOOTH, Disk(), 1e-4, size=40)
    found = project(values, variance, sites, bases(Disk())[:1], degrees=[4])
    matrix = make_basis(Disk(), HARMONIC, 4).columns(sites.x, sites.y).T
    root = np.sqrt(variance)
    expected, *_ = np.linalg.lstsq(matrix / root[:, None], values / root, rcond=None)
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-8)
    covariance = np.linalg.inv((matrix / variance[:, None]).T @ matrix)
    error = np.sqrt(np.einsum("pi,ij,pj->p", matrix, covariance, matrix))
    np.testing.assert_allclose(found.standard_error(sites.x, sites.y), error, rtol=1e-6)
    assert found.level == 4
    left = (matrix @ expected - values) / root
    assert found.misfit == pytest.approx(left @ left / (values.size - 9), rel=1e-6)


def test_the_order_follows_the_data():
    levels = []
    for n in (2, 9, 20, 40):
        sites, _, values, variance = noisy(lambda x, y, n=n: ((x + 1j * y) ** n).real, Disk(), 0.02)
        levels.append(project(values, variance, sites, bases(Disk())[:1]).level)
    assert pytest.approx(levels, abs=2) == [2, 9, 20, 40]
    assert levels == sorted(levels)


def test_nothing_but_noise_is_fitted_by_next_to_nothing():
    sizes, within = [], []
    for seed in range(20):
        sites, _, values, variance = noisy(lambda x, y: 0 * x, Disk(), 1.0, seed, size=64)
        found = project(values, variance, sites, bases(Disk())[:1])
        error = found(sites.x, sites.y)
        sizes.append(np.mean(error**2))
        within.append((np.abs(error) <= found.standard_error(sites.x, sites.y)).mean())
    assert np.mean(sizes) < 10 / 3100  # of 3,100 points, a few functions' worth
    assert np.mean(within) > 0.5


def test_terms_around_a_hole_are_found():
    function = read_expression("log(x**2 + y**2) + x/(x**2 + y**2)")
    sites, truth, values, variance = noisy(function, RING, 0.05)
    found = project(values, variance, sites, bases(RING))
    assert found.basis.poles
    assert np.abs(found(sites.x, sites.y) - truth).max() < 0.03
    assert project(values, variance, sites, bases(RING)[:1]).misfit > 2


def test_terms_around_a_hole_are_left_out_where_nothing_asks_for_them():
    sites, _, values, variance = noisy(SMOOTH, RING, 0.5)
    assert not project(values, variance, sites, bases(RING)).basis.poles


def test_laplacians_are_fitted_along():
    """r² Re z¹² from noisy values and far better Laplacians, 52 Re z¹²: noise is left in half of the functions only."""
    make, squares = bases(Disk(), BIHARMONIC)[:1], []
    for seed in range(6):
        sites, truth, values, variance = noisy(
            lambda x, y: (x * x + y * y) * ((x + 1j * y) ** 12).real, Disk(), 0.1, seed, size=64
        )
        exact = 52 * ((sites.x + 1j * sites.y) ** 12).real
        given = np.concatenate([values, exact + 1e-3 * np.random.default_rng(seed).normal(size=exact.size)])
        variances = np.concatenate([variance, np.full(exact.size, 1e-6)])
        alone = project(values, variance, sites, make)
        together = project(given, variances, SamplePoints(sites.x, sites.y, laplacians=True), make)
        squares.append([np.mean((fit(sites.x, sites.y) - truth) ** 2) for fit in (alone, together)])
        found = together.basis.harmonic.sum(together.basis.to_laplacian(together.coefficients), sites.x, sites.y)
        assert np.sqrt(np.mean((found - exact) ** 2)) < 2e-4
    assert 0.4 < np.divide(*np.mean(squares, axis=0)[::-1]) < 0.7


def test_smooth_variances():
    """Down to the boundary, where they fall by orders of magnitude."""
    domain, grid = Disk(0.9), Grid(128)
    mask, distance = domain.mask(grid), domain.distance(*grid.points())
    truth = np.where(mask, distance * (1.0 + 0.5 * grid.points()[0]), 1e9)
    noise = truth * np.random.default_rng(0).chisquare(7, mask.shape) / 7
    smooth = Smoothing(mask, distance)
    ratio = smooth(noise[mask]) / truth[mask]
    assert 0.85 < np.quantile(ratio, 0.01) < np.quantile(ratio, 0.99) < 1.15
    assert 0.4 < ratio.min() < ratio.max() < 2.0
    assert (smooth(np.zeros(mask.sum())) > 0).all()


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_profiles_of_powers(power):
    """Also closer to the boundary than any point that was seen."""
    distance = np.random.default_rng(1).uniform(0.01, 1, 20_000)
    quantity = 3 * distance**power * np.random.default_rng(2).chisquare(4, distance.size) / 4
    profile, at = Profile(Bins(distance), quantity), np.geomspace(0.02, 0.9, 20)
    np.testing.assert_allclose(profile(at), 3 * at**power, rtol=0.25)
    assert profile(np.array([1e-4]))[0] == pytest.approx(3 * 1e-4**power, rel=2.5)


def test_profiles_of_next_to_nothing():
    assert Profile(Bins(np.array([0.5])), np.array([2.0]))(np.array([0.1, 3.0])) == pytest.approx([2, 2])
    assert (Profile(Bins(np.full(9, 0.5)), np.zeros(9))(np.array([0.1, 3.0])) > 0).all()
    assert np.isfinite(Profile(Bins(np.linspace(0, 1, 50)), -np.ones(50))(np.linspace(0, 2, 9))).all()


@pytest.mark.parametrize("known", ["function", "field"])
@pytest.mark.parametrize("index", range(5))
def test_correction_of_real_walks(index, known):
    from mc2.benchmark.runner import standard_walks
    from mc2.metrics import psnr

    instance, grid = generate("test", 20 + index), Grid(128)
    problem, found = instance.problem, standard_walks(instance, 8, 0, grid, "cpu")
    source = problem.source
    if known == "field" and source is not None:
        source = GridFunction(np.where(found.mask, problem.on_grid(source, grid), np.nan), grid)
    made = correct_by_physics(found.mean, found.variance, found.mask, grid, problem.domain, problem.operator, source)
    exact = problem.on_grid(problem.exact, grid)
    assert made.kept
    assert psnr(made.values, exact, found.mask) > psnr(found.mean, exact, found.mask) + 12
    assert (made.values[~found.mask] == 0).all()


def test_a_pixel_that_is_not_known_does_no_harm():
    """On a GPU, a pixel at the boundary may have no walks."""
    from mc2.benchmark.runner import standard_walks
    from mc2.metrics import psnr

    instance, grid = generate("test", 21), Grid(64)
    problem, found = instance.problem, standard_walks(instance, 8, 0, grid, "cpu")
    exact, scores = problem.on_grid(problem.exact, grid), []
    for unknown in (False, True):
        mean, variance = found.mean.copy(), found.variance.copy()
        row, column = np.argwhere(found.mask)[0]
        if unknown:
            mean[row, column], variance[row, column] = 0.0, np.inf
        made = correct_by_physics(mean, variance, found.mask, grid, problem.domain, problem.operator, problem.source)
        scores.append(psnr(made.values, exact, found.mask))
    assert scores[1] > 45  # 57 dB if it is known; the walks have 22


def test_what_the_basis_cannot_explain_is_left_alone():
    """An estimate of something that does not solve the equation: a fit would be wrong, so there is none."""
    grid, domain = Grid(64), Rectangle(0.9, 0.7)
    mask = domain.mask(grid)
    x, y = grid.points()
    field = np.where(mask, np.sign(np.sin(9 * x * y)), 0.0)
    made = correct_by_physics(field, np.full(mask.shape, 1e-4), mask, grid, domain, HARMONIC, None)
    assert not made.kept
    np.testing.assert_array_equal(made.values, field)
