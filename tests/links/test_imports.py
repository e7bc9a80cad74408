"""Imports: the verdict on each row, each row once, undo, limits, and deletion, on both stores."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pymongo
import pytest
from prometheus_client import REGISTRY

from services.links.__main__ import STORE_FACTORIES
from services.links.application import imports as application
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.records.imports import ImportRepository
from services.links.domain.block import BlockReason
from services.links.domain.creations import NewLink
from services.links.domain.edit import LinkChanges, block
from services.links.domain.imports import (
    IMPORT_RETENTION,
    MAX_CHECKED_ROWS,
    MAX_IMPORTED_ROWS,
    CodeHolders,
    ImportRow,
    InvalidImport,
    NoImport,
    RowResult,
    TooManyRows,
    Verdict,
    check_row,
    fingerprint,
    is_unchanged,
    judge,
    unique_rows,
)
from services.links.domain.imports import StoredRow as Stored
from services.links.domain.link import Link
from services.links.domain.owner import Account, Guest, InvalidOwner, Owner
from services.links.domain.query import LinkFilter, LinkOrder
from services.links.domain.text import trimmed_tags, trimmed_title
from services.links.domain.url import UrlPolicy
from services.links.storage import mongo, sqlite
from services.links.storage.link_encoding import encode_owner
from services.links.storage.sqlite.records import SqliteSession
from services.shared import sqlite as shared_sqlite
from services.shared.errors import Unavailable
from services.shared.stores import StoreFactories
from services.shared.timestamps import to_micros
from tests.support import link_operations
from tests.support.link_operations import FakeBlocklist, Service
from tests.support.store_fixtures import NewStore, add_all, open_stores_at

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
EARLIER = datetime(2019, 7, 4, 10, tzinfo=UTC)
DAY = timedelta(days=1)
ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(32))
URLS = UrlPolicy("https://atajo.example", FakeBlocklist(phishing={"evil.example"}))
FIRST, SECOND = "import-aaaaaaaaaaaaaaa", "import-bbbbbbbbbbbbbbb"
A, B = "https://a.example/", "https://b.example/"
V = Verdict


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def service_of(store: LinkStore, now: Callable[[], datetime] = lambda: NOW) -> Service:
    return Service(store, URLS, now)


def rows_of(*contents: tuple[str | None, str]) -> list[ImportRow]:
    return [ImportRow(number, code, url) for number, (code, url) in enumerate(contents)]


def verdicts(results: Sequence[RowResult]) -> list[Verdict]:
    return [result.verdict for result in results]


async def stored_links(store: LinkStore, owner: Account = ONE) -> dict[str, Link]:
    return {link.code: link for link in await link_operations.newest(store, owner, 1000)}


# Domain.


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("a.example", None),
        ("", V.UNREADABLE),
        ("ab", V.UNREADABLE),
        ("https://a.example/" + "a" * 982, V.UNREADABLE),
        ("a.example" + ")" * 523_000, V.UNREADABLE),
        ("javascript:alert(1)", V.NOT_HTTP),
        ("mailto:ana@b.example", V.NOT_HTTP),
        ("ana@b.example", V.NOT_HTTP),
        ("http://", V.NOT_HTTP),
        ("a\0.example", V.NOT_HTTP),
        ("https://evil.example/a", V.REFUSED),
        ("https://atajo.example/abcdefgh", V.REFUSED),
    ],
)
def test_the_destination_decides_first(url: str, fault: Verdict | None) -> None:
    for code in ("abcdefgh", "login", "no", None):
        assert check_row(ImportRow(1, code, url), URLS).fault is fault


def test_the_code_decides_next_and_rows_take_codes_from_later_rows() -> None:
    held = {
        "mine": Link("mine", A, ONE, NOW),
        "gone": Link("gone", A, ONE, NOW, removed_at=NOW),
        "made": Link("made", A, ONE, NOW),
        "theirs": Link("theirs", A, TWO, NOW),
        "guests": Link("guests", A, GUEST, NOW),
    }
    holders = CodeHolders(held, frozenset({"SCANCODE"}), frozenset({"made"}))
    cases: list[tuple[str | None, str, Verdict, str | None]] = [
        (None, A, V.NOT_A_CODE, None),
        ("abc", A, V.NOT_A_CODE, None),
        ("a" * 33, A, V.NOT_A_CODE, None),
        ("a/b-c", A, V.NOT_A_CODE, None),
        ("Login", A, V.RESERVED, None),
        ("mine", A, V.EXISTS, "mine"),
        ("mine", B, V.TAKEN, None),
        ("gone", A, V.TAKEN, None),
        ("made", A, V.DUPLICATE, "made"),
        ("theirs", A, V.TAKEN, None),
        ("guests", A, V.TAKEN, None),
        ("SCANCODE", A, V.TAKEN, None),
        ("abcd", A, V.NEW, "abcd"),
        ("abcd", "a.example/", V.TAKEN, None),
        ("abcd", A, V.DUPLICATE, "abcd"),
        ("AbCd", A, V.NEW, "AbCd"),
        ("theirs", A, V.DUPLICATE, None),
        (None, A, V.NOT_A_CODE, None),
        (None, B, V.NOT_A_CODE, None),
    ]
    rows = rows_of(*((code, url) for code, url, _, _ in cases))
    results = judge([check_row(row, URLS) for row in rows], ONE, holders)
    assert [(one.verdict, one.code) for one in results] == [
        (verdict, code) for _, _, verdict, code in cases
    ]


def test_the_first_row_with_a_number_counts() -> None:
    rows = [ImportRow(1, "abcd", A), ImportRow(2, "abce", A), ImportRow(1, "abcf", A)]
    assert unique_rows(rows) == rows[:2]
    for number in (-1, 2**31):
        with pytest.raises(InvalidImport):
            unique_rows([ImportRow(number, "abcd", A)])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (EARLIER, EARLIER),
        (NOW, NOW),
        (NOW + timedelta(microseconds=1), NOW),
        (datetime(1969, 12, 31, tzinfo=UTC), NOW),
        (None, NOW),
    ],
)
def test_the_creation_time_is_kept_unless_it_cannot_be_right(
    given: datetime | None, kept: datetime
) -> None:
    row = ImportRow(1, "abcd", A, created_at=given)
    assert check_row(row, URLS).link(ONE, NOW).created_at == kept


def test_titles_tags_and_expiries_are_made_to_fit() -> None:
    values = {
        "title": " a\tb" + "ñ" * 200,
        "tags": (" x ", "", "x", "y" * 40),
        "expires_at": NOW,
    }
    row = ImportRow(1, "abcd", A, values=values)
    assert check_row(row, URLS).link(ONE, NOW) == Link(
        code="abcd",
        url=A,
        owner=ONE,
        created_at=NOW,
        title="a b" + "ñ" * 97,
        tags=("x", "y" * 30),
        expires_at=NOW.replace(microsecond=0),
    )
    assert trimmed_tags([f"tag{n}" for n in range(12)]) == tuple(f"tag{n}" for n in range(10))
    assert trimmed_tags(["a"] * 100_000 + ["\x01" * 100_000, "b"]) == ("a", "b")
    assert trimmed_title("\ud800") == ""
    assert trimmed_title(" \x01\u3000" * 100_000 + "a\x02b" + "\x7f" * 100_000) == "a b"


def test_the_fingerprint_of_a_link_does_not_change_between_versions() -> None:
    """Otherwise an upgrade would make every imported link look changed, and no import undoable."""
    link = check_row(ImportRow(1, "abcd", A, values={"title": "Title"}), URLS).link(ONE, NOW)
    assert fingerprint(link).hex() == "63de6af5920c8c08f63fc85777ea1de5"


def test_each_change_that_an_owner_can_make_is_noticed() -> None:
    link = check_row(ImportRow(1, "abcd", A, values={"title": "Title"}), URLS).link(ONE, NOW)
    row = Stored(RowResult(1, V.NEW, "abcd"), fingerprint(link))
    assert is_unchanged(link, row)
    blocked = replace(link, blocked=BlockReason.SPAM, blocklist="spam", exempt=True)
    assert is_unchanged(blocked, row), "a change by the operator"
    changes: dict[str, Any] = {
        "url": B,
        "title": "",
        "tags": ("a",),
        "changed_at": NOW,
        "expires_at": NOW,
        "ended_url": B,
        "public_statistics": True,
        "scan_code": "SCANCODE",
        "removed_at": NOW,
    }
    for name, value in changes.items():
        assert not is_unchanged(replace(link, **{name: value}), row), name


# Both stores.


async def test_links_are_imported_with_all_fields(store: LinkStore) -> None:
    service = service_of(store)
    expiry = NOW + DAY
    values = {"title": "Título", "tags": ("b", "a"), "expires_at": expiry}
    row = ImportRow(7, "AbCd", "a.example/ñ", EARLIER, values)
    imported = await service.imports.run(ONE, FIRST, [row])
    expected = Link(
        code="AbCd",
        url="http://a.example/ñ",
        owner=ONE,
        created_at=EARLIER,
        title="Título",
        tags=("b", "a"),
        expires_at=expiry.replace(microsecond=0),
    )
    assert imported.results == [RowResult(7, V.NEW, "AbCd")]
    assert imported.links == [expected]
    assert await stored_links(store) == {"AbCd": expected}
    page = await service.queries.query(ONE, "TÍTULO", None, LinkOrder.NEWEST, 10, "")
    assert page.links == [expected]
    found, _ = await store.hosts.at("a.example", None, 10)
    assert [link.code for link in found] == ["AbCd"]


async def test_codes_that_are_held_in_any_way_are_taken(store: LinkStore) -> None:
    service = service_of(store)
    codes = ["mine", "gone", "purged", "theirs", "guests"]
    owners: list[Owner] = [ONE, ONE, ONE, TWO, GUEST]
    links = [Link(code, A, owner, NOW) for code, owner in zip(codes, owners, strict=True)]
    await add_all(store, links)
    await link_operations.give_scan_code(store, "theirs", "SCAN-COD", NOW)
    await link_operations.give_scan_code(store, "purged", "PURGEDSC", NOW)
    await service.commands.remove(ONE, ["gone"])
    await link_operations.purge(store, ["purged"], NOW)
    rows = rows_of(*((code, A) for code in (*codes, "SCAN-COD", "PURGEDSC", "free")))
    expected = [V.EXISTS, *[V.TAKEN] * 6, V.NEW]
    assert verdicts(await service.imports.check(ONE, rows)) == expected
    assert len(await stored_links(store)) == 2, "checking writes nothing"
    assert verdicts((await service.imports.run(ONE, FIRST, rows)).results) == expected
    assert len(await stored_links(store)) == 3


async def test_a_row_keeps_its_first_result(store: LinkStore) -> None:
    service = service_of(store)
    rows = rows_of(("abcd", A), ("abce", A), ("theirs", A), (None, A), ("evil", "evil.example"))
    await store.links.add(Link("theirs", A, TWO, NOW))
    first = await service.imports.run(ONE, FIRST, rows)
    assert verdicts(first.results) == [V.NEW, V.NEW, V.TAKEN, V.NOT_A_CODE, V.REFUSED]
    again = await service.imports.run(ONE, FIRST, rows)
    assert (again.results, again.links) == (first.results, [])
    others = [replace(row, code="other", url=B) for row in rows]
    assert (await service.imports.run(ONE, FIRST, others)).results == first.results
    await service.commands.change(ONE, "abcd", LinkChanges(url=B))
    assert (await service.imports.run(ONE, FIRST, rows)).results == first.results
    assert set(await stored_links(store)) == {"abcd", "abce"}
    # The numbers of another import, and of another account, are others.
    more = await service.imports.run(ONE, SECOND, rows[1:2])
    assert verdicts(more.results) == [V.EXISTS]
    theirs = await service.imports.run(TWO, FIRST, rows[1:3])
    assert verdicts(theirs.results) == [V.TAKEN, V.EXISTS]


async def test_a_duplicate_is_one_of_an_earlier_row_of_the_same_import(store: LinkStore) -> None:
    service = service_of(store)
    await store.links.add(Link("mine", A, ONE, NOW))
    rows = rows_of(("abcd", A), ("abcd", A), ("abcd", B), ("mine", A), ("mine", A))
    expected = [V.NEW, V.DUPLICATE, V.TAKEN, V.EXISTS, V.DUPLICATE]
    assert verdicts(await service.imports.check(ONE, rows)) == expected
    results = (await service.imports.run(ONE, FIRST, rows)).results
    assert verdicts(results) == expected
    assert [result.code for result in results] == ["abcd", "abcd", None, "mine", "mine"]
    later = [replace(row, number=row.number + 10) for row in rows]
    expected = [V.DUPLICATE, V.DUPLICATE, V.TAKEN, V.EXISTS, V.DUPLICATE]
    assert verdicts((await service.imports.run(ONE, FIRST, later)).results) == expected


async def test_rows_with_one_number_in_one_call_share_the_first_result(store: LinkStore) -> None:
    service = service_of(store)
    rows = [ImportRow(1, "abcd", A), ImportRow(2, "abce", A), ImportRow(1, "abcf", A)]
    expected = [
        RowResult(1, V.NEW, "abcd"),
        RowResult(2, V.NEW, "abce"),
        RowResult(1, V.NEW, "abcd"),
    ]
    assert await service.imports.check(ONE, rows) == expected
    assert (await service.imports.run(ONE, FIRST, rows)).results == expected
    assert set(await stored_links(store)) == {"abcd", "abce"}


@pytest.mark.parametrize("is_same_import", [True, False])
async def test_two_calls_with_the_same_rows_at_once(
    new_store: NewStore, is_same_import: bool
) -> None:
    rows = [ImportRow(n, f"code{n:04}", f"https://a.example/{n}") for n in range(100)]
    ids = [FIRST, FIRST if is_same_import else SECOND]
    with new_store() as setting:
        async with (
            open_stores_at(setting, "links", STORE_FACTORIES) as one,
            open_stores_at(setting, "links", STORE_FACTORIES) as other,
        ):
            calls = [
                service_of(store).imports.run(ONE, import_id, part)
                for part in (rows[:60], rows[40:], rows[::-1])
                for store, import_id in zip((one, other), ids, strict=True)
            ]
            outcomes = await asyncio.gather(*calls)
            created = [link.code for outcome in outcomes for link in outcome.links]
            assert sorted(created) == [row.code for row in rows], "each link once"
            assert set(await stored_links(one)) == set(created)
            listed = await service_of(other).imports.newest(ONE)
            assert sum(each.links for each in listed) == len(rows)
            if is_same_import:
                assert all(set(verdicts(each.results)) == {V.NEW} for each in outcomes)


async def test_a_code_goes_to_an_import_or_to_a_creation(new_store: NewStore) -> None:
    with new_store() as setting:
        async with (
            open_stores_at(setting, "links", STORE_FACTORIES) as one,
            open_stores_at(setting, "links", STORE_FACTORIES) as other,
        ):
            for number in range(10):
                codes = [f"code{number}{n:03}" for n in range(40)]
                importing = service_of(one).imports.run(
                    ONE,
                    FIRST,
                    [ImportRow(number * 100 + n, code, A) for n, code in enumerate(codes)],
                )
                creating = (other.links.add(Link(code, B, TWO, NOW)) for code in codes)
                imported, created = await asyncio.gather(importing, asyncio.gather(*creating))
                by_import = {link.code for link in imported.links}
                by_creation = {
                    link.code for link in created if link is not None and link.owner == TWO
                }
                assert by_import.isdisjoint(by_creation)
                assert by_import | by_creation == set(codes)
                assert [result.verdict for result in imported.results] == [
                    V.NEW if code in by_import else V.TAKEN for code in codes
                ]


async def test_a_store_of_the_first_version_is_upgraded(new_store: NewStore) -> None:
    first = StoreFactories[LinkStore](
        sqlite.open_store, sqlite.MIGRATIONS[:1], lambda: (mongo.open_store, mongo.SCHEMA[:1])
    )
    with new_store() as setting:
        if setting.startswith("mongodb"):  # The database may have been used by other tests.
            with pymongo.MongoClient[dict[str, Any]](setting) as client:
                client.get_default_database().schema.delete_many({})
        async with open_stores_at(setting, "links", first) as store:
            if setting.startswith("mongodb"):
                await store.links.add(Link("mine", A, ONE, NOW))
            else:  # A later version writes columns that the first lacks.
                file = setting.removeprefix("sqlite:///")
                with closing(sqlite3.connect(file)) as connection, connection:
                    connection.execute(
                        "INSERT INTO links (creator, created_at, code, url) VALUES (?, ?, ?, ?)",
                        (encode_owner(ONE), to_micros(NOW), "mine", A),
                    )
        async with open_stores_at(setting, "links", STORE_FACTORIES) as store:
            rows = rows_of(("mine", A), ("abcd", A))
            results = (await service_of(store).imports.run(ONE, FIRST, rows)).results
            assert verdicts(results) == [V.EXISTS, V.NEW]
            created = await service_of(store).creations.run(ONE, b"key", bytes(32), [NewLink(A)])
            assert len(created.links) == 1


@pytest.mark.parametrize("broken", ["before", "after"])
async def test_a_call_that_broke_off_is_repeated(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Break off within the transaction, and after its commit: nobody received the results."""
    service = service_of(store)
    rows = rows_of(("abcd", A), ("theirs", A))
    await store.links.add(Link("theirs", A, TWO, NOW))
    if broken == "before":

        def fail(*_: object) -> None:
            raise Unavailable("The process ends.")

        with monkeypatch.context() as patch:
            patch.setattr(application, "fingerprint", fail)
            with pytest.raises(Unavailable):
                await service.imports.run(ONE, FIRST, rows)
        assert await stored_links(store) == {}
        assert await service.imports.newest(ONE) == []
    else:
        await service.imports.run(ONE, FIRST, rows)
    results = (await service_of(store).imports.run(ONE, FIRST, rows)).results
    assert verdicts(results) == [V.NEW, V.TAKEN]
    assert [(one.links, one.removed) for one in await service.imports.newest(ONE)] == [(1, 0)]


@pytest.mark.parametrize("seed", range(8))
async def test_a_check_says_what_the_import_does(store: LinkStore, seed: int) -> None:
    """Random rows over a random store: both have the same results."""
    chance = random.Random(seed)
    codes = [*(f"code{n}" for n in range(20)), "SC4N-000", "SC4N-001", "PURGED00"]
    urls = [A, B, "a.example", "evil.example", "mailto:a@b.example", "", "x" * 1000]
    owners: list[Owner] = [ONE, TWO, GUEST]
    service = service_of(store)
    for code in chance.sample(codes[:20], 10):
        await store.links.add(Link(code, chance.choice(urls[:2]), chance.choice(owners), NOW))
        if chance.random() < 0.3:
            await link_operations.edit(store, [code], block(BlockReason.SPAM), NOW)
    held = list(await stored_links(store))
    if held:
        await link_operations.give_scan_code(store, held[0], "SC4N-000", NOW)
        await service.commands.remove(ONE, held[1:3])
    await store.links.add(Link("PURGED00", A, ONE, NOW))
    await link_operations.purge(store, ["PURGED00"], NOW)
    for import_id in (FIRST, SECOND):
        rows = [
            ImportRow(
                chance.randrange(150),
                chance.choice([*codes, "no", "Login", "a b c", None]),
                chance.choice(urls),
                chance.choice([None, EARLIER, NOW + DAY]),
                {
                    "title": chance.choice(["", "Title", "x" * 200]),
                    "tags": chance.choice([(), ("a", ""), ("x" * 99,)]),
                },
            )
            for _ in range(MAX_IMPORTED_ROWS)
        ]
        before = await stored_links(store)
        checked = await service.imports.check(ONE, rows)
        assert await stored_links(store) == before
        imported = await service.imports.run(ONE, import_id, rows)
        assert imported.results == checked
        assert await stored_links(store) == before | {link.code: link for link in imported.links}


async def test_undoing_removes_what_is_unchanged(store: LinkStore) -> None:
    clock = Clock()
    service = service_of(store, clock)
    await store.links.add(Link("mine", A, ONE, NOW))
    codes = ["kept", "changed", "removed", "purged", "scanned", "blocked", "mine"]
    rows = rows_of(*((code, A) for code in codes))
    await service.imports.run(ONE, FIRST, rows)
    clock.now += timedelta(minutes=1)
    await service.commands.change(ONE, "changed", LinkChanges(title="Another"))
    await service.commands.remove(ONE, ["removed"])
    await link_operations.purge(store, ["purged"], NOW)
    await service.commands.create_scan_code(ONE, "scanned")
    await link_operations.edit(store, ["blocked"], block(BlockReason.SPAM), NOW)

    step = await service.imports.undo(ONE, FIRST, None)
    assert (step.removed, step.next_after) == (2, None)
    assert sorted(link.code for link in step.links) == ["blocked", "kept"]
    removed = {code for code, link in (await stored_links(store)).items() if link.removed_at}
    assert removed == {"kept", "blocked", "removed"}
    [listed] = await service.imports.newest(ONE)
    assert (listed.id, listed.started_at, listed.links, listed.removed) == (FIRST, NOW, 6, 2)

    # Who restores a link after that wants it.
    await service.commands.restore(ONE, ["kept"])
    step = await service.imports.undo(ONE, FIRST, None)
    assert (step.removed, step.links) == (2, [])
    assert (await stored_links(store))["kept"].removed_at is None
    # A row keeps its result, and its link stays removed.
    assert verdicts((await service.imports.run(ONE, FIRST, rows)).results)[0] is V.NEW
    assert (await stored_links(store))["blocked"].removed_at is not None


async def test_an_undo_takes_steps(store: LinkStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_BATCH", 3)
    service = service_of(store)
    rows = [ImportRow(n * 7, f"code{n}", A) for n in range(7)]
    await service.imports.run(ONE, FIRST, rows)
    after, steps = None, []
    while True:
        step = await service.imports.undo(ONE, FIRST, after)
        steps.append((step.removed, step.next_after))
        if (after := step.next_after) is None:
            break
    assert steps == [(3, 14), (6, 35), (7, None)]


async def test_an_unknown_import_of_an_account_cannot_be_undone(store: LinkStore) -> None:
    clock = Clock()
    service = service_of(store, clock)
    await service.imports.run(ONE, FIRST, rows_of(("abcd", A)))
    for account, import_id in ((ONE, SECOND), (TWO, FIRST)):
        with pytest.raises(NoImport):
            await service.imports.undo(account, import_id, None)
    clock.now += IMPORT_RETENTION
    with pytest.raises(NoImport):
        await service.imports.undo(ONE, FIRST, None)
    assert await service.imports.newest(ONE) == []
    assert await service.imports.newest(TWO) == []


async def test_calls_out_of_bounds_are_refused(sqlite_store: LinkStore) -> None:
    imports = service_of(sqlite_store).imports
    many = [ImportRow(n, f"code{n}", A) for n in range(MAX_CHECKED_ROWS + 1)]
    for rows in ([], many):
        with pytest.raises(InvalidImport):
            await imports.check(ONE, rows)
    for import_id, rows in (
        (FIRST, []),
        (FIRST, many[: MAX_IMPORTED_ROWS + 1]),
        (FIRST[:-1], many[:1]),
        (FIRST + "\n", many[:1]),
        ("ñ" * 22, many[:1]),
    ):
        with pytest.raises(InvalidImport):
            await imports.run(ONE, import_id, rows)
    with pytest.raises(InvalidImport):
        await imports.undo(ONE, "short", None)
    with pytest.raises(InvalidOwner):
        Account("")
    assert len(await imports.check(ONE, many[:MAX_CHECKED_ROWS])) == MAX_CHECKED_ROWS


async def test_rows_of_a_day_are_limited(store: LinkStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_ROWS_PER_DAY", 5)
    clock = Clock()
    service = service_of(store, clock)
    rows = rows_of(*((f"code{n}", A) for n in range(6)))
    with pytest.raises(TooManyRows) as refused:
        await service.imports.run(ONE, FIRST, rows)
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    assert refused.value.retry_after == (midnight - NOW).total_seconds()
    assert await stored_links(store) == {}
    await service.imports.run(ONE, FIRST, rows[:3])
    await service.imports.run(ONE, FIRST, rows[:5])
    await service.imports.run(ONE, FIRST, rows[:5])
    with pytest.raises(TooManyRows):
        await service_of(store, clock).imports.run(ONE, SECOND, rows[5:])
    await service.imports.run(TWO, FIRST, rows[:5])
    clock.now = midnight
    await service.imports.run(ONE, FIRST, rows)


async def test_the_total_of_a_list_includes_links_dated_long_ago(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.storage.mongo.counts.MAX_UNCACHED", 1)
    service = service_of(store)
    for start in (0, 3):
        rows = [
            ImportRow(n, f"code{n}", A, created_at=EARLIER + n * DAY)
            for n in range(start, start + 3)
        ]
        await service.imports.run(ONE, FIRST, rows)
        assert await store.lists.count(ONE, LinkFilter(), NOW) == start + 3


async def test_old_imports_are_deleted_in_steps(store: LinkStore) -> None:
    clock = Clock()
    service = service_of(store, clock)
    rows = rows_of(*((f"code{n}", A) for n in range(5)))
    await service.imports.run(ONE, FIRST, rows)
    await service.imports.run(TWO, FIRST, rows[:1])
    clock.now += DAY
    await service.imports.run(ONE, SECOND, rows[:1])
    until, day = NOW, (clock.now - datetime(1970, 1, 1, tzinfo=UTC)).days
    assert not await store.imports.delete_older(until - DAY, day - 2, 2)
    steps = 1
    while await store.imports.delete_older(until, day, 2):
        steps += 1
    assert 3 <= steps <= 6
    assert await rows_left(store, ONE, FIRST) == await rows_left(store, TWO, FIRST) == 0
    assert await rows_left(store, ONE, SECOND) == 1
    assert await store.imports.newest(TWO, NOW - DAY, 10) == []
    assert [one.id for one in await store.imports.newest(ONE, NOW - DAY, 10)] == [SECOND]
    assert await rows_on(store, TWO, day - 1) == 0
    assert await rows_on(store, ONE, day) == 1
    assert len(await stored_links(store)) == 5


async def test_a_step_deletes_imports_in_one_transaction(sqlite_store: LinkStore) -> None:
    service = service_of(sqlite_store)
    for number in range(5):
        await service.imports.run(ONE, f"import-{number:015}", rows_of((f"code{number}", A)))

    def transactions() -> float:
        labels = {"operation": "links_imports_delete", "result": "ok"}
        return REGISTRY.get_sample_value("atajo_store_seconds_count", labels) or 0

    before = transactions()
    assert await sqlite_store.imports.delete_all(ONE, 4), "each import has a row"
    assert transactions() == before + 1
    assert len(await service.imports.newest(ONE)) == 3
    assert not await sqlite_store.imports.delete_all(ONE, 100)
    assert transactions() == before + 2
    assert await service.imports.newest(ONE) == []


async def test_imports_are_removed_with_their_account(store: LinkStore) -> None:
    service = service_of(store)
    rows = rows_of(*((f"code{n}", A) for n in range(5)))
    await service.imports.run(ONE, FIRST, rows)
    await service.imports.run(ONE, SECOND, rows)
    await service.imports.run(TWO, FIRST, rows)
    withdrawn, more = await service.maintenance.remove_account_links(ONE)
    assert withdrawn == 5
    while more:
        _, more = await service.maintenance.remove_account_links(ONE)
    assert await service.imports.newest(ONE) == []
    assert await rows_left(store, ONE, FIRST) == await rows_left(store, ONE, SECOND) == 0
    assert await rows_on(store, ONE, (NOW - datetime(1970, 1, 1, tzinfo=UTC)).days) == 0
    assert await rows_left(store, TWO, FIRST) == 5


async def test_imports_are_listed_newest_first(store: LinkStore) -> None:
    clock = Clock()
    service = service_of(store, clock)
    ids = [f"import-{n:015}" for n in range(5)]
    for number, import_id in enumerate(ids):
        await service.imports.run(ONE, import_id, rows_of((f"code{number}", A)))
        clock.now += timedelta(seconds=1)
    listed = await service.imports.newest(ONE)
    assert [(one.id, one.links, one.removed) for one in listed] == [
        (import_id, 1, 0) for import_id in reversed(ids)
    ]
    assert [one.id for one in await store.imports.newest(ONE, NOW, 2)] == ids[:-3:-1]


async def test_created_codes_are_found_by_index(new_sqlite: NewStore) -> None:
    with new_sqlite() as setting:
        async with shared_sqlite.open_database(setting, STORE_FACTORIES.migrations) as database:
            store = STORE_FACTORIES.on_sqlite(database)
            await service_of(store).imports.run(ONE, FIRST, rows_of(("code", A)))

            def work(connection: sqlite3.Connection) -> list[str]:
                statements: list[str] = []
                connection.set_trace_callback(statements.append)
                repository = ImportRepository(SqliteSession(connection))
                assert repository.created_codes(ONE, FIRST, ["code"]) == {"code"}
                connection.set_trace_callback(None)
                (statement,) = statements
                plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                return [step[-1] for step in plan]

            (step,) = await database.write("test", work)
    assert "USING INDEX import_rows_by_code (import=? AND code=?)" in step


async def rows_left(store: LinkStore, account: Account, import_id: str) -> int:
    def work(unit: UnitOfWork) -> int:
        return len(unit.imports.results(account, import_id, range(200)))

    return await store.transactions.run("test", work)


async def rows_on(store: LinkStore, account: Account, day: int) -> int:
    return await store.transactions.run("test", lambda unit: unit.imports.rows_on(account, day))


async def test_calls_of_an_account_are_paced(
    sqlite_store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "MAX_ROWS_PER_SECOND", 100)
    imports = service_of(sqlite_store).imports
    rows = [ImportRow(n, f"code{n}", A) for n in range(20)]
    clock = asyncio.get_running_loop().time

    async def seconds_until(number: int, account: Account) -> float:
        started = clock()
        await imports.run(account, FIRST, [replace(row, number=number) for row in rows[:10]])
        return clock() - started

    first, second, third, other = await asyncio.gather(
        *(seconds_until(number, ONE) for number in range(3)), seconds_until(0, TWO)
    )
    assert first < second < third
    assert second > 0.09
    assert third > 0.19
    assert other < third
