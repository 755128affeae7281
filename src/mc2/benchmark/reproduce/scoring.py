"""Scores of many fields at once, with torch, on any device: what `score_field` gives, but for rounding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.bias import balance, decompose_fields
from mc2.benchmark.lpips import LEAST, lpips
from mc2.metrics import decibels_of_tensor, normalised_tensors

BATCH = 64
"""Fields that are scored together."""


def score_batch(predicted: Any, exact: Any, mask: Any, device: Any) -> NDArray[np.float64]:
    """PSNR, SNR, MSE, LPIPS and relative L2 of fields [count, n, n], as [count, 5]: float64 on the device.

    A prediction that is not finite has no scores: they are not numbers. LPIPS is not, either, below 31 pixels.
    """
    parts = []
    for first in range(0, len(predicted), BATCH):
        part = slice(first, first + BATCH)
        parts.append(_score(*(_put(array[part], device) for array in (predicted, exact, mask))))
    return np.concatenate(parts) if parts else np.empty((0, 5))


def _put(array: Any, device: Any) -> Any:
    import torch

    return torch.as_tensor(np.ascontiguousarray(array)).to(device)


def _score(found: Any, exact: Any, mask: Any) -> NDArray[np.float64]:
    import torch

    found, exact = found.double(), exact.double()
    count = mask.sum((1, 2))

    def mean(values: Any) -> Any:
        return torch.where(mask, values, 0.0).sum((1, 2)) / count

    clipped, mapped = normalised_tensors(found, exact, mask)
    mse = mean((clipped - mapped) ** 2)
    psnr = decibels_of_tensor(mse)
    images = [(2 * torch.where(mask, values, 0.0) - 1)[:, None].expand(-1, 3, -1, -1) for values in (clipped, mapped)]
    far = lpips().many(*images) if min(mask.shape[1:]) >= LEAST else torch.full_like(mse, torch.nan)
    relative = (mean((found - exact) ** 2) / mean(exact**2)).sqrt()
    scores = [psnr, psnr - decibels_of_tensor(mean(mapped**2)), mse, far.double(), relative]
    table = torch.stack(scores, 1)
    finite = torch.where(mask, found.isfinite(), True).all(2).all(1)
    scored: NDArray[np.float64] = torch.where(finite[:, None], table, torch.nan).cpu().numpy()
    return scored


def balance_batch(
    inputs: NDArray[np.float32], outputs: NDArray[np.float32], exact: NDArray[np.float64], mask: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What `mc2 bias` tells of every instance, as [count, 7].

    inputs, outputs: [count, seed, n, n].
    """
    rows = [
        list(balance(decompose_fields(z.astype(float), found.astype(float), u, inside)).values())
        for z, found, u, inside in zip(inputs, outputs, exact, mask, strict=True)
    ]
    return np.array(rows, float)
