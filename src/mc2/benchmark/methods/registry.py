"""Methods by the names that users type: all correctors of the package, and what others would use."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any

from mc2.benchmark.methods import denoisers, finite_differences, generative, operators, plain
from mc2.benchmark.methods.method import Method
from mc2.benchmark.methods.of_corrector import CorrectorMethod
from mc2.errors import InputError, unknown
from mc2.networks.installed import ENDING, need_torch
from mc2.registry import Registry
from mc2.solvers.corrector import Corrector
from mc2.solvers.correctors import CORRECTORS, NetworkCorrector, find_corrector, make_corrector

MakeMethod = Callable[..., Method]


class _Methods(Registry[MakeMethod]):
    """Methods, and every corrector as a method by the same name."""

    def __getitem__(self, name: str) -> MakeMethod:
        return judged(CORRECTORS[name]) if name in CORRECTORS else super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*CORRECTORS, *super().__iter__()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def register(self, name: str, thing: MakeMethod) -> MakeMethod:
        if name in CORRECTORS:
            raise InputError(f"there is a corrector {name!r} already: choose another name")
        return super().register(name, thing)


def judged(make: Callable[..., Corrector]) -> MakeMethod:
    """What makes the method of a corrector; with the parameters of what makes the corrector."""

    @wraps(make)
    def made(**parameters: Any) -> Method:
        return CorrectorMethod(make_corrector(make, **parameters))

    return made


METHODS = _Methods(
    "method",
    "mc2.methods",
    {
        "wos_points": plain.PointWalks,
        "mean": plain.FieldMean,
        "gaussian_1": denoisers.Gaussian,
        "gaussian_2": partial(denoisers.Gaussian, sigma=2.0),
        "median": denoisers.Median,
        "bilateral": denoisers.Bilateral,
        "tv": denoisers.TotalVariation,
        "nlm": denoisers.NonLocalMeans,
        "fd": finite_differences.Direct,
        "fd_3": partial(finite_differences.Direct, refine=3),
        "fd_amg": finite_differences.Multigrid,
        "fno": operators.OperatorNetwork,
        "fno-fair": partial(operators.OperatorNetwork, weights="fno-fair"),
        "pino": partial(operators.OperatorNetwork, weights="pino"),
        "diffusion-pde": generative.DiffusionPDE,
        "diffusion-pde-prior": generative.DiffusionPDEPrior,
        "cocogen": generative.CoCoGen,
        "cocogen-prior": generative.CoCoGenPrior,
    },
)
"""What makes each method; parameters have the paper's values unless they are given."""


def kind_of(name: str) -> Any:
    """The class of a method, or of the corrector behind it, without making one."""
    make: Any = METHODS[name]
    make = getattr(make, "__wrapped__", make)
    return getattr(make, "func", make)


def make_method(name: str, **parameters: Any) -> Method:
    """The method of this name; or the network in a .safetensors file, by its path.

    parameters: of its class, in place of the usual ones.
    """
    if isinstance(name, str) and name.endswith(ENDING):
        return _from_file(name)
    make = METHODS.find(name)
    known = inspect.signature(make).parameters
    for parameter in parameters:
        if parameter not in known:
            raise unknown(f"parameter of {name}", parameter, known or ["none"])
    return make(**parameters)


def as_method(method: Any) -> Method:
    """The method that a user means.

    method: a name; the path of a .safetensors file; a `Method` or a class of them; or whatever `mc2.solve` takes as a
        corrector: a `Corrector`, or a function from an `Observed` to the corrected field.
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        return method()
    if isinstance(method, str | Path):
        return make_method(str(method))
    return CorrectorMethod(find_corrector(method))


def _from_file(path: str) -> Method:
    """The network in a file, as what it was trained for."""
    need_torch("a network")
    from mc2.networks.weights_file import task_of

    task = task_of(Path(path))
    if task == "diffusion":
        raise InputError(f"{path} is the model of one family: diffusion-pde and cocogen need one of each, by its name")
    return operators.OperatorNetwork(path) if task == "operator" else CorrectorMethod(NetworkCorrector(path))
