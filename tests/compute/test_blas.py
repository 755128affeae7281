"""Linear algebra on one thread, and as before afterwards."""

from threading import Event, Thread

import numpy as np
import pytest

from mc2.compute.blas import one_thread


def threads():
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def set_threads(count):
    """As a user's setting: no limit that is held by a thread."""
    from threadpoolctl import ThreadpoolController

    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        library.set_num_threads(count)
        getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


@pytest.fixture(autouse=True)
def two_threads():
    """Two threads for linear algebra, and as many as before afterwards."""
    pytest.importorskip("threadpoolctl")
    import scipy.linalg

    scipy.linalg.qr(np.eye(2))
    before = threads()
    set_threads(2)
    yield
    set_threads(min(before))


def test_one_thread_inside_and_all_outside():
    before = threads()
    assert set(before) == {2}
    with one_thread():
        assert set(threads()) == {1}
        with one_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_errors_leave_no_trace():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads() == before


def test_as_a_decorator():
    assert set(one_thread()(threads)()) == {1}


def test_without_threadpoolctl_it_does_nothing(monkeypatch):
    from mc2.compute import blas

    monkeypatch.setattr(blas, "_controller", lambda: None)
    before = threads()
    with one_thread():
        assert threads() == before


def test_threads_that_overlap_leave_what_was():
    """The first to enter leaves first: it must not restore, and the last must."""
    before = threads()
    entered, leave, seen = Event(), Event(), []

    def second():
        with one_thread():
            entered.set()
            leave.wait(10)
            seen.extend(threads())

    other = Thread(target=second)
    with one_thread():
        other.start()
        assert entered.wait(10)
    leave.set()
    other.join()
    assert set(seen) == {1}
    assert threads() == before
