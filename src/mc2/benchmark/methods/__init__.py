"""Compare: methods that others would use, all behind one small interface."""

from mc2.benchmark.methods.method import Case, Method
from mc2.benchmark.methods.registry import METHODS, make_method

__all__ = ["METHODS", "Case", "Method", "make_method"]
