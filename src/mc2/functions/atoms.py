"""Atoms: the building blocks of PDEZoo's exact solutions (paper, appendix A.1).

An `AtomType` has parameters with ranges, a formula, terms that the kernels evaluate, and a text in PyTorch's spelling.
An `Atom` is a type with values; an `Atoms` is the sum of several, and a `Function` like any other, whose Laplacian
and bi-Laplacian are closed forms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError, short, unknown
from mc2.functions.function import Array, Function, Program
from mc2.functions.kernels import OPCODE, PROFILE
from mc2.functions.machine import run
from mc2.functions.term_kernels import PARAMETERS

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an atom and where its values come from.

    kind: `real` in [low, high]; `integer`, both ends included; `signed`, |value| in [low, high] with either sign;
        `choice`, one of options.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    kind: str = "real"
    options: tuple[str, ...] = ()

    def draw(self, uniform: float) -> float | int | str:
        """The value at a uniform number in [0, 1); real ones have 6 decimals, so that records stay readable."""
        uniform = float(uniform)
        if self.kind == "choice":
            return self.options[int(uniform * len(self.options))]
        if self.kind == "integer":
            return int(self.low) + int(uniform * (self.high - self.low + 1))
        if self.kind == "signed":
            size = round(self.low + (2 * uniform) % 1.0 * (self.high - self.low), 6)
            return size if uniform < 0.5 else -size
        return round(self.low + uniform * (self.high - self.low), 6)

    def check(self, value: Any) -> Any:
        """The value, if it is one this parameter may have."""
        if self.kind == "choice":
            if value not in self.options:
                raise InputError(f"{self.name} = {short(value)}: must be one of {', '.join(self.options)}")
            return value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        size = abs(value) if number and self.kind == "signed" else value
        if not number or not self.low <= size <= self.high or (self.kind == "integer" and value != int(value)):
            raise InputError(f"{self.name} = {short(value)}: must be {self.describe()}")
        return int(value) if self.kind == "integer" else float(value)

    def describe(self) -> str:
        if self.kind == "choice":
            return "one of " + ", ".join(self.options)
        prefix = {"integer": "an integer in ", "signed": "± a number in ", "real": "a number in "}[self.kind]
        return f"{prefix}[{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Term:
    """One row of the parameter table: a kind of term, its numbers and, for a separable one, its two profiles."""

    kind: str
    numbers: tuple[float, ...]
    profiles: tuple[str, str] = ("one", "one")


@dataclass(frozen=True)
class AtomType:
    """A kind of atom.

    formula: as the paper writes it. hard: over-represented by the zoo. weight: entries in the base pool.
    terms, write: the table rows and the PyTorch text of an atom with given values.
    """

    name: str
    formula: str
    parameters: tuple[Parameter, ...]
    terms: Callable[[Values], list[Term]]
    write: Callable[[Values], str]
    hard: bool = False
    weight: int = 1

    def draw(self, uniforms: Sequence[float]) -> "Atom":
        """The atom at uniform numbers in [0, 1), one per parameter."""
        return Atom(self, {p.name: p.draw(u) for p, u in zip(self.parameters, uniforms, strict=True)})

    def __call__(self, **values: Any) -> "Atom":
        """The atom with these values, which must be all of its parameters and in their ranges."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise unknown(f"parameter of atom {self.name}", name, known)
        missing = known.keys() - values.keys()
        if missing:
            raise InputError(f"atom {self.name} needs {', '.join(sorted(missing))}")
        return Atom(self, {name: parameter.check(values[name]) for name, parameter in known.items()})


@dataclass(frozen=True)
class Atom:
    """An atom type with values for all its parameters."""

    type: AtomType
    values: Values

    @property
    def text(self) -> str:
        return self.type.write(self.values)

    def terms(self) -> list[Term]:
        return self.type.terms(self.values)


class Atoms(Function):
    """value·u + laplacian·Δu + bilaplacian·Δ²u of a sum of atoms u; by default the sum itself."""

    def __init__(self, atoms: Sequence[Atom], operator: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> None:
        if not atoms:
            raise InputError("a sum of atoms needs at least one")
        self.atoms = tuple(atoms)
        self.operator = operator

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for atom in self.atoms for term in atom.terms())

    @property
    def text(self) -> str:
        """The sum in PyTorch's spelling; of a derived function, what it was derived from."""
        total = " + ".join(atom.text for atom in self.atoms)
        value, laplacian, bilaplacian = self.operator
        if self.operator == (1.0, 0.0, 0.0):
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

    def apply(self, value: float, laplacian: float, bilaplacian: float) -> "Atoms":
        if self.operator != (1.0, 0.0, 0.0):
            return super().apply(value, laplacian, bilaplacian)  # type: ignore[return-value]
        derived = Atoms(self.atoms, (value, laplacian, bilaplacian))
        derived.terms, derived._table = self.terms, self._table
        return derived
