"""Reports on every links store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.maintenance import Maintenance
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore
from services.links.domain.block import BlockReason
from services.links.domain.edit import LinkChanges, block, removal
from services.links.domain.link import RESTORABLE_FOR, Link, NoLink
from services.links.domain.owner import ANONYMOUS, Account
from services.links.domain.query import InvalidCursor
from services.links.domain.report import (
    MAX_STATEMENTS,
    REPORT_RETENTION,
    NoReport,
    Report,
    Statement,
)
from services.links.domain.url import UrlPolicy
from tests.support import link_operations
from tests.support.waiting import wait_until

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SPAM, PHISHING, OTHER = BlockReason.SPAM, BlockReason.PHISHING, BlockReason.OTHER
URLS = UrlPolicy("https://atajo.example")


def link(code: str = "abcdefgh") -> Link:
    return Link(code, "http://a.example", Account("one"), NOW)


def said(details: str = "", contact: str = "", minute: int = 0) -> Statement:
    return Statement(details, contact, NOW + minute * MINUTE)


dismiss = link_operations.decide_reports


async def pending(store: LinkStore) -> dict[tuple[str, BlockReason], int]:
    """Return the counts of pending reports, in order."""
    found, after = await store.reports.pending(None, 100)
    assert after is None
    assert all(link.code == report.code for link, report in found)
    assert await store.reports.count_pending() == len(found)
    return {(report.code, report.reason): report.count for _, report in found}


async def test_reports_of_a_link_for_one_reason_are_one(store: LinkStore) -> None:
    await store.links.add(link())
    first = said("It asks for my password.", "ana@b.example", 1)
    assert await link_operations.report(store, "abcdefgh", PHISHING, first, "first") == "first"
    assert (
        await link_operations.report(store, "abcdefgh", PHISHING, said(minute=2), "second")
        == "first"
    )
    last = said("¡Es falso! \U0001f600", minute=3)
    assert await link_operations.report(store, "abcdefgh", PHISHING, last, "third") == "first"
    assert await link_operations.report(store, "abcdefgh", SPAM, said(minute=4), "spam") == "spam"
    of_phishing = Report("first", "abcdefgh", PHISHING, 3, first.at, last.at, (first, last))
    at = said(minute=4).at
    of_spam = Report("spam", "abcdefgh", SPAM, 1, at, at)
    found, _ = await store.reports.pending(None, 100)
    assert found == [(link(), of_phishing), (link(), of_spam)]
    assert await store.reports.count_pending() == 2


async def test_the_oldest_pending_report_is_the_first_without_a_decision(store: LinkStore) -> None:
    assert await store.reports.oldest_pending() is None
    for code in ("abcdefgh", "ijklmnop"):
        await store.links.add(link(code))
    await link_operations.report(store, "abcdefgh", SPAM, said(minute=1), "a")
    await link_operations.report(store, "ijklmnop", SPAM, said(minute=2), "b")
    await link_operations.report(store, "ijklmnop", PHISHING, said(minute=3), "c")
    await link_operations.report(store, "ijklmnop", SPAM, said(minute=4), "b")
    assert await store.reports.oldest_pending() == NOW + MINUTE
    await dismiss(store, "abcdefgh", NOW + 5 * MINUTE)
    assert await store.reports.oldest_pending() == NOW + 2 * MINUTE
    await dismiss(store, "ijklmnop", NOW + 5 * MINUTE)
    await link_operations.report(store, "abcdefgh", OTHER, said(minute=6), "d")
    assert await store.reports.oldest_pending() == NOW + 6 * MINUTE


async def test_the_age_of_the_oldest_report_is_a_metric(sqlite_store: LinkStore) -> None:
    await sqlite_store.links.add(link())
    await link_operations.report(sqlite_store, "abcdefgh", SPAM, said(), "a")
    name = "atajo_links_reports_waiting_seconds"
    async with Maintenance(sqlite_store, lambda: NOW + timedelta(hours=30)).running():
        await asyncio.to_thread(wait_until, lambda: REGISTRY.get_sample_value(name) == 30 * 3600)


async def test_a_clock_that_goes_back_does_not_shorten_a_report(store: LinkStore) -> None:
    await store.links.add(link())
    for minute in (2, 1, 3, 0):
        await link_operations.report(store, "abcdefgh", SPAM, said(minute=minute), "one")
    [(_, report)], _ = await store.reports.pending(None, 100)
    assert (report.first_at, report.last_at) == (said(minute=0).at, said(minute=3).at)


async def test_links_in_every_state_can_be_reported(store: LinkStore) -> None:
    ended = LinkChanges(ended_url="https://b.example").edit(URLS, NOW)
    for number, edit in enumerate((block(SPAM), removal(NOW), ended)):
        code = f"code000{number}"
        await store.links.add(link(code))
        edited = await link_operations.edit(store, [code], edit, NOW)
        assert await link_operations.report(store, code, OTHER, said(), code) == code
        assert [await store.links.find(code)] == edited, "a report alone changes nothing of it"
    assert set(await pending(store)) == {(f"code000{number}", OTHER) for number in range(3)}


async def test_a_purge_deletes_reports(store: LinkStore) -> None:
    for code in ("abcdefgh", "other---", "decided-"):
        await store.links.add(link(code))
        await link_operations.report(store, code, SPAM, said("Spam.", "ana@b.example"), code)
    await dismiss(store, "decided-", NOW)
    await link_operations.purge(store, ["abcdefgh", "decided-"], NOW)
    assert await pending(store) == {("other---", SPAM): 1}
    assert await dismiss(store, "abcdefgh", NOW) == 0
    assert not await store.reports.delete_decided(NOW, 1), (
        "those of the purged link are gone already"
    )


async def test_the_most_often_reported_links_come_first(store: LinkStore) -> None:
    for code, counts in {
        "one-----": {SPAM: 4},
        "two-----": {SPAM: 2, PHISHING: 3, OTHER: 1},
        "three---": {OTHER: 1},
        "four----": {OTHER: 4},
    }.items():
        await store.links.add(link(code))
        for reason, count in counts.items():
            for _ in range(count):
                await link_operations.report(store, code, reason, said(), f"{code} {reason.value}")
    ordered = [
        (("two-----", PHISHING), 3),
        (("two-----", SPAM), 2),
        (("two-----", OTHER), 1),
        (("four----", OTHER), 4),
        (("one-----", SPAM), 4),
        (("three---", OTHER), 1),
    ]
    assert list((await pending(store)).items()) == ordered
    for most in (3, 4, 5, 100):
        pages, after = [], None
        while True:
            found, after = await store.reports.pending(after, most)
            pages.append([((one.code, one.reason), one.count) for _, one in found])
            if after is None:
                break
        assert [report for page in pages for report in page] == ordered, most
        ends = [len(page) for page in pages if page]
        # A page never splits the reports of a link.
        assert ends == {3: [3, 3], 4: [4, 2], 5: [5, 1], 100: [6]}[most]


async def test_paging_is_stable_while_reports_arrive(store: LinkStore) -> None:
    """Links that are reported more often meanwhile move to the front."""
    codes = [f"code{n:04}" for n in range(30)]
    for n, code in enumerate(codes):
        await store.links.add(link(code))
        for _ in range(1 + n % 4):
            await link_operations.report(store, code, SPAM, said(), f"id {code}")
    for code in ("new-----", "raised--"):
        await store.links.add(link(code))
    await link_operations.report(store, "raised--", SPAM, said(), "raised")
    seen: list[str] = []
    after, turn = None, 0
    while True:
        found, after = await store.reports.pending(after, 5)
        seen += [report.code for _, report in found]
        if after is None:
            break
        # Some links of earlier pages are decided on, some are reported again.
        await dismiss(store, seen[-1], NOW)
        await link_operations.report(store, seen[-2], SPAM, said(), "again")
        await link_operations.report(store, seen[-3], PHISHING, said(), f"more {turn}")
        if turn == 1:
            for _ in range(9):
                await link_operations.report(store, "new-----", SPAM, said(), "new")
                await link_operations.report(store, "raised--", SPAM, said(), "raised")
        turn += 1
    assert turn > 5
    assert sorted(seen) == codes
    found, _ = await store.reports.pending(None, 5)
    assert [report.code for _, report in found][:2] == ["raised--", "new-----"]


async def test_statements_are_stored_while_there_is_room(store: LinkStore) -> None:
    every = [said(f"Statement {number}", minute=number) for number in range(2 * MAX_STATEMENTS)]
    await store.links.add(link())
    for statement in every:
        await link_operations.report(store, "abcdefgh", SPAM, statement, "one")
        await link_operations.report(store, "abcdefgh", SPAM, said(), "one")
    [(_, report)], _ = await store.reports.pending(None, 100)
    assert report.statements == tuple(every[:MAX_STATEMENTS])
    assert report.count == 4 * MAX_STATEMENTS


async def test_a_decided_report_becomes_pending_again_when_repeated(store: LinkStore) -> None:
    for code in ("abcdefgh", "other---"):
        await store.links.add(link(code))
        for reason in (SPAM, PHISHING):
            for _ in range(2):
                await link_operations.report(
                    store, code, reason, said("Before."), f"{code} {reason.value}"
                )
    assert await dismiss(store, "abcdefgh", NOW) == 2
    assert await dismiss(store, "abcdefgh", NOW) == 0, "none of them waits any more"
    assert await dismiss(store, "unknown-", NOW) == 0
    assert await pending(store) == {("other---", PHISHING): 2, ("other---", SPAM): 2}

    anew = said("After.", minute=7)
    assert await link_operations.report(store, "abcdefgh", SPAM, anew, "new") == "abcdefgh spam"
    assert (
        await link_operations.report(store, "abcdefgh", SPAM, said(minute=8), "new")
        == "abcdefgh spam"
    )
    reports, _ = await store.reports.pending(None, 100)
    found = [report for _, report in reports if report.code == "abcdefgh"]
    at = said(minute=8).at
    assert found == [Report("abcdefgh spam", "abcdefgh", SPAM, 2, anew.at, at, (anew,))]
    assert await dismiss(store, "abcdefgh", NOW) == 1


async def test_decided_reports_are_deleted_after_their_retention(store: LinkStore) -> None:
    for number in range(4):
        await store.links.add(link(f"code000{number}"))
        await link_operations.report(
            store, f"code000{number}", SPAM, said("a", "b@c"), f"id{number}"
        )
    for number in range(3):
        await dismiss(store, f"code000{number}", NOW + number * MINUTE)
    await link_operations.report(store, "code0000", OTHER, said("b", "c@d"), "other")
    # The first report is pending again, so it is no longer a decided one.
    await link_operations.report(store, "code0001", SPAM, said("Anew."), "new")
    until = NOW + MINUTE
    rounds = 0
    while await store.reports.delete_decided(until, 1):
        rounds += 1
        assert rounds < 4, "it comes to an end"
    kept = {("code0000", OTHER): 1, ("code0001", SPAM): 1, ("code0003", SPAM): 1}
    assert await pending(store) == kept
    ids = {}
    for code in ("code0000", "code0001", "code0002", "code0003"):
        ids[code] = await link_operations.report(store, code, SPAM, said(), "new")
    assert ids == {"code0000": "new", "code0001": "id1", "code0002": "id2", "code0003": "id3"}


async def test_concurrent_reports_are_counted_under_one_id(store: LinkStore) -> None:
    await store.links.add(link())
    calls = [
        link_operations.report(
            store, "abcdefgh", reason, said("At once."), f"{reason.value} {number}"
        )
        for number in range(10)
        for reason in (SPAM, PHISHING)
    ]
    ids = await asyncio.gather(*calls)
    assert len(set(ids[::2])) == len(set(ids[1::2])) == 1
    assert ids[0] != ids[1]
    assert await pending(store) == {("abcdefgh", PHISHING): 10, ("abcdefgh", SPAM): 10}


async def test_concurrent_decisions_lose_no_report(store: LinkStore) -> None:
    """Decided and pending reports add up to all reports."""
    await store.links.add(link())
    reported = decided = 0

    async def report(reason: BlockReason) -> None:
        nonlocal reported
        details = (reason, said(), reason.value)
        for _ in range(20):
            assert await link_operations.report(store, "abcdefgh", *details)
            reported += 1

    async def decide() -> None:
        nonlocal decided
        while reported < 5 * 20:
            decided += await dismiss(store, "abcdefgh", NOW)
            await asyncio.sleep(0)

    await asyncio.gather(decide(), *map(report, BlockReason))
    assert decided > 0
    left = await pending(store)
    assert await dismiss(store, "abcdefgh", NOW) == len(left)
    assert await pending(store) == {}
    for reason in BlockReason:
        await link_operations.report(store, "abcdefgh", reason, said(), "new")
    assert set((await pending(store)).values()) == {1}


async def test_the_service_reports_lists_and_dismisses(store: LinkStore) -> None:
    clock = [NOW]
    service = link_operations.Service(store, URLS, lambda: clock[0])
    moderation = Moderation(
        store, CompositeBlocklist(None, store.decisions), URLS, lambda: clock[0]
    )
    await service.commands.create("abcdefgh", "a.example", ANONYMOUS)
    one = await service.reporting.report("abcdefgh", SPAM, " Spam. ", " ana@b.example ")
    assert await service.reporting.report("abcdefgh", SPAM, "", "") == one
    other = await service.reporting.report("abcdefgh", OTHER, "", " ")
    assert len({one, other}) == 2
    await service.commands.create("purged--", "a.example", ANONYMOUS)
    await link_operations.purge(store, ["purged--"], NOW)
    for code in ("unknown-", "purged--", "no code at all", ""):
        with pytest.raises(NoLink):
            await service.reporting.report(code, SPAM, "", "")
    found, after, count = await moderation.reports("")
    assert (after, count) == ("", 2)
    assert [(report.id, report.statements) for _, report in found] == [
        (one, (said("Spam.", "ana@b.example"),)),
        (other, ()),
    ]
    assert (await moderation.dismiss("abcdefgh", "")).reports == 2
    with pytest.raises(NoReport):
        await moderation.dismiss("abcdefgh", "")
    assert await moderation.reports("") == ([], "", 0)
    assert await moderation.reports("7.abcdefgh") == ([], "", 0)
    for wrong in ("7", "0.abcdefgh", "-1.abcdefgh", "7.abc", ".abcdefgh", "7." + "a" * 99):
        with pytest.raises(InvalidCursor):
            await moderation.reports(wrong)

    await service.commands.create("removed-", "a.example", ANONYMOUS)
    await link_operations.edit(store, ["removed-"], removal(NOW), NOW)
    clock[0] = NOW + RESTORABLE_FOR - MINUTE
    assert await service.reporting.report("removed-", SPAM, "", "")
    clock[0] = NOW + RESTORABLE_FOR
    with pytest.raises(NoLink):
        await service.reporting.report("removed-", SPAM, "", "")

    clock[0] = NOW + REPORT_RETENTION - MINUTE
    assert not await store.reports.delete_decided(clock[0] - REPORT_RETENTION, 100)
    assert await service.reporting.report("abcdefgh", OTHER, "", "") == other
    clock[0] = NOW + REPORT_RETENTION
    assert not await store.reports.delete_decided(clock[0] - REPORT_RETENTION, 100)
    assert await service.reporting.report("abcdefgh", SPAM, "", "") != one
