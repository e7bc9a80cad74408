"""Threads that go on beside a block of a test, until it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self


class Crew:
    """Does some things at once for a block, each in a thread, and has ended when the block has.

    Each looks at `_over`, which is set at the end. It is set, too, once one of them raised: the end
    of the block raises that, after what the block itself raised.
    """

    def __init__(self, acts: Iterable[Callable[[], object]]) -> None:
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._threads = [threading.Thread(target=self._do, args=(act,)) for act in acts]

    def _do(self, act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            self._error = self._error or error
            self._over.set()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error
