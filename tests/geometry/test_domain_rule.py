"""Quadrature over domains, against integrals along their boundary."""

import numpy as np
import pytest

from mc2.geometry import Annulus, Disk, Ellipse, Rectangle, Square, Triangle
from mc2.geometry.boundary_rule import boundary_rule
from mc2.geometry.domain_rule import domain_rule

DOMAINS = [
    Disk(1.3, center=(0.4, -0.2)),
    Annulus(0.3, 1.0),
    Square(1.0) - Rectangle(0.5, 0.3, center=(0.2, 0.1), angle=0.3),
    Square(1.0) - Rectangle(0.5, 0.5, center=(0.5, 0.5)),
    (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2), angle=0.5)) - Triangle(0.3, center=(-0.2, 0.1)),
    Ellipse(1.2, 0.8, angle=0.4),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_integrals_agree_with_the_divergence_theorem(domain):
    points, weights = domain_rule(domain.pieces, 20)
    x, y = points.T
    assert domain.distance(x, y).min() > -2e-6 * domain.size
    assert weights.sum() == pytest.approx(domain.pieces.areas().sum(), rel=1e-13)
    rule = boundary_rule(domain.pieces, np.arange(domain.pieces.size), 3)
    px, py = rule.points.T
    # exp(x) sin(2y) is ∂/∂x of itself
    assert weights @ (np.exp(x) * np.sin(2 * y)) == pytest.approx(
        rule.integrate(np.exp(px) * np.sin(2 * py) * rule.normals[:, 0]), rel=1e-11
    )


def test_singular_functions_are_integrated():
    """r^−1 around a corner: ∬ over the unit square is 2 asinh 1."""
    square = Rectangle(0.5, 0.5, center=(0.5, 0.5))
    points, weights = domain_rule(square.pieces, 24)
    assert weights @ (1 / np.hypot(*points.T)) == pytest.approx(2 * np.arcsinh(1.0), rel=1e-4)
    assert weights @ np.hypot(*points.T) ** 0.5 == pytest.approx(0.8571, abs=0.05)
