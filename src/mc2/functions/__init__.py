"""Data: functions of the plane as expressions, Python functions, values on grids, and programs for the kernels."""

from mc2.functions.atoms import Atom, Atoms, AtomType
from mc2.functions.conversion import FunctionLike, as_function
from mc2.functions.expression import Expression
from mc2.functions.function import Function
from mc2.functions.general_atoms import GENERAL_ATOMS
from mc2.functions.grid_function import GridFunction
from mc2.functions.harmonic_atoms import HARMONIC_ATOMS
from mc2.functions.reader import read_expression

__all__ = [
    "GENERAL_ATOMS",
    "HARMONIC_ATOMS",
    "Atom",
    "AtomType",
    "Atoms",
    "Expression",
    "Function",
    "FunctionLike",
    "GridFunction",
    "as_function",
    "read_expression",
]
