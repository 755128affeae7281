"""Correctors as methods: whatever `mc2.solve` can use, the benchmark can judge."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method, operator_of
from mc2.errors import InputError, one_line
from mc2.solvers.corrector import Corrector, EstimateCorrector, Goal, Observed
from mc2.walks.options import Options, steps_allowed
from mc2.zoo import media
from mc2.zoo.laws import FAMILIES


@final
class CorrectorMethod(Method):
    """A corrector behind the interface of all methods. One of estimates never sees the problem's boundary data."""

    def __init__(self, corrector: Corrector) -> None:
        self.corrector, self.name, self.reads = corrector, corrector.name, corrector.reads
        self.reflecting = corrector.reflecting
        self.setting = "correction" if isinstance(corrector, EstimateCorrector) else "dense"
        self.families = tuple(name for name in FAMILIES if operator_of(name, 1.0).order <= corrector.highest_order)
        if corrector.varying and self.setting == "dense":
            self.families += media.FAMILIES
        self.check()

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        told = {name: getattr(case, name) for name in self.reads}
        if isinstance(self.corrector, EstimateCorrector):
            return self._field(self.corrector, _observed(told))
        goal = Goal(told.get("walks", Goal.walks))
        steps = max(self.corrector.max_steps, steps_allowed(told["problem"], None))
        options = Options(seed=told.get("seed", 0), max_steps=steps)
        return self.corrector.values(told["problem"], goal, told["grid"], options)

    def _field(self, corrector: EstimateCorrector, observed: Observed) -> NDArray[np.floating[Any]]:
        """What the corrector makes of what it declares to read; one that needs more is told so."""
        try:
            return corrector.field(observed)
        except (AttributeError, TypeError) as error:
            missing = sorted(name for name, key in _TOLD.items() if key not in self.reads)
            if not missing:
                raise
            raise InputError(
                f"the corrector failed: {one_line(error)}; what it does not declare that it reads is missing: "
                f"{', '.join(missing)}"
            ) from error


_TOLD = {
    "mean": "estimate", "variance": "variance", "walks": "walks", "mask": "mask", "grid": "grid", "domain": "domain",
    "operator": "family", "source": "source_function",
}  # fmt: skip
"""The fields of `Observed`, and what a corrector declares to be given each."""


def _observed(told: dict[str, Any]) -> Observed:
    """What a corrector of estimates declares that it reads; all else is missing."""
    operator = operator_of(told["family"], told["parameter"]) if "family" in told else None
    return Observed(
        mean=told.get("estimate"),  # type: ignore[arg-type]
        variance=told.get("variance"),  # type: ignore[arg-type]
        walks=told.get("walks", 0),
        mask=told.get("mask"),  # type: ignore[arg-type]
        grid=told.get("grid"),  # type: ignore[arg-type]
        domain=told.get("domain"),  # type: ignore[arg-type]
        operator=operator,  # type: ignore[arg-type]
        source=told.get("source_function"),
    )
