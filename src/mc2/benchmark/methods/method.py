"""`Method`: what can be judged. It says what it reads, and is handed nothing else.

There are three settings (paper, section 4.4). `dense`: the field from the problem alone. `correction`: the field from a
low-budget estimate, without the boundary data. `points`: values at given points, from the problem.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, unknown
from mc2.problems import FAMILIES as PROBLEMS
from mc2.problems.operator import Operator
from mc2.zoo.laws import FAMILIES

ALWAYS = ("family", "parameter", "grid", "domain", "mask", "source", "source_function")
READABLE: dict[str, tuple[str, ...]] = {
    "dense": (*ALWAYS, "problem", "walks", "seed"),
    "correction": (*ALWAYS, "estimate", "variance", "walks"),
    "points": (*ALWAYS, "problem", "points", "walks"),
}
"""What a method may read in each setting.

family: its name. parameter: λ or k, else 0. grid: `Grid`. domain: `Domain`. mask: bool [n, n]. source: f on the grid,
float64 [n, n], 0 outside the mask. source_function: f as a `Function`, or none. problem: `Problem` with its functions
and without its exact solution. estimate, variance: mean of the walks and its variance, float32 [n, n]. walks: per pixel
or point. seed: of a method's own walks. points: float64 [count, 2].
"""


class Case:
    """What a method is handed for one instance: only what it declared."""

    def __init__(self, method: "Method", values: Mapping[str, Any]) -> None:
        self._method = method.name
        self._values = {name: values[name] for name in method.reads}

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            told = ", ".join(self._values) or "nothing"
            raise InputError(f"method {self._method} asks for {name!r}, but declares that it reads {told}") from None


class Method(ABC):
    """A way to get a field, or values at points, for an instance.

    name: unique, as users type it.
    setting: `dense`, `correction` or `points`.
    reads: what it needs, of `READABLE`.
    families: those that it can play in; tables have a dash for the others.
    reflecting: whether it takes problems with Neumann and Robin conditions.
    """

    name: str
    setting: str
    reads: tuple[str, ...]
    families: tuple[str, ...] = FAMILIES
    reflecting: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "reads" in cls.__dict__:
            _check_reads(cls.__name__, getattr(cls, "setting", None), cls.reads)

    def check(self) -> None:
        """Refuse a method that reads what its setting does not allow: for those that tell when they are made."""
        _check_reads(*(getattr(self, name, None) for name in ("name", "setting", "reads")))

    @abstractmethod
    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        """The field [n, n], of which only the mask counts; or values [count] in the setting `points`."""


def _check_reads(name: str | None, setting: str | None, reads: tuple[str, ...] | None) -> None:
    if name is None or setting is None or reads is None:
        raise InputError(
            f"the method {name or ''} needs a name, a setting and what it reads, see mc2.benchmark.methods"
        )
    if setting not in READABLE:
        raise unknown(f"setting of {name}", setting, READABLE)
    wrong = sorted(set(reads) - set(READABLE[setting]))
    if wrong:
        raise InputError(f"{name} cannot read {', '.join(wrong)} in the setting {setting!r}")


def operator_of(family: str, parameter: float) -> Operator:
    """The operator of a family, with the value of its parameter if it has one."""
    names = PROBLEMS[family].parameters
    if len(names) > 1:
        raise InputError(f"{family} has the parameters {', '.join(names)}, and methods are told one alone")
    return PROBLEMS[family].make_operator(dict.fromkeys(names, parameter))
