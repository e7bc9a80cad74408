"""Looks codes up in the links service: single flight, in batches, with the cache as a fallback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.redirects.cache import ResolutionCache
from gateway.redirects.resolution import (
    LinkSource,
    Resolution,
    Resolutions,
    UnreadableLinks,
    to_location,
)
from gateway.support.batcher import Batcher, stopping
from services.shared.errors import AppError, Internal, Unavailable
from services.shared.observability import logs

FALLBACK_SECONDS = 0.2
"""How long a caller waits for a lookup before it receives the cached resolution, if there is one.
"""
MAX_CODES = 250
"""Maximum codes per call. 250 resolutions with two 999-character URLs (4 bytes each) are about
2 MB, half of gRPC's message limit."""
_PROBED_CODE = "probe---"
"""Any well-formed code, with a link or without."""
MAX_IN_FLIGHT = 20_000
"""Maximum codes in flight."""

URLS_PER_STEP = 50
"""URLs that are encoded between two turns of the event loop. The longest take 0.3 ms each."""


@dataclass(slots=True, eq=False)
class _InFlight:
    """A code that is being looked up, and the callers that wait for it."""

    code: str
    generation: int
    """The generation of the cache when the lookup started."""
    waiters: list[asyncio.Future[Resolution | None]] = field(default_factory=list)
    fallback: asyncio.TimerHandle | None = None
    """Answers the waiters from the cache after `FALLBACK_SECONDS`."""


class Lookups:
    """Looks up each code once at a time, caches the result, and answers all waiters.

    Codes that are requested in one turn of the event loop share a call. While a call is in flight,
    later codes wait for it for a few milliseconds, since a call costs far more than a code.
    """

    def __init__(self, source: LinkSource, cache: ResolutionCache) -> None:
        self._loop = asyncio.get_running_loop()
        self._log = logs.Throttled(__name__)
        self._source = source
        self._cache = cache
        self._in_flight: dict[str, _InFlight] = {}
        self._calls = Batcher(self._look_up, MAX_CODES)
        self.faults = 0
        """Lookups since the start that ended with an unexpected error."""

    @property
    def is_gathering(self) -> bool:
        """Whether the next lookup joins a call that another one started."""
        return self._calls.is_gathering

    def __contains__(self, code: str) -> bool:
        """Whether a code is being looked up."""
        return code in self._in_flight

    async def probe(self) -> None:
        """Return if links answers a lookup. Raises AppError."""
        await self._source.resolve([_PROBED_CODE])

    def start(self, code: str) -> None:
        """Look a code up, unless it is in flight or too many are. Nobody waits for it."""
        if code not in self._in_flight and len(self._in_flight) < MAX_IN_FLIGHT:
            self._start(code)

    def join(self, code: str) -> asyncio.Future[Resolution | None]:
        """Wait for the lookup of a code, starting it unless it is in flight.

        A cached resolution is the result if the lookup fails or takes long. Raises Unavailable if
        too many codes are in flight and this one is not cached.
        """
        future: asyncio.Future[Resolution | None] = self._loop.create_future()
        lookup = self._in_flight.get(code)
        if lookup is None:
            if len(self._in_flight) >= MAX_IN_FLIGHT:
                cached = self._cache.peek(code)
                if cached is None:
                    raise Unavailable("Too many lookups wait.", "RESOLVER_OVERLOADED")
                future.set_result(cached)
                return future
            lookup = self._start(code)
        lookup.waiters.append(future)
        if lookup.fallback is None and code in self._cache:
            self._limit_wait(lookup)
        return future

    def restart(self, code: str) -> None:
        """Look a code up again if it is in flight: links may have answered before a change."""
        before = self._in_flight.pop(code, None)
        if before is None:
            return
        again = self._start(code)
        again.waiters, before.waiters = before.waiters, []
        if before.fallback is not None:
            before.fallback.cancel()
            self._limit_wait(again)

    def settle(self, code: str, resolution: Resolution | None) -> None:
        """End the lookup of a code, if it is in flight, with a newer result."""
        if lookup := self._in_flight.get(code):
            self._settle(lookup, resolution)

    async def close(self) -> None:
        """End the calls in flight."""
        self._fail(await self._calls.close(), stopping())

    def _start(self, code: str) -> _InFlight:
        lookup = self._in_flight[code] = _InFlight(code, self._cache.generation)
        self._calls.submit(lookup)
        return lookup

    async def _look_up(self, lookups: Sequence[_InFlight]) -> None:
        # A change may have settled some already.
        lookups = [lookup for lookup in lookups if self._in_flight.get(lookup.code) is lookup]
        if not lookups:
            return
        try:
            found = await self._resolve(lookups)
            locations: dict[str, bytes] = {}
            for number, (code, resolution) in enumerate(found.items(), 1):
                locations[code] = to_location(resolution.url)
                if number % URLS_PER_STEP == 0:
                    await asyncio.sleep(0)
            for lookup in lookups:
                code = lookup.code
                if self._in_flight.get(code) is lookup:  # A change may have settled it meanwhile.
                    resolved = found.get(code)
                    is_confirmed = lookup.generation == self._cache.generation
                    self._cache.put(code, resolved, locations.get(code, b""), is_confirmed)
                    self._settle(lookup, resolved)
        except AppError as error:
            self._fail(lookups, error)
        except asyncio.CancelledError:
            self._fail(lookups, stopping())
            raise
        except Exception as error:
            self.faults += 1
            self._log.error("look_up_error", exc_info=error)
            self._fail(lookups, Internal())

    async def _resolve(self, lookups: Sequence[_InFlight]) -> Resolutions:
        try:
            return await self._source.resolve([lookup.code for lookup in lookups])
        except UnreadableLinks as error:
            self._fail([lookup for lookup in lookups if lookup.code in error.codes], error)
            return error.found

    def _fail(self, lookups: Sequence[_InFlight], error: AppError) -> None:
        for lookup in lookups:
            if self._in_flight.get(lookup.code) is lookup:
                self._settle(lookup, self._cache.fall_back(lookup.code) or error)

    def _settle(self, lookup: _InFlight, outcome: Resolution | AppError | None) -> None:
        del self._in_flight[lookup.code]
        self._answer(lookup, outcome)

    def _answer(self, lookup: _InFlight, outcome: Resolution | AppError | None) -> None:
        """Answer the waiters of a lookup, which goes on unless it was settled."""
        if isinstance(outcome, Resolution) and outcome.expires_at is not None:
            outcome = self._cache.current(outcome)
        if lookup.fallback is not None:
            lookup.fallback.cancel()
            lookup.fallback = None
        waiters, lookup.waiters = lookup.waiters, []
        for future in waiters:
            if future.done():  # The caller was cancelled.
                continue
            if isinstance(outcome, AppError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _limit_wait(self, lookup: _InFlight) -> None:
        lookup.fallback = self._loop.call_later(FALLBACK_SECONDS, self._fall_back, lookup)

    def _fall_back(self, lookup: _InFlight) -> None:
        """Answer the waiters from the cache, if it still has the code."""
        lookup.fallback = None
        cached = self._cache.fall_back(lookup.code)
        if cached is not None:
            self._answer(lookup, cached)
