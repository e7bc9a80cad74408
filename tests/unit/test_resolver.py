"""The code cache: how often the source is asked, and what is served while it is away."""

from __future__ import annotations

import asyncio
import random
import string
import tracemalloc
from collections.abc import Callable, Sequence
from urllib.parse import quote

import pytest

from gateway.resolution import Resolution
from gateway.resolver import (
    ABSENT_SECONDS,
    FRESH_SECONDS,
    MOST_ABSENT,
    RETRY_SECONDS,
    STALE_SECONDS,
    Resolver,
    target_of,
    url_of,
)
from services.runtime.errors import Internal, Unavailable

ROOM = 1_000_000
"""Bytes of a cache that never fills here."""


class Source:
    """A link source whose answers and troubles the test decides."""

    def __init__(self) -> None:
        self.urls = {"aaaaaaaa": "https://example.com/a"}
        self.calls: list[list[str]] = []
        self.called = asyncio.Event()
        self.away = False

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        self.calls.append(list(codes))
        self.called.set()
        await asyncio.sleep(0)
        if self.away:
            raise Unavailable("away")
        return {code: Resolution.active(self.urls[code]) for code in codes if code in self.urls}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_many_askers_of_many_codes_share_one_call(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock)
    codes = ["aaaaaaaa", "bbbbbbbb"] * 50
    found = await asyncio.gather(*(resolver.resolve(code) for code in codes))
    assert source.calls == [["aaaaaaaa", "bbbbbbbb"]]
    assert [target is not None for target in found] == [True, False] * 50


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
        tasks.append(asyncio.create_task(resolver.resolve(code)))
        for _ in range(3):
            await asyncio.sleep(0)
    return tasks


async def test_codes_missed_while_a_call_is_under_way_share_the_next(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.resolver.GATHER_SECONDS", 60.0)
    source = SlowSource()
    resolver = Resolver(source, ROOM, clock)
    tasks = await ask_one_by_one(resolver, ["aaaaaaaa", "bbbbbbbb", "cccccccc", "bbbbbbbb"])
    assert len(source.let_go) == 1

    source.let_go[0].set()
    await tasks[0]
    await asyncio.sleep(0)
    source.let_go[1].set()
    await asyncio.gather(*tasks)

    assert source.calls == [["aaaaaaaa"], ["bbbbbbbb", "cccccccc"]]


async def test_a_call_that_hangs_holds_the_next_up_for_a_moment_alone(clock: Clock) -> None:
    source = SlowSource()
    resolver = Resolver(source, ROOM, clock)
    tasks = await ask_one_by_one(resolver, ["bbbbbbbb", "aaaaaaaa"])
    async with asyncio.timeout(5):
        await source.asked_twice.wait()
        source.let_go[1].set()
        assert await tasks[1] is not None
    await resolver.close()
    with pytest.raises(Unavailable):
        await tasks[0]


async def test_closing_answers_those_who_wait_for_the_next_call_too(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.resolver.GATHER_SECONDS", 60.0)
    resolver = Resolver(SlowSource(), ROOM, clock)
    tasks = await ask_one_by_one(resolver, ["bbbbbbbb", "aaaaaaaa"])
    await resolver.close()
    for task in tasks:
        with pytest.raises(Unavailable):
            await task


async def test_a_found_code_is_fresh_then_served_while_asked_again(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    assert resolver.known("aaaaaaaa") is None
    await resolver.resolve("aaaaaaaa")
    clock.now += FRESH_SECONDS - 1
    assert resolver.known("aaaaaaaa") is not None
    assert len(source.calls) == 1
    clock.now += 2
    assert resolver.known("aaaaaaaa") is not None
    assert resolver.known("aaaaaaaa") is not None
    await asyncio.sleep(0.01)
    assert len(source.calls) == 2, "asked again once, beside the answer"


async def test_a_removed_code_ends_after_its_time(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock)
    await resolver.resolve("aaaaaaaa")
    source.urls.clear()
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    assert resolver.known("aaaaaaaa") is None
    assert await resolver.resolve("aaaaaaaa") is None


async def test_an_absent_code_is_remembered_briefly(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock)
    for _ in range(5):
        assert await resolver.resolve("bbbbbbbb") is None
    assert len(source.calls) == 1
    clock.now += ABSENT_SECONDS + 0.1
    source.urls["bbbbbbbb"] = "https://example.com/b"
    assert await resolver.resolve("bbbbbbbb") is not None


async def test_a_stored_link_is_known_at_once(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock)
    await resolver.resolve("cccccccc")
    resolver.put("cccccccc", "https://example.com/c")
    target = resolver.known("cccccccc")
    assert target is not None
    assert target[0] == b"https://example.com/c"


async def test_an_answer_from_before_a_link_was_stored_does_not_hide_it(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    asked = asyncio.create_task(resolver.resolve("cccccccc"))
    await source.called.wait()
    resolver.put("cccccccc", "https://example.com/c")
    assert await asked is not None
    assert resolver.known("cccccccc") is not None


@pytest.mark.parametrize(("room", "lasts"), [(0, FRESH_SECONDS), (ROOM, 0.0)])
async def test_who_asks_while_a_link_is_stored_is_led_there_though_memory_has_it_no_more(
    source: Source, clock: Clock, room: int, lasts: float
) -> None:
    resolver = Resolver(source, room, clock, fresh=lasts, stale=lasts)
    asked = asyncio.create_task(resolver.resolve("cccccccc"))
    await source.called.wait()
    resolver.put("cccccccc", "https://example.com/c")
    assert resolver.known("cccccccc") is None
    target = await asked
    assert target is not None
    assert url_of(target) == "https://example.com/c"


async def test_known_codes_are_served_for_as_long_as_the_source_is_away(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    await resolver.resolve("aaaaaaaa")
    source.away = True
    for _ in range(100):
        clock.now += FRESH_SECONDS
        target = resolver.known("aaaaaaaa") or await resolver.resolve("aaaaaaaa")
        assert target is not None
        await asyncio.sleep(0.001)
    with pytest.raises(Unavailable):
        await resolver.resolve("dddddddd")
    source.away = False
    source.urls["dddddddd"] = "https://example.com/d"
    assert await resolver.resolve("dddddddd") is not None, "a failure is not remembered"


def size_of(*urls: str) -> int:
    """Bytes that links to some URLs take in the cache."""
    resolver = Resolver(Source(), ROOM)
    for number, url in enumerate(urls):
        resolver.put(f"{number:08}", url)
    return resolver.bytes


async def test_the_least_recently_used_go_first(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, size_of(*["https://example.com/xxxxxxxx"] * 3), clock)
    for code in ("aaaaaaaa", "bbbbbbbb", "cccccccc"):
        resolver.put(code, f"https://example.com/{code}")
    assert resolver.known("aaaaaaaa")
    resolver.put("dddddddd", "https://example.com/dddddddd")
    assert len(resolver) == 3
    assert resolver.known("bbbbbbbb") is None
    assert resolver.known("aaaaaaaa")


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
    resolver = Resolver(source, limit)
    tracemalloc.start()
    try:
        for code in codes:
            resolver.put(code, urls[0])
            urls[0], urls[1] = urls[1], urls[0]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < limit
    assert limit / 2 < resolver.bytes <= limit
    last = resolver.known(codes[-1])
    assert last is not None
    assert url_of(last) == urls[1]


async def test_a_link_that_is_replaced_is_counted_once(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock)
    for url in (
        "https://example.com/" + "a" * 900,
        "https://example.com/ñ",
        "https://example.com/",
    ):
        resolver.put("aaaaaaaa", url)
    assert (len(resolver), resolver.bytes) == (1, size_of("https://example.com/"))
    source.urls.clear()
    clock.now += FRESH_SECONDS + STALE_SECONDS
    assert await resolver.resolve("aaaaaaaa") is None
    assert (len(resolver), resolver.bytes) == (0, 0)


async def test_codes_of_nobody_push_no_link_out(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, size_of("https://example.com/a", "https://example.com/b"), clock)
    resolver.put("aaaaaaaa", "https://example.com/a")
    for start in range(0, 2 * MOST_ABSENT, 1000):
        codes = [f"{number:08}" for number in range(start, start + 1000)]
        assert not any(await asyncio.gather(*(resolver.resolve(code) for code in codes)))
    assert resolver.known("aaaaaaaa") is not None
    assert resolver.absent == MOST_ABSENT, "and are few themselves"
    clock.now += ABSENT_SECONDS
    for number in range(MOST_ABSENT):
        await resolver.resolve(f"x{number:07}")
    assert resolver.absent <= MOST_ABSENT
    clock.now += ABSENT_SECONDS
    for _ in range(MOST_ABSENT):
        await resolver.resolve("y-------")
        clock.now += ABSENT_SECONDS
    assert resolver.absent == 1, "what is no longer believed goes"


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
    resolver = Resolver(broken, ROOM, clock)
    async with asyncio.timeout(5):
        asked = [resolver.resolve(code) for code in ("aaaaaaaa", "bbbbbbbb", "aaaaaaaa")]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(error) for error in told] == [Internal] * 3
        assert resolver.faults == 1
        broken.broken = False
        assert await resolver.resolve("aaaaaaaa") is not None
        # What is in memory goes on being served.
        broken.broken = True
        clock.now += FRESH_SECONDS + STALE_SECONDS
        assert await resolver.resolve("aaaaaaaa") is not None
    assert resolver.faults == 2


async def test_a_url_that_is_none_leaves_nobody_waiting(source: Source, clock: Clock) -> None:
    source.urls["bbbbbbbb"] = "http://\ud800"
    resolver = Resolver(source, ROOM, clock)
    async with asyncio.timeout(5):
        asked = [resolver.resolve(code) for code in ("aaaaaaaa", "bbbbbbbb")]
        told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(error) for error in told] == [Internal] * 2


async def test_an_answer_that_cannot_be_kept_leaves_nobody_waiting(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    asked = asyncio.gather(
        *[resolver.resolve(code) for code in ("aaaaaaaa", "bbbbbbbb")], return_exceptions=True
    )
    await source.called.wait()
    resolver.limit_bytes = None  # type: ignore[assignment]
    async with asyncio.timeout(5):
        told = await asked
    assert [type(error) for error in told] == [Internal] * 2
    assert resolver.faults == 1


async def test_the_loop_turns_while_long_urls_are_encoded(clock: Clock) -> None:
    """Of 500 that are found at once, some ten times: not once they all are."""
    codes = [f"{number:08}" for number in range(500)]

    class Prompt(Source):
        async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
            return dict.fromkeys(codes, Resolution.active("https://example.com/\N{SNAIL}"))

    resolver = Resolver(Prompt(), ROOM, clock)
    asked = asyncio.gather(*[resolver.resolve(code) for code in codes])
    turns = 0
    while not asked.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await asked) == len(codes)
    assert turns > 10


async def test_a_header_carries_a_url_percent_encoded_as_everywhere() -> None:
    alphabet = [*map(chr, range(0x20, 0x80)), "\x01", "é", "漢", "\u2028", "\N{SNAIL}", "😀"]
    draw = random.Random(1)
    for _ in range(2000):
        url = "".join(draw.choices(alphabet, k=draw.randrange(40)))
        location, _ = target = target_of(url)
        assert location.decode("ascii") == quote(url, safe=string.punctuation)
        assert url_of(target) == url


async def test_an_asker_who_leaves_does_not_take_the_answer_along(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock)
    leaver = asyncio.create_task(resolver.resolve("aaaaaaaa"))
    stayer = asyncio.create_task(resolver.resolve("aaaaaaaa"))
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
    resolver = Resolver(source, ROOM, clock)
    await resolver.resolve("aaaaaaaa")
    clock.now += FRESH_SECONDS + STALE_SECONDS + 1
    source.away = True
    assert resolver.known("aaaaaaaa") is None
    async with asyncio.timeout(1):
        target = await resolver.resolve("aaaaaaaa")
    assert target is not None
    assert url_of(target) == source.urls["aaaaaaaa"]
    assert resolver.known("aaaaaaaa") is not None, "the next ones do not wait at all"
    await resolver.close()


async def test_the_times_are_as_told(source: Source, clock: Clock) -> None:
    resolver = Resolver(source, ROOM, clock, fresh=5, stale=2)
    await resolver.resolve("aaaaaaaa")
    clock.now += 4
    assert resolver.known("aaaaaaaa") is not None
    clock.now += 4
    assert resolver.known("aaaaaaaa") is None


async def test_a_source_that_is_away_does_not_lengthen_the_time_that_was_told(
    source: Source, clock: Clock
) -> None:
    resolver = Resolver(source, ROOM, clock, fresh=5, stale=2)
    await resolver.resolve("aaaaaaaa")
    source.away = True
    clock.now += 7
    assert await resolver.resolve("aaaaaaaa") is not None
    clock.now += RETRY_SECONDS + 1
    assert resolver.known("aaaaaaaa") is not None
    await asyncio.sleep(0.01)
    clock.now += RETRY_SECONDS + 2
    assert resolver.known("aaaaaaaa") is None
