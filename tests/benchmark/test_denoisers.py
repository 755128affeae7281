"""Classical denoisers against plain computations, and what holds for all of them on any mask."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from mc2.benchmark.methods import Case, make_method
from mc2.geometry import Disk, Grid, Rectangle
from mc2.metrics import psnr
from mc2.zoo import generate, make_fields

DENOISERS = ("gaussian_1", "gaussian_2", "median", "bilateral", "tv", "nlm")
GRID = Grid(40)
RING = (Disk(0.95) - Disk(0.3, center=(0.2, 0.1)) - Rectangle(0.02, 0.5, center=(-0.5, 0))).mask(GRID)
SPECKS = np.random.default_rng(1).random((40, 40)) < 0.15
SPECK = np.zeros((40, 40), bool)
SPECK[7, 11] = True
FULL = np.ones((40, 40), bool)
MASKS = {"full": FULL, "ring": RING, "specks": SPECKS, "speck": SPECK}
SMOOTH = np.sin(3 * GRID.points()[0]) * np.cos(2 * GRID.points()[1])
NOISY = SMOOTH + 0.3 * np.random.default_rng(2).standard_normal((40, 40))


def denoise(name, estimate, mask, **parameters):
    method = make_method(name, **parameters)
    return method.solve(Case(method, {"estimate": estimate, "mask": mask}))


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("name", DENOISERS)
class TestAll:
    def test_constants_stay_to_the_bit(self, name, mask):
        for value in (0.1, -7e5, 0.0, np.float32(1 / 3)):
            found = denoise(name, np.full(mask.shape, value), mask)
            np.testing.assert_array_equal(found[mask], value)

    def test_what_lies_outside_has_no_influence(self, name, mask):
        clean = denoise(name, np.where(mask, NOISY, 0), mask)
        for rubbish in (1e9, np.nan, np.inf):
            found = denoise(name, np.where(mask, NOISY, rubbish), mask)
            np.testing.assert_array_equal(found, clean)
        assert np.isfinite(clean).all()

    def test_units_do_not_matter(self, name, mask):
        found = denoise(name, NOISY, mask)
        for scale, shift in ((1e3, -5.0), (1e-4, 2.0), (-3.0, 1.0)):
            scaled = denoise(name, scale * NOISY + shift, mask)
            np.testing.assert_allclose(((scaled - shift) / scale)[mask], found[mask], atol=1e-9)


@pytest.mark.parametrize("name", DENOISERS)
def test_rows_and_columns_are_alike(name):
    # Only on the full mask: elsewhere, what is nearest to a pixel outside may be a tie.
    np.testing.assert_allclose(denoise(name, NOISY.T.copy(), FULL).T, denoise(name, NOISY, FULL), atol=1e-9)


@pytest.mark.parametrize("name", DENOISERS)
def test_noise_falls(name):
    for mask in (FULL, RING):
        error = [np.mean((field - SMOOTH)[mask] ** 2) for field in (NOISY, denoise(name, NOISY, mask))]
        assert error[1] < 0.5 * error[0]


@pytest.mark.parametrize("name", DENOISERS)
def test_walks_of_the_zoo_get_better(name):
    gains = []
    for index in range(3):
        fields = make_fields([generate("validation", index)], [8], grid=Grid(96), device="cpu")
        mask = fields.mask[0].astype(bool)
        before, after = fields.mean[0, 0], denoise(name, fields.mean[0, 0], mask)
        gains.append(psnr(after, fields.u[0], mask) - psnr(before, fields.u[0], mask))
    assert np.mean(gains) > 2.0


@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_gaussian(sigma):
    away = slice(9, -9)  # further than 4σ from the border
    found = denoise("gaussian_1", NOISY, FULL, sigma=sigma)
    np.testing.assert_allclose(found[away, away], gaussian_filter(NOISY, sigma)[away, away], rtol=1e-12)
    found = denoise("gaussian_1", NOISY, RING, sigma=sigma)
    at = np.argwhere(RING)
    reach = int(4 * sigma + 0.5)
    for row, column in at[::17]:
        offset = at - (row, column)
        near = (np.abs(offset) <= reach).all(axis=1)
        weight = np.exp(-(offset[near] ** 2).sum(axis=1) / (2 * sigma**2))
        assert found[row, column] == pytest.approx(weight @ NOISY[RING][near] / weight.sum(), abs=1e-12)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("radius", [2, 3])
def test_median(mask, radius):
    found = denoise("median", NOISY, mask, radius=radius)
    at = np.argwhere(mask)
    for row, column in at[::7]:
        near = ((at - (row, column)) ** 2).sum(axis=1) <= radius**2
        assert found[row, column] == pytest.approx(np.median(NOISY[mask][near]), abs=1e-12)


def brute_bilateral(image, mask, color, spatial):
    """Pixel by pixel, as it is written."""
    low, scale = image[mask].min(), np.ptp(image[mask])
    image = (image - low) / scale
    at, out = np.argwhere(mask), np.zeros(image.shape)
    for row, column in at:
        total = weights = 0.0
        for other in at:
            dy, dx = other - (row, column)
            if max(abs(dy), abs(dx)) <= np.ceil(3 * spatial):
                difference = image[tuple(other)] - image[row, column]
                w = np.exp(-(dy**2 + dx**2) / (2 * spatial**2) - difference**2 / (2 * color**2))
                total, weights = total + w * image[tuple(other)], weights + w
        out[row, column] = total / weights
    return low + scale * out


@pytest.mark.parametrize(("color", "spatial"), [(0.1, 5.0), (0.3, 1.0)])
def test_bilateral(color, spatial):
    image, mask = NOISY[10:24, 10:28], RING[10:24, 10:28]
    assert 0.3 < mask.mean() < 0.95
    found = denoise("bilateral", image, mask, sigma_color=color, sigma_spatial=spatial)
    np.testing.assert_allclose(found[mask], brute_bilateral(image, mask, color, spatial)[mask], atol=1e-12)


def test_scikit_image_sees_the_field_in_0_to_1():
    from skimage.restoration import denoise_nl_means, denoise_tv_chambolle

    low, scale = NOISY.min(), np.ptp(NOISY)
    image = (NOISY - low) / scale
    np.testing.assert_allclose(denoise("tv", NOISY, FULL), low + scale * denoise_tv_chambolle(image, 0.1))
    theirs = denoise_nl_means(image, patch_size=5, patch_distance=6, h=0.1)
    np.testing.assert_allclose(denoise("nlm", NOISY, FULL), low + scale * theirs)
