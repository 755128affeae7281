"""Conditions that hold on a whole side of the domain, up to the rounding of walks."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.functions.calculus import gradient
from mc2.functions.equality import margin
from mc2.functions.expression import X, Y
from mc2.functions.machine import run
from mc2.functions.reader import read_expression
from mc2.geometry import Grid, Polygon, Rectangle, Square

RIGHT = [
    lambda x, y: np.where(x == 1, 100.0, 0.0),
    lambda x, y: np.where(x != 1, 0.0, 100.0),
    lambda x, y: (x == 1) * 100,
    lambda x, y: np.where(x >= 1, 100.0, 0.0),
    lambda x, y: np.where(x < 1, 0.0, 100.0),
    lambda x, y: np.where(x > 1 - 1e-9, 100.0, 0.0),
    lambda x, y: np.where(x <= 1 - 1e-9, 0.0, 100.0),
    lambda x, y: 100 + 100 * np.sign(x - 1),
    lambda x, y: np.where(x - y == 1 - y, 100.0, 0.0),
    lambda x, y: np.where(np.maximum(x, y / 2) == 1, 100.0, 0.0),
    "where(x == 1, 100, 0)",
    "100*(1 - (x != 1))",
    "where(x**2 + x == 2, 100, 0)",
]


@pytest.mark.parametrize("boundary", RIGHT, ids=range(len(RIGHT)))
def test_a_side_is_a_side_also_in_single_precision(boundary):
    function = mc2.Laplace(Rectangle(1.0, 0.7), boundary).boundary
    y = np.linspace(-0.69, 0.69, 200)
    for x in (1.0, 1 - 3e-7, 1 + 3e-7):
        np.testing.assert_array_equal(run(function.program, x, y, np.float32), 100)
        np.testing.assert_array_equal(run(function.program, -x, y, np.float32), 0)
        np.testing.assert_array_equal(function(np.full(200, x, np.float32), y.astype(np.float32)), 100)
    for x in (1.0, 1 - 2e-16, 1 + 2e-16):
        np.testing.assert_array_equal(function(x, y), 100)
    np.testing.assert_array_equal(function(0.99999, y), 0)  # in double precision, jumps stay where they are
    np.testing.assert_array_equal(run(function.program, 0.999, y, np.float32), 0)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(size):
    square = Polygon(size * np.array([(3, 3), (4, 3), (4, 4), (3, 4)]))
    program = mc2.Laplace(square, lambda x, y: np.where(x**2 == 9 * size**2, 1.0, 0.0)).boundary.program
    y = size * np.linspace(3.01, 3.99, 50)
    np.testing.assert_array_equal(run(program, 3 * size * (1 + 1e-7), y, np.float32), 1)
    np.testing.assert_array_equal(run(program, 3.001 * size, y, np.float32), 0)


def test_walks_meet_the_side():
    """u = 25 in the middle of a square with 100 on one side and 0 on three, by symmetry."""
    problem = mc2.Laplace(Square(), lambda x, y: np.where(x == 1, 100.0, 0.0))
    found = mc2.estimate(problem, 20_000, points=[(0.0, 0.0)], device="cpu")
    assert found.mean[0] == pytest.approx(25, abs=4 * found.standard_error[0])
    assert found.standard_error[0] < 0.5


def test_jumps_elsewhere_stay_where_they_are():
    boundary = mc2.Laplace(Square(), lambda x, y: np.where((x >= 1) & (y > 0.3), 1.0, 0.0)).boundary
    np.testing.assert_array_equal(boundary(1.0, np.array([0.3, 0.3 + 1e-12])), [0, 1])


def test_sources_compare_exactly():
    problem = mc2.Poisson(Square(), lambda x, y: np.where(x == 0, 1.0, np.sin(x) / x), 0)
    np.testing.assert_array_equal(problem.source(np.array([0.0, 1e-6]), 0.0), [1.0, np.sin(1e-6) / 1e-6])


def branch(x, y):
    return 100.0 if x == 1 else 0.0


def narrow(x, y):
    return 100.0 if abs(x - 1) < 1e-9 else 0.0


def slanted(x, y):
    return 100.0 if x + 0.3 * y == 1 else 0.0


CUT = "1 + arctan2(y + 0.7, x - 2)/pi"  # 2 on the bottom, but 0 just below


@pytest.mark.parametrize(("boundary", "side"), [(branch, 100), (narrow, 100), (CUT, None)])
def test_what_cannot_be_read_is_called_on_the_boundary_only(boundary, side):
    """Where rounding in single precision would matter, points are projected in double precision first."""
    function = mc2.Laplace(Rectangle(1.0, 0.7), boundary).boundary
    assert function.program is None
    t = np.linspace(-0.65, 0.65, 100, dtype=np.float32)
    off = np.float32(3e-7) * np.where(np.arange(100) % 2, 1, -1).astype(np.float32)
    if side is None:
        np.testing.assert_allclose(function(t, np.float32(-0.7) + off), 2, rtol=1e-12)
    else:
        np.testing.assert_array_equal(function(np.float32(1) + off, t), side)


def test_what_changes_within_rounding_is_refused():
    domain = Polygon([(-1, -1), (1.3, -1), (0.7, 1), (-1, 1)])
    with pytest.raises(InputError, match="boundary changes within rounding along the boundary: it is") as refused:
        mc2.Laplace(domain, slanted)
    assert "\n" not in str(refused.value)
    function = mc2.Laplace(domain, lambda x, y: np.where(x + 0.3 * y == 1, 100.0, 0.0)).boundary
    y = np.linspace(-0.99, 0.99, 100)
    np.testing.assert_array_equal(function(1 - 0.3 * y, y), 100)


def wide(x, y):
    return 100.0 if abs(x - 1) < 1e-5 else 0.0


SMOOTH = [wide, "cos(1000*x)*exp(3*y)", "where(x > 0.3, 1, -1) + sqrt(abs(y - 0.7))", "abs(1 - x)**0.5", "sign(x*y)"]


@pytest.mark.parametrize("boundary", SMOOTH)
def test_what_does_not_is_accepted(boundary):
    assert mc2.Laplace(Rectangle(1.0, 0.7), boundary).boundary.program is not None


def test_margins_are_lengths():
    """|a − b| at a distance of 1e-6 from where a = b."""
    a, b = (X**2 + Y**2) ** 0.5, 0.5 + 0 * X
    assert float(margin(a - b, 1e-6)(0.3, 0.4)) == pytest.approx(1e-6)
    assert float(margin(7 * X - 3 * Y, 1e-6)(0.3, 0.7)) == pytest.approx(1e-6 * np.hypot(7, 3))


@pytest.mark.parametrize("text", ["abs(x*y - 0.1)", "minimum(x, y**2)", "maximum(x, y**2)", "where(x < y, x*x, 3*y)"])
def test_gradients_beside_kinks(text):
    u, h = read_expression(text), 1e-6
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 50))
    along_x, along_y = gradient(u, kinks=True)
    np.testing.assert_allclose(along_x(x, y), (u(x + h, y) - u(x - h, y)) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(along_y(x, y), (u(x, y + h) - u(x, y - h)) / (2 * h), atol=1e-6)


def test_walks_on_a_grid_of_a_slanted_side():
    """A right triangle with 1 on its hypotenuse x + y = 1 and 0 elsewhere: 1/2 where the hypotenuse is seen so."""
    triangle = Polygon([(0, 0), (1, 0), (0, 1)])
    given = mc2.Laplace(triangle, lambda x, y: np.where(x + y == 1, 1.0, 0.0))
    wide = mc2.Laplace(triangle, lambda x, y: np.where(x + y > 1 - 1e-3 * (x * y > 1e-5), 1.0, 0.0))
    one, two = (
        mc2.estimate(task, 200, grid=Grid(16, bounds=(0, 1, 0, 1)), device="cpu").mean for task in (given, wide)
    )
    np.testing.assert_allclose(one, two, atol=0.02)
    assert one.max() > 0.5
