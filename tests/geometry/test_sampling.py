"""Random points are where they should be, and uniform (chi-square, fixed seeds)."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import cKDTree

from mc2.errors import InputError
from mc2.geometry import Disk, Polygon, Rectangle, Square

from .plain import COMPOSED, LEAVES, boundary, build, inside, name_of

COUNT = 20_000
each_tree = pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)


def uniformity(found: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of counts against weights; cells too small for the test are put together."""
    expected = expected * found.sum() / expected.sum()
    small = expected < 20
    found = np.append(found[~small], found[small].sum())
    expected = np.append(expected[~small], expected[small].sum())
    some = expected > 0
    assert np.all(found[~some] == 0)
    return stats.chisquare(found[some], expected[some]).pvalue


@each_tree
def test_interior_is_uniform(tree):
    domain = build(tree)
    sample = domain.sample_interior(COUNT, seed=5)
    assert sample.shape == (COUNT, 2)
    assert domain.contains(*sample.T).all()
    edges = np.linspace(-1.7, 1.7, 13)
    fine = np.linspace(-1.7, 1.7, 12 * 60 + 1)
    x, y = np.meshgrid(0.5 * (fine[1:] + fine[:-1]), 0.5 * (fine[1:] + fine[:-1]))
    area = inside(tree, x, y).reshape(12, 60, 12, 60).sum(axis=(1, 3))
    found, _, _ = np.histogram2d(sample[:, 1], sample[:, 0], [edges, edges])
    assert uniformity(found.ravel(), area.ravel().astype(float)) > 1e-4


@each_tree
def test_boundary_is_uniform_by_arc_length(tree):
    domain = build(tree)
    sample = domain.sample_boundary(COUNT, seed=6)
    assert sample.shape == (COUNT, 2)
    assert np.abs(domain.distance(*sample.T)).max() <= 1e-9
    points, length = boundary(tree, 40_000)
    gap, nearest = cKDTree(points).query(sample)
    assert gap.max() < 2 * length.max()
    cell = np.arange(len(points)) * 40 // len(points)
    expected = np.bincount(cell, length)
    assert uniformity(np.bincount(cell[nearest], minlength=40), expected) > 1e-4


def test_perimeters():
    for tree in LEAVES:
        assert build(tree).perimeter == pytest.approx(boundary(tree, 40_000)[1].sum(), rel=1e-6)


def test_common_edges_count_once_and_only_beside_the_interior():
    twice = (Square() | Square()).sample_boundary(COUNT, seed=1)
    assert np.mean(twice[:, 1] == 1) == pytest.approx(0.25, abs=0.02)
    notched = Square() - Rectangle(1.0, 0.5)
    points = notched.sample_boundary(COUNT, seed=1)
    assert np.all(np.abs(points[:, 1]) >= 0.5 - 1e-9)


def test_same_seed_same_points():
    for method in ("sample_interior", "sample_boundary"):
        draw = getattr(Disk() - Disk(0.2), method)
        assert np.array_equal(draw(10, seed=1), draw(10, seed=1))
        assert not np.array_equal(draw(10, seed=1), draw(10, seed=2))
        assert draw(0, seed=1).shape == (0, 2)


def test_thin_domains_are_sampled():
    thin = Disk(1.0) - Disk(0.99999)
    assert thin.contains(*thin.sample_interior(100, seed=0).T).all()
    sliver = Polygon([(0, 0), (1, 0), (1, 1e-6)])
    assert sliver.contains(*sliver.sample_interior(100, seed=0).T).all()


@pytest.mark.parametrize(
    "empty",
    [Disk() - Disk(), Disk() & Disk(center=(3, 0)), Disk(0.5) - Square(), Disk() & Disk(center=(2, 0))],
    ids=repr,
)
def test_empty_domains_are_refused(empty):
    for method in (empty.sample_interior, empty.sample_boundary):
        with pytest.raises(InputError, match="empty"):
            method(10, seed=0)


@pytest.mark.parametrize("count", [-1, 1.5, True, "3"])
def test_wrong_counts_are_refused(count):
    with pytest.raises(InputError, match="count"):
        Disk().sample_interior(count)
