"""Fields in files and arrays, from anybody: NumPy's .npz and .npy, and NetCDF."""

import io
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, one_line, short
from mc2.functions.grid_function import Bounds, GridFunction, read_bounds
from mc2.geometry import Grid
from mc2.reading.npz import Arrays, open_npz, read_npy, refusing
from mc2.reading.plain import naming, open_plain, read_within, saying

Where = Grid | Bounds | int | None
NAMES = ("values", "u", "field", "mean")
"""Names under which files hold fields."""
MAX_PIXELS = 4096 * 4096
"""Most pixels of a field that is certified."""
MAX_NETCDF = 512 << 20
"""Bytes of a NetCDF file."""
NOT = "not a field"


def read_field(path: Path, grid: Where) -> Any:
    """The field in a file. Nothing in it is run."""
    if path.suffix not in READERS:
        raise InputError(f"{path}: a field's file must end in {', '.join(READERS)}")
    with naming(path), open_plain(path) as file:
        return READERS[path.suffix](file, grid)


def placed(field: Any, grid: Where) -> GridFunction:
    """An array of numbers, NaN where it is masked, on its grid."""
    if hasattr(field, "detach"):  # a torch tensor, whose kinds of numbers NumPy does not all have
        field = field.detach().cpu()
        field = (field.double() if field.is_floating_point() else field).numpy()
    try:
        array = np.ma.asanyarray(field)
    except ValueError:  # rows of different lengths
        raise InputError("a field must be real numbers [rows, columns], all rows of one length") from None
    check_field(array.dtype, array.shape)
    if grid is None or isinstance(grid, int):
        raise InputError("an array does not say where it lies: give grid=mc2.Grid(n, bounds=(xmin, xmax, ymin, ymax))")
    return GridFunction(array.astype(float).filled(np.nan), read_bounds("grid", grid))


def check_field(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuse what is no field, or too large a one, before more is made of it."""
    if dtype.kind not in "iuf" or len(shape) != 2:
        raise InputError(f"a field must be real numbers [rows, columns], not {dtype} {list(shape)}")
    if shape[0] * shape[1] > MAX_PIXELS:
        raise InputError(f"a field of {shape[1]:,} × {shape[0]:,} pixels has over {MAX_PIXELS:,}: certify a part of it")


def variable(data: Any) -> Any:
    """A DataArray, or the one in a Dataset that is the field."""
    if not hasattr(data, "data_vars"):
        return data
    names = [name for name in NAMES if name in data.data_vars]
    fields = [name for name in data.data_vars if sorted(map(str, data[name].dims)) == ["x", "y"]]
    if names or len(fields) == 1:
        return data[(names or fields)[0]]
    raise InputError(f"the dataset has no variable called {', '.join(NAMES)}, but {short(list(data.data_vars))}")


def _from_npy(file: BufferedReader, grid: Where) -> GridFunction:
    with saying(NOT):
        found = read_npy(file)
    return placed(found, grid)


def _from_npz(file: BufferedReader, grid: Where) -> GridFunction:
    """The field among the arrays of a .npz file, with its bounds, and without what is outside of its mask."""
    with saying(NOT), refusing():
        arrays = open_npz(file)
    name = next((name for name in NAMES if name in arrays.headers), None)
    if name is None:
        told = short(list(arrays.headers))
        raise InputError(f"needs an array called {', '.join(NAMES[:-1])} or {NAMES[-1]}, and has {told}")
    if grid is None or isinstance(grid, int):
        if "bounds" not in arrays.headers:
            raise InputError("needs an array called bounds: (xmin, xmax, ymin, ymax)")
        if arrays.headers["bounds"].shape != (4,):
            raise InputError(f"bounds must be four numbers, not {arrays.headers['bounds']}")
        grid = read_bounds("field", _read(arrays, "bounds").tolist())
    header, mask = arrays.headers[name], arrays.headers.get("mask")
    check_field(header.dtype, header.shape)
    if mask is not None and (mask.shape != header.shape or mask.dtype.kind not in "biuf"):
        raise InputError(f"its mask is {list(mask.shape)}, its field {list(header.shape)}")
    field = placed(_read(arrays, name), grid)
    if mask is None:
        return field
    return GridFunction(np.where(_read(arrays, "mask"), field.values, np.nan), field.bounds)


def _read(arrays: Arrays, name: str) -> NDArray[Any]:
    with saying(NOT), refusing():
        return arrays.read(name)


def _from_netcdf(file: BufferedReader, grid: Where) -> Any:
    """The field in a NetCDF file of version 3, which says where it lies."""
    with saying(NOT):
        content = read_within(file, MAX_NETCDF, "field")
        if not content.startswith(b"CDF"):
            raise InputError("no .nc file")
        try:
            import xarray
        except ImportError:
            raise InputError("xarray is not installed: pip install xarray, or use .npz") from None
        try:
            with xarray.open_dataset(io.BytesIO(content), engine="scipy") as data:
                return variable(data.load())
        except InputError:
            raise
        except Exception as error:  # a damaged file can fail in many ways, all of them the file's fault
            raise InputError(one_line(error)) from None


READERS: dict[str, Callable[[BufferedReader, Where], Any]] = {
    ".npz": _from_npz,
    ".npy": _from_npy,
    ".nc": _from_netcdf,
}
"""By the endings of files that hold fields."""
