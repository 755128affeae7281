"""Boundary least squares with Neumann and Robin conditions: published values, exact solutions, honest bounds."""

import numpy as np
import pytest

import mc2
from mc2 import Neumann, Robin
from mc2.errors import InputError
from mc2.fits.conditions import fit_conditions
from mc2.geometry import Annulus, Disk, Ellipse, Polygon, Rectangle

ELL = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])


def first_coefficient(u):
    """The coefficient of √r cos(θ/2) at the origin: the other terms are orthogonal to it on half circles."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    angle, r = 0.5 * np.pi * (nodes + 1), 0.5
    values = u(r * np.cos(angle), r * np.sin(angle))
    return float(weights @ (values * np.cos(0.5 * angle))) / np.sqrt(r)


def test_motz():
    """Published to nine digits by Li, Mathon and Sermer (1987)."""
    domain = Rectangle(width=2, height=1, center=(0, 0.5)).mark("cold", "x < 0", on="bottom")
    problem = mc2.Laplace(domain, boundary={"cold": 0, "right": 500, "*": Neumann(0)})
    assert first_coefficient(fit_conditions(problem).fit.field) == pytest.approx(401.162453745, rel=1e-11)


def test_nafems_t4():
    """NAFEMS benchmark T4; the digits are those of a series solution."""
    domain = Rectangle(width=0.6, height=1, center=(0.3, 0.5))
    boundary = {"bottom": 100, "left": Neumann(0), "*": Robin(750 / 52, 0)}
    found = fit_conditions(mc2.Laplace(domain, boundary=boundary))
    value = float(found.fit.field(np.array([0.6]), np.array([0.2]))[0])
    assert value == pytest.approx(18.25375653713, abs=1e-8)
    assert abs(value - 18.25375653713) < 2 * found.error


def test_reentrant_corner():
    found = fit_conditions(mc2.Laplace(ELL, boundary="x**2"))
    assert found.fit.worst < 1e-11
    assert len(found.fit.basis.levels) < 150


EXACT = {
    "laplace": (mc2.Laplace, "exp(x)*sin(y) + x", {}),
    "poisson": (mc2.Poisson, "cos(2*x)*y + x**3", {}),
    "yukawa": (mc2.Yukawa, "cos(2*x)*y + x**3", {"lam": 9.0}),
    "helmholtz": (mc2.Helmholtz, "cos(2*x)*y + x**3", {"k": 5.0}),
}
DOMAINS = {
    "disk": Disk(0.9).mark("a", "x > 0.2").mark("b", "y > 0.7"),
    "ellipse": Ellipse(1.3, 0.6).mark("a", "x > 0.2").mark("b", "x < -0.9"),
    "with a hole": Rectangle(width=2, height=1.6).mark("a", "x > 0.5").mark("b", "x < -0.9") - Disk(0.4, name="pipe"),
}


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("name", EXACT)
def test_smooth_solutions(name, domain):
    family, exact, more = EXACT[name]
    boundary = {"a": Neumann(), "b": Robin("1 + x**2"), "*": exact}
    problem = family(domain, boundary=boundary, exact=exact, **more)
    found = fit_conditions(problem)
    x, y = domain.sample_interior(500, seed=3).T
    error = found.fit.field(x, y) - problem.exact(x, y)
    assert np.sqrt(np.mean(error**2)) < min(found.error, 1e-8)
    assert found.error < 1e-6


@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
@pytest.mark.parametrize("family", ["laplace", "yukawa", "helmholtz"])
def test_singular_solutions(family):
    """u = B_{1/3}(kr) sin(θ/3) at the corner of an L, with u = 0 after and ∂u/∂n = 0 before it."""
    from scipy.special import iv, jv

    make, more, radial = {
        "laplace": (mc2.Laplace, {}, lambda r: r ** (1 / 3)),
        "yukawa": (mc2.Yukawa, {"lam": 9.0, "source": 0}, lambda r: iv(1 / 3, 3 * r)),
        "helmholtz": (mc2.Helmholtz, {"k": 4.0, "source": 0}, lambda r: jv(1 / 3, 4 * r)),
    }[family]

    def exact(x, y):
        return radial(np.hypot(x, y)) * np.sin(np.mod(np.arctan2(y, x), 2 * np.pi) / 3)

    problem = make(ELL, boundary={"edge 0": 0, "edge 5": Neumann(0), "*": exact}, **more)
    found = fit_conditions(problem)
    x, y = ELL.sample_interior(500, seed=3).T
    error = np.sqrt(np.mean((found.fit.field(x, y) - exact(x, y)) ** 2))
    assert error < min(found.error, 1e-9)


@pytest.mark.parametrize("domain", [Rectangle(width=2, height=1), Annulus(0.4, 1.0)], ids=repr)
def test_neumann_all_around(domain):
    """u is fixed by its mean, which is 0."""
    exact = "cos(2*x)*y**2 + x**2 + exp(y)"
    problem = mc2.Poisson(domain, exact=exact, boundary=Neumann())
    found = fit_conditions(problem)
    x, y = domain.sample_interior(20000, seed=3).T
    expected = problem.exact(x, y)
    shift = expected - found.fit.field(x, y)
    assert shift.std() < 1e-9
    assert shift.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(x.size))


def test_means_are_exact():
    """x² + y² on the unit disk has the mean 1/2."""
    found = fit_conditions(mc2.Poisson(Disk(1.0), source=4, boundary=Neumann(2)))
    value = found.fit.field(np.array([0.6]), np.array([0.0]))
    np.testing.assert_allclose(value, 0.36 - 0.5, atol=1e-12)


def test_incompatible_data():
    with pytest.raises(InputError, match=r"∂u/∂n = 6.28319, ∬ f = 3.14159, which differ by 3.14"):
        fit_conditions(mc2.Poisson(Disk(1.0), source=1, boundary=Neumann(1)))


def test_data_that_jump_between_parts():
    """The angle is the solution of data that jump at a corner, and its logarithm's part with a flux that does."""
    square = Rectangle(width=2, height=2).mark("right half", "x > 0", on="bottom")

    def angle(x, y):
        return np.arctan2(y + 1, x)

    problem = mc2.Laplace(
        square, boundary={"right half": 0, "bottom": np.pi, "top": angle, "left": angle, "right": angle}
    )
    x, y = square.sample_interior(200, seed=0).T
    np.testing.assert_allclose(fit_conditions(problem).fit.field(x, y), angle(x, y), atol=1e-10)

    def potential(x, y):  # Re w log w, whose flux through the bottom is 0 on the right, and π on the left
        r = np.hypot(x, y + 1)
        return x * np.log(r) - (y + 1) * np.arctan2(y + 1, x)

    fluxes = {"right half": Neumann(0), "bottom": Neumann(np.pi), "*": potential}
    found = fit_conditions(mc2.Laplace(square, boundary=fluxes))
    np.testing.assert_allclose(found.fit.field(x, y), potential(x, y), atol=1e-10)


def arc_modes(middle, half, count):
    """Fourier coefficients of what is 1 on an arc of the unit circle, without the mean."""
    n = np.arange(1, count)
    return 2 * np.sin(n * half) / (np.pi * n) * np.exp(-1j * n * middle)


@pytest.mark.parametrize("coefficient", [None, 2.0], ids=["neumann", "robin"])
def test_data_that_jump_within_a_part(coefficient):
    """On the unit disk ∂u/∂n = 1 on an arc and 0 elsewhere: the modes are those of the data over n + μ."""
    half = float(np.arccos(0.3))
    modes = arc_modes(0.0, half, 400)
    x, y = Disk(0.9).sample_interior(200, seed=0).T
    powers = (x + 1j * y)[:, None] ** np.arange(1, 400)
    condition = (
        Neumann(f"where(x > 0.3, 1, 0) - {half / np.pi!r}")
        if coefficient is None
        else Robin(coefficient, "where(x > 0.3, 1, 0)")
    )
    expected = (powers @ (modes / (np.arange(1, 400) + (coefficient or 0.0)))).real
    expected += half / np.pi / coefficient if coefficient else 0.0
    found = fit_conditions(mc2.Laplace(Disk(1.0), boundary=condition))
    np.testing.assert_allclose(found.fit.field(x, y), expected, atol=1e-11)
    assert found.error < 1e-10


def test_kinks_and_coefficients_that_jump():
    """u = x + xy on a square, where the coefficient and the value jump, and bend at the end of a piece."""
    square = Rectangle(width=2, height=2)
    top, right = (
        Robin("where(x > 0.25, 3, 1)", "x + where(x > 0.25, 6, 2)*x"),
        Robin("abs(y)", "1 + y + abs(y)*(1 + y)"),
    )
    problem = mc2.Laplace(square, boundary={"top": top, "right": right, "*": Neumann()}, exact="x + x*y")
    x, y = square.sample_interior(200, seed=0).T
    np.testing.assert_allclose(fit_conditions(problem).fit.field(x, y), x + x * y, atol=1e-12)


def test_a_component_without_any_value():
    apart = Disk(0.4, center=(-1, 0), name="free") | Rectangle(width=1, height=1, center=(1, 0))
    with pytest.raises(InputError, match=r"component of the domain at .* has Neumann conditions all around"):
        fit_conditions(mc2.Laplace(apart, boundary={"free": Neumann(0), "*": 1}))
    held = mc2.Laplace(apart, boundary={"free": Robin(2, 4), "*": 1})
    np.testing.assert_allclose(fit_conditions(held).fit.field(np.array([-1.0, 1.2]), np.zeros(2)), [2, 1], atol=1e-9)


@pytest.mark.parametrize("half", [1e-2, 1e-4])
def test_narrow_electrodes(half):
    """u = Re arcosh(z/half) is 0 on an electrode and has no flux through the wall that it lies in."""
    domain = Polygon([(-1, -1), (-half, -1), (half, -1), (1, -1), (1, 1), (-1, 1)])

    def exact(x, y):
        z = np.asarray(x) + 1j * (np.asarray(y) + 1)
        return np.log(np.abs((z + np.sqrt(z - half) * np.sqrt(z + half)) / half))

    task = mc2.Laplace(domain, {"edge 1": 0, "edge 0": Neumann(0), "edge 2": Neumann(0), "*": exact})
    found, (x, y) = fit_conditions(task), domain.sample_interior(500, 1).T
    error = np.sqrt(np.mean((found.fit.field(x, y) - exact(x, y)) ** 2))
    assert error < found.error < 1e-6
