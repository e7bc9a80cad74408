"""Files of an older schema are brought up to date with all they hold; newer ones are refused."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deploy.local import child
from services.analytics import store_sqlite as analytics
from services.analytics.domain import Batch, Day, Dimension, Totals, VisitCount, VisitKind
from services.analytics.sums_sqlite import pack_counts
from services.auth import store_sqlite as auth
from services.auth.domain import Account
from services.links import domain as owners
from services.links import schema_sqlite as links_schema
from services.links import store_sqlite as links
from services.links.domain import Link
from services.links.edits import LinkChanges, removal
from services.links.listing import LinkOrder, Wanted
from services.links.urls import UrlPolicy
from services.runtime import sqlite
from services.runtime.feed import Told

CREATED = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MICROS = 1_772_368_215_123_456
# As files were made that are in use, told without what makes them today.
FIRST_FILES = {
    "links": (
        2,
        f"""
        CREATE TABLE links (code TEXT PRIMARY KEY, url TEXT NOT NULL, creator TEXT,
            created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX links_of_creator ON links (creator, created_at, code)
            WHERE creator IS NOT NULL;
        CREATE TABLE removed_codes (code TEXT PRIMARY KEY) WITHOUT ROWID;
        INSERT INTO links VALUES ('abcdefgh', 'http://a.example', 'one', {MICROS});
        INSERT INTO removed_codes VALUES ('removed1');
        """,
    ),
    "auth": (
        2,
        f"""
        CREATE TABLE accounts (id TEXT PRIMARY KEY, email TEXT NOT NULL,
            email_key TEXT NOT NULL UNIQUE, username TEXT NOT NULL, password_hash TEXT NOT NULL,
            salt TEXT NOT NULL, created_at INTEGER NOT NULL,
            closed INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        CREATE TABLE attempts (key TEXT PRIMARY KEY, count INTEGER NOT NULL,
            window_ends INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX attempts_by_end ON attempts (window_ends);
        INSERT INTO accounts VALUES ('id', 'A@b', 'a@b', 'Ana', 'hash', 'salt', {MICROS}, 0),
            ('closed', 'B@b', 'b@b', 'Bea', 'hash', 'salt', {MICROS}, 1);
        """,
    ),
    "analytics": (
        1,
        """
        CREATE TABLE gateways (id TEXT PRIMARY KEY, last_batch INTEGER NOT NULL,
            seen_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE totals (code TEXT PRIMARY KEY, people INTEGER NOT NULL,
            bots INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE hours (day INTEGER NOT NULL, code TEXT NOT NULL, hour INTEGER NOT NULL,
            people INTEGER NOT NULL, bots INTEGER NOT NULL,
            PRIMARY KEY (day, code, hour)) WITHOUT ROWID;
        CREATE TABLE referrers (day INTEGER NOT NULL, code TEXT NOT NULL, host TEXT NOT NULL,
            people INTEGER NOT NULL, PRIMARY KEY (day, code, host)) WITHOUT ROWID;
        INSERT INTO gateways VALUES ('one', 3, 1772368215);
        INSERT INTO totals VALUES ('abcdefgh', 7, 2);
        INSERT INTO hours VALUES (20513, 'abcdefgh', 7, 4, 0), (20513, 'abcdefgh', 23, 1, 2),
            (20513, 'other---', 0, 0, 1), (20514, 'abcdefgh', 0, 2, 0);
        INSERT INTO referrers VALUES (20513, 'abcdefgh', 'a.example', 3),
            (20513, 'abcdefgh', '*', 1), (20514, 'abcdefgh', 'b.example', 2);
        """,
    ),
}
MIGRATIONS = {
    "analytics": analytics.MIGRATIONS,
    "auth": auth.MIGRATIONS,
    "links": links_schema.MIGRATIONS,
}


def make(path: Path, version: int, migrations: Sequence[sqlite.Migration], *rows: str) -> None:
    """A file as the program of that schema version left it."""
    connection = sqlite3.connect(path)
    for migration in migrations[:version]:
        if isinstance(migration, str):
            connection.executescript(migration)
        else:
            migration(connection)
    for row in rows:
        connection.execute(row)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    assert isinstance(version, int)
    return version


async def test_links_of_version_1_are_kept_and_can_be_purged(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    row = f"INSERT INTO links VALUES ('abcdefgh', 'http://a.example', 'one', {MICROS})"
    make(path, 1, links_schema.MIGRATIONS, row)

    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", owners.Account("one"), CREATED)
        assert [page async for page in store.by_owner(owners.Account("one"), 10)] == [[kept]]
        assert await store.purge(["abcdefgh"], CREATED) == ["abcdefgh"]
        assert await store.add(kept) is None
    assert version_of(path) == len(links_schema.MIGRATIONS) > 1


async def test_links_of_version_3_are_kept_counted_and_found(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    guest = owners.Guest(bytes(range(32)))
    rows = [
        ("abcdefgh", "http://a.example/A", "one", MICROS),
        ("notascii", "http://b.example/#ÑANDÚ", "one", MICROS + 1),
        ("guests--", "http://c.example", guest.key_hash, MICROS + 2),
        ("nobodys-", "http://d.example", None, MICROS + 3),
    ]
    make(
        path,
        3,
        links_schema.MIGRATIONS,
        "INSERT INTO removed_codes VALUES ('removed1')",
        f"INSERT INTO announcements VALUES (7, 'removed1', {MICROS})",
    )
    with sqlite3.connect(path) as connection:
        connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?)", rows)
    connection.close()

    one, everything = owners.Account("one"), Wanted()
    owners_of_rows: tuple[owners.Owner, ...] = (one, one, guest, owners.NOBODY)
    kept = [
        Link(code, url, owner, CREATED + timedelta(microseconds=n))
        for n, ((code, url, *_), owner) in enumerate(zip(rows, owners_of_rows, strict=True))
    ]
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        assert [await store.find(link.code) for link in kept] == kept
        assert [page async for page in store.by_owner(one, 10)] == [[kept[1], kept[0]]]
        assert await store.announcements(6) == Told(7, ("removed1",))
        assert await store.add(replace(kept[0], code="removed1")) is None
        for owner, text, codes in (
            (one, "", ["abcdefgh", "notascii"]),
            (one, "/a", ["abcdefgh"]),
            (one, "ñandú", ["notascii"]),
            (guest, "", ["guests--"]),
            (guest, "ñ", []),
        ):
            wanted = Wanted(text)
            page = await store.page(owner, wanted, LinkOrder.OLDEST, None, 10, CREATED)
            assert [link.code for link in page] == codes
            assert await store.count(owner, wanted, CREATED) == len(codes)
        assert await store.claim(guest, one, 10) == 1
        assert await store.count(one, everything, CREATED) == 3
        assert await store.edit(one, ["notascii"], removal(CREATED), CREATED)
        assert await store.count(one, everything, CREATED) == 2
        assert await store.codes_after("", 10) == ["abcdefgh", "guests--", "notascii"]


async def test_hosts_of_links_of_version_4_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    rows = [
        "INSERT INTO links (creator, created_at, code, url, ended_url) "
        f"VALUES ('one', {MICROS}, 'code000{n}', 'http://{host}.example/', '{ended}')"
        for n, (host, ended) in enumerate((("a", ""), ("b", "http://c.example"), ("a", "")))
    ]
    make(path, 4, links_schema.MIGRATIONS, *rows)
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        await store.add(Link("after001", "http://b.example/", owners.NOBODY, CREATED))
        code: str | None = ""
        while code is not None:
            code = await store.note_hosts(code, 2)
        assert await store.hosts_after("", 10) == ["a.example", "b.example", "c.example"]
        at_b = await store.at_host("b.example", "", 10)
        assert [link.code for link in at_b] == ["after001", "code0001"]


async def test_hosts_of_version_8_are_turned_round(tmp_path: Path) -> None:
    path = tmp_path / "links.sqlite3"
    hosts = ("evil.example", "a.evil.example", "notevil.example", "z.example", "1.2.3.4", "::1")
    rows = []
    for n, host in enumerate(hosts):
        url = "http://[::1]/" if host == "::1" else f"http://{host}/"
        rows += [
            "INSERT INTO links (creator, created_at, code, url) "
            f"VALUES ('one', {MICROS}, 'code000{n}', '{url}')",
            f"INSERT INTO hosts VALUES ('{host}', 'code000{n}')",
        ]
    rows.append("INSERT INTO sweep VALUES (1, 'lists', 1, 'blocking', 'm.example')")
    make(path, 8, links_schema.MIGRATIONS, *rows)
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        assert sorted(await store.hosts_after("", 10)) == sorted(hosts)
        found, _ = await store.at_or_below("evil.example", None, 10)
        assert {link.code for link in found} == {"code0000", "code0001"}
        assert [link.code for link in await store.at_host("1.2.3.4", "", 10)] == ["code0004"]
        assert await store.sweep() is None, "its place was one in another order"
        await store.purge(["code0000", "code0001"], CREATED)
        assert await store.at_or_below("evil.example", None, 10) == ([], None)


async def test_views_of_version_9_still_order_links(tmp_path: Path) -> None:
    path, one = tmp_path / "links.sqlite3", owners.Account("one")
    rows = [
        "INSERT INTO links (creator, created_at, code, url, people) "
        f"VALUES ('one', {MICROS}, 'code000{n}', 'http://a.example', {people})"
        for n, people in enumerate((3, 0, 7))
    ]
    make(path, 9, links_schema.MIGRATIONS, *rows)
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        order = ["code0002", "code0000", "code0001"]
        assert await store.ranking(one, Wanted(), CREATED) == order
        await store.rank({"code0001": 5, "code0002": 6}, None)
        order = ["code0002", "code0001", "code0000"]
        assert await store.ranking(one, Wanted(), CREATED) == order


async def test_links_of_version_5_have_no_scan_code_and_can_be_given_one(tmp_path: Path) -> None:
    path, one = tmp_path / "links.sqlite3", owners.Account("one")
    row = (
        "INSERT INTO links (creator, created_at, code, url) "
        f"VALUES ('one', {MICROS}, 'abcdefgh', 'http://a.example')"
    )
    make(path, 5, links_schema.MIGRATIONS, row)
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", one, CREATED)
        assert await store.find("abcdefgh") == kept
        drawn = iter(["SCAN0001"])
        assert await store.give_scan_code(one, "abcdefgh", drawn, CREATED) == "SCAN0001"
        assert await store.find("SCAN0001") == replace(kept, scan_code="SCAN0001")


async def test_nothing_is_kept_of_an_owner_without_links(tmp_path: Path) -> None:
    path, guest = tmp_path / "links.sqlite3", owners.Guest(bytes(range(32)))
    one = owners.Account("one")
    async with sqlite.opened(f"sqlite:///{path}", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        for owner, code in ((one, "abcdefgh"), (one, "removed-"), (guest, "guests--")):
            await store.add(Link(code, "http://a.example", owner, CREATED))
            await store.keep_ranking(owner, "key", [code], CREATED)
            await store.rank({code: 1}, None)
        changes = LinkChanges(url="b.example", title="t", tags=("a",))
        edit = changes.edit(UrlPolicy("https://atajo.example"), CREATED)
        assert await store.edit(one, ["abcdefgh", "removed-"], edit, CREATED)
        assert await store.edit(one, ["removed-"], removal(CREATED), CREATED)
        assert await store.claim(guest, one, 10) == 1
        assert await store.kept_ranking(one, "key", 0, 1, CREATED)
        with sqlite3.connect(path) as connection:
            assert (guest.key_hash,) not in {*connection.execute("SELECT creator FROM owners")}
            assert (guest.key_hash,) not in {*connection.execute("SELECT creator FROM rankings")}
        connection.close()
        await store.purge(["abcdefgh", "removed-", "guests--"], CREATED)

    with sqlite3.connect(path) as connection:
        for table in ("links", "owners", "former_urls", "rankings", "views"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        codes = connection.execute("SELECT code FROM removed_codes").fetchall()
    connection.close()
    assert codes == [("abcdefgh",), ("guests--",), ("removed-",)]


async def test_accounts_of_version_1_are_kept_and_open(tmp_path: Path) -> None:
    path = tmp_path / "auth.sqlite3"
    row = f"INSERT INTO accounts VALUES ('id', 'A@b', 'a@b', 'Ana', 'hash', 'salt', {MICROS})"
    make(path, 1, auth.MIGRATIONS, row)

    async with sqlite.opened(f"sqlite:///{path}", auth.MIGRATIONS) as database:
        store = auth.SqliteAccountStore(database)
        kept = Account("id", "A@b", "a@b", "Ana", "hash", "salt", CREATED)
        assert await store.by_email("a@b") == kept
        assert await store.session("id") == 0
        assert await store.close("a@b") == "id"
        assert await store.closed(10) == ["id"]
    assert version_of(path) == len(auth.MIGRATIONS) > 1


async def test_the_first_files_in_use_are_kept_with_all_they_hold(tmp_path: Path) -> None:
    for name, (version, script) in FIRST_FILES.items():
        connection = sqlite3.connect(tmp_path / name)
        connection.executescript(f"{script}; PRAGMA user_version = {version}")
        connection.close()

    async with sqlite.opened(f"sqlite:///{tmp_path}/links", links_schema.MIGRATIONS) as database:
        store = links.SqliteLinkStore(database)
        kept = Link("abcdefgh", "http://a.example", owners.Account("one"), CREATED)
        assert [page async for page in store.by_owner(owners.Account("one"), 10)] == [[kept]]
        assert await store.add(replace(kept, code="removed1")) is None
        assert await store.announcements(None) == Told(0)
        assert await store.purge(["removed1"], CREATED) == ["removed1"]
        assert await store.announcements(0) == Told(1, ("removed1",))
        await database.check()
    async with sqlite.opened(f"sqlite:///{tmp_path}/auth", auth.MIGRATIONS) as database:
        accounts = auth.SqliteAccountStore(database)
        account = Account("id", "A@b", "a@b", "Ana", "hash", "salt", CREATED)
        assert await accounts.by_email("a@b") == account
        assert await accounts.closed(10) == ["closed"]
        assert await accounts.session("id") == 0
        assert await accounts.change_password(account, "other hash", "other salt")
        assert await accounts.session("id") == 1
        await database.check()
    async with sqlite.opened(f"sqlite:///{tmp_path}/analytics", analytics.MIGRATIONS) as database:
        counts = analytics.SqliteAnalyticsStore(database)
        assert await counts.totals(["abcdefgh"]) == {"abcdefgh": Totals(7, 2)}
        await database.check()
        await counts_of_the_first_files_go_on(counts)
    for name in FIRST_FILES:
        assert version_of(tmp_path / name) == len(MIGRATIONS[name])


async def counts_of_the_first_files_go_on(store: analytics.SqliteAnalyticsStore) -> None:
    """Days, hours, referrers and the numbers of batches."""

    async def days(code: str) -> list[Day]:
        found: list[Day] = []
        await store.days([code], today, today + 1, lambda _, day: found.append(day))
        return sorted(found, key=lambda day: day.day)

    today, referrer = 20_513, Dimension.REFERRER
    tomorrow = Day(today + 1, {0: 2}, {}, {referrer: {"b.example": 2}}, 0)
    kept = Day(today, {7: 4, 23: 1}, {23: 2}, {referrer: {"a.example": 3, "*": 1}}, 0)
    assert await days("abcdefgh") == [kept, tomorrow]
    assert await days("other---") == [Day(today, {}, {0: 1}, {}, 0)]
    assert await store.first_day(["abcdefgh"]) == today
    assert await store.counted_from() == today + 2, "the day after the last that is there"

    names = {referrer: "a.example", Dimension.BROWSER: "Firefox"}
    more = VisitCount("abcdefgh", today * 24 + 7, VisitKind.PERSON, names, 1)
    came = {(today, "abcdefgh"): frozenset({1 << 20, 2 << 20})}
    assert not await store.apply(Batch("one", 3, (more,), came), CREATED)
    assert await store.apply(Batch("one", 4, (more,), came), CREATED)
    assert await store.totals(["abcdefgh"]) == {"abcdefgh": Totals(8, 2)}
    by_name = {referrer: {"a.example": 4, "*": 1}, Dimension.BROWSER: {"Firefox": 1}}
    went_on = Day(today, {7: 5, 23: 1}, {23: 2}, by_name, 2)
    assert await days("abcdefgh") == [went_on, tomorrow]
    while await store.sum_up(today + 100):
        pass
    assert await days("abcdefgh") == [went_on, tomorrow]
    await store.remove(["abcdefgh"])
    assert await days("abcdefgh") == []


async def test_days_of_version_3_are_found_by_their_links_again(tmp_path: Path) -> None:
    path, today = tmp_path / "analytics.sqlite3", int(time.time()) // 86_400
    make(path, 3, analytics.MIGRATIONS)
    visited = {
        "busy----": range(today - 100, today + 1),
        "seldom--": range(today, today + 900, 300),
    }
    with sqlite3.connect(path) as connection:
        for code, days in visited.items():
            connection.execute("INSERT INTO totals VALUES (?, ?, 0)", (code, len(days)))
            for day in days:
                counts = pack_counts(({7: 1}, {}, {Dimension.REFERRER.value: {"a": 1}}))
                connection.execute("INSERT INTO days VALUES (?, ?, ?)", (day, code, counts))
    connection.close()

    async with sqlite.opened(f"sqlite:///{path}", analytics.MIGRATIONS) as database:
        store = analytics.SqliteAnalyticsStore(database)
        assert await store.counted_from() == today + 1, "a gateway's clock may be ahead"
        assert await store.first_day(list(visited)) == today - 100
        for _ in range(2):
            found: list[tuple[str, int]] = []
            hosts: Counter[str] = Counter()

            def take(code: str, day: Day, found: Any = found, hosts: Any = hosts) -> None:
                found.append((code, day.day))
                hosts.update(day.breakdowns.get(Dimension.REFERRER, {}))

            await store.days(list(visited), 0, today + 1000, take)  # By day, whatever is summed.
            assert sorted(found) == [(code, day) for code in visited for day in visited[code]]
            assert hosts == {"a": 104}
            while await store.sum_up(today):
                pass
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM months").fetchone()[0] >= 2
    connection.close()


async def test_a_migration_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "analytics.sqlite3"
    make(path, 1, analytics.MIGRATIONS, "INSERT INTO hours VALUES (20513, 'abcdefgh', 7, 4, 0)")

    def break_off(connection: sqlite3.Connection) -> None:
        upgrade = analytics.MIGRATIONS[1]
        assert not isinstance(upgrade, str)
        upgrade(connection)
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(SystemExit):
        async with sqlite.opened(f"sqlite:///{path}", (analytics.MIGRATIONS[0], break_off)):
            pass
    assert version_of(path) == 1

    async with sqlite.opened(f"sqlite:///{path}", analytics.MIGRATIONS) as database:
        found: list[Day] = []
        store = analytics.SqliteAnalyticsStore(database)
        await store.days(["abcdefgh"], 20_513, 20_513, lambda _, day: found.append(day))
        assert [day.people for day in found] == [{7: 4}]


@pytest.mark.parametrize("name", MIGRATIONS)
async def test_opening_again_changes_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    for _ in range(2):
        async with sqlite.opened(f"sqlite:///{path}", MIGRATIONS[name]):
            pass
    assert version_of(path) == len(MIGRATIONS[name])


@pytest.mark.parametrize("name", MIGRATIONS)
async def test_a_newer_file_is_refused_in_one_line_and_left_alone(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "store.sqlite3"
    newer = len(MIGRATIONS[name]) + 1
    make(path, newer, MIGRATIONS[name])

    with pytest.raises(SystemExit) as refused:
        async with sqlite.opened(f"sqlite:///{path}", MIGRATIONS[name]):
            pass

    line = str(refused.value)
    assert f"schema version {newer}; this program knows up to {newer - 1}." in line
    assert "\n" not in line
    assert version_of(path) == newer


async def test_whoever_waits_for_the_process_is_told_that_an_old_file_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "old", 1, links_schema.MIGRATIONS)
    told, tell = os.pipe()
    monkeypatch.setenv("ATAJO_READY_FD", str(tell))
    for name in ("new", "old", "old"):
        async with sqlite.opened(f"sqlite:///{tmp_path}/{name}", links_schema.MIGRATIONS):
            pass
    os.close(tell)
    with os.fdopen(told) as lines:
        assert [json.loads(line) for line in lines] == [{"upgrading": f"{tmp_path}/old"}]


async def test_a_process_that_upgrades_its_store_may_take_longer_to_serve(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(child, "_PATIENCE", 0.1)
    process = await asyncio.create_subprocess_exec("sleep", "60")
    told, tell = os.pipe()
    started = child.Child("links", process, told)
    os.write(tell, b'{"upgrading": "its store"}\n')
    serving = asyncio.create_task(started.serving())
    assert await asyncio.wait([serving], timeout=1) == (set(), {serving})
    os.write(tell, b'{"grpc": "127.0.0.1:1"}\n')
    await serving
    assert started.addresses == {"grpc": "127.0.0.1:1"}
    assert capfd.readouterr().err == "links upgrades its store first.\n"
    os.close(tell)
    process.kill()
    await started.ended
