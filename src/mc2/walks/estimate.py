"""`Estimate`: what walks say about a solution, with its variance."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.files import check_target, replacing
from mc2.geometry import Grid
from mc2.plotting import as_png
from mc2.reading.json import parse_json
from mc2.reading.models import between, one_of, read_as
from mc2.reading.npz import Arrays, open_npz, refusing
from mc2.reading.plain import naming, open_plain, saying
from mc2.walks.plan import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MAX_RECORD = 4096
"""Characters of an estimate's record in a file; usual ones have 300."""
Count = Annotated[int, between(0, 1 << 64)]
Amount = Annotated[float, between(0, 1 << 64)]


@dataclass(frozen=True)
class Record:
    """How an estimate was made.

    walks: per point.
    steps: taken in all.
    truncated: walks that ran out of steps, whose values are not trustworthy.
    not_finite: walks that met a source or boundary value that is not finite.
    estimator: the equation that was walked (a family, or `reduced`).
    sampling: of sources, `green` or `uniform`.
    seconds: of all budgets together.
    epsilon: of unit, a length: walks ended within their product of the boundary.
    """

    walks: Annotated[int, between(1, 1 << 64)]
    steps: Count
    truncated: Count
    not_finite: Count
    seed: Count
    instance: Count
    epsilon: Amount
    max_steps: Count
    estimator: Annotated[str, one_of(*KINDS, "reduced")]
    sampling: Annotated[str, one_of("green", "uniform")]
    stratified: bool
    device: Annotated[str, one_of("cpu", "cuda")]
    seconds: Amount
    unit: Amount = 1.0  # as in files from before epsilon was relative


@dataclass(frozen=True)
class Estimate:
    """Mean of the walks at every point and the variance of that mean; both are 0 outside the mask.

    On a grid, arrays have its shape [ny, nx] (row = y, column = x); at query points [count]. With one walk the variance
    is unknown, which is written as infinity. With stratified directions it is an upper estimate.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    mask: NDArray[np.bool_]
    record: Record
    grid: Grid | None = None
    points: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def walks(self) -> int:
        """Walks per point."""
        return self.record.walks

    @property
    def standard_error(self) -> NDArray[np.float64]:
        return np.sqrt(self.variance)

    def save(self, path: str | Path) -> None:
        """Write a npz file: mean, variance, mask, coordinates, and the record as JSON text."""
        path = Path(path)
        check_target(path, ".npz")
        where = {"bounds": np.array(self.grid.bounds)} if self.grid else {"points": np.asarray(self.points)}
        with replacing(path) as file:
            np.savez(
                file,
                allow_pickle=False,
                mean=self.mean,
                variance=self.variance,
                mask=self.mask,
                record=np.array(json.dumps(asdict(self.record))),
                **where,
            )

    @classmethod
    def load(cls, path: str | Path) -> "Estimate":
        """Read what `save` wrote. Nothing in the file is run, and all of it is checked."""
        with naming(path), open_plain(path) as file, saying("not an estimate"), refusing():
            arrays = open_npz(file)
            names = arrays.headers.keys()
            where = next((name for name in ("bounds", "points") if name in names), "bounds or points")
            if names != {"mean", "variance", "mask", "record", where}:
                raise InputError(f"it must hold mean, variance, mask, record and {where}, not {short(list(names))}")
            _check_headers(arrays, where)
            record = read_as(Record, parse_json(arrays.text("record", MAX_RECORD)), "record")
            place = arrays.read(where)
            if not np.isfinite(place).all():
                raise InputError(f"{where} must be finite")
            mean, variance, mask = (arrays.read(name) for name in ("mean", "variance", "mask"))
            _check_values(mean, variance, mask, record)
            grid = Grid(mean.shape[1], mean.shape[0], tuple(place.tolist())) if where == "bounds" else None
            return cls(mean, variance, mask, record, grid, place if grid is None else None)

    def _repr_png_(self) -> bytes | None:
        """What notebooks show."""
        return None if self.grid is None else as_png(self.plot())

    def plot(self, exact: Any = None, title: str = "") -> "Figure":
        """The mean and its standard error and, given the exact field, the error, as a matplotlib figure."""
        from mc2.plotting import panels, show_field

        if self.grid is None:
            raise InputError("only an estimate on a grid can be plotted")
        figure, axes = panels(2 if exact is None else 4, title)
        extent = self.grid.extent
        show_field(axes[0], self.mean, self.mask, extent, f"estimate, {self.walks} walks per pixel")
        show_field(axes[1], self.standard_error, self.mask, extent, "standard error", "magma")
        if exact is not None:
            show_field(axes[2], exact, self.mask, extent, "exact solution")
            show_field(axes[3], np.abs(self.mean - exact), self.mask, extent, "|error|", "magma")
        return figure


def _check_headers(arrays: Arrays, where: str) -> None:
    """Types and shapes, which must go together, before anything is read."""
    shape = arrays.headers["mean"].shape
    place, wanted = arrays.headers[where], ((4,) if where == "bounds" else (*shape, 2))
    if len(shape) != (2 if where == "bounds" else 1):
        raise InputError(f"mean of shape {list(shape)} must be [rows, columns] on a grid, [count] at points")
    kinds = {"mean": np.float64, "variance": np.float64, "mask": np.bool_}
    for name, kind in kinds.items():
        if arrays.headers[name].dtype != kind or arrays.headers[name].shape != shape:
            raise InputError(f"{name} must be {np.dtype(kind).name} {list(shape)}, not {arrays.headers[name]}")
    if place.dtype != np.float64 or place.shape != wanted:
        raise InputError(f"{where} must be float64 {list(wanted)}, not {place}")


def _check_values(mean: Array, variance: Array, mask: NDArray[np.bool_], record: Record) -> None:
    """Values are what walks can give: 0 outside the mask, and numbers inside unless walks met one that is none."""
    if mask.view(np.uint8).max(initial=0) > 1:
        raise InputError("mask has other values than true and false")
    if mean[~mask].any() or variance[~mask].any():
        raise InputError("mean and variance must be 0 outside the mask")
    if (variance < 0).any():
        raise InputError("variance has negative values")
    if not record.not_finite and (not np.isfinite(mean).all() or np.isnan(variance).any()):
        raise InputError("mean or variance has values that are not finite, though no walk met one")
