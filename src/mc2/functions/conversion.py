"""Whatever a user may give for a function of x and y, as a `Function`."""

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.functions.callables import from_callable
from mc2.functions.expression import constant
from mc2.functions.function import Function
from mc2.functions.grid_function import GridFunction, read_bounds
from mc2.functions.reader import read_expression
from mc2.functions.terms import TermSum

Values = NDArray[np.floating[Any]]
FunctionLike = Function | str | float | Callable[..., Any] | Sequence[TermSum] | Values | tuple[Values, Any]


def as_function(value: FunctionLike, name: str) -> Function:
    """A number, an expression text, a Python function, atoms, an array or a `Function`; name is what messages call it.

    An array comes with where it lies: a `GridFunction`, an `xarray.DataArray` with coordinates x and y, or a pair
    (array, grid), where grid is a `Grid` or bounds (xmin, xmax, ymin, ymax). An array [n, n] alone holds values at the
    pixels of [-1, 1]², and a domain that reaches beyond is refused.
    """
    if isinstance(value, Function):
        return value
    try:
        if isinstance(value, str):
            return read_expression(value)
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            return constant(float(value))
        if isinstance(value, np.ndarray) and value.ndim:
            return GridFunction(value)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
            return GridFunction(value[0], read_bounds("array", value[1]))
        if hasattr(value, "dims") and hasattr(value, "coords") and hasattr(value, "values"):
            return GridFunction.from_xarray(value)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if callable(value):
        return from_callable(value, name)
    if isinstance(value, Sequence):
        parts = [part for part in value if isinstance(part, TermSum)]
        if len(parts) == len(value) > 0:
            return TermSum.join(parts)
    raise InputError(
        f"{name} = {short(value)}: must be a number, an expression text, a function of x and y, an array, or atoms"
    )
