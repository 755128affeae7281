"""Problems with coefficients that vary: data that follow from a solution, checks, files and frames."""

import re

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.functions import read_expression
from mc2.geometry import Disk, Ellipse, Grid, Rectangle
from mc2.problems import Frame
from mc2.problems.coefficients import find_jump
from mc2.problems.operator import LAPLACIAN, Operator
from mc2.problems.problem_file import problem_from_data
from mc2.problems.writing import problem_as_data

DOMAIN = Ellipse(1.2, 0.8)
ALPHA, DRIFT, SIGMA = "1 + 0.5*sin(3*x)*cos(2*y)", ("1", "y"), "2 + x"
EXACT = "exp(x)*sin(2*y)"
X, Y = DOMAIN.sample_interior(40, seed=3).T


def alpha(x, y):
    return 1 + 0.5 * np.sin(3 * x) * np.cos(2 * y)


def u(x, y):
    return np.exp(x) * np.sin(2 * y)


def by_differences(x, y, h=1e-3):
    """∇·(α∇u) + ω·∇u − σu, from values of α and u alone."""
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}

    def slope(f, dx, dy):
        return lambda x, y: sum(w * f(x + k * h * dx, y + k * h * dy) for k, w in weights.items()) / h

    ux, uy = slope(u, 1, 0), slope(u, 0, 1)
    flow = slope(lambda x, y: alpha(x, y) * ux(x, y), 1, 0)(x, y)
    flow = flow + slope(lambda x, y: alpha(x, y) * uy(x, y), 0, 1)(x, y)
    return flow + ux(x, y) + y * uy(x, y) - (2 + x) * u(x, y)


def compiled(x, y):
    if x > 9:
        return 1.0
    return 1 + 0.5 * np.sin(3 * x) * np.cos(2 * y)


def array():
    grid = Grid(160, 120, (-1.4, 1.4, -1.0, 1.0))
    return alpha(*grid.points()), grid


@pytest.mark.parametrize(
    ("given", "most"),
    [(ALPHA, 1e-8), (alpha, 1e-8), (compiled, 1e-8), (array(), 2e-4)],
    ids=["text", "traced", "compiled", "array"],
)
def test_the_source_follows_from_the_solution(given, most):
    problem = mc2.Elliptic(DOMAIN, diffusion=given, drift=DRIFT, reaction=SIGMA, exact=EXACT)
    np.testing.assert_allclose(problem.source(X, Y), by_differences(X, Y), atol=most)
    assert problem.operator.varying.gradient[0](X, Y) == pytest.approx(1.5 * np.cos(3 * X) * np.cos(2 * Y), abs=most)
    known = -6.5 * np.sin(3 * X) * np.cos(2 * Y)
    assert problem.operator.varying.laplacian(X, Y) == pytest.approx(known, abs=100 * most)


def test_fluxes_follow_from_the_solution():
    """With a diffusion, Neumann and Robin data are of α ∂u/∂n."""
    domain = Rectangle(1.0, 0.5)
    given = {"right": mc2.Neumann(), "top": mc2.Robin(2.0), "*": EXACT}
    problem = mc2.Elliptic(domain, diffusion=ALPHA, exact=EXACT, boundary=given)
    by_name = dict(zip([part.name for part in domain.parts], problem.conditions, strict=True))
    one, t = np.ones(5), np.linspace(-0.4, 0.4, 5)
    np.testing.assert_allclose(by_name["right"].data(one, t, one, 0 * one), alpha(1, t) * u(1, t), rtol=1e-13)
    top = by_name["top"].data(t, 0.5 * one, 0 * one, one)
    np.testing.assert_allclose(top, alpha(t, 0.5) * 2 * np.exp(t) * np.cos(1) + 2 * u(t, 0.5), rtol=1e-13)
    with pytest.raises(InputError, match="exact does not solve this problem"):
        mc2.Elliptic(domain, diffusion=ALPHA, exact=EXACT, boundary={"right": mc2.Neumann(EXACT), "*": EXACT})


def test_numbers_that_are_those_of_a_family_are_that_family():
    assert mc2.Elliptic(DOMAIN, source=1, boundary=0).operator == LAPLACIAN
    assert mc2.Elliptic(DOMAIN, reaction=3, source=1, boundary=0).operator == Operator(mass=-3.0)
    varying = mc2.Elliptic(DOMAIN, diffusion=2, source=1, boundary=0).operator
    assert varying.varying is not None
    assert not any([varying.has_green, varying.has_symbol, varying.has_trefftz, varying.oscillating])
    assert np.isnan([varying.mass, varying.diffusion, varying.bilaplacian]).all()
    with pytest.raises(InputError, match="only constant coefficients"):
        _ = varying.coefficients


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"diffusion": "x"}, "diffusion is -.* it must be positive everywhere"),
        ({"diffusion": "sqrt(x)"}, "diffusion is not finite at"),
        ({"diffusion": 0}, "it must be positive"),
        ({"drift": 1}, r"drift = 1: must be a pair of functions, such as"),
        ({"drift": ("y", "z")}, "drift y: "),
        ({"reaction": "1/(x - x)"}, "reaction is not finite"),
        ({"diffusion": (np.ones((8, 8)), (0, 1, 0, 1))}, "diffusion: .* do not cover the domain"),
        ({"difusion": 1}, "did you mean 'diffusion'"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(InputError, match=message) as caught:
        mc2.Elliptic(DOMAIN, source=1, boundary=0, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "jumps"),
    [
        ("where(x > 0.1, 2, 1)", True),
        ("where(x**2 + y**2 < 0.04, 100, 1)", True),
        ("1 + abs(x)", False),
        ("exp(6*x)", False),
        ("1.5 + tanh(300*x)", False),
    ],
)
def test_jumps_are_found(text, jumps):
    assert (find_jump(read_expression(text), DOMAIN) is not None) == jumps


FILE = {
    "family": "elliptic", "domain": {"shape": "disk", "radius": 0.9}, "diffusion": "1 + x**2", "drift": [1, "y"],
    "reaction": 0.5, "source": 1, "boundary": "x",
}  # fmt: skip


def test_files():
    problem = problem_from_data(FILE).problem
    assert isinstance(problem, mc2.Elliptic)
    again = problem_from_data(problem_as_data(problem)).problem
    for one in (problem, again):
        values = [part(X, Y) for part in one.coefficients.functions.values()]
        np.testing.assert_array_equal(values, [1 + X**2, X**0, Y, 0.5 * X**0])
    for changed, message in [
        ({"drift": [1]}, "drift = [1] must be two expression texts or numbers, along x and y"),
        ({"family": "poisson"}, "poisson takes no diffusion: the family 'elliptic' does"),
        ({"difusion": 1}, "unknown key 'difusion': did you mean 'diffusion'"),
    ]:
        with pytest.raises(InputError, match=re.escape(message)):
            problem_from_data(FILE | changed)


def far(x, y):
    if y > 1e9:
        return 1.0
    return 1 + 0.5 * np.sin(3 * (x - 3e7) / 1e6) * np.cos(2 * y / 1e6)


@pytest.mark.parametrize("given", ["1 + 0.5*sin(3*(x - 3e7)/1e6)*cos(2*y/1e6)", far], ids=["text", "compiled"])
def test_in_its_frame_it_is_the_unit_problem(given):
    """A disk of a thousand kilometres in metres."""
    unit = mc2.Elliptic(Disk(), diffusion=ALPHA, drift=DRIFT, reaction=SIGMA, exact=EXACT)
    moved = mc2.Elliptic(
        Disk(1e6, center=(3e7, 0)), diffusion=given, drift=(1e-6, "y/1e12"), reaction="(2 + (x - 3e7)/1e6)/1e12",
        exact="1e3*exp((x - 3e7)/1e6)*sin(2*y/1e6)",
    )  # fmt: skip
    frame = Frame.of(moved)
    framed = frame.problem(moved)
    x, y = Disk().sample_interior(20, seed=1).T
    for one, other in zip(framed.operator.expanded(x, y), unit.operator.expanded(x, y), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(framed.source(x, y) * frame.value / 1e3, unit.source(x, y), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        framed.operator.varying.laplacian(x, y), unit.operator.varying.laplacian(x, y), atol=1e-6
    )
