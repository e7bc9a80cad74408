"""Following the change feed of links: polls, cached resolutions, log and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from gateway.redirects.cache import RETRY_SECONDS, UNCONFIRMED_SECONDS
from gateway.redirects.invalidation import LOST_SECONDS, MAX_PAGES, ChangeFollower
from gateway.redirects.resolution import ChangeFeedPage, LinkState, Resolution
from gateway.redirects.resolver import Resolver
from services.shared.errors import DeadlineExceeded, Unavailable

URL = "https://example.com/a"
REMOVED = Resolution(LinkState.REMOVED)


class Links:
    """A change feed with pages of at most two changes."""

    def __init__(self) -> None:
        self.resolutions: dict[str, Resolution] = {}
        self.log: list[str] = []
        """Changed codes. A cursor is the number of codes that were sent."""
        self.forgotten = 0
        """Number of oldest changes that are no longer stored."""
        self.cursors: list[str | None] = []
        """Cursors of all polls."""
        self.polled = asyncio.Condition()
        self.error: Exception | None = None
        self.failing = 0
        """Number of next polls that fail."""
        self.hanging = 0
        """Number of next polls that hang."""
        self.looked_up: list[str] = []

    def change(self, code: str, resolution: Resolution | None) -> None:
        if resolution is None:
            self.resolutions.pop(code, None)
        else:
            self.resolutions[code] = resolution
        self.log.append(code)

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        if self.error is not None:
            raise self.error
        self.looked_up += codes
        return {code: self.resolutions[code] for code in codes if code in self.resolutions}

    async def changes(self, cursor: str | None) -> ChangeFeedPage:
        self.cursors.append(cursor)
        async with self.polled:
            self.polled.notify_all()
        if self.hanging:
            self.hanging -= 1
            await asyncio.Event().wait()
        if self.failing:
            self.failing -= 1
            await asyncio.sleep(0.01)
            raise DeadlineExceeded("Failed.")
        if self.error is not None:
            raise self.error
        if cursor is None:
            return ChangeFeedPage(str(len(self.log)), {}, frozenset(), more=False, truncated=False)
        truncated = int(cursor) < self.forgotten
        start = len(self.log) if truncated else int(cursor)
        codes = self.log[start : start + 2]
        end = start + len(codes)
        return ChangeFeedPage(
            str(end),
            {code: self.resolutions[code] for code in codes if code in self.resolutions},
            frozenset(code for code in codes if code not in self.resolutions),
            more=end < len(self.log),
            truncated=truncated,
        )


class Following:
    """A resolver and its follower over a fake of links."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.today = 1_000_000.0
        """Offset of the time of day, in seconds since the Unix epoch."""
        self.links = Links()
        clock = lambda: self.now  # noqa: E731
        wall = lambda: self.today + self.now  # noqa: E731
        self.resolver = Resolver(self.links, 1_000_000, clock, wall=wall)
        self.follower = ChangeFollower(self.links, self.resolver, clock)

    async def wait_for_polls(self, count: int = 2) -> None:
        """Wait until links was polled `count` more times, and the responses were applied."""
        wanted = len(self.links.cursors) + count
        async with asyncio.timeout(10), self.links.polled:
            await self.links.polled.wait_for(lambda: len(self.links.cursors) >= wanted)

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await self.wait_for_polls(1)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.POLL_SECONDS", 0.001)


@asynccontextmanager
async def followed(**resolutions: Resolution) -> AsyncIterator[Following]:
    """A follower that has its first cursor, and cached resolutions."""
    it = Following()
    it.links.resolutions.update(resolutions)
    await it.follower.start()
    try:
        for code in resolutions:
            await it.resolver.lookup(code)
        yield it
    finally:
        await it.follower.stop()


@pytest.mark.usefixtures("fast")
async def test_changes_of_several_pages_apply_without_a_look_up() -> None:
    codes = [f"code-{number}" for number in range(5)]
    async with followed(**dict.fromkeys(codes, Resolution.active(URL))) as it:
        assert it.links.cursors[0] is None
        it.links.looked_up.clear()
        for code in (*codes[:4], "elsewhere"):
            it.links.change(code, None if code == codes[0] else REMOVED)
        await it.wait_until(lambda: it.links.cursors[-1] == "5")
        assert it.resolver.cache.hit(codes[4]) == URL.encode()
        assert await it.resolver.lookup(codes[0]) is None
        for code in codes[1:4]:
            assert await it.resolver.lookup(code) == REMOVED
        assert it.links.looked_up == []
        assert len(it.resolver.cache) == 4
        assert it.follower.received == 5
        assert it.follower.polls.keys() == {"ok", "truncated", "failed", "error"}
        assert it.follower.polls["truncated"] == it.follower.polls["failed"] == 0


@pytest.mark.usefixtures("fast")
async def test_a_poll_that_began_before_an_edit_does_not_undo_it() -> None:
    async with followed(kept=Resolution.active(URL)) as it:
        answer = it.links.changes
        polled, release = asyncio.Event(), asyncio.Event()
        answered: list[Resolution | None] = []

        async def late(cursor: str | None) -> ChangeFeedPage:
            answered.append(await it.resolver.lookup("kept"))
            page = await answer(cursor)
            polled.set()
            await release.wait()
            return page

        it.links.changes = late  # type: ignore[method-assign]
        it.links.change("kept", REMOVED)
        async with asyncio.timeout(10):
            await polled.wait()
            it.links.change("kept", Resolution.active(URL))
            it.resolver.put_edited({"kept": Resolution.active(URL)})
            assert await it.resolver.lookup("kept") == Resolution.active(URL)
            release.set()
        await it.wait_until(lambda: len(answered) > 2)
        assert answered == [Resolution.active(URL)] * len(answered)


@pytest.mark.usefixtures("fast")
async def test_a_truncated_feed_has_all_codes_looked_up_again() -> None:
    async with followed(kept=Resolution.active(URL)) as it:
        for code in ("kept", "other", "other"):
            it.links.change(code, REMOVED)
        it.links.forgotten = 3
        await it.wait_until(lambda: it.follower.polls["truncated"] > 0)
        assert it.resolver.cache.hit("kept") is None
        assert await it.resolver.lookup("kept") == REMOVED
        await it.wait_for_polls(3)
        assert it.follower.polls["truncated"] == 1, "once only"


@pytest.mark.usefixtures("fast")
async def test_a_change_during_an_outage_of_links_applies_after_it() -> None:
    async with followed(kept=Resolution.active(URL), gone=Resolution.active(URL)) as it:
        it.links.error = Unavailable("away")
        with capture_logs() as logged:
            await it.wait_for_polls(10)
            it.links.change("gone", REMOVED)
            it.now += 30
            await it.wait_for_polls(10)
        assert it.resolver.cache.hit("gone") == URL.encode(), "cached links are served"
        assert it.follower.age_seconds == 30
        assert it.follower.polls["failed"] > 1
        [line] = logged
        assert (line["event"], line["reason"]) == ("changes_unavailable", "UNAVAILABLE")
        it.links.error = None
        await it.wait_until(lambda: it.follower.age_seconds == 0)
        assert it.resolver.cache.hit("gone") is None
        assert it.resolver.cache.hit("kept") == URL.encode(), "other links need no lookup"


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("fault", ["failing", "hanging"])
async def test_codes_are_looked_up_while_only_the_feed_fails(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.TEST_SECONDS", 0.01)
    async with followed(kept=Resolution.active(URL), blocked=Resolution.active(URL)) as it:
        setattr(it.links, fault, 1_000_000)
        it.links.change("blocked", REMOVED)
        it.now += LOST_SECONDS - 0.1
        await it.wait_for_polls(1)
        assert it.resolver.cache.hit("blocked") == URL.encode()
        it.now += 0.1
        async with asyncio.timeout(10):
            while it.resolver.cache.hit("blocked") is not None:  # noqa: ASYNC110 - there is no event for it.
                await asyncio.sleep(0)
        assert await it.resolver.lookup("blocked") == REMOVED
        assert await it.resolver.lookup("kept") == Resolution.active(URL)

        # Each code is looked up again after two seconds, and served if lookups fail.
        it.links.change("kept", REMOVED)
        assert it.resolver.cache.hit("kept") == URL.encode()
        it.now += UNCONFIRMED_SECONDS
        assert it.resolver.cache.hit("kept") is None
        it.links.error = Unavailable("away")
        assert await it.resolver.lookup("kept") == Resolution.active(URL)
        it.links.error = None
        it.now += RETRY_SECONDS
        assert await it.resolver.lookup("kept") == REMOVED

        if fault == "failing":  # The hanging poll would end at its deadline.
            it.links.failing = 0
            await it.wait_until(lambda: it.links.cursors[-1] == "2")
            await it.wait_for_polls()
            it.links.change("kept", Resolution.active(URL))
            await it.wait_until(lambda: it.links.cursors[-1] == "3")
            it.now += LOST_SECONDS - 0.1
            assert it.resolver.cache.hit("kept") == URL.encode(), "the feed is followed again"


@pytest.mark.usefixtures("fast")
async def test_a_lookup_that_hangs_does_not_end_the_tests_of_the_feed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.TEST_SECONDS", 0.01)
    async with followed(blocked=Resolution.active(URL)) as it:
        resolve = it.links.resolve

        async def hang_once(_codes: Sequence[str]) -> dict[str, Resolution]:
            it.links.resolve = resolve  # type: ignore[method-assign]
            await asyncio.Event().wait()
            return {}

        it.links.resolve = hang_once  # type: ignore[method-assign,assignment]
        it.links.failing = 1_000_000
        it.links.change("blocked", REMOVED)
        it.now += LOST_SECONDS
        async with asyncio.timeout(10):
            while it.resolver.cache.hit("blocked") is not None:  # noqa: ASYNC110 - there is no event for it.
                await asyncio.sleep(0)
        assert await it.resolver.lookup("blocked") == REMOVED


@pytest.mark.usefixtures("fast")
async def test_the_next_test_after_a_failed_lookup_waits_as_long_as_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Links that is away gets no more calls than usual."""
    monkeypatch.setattr("gateway.redirects.invalidation._MIN_PAUSE_SECONDS", 0.0)
    async with followed(kept=Resolution.active(URL)) as it:
        probed, probes = asyncio.Event(), 0

        async def fail(_codes: Sequence[str]) -> dict[str, Resolution]:
            nonlocal probes
            probes += 1
            probed.set()
            monkeypatch.setattr("gateway.redirects.invalidation.POLL_SECONDS", 3600.0)
            raise Unavailable("away")

        it.links.resolve = fail  # type: ignore[method-assign,assignment]
        it.links.error = Unavailable("away")
        it.now += LOST_SECONDS
        async with asyncio.timeout(10):
            await probed.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        assert probes == 1


@pytest.mark.usefixtures("fast")
async def test_a_gateway_that_starts_during_an_outage_follows_changes_after_it() -> None:
    it = Following()
    it.links.error = Unavailable("away")
    await it.follower.start()
    it.links.resolutions["early"] = Resolution.active(URL)
    # It may be looked up before the first cursor, and change before it.
    it.links.failing = 1_000_000
    it.links.error = None
    await it.resolver.lookup("early")
    it.links.resolutions["early"] = REMOVED
    it.links.failing = 0
    await it.wait_until(lambda: it.links.cursors[-1] is not None)
    assert await it.resolver.lookup("early") == REMOVED
    await it.follower.stop()


async def test_one_unresponsive_replica_delays_no_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another is asked at once, since the next poll would be too late."""
    monkeypatch.setattr("gateway.redirects.invalidation.POLL_SECONDS", 0.1)
    async with followed(kept=Resolution.active(URL)) as it:
        it.links.failing = 3  # The poll, and two of the three that follow it.
        it.links.change("kept", REMOVED)
        await it.wait_until(lambda: it.follower.received == 1)
        assert await it.resolver.lookup("kept") == REMOVED
        assert it.follower.polls["failed"] == 0
        assert it.links.failing == 0


@pytest.mark.usefixtures("fast")
async def test_an_unexpected_error_is_logged_and_following_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with followed(kept=Resolution.active(URL)) as it:
        with capture_logs() as logged:
            it.links.change("kept", Resolution.active("http://\ud800"))
            await it.wait_until(lambda: it.follower.polls["error"] > 0)
            await it.wait_until(lambda: it.links.cursors[-1] == "1")
        assert [line["event"] for line in logged] == ["changes_error"]
        assert it.follower.polls["error"] == 1, "it is skipped"
        it.links.change("kept", REMOVED)
        await it.wait_until(lambda: it.links.cursors[-1] == "2")
        assert await it.resolver.lookup("kept") == REMOVED


async def test_an_endless_feed_is_read_up_to_a_limit_of_pages() -> None:
    it = Following()

    async def endless(cursor: str | None) -> ChangeFeedPage:
        it.links.cursors.append(cursor)
        return ChangeFeedPage(
            f"{len(it.links.cursors)}", {}, frozenset(), more=True, truncated=False
        )

    it.links.changes = endless  # type: ignore[method-assign]
    await it.follower.start()
    assert len(it.links.cursors) == MAX_PAGES
    it.now += 1
    assert it.follower.age_seconds == 1
    await it.follower.stop()


async def test_a_start_waits_only_briefly_for_unresponsive_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.START_SECONDS", 0.01)
    it = Following()
    it.links.hanging = 1_000_000
    async with asyncio.timeout(5):
        await it.follower.start()
        await it.follower.stop()


async def test_an_unresponsive_replica_does_not_delay_the_first_cursor() -> None:
    it = Following()
    it.links.hanging = 1
    async with asyncio.timeout(5):
        await it.follower.start()
        assert it.follower.polls["ok"] == 1
        await it.follower.stop()


@pytest.mark.usefixtures("fast")
async def test_a_set_clock_is_noticed_while_links_is_unresponsive() -> None:
    async with followed() as it:
        it.links.resolutions["ends"] = Resolution(
            LinkState.ACTIVE, URL, datetime.fromtimestamp(it.today + it.now + 3600, UTC)
        )
        await it.resolver.lookup("ends")
        assert it.resolver.cache.hit("ends") == URL.encode()
        it.links.hanging = 1_000_000
        await it.wait_for_polls(1)
        it.today += 3600
        async with asyncio.timeout(10):
            while it.resolver.cache.hit("ends") is not None:  # noqa: ASYNC110 - there is no event for it.
                await asyncio.sleep(0)
