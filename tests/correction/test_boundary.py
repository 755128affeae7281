"""Boundary least squares against exact solutions, and the misfit where there is none."""

import numpy as np
import pytest

import mc2
from mc2.correction.basis import make_basis
from mc2.correction.boundary import boundary_points, fit_boundary
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.zoo import generate

GRID = Grid(48)


@pytest.mark.parametrize("index", range(30))
def test_the_zoo_to_rounding(index):
    problem = generate("test", index).problem
    fit, mask = fit_boundary(problem), problem.mask(GRID)
    exact = problem.on_grid(problem.exact, GRID)
    assert np.abs(fit.on_grid(GRID, mask) - exact).max() < 1e-6 * np.ptp(exact[mask])
    assert fit.misfit < 1e-6


@pytest.mark.parametrize("family", ["laplace", "poisson", "yukawa", "helmholtz", "biharmonic"])
def test_singular_parts_in_a_hole(family):
    domain = Annulus(0.4, 1.1)
    singular = {
        "laplace": "log(x**2 + y**2) + x/(x**2 + y**2)",
        "poisson": "log(x**2 + y**2) + sin(4*x)",
        "yukawa": "log(x**2 + y**2)*cos(3*x)",
        "helmholtz": "exp(-3*(x**2 + y**2))*y/(x**2 + y**2)",
        "biharmonic": "(x**2 + y**2)*log(x**2 + y**2) + x/(x**2 + y**2)",
    }[family]
    parameters = {"yukawa": {"lam": 9.0}, "helmholtz": {"k": 3.0}}.get(family, {})
    problem = mc2.problems.FAMILIES[family](domain, exact=singular, **parameters)
    fit, mask = fit_boundary(problem), domain.mask(GRID)
    exact = problem.on_grid(problem.exact, GRID)
    limit = (
        1e-9 if family in ("laplace", "biharmonic") else 2e-2
    )  # a lifted source that is singular in the hole is rough
    assert np.abs(fit.on_grid(GRID, mask) - exact).max() < limit * np.ptp(exact[mask])


def test_laplacians_of_the_biharmonic_basis():
    basis = make_basis(Annulus(0.3, 1.2), (0.0, 0.0, 1.0))
    x, y = Annulus(0.5, 1.0).sample_interior(50, seed=0).T
    h, weights = 0.01, {0: -49 / 18, 1: 1.5, 2: -0.15, 3: 1 / 90}
    total = 2 * weights[0] * basis.columns(x, y, 6, 4)[0]
    for step in (1, 2, 3):
        for dx, dy in ((step, 0), (-step, 0), (0, step), (0, -step)):
            total += weights[step] * basis.columns(x + dx * h, y + dy * h, 6, 4)[0]
    np.testing.assert_allclose(basis.laplacians(x, y, 6, 4), total / h**2, atol=1e-5 * np.abs(total / h**2).max())


def test_the_misfit_tells_what_cannot_be_fitted():
    rough = mc2.Laplace(Disk() - Rectangle(1.0, 1.0, center=(1.0, -1.0)), boundary="abs(x)")
    assert fit_boundary(rough).misfit > 1e-4


def test_points_lie_on_the_boundary():
    domain = (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2))) - Disk(0.2)
    points = boundary_points(domain)
    assert 500 < points.shape[1] <= 1700
    np.testing.assert_allclose(domain.distance(*points), 0, atol=1e-9)
