"""Samplers on data whose denoiser is known: Gaussian ones, where everything has a formula."""

import math

import numpy as np
import pytest
import torch

from mc2.benchmark.methods.samplers import (
    Observation,
    correct,
    first_noise,
    noise_levels,
    sample_cocogen,
    sample_diffusion_pde,
    sample_heun,
)
from mc2.networks.joint_fields import joint_residual
from mc2.networks.preconditioning import SPREAD

MEAN = 0.3
SHAPE = (4, 2, 12, 12)


def ideal(x, sigma):
    """The denoiser of independent pixels with mean 0.3 and spread 1/2."""
    share = (SPREAD**2 / (SPREAD**2 + sigma**2))[:, None, None, None]
    return MEAN + share * (x - MEAN)


def noise(seed=0, shape=SHAPE):
    return first_noise(shape, noise_levels(2)[0], torch.Generator().manual_seed(seed))


def test_levels():
    levels = noise_levels(18)
    assert len(levels) == 19
    assert (levels[0], levels[-2], levels[-1]) == pytest.approx((80, 0.002, 0))
    assert levels == sorted(levels, reverse=True)
    assert len(noise_levels(1)) == 2


def test_heun_is_of_second_order():
    """dx/dσ = (x − D)/σ has the solution x = m + (x₀ − m) √((σ² + s²)/(σ₀² + s²)) here."""
    start = noise().double()
    exact = MEAN + (start - MEAN) * math.sqrt((0.002**2 + SPREAD**2) / (80**2 + SPREAD**2))
    errors = []
    for steps in (20, 40, 80):
        levels = noise_levels(steps)[:-1]  # the last step, to 0, is Euler's
        errors.append((sample_heun(ideal, start, levels) - exact).abs().max().item())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (rates > 1.7).all(), errors
    assert errors[-1] < 0.01


def test_heun_draws_from_the_law():
    found = sample_heun(ideal, noise(shape=(8, 2, 24, 24)), noise_levels(40))
    assert found.mean().item() == pytest.approx(MEAN, abs=4 * SPREAD / math.sqrt(found.numel()))
    assert found.std().item() == pytest.approx(SPREAD, rel=0.03)


@pytest.mark.parametrize("sampler", ["diffusion-pde", "cocogen"])
def test_observations_give_the_posterior(sampler):
    """Mean (v m + s² y)/(s² + v) and variance s² v/(s² + v), as Bayes has it; nothing changes where nothing is seen."""
    variance = torch.full((64, 2, 6, 6), torch.inf)
    variance[:, 0] = 0.1
    observation = Observation(torch.full_like(variance, 1.2), variance)
    levels, start = noise_levels(160), noise(1, tuple(variance.shape))
    if sampler == "cocogen":
        found = sample_cocogen(ideal, start, levels, observation, None, torch.Generator().manual_seed(2))
    else:
        found = sample_diffusion_pde(ideal, start, levels, observation)
    seen, unseen = found[:, 0], found[:, 1]
    expected = (0.1 * MEAN + SPREAD**2 * 1.2) / (SPREAD**2 + 0.1)
    assert seen.mean().item() == pytest.approx(expected, abs=0.03)
    assert seen.var().item() == pytest.approx(SPREAD**2 * 0.1 / (SPREAD**2 + 0.1), rel=0.15)
    assert unseen.mean().item() == pytest.approx(MEAN, abs=0.04)
    assert unseen.var().item() == pytest.approx(SPREAD**2, rel=0.12)


def test_the_posterior_is_approached_with_more_steps():
    """Given y, x is Gaussian at every level, so its path is known here too; guidance follows it at first order."""
    observation, start = Observation(torch.full(SHAPE, 1.2), torch.full(SHAPE, 0.1)), noise()
    mean, variance = (0.1 * MEAN + SPREAD**2 * 1.2) / (SPREAD**2 + 0.1), SPREAD**2 * 0.1 / (SPREAD**2 + 0.1)
    exact = mean + (start - mean) * math.sqrt(variance / (variance + 80**2))
    errors = []
    for steps in (20, 40, 80, 160):
        found = sample_diffusion_pde(ideal, start, noise_levels(steps), observation)
        errors.append((found - exact).square().mean().sqrt().item())
    assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 0.8).all(), errors


def setting():
    """An equation for 16 × 16 pixels, Δu = f, and observations of a solution's u with some noise."""
    torch.manual_seed(3)
    axis = torch.linspace(-1, 1, 16)
    u = 0.5 * (axis[None, :] ** 2 - 0.5 * axis[:, None])[None].expand(3, 16, 16)
    f = torch.full_like(u, 0.01)  # Δu = 1, in units of 100
    x = torch.stack([u, f], 1)
    values = x + 0.2 * torch.randn_like(x)
    mask, zero = torch.ones(3, 16, 16), torch.zeros(3)
    return Observation(values, torch.full_like(x, 0.04)), lambda x: joint_residual(x, zero, mask, 2 / 15)


def test_guidance_lowers_the_misfit_and_the_residual():
    observation, residual = setting()
    start, levels = noise(shape=(3, 2, 16, 16)), noise_levels(30)

    def run(seen, solved):
        found = sample_diffusion_pde(
            ideal, start, levels, observation, residual, observation_weight=seen, residual_weight=solved
        )
        misfit = ((found - observation.values).square() / observation.variance).sum().item()
        return misfit, residual(found).square().mean().sqrt().item()

    free, seen, solved, both = run(0.0, 0.0), run(1.0, 0.0), run(0.0, 1.0), run(1.0, 1.0)
    torch.testing.assert_close(
        sample_diffusion_pde(ideal, start, levels, observation, observation_weight=0.0),
        sample_heun(ideal, start, levels),
    )
    assert seen[0] < 0.5 * free[0]
    assert both[0] < 0.6 * free[0]
    assert solved[1] < 0.5 * free[1]
    assert both[1] < 0.5 * seen[1]


def test_corrections_lower_the_residual_every_time():
    observation, residual = setting()
    x, sizes = observation.values, []
    for _ in range(8):
        sizes.append(residual(x).square().sum((1, 2)))
        x = correct(x, residual)
    assert (torch.stack(sizes).diff(dim=0) < 0).all()
    torch.testing.assert_close(correct(observation.values, residual, 8), x)
    start, levels = noise(shape=(3, 2, 16, 16)), noise_levels(20)

    def left(during, after):
        found = sample_cocogen(
            ideal, start, levels, observation, residual, torch.Generator().manual_seed(0),
            corrections=during, corrections_after=after,
        )  # fmt: skip
        return residual(found).square().mean().item()

    assert left(0, 20) < 0.2 * left(0, 0)
    assert left(2, 20) < left(0, 20) * 1.05


@pytest.mark.parametrize("sampler", ["diffusion-pde", "cocogen"])
def test_smooth_fields(sampler):
    """Their pixels are not independent, and guidance that took them so would be too strong by orders of magnitude."""
    size = 64
    frequency = torch.fft.fftfreq(size, 1 / size)
    power = torch.exp(-(frequency[:, None] ** 2 + frequency**2) / 8)
    power = power / power.mean() * SPREAD**2  # of every wave, so that pixels have the spread

    def filtered(x, factors):
        return torch.fft.ifft2(torch.fft.fft2(x) * factors).real

    def denoiser(x, sigma):
        return filtered(x, power / (power + sigma[:, None, None, None] ** 2))

    generator = torch.Generator().manual_seed(0)
    exact = filtered(torch.randn((4, 1, size, size), generator=generator), power.sqrt())
    seen = exact + 0.1 * torch.randn(exact.shape, generator=generator)
    observation = Observation(seen, torch.full_like(seen, 0.01))
    start, levels = noise(1, tuple(seen.shape)), noise_levels(40)
    if sampler == "cocogen":
        found = sample_cocogen(denoiser, start, levels, observation, None, generator)
    else:
        found = sample_diffusion_pde(denoiser, start, levels, observation)
    least = (filtered(seen, power / (power + 0.01)) - exact).square().mean().sqrt()  # of the posterior's mean
    assert (found - exact).square().mean().sqrt() < 2 * least  # samples have √2


def test_a_seed_is_a_sample():
    observation, residual = setting()
    start, levels = noise(shape=(3, 2, 16, 16)), noise_levels(6)
    first, again, other = (
        sample_cocogen(ideal, start, levels, observation, residual, torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
