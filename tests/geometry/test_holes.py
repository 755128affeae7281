"""Holes are found, however small, and nothing else is."""

import numpy as np
import pytest

from mc2.geometry import Annulus, Disk, Ellipse, Polygon, Rectangle, Square, Triangle

from .plain import LEAVES, build, name_of

OUTER = [(0, 0), (4, 0), (4, 4), (0, 4)]
FRAME = (
    Rectangle(1, 0.05, center=(0, 0.9))
    | Rectangle(1, 0.05, center=(0, -0.9))
    | Rectangle(0.05, 0.95, center=(0.9, 0))
    | Rectangle(0.05, 0.95, center=(-0.9, 0))
)
BUTT_JOINED = (
    Rectangle(1, 0.05, center=(0, 0.9))
    | Rectangle(1, 0.05, center=(0, -0.9))
    | Rectangle(0.05, 0.85, center=(0.9, 0))
    | Rectangle(0.05, 0.85, center=(-0.9, 0))
)
SIEVE = Disk() - Disk(0.01, center=(0.5, 0)) - Disk(0.02, center=(-0.5, 0.1)) - Disk(0.03, center=(0, 0.7))


@pytest.mark.parametrize(
    ("domain", "radii"),
    [
        (Annulus(0.3, 1.0), [0.3]),
        (Disk() - Rectangle(0.3, 0.2, center=(0.2, 0.1)), [0.2]),
        (Disk() - Ellipse(0.3, 0.2, center=(0.2, 0.1), angle=0.4), [0.2]),
        (Disk() - Disk(0.001, center=(0.3, 0.2)), [0.001]),
        (Disk() - Disk(0.00001, center=(0.3, 0.2)), [0.00001]),
        (Disk() - Annulus(0.3, 0.6), [0.15]),
        (Annulus(0.7, 1.0) | Disk(0.3), [0.2]),
        (SIEVE, [0.03, 0.02, 0.01]),
        (FRAME, [0.85]),
        (BUTT_JOINED, [0.85]),
        (FRAME - Disk(0.02, center=(0.9, 0.9)), [0.85, 0.02]),
        (Square() - Triangle(0.2, center=(0.5, -0.5), angle=0.3), [0.1]),
        (Polygon(OUTER, holes=[[(1, 1), (2, 1), (1, 2)], [(3, 3), (3.4, 3), (3.4, 3.4), (3, 3.4)]]), [0.29289, 0.2]),
    ],
    ids=lambda value: repr(value)[:60] if not isinstance(value, list) else None,
)
@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_holes_are_found_with_their_radius(domain, radii, angle):
    turned = domain.rotate(angle)
    holes = turned.holes()
    assert [hole.radius for hole in holes] == pytest.approx(radii, rel=1e-3)
    for hole in holes:
        around = np.array(hole.center)[:, None] + 0.999 * hole.radius * np.array([np.cos(range(20)), np.sin(range(20))])
        assert not turned.contains(*around).any()
        assert not turned.contains(*hole.center)


@pytest.mark.parametrize(
    "domain",
    [build(tree) for tree in LEAVES if tree[0] not in ("annulus", "polygon")]
    + [
        Disk() - Disk(0.5, center=(0.9, 0)),
        Disk() | Disk(center=(3, 0)),
        Annulus(0.3, 1) - Rectangle(1, 0.1, center=(1, 0)),
    ],
    ids=repr,
)
def test_none_where_there_is_none(domain):
    assert domain.holes() == ()


@pytest.mark.parametrize("tree", [tree for tree in LEAVES if tree[0] in ("annulus", "polygon")], ids=name_of)
def test_one_in_the_others(tree):
    assert len(build(tree).holes()) == 1


def test_an_empty_domain_has_no_holes():
    assert (Disk() - Disk()).holes() == ()
    assert (Disk() & Disk(center=(3, 0))).holes() == ()


@pytest.mark.parametrize(
    "domain",
    [
        Disk() & Rectangle(1.5, 0.5),
        Disk() & Square(0.8) & Triangle(1.5),
        Disk() & Polygon(OUTER),
        Disk() & Disk(center=(0.5, 0.0)) & Ellipse(2.0, 0.3),
    ],
    ids=repr,
)
def test_an_intersection_of_parts_without_holes_has_none(domain):
    assert domain.holes() == ()


@pytest.mark.parametrize(
    ("domain", "count"),
    [
        (Annulus(0.3, 1.0) & Square(0.9), 1),
        (Square(0.9) & Annulus(0.3, 1.0), 1),
        (Annulus(0.3, 1.0) & Annulus(0.1, 0.8, center=(0.1, 0.0)), 1),
        (Polygon(OUTER, holes=[[(1, 1), (2, 1), (1, 2)]]) & Disk(3.9, center=(2.0, 2.0)), 1),
        (Square() & (Disk() - Disk(0.2)), 1),
        (Square() & FRAME, 1),
        (Annulus(0.3, 1.0) & Rectangle(1.0, 0.2, center=(0.0, 0.5)), 0),
        (Polygon(OUTER, holes=[[(1, 1), (2, 1), (1, 2)]]), 1),
    ],
    ids=repr,
)
def test_an_intersection_keeps_the_holes_of_its_parts(domain, count):
    assert len(domain.holes()) == count
