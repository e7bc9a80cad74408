"""Rescans of existing links when blocklists change, on every store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from services.links.application import enforcement, rescan
from services.links.application.ports import LinkStore, Transactions, UnitOfWork
from services.links.application.rescan import Rescanner
from services.links.domain.block import BlockReason
from services.links.domain.edit import LinkChanges, removal, restoration
from services.links.domain.host import HostCursor, host_key
from services.links.domain.link import RESTORABLE_FOR, Link
from services.links.domain.owner import ANONYMOUS, Account
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.url import UrlPolicy
from tests.support import link_operations
from tests.support.link_operations import FakeBlocklist

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
ONE = Account("one")
T = TypeVar("T")


class Clock:
    """A clock that advances a little with each reading."""

    def __init__(self, each: float = 0.0) -> None:
        self.seconds = 0.0
        self._each = each

    def __call__(self) -> float:
        self.seconds += self._each
        return self.seconds

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)


CLOCK = Clock()


async def rescan_all(store: LinkStore, blocklist: FakeBlocklist, clock: Clock = CLOCK) -> None:
    """Rescan all links, each step in another process, as if each one were killed."""
    more = True
    while more:
        more = await Rescanner(store, blocklist, clock.now, clock).step()
        clock.seconds += rescan.LEASE.total_seconds()
    progress = await store.rescan_progress.get()
    assert progress is not None
    assert progress.fingerprint == blocklist.fingerprint


def link(code: str, url: str, **more: object) -> Link:
    return Link(code, url, ONE, NOW, **more)  # type: ignore[arg-type]


async def blocked(store: LinkStore) -> dict[str, str]:
    """Return the blocked codes, each with the name of the blocklist."""
    links = await link_operations.newest(store, ONE, 100)
    return {one.code: one.blocklist for one in links if one.blocked}


async def test_listed_links_are_blocked_and_unblocked_with_the_list(store: LinkStore) -> None:
    await store.links.add(link("badhost1", "http://bad.example/a"))
    await store.links.add(link("badhost2", "https://bad.example:8443/b"))
    await store.links.add(link("badpage1", "http://pages.example/bad"))
    await store.links.add(link("goodpage", "http://pages.example/good"))
    await store.links.add(link("goodhost", "http://good.example/"))
    cursor = (await store.change_feed.read_since(None)).cursor
    await rescan_all(store, FakeBlocklist(one={"bad.example", "http://pages.example/bad"}))
    assert await blocked(store) == {"badhost1": "one", "badhost2": "one", "badpage1": "one"}
    assert set((await store.change_feed.read_since(cursor)).keys) == {
        "badhost1",
        "badhost2",
        "badpage1",
    }
    assert {
        one.code: one.reason for one in await store.links.resolve(["badhost1", "goodhost"])
    } == {"badhost1": BlockReason.PHISHING, "goodhost": None}

    both = FakeBlocklist(one={"bad.example"}, two={"bad.example"})
    await rescan_all(store, both)
    assert await blocked(store) == {"badhost1": "one", "badhost2": "one"}
    cursor = (await store.change_feed.read_since(None)).cursor
    del both.lists["one"]
    await rescan_all(store, both)
    assert await blocked(store) == {"badhost1": "two", "badhost2": "two"}
    await rescan_all(store, FakeBlocklist())
    assert await blocked(store) == {}
    assert set((await store.change_feed.read_since(cursor)).keys) == {"badhost1", "badhost2"}
    assert await store.links.resolve(["badpage1"]) == [
        Resolution("badpage1", LinkState.ACTIVE, "http://pages.example/bad")
    ]


async def test_changing_the_url_of_a_listed_link_unblocks_it(store: LinkStore) -> None:
    blocklist = FakeBlocklist(one={"bad.example"})
    policy = UrlPolicy("https://atajo.example", blocklist)
    await store.links.add(link("changed1", "http://bad.example/", ended_url="http://bad.example/e"))
    await rescan_all(store, blocklist)
    for changes, listed in (
        (LinkChanges(title="other"), "one"),
        (LinkChanges(url="http://good.example/"), "one"),
        (LinkChanges(ended_url=""), None),
    ):
        assert await link_operations.edit(store, ["changed1"], changes.edit(policy, NOW), NOW)
        assert (await blocked(store)).get("changed1") == listed
    await rescan_all(store, FakeBlocklist(one={"good.example"}))
    assert await blocked(store) == {"changed1": "one"}


async def test_rescans_skip_removed_and_purged_links(store: LinkStore) -> None:
    for code in ("gone0001", "removed1", "purged01", "stays001"):
        await store.links.add(link(code, "http://bad.example/"))
    await link_operations.edit(store, ["gone0001"], removal(NOW - RESTORABLE_FOR), NOW)
    await link_operations.edit(store, ["removed1"], removal(NOW), NOW)
    await link_operations.purge(store, ["purged01"], NOW)
    await rescan_all(store, FakeBlocklist(one={"bad.example"}))
    assert await link_operations.edit(store, ["removed1"], restoration(), NOW)
    assert (await blocked(store)).keys() == {"removed1", "stays001"}
    assert await link_operations.purge(store, ["stays001"], NOW) == ["stays001"]
    found, _ = await store.hosts.at("bad.example", None, 10)
    following, _ = await store.hosts.at(
        "bad.example", HostCursor(host_key("bad.example"), "purged01"), 10
    )
    assert following == [link for link in found if link.code == "removed1"]


@pytest.mark.parametrize("each", [0.0, 0.4])
async def test_every_link_is_found_with_any_step_size(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch, each: float
) -> None:
    """Each step runs in another process, with a clock that leaves little time for it."""
    monkeypatch.setattr(rescan, "_HOSTS_PER_READ", 7)
    monkeypatch.setattr(enforcement, "BATCH_SIZE", 3)
    clock = Clock(each)
    for n in range(60):
        ended = f"http://h{(7 * n) % 20:02}.example/" if n % 3 else ""
        await store.links.add(
            link(f"code{n:04}", f"http://h{n % 20:02}.example/{n}", ended_url=ended)
        )
    await store.links.add(Link("nobody00", "http://h03.example/", ANONYMOUS, NOW))
    await rescan_all(store, FakeBlocklist(one={"h03.example", "h11.example"}), clock)
    listed_codes = {
        f"code{n:04}" for n in range(60) if n % 20 in (3, 11) or (n % 3 and (7 * n) % 20 in (3, 11))
    }
    assert (await blocked(store)).keys() == listed_codes
    (anonymous,) = await store.links.resolve(["nobody00"])
    assert anonymous.reason is BlockReason.PHISHING
    await rescan_all(store, FakeBlocklist(), clock)
    assert await blocked(store) == {}


async def test_one_process_rescans_and_another_continues(store: LinkStore) -> None:
    clock, blocklist = Clock(0.6), FakeBlocklist(one={"bad.example"})
    await store.links.add(link("badhost1", "http://bad.example/"))
    first = Rescanner(store, blocklist, clock.now, clock)
    second = Rescanner(store, blocklist, clock.now, clock)
    assert await first.step()
    stored = await store.rescan_progress.get()
    assert not await second.step()
    assert await store.rescan_progress.get() == stored
    clock.seconds += rescan.LEASE.total_seconds()
    while await second.step():
        pass
    assert await blocked(store) == {"badhost1": "one"}


class Killed(Exception):
    """The process ended."""


class KilledTransactions:
    """Transactions of a process that is killed after some of them."""

    def __init__(self, transactions: Transactions, left: int) -> None:
        self._transactions = transactions
        self._left = left

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        if not self._left:
            raise Killed
        self._left -= 1
        return await self._transactions.run(name, work)


@pytest.mark.parametrize("transactions", range(5))
async def test_a_rescan_interrupted_by_a_kill_is_finished_by_another(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch, transactions: int
) -> None:
    blocklist, others = FakeBlocklist(one={"bad.example"}), FakeBlocklist(one={"worse.example"})
    monkeypatch.setattr(enforcement, "BATCH_SIZE", 2)
    for n in range(3):
        await store.links.add(link(f"badhost{n}", f"http://bad.example/{n}"))
        await store.links.add(link(f"worse00{n}", f"http://worse.example/{n}"))
    await link_operations.give_scan_code(store, "worse000", "SCAN0001", NOW)
    await rescan_all(store, blocklist, Clock())
    cursor = (await store.change_feed.read_since(None)).cursor
    killed = replace(store, transactions=KilledTransactions(store.transactions, transactions))
    clock = Clock()
    clock.seconds = 1000.0
    with suppress(Killed):
        while await Rescanner(killed, others, clock.now, clock).step():
            pass
    clock.seconds += rescan.LEASE.total_seconds()
    await rescan_all(store, others, clock)
    assert (await blocked(store)).keys() == {"worse000", "worse001", "worse002"}
    changed = set((await store.change_feed.read_since(cursor)).keys)
    assert changed == {f"{host}{n}" for host in ("badhost", "worse00") for n in range(3)} | {
        "SCAN0001"
    }


async def test_links_created_during_a_rescan_are_found(store: LinkStore) -> None:
    clock, blocklist = Clock(), FakeBlocklist(one={"bad.example"})
    blocklist.settled_at = 60.0
    rescanner = Rescanner(store, blocklist, clock.now, clock)
    while await rescanner.step():
        pass
    await store.links.add(link("late0001", "http://bad.example/"))
    assert not await rescanner.step()
    assert await blocked(store) == {}
    clock.seconds = 60.0
    while await rescanner.step():
        pass
    assert await blocked(store) == {"late0001": "one"}
    assert not await rescanner.step()
