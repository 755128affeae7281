"""Domains of several materials: closed forms, units, and what is refused."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Rectangle
from mc2.walks.plan import can_walk

INNER, OUTER, BETWEEN = 0.4, 1.0, 0.7


def annulus(length=1.0, value=1.0, contrast=50.0):
    """A ring with another ring inside, 1 within and 0 without: u goes like log r in both."""
    domain = Annulus(INNER * length, OUTER * length)
    regions = {"ring": (Disk(BETWEEN * length), 3.0 * contrast)}
    boundary = {"inner": value, "outer": 0.0}
    return mc2.Elliptic(domain, diffusion=3.0, regions=regions, source=0, boundary=boundary)


def known(x, y, contrast=50.0):
    r = np.hypot(x, y)
    flow = -1 / (np.log(BETWEEN / INNER) / contrast + np.log(OUTER / BETWEEN))
    return np.where(r < BETWEEN, 1 + flow / contrast * np.log(r / INNER), flow * np.log(r)), flow


@pytest.mark.parametrize("contrast", [1e-3, 50.0])
def test_two_rings(contrast):
    solution = mc2.solve(annulus(contrast=contrast), grid=48)
    exact, flow = known(*(c[solution.mask] for c in solution.grid.points()), contrast)
    error = np.abs(solution.values[solution.mask] - exact)
    assert error.max() < 1e-11
    assert solution.converged
    assert np.sqrt(np.mean(error**2)) < solution.standard_error.max() < 1e-8
    assert solution.flux("inner").value == pytest.approx(-2 * np.pi * 3.0 * flow, rel=1e-9)
    assert solution.flux("outer").value == pytest.approx(2 * np.pi * 3.0 * flow, rel=1e-9)
    wrong = mc2.certify(solution.problem, lambda x, y: known(x, y, contrast)[0] + 0.01, grid=24)
    assert wrong.kind == "bound"
    assert wrong.overall.rms.estimate == pytest.approx(0.01, rel=1e-6)


def test_units_do_not_matter():
    unit, small = mc2.solve(annulus(), grid=16), mc2.solve(annulus(1e-5, 1e6), grid=16)
    np.testing.assert_allclose(small.values / 1e6, unit.values, atol=1e-10)


def test_layers():
    """Three of them, by parabolas; the interfaces meet walls that let nothing through."""
    domain = Rectangle(1.0, 0.6)
    regions = {
        "low": (Rectangle(2.0, 0.4, center=(0, -0.6)), 10.0),
        "high": (Rectangle(2.0, 0.5, center=(0, 0.8)), 0.2),
    }
    boundary = {"bottom": 0, "top": mc2.Neumann(0), "left": mc2.Neumann(0), "right": mc2.Neumann(0)}
    solution = mc2.solve(mc2.Elliptic(domain, regions=regions, source=-1, boundary=boundary), grid=24)
    y = solution.grid.points()[1][solution.mask]
    # α u' = 0.6 − y
    steps = [(-0.6, -0.2, 10.0), (-0.2, 0.3, 1.0), (0.3, 0.6, 0.2)]
    exact = sum(
        (0.6 * (t - low) - 0.5 * (t**2 - low**2)) / alpha for low, high, alpha in steps for t in [np.clip(y, low, high)]
    )
    assert np.abs(solution.values[solution.mask] - exact).max() < 1e-11
    assert solution.flux("bottom").value == pytest.approx(-2.4, abs=1e-9)


def test_corners_of_interfaces_are_not_claimed_to_be_resolved():
    """What flows in must flow out; where that is far off, the solution says that it has not converged."""
    problem = mc2.Elliptic(Disk(), regions={"chip": (Rectangle(0.5, 0.3), 150.0)}, source=-1, boundary=0)
    solution = mc2.solve(problem, grid=24)
    flow = solution.flux()
    assert abs(flow.value + np.pi) < 3 * flow.standard_error
    assert not solution.converged or solution.standard_error.max() < 1e-2


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ({}, "must be a table"),
        ([("chip", 1.0)], "must be a table"),
        ({"chip": 2.0}, "must be a shape and its diffusion"),
        ({"chip": (2.0, Disk(0.1))}, "is no shape"),
        ({"chip": (Disk(0.1), 0.0)}, "must be a positive number"),
        ({"chip": (Disk(0.1), "x")}, "must be a positive number"),
        ({"chip": (Disk(0.1, center=(5, 5)), 2.0)}, "no part of the domain"),
        ({"chip": (Disk(0.3), 1e12)}, "at most 1e[+]08 apart"),
    ],
)
def test_refusals(regions, message):
    with pytest.raises(InputError, match=message) as caught:
        mc2.Elliptic(Disk(), regions=regions, source=1, boundary=0)
    assert "\n" not in str(caught.value)


def test_other_refusals():
    with pytest.raises(InputError, match="must be a number"):
        mc2.Elliptic(Disk(), diffusion="2 + x", regions={"chip": (Disk(0.3), 2.0)}, source=1, boundary=0)
    problem = annulus()
    assert not can_walk(problem)
    with pytest.raises(InputError, match="walks know no interfaces between materials"):
        mc2.estimate(problem, grid=8)
    everything = mc2.Elliptic(Disk(), regions={"a": (Disk(2.0), 2.0)}, source=1, boundary=0)
    with pytest.raises(InputError, match="the rest of the domain is empty"):
        mc2.solve(everything, grid=8)
    jump = mc2.Elliptic(Disk(), diffusion="where(x > 0.1, 2, 1)", source=1, boundary=0)
    with pytest.raises(InputError, match="give domains made of several materials by regions="):
        mc2.solve(jump, grid=8)
