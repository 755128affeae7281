"""The exterior of a body: distances, boundary, window, and what it refuses."""

import numpy as np
import pytest

import mc2
from mc2.geometry import Annulus, Disk, Ellipse, Exterior, Polygon, Square, from_description
from mc2.plotting import outline_path

BODY = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])


def test_distances_are_the_bodys_with_the_other_sign_also_far_away():
    x, y = np.random.default_rng(0).uniform(-100, 100, (2, 500))
    np.testing.assert_array_equal(Exterior(BODY).distance(x, y), -BODY.distance(x, y))
    assert Exterior(BODY).contains(1e6, 0)


@pytest.mark.parametrize("body", [BODY, Ellipse(1.0, 0.5), Square(1.0) | Disk(0.5, center=(3, 0))], ids=repr)
def test_the_exterior_is_on_the_left_of_its_boundary(body):
    domain = Exterior(body)
    pieces, t = domain.pieces, np.full(domain.pieces.size, 0.3)
    middle, left = pieces.at(t), 1j * pieces.direction(t)
    step = 1e-3 * left
    assert domain.contains(middle[:, 0] + step.real, middle[:, 1] + step.imag).all()
    assert pieces.areas().sum() == pytest.approx(-body.pieces.areas().sum())
    assert [part.name for part in domain.parts] == [part.name for part in body.parts]
    same = {tuple(np.round(p, 12)) for p in pieces.end[~pieces.smooth]}
    assert same == {tuple(np.round(p, 12)) for p in body.pieces.end[~body.pieces.smooth]}


def test_window_and_moves():
    domain = Exterior(Disk(1.0, center=(2, 0)), reach=4, growth=0.5)
    assert domain.bounds == (-2, 6, -4, 4)
    assert domain.scale(2.0).rotate(0.3).move(1, 1).growth == 0.5
    assert from_description(domain.describe()) == domain
    assert repr(domain) == "Exterior(Disk(1.0, center=(2.0, 0.0)), reach=4.0, growth=0.5)"
    assert outline_path(domain).get_extents().bounds == (-2, -4, 8, 8)  # the window is filled, but for the body
    assert {part.name for part in Exterior(Disk(1.0)).mark("top", "y > 0.5").parts} == {"top", "rim"}


OUT = Exterior(Disk(1.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exterior(Annulus(0.5, 1.0)), "has holes, which are no part of its exterior"),
        (lambda: Exterior(OUT), "must be a bounded domain"),
        (lambda: Exterior(Disk(), reach=1.0), "reach = 1 must lie between 1.25 and 50"),
        (lambda: OUT | Disk(0.1), "union combines bounded domains"),
        (lambda: mc2.Poisson(OUT, source=1, boundary=0), "poisson problems need a bounded domain"),
        (lambda: mc2.Helmholtz(OUT, k=1, source=0, boundary=1), "helmholtz problems need a bounded domain"),
        (lambda: mc2.Laplace(OUT, exact="x"), "laplace problems with an exact solution need a bounded domain"),
        (lambda: mc2.Laplace(OUT, mc2.Neumann(0)), "Neumann and Robin conditions need a bounded domain"),
        (lambda: mc2.estimate(mc2.Laplace(OUT, 1)), "see mc2.solve, need a bounded domain"),
        (lambda: mc2.solve(mc2.Laplace(OUT, 1), corrector="wos"), "see mc2.solve, need a bounded domain"),
        (lambda: mc2.solve(mc2.Laplace(OUT, 1), grid=16).integral(), "integrals need a bounded domain"),
        (
            lambda: mc2.solve(mc2.Laplace(Exterior(Disk(), growth=1.0), 1), grid=16).maximum(),
            "extremes of what grows at infinity need a bounded domain",
        ),
        (lambda: mc2.modes(OUT, 1), "modes need a bounded domain"),
        (lambda: mc2.certify(mc2.Laplace(OUT, 1), "fd"), "fields by 'fd' need a bounded domain"),
        (lambda: mc2.solve(mc2.Laplace(Disk(), 1), grid=16).at_infinity(), "only exterior domains have an infinity"),
        (lambda: from_description({"exterior": {"shape": "disk"}, "rech": 3}), "rech"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(make, message):
    with pytest.raises(mc2.InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
