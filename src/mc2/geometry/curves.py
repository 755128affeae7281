"""Boundary curves by arc length: t in [0, 1) to points [n, 2]."""

import numpy as np


def circle(radius: float, t: np.ndarray) -> np.ndarray:
    """The circle around the origin."""
    angle = 2 * np.pi * t
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def polyline(rings: list[np.ndarray], t: np.ndarray, left: float = 0.0) -> np.ndarray:
    """Closed rings of corners [k, 2], one after the other. left: a length by which points lie to the left of them."""
    start = np.concatenate(rings)
    along = np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in rings])
    ends = np.cumsum(np.hypot(*along.T))
    begins = np.concatenate([[0.0], ends[:-1]])
    s = t * ends[-1]
    k = np.minimum(np.searchsorted(ends, s, side="right"), len(ends) - 1)
    length = ends[k] - begins[k]
    points = start[k] + ((s - begins[k]) / length)[:, None] * along[k]
    return points + (left / length)[:, None] * along[k] @ np.array([[0.0, 1.0], [-1.0, 0.0]]) if left else points


def polyline_breaks(rings: list[np.ndarray]) -> tuple[float, ...]:
    """Fractions of the arc length at which closed rings have their corners."""
    lengths = np.concatenate([np.hypot(*(np.roll(ring, -1, axis=0) - ring).T) for ring in rings])
    return tuple((np.concatenate([[0.0], np.cumsum(lengths)[:-1]]) / lengths.sum()).tolist())


def polyline_length(rings: list[np.ndarray]) -> float:
    """Total length of closed rings."""
    return sum(float(np.hypot(*(np.roll(ring, -1, axis=0) - ring).T).sum()) for ring in rings)


def ellipse(rx: float, ry: float, t: np.ndarray) -> np.ndarray:
    """The ellipse with semi-axes rx, ry. The points are exact; the arc length is inverted through a fine table."""
    angle, length = _ellipse_table(rx, ry)
    angle = np.interp(t * length[-1], length, angle)
    return np.stack([rx * np.cos(angle), ry * np.sin(angle)], axis=1)


def ellipse_length(rx: float, ry: float) -> float:
    """Perimeter of the ellipse."""
    return float(_ellipse_table(rx, ry)[1][-1])


def _ellipse_table(rx: float, ry: float) -> tuple[np.ndarray, np.ndarray]:
    angle = np.linspace(0, 2 * np.pi, 1025)
    speed = np.hypot(rx * np.sin(angle), ry * np.cos(angle))
    pieces = 0.5 * (speed[1:] + speed[:-1]) * np.diff(angle)
    return angle, np.concatenate([[0.0], np.cumsum(pieces)])


def stadium(half_length: float, radius: float, t: np.ndarray) -> np.ndarray:
    """Two straight sides of length 2 half_length and two half-circles, counter-clockwise from the lower left."""
    side, cap = 2 * half_length, np.pi * radius
    s = 2 * (side + cap) * t
    upper = s >= side + cap
    s = np.where(upper, s - side - cap, s)
    angle = np.maximum(s - side, 0) / radius - np.pi / 2
    x = np.minimum(s, side) - half_length + radius * np.cos(angle)
    y = radius * np.sin(angle)
    # The upper half is the lower one turned by half a turn.
    sign = np.where(upper, -1.0, 1.0)
    return np.stack([sign * x, sign * y], axis=1)
