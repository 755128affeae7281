"""Data: functions of the plane as expressions, Python functions, values on grids, and programs for the kernels."""

from mc2.functions.conversion import FunctionLike, as_function
from mc2.functions.expression import Expression
from mc2.functions.function import Function
from mc2.functions.grid_function import GridFunction
from mc2.functions.reader import read_expression
from mc2.functions.terms import Term, TermSum

__all__ = [
    "Expression",
    "Function",
    "FunctionLike",
    "GridFunction",
    "Term",
    "TermSum",
    "as_function",
    "read_expression",
]
