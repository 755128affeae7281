"""A picture of a solution along the boundary: u, its slope, and what it leaves over of the conditions there."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mc2.fits.normals import moved_to_boundary
from mc2.geometry import Domain
from mc2.geometry.picture import Stretch
from mc2.problems.boundary_figure import boundary_panels, draw_along
from mc2.problems.condition import Clamped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]
ROUNDING = 1e-16
"""Part of the largest value below which what is left over is drawn as if it were that."""


def plot_boundary(solution: "Solution", title: str = "") -> "Figure":
    """u, ∂u/∂n and what is left over of the conditions, along the boundary, beside its parts and their conditions."""
    problem = solution.problem
    domain, varying = problem.domain, problem.operator.varying
    sloped = solution.fitted.lift is not None or bool(solution.fitted.parts)
    slope = "∂u/∂n" if varying is None else "α ∂u/∂n"
    figure, axes = boundary_panels(problem, ["u", *([slope] if sloped else []), "misfit"], title)

    def u(at: Stretch) -> Array:
        return solution.evaluator.values(at.x, at.y)

    def flow(at: Stretch) -> Array:
        found = solution.gradient(at.x, at.y)
        share = 1.0 if varying is None else varying.diffusion(at.x, at.y)
        return np.asarray(share * (found.x * at.nx + found.y * at.ny))

    def left(at: Stretch) -> Array:
        condition = problem.conditions[at.part]
        a, b = condition.weights(at.x, at.y)
        found = a * u(at) + (b * flow(at) if b.any() else 0.0) - condition.data(at.x, at.y, at.nx, at.ny)
        if isinstance(condition, Clamped):
            found = np.hypot(found, flow(at) - condition.turn.data(at.x, at.y, at.nx, at.ny))
        return np.maximum(np.abs(found), floor)

    floor = ROUNDING * float(np.abs(solution.values).max(initial=0.0)) or ROUNDING
    axes[-1].set_yscale("log")
    for ax, values in zip(axes, [u, *([flow] if sloped else []), left], strict=True):
        draw_along(ax, domain, lambda at, values=values: values(_on_boundary(domain, at)))  # type: ignore[misc]
    return figure


def _on_boundary(domain: Domain, at: Stretch) -> Stretch:
    """The same points on the boundary itself, for which pieces may only stand."""
    z, normal = moved_to_boundary(domain, at.x + 1j * at.y, at.nx + 1j * at.ny)
    x, y, nx, ny = (np.ascontiguousarray(part) for part in (z.real, z.imag, normal.real, normal.imag))
    return at._replace(x=x, y=y, nx=nx, ny=ny)
