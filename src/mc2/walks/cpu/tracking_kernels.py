"""Delta tracking: one step of every walk through coefficients that vary, in float64.

The equation is Δu + β·∇u − σ'u = F. In the ball of radius R around x let s = β(x)/2, δ = β − β(x), and
V = e^{s·(y−x)} u, for which ΔV + δ·∇V − (σ' + s² + δ·s)V = e^{s·(y−x)} F. With any σ̄ > 0 and m² = σ̄ + s², Green's
function G of Δ − m² on the ball gives

    u(x) = ∮ P V + ∫ V [G (σ̄ − σ' − δ·s − ∇·β) − ∂G/∂r n·δ] − ∫ G e^{s·(y−x)} F,

since G vanishes on the rim, which moves the derivative from V to Gδ. So a step goes to the rim, with probability
I₀(|s|R)/I₀(mR) and a direction in proportion to e^{s·(y−x)}, or else to a point y inside, where its weight is
multiplied by the kernel in brackets over the density of y. The source is sampled at the same y. Without a drift,
δ = s = 0, y has a density in proportion to G, and that factor is 1 − σ'/σ̄.
"""

import math
from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar
from mc2.walks.random_kernels import draw, draw_choice

BIG = 4.0
"""Largest mR: a ball that is larger is mostly out of a walk's reach."""
TURN = 1.0
"""Largest |s|R: directions are found by rejection, which takes longer for larger ones."""
FIRST_BLOCK = 8
"""Of the random numbers of a step: those before are other walks'."""
LOW, HIGH = 0.5, 2.0
"""Weights between which walks are left as they are: lighter ones play roulette, heavier ones are split."""
MOST_COPIES = 1000
"""Into which a walk is split at once."""
DEPTH = 12
"""Splits of a walk that wait at a time; beyond, it is not split."""
X, Y, WEIGHT, GAP, COPIES = range(5)
# rows of what a step proposes
EXIT_X, EXIT_Y, POINT_X, POINT_Y, NX, NY, SOURCE, PLAIN, SLOPED = range(9)
# what becomes of a walk
GOES_ON, ENDED, DIED, CUT_OFF = range(4)

u32 = np.uint32


@scalar
def series(x: Any) -> Any:
    """I₀(x) − 1, I₁(x), P(x) and P'(x) for x ≤ 5, where K₀(x) = −(ln(x/2) + γ)I₀(x) + P(x), P = Σ H_k (x/2)^2k/k!²."""
    q, half = 0.25 * x * x, 0.5 * x
    term, harmonic = 1.0, 0.0  # q^k/k!², H_k
    i0, i1, p, dp = 0.0, half, 0.0, 0.0
    for k in range(1, 30):
        dp += (harmonic + 1.0 / k) * term * half / k
        term *= q / (k * k)
        harmonic += 1.0 / k
        i0 += term
        i1 += half * term / (k + 1)
        p += harmonic * term
        if term * (k + 1) < 1e-17 * (1.0 + i0):
            break
    return i0, i1, p, dp


@scalar
def green(s: Any, big: Any, ratio: Any) -> Any:
    """2πG, and −2π∂G/∂s, at s = mr of the ball with mR = big, where ratio = P(big)/I₀(big)."""
    i0, i1, p, dp = series(s)
    log = math.log(big / s)
    return (1.0 + i0) * (log - ratio) + p, (1.0 + i0) / s - i1 * (log - ratio) - dp


@kernel
def propose(
    x: Any, y: Any, gap: Any, half: Any, sigma: Any, pixel: Any, walk: Any, step: Any, key: Any, source: Any, out: Any,
    inside: Any,
) -> None:  # fmt: skip
    """Where walks may go: to a point of the rim, or, where `inside` says so, to one within the ball.

    half: s = β/2 at the walks' places [2, walk]. sigma: σ̄. source: whether a point is wanted for every walk.
    out [row, walk]: the point on the rim, the one within with its direction from the middle, what F there is multiplied
    by, and the factors of (σ̄ − σ' − δ·s − ∇·β) and of n·δ in what the walk's weight is.
    """
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for i in range(x.size):
        sx, sy = half[0, i], half[1, i]
        drift = math.sqrt(sx * sx + sy * sy)
        m = math.sqrt(sigma + drift * drift)
        radius = min(gap[i], BIG / m)
        if drift * radius > TURN:
            radius = TURN / drift
        big, kappa = m * radius, drift * radius
        rim, _, rest, _ = series(big)
        turned, first, _, _ = series(kappa)
        chance = (rim - turned) / (1.0 + rim)
        ratio = rest / (1.0 + rim)
        kind, turn, half_or_not, _ = draw(pixel[i], walk[i], step[i], k0, k1, k2, u32(k3 + u32(FIRST_BLOCK)))
        block = FIRST_BLOCK + 1
        inside[i] = np.float64(kind) < chance
        if not inside[i]:
            angle = 2.0 * math.pi * np.float64(turn)
            cos, sin = math.cos(angle), math.sin(angle)
            while drift > 0:  # a direction in proportion to e^{s·n R}
                a, accept, _, _ = draw(pixel[i], walk[i], step[i], k0, k1, k2, u32(k3 + u32(block)))
                block += 1
                angle = 2.0 * math.pi * np.float64(a)
                cos, sin = math.cos(angle), math.sin(angle)
                if np.float64(accept) <= math.exp(radius * (sx * cos + sy * sin) - kappa):
                    break
            out[EXIT_X, i], out[EXIT_Y, i] = x[i] + radius * cos, y[i] + radius * sin
            if not source:
                continue
        spread = drift > 0 and half_or_not < 0.5  # half of the points all over the ball, where ∂G/∂r is large
        while True:
            a, b, c, accept = draw(pixel[i], walk[i], step[i], k0, k1, k2, u32(k3 + u32(block)))
            block += 1
            r = radius * math.sqrt(np.float64(a)) * (1.0 if spread else math.sqrt(np.float64(b)))
            r = min(r, radius * (1.0 - 1e-9))
            angle = 2.0 * math.pi * np.float64(c)
            cos, sin = math.cos(angle), math.sin(angle)
            g, slope = green(m * r, big, ratio)
            share = 1.0 if spread else g / math.log(radius / r)  # at most 1
            if drift > 0:
                share *= math.exp(r * (sx * cos + sy * sin) - kappa)
            if np.float64(accept) <= share:
                break
        out[POINT_X, i], out[POINT_Y, i] = x[i] + r * cos, y[i] + r * sin
        out[NX, i], out[NY, i] = cos, sin
        if drift > 0:
            area = math.pi * radius * radius * 2.0 * first / kappa  # ∫ e^{s·(y−x)} over the ball
            g /= 2.0 * math.pi
            density = 0.5 * g * sigma / chance + 0.5 / area
            out[SOURCE, i] = -g / density
            out[PLAIN, i] = g / (chance * density)
            out[SLOPED, i] = m * slope / (2.0 * math.pi * chance * density)
        else:
            out[SOURCE, i] = -chance / sigma
            out[PLAIN, i], out[SLOPED, i] = 1.0 / sigma, 0.0


@kernel
def settle(
    state: Any, epsilon: Any, largest_step: Any, pixel: Any, walk: Any, step: Any, key: Any, inside: Any, waiting: Any,
    pending: Any, item: Any, fate: Any,
) -> None:  # fmt: skip
    """What becomes of walks that have moved: they end at the boundary, die, are split, or go on.

    state: x, y, weight and gap of the walks [row, walk]. inside: those whose weights have changed.
    waiting [item, depth, row], pending [item]: copies of each walk that wait until it has ended. item: which one it is.
    fate: receives what has become of each.
    """
    for i in range(fate.size):
        step[i] = u32(step[i] + u32(1))
        fate[i] = GOES_ON
        if state[GAP, i] < epsilon:
            fate[i] = ENDED
            continue
        if step[i] >= largest_step:
            fate[i] = CUT_OFF
            continue
        size = abs(state[WEIGHT, i])
        if not inside[i] or LOW <= size <= HIGH:
            continue
        if size < LOW:
            u = draw_choice(pixel[i], walk[i], step[i], key[0], key[1], key[2], key[3])
            if np.float64(u) < size:
                state[WEIGHT, i] /= size
            else:
                fate[i] = DIED
            continue
        own = item[i]
        if size == size and pending[own] < DEPTH:
            copies = min(math.ceil(size), MOST_COPIES)
            state[WEIGHT, i] /= copies
            for row in range(4):
                waiting[own, pending[own], row] = state[row, i]
            waiting[own, pending[own], COPIES] = copies - 1
            pending[own] += 1


@kernel
def take_up(state: Any, waiting: Any, pending: Any, item: Any, fate: Any, alive: Any) -> None:
    """Take up copies that wait where walks have ended or died. alive: receives which walks go on."""
    for i in range(fate.size):
        own = item[i]
        alive[i] = fate[i] == GOES_ON or (fate[i] != CUT_OFF and pending[own] > 0)
        if fate[i] == GOES_ON or not alive[i]:
            continue
        last = pending[own] - 1
        for row in range(4):
            state[row, i] = waiting[own, last, row]
        waiting[own, last, COPIES] -= 1
        if waiting[own, last, COPIES] == 0:
            pending[own] = last
