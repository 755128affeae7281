"""Narrow features of functions that are known."""

import numpy as np
import pytest

from mc2.fits.features import features_in, features_on_boundary
from mc2.functions.callables import from_callable
from mc2.functions.conversion import as_function
from mc2.geometry import Disk, Polygon, Rectangle, Square

L_SHAPE = Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)])
SMOOTH = ["exp(x)*sin(3*y) + x**2*y - log(2 + x)*cos(x*y)", "sin(20*x)*exp(y)", "x", "1", "0", "tanh(30*x)"]


def inside(text, domain=None):
    return features_in(as_function(text, "f"), domain or Square())


def on_boundary(text, domain=None):
    return features_on_boundary(as_function(text, "f"), domain or Disk())


@pytest.mark.parametrize("domain", [Square(), Disk(), L_SHAPE.rotate(3.0)], ids=repr)
def test_a_bump_of_width_a_thousandth(domain):
    found = inside("1e5*exp(-((x-.2)**2 + (y-.1)**2)*1e6)", domain)
    assert found.places.shape == (1, 2)
    np.testing.assert_allclose(found.places[0], (0.2, 0.1), atol=5e-4)
    assert 0.9e5 < found.largest <= 1e5
    assert 1e5 <= found.bound < 1.01e5
    assert 0.5 * 8.3e-4 < found.widths[0] < 3 * 8.3e-4  # e^(−r²·10⁶) = ½


def test_a_heater_of_radius_a_ten_thousandth():
    found = inside("where((x-.3)**2 + (y-.2)**2 < 1e-8, 1e6, 0)")
    assert len(found.places) == 1
    assert np.hypot(*(found.places[0] - (0.3, 0.2))) < 1e-4
    assert found.largest == 1e6
    assert found.bound == 1e6
    assert 2e-5 < found.widths[0] < 3e-4


def test_a_dip_and_a_second_bump():
    dip = inside("5 - 5*exp(-((x+.4)**2 + (y-.6)**2)*1e7)")
    np.testing.assert_allclose(dip.places, [(-0.4, 0.6)], atol=2e-4)
    two = inside("x + 1e5*exp(-((x-.2)**2 + y**2)*1e6) + 3e4*exp(-((x+.2)**2 + y**2)*1e6)")
    np.testing.assert_allclose(two.places, [(0.2, 0), (-0.2, 0)], atol=5e-4)


def test_a_pole():
    found = inside("1/sqrt((x-.1)**2 + y**2)")
    np.testing.assert_allclose(found.places[0], (0.1, 0), atol=1e-9)
    assert found.largest > 1e8
    assert found.bound == np.inf


def test_an_electrode():
    found = on_boundary("where((x > 0)*(abs(y) < 1e-4), 1e4, 0)")
    assert len(found.places) == 1
    assert found.places[0, 0] == pytest.approx(1)
    assert abs(found.places[0, 1]) < 1e-4
    assert (found.largest, found.bound) == (1e4, 1e4)
    assert 2e-5 < found.widths[0] < 4e-4


def test_electrodes_of_a_composition_where_it_has_a_boundary():
    """At 1.2 and, in the hole, at 0.2; at 0.8 the disk's outline is hidden in the rectangle."""
    domain = (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.0))) - Disk(0.2)
    found = on_boundary("where((x > 0)*(abs(y) < 1e-4), 1e4, 0)", domain)
    np.testing.assert_allclose(np.sort(found.places[:, 0]), [0.2, 1.2], atol=1e-6)


@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_functions_have_none(text):
    for look in (inside, on_boundary):
        assert len(look(text).places) == 0


def test_what_samples_show_is_no_narrow_feature():
    for text in ("where(x > 0.1, 10, -5)", "where((x-.3)**2 + (y-.2)**2 < 0.04, 100, 0)", "1000*cos(536.165146*x)"):
        assert len(inside(text).places) == 0
    assert len(on_boundary("cos(1600*arctan2(y, x))").places) == 0
    assert len(on_boundary("where(y > 0.2, 1, x)").places) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_above_dense_samples(seed):
    random = np.random.default_rng(seed)
    a, b, c, d = random.uniform(-3, 3, 4)
    function = as_function(f"exp({a}*x)*cos({b}*y) + {c}*x*y/(1.5 + sin({d}*x*y))", "f")
    x, y = L_SHAPE.sample_interior(200_000, seed=seed).T
    found = features_in(function, L_SHAPE)
    most = np.abs(function(x, y)).max()
    assert most <= found.bound < 3 * most
    assert found.largest <= found.bound
    x, y = L_SHAPE.sample_boundary(200_000, seed=seed).T
    assert np.abs(function(x, y)).max() <= features_on_boundary(function, L_SHAPE).bound


def test_functions_without_an_enclosure_are_sampled():
    def heater(x, y):
        if (x - 0.3) ** 2 + (y - 0.2) ** 2 < 1e-4:
            return 1e6
        return x

    def electrode(x, y):
        if x > 0 and abs(y) < 1e-3:
            return 1e4
        return y

    found = features_in(from_callable(heater, "heater"), Disk())
    assert found.bound is None
    assert found.largest == 1e6
    assert np.hypot(*(found.places[0] - (0.3, 0.2))) < 1e-2
    found = features_on_boundary(from_callable(electrode, "electrode"), Disk())
    assert found.largest == 1e4
    np.testing.assert_allclose(found.places[0], (1, 0), atol=1e-3)
