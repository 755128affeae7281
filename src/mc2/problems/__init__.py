"""What: the five families, their problems, and the functions that problems are made of."""

from mc2.problems.atoms import Atom, Atoms, AtomType
from mc2.problems.expression import Expression
from mc2.problems.families import FAMILIES, Biharmonic, Helmholtz, Laplace, Poisson, Yukawa
from mc2.problems.files import ProblemFile, read_problem
from mc2.problems.frame import Frame
from mc2.problems.function import Function
from mc2.problems.functions import as_function
from mc2.problems.general_atoms import GENERAL_ATOMS
from mc2.problems.grid_function import GridFunction
from mc2.problems.harmonic_atoms import HARMONIC_ATOMS
from mc2.problems.problem import Problem
from mc2.problems.reader import read_expression

__all__ = [
    "FAMILIES",
    "GENERAL_ATOMS",
    "HARMONIC_ATOMS",
    "Atom",
    "AtomType",
    "Atoms",
    "Biharmonic",
    "Expression",
    "Frame",
    "Function",
    "GridFunction",
    "Helmholtz",
    "Laplace",
    "Poisson",
    "Problem",
    "ProblemFile",
    "Yukawa",
    "as_function",
    "read_expression",
    "read_problem",
]
