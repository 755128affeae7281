"""Correct: from a noisy estimate to an accurate field, by the equation itself."""

from mc2.solvers.certificate import Certificate
from mc2.solvers.correctors import Corrector, NoCorrector, PhysicsCorrector
from mc2.solvers.solution import Solution
from mc2.solvers.solve import solve

__all__ = ["Certificate", "Corrector", "NoCorrector", "PhysicsCorrector", "Solution", "solve"]
