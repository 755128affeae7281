"""Cauchy integrals over straight panels, by a fast multipole method.

With a density μ on panels, and the domain on their left, v(z) = Re Φ(z), Φ(z) = 1/(2πi) ∫ μ(τ) dτ/(τ − z), solves
Δv = 0. Sources and targets are sorted along a Hilbert curve and halved again and again: node k of level l has the items
from k·n/2^l to (k + 1)·n/2^l, and is number 2^l − 1 + k of all. What is far apart meets by expansions in powers
(Greengard and Rokhlin, 1987; Dehnen, 2002, for lists of pairs of nodes), what is close by exact integrals of
polynomials (Helsing and Ojala, 2008).
"""

from typing import Any

import numpy as np

from mc2.compute.compile import kernel, scalar

APART = 0.5
"""Nodes are far apart if their radii add up to at most this part of the distance of their centres."""
TOUCHING = 2e-12
"""Distance, in units of the size of everything, at which a target counts as on a panel or at its end."""
INWARD = 1e-8
"""Part of a panel's length by which a target at its end is moved into the domain."""
HILBERT = 26
"""Bits of each coordinate along the Hilbert curve."""


@kernel
def hilbert_keys(x: Any, y: Any, left: Any, bottom: Any, side: Any, keys: Any) -> None:
    """Places of points along a Hilbert curve through a square."""
    cells = 1 << HILBERT
    for i in range(x.size):
        a = min(max(int((x[i] - left) / side * cells), 0), cells - 1)
        b = min(max(int((y[i] - bottom) / side * cells), 0), cells - 1)
        key, s = 0, cells >> 1
        while s > 0:
            p, q = int((a & s) > 0), int((b & s) > 0)
            key += s * s * ((3 * p) ^ q)
            if q == 0:
                if p == 1:
                    a, b = cells - 1 - a, cells - 1 - b
                a, b = b, a
            s >>= 1
        keys[i] = key


@kernel
def fill_boxes(xlow: Any, xhigh: Any, ylow: Any, yhigh: Any, levels: Any, boxes: Any) -> None:
    """boxes[node] = center x, center y, radius of a circle around all items of every node of a tree."""
    n, bottom = xlow.size, 1 << levels
    ends = np.empty((boxes.shape[0], 4))
    for node in range(boxes.shape[0] - 1, -1, -1):
        if node >= bottom - 1:
            k = node - bottom + 1
            first, last = k * n // bottom, (k + 1) * n // bottom
            ends[node] = np.inf, -np.inf, np.inf, -np.inf
            for i in range(first, last):
                ends[node, 0], ends[node, 1] = min(ends[node, 0], xlow[i]), max(ends[node, 1], xhigh[i])
                ends[node, 2], ends[node, 3] = min(ends[node, 2], ylow[i]), max(ends[node, 3], yhigh[i])
        else:
            a, b = ends[2 * node + 1], ends[2 * node + 2]
            ends[node] = min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3])
        e = ends[node]
        boxes[node] = 0.5 * (e[0] + e[1]), 0.5 * (e[2] + e[3]), 0.5 * np.hypot(e[1] - e[0], e[3] - e[2])


@kernel
def list_pairs(targets: Any, target_levels: Any, sources: Any, source_levels: Any, far: Any, near: Any) -> Any:
    """Pairs (target node, source node) that are far apart, and pairs of leaves (by their places) that are not.

    targets, sources: boxes of the nodes. far, near: [count, 2] to be filled, or of no length to be counted only.
    """
    first_target, first_source = (1 << target_levels) - 1, (1 << source_levels) - 1
    stack = np.empty((4096, 2), np.int64)
    stack[0] = 0, 0
    depth, count_far, count_near = 1, 0, 0
    while depth > 0:
        depth -= 1
        t, s = stack[depth]
        apart = np.hypot(targets[t, 0] - sources[s, 0], targets[t, 1] - sources[s, 1])
        if targets[t, 2] + sources[s, 2] <= APART * apart:
            if count_far < far.shape[0]:
                far[count_far] = t, s
            count_far += 1
            continue
        target_is_leaf, source_is_leaf = t >= first_target, s >= first_source
        if target_is_leaf and source_is_leaf:
            if count_near < near.shape[0]:
                near[count_near] = t - first_target, s - first_source
            count_near += 1
        elif source_is_leaf or (not target_is_leaf and targets[t, 2] > sources[s, 2]):
            stack[depth] = 2 * t + 1, s
            stack[depth + 1] = 2 * t + 2, s
            depth += 2
        else:
            stack[depth] = t, 2 * s + 1
            stack[depth + 1] = t, 2 * s + 2
            depth += 2
    return count_far, count_near


@kernel
def gather_moments(
    zr: Any, zi: Any, qr: Any, qi: Any, per: Any, boxes: Any, levels: Any, binomial: Any, out: Any
) -> None:
    """out[node, 0 or 1, k]: real and imaginary parts of Σ q ((z − center)/radius)^k over the charges of a node.

    per: charges of every panel; nodes have whole panels.
    """
    order, bottom = out.shape[2], 1 << levels
    panels = zr.size // per
    pr, pi = np.empty(order), np.empty(order)
    for node in range(out.shape[0] - 1, -1, -1):
        out[node] = 0.0
        if node >= bottom - 1:
            k = node - bottom + 1
            scale = 1 / boxes[node, 2]
            for j in range(per * (k * panels // bottom), per * ((k + 1) * panels // bottom)):
                a, b = (zr[j] - boxes[node, 0]) * scale, (zi[j] - boxes[node, 1]) * scale
                cr, ci = qr[j], qi[j]
                for n in range(order):
                    out[node, 0, n] += cr
                    out[node, 1, n] += ci
                    cr, ci = cr * a - ci * b, cr * b + ci * a
            continue
        for child in (2 * node + 1, 2 * node + 2):
            share = boxes[child, 2] / boxes[node, 2]
            a = (boxes[child, 0] - boxes[node, 0]) / boxes[node, 2]
            b = (boxes[child, 1] - boxes[node, 1]) / boxes[node, 2]
            pr[0], pi[0] = 1.0, 0.0
            for n in range(1, order):
                pr[n], pi[n] = pr[n - 1] * a - pi[n - 1] * b, pr[n - 1] * b + pi[n - 1] * a
            power = 1.0
            for j in range(order):
                mr, mi = out[child, 0, j] * power, out[child, 1, j] * power
                for n in range(j, order):
                    c = binomial[n, j]
                    out[node, 0, n] += c * (mr * pr[n - j] - mi * pi[n - j])
                    out[node, 1, n] += c * (mr * pi[n - j] + mi * pr[n - j])
                power *= share


@kernel
def spread_far(far: Any, targets: Any, sources: Any, moments: Any, table: Any, out: Any) -> None:
    """Add what far source nodes are to target nodes.

    out[node, 0 or 1, l]: coefficients of ((z − center)/radius)^l in Σ q/(ζ − z). table[k, l]: (k + l)!/(k! l!).
    """
    order = table.shape[0]
    sr, si = np.empty(order), np.empty(order)
    for pair in range(far.shape[0]):
        t, s = far[pair]
        dx, dy = targets[t, 0] - sources[s, 0], targets[t, 1] - sources[s, 1]
        square = dx * dx + dy * dy
        ir, ii = dx / square, -dy / square  # 1/D
        sr[:], si[:] = 0.0, 0.0
        ar, ai = ir * sources[s, 2], ii * sources[s, 2]
        pr, pi = 1.0, 0.0
        for k in range(order):
            vr = pr * moments[s, 0, k] - pi * moments[s, 1, k]
            vi = pr * moments[s, 1, k] + pi * moments[s, 0, k]
            for n in range(order):
                sr[n] += table[k, n] * vr
                si[n] += table[k, n] * vi
            pr, pi = pr * ar - pi * ai, pr * ai + pi * ar
        br, bi = -ir * targets[t, 2], -ii * targets[t, 2]
        pr, pi = -ir, -ii
        for n in range(order):
            out[t, 0, n] += pr * sr[n] - pi * si[n]
            out[t, 1, n] += pr * si[n] + pi * sr[n]
            pr, pi = pr * br - pi * bi, pr * bi + pi * br


@kernel
def pass_down(boxes: Any, levels: Any, binomial: Any, local: Any) -> None:
    """Add every node's expansion to its children's."""
    order, bottom = local.shape[2], 1 << levels
    pr, pi = np.empty(order), np.empty(order)
    for node in range(bottom - 1):
        scale = 1 / max(boxes[node, 2], 1e-300)  # all of its targets may be one point
        for child in (2 * node + 1, 2 * node + 2):
            share = boxes[child, 2] * scale
            a = (boxes[child, 0] - boxes[node, 0]) * scale
            b = (boxes[child, 1] - boxes[node, 1]) * scale
            pr[0], pi[0] = 1.0, 0.0
            for n in range(1, order):
                pr[n], pi[n] = pr[n - 1] * a - pi[n - 1] * b, pr[n - 1] * b + pi[n - 1] * a
            power = 1.0
            for n in range(order):
                tr, ti = 0.0, 0.0
                for j in range(n, order):
                    c = binomial[j, n]
                    tr += c * (local[node, 0, j] * pr[j - n] - local[node, 1, j] * pi[j - n])
                    ti += c * (local[node, 0, j] * pi[j - n] + local[node, 1, j] * pr[j - n])
                local[child, 0, n] += tr * power
                local[child, 1, n] += ti * power
                power *= share


@kernel
def add_local(
    x: Any, y: Any, per: Any, boxes: Any, levels: Any, local: Any, slope: Any, real: Any, imaginary: Any
) -> None:
    """Add the leaves' expansions, or their derivatives if slope, at targets, times 1/(2πi). per: targets of an item."""
    n, bottom, order = x.size // per, 1 << levels, local.shape[2]
    for leaf in range(bottom):
        node = bottom - 1 + leaf
        first, last = per * (leaf * n // bottom), per * ((leaf + 1) * n // bottom)
        radius = max(boxes[node, 2], 1e-300)
        for i in range(first, last):
            a, b = (x[i] - boxes[node, 0]) / radius, (y[i] - boxes[node, 1]) / radius
            r, m = 0.0, 0.0
            if slope:
                for k in range(order - 1, 0, -1):
                    r, m = r * a - m * b + k * local[node, 0, k], r * b + m * a + k * local[node, 1, k]
                r, m = r / radius, m / radius
            else:
                for k in range(order - 1, -1, -1):
                    r, m = r * a - m * b + local[node, 0, k], r * b + m * a + local[node, 1, k]
            real[i] += m / (2 * np.pi)
            imaginary[i] -= r / (2 * np.pi)


@scalar
def _integrals(a: Any, b: Any, real: Any, imaginary: Any) -> None:
    """∫ s^k/(s − z) ds over [−1, 1] for every k, at z = a + ib; the first is log((1 − z)/(−1 − z))."""
    left, right = (1 + a) * (1 + a) + b * b, (1 - a) * (1 - a) + b * b
    real[0], imaginary[0] = 0.5 * np.log(right / left), np.arctan2(2 * b, a * a + b * b - 1)
    for k in range(1, real.size):
        more = 2.0 / k if k % 2 == 1 else 0.0
        real[k] = a * real[k - 1] - b * imaginary[k - 1] + more
        imaginary[k] = a * imaginary[k - 1] + b * real[k - 1]


@scalar
def _placed(x: Any, y: Any, panels: Any, leaves: Any, ends: Any, bottom: Any, touching: Any) -> Any:
    """A target at the end of a panel, moved inside a little, others as they are; and the panel it is on, or −1.

    Where a notch is very narrow, only the nearest panel is the one that a target is on.
    panels[panel]: start x, y, end x, y, and the directions inwards at both ends.
    """
    on, closest = -1, touching
    for leaf in leaves:
        for p in range(leaf * ends // bottom, (leaf + 1) * ends // bottom):
            hx, hy = 0.5 * (panels[p, 2] - panels[p, 0]), 0.5 * (panels[p, 3] - panels[p, 1])
            half = np.hypot(hx, hy)
            for end in range(2):
                dx, dy = x - panels[p, 2 * end], y - panels[p, 2 * end + 1]
                if abs(dx) <= touching and abs(dy) <= touching:
                    step = max(INWARD * half, 4 * touching)
                    return (
                        panels[p, 2 * end] + step * panels[p, 4 + 2 * end],
                        panels[p, 2 * end + 1] + step * panels[p, 5 + 2 * end],
                        -1,
                    )
            dx, dy = x - 0.5 * (panels[p, 2] + panels[p, 0]), y - 0.5 * (panels[p, 3] + panels[p, 1])
            if abs(dx * hx + dy * hy) < half * half and abs(dy * hx - dx * hy) <= closest * half:
                on, closest = p, abs(dy * hx - dx * hy) / half
    return x, y, on


@kernel
def add_near(
    x: Any, y: Any, target_levels: Any, starts: Any, leaves: Any, panels: Any, source_levels: Any, zr: Any, zi: Any,
    qr: Any, qi: Any, powers: Any, reach: Any, touching: Any, slope: Any, real: Any, imaginary: Any,
) -> None:  # fmt: skip
    """Add what near panels are to targets: Φ, or Φ' if slope.

    starts, leaves: of every target leaf, where its source leaves begin in the list of all.
    powers[panel, k]: coefficients of the density in powers of the place s in [−1, 1] along a panel.
    reach: half lengths from a panel's middle within which integrals are exact.
    """
    bottom, count, per = 1 << target_levels, panels.shape[0], zr.size // panels.shape[0]
    sources = 1 << source_levels
    ir, ii = np.empty(per), np.empty(per)
    for leaf in range(bottom):
        own = leaves[starts[leaf] : starts[leaf + 1]]
        for i in range(leaf * x.size // bottom, (leaf + 1) * x.size // bottom):
            px, py, on = _placed(x[i], y[i], panels, own, count, sources, touching)
            r, m = 0.0, 0.0
            for source in own:
                for p in range(source * count // sources, (source + 1) * count // sources):
                    hx, hy = 0.5 * (panels[p, 2] - panels[p, 0]), 0.5 * (panels[p, 3] - panels[p, 1])
                    dx, dy = px - 0.5 * (panels[p, 2] + panels[p, 0]), py - 0.5 * (panels[p, 3] + panels[p, 1])
                    square = hx * hx + hy * hy
                    if dx * dx + dy * dy > reach * reach * square:
                        for j in range(per * p, per * (p + 1)):
                            ex, ey = zr[j] - px, zi[j] - py
                            inverse = 1 / (ex * ex + ey * ey)
                            cr, ci = (qr[j] * ex + qi[j] * ey) * inverse, (qi[j] * ex - qr[j] * ey) * inverse
                            if slope:
                                cr, ci = (cr * ex + ci * ey) * inverse, (ci * ex - cr * ey) * inverse
                            r += cr
                            m += ci
                        continue
                    a, b = (dx * hx + dy * hy) / square, (dy * hx - dx * hy) / square
                    b = abs(b) if p == on else b  # the limit from inside
                    _integrals(a, b, ir, ii)
                    if slope:
                        tr, ti = _slope_sum(a, b, powers[p], ir, ii)
                        r += (tr * hx + ti * hy) / square
                        m += (ti * hx - tr * hy) / square
                    else:
                        for k in range(per):
                            r += powers[p, k] * ir[k]
                            m += powers[p, k] * ii[k]
            real[i] += m / (2 * np.pi)
            imaginary[i] -= r / (2 * np.pi)


@scalar
def _slope_sum(a: Any, b: Any, powers: Any, ir: Any, ii: Any) -> Any:
    """Σ powers[k] ∫ s^k/(s − z)² ds = Σ powers[k] ([−s^k/(s − z)] + k ∫ s^(k−1)/(s − z) ds)."""
    right, left = (1 - a) * (1 - a) + b * b, (1 + a) * (1 + a) + b * b
    rr, ri = (1 - a) / right, b / right  # 1/(1 − z)
    lr, li = -(1 + a) / left, b / left  # 1/(−1 − z)
    r, m = 0.0, 0.0
    for k in range(powers.size):
        sign = 1.0 if k % 2 == 0 else -1.0
        tr, ti = sign * lr - rr, sign * li - ri
        if k > 0:
            tr += k * ir[k - 1]
            ti += k * ii[k - 1]
        r += powers[k] * tr
        m += powers[k] * ti
    return r, m


@kernel
def near_matrix(
    chosen: Any, starts: Any, leaves: Any, panels: Any, levels: Any, zr: Any, zi: Any, wr: Any, wi: Any, inverse: Any,
    reach: Any, offsets: Any, out: Any,
) -> None:  # fmt: skip
    """Entries of ½ + K, the limits from inside of v at the nodes of chosen leaves for densities 1 at a node nearby.

    inverse[k, j]: coefficients of powers from values at the nodes. offsets: where the entries of a leaf's rows begin.
    """
    bottom, count, per = 1 << levels, panels.shape[0], zr.size // panels.shape[0]
    ir, ii = np.empty(per), np.empty(per)
    for leaf in chosen:
        at = offsets[leaf]
        for i in range(per * (leaf * count // bottom), per * ((leaf + 1) * count // bottom)):
            for place in range(starts[leaf], starts[leaf + 1]):
                source = leaves[place]
                for p in range(source * count // bottom, (source + 1) * count // bottom):
                    hx, hy = 0.5 * (panels[p, 2] - panels[p, 0]), 0.5 * (panels[p, 3] - panels[p, 1])
                    dx, dy = zr[i] - 0.5 * (panels[p, 2] + panels[p, 0]), zi[i] - 0.5 * (panels[p, 3] + panels[p, 1])
                    square = hx * hx + hy * hy
                    if i // per == p:
                        for j in range(per):
                            out[at + j] = 0.5 if i - per * p == j else 0.0
                    elif dx * dx + dy * dy > reach * reach * square:
                        for j in range(per):
                            ex, ey = zr[per * p + j] - zr[i], zi[per * p + j] - zi[i]
                            imaginary = (wi[per * p + j] * ex - wr[per * p + j] * ey) / (ex * ex + ey * ey)
                            out[at + j] = imaginary / (2 * np.pi)
                    else:
                        _integrals((dx * hx + dy * hy) / square, (dy * hx - dx * hy) / square, ir, ii)
                        for j in range(per):
                            total = 0.0
                            for k in range(per):
                                total += inverse[k, j] * ii[k]
                            out[at + j] = total / (2 * np.pi)
                    at += per


@kernel
def multiply_near(
    chosen: Any, starts: Any, leaves: Any, count: Any, per: Any, levels: Any, entries: Any, offsets: Any, density: Any,
    out: Any,
) -> None:  # fmt: skip
    """Add the product of `near_matrix` with a density, at the nodes of chosen leaves."""
    bottom = 1 << levels
    for leaf in chosen:
        at = offsets[leaf]
        for i in range(per * (leaf * count // bottom), per * ((leaf + 1) * count // bottom)):
            total = 0.0
            for place in range(starts[leaf], starts[leaf + 1]):
                first = per * (leaves[place] * count // bottom)
                last = per * ((leaves[place] + 1) * count // bottom)
                for j in range(first, last):
                    total += entries[at + j - first] * density[j]
                at += last - first
            out[i] += total
