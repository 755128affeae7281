"""Compare: methods that others would use, all behind one small interface."""

from mc2.baselines.method import Case, Method
from mc2.baselines.registry import METHODS, make_method

__all__ = ["METHODS", "Case", "Method", "make_method"]
