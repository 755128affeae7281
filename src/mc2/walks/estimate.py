"""`Estimate`: what walks say about a solution, with its variance."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.files import check_target, replacing
from mc2.geometry import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Record:
    """How an estimate was made.

    walks: per point. steps: taken in all. truncated: walks that ran out of steps, whose values are not trustworthy.
    not_finite: walks that met a source or boundary value that is not finite. estimator: the equation that was walked
    (a family, or `reduced`). sampling: of sources, `green` or `uniform`. seconds: of all budgets together.
    epsilon: of unit, a length: walks ended within their product of the boundary.
    """

    walks: int
    steps: int
    truncated: int
    not_finite: int
    seed: int
    instance: int
    epsilon: float
    max_steps: int
    estimator: str
    sampling: str
    stratified: bool
    device: str
    seconds: float
    unit: float = 1.0  # as in files from before epsilon was relative


@dataclass(frozen=True)
class Estimate:
    """Mean of the walks at every point and the variance of that mean; both are 0 outside the mask.

    On a grid, arrays have its shape [n, n] (row = y, column = x); at query points [count]. With one walk the variance
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
        """Read what `save` wrote. Nothing in the file is run."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as data:
                mean, variance, mask = data["mean"], data["variance"], data["mask"]
                record = Record(**json.loads(str(data["record"])))
                points = data.get("points")
                grid = Grid(mean.shape[0], tuple(data["bounds"].tolist())) if "bounds" in data else None
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except Exception as error:  # a damaged archive can fail in many ways, all of them the file's fault
            raise InputError(f"{path}: not an estimate: {str(error).splitlines()[0][:100]}") from None
        return cls(mean, variance, mask, record, grid, points)

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
