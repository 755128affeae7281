"""What is made small in training: losses."""

from torch import Tensor

from mc2.metrics import exact_range
from mc2.networks.corrector_inputs import CorrectorChannels
from mc2.training.config import Config
from mc2.training.data import Batch

TINY = 1e-9
"""Part of a squared range below which errors, of −90 dB, count as equal."""


def loss_of(config: Config, batch: Batch, prepared: CorrectorChannels, residual: Tensor) -> Tensor:
    """The loss of a batch, a number.

    residual: the network's output [n, h, w].

    `mse`: mean over instances of the squared error over the mask, in units of `scale`². `log`: of its logarithm, in
    units of the exact field's squared range; −10/ln 10 times this is a PSNR.
    """
    mask = batch.given.mask
    target = batch.u if batch.given.lift is None else batch.u - batch.given.lift
    target = (target - prepared.shift) / prepared.scale
    found = prepared.base + residual.float()
    if config.loss_precision == "bf16":
        target, found, mask = target.bfloat16(), found.bfloat16(), mask.bfloat16()
    pixels = mask.sum((1, 2)).clamp_min(1)
    error = ((found - target) * mask).square().sum((1, 2)) / pixels
    if config.loss == "mse":
        return error.mean()
    low, high = exact_range(batch.u, batch.given.mask)
    return (error / ((high - low) / prepared.scale[:, 0, 0]).square() + TINY).log().mean()
