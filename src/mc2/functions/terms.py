"""Sums of terms: functions whose Laplacian and bi-Laplacian are closed forms that the kernels know.

All of PDEZoo's exact solutions are such sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError
from mc2.functions.function import Array, Function, Program
from mc2.functions.kernels import OPCODE, PROFILE
from mc2.functions.machine import run
from mc2.functions.term_kernels import PARAMETERS

IDENTITY = (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Term:
    """One row of the parameter table: a kind of term, its numbers and, for a separable one, its two profiles."""

    kind: str
    numbers: tuple[float, ...]
    profiles: tuple[str, str] = ("one", "one")


class TermSum(Function):
    """value·u + laplacian·Δu + bilaplacian·Δ²u of a sum of terms u; by default the sum itself.

    terms: of u.
    text: u for people, or what makes that text when it is wanted.
    operator: value, laplacian and bilaplacian.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        text: str | Callable[[], str],
        operator: tuple[float, float, float] = IDENTITY,
    ) -> None:
        if not terms:
            raise InputError("a sum of terms needs at least one")
        self.terms, self.operator = tuple(terms), operator
        self._text = text

    @classmethod
    def join(cls, parts: Sequence["TermSum"]) -> "TermSum":
        """The sum of several, none of which is derived from another."""
        return TermSum([term for part in parts for term in part.terms], lambda: " + ".join(part.text for part in parts))

    @property
    def text(self) -> str:
        """The sum; of a derived function, what it was derived from."""
        total = self._text if isinstance(self._text, str) else self._text()
        value, laplacian, bilaplacian = self.operator
        if self.operator == IDENTITY:
            return total
        return f"({value:g} + {laplacian:g}·Δ + {bilaplacian:g}·Δ²)({total})"

    @cached_property
    def _table(self) -> tuple[NDArray[np.int32], Array]:
        """One instruction per term, added up pairwise in registers 3, 4 and 5; and a row of constants per term."""
        code: list[tuple[int, ...]] = []
        constants: list[tuple[float, ...]] = []
        total = 0
        for term in self.terms:
            kinds = 16 * PROFILE[term.profiles[0]] + PROFILE[term.profiles[1]]
            code.append((OPCODE[term.kind], 3 if not total else 5, len(constants) * (3 + PARAMETERS), kinds, 0))
            if total:
                code.append((OPCODE["add"], 7 - total, total, 5, 0))
            total = 7 - total if total else 3
            constants.append((0.0, 0.0, 0.0, *term.numbers, *(0.0,) * (PARAMETERS - len(term.numbers))))
        code.append((OPCODE["copy"], 2, total, 0, 0))
        return np.array(code, np.int32), np.array(constants)

    @cached_property
    def program(self) -> Program:
        code, table = self._table
        constants = table.copy()
        constants[:, :3] = self.operator
        return Program(code, constants.ravel(), 6)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        return run(self.program, x, y)

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> "TermSum":
        if self.operator != IDENTITY:
            return super().apply(value, laplacian, bilaplacian)  # type: ignore[return-value]
        derived = TermSum(self.terms, lambda: self.text, (value, laplacian, bilaplacian))
        derived._table = self._table
        return derived
