"""Bessel functions of any order as a power times a smooth function of the square of the distance.

I_λ(μr) and J_λ(kr) are r^λ times a power series in r²; so is their derivative by λ, but for log r times themselves.
"""

import numpy as np
from numpy.typing import NDArray

from mc2.problems.operator import Operator

Array = NDArray[np.float64]
DEGREE = 24
"""Smallest degree of the series; it is higher for many waves."""
STEP = 0.02
"""Step between the orders whose finite differences give the derivative by the order."""
DIFFERENCES = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
"""Central differences of eighth order."""


def radial_series(operator: Operator, powers: Array, radius: float) -> Array:
    """Chebyshev coefficients in t = 2(r/radius)² − 1, for 0 ≤ r ≤ radius [power, 2, degree + 1].

    First those of P, where w^λ P, with |w| = r/radius, is a multiple of the Bessel function of order λ and of size 1;
    then those of Q, where w^λ (P log w + Q) is a multiple of its derivative by the order, but for a multiple of w^λ P.
    """
    degree = DEGREE + int(1.5 * operator.rate * radius)
    nodes = np.cos(np.pi * (np.arange(2 * degree) + 0.5) / (2 * degree))
    r = np.sqrt(0.5 * (nodes + 1))  # in units of the radius
    order = powers[:, None]
    here = _reduced(operator, order, radius, r)
    slope = sum(
        weight * (_reduced(operator, order + j * STEP, radius, r) - _reduced(operator, order - j * STEP, radius, r))
        for j, weight in DIFFERENCES.items()
    )
    scale = np.maximum(np.abs(here * r**order).max(axis=1, keepdims=True), 1e-290)
    found = [np.polynomial.chebyshev.chebfit(nodes, (part / scale).T, degree).T for part in (here, slope / STEP)]
    return np.stack(found, axis=1)


def _reduced(operator: Operator, power: Array, radius: float, r: Array) -> Array:
    """Bessel functions of some orders [order, 1], at distances in units of the radius, over their power; 1 at 0.

    Times e^{−μ radius} for the modified one, which would overflow.
    """
    from scipy.special import gammaln, ive, jv

    s = operator.rate * radius * r
    # r^λ times Γ(λ + 1) (2/s)^λ B_λ(s): the power cancels, and with it what is tiny near the corner
    with np.errstate(divide="ignore"):
        factor = np.exp(gammaln(power + 1) - power * np.log(0.5 * s))
    if operator.screened:
        return np.asarray(factor * ive(power, s) * np.exp(s - operator.rate * radius))
    return np.asarray(factor * jv(power, s))
