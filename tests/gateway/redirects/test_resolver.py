"""The code cache: how often the source is asked, and what is served while it is away."""

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
    RETRY_SECONDS,
    STALE_SECONDS,
    UNCONFIRMED_SECONDS,
)
from gateway.redirects.lookups import MAX_CODES
from gateway.redirects.negative_cache import MAX_ABSENT, NEGATIVE_TTL_SECONDS
from gateway.redirects.resolution import (
    BlockReason,
    Changes,
    LinkSource,
    LinkState,
    Resolution,
    location_of,
)
from gateway.redirects.resolver import Resolver
from services.shared.errors import Internal, Unavailable

ROOM = 1_000_000
"""Bytes of a cache that never fills here."""


class Source:
    """A link source whose answers and troubles the test decides."""

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

    async def changes(self, cursor: str | None) -> Changes:
        return told()


def told(resolutions: Mapping[str, Resolution] | None = None, *gone: str) -> Changes:
    return Changes("1", resolutions or {}, frozenset(gone), more=False, truncated=False)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def cache(
    source: LinkSource, room: int = ROOM, clock: Callable[[], float] = time.monotonic, **more: Any
) -> Resolver:
    """A resolver in a gateway that hears of changes."""
    resolver = Resolver(source, room, clock, **more)
    resolver.invalidate()
    return resolver


async def look_up(resolver: Resolver, code: str) -> Resolution | None:
    return await resolver.lookup(code)


def put(resolver: Resolver, code: str, url: str) -> None:
    """A link was just stored."""
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
    return cache(source, ROOM, clock, wall=wall)


async def test_many_askers_of_many_codes_share_one_call(resolver: Resolver, source: Source) -> None:
    codes = ["aaaaaaaa", "bbbbbbbb"] * 50
    found = await asyncio.gather(*(resolver.lookup(code) for code in codes))
    assert source.calls == [["aaaaaaaa", "bbbbbbbb"]]
    assert [resolution is not None for resolution in found] == [True, False] * 50


class SlowSource(Source):
    """Answers a call once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go: list[asyncio.Event] = []
        self.asked_twice = asyncio.Event()

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        turn = asyncio.Event()
        self.let_go.append(turn)
        if len(self.let_go) == 2:
            self.asked_twice.set()
        await turn.wait()
        return await super().resolve(codes)


async def ask_one_by_one(resolver: Resolver, codes: Sequence[str]) -> list[asyncio.Task[object]]:
    """Ask for each code in a turn of the loop of its own."""
    tasks: list[asyncio.Task[object]] = []
    for code in codes:
        tasks.append(asyncio.create_task(look_up(resolver, code)))
        for _ in range(3):
            await asyncio.sleep(0)
    return tasks


async def test_closing_answers_those_who_wait_for_the_next_call_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.support.batcher.GATHER_SECONDS", 60.0)
    resolver = cache(SlowSource(), ROOM, clock)
    tasks = await ask_one_by_one(resolver, ["bbbbbbbb", "aaaaaaaa"])
    await resolver.close()
    for task in tasks:
        with pytest.raises(Unavailable):
            await task


async def test_a_found_code_is_fresh_then_served_while_asked_again(
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
    assert len(source.calls) == 2, "asked again once, beside the answer"
    source.urls.clear()
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    assert resolver.cache.hit("aaaaaaaa") is None, "its time is over"
    assert await resolver.lookup("aaaaaaaa") is None


async def test_an_absent_code_is_remembered_briefly(
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
        "what is stored is known at once"
    )


@pytest.mark.parametrize(
    ("room", "lasts"), [(ROOM, FRESH_SECONDS), (0, FRESH_SECONDS), (ROOM, 0.0)]
)
async def test_who_asks_while_a_link_is_stored_is_led_there_also_if_memory_does_not_keep_it(
    source: Source, clock: Clock, room: int, lasts: float
) -> None:
    resolver = cache(source, room, clock, fresh_seconds=lasts, stale_seconds=lasts)
    asked = asyncio.create_task(look_up(resolver, "cccccccc"))
    await source.called.wait()  # It answers as before.
    put(resolver, "cccccccc", "https://example.com/c")
    assert await asked == Resolution.active("https://example.com/c")
    assert (resolver.cache.hit("cccccccc") is not None) == bool(room and lasts)


async def test_known_codes_are_served_for_as_long_as_the_source_is_away(
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
    assert await resolver.lookup("dddddddd") is not None, "a failure is not remembered"


def size_of(*urls: str) -> int:
    """Bytes that links to some URLs take in the cache."""
    resolver = cache(Source(), ROOM)
    for number, url in enumerate(urls):
        put(resolver, f"{number:08}", url)
    return resolver.cache.bytes


async def test_the_least_recently_used_go_first(source: Source, clock: Clock) -> None:
    resolver = cache(source, size_of(*["https://example.com/xxxxxxxx"] * 3), clock)
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
async def test_what_the_cache_takes_is_bounded_whatever_is_in_it(
    source: Source, url: Callable[[int], str]
) -> None:
    """As Python's own allocations show it."""
    limit = 4_000_000
    codes = [f"{n:08x}" for n in range(20_000)]
    urls = [url(0), url(1)]
    resolver = cache(source, limit)
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


async def test_a_link_that_is_replaced_is_counted_once(
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


async def test_codes_of_nobody_push_no_link_out(source: Source, clock: Clock) -> None:
    resolver = cache(source, size_of("https://example.com/a", "https://example.com/b"), clock)
    put(resolver, "aaaaaaaa", "https://example.com/a")
    for start in range(0, 2 * MAX_ABSENT, 1000):
        codes = [f"{number:08}" for number in range(start, start + 1000)]
        assert not any(await asyncio.gather(*(resolver.lookup(code) for code in codes)))
    assert resolver.cache.hit("aaaaaaaa") is not None
    assert resolver.cache.absent == MAX_ABSENT, "and are few themselves"
    clock.now += NEGATIVE_TTL_SECONDS
    for number in range(MAX_ABSENT):
        await resolver.lookup(f"x{number:07}")
    assert resolver.cache.absent <= MAX_ABSENT
    clock.now += NEGATIVE_TTL_SECONDS
    for _ in range(MAX_ABSENT):
        await resolver.lookup("y-------")
        clock.now += NEGATIVE_TTL_SECONDS
    assert resolver.cache.absent == 1, "what is no longer believed goes"


async def test_an_error_nobody_foresaw_is_told_to_all_askers_and_kept_for_none(
    clock: Clock,
) -> None:
    class Broken(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            if self.broken:
                raise RuntimeError("nobody foresaw this")
            return await super().resolve(codes)

        broken = True

    broken = Broken()
    resolver = cache(broken, ROOM, clock)
    async with asyncio.timeout(5):
        asked = [resolver.lookup(code) for code in ("aaaaaaaa", "bbbbbbbb", "aaaaaaaa")]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(error) for error in told] == [Internal] * 3
        assert resolver.faults == 1
        broken.broken = False
        assert await resolver.lookup("aaaaaaaa") is not None
        # What is in memory goes on being served.
        broken.broken = True
        clock.now += FRESH_SECONDS + STALE_SECONDS
        assert await resolver.lookup("aaaaaaaa") is not None
    assert resolver.faults == 2


async def test_a_url_that_is_none_leaves_nobody_waiting(resolver: Resolver, source: Source) -> None:
    source.urls["bbbbbbbb"] = "http://\ud800"
    async with asyncio.timeout(5):
        asked = [resolver.lookup(code) for code in ("aaaaaaaa", "bbbbbbbb")]
        told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(error) for error in told] == [Internal] * 2


async def test_the_loop_turns_while_long_urls_are_encoded(clock: Clock) -> None:
    """While all of a call are found at once, some five times: not once they all are."""
    codes = [f"{number:08}" for number in range(MAX_CODES)]

    class Prompt(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            return dict.fromkeys(codes, Resolution.active("https://example.com/\N{SNAIL}"))

    resolver = cache(Prompt(), ROOM, clock)
    asked = asyncio.gather(*[resolver.lookup(code) for code in codes])
    turns = 0
    while not asked.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await asked) == len(codes)
    assert turns > 5


async def test_a_header_carries_a_url_percent_encoded_as_everywhere() -> None:
    resolver = cache(Source())
    alphabet = [*map(chr, range(0x20, 0x80)), "\x01", "é", "漢", "\u2028", "\N{SNAIL}", "😀"]
    draw = random.Random(1)
    for _ in range(2000):
        url = "".join(draw.choices(alphabet, k=draw.randrange(40)))
        assert location_of(url).decode("ascii") == quote(url, safe=string.punctuation)
        put(resolver, "aaaaaaaa", url)
        assert resolver.cache.hit("aaaaaaaa") == location_of(url)
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(url)


async def test_a_scan_code_comes_with_the_code_of_its_link(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    scanned = Resolution(LinkState.ACTIVE, URL, link_code="aaaaaaaa")
    resolver.put_created("SCANC0DE", scanned, resolver.version)
    assert resolver.cache.hit("SCANC0DE") is None, "it does not count for itself"
    assert resolver.cache.scan_hit("SCANC0DE") == (URL.encode(), "aaaaaaaa")
    assert await resolver.lookup("SCANC0DE") == scanned
    put(resolver, "aaaaaaaa", URL)
    assert resolver.cache.scan_hit("aaaaaaaa") is None

    clock.now += 61  # Stale: served, and looked up.
    assert resolver.cache.hit("SCANC0DE") is None
    assert resolver.cache.scan_hit("SCANC0DE") == (URL.encode(), "aaaaaaaa")
    await resolver.lookup("bbbbbbbb")
    assert source.calls == [["SCANC0DE", "bbbbbbbb"]]
    assert resolver.cache.scan_hit("SCANC0DE") is None, "links knows it no more"


async def test_an_asker_who_leaves_does_not_take_the_answer_along(resolver: Resolver) -> None:
    leaver = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    stayer = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0)
    leaver.cancel()
    assert await stayer is not None
    await resolver.close()


async def test_what_is_in_memory_waits_a_moment_for_a_source_that_hangs(clock: Clock) -> None:
    class Hanging(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            if self.away:
                await asyncio.Event().wait()
            return await super().resolve(codes)

    source = Hanging()
    resolver = cache(source, ROOM, clock)
    await resolver.lookup("aaaaaaaa")
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    source.away = True
    assert resolver.cache.hit("aaaaaaaa") is None
    async with asyncio.timeout(1):
        resolution = await resolver.lookup("aaaaaaaa")
    assert resolution == Resolution.active(source.urls["aaaaaaaa"])
    assert resolver.cache.hit("aaaaaaaa") is not None, "the next ones do not wait at all"
    await resolver.close()


async def test_a_source_that_is_away_does_not_lengthen_the_time_that_was_told(
    source: Source, clock: Clock
) -> None:
    resolver = cache(source, ROOM, clock, fresh_seconds=5, stale_seconds=2)
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
    """The time of day, which passes as another clock does and can be set."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.ahead = TODAY.timestamp() - clock.now

    def __call__(self) -> float:
        return self.clock.now + self.ahead


def lasting(seconds: float, ended_url: str = "") -> Resolution:
    """Of an active link that ends so many seconds after `TODAY`."""
    end = TODAY + timedelta(seconds=seconds)
    return Resolution(LinkState.ACTIVE, URL, end, ended_url)


@pytest.mark.parametrize("ended", ENDED.values(), ids=ENDED)
async def test_a_link_that_has_ended_is_remembered_as_any_and_is_no_hit(
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
async def test_an_expiry_holds_to_the_second_whatever_is_in_memory(
    resolver: Resolver,
    source: Source,
    clock: Clock,
    wall: WallClock,
    seconds: float,
    away: bool,
    asked: bool,
    ended_url: str,
) -> None:
    """Also where the clock of links is behind, which then tells of it as active."""
    source.others["aaaaaaaa"] = link = lasting(seconds, ended_url)
    assert await resolver.lookup("aaaaaaaa") == link.at(wall())
    source.away = away
    clock.now += max(0, seconds - 0.1)
    if asked and seconds > 0:
        assert resolver.cache.hit("aaaaaaaa") or await resolver.lookup("aaaaaaaa") == link
        assert resolver.cache.hit("aaaaaaaa") == URL.encode()
        await settled()
    clock.now += 0.1
    assert resolver.cache.hit("aaaaaaaa") is None
    expired = Resolution(LinkState.EXPIRED, "", link.expires_at, ended_url)
    assert await resolver.lookup("aaaaaaaa") == expired
    assert expired.target == ended_url


async def test_an_expiry_holds_though_the_clock_is_set(
    resolver: Resolver, source: Source, wall: WallClock
) -> None:
    source.others["aaaaaaaa"] = lasting(30)
    await resolver.lookup("aaaaaaaa")
    resolver.check_clock()
    assert resolver.cache.hit("aaaaaaaa") is not None
    wall.ahead += 3600.0  # The machine slept.
    resolver.check_clock()
    assert resolver.cache.hit("aaaaaaaa") is None
    resolution = await resolver.lookup("aaaaaaaa")
    assert resolution is not None
    assert resolution.state is LinkState.EXPIRED


async def test_a_change_holds_at_once_for_what_is_in_memory(
    resolver: Resolver, source: Source
) -> None:
    source.urls["bbbbbbbb"] = "https://example.com/b"
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        await resolver.lookup(code)
    calls = len(source.calls)
    removed, changed = Resolution(LinkState.REMOVED), Resolution.active("https://example.com/é")
    await resolver.apply(told({"aaaaaaaa": changed, "bbbbbbbb": removed}))
    assert resolver.cache.hit("aaaaaaaa") == b"https://example.com/%C3%A9"
    assert resolver.cache.hit("bbbbbbbb") is None
    assert await resolver.lookup("bbbbbbbb") == removed
    await resolver.apply(told({"bbbbbbbb": Resolution.active("https://example.com/b")}))
    assert resolver.cache.hit("bbbbbbbb") == b"https://example.com/b"
    await resolver.apply(told({}, "aaaaaaaa"))
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") is None
    assert len(source.calls) == calls
    source.urls["cccccccc"] = "https://example.com/c"
    await resolver.apply(told({"cccccccc": Resolution.active("https://example.com/c")}))
    assert await resolver.lookup("cccccccc") is not None, "it is absent no more"


async def test_changes_of_other_codes_take_no_memory(resolver: Resolver) -> None:
    await resolver.lookup("aaaaaaaa")
    before = (len(resolver.cache), resolver.cache.bytes, resolver.cache.absent)
    codes = [f"{number:08}" for number in range(1000)]
    await resolver.apply(told(dict.fromkeys(codes, Resolution.active(URL)), "bbbbbbbb"))
    assert (len(resolver.cache), resolver.cache.bytes, resolver.cache.absent) == before


@pytest.mark.parametrize("state", [None, LinkState.REMOVED])
async def test_a_look_up_from_before_a_change_does_not_put_the_old_answer_back(
    clock: Clock, state: LinkState | None
) -> None:
    source = SlowSource()
    resolver = cache(source, ROOM, clock)
    asked = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    now = Resolution(state) if state else None
    await resolver.apply(told({"aaaaaaaa": now}) if now else told({}, "aaaaaaaa"))
    async with asyncio.timeout(5):
        assert await asked == now, "who waits is answered at once"
    source.let_go[0].set()
    await settled()
    assert source.calls == [["aaaaaaaa"]], "links has answered as before the change"
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") == now
    await resolver.close()


async def test_a_look_up_begun_after_a_change_is_not_taken_for_one_from_before(
    clock: Clock,
) -> None:
    source = SlowSource()
    resolver = cache(source, ROOM, clock)
    before = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    await resolver.apply(told({}, "aaaaaaaa"))
    assert await before is None
    clock.now += NEGATIVE_TTL_SECONDS
    after = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    async with asyncio.timeout(5):
        await source.asked_twice.wait()
    source.let_go[0].set()
    await settled()
    assert not after.done()
    source.let_go[1].set()
    assert await after == Resolution.active(URL)
    await resolver.close()


async def test_a_creation_that_a_change_overtook_is_confirmed(
    resolver: Resolver, source: Source
) -> None:
    """The change may have been of its very link, and after it was stored."""
    since = resolver.version
    asked = asyncio.create_task(look_up(resolver, "cccccccc"))
    await source.called.wait()  # Its answer will be: no link.
    await resolver.apply(told({}, "bbbbbbbb"))
    source.urls["cccccccc"] = "https://example.com/c"
    source.called.clear()
    resolver.put_created("cccccccc", Resolution.active("https://example.com/old"), since)
    assert resolver.cache.hit("cccccccc") == b"https://example.com/old"
    assert await asked == Resolution.active("https://example.com/old")
    await source.called.wait()
    await settled()
    assert resolver.cache.hit("cccccccc") == b"https://example.com/c"


async def settled() -> None:
    """Let calls that are not held up end."""
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
async def test_an_edit_is_served_at_once_and_while_links_is_away(
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
        await settled()
        assert await resolver.lookup("bbbbbbbb") == after.at(wall()), seconds
        if seconds == UNCONFIRMED_SECONDS:  # Told from before the edit or not: it cannot be known.
            await resolver.apply(told({"bbbbbbbb": before} if before else {}, "bbbbbbbb"))
        elif seconds == RETRY_SECONDS:
            resolver.invalidate()


async def test_an_edit_is_served_to_those_who_wait_for_an_older_look_up(clock: Clock) -> None:
    source = SlowSource()
    resolver = cache(source, ROOM, clock)
    [asked] = await ask_one_by_one(resolver, ["aaaaaaaa"])
    after = Resolution.active(f"{URL}/now")
    resolver.put_edited({"aaaaaaaa": after})
    async with asyncio.timeout(5):
        assert await asked == after
        source.let_go[0].set()  # It answers as before the edit.
        await source.asked_twice.wait()
        await settled()
        assert resolver.cache.hit("aaaaaaaa") == after.url.encode()
    await resolver.close()


async def test_edits_acknowledged_in_another_order_than_committed_settle(
    resolver: Resolver, source: Source
) -> None:
    first, last = Resolution(LinkState.REMOVED), Resolution.active(f"{URL}/last")
    source.urls["aaaaaaaa"] = last.url
    resolver.put_edited({"aaaaaaaa": last})
    resolver.put_edited({"aaaaaaaa": first})
    assert await resolver.lookup("aaaaaaaa") == first
    await settled()
    assert resolver.cache.hit("aaaaaaaa") == last.url.encode()
    assert source.calls == [["aaaaaaaa"]], "one look-up for both"


async def test_a_later_change_replaces_an_edit(resolver: Resolver, source: Source) -> None:
    source.away = True
    resolver.put_edited({"aaaaaaaa": Resolution.active(f"{URL}/now")})
    await settled()
    resolver.begin_poll()
    await resolver.apply(told({"aaaaaaaa": Resolution(LinkState.REMOVED)}))
    assert await resolver.lookup("aaaaaaaa") == Resolution(LinkState.REMOVED)


async def test_an_edit_that_could_not_be_confirmed_is_confirmed_before_it_is_served_for_long(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    source.away = True
    resolver.put_edited({"aaaaaaaa": Resolution.active(f"{URL}/now")})
    await settled()
    source.away = False
    clock.now += RETRY_SECONDS
    assert resolver.cache.hit("aaaaaaaa") is None
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)


async def test_who_can_be_served_from_memory_waits_briefly_for_a_repeated_look_up(
    clock: Clock,
) -> None:
    source = SlowSource()
    resolver = cache(source, ROOM, clock)
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    await resolver.apply(told({"aaaaaaaa": Resolution(LinkState.REMOVED)}))  # Maybe of before.
    async with asyncio.timeout(5):
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    await resolver.close()


async def test_what_is_told_from_before_an_edit_is_not_believed(
    resolver: Resolver, source: Source
) -> None:
    """As of who removes a link and takes that back while changes are being asked for."""
    await resolver.lookup("aaaaaaaa")
    resolver.begin_poll()
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    await settled()
    late = told({"aaaaaaaa": Resolution(LinkState.REMOVED)})
    await resolver.apply(late)
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    source.others["aaaaaaaa"] = Resolution(LinkState.REMOVED)  # By another gateway, told as well.
    await resolver.apply(late)
    assert await resolver.lookup("aaaaaaaa") == Resolution(LinkState.REMOVED)
    resolver.begin_poll()
    await resolver.apply(told({"aaaaaaaa": Resolution.active(URL)}))
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)


async def test_a_creation_that_an_edit_overtook_is_confirmed(resolver: Resolver) -> None:
    since = resolver.version
    resolver.put_edited({"aaaaaaaa": Resolution.active(URL)})
    resolver.put_created("aaaaaaaa", Resolution.active("https://example.com/old"), since)
    await settled()
    assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
    put(resolver, "cccccccc", "https://example.com/c")
    assert resolver.cache.hit("cccccccc") == b"https://example.com/c", (
        "no other creation is held up"
    )


async def test_edits_are_bounded_as_look_ups_are(
    source: Source, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.redirects.lookups.MAX_IN_FLIGHT", 1)
    resolver = cache(source, ROOM, clock)
    resolver.put_edited(dict.fromkeys(("aaaaaaaa", "bbbbbbbb"), Resolution.active(f"{URL}/now")))
    assert resolver.cache.hit("bbbbbbbb") == f"{URL}/now".encode()
    await settled()
    assert source.calls == [["aaaaaaaa"]]
    clock.now += UNCONFIRMED_SECONDS
    assert await resolver.lookup("bbbbbbbb") is None, "it is looked up soon all the same"


async def test_what_may_have_changed_unheard_is_asked_anew_before_it_is_served(
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
    await resolver.apply(told({"bbbbbbbb": Resolution.active(URL)}))
    assert resolver.cache.hit("bbbbbbbb") == URL.encode(), "what is told is known"
    assert resolver.cache.hit("aaaaaaaa") is None


async def test_what_may_have_changed_unheard_is_served_while_links_is_away_and_no_longer(
    resolver: Resolver, source: Source, clock: Clock
) -> None:
    await resolver.lookup("aaaaaaaa")
    taken = resolver.cache.bytes
    resolver.invalidate()
    source.away = True
    for _ in range(10):
        assert await resolver.lookup("aaaaaaaa") == Resolution.active(URL)
        assert resolver.cache.hit("aaaaaaaa") is not None, "and not asked for each time"
        clock.now += RETRY_SECONDS
        assert resolver.cache.hit("aaaaaaaa") is None
    assert (len(source.calls), len(resolver.cache), resolver.cache.bytes) == (11, 1, taken)
    source.away = False
    source.urls.clear()
    assert await resolver.lookup("aaaaaaaa") is None
    assert (len(resolver.cache), resolver.cache.bytes) == (0, 0)


async def test_a_look_up_from_before_is_not_believed_for_long(clock: Clock) -> None:
    source = SlowSource()
    resolver = cache(source, ROOM, clock)
    asked = asyncio.create_task(look_up(resolver, "aaaaaaaa"))
    await asyncio.sleep(0.01)
    resolver.invalidate()
    source.let_go[0].set()
    assert await asked is not None
    assert resolver.cache.hit("aaaaaaaa") is not None
    clock.now += UNCONFIRMED_SECONDS
    assert resolver.cache.hit("aaaaaaaa") is None
    await resolver.close()


async def test_nothing_is_believed_for_long_until_changes_are_heard(
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


async def test_what_is_invalidated_is_counted_and_goes_first(source: Source, clock: Clock) -> None:
    resolver = cache(source, size_of(URL, URL, URL), clock)
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
    assert await resolver.lookup("bbbbbbbb") is not None, "the last of the invalidated"
    with pytest.raises(Unavailable):
        await resolver.lookup("cccccccc")


async def test_links_of_every_state_are_counted_and_seen_by_no_garbage_collection(
    resolver: Resolver,
) -> None:
    links = [*ENDED.values(), lasting(30, URL), lasting(3600), Resolution.active("https://a.b/é")]

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
    await resolver.apply(told({}, *(f"{number:08}" for number in range(700))))
    assert (len(resolver.cache), resolver.cache.bytes) == (0, 0)
