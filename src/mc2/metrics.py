"""How far a field is from the exact one, over the mask (the definitions behind every table)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def mse(found: Array, exact: Array, mask: Array) -> float:
    """Mean squared error, in the units of the solution: what difficulty and convergence are about."""
    error = found[mask].astype(float) - exact[mask]
    return float(error @ error / error.size)


def normalised_mse(found: Array, exact: Array, mask: Array) -> float:
    """Mean squared error after lo…hi, the range of the exact field, was mapped to 0…1 and the other clipped to it."""
    truth, guess = exact[mask].astype(float), found[mask].astype(float)
    lo, hi = truth.min(), truth.max()
    error = np.clip((guess - lo) / (hi - lo), 0.0, 1.0) - (truth - lo) / (hi - lo)
    return float(error @ error / error.size)


def psnr(found: Array, exact: Array, mask: Array) -> float:
    """−10 log₁₀ of the normalised error, in dB."""
    return -10 * float(np.log10(max(normalised_mse(found, exact, mask), 1e-300)))
