"""The first Dirichlet eigenvalue of a domain: how large k² may be before Helmholtz walks lose their meaning."""

from functools import lru_cache

import numpy as np

from mc2.errors import InputError
from mc2.geometry import Domain

UNKNOWNS = 1500
"""Grid points wanted inside the domain; gives λ₁ to better than 1 % on the shapes of the tests."""


@lru_cache(maxsize=256)
def first_eigenvalue(domain: Domain) -> float:
    """λ₁ of −Δ with zero boundary values, by five-point differences that know where the boundary crosses the grid.

    At a neighbour outside the domain the arm of the stencil is shortened to the boundary (Shortley and Weller, 1938).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import eigs

    d, h = _resolve(domain)
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
    if count < 50:
        return float(np.linalg.eigvals(matrix.toarray()).real.min())
    start = np.ones(count)
    return float(eigs(matrix.tocsc(), k=1, sigma=0.0, v0=start, return_eigenvectors=False)[0].real)


def _resolve(domain: Domain) -> tuple[np.ndarray, float]:
    """Signed distances on a grid around the domain, fine enough for `UNKNOWNS` points inside, and its spacing."""
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
        if inside >= UNKNOWNS or count >= 1500:
            break
        count = min(1500, int(count * min(8.0, np.sqrt(1.2 * UNKNOWNS / max(inside, 1)))) + 1)
    if inside < 9:
        raise InputError(f"{domain!r} is too thin to compute its first eigenvalue")
    return d, h
