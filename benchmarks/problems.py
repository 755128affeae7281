"""Random problems for benchmarks: sums of atoms on random domains, all families."""

import numpy as np

import mc2
from mc2.geometry import SHAPES, Disk, Ellipse, Rectangle, Triangle
from mc2.problems import FAMILIES
from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS


def random_domain(rng):
    """A primitive with the paper's ranges, or a composition of two."""
    if rng.random() < 8 / 11:
        shape = SHAPES[rng.choice(list(SHAPES))]
        return shape(**{name: rng.uniform(*bounds) for name, bounds in shape.ranges.items()})
    first, second = (_part(rng) for _ in range(2))
    return [first | second, first & second, first - second][rng.integers(3)]


def _part(rng):
    center = rng.uniform(-0.25, 0.25, 2)
    angle = rng.uniform(0, 2 * np.pi)
    sizes = rng.uniform(0.4, 0.9, 2)
    return [
        Disk(sizes[0], center=center),
        Rectangle(*sizes, center=center, angle=angle),
        Ellipse(*sizes, center=center, angle=angle),
        Triangle(sizes[0], center=center, angle=angle),
    ][rng.integers(4)]


def random_problem(rng, family):
    """A problem with an exact solution of 2 to 6 atoms."""
    pool = list((HARMONIC_ATOMS if family == "laplace" else GENERAL_ATOMS).values())
    while True:
        kinds = [pool[i] for i in rng.integers(0, len(pool), rng.integers(2, 7))]
        atoms = [kind.draw(rng.random(len(kind.parameters))) for kind in kinds]
        parameters = {"yukawa": {"lam": rng.uniform(0.5, 50)}, "helmholtz": {"k": rng.uniform(0.5, 10)}}.get(family, {})
        try:
            return FAMILIES[family](random_domain(rng), exact=atoms, **parameters)
        except mc2.InputError:
            continue  # an empty intersection, or a source inside the domain


def mixed_problems(count, seed=0):
    """Problems of all five families in turn."""
    rng = np.random.default_rng(seed)
    return [random_problem(rng, list(FAMILIES)[i % 5]) for i in range(count)]
