from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.support.crew import Crew


class _Waiting(Crew):
    """Two that wait for the end, and one that does what it is given."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.ended = threading.Semaphore(0)
        super().__init__([self._wait, self._wait, act])

    def _wait(self) -> None:
        self._over.wait()
        self.ended.release()


def _break() -> None:
    raise LookupError("broken")


def test_all_have_ended_with_the_block() -> None:
    with _Waiting(lambda: None) as crew:
        assert not crew.ended.acquire(blocking=False)
    assert crew.ended.acquire(blocking=False)
    assert crew.ended.acquire(blocking=False)


def test_what_one_of_them_raises_ends_the_others_and_is_raised() -> None:
    with pytest.raises(LookupError, match="broken"), _Waiting(_break) as crew:
        assert crew.ended.acquire(timeout=60)


def _wait_in_vain() -> None:
    with _Waiting(_break) as crew:
        assert crew.ended.acquire(timeout=60)
        raise AssertionError("waited in vain")


def test_what_one_of_them_raises_is_told_beside_what_the_block_does() -> None:
    with pytest.raises(LookupError, match="broken") as raised:
        _wait_in_vain()
    assert str(raised.value.__context__) == "waited in vain"
