from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.support.thread_group import ThreadGroup


class _Group(ThreadGroup):
    """Two threads that wait for the end, and one that runs a function."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.ended = threading.Semaphore(0)
        super().__init__([self._wait, self._wait, function])

    def _wait(self) -> None:
        self._stopping.wait()
        self.ended.release()


def _fail() -> None:
    raise LookupError("broken")


def test_the_end_of_the_block_joins_all_threads() -> None:
    with _Group(lambda: None) as group:
        assert not group.ended.acquire(blocking=False)
    assert group.ended.acquire(blocking=False)
    assert group.ended.acquire(blocking=False)


def test_an_error_in_one_thread_stops_the_others_and_is_raised() -> None:
    with pytest.raises(LookupError, match="broken"), _Group(_fail) as group:
        assert group.ended.acquire(timeout=60)


def _fail_in_thread_and_block() -> None:
    with _Group(_fail) as group:
        assert group.ended.acquire(timeout=60)
        raise AssertionError("failed in the block")


def test_an_error_in_a_thread_does_not_hide_the_error_of_the_block() -> None:
    with pytest.raises(LookupError, match="broken") as raised:
        _fail_in_thread_and_block()
    assert str(raised.value.__context__) == "failed in the block"
