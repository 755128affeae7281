"""What networks are trained for: correcting an estimate, solving a problem, denoising joint fields."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, final

import torch
from torch import Tensor, nn

from mc2.metrics import psnr_of_tensors
from mc2.networks import corrector_inputs as correction
from mc2.networks import operator_inputs as operator
from mc2.networks.corrector_inputs import apply_network
from mc2.networks.joint_fields import exact_units, join
from mc2.networks.preconditioning import coefficients, denoise
from mc2.networks.residual import STEEP, inside, residual
from mc2.training.config import Config
from mc2.training.data import Batch
from mc2.training.objective import loss_of
from mc2.zoo import FAMILIES

NOISE_LEVELS = (0.05, 0.2, 1.0, 5.0, 25.0)
"""At which denoisers are validated."""
SMALLEST_ERROR = 1e-12


class Task(ABC):
    """The loss of a batch, and scores of held instances. Forward: the network, or what stands for it on many devices.

    score: the name of the scores, under which the log has them.
    unit: of the scores, for people.
    """

    score: ClassVar[str] = "psnr"
    unit: ClassVar[str] = "PSNR / dB"

    def __init__(self, config: Config) -> None:
        self.config = config
        self.prepare: Any = None

    @abstractmethod
    def loss(self, forward: Any, network: nn.Module, batch: Batch) -> Tensor:
        """What training makes small: a number."""

    @abstractmethod
    def scores(self, network: nn.Module, batch: Batch, number: int) -> Tensor:
        """How good the network is on each of a batch's instances, [n]; more is better.

        number: of the batch.
        """

    @abstractmethod
    def scores_before(self, batch: Batch, number: int) -> Tensor:
        """Scores [n] without a network: what it has to improve on."""

    def compile(self) -> None:
        """Make the inputs by compiled code from here on."""
        if self.prepare is not None:
            self.prepare = torch.compile(self.prepare)

    def half(self, device: torch.device) -> torch.autocast:
        """Networks run in half precision within this, if they are to."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self.config.precision == "bf16")

    def run(self, forward: Any, network: nn.Module, channels: Tensor) -> Tensor:
        """A network's output [n, h, w], for networks of one field."""
        with self.half(channels.device):
            return apply_network(forward, channels, network.multiple)  # type: ignore[arg-type]

    def validate(self, network: nn.Module, batches: Sequence[Batch]) -> dict[str, float]:
        """Mean scores per family and overall."""
        with torch.no_grad():
            found = [self.scores(network, batch, number) for number, batch in enumerate(batches)]
        return by_family(torch.cat(found), batches)

    def before(self, batches: Sequence[Batch]) -> dict[str, float]:
        """Mean scores without a network."""
        with torch.no_grad():
            found = [self.scores_before(batch, number) for number, batch in enumerate(batches)]
        return by_family(torch.cat(found), batches)


@final
class Correction(Task):
    """From the estimate of a few walks to the solution."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.prepare = correction.prepare

    def loss(self, forward: Any, network: nn.Module, batch: Batch) -> Tensor:
        prepared = self.prepare(batch.given, self.config.inputs)
        return loss_of(self.config, batch, prepared, self.run(forward, network, prepared.channels))

    def scores(self, network: nn.Module, batch: Batch, number: int) -> Tensor:
        prepared = correction.prepare(batch.given, self.config.inputs)
        output = self.run(network, network, prepared.channels)
        return psnr_of_tensors(correction.finish(prepared, output, batch.given), batch.u, batch.given.mask)

    def scores_before(self, batch: Batch, number: int) -> Tensor:
        """Those of the estimates themselves."""
        return psnr_of_tensors(batch.given.mean, batch.u, batch.given.mask)


@final
class Operator(Task):
    """From a problem to its solution: FNO (Li and others, 2021) and, with physics, PINO (Li and others, 2021).

    The loss is the relative L2 error over the mask, and `physics` times the mean square of the equation's residual over
    the pixels whose whole stencil lies in the mask. Both are without units: residuals in 100 times the field's scale,
    which is the usual size of a source. So a network that says 0 has a loss of about 1 + physics.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.prepare = operator.prepare

    def loss(self, forward: Any, network: nn.Module, batch: Batch) -> Tensor:
        prepared = self.prepare(operator_data(batch), self.config.inputs)
        output = self.run(forward, network, prepared.channels).float()
        mask, target = batch.given.mask, (batch.u - prepared.shift) / prepared.scale
        parts = (output - target, target)
        error, size = (((part * mask).square().sum((1, 2)) + SMALLEST_ERROR).sqrt() for part in parts)
        loss = (error / size).mean()
        if not self.config.physics:
            return loss
        field = prepared.shift + prepared.scale * output
        return loss + self.config.physics * self.residual(field, prepared.scale, batch).mean()

    def residual(self, field: Tensor, scale: Tensor, batch: Batch) -> Tensor:
        """Mean square of the equation's residual, in units of 100 times the scale, [n]."""
        given = batch.given
        found = residual(field, given.source, coefficient_of(batch), given.mask, given.spacing) / (STEEP * scale)
        return found.square().sum((1, 2)) / inside(given.mask).sum((1, 2)).clamp_min(1)

    def scores(self, network: nn.Module, batch: Batch, number: int) -> Tensor:
        prepared = operator.prepare(operator_data(batch), self.config.inputs)
        output = self.run(network, network, prepared.channels)
        return psnr_of_tensors(operator.finish(prepared, output, batch.given.mask), batch.u, batch.given.mask)

    def scores_before(self, batch: Batch, number: int) -> Tensor:
        """Those of the mean of the estimate, everywhere."""
        mask = batch.given.mask
        mean = (batch.given.mean * mask).sum((1, 2), keepdim=True) / mask.sum((1, 2), keepdim=True).clamp_min(1)
        return psnr_of_tensors(mean.expand_as(batch.u), batch.u, mask)


@final
class Diffusion(Task):
    """Denoising of the joint fields at noise levels σ with a normal ln σ: EDM (Karras and others, 2022).

    The loss is the mean square of (D − y)/c_out, which is that of the network's own error. Scores are of the same, in
    dB, at fixed noise levels with fixed noise: 0 for a network that has learned nothing.
    """

    score = "denoising"
    unit = "denoising / dB"

    def loss(self, forward: Any, network: nn.Module, batch: Batch) -> Tensor:
        y, inputs = joint_of(batch), self.config.inputs
        sigma = (inputs.noise_mean + inputs.noise_spread * torch.randn(len(y), device=y.device)).exp()
        return self._errors(forward, network, y, sigma, torch.randn_like(y)).mean()

    def scores(self, network: nn.Module, batch: Batch, number: int) -> Tensor:
        return self._at_fixed_levels(network, network, batch, number)

    def scores_before(self, batch: Batch, number: int) -> Tensor:
        """Those of a network that says 0."""
        return self._at_fixed_levels(lambda x, noise: torch.zeros_like(x), None, batch, number)

    def _at_fixed_levels(self, forward: Any, network: nn.Module | None, batch: Batch, number: int) -> Tensor:
        y, errors = joint_of(batch), []
        generator = torch.Generator(y.device).manual_seed(number)
        for level in NOISE_LEVELS:
            noise = torch.randn(y.shape, generator=generator, device=y.device)
            errors.append(self._errors(forward, network, y, torch.full((len(y),), level, device=y.device), noise))
        return -10 * torch.stack(errors).mean(0).clamp_min(SMALLEST_ERROR).log10()

    def _errors(self, forward: Any, network: nn.Module | None, y: Tensor, sigma: Tensor, noise: Tensor) -> Tensor:
        """Mean squares of (D − y)/c_out, [n]."""
        multiple = 1 if network is None else int(network.multiple)  # type: ignore[arg-type]
        with self.half(y.device):
            found = denoise(forward, y + sigma[:, None, None, None] * noise, sigma, multiple)
        _, out, _, _ = coefficients(sigma)
        return ((found - y) / out[:, None, None, None]).square().mean((1, 2, 3))


TASKS: dict[str, type[Task]] = {"correction": Correction, "operator": Operator, "diffusion": Diffusion}


def make_task(config: Config) -> Task:
    return TASKS[config.task](config)


def coefficient_of(batch: Batch) -> Tensor:
    """c in Δu + cu = f of every instance, [n]: −λ for Yukawa, k² for Helmholtz, else 0."""
    family, parameter = batch.needed("family"), batch.needed("parameter")
    found = torch.where(family == FAMILIES.index("yukawa"), -parameter, torch.zeros_like(parameter))
    return torch.where(family == FAMILIES.index("helmholtz"), parameter.square(), found)


def operator_data(batch: Batch) -> operator.OperatorData:
    """What an operator network may see of a batch."""
    given = batch.given
    coefficient = given.mean.new_zeros(len(given.mean)) if batch.parameter is None else coefficient_of(batch)
    return operator.OperatorData(given.source, given.mask, coefficient, batch.distance, batch.boundary)


def joint_of(batch: Batch) -> Tensor:
    """The joint fields of a batch, [n, 4, h, w]."""
    given, lam = batch.given, batch.needed("parameter")
    units = exact_units(batch.u, given.source, lam, given.mask)
    return join(batch.u, given.source, lam, given.mask, units)


def by_family(scores: Tensor, batches: Sequence[Batch]) -> dict[str, float]:
    """Means of scores per family and overall."""
    families = torch.cat([batch.family for batch in batches if batch.family is not None])
    parts = {name: scores[families == number] for number, name in enumerate(FAMILIES)} | {"overall": scores}
    return {name: float(own.mean()) for name, own in parts.items() if len(own)}
