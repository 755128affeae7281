"""Our own corrections, behind the interface of all methods."""

from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method
from mc2.checks import whole
from mc2.errors import InputError
from mc2.fits.boundary import fit_boundary
from mc2.networks.installed import ENDING
from mc2.problems import FAMILIES, Operator
from mc2.solvers import solve
from mc2.solvers.learned import SWEEPS, correct_by_network, load_network, source_of
from mc2.solvers.physics import correct_by_physics


def operator_of(family: str, parameter: float) -> Operator:
    """L of a family, with the value of its parameter if it has one."""
    return FAMILIES[family].make_operator(dict.fromkeys(FAMILIES[family].parameters, parameter))


@final
class Physics(Method):
    """Lift and Trefftz projection: the source is taken out, and the rest fitted by solutions of the equation."""

    name = "mc2-physics"
    setting = "correction"
    reads = ("estimate", "variance", "walks", "mask", "grid", "domain", "family", "parameter", "source_function")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        if case.walks < 2:
            raise InputError("mc2-physics needs two or more walks per pixel, to know their variance")
        return correct_by_physics(
            case.estimate.astype(float),
            case.variance.astype(float),
            case.mask,
            case.grid,
            case.domain,
            operator_of(case.family, case.parameter),
            case.source_function,
        ).values


@final
class ByRounds(Method):
    """Walks of what is left over, fitted round by round; walks: per fitted point, of which there are about 4,000."""

    name = "mc2-rounds"
    setting = "dense"
    reads = ("problem", "grid", "walks", "seed")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        return solve(case.problem, case.walks, grid=case.grid, seed=case.seed).values


@final
class Network(Method):
    """A trained network.

    weights: a name of those that the package ships, or the path of a .safetensors file. sweeps: of relaxation, after
    it; without any, the network is alone.
    """

    setting = "correction"
    reads = ("estimate", "variance", "walks", "mask", "grid", "family", "parameter", "source_function")

    def __init__(self, weights: str = "mc2", sweeps: int = SWEEPS) -> None:
        self.learned, self.sweeps = load_network(weights), whole("sweeps", sweeps, 0)
        self.name = Path(weights).name.removesuffix(ENDING) + ("" if sweeps else "-alone")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        operator = operator_of(case.family, case.parameter)
        lift = None
        if self.learned.inputs.lifted:
            from mc2.fits.batched_lift import lift_of

            lift = lift_of(case.source_function, operator, case.grid)
        source = source_of(case.source_function, operator, case.grid, case.mask)
        fields = case.estimate, case.variance, case.walks, case.mask, case.grid, source
        return correct_by_network(self.learned, *fields, lift, operator, sweeps=self.sweeps)


@final
class OnePass(Method):
    """A trained network in the paper's way: estimate, source and mask as they are, one pass, and nothing after it.

    It is not told the equation: biharmonic and Helmholtz problems are not brought to another form, and no field is
    relaxed. weights: as of `Network`, of a network that does not look at the variance.
    """

    setting = "correction"
    reads = ("estimate", "mask", "grid", "source")

    def __init__(self, weights: str) -> None:
        self.learned, self.name = load_network(weights), Path(weights).name.removesuffix(ENDING) + "-one-pass"
        if self.learned.inputs.variance or self.learned.inputs.lifted:
            raise InputError(f"{weights} was trained to read more than estimate, source and mask: use it as a network")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        unknown = np.full(case.estimate.shape, np.inf)
        fields = case.estimate, unknown, 1, case.mask, case.grid, case.source
        return correct_by_network(self.learned, *fields, sweeps=0)


@final
class Trefftz(Method):
    """Lift and boundary least squares: a classical spectral solver, without walks."""

    name = "trefftz"
    setting = "dense"
    reads = ("problem", "grid", "mask")

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        return fit_boundary(case.problem, case.grid).field.on_grid(case.grid, case.mask)
