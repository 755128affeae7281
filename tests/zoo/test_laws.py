"""The zoo's laws against the paper's numbers."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from mc2.geometry import SHAPES, Difference, Intersection, Union
from mc2.zoo import laws
from mc2.zoo.random import uniforms

DRAWS = 4000


def numbers(index, split="train"):
    return iter(uniforms("test", split, index, 0))


def test_uniform_numbers():
    first = uniforms("1", "train", 0, 0)
    np.testing.assert_array_equal((np.array(first) * 2**53).astype(np.uint64) * 2.0**-53, first)
    keys = [("1", "train", 0, 0), ("2", "train", 0, 0), ("1", "test", 0, 0), ("1", "train", 1, 0), ("1", "train", 0, 1)]
    assert len({tuple(uniforms(*key)) for key in keys}) == len(keys)
    many = np.concatenate([uniforms("1", "train", index, 0) for index in range(1000)])
    assert stats.kstest(many, "uniform").pvalue > 1e-3
    assert stats.chisquare(np.histogram2d(many[:-1], many[1:], 16)[0].ravel()).pvalue > 1e-3


def test_numbers_do_not_change():
    """A change here changes every instance: it needs a new generator version."""
    assert uniforms("1", "train", 0, 0)[:3] == [0.15829586305595666, 0.26713351416143927, 0.8879005606750622]


@pytest.mark.parametrize(("split", "families"), [("train", 3), ("validation", 3), ("test", 5)])
def test_families_take_turns(split, families):
    counts = Counter(laws.family_of(split, index) for index in range(60))
    assert set(counts.values()) == {60 // families}
    assert len(counts) == families


def test_pools():
    general, harmonic = laws.POOLS["general"], laws.POOLS["laplace"]
    assert (len(general), sum(kind.hard for kind in general)) == (40, 25)
    assert (len(harmonic), sum(kind.hard for kind in harmonic)) == (27, 12)
    assert (len(laws.POOLS["biharmonic"]), sum(kind.hard for kind in laws.POOLS["biharmonic"])) == (15, 0)


def test_domains():
    drawn = [laws.draw_domain(numbers(index)) for index in range(DRAWS)]
    names = Counter(domain.describe().get("shape", type(domain).__name__) for domain in drawn)
    primitives = [names[name] for name in SHAPES]
    assert stats.chisquare([*primitives, DRAWS - sum(primitives)], DRAWS / 11 * np.array([1] * 8 + [3])).pvalue > 1e-3
    composed = np.array([names[kind.__name__] for kind in (Union, Intersection, Difference)])
    assert stats.chisquare(composed, composed.sum() / 7 * np.array([3, 2, 2])).pvalue > 1e-3
    for domain in drawn:
        shape = domain.describe().get("shape")
        for name, (low, high) in SHAPES[shape].ranges.items() if shape else ():
            assert low <= getattr(domain, name) <= high


@pytest.mark.parametrize("family", laws.FAMILIES)
def test_atoms(family):
    drawn = [laws.draw_atoms(family, numbers(index)) for index in range(500)]
    counts = Counter(map(len, drawn))
    assert stats.chisquare([counts[n] for n in range(2, 7)]).pvalue > 1e-3
    for atoms in drawn[:100]:
        for atom in atoms:
            assert atom.type(**atom.values).values == atom.values


def test_parameters():
    lam = [laws.draw_parameters("yukawa", numbers(index))["lam"] for index in range(500)]
    k = [laws.draw_parameters("helmholtz", numbers(index))["k"] for index in range(500)]
    assert stats.kstest(lam, stats.uniform(0.5, 49.5).cdf).pvalue > 1e-3
    assert stats.kstest(k, stats.uniform(0.5, 9.5).cdf).pvalue > 1e-3
    assert laws.draw_parameters("poisson", numbers(0)) == {}
