"""DiffusionPDE and CoCoGen: solutions drawn from a diffusion model of each family, given what is known of the problem.

The models know no walks: they were trained on the joint fields (u, f, λ, mask) alone (paper, section 5.1). A sampler
observes f, λ, the mask and, in the setting `correction`, the estimate of a few walks, each pixel by its variance. In
the setting `dense` there is no estimate, and boundary data are never used: the rest is the model's guess.
"""

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method
from mc2.checks import whole
from mc2.errors import InputError
from mc2.networks.installed import ENDING, need_torch
from mc2.solvers.learned import Learned, load_network
from mc2.zoo.laws import TRAINING

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from mc2.benchmark.methods.samplers import Observation, Residual
    from mc2.networks.preconditioning import Denoiser

EQUATION = ("family", "parameter", "grid", "mask", "source")
"""What a sampler is told of a problem: all but the boundary data."""
EXACT = 1e-4
"""Variance of what is known exactly, for fields with a spread of 1/2: samplers need some."""
TYPICAL = {"laplace": 5.8, "poisson": 0.29, "yukawa": 0.23}
"""Variance of a solution over its domain, the median of each family's first 300 training instances: what is guessed
without walks."""
SURE = 0.05
"""The least part of an estimate's variance that is the solution's."""
NEAR = 5
"""Pixels along a side of the squares over which variances of walks are averaged: a few walks tell little of them."""


class SamplerState(NamedTuple):
    """What a sampler has: a model, noise x at the first of the levels, what is known, and random numbers."""

    denoiser: "Denoiser"
    x: "Tensor"
    levels: list[float]
    observation: "Observation"
    residual: "Residual"
    generator: "Generator"


class Generative(Method):
    """Draws from a diffusion model.

    folder: with edm-FAMILY.safetensors files in place of the weights that the package ships.
    steps: noise levels.
    seed: of the noise that sampling begins with.
    """

    families = TRAINING
    observed = True
    base: str

    def __init__(self, folder: str = "", steps: int = 40, seed: int = 0) -> None:
        need_torch("a diffusion model")
        from mc2.networks.joint_fields import JointFields

        self.steps, self.seed = whole("steps", steps, 1), whole("seed", seed, 0)
        names = {family: f"edm-{family}" for family in TRAINING}
        files = {family: str(Path(folder) / (name + ENDING)) if folder else name for family, name in names.items()}
        self.models = {family: load_network(file, kind=JointFields) for family, file in files.items()}
        self.name = self.base

    @abstractmethod
    def sample(self, given: "SamplerState") -> "Tensor":
        """Joint fields."""

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        import torch

        from mc2.benchmark.methods.samplers import first_noise, noise_levels
        from mc2.networks.joint_fields import joint_residual
        from mc2.networks.preconditioning import denoise

        if case.family not in self.models:
            raise InputError(f"{self.name} has no model of the family {case.family!r}")
        model = self.models[case.family]
        known, units, mask, lam = self._known(case, model)
        half = model.device.type == "cuda"

        def denoiser(x: "Tensor", sigma: "Tensor") -> "Tensor":
            with torch.autocast(model.device.type, torch.bfloat16, enabled=half):
                return denoise(model.network, x, sigma, model.multiple)

        def residual(x: "Tensor") -> "Tensor":
            pair = torch.cat([x[:, :1], known.values[:, 1:2]], 1)  # the source is known
            return joint_residual(pair, lam, mask, case.grid.spacing[0])

        levels = noise_levels(self.steps)
        generator = torch.Generator(model.device).manual_seed(self.seed)
        x = first_noise(tuple(known.values.shape), levels[0], generator)
        found = self.sample(SamplerState(denoiser, x, levels, known, residual, generator))
        field: NDArray[np.float32] = units.field(found, mask)[0].cpu().numpy()
        return field

    def _known(self, case: Case, model: Learned) -> Any:
        """What is observed, its units, the mask and λ."""
        import torch

        from mc2.benchmark.methods.samplers import Observation
        from mc2.networks.joint_fields import join, units_of
        from mc2.networks.preconditioning import SPREAD

        def put(values: Any) -> "Tensor":
            return torch.from_numpy(np.array(values, np.float32, ndmin=3)).to(model.device)

        mask, f = put(case.mask), put(case.source)
        lam = torch.tensor([case.parameter], dtype=torch.float32, device=model.device)
        mean, noise = torch.zeros_like(mask), None
        spread = torch.full((1, 1, 1), TYPICAL[case.family], device=mask.device)
        shift = torch.zeros_like(spread)
        if self.observed:
            if case.walks < 2:
                raise InputError(f"{self.name} needs two or more walks per pixel, to know their variance")
            mean = put(case.estimate)
            noise = _smooth(put(case.variance), mask)
            shift, spread = _moments(mean, put(case.variance), mask)
        units = units_of(shift, spread, f, lam, mask)
        values = join(mean, f, lam, mask, units)
        variance = torch.full_like(values, EXACT)
        unknown = torch.inf if noise is None else noise * (SPREAD / units.scale) ** 2 + EXACT
        variance[:, 0] = torch.where(mask > 0, unknown, EXACT)
        return Observation(values, variance), units, mask, lam


class DiffusionPDESampler(Generative):
    """Heun's sampler, guided by the observations and, in the last fifth, by the equation's residual.

    observation_weight, residual_weight: of the two; 1 is what statistics and the steepest descent ask for.
    """

    def __init__(
        self, folder: str = "", steps: int = 40, seed: int = 0, observation_weight: float = 1.0,
        residual_weight: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(folder, steps, seed)
        self.weights = {"observation_weight": observation_weight, "residual_weight": residual_weight}

    def sample(self, given: "SamplerState") -> "Tensor":
        from mc2.benchmark.methods.samplers import sample_diffusion_pde

        denoiser, x, levels, observation, residual, _ = given
        return sample_diffusion_pde(denoiser, x, levels, observation, residual, **self.weights)


class CoCoGenSampler(Generative):
    """Reverse diffusion, with the equation's residual corrected in the last fifth of the steps and after them.

    observation_weight: 1 is what statistics ask for.
    corrections, corrections_after: of the residual, after each of the last steps and at the end.
    """

    def __init__(
        self,
        folder: str = "",
        steps: int = 40,
        seed: int = 0,
        observation_weight: float = 1.0,
        corrections: int = 1,
        corrections_after: int = 100,
    ) -> None:
        super().__init__(folder, steps, seed)
        self.weight, self.corrections, self.after = observation_weight, corrections, corrections_after

    def sample(self, given: "SamplerState") -> "Tensor":
        from mc2.benchmark.methods.samplers import sample_cocogen

        return sample_cocogen(
            *given, observation_weight=self.weight, corrections=self.corrections, corrections_after=self.after
        )


@final
class DiffusionPDE(DiffusionPDESampler):
    """DiffusionPDE (Huang and others, 2024) on the estimate of a few walks."""

    base = "diffusion-pde"
    setting = "correction"
    reads = (*EQUATION, "estimate", "variance", "walks")


@final
class CoCoGen(CoCoGenSampler):
    """CoCoGen (Jacobsen and others, 2024) on the estimate of a few walks."""

    base = "cocogen"
    setting = "correction"
    reads = (*EQUATION, "estimate", "variance", "walks")


@final
class DiffusionPDEPrior(DiffusionPDESampler):
    """DiffusionPDE without walks: a solution of the equation that looks like one of the zoo."""

    base = "diffusion-pde-prior"
    observed = False
    setting = "dense"
    reads = EQUATION


@final
class CoCoGenPrior(CoCoGenSampler):
    """CoCoGen without walks: a solution of the equation that looks like one of the zoo."""

    base = "cocogen-prior"
    observed = False
    setting = "dense"
    reads = EQUATION


def _moments(mean: "Tensor", variance: "Tensor", mask: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Mean and variance of u over the mask, as training has them, as far as a noisy estimate tells: [1, 1, 1]."""

    def over_mask(field: "Tensor") -> "Tensor":
        return (field * mask).sum((1, 2), keepdim=True) / mask.sum((1, 2), keepdim=True).clamp_min(1)

    shift = over_mask(mean)
    seen = over_mask((mean - shift).square())
    return shift, (seen - over_mask(variance)).clamp_min(SURE * seen)


def _smooth(variance: "Tensor", mask: "Tensor") -> "Tensor":
    """Variances averaged over near pixels of the mask, [1, h, w]."""
    from torch.nn.functional import avg_pool2d

    total, count = (avg_pool2d(part[:, None], NEAR, 1, NEAR // 2)[:, 0] for part in (variance * mask, mask))
    return total / count.clamp_min(1e-9)
