"""What one ball contributes: samples of Green's functions and the weights that the five families carry (float32).

In a ball of radius R, with the Poisson kernel's Green's function G = ln(R/r)/2π, whose integral is R²/4. A source
sample at distance r contributes ∓(base)·(ratio)·f, where *base* is G over the sampling density and *ratio* is the
family's own Green's function over G. All formulas are in `docs/walks.md`.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import scalar
from mc2.compute.elementary import exp, log

f32 = np.float32


@scalar
def green_sample(radius: Any, u1: Any, u2: Any) -> Any:
    """r drawn from G: r = R√(u₁u₂). Returns r, ln(R/r) and the base weight R²/4."""
    product = u1 * u2
    return radius * f32(math.sqrt(product)), f32(-0.5) * log(product), f32(0.25) * radius * radius


@scalar
def uniform_sample(radius: Any, u1: Any, u2: Any) -> Any:
    """r drawn uniformly in the ball: r = R√u₁. Returns r, ln(R/r) and the base weight (R²/2) ln(R/r)."""
    logarithm = f32(-0.5) * log(u1)
    return radius * f32(math.sqrt(u1)), logarithm, f32(0.5) * radius * radius * logarithm


@scalar
def direction(u: Any) -> Any:
    """(cos 2πu, sin 2πu) for u in [0, 1], to 1e-7."""
    t = u - f32(0.5)
    s = abs(t)
    flat = f32(0.25) - s
    half = _sin_turn(min(s, f32(0.5) - s))
    # u − ½ turns by π, which changes both signs
    return -_sin_turn(flat), (half if t < f32(0) else -half)


@scalar
def _sin_turn(t: Any) -> Any:
    """sin 2πt for |t| ≤ ¼."""
    r = f32(2 * math.pi) * t
    s = r * r
    p = f32(-1.9809069e-4) + s * f32(2.6052102e-6)
    return r + r * s * (f32(-0.16666658) + s * (f32(8.333051e-3) + s * p))


# --- Yukawa: modified Bessel functions by the polynomials 9.8.1 to 9.8.6 of Abramowitz and Stegun (error 2e-7) ----


@scalar
def i0_small(x: Any) -> Any:
    """I₀(x) for x ≤ 3.75."""
    t = x * f32(1 / 3.75)
    t = t * t
    p = f32(0.2659732) + t * (f32(0.0360768) + t * f32(0.0045813))
    return f32(1) + t * (f32(3.5156229) + t * (f32(3.0899424) + t * (f32(1.2067492) + t * p)))


@scalar
def _i0_large(x: Any) -> Any:
    """√x exp(−x) I₀(x) for x ≥ 3.75."""
    t = f32(3.75) / x
    p = f32(-0.02057706) + t * (f32(0.02635537) + t * (f32(-0.01647633) + t * f32(0.00392377)))
    p = f32(0.00225319) + t * (f32(-0.00157565) + t * (f32(0.00916281) + t * p))
    return f32(0.39894228) + t * (f32(0.01328592) + t * p)


@scalar
def k0_rest(x: Any) -> Any:
    """P(x) in K₀(x) = −ln(x/2) I₀(x) + P(x), for x ≤ 2."""
    t = f32(0.25) * x * x
    p = f32(0.0348859) + t * (f32(0.00262698) + t * (f32(0.0001075) + t * f32(0.0000074)))
    return f32(-0.57721566) + t * (f32(0.4227842) + t * (f32(0.23069756) + t * p))


@scalar
def _k0_large(x: Any) -> Any:
    """√x exp(x) K₀(x) for x ≥ 2."""
    t = f32(2) / x
    p = f32(-0.01062446) + t * (f32(0.00587872) + t * (f32(-0.0025154) + t * f32(0.00053208)))
    return f32(1.25331414) + t * (f32(-0.07832358) + t * (f32(0.02189568) + t * p))


@scalar
def _i0_scaled(x: Any, decay: Any) -> Any:
    """exp(−x) I₀(x), with decay = exp(−x)."""
    safe = max(x, f32(3.75))
    return decay * i0_small(min(x, f32(3.75))) if x < f32(3.75) else _i0_large(safe) / f32(math.sqrt(safe))


@scalar
def yukawa_decay(big: Any) -> Any:
    """1/I₀(μR) for big = μR."""
    decay = exp(-big)
    return decay / _i0_scaled(big, decay)


@scalar
def yukawa_ratio(big: Any, small: Any, logarithm: Any) -> Any:
    """G_λ/G = [K₀(s) − I₀(s)K₀(S)/I₀(S)]/ln(S/s), with S = big = μR, s = small = μr; between 0 and 1.

    Up to S = 2 the logarithms are taken out of K₀ first, which would cancel: I₀(s) + [P(s) − I₀(s)P(S)/I₀(S)]/ln(S/s).
    """
    length = max(logarithm, f32(1e-7))
    near_s, near_big = min(small, f32(2)), min(big, f32(2))
    i_near = i0_small(near_s)
    near = i_near + (k0_rest(near_s) - i_near * k0_rest(near_big) / i0_small(near_big)) / length
    decay_s, decay_big = exp(-small), exp(-big)
    far_big, far_s = max(big, f32(2)), max(small, f32(2))
    k_small = -log(f32(0.5) * max(near_s, f32(1e-30))) * i_near + k0_rest(near_s)
    k_large = decay_s * _k0_large(far_s) / f32(math.sqrt(far_s))
    k_s = k_small if small < f32(2) else k_large
    # exp(s − 2S) keeps I₀(s)K₀(S)/I₀(S) from overflowing
    k_big = _k0_large(far_big) / f32(math.sqrt(far_big))
    product = exp(small - f32(2) * big) * _i0_scaled(small, decay_s) * k_big / _i0_scaled(big, decay_big)
    far = (k_s - product) / length
    return min(max(near if big < f32(2) else far, f32(0)), f32(1))


# --- Helmholtz: power series for kR < 2 --------------------------------------------------------------------------


@scalar
def _j0(x: Any) -> Any:
    """J₀(x) for x ≤ 2, by Σ (−q)ᵏ/k!², q = x²/4."""
    q = f32(-0.25) * x * x
    p = f32(1 / 14400) + q * (f32(1 / 518400) + q * f32(1 / 25401600))
    return f32(1) + q * (f32(1) + q * (f32(1 / 4) + q * (f32(1 / 36) + q * (f32(1 / 576) + q * p))))


@scalar
def _y0_rest(x: Any) -> Any:
    """Q(x) in (π/2)Y₀(x) = (ln(x/2) + γ)J₀(x) + Q(x), by −Σ Hₖ(−q)ᵏ/k!²."""
    q = f32(-0.25) * x * x
    p = f32(137 / 60 / 14400) + q * (f32(49 / 20 / 518400) + q * f32(363 / 140 / 25401600))
    return -q * (f32(1) + q * (f32(1.5 / 4) + q * (f32(11 / 6 / 36) + q * (f32(25 / 12 / 576) + q * p))))


@scalar
def helmholtz_growth(big: Any) -> Any:
    """1/J₀(kR) for big = kR < 2."""
    return f32(1) / _j0(big)


@scalar
def helmholtz_ratio(big: Any, small: Any, logarithm: Any) -> Any:
    """G_k/G = J₀(s) + [J₀(s)Q(S)/J₀(S) − Q(s)]/ln(S/s), with S = big = kR, s = small = kr."""
    j = _j0(small)
    return j + (j * _y0_rest(big) / _j0(big) - _y0_rest(small)) / max(logarithm, f32(1e-7))


@scalar
def biharmonic_ratio(radius: Any, r: Any, logarithm: Any) -> Any:
    """G₂/G = [R² − r² − r² ln(R/r)] / (4 ln(R/r))."""
    length = max(logarithm, f32(1e-7))
    return f32(0.25) * ((radius - r) * (radius + r) / length - r * r)
