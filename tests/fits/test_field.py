"""Fields: a lift and sums of basis functions, at points and on a grid, with their Laplacians."""

import numpy as np
import pytest

import mc2
from mc2.fits.basis import make_basis
from mc2.fits.field import Field, lifted, residual, scores
from mc2.geometry import Annulus, Disk, Grid, Rectangle
from mc2.problems.operator import LAPLACIAN
from mc2.walks.exits import find_exits
from mc2.walks.options import Options

RING = Annulus(0.3, 1.0)
GRID = Grid(32)
PLATE = mc2.Biharmonic(RING, source="sin(3*x) + 1", boundary="x", laplacian="y")


def made(problem, degrees=(3, 5)):
    """A lift and two parts with arbitrary coefficients."""
    field, random = lifted(problem, GRID), np.random.default_rng(0)
    for degree in degrees:
        basis = make_basis(problem.domain, problem.operator, degree)
        field = field.plus(basis, random.normal(size=len(basis.levels)))
    return field


def laplacian(function, x, y, h=0.01):
    weights = {0: -49 / 18, 1: 1.5, 2: -0.15, 3: 1 / 90}
    total = 2 * weights[0] * function(x, y)
    for step in (1, 2, 3):
        for dx, dy in ((step, 0), (-step, 0), (0, step), (0, -step)):
            total += weights[step] * function(x + dx * h, y + dy * h)
    return total / h**2


@pytest.mark.parametrize(
    "problem",
    [
        PLATE,
        mc2.Laplace(RING, boundary="x"),
        mc2.Poisson(Rectangle(1.5, 0.5), source="exp(x)", boundary="x"),
        mc2.Yukawa(Disk(), source="x*y", boundary="x", lam=9.0),
    ],
    ids=lambda problem: problem.name,
)
def test_grids_and_points_agree(problem):
    field, mask = made(problem), problem.mask(GRID)
    values = field.on_grid(GRID, mask)
    x, y = (c[mask] for c in GRID.points())
    np.testing.assert_allclose(field(x, y), values[mask], atol=1e-10 * np.abs(values).max())
    assert (values[~mask] == 0).all()
    assert field(np.full((2, 1), 0.5), np.full(3, 0.3)).shape == (2, 3)


def test_laplacians():
    field = made(PLATE)
    x, y = Annulus(0.5, 0.9).sample_interior(50, seed=0).T
    found = field.laplacian(x, y)
    np.testing.assert_allclose(found, laplacian(field, x, y), atol=1e-4 * np.abs(found).max())
    twice = laplacian(field.laplacian, x, y)
    np.testing.assert_allclose(twice, PLATE.source(x, y), atol=1e-4 * np.abs(found).max())


def test_parts_with_the_same_basis_are_added():
    basis, other = (make_basis(Disk(), LAPLACIAN, degree) for degree in (2, 3))
    field = Field().plus(basis, np.arange(5.0)).plus(other, np.ones(7)).plus(basis, np.ones(5))
    assert len(field.parts) == 2
    np.testing.assert_array_equal(dict(field.parts)[basis], np.arange(5.0) + 1)
    x, y = Disk().sample_interior(20, seed=0).T
    expected = (np.arange(5.0) + 1) @ basis.columns(x, y) + np.ones(7) @ other.columns(x, y)
    np.testing.assert_allclose(field(x, y), expected)


def test_fields_are_values():
    basis = make_basis(Disk(), LAPLACIAN, 2)
    field, coefficients = Field(), np.ones(5)
    more = field.plus(basis, coefficients)
    coefficients_before = dict(more.parts)[basis].copy()
    again = more.plus(basis, np.ones(5))
    assert field.parts == ()
    np.testing.assert_array_equal(dict(more.parts)[basis], coefficients_before)
    np.testing.assert_array_equal(dict(again.parts)[basis], 2 * coefficients_before)
    np.testing.assert_array_equal(coefficients, np.ones(5))


def test_an_empty_field_is_zero():
    assert (Field()(np.zeros(3), np.zeros(3)) == 0).all()
    assert lifted(mc2.Laplace(Disk(), boundary="x")).lift is None


def test_what_walks_are_worth():
    """The mean over walks with a solution as data is the solution; and nothing is left of a field that is exact."""
    for problem, exact in (
        (mc2.Biharmonic(Disk(), exact="(x**2 + y**2)*x + y"), "(x**2 + y**2)*x + y"),
        (mc2.Laplace(Disk(), exact="x*y + 3"), "x*y + 3"),
    ):
        from mc2.fits.boundary import fit_boundary

        field = fit_boundary(problem).field
        points = np.array([[0.25, 0.5], [-0.5, 0.125]])
        exits = find_exits(problem, points, 20_000, Options())
        values = scores(problem, field, exits)
        truth = mc2.functions.read_expression(exact)(*points.T)
        assert (np.abs(values.mean(1) - truth) < 4 * values.std(1) / np.sqrt(20_000) + 1e-4).all()
        assert np.abs(residual(problem, field, exits)).max() < 1e-10
        np.testing.assert_allclose(residual(problem, Field(), exits), values, atol=1e-10)
