"""Threads: as many as were asked for."""

import threading

import numpy as np

from mc2.walks.schedule import in_halves, threads_limited


def halves():
    return in_halves(lambda x: (threading.get_ident(), 2 * x), np.arange(5.0))


def test_one_thread_is_one_thread():
    with threads_limited(1):
        assert {thread for thread, _ in halves()} == {threading.get_ident()}
        with threads_limited(None):  # says nothing, and changes nothing
            assert len({thread for thread, _ in halves()}) == 1
        with threads_limited(4):
            assert len({thread for thread, _ in halves()}) == 2
    assert len({thread for thread, _ in halves()}) == 2


def test_halves_are_the_same_on_one_thread():
    two = [part for _, part in halves()]
    with threads_limited(1):
        one = [part for _, part in halves()]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.concatenate(one), 2 * np.arange(5.0))
