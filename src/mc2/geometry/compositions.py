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
from mc2.geometry.clipping import clip
from mc2.geometry.domain import Bounds, Constants, Domain, Leaf
from mc2.geometry.members import MANY, Members
from mc2.geometry.pieces import Boundary
from mc2.geometry.polygon import MOST_EDGES, Polygon
from mc2.geometry.primitive import Shape

MAX_SHAPES = 1000
"""Shapes and polygons in a domain."""
MAX_DEPTH = 16
"""Compositions within compositions; what can be built can also be described and read back."""


@dataclass(frozen=True, repr=False, init=False)
class Composition(Domain):
    """Two or more domains, combined from the left: (a - b) - c is Difference(a, b, c)."""

    operands: tuple[Domain, ...]

    op: ClassVar[int]
    symbol: ClassVar[str]

    def __init__(self, *operands: Domain) -> None:
        for operand in operands:
            if not isinstance(operand, Domain):
                raise InputError(f"{self._name()} combines domains, not {short(operand)}")
            if operand.unbounded:
                raise InputError(f"{self._name()} combines bounded domains: combine bodies, and then take the exterior")
        if operands and type(operands[0]) is type(self):
            operands = (*operands[0].operands, *operands[1:])
        if len(operands) < 2:
            raise InputError(f"{self._name()} needs two or more domains, not {len(operands)}")
        object.__setattr__(self, "operands", operands)
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
        return 1 + max(operand.depth for operand in self.operands)

    @cached_property
    def registers(self) -> int:
        first, *rest = (operand.registers for _, operand in self._order())
        return max([first, *(1 + own for own in rest)])

    @cached_property
    def _computed(self) -> list[tuple[int, Domain | Members]]:
        """The operands with their numbers, as a program computes them: very many shapes that are united, at once."""
        operands: list[tuple[int, Domain | Members]] = list(enumerate(self.operands))
        united = [
            (k, operand)
            for k, operand in enumerate(self.operands)
            if (k > 0 or self.op == kernels.UNION)
            and isinstance(operand, Shape | Polygon)
            and operand.vertex_count <= MOST_EDGES
        ]
        if self.op == kernels.INTERSECTION or len(united) <= MANY:
            return operands
        numbers = {k for k, _ in united}
        group = united[0][0], Members([leaf for _, leaf in united])
        return sorted([*(entry for entry in operands if entry[0] not in numbers), group], key=lambda entry: entry[0])

    def _order(self) -> list[tuple[int, Domain | Members]]:
        """What is computed, in order: first what needs the most registers, while all are free."""
        operands = self._computed
        heaviest = max(operands, key=lambda entry: entry[1].registers)
        return [heaviest, *(entry for entry in operands if entry is not heaviest)]

    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        (_, heaviest), *rest = self._order()
        heaviest.emit(code, constants, out)
        for index, operand in rest:
            operand.emit(code, constants, out + 1)
            # Only the very first operand is not subtracted in a difference, wherever its turn came.
            operands = (out + 1, out) if index == 0 else (out, out + 1)
            code.append((self.op, out, *operands))

    def leaves(self) -> Iterator[Leaf]:
        for operand in self.operands:
            yield from operand.leaves()

    def find_boundary(self) -> Boundary:
        return clip(self, self.operands)

    def move(self, dx: float, dy: float) -> Self:
        return type(self)(*(operand.move(dx, dy) for operand in self.operands))

    def rotate(self, angle: float) -> Self:
        return type(self)(*(operand.rotate(angle) for operand in self.operands))

    def scale(self, factor: float) -> Self:
        return type(self)(*(operand.scale(factor) for operand in self.operands))

    def describe(self) -> dict[str, Any]:
        return {self._name(): [operand.describe() for operand in self.operands]}

    @property
    @abstractmethod
    def bounds(self) -> Bounds: ...

    def __repr__(self) -> str:
        return f" {self.symbol} ".join(f"({p!r})" if isinstance(p, Composition) else repr(p) for p in self.operands)


@final
class Union(Composition):
    """d = max(d₁, d₂, ...): inside, a lower bound."""

    op = kernels.UNION
    symbol = "|"

    @cached_property
    def bounds(self) -> Bounds:
        boxes = np.array([operand.bounds for operand in self.operands])
        return _box(boxes[:, 0].min(), boxes[:, 1].max(), boxes[:, 2].min(), boxes[:, 3].max())

    @property
    def exactness(self) -> tuple[bool, bool]:
        return False, all(operand.exactness[1] for operand in self.operands)


@final
class Intersection(Composition):
    """d = min(d₁, d₂, ...): exact inside where all operands are."""

    op = kernels.INTERSECTION
    symbol = "&"

    @cached_property
    def bounds(self) -> Bounds:
        boxes = np.array([operand.bounds for operand in self.operands])
        return _box(boxes[:, 0].max(), boxes[:, 1].min(), boxes[:, 2].max(), boxes[:, 3].min())

    @property
    def exactness(self) -> tuple[bool, bool]:
        return all(operand.exactness[0] for operand in self.operands), False


@final
class Difference(Composition):
    """d = min(d₁, -d₂, ...): exact inside where the first operand is so inside and the others are so outside."""

    op = kernels.DIFFERENCE
    symbol = "-"

    @property
    def bounds(self) -> Bounds:
        return self.operands[0].bounds

    @property
    def exactness(self) -> tuple[bool, bool]:
        first, *rest = self.operands
        return first.exactness[0] and all(operand.exactness[1] for operand in rest), False


COMPOSITIONS: dict[str, type[Composition]] = {kind.__name__.lower(): kind for kind in (Union, Intersection, Difference)}
"""The compositions by the names that descriptions use."""


def _box(xmin: float, xmax: float, ymin: float, ymax: float) -> Bounds:
    """As plain numbers; where they do not meet, a box without area."""
    return float(xmin), float(max(xmin, xmax)), float(ymin), float(max(ymin, ymax))
