"""Files of solutions: .npz and .nc to be read again, .csv and .vtk for other programs.

A solution is a function of its problem, of what was asked for and of its seed. A file holds these and the values, so
whoever loads it solves again, and the values in the file are held against that: it can then be asked anything.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from mc2.errors import InputError, short
from mc2.files import check_target, replacing, write_bytes, write_text
from mc2.geometry import Grid
from mc2.problems import Problem
from mc2.problems.problem_file import problem_from_data
from mc2.problems.writing import problem_as_data
from mc2.reading.json import parse_json
from mc2.reading.models import Number, at_least, read_as
from mc2.reading.npz import open_npz, refusing
from mc2.reading.plain import naming, open_plain, saying

if TYPE_CHECKING:
    from mc2.solvers.solution import Solution

Array = NDArray[np.float64]

MAX_RECORD = 4 << 20
"""Bytes of a solution's record: its problem may have a drawing of many vertices."""
NAMES = frozenset({"values", "standard_error", "mask", "bounds", "record"})
MAX_WALKS = 16_384
"""Walks per point that are walked again for a file."""
AGREEMENT = 1e-9
"""Part of the largest value by which values that were solved again may differ: rounding on another machine."""


class Record(TypedDict):
    """How a solution came about; what it takes to solve again may be missing."""

    family: str
    method: str
    walks: Annotated[int, at_least(0)]
    seconds: Annotated[float, at_least(0)]
    converged: bool
    reason: str
    options: dict[str, Any]
    history: list[dict[str, Any]]
    problem: NotRequired[dict[str, Any] | None]
    asked: NotRequired[dict[str, Number | bool | str | None] | None]


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise InputError("xarray is not installed: pip install xarray, or save to .npz") from None
    return xarray


def check_solution_target(path: Path) -> None:
    """Refuse a file that a solution could not be saved to, before any work is done."""
    check_target(path, *WRITERS)
    if path.suffix.lower() == ".nc":
        _xarray()


def save(solution: "Solution", path: Path) -> None:
    """Write a solution in the format that the file's name ends in."""
    check_solution_target(path)
    WRITERS[path.suffix.lower()](solution, path)


def record(solution: "Solution") -> dict[str, Any]:
    """How a solution came about, as plain data; with the problem, if its functions have a text."""
    return {
        "family": solution.problem.name,
        "method": solution.method,
        "walks": solution.walks,
        "seconds": solution.seconds,
        "converged": solution.converged,
        "reason": solution.reason,
        "options": asdict(solution.options),
        "history": [asdict(step) | {"error": _finite(step.error)} for step in solution.history],
        "problem": problem_as_data(solution.problem),
        "asked": solution.asked,
    }


def _finite(number: float) -> float | None:
    """An error that is unknown, which is infinite here, is null in JSON."""
    return number if np.isfinite(number) else None


def to_xarray(solution: "Solution") -> Any:
    """An xarray Dataset of `u` and `standard_error` with coordinates x and y; NaN outside the domain."""
    xarray = _xarray()
    fields = {"u": solution.values, "standard_error": solution.standard_error}
    return xarray.Dataset(
        {name: (("y", "x"), np.where(solution.mask, array, np.nan)) for name, array in fields.items()}
        | {"mask": (("y", "x"), solution.mask)},
        coords={"x": solution.grid.x, "y": solution.grid.y},
        attrs={"record": json.dumps(record(solution)), "bounds": list(solution.grid.bounds)},
    )


def _save_npz(solution: "Solution", path: Path) -> None:
    fields = {"values": solution.values, "standard_error": solution.standard_error, "mask": solution.mask}
    about = {"bounds": np.array(solution.grid.bounds), "record": np.array(json.dumps(record(solution)))}
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **fields, **about)


def _save_nc(solution: "Solution", path: Path) -> None:
    dataset = to_xarray(solution)
    write_bytes(path, dataset.assign(mask=dataset.mask.astype("int8")).to_netcdf(engine="scipy"))


def _save_csv(solution: "Solution", path: Path) -> None:
    """Lines x, y, u, standard_error of the pixels inside the domain, with all digits."""
    x, y = (c[solution.mask] for c in solution.grid.points())
    columns = (x, y, solution.values[solution.mask], solution.standard_error[solution.mask])
    lines = (",".join(map(repr, map(float, row))) for row in zip(*columns, strict=True))
    write_text(path, "\n".join(("x,y,u,standard_error", *lines)) + "\n")


def _save_vtk(solution: "Solution", path: Path) -> None:
    """A legacy VTK file of structured points, which ParaView, meshio and PyVista read; NaN outside the domain."""
    (width, height), (ny, nx) = solution.grid.spacing, solution.grid.shape
    x, y = float(solution.grid.x[0]), float(solution.grid.y[0])
    head = (
        "# vtk DataFile Version 3.0\nMC2 solution\nBINARY\nDATASET STRUCTURED_POINTS\n"
        f"DIMENSIONS {nx} {ny} 1\nORIGIN {x!r} {y!r} 0\nSPACING {width!r} {height!r} 1\nPOINT_DATA {nx * ny}\n"
    )
    content = head.encode()
    for name, field in (("u", solution.values), ("standard_error", solution.standard_error)):
        numbers = np.where(solution.mask, field, np.nan).astype(">f8").tobytes()
        content += f"SCALARS {name} double 1\nLOOKUP_TABLE default\n".encode() + numbers + b"\n"
    write_bytes(path, content)


WRITERS: Mapping[str, Callable[["Solution", Path], None]] = {
    ".npz": _save_npz, ".nc": _save_nc, ".csv": _save_csv, ".vtk": _save_vtk
}  # fmt: skip


def load(path: str | Path, problem: Problem | None = None) -> "Solution":
    """Read a solution from .npz or .nc, and solve again, so that it can be asked anything.

    problem: needed where the file's own has functions without a text, such as arrays.
    """
    path = Path(path)
    reader = {".npz": _read_npz, ".nc": _read_nc}.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: solutions are loaded from .npz and .nc")
    with naming(path), saying("not a solution"):
        arrays, plain = reader(path)
        values, error, mask = _checked(arrays)
        told = read_as(Record, plain, "record")
        asked, described = told.get("asked"), told.get("problem")
        if asked is None:
            raise InputError(
                "its record does not say what was asked for, as where a corrector has no name, or where others that it "
                "was solved together with have shaped it: it cannot be solved again"
            )
        if problem is None:
            if described is None:
                raise InputError("its problem has functions without a text: give it, as Solution.load(path, problem)")
            problem = problem_from_data(described).problem
        grid = Grid(mask.shape[1], mask.shape[0], tuple(map(float, arrays["bounds"])))  # type: ignore[arg-type]
    again = _solve_again(path, problem, grid, asked)
    scale = max(float(np.abs(again.values).max(initial=0.0)), 1e-300)
    off = np.abs(again.values - values)
    if not np.array_equal(again.mask, mask) or (off > AGREEMENT * scale + 0.1 * again.standard_error).any():
        raise InputError(
            f"{path}: its values differ by {off.max():.2g} from what its problem and seed give: the file is damaged, "
            "belongs to another problem, or is of another version"
        )
    return replace(again, values=values, known_error=error, seconds=told["seconds"])


def _solve_again(path: Path, problem: Problem, grid: Grid, asked: dict[str, Any]) -> "Solution":
    """What is asked for may come from a stranger: known words alone, no paths, and no more work than people ask for."""
    from mc2.solvers.correctors import find_corrector
    from mc2.solvers.solve import solve

    known = signature(solve).parameters.keys() - {"problem", "grid", "progress"}
    for key in asked:
        if key not in known:
            raise InputError(f"{path}: its record asks for {short(key)}, which there is not")
    corrector, walks = asked.get("corrector"), asked.get("walks")
    if not isinstance(corrector, str) or "." in corrector or "/" in corrector:
        raise InputError(f"{path}: its record asks for the corrector {short(corrector)}, which is no name")
    if not isinstance(walks, int) or not 0 < walks <= MAX_WALKS:
        raise InputError(f"{path}: its record asks for {short(walks)} walks: at most {MAX_WALKS:,} are walked again")
    find_corrector(corrector)
    return solve(problem, grid=grid, **asked)


def _read_npz(path: Path) -> tuple[dict[str, Array], Any]:
    with open_plain(path) as file, refusing():
        arrays = open_npz(file)
        if arrays.headers.keys() != NAMES:
            raise InputError(f"it must hold {', '.join(sorted(NAMES))}, not {short(sorted(arrays.headers))}")
        found = {name: arrays.read(name) for name in NAMES - {"record"}}
        return found, parse_json(arrays.text("record", MAX_RECORD))


def _read_nc(path: Path) -> tuple[dict[str, Array], Any]:
    dataset = _xarray().load_dataset(path, engine="scipy")
    if not {"u", "standard_error", "mask"} <= set(dataset.data_vars) or not {"record", "bounds"} <= set(dataset.attrs):
        raise InputError("it must hold u, standard_error and mask, with a record and bounds")
    mask = np.asarray(dataset["mask"].values) != 0
    found = {name: np.where(mask, dataset[own].values, 0.0) for name, own in (("values", "u"), ("standard_error",) * 2)}
    return found | {"mask": mask, "bounds": np.asarray(dataset.attrs["bounds"])}, parse_json(dataset.attrs["record"])


def _checked(arrays: dict[str, Array]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Fields of one shape, finite, with errors that are not negative."""
    values, error, mask = arrays["values"], arrays["standard_error"], arrays["mask"]
    plain = values.dtype == error.dtype == np.float64 and mask.dtype == bool and arrays["bounds"].shape == (4,)
    if not plain or values.ndim != 2 or not values.shape == error.shape == mask.shape:
        raise InputError("values, standard_error and mask must be fields of one shape, and bounds four numbers")
    if not np.isfinite(values).all() or np.isnan(error).any() or (error < 0).any() or not mask.any():
        raise InputError("its values must be finite, its errors not negative, and its mask not empty")
    return values, error, mask.astype(bool)
