"""Arithmetic and the C library's functions as scalar functions that keep their argument's type."""

import math
from typing import Any

from mc2.compute.compile import scalar


@scalar
def copy(a: Any) -> Any:
    return a


@scalar
def negative(a: Any) -> Any:
    return -a


@scalar
def absolute(a: Any) -> Any:
    return abs(a)


@scalar
def sign(a: Any) -> Any:
    T = type(a)
    return T(1) if a > T(0) else (T(-1) if a < T(0) else a)


@scalar
def sqrt(a: Any) -> Any:
    return type(a)(math.sqrt(a))


@scalar
def tan(a: Any) -> Any:
    return type(a)(math.tan(a))


@scalar
def arcsin(a: Any) -> Any:
    return type(a)(math.asin(a))


@scalar
def arccos(a: Any) -> Any:
    return type(a)(math.acos(a))


@scalar
def arctan(a: Any) -> Any:
    return type(a)(math.atan(a))


@scalar
def sinh(a: Any) -> Any:
    return type(a)(math.sinh(a))


@scalar
def cosh(a: Any) -> Any:
    return type(a)(math.cosh(a))


@scalar
def add(a: Any, b: Any) -> Any:
    return a + b


@scalar
def subtract(a: Any, b: Any) -> Any:
    return a - b


@scalar
def multiply(a: Any, b: Any) -> Any:
    return a * b


@scalar
def divide(a: Any, b: Any) -> Any:
    return a / b


@scalar
def power(a: Any, b: Any) -> Any:
    return type(a)(math.pow(a, b))


@scalar
def arctan2(a: Any, b: Any) -> Any:
    return type(a)(math.atan2(a, b))


@scalar
def minimum(a: Any, b: Any) -> Any:
    return a if (a < b or a != a) else b


@scalar
def maximum(a: Any, b: Any) -> Any:
    return a if (a > b or a != a) else b


@scalar
def less(a: Any, b: Any) -> Any:
    T = type(a)
    return T(1) if a < b else T(0)


@scalar
def less_equal(a: Any, b: Any) -> Any:
    T = type(a)
    return T(1) if a <= b else T(0)
