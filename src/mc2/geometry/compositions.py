"""Union, intersection and difference of domains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from mc2.errors import InputError, short
from mc2.geometry import kernels, rings
from mc2.geometry.domain import Bounds, Domain, Leaf

MAX_SHAPES = 1000
"""Shapes and polygons in a domain: a distance visits each of them."""
MAX_DEPTH = 16
"""Compositions within compositions; what can be built can also be described and read back."""


@dataclass(frozen=True, repr=False, init=False)
class Composition(Domain):
    """Two or more domains, combined from the left: (a - b) - c is Difference(a, b, c)."""

    parts: tuple[Domain, ...]

    op: ClassVar[int]
    symbol: ClassVar[str]

    def __init__(self, *parts: Domain) -> None:
        for part in parts:
            if not isinstance(part, Domain):
                raise InputError(f"{self._name()} combines domains, not {short(part)}")
        if parts and type(parts[0]) is type(self):
            parts = (*parts[0].parts, *parts[1:])
        if len(parts) < 2:
            raise InputError(f"{self._name()} needs two or more domains, not {len(parts)}")
        object.__setattr__(self, "parts", parts)
        if self.depth > MAX_DEPTH:
            raise InputError(f"a domain may nest operations {MAX_DEPTH} deep: build it with fewer nested operations")
        self._check_size()

    def _check_size(self) -> None:
        leaves = list(self.leaves())
        if len(leaves) > MAX_SHAPES:
            raise InputError(
                f"a domain may have {MAX_SHAPES:,} shapes ({__name__}.MAX_SHAPES), not {len(leaves):,}: join some of "
                "them to polygons"
            )
        vertices = sum(leaf.vertex_count for leaf in leaves)
        if vertices > rings.MAX_VERTICES:
            raise InputError(
                f"the polygons of a domain may have {rings.MAX_VERTICES:,} vertices ({rings.__name__}.MAX_VERTICES), "
                f"not {vertices:,}: draw them with fewer"
            )

    @classmethod
    def _name(cls) -> str:
        return cls.__name__.lower()

    @cached_property
    def depth(self) -> int:
        """How deep operations are nested."""
        return 1 + max(part.depth if isinstance(part, Composition) else 0 for part in self.parts)

    @cached_property
    def registers(self) -> int:
        first, *rest = (part.registers for _, part in self._order())
        return max(first, 1 + max(rest))

    def _order(self) -> list[tuple[int, Domain]]:
        """The parts as they are computed: the one that needs the most registers first, while all are free."""
        parts = list(enumerate(self.parts))
        heaviest = max(parts, key=lambda entry: entry[1].registers)
        return [heaviest, *(entry for entry in parts if entry is not heaviest)]

    def emit(self, code: list[tuple[int, int, int, int]], constants: list[float], out: int) -> None:
        (_, heaviest), *rest = self._order()
        heaviest.emit(code, constants, out)
        for index, part in rest:
            part.emit(code, constants, out + 1)
            # Only the very first part is not subtracted in a difference, wherever its turn came.
            operands = (out + 1, out) if index == 0 else (out, out + 1)
            code.append((self.op, out, *operands))

    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts:
            yield from part.leaves()

    def move(self, dx: float, dy: float) -> Self:
        return type(self)(*(part.move(dx, dy) for part in self.parts))

    def rotate(self, angle: float) -> Self:
        return type(self)(*(part.rotate(angle) for part in self.parts))

    def scale(self, factor: float) -> Self:
        return type(self)(*(part.scale(factor) for part in self.parts))

    def describe(self) -> dict[str, Any]:
        return {self._name(): [part.describe() for part in self.parts]}

    @property
    @abstractmethod
    def bounds(self) -> Bounds: ...

    def __repr__(self) -> str:
        return f" {self.symbol} ".join(f"({p!r})" if isinstance(p, Composition) else repr(p) for p in self.parts)


@final
class Union(Composition):
    """d = max(d₁, d₂, ...): inside, a lower bound."""

    op = kernels.UNION
    symbol = "|"

    @cached_property
    def bounds(self) -> Bounds:
        boxes = np.array([part.bounds for part in self.parts])
        return _box(boxes[:, 0].min(), boxes[:, 1].max(), boxes[:, 2].min(), boxes[:, 3].max())

    @property
    def exactness(self) -> tuple[bool, bool]:
        return False, all(part.exactness[1] for part in self.parts)


@final
class Intersection(Composition):
    """d = min(d₁, d₂, ...): exact inside where all parts are."""

    op = kernels.INTERSECTION
    symbol = "&"

    @cached_property
    def bounds(self) -> Bounds:
        boxes = np.array([part.bounds for part in self.parts])
        return _box(boxes[:, 0].max(), boxes[:, 1].min(), boxes[:, 2].max(), boxes[:, 3].min())

    @property
    def exactness(self) -> tuple[bool, bool]:
        return all(part.exactness[0] for part in self.parts), False


@final
class Difference(Composition):
    """d = min(d₁, -d₂, ...): exact inside where the first part is so inside and the others are so outside."""

    op = kernels.DIFFERENCE
    symbol = "-"

    @property
    def bounds(self) -> Bounds:
        return self.parts[0].bounds

    @property
    def exactness(self) -> tuple[bool, bool]:
        first, *rest = self.parts
        return first.exactness[0] and all(part.exactness[1] for part in rest), False


COMPOSITIONS: dict[str, type[Composition]] = {kind.__name__.lower(): kind for kind in (Union, Intersection, Difference)}
"""The compositions by the names that descriptions use."""


def _box(xmin: float, xmax: float, ymin: float, ymax: float) -> Bounds:
    """As plain numbers; where parts do not meet, a box without area."""
    return float(xmin), float(max(xmin, xmax)), float(ymin), float(max(ymin, ymax))
