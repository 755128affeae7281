"""Solve: from walks and the equation itself to an accurate field, with error bars."""

from mc2.solvers.certificate import Certificate
from mc2.solvers.corrector import Corrector, EstimateCorrector, Observed
from mc2.solvers.correctors import CORRECTORS, NetworkCorrector, PhysicsCorrector, PlainWalks
from mc2.solvers.solution import Solution
from mc2.solvers.solve import solve

__all__ = [
    "CORRECTORS",
    "Certificate",
    "Corrector",
    "EstimateCorrector",
    "NetworkCorrector",
    "Observed",
    "PhysicsCorrector",
    "PlainWalks",
    "Solution",
    "solve",
]
