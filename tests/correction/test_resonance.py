"""Tension: zero at eigenvalues that are known, in proportion to the distance from them elsewhere."""

import warnings

import numpy as np
import pytest
from scipy.special import jn_zeros

import mc2
from mc2.compute.blas import one_thread
from mc2.correction.basis import make_basis
from mc2.correction.boundary import fit_boundary, spread
from mc2.correction.resonance import answer_from_boundary, tension
from mc2.geometry import Annulus, Disk, Rectangle, Square

# domain and eigenvalue
KNOWN = {
    "disk, first": (Disk(), jn_zeros(0, 1)[0] ** 2),
    "disk, second radial": (Disk(), jn_zeros(0, 2)[1] ** 2),
    "disk, double": (Disk(), jn_zeros(3, 1)[0] ** 2),
    "half the radius": (Disk(0.5), 4 * jn_zeros(1, 1)[0] ** 2),
    "square, first": (Square(), 2 * (np.pi / 2) ** 2),
    "square, second": (Square(), 5 * (np.pi / 2) ** 2),
    "rectangle": (Rectangle(1.0, 0.5), (np.pi / 2) ** 2 + np.pi**2),
    "turned": (Square(0.8, center=(0.1, 0.3), angle=0.4), 2 * (np.pi / 1.6) ** 2),
}
each_known = pytest.mark.parametrize("name", KNOWN)


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def tension_at(domain, square, degree=24):
    points, weights = spread(domain, [])
    few = slice(None, None, 4)
    return tension(domain, make_basis(domain, (square, 1.0, 0.0), degree), points[:, few], weights[few])


@each_known
def test_tension_vanishes_at_eigenvalues(name):
    domain, square = KNOWN[name]
    assert tension_at(domain, square) < 1e-6
    assert tension_at(domain, 1.1 * square) > 1e-3
    assert tension_at(domain, 0.9 * square) > 1e-3


@each_known
def test_tension_grows_in_proportion_to_the_distance(name):
    domain, square = KNOWN[name]
    once, twice, tenfold = (tension_at(domain, square * (1 + 1e-4 * times)) for times in (1, 2, 10))
    assert twice / once == pytest.approx(2, rel=0.02)
    assert tenfold / once == pytest.approx(10, rel=0.05)
    assert tension_at(domain, square * (1 - 1e-4)) == pytest.approx(once, rel=0.02)


def test_tension_of_a_mode_by_hand():
    """J₀(kr) on the disk of radius 1 near its first zero: its root mean square on the circle over that inside."""
    k = jn_zeros(0, 1)[0] * 1.001
    from scipy.special import j0

    r = np.sqrt((np.arange(4000) + 0.5) / 4000)  # evenly by area
    expected = abs(j0(k)) / np.sqrt(np.mean(j0(k * r) ** 2))
    assert tension_at(Disk(), k * k) == pytest.approx(expected, rel=0.05)


def disk_eigenvalues():
    return np.sort(np.concatenate([jn_zeros(n, 12) ** 2 for n in range(40)]))


@pytest.mark.parametrize("k", [3.0, 5.0, 7.5, 10.0, 12.34, 15.0, 20.0])
def test_warnings_where_an_eigenvalue_is_close_and_nowhere_else(k):
    problem = mc2.Helmholtz(Disk(), exact=f"cos({0.6 * k}*x)*sin({0.8 * k}*y) + exp(x)", k=k)
    away = np.abs(disk_eigenvalues() / k**2 - 1).min()
    assert not 0.8e-3 < away < 1.2e-3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer_from_boundary(problem, fit_boundary(problem))
    assert len(caught) == (away < 1e-3)


def test_the_error_bound_holds():
    """Close to an eigenvalue the same misfit on the boundary makes a larger error inside, and the bound follows."""
    square, bounds = jn_zeros(0, 2)[1] ** 2, []
    for away in (1e-6, 1e-4, 1e-2):
        k = float(np.sqrt(square * (1 + away)))
        problem = mc2.Helmholtz(Disk(), exact=f"cos({0.6 * k}*x)*cos({0.8 * k}*y) + sin(x)", k=k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = answer_from_boundary(problem, fit_boundary(problem))
        x, y = Disk().sample_interior(500, seed=0).T
        error = answer.values(x, y) - problem.exact(x, y)
        assert np.sqrt(np.mean(error**2)) < answer.error + 1e-14
        assert (answer.standard_error(x, y) == answer.error).all()
        bounds.append(answer.error)
    assert bounds[0] > 10 * bounds[1] > 100 * bounds[2]


def test_tension_with_a_hole():
    """Functions around the hole count: without them the annulus has no modes of its own."""
    from scipy.optimize import brentq
    from scipy.special import j0, y0

    k = brentq(lambda k: j0(0.4 * k) * y0(k) - j0(k) * y0(0.4 * k), 4.5, 6.0)
    assert tension_at(Annulus(0.4, 1.0), k * k) < 1e-6
    assert tension_at(Annulus(0.4, 1.0), 1.05 * k * k) > 1e-3
