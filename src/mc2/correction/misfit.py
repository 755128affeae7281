"""What a fit cannot explain: the part of the walks' residual that is not noise.

Noise differs from pixel to pixel; a lack of fit, as near a corner that no basis function knows, does not. So over
blocks of pixels the squared weighted mean of what is left exceeds its expected variance, by the square of the lack of
fit.
"""

import numpy as np
from numpy.typing import NDArray

from mc2.correction.projection import Bins, Profile

Array = NDArray[np.float64]
BLOCKS = (1, 2, 4, 8, 16)
"""Pixels along a side of a block: what is not explained may be as narrow as a pixel, or far below the noise."""
SIGNIFICANT = 4.0
"""Standard deviations of its noise by which the excess must be seen: on problems that a basis explains it never is."""


def lack_of_fit(rest: Array, variance: Array, mask: NDArray[np.bool_], bins: Bins) -> Profile | None:
    """The mean square of what a fit does not explain, over the distance to the boundary; None where it explains all.

    rest: the walks' mean minus the fit, at the pixels of the mask. variance: of the walks' mean there.
    bins: the pixels by their distance.
    """
    best, found = SIGNIFICANT, None
    if not variance.max() > 1e-280:  # walks without noise, as from constant data
        return None
    for side in BLOCKS:
        block = _block(mask, side)
        weight = np.bincount(block, 1 / variance)
        mean = np.divide(np.bincount(block, rest / variance), weight, out=np.zeros_like(weight), where=weight > 0)
        expected = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
        used = weight > 0
        ratio = mean[used] ** 2 / expected[used] - 1.0  # its variance is 2 where there is nothing but noise
        seen = float(ratio.sum()) / np.sqrt(2 * ratio.size)
        if seen > best:
            best, found = seen, (mean**2 - expected)[block]
    return None if found is None else Profile(bins, found)


def _block(mask: NDArray[np.bool_], side: int) -> NDArray[np.int64]:
    """The number of the block that every pixel of the mask lies in."""
    row, column = np.nonzero(mask)
    return np.asarray(row // side * (mask.shape[1] // side + 1) + column // side)
