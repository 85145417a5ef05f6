"""One thread of BLAS inside, as many as before outside, whoever leaves first."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from vbrand.threads import one_thread


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_blas_has_its_threads_back_when_two_callers_overlap():
    """The first to come was the first to leave: the other one then restored the one thread that it had found."""
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        inside, leave = threading.Event(), threading.Event()

        def second():
            with one_thread():
                inside.set()
                leave.wait(10)

        other = threading.Thread(target=second)
        with one_thread():
            other.start()
            assert inside.wait(10)
            assert blas_threads() == {1}
        assert blas_threads() == {1}
        leave.set()
        other.join()
        assert blas_threads() == before


def test_an_error_inside_gives_the_threads_back():
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError), one_thread(), one_thread():
            raise RuntimeError
        assert blas_threads() == before
