"""Functions known on a grid only: interpolated, continued beyond what is known, and used like any other."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.functions import as_function
from mc2.functions.grid_function import GridFunction
from mc2.geometry import Disk, Grid, Square


def smooth(x, y):
    return np.sin(5 * x) * np.cos(3 * y) + x * x * y


def error(size, where, mask=None, function=smooth):
    """The largest error at points, of values on a grid of a size, of which only those in a mask are known."""
    grid = Grid(size)
    values = function(*grid.points())
    if mask is not None:
        values = np.where(mask.mask(grid), values, np.nan)
    return np.abs(GridFunction(values)(*where) - function(*where)).max()


def test_values_at_pixel_centres():
    grid = Grid(20, bounds=(-1, 3, 0, 1))
    values = np.random.default_rng(0).normal(size=grid.shape)
    x, y = grid.points()
    np.testing.assert_allclose(GridFunction(values, grid)(x, y), values, atol=1e-12)


def test_rows_are_y():
    x, y = Grid(32).points()
    found = GridFunction(np.cos(y) + 0.1 * x)(np.array([0.1, 0.5]), np.array([0.4, -0.3]))
    np.testing.assert_allclose(found, np.cos([0.4, -0.3]) + np.array([0.01, 0.05]), atol=1e-5)


def test_interpolation_is_of_order_four():
    where = Disk(0.7).sample_interior(4000, seed=0).T
    errors = [error(size, where) for size in (64, 128, 256)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(16, rel=0.1)


def test_unknown_values_do_not_spoil_known_ones():
    """Far from the edge of what is known nothing is lost, and up to it the error falls as the square of the spacing."""
    known, inner = Disk(0.8), Disk(0.6).sample_interior(4000, seed=0).T
    assert error(256, inner, known) < 1.01 * error(256, inner)
    edge = known.sample_boundary(2000, seed=1).T
    errors = [error(size, edge, known) for size in (64, 128, 256)]
    assert errors[-1] < 2e-3
    assert errors[0] / errors[2] > 12


def test_unknown_values_continue_with_the_slope():
    """A linear function goes on beyond its last known pixels, and then stays bounded."""
    grid = Grid(128)
    x, y = grid.points()
    function = GridFunction(np.where(Disk(0.5).mask(grid), 1 + 2 * x - 3 * y, np.nan))
    px, py = Disk(0.5).sample_boundary(500, seed=2).T
    np.testing.assert_allclose(function(px, py), 1 + 2 * px - 3 * py, atol=2e-3)
    far = function(*Square().sample_boundary(200, seed=0).T)
    assert np.isfinite(far).all()
    assert np.abs(far).max() < 4


def test_isolated_known_pixels():
    values = np.full((9, 9), np.nan)
    values[4, 4] = 2.5
    np.testing.assert_allclose(GridFunction(values)(*np.random.default_rng(0).uniform(-1, 1, (2, 50))), 2.5)


def test_shapes_are_kept():
    function = GridFunction(np.ones((8, 8)))
    assert function(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)
    assert function(np.zeros(0), np.zeros(0)).shape == (0,)
    assert function.program is None
    assert function.text == "values on 8 × 8 pixels"


def test_numbers_are_points_too():
    value = GridFunction(np.ones((8, 8)))(0.0, 0.0)
    assert np.shape(value) == ()
    assert float(value) == pytest.approx(1)


def test_what_is_given_is_copied():
    values = np.ones((8, 8))
    function = GridFunction(values)
    values[:] = 7
    np.testing.assert_allclose(function([0.1], [0.1]), 1)


BAD = [
    (np.zeros(5), None, r"must be an array \[n, n\], not of shape \[5\]"),
    (np.zeros((4, 5)), None, r"not of shape \[4, 5\]"),
    (np.zeros((4, 4, 4)), None, r"not of shape \[4, 4, 4\]"),
    (np.zeros((4, 4)), Grid(5), "4 × 4 values do not fit a grid of 5 × 5"),
    (np.full((4, 4), np.nan), None, "not unknown everywhere"),
    (np.where(np.eye(4) > 0, np.inf, 0), None, "must be finite, or NaN"),
    (np.full((4, 4), "a"), None, "numbers"),  # fails: NumPy's ValueError reaches the user
]


@pytest.mark.parametrize(("values", "grid", "message"), BAD, ids=range(len(BAD)))
def test_bad_values(values, grid, message):
    with pytest.raises(InputError, match=message) as refused:
        GridFunction(values, grid)
    assert "\n" not in str(refused.value)


def test_arrays_are_accepted_where_functions_are():
    x, y = Grid(128).points()
    values = -34 * np.sin(5 * x) * np.cos(3 * y)
    problem = mc2.Poisson(Disk(0.9), source=values, boundary="sin(5*x)*cos(3*y)")
    assert isinstance(problem.source, GridFunction)
    assert problem.source.grid == Grid(128)
    inside = Disk(0.8).sample_interior(500, seed=3).T
    np.testing.assert_allclose(problem.source(*inside), -34 * np.sin(5 * inside[0]) * np.cos(3 * inside[1]), atol=1e-5)
    assert "values on 128 × 128 pixels" in repr(problem)
    with pytest.raises(InputError, match=r"^source: .*not of shape \[3\]"):
        as_function(np.zeros(3), "source")
    with pytest.raises(InputError, match="boundary: values on a grid must be finite"):
        mc2.Laplace(Disk(), boundary=np.full((4, 4), np.inf))


def test_walks_with_a_source_on_a_grid():
    """The same walks with the formula: only the interpolation differs."""
    x, y = Grid(128).points()
    formula = mc2.Poisson(Disk(0.9), source="4*sin(3*x)*cos(y)", boundary="x*y")
    known = mc2.Poisson(Disk(0.9), source=4 * np.sin(3 * x) * np.cos(y), boundary="x*y")
    one, two = (mc2.estimate(task, 50, grid=Grid(12), device="cpu") for task in (formula, known))
    np.testing.assert_allclose(one.mean, two.mean, atol=2e-4)


def test_grid_functions_are_public():
    import mc2.functions

    assert mc2.functions.GridFunction is GridFunction


def linear(x, y):
    return 3 + 2 * x - y


FAR = Disk(3.0, center=(50.0, -20.0))
BOX = (47.0, 53.0, -23.0, -17.0)


def test_arrays_carry_their_bounds():
    """The same function, given in every way, on a domain far from [-1, 1]²."""
    from types import SimpleNamespace

    grid = Grid(40, bounds=BOX)
    values = linear(*grid.points())
    x, y = np.linspace(47.05, 52.95, 60), np.linspace(-17.1, -22.9, 30)  # y falls, and the array is not square

    def labelled(values, dims):
        coordinates = {"x": SimpleNamespace(values=x), "y": SimpleNamespace(values=y)}
        return SimpleNamespace(values=values, dims=dims, coords=coordinates)

    rows = linear(x[None, :], y[:, None])
    given = [GridFunction(values, grid), (values, grid), (values, BOX), labelled(rows, ("y", "x"))]
    given += [labelled(rows.T, ("x", "y"))]
    px, py = Disk(2.5, center=(50.0, -20.0)).sample_interior(200, seed=0).T
    for source in given:
        problem = mc2.Poisson(FAR, source=source, boundary=0)
        np.testing.assert_allclose(problem.source(px, py), linear(px, py), atol=2e-3)
    assert mc2.Poisson(FAR, source=given[3], boundary=0).source.bounds == pytest.approx(BOX, abs=0.2)


def test_data_arrays():
    xarray = pytest.importorskip("xarray")
    x, y = np.linspace(47, 53, 50), np.linspace(-17, -23, 30)
    array = xarray.DataArray(linear(x[:, None], y[None, :]), coords={"x": x, "y": y}, dims=("x", "y"))
    source = mc2.Poisson(FAR, source=array, boundary=0).source
    np.testing.assert_allclose(source(x[3:-3], -20.0), linear(x[3:-3], -20.0), atol=2e-3)


HOLED = np.ones((40, 40))
HOLED[10:20, 10:20] = np.nan

UNCOVERED = [
    (np.ones((40, 40)), r"source: values on 40 × 40 pixels of the box \(-1, 1, -1, 1\) do not cover the domain in"),
    (np.ones((40, 40)), r"as GridFunction\(values, Grid\(40, 40, \(xmin, xmax, ymin, ymax\)\)\)"),
    ((np.ones((40, 40)), Grid(40, bounds=(47.0, 52.5, -23.0, -17.0))), "do not cover the domain"),
    ((HOLED, BOX), "nothing is known near"),
    ((np.ones((40, 40)), 3), "must be a list of 4 numbers"),
    ((np.ones((40, 40)), Grid(30)), "do not fit a grid of 30 × 30"),
    ((np.ones((40, 30)), Grid(30)), "40 × 30 values do not fit a grid of 30 × 30"),
]


@pytest.mark.parametrize(("source", "message"), UNCOVERED, ids=range(len(UNCOVERED)))
def test_arrays_that_do_not_cover_the_domain(source, message):
    with pytest.raises(InputError, match=message) as refused:
        mc2.Poisson(FAR, source=source, boundary=0)
    assert "\n" not in str(refused.value)


def test_pixels_that_are_not_needed_may_be_unknown():
    """Half a pixel beyond the array, unknown pixels outside the domain, and inside it for boundary data."""
    x, y = Grid(40, bounds=BOX).points()
    outside = np.where(FAR.contains(x, y), linear(x, y), np.nan)
    mc2.Poisson(FAR, source=(outside, BOX), boundary=0)
    mc2.Poisson(FAR, source=(linear(x, y), (47.05, 52.95, -22.95, -17.05)), boundary=0)
    mc2.Laplace(FAR, boundary=(np.where(FAR.distance(x, y) < 1.0, linear(x, y), np.nan), BOX))
