"""Correction by physics: lift the source, project what is left on solutions of the homogeneous equation, add them up.

Nothing is trained, and the boundary data are not used. (Lift by a periodic Fourier series; Trefftz, 1926; order by
Akaike weights.)
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mc2.compute.blas import one_thread
from mc2.errors import InputError
from mc2.fits.basis import make_basis
from mc2.fits.field import Field
from mc2.fits.misfit import lack_of_fit
from mc2.fits.projection import DEGREES, Profile, Projection, SamplePoints, Smoothing, project
from mc2.fits.rough_lift import find_lift
from mc2.functions import Function
from mc2.geometry import Domain, Grid
from mc2.problems.operator import Operator

Array = NDArray[np.float64]
MAX_MISFIT = 1.5
"""χ² per pixel above which the basis does not explain the estimate, and the estimate is kept as it is."""


@dataclass(frozen=True)
class Corrected:
    """values: [n, n], 0 outside the mask.
    field: what was fitted.
    fit: its last part, which knows the standard error.
    kept: whether the fit was; else the values are the estimate's.
    doubt: the mean square of what the fit does not explain, over the distance to the boundary; None where it explains
        all.
    """

    values: Array
    field: Field
    fit: Projection
    kept: bool
    doubt: Profile | None = None


@one_thread()
def correct_by_physics(
    mean: Array,
    variance: Array,
    mask: NDArray[np.bool_],
    grid: Grid,
    domain: Domain,
    operator: Operator,
    source: Function | None,
) -> Corrected:
    """A field from an estimate on a grid.

    mean, variance: of the walks and of that mean. Pixels of the mask without finite ones are not fitted: on a GPU, in
        single precision, a pixel at the boundary may count as outside.
    """
    field = Field()
    if source is not None:
        lift, resolution = find_lift(source, domain, operator, grid)
        field = Field(lift, (), resolution)
    told = mask & np.isfinite(mean) & np.isfinite(variance)
    if not told.any():
        raise InputError(
            "the estimate has no pixel with a finite mean and variance: walk again, twice or more from each"
        )
    x, y = (c[told] for c in grid.points())
    smoothing = Smoothing(told, domain.distance(*grid.points()))
    spread = smoothing(variance[told])
    rest = mean[told] if field.lift is None else mean[told] - field.lift.on_grid(grid)[told]
    bases = [partial(make_basis, domain, operator, hole_degree=-1)]
    if domain.holes():
        bases.append(partial(make_basis, domain, operator))
    # with twice the functions, half the degree does
    degrees = [degree // 2 for degree in DEGREES] if operator.order == 4 else DEGREES
    fit = project(rest, spread, SamplePoints(x, y), bases, degrees)
    field = field.plus(fit.basis, fit.coefficients)
    kept = fit.misfit < MAX_MISFIT
    if not kept:
        return Corrected(np.where(mask, mean, 0.0), field, fit, kept)
    values = field.on_grid(grid, mask)
    return Corrected(values, field, fit, kept, lack_of_fit((mean - values)[told], spread, told, smoothing.bins))
