"""Covers: small boxes that hold a domain, however thin it is, found by halving those that may meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mc2.geometry.domain import Domain

BOXES = 1 << 14
"""Boxes of a cover, about: a strip is then followed by boxes of a ten-thousandth of its length."""
MOST_BOXES = 1 << 18
"""Boxes that are looked at at a time: where distances are poor bounds, many may meet the domain."""
HALVINGS = 48
"""Most times that a bounding box is halved: beyond, coordinates cannot tell boxes apart."""


def cover(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Lower left corners [n, 2] of equal boxes that hold the domain together, and their sides [2]."""
    xmin, xmax, ymin, ymax = domain.bounds
    low, sides = np.array([[xmin, ymin]]), np.array([xmax - xmin, ymax - ymin])
    for _ in range(HALVINGS):
        if not 0 < len(low) < BOXES or 4 * len(low) > MOST_BOXES:
            break
        sides = 0.5 * sides
        low = np.concatenate([low + sides * corner for corner in ((0, 0), (1, 0), (0, 1), (1, 1))])
        # within half a diagonal of its middle, and with some for rounding
        low = low[domain.distance(*(low + 0.5 * sides).T) > -0.5 * np.hypot(*sides) - domain.rounding]
    return low, sides
