"""The correctors of estimates, and all correctors by their names."""

import inspect
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mc2.checks import whole
from mc2.errors import InputError, one_line, short, unknown, warn
from mc2.networks.installed import ENDING, installed_correctors
from mc2.problems import Problem
from mc2.registry import Registry
from mc2.solvers.by_boundary import BoundaryCorrector
from mc2.solvers.by_collocation import CollocationCorrector
from mc2.solvers.by_rounds import RoundsCorrector
from mc2.solvers.corrector import CallableCorrector, Corrector, EstimateCorrector, Observed
from mc2.solvers.evaluators import FitEvaluator, WalksEvaluator
from mc2.solvers.learned import SWEEPS, correct_by_network, load_network, source_of
from mc2.solvers.physics import Corrected, correct_by_physics
from mc2.solvers.solution import Solution
from mc2.walks import Estimate


@final
class PlainWalks(EstimateCorrector):
    """The walks' mean as it is: Walk on Spheres."""

    name = "wos"
    reads = ("estimate",)
    varying: ClassVar[bool] = True

    def field(self, observed: Observed) -> NDArray[np.floating]:
        return observed.mean

    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        mean, evaluator = Observed.of(estimate, problem).mean, WalksEvaluator(problem, estimate)
        return self.solution(estimate, problem, mean, evaluator, 0.0, known_error=estimate.standard_error)


@final
class PhysicsCorrector(EstimateCorrector):
    """Lift and Trefftz projection: the source is taken out, and the rest fitted by solutions of the equation.

    See `mc2.solvers.physics`.
    """

    name = "mc2-physics"

    def field(self, observed: Observed) -> NDArray[np.floating]:
        return self._fit(observed).values

    def correct(self, estimate: Estimate, problem: Problem) -> Solution:
        observed = Observed.of(estimate, problem)
        start = time.perf_counter()
        made = self._fit(observed)
        seconds = time.perf_counter() - start
        if not made.kept:
            warn(
                f"no solution of {problem.equation} explains the estimate (χ² per pixel {made.fit.misfit:.2g}): "
                "it is kept as it is"
            )
            return PlainWalks().correct(estimate, problem)
        evaluator = FitEvaluator(made.field, made.fit, observed, made.doubt)
        return self.solution(estimate, problem, made.values, evaluator, seconds, fitted=made.field)

    def _fit(self, seen: Observed) -> Corrected:
        if seen.walks < 2:
            raise InputError(f"{self.name} needs two or more walks per pixel, to know their variance")
        mean, variance = (array.astype(float) for array in (seen.mean, seen.variance))
        return correct_by_physics(mean, variance, seen.mask, seen.grid, seen.domain, seen.operator, seen.source)


@final
class NetworkCorrector(EstimateCorrector):
    """A trained network: see `mc2.solvers.learned`.

    weights: the name of installed ones, or the path of a .safetensors file.
    sweeps: of relaxation, after it; without any, the network is alone.
    """

    reads = ("estimate", "variance", "walks", "mask", "grid", "family", "parameter", "source_function")

    def __init__(self, weights: str = "mc2", sweeps: int = SWEEPS) -> None:
        self.learned, self.sweeps = load_network(str(weights)), whole("sweeps", sweeps, 0)
        self.name = _stem(weights) + ("" if sweeps else "-alone")

    def field(self, observed: Observed) -> NDArray[np.floating]:
        seen, lift = observed, None
        if self.learned.inputs.lifted:
            from mc2.fits.batched_lift import lift_of

            lift = lift_of(seen.source, seen.operator, seen.grid)
        source = source_of(seen.source, seen.operator, seen.grid, seen.mask)
        fields = seen.mean, seen.variance, seen.walks, seen.mask, seen.grid, source
        return correct_by_network(self.learned, *fields, lift, seen.operator, sweeps=self.sweeps)


@final
class OnePassCorrector(EstimateCorrector):
    """A trained network in the paper's way: estimate, source and mask as they are, one pass, and nothing after it.

    It is not told the equation: biharmonic and Helmholtz problems are not brought to another form, and no field is
    relaxed.

    weights: as of `NetworkCorrector`, of a network that does not look at the variance.
    """

    reads = ("estimate", "mask", "grid", "source_function")

    def __init__(self, weights: str) -> None:
        self.learned, self.name = load_network(str(weights)), _stem(weights) + "-one-pass"
        if self.learned.inputs.variance or self.learned.inputs.lifted:
            raise InputError(f"{weights} was trained to read more than estimate, source and mask: use it as a network")

    def field(self, observed: Observed) -> NDArray[np.floating]:
        source, unseen = np.zeros(observed.grid.shape), np.full(observed.grid.shape, np.inf)
        if observed.source is not None:
            source[observed.mask] = observed.source(*(c[observed.mask] for c in observed.grid.points()))
        return correct_by_network(
            self.learned, observed.mean, unseen, 1, observed.mask, observed.grid, source, sweeps=0
        )


def _stem(weights: str | Path) -> str:
    return Path(weights).name.removesuffix(ENDING)


CORRECTORS: Registry[Callable[..., Corrector]] = Registry(
    "corrector",
    "mc2.correctors",
    {
        "mc2-rounds": RoundsCorrector,
        "mc2-physics": PhysicsCorrector,
        "wos": PlainWalks,
        "trefftz": BoundaryCorrector,
        "collocation": CollocationCorrector,
        "mc2": NetworkCorrector,
        "mc2-alone": partial(NetworkCorrector, sweeps=0),
        "mc2-unet": partial(NetworkCorrector, weights="mc2-unet"),
        "sunet-compact": partial(NetworkCorrector, weights="sunet-compact"),
        "sunet-compact-one-pass": partial(OnePassCorrector, weights="sunet-compact"),
    },
)
"""What makes each corrector, by its name. Other packages add theirs: see `mc2.registry`."""


def make_corrector(make: Callable[..., Corrector], **parameters: Any) -> Corrector:
    """A corrector from what makes it, which may be somebody else's class."""
    who = getattr(make, "__name__", short(make))
    lacking = sorted(getattr(make, "__abstractmethods__", ()))
    if lacking:
        raise InputError(f"the corrector {who} cannot be made: it lacks {', '.join(lacking)}")
    try:
        inspect.signature(make).bind(**parameters)
    except TypeError as error:
        raise InputError(f"the corrector {who} cannot be made by its name: {one_line(error)}") from None
    return _named(make(**parameters))


def _named(corrector: Corrector) -> Corrector:
    if not isinstance(corrector, Corrector) or not isinstance(getattr(corrector, "name", None), str):
        raise InputError(f"the corrector {short(corrector)} must be a Corrector with a name: it needs name = …")
    return corrector


FORMER = {"rounds": "mc2-rounds", "physics": "mc2-physics", "none": "wos", "boundary": "trefftz"}
"""Names until version 0.1, and those of now."""


def find_corrector(corrector: Any) -> Corrector:
    """The corrector that a user means.

    corrector: a name; the path of a .safetensors file; a `Corrector`, or a class of them; or a function from an
    `Observed` to a field.
    """
    if isinstance(corrector, Corrector):
        return _named(corrector)
    if isinstance(corrector, type) and issubclass(corrector, Corrector):
        return make_corrector(corrector)
    if isinstance(corrector, Path) or (isinstance(corrector, str) and corrector.endswith(ENDING)):
        return NetworkCorrector(str(corrector))
    if isinstance(corrector, str):
        if corrector in CORRECTORS:
            return make_corrector(CORRECTORS[corrector])
        if corrector in installed_correctors():
            return NetworkCorrector(corrector)
        if corrector in FORMER:
            raise InputError(f"the corrector {corrector!r} is called {FORMER[corrector]!r} now, as in all tables")
        raise unknown("corrector", corrector, {*CORRECTORS, *installed_correctors()})
    if callable(corrector):
        return CallableCorrector(corrector)
    raise InputError(
        f"corrector = {short(corrector)}: must be a name, the path of a {ENDING} file, a Corrector, or a function that "
        "takes an Observed and returns a field"
    )
