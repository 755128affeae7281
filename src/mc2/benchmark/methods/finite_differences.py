"""Finite differences: what a classical solver gets from the whole problem, boundary data included.

∇·(α∇u) + ω·∇u + cu = f becomes a sparse linear system on the lattice of pixel centres, continued to wherever the
domain reaches (see `stencils.py`). The biharmonic equation becomes two of them: Δv = f with v = h on the boundary, then
Δu = v with u = g. Errors fall with the square of the spacing.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mc2.benchmark.methods.extras import load_extra
from mc2.benchmark.methods.method import Case, Method
from mc2.benchmark.methods.stencils import Array, Differences, Matrix, make_differences, make_lattice
from mc2.checks import whole
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.zoo import media
from mc2.zoo.laws import FAMILIES

Inverse = Callable[[Array], Array]
MAX_UNKNOWNS = 1 << 20
"""Most points that a direct solver solves for; it takes some 1.5 GB for so many."""


class Differencing(Method):
    """Second-order finite differences that know where the boundary crosses the lattice.

    refine: lattice points per pixel and axis, an odd number; 3 takes some fifteen times as long and gains 19 dB. The
    name of the method says it, as in `fd_3`.
    """

    base: ClassVar[str]
    setting = "dense"
    reads = ("grid", "problem")
    families = (*FAMILIES, *media.FAMILIES)

    def __init__(self, refine: int = 1) -> None:
        self.refine = whole("refine", refine, 1)
        if self.refine % 2 == 0:
            raise InputError(f"refine = {refine} must be odd, so that pixel centres are lattice points")
        self.name = self.base if self.refine == 1 else f"{self.base}_{self.refine}"

    @abstractmethod
    def invert(self, matrix: Matrix, definite: bool) -> Inverse:
        """How to solve systems with the matrix.

        definite: whether all of its eigenvalues are surely positive.
        """

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        return self.field(case.problem, case.grid)

    def field(self, problem: Problem, grid: Grid) -> Array:
        """The solution on the grid, 0 outside the domain."""
        lattice = make_lattice(problem.domain, grid, self.refine)
        differences = make_differences(problem.domain, lattice, problem.operator.varying)
        if not differences.x.size:
            return np.zeros(grid.shape)
        return lattice.read(self._values(problem, differences))

    def _values(self, problem: Problem, differences: Differences) -> Array:
        """u at the lattice points: (−Δ − c) u = −f, with every row divided by what −Δ has there on the diagonal.

        A point close to the boundary has huge coefficients. Divided, its row says that u is near the boundary value.
        """
        own, bilaplacian = problem.operator.varying, 0.0
        if own is None:
            mass, _, bilaplacian = problem.operator.coefficients
            shift = np.full(differences.x.size, mass)
        else:
            shift = -own.reaction(differences.x, differences.y)
        scale = 1 / differences.matrix.diagonal()
        matrix = csr_array(diags_array(scale) @ differences.matrix - diags_array(shift * scale))
        inverse = self.invert(matrix, definite=bool(np.all(shift <= 0)))
        right = np.zeros(scale.size) if problem.source is None else problem.source(differences.x, differences.y)
        if bilaplacian:
            assert problem.laplacian is not None
            right = inverse(_finite(scale * (differences.rim(problem.laplacian) - right)))
        return inverse(_finite(scale * (differences.rim(problem.boundary) - right)))


@final
class Direct(Differencing):
    """Finite differences, solved by sparse LU factors in a minimum-degree order."""

    base = "fd"

    def invert(self, matrix: Matrix, definite: bool) -> Inverse:
        return _factor(matrix)


@final
class Multigrid(Differencing):
    """Finite differences, solved by BiCGSTAB with Ruge and Stüben's algebraic multigrid, to a residual of 1e-10.

    Helmholtz matrices are indefinite, which such multigrid cannot handle: they are always solved directly, as by `fd`.
    """

    base = "fd_amg"
    tolerance: ClassVar[float] = 1e-10
    iterations: ClassVar[int] = 100

    def __init__(self, refine: int = 1) -> None:
        super().__init__(refine)
        self._pyamg = load_extra("pyamg", "pyamg", f"method {self.name}")

    def invert(self, matrix: Matrix, definite: bool) -> Inverse:
        return self._iterate(matrix) if definite else _factor(matrix)

    def _iterate(self, matrix: Matrix) -> Inverse:
        from scipy.sparse.linalg import bicgstab

        cycle = self._pyamg.ruge_stuben_solver(matrix).aspreconditioner()

        def solve(right: Array) -> Array:
            found, _ = bicgstab(matrix, right, rtol=self.tolerance, atol=0.0, maxiter=self.iterations, M=cycle)
            residual = np.linalg.norm(matrix @ found - right)
            # Twice: the residual that the iteration keeps is not quite the true one.
            if not residual <= 2 * self.tolerance * np.linalg.norm(right):
                raise InputError(
                    f"{self.name} did not converge in {self.iterations} iterations: its relative residual is "
                    f"{residual / np.linalg.norm(right):.1e}, and {self.tolerance:g} is asked for; fd solves directly"
                )
            return np.asarray(found)

        return solve


def _factor(matrix: Matrix) -> Inverse:
    from scipy.sparse.linalg import splu

    if matrix.shape[0] > MAX_UNKNOWNS:
        raise InputError(
            f"finite differences at {matrix.shape[0]:,} points of the domain are more than a direct solver takes, "
            f"{MAX_UNKNOWNS:,} ({__name__}.MAX_UNKNOWNS): take a coarser grid, refine less, or use fd_amg"
        )
    try:
        factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError:  # "Factor is exactly singular"
        raise InputError("the differences are singular: k² is an eigenvalue of the domain on this lattice") from None
    return factors.solve


def _finite(right: Array) -> Array:
    if not np.isfinite(right).all():
        raise InputError("source or boundary data are not finite at a lattice point or at a boundary crossing")
    return right
