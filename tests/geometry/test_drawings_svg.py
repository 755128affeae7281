"""SVG: paths, shapes, transforms, units, names; and files that are hostile."""

import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings.segments import Arc, Cubic, Line, first, last, mapped, points
from mc2.geometry.drawings.svg import read_svg
from mc2.geometry.drawings.svg_paths import read_path
from tests.geometry.drawn import area, lengths, read

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {}>{}</svg>'


def drawn(body, head='viewBox="0 0 100 100"', **options):
    return read_svg(SVG.format(head, body).encode(), **options)


def ends(segments):
    return [first(segments[0]), *(last(segment) for segment in segments)]


@pytest.mark.parametrize(
    ("data", "corners"),
    [
        ("M1 2 L3 4 5 6 z", [(1, 2), (3, 4), (5, 6), (1, 2)]),
        ("m1,2 3,4 l-1-1 z", [(1, 2), (4, 6), (3, 5), (1, 2)]),
        ("M.5.5h1v2H0V1e1", [(0.5, 0.5), (1.5, 0.5), (1.5, 2.5), (0, 2.5), (0, 10)]),
        ("M0 0C1 1 2 1 3 0s2-1 3 0", [(0, 0), (3, 0), (6, 0)]),
        ("M0 0Q1 1 2 0T4 0t2 0", [(0, 0), (2, 0), (4, 0), (6, 0)]),
        ("M0 0A1 1 0 012 0", [(0, 0), (1, -1), (2, 0)]),
        ("M0 0a5 5 0 0 1 10 0", [(0, 0), (5, -5), (10, 0)]),
    ],
)
def test_commands(data, corners):
    [(segments, closed)] = read_path(data, None)
    assert closed == data.endswith("z")
    assert np.allclose(ends(segments), corners, atol=1e-12)


def test_smooth_curves_go_on_in_the_same_direction():
    [(cubic, _)] = read_path("M0 0C1 1 2 1 3 0s2-1 3 0", None)
    assert cubic[1].p1 == (4.0, -1.0)
    [(quadratic, _)] = read_path("M0 0Q1 1 2 0T4 0t2 0", None)
    tangents = [(np.subtract(s.p1, s.p0), np.subtract(s.p3, s.p2)) for s in quadratic]
    assert np.allclose([t for _, t in tangents[:-1]], [t for t, _ in tangents[1:]])


def test_after_a_closed_subpath_a_move_is_from_its_beginning():
    subpaths = read_path("M1 1h2v2zm10 0h1v1z l1 0 0 1z", None)
    assert [first(segments[0]) for segments, _ in subpaths] == [(1, 1), (11, 1), (11, 1)]
    open_first = read_path("M1 1h2m1 0h2", None)
    assert [first(segments[0]) for segments, _ in open_first] == [(1, 1), (4, 1)]


@pytest.mark.parametrize("large", [0, 1])
@pytest.mark.parametrize("sweep", [0, 1])
@pytest.mark.parametrize("turn", [0, 30, -75])
def test_elliptic_arcs_lie_on_their_ellipse(large, sweep, turn):
    """Four arcs go through two points: the flags name one, by its centre, side and length."""
    rx, ry = 5.0, 3.0
    [(segments, _)] = read_path(f"M1 2A{rx} {ry} {turn} {large} {sweep} 4 4.5", None)
    t = np.linspace(0, 1, 9)[:, None]
    curve = np.concatenate(
        [
            (1 - t) ** 3 * s.p0 + 3 * t * (1 - t) ** 2 * np.array(s.p1) + 3 * t**2 * (1 - t) * np.array(s.p2)
            + t**3 * np.array(s.p3)
            for s in segments
        ]
    )  # fmt: skip
    a = math.radians(turn)
    u = (curve @ [math.cos(a), math.sin(a)]) / rx
    v = (curve @ [-math.sin(a), math.cos(a)]) / ry
    system = np.stack([2 * u, 2 * v, np.ones_like(u)], axis=1)
    (cu, cv, rest), *_ = np.linalg.lstsq(system, u**2 + v**2, rcond=None)
    assert math.sqrt(rest + cu**2 + cv**2) == pytest.approx(1, abs=1e-7)
    angle = np.unwrap(np.arctan2(v - cv, u - cu))
    assert (abs(angle[-1] - angle[0]) > math.pi) == bool(large)
    assert (angle[-1] > angle[0]) == bool(sweep)


def test_arcs_that_are_too_short_grow():
    [(segments, _)] = read_path("M0 0A1 1 0 0 1 10 0", None)
    assert sum(4 * math.atan(s.bulge) for s in segments) == pytest.approx(math.pi)
    assert np.allclose(ends(segments)[1], (5, -5))


@pytest.mark.parametrize(
    "data",
    ["L1 1", "M0 0 L1", "M0 0 X1 1", "M0 0 L1 1 z 3", "M0 0 L1 1 #", "M0 0 A1 1 0 2 0 3 3", "1 1", "M0 0C1 1 2 2"],
)
def test_wrong_path_data_is_refused(data):
    with pytest.raises(InputError, match=r"^d "):
        read_path(data, None)


@pytest.mark.parametrize(
    "text",
    ["translate(3,4) rotate(30)", "rotate(40 5,6)scale(2)", "skewX(20) skewY(-10)", "matrix(1 2 3 5 6 7), scale(2 3)"],
)
def test_transforms(text):
    """Against products of 3 × 3 matrices."""
    import re

    whole = np.eye(3)
    for name, values in re.findall(r"(\w+)\(([^)]*)\)", text):
        v = [float(entry) for entry in re.findall(r"[-\d.]+", values)]
        m = np.eye(3)
        if name == "translate":
            m[:2, 2] = v
        elif name == "scale":
            m[0, 0], m[1, 1] = v[0], v[-1]
        elif name == "rotate":
            c, s = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
            m[:2, :2] = [[c, -s], [s, c]]
            if len(v) == 3:
                m[:2, 2] = np.array(v[1:]) - m[:2, :2] @ v[1:]
        elif name == "matrix":
            m[:2] = np.reshape(v, (3, 2)).T
        else:
            m[(0, 1) if name == "skewX" else (1, 0)] = math.tan(math.radians(v[0]))
        whole = whole @ m
    found = drawn(f'<g transform="{text}"><path d="M1 2L3 5L0 4z"/></g>').curves[0]
    expected = (whole @ [[1, 3, 0], [2, 5, 4], [1, 1, 1]])[:2].T * [1, -1] + [0, 100]
    assert np.allclose(ends(found.segments)[:3], expected)


def test_arcs_stay_arcs_when_circles_stay_circles():
    arc = Arc((1.0, 0.0), (0.0, 1.0), math.tan(math.pi / 8))
    turned, mirrored, skewed = (mapped(arc, (*m, 3.0, 4.0)) for m in ((0, 2, -2, 0), (1, 0, 0, -1), (1, 0, 0, 3)))
    assert [s.bulge for s in (*turned, *mirrored)] == pytest.approx([arc.bulge, -arc.bulge])
    assert {type(s) for s in skewed} == {Cubic}
    middle = np.array([(s.p0, s.p3) for s in skewed]).reshape(-1, 2) - (3, 4)
    assert np.allclose((middle * [1, 1 / 3]) @ [[1, 0], [0, 1]], middle * [1, 1 / 3])
    assert np.allclose(np.hypot(*(middle * [1, 1 / 3]).T), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<rect x="10" y="20" width="30" height="40"/>', 1200),
        ('<rect x="10" y="20" width="30" height="40" rx="5"/>', 1200 - (4 - math.pi) * 25),
        ('<rect x="10" y="20" width="30" height="40" rx="5" ry="4"/>', 1200 - (4 - math.pi) * 20),
        ('<rect x="10" y="20" width="30" height="40" rx="99"/>', 1200 - (4 - math.pi) * 15 * 20),
        ('<circle cx="50" cy="50" r="20"/>', math.pi * 400),
        ('<ellipse cx="50" cy="50" rx="20" ry="10"/>', math.pi * 200),
        ('<polygon points="0,0 10,0 10,10"/>', 50),
        ('<polyline points="0,0 10,0 10,10"/>', 50),
        ('<path d="M0 0H10V10"/>', 50),
        ('<path d="M0 0H50V50H0Z M10 10H20V20H10Z"/>', 2400),
        ('<path d="M0 50 C 20 0 60 0 80 50 Z"/>', 2100),
    ],
)
def test_areas_of_shapes(body, expected, tmp_path):
    found = read(tmp_path, "a.svg", SVG.format('viewBox="0 0 100 100"', body), flatness=1e-6)
    assert area(found.domain) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("head", "units", "scale"),
    [
        ('width="120mm" height="80mm" viewBox="0 0 120 80"', "mm", 1),
        ('width="12cm" height="8cm" viewBox="0 0 120 80"', "cm", 0.1),
        ('width="2in" height="2in"', "in", 1 / 96),
        ('width="300" height="200"', "px", 1),
        ('width="100%" height="100%" viewBox="0 0 30 20"', "", 1),
        ('width="30mm" height="40mm" viewBox="0 0 30 20"', "mm", 1),
        ('width="30mm" height="40mm" viewBox="0 0 30 20" preserveAspectRatio="xMidYMid slice"', "mm", 2),
    ],
)
def test_units(head, units, scale):
    found = drawn('<rect x="3" y="4" width="10" height="5"/>', head)
    assert found.units == units
    corners = np.array([point for segment in found.curves[0].segments for point in points(segment)])
    assert np.ptp(corners, axis=0) == pytest.approx([10 * scale, 5 * scale])
    if units == "mm":
        ends_in_metres = np.array(found.in_units("m").curves[0].segments[0][:2])
        assert np.ptp(ends_in_metres, axis=0).max() == pytest.approx(1e-3 * 10 * scale)


def test_coordinates_go_up_from_the_lower_left_corner():
    found = drawn('<line x1="1" y1="2" x2="3" y2="7"/>', 'width="40mm" height="20mm" viewBox="0 0 40 20"')
    assert found.curves[0].segments == (Line((1, 18), (3, 13)),)


def test_names(tmp_path):
    body = """<g id="plate" fill="none">
        <path id="left" class="cold" d="M0 0V50"/><path class="cold" d="M0 50H50"/><path d="M50 50V0"/>
        <path xmlns:i="http://www.inkscape.org/namespaces/inkscape" i:label="the top" id="path7" d="M50 0H0"/></g>
        <circle id="hole" cx="25" cy="25" r="5"/>"""
    text = SVG.format('viewBox="0 0 100 100"', body)
    found = read(tmp_path, "a.svg", text)
    assert lengths(found.domain).keys() == {"left", "cold", "plate", "the top", "hole"}
    found = read(tmp_path, "a.svg", text, names="class")
    assert lengths(found.domain)["cold"] == 100
    several = drawn('<path id="a" d="M0 0H50V50H0Z M10 10H20V20H10Z"/>')
    assert [curve.name for curve in several.curves] == ["a", "a 2"]


def test_use_and_symbols():
    body = """<defs><circle id="c" r="1"/>
        <symbol id="s" viewBox="0 0 10 10"><rect id="r" width="10" height="5"/></symbol>
        </defs><use xlink:href="#c" x="5" y="6"/><use id="again" href="#c" transform="scale(2)"/>
        <use href="#s" x="1" y="2" width="20" height="20"/>"""
    one, two, three = drawn(body).curves
    assert (one.name, two.name, three.name) == ("c", "c", "r")
    assert np.allclose(ends(one.segments)[0], (6, 94))
    assert np.allclose(ends(two.segments)[0], (2, 100))
    assert np.allclose(np.ptp(ends(three.segments), axis=0), (20, 10))


def test_what_is_not_drawn_is_said():
    body = """<text>A</text><image href="file:///etc/passwd"/><rect width="1" height="1" display="none"/>
        <style>.no { visibility: hidden } /* a { } */ .open, .thin { fill: none }</style>
        <rect class="no" width="5" height="5"/>
        <path class="open" d="M0 0H9V9"/><rect width="9" height="9" style="clip-path:url(#a)" clip-path="url(#a)"/>"""
    found = drawn(body)
    assert [curve.closed for curve in found.curves] == [False, True]
    assert found.notes == ("left out: 1 <image>, 1 <text>, 1 clip-path, 2 hidden elements",)


def test_filled_curves_are_closed_and_it_is_said():
    found = drawn('<path id="a" d="M0 0H9V9"/>')
    assert found.curves[0].closed
    assert "is filled: closed" in found.notes[0]
    assert not drawn('<g fill="none"><path d="M0 0H9V9"/></g>').curves[0].closed


BOMB = '<path id="g0" d="M0 0H1"/>'
for k in range(8):
    BOMB += f'<g id="g{k + 1}">' + 9 * f'<use href="#g{k}"/>' + "</g>"
"""Each group draws the one before it nine times."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SVG.format("", '<g id="a"><use href="#a"/></g>'), "draws itself"),
        (SVG.format("", '<use id="a" href="#b"/><use id="b" href="#a"/>'), "draws itself"),
        (SVG.format("", BOMB), "more than 100,000 elements"),
        ('<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>', "declares the entity 'a'"),
        ('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>', "declares the entity 'a'"),
        ("<svg>" + "<g>" * 5000 + "</g>" * 5000 + "</svg>", "deep"),
        ("<html/>", "outermost element"),
        ("<svg", "is not XML"),
        ("", "is not XML"),
        (SVG.format("", ""), "has no curves"),
        (SVG.format("", '<path d="M0 0H1e999"/>'), "is not finite"),
        (SVG.format("", '<circle r="-1"/>'), "must not be negative"),
        (SVG.format("", '<circle r="5%"/>'), "percentage"),
        (SVG.format("", '<circle r="5foo"/>'), "units"),
        (SVG.format('viewBox="0 0 0 1"', '<circle r="5"/>'), "viewBox"),
        (SVG.format('width="-1"', '<circle r="5"/>'), "width"),
        (SVG.format("", '<circle r="5" transform="scale(0)"/>'), "flat"),
        (SVG.format("", '<circle r="5" transform="turn(3)"/>'), "known are"),
        (SVG.format("", '<circle r="5" transform="scale(1"/>'), "cannot be read"),
        (SVG.format("", '<use href="other.svg#a"/>'), "of this file"),
        (SVG.format("", '<polygon points="1 2 3"/>'), "pairs"),
    ],
)
def test_what_cannot_be_read_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_svg(text.encode())


def test_places_are_named():
    with pytest.raises(InputError, match=r"^path 'side' \(line 2\): d has 'x' at character 9"):
        drawn('\n<path id="side" d="M0 0 L1 x"/>')
