"""The families by their names. Each says what its operator is and what its problems must supply."""

from collections.abc import Mapping
from typing import ClassVar

from mc2.checks import positive
from mc2.errors import InputError, short
from mc2.functions.conversion import FunctionLike
from mc2.geometry import Domain
from mc2.problems.boundary_data import BoundaryLike
from mc2.problems.elliptic import Elliptic
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN, Operator
from mc2.problems.problem import LARGEST_PARAMETER, Problem
from mc2.registry import Registry


def parameter(name: str, value: object) -> float:
    """A parameter of an operator: a number above 0 whose square is one too."""
    number = positive(name, value)
    if number > LARGEST_PARAMETER:
        raise InputError(f"{name} = {short(value)} must be at most {LARGEST_PARAMETER:g}")
    return number


class Laplace(Problem):
    """Δu = 0 in the domain, u = g on its boundary.

    boundary: g. exact: a harmonic u, if one is known; then g may be left out.
    """

    name = "laplace"
    equation = "Δu = 0"
    data = ("boundary",)
    unbounded = True

    def __init__(
        self, domain: Domain, boundary: BoundaryLike | None = None, *, exact: FunctionLike | None = None
    ) -> None:
        super().__init__(domain, exact, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        return LAPLACIAN


class Poisson(Problem):
    """Δu = f in the domain, u = g on its boundary.

    source: f. boundary: g. exact: u, if it is known; then f and g may be left out.
    """

    name = "poisson"
    equation = "Δu = f"
    data = ("source", "boundary")

    def __init__(
        self,
        domain: Domain,
        source: FunctionLike | None = None,
        boundary: BoundaryLike | None = None,
        *,
        exact: FunctionLike | None = None,
    ) -> None:
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        return LAPLACIAN


class Yukawa(Problem):
    """Δu − λu = f in the domain, u = g on its boundary (the screened Poisson equation).

    lam: λ > 0; PDEZoo draws it from [0.5, 50]. source: f. boundary: g. exact: u, if it is known.
    """

    name = "yukawa"
    equation = "Δu − λu = f"
    data = ("source", "boundary")
    parameters: ClassVar = {"lam": (0.5, 50.0)}
    lengths: ClassVar = {"lam": 2}

    def __init__(
        self,
        domain: Domain,
        source: FunctionLike | None = None,
        boundary: BoundaryLike | None = None,
        *,
        lam: float,
        exact: FunctionLike | None = None,
    ) -> None:
        self.lam = parameter("lam", lam)
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        return Operator(mass=-parameters["lam"])


class Biharmonic(Problem):
    """Δ²u = f in the domain, u = g and Δu = h on its boundary (Navier data: a simply supported plate).

    source: f. boundary: g; or, on parts or all around, `Clamped` conditions with u and ∂u/∂n, where no Δu is needed:
    these are met by boundary least squares alone, without walks. laplacian: h. exact: u, if it is known.
    """

    name = "biharmonic"
    equation = "Δ²u = f"
    data = ("source", "boundary", "laplacian")

    def __init__(
        self,
        domain: Domain,
        source: FunctionLike | None = None,
        boundary: BoundaryLike | None = None,
        laplacian: BoundaryLike | None = None,
        *,
        exact: FunctionLike | None = None,
    ) -> None:
        super().__init__(domain, exact, source=source, boundary=boundary, laplacian=laplacian)

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        return BILAPLACIAN


class Helmholtz(Problem):
    """Δu + k²u = f in the domain, u = g on its boundary.

    k: > 0; PDEZoo draws it from [0.5, 10]. source: f. boundary: g. exact: u, if it is known.
    """

    name = "helmholtz"
    equation = "Δu + k²u = f"
    data = ("source", "boundary")
    parameters: ClassVar = {"k": (0.5, 10.0)}
    lengths: ClassVar = {"k": 1}

    def __init__(
        self,
        domain: Domain,
        source: FunctionLike | None = None,
        boundary: BoundaryLike | None = None,
        *,
        k: float,
        exact: FunctionLike | None = None,
    ) -> None:
        self.k = parameter("k", k)
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        return Operator(mass=parameters["k"] ** 2)


def _is_family(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Problem)


FAMILIES: Registry[type[Problem]] = Registry(
    "family",
    "mc2.families",
    {family.name: family for family in (Laplace, Poisson, Yukawa, Biharmonic, Helmholtz, Elliptic)},
    fits=_is_family,
    named=lambda family: getattr(family, "name", None),
)
"""The families by the names that problem files use. Other packages add theirs: see `mc2.registry`."""
CONSTANT = tuple(family.name for family in (Laplace, Poisson, Yukawa, Biharmonic, Helmholtz))
"""Families whose coefficients are numbers, as PDEZoo's are."""
