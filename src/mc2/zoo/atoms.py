"""Atoms: the building blocks of PDEZoo's exact solutions (paper, appendix A.1).

An `AtomType` has parameters with ranges, a formula, terms that the kernels evaluate, and a text in PyTorch's spelling.
An `Atom` is a type with values: a function like any other, whose Laplacian and bi-Laplacian are closed forms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mc2.errors import InputError, short, unknown
from mc2.functions.terms import Term, TermSum

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
class AtomType:
    """A kind of atom.

    formula: as the paper writes it.
    hard: over-represented by the zoo.
    weight: entries in the base pool.
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


class Atom(TermSum):
    """An atom type with values for all its parameters: a function of its own, and a part of sums."""

    def __init__(self, kind: AtomType, values: Values) -> None:
        super().__init__(kind.terms(values), lambda: kind.write(values))
        self.type, self.values = kind, values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and (self.type, self.values) == (other.type, other.values)

    def __hash__(self) -> int:
        return hash((self.type.name, *self.values.items()))
