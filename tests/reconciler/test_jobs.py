"""What the reconciler's jobs do to the services, and who does them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from services.admin import removal
from services.reconciler import runner, views
from services.reconciler.accounts import Accounts
from services.reconciler.ports import Services, Visited
from services.reconciler.purge import Purge
from services.reconciler.runner import Runner
from services.reconciler.views import Views
from services.shared.errors import InvalidArgument, Unavailable


class World:
    """The services in the plainest form.

    `before` is called ahead of every call, with its name: a test lets it fail there, or lets
    something else happen.
    """

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}
        self.removed: set[str] = set()
        self.old: list[str] = []
        """Links that were removed long ago."""
        self.purged: set[str] = set()
        self.closed: list[str] = []
        self.gone: list[str] = []
        self.counts: dict[str, int] = {}
        self.changes: list[list[str]] = []
        """The change feed: a cursor is the number of the changes before it."""
        self.deleted = 0
        """How many of the first changes are deleted."""
        self.ranks: dict[str, int] = {}
        self.noted: str | None = None
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
        assert not set(codes) & self.counts.keys(), "its counts would stay for ever"
        self.purged.update(codes)
        self.old = [code for code in self.old if code not in self.purged]
        self.owners = {c: owner for c, owner in self.owners.items() if c not in self.purged}
        return list(codes)

    async def purgeable(self) -> list[str]:
        self._call("purgeable")
        return self.old[:1000]

    async def codes_after(self, code: str) -> list[str]:
        self._call("codes_after")
        return sorted(one for one in self.owners if one > code)[:1000]

    async def rank(self, people: Mapping[str, int], cursor: str | None) -> None:
        self._call("rank")
        assert len(people) <= 1000
        for code, count in people.items():
            self.ranks[code] = max(self.ranks.get(code, 0), count)
        if cursor is not None:
            self.noted = cursor

    async def rank_cursor(self) -> str | None:
        self._call("rank_cursor")
        return self.noted

    async def remove_counts(self, codes: Sequence[str]) -> None:
        self._call("remove_counts")
        assert len(codes) <= 100
        for code in codes:
            self.counts.pop(code, None)

    async def visited(self, cursor: str | None) -> Visited:
        self._call("visited")
        last = len(self.changes)
        if cursor is None:
            return Visited(str(last), {})
        start = int(cursor)
        if start < self.deleted or start > last:
            return Visited(str(last), {}, truncated=True)
        page = self.changes[start : start + 1]
        people = {code: self.counts[code] for codes in page for code in codes}
        return Visited(str(start + len(page)), people, more=start + 1 < last)

    async def people(self, codes: Sequence[str]) -> dict[str, int]:
        self._call("people")
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
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Broken:
    """Lets one call after the other fail, the n-th of a run."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, _name: str) -> None:
        self._left -= 1
        if self._left == -1:
            raise Unavailable("A part of the service is away.")


async def test_what_was_removed_long_ago_goes_with_its_counts() -> None:
    world = World()
    world.old = [f"old{n:05}" for n in range(2100)]
    world.counts = dict.fromkeys((*world.old, "kept----"), 1)
    job = Purge(world.services)

    assert [await job.run() for _ in range(4)] == [True, True, True, False]
    assert len(world.purged) == 2100
    assert world.counts == {"kept----": 1}


async def test_a_purge_that_breaks_off_anywhere_is_done_by_the_next_run() -> None:
    for broken_at in range(5):
        world = World()
        world.old = [f"old{n:05}" for n in range(250)]
        world.counts = dict.fromkeys(world.old, 1)
        world.before = Broken(broken_at)
        job = Purge(world.services)
        for _ in range(2):
            try:
                await job.run()
            except Unavailable:
                assert not world.purged
        assert len(world.purged) == 250
        assert not world.counts


async def test_a_closed_account_s_links_stop_at_once_and_all_goes_once_it_settled() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "closed" for n in range(2300)} | {"other---": "open"}
    world.counts = dict.fromkeys(world.owners, 1)
    world.closed = ["closed"]
    job = Accounts(world.services, clock)

    assert [await job.run() for _ in range(3)] == [True, True, False]
    assert len(world.removed) == 2300
    clock.now += removal.SETTLE_SECONDS - 1
    world.owners["late----"] = "closed"
    assert not await job.run()
    assert not world.purged
    clock.now += 1
    assert not await job.run()
    assert "late----" in world.removed
    clock.now += removal.SETTLE_SECONDS
    assert not world.purged, "others may be on their way as this one was"
    await job.run()

    assert world.owners == {"other---": "open"}
    assert world.counts == {"other---": 1}
    assert world.gone == ["closed"]
    assert not await job.run()


async def test_an_account_that_takes_long_does_not_keep_the_next_one_s_links_alive() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": f"large{n % 3}" for n in range(15_000)}
    world.closed = ["large0", "large1", "large2"]

    def take_time(name: str) -> None:
        if name == "purge_links":
            clock.now += 0.6

    world.before = take_time
    job = Accounts(world.services, clock)
    while await job.run():
        pass
    clock.now += removal.SETTLE_SECONDS
    assert await job.run()
    assert 0 < len(world.purged) <= 3000, "it takes little more than its time"
    world.owners["small---"] = "small"
    world.closed.append("small")
    assert await job.run()
    assert "small---" in world.removed
    assert "large0" in world.closed


async def test_an_account_that_is_refused_holds_no_other_up() -> None:
    world, clock = World(), Clock()
    world.closed = ["bad", "good"]
    remove = world.remove_account_links

    async def refuse(account: str) -> tuple[int, bool]:
        if account == "bad":
            raise InvalidArgument("No.")
        return await remove(account)

    world.remove_account_links = refuse  # type: ignore[method-assign]
    job = Accounts(world.services, clock)
    for _ in range(2):
        with pytest.raises(InvalidArgument):
            await job.run()
        clock.now += removal.SETTLE_SECONDS
    assert world.gone == ["good"]


async def test_a_removal_that_breaks_off_anywhere_is_finished_by_whoever_goes_on() -> None:
    def closed() -> World:
        world = World()
        world.owners = {f"code{n:05}": "id" for n in range(120)}
        world.counts = dict.fromkeys(world.owners, 1)
        world.closed = ["id"]
        return world

    async def finish(world: World) -> None:
        clock = Clock()
        job = Accounts(world.services, clock)
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


async def follow(job: Views) -> None:
    while await job.run():
        pass


async def test_the_first_start_copies_all_numbers_and_then_what_changes() -> None:
    world = World()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = {code: n for n, code in enumerate(world.owners, 1)}
    job = Views(world.services, Clock())
    await job.run()
    assert world.ranks == world.counts
    assert world.noted == "0"

    world.visit("code00007", "code00008")
    world.visit("code00007")
    calls = len(world.calls)
    await follow(job)
    assert world.ranks == world.counts
    assert world.noted == "2"
    assert "codes_after" not in world.calls[calls:], "only what changed is asked for"
    world.calls.clear()
    await follow(job)
    assert world.calls == ["rank_cursor", "visited"], "nothing was visited"


async def test_the_cursor_is_stored_once_all_numbers_are_copied() -> None:
    world, clock = World(), Clock()
    world.owners = {f"code{n:05}": "id" for n in range(2500)}
    world.counts = dict.fromkeys(world.owners, 1)

    def take_time(name: str) -> None:
        if name == "people":
            clock.now += views.COPY_SECONDS

    world.before = take_time
    job = Views(world.services, clock)
    await job.run()
    assert len(world.ranks) == 1000
    world.visit("code00001", "code02400")
    await job.run()
    assert len(world.ranks) == 2000 + 1
    assert world.ranks["code00001"] == 2, "what is visited meanwhile does not wait"
    assert world.noted is None

    # Another process begins anew.
    job = Views(world.services, clock)
    while world.noted is None:
        await job.run()
    assert world.ranks == world.counts
    assert world.noted == "1"


async def test_a_reconciler_that_was_away_continues_or_copies_all_if_the_feed_is_truncated() -> (
    None
):
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    await Views(world.services).run()
    world.visit("one-----")
    world.visit("two-----")
    world.calls.clear()
    await follow(Views(world.services))
    assert world.ranks == {"one-----": 1, "two-----": 1}
    assert "people" not in world.calls

    world.visit("one-----")
    world.visit("two-----")
    world.deleted = 3
    await follow(Views(world.services))
    assert world.ranks == {"one-----": 2, "two-----": 2}
    assert world.noted == "4"


async def test_pages_ahead_of_an_error_are_passed_on() -> None:
    world = World()
    world.noted = "0"
    for n in range(4):
        world.visit(f"code000{n}")

    def fail(name: str) -> None:
        if name == "visited" and world.calls.count("visited") == 3:
            raise Unavailable("Away.")

    world.before = fail
    job = Views(world.services)
    with pytest.raises(Unavailable):
        await job.run()
    assert (world.ranks, world.noted) == ({"code0000": 1, "code0001": 1}, "2")
    await job.run()
    assert (world.ranks, world.noted) == (world.counts, "4")


async def test_numbers_of_links_that_were_put_back_are_passed_on_again() -> None:
    world = World()
    world.owners = {"one-----": "id", "two-----": "id"}
    job = Views(world.services)
    await job.run()
    for _ in range(3):
        world.visit("one-----")
        await follow(job)
    world.ranks, world.noted = {"one-----": 1}, "1"
    await follow(job)
    assert world.ranks == {"one-----": 3}


class Work:
    """A job that counts its runs, or does what a test says."""

    name = "views"
    every = 0.0

    def __init__(self) -> None:
        self.runs = 0
        self.begun = 0
        self.ran = asyncio.Event()

    def begin(self) -> None:
        self.begun += 1

    async def run(self) -> bool:
        self.runs += 1
        self.ran.set()
        await asyncio.sleep(0)
        return False


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that are renewed and end in no time."""
    monkeypatch.setattr(runner, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(runner, "LONGEST_PAUSE", 0.01)


async def ran(work: Work) -> None:
    """Wait until a run begins from now on."""
    work.ran.clear()
    async with asyncio.timeout(20):
        await work.ran.wait()


@pytest.mark.usefixtures("quick")
async def test_one_at_a_time_does_a_job_and_the_next_takes_it_over() -> None:
    world = World()
    first, second = Work(), Work()
    one, two = Runner(first, world, "one"), Runner(second, world, "two")
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
async def test_who_loses_the_lease_stops_amid_a_run_and_begins_anew_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "LEASE_SECONDS", 3600)
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
    one = Runner(work, world, "one")
    one.start()
    await ran(work)
    world.leases["views"] = "another"
    async with asyncio.timeout(20):
        await broken_off.wait()
    del world.leases["views"]
    await ran(work)
    assert work.begun == 2
    await one.stop(0)


@pytest.mark.usefixtures("quick")
async def test_a_lease_that_cannot_be_renewed_is_kept_while_it_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, work = World(), Work()
    one = Runner(work, world, "one")
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
    assert work.begun == 1
    monkeypatch.setattr(runner, "LEASE_SECONDS", 0)
    runs = -1
    while runs != work.runs:
        runs = work.runs
        await asyncio.sleep(0.05)
    world.before = lambda name: None
    monkeypatch.setattr(runner, "LEASE_SECONDS", 6)
    await ran(work)
    assert work.begun == 2
    await one.stop(1)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("error", [Unavailable("Away."), ZeroDivisionError()])
async def test_a_run_that_fails_is_tried_again_and_ends_nothing(error: Exception) -> None:
    world, work = World(), Work()
    run = work.run

    async def fail() -> bool:
        await run()
        if work.runs < 4:
            raise error
        return False

    work.run = fail  # type: ignore[method-assign]
    one = Runner(work, world, "one")
    one.start()
    async with asyncio.timeout(20):
        while work.runs < 5:
            await ran(work)
    assert work.begun == 1
    await one.stop(1)


@pytest.mark.usefixtures("quick")
async def test_a_run_under_way_is_finished_at_the_end_or_broken_off() -> None:
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
        one = Runner(work, world, "one")
        one.start()
        await ran(work)
        stopping = asyncio.create_task(one.stop(seconds))
        await asyncio.sleep(0)
        if in_time:
            goes_on.set()
        await stopping
        assert finished == in_time
        assert world.leases == {}
