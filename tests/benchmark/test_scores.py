"""Metrics against hand computations and the original LPIPS."""

import numpy as np
import pytest
import torch

from mc2.benchmark.lpips import lpips
from mc2.benchmark.scores import METRICS, score_field, score_fields, summarise
from mc2.errors import InputError


def test_lpips_equals_the_original():
    """Values of the authors' own package for these images."""
    random = np.random.default_rng(7)
    a, b = ((random.random((2, 3, 64, 64)) * 2 - 1).astype(np.float32) for _ in range(2))
    np.testing.assert_allclose([lpips()(*pair) for pair in zip(a, b, strict=True)], [0.086114, 0.123643], atol=1e-5)
    assert lpips()(a[0], a[0]) == 0
    assert lpips()(a[0], b[0]) == pytest.approx(lpips()(b[0], a[0]), rel=1e-5)


def test_by_hand():
    exact = np.array([[1.0, 3.0], [5.0, 100.0]])
    mask = np.array([[1, 1], [1, 0]])
    found = np.array([[0.0, 4.0], [5.0, np.nan]])
    # range 1 … 5: exact 0, 1/2, 1; found −1/4 → 0, 3/4, 1
    mse = (1 / 4) ** 2 / 3
    scores = score_field(found, exact, mask)
    assert scores["mse"] == pytest.approx(mse)
    assert scores["psnr"] == pytest.approx(-10 * np.log10(mse))
    assert scores["snr"] == pytest.approx(10 * np.log10((0.25 + 1) / 3 / mse))
    assert scores["relative_l2"] == pytest.approx(np.sqrt(2 / 35))
    assert tuple(scores) == tuple(name for name in METRICS if name != "lpips")


def test_lpips_sees_the_mapped_image():
    random = np.random.default_rng(0)
    exact, found = random.normal(size=(2, 64, 64))
    mask = np.hypot(*np.mgrid[-1:1:64j, -1:1:64j]) < 0.8
    lo, hi = exact[mask].min(), exact[mask].max()
    images = [np.where(mask, np.clip((field - lo) / (hi - lo), 0, 1), 0) * 2 - 1 for field in (found, exact)]
    expected = lpips()(*(np.stack([image] * 3) for image in images))
    assert score_field(found, exact, mask, lpips())["lpips"] == pytest.approx(expected, rel=1e-6)


def test_what_is_outside_does_not_matter():
    random = np.random.default_rng(1)
    exact, found, noise = random.normal(size=(3, 32, 32))
    mask = random.random((32, 32)) < 0.6
    other = score_field(np.where(mask, found, noise), np.where(mask, exact, 7 * noise), mask)
    assert other == score_field(found, exact, mask)


def test_units_do_not_matter():
    random = np.random.default_rng(2)
    exact, found = random.normal(size=(2, 32, 32))
    mask = np.ones((32, 32))
    a, b = score_field(found, exact, mask), score_field(5 * found - 3, 5 * exact - 3, mask)
    for name in ("psnr", "snr", "mse"):
        assert a[name] == pytest.approx(b[name])


def test_batches_and_frameworks_do_not_matter():
    random = np.random.default_rng(3)
    exact, found = random.normal(size=(2, 6, 48, 48)).astype(np.float32)
    mask = random.random((6, 48, 48)) < 0.7
    whole = score_fields(found, exact, mask, lpips())
    for size in (1, 2, 3):
        parts = [
            score_fields(found[i : i + size], exact[i : i + size], mask[i : i + size], lpips())
            for i in range(0, 6, size)
        ]
        for name in METRICS:
            np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])
    tensors = score_fields(*(torch.from_numpy(array) for array in (found, exact, mask)), lpips())
    for name in METRICS:
        np.testing.assert_array_equal(tensors[name], whole[name])


def test_a_perfect_prediction_has_finite_scores():
    exact = np.random.default_rng(4).normal(size=(16, 16))
    scores = score_field(exact, exact, np.ones((16, 16)))
    assert scores["mse"] == 0
    assert 200 < scores["psnr"] < 400


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.full((4, 4), np.nan), "16 values that are not finite"),
        (np.zeros((4, 5)), r"of one shape \[n, n\], not \[4, 5\]"),
    ],
)
def test_wrong_predictions(found, message):
    with pytest.raises(InputError, match=message):
        score_field(found, np.arange(16.0).reshape(4, 4), np.ones((4, 4)))


def test_summary():
    assert summarise([1.0, 2.0, 6.0]) == {"mean": 3.0, "std": pytest.approx(np.std([1, 2, 6])), "median": 2.0}
