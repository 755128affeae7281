"""Modes against eigenvalues that are known."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import jn_zeros, jv, yv

import mc2
from mc2.geometry import Annulus, Disk, Grid, Polygon, Rectangle, Square

L_SHAPE = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
DISK = np.sort(np.concatenate([np.repeat(jn_zeros(n, 4) ** 2, 2 if n else 1) for n in range(8)]))
SQUARE = np.sort([(m * m + n * n) * np.pi**2 / 4 for m in range(1, 8) for n in range(1, 8)])


def annulus(count):
    """Of the annulus with radii 0.4 and 1: zeros of Jₙ(0.4 k) Yₙ(k) − Jₙ(k) Yₙ(0.4 k)."""

    def cross(k, n):
        return jv(n, 0.4 * k) * yv(n, k) - jv(n, k) * yv(n, 0.4 * k)

    grid, found = np.linspace(4, 9, 400), []
    for n in range(10):
        values = cross(grid, n)
        for k in np.flatnonzero(values[1:] * values[:-1] < 0):
            found += [brentq(cross, grid[k], grid[k + 1], args=(n,), xtol=1e-14) ** 2] * (2 if n else 1)
    return np.sort(found)[:count]


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (Disk(), DISK[:8]),
        (Square(), SQUARE[:10]),
        (Disk(1e-6, center=(3e-6, 0)), 1e12 * DISK[:3]),
        (Annulus(0.4, 1.0), annulus(4)),
    ],
    ids=["disk", "square", "micrometres", "annulus"],
)
def test_known_eigenvalues_are_found_with_all_their_multiplicities(domain, expected):
    found = mc2.modes(domain, len(expected))
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-12)
    assert (np.abs(found.eigenvalues - expected) <= found.errors).all()
    assert (found.errors < 1e-8 * expected).all()


def test_the_l_shape():
    """λ₁ by Jones (2015), λ₂ from a public program for particular solutions; λ₃ is 2π², that of its squares."""
    found = mc2.modes(L_SHAPE, 3)
    expected = np.array([9.639723844021941, 15.197251926454308, 2 * np.pi**2])
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-12)
    assert (np.abs(found.eigenvalues - expected) <= found.errors).all()
    assert (found.errors < 1e-6 * expected).all()


def test_modes_are_orthonormal_and_satisfy_their_equation():
    domain = Rectangle(width=3.0, height=1.5, center=(4.0, 1.0), angle=0.3)
    found, count = mc2.modes(domain, 4), 60
    t, w = np.polynomial.legendre.leggauss(count)
    corner = np.exp(0.3j) * (1.5 * t[:, None] + 0.75j * t) + (4 + 1j)
    x, y = corner.real.ravel(), corner.imag.ravel()
    weights = (1.5 * 0.75 * w[:, None] * w).ravel()
    values = np.array([mode(x, y) for mode in found])
    np.testing.assert_allclose((values * weights) @ values.T, np.eye(4), atol=1e-10)
    slopes = np.array([mode.gradient(x, y) for mode in found])
    energies = np.einsum("kdp,kdp,p->k", slopes, slopes, weights)
    np.testing.assert_allclose(energies, found.eigenvalues, rtol=1e-10)
    rim = domain.pieces.at(0.3).T
    assert max(float(np.abs(mode(*rim)).max()) for mode in found) < 1e-8


def test_modes_of_a_domain_with_two_reentrant_corners_have_norm_one():
    """By Gauss's rule on five squares, graded towards their corners, where gradients are infinite."""
    domain = Polygon([(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)])
    t, w = np.polynomial.legendre.leggauss(24)
    t = 0.5 * (t + 1)
    place, weight = t**3 * (10 - 15 * t + 6 * t * t), 15 * t**2 * (1 - t) ** 2 * w
    corners = np.array([(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)])[:, :, None, None]
    x, y = corners[:, 0] + place[:, None], corners[:, 1] + place
    mode = mc2.modes(domain, 1)[0]
    values = mode(*(c.ravel() for c in np.broadcast_arrays(x, y))).reshape(5, 24, 24)
    assert float(np.einsum("kij,i,j->", values**2, weight, weight)) == pytest.approx(1, abs=1e-7)


def test_a_bound_that_is_too_small_would_be_seen():
    """Of the pentagon nothing is known in closed form: two bases agree within their bounds."""
    from mc2.compute.blas import one_thread
    from mc2.fits.particular import ParticularSolutions
    from mc2.walks import first_eigenvalue

    pentagon = Polygon(np.exp(2j * np.pi * np.arange(5) / 5).view(float).reshape(-1, 2))
    solutions, guess = ParticularSolutions(pentagon), first_eigenvalue(pentagon)
    with one_thread():
        coarse, fine = (solutions.judged(solutions.converge(guess, level)[0]) for level in (0, 2))
    assert coarse.bound > 3 * fine.bound
    assert abs(coarse.eigenvalue / fine.eigenvalue - 1) <= coarse.bound + fine.bound


def test_pictures_and_texts():
    found = mc2.modes(Disk(), 3)
    assert len(found) == len(list(found)) == 3
    assert repr(found[0]).startswith("Mode(λ = 5.783185962")
    assert str(found).count("\n") == 2
    assert found._repr_png_().startswith(b"\x89PNG")
    field = found[0].on_grid(Grid(32))
    assert field[0, 0] == 0
    assert abs(field[16, 16]) == pytest.approx(0.5642 / 0.51915, rel=1e-2)  # J₀(kr)/(√π |J₁(k)|)


@pytest.mark.parametrize(
    ("domain", "count", "message"),
    [
        (Disk(), 0, "count = 0 must be an integer from 1 to 100"),
        ("disk", 3, "must be a domain"),
    ],
)
def test_refusals(domain, count, message):
    with pytest.raises(mc2.InputError, match=message) as caught:
        mc2.modes(domain, count)
    assert "\n" not in str(caught.value)
    with pytest.raises(mc2.InputError, match=r"\(2, 0\) lies outside the domain"):
        mc2.modes(Disk(), 1)[0](2.0, 0.0)


@pytest.mark.slow
def test_holes_may_have_corners():
    """The fourth mode of a square frame is odd in x and in y, and so the first of a quarter of it, which is an L."""
    quarter = Polygon([(1 / 3, 0), (1, 0), (1, 1), (0, 1), (0, 1 / 3), (1 / 3, 1 / 3)])
    true, found = mc2.modes(quarter, 1)[0], mc2.modes(Square(1.0) - Square(1 / 3), 4)[3]
    assert found.error < 1e-3 * true.eigenvalue
    assert abs(found.eigenvalue - true.eigenvalue) <= min(found.error, 1e-6 * true.eigenvalue)
    assert abs(found(0.6, -0.7) + found(-0.6, -0.7)) < 1e-4
