"""How far a field is from the exact one, over the mask: the definitions behind every table.

With low, high the range of the exact field over the mask, both fields are mapped by (v − low)/(high − low), and the
other one is clipped to [0, 1]. PSNR is −10 log₁₀ of the mean square between those.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[Any]
SMALLEST = 1e-30
"""Below any error of a float32 field: keeps decibels finite for a perfect prediction."""


def mse(found: Array, exact: Array, mask: Array) -> float:
    """Mean squared error, in the units of the solution: what difficulty and convergence are about."""
    error = found[mask].astype(float) - exact[mask]
    return float(error @ error / error.size)


def normalised(found: Array, exact: Array, mask: Array) -> tuple[Array, Array]:
    """Values over the mask of a field and of the exact one, both mapped, the first clipped: [pixels] each."""
    guess, truth = found[mask].astype(float), exact[mask].astype(float)
    low, high = truth.min(), truth.max()
    return np.clip((guess - low) / (high - low), 0.0, 1.0), (truth - low) / (high - low)


def normalised_mse(found: Array, exact: Array, mask: Array) -> float:
    """Mean square between the two mapped fields."""
    guess, truth = normalised(found, exact, mask)
    return float(np.mean((guess - truth) ** 2))


def decibels(error: float) -> float:
    """−10 log₁₀ of a mean square."""
    return -10 * float(np.log10(max(error, SMALLEST)))


def psnr(found: Array, exact: Array, mask: Array) -> float:
    """PSNR in dB."""
    return decibels(normalised_mse(found, exact, mask))


def exact_range(exact: "Tensor", mask: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Smallest and largest value of every exact field [n, h, w] over its mask, [n]."""
    outside, endless = mask == 0, float("inf")
    return exact.masked_fill(outside, endless).amin((1, 2)), exact.masked_fill(outside, -endless).amax((1, 2))


def normalised_tensors(found: "Tensor", exact: "Tensor", mask: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Fields and exact fields [n, h, w] on any device, both mapped, the first clipped, in float64."""
    low, high = (value[:, None, None].double() for value in exact_range(exact, mask))
    return ((found - low) / (high - low)).clamp(0.0, 1.0), (exact - low) / (high - low)


def normalised_mse_of_tensors(found: "Tensor", exact: "Tensor", mask: "Tensor") -> "Tensor":
    """Mean squares between mapped fields, [n]."""
    guess, truth = normalised_tensors(found, exact, mask)
    inside = mask != 0
    return (guess - truth).square().masked_fill(~inside, 0.0).sum((1, 2)) / inside.sum((1, 2))


def decibels_of_tensor(error: "Tensor") -> "Tensor":
    """−10 log₁₀ of mean squares."""
    return -10 * error.clamp_min(SMALLEST).log10()


def psnr_of_tensors(found: "Tensor", exact: "Tensor", mask: "Tensor") -> "Tensor":
    """PSNR in dB of fields [n, h, w] on any device, [n]."""
    return decibels_of_tensor(normalised_mse_of_tensors(found, exact, mask))
