"""Plain data and back, and what strangers may not send."""

import json
import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Disk, from_description

from .plain import COMPOSED, LEAVES, build, name_of, random_tree


@pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)
def test_round_trip(tree):
    domain = build(tree).rotate(0.3).move(0.1, 0.2)
    text = json.dumps(domain.describe(), allow_nan=False)
    assert from_description(json.loads(text)) == domain
    assert from_description(json.loads(text)).describe() == domain.describe()


def test_round_trip_of_random_compositions():
    random = np.random.default_rng(4)
    for _ in range(100):
        domain = build(random_tree(random, int(random.integers(2, 9))))
        assert from_description(json.loads(json.dumps(domain.describe()))) == domain


def test_what_a_description_looks_like():
    assert (Disk(center=(1, 2)) - Disk(0.5)).describe() == {
        "difference": [
            {"shape": "disk", "radius": 1.0, "center": [1.0, 2.0], "angle": 0.0},
            {"shape": "disk", "radius": 0.5, "center": [0.0, 0.0], "angle": 0.0},
        ]
    }
    assert from_description({"shape": "disk"}) == Disk()


def nested(depth: int) -> dict:
    data = {"shape": "disk"}
    for k in range(depth):
        data = {("union", "intersection")[k % 2]: [data, {"shape": "disk"}]}
    return data


DISK = {"shape": "disk"}
REFUSED = [
    (3, "must be a table"),
    ([], "must be a table"),
    (None, "must be a table"),
    ({}, "0 keys"),
    ({"shape": "disc"}, "did you mean 'disk'"),
    ({"shape": ["disk"]}, "unknown shape"),
    ({"shape": None}, "unknown shape"),
    ({"form": "disk"}, "unknown key of a domain 'form'"),
    ({5: "disk"}, "unknown key of a domain 5"),
    ({"shape": "disk", "raduis": 1.0}, "did you mean 'radius'"),
    ({"shape": "disk", "op": 3}, "unknown argument of Disk 'op': known: "),
    ({"shape": "disk", "union": []}, "unknown argument of Disk 'union'"),
    ({"shape": "disk", 5: 1}, "unknown argument of Disk '5'"),
    ({"shape": "rectangle", "a": 1.0}, "rectangle has a: give its half-widths a and b, or width and height"),
    ({"shape": "polygon"}, "Polygon needs vertices: it takes vertices, holes, name"),
    ({"shape": "ellipse"}, "Ellipse needs rx, ry: it takes "),
    (
        {"shape": "polygon", "vertices": [[0, 0], [1, 0], [0, 1]], "center": [0, 0]},
        "unknown argument of Polygon 'center'",
    ),
    ({"shape": "disk", "radius": True}, "radius = True must be a finite number"),
    ({"shape": "disk", "radius": math.nan}, "radius = nan"),
    ({"shape": "disk", "radius": math.inf}, "radius = inf"),
    ({"shape": "disk", "radius": "1"}, "radius = '1'"),
    ({"shape": "disk", "radius": -1}, "radius = -1 must be above 0"),
    ({"shape": "disk", "center": [0]}, "center"),
    ({"shape": "disk", "center": [0, "a"]}, "center"),
    ({"shape": "disk", "angle": None}, "angle"),
    ({"union": [DISK]}, "two or more"),
    ({"union": DISK}, "list of domains"),
    ({"union": [DISK, 5]}, "must be a table"),
    ({"union": [DISK, DISK], "difference": [DISK, DISK]}, "2 keys"),
    ({"onion": [DISK, DISK]}, "did you mean 'union'"),
    (nested(17), "16 deep"),
    (nested(500), "16 deep"),
    ({"shape": "polygon", "vertices": [[k, k * k] for k in range(100_001)]}, "100,000 vertices"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=[case[1] for case in REFUSED])
def test_what_is_refused(data, message):
    with pytest.raises(InputError) as error:
        from_description(data)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_sixteen_deep_is_allowed():
    assert from_description(nested(16)).distance(0, 0) == 1
