"""The resolver: what is cached, what is looked up, and what is served during an outage."""

from __future__ import annotations

import asyncio
import gc
import random
import string
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from gateway.redirects.cache import (
    FRESH_SECONDS,
    MAX_ABSENT,
    NEGATIVE_TTL_SECONDS,
    RETRY_SECONDS,
    STALE_SECONDS,
    UNCONFIRMED_SECONDS,
)
from gateway.redirects.lookups import MAX_CODES
from gateway.redirects.resolution import (
    BlockReason,
    ChangeFeedPage,
    LinkSource,
    LinkState,
    Resolution,
    UnreadableLinks,
    to_location,
)
from gateway.redirects.resolver import Resolver
from services.shared.errors import Internal, Unavailable

ROOM = 1_000_000
"""Bytes of a cache that does not fill up in these tests."""


class Source:
    """A link source that the test controls."""

    def __init__(self) -> None:
        self.urls = {"aaaaaaaa": "https://example.com/a"}
        self.others: dict[str, Resolution] = {}
        self.calls: list[list[str]] = []
        self.called = asyncio.Event()
        self.away = False

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        self.calls.append(list(codes))
        self.called.set()
        await asyncio.sleep(0)
        if self.away:
            raise Unavailable("away")
        urls = {code: Resolution.active(url) for code, url in self.urls.items()}
        links = {**urls, **self.others}
        return {code: links[code] for code in codes if code in links}

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        return changes_of()


def changes_of(resolutions: Mapping[str, Resolution] | None = None, *gone: str) -> ChangeFeedPage:
    return ChangeFeedPage("1", resolutions or {}, frozenset(gone), more=False, truncated=False)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def following_resolver(
    source: LinkSource, room: int = ROOM, clock: Callable[[], float] = time.monotonic, **more: Any
) -> Resolver:
    """Return a resolver that follows the change feed."""
    resolver = Resolver(source, room, clock, **more)
    resolver.invalidate()
    return resolver


async def look_up(resolver: Resolver, code: str) -> Resolution | None:
    return await resolver.lookup(code)


def put(resolver: Resolver, code: str, url: str) -> None:
    """Cache a link that was just created."""
    resolver.put_created(code, Resolution.active(url), resolver.version)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def wall(clock: Clock) -> WallClock:
    return WallClock(clock)


@pytest.fixture
async def resolver(source: Source, clock: Clock, wall: WallClock) -> Resolver:
    return following_resolver(source, ROOM, clock, wall=wall)


async def test_concurrent_look_ups_of_many_codes_share_one_call(
    resolver: Resolver, source: Source
) -> None:
    codes = ["aaaaaaaa", "bbbbbbbb"] * 50
    found = await asyncio.gather(*(resolver.lookup(code) for code in codes))
    assert source.calls == [["aaaaaaaa", "bbbbbbbb"]]
    assert [resolution is not None for resolution in found] == [True, False] * 50


class SlowSource(Source):
    """Answers a call when the test releases it."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[asyncio.Event] = []
        self.asked_twice = asyncio.Event()

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        turn = asyncio.Event()
        self.released.append(turn)
        if len(self.released) == 2:
            self.asked_twice.set()
        await turn.wait()
        return await super().resolve(codes)


async def look_up_one_by_one(
    resolver: Resolver, codes: Sequence[str]
) -> list[asyncio.Task[object]]:
    """Look up each code in its own turn of the event loop."""
    tasks: list[asyncio.Task[object]] = []
    for code in codes:
        tasks.append(asyncio.create_task(look_up(resolver, code)))
        for _ in range(3):
            await asyncio.sleep(0)
    return tasks


async def test_closing_also_ends_look_ups_that_wait_for_the_next_call(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.support.batcher.GATHER_SECONDS", 60.0)
    resolver = following_resolver(SlowSource(), ROOM, clock)
    tasks = await look_up_one_by_one(resolver, ["bbbbbbbb", "aaaaaaaa"])
    await resolver.close()
    for task in tasks:
        with pytest.raises(Unavailable):
            await task


async def test_a_link_is_fresh_and_then_served_while_it_is_revalidated(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    assert resolver.cache.hit("aaaaaaaa") is None
    await resolver.lookup("aaaaaaaa")
    clock.now += FRESH_SECONDS - 1
    assert resolver.cache.hit("aaaaaaaa") is not None
    assert len(source.calls) == 1
    clock.now += 2
    assert resolver.cache.hit("aaaaaaaa") is not None
    assert resolver.cache.hit("aaaaaaaa") is not None
    await asyncio.sleep(0.01)
    assert len(source.calls) == 2, "revalidated once, in the background"
    source.urls.clear()
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    assert resolver.cache.hit("aaaaaaaa") is None, "it is too stale"
    assert await resolver.lookup("aaaaaaaa") is None


async def test_an_absent_code_is_cached_briefly(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    for _ in range(5):
        assert await resolver.lookup("bbbbbbbb") is None
    assert len(source.calls) == 1
    clock.now += NEGATIVE_TTL_SECONDS + 0.1
    source.urls["bbbbbbbb"] = "https://example.com/b"
    assert await resolver.lookup("bbbbbbbb") is not None
    assert await resolver.lookup("cccccccc") is None
    put(resolver, "cccccccc", "https://example.com/c")
    assert resolver.cache.hit("cccccccc") == b"https://example.com/c", (
        "a created link is served at once"
    )


@pytest.mark.parametrize(
    ("room", "lasts"), [(ROOM, FRESH_SECONDS), (0, FRESH_SECONDS), (ROOM, 0.0)]
)
async def test_a_waiter_gets_a_link_created_meanwhile_even_if_it_is_not_cached(
    source: Source, clock: Clock, room: int, lasts: float
) -> None:
    resolver = following_resolver(source, room, clock, fresh_seconds=lasts, stale_seconds=lasts)
    asked = asyncio.create_task(look_up(resolver, "cccccccc"))
    await source.called.wait()  # Its response is from before the creation.
    put(resolver, "cccccccc", "https://example.com/c")
    assert await asked == Resolution.active("https://example.com/c")
    assert (resolver.cache.hit("cccccccc") is not None) == bool(room and lasts)


async def test_cached_links_are_served_during_an_outage_of_any_length(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    await resolver.lookup("aaaaaaaa")
    source.away = True
    for _ in range(100):
        clock.now += FRESH_SECONDS
        assert resolver.cache.hit("aaaaaaaa") or await resolver.lookup("aaaaaaaa")
        await asyncio.sleep(0.001)
    with pytest.raises(Unavailable):
        await resolver.lookup("dddddddd")
    source.away = False
    source.urls["dddddddd"] = "https://example.com/d"
    assert await resolver.lookup("dddddddd") is not None, "a failure is not cached"


def size_of(*urls: str) -> int:
    """Return the bytes that links to some URLs take in the cache."""
    resolver = following_resolver(Source(), ROOM)
    for number, url in enumerate(urls):
        put(resolver, f"{number:08}", url)
    return resolver.cache.bytes


async def test_the_least_recently_used_is_evicted(source: Source, clock: Clock) -> None:
    resolver = following_resolver(source, size_of(*["https://example.com/xxxxxxxx"] * 3), clock)
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        put(resolver, code, f"https://example.com/{code}")
    assert resolver.cache.hit("aaaaaaaa")
    put(resolver, "dddddddd", "https://example.com/dddddddd")
    assert len(resolver.cache) == 3
    assert resolver.cache.hit("bbbbbbbb") is None
    assert resolver.cache.hit("aaaaaaaa")


WORST = {
    "short": lambda n: f"http://a.b/{n}",
    "long": lambda n: f"http://a.b/{n:05}" + "a" * 983,
    "emoji": lambda n: f"http://a.b/{n:05}" + chr(0x1F600) * 983,
}


@pytest.mark.parametrize("url", WORST.values(), ids=WORST)
async def test_the_memory_of_the_cache_is_bounded_for_any_urls(
    source: Source, url: Callable[[int], str]
) -> None:
    """Measured by the allocations of Python."""
    limit = 4_000_000
    codes = [f"{n:08x}" for n in range(20_000)]
    urls = [url(0), url(1)]
    resolver = following_resolver(source, limit)
    tracemalloc.start()
    try:
        for code in codes:
            put(resolver, code, urls[0])
            urls[0], urls[1] = urls[1], urls[0]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < limit
    assert limit / 2 < resolver.cache.bytes <= limit
    assert await resolver.lookup(codes[-1]) == Resolution.active(urls[1])


async def test_a_replaced_link_is_counted_once(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    for url in (
        "https://example.com/" + "a" * 900,
        "https://example.com/ñ",
        "https://example.com/",
    ):
        put(resolver, "aaaaaaaa", url)
    assert (len(resolver.cache), resolver.cache.bytes) == (1, size_of("https://example.com/"))
    source.urls.clear()
    clock.now += FRESH_SECONDS + STALE_SECONDS
    assert await resolver.lookup("aaaaaaaa") is None
    assert (len(resolver.cache), resolver.cache.bytes) == (0, 0)


async def test_absent_codes_evict_no_link(source: Source, clock: Clock) -> None:
    resolver = following_resolver(
        source, size_of("https://example.com/a", "https://example.com/b"), clock
    )
    put(resolver, "aaaaaaaa", "https://example.com/a")
    for start in range(0, 2 * MAX_ABSENT, 1000):
        codes = [f"{number:08}" for number in range(start, start + 1000)]
        assert not any(await asyncio.gather(*(resolver.lookup(code) for code in codes)))
    assert resolver.cache.hit("aaaaaaaa") is not None
    assert resolver.cache.absent == MAX_ABSENT, "they have their own limit"
    clock.now += NEGATIVE_TTL_SECONDS
    for number in range(MAX_ABSENT):
        await resolver.lookup(f"x{number:07}")
    assert resolver.cache.absent <= MAX_ABSENT
    clock.now += NEGATIVE_TTL_SECONDS
    for _ in range(MAX_ABSENT):
        await resolver.lookup("y-------")
        clock.now += NEGATIVE_TTL_SECONDS
    assert resolver.cache.absent == 1, "expired ones are dropped"


async def test_an_unexpected_error_reaches_all_waiters_and_is_not_cached(
    clock: Clock,
) -> None:
    class Broken(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            if self.broken:
                raise RuntimeError("unexpected")
            return await super().resolve(codes)

        broken = True

    broken = Broken()
    resolver = following_resolver(broken, ROOM, clock)
    async with asyncio.timeout(5):
        asked = [resolver.lookup(code) for code in ("aaaaaaaa", "bbbbbbbb", "aaaaaaaa")]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(error) for error in told] == [Internal] * 3
        assert resolver.lookups.faults == 1
        broken.broken = False
        assert await resolver.lookup("aaaaaaaa") is not None
        # Cached links are still served.
        broken.broken = True
        clock.now += FRESH_SECONDS + STALE_SECONDS
        assert await resolver.lookup("aaaaaaaa") is not None
    assert resolver.lookups.faults == 2


async def test_an_invalid_url_leaves_no_waiter(resolver: Resolver, source: Source) -> None:
    source.urls["bbbbbbbb"] = "http://\ud800"
    async with asyncio.timeout(5):
        asked = [resolver.lookup(code) for code in ("aaaaaaaa", "bbbbbbbb")]
        told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(error) for error in told] == [Internal] * 2


async def test_the_event_loop_runs_while_long_urls_are_encoded(clock: Clock) -> None:
    """About five times during the response to one call, not only at its end."""
    codes = [f"{number:08}" for number in range(MAX_CODES)]

    class Prompt(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            return dict.fromkeys(codes, Resolution.active("https://example.com/\N{SNAIL}"))

    resolver = following_resolver(Prompt(), ROOM, clock)
    asked = asyncio.gather(*[resolver.lookup(code) for code in codes])
    turns = 0
    while not asked.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await asked) == len(codes)
    assert turns > 5


async def test_a_location_is_percent_encoded_as_usual() -> None:
    resolver = following_resolver(Source())
    alphabet = [*map(chr, range(0x20, 0x80)), "\x01", "é", "漢", "\u2028", "\N{SNAIL}", "😀"]
    draw = random.Random(1)
    for _ in range(2000):
        url = "".join(draw.choices(alphabet, k=draw.randrange(40)))
        assert to_location(url).decode("ascii") == quote(url, safe=string.punctuation)
        put(resolver, "aaaaaaaa", url)
        assert resolver.cache.hit("aaaaaaaa") == to_location(url)
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(url)


async def test_a_scan_code_comes_with_the_code_of_its_link(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    scanned = Resolution(LinkState.ACTIVE, URL, link_code="aaaaaaaa")
    resolver.put_created("SCANC0DE", scanned, resolver.version)
    assert resolver.cache.hit("SCANC0DE") is None, "it counts for its link"
    assert resolver.cache.scan_hit("SCANC0DE") == (URL.encode(), "aaaaaaaa")
    assert await resolver.lookup("SCANC0DE") == scanned
    put(resolver, "aaaaaaaa", URL)
    assert resolver.cache.scan_hit("aaaaaaaa") is None

    clock.now += 61  # Stale: served and revalidated.
    assert resolver.cache.hit("SCANC0DE") is None
    assert resolver.cache.scan_hit("SCANC0DE") == (URL.encode(), "aaaaaaaa")
    await resolver.lookup("bbbbbbbb")
    assert source.calls == [["SCANC0DE", "bbbbbbbb"]]
    assert resolver.cache.scan_hit("SCANC0DE") is None, "links does not have it"


async def test_a_cancelled_waiter_does_not_cancel_the_look_up(resolver: Resolver) -> None:
    cancelled = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    waiting = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await waiting is not None
    await resolver.close()


async def test_a_cached_link_waits_briefly_for_an_unresponsive_source(clock: Clock) -> None:
    class Hanging(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            if self.away:
                await asyncio.Event().wait()
            return await super().resolve(codes)

    source = Hanging()
    resolver = following_resolver(source, ROOM, clock)
    await resolver.lookup("aaaaaaaa")
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    source.away = True
    assert resolver.cache.hit("aaaaaaaa") is None
    async with asyncio.timeout(1):
        resolution = await resolver.lookup("aaaaaaaa")
    assert resolution == Resolution.active(source.urls["aaaaaaaa"])
    assert resolver.cache.hit("aaaaaaaa") is not None, "later requests do not wait"
    await resolver.close()


async def test_an_outage_does_not_extend_the_configured_freshness(
    source: Source, clock: Clock
) -> None:
    resolver = following_resolver(source, ROOM, clock, fresh_seconds=5, stale_seconds=2)
    await resolver.lookup("aaaaaaaa")
    source.away = True
    clock.now += 7
    assert await resolver.lookup("aaaaaaaa") is not None
    clock.now += RETRY_SECONDS + 1
    assert resolver.cache.hit("aaaaaaaa") is not None
    await asyncio.sleep(0.01)
    clock.now += RETRY_SECONDS + 2
    assert resolver.cache.hit("aaaaaaaa") is None


URL = "https://example.com/a"
TODAY = datetime(2026, 3, 1, tzinfo=UTC)
ENDED = {
    "expired": Resolution(LinkState.EXPIRED),
    "expired, and leads on": Resolution(
        LinkState.EXPIRED, expires_at=TODAY, ended_url="https://example.com/é"
    ),
    "removed": Resolution(LinkState.REMOVED),
    "blocked": Resolution(LinkState.BLOCKED, reason=BlockReason.PHISHING),
}


class WallClock:
    """A time of day that runs with another clock and can be set."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.ahead = TODAY.timestamp() - clock.now

    def __call__(self) -> float:
        return self.clock.now + self.ahead


def expiring_in(seconds: float, ended_url: str = "") -> Resolution:
    """Return the resolution of an active link that expires `seconds` after `TODAY`."""
    end = TODAY + timedelta(seconds=seconds)
    return Resolution(LinkState.ACTIVE, URL, end, ended_url)


@pytest.mark.parametrize("ended", ENDED.values(), ids=ENDED)
async def test_an_inactive_link_is_cached_but_is_no_hit(
    resolver: Resolver, source: Source, clock: Clock, ended: Resolution
) -> None:
    source.others["aaaaaaaa"] = ended
    for _ in range(3):
        assert await resolver.lookup("aaaaaaaa") == ended
        assert resolver.cache.hit("aaaaaaaa") is None
    assert resolver.results == {"hit": 2, "stale": 0, "miss": 1}
    clock.now += FRESH_SECONDS
    source.others.clear()
    assert await resolver.lookup("aaaaaaaa") == ended, "stale"
    assert resolver.cache.hit("aaaaaaaa") is None
    await asyncio.sleep(0.01)
    assert resolver.cache.hit("aaaaaaaa") == URL.encode(), "it was restored"
    assert len(source.calls) == 2


@pytest.mark.parametrize("ended_url", ["", "https://example.com/over"])
@pytest.mark.parametrize("asked", [True, False], ids=["asked for meanwhile", "not asked for"])
@pytest.mark.parametrize("away", [False, True], ids=["links answers", "links is away"])
@pytest.mark.parametrize(
    "seconds", [30, FRESH_SECONDS + 10, FRESH_SECONDS + STALE_SECONDS + 10, -1]
)
async def test_a_cached_link_expires_to_the_second(
    resolver: Resolver,
    source: Source,
    clock: Clock,
    wall: WallClock,
    seconds: float,
    away: bool,
    asked: bool,
    ended_url: str,
) -> None:
    """Also if the clock of links is slow, so that links reports it as active."""
    source.others["aaaaaaaa"] = link = expiring_in(seconds, ended_url)
    assert await resolver.lookup("aaaaaaaa") == link.at(wall())
    source.away = away
    clock.now += max(0, seconds - 0.1)
    if asked and seconds > 0:
        assert resolver.cache.hit("aaaaaaaa") or await resolver.lookup("aaaaaaaa") == link
        assert resolver.cache.hit("aaaaaaaa") == URL.encode()
        await settle()
    clock.now += 0.1
    assert resolver.cache.hit("aaaaaaaa") is None
    expired = Resolution(LinkState.EXPIRED, "", link.expires_at, ended_url)
    assert await resolver.lookup("aaaaaaaa") == expired
    assert expired.target == ended_url


async def test_an_expiry_is_correct_after_the_clock_was_set(
    resolver: Resolver, source: Source, wall: WallClock
) -> None:
    source.others["aaaaaaaa"] = expiring_in(30)
    await resolver.lookup("aaaaaaaa")
    resolver.check_clock()
    assert resolver.cache.hit("aaaaaaaa") is not None
    wall.ahead += 3600.0  # The machine was suspended.
    resolver.check_clock()
    assert resolver.cache.hit("aaaaaaaa") is None
    resolution = await resolver.lookup("aaaaaaaa")
    assert resolution is not None
    assert resolution.state is LinkState.EXPIRED


async def test_a_change_applies_to_cached_links_at_once(resolver: Resolver, source: Source) -> None:
    source.urls["bbbbbbbb"] = "https://example.com/b"
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        await resolver.lookup(code)
    calls = len(source.calls)
    removed, changed = Resolution(LinkState.REMOVED), Resolution.active("https://example.com/é")
    await resolver.apply(changes_of({"aaaaaaaa": changed, "bbbbbbbb": removed}))
    assert resolver.cache.hit("aaaaaaaa") == b"https://example.com/%C3%A9"
    assert resolver.cache.hit("bbbbbbbb") is None
    assert await resolver.lookup("bbbbbbbb") == removed
    await resolver.apply(changes_of({"bbbbbbbb": Resolution.active("https://example.com/b")}))
    assert resolver.cache.hit("bbbbbbbb") == b"https://example.com/b"
    await resolver.apply(changes_of({}, "aaaaaaaa"))
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") is None
    assert len(source.calls) == calls
    source.urls["cccccccc"] = "https://example.com/c"
    await resolver.apply(changes_of({"cccccccc": Resolution.active("https://example.com/c")}))
    assert await resolver.lookup("cccccccc") is not None, "it is no longer absent"


async def test_changes_of_codes_that_are_not_cached_take_no_memory(resolver: Resolver) -> None:
    await resolver.lookup("aaaaaaaa")
    before = (len(resolver.cache), resolver.cache.bytes, resolver.cache.absent)
    codes = [f"{number:08}" for number in range(1000)]
    await resolver.apply(changes_of(dict.fromkeys(codes, Resolution.active(URL)), "bbbbbbbb"))
    assert (len(resolver.cache), resolver.cache.bytes, resolver.cache.absent) == before


@pytest.mark.parametrize("state", [None, LinkState.REMOVED])
async def test_a_look_up_from_before_a_change_does_not_undo_it(
    clock: Clock, state: LinkState | None
) -> None:
    source = SlowSource()
    resolver = following_resolver(source, ROOM, clock)
    asked = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    now = Resolution(state) if state else None
    await resolver.apply(changes_of({"aaaaaaaa": now}) if now else changes_of({}, "aaaaaaaa"))
    async with asyncio.timeout(5):
        assert await asked == now, "waiters are answered at once"
    source.released[0].set()
    await settle()
    assert source.calls == [["aaaaaaaa"]], "links answered from before the change"
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") == now
    await resolver.close()


async def test_a_look_up_after_a_change_is_not_confused_with_one_from_before(
    clock: Clock,
) -> None:
    source = SlowSource()
    resolver = following_resolver(source, ROOM, clock)
    before = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    await resolver.apply(changes_of({}, "aaaaaaaa"))
    assert await before is None
    clock.now += NEGATIVE_TTL_SECONDS
    after = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    async with asyncio.timeout(5):
        await source.asked_twice.wait()
    source.released[0].set()
    await settle()
    assert not after.done()
    source.released[1].set()
    assert await after == Resolution.active(URL)
    await resolver.close()


async def test_a_creation_is_confirmed_after_a_concurrent_change(
    resolver: Resolver, source: Source
) -> None:
    """The change may be of the created link, and newer than the creation."""
    since = resolver.version
    asked = asyncio.create_task(look_up(resolver, "cccccccc"))
    await source.called.wait()  # Its response will be: no link.
    await resolver.apply(changes_of({}, "bbbbbbbb"))
    source.urls["cccccccc"] = "https://example.com/c"
    source.called.clear()
    resolver.put_created("cccccccc", Resolution.active("https://example.com/old"), since)
    assert resolver.cache.hit("cccccccc") == b"https://example.com/old"
    assert await asked == Resolution.active("https://example.com/old")
    await source.called.wait()
    await settle()
    assert resolver.cache.hit("cccccccc") == b"https://example.com/c"


async def settle() -> None:
    """Let all calls end that are not held."""
    for _ in range(10):
        await asyncio.sleep(0)


EDITED: list[tuple[str, Resolution | None, Resolution]] = [
    ("changed", Resolution.active(URL), Resolution.active(f"{URL}/now")),
    ("removed", Resolution.active(URL), Resolution(LinkState.REMOVED)),
    ("restored", Resolution(LinkState.REMOVED), Resolution.active(URL)),
    (
        "expired",
        Resolution.active(URL),
        Resolution(LinkState.ACTIVE, URL, datetime(2000, 1, 1, tzinfo=UTC), f"{URL}/end"),
    ),
    ("created", None, Resolution.active(URL)),
    ("scan code", None, Resolution(LinkState.ACTIVE, URL, link_code="aaaaaaaa")),
]


@pytest.mark.parametrize("known", [True, False], ids=["in memory", "not in memory"])
@pytest.mark.parametrize(
    ("before", "after"), [one[1:] for one in EDITED], ids=[one[0] for one in EDITED]
)
async def test_an_edit_is_served_at_once_and_during_an_outage_of_links(
    resolver: Resolver,
    source: Source,
    clock: Clock,
    wall: WallClock,
    before: Resolution | None,
    after: Resolution,
    known: bool,
) -> None:
    source.urls = {}
    if before:
        source.others["bbbbbbbb"] = before
    if known:
        await resolver.lookup("bbbbbbbb")
    source.away = True
    resolver.begin_poll()
    resolver.put_edited({"bbbbbbbb": after})
    for seconds in (0, 1, UNCONFIRMED_SECONDS, RETRY_SECONDS, FRESH_SECONDS, STALE_SECONDS, 86_400):
        clock.now += seconds
        assert await resolver.lookup("bbbbbbbb") == after.at(wall()), seconds
        await settle()
        assert await resolver.lookup("bbbbbbbb") == after.at(wall()), seconds
        if seconds == UNCONFIRMED_SECONDS:  # It may be from before the edit.
            await resolver.apply(changes_of({"bbbbbbbb": before} if before else {}, "bbbbbbbb"))
        elif seconds == RETRY_SECONDS:
            resolver.invalidate()


async def test_an_edit_answers_waiters_of_an_older_look_up(clock: Clock) -> None:
    source = SlowSource()
    resolver = following_resolver(source, ROOM, clock)
    [asked] = await look_up_one_by_one(resolver, ["aaaaaaaa"])
    after = Resolution.active(f"{URL}/now")
    resolver.put_edited({"aaaaaaaa": after})
    async with asyncio.timeout(5):
        assert await asked == after
        source.released[0].set()  # Its response is from before the edit.
        await source.asked_twice.wait()
        await settle()
        assert resolver.cache.hit("aaaaaaaa") == after.url.encode()
    await resolver.close()


async def test_edits_acknowledged_out_of_order_converge(resolver: Resolver, source: Source) -> None:
    first, last = Resolution(LinkState.REMOVED), Resolution.active(f"{URL}/last")
    source.urls["aaaaaaaa"] = last.url
    resolver.put_edited({"aaaaaaaa": last})
    resolver.put_edited({"aaaaaaaa": first})
    assert await resolver.lookup("aaaaaaaa") == first
    await settle()
    assert resolver.cache.hit("aaaaaaaa") == last.url.encode()
    assert source.calls == [["aaaaaaaa"]], "one lookup for both"


async def test_a_later_change_replaces_an_edit(resolver: Resolver, source: Source) -> None:
    source.away = True
    resolver.put_edited({"aaaaaaaa": Resolution.active(f"{URL}/now")})
    await settle()
    resolver.begin_poll()
    await resolver.apply(changes_of({"aaaaaaaa": Resolution(LinkState.REMOVED)}))
    assert await resolver.lookup("aaaaaaaa") == Resolution(LinkState.REMOVED)


async def test_an_unconfirmed_edit_is_looked_up_before_it_is_served_for_long(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    source.away = True
    resolver.put_edited({"aaaaaaaa": Resolution.active(f"{URL}/now")})
    await settle()
    source.away = False
    clock.now += RETRY_SECONDS
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)


async def test_a_cached_link_waits_briefly_for_a_repeated_look_up(
    clock: Clock,
) -> None:
    source = SlowSource()
    resolver = following_resolver(source, ROOM, clock)
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    await resolver.apply(
        changes_of({"aaaaaaaa": Resolution(LinkState.REMOVED)})
    )  # It may be from before the edit.
    async with asyncio.timeout(5):
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    await resolver.close()


async def test_a_change_from_before_an_edit_does_not_replace_it(
    resolver: Resolver, source: Source
) -> None:
    """As when a link is removed and restored during a poll."""
    await resolver.lookup("aaaaaaaa")
    resolver.begin_poll()
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    await settle()
    late = changes_of({"aaaaaaaa": Resolution(LinkState.REMOVED)})
    await resolver.apply(late)
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    source.others["aaaaaaaa"] = Resolution(
        LinkState.REMOVED
    )  # By another gateway, also in the feed.
    await resolver.apply(late)
    assert await resolver.lookup("aaaaaaaa") == Resolution(LinkState.REMOVED)
    resolver.begin_poll()
    await resolver.apply(changes_of({"aaaaaaaa": Resolution.active(URL)}))
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)


async def test_a_creation_is_confirmed_after_a_concurrent_edit(resolver: Resolver) -> None:
    since = resolver.version
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    resolver.put_created("aaaaaaaa", Resolution.active("https://example.com/old"), since)
    await settle()
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    put(resolver, "cccccccc", "https://example.com/c")
    assert resolver.cache.hit("cccccccc") == b"https://example.com/c", (
        "other creations are not affected"
    )


async def test_confirmations_of_edits_are_bounded_as_look_ups_are(
    source: Source, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.redirects.lookups.MAX_IN_FLIGHT", 1)
    resolver = following_resolver(source, ROOM, clock)
    resolver.put_edited(dict.fromkeys(("aaaaaaaa", "bbbbbbbb"), Resolution.active(f"{URL}/now")))
    assert resolver.cache.hit("bbbbbbbb") == f"{URL}/now".encode()
    await settle()
    assert source.calls == [["aaaaaaaa"]]
    clock.now += UNCONFIRMED_SECONDS
    assert await resolver.lookup("bbbbbbbb") is None, "it is looked up soon"


async def test_an_invalidated_link_is_looked_up_before_it_is_served(
    resolver: Resolver, source: Source
) -> None:
    source.urls["bbbbbbbb"] = "https://example.com/b"
    for code in ("aaaaaaaa", "bbbbbbbb"):
        await resolver.lookup(code)
    source.urls["aaaaaaaa"] = "https://example.com/now"
    resolver.invalidate()
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") == Resolution.active("https://example.com/now")
    assert resolver.cache.hit("aaaaaaaa") == b"https://example.com/now"
    assert (len(resolver.cache), resolver.cache.bytes) == (
        2,
        size_of("https://example.com/now", URL),
    )
    resolver.invalidate()
    await resolver.apply(changes_of({"bbbbbbbb": Resolution.active(URL)}))
    assert resolver.cache.hit("bbbbbbbb") == URL.encode(), "a reported change is known"
    assert resolver.cache.hit("aaaaaaaa") is None


async def test_an_invalidated_link_is_served_only_during_an_outage_of_links(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    await resolver.lookup("aaaaaaaa")
    taken = resolver.cache.bytes
    resolver.invalidate()
    source.away = True
    for _ in range(10):
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
        assert resolver.cache.hit("aaaaaaaa") is not None, "without a lookup each time"
        clock.now += RETRY_SECONDS
        assert resolver.cache.hit("aaaaaaaa") is None
    assert (len(source.calls), len(resolver.cache), resolver.cache.bytes) == (11, 1, taken)
    source.away = False
    source.urls.clear()
    assert await resolver.lookup("aaaaaaaa") is None
    assert (len(resolver.cache), resolver.cache.bytes) == (0, 0)


async def test_a_look_up_from_before_an_invalidation_is_fresh_briefly(clock: Clock) -> None:
    source = SlowSource()
    resolver = following_resolver(source, ROOM, clock)
    asked = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    resolver.invalidate()
    source.released[0].set()
    assert await asked is not None
    assert resolver.cache.hit("aaaaaaaa") is not None
    clock.now += UNCONFIRMED_SECONDS
    assert resolver.cache.hit("aaaaaaaa") is None
    await resolver.close()


async def test_links_are_fresh_briefly_until_the_feed_is_followed(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    await resolver.lookup("aaaaaaaa")
    put(resolver, "bbbbbbbb", "https://example.com/b")
    for code in ("aaaaaaaa", "bbbbbbbb"):
        assert resolver.cache.hit(code) is not None
    clock.now += UNCONFIRMED_SECONDS
    for code in ("aaaaaaaa", "bbbbbbbb"):
        assert resolver.cache.hit(code) is None
    source.urls.clear()
    assert await resolver.lookup("aaaaaaaa") is None


async def test_invalidated_links_are_counted_and_evicted_first(
    source: Source, clock: Clock
) -> None:
    resolver = following_resolver(source, size_of(URL, URL, URL), clock)
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        put(resolver, code, URL)
    resolver.invalidate()
    put(resolver, "bbbbbbbb", URL)
    resolver.invalidate()
    put(resolver, "dddddddd", URL)
    put(resolver, "eeeeeeee", URL)
    assert (len(resolver.cache), resolver.cache.bytes) == (3, size_of(URL, URL, URL))
    assert resolver.cache.hit("dddddddd")
    source.away = True
    assert await resolver.lookup("bbbbbbbb") is not None, "the most recent of the invalidated"
    with pytest.raises(Unavailable):
        await resolver.lookup("cccccccc")


async def test_the_garbage_collector_tracks_no_entry_and_each_is_counted(
    resolver: Resolver,
) -> None:
    links = [
        *ENDED.values(),
        expiring_in(30, URL),
        expiring_in(3600),
        Resolution.active("https://a.b/é"),
    ]

    def fill() -> None:
        for number in range(700):
            resolver.put_created(f"{number:08}", links[number % len(links)], resolver.version)

    gc.collect()
    before = len(gc.get_objects())
    fill()
    gc.collect()
    assert len(gc.get_objects()) - before < 50
    taken = resolver.cache.bytes
    fill()
    assert (len(resolver.cache), resolver.cache.bytes) == (700, taken)
    await resolver.apply(changes_of({}, *(f"{number:08}" for number in range(700))))
    assert (len(resolver.cache), resolver.cache.bytes) == (0, 0)


async def test_a_link_that_cannot_be_read_fails_alone(source: Source, clock: Clock) -> None:
    """What the gateway has of it is served, as when links is away."""

    class Damaged(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            found = await super().resolve(codes)
            damaged = {"damaged1", "damaged2"} & set(codes)
            if damaged and clock.now > 1000:
                raise UnreadableLinks(damaged, {c: r for c, r in found.items() if c not in damaged})
            return found

    damaged = Damaged()
    damaged.urls |= {"damaged1": "https://example.com/1", "damaged2": "https://example.com/2"}
    resolver = following_resolver(damaged, clock=clock)
    cached = await look_up(resolver, "damaged1")
    clock.now += FRESH_SECONDS + STALE_SECONDS
    codes = ("damaged1", "damaged2", "aaaaaaaa", "unknown-")
    results = await asyncio.gather(
        *(look_up(resolver, code) for code in codes), return_exceptions=True
    )
    assert isinstance(results[1], Internal)
    assert [*results[:1], *results[2:]] == [
        cached,
        Resolution.active("https://example.com/a"),
        None,
    ]
    assert len(damaged.calls) == 2
