"""Ends at re-entrant corners, whose nearest boundary point is the corner for a whole sector."""

import numpy as np

import mc2
from mc2.geometry import Disk, Polygon
from mc2.walks.corner_ends import leave_corners
from mc2.walks.exits import find_exits
from mc2.walks.options import Options
from mc2.walks.random_kernels import make_key

L_SHAPE = Polygon([(-1, -1), (1, -1), (1, 1), (0, 1), (0, 0), (-1, 0)])
SHELL = 1e-2


def test_ends_leave_by_the_sides_of_a_re_entrant_corner():
    ends = np.array([[0j] * 4000 + [1 + 1j, 0.5 - 1j]])
    leave_corners(L_SHAPE, ends, SHELL, make_key(0, 0))
    moved, others = ends[0, :4000], ends[0, 4000:]
    assert (others == [1 + 1j, 0.5 - 1j]).all()  # convex corners and sides collect nothing
    assert np.abs(L_SHAPE.distance(moved.real, moved.imag)).max() < 1e-12
    up = moved.imag > 0
    assert abs(up.mean() - 0.5) < 0.03
    assert (moved.real[up] == 0).all()
    assert (moved.imag[~up] == 0).all()
    # a wedge of 3π/2 from the middle of its angle, at a distance of d: half of all leave within d |tan(π/4)|^(3/2) = d
    assert abs((np.abs(moved) < SHELL).mean() - (0.5 + 0.25 * np.log(2))) < 0.15
    assert np.abs(moved).max() <= 0.5


def test_no_walk_ends_at_the_corner_itself():
    """What is left of a singular solution there would count for all of them."""
    problem = mc2.Laplace(L_SHAPE, boundary=0)
    exits = find_exits(problem, np.array([[0.05, -0.05]]), 4096, Options(epsilon=1e-2))
    at = np.hypot(exits.x, exits.y)
    assert (at < 1e-9).mean() < 1e-3  # it was 2 % and more
    assert (np.minimum(np.abs(exits.x), np.abs(exits.y))[at < 0.2] < 1e-12).all()


def test_differences_have_such_corners_and_disks_do_not():
    pacman = Disk(1.0) - Polygon([(0, 0), (-2, 1), (-2, -1)])
    for domain, moves in ((pacman, True), (Disk(1.0), False)):
        ends = np.zeros((2, 5), complex)
        leave_corners(domain, ends, SHELL, make_key(0, 0))
        assert (ends != 0).all() == moves
