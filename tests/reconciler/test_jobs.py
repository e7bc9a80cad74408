"""The jobs of the reconciler, and the leases that decide which process runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from services.admin import removal
from services.reconciler import job_runner, view_counts
from services.reconciler.account_removal import MAX_SWEPT, AccountRemoval
from services.reconciler.job_runner import JobRunner
from services.reconciler.link_purge import LinkPurge
from services.reconciler.ports import Services, ViewChanges
from services.reconciler.view_counts import ViewCounts
from services.shared.errors import InvalidArgument, Unavailable


class World:
    """An in-memory fake of all services.

    Before each call it calls `before` with the name of the call, where a test can raise an error or
    change the state.
    """

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.removed: set[str] = set()
        self.old: list[str] = []
        """Links whose removal can no longer be undone."""
        self.purged: set[str] = set()
        self.closed: list[str] = []
        self.gone: list[str] = []
        self.counts: dict[str, int] = {}
        self.changes: list[list[str]] = []
        """The change feed. A cursor is the number of changes before it."""
        self.deleted = 0
        """Number of the oldest changes that the feed no longer has."""
        self.views: dict[str, int] = {}
        self.cursor: str | None = None
        self.leases: dict[str, str] = {}
        self.calls: list[str] = []
        self.before: Callable[[str], None] = lambda name: None
        self.services = Services(self, self, self)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        self.before(name)

    def visit(self, *codes: str) -> None:
        for code in codes:
            self.counts[code] = self.counts.get(code, 0) + 1
        self.changes.append(list(codes))

    async def close_account(self, email: str) -> str:
        raise NotImplementedError

    async def closed_accounts(self) -> list[str]:
        self._call("closed_accounts")
        return list(self.closed)

    async def remove_account(self, account: str) -> None:
        self._call("remove_account")
        assert account not in self.owners.values()
        if account in self.closed:
            self.closed.remove(account)
            self.gone.append(account)

    async def withdraw_link(self, code: str) -> str:
        raise NotImplementedError

    async def remove_account_links(self, account: str) -> tuple[int, bool]:
        self._call("remove_account_links")
        left = [c for c, owner in self.owners.items() if owner == account and c not in self.removed]
        self.removed.update(left[:1000])
        return len(left[:1000]), len(left) > 1000

    async def account_codes(self, account: str) -> list[str]:
        self._call("account_codes")
        return [code for code, owner in self.owners.items() if owner == account][:1000]

    async def purge_links(self, codes: Sequence[str]) -> list[str]:
        self._call("purge_links")
        assert not set(codes) & self.counts.keys(), "its counts would never be deleted"
        self.purged.update(codes)
        self.old = [code for code in self.old if code not in self.purged]
        self.owners = {c: owner for c, owner in self.owners.items() if c not in self.purged}
        return list(codes)

    async def purgeable_links(self) -> list[str]:
        self._call("purgeable_links")
        return self.old[:1000]

    async def codes_after(self, code: str) -> list[str]:
        self._call("codes_after")
        return sorted(one for one in self.owners if one > code)[:1000]

    async def store_views(self, views: Mapping[str, int], cursor: str | None) -> None:
        self._call("store_views")
        assert len(views) <= 1000
        for code, count in views.items():
            self.views[code] = max(self.views.get(code, 0), count)
        if cursor is not None:
            self.cursor = cursor

    async def views_cursor(self) -> str | None:
        self._call("views_cursor")
        return self.cursor

    async def remove_counts(self, codes: Sequence[str]) -> None:
        self._call("remove_counts")
        assert len(codes) <= 100
        for code in codes:
            self.counts.pop(code, None)

    async def view_changes(self, cursor: str | None) -> ViewChanges:
        self._call("view_changes")
        last = len(self.changes)
        if cursor is None:
            return ViewChanges(str(last), {})
        start = int(cursor)
        if start < self.deleted or start > last:
            return ViewChanges(str(last), {}, truncated=True)
        page = self.changes[start : start + 1]
        views = {code: self.counts[code] for codes in page for code in codes}
        return ViewChanges(str(start + len(page)), views, more=start + 1 < last)

    async def views_of(self, codes: Sequence[str]) -> dict[str, int]:
        self._call("views_of")
        assert len(codes) <= 1000
        return {code: self.counts[code] for code in codes if code in self.counts}

    async def take_lease(self, job: str, holder: str, seconds: int) -> bool:
        self._call("take_lease")
        if self.leases.get(job, holder) != holder:
            return False
        if seconds:
            self.leases[job] = holder
        else:
            self.leases.pop(job, None)
        return bool(seconds)


class Clock:
    """Stands still unless a test advances it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Broken:
    """Lets the n-th call fail."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, _name: str) -> None:
        self._left -= 1
        if self._left == -1:
            raise Unavailable("A part of the service is away.")


async def test_links_removed_long_ago_are_purged_with_their_counts() -> None:
    world = World()
    world.old = [f"old{n:05}" for n in range(2100)]
    world.counts = dict.fromkeys((*world.old, "kept----"), 1)
    job = LinkPurge(world.services)

    assert [await job.run() for _ in range(4)] == [True, True, True, False]
    assert len(world.purged) == 2100
    assert world.counts == {"kept----": 1}


async def test_the_next_run_completes_an_interrupted_purge() -> None:
    for broken_at in range(5):
        world = World()
        world.old = [f"old{n:05}" for n in range(250)]
        world.counts = dict.fromkeys(world.old, 1)
        world.before = Broken(broken_at)
        job = LinkPurge(world.services)
        for _ in range(2):
            try:
                await job.run()
            except Unavailable:
                assert not world.purged
        assert len(world.purged) == 250
        assert not world.counts


async def test_links_of_a_closed_account_are_withdrawn_at_once_and_deleted_once_settled() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "closed" for n in range(2300)} | {"other---": "open"}
    world.counts = dict.fromkeys(world.owners, 1)
    world.closed = ["closed"]
    job = AccountRemoval(world.services, clock)

    assert [await job.run() for _ in range(3)] == [True, True, False]
    assert len(world.removed) == 2300
    clock.now += removal.SETTLE_SECONDS - 1
    world.owners["late----"] = "closed"
    assert not await job.run()
    assert "late----" in world.removed, "it stops in the next run"
    clock.now += removal.SETTLE_SECONDS - 1
    assert not await job.run()
    assert not world.purged, "further links may still arrive"
    clock.now += 1
    await job.run()

    assert world.owners == {"other---": "open"}
    assert world.counts == {"other---": 1}
    assert world.gone == ["closed"]
    assert not await job.run()


async def test_a_run_searches_few_of_many_closed_accounts_for_further_links() -> None:
    world, clock = World(), Clock()
    world.closed = [f"id{number}" for number in range(3 * MAX_SWEPT)]
    job = AccountRemoval(world.services, clock)
    await job.run()
    searched: list[str] = []
    remove = world.remove_account_links

    async def note(account: str) -> tuple[int, bool]:
        searched.append(account)
        return await remove(account)

    world.remove_account_links = note  # type: ignore[method-assign]
    for number in range(1, 4):
        clock.now += 1
        await job.run()
        assert len(set(searched)) == len(searched) == number * MAX_SWEPT, "each in its turn"


async def test_a_large_account_does_not_delay_withdrawing_links_of_the_next() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": f"large{n % 3}" for n in range(15_000)}
    world.closed = ["large0", "large1", "large2"]

    def take_time(name: str) -> None:
        if name == "purge_links":
            clock.now += 0.6

    world.before = take_time
    job = AccountRemoval(world.services, clock)
    while await job.run():
        pass
    clock.now += removal.SETTLE_SECONDS
    assert await job.run()
    assert 0 < len(world.purged) <= 3000, "a run has a time limit"
    world.owners["small---"] = "small"
    world.closed.append("small")
    assert await job.run()
    assert "small---" in world.removed
    assert "large0" in world.closed


async def test_a_refused_call_for_one_account_does_not_delay_others() -> None:
    world, clock = World(), Clock()
    world.closed = ["bad", "good"]
    remove = world.remove_account_links

    async def refuse(account: str) -> tuple[int, bool]:
        if account == "bad":
            raise InvalidArgument("No.")
        return await remove(account)

    world.remove_account_links = refuse  # type: ignore[method-assign]
    job = AccountRemoval(world.services, clock)
    for _ in range(2):
        with pytest.raises(InvalidArgument):
            await job.run()
        clock.now += removal.SETTLE_SECONDS
    assert world.gone == ["good"]


async def test_another_process_completes_an_interrupted_account_removal() -> None:
    def closed() -> World:
        world = World()
        world.owners = {f"code{n:05}": "id" for n in range(120)}
        world.counts = dict.fromkeys(world.owners, 1)
        world.closed = ["id"]
        return world

    async def finish(world: World) -> None:
        clock = Clock()
        job = AccountRemoval(world.services, clock)
        while world.closed:
            await job.run()
            clock.now += removal.SETTLE_SECONDS

    whole = closed()
    await finish(whole)
    assert len(whole.calls) > 8
    for broken_at in range(len(whole.calls)):
        world = closed()
        world.before = Broken(broken_at)
        with pytest.raises(Unavailable):
            await finish(world)
        world.before = lambda name: None
        await finish(world)
        assert (world.owners, world.counts, world.gone) == ({}, {}, ["id"])


async def follow(job: ViewCounts) -> None:
    while await job.run():
        pass


async def test_the_first_run_copies_all_counts_and_later_ones_the_changes() -> None:
    world = World()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = {code: n for n, code in enumerate(world.owners, 1)}
    job = ViewCounts(world.services, Clock())
    await job.run()
    assert world.views == world.counts
    assert world.cursor == "0"

    world.visit("code00007", "code00008")
    world.visit("code00007")
    calls = len(world.calls)
    await follow(job)
    assert world.views == world.counts
    assert world.cursor == "2"
    assert "codes_after" not in world.calls[calls:], "only changed counts are copied"
    world.calls.clear()
    await follow(job)
    assert world.calls == ["views_cursor", "view_changes"], "nothing was visited"


async def test_the_cursor_is_stored_once_all_counts_are_copied() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = dict.fromkeys(world.owners, 1)

    def take_time(name: str) -> None:
        if name == "views_of":
            clock.now += view_counts.COPY_SECONDS

    world.before = take_time
    job = ViewCounts(world.services, clock)
    await job.run()
    assert len(world.views) == 1000
    world.visit("code00001", "code02400")
    await job.run()
    assert len(world.views) == 2000 + 1
    assert world.views["code00001"] == 2, "changes are copied during the copy of all counts"
    assert world.cursor is None

    # Another process starts again.
    job = ViewCounts(world.services, clock)
    while world.cursor is None:
        await job.run()
    assert world.views == world.counts
    assert world.cursor == "1"


async def test_a_restart_continues_at_the_cursor_or_copies_all_of_a_truncated_feed() -> None:
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    await ViewCounts(world.services).run()
    world.visit("one-----")
    world.visit("two-----")
    world.calls.clear()
    await follow(ViewCounts(world.services))
    assert world.views == {"one-----": 1, "two-----": 1}
    assert "views_of" not in world.calls

    world.visit("one-----")
    world.visit("two-----")
    world.deleted = 3
    await follow(ViewCounts(world.services))
    assert world.views == {"one-----": 2, "two-----": 2}
    assert world.cursor == "4"


async def test_pages_read_before_an_error_are_stored() -> None:
    world = World()
    world.cursor = "0"
    for n in range(4):
        world.visit(f"code000{n}")

    def fail(name: str) -> None:
        if name == "view_changes" and world.calls.count("view_changes") == 3:
            raise Unavailable("Away.")

    world.before = fail
    job = ViewCounts(world.services)
    with pytest.raises(Unavailable):
        await job.run()
    assert (world.views, world.cursor) == ({"code0000": 1, "code0001": 1}, "2")
    await job.run()
    assert (world.views, world.cursor) == (world.counts, "4")


async def test_an_idle_cursor_is_stored_once_a_minute() -> None:
    """On MongoDB the cursor advances with writes other than visits."""
    world, clock = World(), Clock()
    world.owners = {"one-----": "id"}
    job = ViewCounts(world.services, clock)
    await job.run()
    stored = world.cursor
    world.calls.clear()
    for _ in range(3):
        world.visit()
        await follow(job)
    assert "store_views" not in world.calls
    assert world.cursor == stored
    read = world.calls.count("view_changes")
    world.visit("one-----")
    await follow(job)
    assert world.calls.count("view_changes") == read + 1, "the job continues after the idle pages"
    assert (world.views, world.cursor) == ({"one-----": 1}, "4")

    world.visit()
    clock.now += view_counts.IDLE_STORE_SECONDS
    await follow(job)
    assert world.cursor == "5"
    world.visit()
    await follow(job)
    assert world.cursor == "5"


async def test_counts_are_copied_again_after_links_was_restored() -> None:
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    job = ViewCounts(world.services)
    await job.run()
    for _ in range(3):
        world.visit("one-----")
        await follow(job)
    world.views, world.cursor = {"one-----": 1}, "1"
    await follow(job)
    assert world.views == {"one-----": 3}


class Work:
    """A job that counts its runs."""

    name = "views"
    interval_seconds = 0.0

    def __init__(self) -> None:
        self.runs = 0
        self.resets = 0
        self.ran = asyncio.Event()

    def reset(self) -> None:
        self.resets += 1

    async def run(self) -> bool:
        self.runs += 1
        self.ran.set()
        await asyncio.sleep(0)
        return False


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses of runners."""
    monkeypatch.setattr(job_runner, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(job_runner, "MAX_PAUSE_SECONDS", 0.01)


async def ran(work: Work) -> None:
    """Wait until another run begins."""
    work.ran.clear()
    async with asyncio.timeout(20):
        await work.ran.wait()


@pytest.mark.usefixtures("quick")
async def test_one_process_runs_a_job_and_another_takes_over() -> None:
    world = World()
    first, second = Work(), Work()
    one, two = JobRunner(first, world, "one"), JobRunner(second, world, "two")
    one.start()
    await ran(first)
    two.start()
    for _ in range(5):
        await ran(first)
    assert second.runs == 0

    await one.stop(1)
    await ran(second)
    runs = first.runs
    await ran(second)
    assert first.runs == runs
    await two.stop(1)
    assert world.leases == {}


@pytest.mark.usefixtures("quick")
async def test_losing_the_lease_cancels_the_run_and_a_new_lease_resets_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 3600)
    world, work = World(), Work()
    broken_off = asyncio.Event()

    async def hang() -> bool:
        work.ran.set()
        try:
            await asyncio.Event().wait()
        finally:
            broken_off.set()
        return False

    work.run = hang  # type: ignore[method-assign]
    one = JobRunner(work, world, "one")
    one.start()
    await ran(work)
    world.leases["views"] = "another"
    async with asyncio.timeout(20):
        await broken_off.wait()
    del world.leases["views"]
    await ran(work)
    assert work.resets == 2
    await one.stop(0)


@pytest.mark.usefixtures("quick")
async def test_a_lease_that_cannot_be_renewed_is_used_until_it_expires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, work = World(), Work()
    one = JobRunner(work, world, "one")
    one.start()
    await ran(work)

    asked = 0

    def away(name: str) -> None:
        nonlocal asked
        asked += 1
        raise Unavailable("links is away.")

    world.before = away
    while asked < 3:
        await ran(work)
    assert work.resets == 1
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 0)
    runs = -1
    while runs != work.runs:
        runs = work.runs
        await asyncio.sleep(0.05)
    world.before = lambda name: None
    monkeypatch.setattr(job_runner, "LEASE_SECONDS", 6)
    await ran(work)
    assert work.resets == 2
    await one.stop(1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("error", [Unavailable("Away."), ZeroDivisionError()])
async def test_a_failed_run_is_repeated_and_keeps_the_lease(error: Exception) -> None:
    world, work = World(), Work()
    run = work.run

    async def fail() -> bool:
        await run()
        if work.runs < 4:
            raise error
        return False

    work.run = fail  # type: ignore[method-assign]
    one = JobRunner(work, world, "one")
    one.start()
    async with asyncio.timeout(20):
        while work.runs < 5:
            await ran(work)
    assert work.resets == 1
    await one.stop(1)


@pytest.mark.usefixtures("quick")
async def test_stopping_waits_for_the_current_run_or_cancels_it() -> None:
    world, work = World(), Work()
    goes_on = asyncio.Event()
    finished = 0

    async def slow() -> bool:
        nonlocal finished
        work.ran.set()
        await goes_on.wait()
        finished += 1
        return False

    work.run = slow  # type: ignore[method-assign]
    for seconds, in_time in ((20, 1), (0, 0)):
        goes_on.clear()
        finished = 0
        one = JobRunner(work, world, "one")
        one.start()
        await ran(work)
        stopping = asyncio.create_task(one.stop(seconds))
        await asyncio.sleep(0)
        if in_time:
            goes_on.set()
        await stopping
        assert finished == in_time
        assert world.leases == {}
