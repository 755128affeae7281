"""Averages of walks with a fit as control variate: never worse than either alone, and as good as they say."""

import numpy as np
import pytest

import mc2
from mc2.fits.basis import make_basis
from mc2.fits.field import Field
from mc2.geometry import Disk
from mc2.problems.operator import LAPLACIAN
from mc2.solvers.averaging import CHUNK, make_averaging, score_walks
from mc2.walks.options import Options

PROBLEM = mc2.Laplace(Disk(), exact="exp(2*x)*cos(2*y)")
X, Y = Disk(0.95).sample_interior(1500, seed=0).T.astype(np.float32).astype(float)


def off_by(size):
    """The exact solution's first nine powers, and an error of a size: Re z³, larger towards the boundary."""
    basis = make_basis(Disk(), LAPLACIAN, 12)
    coefficients = np.zeros(len(basis.levels))
    for n in range(13):  # exp(2z) = Σ (2z)ⁿ/n!
        coefficients[max(2 * n - 1, 0)] = (2 * basis.radius) ** n / np.prod(np.arange(1.0, n + 1))
    coefficients[5] += size * basis.radius**3
    return Field(None, ((basis, coefficients),))


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def averaged(field, walks):
    how = {"walks": walks, "options": Options(), "instance": 5}
    found = score_walks(PROBLEM, field, X, Y, walks, how["options"], how["instance"])
    mean, variance = found.mean, found.variance
    return make_averaging(PROBLEM, field, mean, variance, Disk().distance(X, Y), **how), mean, variance


def test_means_and_their_variances():
    """Unbiased, with the variance that they have."""
    field, exact = off_by(0.1), PROBLEM.exact(X, Y)
    _, mean, variance = averaged(field, 64)
    error = field(X, Y) + mean - exact
    assert abs(error.sum()) < 4 * np.sqrt(variance.sum())
    assert rms(error) == pytest.approx(np.sqrt(variance.mean()), rel=0.1)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e-1, 1.0])
@pytest.mark.parametrize("walks", [4, 64])
def test_the_error_is_below_both(size, walks):
    """The average beats the field alone and the walks' mean alone, and its error bars tell."""
    field, exact = off_by(size), PROBLEM.exact(X, Y)
    made, mean, _ = averaged(field, walks)
    alone, walked = rms(field(X, Y) - exact), rms(field(X, Y) + mean - exact)
    error = field(X, Y) + made.values(X, Y) - exact
    assert rms(error) < 1.1 * min(alone, walked)
    assert rms(made.standard_error(X, Y)) == pytest.approx(rms(error), rel=0.3)
    share = made.share(X, Y)
    assert (share >= 0).all()
    assert (share < 1).all()


def test_the_share_follows_the_number_of_walks():
    shares = [averaged(off_by(0.1), walks)[0].share(X, Y).mean() for walks in (4, 64, 512)]
    assert shares == sorted(shares)
    assert shares[-1] > 0.8


def test_a_field_that_is_exact_is_hardly_changed():
    field = off_by(0.0)
    made, mean, _ = averaged(field, 16)
    assert rms(made.values(X, Y)) < 0.6 * rms(mean)


def test_parts_have_random_numbers_of_their_own():
    """More walks than are kept at a time: the second part is not the first one again."""
    walks = CHUNK // 4
    x, y = np.full(8, 0.25), np.full(8, 0.5)
    seen = []
    found = score_walks(PROBLEM, Field(), x, y, walks, Options(), 0, lambda *at: seen.append(at))
    mean, variance = found.mean, found.variance
    assert len(set(mean)) == 8
    assert seen == [(4 * walks, 8 * walks), (8 * walks, 8 * walks)]
    assert (np.abs(mean - PROBLEM.exact(0.25, 0.5)) < 4.5 * np.sqrt(variance) + 1e-3).all()
