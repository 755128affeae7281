"""Projections land on the boundary, and on its nearest point where the distance is exact."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Ellipse, Hexagon, Polygon, Rectangle, Square, Stadium, Triangle

from .plain import COMPOSED, LEAVES, RINGS, build, name_of, random_tree


def check_projection(domain, x, y):
    px, py = domain.project(x, y)
    d = domain.distance(x, y)
    moved = np.hypot(px - x, py - y)
    assert np.abs(domain.distance(px, py)).max() <= 1e-9
    assert np.all(moved >= np.abs(d) - 1e-9)
    for side, exact in zip((d > 0, d <= 0), domain.exactness, strict=True):
        if exact and np.any(side):
            assert np.abs(moved - np.abs(d))[side].max() <= 1e-9


@pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)
def test_random_points(tree):
    domain = build(tree)
    check_projection(domain, *np.random.default_rng(7).uniform(-2, 2, (2, 2000)))
    check_projection(domain, *domain.sample_boundary(200, seed=1).T)


def test_random_compositions():
    random = np.random.default_rng(8)
    for _ in range(60):
        domain = build(random_tree(random, int(random.integers(2, 5))))
        if domain.contains(*random.uniform(-2, 2, (2, 2000))).any():
            check_projection(domain, *random.uniform(-2, 2, (2, 500)))


@pytest.mark.parametrize("angle", [0.0, 0.37])
@pytest.mark.parametrize(
    ("domain", "x", "y"),
    [
        (Disk(), 0.0, 0.0),
        (Square(), 0.0, 0.0),
        (Square(), np.linspace(0, 0.99, 50), np.linspace(0, 0.99, 50)),
        (Rectangle(1.2, 0.7), np.linspace(-0.5, 0.5, 50), 0.0),
        (Annulus(0.3, 1.0), 0.65 * np.cos(np.arange(50)), 0.65 * np.sin(np.arange(50))),
        (Annulus(0.3, 1.0), 0.0, 0.0),
        (Stadium(0.5, 0.3), np.linspace(-0.5, 0.5, 50), 0.0),
        (Ellipse(1.2, 0.6), np.linspace(-0.9, 0.9, 51), 0.0),
        (Triangle(), 0.0, np.linspace(-0.49, 0.99, 50)),
        (Hexagon(), np.linspace(-0.99, 0.99, 51), 0.0),
        (Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), np.linspace(0.01, 0.99, 50), np.linspace(0.01, 0.99, 50)),
        (Polygon(RINGS[0], holes=RINGS[1:]), np.zeros(1), np.zeros(1)),
        (Disk() - Disk(0.001, center=(0.3, 0.2)), 0.3, 0.2),
        (Disk() | Disk(center=(1.8, 0.0)), 0.9, 0.0),
        (Disk() | Disk(center=(0.2, 0.0)), np.linspace(-0.5, 0.7, 50), 0.0),
        (Square() - Disk(0.3), np.linspace(0.3, 1, 50), np.linspace(0.3, 1, 50)),
    ],
    ids=lambda value: repr(value) if isinstance(value, Disk | Square) else None,
)
def test_centres_and_medial_axes(domain, x, y, angle):
    z = (x + 1j * np.asarray(y)) * np.exp(1j * angle)
    check_projection(domain.rotate(angle), z.real, z.imag)


def test_shapes_of_arrays_are_kept():
    px, py = Disk().project(np.zeros((2, 3)), 0.5)
    assert px.shape == py.shape == (2, 3)
    assert np.ndim(Disk().project(0.5, 0.0)[0]) == 0
    assert Disk().project(0.5, 0.0) == pytest.approx((1.0, 0.0), abs=1e-9)


def test_far_from_the_origin_and_tiny():
    check_projection(Disk(1e-3, center=(50.0, 20.0)), 50.0 + 1e-4 * np.arange(20), 20.0)


def test_points_must_be_finite():
    with pytest.raises(InputError, match="finite"):
        Disk().project(np.nan, 0.0)
