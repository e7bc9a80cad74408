"""Following what changes in links: what is asked, what holds in memory, and what is told of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from gateway.redirects.invalidation import MAX_PAGES, ChangeFollower
from gateway.redirects.resolution import Changes, LinkState, Resolution
from gateway.redirects.resolver import Resolver
from services.shared.errors import DeadlineExceeded, Unavailable

URL = "https://example.com/a"
REMOVED = Resolution(LinkState.REMOVED)


class Links:
    """Links with one change after another, of which one answer tells two at most."""

    def __init__(self) -> None:
        self.resolutions: dict[str, Resolution] = {}
        self.log: list[str] = []
        """Changed codes: a mark is how many of them were told."""
        self.forgotten = 0
        """How many of the first changes are no longer known."""
        self.cursors: list[str | None] = []
        """What was asked with."""
        self.asked = asyncio.Condition()
        self.error: Exception | None = None
        self.silent = 0
        """How many of the next questions are never answered."""
        self.hanging = 0
        """How many of the next questions last for ever."""
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

    async def changes(self, cursor: str | None) -> Changes:
        self.cursors.append(cursor)
        async with self.asked:
            self.asked.notify_all()
        if self.hanging:
            self.hanging -= 1
            await asyncio.Event().wait()
        if self.silent:
            self.silent -= 1
            await asyncio.sleep(0.01)
            raise DeadlineExceeded("Failed.")
        if self.error is not None:
            raise self.error
        if cursor is None:
            return Changes(str(len(self.log)), {}, frozenset(), more=False, truncated=False)
        truncated = int(cursor) < self.forgotten
        start = len(self.log) if truncated else int(cursor)
        codes = self.log[start : start + 2]
        end = start + len(codes)
        return Changes(
            str(end),
            {code: self.resolutions[code] for code in codes if code in self.resolutions},
            frozenset(code for code in codes if code not in self.resolutions),
            more=end < len(self.log),
            truncated=truncated,
        )


class Following:
    """A resolver and its follower over links of the test's."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.today = 1_000_000.0
        """The time of day is so much further, in seconds since 1970."""
        self.links = Links()
        clock = lambda: self.now  # noqa: E731
        wall = lambda: self.today + self.now  # noqa: E731
        self.resolver = Resolver(self.links, 1_000_000, clock, wall=wall)
        self.follower = ChangeFollower(self.links, self.resolver, clock)

    async def rounds(self, count: int = 2) -> None:
        """Wait until links was asked so often from here on, and its answers were applied."""
        wanted = len(self.links.cursors) + count
        async with asyncio.timeout(10), self.links.asked:
            await self.links.asked.wait_for(lambda: len(self.links.cursors) >= wanted)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await self.rounds(1)


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.POLL_SECONDS", 0.001)


@asynccontextmanager
async def following(**resolutions: Resolution) -> AsyncIterator[Following]:
    """In a gateway that has heard the first mark, and has some links in memory."""
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
async def test_what_changes_holds_without_a_look_up_however_many_answers_it_takes() -> None:
    codes = [f"code-{number}" for number in range(5)]
    async with following(**dict.fromkeys(codes, Resolution.active(URL))) as it:
        assert it.links.cursors[0] is None
        it.links.looked_up.clear()
        for code in (*codes[:4], "elsewhere"):
            it.links.change(code, None if code == codes[0] else REMOVED)
        await it.until(lambda: it.links.cursors[-1] == "5")
        assert it.resolver.cache.hit(codes[4]) == URL.encode()
        assert await it.resolver.lookup(codes[0]) is None
        for code in codes[1:4]:
            assert await it.resolver.lookup(code) == REMOVED
        assert it.links.looked_up == []
        assert len(it.resolver.cache) == 4
        assert it.follower.received == 5
        assert it.follower.polls.keys() == {"heard", "lost", "failed", "broke"}
        assert it.follower.polls["lost"] == it.follower.polls["failed"] == 0


@pytest.mark.usefixtures("fast")
async def test_an_answer_asked_for_before_an_edit_does_not_undo_it() -> None:
    async with following(kept=Resolution.active(URL)) as it:
        answer = it.links.changes
        asked, let_go = asyncio.Event(), asyncio.Event()
        answered: list[Resolution | None] = []

        async def late(cursor: str | None) -> Changes:
            answered.append(await it.resolver.lookup("kept"))
            told = await answer(cursor)
            asked.set()
            await let_go.wait()
            return told

        it.links.changes = late  # type: ignore[method-assign]
        it.links.change("kept", REMOVED)
        async with asyncio.timeout(10):
            await asked.wait()
            it.links.change("kept", Resolution.active(URL))
            it.resolver.put_edited({"kept": Resolution.active(URL)})
            assert await it.resolver.lookup("kept") == Resolution.active(URL)
            let_go.set()
        await it.until(lambda: len(answered) > 2)
        assert answered == [Resolution.active(URL)] * len(answered)


@pytest.mark.usefixtures("fast")
async def test_what_links_does_not_know_any_more_is_looked_up_anew() -> None:
    async with following(kept=Resolution.active(URL)) as it:
        for code in ("kept", "other", "other"):
            it.links.change(code, REMOVED)
        it.links.forgotten = 3
        await it.until(lambda: it.follower.polls["lost"] > 0)
        assert it.resolver.cache.hit("kept") is None
        assert await it.resolver.lookup("kept") == REMOVED
        await it.rounds(3)
        assert it.follower.polls["lost"] == 1, "once, not each time"


@pytest.mark.usefixtures("fast")
async def test_a_change_while_links_is_away_holds_once_it_is_back() -> None:
    async with following(kept=Resolution.active(URL), gone=Resolution.active(URL)) as it:
        it.links.error = Unavailable("away")
        with capture_logs() as told:
            await it.rounds(10)
            it.links.change("gone", REMOVED)
            it.now += 30
            await it.rounds(10)
        assert it.resolver.cache.hit("gone") == URL.encode(), "what is known goes on"
        assert it.follower.age_seconds == 30
        assert it.follower.polls["failed"] > 1
        [line] = told
        assert (line["event"], line["reason"]) == ("changes_unheard", "UNAVAILABLE")
        it.links.error = None
        await it.until(lambda: it.follower.age_seconds == 0)
        assert it.resolver.cache.hit("gone") is None
        assert it.resolver.cache.hit("kept") == URL.encode(), "all others need no look-up"


@pytest.mark.usefixtures("fast")
async def test_a_gateway_that_starts_while_links_is_away_hears_from_its_return_on() -> None:
    it = Following()
    it.links.error = Unavailable("away")
    await it.follower.start()
    it.links.resolutions["early"] = Resolution.active(URL)
    # It may be looked up before the first mark, and change before that.
    it.links.silent = 1_000_000
    it.links.error = None
    await it.resolver.lookup("early")
    it.links.resolutions["early"] = REMOVED
    it.links.silent = 0
    await it.until(lambda: it.links.cursors[-1] is not None)
    assert await it.resolver.lookup("early") == REMOVED
    await it.follower.stop()


async def test_one_replica_that_is_silent_holds_no_change_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another is asked at once: the next round would be too late."""
    monkeypatch.setattr("gateway.redirects.invalidation.POLL_SECONDS", 0.1)
    async with following(kept=Resolution.active(URL)) as it:
        it.links.silent = 3  # The question, and two of the three that follow it.
        it.links.change("kept", REMOVED)
        await it.until(lambda: it.follower.received == 1)
        assert await it.resolver.lookup("kept") == REMOVED
        assert it.follower.polls["failed"] == 0
        assert it.links.silent == 0


@pytest.mark.usefixtures("fast")
async def test_what_cannot_be_applied_is_told_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with following(kept=Resolution.active(URL)) as it:
        with capture_logs() as told:
            it.links.change("kept", Resolution.active("http://\ud800"))
            await it.until(lambda: it.follower.polls["broke"] > 0)
            await it.until(lambda: it.links.cursors[-1] == "1")
        assert [line["event"] for line in told] == ["changes_broke"]
        assert it.follower.polls["broke"] == 1, "it is passed over"
        it.links.change("kept", REMOVED)
        await it.until(lambda: it.links.cursors[-1] == "2")
        assert await it.resolver.lookup("kept") == REMOVED


async def test_links_that_always_has_more_is_asked_so_often_and_no_more() -> None:
    it = Following()

    async def endless(cursor: str | None) -> Changes:
        it.links.cursors.append(cursor)
        return Changes(f"{len(it.links.cursors)}", {}, frozenset(), more=True, truncated=False)

    it.links.changes = endless  # type: ignore[method-assign]
    await it.follower.start()
    assert len(it.links.cursors) == MAX_PAGES
    it.now += 1
    assert it.follower.age_seconds == 1
    await it.follower.stop()


async def test_a_start_waits_a_moment_alone_for_links_that_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.redirects.invalidation.START_SECONDS", 0.01)
    it = Following()
    it.links.hanging = 1_000_000
    async with asyncio.timeout(5):
        await it.follower.start()
        await it.follower.stop()


async def test_a_silent_replica_holds_the_first_mark_up_for_nobody() -> None:
    it = Following()
    it.links.hanging = 1
    async with asyncio.timeout(5):
        await it.follower.start()
        assert it.follower.polls["heard"] == 1
        await it.follower.stop()


@pytest.mark.usefixtures("fast")
async def test_a_clock_that_is_set_is_noticed_while_links_hangs() -> None:
    async with following() as it:
        it.links.resolutions["ends"] = Resolution(
            LinkState.ACTIVE, URL, datetime.fromtimestamp(it.today + it.now + 3600, UTC)
        )
        await it.resolver.lookup("ends")
        assert it.resolver.cache.hit("ends") == URL.encode()
        it.links.hanging = 1_000_000
        await it.rounds(1)
        it.today += 3600
        async with asyncio.timeout(10):
            while it.resolver.cache.hit("ends") is not None:  # noqa: ASYNC110 - nothing tells of it.
                await asyncio.sleep(0)
