"""Very many shapes united: against the largest of their distances, one by one."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import mc2
from mc2.compute.compile import kernel
from mc2.geometry import Disk, Ellipse, Polygon, Rectangle, Triangle, Union, kernels
from mc2.walks import estimate


def many(count, seed=0):
    """Shapes of several kinds, all over the square."""
    random = np.random.default_rng(seed)
    found = []
    for k in range(count):
        center, angle = tuple(random.uniform(-1, 1, 2)), float(random.uniform(0, 6))
        found.append(
            (
                Disk(0.06, center=center),
                Rectangle(0.08, 0.02, center=center, angle=angle),
                Ellipse(0.02, 0.09, center=center, angle=angle),
                Triangle(0.08, center=center, angle=angle),
                Polygon([(0, 0), (0.1, 0), (0.02, 0.03)]).rotate(angle).move(*center),
            )[k % 5]
        )
    return found


@kernel
def by_points(code, constants, x, y, registers, out):
    for i in range(x.size):
        out[i] = kernels.distance_point(code, constants, x[i], y[i], registers)


@pytest.mark.parametrize("how", ["union", "difference"])
def test_distance(how):
    shapes = many(300)
    domain = Union(*shapes) if how == "union" else Rectangle(1.5, 1.4) - Disk(0.1) - Union(*shapes[:2])
    if how == "difference":
        for shape in shapes[2:]:
            domain = domain - shape
    assert kernels.MEMBERS in domain.program.code[:, 0]
    x, y = np.random.default_rng(1).uniform(-2.5, 2.5, (2, 5000))
    expected = np.max([shape.distance(x, y) for shape in shapes], axis=0)
    if how == "difference":
        expected = np.min([Rectangle(1.5, 1.4).distance(x, y), -Disk(0.1).distance(x, y), -expected], axis=0)
    np.testing.assert_allclose(domain.distance(x, y), expected, atol=1e-14)
    code, constants = domain.program
    x, y = x.astype(np.float32), y.astype(np.float32)
    lanes, points = np.empty_like(x), np.empty_like(x)
    kernels.distance(code, constants.astype(np.float32), x, y, lanes)
    box = np.maximum(np.abs(x), np.abs(y)) < 1.45
    np.testing.assert_allclose(lanes[box], expected[box], atol=2e-6)
    if how == "union":
        outlines = np.concatenate([shape.outline(np.linspace(0, 1, 500)) for shape in shapes])
        nearest = cKDTree(outlines).query(np.stack([x, y], axis=1))[0]
        assert (-lanes <= nearest + 2e-6)[expected < 0].all()  # beyond the grid, too
    assert (np.sign(lanes) == np.sign(expected))[np.abs(expected) > 1e-5].all()
    by_points(code, constants.astype(np.float32), x, y, np.empty(kernels.MAX_REGISTERS, np.float32), points)
    np.testing.assert_allclose(points, lanes, rtol=1e-5, atol=1e-6)  # as on a GPU


def test_walks_among_very_many_holes():
    grid = [(x, y) for x in np.linspace(-0.9, 0.9, 18) for y in np.linspace(-0.9, 0.9, 18)]
    plate = Rectangle(1, 1)
    for center in grid:
        plate = plate - Disk(0.02, center=center)
    problem = mc2.Laplace(plate, boundary="x*y + x")
    start = plate.sample_interior(40, 0)
    found = estimate(problem, 300, points=start)
    off = (found.mean - start[:, 0] * start[:, 1] - start[:, 0]) / np.sqrt(found.variance + 1e-8)
    assert np.abs(off).max() < 4.5
    assert len(plate.holes()) == 324
    assert len(plate.corners()) == 4
