"""f, g and h follow from an exact solution, for every family; what does not fit together is refused."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Grid, Polygon, Square
from mc2.problems import FAMILIES
from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

X, Y = np.random.default_rng(4).uniform(-0.6, 0.6, (2, 50))
U = np.sin(3 * X) * np.exp(2 * Y)  # Δu = (4 − 9)u

CASES = {
    "poisson": ({}, -5 * U),
    "yukawa": ({"lam": 7.0}, -12 * U),
    "helmholtz": ({"k": 3.0}, 4 * U),
    "biharmonic": ({}, 25 * U),
}


@pytest.mark.parametrize("name", CASES)
def test_data_follow_from_the_exact_solution(name):
    parameters, source = CASES[name]
    problem = FAMILIES[name](Annulus(0.2, 1.3), exact="sin(3*x)*exp(2*y)", **parameters)
    np.testing.assert_allclose(problem.source(X, Y), source, rtol=1e-12)
    np.testing.assert_allclose(problem.boundary(X, Y), U, rtol=1e-12)
    if name == "biharmonic":
        np.testing.assert_allclose(problem.laplacian(X, Y), -5 * U, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_atoms_as_the_exact_solution(name):
    parameters, _ = CASES[name]
    atoms = [GENERAL_ATOMS["trig"](a=1.0, k=2), GENERAL_ATOMS["narrow_bump"](a=-0.7, w=9.0, x0=0.1, y0=0.2)]
    by_table = FAMILIES[name](Disk(), exact=atoms, **parameters)
    by_text = FAMILIES[name](Disk(), exact=" + ".join(atom.text for atom in atoms), **parameters)
    scale = np.abs(by_text.source(X, Y)).max()
    np.testing.assert_allclose(by_table.source(X, Y), by_text.source(X, Y), rtol=0, atol=1e-12 * scale)


def test_laplace_takes_a_harmonic_solution_only():
    problem = mc2.Laplace(Square(), exact=HARMONIC_ATOMS["h_exp_trig"](a=1.0, k=2.0, part="cos"))
    np.testing.assert_allclose(problem.boundary(X, Y), np.exp(2 * X) * np.cos(2 * Y))
    with pytest.raises(InputError, match="Δu = 0 asks for 0"):
        mc2.Laplace(Square(), exact="x**2")


def test_fields_are_zero_outside_the_mask():
    problem = mc2.Poisson(Disk(0.5), source="1 + x", boundary=0)
    grid = Grid(32)
    field, mask = problem.on_grid(problem.source, grid), problem.mask(grid)
    assert np.all(field[~mask] == 0)
    np.testing.assert_allclose(field[mask], 1 + grid.points()[0][mask])


POLYGON = Polygon([(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9)])

REFUSED = [  # what is tried, and what the message must say
    (lambda: mc2.Poisson(Disk(), boundary=0), "poisson needs source"),
    (lambda: mc2.Biharmonic(Disk(), 0, 0), "exact alone; or boundary=mc2.Clamped(u, slope) for a clamped plate"),
    (lambda: mc2.Laplace(Disk()), "laplace needs boundary"),
    (lambda: mc2.Poisson(Disk(), sorce=1, boundary=0), "unknown argument of Poisson 'sorce': did you mean 'source'?"),
    (lambda: mc2.Laplace(Disk(), boundry=0), "unknown argument of Laplace 'boundry': did you mean 'boundary'?"),
    (lambda: mc2.Biharmonic(Disk(), 0, 0, laplace=0), "unknown argument of Biharmonic 'laplace': did you mean"),
    (lambda: mc2.Yukawa(Disk(), 0, 0), "Yukawa needs lam: it takes domain, source, boundary, lam, exact"),
    (lambda: mc2.Helmholtz(Disk(), 0, 0, lam=1.0), "unknown argument of Helmholtz 'lam'"),
    (lambda: mc2.Helmholtz(Disk(), 0, 0), "Helmholtz needs k"),
    (lambda: mc2.Poisson(), "Poisson needs domain"),
    (lambda: mc2.Poisson(Disk(), 0, 0, 0), "Poisson: too many positional arguments; it takes domain, source, boundary"),
    (lambda: mc2.Laplace(Disk(), 0, boundary=1), "Laplace: multiple values for argument 'boundary'"),
    (lambda: mc2.Laplace(Disk(radus=1), 0), "unknown argument of Disk 'radus': did you mean 'radius'?"),
    (lambda: mc2.Laplace(Disk, 0), "must be a domain"),
    (lambda: mc2.Yukawa(Disk(), 0, 0, lam=0), "lam = 0 must be above 0"),
    (lambda: mc2.Yukawa(Disk(), 0, 0, lam=-2.0), "lam = -2.0"),
    (lambda: mc2.Yukawa(Disk(), 0, 0, lam=float("inf")), "lam = inf"),
    (lambda: mc2.Helmholtz(Disk(), 0, 0, k="2"), "k = '2'"),
    (lambda: mc2.Helmholtz(Disk(), 0, 0, k=True), "k = True"),
    (lambda: mc2.Laplace(Disk(), "log(x)"), "boundary is not finite at"),
    (lambda: mc2.Poisson(Disk(), "1/x*0 + sqrt(y)", 0), "source is not finite at"),
    (lambda: mc2.Poisson(POLYGON, exact="log(x)"), "is not finite at"),
    (lambda: mc2.Poisson(Disk(), source=3, exact="x**2"), "exact does not solve"),
    (lambda: mc2.Poisson(Disk(), boundary="y", exact="x**2"), "exact does not solve"),
    (lambda: mc2.Poisson(Disk(), exact="abs(x)"), "no Laplacian"),
    (lambda: mc2.Laplace("disk", 0), "domain = 'disk'"),
    (lambda: mc2.Laplace(Disk(0.1) - Disk(1.0), 0), "empty"),
    (lambda: mc2.Laplace(Disk(0.1) & Disk(0.1, center=(0.9, 0)), 0), "empty"),
    (lambda: mc2.Laplace(Disk(0.1, center=(5, 5)), 0).mask(Grid()), "no pixel centre"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(make, message):
    with pytest.raises(InputError) as refused:
        make()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_only_some_points_show():
    """exact without derivatives can still be compared on the boundary."""

    def wall(x, y):
        return x if x > 0 else -x

    problem = mc2.Poisson(Disk(), source=1, boundary=wall, exact=wall)
    assert float(problem.boundary(-1.0, 0.0)) == 1
    with pytest.raises(InputError, match="exact does not solve"):
        mc2.Poisson(Disk(), source=1, boundary="y", exact=wall)


def test_repr_is_short_and_tells_all():
    assert repr(mc2.Yukawa(Disk(), "x", 1, lam=2)) == "Yukawa(Disk(1.0), lam=2.0, source='x', boundary='1')"


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_an_exact_solution_is_checked_in_its_own_units(size):
    mc2.Laplace(Disk(size), exact=f"exp(3*x/{size})*cos(3*y/{size})")
    with pytest.raises(InputError, match="exact does not solve this laplace problem"):
        mc2.Laplace(Disk(size), exact=f"1e-8*(x/{size})**2")
