"""`Elliptic`: the general linear equation of second order, with coefficients that vary."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from mc2.errors import InputError, short
from mc2.functions.conversion import FunctionLike
from mc2.functions.function import Function
from mc2.geometry import Domain
from mc2.problems.boundary_data import BoundaryLike
from mc2.problems.coefficients import Coefficients, read_coefficients
from mc2.problems.condition import FromExact
from mc2.problems.materials import with_materials
from mc2.problems.operator import Operator
from mc2.problems.problem import Problem


class Elliptic(Problem):
    """∇·(α∇u) + ω·∇u − σu = f in the domain, with data on its boundary.

    diffusion: α, positive and continuous.
    drift: ω, a pair of functions; nothing if left out.
    reaction: σ; 0 if left out. Where it is negative, a solution need not be unique.
    source: f.
    boundary: u on the boundary, or conditions of its parts. Neumann conditions give α ∂u/∂n, and Robin conditions
        α ∂u/∂n + coefficient·u, with n outward.
    exact: u, if it is known; then f and the boundary data may be left out.
    regions: what of the domain is made of other materials, from names to pairs (shape, α), such as
        {"chip": (Rectangle(1.0, 0.5), 150.0)}; the last counts where they overlap. `diffusion` is then a number, that
        of the rest. u and α ∂u/∂n are continuous where materials meet.

    Coefficients are whatever data may be: numbers, expressions, functions of x and y, arrays with their bounds. With
    α = 1, ω = 0 and a number σ it is solved as the families with constant coefficients are.
    """

    name = "elliptic"
    equation = "∇·(α∇u) + ω·∇u − σu = f"
    data = ("source", "boundary")
    coefficient_names = ("diffusion", "drift", "reaction")
    coefficients: Coefficients

    def __init__(
        self,
        domain: Domain,
        diffusion: FunctionLike = 1.0,
        drift: Any = None,
        reaction: FunctionLike = 0.0,
        source: FunctionLike | None = None,
        boundary: BoundaryLike | None = None,
        *,
        exact: FunctionLike | None = None,
        regions: Mapping[str, Any] | None = None,
    ) -> None:
        size = domain.size if isinstance(domain, Domain) else 1.0
        self.coefficients = read_coefficients(diffusion, drift, reaction, size)
        if regions is not None and isinstance(domain, Domain):
            self.coefficients = with_materials(self.coefficients, regions, domain)
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def from_solution_in(cls, domain: Domain, exact: Function, coefficients: Coefficients) -> "Elliptic":
        """The problem that a function solves with coefficients. Nothing is checked, as in `Problem.from_exact`."""
        problem = cls.__new__(cls)
        problem.coefficients = coefficients
        problem.domain, problem.exact, problem.boundary = domain, exact, exact
        problem.source = problem.laplacian = None
        problem._complete()
        return problem

    @classmethod
    def make_operator(cls, parameters: Mapping[str, float]) -> Operator:
        raise InputError("the coefficients of an elliptic problem are functions of its own: ask it for its operator")

    @cached_property
    def operator(self) -> Operator:
        numbers = self.coefficients.numbers
        if numbers is not None and numbers[:3] == (1.0, 0.0, 0.0):
            return Operator(mass=-numbers[3] if numbers[3] else 0.0)
        return Operator.varying_with(self.coefficients)

    def from_solution(self, exact: Function) -> FromExact:
        return FromExact(exact, flux=self.coefficients.flux_of)

    def _check(self) -> None:
        inside, edge = self._cover(), self.domain.sample_boundary(1024, seed=1).T
        self.coefficients.check(inside, edge, self.domain)
        super()._check()

    def __repr__(self) -> str:
        own = [f"{name}={short(function.text)}" for name, function in self.coefficients.functions.items()]
        return super().__repr__().replace(", source=", f", {', '.join(own)}, source=", 1)
