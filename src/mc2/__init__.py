"""MC²: 2D elliptic boundary-value problems from a few random walks per pixel.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mc2.benchmark.certify import certify as certify
    from mc2.benchmark.runner import evaluate as evaluate
    from mc2.errors import InputError as InputError
    from mc2.geometry import Grid as Grid
    from mc2.geometry.drawings import read_domain as read_domain
    from mc2.problems import Biharmonic as Biharmonic
    from mc2.problems import Clamped as Clamped
    from mc2.problems import Dirichlet as Dirichlet
    from mc2.problems import Elliptic as Elliptic
    from mc2.problems import Helmholtz as Helmholtz
    from mc2.problems import Laplace as Laplace
    from mc2.problems import Neumann as Neumann
    from mc2.problems import Poisson as Poisson
    from mc2.problems import Problem as Problem
    from mc2.problems import Robin as Robin
    from mc2.problems import Yukawa as Yukawa
    from mc2.problems import read_problem as read_problem
    from mc2.problems.channels import channels as channels
    from mc2.progress import show_progress as show_progress
    from mc2.solvers import Certificate as Certificate
    from mc2.solvers import Solution as Solution
    from mc2.solvers import solve as solve
    from mc2.solvers.conductors import capacitance as capacitance
    from mc2.solvers.conductors import resistance as resistance
    from mc2.solvers.exterior import log_capacity as log_capacity
    from mc2.solvers.modes import modes as modes
    from mc2.solvers.together import solve_many as solve_many
    from mc2.walks import Estimate as Estimate
    from mc2.walks import estimate as estimate
    from mc2.walks import estimate_batch as estimate_batch
    from mc2.walks import estimate_many as estimate_many
    from mc2.walks import stream as stream
    from mc2.walks import trajectory as trajectory

__version__ = "0.1.0"

_HOMES = {
    "InputError": "mc2.errors",
    "Grid": "mc2.geometry",
    "read_domain": "mc2.geometry.drawings",
    "Problem": "mc2.problems",
    "Laplace": "mc2.problems",
    "Poisson": "mc2.problems",
    "Yukawa": "mc2.problems",
    "Biharmonic": "mc2.problems",
    "Elliptic": "mc2.problems",
    "Helmholtz": "mc2.problems",
    "Robin": "mc2.problems",
    "Neumann": "mc2.problems",
    "Dirichlet": "mc2.problems",
    "Clamped": "mc2.problems",
    "read_problem": "mc2.problems",
    "channels": "mc2.problems.channels",
    "show_progress": "mc2.progress",
    "Certificate": "mc2.solvers",
    "Solution": "mc2.solvers",
    "capacitance": "mc2.solvers.conductors",
    "resistance": "mc2.solvers.conductors",
    "log_capacity": "mc2.solvers.exterior",
    "modes": "mc2.solvers.modes",
    "solve": "mc2.solvers",
    "solve_many": "mc2.solvers.together",
    "certify": "mc2.benchmark.certify",
    "evaluate": "mc2.benchmark.runner",
    "Estimate": "mc2.walks",
    "estimate": "mc2.walks",
    "estimate_batch": "mc2.walks",
    "estimate_many": "mc2.walks",
    "stream": "mc2.walks",
    "trajectory": "mc2.walks",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mc2' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
