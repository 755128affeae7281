"""Studies of PDEZoo: each measures, returns plain data that JSON can hold, and draws a figure from that data."""

from mc2.zoo.studies.calibration import draw_calibration, study_calibration
from mc2.zoo.studies.convergence import draw_convergence, study_convergence
from mc2.zoo.studies.statistics import count_instances, draw_statistics, study_statistics
from mc2.zoo.studies.tiers import draw_difficulty, study_difficulty

__all__ = [
    "count_instances",
    "draw_calibration",
    "draw_convergence",
    "draw_difficulty",
    "draw_statistics",
    "study_calibration",
    "study_convergence",
    "study_difficulty",
    "study_statistics",
]
