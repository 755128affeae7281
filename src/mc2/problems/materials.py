"""Materials: domains made of several, each with a diffusion of its own that is a number.

Where two of them meet, u is continuous, and so is the flux α ∂u/∂n: ∇·(α∇u) then says no more than that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.functions.expression import constant
from mc2.functions.function import Array
from mc2.geometry import Domain
from mc2.problems.coefficients import Coefficients, Composed, number_of

MOST = 32
"""Materials besides that of the rest."""
LARGEST_CONTRAST = 1e8
"""Between two materials: beyond, rounding is a ten-millionth of what flows in the weaker one."""


@dataclass(frozen=True)
class Material:
    """A region of a domain and its α. Where regions overlap, the last one counts.

    name: for messages. shape: what of the domain lies in it. diffusion: α there.
    """

    name: str
    shape: Domain
    diffusion: float


def with_materials(coefficients: Coefficients, regions: Any, domain: Domain) -> Coefficients:
    """Coefficients with the α of regions in place of the diffusion, which must be a number, within them.

    regions: from names to pairs of a shape and its α.
    """
    if not isinstance(regions, Mapping) or not 0 < len(regions) <= MOST:
        raise InputError(
            f"regions = {short(regions)}: must be a table of at most {MOST} names, each with a shape and its "
            "diffusion, such as {'chip': (Rectangle(1.0, 0.5), 150.0)}"
        )
    background = number_of(coefficients.diffusion)
    if background is None:
        raise InputError("with regions, the diffusion of the rest of the domain must be a number")
    materials = tuple(_read(name, given, domain) for name, given in regions.items())
    values = np.array([background, *(own.diffusion for own in materials)])
    if values.min() > 0 and values.max() > LARGEST_CONTRAST * values.min():
        raise InputError(f"diffusions from {values.min():g} to {values.max():g}: at most {LARGEST_CONTRAST:g} apart")
    return _made(coefficients, background, materials)


def _read(name: object, given: Any, domain: Domain) -> Material:
    if not isinstance(name, str) or not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"regions[{short(name)}] = {short(given)}: must be a shape and its diffusion")
    shape, value = given
    if not isinstance(shape, Domain) or shape.unbounded:
        raise InputError(f"regions[{name!r}]: {short(shape)} is no shape, such as mc2.geometry.Disk(1.0)")
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError(f"regions[{name!r}]: the diffusion {short(value)} must be a positive number")
    if not shape.contains(*domain.sample_interior(4096, seed=0).T).any():
        raise InputError(f"regions[{name!r}] = {short(shape)} has no part of the domain inside, or a very small one")
    return Material(name, shape, float(value))


def _made(coefficients: Coefficients, background: float, materials: tuple[Material, ...]) -> Coefficients:
    values = np.array([background, *(own.diffusion for own in materials)])
    text = f"{background:g} with " + ", ".join(f"{own.name} = {own.diffusion:g}" for own in materials)
    diffusion = Composed(lambda x, y: values[material_at(materials, x, y)], text)
    flat = constant(0.0)
    return replace(
        coefficients, diffusion=diffusion, slopes=(flat, flat), curvature=flat, materials=materials,
        background=background,
    )  # fmt: skip


def material_at(materials: tuple[Material, ...], x: Array, y: Array) -> NDArray[np.intp]:
    """The number of the material at points: 0 for the rest of the domain, then in the order of the regions."""
    found = np.zeros(np.shape(x), np.intp)
    for number, own in enumerate(materials, 1):
        found[own.shape.distance(x, y) >= -own.shape.rounding] = number
    return found


def moved(coefficients: Coefficients, change: Callable[[Domain], Domain]) -> Coefficients:
    """Coefficients whose regions are in another frame. change: what makes a shape of that frame of one."""
    if not coefficients.materials:
        return coefficients
    materials = tuple(replace(own, shape=change(own.shape)) for own in coefficients.materials)
    return _made(coefficients, coefficients.background, materials)


def need_one_material(coefficients: Coefficients | None, who: str) -> None:
    """Refuse domains of several materials on behalf of somebody who does not know interfaces."""
    if coefficients is not None and coefficients.materials:
        raise InputError(f"{who} know no interfaces between materials: mc2.solve does, by collocation, with bounds")
