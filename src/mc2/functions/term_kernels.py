"""The terms that atoms are made of: closed forms of u, Δu and Δ²u as scalar functions.

Every term takes a point and a tuple of `PARAMETERS` numbers and returns (u, Δu, Δ²u). A *separable* term
a·F(s)·G(t), with s and t affine in x and y along perpendicular directions, needs F and its second and fourth
derivatives only: Δ = |∇s|²F″G + |∇t|²FG″ and Δ² = |∇s|⁴F⁗G + 2|∇s|²|∇t|²F″G″ + |∇t|⁴FG⁗. The functions F and G are
*profiles*, which return (F, F″, F⁗).
"""

import math
from typing import Any

from mc2.compute.compile import scalar
from mc2.compute.elementary import clifford_series, cos, erf, exp, is_single, log, log_cosh, sech_squared, sin, tanh

PARAMETERS = 10
"""Numbers per term; a term uses the first few."""

ERF_SLOPE = 2 / math.sqrt(math.pi)
"""The derivative of erf at 0."""
LOG_SHIFT = 0.01
"""The constant in the profile log(s² + 0.01)."""
ROOT_SHIFT = 0.01
"""The constant in the profile √(s² + 0.01)."""


# --- profiles: F, F″, F⁗ ----------------------------------------------------------------------------------------


@scalar
def one_profile(s: Any) -> Any:
    T = type(s)
    return T(1), T(0), T(0)


@scalar
def sin_profile(s: Any) -> Any:
    f = sin(s)
    return f, -f, f


@scalar
def cos_profile(s: Any) -> Any:
    f = cos(s)
    return f, -f, f


@scalar
def exp_profile(s: Any) -> Any:
    f = exp(s)
    return f, f, f


@scalar
def sinh_profile(s: Any) -> Any:
    T = type(s)
    f = T(0.5) * (exp(s) - exp(-s))
    return f, f, f


@scalar
def cosh_profile(s: Any) -> Any:
    T = type(s)
    f = T(0.5) * (exp(s) + exp(-s))
    return f, f, f


@scalar
def tanh_profile(s: Any) -> Any:
    """With t = tanh s and w = 1/cosh²s: F″ = −2tw, F⁗ = 8t(2 − 3t²)w."""
    T = type(s)
    t, w = tanh(s), sech_squared(s)
    return t, T(-2) * t * w, T(8) * t * (T(2) - T(3) * t * t) * w


@scalar
def sech_squared_profile(s: Any) -> Any:
    """With t = tanh s and w = 1/cosh²s: F = w, F″ = (6t² − 2)w, F⁗ = 8(2 − 15t² + 15t⁴)w."""
    T = type(s)
    t, w = tanh(s), sech_squared(s)
    t2 = t * t
    return w, (T(6) * t2 - T(2)) * w, T(8) * (T(2) - T(15) * t2 + T(15) * t2 * t2) * w


@scalar
def log_cosh_profile(s: Any) -> Any:
    """F″ = w = 1/cosh²s, F⁗ = (6 tanh²s − 2)w."""
    T = type(s)
    t, w = tanh(s), sech_squared(s)
    return log_cosh(s), w, (T(6) * t * t - T(2)) * w


@scalar
def log_profile(s: Any) -> Any:
    """log q with q = s² + c: F″ = 2(c − s²)/q², F⁗ = −12(s⁴ − 6cs² + c²)/q⁴."""
    T = type(s)
    c = T(LOG_SHIFT)
    s2 = s * s
    q = s2 + c
    return log(q), T(2) * (c - s2) / (q * q), T(-12) * (s2 * s2 - T(6) * c * s2 + c * c) / (q * q * q * q)


@scalar
def root_profile(s: Any) -> Any:
    """h = √(s² + c): F″ = c/h³, F⁗ = c(12s² − 3c)/h⁷."""
    T = type(s)
    c = T(ROOT_SHIFT)
    q = s * s + c
    h = T(math.sqrt(q))
    cube = q * h
    return h, c / cube, c * (T(12) * s * s - T(3) * c) / (cube * q * q)


@scalar
def erf_profile(s: Any) -> Any:
    """With d = F′ = 2exp(−s²)/√π: F″ = −2sd, F⁗ = (12s − 8s³)d."""
    T = type(s)
    s2 = s * s
    d = T(ERF_SLOPE) * exp(-s2)
    return erf(s), T(-2) * s * d, s * (T(12) - T(8) * s2) * d


@scalar
def separable(a: Any, ss: Any, tt: Any, f: Any, f2: Any, f4: Any, g: Any, g2: Any, g4: Any) -> Any:
    """a·F·G from the profiles, with ss = |∇s|² and tt = |∇t|²."""
    T = type(f)
    u = a * f * g
    laplacian = a * (ss * f2 * g + tt * f * g2)
    bilaplacian = a * (ss * ss * f4 * g + T(2) * ss * tt * f2 * g2 + tt * tt * f * g4)
    return u, laplacian, bilaplacian


# --- terms: u, Δu, Δ²u ------------------------------------------------------------------------------------------


@scalar
def polynomial(x: Any, y: Any, p: Any) -> Any:
    """p₀ + p₁x + p₂y + p₃x² + p₄xy + p₅y² + p₆x³ + p₇x²y + p₈xy² + p₉y³; Δ² = 0 up to degree 3."""
    T = type(x)
    linear = p[0] + p[1] * x + p[2] * y
    quadratic = (p[3] + p[6] * x + p[7] * y) * x * x + p[4] * x * y + (p[5] + p[8] * x + p[9] * y) * y * y
    laplacian = T(2) * (p[3] + p[5] + (T(3) * p[6] + p[8]) * x + (p[7] + T(3) * p[9]) * y)
    return linear + quadratic, laplacian, T(0)


@scalar
def gaussian(x: Any, y: Any, p: Any) -> Any:
    """p₀ exp(−q), q = p₁|(x, y) − (p₂, p₃)|²: Δ = 4p₁(q − 1)u, Δ² = 16p₁²(q² − 4q + 2)u."""
    T = type(x)
    w, dx, dy = p[1], x - p[2], y - p[3]
    q = w * (dx * dx + dy * dy)
    u = p[0] * exp(-q)
    return u, T(4) * w * (q - T(1)) * u, T(16) * w * w * (q * q - T(4) * q + T(2)) * u


@scalar
def rational(x: Any, y: Any, p: Any) -> Any:
    """p₀/q, q = 1 + bx² + cy², by Δqᵐ = m qᵐ⁻¹Δq + m(m − 1) qᵐ⁻²|∇q|²."""
    T = type(x)
    b, c = p[1], p[2]
    x2, y2 = x * x, y * y
    r = T(1) / (T(1) + b * x2 + c * y2)
    first, second = b * b * x2 + c * c * y2, b * b * b * x2 + c * c * c * y2
    r3 = r * r * r
    laplacian = T(-2) * (b + c) * r * r + T(8) * first * r3
    bilaplacian = r3 * (
        T(8) * (b + c) * (b + c)
        + T(16) * (b * b + c * c)
        - r * (T(96) * (b + c) * first + T(192) * second)
        + r * r * T(384) * first * first
    )
    return p[0] * r, p[0] * laplacian, p[0] * bilaplacian


@scalar
def bessel(x: Any, y: Any, p: Any) -> Any:
    """p₀ I₀(p₁r) for p₁r ≤ 10: Δ = p₁²u, Δ² = p₁⁴u."""
    T = type(x)
    square = p[1] * p[1]
    q = T(0.25) * square * (x * x + y * y)
    u = p[0] * clifford_series(0, q, 24 if is_single(x) else 40)  # a fixed number of terms vectorises
    return u, square * u, square * square * u


@scalar
def complex_power(x: Any, y: Any, p: Any) -> Any:
    """Re((p₀ + ip₁)(z − p₂ − ip₃)ⁿ), n = p₄ an integer with |n| ≤ 15; harmonic."""
    T = type(x)
    re, im = x - p[2], y - p[3]
    squared = re * re + im * im
    # a negative power is a power of 1/z = z̄/|z|²
    inverse = p[4] < T(0)
    re = re / squared if inverse else re
    im = -im / squared if inverse else im
    n = int(abs(p[4]))
    out_re, out_im = p[0], p[1]
    for bit in range(4):
        take = (n >> bit) & 1
        next_re = out_re * re - out_im * im
        next_im = out_re * im + out_im * re
        out_re = next_re if take else out_re
        out_im = next_im if take else out_im
        re, im = re * re - im * im, T(2) * re * im
    return out_re, T(0), T(0)


@scalar
def log_distance(x: Any, y: Any, p: Any) -> Any:
    """p₀ log|z − p₁ − ip₂|; harmonic."""
    T = type(x)
    dx, dy = x - p[1], y - p[2]
    return p[0] * T(0.5) * log(dx * dx + dy * dy), T(0), T(0)


@scalar
def angle(x: Any, y: Any, p: Any) -> Any:
    """p₀ arg(z − p₁ − ip₂); harmonic away from the cut that runs left from there."""
    T = type(x)
    return p[0] * T(math.atan2(y - p[2], x - p[1])), T(0), T(0)
