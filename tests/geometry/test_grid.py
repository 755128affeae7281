"""The grid: cell centres, rows of y, columns of x."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Rectangle, as_grid


def test_cell_centres():
    grid = Grid(4)
    assert np.allclose(grid.x, [-0.75, -0.25, 0.25, 0.75])
    assert np.array_equal(grid.x, grid.y)
    x, y = grid.points()
    assert x.shape == y.shape == grid.shape == (4, 4)
    assert np.array_equal(x[0], grid.x)
    assert np.array_equal(y[:, 0], grid.y)
    assert grid.spacing == (0.5, 0.5)


def test_defaults_and_bounds():
    assert Grid().shape == (256, 256)
    grid = Grid(2, bounds=(0, 4, 1, 2))
    assert grid.extent == (0.0, 4.0, 1.0, 2.0)
    assert grid.spacing == (2.0, 0.5)
    assert grid.x.tolist() == [1.0, 3.0]
    assert grid.y.tolist() == [1.25, 1.75]
    assert Grid(2) == Grid(np.int64(2))


@pytest.mark.parametrize("size", [0, -1, 16385, 2.0, True, "8", None])
def test_wrong_sizes(size):
    with pytest.raises(InputError, match="grid size"):
        Grid(size)


@pytest.mark.parametrize("bounds", [(1, -1, -1, 1), (0, 0, 0, 1), (0, 1, 0), (0, 1, 0, np.nan), "abcd", None])
def test_wrong_bounds(bounds):
    with pytest.raises(InputError, match="grid bounds"):
        Grid(8, bounds=bounds)
    with pytest.raises(InputError, match="grid bounds"):
        Grid.over(bounds, 8)


def test_unknown_arguments():
    with pytest.raises(InputError, match="unknown argument of Grid 'bound': did you mean 'bounds'"):
        Grid(8, bound=(0, 1, 0, 1))


def test_covering():
    assert Grid.covering(Disk()) == Grid()
    wide = Rectangle(6.0, 2.0, center=(100.0, -20.0))
    assert Grid.covering(wide, 32) == Grid(32, 11, (94.0, 106.0, -22.0625, -17.9375))
    assert as_grid(None, wide) == Grid.covering(wide, 256)
    assert as_grid(np.int64(7), wide) == as_grid(7, wide) == Grid.covering(wide, 7)
    assert as_grid(Grid(3), wide) == Grid(3)


@pytest.mark.parametrize("grid", ["8", 8.0, True, (8, 8), [-1, 1]])
def test_what_is_no_grid(grid):
    with pytest.raises(InputError, match="must be a Grid, or a number of pixels along a side"):
        as_grid(grid, Disk())
