"""Narrow features of boundary data, and what walks have not met of them."""

import numpy as np
import pytest

import mc2
from mc2.fits.boundary import fit_boundary
from mc2.fits.edge import Edge, along_sides
from mc2.fits.field import Field
from mc2.geometry import Disk, Polygon, Square

HALF, VALUE = 1e-4, 1e4
ARC = mc2.Laplace(Disk(), boundary=f"where(abs(arctan2(y, x) - 0.7) < {HALF}, {VALUE}, 0)")
SHARE = HALF / np.pi
"""The arc's share of the boundary."""


@pytest.mark.parametrize("half", [1e-3, 1e-4, 1e-6])
def test_narrow_arcs_are_found(half):
    edge = Edge(mc2.Laplace(Disk(), boundary=f"x + where(abs(arctan2(y, x) - 0.7) < {half}, 5, 0)"))
    assert edge.narrow
    place = edge.features[0].places[0]
    assert np.hypot(place[0] - np.cos(0.7), place[1] - np.sin(0.7)) < 2 * half


@pytest.mark.parametrize("boundary", ["exp(x)*cos(y)", "sin(10*x) + y**2", "where(x > 0.3, 1, 0)", "abs(x)", "0", "3"])
@pytest.mark.parametrize("domain", [Disk(), Square()], ids=repr)
def test_smooth_and_wide_data_are_not_narrow(domain, boundary):
    assert not Edge(mc2.Laplace(domain, boundary=boundary)).narrow


def test_the_laplacian_counts_as_well():
    task = mc2.Biharmonic(
        Disk(), source=0, boundary="x", laplacian=f"where(abs(arctan2(y, x) - 0.7) < {HALF}, {VALUE}, 0)"
    )
    assert Edge(task).narrow
    mean, square = Edge(task).left(Field()).hidden(1.0)
    # Δu = h inside a disk is at most h/4 of u
    assert mean == pytest.approx(SHARE * VALUE / 4, rel=0.1)
    assert square == pytest.approx(SHARE * VALUE**2 / 16, rel=0.1)


def test_hidden_is_the_boundary_integral():
    """∮|g| and ∮g² over the length of the boundary, of all that walks have not met."""
    mean, square = Edge(ARC).left(Field()).hidden(0.0)
    assert mean == pytest.approx(SHARE * VALUE, rel=0.1)
    assert square == pytest.approx(SHARE * VALUE**2, rel=0.1)


def test_what_walks_have_met_is_not_hidden():
    left = Edge(ARC).left(Field())
    assert left.hidden(VALUE) == (0.0, 0.0)
    assert left.hidden(0.9 * VALUE) == (0.0, 0.0)
    assert left.hidden(1e-3 * VALUE)[0] > 0


def test_only_what_is_larger_is_hidden():
    """The data have a smooth part that walks have met and a spike that they have not: the spike alone is hidden."""
    task = mc2.Laplace(Disk(), boundary=f"x + where(abs(arctan2(y, x) - 0.7) < {HALF}, {VALUE}, 0)")
    mean, _ = Edge(task).left(Field()).hidden(1.0)
    assert mean == pytest.approx(SHARE * VALUE, rel=0.1)
    assert Edge(mc2.Laplace(Disk(), boundary="x")).left(Field()).hidden(0.0)[0] == pytest.approx(2 / np.pi, rel=0.01)


def test_a_field_that_fits_leaves_nothing():
    task = mc2.Laplace(Disk(), boundary="exp(x)*cos(y)")
    left = Edge(task).left(fit_boundary(task).field)
    assert left.left.max() < 1e-10
    assert left.hidden(0.0)[1] < 1e-20
    assert left.scale == pytest.approx(np.e, rel=1e-3)


def test_likely_places_are_near_the_feature():
    left = Edge(ARC).left(Field())
    x, y = Disk(0.98).sample_interior(400, seed=0).T
    likely = left.likely(x, y)
    apart = np.hypot(x - np.cos(0.7), y - np.sin(0.7))
    assert apart[np.argmax(likely)] == apart.min()
    far = apart > 0.2
    np.testing.assert_allclose((likely * apart**2)[far] / (likely * apart**2)[far][0], 1.0, rtol=0.05)
    everywhere = Edge(mc2.Laplace(Disk(), boundary="x")).left(Field())
    assert everywhere.likely(x, y) is None


def test_sides_of_polygons_are_sampled_alike():
    """Every side has points close to both of its ends, and what all stand for is the length of the boundary."""
    angles = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    radius = 1 + 0.1 * np.cos(9 * angles)
    domain = Polygon(np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1))
    points, length = along_sides(domain.pieces).measured
    np.testing.assert_allclose(length.sum(), domain.perimeter)
    assert np.abs(domain.distance(*points)).max() < domain.rounding
    assert (length > 0).all()
    assert all(np.sort(np.hypot(*(points - vertex[:, None])))[1] < 1e-8 for vertex in domain.pieces.start)
    left = Edge(mc2.Laplace(domain, boundary="x")).left(Field())
    assert abs(left.rms - np.sqrt(np.average(points[0] ** 2, weights=length))) < 1e-9
