"""`Condition`: what is known of a solution on a part of the boundary.

Every condition says a·u + b·∂u/∂n = value there, with n the outward normal: `Dirichlet` has a = 1 and b = 0, `Neumann`
a = 0 and b = 1, `Robin` a = its coefficient and b = 1. Whoever fits or walks asks for a, b and the value. With a
diffusion α it is α ∂u/∂n that takes the place of ∂u/∂n everywhere. `Clamped` says two things, u and ∂u/∂n, as the
biharmonic equation needs.
"""

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mc2.errors import InputError, short
from mc2.functions import Expression, Function, FunctionLike, as_function
from mc2.functions.expression import constant

Array = NDArray[np.float64]

ZERO = constant(0.0)


class Condition(ABC):
    """What is known on a part of the boundary."""

    reflecting: ClassVar[bool]
    """Whether walks go on there, instead of ending."""
    word: ClassVar[str]
    value: Function

    def __post_init__(self) -> None:
        for name in tuple(vars(self)):
            _read(self, name)

    def weights(self, x: Array, y: Array) -> tuple[Array, Array]:
        """a and b of a·u + b·∂u/∂n = value at boundary points."""
        return np.full(np.shape(x), 0.0 if self.reflecting else 1.0), np.full(np.shape(x), float(self.reflecting))

    def data(self, x: Array, y: Array, nx: Array, ny: Array) -> Array:
        """The value at boundary points with outward normals (nx, ny)."""
        if isinstance(self.value, FromExact):
            a, b = self.weights(x, y)
            gx, gy = self.value.gradient(x, y)
            return a * self.value(x, y) + b * (gx * nx + gy * ny)
        return self.value(x, y)

    @property
    def functions(self) -> dict[str, Function]:
        """What it is given, by the names that messages use."""
        return {"value": self.value}


class FromExact(Function):
    """Stands for data that follow from a known solution u: its values, and its derivatives along normals."""

    def __init__(
        self,
        exact: Function,
        gradient: tuple[Function, Function] | None = None,
        flux: Callable[[Function], tuple[Function, Function]] | None = None,
    ) -> None:
        """exact: u. gradient: its derivatives, if they are known otherwise than from its text.

        flux: makes α∇u of u, which stands for ∇u where α is not 1.
        """
        self.exact, self._gradient, self._flux = exact, gradient, flux

    @property
    def text(self) -> str:
        return f"of exact {self.exact.text}"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> Array:
        return self.exact(x, y)

    def gradient(self, x: Array, y: Array) -> tuple[Array, Array]:
        """∂u/∂x and ∂u/∂y, or α times these."""
        gx, gy = self.derivatives
        return gx(x, y), gy(x, y)

    @property
    def derivatives(self) -> tuple[Function, Function]:
        """∂u/∂x and ∂u/∂y as functions, or α times these."""
        if self._gradient is None:
            self._gradient = (self._flux or gradient_of)(self.exact)
        return self._gradient


def gradient_of(function: Function) -> tuple[Function, Function]:
    """(∂u/∂x, ∂u/∂y) of a function that can be written as an expression."""
    from mc2.functions.calculus import gradient
    from mc2.functions.reader import read_expression

    if isinstance(function, Expression):
        return gradient(function)
    try:
        return gradient(read_expression(function.text))
    except InputError:
        raise InputError(f"{short(function.text)} has no exact gradient: write it as an expression") from None


@dataclass(frozen=True)
class Dirichlet(Condition):
    """u = value.

    value: a number, an expression, a function of x and y, or whatever else a problem takes for data. Left out, it
    follows from the problem's exact solution.
    """

    value: FunctionLike | None = None  # type: ignore[assignment]

    reflecting = False
    word = "dirichlet"


@dataclass(frozen=True)
class Neumann(Condition):
    """∂u/∂n = value, the derivative along the outward normal: an insulated wall if it is 0.

    value: as for `Dirichlet`.
    """

    value: FunctionLike | None = None  # type: ignore[assignment]

    reflecting = True
    word = "neumann"


@dataclass(frozen=True)
class Robin(Condition):
    """∂u/∂n + coefficient·u = value: a convective wall has coefficient h/k and value (h/k)·(temperature outside).

    coefficient: as for `Dirichlet`; never negative on the part.
    value: as for `Dirichlet`.
    """

    coefficient: FunctionLike
    value: FunctionLike | None = None  # type: ignore[assignment]

    reflecting = True
    word = "robin"

    def weights(self, x: Array, y: Array) -> tuple[Array, Array]:
        assert isinstance(self.coefficient, Function)
        return self.coefficient(x, y), np.ones(np.shape(x))

    @property
    def functions(self) -> dict[str, Function]:
        assert isinstance(self.coefficient, Function)
        assert isinstance(self.value, Function)
        return {"coefficient": self.coefficient, "value": self.value}


@dataclass(frozen=True)
class Clamped(Condition):
    """u = value and ∂u/∂n = slope, of the biharmonic equation alone: a plate that is built into a wall if both are 0.

    value: as for `Dirichlet`. slope: as for `Neumann`.
    """

    value: FunctionLike | None = None  # type: ignore[assignment]
    slope: FunctionLike | None = None

    reflecting = False
    word = "clamped"

    def __post_init__(self) -> None:
        _read(self, "value")
        _read(self, "slope")

    @property
    def turn(self) -> Neumann:
        """The condition for ∂u/∂n."""
        return Neumann(self.slope)

    @property
    def functions(self) -> dict[str, Function]:
        assert isinstance(self.slope, Function)
        assert isinstance(self.value, Function)
        return {"value": self.value, "slope": self.slope}


CONDITIONS: dict[str, type[Condition]] = {kind.word: kind for kind in (Dirichlet, Neumann, Robin, Clamped)}


def _read(condition: Condition, name: str) -> None:
    given = getattr(condition, name)
    if given is None:
        return  # the problem's exact solution tells
    object.__setattr__(condition, name, as_function(given, f"{condition.word} {name}"))
