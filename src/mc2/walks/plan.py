"""Which walk solves a problem: the family's own, or the reduced one of PDEZoo."""

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mc2.compute.compile import LANES
from mc2.errors import InputError, short, unknown
from mc2.functions import Function
from mc2.functions.function import Program
from mc2.geometry.exterior import need_bounded
from mc2.problems import Problem
from mc2.problems.boundary_data import insulated
from mc2.problems.problem import need_dirichlet
from mc2.walks.eigenvalue import first_eigenvalue

KINDS = ("laplace", "poisson", "yukawa", "biharmonic", "helmholtz", "elliptic")
"""Kinds of walks, in the order of the kernels' numbers."""
SAMPLINGS = ("green", "uniform")
ESTIMATORS = ("standard", "reduced")
SAMPLES = 1024
"""Points at which data without a formula are looked at, to tell problems apart."""

HELMHOLTZ_LIMIT = 0.5
"""Walks are used while k² is below this part of λ₁; their variance grows without bound above."""
HELMHOLTZ_RADIUS = 1.9
"""Largest kR: below 2, where J₀ is well away from its zero."""


@dataclass(frozen=True)
class Plan:
    """What the kernels need to know of a problem.

    name: of the kind of walk, or `reduced`.
    family: its number in the kernels.
    parameter: μ or k; σ̄ where coefficients vary; else 0.
    largest: a cap on radii.
    """

    name: str
    family: int
    problem: Problem
    source: Function | None
    parameter: float = 0.0
    largest: float = np.inf

    @property
    def functions(self) -> tuple[Function | None, Function, Function | None]:
        """Source, boundary and Laplacian on the boundary."""
        laplacian = self.problem.laplacian if self.name == "biharmonic" else None
        return self.source, self.problem.boundary, laplacian

    @property
    def compiled(self) -> bool:
        """Whether all functions can run in the kernels."""
        return all(function is None or function.program is not None for function in self.functions)

    def key(self, device: str) -> tuple[str, bool, str]:
        """Plans with the same key run in the same compiled kernel."""
        return device, self.compiled, self.name if device == "cuda" else ""

    @cached_property
    def digest(self) -> str:
        """Tells problems apart: 16 hexadecimal digits of what is walked, and of its data."""
        domain, functions = self.problem.domain, self.functions
        found = hashlib.sha256(repr((self.name, self.parameter, self.largest)).encode())
        found.update(domain.program.code.tobytes() + domain.program.constants.tobytes())
        inside: Any = None
        varying = self.problem.operator.varying
        coefficients = () if varying is None else tuple(varying.functions.values())
        edges = (False, True, True, *(False for _ in coefficients))
        for function, edge in zip((*functions, *coefficients), edges, strict=True):
            found.update(b"none" if function is None else b"data")
            if function is None:
                continue
            program = function.program
            if program is not None and _is_formula(program):
                found.update(program.code.tobytes() + program.constants.tobytes())
            elif edge:
                found.update(function(*domain.sample_boundary(SAMPLES, seed=0).T).astype(np.float32).tobytes())
            else:
                inside = domain.sample_interior(SAMPLES, seed=0).T if inside is None else inside
                found.update(function(*inside).astype(np.float32).tobytes())
        if self.problem.reflecting:
            found.update(domain.pieces.part.tobytes())
            edge_points = domain.sample_boundary(SAMPLES, seed=0).T
            for condition in self.problem.conditions:
                found.update(condition.word.encode())
                for function in condition.functions.values():
                    found.update(function(*edge_points).astype(np.float32).tobytes())
        return found.hexdigest()[:16]

    def tables(self) -> tuple[Any, ...]:
        """The programs as the kernels' `Tables`, and registers for them."""
        from mc2.functions.kernels import SCRATCH
        from mc2.walks.cpu.lane_kernels import Tables

        domain = self.problem.domain.program
        arrays = [domain.code, domain.constants.astype(np.float32)]
        registers = 3
        for function in self.functions:
            program = function.program if function is not None else None
            arrays.append(program.code if program else np.zeros((0, 5), np.int32))
            arrays.append(program.constants.astype(np.float32) if program else np.zeros(1, np.float32))
            registers = max(registers, program.registers if program else 0)
        return Tables(*arrays), np.zeros((registers + SCRATCH, LANES), np.float32)


def _is_formula(program: Program) -> bool:
    """Whether a program says all of a function, and not just the address of a compiled one."""
    from mc2.functions.kernels import CALL

    return CALL not in program.code[:, 0]


def make_plan(problem: Problem, estimator: str = "standard", *, returning: bool = False) -> Plan:
    """The plan for a problem.

    estimator: `reduced` walks Δu = f − k²u with the exact u on the right; Helmholtz only.
    returning: whether walks that leave the window of an exterior domain are taken up again.
    """
    if isinstance(problem, Problem) and not returning:
        need_bounded(problem.domain, "walks that nothing is fitted to, see mc2.solve, need")
    if not isinstance(problem, Problem):
        raise InputError(f"problem = {short(problem)}: must be a problem, such as mc2.Poisson(...)")
    if estimator not in ESTIMATORS:
        raise unknown("estimator", estimator, ESTIMATORS)
    if estimator == "reduced":
        return _reduced(problem)
    operator = problem.operator
    if operator.varying is not None:
        return _varying(problem)
    if problem.clamped:
        need_dirichlet(problem, "walks")
    if problem.reflecting:
        _check_reflecting(problem)
    if not operator.has_green:
        raise InputError(f"walks cannot solve {problem.equation}: its Green's function on balls is not known")
    kind = _kind(problem)
    largest = np.inf
    if operator.oscillating:
        _check_helmholtz(problem, operator.rate)
        largest = HELMHOLTZ_RADIUS / operator.rate
    return Plan(kind, KINDS.index(kind), problem, problem.source, operator.rate, largest)


@lru_cache(maxsize=4)
def _varying(problem: Problem) -> Plan:
    """The plan where coefficients vary; refused where no walks are known that have a finite variance."""
    from mc2.walks.screened import Screened

    need_dirichlet(problem, "walks through coefficients that vary")
    screened = Screened(problem)
    screened.check()
    return Plan("elliptic", KINDS.index("elliptic"), problem, problem.source, screened.majorant())


def _kind(problem: Problem) -> str:
    """Which of the kernels' walks it is."""
    operator = problem.operator
    if operator.order == 4:
        return "biharmonic"
    if operator.mass:
        return "helmholtz" if operator.oscillating else "yukawa"
    return "laplace" if problem.source is None else "poisson"


def can_walk(problem: Problem) -> bool:
    """Whether walks can solve it.

    A Helmholtz problem only while k² is below half the first eigenvalue, and without reflecting parts; and none with
    Neumann conditions all around, where walks would never end. Clamped plates they cannot, nor coefficients that vary
    where some part reflects, that are not smooth, or that let weights grow too much.
    """
    operator = problem.operator
    if operator.varying is not None:
        try:
            _varying(problem)
        except InputError:
            return False
        return True
    if problem.clamped or not operator.has_green:
        return False
    if problem.reflecting:
        return not operator.oscillating and not (operator.mass == 0 and insulated(problem.conditions))
    return not operator.oscillating or operator.mass < HELMHOLTZ_LIMIT * first_eigenvalue(problem.domain)


def _check_helmholtz(problem: Problem, k: float) -> None:
    if not can_walk(problem):
        raise InputError(
            f"walks cannot solve this Helmholtz problem: k² = {k * k:.4g} is not below half of the domain's first "
            f"Dirichlet eigenvalue λ₁ = {first_eigenvalue(problem.domain):.4g}, so their variance is too large or "
            "infinite; mc2.solve does it without walks, by boundary least squares"
        )


def _check_reflecting(problem: Problem) -> None:
    """Refuse what reflecting walks cannot solve."""
    if problem.operator.oscillating:
        raise InputError(
            f"walks cannot solve {problem.equation} with Neumann or Robin conditions; mc2.solve does it without walks, "
            "by boundary least squares"
        )
    if problem.operator.mass == 0 and insulated(problem.conditions):
        raise InputError(
            "walks cannot solve a problem with Neumann conditions all around: they never end, and its solution is "
            "known but for a constant; mc2.solve gives the one with mean 0, by boundary least squares"
        )


def _reduced(problem: Problem) -> Plan:
    if problem.clamped:
        need_dirichlet(problem, "reduced walks")
    if not problem.operator.oscillating:
        raise InputError(f"the reduced estimator is for helmholtz problems, not {problem.name}")
    if problem.exact is None:
        raise InputError("the reduced estimator needs the exact solution: it walks Δu = f − k²u with u on the right")
    if problem.reflecting:  # Δu − k²u = f − 2k²u, which has a solution whatever is given on the boundary
        k = problem.operator.rate
        return Plan("reduced", KINDS.index("yukawa"), problem, problem.exact.apply(-k * k, 1.0, 0.0), k)
    return Plan("reduced", KINDS.index("poisson"), problem, problem.exact.apply(0.0, 1.0, 0.0))
