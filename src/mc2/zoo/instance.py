"""`Instance`: a problem of PDEZoo with its exact solution, a pure function of (generator version, split, index)."""

from dataclasses import dataclass
from functools import cached_property

from mc2.checks import whole
from mc2.functions import Function, TermSum
from mc2.geometry import Domain
from mc2.problems import Problem
from mc2.zoo import conditions, media
from mc2.zoo.atoms import Atom
from mc2.zoo.filters import examine
from mc2.zoo.laws import OTHERS, PROBLEMS, draw_atoms, draw_domain, draw_parameters, family_of, number_of, size_of
from mc2.zoo.random import uniforms

VERSION = "1"
"""The version of the generator: whatever changes an instance changes this. Splits of `OTHERS` have their own."""
RETRIES = 40


@dataclass(frozen=True)
class Instance:
    """A problem with its exact solution and its place in the zoo.

    parameters: λ as `lam` (Yukawa) or `k` (Helmholtz).
    atoms: the exact solution is their sum.
    rejected: the filter that each earlier attempt failed.
    std_u, std_f: standard deviations of u and f in the domain, to six digits.
    boundary: what is given on every part of the boundary; empty if that is u everywhere.
    medium: the coefficients, of the split `coefficients`.
    """

    split: str
    index: int
    family: str
    parameters: dict[str, float]
    domain: Domain
    atoms: tuple[Atom, ...]
    rejected: tuple[str, ...]
    std_u: float
    std_f: float
    version: str = VERSION
    boundary: tuple[conditions.Given, ...] = ()
    medium: media.Medium | None = None

    @property
    def id(self) -> str:
        return f"pdezoo-{self.version}/{self.split}/{self.index:07d}"

    @property
    def key(self) -> int:
        """What keys the random numbers of its walks, together with a seed: no two instances share it."""
        return number_of(self.split) << 32 | self.index

    @property
    def estimator(self) -> str:
        """The walk that makes its trajectories: `reduced` for Helmholtz, whose own walk has no mean at most k."""
        return "reduced" if self.family == "helmholtz" else "standard"

    @property
    def truth(self) -> Function:
        """The exact solution, for judges alone: methods are handed `mc2.zoo.told.told(problem)`."""
        assert self.problem.exact is not None
        return self.problem.exact

    @cached_property
    def problem(self) -> Problem:
        """The problem, which knows its exact solution."""
        if self.medium is not None:
            return self.medium.problem(self.domain, TermSum.join(self.atoms))
        problem = PROBLEMS[self.family].from_exact(self.domain, TermSum.join(self.atoms), **self.parameters)
        return conditions.impose(problem, self.boundary) if self.boundary else problem


def version_of(split: str) -> str:
    """The version of the generator that a split is of."""
    return OTHERS[split].VERSION if split in OTHERS else VERSION


def generate(split: str, index: int, version: str | None = None) -> Instance:
    """The instance at an index of a split: `train`, `validation`, `test`, `conditions`, `coefficients`, or `fresh-1`,
    `fresh-2`, … to verify with. version: of the generator; the split's if not given."""
    version = version or version_of(split)
    index = whole("index", index, 0, size_of(split) - 1)
    family = family_of(split, index)
    rejected: list[str] = []
    while len(rejected) <= RETRIES:
        numbers = iter(uniforms(version, split, index, len(rejected)))
        parameters = draw_parameters(family, numbers)
        domain = draw_domain(numbers)
        atoms = tuple(draw_atoms(family, numbers))
        exact, medium = TermSum.join(atoms), None
        if split == media.SPLIT:
            medium = media.draw_medium(iter(uniforms(version, f"{split}/medium", index, len(rejected))))
            problem: Problem = medium.problem(domain, exact)
        else:
            problem = PROBLEMS[family].from_exact(domain, exact, **parameters)
        failure, std_u, std_f = examine(problem)
        if failure is None:
            given: tuple[conditions.Given, ...] = ()
            if split == conditions.SPLIT:
                more = iter(uniforms(version, f"{split}/boundary", index, len(rejected)))
                problem.domain = domain = conditions.cut(domain, more)
                given = conditions.draw_given(problem, more)
                conditions.impose(problem, given)
            made = Instance(
                split=split, index=index, family=family, parameters=parameters, domain=domain, atoms=atoms,
                rejected=tuple(rejected), std_u=_digits(std_u), std_f=_digits(std_f), version=version, boundary=given,
                medium=medium,
            )  # fmt: skip
            made.__dict__["problem"] = problem  # it is there already
            return made
        rejected.append(failure)
    raise RuntimeError(f"{split} {index} failed its filters {RETRIES + 1} times: {', '.join(sorted(set(rejected)))}")


def _digits(value: float) -> float:
    """Six digits: sums differ in their last ones between platforms."""
    return float(f"{value:.6g}")
