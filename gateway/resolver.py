"""Codes into where they lead, from memory where possible, else by one look-up for many.

- A code is asked for once, however many wait for it; all codes missed in one turn of the loop
  share a call. While one is under way, those that follow gather until it ends, for some
  milliseconds at most: a call costs far more than a code in it.
- What was found is good for a minute; then it is served once more while it is asked for again.
- What was not found is remembered for two seconds.
- While the links service is away or slow, what is in memory goes on being served, however old.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from services.runtime.errors import AppError, Unavailable

FRESH_SECONDS = 60.0
"""For how long an entry is served without a question."""
STALE_SECONDS = 60.0
"""For how long after that it is served while it is asked for; later, askers wait."""
PATIENCE_SECONDS = 0.2
"""For how long an asker waits for news of what is in memory, before it is served as it was."""
ABSENT_SECONDS = 2.0
RETRY_SECONDS = 2.0
"""How soon a failed question is asked again."""
MOST_CODES = 500
"""Codes in one call."""
GATHER_SECONDS = 0.003
"""How long codes wait at most for the call before theirs."""
MOST_WAITING = 20_000


CODE = re.compile(r"[A-Za-z0-9_-]{8}")


def is_code(text: str) -> bool:
    """Whether a text has the shape of a code: nothing else is ever looked up."""
    return CODE.fullmatch(text) is not None


class LinkSource(Protocol):
    """Where links are looked up: the links service."""

    async def resolve(self, codes: Sequence[str]) -> dict[str, str]: ...


Target = tuple[str, bytes]
"""Where a code leads: the URL, and the same as a Location header carries it."""

_Entry = tuple[Target | None, float, float]
"""Where a code leads, until when that is fresh, and until when it may be served at all.

Plain tuples of plain values: the garbage collector forgets those, and does not stop the gateway
for a tenth of a second, every few, to walk over a full cache.
"""

_NOTHING: _Entry = (None, -math.inf, -math.inf)


class Resolver:
    """A cache of at most `entries` codes, least recently used out first, over a link source.

    Belongs to the loop it is made in.
    """

    def __init__(
        self,
        source: LinkSource,
        entries: int,
        clock: Callable[[], float] = time.monotonic,
        fresh: float = FRESH_SECONDS,
        stale: float = STALE_SECONDS,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._most = entries
        self._clock = clock
        self._fresh = fresh
        self._stale = stale
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._asked: dict[str, list[asyncio.Future[Target | None]]] = {}
        """Codes asked for, each with those who wait: one of them may give up without the others."""
        self._stored: set[str] = set()
        """Codes stored while they are asked for: an answer that knows nothing of it is old."""
        self._queue: list[str] = []
        self._first_asker = contextvars.Context()
        """Of the request that asked for the first code of the queue: its id, and its trace."""
        self._sending: asyncio.Handle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._hits = self._stale_hits = self._misses = 0

    @property
    def lookups(self) -> dict[str, int]:
        """Look-ups since the start by what memory could tell."""
        return {"hit": self._hits, "stale": self._stale_hits, "miss": self._misses}

    @property
    def gathers(self) -> bool:
        """Whether the next question joins a call that another one began."""
        return bool(self._queue)

    def __len__(self) -> int:
        return len(self._entries)

    def known(self, code: str) -> Target | None:
        """Where a code leads, if memory can tell. None means: ask `resolve`."""
        target, refresh, expires = self._entries.get(code, _NOTHING)
        if target is None:
            return None
        now = self._clock()
        if now >= refresh:
            if now >= expires:
                return None
            self._refresh(code)
            self._stale_hits += 1
        else:
            self._hits += 1
        self._entries.move_to_end(code)
        return target

    def ask(self, code: str) -> asyncio.Future[Target | None] | None:
        """The answer to come of a code of which memory has nothing; None means: `resolve` it.

        The answer is what `resolve` would return or raise. `code` is well-formed.
        """
        if code in self._entries or len(self._asked) >= MOST_WAITING:
            return None
        self._misses += 1
        return self._answer_to(code)

    async def resolve(self, code: str) -> Target | None:
        """Where a code leads, None for nowhere. `code` is well-formed.

        Raises Unavailable or DeadlineExceeded when memory cannot tell and the source is away.
        """
        target, refresh, _ = self._entries.get(code, _NOTHING)
        if self._clock() < refresh:
            self._hits += 1
            self._entries.move_to_end(code)
            return target
        self._misses += 1
        if target is None:
            return await self._answer_to(code)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._answer_to(code)
        except TimeoutError:
            self._keep(code)
        except AppError:
            pass
        return target

    def put(self, code: str, url: str) -> None:
        """Remember a link that was just stored."""
        self._remember(code, target_of(url))
        if code in self._asked:
            self._stored.add(code)

    async def close(self) -> None:
        """End the calls under way."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        queue, self._queue = self._queue, []
        for code in queue:
            self._answer(code, _stopping())
        for call in list(self._calls):
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)

    def _refresh(self, code: str) -> None:
        if len(self._asked) < MOST_WAITING:
            self._ask(code)

    def _answer_to(self, code: str) -> asyncio.Future[Target | None]:
        """The answer to the question for a code, which is asked if it is not yet."""
        waiting = self._ask(code)
        future = self._loop.create_future()
        waiting.append(future)
        return future

    def _ask(self, code: str) -> list[asyncio.Future[Target | None]]:
        """Ask for a code unless that is under way; returns those who wait for it."""
        waiting = self._asked.get(code)
        if waiting is None:
            if len(self._asked) >= MOST_WAITING:
                raise Unavailable("Too many look-ups wait.", "RESOLVER_OVERLOADED")
            waiting = self._asked[code] = []
            if self._sending is None:
                self._sending = (
                    self._loop.call_later(GATHER_SECONDS, self._send)
                    if self._calls
                    else self._loop.call_soon(self._send)
                )
            if not self._queue:
                self._first_asker = contextvars.copy_context()
            self._queue.append(code)
        return waiting

    def _send(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        queue, self._queue = self._queue, []
        for start in range(0, len(queue), MOST_CODES):
            # One call has one id, however many asked.
            look_up = self._look_up(queue[start : start + MOST_CODES])
            call = asyncio.create_task(look_up, context=self._first_asker)
            self._calls.add(call)
            call.add_done_callback(self._called)

    def _called(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        if self._queue and not call.cancelled():
            self._send()

    async def _look_up(self, codes: list[str]) -> None:
        try:
            urls = await self._source.resolve(codes)
        except AppError as error:
            for code in codes:
                self._keep(code)
                self._answer(code, error)
        except asyncio.CancelledError:
            for code in codes:
                self._answer(code, _stopping())
            raise
        else:
            for code in codes:
                url = urls.get(code)
                if url is None and code in self._stored:
                    self._answer(code, self.known(code))
                    continue
                target = None if url is None else target_of(url)
                self._remember(code, target)
                self._answer(code, target)

    def _answer(self, code: str, answer: Target | AppError | None) -> None:
        self._stored.discard(code)
        for future in self._asked.pop(code):
            if future.done():  # Its asker gave up.
                continue
            if isinstance(answer, AppError):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _keep(self, code: str) -> None:
        """Go on with what is known: the question failed, or its answer is late."""
        target, _, _ = self._entries.get(code, _NOTHING)
        if target is not None:
            refresh = self._clock() + RETRY_SECONDS
            self._entries[code] = (target, refresh, refresh + STALE_SECONDS)

    def _remember(self, code: str, target: Target | None) -> None:
        refresh = self._clock() + (ABSENT_SECONDS if target is None else self._fresh)
        expires = refresh + (0.0 if target is None else self._stale)
        self._entries[code] = (target, refresh, expires)
        self._entries.move_to_end(code)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


def _stopping() -> Unavailable:
    return Unavailable("The gateway stops.")


def target_of(url: str) -> Target:
    """A stored URL and the same as a header: what ASCII has no place for is percent-encoded."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url, url.encode("ascii")
    encoded = "".join(
        char if "!" <= char <= "~" else "".join(f"%{byte:02X}" for byte in char.encode())
        for char in url
    )
    return url, encoded.encode("ascii")
