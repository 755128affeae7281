"""Instances: pure functions of version, split and index, which solve their equations and pass the filters."""

import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from validation.zoo import broken_filters, deviation, residual

from mc2.errors import InputError
from mc2.functions import TermSum
from mc2.geometry import Disk, Rectangle, Square
from mc2.problems import FAMILIES as PROBLEMS
from mc2.zoo import FAMILIES, GENERAL_ATOMS, HARMONIC_ATOMS, SPLITS, generate, to_line
from mc2.zoo.filters import FILTERS, examine
from mc2.zoo.manifest import COUNT, digest, make_manifest, shipped_manifest

A, H = GENERAL_ATOMS, HARMONIC_ATOMS
TAME = A["gaussian_bump"](a=0.9, w=1.0, x0=0.1, y0=0.1)
HARMONIC = H["h_polar"](a=0.9, n=2, part="cos")


@pytest.mark.parametrize("family", FAMILIES)
def test_instances_are_right(family):
    """Ten of what `python -m validation.zoo` does for 300 of every family."""
    for index in range(FAMILIES.index(family), 5000, 500):
        instance = generate("test", index)
        assert instance.family == family
        assert max(residual(instance)) < 1e-10
        assert abs(deviation(instance)) < 4
        assert broken_filters(instance) == []


@pytest.mark.slow
def test_the_manifest_is_that_of_this_generator():
    """The first 10,000 records of every split, to the bit."""
    made = make_manifest()
    assert made == shipped_manifest()
    assert [made["splits"][split]["count"] for split in SPLITS] == [COUNT, 5000, 5000]


def test_another_version_is_another_zoo():
    other, shipped = make_manifest("2", count=50), make_manifest(count=50)
    for split in SPLITS:
        assert other["splits"][split]["sha256"] != shipped["splits"][split]["sha256"]
    assert other != shipped


@pytest.mark.slow
def test_order_and_process_do_not_matter():
    code = "from mc2.zoo import *; import sys\nfor i in map(int, sys.argv[1:]): print(to_line(generate('train', i)))"
    indices = random.Random(0).sample(range(SPLITS["train"]), 40)
    shuffled = random.Random(1).sample(indices, 40)
    run = [sys.executable, "-c", code]
    other = subprocess.run([*run, *map(str, shuffled)], capture_output=True, text=True, check=True).stdout.split("\n")
    assert dict(zip(shuffled, other, strict=False)) == {index: to_line(generate("train", index)) for index in indices}


def test_digest_depends_on_every_record():
    instances = [generate("test", index) for index in range(6)]
    assert digest(instances) != digest(instances[:5])
    assert digest(instances) != digest(reversed(instances))


def test_splits_share_nothing():
    lines = [{to_line(generate(split, index)).split('"u":')[1] for index in range(300)} for split in SPLITS]
    assert len(set.union(*lines)) == sum(map(len, lines)) == 900
    assert {generate("train", index).family for index in range(30)} == {"laplace", "poisson", "yukawa"}
    keys = {generate(split, index).key for split in SPLITS for index in range(20)}
    assert len(keys) == 60


def test_rejections_are_counted():
    counts = Counter(name for index in range(600) for name in generate("train", index).rejected)
    assert set(counts) <= set(FILTERS)
    assert counts["forcing amplitude"] > 50
    assert counts["solution amplitude"] > 5


@pytest.mark.parametrize(
    ("family", "domain", "atoms", "failure"),
    [
        ("laplace", Disk(), [HARMONIC], None),
        ("poisson", Disk(), [TAME], None),
        ("poisson", Disk(0.2), [TAME], "domain interior"),
        ("poisson", Rectangle(1.0, 1.0) - Rectangle(0.97, 0.97), [TAME], "domain interior"),
        ("poisson", Rectangle(1.2, 1.2) - Rectangle(0.97, 0.88), [TAME], None),
        ("poisson", Square() & Rectangle(1.2, 0.11), [TAME], None),
        ("poisson", (Square() & Rectangle(1.2, 0.11)) - Rectangle(1.2, 0.01), [TAME], "composed thickness"),
        ("laplace", Disk(), [H["h_high_freq_exp_trig"](a=1.0, k=10.0, part="cos")], "solution amplitude"),
        ("poisson", Disk(), [A["poly"](**{f"c{i}": 0.0 for i in range(10)})], "solution amplitude"),
        ("poisson", Disk(), [A["very_high_freq_trig"](a=1.0, k1=14, k2=14)], "forcing amplitude"),
        ("helmholtz", Disk(), [A["very_high_freq_trig"](a=1.0, k1=14, k2=14)], "forcing amplitude"),
        ("helmholtz", Disk(), [TAME], None),
        ("poisson", Disk(), [A["harmonic_polar"](a=1.0, n=2)], "forcing amplitude"),
        (
            "laplace",
            Disk() | Rectangle(1.2, 0.3, center=(0.27, 0)),
            [H["h_high_freq_exp_trig"](a=0.1, k=7.0, part="cos")],
            "boundary values",
        ),
        ("laplace", Disk() | Rectangle(1.2, 1.2, center=(0.5, 0.5)), [H["h_log_source"](a=1, rho=2.0, phi=0.785)],
         "finite ground truth"),
        ("laplace", Disk() | Rectangle(1.2, 0.5, center=(-0.8, 0)), [H["h_arctan"](a=1, rho=1.9, y0=0.2)],
         "finite ground truth"),
        ("laplace", Disk() | Rectangle(1.2, 0.5, center=(0.8, 0)), [H["h_arctan"](a=1, rho=1.9, y0=0.2)], None),
    ],
)  # fmt: skip
def test_filters(family, domain, atoms, failure):
    parameters = {"k": 5.0} if family == "helmholtz" else {}
    assert examine(PROBLEMS[family].from_exact(domain, TermSum.join(atoms), **parameters)).failure == failure


@pytest.mark.parametrize("name", ["finite test point", "finite forcing"])
def test_values_that_are_not_finite(name, monkeypatch):
    """No atom has such values where the test point is, so they are put there."""
    problem = PROBLEMS["poisson"].from_exact(Disk(), TermSum.join([TAME]))
    real = TermSum.__call__

    def broken(self, x, y):
        values = real(self, x, y)
        if (self.operator == (1.0, 0.0, 0.0)) == (name == "finite test point"):
            values[0] = np.inf
        return values

    monkeypatch.setattr(TermSum, "__call__", broken)
    assert examine(problem).failure == name


@pytest.mark.parametrize(
    ("split", "index", "message"),
    [
        ("tests", 0, "did you mean 'test'"),
        ("test", 5000, "index = 5000"),
        ("test", -1, "index = -1"),
        ("test", 1.5, "1.5"),
    ],
)
def test_wrong_places(split, index, message):
    with pytest.raises(InputError, match=message):
        generate(split, index)
