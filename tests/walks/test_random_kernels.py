"""Random numbers: uniform, independent along every axis of their key, and the same everywhere."""

import numpy as np
import pytest
from scipy import stats

from mc2.compute.compile import kernel
from mc2.walks.random_kernels import draw, first_turn, make_key

COUNT = 1 << 18


@kernel
def draw_all(pixel, walk, step, key, out):
    for i in range(pixel.size):
        out[0, i], out[1, i], out[2, i], out[3, i] = draw(pixel[i], walk[i], step[i], key[0], key[1], key[2], key[3])


@kernel
def turns(pixel, walk, key, out):
    for i in range(pixel.size):
        out[i] = first_turn(pixel[i], walk[i], key[0], key[1], key[2], key[3])


def numbers(pixel=0, walk=0, step=0, seed=1, instance=0):
    """Four rows of uniform numbers; one of the arguments counts up."""
    arrays = [np.broadcast_to(np.asarray(v, np.uint32), COUNT).copy() for v in (pixel, walk, step)]
    out = np.empty((4, COUNT), np.float32)
    draw_all(*arrays, make_key(seed, instance), out)
    return out


AXES = ["pixel", "walk", "step"]


@pytest.mark.parametrize("axis", AXES)
def test_uniform_along_each_axis(axis):
    for row in numbers(**{axis: np.arange(COUNT)}):
        assert row.min() > 0
        assert row.max() <= 1
        assert stats.chisquare(np.histogram(row, 256, (0, 1))[0]).pvalue > 1e-4


@pytest.mark.parametrize("axis", AXES)
def test_neighbours_and_outputs_are_independent(axis):
    rows = numbers(**{axis: np.arange(COUNT)})
    pairs = [(row[:-1], row[1:]) for row in rows] + [(rows[i], rows[j]) for i in range(4) for j in range(i)]
    for first, second in pairs:
        counts = np.histogram2d(first, second, 32, [[0, 1], [0, 1]])[0]
        assert stats.chisquare(counts.ravel()).pvalue > 1e-4


def test_seeds_and_instances_are_unrelated():
    base = numbers(pixel=np.arange(COUNT))
    for other in (numbers(pixel=np.arange(COUNT), seed=2), numbers(pixel=np.arange(COUNT), instance=1)):
        for a, b in zip(base, other, strict=True):
            assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(COUNT)
            assert len(np.intersect1d(a[:1000], b[:1000])) < 5
    assert len({tuple(make_key(seed, instance)) for seed in range(50) for instance in range(50)}) == 2500


def test_numbers_do_not_change():
    """Results are reproducible across versions only while these numbers stay."""
    assert make_key(7, 3).tolist() == [3533825488, 3500945146, 240752273, 3960860819]
    np.testing.assert_array_equal(numbers(step=np.arange(COUNT))[:, 5], numbers(step=5)[:, 0])


@pytest.mark.parametrize("power", [1, 3, 6, 10])
def test_first_directions_are_stratified(power):
    """The first 2ᵏ walks of a pixel have one direction in each of 2ᵏ sectors, and each direction alone is uniform."""
    count = 2**power
    out = np.empty(count, np.float32)
    for pixel in range(20):
        turns(np.full(count, pixel, np.uint32), np.arange(count, dtype=np.uint32), make_key(0, 0), out)
        shift = out[0] % (1 / count)
        sectors = np.floor((out - shift) % 1 * count + 0.5).astype(int) % count
        assert sorted(sectors) == list(range(count))
    alone = np.empty(COUNT, np.float32)
    turns(np.arange(COUNT, dtype=np.uint32), np.full(COUNT, 5, np.uint32), make_key(0, 0), alone)
    assert stats.chisquare(np.histogram(alone, 256, (0, 1))[0]).pvalue > 1e-4
