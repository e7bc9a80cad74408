"""What many bring at once, sent together: a call costs far more than one more thing in it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from services.shared.errors import Unavailable

GATHER_SECONDS = 0.003
"""How long things wait at most for the call before theirs."""

Thing = TypeVar("Thing")


def stopping() -> Unavailable:
    """What those are told whose call the gateway's end cut off."""
    return Unavailable("The gateway stops.")


class Batches(Generic[Thing]):
    """Sends all that is brought in one turn of the loop together, at most `most` in a call.

    While a call is in flight, what follows gathers until it ends, for some milliseconds at most.
    A call has the context of the first who brought something: the id of its request, and its trace.
    `send` raises nothing but the end of its task. For one loop.
    """

    def __init__(
        self, send: Callable[[Sequence[Thing]], Coroutine[Any, Any, None]], most: int
    ) -> None:
        self._send = send
        self._most = most
        self._queue: list[Thing] = []
        self._context = contextvars.Context()
        self._turn: asyncio.Handle | None = None
        self._calls: set[asyncio.Task[None]] = set()

    @property
    def gathers(self) -> bool:
        """Whether what is brought now joins what others brought."""
        return bool(self._queue)

    def bring(self, thing: Thing) -> None:
        """Have a thing sent with the next call."""
        if self._turn is None:
            loop = asyncio.get_running_loop()
            self._turn = (
                loop.call_later(GATHER_SECONDS, self._go)
                if self._calls
                else loop.call_soon(self._go)
            )
        if not self._queue:
            self._context = contextvars.copy_context()
        self._queue.append(thing)

    async def close(self) -> Sequence[Thing]:
        """End the calls in flight; returns what was not sent."""
        left = self._take()
        await asyncio.sleep(0)  # A call that is cancelled ahead of its first step tells nobody.
        for call in list(self._calls):
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)
        return left

    def _take(self) -> list[Thing]:
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        queue, self._queue = self._queue, []
        return queue

    def _go(self) -> None:
        queue = self._take()
        for start in range(0, len(queue), self._most):
            work = self._send(queue[start : start + self._most])
            call = asyncio.create_task(work, context=self._context)
            self._calls.add(call)
            call.add_done_callback(self._called)

    def _called(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        if self._queue and not call.cancelled():
            self._go()
