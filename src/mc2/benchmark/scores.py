"""Scores of a field: PSNR, SNR, MSE, LPIPS and relative L2, per instance and over its mask.

MSE and PSNR are those of `mc2.metrics`: between fields that are mapped by the exact one's range.
SNR = 10 log₁₀(mean(exact²)/MSE); LPIPS compares them as images that are 0 outside the mask. The relative L2 error is
that of the plain fields.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.metrics import decibels, normalised

METRICS = ("psnr", "snr", "mse", "lpips", "relative_l2")
HIGHER_IS_BETTER = {"psnr": True, "snr": True, "mse": False, "lpips": False, "relative_l2": False}

Image = NDArray[Any]
Distance = Callable[[Image, Image], float]


def score_field(predicted: Any, exact: Any, mask: Any, lpips: Distance | None = None) -> dict[str, float]:
    """All metrics of one field [n, n]; NumPy arrays or torch tensors. Without `lpips`, all but that."""
    found, truth, inside = (_array(values) for values in (predicted, exact, mask))
    inside = inside.astype(bool)
    if found.shape != truth.shape or inside.shape != truth.shape or truth.ndim != 2:
        shapes = " and ".join(str(list(array.shape)) for array in (found, truth, inside))
        raise InputError(f"a prediction, its exact field and its mask must be of one shape [n, n], not {shapes}")
    bad = np.count_nonzero(~np.isfinite(found[inside]))
    if bad:
        raise InputError(f"the prediction has {bad:,} values that are not finite")
    clipped, mapped = normalised(found, truth, inside)
    mse = float(np.mean((clipped - mapped) ** 2))
    scores = {"psnr": decibels(mse), "snr": decibels(mse) - decibels(float(np.mean(mapped**2))), "mse": mse}
    if lpips is not None:
        scores["lpips"] = lpips(*(_image(values, inside) for values in (clipped, mapped)))
    exact_values = truth[inside].astype(float)
    error = found[inside].astype(float) - exact_values
    scores["relative_l2"] = float(np.linalg.norm(error) / np.linalg.norm(exact_values))
    return scores


def score_fields(
    predicted: Any, exact: Any, mask: Any, lpips: Distance | None = None
) -> dict[str, NDArray[np.float64]]:
    """All metrics of many fields [count, n, n], as arrays [count]. Each is scored alone, so batches do not matter."""
    rows = [score_field(*fields, lpips) for fields in zip(predicted, exact, mask, strict=True)]
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def _image(values: Image, inside: Image) -> Image:
    """Three equal channels in [-1, 1], from values in [0, 1] over the mask and 0 elsewhere."""
    field = np.zeros(inside.shape)
    field[inside] = values
    return np.broadcast_to(2 * field - 1, (3, *inside.shape))


def summarise(values: Iterable[float]) -> dict[str, float]:
    """Mean, standard deviation and median over instances."""
    array = np.fromiter(values, float)
    return {"mean": float(array.mean()), "std": float(array.std()), "median": float(np.median(array))}
