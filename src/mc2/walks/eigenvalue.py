"""Dirichlet eigenvalues of a domain by finite differences, to about a per cent.

The first tells how large k² may be before Helmholtz walks lose their meaning; several of them are an independent count
for those who compute eigenvalues more accurately.

A per cent is enough for that limit, which is λ₁/2: squares of weights are finite in the mean somewhat beyond it, since
J₀(x)² > J₀(√2 x), whose inverses are the weights of 2k².
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.geometry import Domain

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

UNKNOWNS = 1500
"""Grid points wanted inside the domain; gives λ₁ to better than 1 % on the shapes of the tests."""
DENSE = 50
"""Grid points below which eigenvalues are found all at once."""
MOST_LINES = 1500
"""Grid lines across the domain, at most."""


@lru_cache(maxsize=256)
def first_eigenvalue(domain: Domain) -> float:
    """λ₁ of −Δ with zero boundary values."""
    return float(coarse_eigenvalues(domain, 1, UNKNOWNS)[0])


def coarse_eigenvalues(domain: Domain, count: int, unknowns: int) -> NDArray[np.float64]:
    """The smallest eigenvalues of −Δ with zero boundary values, in order.

    unknowns: grid points wanted inside the domain.
    """
    from scipy.sparse.linalg import eigs

    matrix, _ = _differences(domain, unknowns)
    size = matrix.shape[0]
    if size < max(DENSE, 3 * count):
        return np.sort(np.linalg.eigvals(matrix.toarray()).real)[:count]
    found = eigs(matrix.tocsc(), k=count, sigma=0.0, v0=_start(size, count), return_eigenvectors=False)
    return np.sort(found.real)


def lowest_eigenvalue(domain: Domain, potential: Callable[..., NDArray[np.float64]]) -> float:
    """The lowest eigenvalue of −Δ + potential, a function of x and y, with zero boundary values."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigs

    plain, points = _differences(domain, UNKNOWNS)
    values = potential(*points)
    matrix = (plain + diags(values)).tocsc()
    if values.size < DENSE:
        return float(np.linalg.eigvals(matrix.toarray()).real.min())
    # all are above the least value of the potential: the one nearest to that is the lowest
    found = eigs(matrix, k=1, sigma=float(values.min()), v0=_start(values.size, 1), return_eigenvectors=False)
    return float(found.real[0])


def _start(size: int, count: int) -> NDArray[np.float64]:
    """Where the iteration starts: for several eigenvalues without any symmetry, which would hide some of them."""
    return np.ones(size) if count == 1 else np.random.default_rng(0).uniform(0.5, 1.5, size)


def _differences(domain: Domain, unknowns: int) -> tuple["csr_matrix", NDArray[np.float64]]:
    """−Δ by five-point differences that know where the boundary crosses the grid.

    At a neighbour outside the domain the arm of the stencil is shortened to the boundary (Shortley and Weller, 1938).
    Second, the points [2, unknown].
    """
    from scipy.sparse import csr_matrix

    d, h, axes = _resolve(domain, unknowns)
    inside = d > 0
    number = np.full(d.shape, -1)
    number[inside] = np.arange(inside.sum())
    rows, columns, entries = [], [], []
    diagonal = np.zeros(inside.sum())
    for axis in (0, 1):
        arms, neighbours = [], []
        for shift in (1, -1):
            outer = np.roll(d, -shift, axis)[inside]
            # linear along the grid line: the boundary is where the signed distance changes sign
            arms.append(np.where(outer > 0, h, h * np.maximum(d[inside] / (d[inside] - np.minimum(outer, 0)), 1e-3)))
            neighbours.append(np.roll(number, -shift, axis)[inside])
        span = arms[0] + arms[1]
        for arm, neighbour in zip(arms, neighbours, strict=True):
            coefficient = 2.0 / (arm * span)
            diagonal += coefficient
            known = neighbour >= 0
            rows.append(np.flatnonzero(known))
            columns.append(neighbour[known])
            entries.append(-coefficient[known])
    count = diagonal.size
    rows.append(np.arange(count))
    columns.append(np.arange(count))
    entries.append(diagonal)
    matrix = csr_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), (count, count))
    return matrix, np.stack(np.meshgrid(*axes, indexing="ij"))[:, inside]


def _resolve(domain: Domain, unknowns: int) -> tuple[np.ndarray, float, tuple[np.ndarray, np.ndarray]]:
    """Signed distances on a grid around the domain, fine enough for so many points inside, its spacing, its x and y."""
    xmin, xmax, ymin, ymax = domain.bounds
    size = max(xmax - xmin, ymax - ymin)
    count = 48
    while True:
        h = size / count
        # an offset of a third of a cell keeps grid lines off straight walls
        x = np.arange(xmin - h * 4 / 3, xmax + 2 * h, h)
        y = np.arange(ymin - h * 4 / 3, ymax + 2 * h, h)
        d = domain.distance(x[:, None], y[None, :])
        inside = int((d > 0).sum())
        if inside >= unknowns or count >= MOST_LINES:
            break
        count = min(MOST_LINES, int(count * min(8.0, np.sqrt(1.2 * unknowns / max(inside, 1)))) + 1)
    if inside < 9:
        raise InputError(f"{domain!r} is too thin to compute its eigenvalues")
    return d, h, (x, y)
