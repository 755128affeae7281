"""Methods by the names that users type."""

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mc2.benchmark.methods import denoisers, finite_differences, generative, operators, ours, plain
from mc2.benchmark.methods.method import Method
from mc2.errors import InputError, unknown
from mc2.networks.installed import ENDING, need_torch

METHODS: dict[str, Callable[..., Method]] = {
    "wos": plain.Walks,
    "wos_points": plain.PointWalks,
    "mean": plain.FieldMean,
    "gaussian_1": denoisers.Gaussian,
    "gaussian_2": partial(denoisers.Gaussian, sigma=2.0),
    "median": denoisers.Median,
    "bilateral": denoisers.Bilateral,
    "tv": denoisers.TotalVariation,
    "nlm": denoisers.NonLocalMeans,
    "mc2": ours.Network,
    "mc2-alone": partial(ours.Network, sweeps=0),
    "mc2-unet": partial(ours.Network, weights="mc2-unet"),
    "sunet-compact": partial(ours.Network, weights="sunet-compact"),
    "sunet-compact-one-pass": partial(ours.OnePass, weights="sunet-compact"),
    "mc2-physics": ours.Physics,
    "mc2-rounds": ours.ByRounds,
    "trefftz": ours.Trefftz,
    "fd": finite_differences.Direct,
    "fd_3": partial(finite_differences.Direct, refine=3),
    "fd_amg": finite_differences.Multigrid,
    "fno": operators.Operator,
    "fno-fair": partial(operators.Operator, weights="fno-fair"),
    "pino": partial(operators.Operator, weights="pino"),
    "diffusion-pde": generative.DiffusionPDE,
    "diffusion-pde-prior": generative.DiffusionPDEPrior,
    "cocogen": generative.CoCoGen,
    "cocogen-prior": generative.CoCoGenPrior,
}
"""What makes each method; parameters have the paper's values unless they are given."""


def make_method(name: str, **parameters: Any) -> Method:
    """The method of this name; or the network in a .safetensors file, by its path.

    parameters: of its class, in place of the usual ones.
    """
    if name.endswith(ENDING):
        return _from_file(name)
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    make = METHODS[name]
    known = inspect.signature(make).parameters
    for parameter in parameters:
        if parameter not in known:
            raise unknown(f"parameter of {name}", parameter, known or ["none"])
    return make(**parameters)


def _from_file(path: str) -> Method:
    """The network in a file, as what it was trained for."""
    need_torch("a network")
    from mc2.networks.weights_file import task_of

    task = task_of(Path(path))
    if task == "diffusion":
        raise InputError(f"{path} is the model of one family: diffusion-pde and cocogen need one of each, by its name")
    return operators.Operator(path) if task == "operator" else ours.Network(path)
