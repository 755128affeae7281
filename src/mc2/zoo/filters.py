"""The eight quality filters that every instance passes (paper, appendix A.3)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.functions import TermSum
from mc2.geometry import Domain
from mc2.geometry.compositions import Composition
from mc2.problems import Problem

Array = NDArray[np.float64]

TEST_POINT = (0.3, 0.4)
SAMPLES = 128
MIN_INSIDE = 10
MIN_THICKNESS = 0.03
SOLUTION_RANGE = (1e-3, 200.0)
MAX_BOUNDARY = 500.0
FORCING_RANGE = (1e-4, 500.0)
"""Allowed standard deviations of f, for all families with a source. The paper says so for Poisson and Yukawa, which it
trains on."""

FILTERS = (
    "domain interior",
    "composed thickness",
    "finite test point",
    "solution amplitude",
    "finite forcing",
    "forcing amplitude",
    "boundary values",
    "finite ground truth",
)
"""In the order in which they are asked; the first that fails is counted."""

OUTLINE = (np.arange(64) + 0.5) / 64
"""Where boundary values are looked at, as fractions of the outline of every shape."""
CLEARANCE = 0.05
"""Between the domain and a singular point; also between the points at which a branch cut is looked at."""


def _points() -> Array:
    """[2, 1 + 2 SAMPLES]: the test point, then points of [-1, 1]² from the plastic number (Roberts, 2018)."""
    plastic = 1.324717957244746
    steps = np.array([[1 / plastic], [1 / (plastic * plastic)]])
    spread = 2 * ((0.5 + steps * np.arange(1, 2 * SAMPLES + 1)) % 1.0) - 1
    return np.column_stack([TEST_POINT, spread])


X, Y = _points()
"""Where functions are looked at. The `SAMPLES` after the test point stand for the paper's random samples of the square;
standard deviations are over the first 127 that lie inside. A regular grid would resonate with high frequencies."""


class Finding(NamedTuple):
    """failure: the first filter that a problem does not pass, or none.
    std_u, std_f: of u and f, if that far.
    """

    failure: str | None
    std_u: float = math.nan
    std_f: float = math.nan


def examine(problem: Problem) -> Finding:
    """Put a problem made of atoms through the filters."""
    domain, exact = problem.domain, problem.exact
    assert isinstance(exact, TermSum)
    composed = isinstance(domain, Composition)
    distance = domain.distance(X, Y)
    first = distance[1 : SAMPLES + 1]
    inside = np.count_nonzero(first > 0)
    if inside < MIN_INSIDE:
        return Finding("domain interior")
    # the median exceeds a threshold where more than half of the points do
    if composed and 2 * np.count_nonzero(first > MIN_THICKNESS) <= inside:
        return Finding("composed thickness")

    distance[0] = math.inf  # the test point is asked wherever it lies
    kept = np.flatnonzero(distance > 0)[:SAMPLES]
    x, y = X[kept], Y[kept]
    u = exact(x, y)
    if not math.isfinite(u[0]):
        return Finding("finite test point")
    std_u, std_f = _deviation(u[1:]), 0.0
    if not SOLUTION_RANGE[0] < std_u < SOLUTION_RANGE[1]:
        return Finding("solution amplitude")
    if problem.source is not None:
        f = problem.source(x, y)
        std_f = _deviation(f[1:])
        if not math.isfinite(f[0]):
            return Finding("finite forcing")
        if not FORCING_RANGE[0] < std_f < FORCING_RANGE[1]:
            return Finding("forcing amplitude")
    if composed and not _largest_boundary_value(domain, exact) < MAX_BOUNDARY:
        return Finding("boundary values")
    if not _regular(domain, exact):
        return Finding("finite ground truth")
    return Finding(None, std_u, std_f)


def _deviation(values: Array) -> float:
    """The standard deviation; np.std takes three times as long."""
    centred = values - values.sum() / values.size
    return math.sqrt(centred @ centred / values.size)


def _largest_boundary_value(domain: Domain, exact: TermSum) -> float:
    """max |u| over points of the shapes' outlines that bound the whole."""
    x, y = np.concatenate([leaf.outline(OUTLINE) for leaf in domain.leaves()]).T
    on = np.abs(domain.distance(x, y)) < 1e-9
    return float(np.abs(exact(x[on], y[on])).max(initial=0.0))


def _regular(domain: Domain, exact: TermSum) -> bool:
    """Whether no singular point of an atom lies in the domain.

    Atoms are finite and smooth everywhere else, so u is finite at every pixel, and it solves the equation in all of the
    domain, also where that leaves the grid.
    """
    points: list[tuple[float, ...]] = []
    for term in exact.terms:
        if term.kind == "log_distance":
            points.append(term.numbers[1:3])
        elif term.kind == "complex_power" and term.numbers[4] < 0:
            points.append(term.numbers[2:4])
        elif term.kind == "angle":  # its branch cut runs left, and no domain reaches beyond 2
            _, x, y = term.numbers
            points += [(x - CLEARANCE * n, y) for n in range(8)]
    return not points or float(domain.distance(*np.array(points).T).max()) < -0.5 * CLEARANCE
