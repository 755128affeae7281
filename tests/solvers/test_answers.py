"""Answers: derivatives, fluxes, integrals and extremes of solutions, against exact ones, within their error bars."""

import numpy as np
import pytest
from scipy import special

import mc2
from mc2 import Neumann, Robin
from mc2.geometry import Disk, Ellipse, Polygon, Rectangle
from mc2.geometry.domain_rule import domain_rule

KEYHOLE = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))
EXACT = "sin(2*x)*exp(y) + x*y**2"
CASES = {
    "laplace": mc2.Laplace(KEYHOLE, exact="exp(x)*sin(y) + x"),
    "poisson": mc2.Poisson(KEYHOLE, exact=EXACT),
    "yukawa": mc2.Yukawa(KEYHOLE, lam=7.0, exact=EXACT),
    "helmholtz": mc2.Helmholtz(KEYHOLE, k=1.3, exact=EXACT),
    "biharmonic": mc2.Biharmonic(KEYHOLE, exact=EXACT),
    "micrometres": mc2.Poisson(Disk(1e-6, center=(3e-6, 0)), exact="sin(2e6*x)*exp(1e6*y)"),
}


@pytest.fixture(scope="module")
def solved():
    return {name: mc2.solve(problem, grid=64, seed=3) for name, problem in CASES.items()}


def numbers(problem, count=60):
    """Points well inside, and derivatives of the exact solution there."""
    domain, exact = problem.domain, problem.exact
    x, y = domain.sample_interior(count, seed=5).T
    inside = domain.distance(x, y) > 0.02 * domain.size
    x, y = x[inside], y[inside]
    gx, gy = exact.gradient()
    return x, y, (gx(x, y), gy(x, y)), [g(x, y) for g in (gx.gradient()[0], gx.gradient()[1], gy.gradient()[1])]


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_within_their_error_bars(solved, name):
    x, y, slopes, curvatures = numbers(CASES[name])
    first, second = solved[name].gradient(x, y), solved[name].hessian(x, y)
    for found, true in ((first, slopes), (second, curvatures)):
        error = np.abs(np.stack(found[:-1]) - true)
        assert (error <= 3 * found.standard_error + 1e-13 * np.abs(true).max()).mean() > 0.97
        assert np.sqrt(np.mean(error**2)) < 2e-2 * np.abs(true).max()


def exact_integral(problem):
    """By the midpoint rule on rings (disk) less a rectangle by Gauss's rule, in float64."""
    radius, center = problem.domain.size / 2, (problem.domain.bounds[0] + problem.domain.size / 2, 0.0)
    t, w = np.polynomial.legendre.leggauss(60)
    r, angle = 0.5 * radius * (t + 1), 2 * np.pi * np.arange(256) / 256
    x, y = center[0] + r[:, None] * np.cos(angle), center[1] + r[:, None] * np.sin(angle)
    total = float((0.5 * radius * w * r) @ problem.exact(x, y).sum(1)) * 2 * np.pi / 256
    if problem.domain is KEYHOLE:
        x, y = 0.2 + 0.3 * t[:, None], 0.1 + 0.2 * t
        total -= 0.06 * float(w @ problem.exact(*np.broadcast_arrays(x, y)) @ w)
    return total


@pytest.mark.parametrize("name", CASES)
def test_integrals(solved, name):
    found, true = solved[name].integral(), exact_integral(CASES[name])
    scale = CASES[name].domain.size ** 2
    assert abs(found.value - true) <= 3 * found.standard_error + 1e-12 * scale
    assert found.standard_error < 1e-2 * scale
    weighted = solved[name].integral(weight=1.0)
    assert abs(weighted.value - true) <= 3 * weighted.standard_error
    assert float(solved[name].mean()) == pytest.approx(found.value / CASES[name].domain.pieces.areas().sum())


def test_fluxes_add_up_to_the_source(solved):
    """∮ ∂u/∂n = ∫ Δu, and on a part what the exact gradient says."""
    solution = mc2.solve(CASES["poisson"], tolerance=1e-9, grid=32)
    whole, parts = solution.flux(), [solution.flux(part.name) for part in KEYHOLE.parts]
    assert whole.value == pytest.approx(sum(part.value for part in parts), abs=1e-9)
    source = mc2.Poisson(KEYHOLE, exact=mc2.Poisson(KEYHOLE, exact=EXACT).source.text).exact
    wanted = exact_integral(type("Problem", (), {"domain": KEYHOLE, "exact": staticmethod(source)}))
    assert abs(whole.value - wanted) <= 3 * whole.standard_error < 1e-5


def test_eccentric_cylinders():
    """The capacitance of circles of radii 1 and 1/4, half apart: 2π/arcosh((1 + 1/16 − 1/4)/(1/2))."""
    domain = Disk(1.0, name="outer") - Disk(0.25, center=(0.5, 0.0), name="inner")
    solution = mc2.solve(mc2.Laplace(domain, {"outer": 0, "inner": 1}), tolerance=1e-9, grid=32)
    true = 2 * np.pi / np.arccosh((1 + 0.0625 - 0.25) / 0.5)
    assert true == pytest.approx(5.890123070487, abs=1e-11)
    inner, outer = solution.flux("inner"), solution.flux("outer")
    assert abs(inner.value - true) <= max(3 * inner.standard_error, 1e-12) < 1e-5
    assert inner.value == pytest.approx(true, rel=1e-8)
    assert outer.value == pytest.approx(-true, rel=1e-8)


def test_the_torsion_constant_of_a_square():
    """4 ∫ w with Δw = −1 on [−1, 1]² is 2.249232…: a sum over odd k."""
    solution = mc2.solve(mc2.Poisson(Rectangle(1, 1), source=-1, boundary=0), tolerance=1e-9, grid=32)
    k = np.arange(1, 400, 2)
    true = 16 * (1 / 3 - 64 / np.pi**5 * float(np.sum(np.tanh(k * np.pi / 2) / k**5)))
    found = solution.integral()
    assert 4 * found.value == pytest.approx(true, rel=1e-7)
    assert abs(4 * found.value - true) <= 12 * found.standard_error + 1e-12


def test_extremes_and_values_along_a_line():
    problem = CASES["laplace"]
    solution = mc2.solve(problem, tolerance=1e-8, grid=48)
    top, low = solution.maximum(), solution.minimum()
    angle = np.linspace(0, 2 * np.pi, 200001)
    rim = problem.exact(np.cos(angle), np.sin(angle))
    assert top.value == pytest.approx(rim.max(), abs=1e-7)
    assert low.value == pytest.approx(rim.min(), abs=1e-7)
    assert np.hypot(top.x, top.y) == pytest.approx(1, abs=1e-6)
    line = solution.along((-1.0, 0.0), (1.0, 0.2), 101)
    inside, outside = (sign * problem.domain.distance(line.x, line.y) > 1e-9 for sign in (1, -1))
    assert outside.any()
    assert np.isnan(line.values[outside]).all()
    np.testing.assert_allclose(line.values[inside], problem.exact(line.x, line.y)[inside], atol=1e-6)
    assert line.distance[-1] == pytest.approx(np.hypot(2, 0.2))


def test_an_extreme_inside():
    """Δu = −4 with u = 0 around the unit disk is largest in the middle."""
    top = mc2.solve(mc2.Poisson(Disk(), source=-4, boundary=0), grid=33).maximum()
    assert (top.value, np.hypot(top.x, top.y)) == pytest.approx((1.0, 0.0), abs=1e-4)


def test_what_was_not_fitted_has_no_derivatives():
    solution = mc2.solve(CASES["laplace"], 4, grid=24, corrector="wos")
    with pytest.raises(mc2.InputError, match="has fitted no function, only values at pixels"):
        solution.gradient(0.0, -0.5)
    with pytest.raises(mc2.InputError, match="lies outside the domain"):
        solution.gradient(2.0, 0.0)
    with pytest.raises(mc2.InputError, match="unknown part of the boundary 'rimm'"):
        mc2.solve(CASES["laplace"], grid=24).flux("rimm")


def test_a_bessel_mode_has_the_flux_of_its_derivative():
    solution = mc2.solve(mc2.Helmholtz(Disk(1.0), k=1.5, source=0, boundary=1), grid=24)
    true = -2 * np.pi * 1.5 * special.j1(1.5) / special.j0(1.5)
    assert solution.flux().value == pytest.approx(true, rel=1e-6)


def test_integrals_far_from_the_origin_where_nodes_round_to_corners():
    """A plate in millimetres, with corner functions at its corners: ∫ Δu = 0 still, without a division by zero."""
    plate = Rectangle(width=120, height=80, center=(260, 90)) - Disk(12, center=(240, 90), name="pipe")
    problem = mc2.Laplace(plate, boundary={"pipe": 80, "top": Robin(0.2, 4), "*": Neumann(0)})
    solution = mc2.solve(problem, grid=32)
    assert solution.flux("pipe").value == pytest.approx(-solution.flux("top").value, rel=1e-7)
    assert solution.flux().value == pytest.approx(0, abs=1e-5)
    pixels = solution.integral(weight=1.0)
    whole = solution.integral()
    assert abs(whole.value - pixels.value) <= 3 * (whole.standard_error + pixels.standard_error)
    assert whole.standard_error < 1e-4 * whole.value


def test_fluxes_and_integrals_with_many_corners():
    """All flux together is the integral of Δu, and so it is between a hole and a circle around it."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    radius = 2 + 0.2 * np.cos(5 * angles) + 0.1 * np.cos(23 * angles)
    rim, hole = (
        np.stack([1 + size * np.cos(angles), 3 + size * np.sin(angles)], axis=1) for size in (radius, 0.3 * radius)
    )
    domain = Polygon(rim, holes=[hole])
    found = mc2.solve(mc2.Poisson(domain, source=-1, boundary="abs(x)"), tolerance=1e-6, grid=128)
    whole, inner = found.flux(), found.flux("hole 1")
    assert abs(whole.value + domain.pieces.areas().sum()) < 1e-5
    around = 1.1 * np.exp(2j * np.pi * np.arange(800) / 800)
    slope = found.gradient(1 + around.real, 3 + around.imag)
    through = float((slope.x * around.real + slope.y * around.imag).mean()) * 2 * np.pi  # a circle around the hole
    between = np.pi * 1.1**2 - Polygon(hole).pieces.areas().sum()
    assert abs(inner.value + through + between) < 1e-6
    total, pixels = found.integral(), found.integral("1")
    assert abs(total.value - pixels.value) < 2 * pixels.standard_error
    assert total.standard_error < 1e-4


def marked(disk, half="pi/6", x=0.0, r=1.0):
    """A round domain with two contacts."""
    return disk.mark("a", f"x > {x} + {r}*cos({half})").mark("b", f"x < {x} - {r}*cos({half})")


@pytest.mark.parametrize(("x", "r"), [(0.0, 1.0), (3e6, 1e3)])
def test_currents_are_exact_where_they_crowd_at_the_ends_of_contacts(x, r):
    """∂u/∂n grows like 1/√r there; a resistance does not depend on the size or the place."""
    found = mc2.resistance(marked(Disk(r, center=(x, 0)), x=x, r=r), "a", "b")
    true = special.ellipk(np.cos(np.pi / 6) ** 2) / special.ellipk(np.sin(np.pi / 6) ** 2)
    assert abs(found.value - true) <= min(3 * found.standard_error + 1e-12, 1e-9)


def test_currents_crowd_in_other_equations_too():
    """What enters leaves again, or is taken up: λ ∫ u, here by quadrature over the domain."""
    data = {"a": 1.0, "b": 0.0, "*": Neumann(0)}
    graded = mc2.solve(mc2.Elliptic(marked(Disk()), diffusion="1 + 0.2*x", source=0, boundary=data), grid=16)
    entering, leaving = graded.flux("a"), graded.flux("b")
    assert abs(entering.value + leaving.value) <= 2 * entering.standard_error < 1e-4
    taken = mc2.solve(mc2.Yukawa(marked(Disk()), lam=2.25, source=0, boundary=data), grid=16)
    points, weights = domain_rule(taken.problem.domain.pieces, 60)
    assert taken.flux().value == pytest.approx(2.25 * float(weights @ taken(*(0.999999999 * points).T)), abs=2e-8)


def test_what_arcs_miss_of_an_ellipse_is_added():
    ellipse = Ellipse(1.0, 0.6)
    assert mc2.solve(mc2.Laplace(ellipse, boundary=1), grid=16).integral().value == pytest.approx(
        0.6 * np.pi, rel=1e-13
    )
    risen = mc2.solve(mc2.Poisson(ellipse, source=-2, boundary=0), grid=16)
    assert risen.flux().value == pytest.approx(-1.2 * np.pi, rel=1e-12)
    plate = marked(ellipse, half="pi/4")
    current = mc2.solve(mc2.Laplace(plate, {"a": 1, "b": 0, "*": Neumann(0)}), grid=16, tolerance=1e-4)
    assert abs(current.flux("a").value + current.flux("b").value) < 1e-6
