"""What every correction has to beat, besides the walks themselves: their mean, and walks from the points."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method
from mc2.walks import estimate
from mc2.zoo.fields import STANDARD


@final
class FieldMean(Method):
    """The mean of the estimate over the mask, everywhere: what is known without knowing where."""

    name = "mean"
    setting = "correction"
    reads = ("estimate", "mask")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        return np.full(case.mask.shape, case.estimate[case.mask].mean(dtype=np.float64))


@final
class PointWalks(Method):
    """Walks from the query points themselves, sampled as PDEZoo does. Helmholtz walks need a small k (see walks.md)."""

    name = "wos_points"
    setting = "points"
    reads = ("problem", "points", "walks")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        return estimate(case.problem, case.walks, points=case.points, **STANDARD).mean
