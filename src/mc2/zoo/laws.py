"""PDEZoo's laws: from uniform numbers to a family, a domain and an exact solution (paper, appendix A).

The lists that are drawn from are the zoo's own: whatever the package learns elsewhere, they stay as they are.

What the paper leaves open is chosen here, or in the atoms (amplitudes of random sign and size in [0.1, 1], which is
calibrated): sizes of composed disks, and that primitives are neither moved nor turned.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mc2.errors import unknown
from mc2.geometry import Annulus, Disk, Domain, Ellipse, Hexagon, Rectangle, Square, Stadium, Triangle
from mc2.problems import Biharmonic, Helmholtz, Laplace, Poisson, Problem, Yukawa
from mc2.zoo import conditions, media
from mc2.zoo.atom_parts import circle
from mc2.zoo.atoms import Atom, AtomType
from mc2.zoo.general_atoms import GENERAL_ATOMS
from mc2.zoo.harmonic_atoms import HARMONIC_ATOMS

TRAINING = ("laplace", "poisson", "yukawa")
FAMILIES = (*TRAINING, "biharmonic", "helmholtz")
PROBLEMS: dict[str, type[Problem]] = {
    "laplace": Laplace,
    "poisson": Poisson,
    "yukawa": Yukawa,
    "biharmonic": Biharmonic,
    "helmholtz": Helmholtz,
}
SPLITS = {"train": 2_000_000, "validation": 5_000, "test": 5_000}
FRESH = re.compile(r"fresh-[1-9][0-9]{0,5}")
OTHERS = {conditions.SPLIT: conditions, media.SPLIT: media}
"""Splits of version 2, in the order of their numbers."""
FIRST_OTHER = 2_000_000
"""The number of the first of them, beyond those of all fresh splits."""

HARD_EXTRA = 4
"""Extra copies of every hard atom in its pool: `hard_atom_extra` of the paper."""
RANGES = {"yukawa": ("lam", 0.5, 50.0), "helmholtz": ("k", 0.5, 10.0)}
SHAPES: dict[type[Domain], dict[str, tuple[float, float]]] = {
    Disk: {"radius": (1.0, 1.0)},
    Square: {"half": (1.0, 1.0)},
    Rectangle: {"a": (0.6, 1.2), "b": (0.6, 1.2)},
    Ellipse: {"rx": (0.6, 1.2), "ry": (0.6, 1.2)},
    Annulus: {"inner": (0.2, 0.6), "outer": (0.8, 1.4)},
    Triangle: {"radius": (0.6, 1.0)},
    Hexagon: {"radius": (0.6, 1.0)},
    Stadium: {"half_length": (0.2, 0.6), "radius": (0.25, 0.5)},
}
"""The primitive domains in the order in which they are drawn, with the range of each of their parameters."""
COMPOSED: tuple[type[Domain], ...] = (Disk, Rectangle, Ellipse, Triangle)
SEPARATION = (0.15, 0.55)
ANGLE = (0.0, 2 * math.pi)
DISK_RADIUS = (0.6, 1.0)
"""The range of the radius of disks in composed domains; a disk by itself has radius 1."""


def _pool(types: Mapping[str, AtomType], extra: int) -> list[AtomType]:
    return [kind for kind in types.values() for _ in range(kind.weight + extra * kind.hard)]


POOLS = {
    "laplace": _pool(HARMONIC_ATOMS, HARD_EXTRA),
    "general": _pool(GENERAL_ATOMS, HARD_EXTRA),
    "biharmonic": [kind for kind in GENERAL_ATOMS.values() if not kind.hard],
}
"""General: 25 of 40 entries are hard. Biharmonic: none, since the paper asks for smooth expressions there."""


def size_of(split: object) -> int:
    """How many instances a split has, if it is one. `fresh-1`, `fresh-2`, … are further test splits, to verify with."""
    if isinstance(split, str) and split in SPLITS:
        return SPLITS[split]
    if isinstance(split, str) and FRESH.fullmatch(split):
        return SPLITS["test"]
    if split in OTHERS:
        return OTHERS[split].SIZE
    raise unknown("split", split, [*SPLITS, *OTHERS, "fresh-NUMBER"])


def families_of(split: str) -> tuple[str, ...]:
    """The families of a split, in the order in which they take turns."""
    if split in OTHERS:
        return OTHERS[split].FAMILIES
    return TRAINING if split in ("train", "validation") else FAMILIES


def family_of(split: str, index: int) -> str:
    """Families take turns, so that any stretch of a split is balanced."""
    families = families_of(split)
    return families[index % len(families)]


def number_of(split: str) -> int:
    """A number for every split."""
    if split in OTHERS:
        return FIRST_OTHER + list(OTHERS).index(split)
    return list(SPLITS).index(split) if split in SPLITS else len(SPLITS) + int(split.removeprefix("fresh-"))


def draw_parameters(family: str, numbers: Iterator[float]) -> dict[str, float]:
    """λ or k."""
    if family not in RANGES:
        return {}
    name, low, high = RANGES[family]
    return {name: _between((low, high), numbers)}


def draw_domain(numbers: Iterator[float]) -> Domain:
    """One of eight primitives with probability 1/11 each, or a composition of two."""
    choice = int(next(numbers) * 11)
    if choice < len(SHAPES):
        shape: Any = list(SHAPES)[choice]
        return shape(**{name: _between(bounds, numbers) for name, bounds in SHAPES[shape].items()})
    operation = int(next(numbers) * 7)
    separation, (cos, sin) = _between(SEPARATION, numbers), circle(_between(ANGLE, numbers))
    x, y = round(0.5 * separation * cos, 6), round(0.5 * separation * sin, 6)
    first, second = _component(numbers, (x, y)), _component(numbers, (-x, -y))
    if operation < 3:
        return first | second
    return first & second if operation < 5 else first - second


def _component(numbers: Iterator[float], center: tuple[float, float]) -> Domain:
    shape: Any = COMPOSED[int(next(numbers) * len(COMPOSED))]
    ranges = {"radius": DISK_RADIUS} if shape is Disk else SHAPES[shape]
    angle = _between(ANGLE, numbers)
    sizes = {name: _between(bounds, numbers) for name, bounds in ranges.items()}
    return shape(**sizes, center=center, angle=0.0 if shape is Disk else angle)


def draw_atoms(family: str, numbers: Iterator[float]) -> list[Atom]:
    """2 to 6 atoms from the family's pool."""
    smooth = family in media.FAMILIES  # whose coefficients make problems hard, not their solutions
    pool = POOLS.get("biharmonic" if smooth else family, POOLS["general"])
    count = 2 + int(next(numbers) * 5)
    kinds = [pool[int(next(numbers) * len(pool))] for _ in range(count)]
    return [kind.draw([next(numbers) for _ in kind.parameters]) for kind in kinds]


def _between(bounds: tuple[float, float], numbers: Iterator[float]) -> float:
    return round(bounds[0] + next(numbers) * (bounds[1] - bounds[0]), 6)
