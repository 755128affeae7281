"""Elementary functions for kernels: branch-free polynomials in float32, the C library in float64.

The C library's functions do not vectorise, so in float32 each function is a short polynomial (fitted for the smallest
largest error) that a loop over lanes turns into vector instructions. Largest errors, measured by the tests:

| function | float32 error | where |
|---|---|---|
| sin, cos | 2e-7 absolute | \\|x\\| ≤ 1,000 |
| exp | 2e-7 relative | −87 ≤ x ≤ 88, then 0 or infinity |
| log | 2e-7 relative or absolute, the larger | normal x > 0 |
| tanh, erf | 3e-7 relative | everywhere |
| log_cosh | 3e-7 absolute or relative, the larger | everywhere |
| clifford | 2e-6 relative | 0 ≤ q ≤ 1,000, n ≤ 4 |
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import scalar

# computed here, since not every compiler would do it ahead of time
INVERSE_PI = 1 / math.pi
LOG_2 = math.log(2)
INVERSE_LOG_2 = 1 / LOG_2


@scalar
def is_single(x: Any) -> Any:
    """Whether x is float32. The compiler folds this to a constant and drops the other branch."""
    T = type(x)
    return T(1) + T(1e-9) == T(1)


@scalar
def nearest(x: Any) -> Any:
    """The nearest integer to a float32 with |x| < 2²²: adding 1.5·2²³ leaves no bits for a fraction."""
    T = type(x)
    return (x + T(12582912.0)) - T(12582912.0)


@scalar
def _sine_after(x: Any, half_turns: Any, shift: Any) -> Any:
    """(−1)ᵐ sin(x − (m − shift)π): π is taken off in three parts, so that the difference keeps its digits."""
    T = type(x)
    m = half_turns - shift
    r = x - m * T(3.140625)
    r = r - m * T(9.67502593994140625e-4)
    r = r - m * T(1.509957990978376432e-7)
    s = r * r
    p = T(-1.9809069e-4) + s * T(2.6052102e-6)
    p = T(-0.16666658) + s * (T(8.333051e-3) + s * p)
    odd = half_turns - T(2) * nearest(half_turns * T(0.5) - T(0.25))
    return (T(1) - T(2) * odd) * (r + r * s * p)


@scalar
def sin(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        return _sine_after(x, nearest(x * T(INVERSE_PI)), T(0))
    return T(math.sin(x))


@scalar
def cos(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        return _sine_after(x, nearest(x * T(INVERSE_PI) + T(0.5)), T(0.5))
    return T(math.cos(x))


@scalar
def exp(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        bounded = min(max(x, T(-87.0)), T(88.0))
        n = nearest(bounded * T(INVERSE_LOG_2))
        r = bounded - n * T(0.693359375)
        r = r + n * T(2.12194440054690583e-4)
        p = T(0.041668225) + r * (T(8.3748173e-3) + r * T(1.383684e-3))
        p = T(1) + r * (T(1) + r * (T(0.49999992) + r * (T(0.1666642) + r * p)))
        scale = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
        result = p * scale
        result = T(math.inf) if x > T(88.0) else result
        result = T(0) if x < T(-87.0) else result
        return result if x == x else x
    return T(math.exp(x))


@scalar
def log(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        # x = 2ⁿ·m with m in [√½, √2): subtracting the bits of √½ puts the exponent on that boundary
        bits = np.float32(x).view(np.int32)
        n = np.int32(np.int32(bits - np.int32(0x3F3504F3)) >> np.int32(23))
        t = np.int32(bits - np.int32(n << np.int32(23))).view(np.float32) - T(1)
        p = T(0.14160731) + t * (T(-0.13212279) + t * (T(0.130191) + t * T(-0.07830716)))
        p = T(-0.25001571) + t * (T(0.20003206) + t * (T(-0.16610341) + t * p))
        p = T(-0.49999988) + t * (T(0.33333302) + t * p)
        exponent = T(n)
        result = (t + t * t * p + exponent * T(-2.12194440054690583e-4)) + exponent * T(0.693359375)
        result = T(-math.inf) if x == T(0) else result
        result = x if x == T(math.inf) else result
        return result if x >= T(0) else T(math.nan)
    return T(math.log(x)) if x > T(0) else (T(-math.inf) if x == T(0) else T(math.nan))


@scalar
def tanh(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        s = x * x
        p = T(0.13310649) + s * (T(-0.05212255) + s * T(0.01550464))
        small = x + x * s * (T(-0.33332344) + s * p)
        e = exp(T(-2) * abs(x))
        large = (T(1) - e) / (T(1) + e)
        large = large if x > T(0) else -large
        return small if s < T(0.36) else large
    return T(math.tanh(x))


@scalar
def sech_squared(x: Any) -> Any:
    """1/cosh²x = 4e/(1 + e)² with e = exp(−2|x|), which keeps its digits where 1 − tanh² would not."""
    T = type(x)
    e = exp(T(-2) * abs(x))
    return T(4) * e / ((T(1) + e) * (T(1) + e))


@scalar
def log_cosh(x: Any) -> Any:
    """log cosh x without overflow: |x| + log(1 + exp(−2|x|)) − log 2."""
    T = type(x)
    return abs(x) + log(T(1) + exp(T(-2) * abs(x))) - T(LOG_2)


@scalar
def erf(x: Any) -> Any:
    T = type(x)
    if is_single(x):
        s = x * x
        p = T(5.1883276e-3) + s * (T(-8.0101925e-4) + s * T(7.8538577e-5))
        small = x * (T(1.1283792) + s * (T(-0.37612626) + s * (T(0.11283585) + s * (T(-0.026853812) + s * p))))
        t = T(1) / (T(1) + T(0.5) * abs(x))
        q = T(0.105343) + t * (T(0.025059875) + t * (T(-0.1850404) + t * T(0.08089112)))
        q = T(0.28219941) + t * (T(0.28099076) + t * (T(0.25296743) + t * (T(0.15804119) + t * q)))
        large = T(1) - exp(-s) * (T(-4.1034253e-6) + t * q)
        large = large if x > T(0) else -large
        return small if s < T(1) else large
    return T(math.erf(x))


@scalar
def clifford_series(n: Any, q: Any, terms: Any) -> Any:
    """The first terms of Cₙ(q) = Σₖ qᵏ / (k! (k+n)!), summed from the last one inwards."""
    T = type(q)
    total = T(1)
    for step in range(terms):
        k = T(terms - step)
        total = T(1) + total * q / (k * (k + T(n)))
    factorial = T(1)
    for k in range(2, n + 1):
        factorial *= T(k)
    return total / factorial


@scalar
def clifford(n: Any, q: Any) -> Any:
    """Bessel–Clifford function Cₙ(q), as many terms as q needs, so that I₀(s) = C₀(s²/4) and Cₙ′ = Cₙ₊₁.

    Unlike I₀(√·), it is smooth at 0, and so are its derivatives.
    """
    T = type(q)
    terms = min(T(2) * T(math.sqrt(abs(q))) + T(30), T(1000)) if q == q else T(1)
    return clifford_series(n, q, int(terms))


@scalar
def integer_power(x: Any, n: Any) -> Any:
    """xⁿ for an integer n by repeated squaring."""
    T = type(x)
    result = T(1)
    square = x
    m = abs(n)
    while m > 0:
        if m & 1:
            result *= square
        square *= square
        m >>= 1
    return result if n >= 0 else T(1) / result
