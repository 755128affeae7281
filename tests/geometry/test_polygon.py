"""Polygons: orientation does not matter, wrong rings are refused by name."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Polygon, Rectangle

SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
SMALL = [(-0.5, -0.5), (0, -0.5), (0, 0), (-0.5, 0)]


@pytest.mark.parametrize("outer", [SQUARE, SQUARE[::-1], SQUARE[2:] + SQUARE[:2]])
@pytest.mark.parametrize("hole", [SMALL, SMALL[::-1]])
def test_orientation_does_not_matter(outer, hole):
    x, y = np.random.default_rng(0).uniform(-2, 2, (2, 1000))
    reference = Polygon(SQUARE, holes=[SMALL]).distance(x, y)
    assert np.allclose(Polygon(outer, holes=[hole]).distance(x, y), reference, atol=1e-15)


def test_it_agrees_with_the_rectangle_inside():
    x, y = np.random.default_rng(0).uniform(-0.9, 0.9, (2, 1000))
    polygon = Polygon([(-1.2, -1), (1.2, -1), (1.2, 1), (-1.2, 1)])
    assert np.allclose(polygon.distance(x, y), Rectangle(1.2, 1.0).distance(x, y), atol=1e-15)


def test_a_closed_ring_is_opened():
    closed = Polygon([*SQUARE, SQUARE[0]], holes=[[*SMALL, SMALL[0]]])
    assert closed == Polygon(SQUARE, holes=[SMALL])


def test_rays_through_vertices():
    diamond = Polygon([(1, 0), (0, 1), (-1, 0), (0, -1)])
    assert diamond.contains([0.0, 0.5, -0.5], 0.0).all()
    assert not diamond.contains([-1.5, -2.0, 1.5], 0.0).any()
    assert not diamond.contains([-0.5, 0.5], [1.0, -1.0]).any()
    comb = Polygon([(0, 0), (4, 0), (4, 1), (3, 1), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)])
    assert np.array_equal(comb.contains([0.5, 1.5, 2.5, 3.5, -0.5, 4.5], 1.0), [True, False, True, False, False, False])


def test_arrays_and_values():
    one, same = Polygon(np.array(SQUARE), holes=[np.array(SMALL)]), Polygon(SQUARE, [SMALL])
    assert one == same
    assert hash(one) == hash(same)
    assert repr(one) == "Polygon(<4 vertices, 1 hole>)"
    assert one.vertices[1] == (1.0, -1.0)


REFUSED = [
    ("three or more", [(0, 0), (1, 0)], []),
    ("three or more", [], []),
    ("vertex 2 repeats vertex 0", [(0, 0), (1, 0), (0, 0), (0, 1)], []),
    ("vertex 2 repeats vertex 0", [(0, 0), (1, 0), (0, 0)], []),
    ("the outline crosses itself: polygon edge 0 .* polygon edge 2", [(0, 0), (1, 1), (1, 0), (0, 1)], []),
    ("the outline crosses itself: polygon hole 1 edge 0 .* edge 2", SQUARE, [[(0, 0), (0.5, 0.5), (0.5, 0), (0, 0.5)]]),
    ("no area", [(0, 0), (1, 1), (2, 2)], []),
    ("no area", [(0, 0), (1, 0), (2, 0), (3, 0)], []),
    ("vertex 1 = .* finite", [(0, 0), (1, np.nan), (1, 1)], []),
    ("vertex 2 = .* finite", [(0, 0), (1, 0), (np.inf, 1)], []),
    ("vertex 0 = .* finite", [(True, 0), (1, 0), (1, 1)], []),
    ("vertex 1 = .* 2 numbers", [(0, 0), (1, 0, 0), (1, 1)], []),
    ("vertex 1", [(0, 0), 5, (1, 1)], []),
    ("list of points", "abc", []),
    ("list of points", None, []),
    ("polygon edge 0 crosses or touches polygon edge 2", [(0, 0), (1, 1), (1, 0), (0, 1.5)], []),
    ("polygon edge 0 crosses or touches polygon edge", [(0, 0), (2, 0), (2, 1), (1, 0), (0, 1)], []),
    ("polygon edge 1 crosses or touches polygon edge 3", [(0, 0), (1, 0), (1, 2), (1, 1), (0, 1)], []),
    ("hole 1 lies outside", SQUARE, [[(2, 2), (3, 2), (3, 3)]]),
    ("hole 1 lies outside", SMALL, [SQUARE]),
    ("polygon edge 1 crosses or touches polygon hole 1", SQUARE, [[(0, 0), (2, 0), (0.5, 0.5)]]),
    ("polygon edge 1 crosses or touches polygon hole 1", SQUARE, [[(0, 0), (1, 0), (0.5, 0.5)]]),
    ("hole 1 edge .* touches polygon hole 2", SQUARE, [SMALL, [(-0.2, -0.2), (0.5, 0.5), (0.5, 0.3)]]),
    ("hole 1 edge .* touches polygon hole 2", SQUARE, [SMALL, [(0, 0), (0.5, 0.5), (0.5, 0.3)]]),
    ("hole 2 lies in polygon hole 1", SQUARE, [SMALL, [(-0.3, -0.3), (-0.2, -0.3), (-0.2, -0.2)]]),
    ("hole 1 lies in polygon hole 2", SQUARE, [[(-0.3, -0.3), (-0.2, -0.3), (-0.2, -0.2)], SMALL]),
    ("hole 1 has 2", SQUARE, [[(0, 0), (0.5, 0.5)]]),
    ("holes", SQUARE, 7),
    ("100,000 vertices", [(0.0, 0.0)] * 100_001, []),
]


@pytest.mark.parametrize(("message", "vertices", "holes"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_is_refused(message, vertices, holes):
    with pytest.raises(InputError, match=message) as error:
        Polygon(vertices, holes)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def test_many_vertices_are_checked_in_reasonable_time():
    angle = np.linspace(0, 2 * np.pi, 9000, endpoint=False)
    radius = 1 + 0.3 * np.sin(9 * angle)
    star = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    assert Polygon(star).contains(0, 0)
    star[[5000, 5100]] = star[[5100, 5000]]
    with pytest.raises(InputError, match="edge"):
        Polygon(star)
