"""`certify`: the error of anybody's field, without knowing the exact solution.

The field may come from another program, a network, a formula or a method of ours. What `solve` would find serves as
control variate, so that intervals are narrow whatever the field; see `mc2.correction.certificate`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.baselines.method import Case
from mc2.baselines.registry import make_method
from mc2.correction import Solution
from mc2.correction.boundary import fit_boundary
from mc2.correction.certificate import (
    Certificate,
    Claim,
    bound_claim,
    certify_claim,
    check_arguments,
    control_for,
    read_points,
)
from mc2.correction.resonance import answer_from_boundary
from mc2.errors import InputError, short
from mc2.evaluation.runner import problem_values
from mc2.geometry import Grid, as_grid
from mc2.problems import Frame, Problem
from mc2.problems.grid_function import GridFunction, read_bounds
from mc2.walks.engine import Options, make_options, walk
from mc2.walks.plan import can_walk
from mc2.walks.tasks import threads_limited

Array = NDArray[np.float64]
METHOD_WALKS = 8
"""Walks per pixel that a method of ours is given."""
NAMES = ("values", "u", "field", "mean")
"""Names under which files hold fields."""


def certify(
    problem: Problem,
    field: Any,
    walks: int = 64,
    points: int | ArrayLike = 4096,
    *,
    grid: Grid | int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> Certificate:
    """The error of a field by fresh walks, with confidence intervals.

    problem: what the field claims to solve.
    field: a `Solution`; an array or a torch tensor, with its grid; an `xarray.DataArray` with coordinates x and y; a
    function of x and y; the path of a .npz, .npy or .nc file; or the name of a method of ours, such as `fd` or `mc2`.
    walks: from each of the points.
    points: how many, at random among the field's pixels; or an array [count, 2], for a function.
    grid: of an array, which knows no place of its own; for a function or a method, where it is wanted.
    confidence: of the intervals.
    seed: another one gives other points and walks.
    options: those of `mc2.estimate`, such as epsilon and threads.

    A Helmholtz problem that walks cannot solve gets a bound from boundary least squares, which `kind` says.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem = {short(problem)}: must be a problem, such as mc2.Poisson(...)")
    check_arguments(walks, points, confidence, seed)
    if isinstance(field, Solution) and field.problem is problem:
        return field.certify(walks, points, confidence=confidence, seed=seed)
    chosen = make_options({"max_steps": 1024, "device": "cpu"} | options)
    frame = Frame.of(problem)
    with threads_limited(chosen.threads):
        claim = _claim(problem, field, grid, points, chosen, frame)
        inner = frame.problem(problem)
        if can_walk(inner):
            found = certify_claim(
                inner, control_for(inner, chosen), claim, chosen,
                walks=walks, points=points if isinstance(points, int) else 0, confidence=confidence, seed=seed,
            )  # fmt: skip
        else:
            fit = fit_boundary(inner)
            bars = answer_from_boundary(inner, fit).standard_error(claim.x, claim.y)
            error = float(np.sqrt(np.mean(bars**2)))
            found = bound_claim(claim, fit.field(claim.x, claim.y), error, confidence)
    return found.outward(frame)


@dataclass(frozen=True)
class _Pixels:
    """Values of a field at points [n] inside the domain."""

    x: Array
    y: Array
    values: Array


def _claim(
    problem: Problem, field: Any, grid: Grid | int | None, points: int | ArrayLike, options: Options, frame: Frame
) -> Claim:
    """What is claimed, in the problem's frame."""
    drawn = isinstance(points, int)
    if drawn:
        found = read_field(problem, field, grid, options)
    else:
        if not callable(field):
            raise InputError("points of one's own need a field that is known everywhere: a function, or a Solution")
        x, y = read_points(points)
        found = _called(problem, field, x, y)
    x, y = frame.inward(found.x, found.y)
    if not drawn:  # where float32 can be
        x, y = x.astype(np.float32).astype(float), y.astype(np.float32).astype(float)
    bad = np.flatnonzero(~np.isfinite(found.values))
    if bad.size:
        at = f"({found.x[bad[0]]:.4g}, {found.y[bad[0]]:.4g})"
        raise InputError(f"the field is not finite at {bad.size:,} of {found.x.size:,} points of the domain, as at {at}")
    return Claim(x, y, found.values / frame.value, drawn=drawn)


def read_field(problem: Problem, field: Any, grid: Grid | int | None, options: Options) -> _Pixels:
    """Anybody's field at its own pixels, or at those of a grid."""
    if isinstance(field, Solution):
        return _on_grid(problem, GridFunction(field.values, field.grid))
    if isinstance(field, Path) or (isinstance(field, str) and Path(field).suffix in (".npz", ".npy", ".nc")):
        field = _read_file(Path(field), grid)
    if isinstance(field, str):
        where = as_grid(grid, problem.domain)
        return _on_grid(problem, GridFunction(_by_method(problem, field, where, options), where))
    if hasattr(field, "dims") and hasattr(field, "coords"):
        field = GridFunction.from_xarray(_variable(field))
    if isinstance(field, GridFunction):
        return _on_grid(problem, field)
    if isinstance(field, tuple) and len(field) == 2:
        field, grid = field[0], read_bounds("field", field[1])  # type: ignore[assignment]
    if callable(getattr(field, "detach", None)):  # a torch tensor
        field = field.detach().cpu().numpy()
    if isinstance(field, np.ndarray | list):
        if not isinstance(grid, Grid | tuple):
            raise InputError("an array does not say where it lies: give grid=mc2.Grid(n, (xmin, xmax, ymin, ymax))")
        return _on_grid(problem, GridFunction(_numbers(field), grid))
    if callable(field):
        where = as_grid(grid, problem.domain)
        mask = problem.mask(where)
        return _called(problem, field, *(c[mask] for c in where.points()))
    raise InputError(
        f"field = {short(field)}: must be a Solution, an array with its grid, an xarray.DataArray, a function of x and "
        "y, a .npz, .npy or .nc file, or a method's name"
    )


def _numbers(field: Any) -> Array:
    array = np.asarray(field)
    if array.dtype.kind not in "iuf" or array.ndim != 2:
        raise InputError(f"a field must be real numbers [rows, columns], not {array.dtype} of shape {list(array.shape)}")
    return array.astype(float)


def _on_grid(problem: Problem, values: GridFunction) -> _Pixels:
    """The pixels of an array whose centres lie inside the domain."""
    rows, columns = values.values.shape
    xmin, xmax, ymin, ymax = values.bounds
    x = xmin + (np.arange(columns) + 0.5) * (xmax - xmin) / columns
    y = ymin + (np.arange(rows) + 0.5) * (ymax - ymin) / rows
    px, py = np.meshgrid(x, y)
    inside = problem.domain.contains(px, py)
    if not inside.any():
        raise InputError(f"no pixel of the field, in the box {short(values.bounds)}, lies inside the domain")
    return _Pixels(px[inside], py[inside], values.values[inside])


def _called(problem: Problem, field: Any, x: Array, y: Array) -> _Pixels:
    """A function at points."""
    outside = np.flatnonzero(problem.domain.distance(x, y) < -problem.domain.rounding)
    if outside.size:
        first = int(outside[0])
        raise InputError(f"({x[first]:.4g}, {y[first]:.4g}) lies outside the domain, where there is no solution")
    try:
        values = np.asarray(field(x, y))
    except InputError:
        raise
    except Exception as error:  # whatever a user's function raises
        raise InputError(f"the field failed on arrays of points: {type(error).__name__} {error}"[:200]) from error
    if values.dtype.kind not in "iuf" or values.shape not in ((), x.shape):
        raise InputError(f"the field must return one real number per point, not {values.dtype} of {list(values.shape)}")
    return _Pixels(x, y, np.broadcast_to(values.astype(float), x.shape))


def _by_method(problem: Problem, name: str, grid: Grid, options: Options) -> Array:
    """The field of a method of ours, from `METHOD_WALKS` walks per pixel where it wants them."""
    method = make_method(name)
    if method.setting == "points" or problem.name not in method.families:
        raise InputError(f"the method {name} gives no field of a {problem.name} problem")
    values = problem_values(method, problem, METHOD_WALKS, options.seed, grid)
    if method.setting == "correction":
        found = walk(problem, [METHOD_WALKS], options, grid)[0]
        values |= {"estimate": found.mean.astype(np.float32), "variance": found.variance.astype(np.float32)}
    return np.asarray(method.solve(Case(method, values)), float)


def _read_file(path: Path, grid: Grid | int | None) -> Any:
    """The field in a file. Nothing in it is run."""
    try:
        if path.suffix == ".nc":
            import xarray

            with xarray.open_dataset(path, engine="scipy") as data:
                return _variable(data.load())
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            if path.suffix == ".npy":
                return found
            name = next((name for name in NAMES if name in found), None)
            if name is None or "bounds" not in found:
                raise ValueError(f"it needs an array called {', '.join(NAMES[:-1])} or {NAMES[-1]}, and one called bounds")
            xmin, xmax, ymin, ymax = (float(end) for end in found["bounds"])
            return GridFunction(_numbers(found[name]), (xmin, xmax, ymin, ymax))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except ImportError:
        raise InputError("xarray is not installed: pip install xarray, or use .npz") from None
    except Exception as error:  # a damaged file can fail in many ways, all of them the file's fault
        raise InputError(f"{path}: not a field: {str(error).splitlines()[0][:120]}") from None


def _variable(data: Any) -> Any:
    """A DataArray, or the one in a Dataset that is the field."""
    if not hasattr(data, "data_vars"):
        return data
    names = [name for name in NAMES if name in data.data_vars]
    fields = [name for name in data.data_vars if sorted(map(str, data[name].dims)) == ["x", "y"]]
    if names or len(fields) == 1:
        return data[(names or fields)[0]]
    raise InputError(f"the dataset has no variable called {', '.join(NAMES)}, but {short(list(data.data_vars))}")

