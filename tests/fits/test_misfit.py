"""Lack of fit is seen where there is one, and error bars then say so."""

import numpy as np
import pytest

import mc2
from mc2.benchmark.runner import standard_walks
from mc2.fits.misfit import lack_of_fit
from mc2.fits.projection import Bins
from mc2.geometry import Disk, Grid, Polygon
from mc2.solvers import PhysicsCorrector
from mc2.solvers.correctors import FitEvaluator
from mc2.zoo import generate

GRID, DISK = Grid(96), Disk(0.9)
MASK = DISK.mask(GRID)
X, Y = (c[MASK] for c in GRID.points())
DISTANCE = DISK.distance(X, Y)
VARIANCE = (0.1 + DISTANCE) ** 2


def rest(seed, misfit=0.0):
    return np.sqrt(VARIANCE) * np.random.default_rng(seed).normal(size=X.size) + misfit


def test_noise_is_not_taken_for_lack_of_fit():
    assert all(lack_of_fit(rest(seed), VARIANCE, MASK, Bins(DISTANCE)) is None for seed in range(40))


@pytest.mark.parametrize("waves", [5, 20])
def test_a_lack_of_fit_below_the_noise_is_measured(waves):
    """A wave of a fifth of the noise: its mean square, 1/2 of the square of its height."""
    wave = 0.1 * np.sin(waves * X)
    found = [lack_of_fit(rest(seed, wave), VARIANCE, MASK, Bins(DISTANCE)) for seed in range(10)]
    sizes = [float(profile(DISTANCE).mean()) for profile in found if profile is not None]
    assert len(sizes) == 10
    assert np.mean(sizes) == pytest.approx(np.mean(wave**2), rel=0.4)


def reentrant(x, y):
    return np.hypot(x, y) ** (2 / 3) * np.sin(2 / 3 * np.mod(np.arctan2(y, x), 2 * np.pi))


@pytest.mark.parametrize("walks", [16, 64])
def test_error_bars_know_of_a_corner_that_the_basis_does_not(walks):
    """r^(2/3) on the L: without the doubt, bars are 4 to 12 times too small."""
    shape = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
    found = mc2.solve(mc2.Laplace(shape, reentrant), walks, corrector="mc2-physics", grid=Grid(96), device="cpu")
    assert found.method == "mc2-physics"
    x, y = (c[found.mask] for c in found.grid.points())
    error, bars = found.values[found.mask] - reentrant(x, y), found.standard_error[found.mask]
    assert 0.6 < np.sqrt(np.mean(bars**2) / np.mean(error**2)) < 1.6
    assert np.mean(np.abs(error) <= 1.96 * bars) > 0.8


@pytest.mark.parametrize("waves", [300, 1140])
def test_error_bars_know_of_data_that_oscillate_between_pixels(waves):
    """Walks from pixels hardly see that u is not 0 at the rim: without what their variance tells, bars are 5× off."""
    found = mc2.solve(
        mc2.Laplace(Disk(1.0), f"cos({waves}*arctan2(y, x))"), 4, corrector="mc2-physics", grid=Grid(128), device="cpu"
    )
    x, y = (c[found.mask] for c in found.grid.points())
    error = found.values[found.mask] - np.hypot(x, y) ** waves * np.cos(waves * np.arctan2(y, x))
    bars = found.standard_error[found.mask]
    assert np.sqrt(np.mean(error**2)) < 1.96 * np.sqrt(np.mean(bars**2))


def test_what_a_fit_explains_is_not_taken_for_a_hidden_oscillation():
    """Instances of PDEZoo on a coarse grid, whose data vary by a few waves."""
    for index in range(12):
        instance = generate("test", index)
        estimate = standard_walks(instance, 4, 0, Grid(96), "cpu")
        evaluator = PhysicsCorrector().correct(estimate, instance.problem).evaluator
        assert not isinstance(evaluator, FitEvaluator) or evaluator.hidden == (0.0, 0.0)
