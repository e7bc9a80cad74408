"""A record that cannot be read does not stop loops over many records, on both stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest
from prometheus_client import REGISTRY

from services.links.application import enforcement
from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.imports import Imports
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore
from services.links.application.rescan import Rescanner
from services.links.domain.block import BlockReason
from services.links.domain.edit import LinkChanges
from services.links.domain.imports import ImportRow, Verdict
from services.links.domain.link import Link
from services.links.domain.owner import Account
from services.links.domain.query import LinkOrder
from services.links.domain.report import to_statement
from services.links.domain.resolution import UnreadableLinks
from services.links.domain.url import UrlPolicy
from services.shared import sqlite
from services.shared.errors import Unavailable
from tests.support import link_operations
from tests.support.link_operations import FakeBlocklist, Service

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
ONE = Account("one")
URLS = UrlPolicy("https://atajo.example")
CODES = [f"code{n:04}" for n in range(6)]
DAMAGED = CODES[2]
DAMAGES: list[dict[str, Any]] = [
    {"blocked": "unknown"},
    {"changed_at": "x"},
    {"title": b"x"},
    {"url": b"x"},
    {"created_at": "x"},
]


async def damage(store: LinkStore, table: str, key: str, **values: object) -> None:
    """Overwrite values of the record with a key."""
    database = cast("Any", store.links)._database
    if isinstance(database, sqlite.Database):
        keys = {"blocked_addresses": "address", "import_rows": "number", "former_urls": "number"}
        column = keys.get(table, "code")
        assignments = ", ".join(f"{name} = :{name}" for name in values)

        def write(connection: sqlite3.Connection) -> int:
            return connection.execute(
                f"UPDATE {table} SET {assignments} WHERE {column} = :key", {**values, "key": key}
            ).rowcount

        assert await database.write("test", write) == 1
    else:
        field = {"decisions": "code", "import_rows": "_id.number"}.get(table, "_id")
        changed = await database.write(
            "test", lambda db: db[table].update_one({field: key}, {"$set": values})
        )
        assert changed.matched_count == 1


def unreadable() -> Mapping[str, float]:
    """Return how often records could not be read since the start, by kind."""
    (metric,) = (one for one in REGISTRY.collect() if one.name == "atajo_unreadable_records")
    return {one.labels["record"]: one.value for one in metric.samples}


async def add_links(store: LinkStore) -> None:
    for n, code in enumerate(CODES):
        created_at = NOW - timedelta(days=n)
        await store.links.add(Link(code, f"https://{code}.bad.example/", ONE, created_at))


@pytest.fixture(params=DAMAGES, ids=str)
async def damaged(request: pytest.FixtureRequest, store: LinkStore) -> LinkStore:
    """A store with six links of an account, one of which cannot be read."""
    await add_links(store)
    await damage(store, "links", DAMAGED, **request.param)
    return store


@pytest.fixture
async def blocked(store: LinkStore) -> LinkStore:
    """A store with six links, one of which is blocked for a reason that is unknown."""
    await add_links(store)
    await link_operations.give_scan_code(store, DAMAGED, "SCAN0001", NOW)
    await damage(store, "links", DAMAGED, blocked="unknown")
    return store


async def test_other_links_of_a_lookup_are_resolved(blocked: LinkStore) -> None:
    before = unreadable()["link"]
    for named in (DAMAGED, "SCAN0001"):
        with pytest.raises(UnreadableLinks) as raised:
            await blocked.links.resolve([CODES[0], named, "unknown-"])
        assert set(raised.value.codes) == {named}
        assert [one.code for one in raised.value.found] == [CODES[0]]
    assert unreadable()["link"] == before + 2


async def test_the_change_feed_goes_on(store: LinkStore) -> None:
    await add_links(store)
    service = Service(store, URLS, lambda: NOW)
    cursor = (await service.queries.changes(None)).cursor
    await link_operations.give_scan_code(store, DAMAGED, "SCAN0001", NOW)
    await service.commands.change(ONE, CODES[0], LinkChanges(url="https://b.example/"))
    await damage(store, "links", DAMAGED, blocked="unknown")
    page = await service.queries.changes(cursor)
    assert [one.code for one in page.resolutions] == [CODES[0]]
    assert set(page.gone) == {DAMAGED, "SCAN0001"}, "no gateway goes on with what it cached"


@pytest.mark.parametrize("order", [LinkOrder.NEWEST, LinkOrder.OLDEST, LinkOrder.MOST_VIEWED])
@pytest.mark.parametrize("text", ["", "bad.example"])
async def test_lists_have_all_other_links(damaged: LinkStore, order: LinkOrder, text: str) -> None:
    queries = Service(damaged, URLS, lambda: NOW).queries
    listed: list[str] = []
    cursor, pages = "", 0
    while cursor or not pages:
        page = await queries.query(ONE, text, None, order, 2, cursor)
        listed += (link.code for link in page.links)
        cursor, pages = page.cursor, pages + 1
    assert sorted(listed) == [code for code in CODES if code != DAMAGED]


async def test_a_rescan_reaches_all_other_links(
    damaged: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enforcement, "BATCH_SIZE", 1)
    others = [code for code in CODES if code != DAMAGED]
    hosts = {f"{code}.bad.example" for code in CODES}

    blocklist = FakeBlocklist()
    rescanner = Rescanner(damaged, blocklist, lambda: NOW)

    async def rescan(listed: set[str]) -> list[str]:
        blocklist.lists["one"] = listed
        while await rescanner.step():
            pass
        progress = await damaged.rescan_progress.get()
        assert progress is not None
        assert progress.is_done
        links = await link_operations.newest(damaged, ONE, 100)
        return sorted(link.code for link in links if link.blocked)

    assert await rescan(hosts) == others
    await damage(damaged, "links", DAMAGED, listed="one")
    assert await rescan({f"{CODES[0]}.bad.example"}) == CODES[:1]


async def test_the_block_of_a_host_blocks_all_other_links(damaged: LinkStore) -> None:
    blocklist = CompositeBlocklist(None, damaged.decisions)
    moderation = Moderation(damaged, blocklist, URLS, lambda: NOW)
    await moderation.block_pattern("bad.example", BlockReason.SPAM, "")
    links = await link_operations.newest(damaged, ONE, 100)
    assert len(links) == 5
    assert all(link.blocked for link in links)


async def test_it_is_purged_and_its_code_stays_taken(damaged: LinkStore) -> None:
    maintenance = Service(damaged, URLS, lambda: NOW).maintenance
    assert sorted(await maintenance.account_codes(ONE)) == CODES
    assert await maintenance.withdraw(DAMAGED) == DAMAGED
    assert sorted(await maintenance.purge(CODES)) == CODES
    assert await maintenance.account_codes(ONE) == []
    assert await damaged.hosts.hosts_after("", 10) == [], "nothing of its destination stays"
    for code in CODES:
        assert await damaged.links.add(Link(code, "https://b.example/", ONE, NOW)) is None


async def test_an_import_takes_its_code_for_taken(damaged: LinkStore) -> None:
    imports = Imports(damaged, URLS, lambda: NOW)
    rows = [ImportRow(1, DAMAGED, "https://b.example/"), ImportRow(2, "free0001", "b.example")]
    done = await imports.run(ONE, "import-aaaaaaaaaaaaaaa", rows)
    assert [one.verdict for one in done.results] == [Verdict.TAKEN, Verdict.NEW]


async def test_an_import_with_an_unreadable_row_is_undone(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.imports.MAX_BATCH", 2)
    imports = Imports(store, URLS, lambda: NOW)
    rows = [ImportRow(n, code, "https://b.example/") for n, code in enumerate(CODES[:5])]
    import_id = "import-aaaaaaaaaaaaaaa"
    for start in range(0, 5, 2):
        await imports.run(ONE, import_id, rows[start : start + 2])
    await damage(store, "import_rows", cast("str", 1), verdict="unknown")
    after: int | None = None
    while (step := await imports.undo(ONE, import_id, after)).next_after is not None:
        after = step.next_after
    assert step.removed == 4


async def test_a_call_that_repeats_an_unreadable_row_is_refused(store: LinkStore) -> None:
    imports = Imports(store, URLS, lambda: NOW)
    rows = [ImportRow(n, code, "https://b.example/") for n, code in enumerate(CODES[:3])]
    import_id = "import-aaaaaaaaaaaaaaa"
    await imports.run(ONE, import_id, rows)
    await damage(store, "import_rows", cast("str", 1), verdict="unknown")
    before = unreadable()["import_row"]
    with pytest.raises(Unavailable):
        await imports.run(ONE, import_id, rows)
    assert unreadable()["import_row"] == before + 1
    assert [row.verdict for row in (await imports.run(ONE, import_id, rows[2:])).results] == [
        Verdict.NEW
    ]


async def test_the_latest_decision_that_can_be_read_counts(store: LinkStore) -> None:
    await add_links(store)
    for n, code in enumerate(CODES[:2]):
        now = partial(NOW.__add__, timedelta(days=n))
        moderation = Moderation(store, CompositeBlocklist(None, store.decisions), URLS, now)
        await moderation.block_link(code, BlockReason.SPAM, "")
    await damage(store, "decisions", CODES[1], code=CODES[0], kind="unknown")
    latest = await store.decisions.latest_about_link(CODES[0])
    assert latest is not None
    assert latest.at == NOW


async def test_reports_and_decisions_of_others_are_listed(store: LinkStore) -> None:
    await add_links(store)
    moderation = Moderation(store, CompositeBlocklist(None, store.decisions), URLS, lambda: NOW)
    for code in CODES[:3]:
        said = to_statement("It is bad.", "", NOW)
        await link_operations.report(store, code, BlockReason.SPAM, said, f"id-{code}")
        await moderation.block_pattern(f"{code}.example", BlockReason.SPAM, "")
    await damage(store, "links", CODES[0], blocked="unknown")
    reports, _, total = await moderation.reports("")
    assert [link.code for link, _ in reports] == CODES[1:3]
    assert total == 3

    before = unreadable()
    await damage(store, "blocked_addresses", f"{CODES[0]}.example", reason="unknown")
    patterns = {one.pattern: one.reason for one in await store.decisions.blocked_patterns()}
    assert patterns == {
        f"{CODES[0]}.example": BlockReason.OTHER,
        f"{CODES[1]}.example": BlockReason.SPAM,
        f"{CODES[2]}.example": BlockReason.SPAM,
    }
    assert unreadable()["blocked_pattern"] == before["blocked_pattern"] + 1

    await moderation.block_link(CODES[1], BlockReason.SPAM, "")
    await moderation.block_link(CODES[2], BlockReason.SPAM, "")
    await damage(store, "decisions", CODES[1], kind="unknown")
    decisions = await moderation.decisions(0)
    assert [one.code for one in decisions if one.code] == [CODES[2]]
    assert len(decisions) == 4
    pages = [await store.decisions.page(skip, 2) for skip in (0, 2)]
    assert pages == [decisions[:2], decisions[2:]], "a short page would be the last"


async def test_the_rest_of_a_history_is_shown(store: LinkStore) -> None:
    await add_links(store)
    service = Service(store, URLS, lambda: NOW)
    for url in ("https://b.example/", "https://c.example/"):
        await service.commands.change(ONE, CODES[0], LinkChanges(url=url))
    if isinstance(cast("Any", store.links)._database, sqlite.Database):
        await damage(store, "former_urls", "1", until="x")
    else:
        await damage(store, "links", CODES[0], **{"history.0.until": "x"})
    _, history = await service.queries.get(ONE, CODES[0])
    assert [one.url for one in history] == ["https://b.example/"]
