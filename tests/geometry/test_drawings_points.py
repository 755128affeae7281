"""Points in files and arrays: CSV, OBJ, splines through points."""

import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings import from_points
from mc2.geometry.drawings.polylines import read_csv, read_obj
from mc2.geometry.drawings.segments import first, last
from mc2.geometry.drawings.splines import from_control_points, through
from tests.geometry.drawn import area, lengths, read


def ring(count, radius=1.0, center=(0.0, 0.0)):
    t = np.arange(count) * 2 * math.pi / count
    return np.stack([center[0] + radius * np.cos(t), center[1] + radius * np.sin(t)], axis=1)


def test_splines_through_a_circle_converge():
    """The area of periodic cubic splines: fourth order in the distance of points."""
    errors = [abs(area(from_points(ring(count), flatness=1e-9)) - math.pi) for count in (12, 24, 48)]
    slopes = -np.diff(np.log2(errors))
    assert (slopes > 3.7).all()
    assert errors[-1] < 1e-5


def test_corners_stay():
    """Half a disk: points on the arc and its chord; the two corners are sharp, and the chord is straight."""
    t = np.linspace(0, math.pi, 41)
    points = np.concatenate(
        [np.stack([np.cos(t), np.sin(t)], axis=1), np.stack([np.linspace(-1, 1, 11)[1:-1], np.zeros(9)], axis=1)]
    )
    domain = from_points(points, flatness=1e-9)
    assert area(domain) == pytest.approx(math.pi / 2, abs=1e-6)
    directions = domain.pieces.direction(0.0)
    turns = np.abs(np.angle(directions / np.roll(directions, 1)))
    assert np.sort(turns)[-3:] == pytest.approx([0, math.pi / 2, math.pi / 2], abs=0.02)


def test_holes_slits_and_lines():
    domain = from_points(ring(4, 2), ring(4), slits=[[(1.2, 0), (1.5, 0.1), (1.6, 0)]], smooth=False, name="all")
    assert area(domain) == pytest.approx(8 - 2)


def test_the_last_point_may_repeat_the_first():
    points = ring(20)
    assert area(from_points(np.concatenate([points, points[:1]]))) == pytest.approx(area(from_points(points)))


@pytest.mark.parametrize(
    "points", [[(0, 0)], np.zeros((3, 3)), "abc", [(0, 0), (1, math.nan), (1, 1)], [(0, 0), (1, 1)], [(1, 1)] * 9]
)
def test_wrong_points_are_refused(points):
    with pytest.raises(InputError, match=r"ring 1|different points"):
        from_points(points)


def test_control_points():
    """B-splines against scipy's own evaluation, with an inner knot that is there twice."""
    from scipy.interpolate import BSpline

    rng = np.random.default_rng(1)
    control = rng.random((9, 2))
    knots = np.array([0, 0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 5], float)
    found = from_control_points([tuple(p) for p in control], list(knots), 3, (), None)
    t = np.array([0, 1, 2, 3, 4, 5.0])
    expected = BSpline(knots, control, 3)(t)
    assert np.allclose([first(found[0]), *map(last, found)], expected)
    middle = [np.array([s.p0, s.p1, s.p2, s.p3]).T @ [1 / 8, 3 / 8, 3 / 8, 1 / 8] for s in found]
    assert np.allclose(middle, BSpline(knots, control, 3)((t[1:] + t[:-1]) / 2))


def test_open_splines_go_through_their_points():
    points = [(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 4.0)]
    found = through(points, False)
    assert np.allclose([first(found[0]), *map(last, found)], points)
    assert len(through([(0, 0), (1, 0), (1, 1)], False, corner=30)) == 2


CSV = """x, y, name
0, 0, bottom
4, 0, right
4, 3, top
0, 3, left
0, 0, left

1,1
2,1
1,2

# open
3, 1
3, 2
3.5, 2.5
"""


def test_csv(tmp_path):
    found = read(tmp_path, "a.csv", CSV)
    assert area(found.domain) == pytest.approx(11.5)
    assert {"bottom": 4, "right": 3, "top": 4, "left": 3}.items() <= lengths(found.domain).items()
    assert [curve.closed for curve in read_csv(CSV.encode()).curves] == [True, True, False]
    spaces = read(tmp_path, "a.txt", "\ufeff0 0\n4 0\n4 3\n")
    assert area(spaces.domain) == pytest.approx(6)


def test_smooth_csv(tmp_path):
    text = "\n".join(f"{x},{y},rim" for x, y in ring(48).tolist())
    assert area(read(tmp_path, "a.csv", text, smooth=True).domain) == pytest.approx(math.pi, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no curves"),
        ("a,b\nc,d", "line 2 is 'c,d'"),
        ("1,2\n3,nan\n", "line 2"),
        ("1,2,3,4\n", "line 1"),
        ("1\n2\n", "line 1"),
        ("1,2\n\n3,4", "has one point"),
        ("\xff", "line 1|UTF-8"),
        ("0,0,a\n1,0,b\n1,1,a\n", "one name"),
    ],
)
def test_wrong_csv_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_csv(text.encode("latin-1"), smooth="one name" in said)


def test_obj(tmp_path):
    text = """# a square of two triangles with a hole that is a polyline
        v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 1 1 9\nv 2 1 9\nv 2 2 9
        g plate\nf 1/1/1 2//2 3\nf 1 3 4\ng hole\nl -3 -2 -1 -3\n"""
    found = read(tmp_path, "a.obj", text)
    assert area(found.domain) == pytest.approx(15.5)
    assert lengths(found.domain) == pytest.approx({"plate": 16, "hole": 2 + math.sqrt(2)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("v 0 0\nl 1 2", "line 2: '2' must be the number of one of 1"),
        ("v a 0", "line 1"),
        ("v 1e999 0", "finite"),
        ("v 0 0\nl 1", "it needs 2"),
        ("v 0 0\nl 1 x", "'x'"),
        ("v 0 0\nl 1 0", "'0'"),
        ("v 0 0", "has no curves"),
    ],
)
def test_wrong_obj_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_obj(text.encode())
