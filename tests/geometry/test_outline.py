"""Polygons of very many edges, whose distance comes from a tree: against the least distance over all edges."""

import numpy as np
import pytest

import mc2
from mc2.compute.compile import kernel
from mc2.geometry import Disk, Polygon, kernels
from mc2.geometry.polygon import MOST_EDGES
from mc2.problems import Frame
from mc2.walks import estimate


def wiggly(count, seed=7):
    """A closed curve with bends of all sizes."""
    random, k = np.random.default_rng(seed), np.arange(1, 40)
    a, b, t = random.standard_normal(39), random.uniform(0, 2 * np.pi, 39), np.arange(count) * (2 * np.pi / count)
    r = 0.7 + (0.12 * k**-1.2 * a * np.cos(np.outer(t, k) + b)).sum(1)
    return np.stack([r * np.cos(t), r * np.sin(t)], axis=1)


def comb(teeth):
    """Sharp and thin teeth, and slots between them."""
    x = np.linspace(-1, 1, 2 * teeth + 1)
    y = np.where(np.arange(2 * teeth + 1) % 2, 0.8, -0.6)
    return np.concatenate([[(-1.0, -0.9), (1.0, -0.9)], np.stack([x, y], axis=1)[::-1]])


def holed():
    """A ring with 64 holes of 8 edges."""
    eight = 0.03 * np.exp(2j * np.pi * np.arange(8) / 8)
    centers = [x + 1j * y for x in np.linspace(-0.6, 0.6, 8) for y in np.linspace(-0.6, 0.6, 8)]
    holes = [np.stack([(c + eight).real, (c + eight).imag], axis=1) for c in centers]
    return Polygon([(-1, -1), (1, -1), (1, 1), (-1, 1)], holes)


def circle(count):
    """As many edges equally near its center."""
    t = np.arange(count) * (2 * np.pi / count)
    return np.stack([np.cos(t), np.sin(t)], axis=1)


OUTLINES = {
    "wiggly": Polygon(wiggly(1000)),
    "comb": Polygon(comb(150)),
    "circle": Polygon(circle(400)),
    "holed": holed(),
}


def brute(polygon, x, y):
    """±the least distance to an edge; inside by the number of crossings of a ray."""
    least, crossed = np.full(x.shape, np.inf), np.zeros(x.shape, int)
    for ring in polygon.rings:
        for p, q in zip(ring, (*ring[1:], ring[0]), strict=True):
            e, w = complex(*q) - complex(*p), x + 1j * y - complex(*p)
            least = np.minimum(least, np.abs(w - np.clip((w / e).real, 0, 1) * e))
            spans = (p[1] > y) != (q[1] > y)
            crossed += spans & ((w.real * e.imag < w.imag * e.real) == (e.imag > 0))
    return np.where(crossed % 2 == 1, least, -least)


def points(polygon, count=4000):
    """Points all around, and as many near the boundary, at all scales."""
    random = np.random.default_rng(1)
    around = random.uniform(-2, 2, (count, 2))
    near = polygon.sample_boundary(count, 2) + 10 ** random.uniform(-7, -1, (count, 1)) * random.normal(size=(count, 2))
    return np.concatenate([around, near]).T


@kernel
def by_points(code, constants, x, y, registers, out):
    for i in range(x.size):
        out[i] = kernels.distance_point(code, constants, x[i], y[i], registers)


@pytest.mark.parametrize("name", OUTLINES)
def test_exact_in_double_precision(name):
    polygon = OUTLINES[name]
    assert polygon.vertex_count > MOST_EDGES
    assert polygon.program.code[0, 0] == kernels.OUTLINE
    x, y = points(polygon)
    np.testing.assert_allclose(polygon.distance(x, y), brute(polygon, x, y), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("name", OUTLINES)
def test_in_single_precision_a_lower_bound_that_is_exact_near_the_boundary(name):
    polygon = OUTLINES[name]
    code, constants = polygon.program
    x, y = points(polygon).astype(np.float32)
    found, one_by_one = np.empty_like(x), np.empty_like(x)
    kernels.distance(code, constants.astype(np.float32), x, y, found)
    exact = brute(polygon, x.astype(float), y.astype(float))
    assert (np.abs(found) <= np.abs(exact) + 1e-6).all()
    clear = np.abs(exact) > 1e-6
    assert (np.sign(found) == np.sign(exact))[clear].all()
    xmin, xmax, ymin, ymax = polygon.bounds
    box = (x > xmin) & (x < xmax) & (y > ymin) & (y < ymax)  # beyond the cells the bound is weaker
    near = box & (np.abs(exact) < 2e-3 * polygon.size)
    np.testing.assert_allclose(found[near], exact[near], rtol=0.02, atol=1e-6)  # chords of runs
    assert (np.abs(found) >= 0.55 * np.abs(exact) - 1e-6).all()
    by_points(code, constants.astype(np.float32), x, y, np.empty(kernels.MAX_REGISTERS, np.float32), one_by_one)
    np.testing.assert_allclose(one_by_one, found, rtol=1e-5, atol=1e-7)  # as on a GPU


def test_moved_outlines_share_their_tree():
    polygon = OUTLINES["comb"]
    moved = polygon.rotate(0.7).scale(30).move(200, -40)
    x, y = points(polygon, 500)
    z = (x + 1j * y) * np.exp(0.7j) * 30 + (200 - 40j)
    np.testing.assert_allclose(moved.distance(z.real, z.imag), 30 * polygon.distance(x, y), rtol=1e-10, atol=1e-12)
    assert moved._tree.numbers is polygon._tree.numbers
    assert moved == Polygon(moved.vertices)
    assert hash(moved) == hash(Polygon(moved.vertices))


def test_memory_grows_with_the_edges():
    few, many = (Polygon(wiggly(count)).program.constants.size / count for count in (1000, 8000))
    assert many < 1.2 * few < 1200


def test_points_that_are_no_numbers_do_no_harm():
    found = OUTLINES["wiggly"].distance([np.nan, np.inf, 1e300, 0.0], [0.0, 0.0, -1e300, np.nan])
    assert not (found > 0).any()


def test_compositions_with_outlines():
    polygon, disk = OUTLINES["wiggly"], Disk(0.3, center=(0.1, 0.0))
    x, y = points(polygon, 500)
    a, b = brute(polygon, x, y), disk.distance(x, y)
    for domain, expected in ((polygon | disk, np.maximum(a, b)), (polygon & disk, np.minimum(a, b)),
                             (polygon - disk, np.minimum(a, -b)), (disk - polygon, np.minimum(b, -a))):  # fmt: skip
        np.testing.assert_allclose(domain.distance(x, y), expected, atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_walks_on_an_outline(unit):
    """u = x² − y² of a unit, from walks in the problem's frame."""
    polygon = Polygon(wiggly(600) * unit)
    problem = mc2.Laplace(polygon, boundary=f"(x*x - y*y)/{unit**2}")
    assert Frame.of(problem).trivial == (unit == 1.0)
    start = polygon.sample_interior(40, 3)
    found = estimate(problem, 500, points=start)
    off = (found.mean - (start[:, 0] ** 2 - start[:, 1] ** 2) / unit**2) / np.sqrt(found.variance + 1e-8)
    assert np.abs(off).max() < 4.5
    assert 0.5 < off.std() < 1.5
    assert found.record.steps / (40 * 500) < 19  # a half more than on simple domains, and each for less
