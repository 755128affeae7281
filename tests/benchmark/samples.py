"""Predictions for tests: exact fields with noise."""

import numpy as np

from mc2.geometry import Grid
from mc2.zoo import generate

GRID = Grid(32)
COUNT = 10


def noisy(split="test", count=COUNT, grid=GRID, noise=0.1):
    """Ids, and exact fields with noise of a share of their range."""
    random = np.random.default_rng(3)
    instances = [generate(split, index) for index in range(count)]
    fields = np.zeros((count, *grid.shape), np.float32)
    for field, instance in zip(fields, instances, strict=True):
        exact, mask = instance.problem.on_grid(instance.problem.exact, grid), instance.problem.mask(grid)
        field[mask] = (exact + noise * np.ptp(exact[mask]) * random.standard_normal(grid.shape))[mask]
    return [instance.id for instance in instances], fields
