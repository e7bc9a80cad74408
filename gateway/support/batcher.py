"""Batches items that are submitted at about the same time into one call."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from services.shared.errors import Unavailable

GATHER_SECONDS = 0.003
"""Maximum time that an item waits for the call before its own."""

Item = TypeVar("Item")


def stopping() -> Unavailable:
    """Return the error for callers whose call the gateway's shutdown interrupted."""
    return Unavailable("The gateway is shutting down.")


class Batcher(Generic[Item]):
    """Sends items that are submitted in one turn of the event loop together, `max_items` per call.

    While a call is in flight, later items wait until it ends, for `GATHER_SECONDS` at most: a call
    costs far more than one more item in it. A call has the context (request id, trace) in which
    its first item was submitted. `send` must not raise, except when cancelled. For use within one
    event loop.
    """

    def __init__(
        self, send: Callable[[Sequence[Item]], Coroutine[Any, Any, None]], max_items: int
    ) -> None:
        self._send = send
        self._max_items = max_items
        self._queue: list[Item] = []
        self._context = contextvars.Context()
        self._flush_handle: asyncio.Handle | None = None
        self._calls: set[asyncio.Task[None]] = set()

    @property
    def is_gathering(self) -> bool:
        """Whether the next item joins items of others."""
        return bool(self._queue)

    def submit(self, item: Item) -> None:
        """Send an item with the next call."""
        if self._flush_handle is None:
            loop = asyncio.get_running_loop()
            self._flush_handle = (
                loop.call_later(GATHER_SECONDS, self._flush)
                if self._calls
                else loop.call_soon(self._flush)
            )
        if not self._queue:
            self._context = contextvars.copy_context()
        self._queue.append(item)

    async def close(self) -> Sequence[Item]:
        """End the calls in flight. Returns the items that were not sent."""
        unsent = self._take()
        await asyncio.sleep(0)  # A call that is cancelled before its first step cannot clean up.
        for call in list(self._calls):
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)
        return unsent

    def _take(self) -> list[Item]:
        if self._flush_handle is not None:
            self._flush_handle.cancel()
            self._flush_handle = None
        queue, self._queue = self._queue, []
        return queue

    def _flush(self) -> None:
        queue = self._take()
        for start in range(0, len(queue), self._max_items):
            work = self._send(queue[start : start + self._max_items])
            call = asyncio.create_task(work, context=self._context)
            self._calls.add(call)
            call.add_done_callback(self._end_call)

    def _end_call(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        if self._queue and not call.cancelled():
            self._flush()
