"""Correction by physics: lift the source, project what is left on solutions of the homogeneous equation, add them up.

Nothing is trained, and the boundary data are not used. (Design of the method: lift by a periodic Fourier series;
Trefftz, 1926; choice of the order by Akaike's criterion.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mc2.correction.basis import make_basis
from mc2.correction.lift import lift_field, make_lift
from mc2.correction.projection import Projection, project, smooth_variance
from mc2.geometry import Domain, Grid
from mc2.problems import Function

Array = NDArray[np.float64]
MAX_MISFIT = 1.5
"""χ² per pixel above which the basis does not explain the estimate, and the estimate is kept as it is."""


@dataclass(frozen=True)
class Corrected:
    """values, standard_error: [n, n], 0 outside the mask. kept: whether the fit was; else these are the estimate's."""

    values: Array
    standard_error: Array
    fit: Projection
    kept: bool


def correct_by_physics(
    mean: Array,
    variance: Array,
    mask: NDArray[np.bool_],
    grid: Grid,
    domain: Domain,
    operator: tuple[float, float, float],
    source: Function | Array | None,
) -> Corrected:
    """A field from an estimate on a grid.

    mean, variance: of the walks and of that mean, finite inside the mask. operator: L as coefficients of u, Δu, Δ²u.
    source: f as a function; or, less accurately, its values on the grid; or none.
    """
    lifted = np.zeros(grid.shape)
    if isinstance(source, Function):
        lifted = make_lift(source, domain, operator).on_grid(grid)
    elif source is not None:
        lifted = lift_field(source, mask, grid, operator).on_grid(grid)
    x, y = (c[mask] for c in grid.points())
    spread = smooth_variance(variance, mask, domain.distance(*grid.points()))[mask]
    fit = project((mean - lifted)[mask], spread, x, y, make_basis(domain, operator))
    kept = fit.misfit < MAX_MISFIT
    values, error = np.zeros(grid.shape), np.zeros(grid.shape)
    values[mask] = fit.values + lifted[mask] if kept else mean[mask]
    error[mask] = fit.standard_error if kept else np.sqrt(spread)
    return Corrected(values, error, fit, kept)
