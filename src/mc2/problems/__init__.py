"""What: the families and their problems."""

from mc2.problems.condition import Clamped, Condition, Dirichlet, Neumann, Robin
from mc2.problems.elliptic import Elliptic
from mc2.problems.families import CONSTANT, FAMILIES, Biharmonic, Helmholtz, Laplace, Poisson, Yukawa
from mc2.problems.frame import Frame
from mc2.problems.operator import Operator
from mc2.problems.problem import Problem
from mc2.problems.problem_file import ProblemFile, read_problem

__all__ = [
    "CONSTANT",
    "FAMILIES",
    "Biharmonic",
    "Clamped",
    "Condition",
    "Dirichlet",
    "Elliptic",
    "Frame",
    "Helmholtz",
    "Laplace",
    "Neumann",
    "Operator",
    "Poisson",
    "Problem",
    "ProblemFile",
    "Robin",
    "Yukawa",
    "read_problem",
]
