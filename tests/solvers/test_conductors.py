"""Capacitances and resistances against closed forms."""

import numpy as np
import pytest

import mc2
from mc2.geometry import Annulus, Disk, Polygon, Rectangle


def test_coaxial_cylinders_have_their_capacitance():
    found = mc2.capacitance(Annulus(0.4, 1.0))
    true = 2 * np.pi / np.log(1 / 0.4)
    assert found.names == ("outer", "inner")
    np.testing.assert_allclose(found.values, true * np.array([[1, -1], [-1, 1]]), rtol=1e-9)
    assert (found.standard_error < 1e-6).all()
    assert abs(float(found["inner", "outer"]) + true) <= 3 * found["inner", "outer"].standard_error + 1e-12


def test_three_conductors_make_a_symmetric_matrix_whose_rows_vanish():
    domain = Disk(1.0, name="case") - Disk(0.2, center=(0.4, 0), name="a") - Disk(0.1, center=(-0.3, 0.2), name="b")
    found = mc2.capacitance(domain)
    np.testing.assert_array_equal(found.values, found.values.T)
    np.testing.assert_allclose(found.values.sum(1), 0, atol=1e-12)
    assert (found.values[~np.eye(3, dtype=bool)] < 0).all()
    alone = mc2.capacitance(domain, ["a"])
    assert float(alone["a", "a"]) == pytest.approx(float(found["a", "a"]), rel=1e-8)


def test_a_strip_has_the_resistance_of_its_squares():
    found = mc2.resistance(Rectangle(width=3, height=0.5), "left", "right")
    assert found.value == pytest.approx(6.0, rel=1e-10)
    assert found.standard_error < 1e-4


def test_refusals():
    with pytest.raises(mc2.InputError, match="unknown part of the boundary 'lef'"):
        mc2.resistance(Rectangle(1, 1), "lef", "right")
    with pytest.raises(mc2.InputError, match="two electrodes without a common part"):
        mc2.resistance(Rectangle(1, 1), "left", ["left", "top"])


def test_a_bent_strip():
    """Two arms and a corner, which counts 0.559 squares: conformal mapping (Hall, 1967)."""
    bend = Polygon([(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)])
    found = mc2.resistance(bend, "edge 1", "edge 4")
    assert found.value == pytest.approx(6.559, abs=5e-4)  # so long arms do not feel the corner at their ends
    assert found.standard_error < 1e-4
