"""Compositions: how they nest, and how many registers they take."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Difference, Disk, Intersection, Square, Union, kernels

from .plain import build, random_tree


def balanced(depth: int):
    if depth == 0:
        return Disk()
    pair = (Union, Intersection)[depth % 2]
    return pair(balanced(depth - 1), balanced(depth - 1))


def test_chains_are_flat_and_equal():
    a, b, c = Disk(), Square(0.5), Disk(0.2)
    assert a - b - c == Difference(a, b, c)
    assert a | b | c == Union(a, b, c) == Union(Union(a, b), c)
    assert hash(a & b & c) == hash(Intersection(a, b, c))
    assert a - (b - c) == Difference(a, Difference(b, c)) != a - b - c
    assert a | b != a & b
    assert repr((a | b) - c) == "(Disk(1.0) | Square(0.5)) - Disk(0.2)"


def test_a_long_chain_needs_two_registers():
    points = np.random.default_rng(0).uniform(-0.7, 0.7, (300, 2))
    domain = Disk()
    for x, y in points:
        domain = domain - Disk(0.01, center=(x, y))
    assert domain.registers == 2
    assert domain.distance(0, 0) == pytest.approx(np.hypot(*points.T).min() - 0.01)


def test_the_heavier_part_comes_first():
    light, heavy = Disk(), balanced(3)
    assert heavy.registers == 4
    assert (light - heavy).registers == (heavy - light).registers == 4
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 100))
    heavy = (Disk(0.5) | Square(0.3)) & (Square(0.4) - Disk(0.1))
    assert np.array_equal((light - heavy).distance(x, y), np.minimum(light.distance(x, y), -heavy.distance(x, y)))


def test_more_registers_than_there_are():
    full = balanced(kernels.PROGRAM_REGISTERS - 1)
    assert full.registers == kernels.PROGRAM_REGISTERS
    assert full.distance(0, 0) == 1
    with pytest.raises(InputError, match="fewer nested operations"):
        _ = balanced(kernels.PROGRAM_REGISTERS).program


def test_nesting_is_limited():
    domain = Disk()
    for _ in range(8):
        domain = (domain | Square()) - Disk(0.1)
    with pytest.raises(InputError, match="16 deep"):
        domain | Square()


@pytest.mark.parametrize("kind", [Union, Intersection, Difference])
def test_parts_are_two_or_more_domains(kind):
    with pytest.raises(InputError, match="two or more"):
        kind(Disk())
    with pytest.raises(InputError, match="two or more"):
        kind()
    with pytest.raises(InputError, match="domains, not 3"):
        kind(Disk(), 3)


@pytest.mark.parametrize("operate", [lambda a: a | 1, lambda a: a & "b", lambda a: a - None])
def test_operators_want_domains(operate):
    with pytest.raises(TypeError):
        operate(Disk())


def test_random_trees_fit_the_registers():
    random = np.random.default_rng(0)
    assert max(build(random_tree(random, 12)).registers for _ in range(50)) <= 4
