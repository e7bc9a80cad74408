"""Codes into where they lead, from memory where possible, else by one look-up for many.

- A code is asked for once, however many wait for it; all codes missed in one turn of the loop
  share a call. While one is under way, those that follow gather until it ends, for some
  milliseconds at most: a call costs far more than a code in it.
- What was found is good for a minute; then it is served once more while it is asked for again.
- What was not found is remembered for two seconds, apart from what was: however many codes of
  nobody are asked for, no link leaves memory for them.
- While the links service is away or slow, what is in memory goes on being served, however old.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from gateway.resolution import LinkState, Resolution
from services.runtime import logs
from services.runtime.errors import AppError, Internal, Unavailable

FRESH_SECONDS = 60.0
"""For how long an entry is served without a question."""
STALE_SECONDS = 60.0
"""For how long after that it is served while it is asked for; later, askers wait."""
PATIENCE_SECONDS = 0.2
"""For how long an asker waits for news of what is in memory, before it is served as it was."""
ABSENT_SECONDS = 2.0
MOST_ABSENT = 20_000
"""Most codes kept in memory that lead nowhere, which take 5 MB. A gateway can look up fewer than so
many in a second; past it, those go first that came first."""
RETRY_SECONDS = 2.0
"""How soon a failed question is asked again."""
MOST_CODES = 500
"""Codes in one call."""
GATHER_SECONDS = 0.003
"""How long codes wait at most for the call before theirs."""
MOST_WAITING = 20_000


_ENCODED = re.compile(rb"[^!-~]+")
"""What a Location header does not carry as it is."""
_URLS_A_TURN = 50
"""URLs of a look-up that are encoded before the loop turns: the longest take 0.3 ms each."""

CODE = re.compile(r"[A-Za-z0-9_-]{8}")


def is_code(text: str) -> bool:
    """Whether a text has the shape of a code: nothing else is ever looked up."""
    return CODE.fullmatch(text) is not None


class LinkSource(Protocol):
    """Where links are looked up: the links service."""

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]: ...


Target = tuple[bytes, bytes]
"""Where a code leads: as a Location header carries it, and the URL in UTF-8 (`url_of`).

Most URLs are ASCII, and both are one object. The URL is no `str`: that of an emoji takes four bytes
a character, and as many again once it was encoded.
"""

_Entry = tuple[Target, float]
"""Where a code leads, and until when that is fresh.

Plain tuples of plain values: the garbage collector forgets those, and does not stop the gateway
for a tenth of a second, every few, to walk over a full cache.
"""

_SLOT_BYTES = 32 + 6 * 23
"""Most that a place in an OrderedDict takes beside its key and value: a node, and six slots of 23
bytes, as CPython makes a table anew for three times what is in it, rounded up to a power of two."""


def _size_of(value: object) -> int:
    """Bytes of memory that a value takes: in steps of 16, and a header where it is long."""
    size = sys.getsizeof(value)
    return (size + 15 & -16) + (16 if size > 512 else 0)


class Resolver:
    """A cache of links over a link source, least recently used out first.

    Its links take at most `limit_bytes` of memory, all that belongs to an entry counted. Belongs to
    the loop it is made in.
    """

    def __init__(
        self,
        source: LinkSource,
        limit_bytes: int,
        clock: Callable[[], float] = time.monotonic,
        fresh: float = FRESH_SECONDS,
        stale: float = STALE_SECONDS,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._log = logs.Throttled(__name__)
        self._source = source
        self.limit_bytes = limit_bytes
        self.bytes = 0
        """What the links in memory take."""
        self._clock = clock
        self._fresh = fresh
        self._stale = stale
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._absent: OrderedDict[str, float] = OrderedDict()
        """Codes that lead nowhere, each with the time up to which it is believed; in its order."""
        self._asked: dict[str, list[asyncio.Future[Target | None]]] = {}
        """Codes asked for, each with those who wait: one of them may give up without the others."""
        self._stored: dict[str, Target] = {}
        """Of codes stored while they are asked for: an answer that knows nothing of it is old."""
        self._queue: list[str] = []
        self._first_asker = contextvars.Context()
        """Of the request that asked for the first code of the queue: its id, and its trace."""
        self._sending: asyncio.Handle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._hits = self._stale_hits = self._misses = 0
        self.faults = 0
        """Look-ups since the start that ended with an error nobody foresaw."""

    @property
    def lookups(self) -> dict[str, int]:
        """Look-ups since the start by what memory could tell."""
        return {"hit": self._hits, "stale": self._stale_hits, "miss": self._misses}

    @property
    def gathers(self) -> bool:
        """Whether the next question joins a call that another one began."""
        return bool(self._queue)

    def __len__(self) -> int:
        """Links in memory."""
        return len(self._entries)

    @property
    def absent(self) -> int:
        """Codes in memory that lead nowhere."""
        return len(self._absent)

    def known(self, code: str) -> Target | None:
        """Where a code leads, if memory can tell. None means: ask `resolve`."""
        entry = self._entries.get(code)
        if entry is None:
            return None
        target, refresh = entry
        now = self._clock()
        if now >= refresh:
            if now >= refresh + self._stale:
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
        if (
            code in self._entries
            or len(self._asked) >= MOST_WAITING
            or self._clock() < self._absent.get(code, -math.inf)
        ):
            return None
        self._misses += 1
        return self._answer_to(code)

    async def resolve(self, code: str) -> Target | None:
        """Where a code leads, None for nowhere. `code` is well-formed.

        Raises Unavailable or DeadlineExceeded when memory cannot tell and the source is away, and
        Internal where the look-up ended with an error nobody foresaw.
        """
        entry = self._entries.get(code)
        if entry is None:
            if self._clock() < self._absent.get(code, -math.inf):
                self._hits += 1
                return None
            self._misses += 1
            return await self._answer_to(code)
        target, refresh = entry
        if self._clock() < refresh:
            self._hits += 1
            self._entries.move_to_end(code)
            return target
        self._misses += 1
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
        target = target_of(url)
        self._remember(code, target)
        if code in self._asked:
            self._stored[code] = target

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
            resolutions = await self._source.resolve(codes)
            found: dict[str, Target] = {}
            for number, (code, resolution) in enumerate(resolutions.items(), 1):
                if resolution.state is LinkState.ACTIVE:
                    found[code] = target_of(resolution.url)
                if number % _URLS_A_TURN == 0:
                    await asyncio.sleep(0)
            for code in codes:
                target = found.get(code)
                if target is None and code in self._stored:
                    target = self._stored[code]
                else:
                    self._remember(code, target)
                self._answer(code, target)
        except AppError as error:
            self._fail(codes, error)
        except asyncio.CancelledError:
            for code in codes:
                self._answer(code, _stopping())
            raise
        except Exception as error:
            self.faults += 1
            self._log.error("look_up_broke", exc_info=error)
            self._fail(codes, Internal())

    def _fail(self, codes: Iterable[str], error: AppError) -> None:
        for code in codes:
            self._keep(code)
            self._answer(code, error)

    def _answer(self, code: str, answer: Target | AppError | None) -> None:
        """Answer who waits for a code, if somebody does: an answer is given once."""
        self._stored.pop(code, None)
        for future in self._asked.pop(code, ()):
            if future.done():  # Its asker gave up.
                continue
            if isinstance(answer, AppError):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _keep(self, code: str) -> None:
        """Go on with what is known: the question failed, or its answer is late."""
        entry = self._entries.get(code)
        if entry is not None:
            self._entries[code] = (entry[0], self._clock() + RETRY_SECONDS)

    def _remember(self, code: str, target: Target | None) -> None:
        self._forget(code)
        if target is None:
            self._remember_absent(code)
            return
        self._absent.pop(code, None)
        entry = (target, self._clock() + self._fresh)
        self._entries[code] = entry
        self.bytes += _bytes_of(code, entry)
        while self.bytes > self.limit_bytes:
            self.bytes -= _bytes_of(*self._entries.popitem(last=False))

    def _forget(self, code: str) -> None:
        entry = self._entries.pop(code, None)
        if entry is not None:
            self.bytes -= _bytes_of(code, entry)

    def _remember_absent(self, code: str) -> None:
        absent = self._absent
        now = self._clock()
        absent[code] = now + ABSENT_SECONDS
        absent.move_to_end(code)
        # Two for each that comes: what is no longer believed goes soon, and never all at once.
        for _ in range(2):
            first = next(iter(absent))
            if len(absent) <= MOST_ABSENT and now < absent[first]:
                break
            del absent[first]


def _bytes_of(code: str, entry: _Entry) -> int:
    """Memory that a link takes in the cache."""
    target, refresh = entry
    location, url = target
    own = (code, entry, target, refresh, location)
    return _SLOT_BYTES + sum(map(_size_of, own)) + (0 if url is location else _size_of(url))


def _stopping() -> Unavailable:
    return Unavailable("The gateway stops.")


def target_of(url: str) -> Target:
    """The target of a stored URL: in a header, what ASCII has no place for is percent-encoded."""
    plain = url.encode()
    if url.isascii() and url.isprintable() and " " not in url:
        return plain, plain
    return _ENCODED.sub(lambda run: b"%" + run[0].hex("%").upper().encode(), plain), plain


def url_of(target: Target) -> str:
    """The URL that was stored."""
    return target[1].decode()
