"""Linear algebra on one thread, and as before afterwards."""

import numpy as np
import pytest

from mc2.compute.blas import one_thread


def threads():
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _with_threadpoolctl():
    pytest.importorskip("threadpoolctl")
    import scipy.linalg

    scipy.linalg.qr(np.eye(2))


def test_one_thread_inside_and_all_outside():
    before = threads()
    assert before
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
