"""Frames: any size, place and unit of a problem is the same problem as the unit one."""

import re

import numpy as np
import pytest

import mc2
from mc2.functions import Expression, GridFunction, TermSum
from mc2.geometry import Annulus, Disk, Grid, Polygon, Rectangle
from mc2.problems import CONSTANT, FAMILIES, Frame
from mc2.zoo import generate

DOMAIN = Rectangle(1.0, 0.6) - Disk(0.2, center=(0.3, 0.1))
PARAMETERS = {"yukawa": {"lam": 7.0}, "helmholtz": {"k": 1.3}}
PLACES = [
    (1.0, (0.0, 0.0)), (1e-9, (0.0, 0.0)), (1e9, (0.0, 0.0)), (1.0, (1e6, -2e5)), (1e-9, (1e-3, 0.0)),
    (1e9, (0.0, 1e15)), (30.0, (200.0, 90.0)),
]  # fmt: skip


def made(family, length=1.0, center=(0.0, 0.0), value=1.0):
    """The unit problem, and the same, in other units: x = center + length X, u = value U."""
    x, y = (f"((({name}) - {at!r})/{length!r})" for name, at in zip("xy", center, strict=True))
    unit = FAMILIES[family](DOMAIN, **_data(family), **PARAMETERS.get(family, {}))
    power = {"source": 4 if family == "biharmonic" else 2, "boundary": 0, "laplacian": 2}
    data = {}
    for name, text in _data(family).items():
        factor = value / length ** power[name]
        own = re.sub(r"\b[xy]\b", lambda found: {"x": x, "y": y}[found[0]], text)
        data[name] = f"{factor!r}*({own})"
    scaled = {"lam": 7.0 / length**2} if family == "yukawa" else {"k": 1.3 / length} if family == "helmholtz" else {}
    return unit, FAMILIES[family](DOMAIN.scale(length).move(*center), **data, **scaled)


def _data(family):
    """Data of the solution sin(3x) exp(y) + xy², differentiated by hand."""
    u = "(sin(3*x)*exp(y) + x*y**2)"
    laplacian = "(-8*sin(3*x)*exp(y) + 2*x)"
    sources = {
        "poisson": laplacian, "yukawa": f"{laplacian} - 7*{u}", "helmholtz": f"{laplacian} + 1.69*{u}",
        "biharmonic": "64*sin(3*x)*exp(y)",
    }  # fmt: skip
    if family == "laplace":
        return {"boundary": u}
    extra = {"laplacian": laplacian} if family == "biharmonic" else {}
    return {"source": sources[family], "boundary": u, **extra}


@pytest.mark.parametrize(("length", "center"), PLACES)
@pytest.mark.parametrize("family", CONSTANT)
def test_in_its_frame_every_problem_is_the_unit_problem(family, length, center):
    unit, task = made(family, length, center)
    frame = Frame.of(task)
    assert frame.trivial == (length == 1.0 and center == (0.0, 0.0))
    framed, points = frame.problem(task), DOMAIN.sample_interior(200, seed=1).T
    lost = 1e-15 * (1 + np.abs(center).max() / length)  # what the offset has left of the digits
    np.testing.assert_allclose(framed.domain.distance(*points), DOMAIN.distance(*points), atol=1e-14 + 4 * lost)
    for name in unit.data:
        expected = getattr(unit, name)(*points)
        np.testing.assert_allclose(getattr(framed, name)(*points), expected, atol=1e-12 + 1e3 * lost)
    for name in unit.parameters:
        assert getattr(framed, name) == pytest.approx(getattr(unit, name), rel=1e-14 + 4 * lost)


@pytest.mark.parametrize("value", [1e-290, 1e-100, 1e100, 1e290])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("family", CONSTANT)
def test_values_of_any_size(family, length, value):
    unit, task = made(family, length, value=value)
    frame = Frame.of(task)
    assert np.log2(frame.value) % 1 == 0
    framed, points = frame.problem(task), DOMAIN.sample_interior(200, seed=1).T
    for name in unit.data:
        found = getattr(framed, name)(*points)
        expected = getattr(unit, name)(*points)
        assert 1e-2 < np.abs(found).max() < 1e3
        np.testing.assert_allclose(found * (frame.value / value), expected, atol=1e-9)


def test_ordinary_problems_are_left_alone():
    for index in range(60):
        task = generate("test", index).problem
        assert Frame.of(task).trivial
        assert Frame.of(task).problem(task) is task
    for domain in (Disk(), Disk(0.2), Disk(7.0), Annulus(0.3, 1.4), Disk(1.0, center=(3.0, 3.0))):
        assert Frame.of(mc2.Laplace(domain, "x")).trivial
    assert Frame.of(mc2.Poisson(Disk(), 0, 0)) == Frame()  # data that vanish have no size


def test_coordinates_and_grids():
    frame = Frame((10.0, -4.0), 2.0)
    np.testing.assert_array_equal(frame.inward([10, 12], [-4, 0]), [[0, 1], [0, 2]])
    np.testing.assert_array_equal(frame.outward(*frame.inward([9.0, 3.0], [1.0, 5.0])), [[9, 3], [1, 5]])
    assert frame.grid(Grid(8, bounds=(8, 12, -6, -2))) == Grid(8)


def test_formulas_keep_a_program_where_float32_can_run_it():
    near = mc2.Poisson(Disk(1e-4), "1e8*(1 + x*1e4)", "sin(1e4*y)")
    framed = Frame.of(near).problem(near)
    assert isinstance(framed.source, Expression)
    assert isinstance(framed.boundary, Expression)
    far = mc2.Laplace(Disk(1.0, center=(1e6, 0)), "sin(x)")
    assert Frame.of(far).problem(far).boundary.program is None
    x = np.float32([-0.3, 0.2])
    np.testing.assert_allclose(Frame.of(far).problem(far).boundary(x, x), np.sin(1e6 + x.astype(float)), atol=1e-9)
    tiny = mc2.Laplace(Disk(1e-9), "1e72*x**8")  # of size 1, but x**8 is 0 in float32
    framed = Frame.of(tiny).problem(tiny)
    assert framed.boundary.program is None
    np.testing.assert_allclose(framed.boundary(0.5, 0.0), 0.5**8)


def test_functions_of_other_kinds():
    grid = Grid.covering(Disk(50.0), 64)
    values = GridFunction(np.cos(grid.points()[0] / 50), grid)
    task = mc2.Poisson(Disk(50.0), values, lambda x, y: x / 50)
    framed = Frame.of(task).problem(task)
    np.testing.assert_allclose(framed.source(0.3, 0.1), 2500 * np.cos(0.3), rtol=1e-4)
    np.testing.assert_allclose(framed.boundary(0.6, 0.8), 0.6)


def test_exact_solutions_keep_their_derivatives():
    """Also those that stay in float64: Δ'u' = length² Δu/value."""
    for center in (0.0, 1e5):
        task = mc2.Poisson(Disk(20.0, center=(center, 0.0)), exact=f"sin((x - {center})/10)*y")
        framed = Frame.of(task).problem(task)
        x, y = 0.4, 0.3
        np.testing.assert_allclose(framed.exact(x, y), np.sin(2 * x) * 20 * y, rtol=1e-8)
        np.testing.assert_allclose(framed.exact.apply(0.0, 1.0, 0.0)(x, y), -80 * np.sin(2 * x) * y, rtol=1e-8)
        np.testing.assert_allclose(framed.source(x, y), -80 * np.sin(2 * x) * y, rtol=1e-8)


def test_atoms_in_a_frame():
    task = generate("test", 0).problem
    assert isinstance(task.boundary, TermSum)
    frame = Frame((1.0, 2.0), 100.0, 4.0)
    framed = frame.problem(task)
    x, y = framed.domain.sample_interior(5, seed=0).T
    np.testing.assert_allclose(framed.boundary(x, y), task.boundary(*frame.outward(x, y)) / 4.0)


def test_polygons_far_away():
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * 1e-3 + 1e3
    frame = Frame.around(Polygon(corners))
    np.testing.assert_allclose(frame.domain(Polygon(corners)).vertices, [(-1, -1), (1, -1), (1, 1), (-1, 1)], atol=1e-9)
