"""`certify`: the error of anybody's field, without knowing the exact solution.

The field may come from another program, a network, a formula or a method of ours. What `solve` would find serves as
control variate, so that intervals are narrow whatever the field; see `mc2.solvers.certificate`.
"""

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.benchmark.field_files import Where, placed, read_field, variable
from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.runner import problem_values
from mc2.checks import checked
from mc2.compute.blas import one_thread
from mc2.errors import InputError, one_line, short
from mc2.functions.grid_function import GridFunction, read_bounds
from mc2.geometry import Grid, as_grid
from mc2.geometry.exterior import need_bounded
from mc2.networks.installed import ENDING
from mc2.problems import Frame, Problem
from mc2.problems.problem import need_dirichlet
from mc2.solvers import Solution
from mc2.solvers.certificate import (
    Certificate,
    Claim,
    bound_claim,
    certify_claim,
    check_arguments,
    control_for,
    read_points,
)
from mc2.solvers.fitted import bound_by_fit
from mc2.walks.engine import walk
from mc2.walks.options import Options, steps_allowed
from mc2.walks.plan import can_walk
from mc2.walks.schedule import threads_limited

Array = NDArray[np.float64]
MAX_STEPS = 1024
"""Where walks are cut off, if not said otherwise: certificates are worth more than a usual estimate."""
METHOD_WALKS = 8
"""Walks per pixel that a method of ours is given."""
WILD = 1e100
"""A field is refused if it exceeds the problem's data by this factor: its squares might overflow."""


@checked
def certify(
    problem: Problem,
    field: Any,
    walks: int = 64,
    points: int | ArrayLike = 4096,
    *,
    grid: Where = None,
    confidence: float = 0.95,
    seed: int = 0,
    epsilon: float = 1e-4,
    unit: float | None = None,
    max_steps: int | None = None,
    sampling: str = "green",
    threads: int | None = None,
) -> Certificate:
    """Tell the error of a field by fresh walks, with confidence intervals.

    problem: what the field claims to solve; its exact solution, if it has one, is not used.
    field: a `Solution`; an array or a torch tensor, with its grid; an `xarray.DataArray` with coordinates x and y; a
    function of x and y; the path of a .npz, .npy or .nc file; or the name of a method of ours, such as `fd` or `mc2`.
    Values outside the domain do not matter.
    walks: from each of the points.
    points: how many, at random among the field's pixels; or an array [count, 2], for a function.
    grid: of an array, which knows no place of its own: a `Grid`, or bounds (xmin, xmax, ymin, ymax); for a function or
    a method, where it is wanted.
    confidence: of the intervals.
    seed: another one gives other points and walks.
    epsilon, unit, sampling, threads: of the walks, as of `mc2.estimate`; those of a `Solution` if none is given.
    max_steps: where a walk is cut off; if not given, 1,024, or 65,536 where some part reflects or coefficients vary.

    A problem that walks cannot judge gets a bound from least squares, which `kind` says: Helmholtz problems where k² is
    too large or some part reflects, those with Neumann conditions all around, clamped plates, and those whose
    coefficients vary where some part reflects, or where walks would have no finite variance.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem = {short(problem)}: must be a problem, such as mc2.Poisson(...)")
    if isinstance(points, Integral) and not isinstance(points, bool):
        points = int(points)
    check_arguments(walks, points, confidence, seed)
    usual = (epsilon, unit, max_steps, sampling, threads) == (1e-4, None, None, "green", None)
    if isinstance(field, Solution) and field.problem is problem and grid is None and usual:
        return field.certify(walks, points, confidence=confidence, seed=seed)
    chosen = Options(
        epsilon=epsilon,
        max_steps=steps_allowed(problem, max_steps, MAX_STEPS),
        sampling=sampling,
        device="cpu",
        threads=threads,
        unit=unit,
    )
    with threads_limited(chosen.threads):
        frame, samples = Frame.of(problem), _samples(problem, field, grid, points, chosen)
        inner, claim = frame.problem(problem), samples.claim(frame, drawn=isinstance(points, int))
        if can_walk(inner):
            found = certify_claim(
                inner, control_for(inner, chosen, claim), claim, chosen,
                walks=walks, points=points if isinstance(points, int) else 0, confidence=confidence, seed=seed,
            )  # fmt: skip
        else:
            with one_thread():
                fitted, evaluator = bound_by_fit(inner)
                bars = evaluator.standard_error(claim.x, claim.y)
            error = float(np.sqrt(np.mean(bars**2)))
            found = bound_claim(claim, fitted(claim.x, claim.y), error, confidence)
    return found.outward(frame)


@dataclass(frozen=True)
class _Samples:
    """Values of a field at points [n] inside the domain."""

    x: Array
    y: Array
    values: Array

    def __post_init__(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.values))
        if bad.size:
            at = f"({self.x[bad[0]]:.4g}, {self.y[bad[0]]:.4g})"
            raise InputError(
                f"the field is not finite, or not known, at {bad.size:,} of {self.x.size:,} points, as at {at}"
            )

    def claim(self, frame: Frame, drawn: bool) -> Claim:
        """In a frame.

        drawn: whether these are pixels, of which some are drawn.
        """
        largest = float(np.abs(self.values).max())
        if largest > WILD * frame.value:
            raise InputError(f"the field reaches {largest:.2g}, over {WILD:g} times the data: it cannot be meant")
        x, y = frame.inward(self.x, self.y)
        if not drawn:  # where float32 can be
            x, y = x.astype(np.float32).astype(float), y.astype(np.float32).astype(float)
        return Claim(x, y, self.values / frame.value, drawn=drawn)


def _samples(problem: Problem, field: Any, grid: Where, points: int | ArrayLike, options: Options) -> _Samples:
    """The field at its own pixels, at those of a grid, or at points."""
    if isinstance(points, int):
        return _at_pixels(problem, field, grid, options)
    if not callable(field):
        raise InputError("points of one's own need a field that is known everywhere: a function, or a Solution")
    return _called(problem, field, *read_points(points))


def _at_pixels(problem: Problem, field: Any, grid: Where, options: Options) -> _Samples:
    if isinstance(field, Solution) and grid is None:
        return _on_grid(problem, GridFunction(np.where(field.mask, field.values, np.nan), field.grid))
    if isinstance(field, Path) or (isinstance(field, str) and Path(field).suffix not in ("", ENDING)):
        field = read_field(Path(field), grid)
    if isinstance(field, str):
        where = as_grid(grid, problem.domain)  # type: ignore[arg-type]
        return _on_grid(problem, GridFunction(_by_method(problem, field, where, options), where))
    if hasattr(field, "dims") and hasattr(field, "coords"):
        field = GridFunction.from_xarray(variable(field))
    if isinstance(field, tuple) and len(field) == 2:
        field, grid = field[0], read_bounds("field", field[1])
    if isinstance(field, list) or hasattr(field, "__array__") or hasattr(field, "detach"):
        field = placed(field, grid)
    if isinstance(field, GridFunction):
        return _on_grid(problem, field)
    if callable(field):
        where = as_grid(grid, problem.domain)  # type: ignore[arg-type]
        mask = problem.mask(where)
        return _called(problem, field, *(c[mask] for c in where.points()))
    raise InputError(
        f"field = {short(field)}: must be a Solution, an array with its grid, an xarray.DataArray, a function of x and "
        "y, a .npz, .npy or .nc file, or a method's name"
    )


def _on_grid(problem: Problem, values: GridFunction) -> _Samples:
    """The pixels of an array whose centres lie inside the domain."""
    rows, columns = values.values.shape
    xmin, xmax, ymin, ymax = values.bounds
    x = xmin + (np.arange(columns) + 0.5) * (xmax - xmin) / columns
    y = ymin + (np.arange(rows) + 0.5) * (ymax - ymin) / rows
    px, py = np.meshgrid(x, y)
    inside = problem.domain.contains(px, py)
    if not inside.any():
        raise InputError(f"no pixel of the field, in the box {short(values.bounds)}, lies inside the domain")
    return _Samples(px[inside], py[inside], values.values[inside])


def _called(problem: Problem, field: Any, x: Array, y: Array) -> _Samples:
    """A function at points."""
    outside = np.flatnonzero(~(problem.domain.distance(x, y) >= -problem.domain.rounding))
    if outside.size:
        first = int(outside[0])
        raise InputError(f"({x[first]:.4g}, {y[first]:.4g}) lies outside the domain, where there is no solution")
    try:
        values = np.asarray(field(x, y))
    except InputError:
        raise
    except Exception as error:  # whatever a user's function raises
        raise InputError(f"the field failed on arrays of points: {type(error).__name__} {one_line(error)}") from error
    if values.dtype.kind not in "iuf" or values.shape not in ((), x.shape):
        raise InputError(f"the field must return one real number per point, not {values.dtype} of {list(values.shape)}")
    return _Samples(x, y, np.broadcast_to(values.astype(float), x.shape))


def _by_method(problem: Problem, name: str, grid: Grid, options: Options) -> Array:
    """The field of a method of ours, from `METHOD_WALKS` walks per pixel where it wants them."""
    method = make_method(name)
    need_bounded(problem.domain, f"fields by {name!r} need")
    if not method.reflecting:
        need_dirichlet(problem, f"fields by {name!r}")
    if method.setting == "points" or problem.name not in method.families:
        raise InputError(f"the method {name} gives no field of {problem.name} problems")
    frame = Frame.of(problem)  # methods are in float32, or know lengths
    inner, where = frame.problem(problem), frame.grid(grid)
    values = problem_values(method, inner, METHOD_WALKS, options.seed, where)
    if method.setting == "correction":
        found = walk(inner, [METHOD_WALKS], options, where)[0]
        values |= {"estimate": found.mean.astype(np.float32), "variance": found.variance.astype(np.float32)}
    return np.asarray(method.solve(Case(method, values)), float) * frame.value
