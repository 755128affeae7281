"""What a fit cannot explain: the part of the walks' residual that is not noise, and what their noise itself tells.

Noise differs from pixel to pixel; a lack of fit, as near a corner that no basis function knows, does not. So over
blocks of pixels the squared weighted mean of what is left exceeds its expected variance, by the square of the lack of
fit.

Data that oscillate too fast for any pixel to show leave no such trace: their mean is 0 a little way inside. They show
in the variance of the walks. Next to a straight wall, data of amplitude a that oscillate with frequency k give walks
from the distance d the variance ½a²(1 − e^{−2kd}), and u² = ½a²e^{−2kd}: so 2V(d) − V(2d), which is ½a²(1 − e^{−2kd})²,
is what oscillates within d, and u has that much where it is closer.
"""

import numpy as np
from numpy.typing import NDArray

from mc2.fits.projection import Bins, Profile

Array = NDArray[np.float64]
BLOCKS = (1, 2, 4, 8, 16)
"""Pixels along a side of a block: what is not explained may be as narrow as a pixel, or far below the noise."""
SIGNIFICANT = 4.0
"""Standard deviations of its noise by which the excess must be seen: on problems that a basis explains it never is."""


def lack_of_fit(rest: Array, variance: Array, mask: NDArray[np.bool_], bins: Bins) -> Profile | None:
    """The mean square of what a fit does not explain, over the distance to the boundary; None where it explains all.

    rest: the walks' mean minus the fit, at the pixels of the mask.
    variance: of the walks' mean there.
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


def hidden_oscillation(variance: Array, bins: Bins, frequency: float) -> tuple[float, float]:
    """The mean square of data that oscillate faster than a fit can, and the distance within which u may have them.

    variance: of a single walk at points, as estimated there.
    bins: the points by their distance.
    frequency: the highest on the boundary that the fit has. Both are 0 where the variance is what such a fit explains.
    """
    middle, mean = bins.mean(bins.distance), bins.mean(variance)
    noise = np.sqrt(np.maximum(bins.mean(variance**2) - mean**2, 0.0) / bins.count)
    near, d = mean[0], middle[0]
    far, far_noise = (float(np.interp(2 * d, middle, row)) for row in (mean, noise))
    # of what the fit can have, within d: (1 − e^{−2kd})² of it is at most this part of its variance at d
    explained = 1 - np.exp(-2 * frequency * d)
    seen = 2 * near - far - explained * near
    unsure = np.hypot((2 - explained) * noise[0], far_noise)
    return (float(2 * near - far), float(2 * d)) if seen > SIGNIFICANT * unsure else (0.0, 0.0)


def _block(mask: NDArray[np.bool_], side: int) -> NDArray[np.int64]:
    """The number of the block that every pixel of the mask lies in."""
    row, column = np.nonzero(mask)
    return np.asarray(row // side * (mask.shape[1] // side + 1) + column // side)
