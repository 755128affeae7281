"""Samplers of diffusion models, as functions of a denoiser: Heun's, DiffusionPDE's and CoCoGen's.

A denoiser D(x; σ) tells the mean of the data that x may have come from by noise of level σ, so (D − x)/σ² is the score
of noisy data. All samplers begin with x of the largest noise level and go down a list of levels that ends with 0.

Observations y of the data, with variance v, are known by their misfit e = D − y. Given x, data have the covariance σ²J,
where J is the derivative of D (Tweedie's formula), so along the misfit the variance r² = σ²⟨e, Je⟩/⟨e, e⟩. The score of
x given y is then the score of x less the gradient of

    misfit(x) = ½ Σ (D(x; σ) − y)²/(v + r²),

exactly so for independent Gaussian data (Chung and others, 2023; Song and others, 2023). There r² is σ²σ_d²/(σ² + σ_d²)
with the spread σ_d of the data; the waves of smooth fields stand out of the noise, so that J is near 1 and r² near σ².

Residuals of an equation are affine functions R of the data. A step against the gradient p of ½|R|² is as long as lowers
|R| most, |p|²/|Ap|², where A is the linear part of R.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from mc2.networks.preconditioning import SPREAD, Denoiser

SMALLEST_LEVEL, LARGEST_LEVEL, EXPONENT = 0.002, 80.0, 7.0
"""Noise levels, and how they crowd at the lower end, as Karras and others have them."""

Residual = Callable[[Tensor], Tensor]
"""From fields [n, channels, h, w] to the residual of their equation [n, …], an affine function."""


@dataclass(frozen=True)
class Observation:
    """values and their variance, both [n, channels, h, w]; the variance is infinite where nothing is seen."""

    values: Tensor
    variance: Tensor

    def gradient(self, clean: Tensor, x: Tensor, level: float) -> Tensor:
        """The gradient in x of ½ Σ (D − y)²/(v + r²), with a variance r² of every channel.

        clean: D(x; σ), with its graph.
        """

        def back(field: Tensor) -> Tensor:
            return torch.autograd.grad(clean, x, field, retain_graph=True)[0]

        away = torch.where(self.variance.isfinite(), clean.detach() - self.values, 0.0)
        share = (away * back(away)).sum((2, 3), keepdim=True) / away.square().sum((2, 3), keepdim=True).clamp_min(1e-30)
        share = share.clamp(SPREAD**2 / (level**2 + SPREAD**2), 1.0)  # no less than that of independent pixels
        return back(away / (self.variance + level**2 * share))


def noise_levels(steps: int, smallest: float = SMALLEST_LEVEL, largest: float = LARGEST_LEVEL) -> list[float]:
    """The levels of so many steps, falling from the largest to the smallest, and then 0."""
    low, high = smallest ** (1 / EXPONENT), largest ** (1 / EXPONENT)
    shares = [number / max(steps - 1, 1) for number in range(steps)]
    return [(high + share * (low - high)) ** EXPONENT for share in shares] + [0.0]


def first_noise(shape: tuple[int, ...], level: float, generator: torch.Generator) -> Tensor:
    """Fields of noise alone, to begin with."""
    return level * torch.randn(shape, generator=generator, device=generator.device)


def sample_heun(denoiser: Denoiser, x: Tensor, levels: list[float]) -> Tensor:
    """Heun's method for dx/dσ = (x − D)/σ (Karras and others, 2022): second order in the steps."""
    with torch.no_grad():
        for now, then in pairwise(levels):
            x = _heun_step(denoiser, x, _at(denoiser, x, now), now, then)
    return x


def sample_diffusion_pde(
    denoiser: Denoiser,
    x: Tensor,
    levels: list[float],
    observation: Observation,
    residual: Residual | None = None,
    *,
    observation_weight: float = 1.0,
    residual_weight: float = 1.0,
    residual_share: float = 0.2,
) -> Tensor:
    """DiffusionPDE (Huang and others, 2024): Heun steps, each followed by steps against two gradients through D.

    The one of the observations' misfit is as long as the score asks for, σ(σ − σ′), times a weight. The one of the
    residual is taken in the last share of the steps. Weights of 0 leave Heun's sampler.
    """
    for number, (now, then) in enumerate(pairwise(levels)):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            clean = _at(denoiser, x, now)
            move = observation_weight * now * (now - then) * observation.gradient(clean, x, now)
            if residual is not None and residual_weight and number >= (1 - residual_share) * (len(levels) - 1):
                downhill = residual_weight * _steepest(clean.detach(), residual)
                move = move + torch.autograd.grad(clean, x, downhill)[0]
        with torch.no_grad():
            x = _heun_step(denoiser, x.detach(), clean.detach(), now, then) - move
    return x.detach()


def sample_cocogen(
    denoiser: Denoiser,
    x: Tensor,
    levels: list[float],
    observation: Observation | None,
    residual: Residual | None,
    generator: torch.Generator,
    *,
    observation_weight: float = 1.0,
    residual_share: float = 0.2,
    corrections: int = 1,
    corrections_after: int = 100,
) -> Tensor:
    """CoCoGen (Jacobsen and others, 2024): steps of the reverse diffusion, with the residual corrected.

    Fields themselves, not what D makes of them, are moved against the residual's gradient: `corrections` times after
    each of the last share of the steps, and `corrections_after` times at the end. The random steps are those of Song
    and others (2021), which end at D.
    """
    for number, (now, then) in enumerate(pairwise(levels)):
        clean = _informed(denoiser, x, now, observation, observation_weight)
        keep = (then / now) ** 2
        noise = torch.randn(x.shape, generator=generator, device=x.device)
        x = clean + keep * (x - clean) + then * (1 - keep) ** 0.5 * noise
        if residual is not None and number >= (1 - residual_share) * (len(levels) - 1):
            x = correct(x, residual, corrections)
    return x if residual is None else correct(x, residual, corrections_after)


def correct(x: Tensor, residual: Residual, times: int = 1) -> Tensor:
    """Fields moved against the gradient of their residual's square: each time, |R| becomes smaller."""
    for _ in range(times):
        x = x - _steepest(x, residual)
    return x


def _at(denoiser: Denoiser, x: Tensor, level: float) -> Tensor:
    return denoiser(x, torch.full((len(x),), level, device=x.device))


def _heun_step(denoiser: Denoiser, x: Tensor, clean: Tensor, now: float, then: float) -> Tensor:
    """From one noise level to the next. clean: D(x; σ), which is known already."""
    slope = (x - clean) / now
    moved = x + (then - now) * slope
    if then == 0:
        return moved
    return x + (then - now) * 0.5 * (slope + (moved - _at(denoiser, moved, then)) / then)


def _informed(denoiser: Denoiser, x: Tensor, level: float, observation: Observation | None, weight: float) -> Tensor:
    """What x may have come from, given the observations too."""
    if observation is None or not weight:
        with torch.no_grad():
            return _at(denoiser, x, level)
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        clean = _at(denoiser, x, level)
        gradient = observation.gradient(clean, x, level)
    return clean.detach() - weight * level**2 * gradient


def _steepest(x: Tensor, residual: Residual) -> Tensor:
    """The step against which |R| falls most along its gradient."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        found = residual(x)
        gradient = torch.autograd.grad(0.5 * found.square().sum(), x)[0]
    with torch.no_grad():
        change = found.detach() - residual(x - gradient)  # R is affine, so this is its linear part
        length = gradient.flatten(1).square().sum(1) / change.flatten(1).square().sum(1).clamp_min(1e-30)
        return length[:, None, None, None] * gradient
