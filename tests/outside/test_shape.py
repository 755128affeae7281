"""A shape from outside the package: its own class, and a line that registers it."""

from dataclasses import dataclass

import numpy as np

import mc2
from mc2.geometry import SHAPES, Disk, from_description
from mc2.geometry.primitive import CorneredShape
from mc2.zoo.manifest import digest, generate

FIRST = "2fe0ae230eb2aae17cd271e8a97fab90568cf8a39571b46234743c4e1b7480f7"
"""The digest of the first 100 test records of version 1, as they have always been."""


@dataclass(frozen=True, repr=False)
class Kite(CorneredShape):
    """A square on its corner, whose lower half is twice as high."""

    radius: float = 1.0

    sides = ("top right", "top left", "bottom left", "bottom right")
    ranges = {"radius": (0.5, 1.0)}

    @property
    def vertices(self):
        return self.radius * np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -2.0)])


def test_it_is_a_domain_like_any_other_and_pdezoo_does_not_know_it(register):
    register(SHAPES, "kite", Kite)
    kite = from_description({"shape": "kite", "radius": 0.8, "center": [0.1, 0.2]}) - Disk(0.2, center=(0.1, 0.0))
    assert from_description(kite.describe()).describe() == kite.describe()
    solution = mc2.solve(mc2.Laplace(kite, exact="exp(x)*sin(y)"), grid=48)
    exact = solution.problem.on_grid(solution.problem.exact, solution.grid)
    assert np.abs(solution.values - exact)[solution.mask].max() < 1e-3
    assert digest(generate("test", index) for index in range(100)) == FIRST
