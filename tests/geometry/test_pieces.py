"""Pieces against an independent account of the same boundaries: where they lie, their length, what they enclose."""

import numpy as np
import pytest

from mc2.geometry import Annulus, Disk, Ellipse, Polygon, Rectangle, Square, Stadium
from mc2.geometry.crossings import find_cuts
from mc2.geometry.pieces import Pieces, make_pieces, successors

from .plain import COMPOSED, LEAVES, boundary, build, inside, name_of, random_tree

each_tree = pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)


def check_pieces(tree: tuple, samples: int) -> None:
    pieces = build(tree).pieces
    points, length = boundary(tree, samples)
    assert pieces.length.sum() == pytest.approx(length.sum(), rel=200 / samples, abs=50 / samples)
    if len(points):
        _, distance = pieces.nearest(*points.T)
        assert distance.max() < 1e-6  # every boundary point is on a piece
    if not pieces.size:
        return
    t = np.linspace(0.1, 0.9, 5)[:, None]
    at = np.concatenate([pieces.at(s) for s in t])
    normal = 1j * np.concatenate([pieces.direction(s) for s in t])
    step = 2e-7 * np.stack([normal.real, normal.imag], axis=1)
    long = np.tile(pieces.length > 1e-5, len(t))
    assert inside(tree, *(at + step)[long].T).all()
    assert not inside(tree, *(at - step)[long].T).any()
    following = successors(pieces.curve)
    assert np.abs(pieces.end - pieces.start[following]).max() < 1e-8  # all curves are closed


@each_tree
def test_pieces_of_each_kind(tree):
    check_pieces(tree, 40_000)


@pytest.mark.parametrize("batch", range(4))
def test_pieces_of_random_compositions(batch):
    random = np.random.default_rng(batch)
    for _ in range(25):
        check_pieces(random_tree(random, int(random.integers(2, 6))), 8_000)


@pytest.mark.parametrize(
    ("domain", "area", "length", "corners"),
    [
        (Disk(2.0, center=(3, 4)), 4 * np.pi, 4 * np.pi, 0),
        (Rectangle(width=3, height=2, angle=0.3), 6, 10, 4),
        (Stadium(0.5, 0.3), 0.6 + 0.09 * np.pi, 2 + 0.6 * np.pi, 0),
        (Annulus(0.5, 1.0), 0.75 * np.pi, 3 * np.pi, 0),
        (Disk() & Disk(center=(1, 0)), 2 * np.pi / 3 - np.sqrt(3) / 2, 4 * np.pi / 3, 2),
        (Square() | Rectangle(1, 0.5, center=(2, 0)), 6, 12, 8),  # they share an edge
        (Square() | Square(center=(2, 0)), 8, 12, 4),  # sides that go straight on have no corner
        (Square() - Square(0.5, center=(0.5, 0)), 3, 10, 8),  # the sides of one lie on those of the other
        (Square() | Disk(center=(1, 0)), 4 + np.pi / 2, 6 + np.pi, 2),  # tangents agree where the disk begins
        (Disk() | Disk(), np.pi, 2 * np.pi, 0),
        (Disk() - Disk(), 0, 0, 0),
        (Disk() & Disk(center=(3, 0)), 0, 0, 0),
        (Disk() - Disk(0.5, center=(0.5, 0)), 0.75 * np.pi, 3 * np.pi, 0),  # they touch
    ],
    ids=repr,
)
def test_areas_lengths_and_corners(domain, area, length, corners):
    pieces = domain.pieces
    assert pieces.areas().sum() == pytest.approx(area, abs=1e-9)
    assert pieces.length.sum() == pytest.approx(length, abs=1e-9)
    if "Disk(1.0) - Disk(0.5, center" not in repr(domain) and "Disk(1.0, center=(1.0" not in repr(domain):
        assert (~pieces.smooth).sum() == corners


def test_arcs_stand_for_an_ellipse():
    domain = Ellipse(1.2, 0.3)
    points = domain.outline(np.random.default_rng(0).random(5000))
    assert domain.pieces.nearest(*points.T)[1].max() < 1e-7
    assert domain.pieces.size < 600
    assert (domain.pieces.areas().sum() - np.pi * 0.36) < 1e-7


def test_points_and_directions_of_an_arc():
    half = Pieces(*(np.array(field) for field in ([[1.0, 0]], [[-1.0, 0]], [1.0], [0], [0], [True])))
    t = np.linspace(0, 1, 7)
    points = np.concatenate([half.at(s) for s in t])
    assert np.allclose(points, np.stack([np.cos(np.pi * t), np.sin(np.pi * t)], axis=1))
    assert half.length == pytest.approx(np.pi)
    assert half.direction(0.5) == pytest.approx(-1)
    inner = half.cut(np.array([0]), np.array([0.25]), np.array([0.5]))
    assert np.allclose(inner.start, np.sqrt(0.5))
    assert inner.length == pytest.approx(np.pi / 4)


@pytest.mark.slow
def test_nearest_piece_against_many_points():
    random = np.random.default_rng(5)
    vertices = random.uniform(-1, 1, (12, 2))
    pieces = make_pieces([(vertices, random.uniform(-1, 1, 12))], [0])
    x, y = random.uniform(-2, 2, (2, 500))
    found, distance = pieces.nearest(x, y)
    t = np.linspace(0, 1, 4001)
    all_points = np.stack([pieces.at(s) for s in t], axis=1)  # [piece, t, 2]
    gaps = np.hypot(all_points[..., 0, None] - x, all_points[..., 1, None] - y).min(axis=1)  # [piece, point]
    assert np.abs(gaps.min(axis=0) - distance).max() < 1e-3
    assert (gaps[found, np.arange(500)] - distance < 1e-3).all()


def test_cuts_of_lines_and_arcs():
    """A line y = 0.5 through the unit circle, which is cut at its two crossings."""
    ring = Disk().pieces
    line = Pieces(*(np.array(field) for field in ([[-2.0, 0.5]], [[2.0, 0.5]], [0.0], [0], [0], [False])))
    both = Pieces(*(np.concatenate(columns) for columns in zip(ring, line, strict=True)))
    cuts = find_cuts(both, np.array([0, 0, 0, 0, 1]), 1e-9)
    on_line = cuts.piece == 4
    assert np.sort(cuts.t[on_line]) == pytest.approx((np.array([-1, 1]) * np.sqrt(0.75) + 2) / 4)
    assert np.abs(np.hypot(*cuts.point.T) - 1).max() < 1e-14


def test_hundreds_of_shapes():
    random = np.random.default_rng(0)
    domain = Square()
    for x, y in random.uniform(-1, 1, (200, 2)):
        domain = domain - Disk(0.05, center=(x, y))
    x, y = random.uniform(-1, 1, (2, 200_000))
    area = 4 * domain.contains(x, y).mean()
    assert domain.pieces.areas().sum() == pytest.approx(area, abs=0.02)


def test_a_polygon_is_on_the_left_whatever_its_orientation():
    ring = np.array([(0, 0), (4, 0), (4, 4), (0, 4)])
    hole = np.array([(1, 1), (2, 1), (1, 2)])
    for outer in (ring, ring[::-1]):
        for inner in (hole, hole[::-1]):
            pieces = Polygon(outer, [inner]).pieces
            assert pieces.areas().sum() == pytest.approx(15.5)
            assert np.bincount(pieces.curve).tolist() == [4, 3]
