"""The split `conditions`, version 2 of the generator: instances with Neumann and Robin data on random parts.

Equations, domains, atoms and filters are those of version 1. Then lines cut the boundary, in the middle of smooth sides
too, and every part is given u, ∂u/∂n, or ∂u/∂n + μu of the exact solution. What is drawn here is PDEZoo's own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mc2.errors import InputError
from mc2.fits.insulated import is_insulated
from mc2.geometry import Domain
from mc2.geometry.marks import Mark, Marked
from mc2.geometry.parts import is_wide
from mc2.problems import Condition, Dirichlet, Neumann, Problem, Robin
from mc2.problems.boundary_data import as_dirichlet, completed
from mc2.problems.components import refuse_floating
from mc2.zoo.atom_parts import circle

SPLIT = "conditions"
VERSION = "2"
SIZE = 5_000
FAMILIES = ("laplace", "poisson", "yukawa", "helmholtz")
"""They take turns. The biharmonic equation has no Neumann and Robin conditions."""
KINDS = ("dirichlet", "neumann", "robin")
MOST_CUTS = 2
REACH = 0.8
"""Of half the domain's size: how far from its middle a line passes."""
COEFFICIENTS = (0.1, 10.0)
"""Range of μ, uniform in its logarithm."""
HELD = 1.0
"""μ of the Robin data that take the place of Neumann data where these would leave u open by a constant."""


@dataclass(frozen=True)
class Given:
    """What is given on a part of the boundary: its name, one of `KINDS`, and μ, which is 0 unless that is Robin."""

    part: str
    kind: str
    coefficient: float = 0.0

    @property
    def condition(self) -> Condition:
        """The condition, whose data follow from the exact solution."""
        if self.kind == "robin":
            return Robin(self.coefficient)
        return Neumann() if self.kind == "neumann" else Dirichlet()


def cut(domain: Domain, numbers: Iterator[float]) -> Domain:
    """The domain with up to two marks on its boundary, beyond lines: `cut 1` and `cut 2`."""
    xmin, xmax, ymin, ymax = domain.bounds
    for number in range(1, 1 + int(next(numbers) * (MOST_CUTS + 1))):
        cos, sin = (round(part, 6) for part in circle(6.283185307179586 * next(numbers)))
        share = REACH * (2 * next(numbers) - 1)
        level = 0.5 * (cos * (xmin + xmax) + sin * (ymin + ymax) + share * domain.size)
        line = f"{cos!r}*x + {sin!r}*y > {round(level, 6)!r}"
        if is_wide(domain, Mark(f"cut {number}", line).holds):  # else nothing of the boundary lies beyond
            domain = domain.mark(f"cut {number}", line)
    return domain


def draw_given(problem: Problem, numbers: Iterator[float]) -> tuple[Given, ...]:
    """What is given on every part of a problem's domain, which is cut already; u is determined by it."""
    found = []
    for part in problem.domain.parts:
        kind = KINDS[int(next(numbers) * 3)]
        low, high = COEFFICIENTS
        coefficient = round(low * (high / low) ** next(numbers), 6) if kind == "robin" else 0.0
        found.append(Given(part.name, kind, coefficient))
    if all(given.kind == "dirichlet" for given in found):
        found[0] = Given(found[0].part, "robin", HELD)
    given = tuple(found)
    return given if _determined(impose(problem, given)) else tuple(map(_held, given))


def impose(problem: Problem, given: Sequence[Given]) -> Problem:
    """The problem with these data of its exact solution."""
    known = None if problem.exact is None else problem.from_solution(problem.exact)
    conditions = completed(tuple(one.condition for one in given), known, problem.domain)
    problem.conditions = conditions
    problem.boundary = as_dirichlet(conditions, problem.domain)
    return problem


def read_given(data: list[Any], domain: Domain) -> tuple[Given, ...]:
    """What is given, from a record; refused where it is not about the domain's parts."""
    found = tuple(Given(one["part"], one["kind"], one["coefficient"]) for one in data)
    names = [part.name for part in domain.parts]
    if [given.part for given in found] != names:
        raise InputError(f"its boundary must say what is given on {', '.join(names)}, in this order")
    for given in found:
        low, high = COEFFICIENTS if given.kind == "robin" else (0.0, 0.0)
        if not low <= given.coefficient <= high:
            raise InputError(f"coefficient = {given.coefficient} on {given.part!r} must lie in [{low:g}, {high:g}]")
    return found


def plain(domain: Domain) -> Domain:
    """The domain without its marks."""
    while isinstance(domain, Marked):
        domain = domain.domain
    return domain


def _held(given: Given) -> Given:
    return Given(given.part, "robin", HELD) if given.kind == "neumann" else given


def _determined(problem: Problem) -> bool:
    """Whether u is known on every component of the domain."""
    if is_insulated(problem):
        return False
    try:
        refuse_floating(problem.domain, problem.operator, problem.conditions)
    except InputError:
        return False
    return True
