"""Names of boundary parts: where they come from, what they are called, and how marks split off new ones."""

import json

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import SHAPES, Annulus, Disk, Hexagon, Polygon, Rectangle, Square, Stadium, Triangle, from_description

PLATE = Rectangle(width=120, height=80, center=(260, 90)) - Disk(12, center=(240, 90), name="pipe")


def lengths(domain) -> dict[str, float]:
    return {part.name: part.length for part in domain.parts}


def test_shapes_name_their_sides():
    assert lengths(Disk(2)) == {"rim": pytest.approx(4 * np.pi)}
    assert lengths(Rectangle(1.5, 0.5)) == {"bottom": 3, "right": 1, "top": 3, "left": 1}
    assert lengths(Annulus(0.5, 1)) == {"outer": pytest.approx(2 * np.pi), "inner": pytest.approx(np.pi)}
    assert list(lengths(Triangle())) == ["edge 0", "edge 1", "edge 2"]
    assert list(lengths(Hexagon())) == [f"edge {k}" for k in range(6)]
    assert lengths(Stadium(0.5, 0.3))["right"] == pytest.approx(0.3 * np.pi)
    square = Square(center=(1, 0))
    at = square.part_index([1, 2, 1, 0], [-1, 0, 1, 0])
    assert [square.parts[k].name for k in at] == ["bottom", "right", "top", "left"]


def test_a_name_is_for_the_whole_boundary():
    for shape in SHAPES.values():
        parameters = {name: 0.5 * (low + high) for name, (low, high) in shape.ranges.items()}
        domain = shape(**parameters, name="wall")
        assert [part.name for part in domain.parts] == ["wall"]
        assert domain != shape(**parameters)
        assert hash(domain) != hash(shape(**parameters))
        assert eval(repr(domain), {shape.__name__: shape}) == domain
        assert np.array_equal(domain.program.constants, shape(**parameters).program.constants)
        assert domain.move(1, 2).rotate(3).scale(4).name == "wall"
        assert from_description(domain.describe()) == domain
        assert "name" not in shape(**parameters).describe()


@pytest.mark.parametrize("name", ["", " ", "*", 3, "a" * 101, "a\nb", ["a"]])
def test_what_is_no_name(name):
    with pytest.raises(InputError, match="name"):
        Disk(name=name)
    with pytest.raises(InputError, match="polygon name"):
        Polygon([(0, 0), (1, 0), (0, 1)], name=name)
    with pytest.raises(InputError, match="mark"):
        Disk().mark(name)


def test_polygons_number_edges_and_holes():
    ring, hole = [(0, 0), (4, 0), (4, 3)], [(2.5, 0.5), (3.5, 0.5), (3.5, 1)]
    for outer in (ring, ring[::-1]):
        domain = Polygon(outer, [hole])
        for k, (p, q) in enumerate(zip(outer, [*outer[1:], outer[0]], strict=True)):
            index = domain.part_index(*(0.5 * (np.array(p) + q)))
            assert domain.parts[index].name == f"edge {k}"
            assert domain.parts[index].length == pytest.approx(np.hypot(*np.subtract(q, p)))
        assert domain.parts[-1].name == "hole 1"
    named = Polygon(ring, name="wall")
    assert [part.name for part in named.parts] == ["wall"]
    assert from_description(named.describe()) == named != Polygon(ring)


def test_names_in_compositions():
    assert list(lengths(PLATE)) == ["bottom", "right", "top", "left", "pipe"]
    assert lengths(PLATE)["pipe"] == pytest.approx(24 * np.pi)
    two = Square() - Disk(0.1, center=(0.5, 0)) - Square(0.2, center=(-0.5, 0))
    assert lengths(two)["hole 1"] == pytest.approx(0.2 * np.pi)
    assert lengths(two)["hole 2"] == pytest.approx(1.6)
    # a bite is no hole: its sides keep their names, which are those of the sides of the square
    bite = Square() - Square(0.5, center=(1, 0))
    assert lengths(bite) == pytest.approx({"bottom": 2.5, "right": 1, "top": 2.5, "left": 2 + 1})
    assert lengths(Square() - Annulus(0.2, 0.5)).keys() == {"bottom", "right", "top", "left", "hole 1", "inner"}
    # a name that is taken is left to who took it
    both = Square() - Disk(0.1, center=(0.5, 0)) - Disk(0.2, center=(-0.5, 0), name="hole 1")
    assert lengths(both)["hole 1"] == pytest.approx(0.4 * np.pi)
    assert lengths(both)["hole 2"] == pytest.approx(0.2 * np.pi)


def test_a_mark_splits_where_its_condition_changes():
    marked = PLATE.mark("heater", "x > 280.125", on="bottom")
    assert lengths(marked)["heater"] == pytest.approx(39.875, abs=1e-11)
    assert lengths(marked)["bottom"] == pytest.approx(80.125, abs=1e-11)
    x = np.array([280.124, 280.126])
    assert [marked.parts[k].name for k in marked.part_index(x, np.full(2, 50.0))] == ["bottom", "heater"]
    assert marked != PLATE
    assert hash(marked) != hash(PLATE)
    assert marked == PLATE.mark("heater", "x > 280.125", on="bottom")
    assert np.array_equal(marked.program.code, PLATE.program.code)
    x, y = np.random.default_rng(0).uniform(200, 300, (2, 100))
    assert np.array_equal(marked.distance(x, y), PLATE.distance(x, y))


def test_a_mark_may_be_narrow():
    domain = Square(1.0).mark("electrode", "x**2 + (y + 1)**2 < 1e-8")
    lengths = {part.name: part.length for part in domain.parts}
    assert lengths["electrode"] == pytest.approx(2e-4, rel=1e-6)
    assert lengths["bottom"] == pytest.approx(2 - 2e-4, rel=1e-6)


def test_marks_of_functions_and_of_everything():
    upper = Disk().mark("upper", lambda x, y: y > 0.5)
    assert lengths(upper)["upper"] == pytest.approx(2 * np.pi / 3)
    assert lengths(Square().mark("walls", on=["left", "right"])) == {"bottom": 2, "walls": 4, "top": 2}
    stripes = Disk().mark("stripes", lambda x, y: np.sin(20 * np.arctan2(y, x)) > 0)
    assert lengths(stripes)["stripes"] == pytest.approx(np.pi)
    assert (stripes.pieces.part == 1).sum() == 20
    grown = Square().mark("hot", "x > 0.5").mark("hot", "x < -0.5")
    assert lengths(grown)["hot"] == pytest.approx(6)


def test_marks_move_along():
    marked = PLATE.mark("heater", "x > 280", on="bottom")
    moved = marked.move(-260, -90).scale(1 / 60).rotate(0.7)
    assert lengths(moved) == pytest.approx({name: length / 60 for name, length in lengths(marked).items()})
    again = from_description(json.loads(json.dumps(moved.describe())))
    assert again == moved
    assert lengths(again) == pytest.approx(lengths(moved))
    pieces = marked.pieces.at(0.3)
    z = (pieces @ (1, 1j) - (260 + 90j)) / 60 * np.exp(0.7j)
    assert np.array_equal(moved.part_index(z.real, z.imag), marked.part_index(*pieces.T))
    cut = moved - Disk(0.1)
    assert {"heater", "pipe", "hole 1"} <= lengths(cut).keys() | {"hole 1"}


def test_marks_in_compositions_and_descriptions():
    plate = Square().mark("inlet", "y > 0", on="left") - Disk(0.3)
    assert lengths(plate)["inlet"] == 1
    assert plate.describe()["difference"][0]["marks"] == [{"name": "inlet", "where": "y > 0", "on": ["left"]}]
    assert from_description(plate.describe()) == plate
    twice = plate.mark("a", "x > 0", on="hole 1").mark("b", on="a")
    assert from_description(twice.describe()) == twice
    assert lengths(twice)["b"] == pytest.approx(0.3 * np.pi)
    assert repr(Disk().mark("a", "x > 0", "rim")) == "Disk(1.0).mark('a', 'x > 0', on='rim')"
    with pytest.raises(InputError, match="Python function"):
        Disk().mark("a", lambda x, y: x > 0).describe()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "x > 0", "botom"), "unknown part of the boundary 'botom': did you mean 'bottom'"),
        (("a", "x > 5"), "mark 'a': 'x > 5' holds nowhere on the boundary"),
        (("a", "x > 0", "left"), "holds nowhere on 'left'"),
        (("a", "z > 0"), "unknown name 'z'"),
        (("a", 3), "where = 3 must be a text"),
        (("a", None, 3), "on = 3 must be the name of a part"),
        (("a", lambda x, y: 1 / 0), "its condition fails: division by zero"),
    ],
)
def test_marks_that_are_refused(arguments, message):
    with pytest.raises(InputError) as error:
        Square().mark(*arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_part_of_a_place_is_that_of_the_nearest_piece():
    random = np.random.default_rng(2)
    x, y = random.uniform((200, 50), (320, 130), (2000, 2)).T
    to = {"pipe": np.abs(np.hypot(x - 240, y - 90) - 12)}
    to |= {"left": x - 200, "right": 320 - x, "bottom": y - 50, "top": 130 - y}
    names = [part.name for part in PLATE.parts]
    assert np.array_equal(PLATE.part_index(x, y), np.argmin([to[name] for name in names], axis=0))
    assert PLATE.part_index(240.0, 102.0).shape == ()


def test_width_and_height():
    assert Rectangle(width=3, height=1) == Rectangle(1.5, 0.5)
    assert (Rectangle(1.5, 0.5).width, Rectangle(1.5, 0.5).height) == (3, 1)
    assert from_description({"shape": "rectangle", "width": 3, "height": 1}) == Rectangle(1.5, 0.5)
    for arguments in ({}, {"a": 1}, {"a": 1, "width": 2}, {"a": 1, "b": 1, "width": 2, "height": 2}, {"height": 1}):
        with pytest.raises(InputError, match="half-widths a and b, or width and height"):
            Rectangle(**arguments)
    with pytest.raises(InputError, match="width = -1"):
        Rectangle(width=-1, height=2)


def test_names_of_edges():
    """Names edge by edge, whatever the orientation; edges that meet smoothly are one."""
    square, hole = [(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (2, 1), (2, 2)]
    names = [["bottom", None, "top", "bottom"], [None, "slope", None]]
    lengths = {"bottom": 8, "edge 1": 4, "top": 4, "hole 1": 1 + np.sqrt(2), "slope": 1}
    found = Polygon(square, [hole], names=names)
    assert {part.name: part.length for part in found.parts} == pytest.approx(lengths)
    assert from_description(found.describe()) == found
    turned = Polygon(square[::-1], [hole[::-1]], names=[["top", None, "bottom", "bottom"], ["slope", None, None]])
    assert {part.name: part.length for part in turned.parts} == pytest.approx(lengths)
    smooth = Polygon(square, [hole], smooth=[[1, 2], []])
    assert {part.name: part.length for part in smooth.parts} == pytest.approx(
        {"edge 0": 12, "edge 1": 4, "hole 1": 2 + np.sqrt(2)}
    )
    assert smooth.pieces.smooth.sum() == 2
    for wrong, said in (({"names": [["a"], []]}, "4 edges and 1 names"), ({"smooth": [[]]}, "2 rings")):
        with pytest.raises(InputError, match=said):
            Polygon(square, [hole], **wrong)
