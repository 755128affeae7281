"""Modes: eigenvalues and eigenfunctions of the Dirichlet Laplacian, such as the tones of a drum.

Finite differences on two grids count the eigenvalues and say about where each is; the method of particular solutions
(`mc2.fits.particular`) finds every one of them to many digits. The two must agree, one by one, so none is missed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.checks import checked, whole
from mc2.compute.blas import one_thread
from mc2.compute.compile import as_points
from mc2.errors import InputError, short
from mc2.fits import particular
from mc2.fits.particular import ParticularSolutions
from mc2.geometry import Domain, Grid
from mc2.geometry.exterior import need_bounded
from mc2.plotting import as_png, outline_path, panels, show_field
from mc2.problems import Frame
from mc2.walks.eigenvalue import coarse_eigenvalues

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
MOST = 100
"""Modes that can be asked for."""
UNKNOWNS = (1500, 6000)
"""Grid points of the finite differences, and for every mode as many more."""
PER_MODE = (150, 600)
MORE = 3
"""Eigenvalues beyond those that are asked for, so that the last is not mistaken for a later one."""
UNSURE = 0.003
"""Relative error of the finite differences, besides what the two grids differ by."""
SAME = 1e-9
"""Relative distance below which two eigenvalues are one, which is multiple; or below their bounds."""
GOOD, WORST = 1e-9, 1e-3
"""Relative bounds: at the first no larger basis is tried, above the second modes are not given at all."""


@dataclass(frozen=True)
class Mode:
    """An eigenfunction φ of a domain: −Δφ = λφ, φ = 0 on the boundary, ∫φ² = 1.

    eigenvalue: λ. error: a bound for the error of λ.
    """

    domain: Domain
    eigenvalue: float
    error: float
    _frame: Frame
    _found: particular.Mode

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        """φ at points of the domain; x and y broadcast."""
        px, py, shape = self._inward(x, y)
        found = self._found.basis.sum(self._found.coefficients, px, py) / self._frame.length
        return found.reshape(shape)[()]

    def gradient(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """∂φ/∂x and ∂φ/∂y at points of the domain."""
        px, py, shape = self._inward(x, y)
        gx, gy = self._found.basis.gradient(self._found.coefficients, px, py)
        scale = self._frame.length**2
        return (gx / scale).reshape(shape)[()], (gy / scale).reshape(shape)[()]

    def _inward(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, tuple[int, ...]]:
        px, py, shape = as_points(x, y)
        outside = np.flatnonzero(~(self.domain.distance(px, py) >= -self.domain.rounding))
        if outside.size:
            first = int(outside[0])
            raise InputError(f"({px[first]:.4g}, {py[first]:.4g}) lies outside the domain, where there is no mode")
        px, py = self._frame.inward(px, py)
        return px, py, shape

    def on_grid(self, grid: Grid) -> Array:
        """φ at the pixels of a grid, 0 outside the domain."""
        mask, field = self.domain.mask(grid), np.zeros(grid.shape)
        field[mask] = self(*(c[mask] for c in grid.points()))
        return field

    def __repr__(self) -> str:
        return f"Mode(λ = {self.eigenvalue:.15g} ± {self.error:.1g})"


@dataclass(frozen=True)
class Modes:
    """The first modes of a domain, in the order of their eigenvalues; multiple ones as often as they are."""

    domain: Domain
    modes: tuple[Mode, ...]

    @property
    def eigenvalues(self) -> Array:
        return np.array([mode.eigenvalue for mode in self.modes])

    @property
    def errors(self) -> Array:
        """Bounds for the errors of the eigenvalues."""
        return np.array([mode.error for mode in self.modes])

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, index: int) -> Mode:
        return self.modes[index]

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.modes)

    def __str__(self) -> str:
        rows = (f"{k:3d}  {mode.eigenvalue:.15g} ± {mode.error:.1g}" for k, mode in enumerate(self.modes, 1))
        return "\n".join(rows)

    def plot(self, count: int | None = None) -> "Figure":
        """A matplotlib figure of the first modes.

        count: how many; twelve or all, if it is not given.
        """
        from matplotlib.patches import PathPatch

        chosen = self.modes[: whole("count", count, 1) if count is not None else 12]
        columns = min(len(chosen), 4)
        figure, axes = panels(columns, rows=-(-len(chosen) // columns), size=(2.6, 2.8))
        grid = Grid.covering(self.domain, 160)
        mask = self.domain.mask(grid)
        for ax, mode in zip(axes, chosen, strict=False):
            field = mode.on_grid(grid)
            limit = float(np.abs(field).max()) or 1.0
            image = show_field(ax, field, mask, grid.bounds, f"λ = {mode.eigenvalue:.6g}", "RdBu_r", bar=False)
            image.set_clim(-limit, limit)
            ax.add_patch(PathPatch(outline_path(self.domain), fill=False, linewidth=0.8))
        for ax in axes:
            ax.set_axis_off()
        return figure

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        return as_png(self.plot())


@checked
def modes(domain: Domain, count: int = 10) -> Modes:
    """The first eigenvalues and eigenfunctions of −Δ with zero boundary values.

    domain: its boundary should be smooth but for corners.
    count: how many, multiple ones counted as often as they are.
    """
    if not isinstance(domain, Domain):
        raise InputError(f"domain = {short(domain)}: must be a domain, such as mc2.geometry.Disk(1.0)")
    need_bounded(domain, "modes need")
    count = whole("count", count, 1, MOST)
    xmin, xmax, ymin, ymax = domain.bounds
    frame = Frame((0.5 * (xmin + xmax), 0.5 * (ymin + ymax)), 0.5 * domain.size)
    inner = frame.domain(domain)
    with one_thread():
        found = _find(inner, count)
    worst = max(mode.bound for mode in found)
    if not worst <= WORST:
        raise InputError(
            f"the modes of {short(domain)} are only found to {worst:.1g} of their eigenvalues: no basis fits better"
        )
    square = frame.length**2
    return Modes(
        domain,
        tuple(Mode(domain, one.eigenvalue / square, one.eigenvalue * one.bound / square, frame, one) for one in found),
    )


def _find(domain: Domain, count: int) -> list[particular.Mode]:
    """The first modes, each where finite differences say one is."""
    solutions = ParticularSolutions(domain)
    rough, fine = (
        coarse_eigenvalues(domain, count + MORE, base + each * count)
        for base, each in zip(UNKNOWNS, PER_MODE, strict=True)
    )
    expected = fine + (fine - rough) / 3  # as if errors were of second order
    unsure = 2 * np.abs(fine - rough) + UNSURE * fine
    best: list[particular.Mode] = []
    guesses = list(expected)
    for level in range(solutions.levels):
        found = _all_near(solutions, guesses, level)[:count]
        agree = len(found) == count and all(
            abs(one.eigenvalue - expected[k]) <= unsure[k] for k, one in enumerate(found)
        )
        if agree and (not best or _worst(found) < _worst(best)):
            gained = _worst(found) / _worst(best) if best else 0.0
            best, guesses = found, [one.eigenvalue for one in found]
        elif best:
            gained = 1.0
        if best and (_worst(best) < GOOD or (gained > 0.3 and _worst(best) < WORST)):
            break
    if not best:
        raise InputError(
            f"the modes of {short(domain)} are not found: {len(found)} where finite differences count {count}, or not "
            "where these have them"
        )
    return best


def _worst(found: list[particular.Mode]) -> float:
    return max(mode.bound for mode in found)


def _all_near(solutions: ParticularSolutions, guesses: list[float], level: int) -> list[particular.Mode]:
    """All modes that guesses lead to, each once, in order, with bounds."""
    found: list[particular.Mode] = []
    for guess in guesses:
        if any(abs(one.eigenvalue - guess) <= SAME * guess for one in found):
            continue  # of a mode that is there
        near = solutions.converge(guess, level)
        if not near:
            continue
        value = near[0].eigenvalue
        same = [solutions.judged(one) for one in near if abs(one.eigenvalue - value) <= SAME * value]
        if any(abs(one.eigenvalue - value) <= max(SAME, one.bound) * value for one in found):
            continue
        found += same
    return sorted(found, key=lambda one: one.eigenvalue)
