"""Capacitances and resistances: what conductors on the boundary of a domain do to each other."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry import Domain
from mc2.geometry.parts import find_parts
from mc2.problems import Laplace, Neumann
from mc2.solvers.answers import Answer
from mc2.solvers.solution import Solution
from mc2.solvers.solve import solve

Array = NDArray[np.float64]

TOLERANCE = 1e-10
"""Standard error that the potentials, which are between 0 and 1, are solved to: as many digits as a fit gives."""
PIXELS = 32
"""Pixels along a side of the grids that the potentials are solved on; nobody looks at them."""


@dataclass(frozen=True)
class Matrix:
    """A symmetric matrix of numbers with their standard errors, and the names of its rows."""

    names: tuple[str, ...]
    values: Array
    standard_error: Array

    def __getitem__(self, pair: tuple[str, str]) -> Answer:
        row, column = (self.names.index(name) for name in pair)
        return Answer(float(self.values[row, column]), float(self.standard_error[row, column]))

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.values, self.standard_error, strict=True)
        return "\n".join(
            f"{name:{width}}  "
            + "  ".join(f"{value:.10g} ± {error:.1g}" for value, error in zip(own, bars, strict=True))
            for name, own, bars in rows
        )


def capacitance(
    domain: Domain, conductors: Sequence[str] | None = None, *, tolerance: float = TOLERANCE, seed: int = 0
) -> Matrix:
    """The capacitance matrix of conductors, per length and permittivity: the charge of each for the potential of each.

    C[i, j] is the charge on conductor i with potential 1 on j and 0 on the rest of the boundary. The matrix is
    symmetric, off its diagonal nothing is positive, and its rows add up to 0 where conductors are the whole boundary.

    domain: between the conductors.
    conductors: names of boundary parts, all of them if left out; what is no conductor is grounded.
    tolerance: of the potentials.
    seed: of the walks that judge them.
    """
    parts = [part.name for part in domain.parts]
    names = parts if conductors is None else [parts[index] for index in find_parts(domain, conductors)]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"conductors = {names}: name one or more parts of the boundary, each once")
    raw, bars = np.zeros((2, len(names), len(names)))
    for column, name in enumerate(names):
        found = _potential(domain, {name: 1.0, "*": 0.0} if len(parts) > 1 else {name: 1.0}, tolerance, seed)
        for row, other in enumerate(names):
            charge = found.flux(other)
            raw[row, column], bars[row, column] = charge.value, charge.standard_error
    values = 0.5 * (raw + raw.T)
    bars = np.sqrt(0.5 * (bars**2 + bars.T**2) + (0.5 * (raw - raw.T)) ** 2)
    if len(names) == len(parts):  # a constant potential has no charges
        missing = values.sum(1)
        values -= np.diag(missing)
        bars[np.diag_indices(len(names))] = np.hypot(np.diag(bars), missing)
    return Matrix(tuple(names), values, bars)


def resistance(
    domain: Domain, a: str | Sequence[str], b: str | Sequence[str], *, tolerance: float = TOLERANCE, seed: int = 0
) -> Answer:
    """The resistance between two electrodes of a sheet, in units of its resistance per square.

    domain: the sheet, insulated but for the electrodes.
    a, b: a boundary part or several, each an electrode.
    tolerance: of the potential.
    seed: of the walks that judge it.
    """
    parts = [part.name for part in domain.parts]
    first, second = ([parts[index] for index in find_parts(domain, names)] for names in (a, b))
    if not first or not second or set(first) & set(second):
        raise InputError(f"resistance between {first} and {second}: name two electrodes without a common part")
    data: dict[str, Any] = dict.fromkeys(first, 1.0) | dict.fromkeys(second, 0.0)
    if len(data) < len(parts):
        data["*"] = Neumann(0)
    found = _potential(domain, data, tolerance, seed)
    entering, leaving = found.flux(first), found.flux(second)
    current = 0.5 * (entering.value - leaving.value)
    error = np.hypot(0.5 * np.hypot(entering.standard_error, leaving.standard_error), entering.value - current)
    return Answer(1 / current, float(error) / current**2)


def _potential(domain: Domain, data: Mapping[str, Any], tolerance: float, seed: int) -> Solution:
    with warnings.catch_warnings(action="ignore"):  # a tolerance that is not met shows in the error bars
        return solve(Laplace(domain, dict(data)), tolerance=tolerance, grid=PIXELS, seed=seed)
