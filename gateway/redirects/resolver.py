"""What short addresses answer: from memory where possible, else by one look-up for many.

- A hit is answered from memory. A miss is looked up once, however many wait for it, and all codes
  missed in one turn of the loop share a call. While one is in flight, those that follow gather
  until it ends, for some milliseconds at most: a call costs far more than a code in it.
- A resolution is fresh for a minute. For another it is stale while it is revalidated: it is served
  as it is, and looked up again. After that its visitors wait for the look-up.
- That a code has no link is remembered for two seconds, apart from links: however many codes of
  nobody are asked for, no link leaves memory for them.
- While the links service is away or slow, what is in memory goes on being served, however old.
- A change told by links (`invalidation`) takes the place of what is in memory or in flight. Until
  changes are heard, a resolution is fresh for two seconds and never served stale.
- An active link is expired from its `expires_at` on, whatever is in memory.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from gateway.backends.batcher import Batches, stopping
from gateway.redirects.resolution import (
    BlockReason,
    Changes,
    LinkState,
    Resolution,
    Resolutions,
    location_of,
)
from services.shared.errors import AppError, Internal, Unavailable
from services.shared.observability import logs

FRESH_SECONDS = 60.0
"""For how long a resolution is served without a look-up."""
STALE_SECONDS = 60.0
"""For how long after that it is served while it is looked up; later, visitors wait."""
UNHEARD_SECONDS = 2.0
"""For how long a resolution is fresh that may have changed unheard."""
PATIENCE_SECONDS = 0.2
"""For how long a visitor waits for a look-up, where memory could answer as well."""
ABSENT_SECONDS = 2.0
"""For how long it is believed that a code has no link."""
MOST_ABSENT = 20_000
"""Most codes without a link kept in memory, which take 6 MB. A gateway can look up fewer than so
many in a second; past it, those go first that came first."""
RETRY_SECONDS = 2.0
"""How soon a failed look-up is made again."""
MOST_CODES = 250
"""Codes in one call. So many resolutions, URL and ended URL of 999 characters of four bytes, are
2 MB, half of gRPC's limit on a message."""
MOST_WAITING = 20_000
"""Most codes in flight."""
CLOCK_STEP_SECONDS = 0.5
"""By how much the time of day may differ from the time that passed, before it counts as set."""

_URLS_A_TURN = 50
"""URLs that are encoded before the loop turns: the longest take 0.3 ms each."""


class LinkSource(Protocol):
    """Where links are looked up: the links service. Both methods raise AppError."""

    async def resolve(self, codes: Sequence[str]) -> Mapping[str, Resolution]:
        """What codes answer; one that is left out has no link."""
        ...

    async def changes(self, cursor: str | None) -> Changes:
        """Return what changed after a cursor; None asks for the cursor of now."""
        ...


_Entry = tuple[float, float, bool, bytes, bytes, str, datetime | None, bytes, str | None, str]
"""A resolution in memory. Its parts, by number:

0. until when it is a hit: up to the end of its freshness or its expiry; never, if it is not active
   or that of a scan code
1. until when it is fresh
2. whether it must be looked up before it is served once it is no longer fresh
3. its URL as a Location header carries it
4. its URL in UTF-8, which for most is the same object: a `str` takes four bytes a character where
   there is an emoji, and as many again once it was encoded
5. its state, 6. its `expires_at`, 7. its `ended_url` in UTF-8, 8. its reason, 9. its `link_code`

A plain tuple of plain values: the garbage collector forgets those, and does not stop the gateway
for a tenth of a second, every few, to walk over a full cache.
"""
_NEVER = -math.inf
_ACTIVE = LinkState.ACTIVE.value

_SLOT_BYTES = 32 + 6 * 23
"""Most that a place in an OrderedDict takes beside its key and value: a node, and six slots of 23
bytes, as CPython makes a table anew for three times what is in it, rounded up to a power of two."""


def _size_of(value: object) -> int:
    """Bytes of memory that a value takes: in steps of 16, and a header where it is long."""
    size = sys.getsizeof(value)
    return (size + 15 & -16) + (16 if size > 512 else 0)


_FLOAT_BYTES = _size_of(0.0)
_ENTRY_BYTES = _SLOT_BYTES + _size_of((None,) * 10) + _FLOAT_BYTES
"""What every entry takes: its place, itself, and the end of its freshness."""


class _InFlight:
    """A code that is being looked up, and who waits for it: one may give up without the others."""

    __slots__ = ("code", "generation", "patience", "waiting")

    def __init__(self, code: str, generation: int) -> None:
        self.code = code
        self.generation = generation
        """The resolver's when the code was asked for."""
        self.waiting: list[asyncio.Future[Resolution | None]] = []
        self.patience: asyncio.TimerHandle | None = None
        """Ends the wait of those who can be served from memory."""


class Resolver:
    """A cache of resolutions over a link source, least recently used out first.

    It takes at most `limit_bytes` of memory, all that belongs to an entry counted. Belongs to the
    loop it is made in. `clock` is in seconds and never set, `wall` is the time of day in seconds
    since 1970.
    """

    def __init__(
        self,
        source: LinkSource,
        limit_bytes: int,
        clock: Callable[[], float] = time.monotonic,
        fresh: float = FRESH_SECONDS,
        stale: float = STALE_SECONDS,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._log = logs.Throttled(__name__)
        self._source = source
        self.limit_bytes = limit_bytes
        self.bytes = 0
        """What the links in memory take."""
        self._clock = clock
        self._wall = wall
        self._clock_offset = wall() - clock()
        self._fresh = fresh
        self._stale = stale
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._invalidated: OrderedDict[str, _Entry] = OrderedDict()
        """What must be looked up before it is served: hits find it nowhere."""
        self._generation = 0
        """How often all was invalidated."""
        self._hears = False
        """Whether the change feed is followed: not before its first cursor."""
        self._absent: OrderedDict[str, float] = OrderedDict()
        """Codes without a link, each with the time up to which that is believed; in its order."""
        self._edited: set[str] = set()
        """Codes edited by calls that went through here since changes were last asked for."""
        self._in_flight: dict[str, _InFlight] = {}
        self._calls = Batches(self._look_up, MOST_CODES)
        self._hits = self._stale_hits = self._misses = 0
        self.changes = 0
        """Grows with each change that is told or was made here, and with what makes all of memory
        unsure."""
        self.faults = 0
        """Look-ups since the start that ended with an error nobody foresaw."""

    @property
    def lookups(self) -> dict[str, int]:
        """Codes asked for since the start, by what memory could tell."""
        return {"hit": self._hits, "stale": self._stale_hits, "miss": self._misses}

    @property
    def gathers(self) -> bool:
        """Whether the next look-up joins a call that another one began."""
        return self._calls.gathers

    def __len__(self) -> int:
        """Links in memory."""
        return len(self._entries) + len(self._invalidated)

    @property
    def absent(self) -> int:
        """Codes without a link in memory."""
        return len(self._absent)

    def hit(self, code: str) -> bytes | None:
        """Where an active link leads, as a Location header carries it, if memory may answer.

        None means: ask `lookup`, which answers all that this cannot. A scan code is no hit.
        """
        entry = self._entries.get(code)
        if entry is None:
            return None
        if self._clock() >= entry[0]:
            return self._stale_hit(code, entry)
        self._hits += 1
        self._entries.move_to_end(code)
        return entry[3]

    def scan_hit(self, code: str) -> tuple[bytes, str] | None:
        """The same for a scan code, with the code of its link; apart, as nearly all are none."""
        entry = self._entries.get(code)
        if entry is None or not entry[9] or not self._is_active(entry):
            return None
        if self._clock() < entry[1]:
            self._hits += 1
            self._entries.move_to_end(code)
        elif self._may_be_stale(entry):
            self._serve_stale(code)
        else:
            return None
        return entry[3], entry[9]

    def lookup(self, code: str) -> asyncio.Future[Resolution | None]:
        """What a well-formed code answers, None where it has no link: to be awaited.

        It is done already where memory can tell. It ends with Unavailable or DeadlineExceeded where
        memory cannot and the source is away, and with Internal where the look-up ended with an
        error nobody foresaw. Raises Unavailable where too many wait already.
        """
        entry = self._entries.get(code)
        if entry is None:
            if self._clock() < self._absent.get(code, _NEVER):
                self._hits += 1
                return self._done(None)
            entry = self._invalidated.get(code)
        elif self._clock() < entry[1]:
            self._hits += 1
            self._entries.move_to_end(code)
            return self._done(self._resolution_of(entry))
        elif self._may_be_stale(entry):
            self._serve_stale(code)
            return self._done(self._resolution_of(entry))
        self._misses += 1
        return self._join(code, entry)

    def put(self, code: str, resolution: Resolution, since: int) -> None:
        """Serve what the creation of a link returned.

        `since` is the value of `changes` before the call. If it has grown, this link may have
        changed after links answered the call, so the resolution is also confirmed.
        """
        if since == self.changes:
            self._replace(code, resolution)
        else:
            self._replace_and_confirm(code, resolution)

    def edited(self, resolutions: Resolutions) -> None:
        """Apply an edit that links acknowledged to this gateway.

        Serves `resolutions`, the edit's result by short address, at once and while links is
        unavailable.
        """
        for code, resolution in resolutions.items():
            self.changes += 1
            self._edited.add(code)
            self._replace_and_confirm(code, resolution)

    def _replace_and_confirm(self, code: str, resolution: Resolution) -> None:
        """Serve a resolution at once, and look its code up.

        links may acknowledge concurrent edits of one link in another order than it committed them.
        A look-up that starts after the acknowledgement returns the last one. Until it succeeds,
        the resolution is fresh for `UNHEARD_SECONDS` only, and served later only if links is
        unavailable.
        """
        self._replace(code, resolution, heard=False)
        if len(self._in_flight) < MOST_WAITING:
            self._begin(code)

    def _distrust(self, code: str) -> None:
        """Look a code up before it is served again. Memory still answers if links is unavailable.

        A look-up in flight may have been answered before the change, so it is repeated.
        """
        self._absent.pop(code, None)
        if entry := self._entries.get(code):
            self._restart_freshness(code, entry, self._clock(), must_revalidate=True)
        if before := self._in_flight.pop(code, None):
            again = self._begin(code)
            again.waiting, before.waiting = before.waiting, []
            if before.patience is not None:
                before.patience.cancel()
                self._begin_patience(again)

    def ask_for_changes(self) -> None:
        """A question for changes goes out: what is edited from here on, its answer may not know."""
        self._edited.clear()

    async def apply(self, changes: Changes) -> None:
        """Replace what is in memory or in flight by what changed; other codes are passed over."""
        told = {**dict.fromkeys(changes.gone), **changes.resolutions}
        self.changes += len(told)
        for number, (code, resolution) in enumerate(told.items(), 1):
            if code in self._edited:  # What is told may be from before the edit.
                self._distrust(code)
            elif code in self._entries or code in self._invalidated or code in self._in_flight:
                self._replace(code, resolution)
            else:
                self._absent.pop(code, None)
            if number % _URLS_A_TURN == 0:
                await asyncio.sleep(0)

    def invalidate(self) -> None:
        """From here on changes are heard, and what was looked up before may have changed unheard.

        It is looked up before it is served again, and served as it is while links is away.
        """
        self._hears = True
        self._generation += 1
        self.changes += 1
        before, self._entries = self._entries, OrderedDict()
        if self._invalidated:
            self._invalidated.update(before)
        else:
            self._invalidated = before

    def notice_clock(self) -> None:
        """See whether the time of day was set, as by who wakes a machine up: to be called often.

        What is in memory counts from the time of then up to its expiry.
        """
        offset = self._wall() - self._clock()
        if self._hears and abs(offset - self._clock_offset) > CLOCK_STEP_SECONDS:
            self.invalidate()
        self._clock_offset = offset

    async def close(self) -> None:
        """End the calls in flight."""
        self._fail(await self._calls.close(), stopping())

    def _stale_hit(self, code: str, entry: _Entry) -> bytes | None:
        """What `hit` answers once the entry is no hit by its time alone."""
        if self._clock() < entry[1] or not self._may_be_stale(entry) or not self._is_active(entry):
            return None
        if entry[9]:
            return None
        self._serve_stale(code)
        return entry[3]

    def _may_be_stale(self, entry: _Entry) -> bool:
        return not entry[2] and self._clock() < entry[1] + self._stale

    def _serve_stale(self, code: str) -> None:
        """Note that a code is served as it is, and look it up meanwhile."""
        self._stale_hits += 1
        self._entries.move_to_end(code)
        if code not in self._in_flight and len(self._in_flight) < MOST_WAITING:
            self._begin(code)

    def _is_active(self, entry: _Entry) -> bool:
        expires_at = entry[6]
        if expires_at is not None and expires_at.timestamp() <= self._wall():
            return False
        return entry[5] == _ACTIVE

    def _resolution_of(self, entry: _Entry) -> Resolution:
        _, _, _, _, url, state, expires_at, ended_url, reason, link_code = entry
        return Resolution(
            LinkState(state),
            url.decode(),
            expires_at,
            ended_url.decode(),
            BlockReason(reason) if reason else None,
            link_code,
        ).at(self._wall())

    def _done(self, resolution: Resolution | None) -> asyncio.Future[Resolution | None]:
        future: asyncio.Future[Resolution | None] = self._loop.create_future()
        future.set_result(resolution)
        return future

    def _join(self, code: str, entry: _Entry | None) -> asyncio.Future[Resolution | None]:
        """Wait for the look-up of a code, which is begun if it is not in flight.

        Who can be served from memory, by `entry`, does not wait for long.
        """
        lookup = self._in_flight.get(code)
        if lookup is None:
            if len(self._in_flight) >= MOST_WAITING:
                if entry is not None:
                    return self._done(self._resolution_of(entry))
                raise Unavailable("Too many look-ups wait.", "RESOLVER_OVERLOADED")
            lookup = self._begin(code)
        future: asyncio.Future[Resolution | None] = self._loop.create_future()
        lookup.waiting.append(future)
        if entry is not None and lookup.patience is None:
            self._begin_patience(lookup)
        return future

    def _begin_patience(self, lookup: _InFlight) -> None:
        lookup.patience = self._loop.call_later(PATIENCE_SECONDS, self._lose_patience, lookup)

    def _begin(self, code: str) -> _InFlight:
        """Look a code up with the next call."""
        lookup = self._in_flight[code] = _InFlight(code, self._generation)
        self._calls.bring(lookup)
        return lookup

    async def _look_up(self, lookups: Sequence[_InFlight]) -> None:
        # A change that was told may have answered some already.
        lookups = [one for one in lookups if self._in_flight.get(one.code) is one]
        if not lookups:
            return
        try:
            found = await self._source.resolve([one.code for one in lookups])
            locations: dict[str, bytes] = {}
            for number, (code, resolution) in enumerate(found.items(), 1):
                locations[code] = location_of(resolution.url)
                if number % _URLS_A_TURN == 0:
                    await asyncio.sleep(0)
            for one in lookups:
                code = one.code
                if self._in_flight.get(code) is one:  # A change that was told may have answered it.
                    answer = found.get(code)
                    heard = one.generation == self._generation
                    self._remember(code, answer, locations.get(code, b""), heard)
                    self._settle(one, answer)
        except AppError as error:
            self._fail(lookups, error)
        except asyncio.CancelledError:
            self._fail(lookups, stopping())
            raise
        except Exception as error:
            self.faults += 1
            self._log.error("look_up_broke", exc_info=error)
            self._fail(lookups, Internal())

    def _fail(self, lookups: Sequence[_InFlight], error: AppError) -> None:
        for one in lookups:
            if self._in_flight.get(one.code) is one:
                self._settle(one, self._keep(one.code) or error)

    def _settle(self, lookup: _InFlight, outcome: Resolution | AppError | None) -> None:
        """End a look-up: who waits for it is answered."""
        del self._in_flight[lookup.code]
        self._serve(lookup, outcome)

    def _serve(self, lookup: _InFlight, outcome: Resolution | AppError | None) -> None:
        """Answer those who wait for a look-up; it goes on unless it was settled."""
        if isinstance(outcome, Resolution) and outcome.expires_at is not None:
            outcome = outcome.at(self._wall())
        if lookup.patience is not None:
            lookup.patience.cancel()
            lookup.patience = None
        waiting, lookup.waiting = lookup.waiting, []
        for future in waiting:
            if future.done():  # Its asker gave up.
                continue
            if isinstance(outcome, AppError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _lose_patience(self, lookup: _InFlight) -> None:
        """Serve those who wait from memory, if it still has what it had."""
        lookup.patience = None
        kept = self._keep(lookup.code)
        if kept is not None:
            self._serve(lookup, kept)

    def _keep(self, code: str) -> Resolution | None:
        """Go on with what is in memory, where it has something: its look-up failed, or is late."""
        entry = self._entries.get(code)
        if entry is not None:
            must_revalidate = entry[2]
        elif (entry := self._invalidated.pop(code, None)) is not None:
            must_revalidate = True
        else:
            return None
        return self._resolution_of(
            self._restart_freshness(code, entry, self._clock() + RETRY_SECONDS, must_revalidate)
        )

    def _restart_freshness(
        self, code: str, entry: _Entry, fresh_until: float, must_revalidate: bool
    ) -> _Entry:
        """Keep an entry in memory with another end of its freshness; returns the new entry."""
        kept: _Entry = (
            _NEVER if entry[9] else self._hit_until(fresh_until, entry[5], entry[6]),
            fresh_until,
            must_revalidate,
            *entry[3:],
        )
        self.bytes += _bytes_of(code, kept) - _bytes_of(code, entry)
        self._entries[code] = kept
        return kept

    def _replace(self, code: str, resolution: Resolution | None, heard: bool = True) -> None:
        """Remember what a code answers from now on, and answer those who wait for it."""
        location = location_of(resolution.url) if resolution else b""
        self._remember(code, resolution, location, heard)
        if lookup := self._in_flight.get(code):
            self._settle(lookup, resolution)

    def _remember(
        self, code: str, resolution: Resolution | None, location: bytes, heard: bool
    ) -> None:
        """Keep what a code answers. `heard` says that a change since would have been heard of."""
        self._forget(code)
        if resolution is None:
            self._remember_absent(code)
            return
        self._absent.pop(code, None)
        must_revalidate = not (heard and self._hears)
        fresh = min(self._fresh, UNHEARD_SECONDS) if must_revalidate else self._fresh
        fresh_until = self._clock() + fresh
        state, url, expires_at, ended_url, reason, link_code = resolution
        utf8 = url.encode()
        entry: _Entry = (
            _NEVER if link_code else self._hit_until(fresh_until, state.value, expires_at),
            fresh_until,
            must_revalidate,
            location,
            location if utf8 == location else utf8,
            state.value,
            expires_at,
            ended_url.encode(),
            reason.value if reason else None,
            link_code,
        )
        size = _bytes_of(code, entry)
        while self.bytes + size > self.limit_bytes:
            if not len(self):  # It takes more than all the room there is.
                return
            entries = self._invalidated or self._entries
            self.bytes -= _bytes_of(*entries.popitem(last=False))
        self._entries[code] = entry
        self.bytes += size

    def _hit_until(self, fresh_until: float, state: str, expires_at: datetime | None) -> float:
        if state != _ACTIVE:
            return _NEVER
        if expires_at is None:
            return fresh_until
        return min(fresh_until, self._clock() + expires_at.timestamp() - self._wall())

    def _forget(self, code: str) -> None:
        entry = self._entries.pop(code, None) or self._invalidated.pop(code, None)
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
    """Memory that a link takes in the cache; words for states and reasons are there once."""
    hit_until, fresh_until, _, location, url, _, expires_at, ended_url, _, link_code = entry
    size = _ENTRY_BYTES + _size_of(code) + _size_of(location)
    if hit_until is not fresh_until:
        size += _FLOAT_BYTES
    if url is not location:
        size += _size_of(url)
    if expires_at is not None:
        size += _size_of(expires_at)
    if ended_url:
        size += _size_of(ended_url)
    if link_code:
        size += _size_of(link_code)
    return size
