"""Problems with Neumann conditions all around: the data must be compatible, and the mean of u is set to 0.

Integrals over the domain become integrals along its boundary. With ΔW = w, that of w is that of ∂W/∂n; and with
φ = |x|²/4, for which Δφ = 1, that of a harmonic v is that of v ∂φ/∂n − φ ∂v/∂n.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.fits.boundary_points import BoundaryPoints, on_pieces, values_of
from mc2.fits.field import Field
from mc2.fits.lift import Lift, square_frequencies
from mc2.geometry import Domain
from mc2.problems import Problem
from mc2.problems.boundary_data import insulated
from mc2.problems.operator import LAPLACIAN

Array = NDArray[np.float64]
COMPATIBLE = 1e-6
"""Part of what flows in and out by which both may differ: numbers are rounded, and measured."""
HALVINGS = 30
"""How often a panel of the boundary is halved, at most, where an integrand is not smooth."""
NODES = 12
"""Nodes of the Gauss–Legendre rule on every panel."""
PANELS = 32
"""Panels on the whole boundary, about, before any is halved."""
MOST_PANELS = 20_000
RESOLVED = 1e-13
"""Change of a panel's integral, as a part of the whole one, at which it is not halved again."""


def is_insulated(problem: Problem) -> bool:
    """Whether u is known but for a constant."""
    return problem.reflecting and problem.operator.mass == 0 and insulated(problem.conditions)


def check_compatible(problem: Problem, start: Field) -> None:
    """Refuse Neumann data that do not add up to the source. start: the lift of the source."""

    def flows(points: BoundaryPoints) -> Array:
        value = values_of(problem, points)
        gx, gy = start.gradient(points.x, points.y)
        made = gx * points.nx + gy * points.ny
        return np.stack([value, made, np.abs(value) + np.abs(made)])

    flux, source, size = integrate(problem.domain, flows)
    if abs(flux - source) > COMPATIBLE * size:
        raise InputError(
            "a problem with Neumann conditions all around has a solution only if their integral is that of the source: "
            f"∮ ∂u/∂n = {flux:.6g}, ∬ f = {source:.6g}, which differ by {flux - source:.3g}; "
            "give u, or a Robin condition, somewhere, or change one of them"
        )


def with_mean_zero(field: Field, domain: Domain) -> Field:
    """The field less its mean over the domain. It has one part, whose first function is constant."""
    ((basis, coefficients),) = field.parts
    xmin, xmax, ymin, ymax = domain.bounds
    center = 0.5 * (xmin + xmax), 0.5 * (ymin + ymax)

    def parts(points: BoundaryPoints) -> Array:
        dx, dy = points.x - center[0], points.y - center[1]
        slope = 0.5 * (dx * points.nx + dy * points.ny)
        plain = replace(field, lift=None)
        gx, gy = plain.gradient(points.x, points.y)
        own = plain(points.x, points.y) * slope - 0.25 * (dx * dx + dy * dy) * (gx * points.nx + gy * points.ny)
        lift = np.zeros_like(own) if field.lift is None else _flow_of_integral(field.lift, points)
        return np.stack([own, lift, slope])

    own, lift, area = integrate(domain, parts)
    changed = coefficients.copy()
    changed[0] -= (own + lift) / area
    return replace(field, parts=((basis, changed),))


def _flow_of_integral(lift: Lift, points: BoundaryPoints) -> Array:
    """∂W/∂n with ΔW = w."""
    square = square_frequencies(lift.size, lift.side)
    square[0, 0] = 1.0
    spectrum = -lift.spectrum / square
    spectrum[0, 0] = 0.0
    constant = float(lift.spectrum[0, 0].real) / lift.size**2
    gx, gy = replace(lift, spectrum=spectrum, mean=constant, operator=LAPLACIAN, source=None).gradient(
        points.x, points.y
    )
    dx, dy = points.x - lift.corner[0] - 0.5 * lift.side, points.y - lift.corner[1] - 0.5 * lift.side
    factor = lift.mean / 16 * (dx * dx + dy * dy)  # of m r⁴/64, whose Laplacian is m r²/4
    return (gx + factor * dx) * points.nx + (gy + factor * dy) * points.ny


def integrate(domain: Domain, integrands: Callable[[BoundaryPoints], Array]) -> Array:
    """Integrals along a boundary, by panels that are halved where that changes them [integrand]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    pieces = domain.pieces
    counts = np.ceil(PANELS * pieces.length / pieces.length.sum()).astype(int)
    piece = np.repeat(np.arange(pieces.size), counts)
    low = (np.arange(piece.size) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[piece]
    width = 1.0 / counts[piece]

    def sums(piece: NDArray[np.intp], low: Array, width: Array) -> Array:
        t = low[:, None] + width[:, None] * (0.5 + 0.5 * nodes)
        points = on_pieces(domain, np.repeat(piece, NODES), t.ravel())
        values = np.asarray(integrands(points)) * points.length
        return np.asarray((values.reshape(len(values), -1, NODES) * (0.5 * weights)).sum(2) * width)

    whole = sums(piece, low, width)
    size, total = np.abs(whole).sum(1), np.zeros(len(whole))
    for _ in range(HALVINGS):
        piece, width = np.repeat(piece, 2), np.repeat(0.5 * width, 2)
        low = np.stack([low, low + width[::2]], axis=1).ravel()
        halves = sums(piece, low, width)
        pairs = halves.reshape(len(halves), -1, 2).sum(2)
        open_ = (np.abs(pairs - whole) > RESOLVED * size[:, None]).any(0)
        total += pairs[:, ~open_].sum(1)
        keep = np.repeat(open_, 2)
        piece, low, width, whole = piece[keep], low[keep], width[keep], halves[:, keep]
        if not piece.size or piece.size > MOST_PANELS:
            break
    return np.asarray(total + whole.sum(1))
