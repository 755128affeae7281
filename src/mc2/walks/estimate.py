"""`Estimate`: what walks say about a solution, with its variance."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.files import check_target, replacing
from mc2.geometry import Grid
from mc2.plotting import as_html, as_png
from mc2.problems import Problem
from mc2.reading.json import parse_json
from mc2.reading.models import between, hexadecimal, one_of, read_as
from mc2.reading.npz import Arrays, open_npz, refusing
from mc2.reading.plain import naming, open_plain, saying
from mc2.walks.plan import KINDS
from mc2.walks.schedule import Progress, WalkSums

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MAX_RECORD = 4096
"""Characters of an estimate's record in a file; usual ones have 300."""
SHOWN = 6
"""Points whose values are in an estimate's short form."""
Count = Annotated[int, between(0, 1 << 64)]
Amount = Annotated[float, between(0, 1 << 64)]


WORK = ("steps", "truncated", "not_finite", "seconds")
"""What adds up in records of more walks."""


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
    first_walk: the number of the first walk from every point.
    first_point: the number of the first point, which keys the random numbers.
    problem: tells problems apart; empty in files that do not say.
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
    first_walk: Count = 0
    first_point: Count = 0
    problem: Annotated[str, hexadecimal(64)] = ""

    def with_work_of(self, other: "Record") -> "Record":
        """With the steps and seconds of another one added."""
        return replace(
            self,
            **{name: getattr(self, name) + getattr(other, name) for name in WORK},
        )


@dataclass(frozen=True)
class Resumable:
    """What more walks of an estimate go on from.

    sums: of the walks so far, in units of value.
    value: the unit.
    walked: the pixels or points that they are of; walks do not start on the boundary, where the value is known.
    """

    sums: WalkSums
    value: float
    walked: NDArray[np.bool_]

    def moments(self, walks: int) -> tuple[Array, Array]:
        """Mean and variance, with the shape of `walked`."""
        return lay_out(self.sums.total, walks, self.value, self.walked)


def lay_out(sums: Array, walks: int, value: float, walked: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean and variance from sums [count, 2] in units of value, 0 where nothing was walked."""
    found = moments(sums, walks)
    mean, variance = np.zeros((2, *walked.shape))
    mean[walked], variance[walked] = found[0] * value, found[1] * value**2
    return mean, variance


def moments(sums: Array, walks: int) -> tuple[Array, Array]:
    """The mean and its variance, s²/B with s² = Σ(v − mean)²/(B − 1); infinite for one walk."""
    mean = sums[..., 0] / walks
    if walks == 1:
        return mean, np.full_like(mean, np.inf)
    with np.errstate(invalid="ignore"):  # walks that met infinite values, which are reported elsewhere
        return mean, np.maximum(sums[..., 1] / walks - mean**2, 0.0) / (walks - 1)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Mean of the walks at every point and the variance of that mean; both are 0 outside the mask.

    On a grid, arrays have its shape [ny, nx] (row = y, column = x); at query points [count]. With one walk the variance
    is unknown, which is written as infinity. With stratified directions it is an upper estimate.

    `a + b` is the estimate of the walks of both, which must follow each other: see `mc2.walks.merging`. `a == b` if all
    but the time that they took is the same.

    resumable: what more walks go on from; None where that is not possible: for nested budgets but the last, on GPUs.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    mask: NDArray[np.bool_]
    record: Record
    grid: Grid | None = None
    points: NDArray[np.float64] | None = field(default=None, repr=False)
    resumable: Resumable | None = field(default=None, repr=False)

    @property
    def walks(self) -> int:
        """Walks per point."""
        return self.record.walks

    @property
    def standard_error(self) -> NDArray[np.float64]:
        return np.sqrt(self.variance)

    def __add__(self, other: object) -> "Estimate":
        from mc2.walks.merging import merge

        return merge(self, other) if isinstance(other, Estimate) else NotImplemented

    def __radd__(self, other: object) -> "Estimate":
        """So that `sum` takes estimates: it begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        mine, theirs = (replace(estimate.record, seconds=0.0) for estimate in (self, other))
        pairs = [(self.mean, other.mean), (self.variance, other.variance), (self.mask, other.mask)]
        pairs += [] if self.points is None or other.points is None else [(self.points, other.points)]
        return (mine, self.grid, self.points is None) == (theirs, other.grid, other.points is None) and all(
            np.array_equal(a, b, equal_nan=a.dtype != bool) for a, b in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def continued(
        self, problem: Problem, walks: int, *, threads: int | None = None, progress: Progress | None = None
    ) -> "Estimate":
        """This estimate with more walks from every point: the same, to the bit, as if it had been made with all.

        problem: the one that was walked; another is refused.
        walks: how many more.
        threads: all cores if not given.
        progress: called with (walks done, walks in all).
        """
        from mc2.walks.merging import go_on

        return go_on(self, problem, walks, threads, progress)

    def need_resumable(self) -> Resumable:
        """What more walks go on from; refused where there is none."""
        if self.resumable is None:
            raise InputError(
                "this estimate takes no more walks: it lacks the sums of its own, as those of trajectories but the "
                "last, of GPUs and of files from before do"
            )
        return self.resumable

    def save(self, path: str | Path) -> None:
        """Write a npz file: mean, variance, mask, coordinates, the record as JSON text, and sums to go on from."""
        path = Path(path)
        check_target(path, ".npz")
        where = {"bounds": np.array(self.grid.bounds)} if self.grid else {"points": np.asarray(self.points)}
        if self.resumable is not None:
            sums = self.resumable.sums
            where |= {"sums": np.stack([sums.whole, sums.rest]), "walked": self.resumable.walked}
            where["unit"] = np.array([self.resumable.value])
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
            more = names & {"sums", "walked", "unit"}
            if names - more != {"mean", "variance", "mask", "record", where}:
                raise InputError(f"it must hold mean, variance, mask, record and {where}, not {short(list(names))}")
            _check_headers(arrays, where)
            record = read_as(Record, parse_json(arrays.text("record", MAX_RECORD)), "record")
            place = arrays.read(where)
            if not np.isfinite(place).all():
                raise InputError(f"{where} must be finite")
            mean, variance, mask = (arrays.read(name) for name in ("mean", "variance", "mask"))
            _check_values(mean, variance, mask, record)
            resumable = _read_resumable(arrays, mask, record) if more else None
            grid = Grid(mean.shape[1], mean.shape[0], tuple(place.tolist())) if where == "bounds" else None
            return cls(mean, variance, mask, record, grid, place if grid is None else None, resumable)

    def __repr__(self) -> str:
        walked, walks = int(self.mask.sum()), "1 walk" if self.walks == 1 else f"{self.walks:,} walks"
        if self.grid is None and walked <= SHOWN:
            pairs = zip(self.mean, self.standard_error, strict=True)
            return f"Estimate({walks} per point: {', '.join(f'{mean:.6g} ± {error:.2g}' for mean, error in pairs)})"
        where = f"{walked:,} points" if self.grid is None else f"{self.grid.nx} × {self.grid.ny} pixels"
        mean, error = self.mean[self.mask], float(np.sqrt(self.variance[self.mask].mean()))
        return f"Estimate({walks} per point, {where}: {mean.min():.4g} … {mean.max():.4g}, standard error {error:.2g})"

    def _repr_html_(self) -> str | None:
        """What notebooks show."""
        return None if self.grid is None else as_html(as_png(self.plot()), repr(self))

    def _repr_png_(self) -> bytes | None:
        """What notebooks show."""
        return None if self.grid is None else as_png(self.plot())

    def plot(self, exact: Any = None, title: str = "") -> "Figure":
        """The mean and its standard error and, given the exact field, the error, as a matplotlib figure."""
        from mc2.plotting import panels, show_field

        if self.grid is None:
            raise InputError("only an estimate on a grid can be plotted")
        xmin, xmax, ymin, ymax = extent = self.grid.extent
        height = float(np.clip(3.0 * (ymax - ymin) / (xmax - xmin), 1.0, 6.0))
        figure, axes = panels(2 if exact is None else 4, title, size=(4.0, height + 0.8))
        show_field(axes[0], self.mean, self.mask, extent, f"mean of {self.walks:,} walks")
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


def _read_resumable(arrays: Arrays, mask: NDArray[np.bool_], record: Record) -> Resumable:
    """What more walks go on from."""
    wanted = {"sums": np.float64, "walked": np.bool_, "unit": np.float64}
    shapes = {"walked": mask.shape, "unit": (1,)}
    for name, kind in wanted.items():
        if name not in arrays.headers:
            raise InputError(f"it has sums of walks, but no {name}")
        header = arrays.headers[name]
        if header.dtype != kind or header.shape != shapes.get(name, header.shape):
            raise InputError(f"{name} must be {np.dtype(kind).name} {list(shapes.get(name, ()))}, not {header}")
    walked, value = arrays.read("walked"), float(arrays.read("unit")[0])
    if walked.view(np.uint8).max(initial=0) > 1 or (walked & ~mask).any():
        raise InputError("walked must be true and false, and true inside the mask only")
    if arrays.headers["sums"].shape != (2, int(walked.sum()), 2):
        raise InputError(f"sums must be float64 [2, {int(walked.sum())}, 2], not {arrays.headers['sums']}")
    if not 0 < value < np.inf:
        raise InputError(f"unit = {value} must be a number above 0")
    whole, rest = arrays.read("sums")
    if not record.not_finite and not (np.isfinite(whole).all() and np.isfinite(rest).all()):
        raise InputError("sums has values that are not finite, though no walk met one")
    return Resumable(WalkSums(record.first_walk + record.walks, whole, rest), value, walked)


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
