"""`Solution`: a solved problem: values, error bars, how they came about, and what can be done with them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.compute.compile import as_points
from mc2.errors import InputError
from mc2.fits.field import Field
from mc2.geometry import Grid
from mc2.plotting import as_html, as_png
from mc2.problems import Frame, Problem
from mc2.solvers import answers, pictures, solution_file
from mc2.solvers.rounds import Round
from mc2.walks.options import Options
from mc2.walks.schedule import threads_limited

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mc2.solvers.certificate import Certificate
    from mc2.solvers.flux_certificate import CertifiedFlux
    from mc2.solvers.gradient_certificate import CertifiedGradient

Array = NDArray[np.float64]
PORTION = 1 << 16
"""Pixels whose error bars are computed at a time: all functions of a fit are held there."""


class Evaluator(Protocol):
    """What a solution is made of: it can be asked anywhere in the domain."""

    def values(self, x: Array, y: Array) -> Array: ...

    def standard_error(self, x: Array, y: Array) -> Array: ...


@dataclass(frozen=True)
class _ScaledEvaluator:
    """An evaluator in a frame, asked and answering in the user's units."""

    inner: Evaluator
    frame: Frame

    def values(self, x: Array, y: Array) -> Array:
        return self.inner.values(*self.frame.inward(x, y)) * self.frame.value

    def standard_error(self, x: Array, y: Array) -> Array:
        return self.inner.standard_error(*self.frame.inward(x, y)) * self.frame.value


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The solution of a problem on a grid.

    values: [ny, nx], row = y, 0 outside the mask.
    method: the name of the corrector that found it, such as `mc2-rounds`; `trefftz` where walks could not be used.
    history: step by step.
    walks: in all, not per pixel.
    converged: whether the tolerance is met, if there was one, and what judges the fit does not contradict its error
    bars: walks, and for the source lattices of two resolutions.
    reason: why it stopped, and against what it was judged.

    `a == b` if the problem reads the same and all but the time that they took is the same, to the bit.
    """

    problem: Problem
    grid: Grid
    mask: NDArray[np.bool_]
    values: Array
    method: str
    history: tuple[Round, ...]
    walks: int
    seconds: float
    evaluator: Evaluator = field(repr=False)
    fitted: Field = field(repr=False)
    options: Options = field(repr=False)
    converged: bool = False
    reason: str = ""
    known_error: Array | None = field(default=None, repr=False)
    """The standard error on the grid, where it need not be computed."""
    inner: "Solution | None" = field(default=None, repr=False)
    """The same solution in units of ordinary size, in which it was found; see `mc2.problems.frame`."""
    frame: Frame = field(default=Frame(), repr=False)
    asked: dict[str, Any] | None = field(default=None, repr=False)
    """The arguments of `solve`, as plain data; None where they have no name, such as a corrector of one's own."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        mine, theirs = (
            (
                repr(one.problem), one.grid, one.method, one.walks, one.converged, one.reason,
                [replace(step, seconds=0.0) for step in one.history],
            )
            for one in (self, other)
        )  # fmt: skip
        fields = ("mask", "values", "standard_error")
        return mine == theirs and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in fields)

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The solution at points inside the domain; x and y broadcast.

        Where walks were averaged at pixels, other walks are averaged here: values agree within their error bars.
        """
        px, py, shape = as_points(x, y)
        self.check_inside(px, py)
        return self.evaluator.values(px, py).reshape(shape)[()]

    def check_inside(self, x: Array, y: Array) -> None:
        """Refuse points outside the domain."""
        outside = np.flatnonzero(~(self.problem.domain.distance(x, y) >= -self.problem.domain.rounding))
        if outside.size:
            first = int(outside[0])
            raise InputError(f"({x[first]:.4g}, {y[first]:.4g}) lies outside the domain, where there is no solution")

    def gradient(self, x: ArrayLike, y: ArrayLike) -> answers.Gradient:
        """∂u/∂x and ∂u/∂y at points of the domain, its boundary included, with their standard error."""
        return answers.gradient(self, x, y)

    def hessian(self, x: ArrayLike, y: ArrayLike) -> answers.Hessian:
        """The second derivatives xx, xy, yy at points inside the domain, with their standard error."""
        return answers.hessian(self, x, y)

    def flux(self, part: str | list[str] | None = None) -> answers.Answer:
        """∫ ∂u/∂n over named parts of the boundary, n outward; over all of it if no part is named.

        With a diffusion α it is ∫ α ∂u/∂n.
        """
        return answers.flux(self, part)

    def integral(self, weight: Any = None) -> answers.Answer:
        """∫ u over the domain, or ∫ weight·u;

        weight: a number, an expression or a function of x and y.
        """
        return answers.integral(self, weight)

    def mean(self) -> answers.Answer:
        """The mean of u over the domain."""
        return answers.mean(self)

    def at_infinity(self) -> answers.Answer:
        """In an exterior domain, the limit of u, or of u − growth · log r, at infinity."""
        from mc2.solvers.exterior import at_infinity

        return at_infinity(self)

    def along(self, start: Any, end: Any, count: int = 201) -> answers.Along:
        """Values and standard errors at equidistant points from start (x, y) to end (x, y); NaN outside the domain."""
        return answers.along(self, start, end, count)

    def minimum(self) -> answers.Extreme:
        """The least value, its place and its standard error."""
        return answers.extreme(self, -1)

    def maximum(self) -> answers.Extreme:
        """The largest value, its place and its standard error."""
        return answers.extreme(self, 1)

    @cached_property
    def standard_error(self) -> Array:
        """The standard error of the values [ny, nx], 0 outside the mask."""
        if self.known_error is not None:
            return self.known_error
        out = np.zeros(self.grid.shape)
        x, y = (c[self.mask] for c in self.grid.points())
        parts = (slice(first, first + PORTION) for first in range(0, x.size, PORTION))
        out[self.mask] = np.concatenate([self.evaluator.standard_error(x[part], y[part]) for part in parts])
        return out

    @property
    def error(self) -> Array:
        """The standard error, for short."""
        return self.standard_error

    def certify(
        self, walks: int = 64, points: int | ArrayLike = 4096, *, confidence: float = 0.95, seed: int = 0
    ) -> "Certificate":
        """Fresh walks that tell the error of the values, without knowing the exact solution.

        walks: from each of the points.
        points: how many, at random among the pixels; or an array [count, 2].
        seed: another one gives other points and walks; none are those of the solution.
        """
        from mc2.solvers.certificate import certify

        with threads_limited(self.options.threads):
            return certify(self, walks, points, confidence, seed)

    def certify_gradient(
        self, points: ArrayLike, walks: int = 64, *, confidence: float = 0.95, seed: int = 0
    ) -> "CertifiedGradient":
        """Fresh walks that tell the gradient at points [count, 2] inside, and the error of what `gradient` says there.

        walks: from a circle around each of the points; an even number.
        seed: another one gives other walks; none are those of the solution.
        """
        from mc2.solvers.gradient_certificate import certify_gradient

        with threads_limited(self.options.threads):
            return certify_gradient(self, points, walks, confidence, seed)

    def certify_flux(self, part: str | list[str], walks: int = 1 << 16, *, seed: int = 0) -> "CertifiedFlux":
        """Fresh walks that tell ∫ ∂u/∂n over whole curves of the boundary, for the equations of Laplace and Poisson.

        part: one or several, such as holes.
        walks: in all, from a contour between these curves and all others.
        seed: another one gives other walks; none are those of the solution.
        """
        from mc2.solvers.flux_certificate import certify_flux

        with threads_limited(self.options.threads):
            return certify_flux(self, part, walks, seed)

    def outward(self, problem: Problem, grid: Grid, frame: Frame) -> "Solution":
        """This solution in the user's units.

        problem, grid: in these units.
        frame: what this one is in.
        """
        scale = frame.value
        history = tuple(
            replace(step, before=step.before * scale, after=step.after * scale, error=step.error * scale)
            for step in self.history
        )
        return replace(
            self, problem=problem, grid=grid, values=self.values * scale, history=history,
            evaluator=_ScaledEvaluator(self.evaluator, frame), inner=self, frame=frame,
            known_error=None if self.known_error is None else self.known_error * scale,
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write it to a file: .npz or .nc (with xarray) to be loaded again, .csv or .vtk for other programs."""
        solution_file.save(self, Path(path))

    @staticmethod
    def load(path: str | Path, problem: Problem | None = None) -> "Solution":
        """Read what `save` wrote to .npz or .nc, and solve again, so that the solution can be asked anything.

        problem: needed where the saved one has functions without a text, such as arrays.
        """
        return solution_file.load(path, problem)

    def to_xarray(self) -> Any:
        """An xarray Dataset of `u` and `standard_error` with coordinates x and y; NaN outside the domain."""
        return solution_file.to_xarray(self)

    def record(self) -> dict[str, Any]:
        """How it came about, as plain data."""
        return solution_file.record(self)

    def plot(
        self,
        exact: ArrayLike | Callable[..., ArrayLike] | None = None,
        title: str = "",
        *,
        ax: "Axes | None" = None,
        isolines: int = 10,
        cmap: str = pictures.FIELD,
        levels: ArrayLike | None = None,
        gradient: bool = False,
    ) -> "Figure":
        """A matplotlib figure of the solution and its standard error and, given the exact field, its error.

        exact: a field on the solution's grid, or a function of x and y.
        ax: axes to draw the solution in, alone.
        isolines: how many, at round values; 0 for none.
        cmap: colour map of the field.
        levels: values of the isolines, instead.
        gradient: whether to draw arrows along −∇u, as heat and current flow.
        """

        return pictures.plot(self, exact, title, ax=ax, isolines=isolines, cmap=cmap, levels=levels, gradient=gradient)

    def plot_boundary(self, title: str = "") -> "Figure":
        """A matplotlib figure of u, ∂u/∂n and the conditions' misfit along the boundary, beside its parts."""
        from mc2.solvers.boundary_picture import plot_boundary

        return plot_boundary(self, title)

    def __repr__(self) -> str:
        inside, error = self.values[self.mask], self.standard_error[self.mask]
        return (
            f"Solution({self.grid.nx} × {self.grid.ny} pixels: {inside.min():.6g} … {inside.max():.6g}, "
            f"standard error {float(np.sqrt(np.mean(error**2))):.2g}, by {self.method} from {self.walks:,} walks; "
            f"{'converged' if self.converged else 'not converged'}: {self.reason})"
        )

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return as_html(as_png(self.plot()), repr(self))

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        return as_png(self.plot())
