"""Clamped plates: polynomials and other exact solutions, a value of Ritz's method, refusals."""

import numpy as np
import pytest

import mc2
from mc2 import Clamped
from mc2.errors import InputError
from mc2.fits.clamped import fit_plate
from mc2.geometry import Disk, Ellipse, Polygon, Rectangle, Square
from mc2.problems.problem_file import problem_from_data

EXACT = "cos(2*x)*y + x**3"
ELL = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])


def root_mean_square(problem, found, exact):
    x, y = problem.domain.sample_interior(400, seed=3).T
    return float(np.sqrt(np.mean((found.fit.field(x, y) - exact(x, y)) ** 2)))


def test_circular_plate_under_uniform_load():
    problem = mc2.Biharmonic(Disk(1.0), source=64, boundary=Clamped(0, 0))
    solution = mc2.solve(problem, grid=32)
    assert solution.method == "trefftz"
    assert "by a bound" in solution.reason
    x, y = (c[solution.mask] for c in solution.grid.points())
    np.testing.assert_allclose(solution.values[solution.mask], (1 - x * x - y * y) ** 2, atol=1e-13)
    assert solution.certify().kind == "bound"


def ritz(count):
    """Deflection in the middle of the clamped square of side 1 under a unit load, by second integrals of Legendre's
    polynomials as trial functions."""
    from numpy.polynomial import legendre

    nodes, weights = legendre.leggauss(2 * count + 8)
    values = np.zeros((3, count, nodes.size))
    middle = np.zeros(count)
    for k in range(count):
        own = np.append(np.zeros(2 * k + 2), 1.0)
        for order in range(3):
            values[order, k] = legendre.legval(nodes, legendre.legint(own, order, lbnd=-1) if order else own)
        middle[k] = legendre.legval(0.0, legendre.legint(own, 2, lbnd=-1))
    bending, slopes, masses = ((one * weights) @ one.T for one in values)
    load = values[2] @ weights
    stiffness = np.kron(bending, masses) + 2 * np.kron(slopes, slopes) + np.kron(masses, bending)
    scale = 1 / np.sqrt(np.diag(stiffness))
    found = np.linalg.solve(stiffness * scale * scale[:, None], np.kron(load, load) * scale) * scale
    return float(np.kron(middle, middle) @ found) / 16


def test_square_plate_under_uniform_load():
    """The published value, to its ten digits, and that of another method to as many as it has."""
    found = fit_plate(mc2.Biharmonic(Square(0.5), source=1, boundary=Clamped(0, 0)))
    value = float(found.fit.field(np.zeros(1), np.zeros(1))[0])
    assert value == pytest.approx(0.001265319087, abs=1e-12)
    assert value == pytest.approx(ritz(20), abs=2e-14)
    assert found.error < 1e-12


@pytest.mark.parametrize(
    "domain", [Ellipse(1.3, 0.6), ELL, Rectangle(width=2, height=1.6) - Disk(0.4, name="pipe")], ids=repr
)
def test_smooth_solutions(domain):
    problem = mc2.Biharmonic(domain, exact=EXACT, boundary=Clamped())
    found = fit_plate(problem)
    assert root_mean_square(problem, found, problem.exact) < min(found.error, 1e-10)


def test_parts_that_are_supported():
    """u and Δu on the outer sides, u and ∂u/∂n around the hole; in millionths too."""
    plate = (Rectangle(width=2, height=1.6) - Disk(0.4, name="pipe")).scale(1e-6)
    exact = "cos(2e6*x)*y*1e6 + x**3*1e18"
    problem = mc2.Biharmonic(plate, exact=exact, boundary={"pipe": Clamped(), "*": exact})
    solution = mc2.solve(problem, grid=32)
    x, y = (c[solution.mask] for c in solution.grid.points())
    error = solution.values[solution.mask] - problem.exact(x, y)
    assert np.sqrt(np.mean(error**2)) < solution.standard_error.max() < 1e-9


def test_reentrant_corner_is_bounded():
    """The corner of an L is not known to the basis: what is left shows in the bound. The reference has more poles."""
    found = fit_plate(mc2.Biharmonic(ELL, source=1, boundary=Clamped(0, 0)))
    value = float(found.fit.field(np.array([0.5]), np.array([0.5]))[0])
    assert abs(value - 0.00192190) < found.error < 1e-2 * value


def test_files():
    data = {
        "family": "biharmonic",
        "source": 64,
        "domain": {"shape": "disk", "radius": 1.0},
        "boundary": {"rim": {"clamped": {"value": 0, "slope": 0}}},
    }
    assert problem_from_data(data).problem.clamped


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mc2.Laplace(ELL, boundary=Clamped(0, 0)), "laplace takes no clamped conditions"),
        (lambda: mc2.Biharmonic(ELL, 1, Clamped(0)), "clamped condition without a slope"),
        (lambda: mc2.Biharmonic(ELL, 1, {"edge 0": Clamped(0, 0), "*": 0}), "biharmonic needs laplacian"),
        (lambda: mc2.Biharmonic(Disk(1.0), exact="(1-x**2-y**2)**2", boundary=Clamped(0, 1)), "does not solve"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("corrector", ["wos", "mc2-physics"])
def test_walks_refuse(corrector):
    problem = mc2.Biharmonic(Disk(1.0), source=64, boundary=Clamped(0, 0))
    with pytest.raises(InputError, match="this plate is clamped"):
        mc2.solve(problem, corrector=corrector, grid=16)
    with pytest.raises(InputError, match="this plate is clamped"):
        mc2.estimate(problem, grid=16)


def test_solutions_are_loaded_again(tmp_path):
    problem = mc2.Biharmonic(Disk(1.0), source=64, boundary=Clamped(0, 0))
    solution = mc2.solve(problem, grid=16)
    solution.save(tmp_path / "plate.npz")
    assert mc2.Solution.load(tmp_path / "plate.npz")(0, 0) == pytest.approx(1.0, abs=1e-12)
