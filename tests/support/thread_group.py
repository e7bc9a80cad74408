"""Threads that run during a block of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self


class ThreadGroup:
    """Context manager that runs functions in threads, and joins them at the end of the block.

    Each function must return soon after `_stopping` is set. That happens at the end of the block,
    and as soon as a function raises an exception. The end of the block raises that exception, with
    the block's own exception as its context.
    """

    def __init__(self, functions: Iterable[Callable[[], object]]) -> None:
        self._stopping = threading.Event()
        self._error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(function,)) for function in functions
        ]

    def _run(self, function: Callable[[], object]) -> None:
        try:
            function()
        except BaseException as error:
            self._error = self._error or error
            self._stopping.set()

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
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error
