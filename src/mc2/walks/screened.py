"""`Screened`: ∇·(α∇u) + ω·∇u − σu = f as ΔU + β·∇U − σ'U = F with U = √α u, which is what walks can do.

β = ω/α, F = f/√α, and σ' = σ/α + ½ Δα/α − ¼ |∇ ln α|² + ½ β·∇ ln α (Sawhney, Seyb, Jarosz and Crane, 2022, without
their restriction to ω = 0).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.functions import Function
from mc2.functions.expression import Expression
from mc2.problems import Problem
from mc2.problems.coefficients import Composed, find_jump, need_continuous
from mc2.problems.materials import need_one_material
from mc2.walks.eigenvalue import lowest_eigenvalue

Array = NDArray[np.float64]
SAMPLES = 4096
"""Points inside the domain, and a quarter as many along its boundary, at which the majorant is taken."""
SMALLEST = 1.0
"""The least majorant, in units of 1/(half of the domain's size)²: any is right."""
GROWTH = 0.5
"""Part of the first eigenvalue without what lets walks grow that must be left with it: as of Helmholtz walks."""


class Screened:
    """The functions that walks of a problem with coefficients that vary meet."""

    def __init__(self, problem: Problem) -> None:
        own = problem.operator.varying
        assert own is not None
        self.problem, self.own, self.drifts = problem, own, own.drifts

    def root(self, x: Array, y: Array) -> Array:
        """√α."""
        return np.sqrt(self.own.diffusion(x, y))

    def drift(self, x: Array, y: Array) -> Array:
        """β = ω/α [2, point]."""
        if not self.drifts:
            return np.zeros((2, x.size))
        wx, wy = self.own.drift
        return np.stack([wx(x, y), wy(x, y)]) / self.own.diffusion(x, y)

    @cached_property
    def potential(self) -> Function:
        """σ'."""
        own = self.own
        drift = own.drift if self.drifts else ()
        return _combine(_potential, own.diffusion, *own.gradient, own.laplacian, own.reaction, *drift)

    @cached_property
    def divergence(self) -> Function:
        """∇·β."""
        own = self.own
        return _combine(_divergence, own.diffusion, *own.gradient, *own.drift, own.drift_slopes[0], own.drift_slopes[3])

    def majorant(self) -> float:
        """σ̄, which the absolute values of what is screened and of what drifts apart do not exceed at many points."""
        half = 0.5 * self.problem.domain.size
        places = [self.problem.domain.sample_interior(SAMPLES, seed=2).T]
        places += [self.problem.domain.sample_boundary(SAMPLES // 4, seed=2).T]
        found = [SMALLEST / half**2]
        for place in places:
            found.append(float(np.abs(self.potential(*place)).max()))
            if self.drifts:
                found.append(float(np.abs(self.potential(*place) + self.divergence(*place)).max()))
                found.append(float(self._strain(*place).max()))
        largest = max(found)
        if not np.isfinite(largest):
            raise InputError("walks cannot solve this problem: ½ Δα/α − ¼ |∇ ln α|² + σ/α is not finite in the domain")
        return largest

    def _strain(self, x: Array, y: Array) -> Array:
        """The largest stretching by β, about: half of the largest singular value of its symmetric gradient, doubled."""
        alpha, (ax, ay), (wx, wy) = self.own.diffusion(x, y), self.own.gradient, self.own.drift
        gx, gy = ax(x, y) / alpha, ay(x, y) / alpha
        bx, by = wx(x, y) / alpha, wy(x, y) / alpha
        xx, xy, yx, yy = (part(x, y) / alpha for part in self.own.drift_slopes)
        xx, xy, yx, yy = xx - bx * gx, xy - bx * gy, yx - by * gx, yy - by * gy
        return np.asarray(0.5 * np.abs(xx + yy) + np.hypot(0.5 * (xx - yy), 0.5 * (xy + yx)))

    def check(self) -> None:
        """Refuse what walks cannot solve with a finite variance."""
        need_one_material(self.own, "walks")
        need_continuous(self.own, self.problem.domain)
        for name, part in zip(("drift x", "drift y"), self.own.drift, strict=True):
            place = find_jump(part, self.problem.domain)
            if place is not None:
                raise InputError(
                    f"walks cannot solve this problem: {name} jumps near ({place[0]:.4g}, {place[1]:.4g}); mc2.solve "
                    "does it without walks, by collocation"
                )
        inside = self.problem.domain.sample_interior(SAMPLES, seed=3).T
        if not self.drifts and float(self.own.reaction(*inside).min()) >= 0:
            return  # then −Δ + σ' is positive, and so are all factors of weights

        def plain(x: Array, y: Array) -> Array:
            return self.potential(x, y) + np.maximum(-self.own.reaction(x, y), 0.0) / self.own.diffusion(x, y)

        def growing(x: Array, y: Array) -> Array:
            found = self.potential(x, y)
            if self.drifts:  # absolute values of weights: see `propose`
                found = found + self.divergence(x, y) - 2 * self._strain(x, y)
            return found

        domain = self.problem.domain
        without, left = lowest_eigenvalue(domain, plain), lowest_eigenvalue(domain, growing)
        if left < GROWTH * without:
            why = "a drift that stretches" if self.drifts else "a negative reaction"
            raise InputError(
                f"walks cannot solve this problem: with {why} as much, the lowest eigenvalue that weights feel is "
                f"{left:.3g}, and without {without:.3g}, so that their variance is too large or infinite; mc2.solve "
                "does it without walks, by collocation"
            )


def _potential(alpha: Any, ax: Any, ay: Any, laplacian: Any, reaction: Any, *drift: Any) -> Any:
    found = reaction / alpha + 0.5 * laplacian / alpha - 0.25 * (ax * ax + ay * ay) / (alpha * alpha)
    if not drift:
        return found
    return found + 0.5 * (drift[0] * ax + drift[1] * ay) / (alpha * alpha)


def _divergence(alpha: Any, ax: Any, ay: Any, wx: Any, wy: Any, xx: Any, yy: Any) -> Any:
    return (xx + yy) / alpha - (wx * ax + wy * ay) / (alpha * alpha)


def _combine(formula: Callable[..., Any], *parts: Function) -> Function:
    """A formula of functions: an expression where all are, whose common parts are then computed once."""
    if all(isinstance(part, Expression) for part in parts):
        return formula(*parts)
    return Composed(lambda x, y: formula(*(part(x, y) for part in parts)), "a coefficient of walks")
