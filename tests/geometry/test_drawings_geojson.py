"""GeoJSON and objects with a `__geo_interface__`: polygons, unions, names, degrees; and what is refused."""

import json
import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings import from_geometry
from mc2.geometry.drawings.geojson import EARTH, from_interface
from tests.geometry.drawn import area, lengths, read

shapely = pytest.importorskip("shapely")


def box(x0, y0, x1, y1):
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]]


def feature(rings, **properties):
    return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": rings}}


def collection(*features):
    return {"type": "FeatureCollection", "features": list(features)}


def test_a_polygon_with_holes_lines_and_names(tmp_path):
    data = collection(
        feature([box(0, 0, 10, 8), box(1, 1, 3, 3)[::-1]], name="plate"),
        {"type": "Feature", "id": 7, "geometry": {"type": "LineString", "coordinates": [[5, 5, 0], [7, 6, 0]]}},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]}},
        {"type": "Feature", "geometry": None},
    )
    found = read(tmp_path, "a.geojson", json.dumps(data))
    assert area(found.domain) == pytest.approx(76)
    assert lengths(found.domain).keys() >= {"plate", "plate hole 1"}
    assert lengths(found.domain)["plate"] == 36
    assert found.notes == ("left out: 1 Points, 1 features without geometry",)


def test_polygons_are_united_and_keep_their_names():
    """A polygon within another adds nothing; neighbours lose the border between them."""
    data = collection(
        feature([box(0, 0, 10, 10)], name="a"),
        feature([box(10, 2, 15, 8)], name="b"),
        feature([box(1, 1, 2, 2)], name="inner"),
        feature([box(20, 0, 22, 2)], name="far"),
        feature([box(21, 1, 23, 3)], name="over"),
    )
    found = from_geometry(data)
    expected = shapely.unary_union([shapely.geometry.shape(f["geometry"]) for f in data["features"]])
    assert area(found) == pytest.approx(expected.area)
    assert lengths(found) == {"a": 34, "b": 16, "far": 6, "over": 6}


@pytest.mark.parametrize("seed", range(3))
def test_geometries_of_shapely(seed):
    rng = np.random.default_rng(seed)
    disks = [shapely.Point(*rng.random(2) * 4).buffer(0.3 + rng.random()) for _ in range(8)]
    shape = shapely.unary_union(disks) - shapely.box(1.5, 1.5, 2, 2)
    found = from_geometry(shape)
    assert area(found) == pytest.approx(shape.area, rel=1e-12)
    assert sum(part.length for part in found.parts) == pytest.approx(shape.length, rel=1e-12)


def test_degrees_become_metres_and_angles_stay():
    """The area of a small cell of longitude and latitude on a sphere, and right angles."""
    south, north, west, east = 54.59, 54.61, 11.0, 11.05
    cell = shapely.segmentize(shapely.box(west, south, east, north), 0.001)
    found = from_geometry(cell, degrees=True)
    belt = math.sin(math.radians(north)) - math.sin(math.radians(south))
    assert area(found) == pytest.approx(EARTH**2 * math.radians(east - west) * belt, rel=1e-6)
    height = math.radians(north - south) * EARTH
    assert found.pieces.start[:, 1].max() - found.pieces.start[:, 1].min() == pytest.approx(height, rel=1e-6)
    with pytest.raises(InputError, match="degrees"):
        from_geometry(shapely.box(0, 0, 5000, 5000), degrees=True)


def test_rings_may_go_either_way(tmp_path):
    data = {"type": "Polygon", "coordinates": [box(0, 0, 10, 10)[::-1], box(1, 1, 3, 3)]}
    found = read(tmp_path, "a.json", json.dumps(data))
    assert area(found.domain) == pytest.approx(96)
    assert found.notes == ("2 rings are turned around: outer rings go to the left, holes to the right",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "must be an object"),
        ({"type": "Circle"}, "unknown type of the file 'Circle'"),
        ({"type": "FeatureCollection"}, "features = None must be a list"),
        ({"type": "Polygon", "coordinates": 3}, "Polygon: coordinates are 3"),
        ({"type": "Polygon", "coordinates": [box(0, 0, 1, 1)[:-1]]}, "ends where it begins"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, "a"], [1, 1], [0, 0]]]}, "position 2"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1], [1, 1], [0, 0]]]}, "position 2"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1e200, 0], [1, 1], [0, 0]]]}, "beyond 1e"),
        ({"type": "Polygon", "coordinates": [box(0, 0, 4, 4), box(6, 6, 7, 7)]}, "lies outside its polygon"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [4, 4], [4, 0], [0, 3], [0, 0]]]}, "crosses or touches itself"),
        ({"type": "Point", "coordinates": [0, 0]}, "has no curves: only 1 Points"),
        (collection(feature([box(0, 0, 1, 1)]), {"type": "Feature", "geometry": {"type": "X"}}), "type of feature 2"),
    ],
)
def test_what_cannot_be_read_is_refused(data, said):
    with pytest.raises(InputError, match=said):
        from_geometry(data) if isinstance(data, dict) else from_interface(data)


def test_deep_collections_are_refused():
    data = {"type": "Point", "coordinates": [0, 0]}
    for _ in range(30):
        data = {"type": "GeometryCollection", "geometries": [data]}
    with pytest.raises(InputError, match="deep"):
        from_geometry(data)
    with pytest.raises(InputError, match="no geometry"):
        from_geometry(3)
