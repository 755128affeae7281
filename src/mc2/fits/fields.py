"""Fields of several problems on one grid: those that are made of the same functions have them evaluated once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mc2.fits.basis import Basis
from mc2.fits.channel_kernels import add_poles_many
from mc2.fits.field import AnyBasis, Field
from mc2.geometry import Grid
from mc2.geometry.grid import SHARED
from mc2.walks.schedule import in_halves

Array = NDArray[np.float64]


def fields_on_grid(fields: Sequence[Field], grid: Grid, mask: NDArray[np.bool_]) -> list[Array]:
    """What `Field.on_grid` gives for each field, up to rounding."""
    if max(grid.shape) > SHARED or len(fields) == 1:
        return [field.on_grid(grid, mask) for field in fields]
    x, y = (c[mask] for c in grid.points())
    found = np.zeros((len(fields), x.size))
    for basis in {basis for field in fields for basis, _ in field.parts}:
        users = [index for index, field in enumerate(fields) if basis in dict(field.parts)]
        coefficients = np.stack([dict(fields[index].parts)[basis] for index in users])
        halves = in_halves(partial(sums, basis, coefficients), x, y)
        found[users] += np.concatenate(halves, axis=1)
    out = np.zeros((len(fields), *grid.shape))
    for own, field, values in zip(out, fields, found, strict=True):
        own[mask] = values
        if field.lift:
            own[mask] += field.lift.on_grid(grid)[mask]
    return list(out)


def sums(basis: AnyBasis, coefficients: Array, x: Array, y: Array) -> Array:
    """Sums of coefficients[channel] times functions at points [channel, point]."""
    if not isinstance(basis, Basis) or not basis.poles or basis.sign or basis.doubled:
        return np.stack([basis.sum(own, x, y) for own in coefficients])
    first, last = 2 * basis.degree + 1, 2 * basis.degree + 1 + sum(len(pole.levels) for pole in basis.poles)
    bare, rest = replace(basis, poles=()), np.delete(coefficients, np.s_[first:last], axis=1)
    out = np.stack([bare.sum(own, x, y) for own in rest])
    poles = np.array([(*pole.center, pole.radius) for pole in basis.poles])
    orders = np.array([pole.orders for pole in basis.poles])
    add_poles_many(x, y, poles, orders, basis.radius, np.ascontiguousarray(coefficients[:, first:last]), out)
    return out
