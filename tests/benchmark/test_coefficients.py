"""Finite differences with coefficients that vary: of second order, and exact where the formulas are."""

import numpy as np
import pytest
from validation.finite_differences import order
from validation.walks import DOMAINS

import mc2
from mc2.benchmark.methods import make_method
from mc2.geometry import Grid

SIZES = (32, 64, 128)
GIVEN = {"diffusion": "exp(sin(2*x)*y)", "drift": ("1 + y", "-2*x"), "reaction": "2 + x"}


def error(method, problem, size):
    grid = Grid(size)
    return (make_method(method).field(problem, grid) - problem.on_grid(problem.exact, grid))[problem.mask(grid)]


@pytest.mark.parametrize("name", list(DOMAINS))
def test_second_order(name):
    problem = mc2.Elliptic(DOMAINS[name], exact="sin(3*x)*cos(2*y) + exp(x)", **GIVEN)
    errors = [error("fd", problem, size) for size in SIZES]
    assert order(SIZES, [np.sqrt(np.mean(one**2)) for one in errors]) > 1.9
    assert order(SIZES, [np.abs(one).max() for one in errors]) > 1.8


@pytest.mark.parametrize("method", ["fd", "fd_amg"])
def test_parabolas_are_exact_with_a_drift(method):
    """And where α is a number: then all of the formulas are exact for them."""
    given = {"diffusion": 3, "drift": ("1 + y", "-2*x"), "reaction": "2 + x"}
    problem = mc2.Elliptic(DOMAINS["disk"], exact="x**2 + 2*y**2 - x*y + 3*y", **given)
    assert np.abs(error(method, problem, 40)).max() < (1e-10 if method == "fd" else 1e-7)


def test_both_solvers_agree():
    problem = mc2.Elliptic(DOMAINS["annulus"], exact="exp(x)*y", **GIVEN)
    np.testing.assert_allclose(error("fd", problem, 48), error("fd_amg", problem, 48), atol=1e-7)
