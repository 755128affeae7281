"""Corners against coordinates and angles computed by hand."""

import numpy as np
import pytest

from mc2.geometry import (
    Annulus,
    Disk,
    Ellipse,
    Hexagon,
    Polygon,
    Rectangle,
    Square,
    Stadium,
    Triangle,
)

PI, HALF, ROOT = np.pi, 0.5 * np.pi, np.sqrt(3) / 2
L_SHAPE = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
FRAME = Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[[(1, 1), (2, 1), (1, 2)]])
OF_A_SQUARE = [(x, y, HALF, np.arctan2(y, x)) for x in (-1, 1) for y in (-1, 1)]


# x, y, angle inside, direction of the middle of the outside
CASES = {
    "square": (Square(), OF_A_SQUARE),
    "triangle": (Triangle(), [(0, 1, PI / 3, HALF), (-ROOT, -0.5, PI / 3, 7 * PI / 6), (ROOT, -0.5, PI / 3, -PI / 6)]),
    "hexagon": (
        Hexagon(),
        [(np.cos(k * PI / 3), np.sin(k * PI / 3), 2 * PI / 3, k * PI / 3) for k in range(6)],
    ),
    "L": (
        L_SHAPE,
        [
            (0, 0, HALF, 5 * PI / 4),
            (2, 0, HALF, -PI / 4),
            (2, 1, HALF, PI / 4),
            (1, 1, 3 * HALF, PI / 4),
            (1, 2, HALF, PI / 4),
            (0, 2, HALF, 3 * PI / 4),
        ],
    ),
    "frame": (
        FRAME,
        [
            (0, 0, HALF, 5 * PI / 4),
            (4, 0, HALF, -PI / 4),
            (4, 4, HALF, PI / 4),
            (0, 4, HALF, 3 * PI / 4),
            (1, 1, 3 * HALF, PI / 4),
            (2, 1, 7 * PI / 4, 7 * PI / 8),
            (1, 2, 7 * PI / 4, -3 * PI / 8),
        ],
    ),
    # the circle meets the line y = 1/2 at 30°, where its tangent has the direction 120°
    "disk and rectangle": (
        Disk() & Rectangle(1.5, 0.5),
        [(x, y, 2 * PI / 3, np.arctan2(y, x / 3)) for x in (-ROOT, ROOT) for y in (-0.5, 0.5)],
    ),
    "disk or rectangle": (
        Disk() | Rectangle(1.5, 0.5),
        [(x, y, 4 * PI / 3, np.arctan2(y, x / 3)) for x in (-ROOT, ROOT) for y in (-0.5, 0.5)]
        + [(1.5 * a, 0.5 * b, HALF, np.arctan2(b, a)) for a in (-1, 1) for b in (-1, 1)],
    ),
    "disk without rectangle": (
        Disk() - Rectangle(1.5, 0.5, center=(1.5, 0.0)),
        [
            (ROOT, 0.5, PI / 3, -PI / 6),
            (ROOT, -0.5, PI / 3, PI / 6),
            (0, 0.5, 3 * HALF, -PI / 4),
            (0, -0.5, 3 * HALF, PI / 4),
        ],
    ),
    "square without its corner": (
        Square() - Square(0.5, center=(1.0, 1.0)),
        [corner for corner in OF_A_SQUARE if corner[:2] != (1, 1)]
        + [(1, 0.5, HALF, PI / 4), (0.5, 1, HALF, PI / 4), (0.5, 0.5, 3 * HALF, PI / 4)],
    ),
    "two disks": (
        Disk() | Disk(center=(1.0, 0.0)),
        [(0.5, ROOT, 4 * PI / 3, HALF), (0.5, -ROOT, 4 * PI / 3, -HALF)],
    ),
    "a lens": (
        Disk() & Disk(center=(1.0, 0.0)),
        [(0.5, ROOT, 2 * PI / 3, HALF), (0.5, -ROOT, 2 * PI / 3, -HALF)],
    ),
    "two squares side by side": (
        Square(0.5) | Square(0.5, center=(1.0, 0.0)),
        [(0.5 + x, 0.5 * y, HALF, np.arctan2(y, x)) for x in (-1, 1) for y in (-1, 1)],
    ),
}
each_case = pytest.mark.parametrize("name", CASES)


def check(domain, expected):
    """All of them, each once, and nothing else."""
    found = domain.corners()
    assert len(found) == len(expected)
    for x, y, angle, outward in expected:
        near = [corner for corner in found if np.hypot(corner.center[0] - x, corner.center[1] - y) < 1e-9 * domain.size]
        assert len(near) == 1, (x, y)
        assert near[0].angle == pytest.approx(angle, abs=0.01)
        assert abs(np.angle(np.exp(1j * (near[0].outward - outward)))) < 0.01


@each_case
def test_corners(name):
    check(*CASES[name])


@each_case
@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_corners_turn_and_move_with_the_domain(name, angle):
    domain, corners = CASES[name]
    turn = np.exp(1j * angle)
    moved = [((x + 1j * y) * turn + 0.7 - 2j, inside, outward + angle) for x, y, inside, outward in corners]
    check(domain.rotate(angle).move(0.7, -2.0), [(z.real, z.imag, *rest) for z, *rest in moved])


@each_case
def test_a_corner_s_outward_direction_leads_outside(name):
    domain, _ = CASES[name]
    for corner in domain.corners():
        step = 1e-3 * domain.size * np.array([np.cos(corner.outward), np.sin(corner.outward)])
        assert domain.distance(*(np.array(corner.center) + step)) < 0
        if corner.angle > 0.1:
            assert domain.distance(*(np.array(corner.center) - step)) > 0


@pytest.mark.parametrize(
    "domain",
    [
        Disk(),
        Ellipse(1.0, 0.3, angle=0.4),
        Annulus(0.3, 1.0),
        Stadium(0.5, 0.3),
        Disk() - Disk(0.2, center=(0.3, 0.1)),
        Disk() | Disk(center=(3.0, 0.0)),
        Disk() & Disk(2.0),
        Disk() - Disk(),
    ],
    ids=repr,
)
def test_none_on_a_smooth_boundary(domain):
    assert domain.corners() == ()


def test_vertices_on_a_straight_edge_are_no_corners():
    check(Polygon([(-1, -1), (0, -1), (1, -1), (1, 1), (0.2, 1), (-1, 1)]), OF_A_SQUARE)


def test_corners_that_a_composition_hides_are_not_found():
    """Vertices of parts that lie inside, or outside, of the whole."""
    check(Square() | Square(0.5, angle=0.3), OF_A_SQUARE)
    check(Square() & Square(3.0), OF_A_SQUARE)
    check(Square() - Square(0.5, center=(3.0, 0.0)), OF_A_SQUARE)


def test_sharp_and_blunt_corners():
    """A thin wedge, and a polygon of a hundred sides, whose turns are just above what counts."""
    wedge = Polygon([(0, 0), (1, -0.05), (1, 0.05)]).corners()
    assert sorted(corner.angle for corner in wedge)[0] == pytest.approx(2 * np.arctan(0.05), abs=0.01)
    around = 2 * np.pi * np.arange(100) / 100
    assert len(Polygon(np.stack([np.cos(around), np.sin(around)], axis=1)).corners()) == 100


def test_corners_of_tiny_and_far_domains():
    check(Square(1e-3, center=(5.0, -3.0)), [(5 + 1e-3 * x, -3 + 1e-3 * y, a, o) for x, y, a, o in OF_A_SQUARE])
    check(Square(100.0), [(100 * x, 100 * y, a, o) for x, y, a, o in OF_A_SQUARE])


def test_random_compositions():
    """Every crossing of a circle and a rectangle that bounds the union is there, from formulas."""
    random = np.random.default_rng(0)
    for _ in range(20):
        a, b, radius = random.uniform(0.4, 1.2, 3)
        x, y = random.uniform(-0.5, 0.5, 2)
        crossings = []
        for edge in (-a, a):
            root = radius**2 - (edge - x) ** 2
            crossings += [(edge, y + s * np.sqrt(root)) for s in (1, -1) if root > 0 and abs(y + s * np.sqrt(root)) < b]
        for edge in (-b, b):
            root = radius**2 - (edge - y) ** 2
            crossings += [(x + s * np.sqrt(root), edge) for s in (1, -1) if root > 0 and abs(x + s * np.sqrt(root)) < a]
        for domain in (Rectangle(a, b) | Disk(radius, center=(x, y)), Rectangle(a, b) & Disk(radius, center=(x, y))):
            found = np.array([corner.center for corner in domain.corners()] or [(np.inf, np.inf)])
            for crossing in crossings:
                assert np.hypot(*(found - crossing).T).min() < 1e-9
            circle = np.hypot(*(found - (x, y)).T)
            assert (np.abs(circle - radius) < 1e-9).sum() == len(crossings)
