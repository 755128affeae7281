"""Correct: from a noisy estimate to an accurate field, by the equation itself."""

from mc2.correction.certificate import Certificate
from mc2.correction.correctors import Corrector, NoCorrector, PhysicsCorrector
from mc2.correction.solution import Solution
from mc2.correction.solve import solve

__all__ = ["Certificate", "Corrector", "NoCorrector", "PhysicsCorrector", "Solution", "solve"]
