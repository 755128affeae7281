"""Classical denoisers of images, on the estimate of a few walks (paper, appendix on denoisers).

Their thresholds are meant for images in [0, 1], and the paper does not say how it gets there. Here the smallest and the
largest value of the estimate over the mask become 0 and 1, and the result is mapped back; nothing of the exact field is
used. (The 1st and 99th percentiles instead cost 2 to 9 dB on the validation split.) So every denoiser commutes with
v ↦ av + b, a ≠ 0, and keeps constants to the bit.

Values outside the mask are never used. Gaussian, median and bilateral leave them out of their windows; total variation
and non-local means, which want a full image, get the value of the nearest pixel inside instead.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.extras import load_extra
from mc2.benchmark.methods.method import Case, Method
from mc2.checks import positive, whole

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Window = tuple[slice, slice]


class Denoiser(Method):
    """A filter of the estimate that knows no equation."""

    setting = "correction"
    reads = ("estimate", "mask")

    @abstractmethod
    def filter(self, image: Array, mask: Mask) -> Array:
        """The image without noise, where only the mask counts. It is 0 outside. An image of zeros must stay one."""

    def solve(self, case: Case) -> NDArray[np.floating[Any]]:
        mask = np.asarray(case.mask, bool)
        inside = case.estimate[mask].astype(float)
        field = np.zeros(mask.shape)
        if inside.size:
            low = inside.min()
            scale = np.ptp(inside) or 1.0
            field[mask] = (inside - low) / scale
            field[mask] = low + scale * self.filter(field, mask)[mask]
        return field


@final
class Gaussian(Denoiser):
    """Normalised convolution: (G ∗ m v)/(G ∗ m), with a Gaussian G that ends at 4σ, and m the mask.

    sigma: in pixels; the paper has 1 and 2.
    """

    def __init__(self, sigma: float = 1.0) -> None:
        self.sigma = positive("sigma", sigma)
        self.name = f"gaussian_{self.sigma:g}"

    def filter(self, image: Array, mask: Mask) -> Array:
        from scipy.ndimage import gaussian_filter

        smooth, weight = (gaussian_filter(part, self.sigma, mode="constant") for part in (image, mask.astype(float)))
        return np.divide(smooth, weight, out=np.zeros_like(image), where=mask)


@final
class Median(Denoiser):
    """The median of the mask's pixels in a disk around each; the mean of the middle two where they are even in number.

    radius: in pixels; the paper has 2, which makes 13 pixels.
    """

    def __init__(self, radius: int = 2) -> None:
        self.radius = whole("radius", radius, 1, 50)
        self.name = "median" if self.radius == 2 else f"median_{self.radius}"

    def filter(self, image: Array, mask: Mask) -> Array:
        reach = range(-self.radius, self.radius + 1)
        offsets = [(dy, dx) for dy in reach for dx in reach if dy * dy + dx * dx <= self.radius**2]
        padded = np.pad(np.where(mask, image, np.inf), self.radius, constant_values=np.inf)
        row, column = (index + self.radius for index in np.nonzero(mask))
        values = np.sort([padded[row + dy, column + dx] for dy, dx in offsets], axis=0)
        count = np.isfinite(values).sum(axis=0)  # what lies outside comes last
        pixel = np.arange(count.size)
        out = np.zeros_like(image)
        out[mask] = (values[(count - 1) // 2, pixel] + values[count // 2, pixel]) / 2
        return out


@final
class Bilateral(Denoiser):
    """Means with weights exp(−|p − q|²/2σ_s² − (v_p − v_q)²/2σ_c²) over the mask's pixels q in a square around p.

    sigma_color: σ_c, of values in [0, 1].
    sigma_spatial: σ_s, in pixels; the square reaches to 3σ_s, as scikit-image's. (That one, as of 0.26, knows no mask
        and reads its table of spatial weights with a skew.).
    """

    def __init__(self, sigma_color: float = 0.1, sigma_spatial: float = 5.0) -> None:
        self.sigma_color = positive("sigma_color", sigma_color)
        self.sigma_spatial = positive("sigma_spatial", sigma_spatial)
        own = (self.sigma_color, self.sigma_spatial)
        self.name = "bilateral" if own == (0.1, 5.0) else "bilateral_{:g}_{:g}".format(*own)

    def filter(self, image: Array, mask: Mask) -> Array:
        unit = np.sqrt(2) * self.sigma_color
        total, weight = np.zeros(image.shape), np.ones(image.shape)
        for here, there, share in self._pairs(image.shape):
            difference = (image[there] - image[here]) / unit
            w = np.exp(-difference * difference - share) * (mask[here] & mask[there])
            weight[here] += w
            weight[there] += w
            w *= difference
            total[here] += w
            total[there] -= w
        return image + unit * total / weight

    def _pairs(self, shape: tuple[int, ...]) -> Iterator[tuple[Window, Window, float]]:
        """Pairs of windows that hold all pairs of different pixels once, and |p − q|²/2σ_s² of each."""
        rows, columns = shape
        reach = int(np.ceil(3 * self.sigma_spatial))
        for dy in range(min(reach, rows - 1) + 1):
            for dx in range(-min(reach, columns - 1), min(reach, columns - 1) + 1):
                if (dy, dx) > (0, 0):
                    here = slice(0, rows - dy), slice(max(0, -dx), columns - max(0, dx))
                    there = slice(dy, rows), slice(max(0, dx), columns - max(0, -dx))
                    yield here, there, (dy * dy + dx * dx) / (2 * self.sigma_spatial**2)


class ImageDenoiser(Denoiser):
    """A denoiser of scikit-image: it sees the mask's pixels, each continued outwards to where it is the nearest."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._restoration = load_extra("skimage.restoration", "scikit-image", f"method {name}")

    @abstractmethod
    def restore(self, image: Array) -> Array:
        """The full image without noise."""

    def filter(self, image: Array, mask: Mask) -> Array:
        from scipy.ndimage import distance_transform_edt

        nearest = distance_transform_edt(~mask, return_distances=False, return_indices=True)
        return self.restore(image[tuple(nearest)])


@final
class TotalVariation(ImageDenoiser):
    """The image w with the least ½‖w − v‖² + weight · ∫|∇w|, by Chambolle's projections."""

    def __init__(self, weight: float = 0.1) -> None:
        self.weight = positive("weight", weight)
        super().__init__("tv" if self.weight == 0.1 else f"tv_{self.weight:g}")

    def restore(self, image: Array) -> Array:
        return self._restoration.denoise_tv_chambolle(image, weight=self.weight)


@final
class NonLocalMeans(ImageDenoiser):
    """Means over the pixels q near p, with weights that fall with the distance of the patches around p and q.

    patch: side of a patch.
    distance: how far q may be from p along each axis.
    h: how different similar values may be, for values in [0, 1]. The fast variant, where all pixels of a patch count
        alike.
    """

    def __init__(self, patch: int = 5, distance: int = 6, h: float = 0.1) -> None:
        self.patch, self.distance, self.h = whole("patch", patch, 1), whole("distance", distance, 1), positive("h", h)
        own = (self.patch, self.distance, self.h)
        super().__init__("nlm" if own == (5, 6, 0.1) else "nlm_{}_{}_{:g}".format(*own))

    def restore(self, image: Array) -> Array:
        return self._restoration.denoise_nl_means(
            image, patch_size=self.patch, patch_distance=self.distance, h=self.h, fast_mode=True
        )
