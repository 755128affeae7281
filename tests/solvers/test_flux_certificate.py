"""Fluxes by walks: right also where the fit is wrong, and within their bars."""

import numpy as np
import pytest

import mc2
from mc2.geometry import Annulus, Disk, Exterior, Rectangle, Square
from tests.solvers.test_gradient_certificate import spoiled

CYLINDERS = Disk(1.0, name="outer") - Disk(0.25, center=(0.5, 0.0), name="inner")
CAPACITANCE = 2 * np.pi / np.arccosh((1 + 0.0625 - 0.25) / 0.5)


def scores(solution, part, true, walks=1 << 14, count=12):
    found = [solution.certify_flux(part, walks, seed=seed) for seed in range(count)]
    return np.array([(one.value - true) / one.standard_error for one in found]), found


@pytest.mark.parametrize("part", ["inner", "outer"])
def test_the_charge_of_a_cylinder_whose_fit_is_wrong(part):
    problem = mc2.Laplace(CYLINDERS, {"outer": 0, "inner": 1})
    wrong = spoiled(mc2.solve(problem, grid=32, tolerance=1e-7), 0.1)
    true = CAPACITANCE if part == "inner" else -CAPACITANCE
    off, found = scores(wrong, part, true)
    assert abs(found[0].claimed - true) > 0.1
    assert abs(off.mean()) < 4 / np.sqrt(off.size)
    assert np.sqrt(np.mean(off**2)) < 1.7
    assert found[0].standard_error < 0.05


def test_fluxes_of_a_poisson_problem_with_three_curves():
    """Of Δu = f through a square hole; the exact gradient says how much."""
    domain = Disk(1.0) - Square(0.2, center=(-0.4, 0.1), name="square") - Disk(0.15, center=(0.4, -0.3), name="pipe")
    problem = mc2.Poisson(domain, exact="sin(2*x)*exp(y) + x*y**2")
    gx, gy = problem.exact.gradient()
    angle = 2 * np.pi * np.arange(64) / 64
    nx, ny = -np.cos(angle), -np.sin(angle)
    x, y = 0.4 - 0.15 * nx, -0.3 - 0.15 * ny
    true = 0.15 * 2 * np.pi * float(np.mean(gx(x, y) * nx + gy(x, y) * ny))
    wrong = spoiled(mc2.solve(problem, grid=32, start="boundary"), 0.05)
    off, _ = scores(wrong, "pipe", true)
    assert abs(off.mean()) < 4 / np.sqrt(off.size)
    assert np.sqrt(np.mean(off**2)) < 1.7


def test_outside_of_two_bodies_and_in_other_units():
    domain = Exterior(Disk(1e-3, name="a") | Disk(5e-4, center=(3e-3, 0), name="b"))
    solution = mc2.solve(mc2.Laplace(domain, {"a": 5, "b": 0}), tolerance=1e-3, grid=32)
    true = 5 * 2 * np.pi / np.arccosh((9 - 1 - 0.25) / 1.0)
    found = solution.certify_flux("a", 1 << 14)
    assert abs(found.value - true) <= 4 * found.standard_error + 1e-12 < 0.01
    charged = spoiled(mc2.solve(mc2.Laplace(Exterior(Disk(1.0), growth=2.0), "x"), grid=32), 0.3)
    off, _ = scores(charged, "rim", -4 * np.pi)
    assert abs(off.mean()) < 4 / np.sqrt(off.size)
    assert "walks" in str(found)


def test_refusals():
    plate = mc2.solve(mc2.Laplace(Rectangle(1, 1), "x"), grid=16)
    ring = mc2.solve(mc2.Yukawa(Annulus(0.4, 1.0), lam=2, source=1, boundary=0), grid=16)
    insulated = mc2.solve(mc2.Laplace(Annulus(0.4, 1.0), {"inner": 1, "outer": mc2.Robin(1, 0)}), grid=16)
    for act, message in (
        (lambda: plate.certify_flux("left"), "'left' is not a closed curve"),
        (lambda: plate.certify_flux(["left", "right", "top", "bottom"]), "is the whole boundary"),
        (lambda: ring.certify_flux("inner"), "for Laplace and Poisson problems, not for yukawa"),
        (lambda: insulated.certify_flux("inner"), "walks cannot judge this problem"),
        (lambda: plate.certify_flux("left", walks=3), "walks = 3 must be an integer of at least 64"),
    ):
        with pytest.raises(mc2.InputError, match=message):
            act()
