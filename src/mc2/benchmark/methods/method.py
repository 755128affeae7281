"""`Method`: what can be judged. It says what it reads, and is handed nothing else.

There are three settings (paper, section 4.4). `dense`: the field from the problem alone. `correction`: the field from a
low-budget estimate, without the boundary data. `points`: values at given points, from the problem.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
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

    name: unique, as users type it. setting: `dense`, `correction` or `points`. reads: what it needs, of `READABLE`.
    families: those that it can play in; tables have a dash for the others.
    """

    name: str
    setting: ClassVar[str]
    reads: ClassVar[tuple[str, ...]]
    families: ClassVar[tuple[str, ...]] = FAMILIES

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "reads" in cls.__dict__ and not set(cls.reads) <= set(READABLE[cls.setting]):
            wrong = ", ".join(sorted(set(cls.reads) - set(READABLE[cls.setting])))
            raise InputError(f"{cls.__name__} cannot read {wrong} in the setting {cls.setting!r}")

    @abstractmethod
    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        """The field [n, n], of which only the mask counts; or values [count] in the setting `points`."""
