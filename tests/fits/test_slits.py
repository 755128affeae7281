"""Slits in boundary fits: against exact solutions, whose values or singularities differ on the two sides."""

import numpy as np
import pytest

import mc2
from mc2 import Neumann
from mc2.errors import InputError
from mc2.fits.conditions import fit_conditions
from mc2.fits.corner_functions import CornerFunctions, Cut, Term
from mc2.fits.slit_functions import InnerSlit, TwinFunctions
from mc2.geometry import Disk, Ellipse, Rectangle, Slit
from mc2.problems.operator import LAPLACIAN
from tests.fits.test_gradients import differences

CUT = Disk(1.0) - Slit([(-1.5, 0), (0, 0)])
ROUND = 1.8
RX, RY = 0.5 * (ROUND + 1 / ROUND), 0.5 * (ROUND - 1 / ROUND)
"""Semi-axes of the ellipse with its foci at the tips of a slit from −1 to 1."""
INNER = Ellipse(RX, RY) - Slit([(-1, 0), (1, 0)])


def half_powers(x, y):
    return (x * x + y * y) ** 0.25 * np.cos(0.5 * np.arctan2(y, x))


def torsion_of_cut_disk(x, y):
    """Δu = −1 and u = 0 all around, as a series of half powers."""
    r, theta = np.hypot(x, y), np.arctan2(y, x)
    n = np.arange(1, 4001, 2)
    sign = np.sin(0.5 * n * np.pi)
    share = sign * (4 / n - n / (n * n / 4 - 4)) / (4 * np.pi)
    series = [(share * rho ** (n / 2) * np.cos(n * angle / 2)).sum() for rho, angle in zip(r, theta, strict=True)]
    return 0.25 * r * r * (np.cos(2 * theta) - 1) + np.array(series)


def joukowski(x, y):
    """log |w| and arg w, where w turns the outside of the slit into that of the unit circle."""
    z = x + 1j * y
    w = z + np.sqrt(z - 1) * np.sqrt(z + 1)
    return np.log(np.abs(w)), np.angle(w)


def charged(x, y):
    return joukowski(x, y)[0] / np.log(ROUND)


def torsion_around_slit(x, y):
    depth, angle = joukowski(x, y)
    whole = np.log(ROUND)
    wave = np.cos(2 * angle) * np.sinh(2 * depth) / np.sinh(2 * whole)
    return -0.5 * y * y + 0.25 * RY**2 * (depth / whole - wave)


def two_values(x, y):
    depth, angle = joukowski(x, y)
    n, whole = np.arange(1, 4001, 2)[:, None], np.log(ROUND)
    waves = np.exp(-n * depth) * (1 - np.exp(-2 * n * (whole - depth))) / (1 - np.exp(-2 * n * whole))
    return (4 / (np.pi * n) * np.sin(n * angle) * waves).sum(0)


CASES = {
    "root": (mc2.Laplace(CUT, half_powers), half_powers, 1e-11),
    "torsion, cut": (mc2.Poisson(CUT, -1, 0), torsion_of_cut_disk, 1e-10),
    "sides differ": (
        mc2.Laplace(CUT, boundary={"left": 1, "right": -1, "rim": lambda x, y: np.arctan2(y, x) / np.pi}),
        lambda x, y: np.arctan2(y, x) / np.pi,
        1e-10,
    ),
    "charged": (mc2.Laplace(INNER, boundary={"left": 0, "right": 0, "*": 1}), charged, 1e-11),
    "torsion, inner": (mc2.Poisson(INNER, -1, 0), torsion_around_slit, 1e-11),
    "inner sides differ": (mc2.Laplace(INNER, boundary={"left": 1, "right": -1, "*": 0}), two_values, 1e-9),
}


@pytest.mark.parametrize("name", CASES)
def test_exact(name):
    problem, exact, small = CASES[name]
    found = fit_conditions(problem)
    x, y = problem.domain.sample_interior(600, seed=1).T
    away = problem.domain.distance(x, y) > 0.01  # the series are short
    error = np.sqrt(np.mean((found.fit.field(x, y) - exact(x, y))[away] ** 2))
    assert error < found.error + 1e-14
    assert found.error < 10 * small
    assert error < small


@pytest.mark.slow
def test_a_slit_off_the_middle_of_a_rectangle_and_a_bent_one():
    """Corners of one side alone, whose functions have twins."""
    slant = Rectangle(1, 0.7) - Slit([(-1.5, 0.3), (0.1, -0.2)])
    bent = Disk(1.0) - Slit([(-1.5, 0.3), (-0.4, -0.2), (0.1, -0.2)])
    for domain, most in ((slant, 1e-6), (bent, 1e-8)):
        problem = mc2.Laplace(domain, "x*x + y")
        solution = mc2.solve(problem, grid=24)
        assert solution.converged
        assert solution.certify().overall.rms.high < most


def test_solve():
    solution = mc2.solve(mc2.Laplace(CUT, half_powers), grid=64, tolerance=1e-6)
    x, y = solution.grid.points()
    error = (solution.values - half_powers(x, y))[solution.mask]
    assert np.sqrt(np.mean(error**2)) < 1e-10
    assert solution.converged


def test_no_claim_without_a_basis():
    """A chord parts the disk: functions of the two halves have nothing in common."""
    problem = mc2.Laplace(Disk(1.0) - Slit([(-1.5, 0.1), (1.5, 0.1)]), boundary={"left": 1, "right": 0, "rim": 0})
    solution = mc2.solve(problem, grid=16, walks=2)
    assert not solution.converged
    assert "no basis fits" in solution.reason


def test_two_values_in_one_function_are_refused():
    with pytest.raises(InputError, match=r"two values on a slit.*boundary="):
        mc2.Laplace(CUT, "sqrt(sqrt(x*x + y*y))*sin(atan2(y, x)/2)")


def test_insulated_crack():
    """A crack through which nothing flows, along the flow and across it."""
    along = mc2.Laplace(CUT, boundary={"left": Neumann(0), "right": Neumann(0), "rim": "x"})
    found = fit_conditions(along)
    x, y = CUT.sample_interior(200, seed=2).T
    np.testing.assert_allclose(found.fit.field(x, y), x, atol=1e-10)

    def across(x, y):  # √r sin(θ/2), whose normal derivative is 0 on the crack
        return np.hypot(x, y) ** 0.5 * np.sin(0.5 * np.arctan2(y, x))

    problem = mc2.Laplace(CUT, boundary={"left": Neumann(0), "right": Neumann(0), "rim": across})
    np.testing.assert_allclose(fit_conditions(problem).fit.field(x, y), across(x, y), atol=1e-9)


TIP = Cut((0j, -1 + 0.2j), -1 + 0j)
TWINS = TwinFunctions(
    CornerFunctions(
        LAPLACIAN, Cut((-1 + 0.2j,), -1 + 0j), 1.2, 1.7, 2.0, (Term(0.0, 1, False, True), Term(1.8), Term(2.0, 1))
    ),
    TIP,
)


@pytest.mark.parametrize("functions", [TWINS, InnerSlit((0j, -0.5 + 0.1j, -1 + 0.2j), 6)])
def test_functions(functions):
    """Gradients are those of the values, and harmonic; away from the slit, which goes from −1 + 0.2i to 0."""
    random = np.random.default_rng(0)
    x, y = random.uniform(-2, 1, 200), random.uniform(-1, 1, 200)
    kept = np.abs(y + 0.2 * np.clip(x, -1, 0)) > 0.2
    x, y = x[kept], y[kept]
    gx, gy = functions.gradients(x, y)
    for mine, theirs in zip((gx, gy), differences(functions.columns, x, y, h=0.005), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    (xx, _), (_, yy) = (differences(lambda x, y, k=k: functions.gradients(x, y)[k], x, y, h=0.005) for k in (0, 1))
    np.testing.assert_allclose(xx + yy, 0, atol=1e-5 * np.abs(xx).max())
    out = np.zeros(x.size)
    coefficients = random.normal(size=len(functions.parts))
    functions.add_sum(coefficients, x, y, out)
    np.testing.assert_allclose(out, coefficients @ functions.columns(x, y))
