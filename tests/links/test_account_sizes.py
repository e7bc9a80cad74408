"""An account has a maximum number of links, whichever way they come, on both stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.links.application import account_sizes
from services.links.application.account_sizes import (
    COUNTED_FOR,
    NEARLY_FULL_COUNTED_FOR,
    AccountSizes,
)
from services.links.application.ports import LinkStore
from services.links.domain.code import CodeTaken
from services.links.domain.creations import NewLink
from services.links.domain.edit import LinkChanges
from services.links.domain.imports import ImportRow, RowAllowance, Verdict
from services.links.domain.link import MAX_ACCOUNT_LINKS, AccountFull
from services.links.domain.owner import Account, Guest
from services.links.domain.query import LinkFilter
from services.links.domain.url import UrlPolicy
from services.shared.errors import ResourceExhausted
from tests.support.link_operations import FakeBlocklist, Service

ONE, GUEST = Account("one"), Guest(bytes(32))
URL = "https://a.example/"
URLS = UrlPolicy("https://atajo.example", FakeBlocklist())
IMPORT = "import-aaaaaaaaaaaaaaa"
LIMIT = 5


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_sizes, "MAX_ACCOUNT_LINKS", LIMIT)


async def refuses(call: Awaitable[object]) -> bool:
    """Return whether a call is refused because the account is full."""
    try:
        await call
    except AccountFull as error:
        return (error.reason, error.retry_after) == ("ACCOUNT_FULL", None)
    return False


def rows(*codes: str) -> list[ImportRow]:
    return [ImportRow(number, code, URL) for number, code in enumerate(codes)]


async def test_a_full_account_gets_no_further_link(store: LinkStore, clock: Clock) -> None:
    service = Service(store, URLS, clock)
    new, bulk = NewLink(URL), (ONE, b"key", bytes(32))
    for number in range(2):
        await service.commands.create(f"single{number}", URL, ONE)
    await service.creations.run(*bulk, [new])
    await service.imports.run(ONE, IMPORT, rows("import-1", "import-2"))
    await service.commands.remove(ONE, ["single1"])
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: service.commands.create("single2", URL, ONE),
        lambda: service.creations.run(ONE, b"other", bytes(32), [new]),
        lambda: service.imports.run(ONE, IMPORT, rows("import-1", "import-2", "import-3")),
    ]
    assert [await refuses(call()) for call in calls] == [True] * 3
    await service.commands.create("guests--", URL, GUEST)
    assert await refuses(service.commands.claim(GUEST, ONE))
    # What was done before succeeds again.
    await service.commands.create("single0", URL, ONE)
    assert not (await service.creations.run(*bulk, [new])).is_new
    again = await service.imports.run(ONE, IMPORT, rows("import-1", "import-2"))
    assert [result.verdict for result in again.results] == [Verdict.NEW] * 2
    await service.commands.restore(ONE, ["single1"])
    # Others are not affected.
    await service.commands.create("others--", URL, Account("two"))


async def test_a_claim_fills_an_account(store: LinkStore, clock: Clock) -> None:
    service = Service(store, URLS, clock)
    for number in range(LIMIT + 1):
        await service.commands.create(f"guests-{number}", URL, GUEST)
    assert await service.commands.claim(GUEST, ONE) == (LIMIT, True)
    assert await refuses(service.commands.claim(GUEST, ONE))
    assert await service.commands.claim(Guest(b"o" * 32), ONE) == (0, False)


async def test_links_of_other_replicas_are_counted_after_some_time(
    store: LinkStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_sizes, "MAX_BATCH", 1)
    one, two = (Service(store, URLS, clock) for _ in range(2))
    await one.commands.create("first---", URL, ONE)
    await two.imports.run(ONE, IMPORT, rows("import-1", "import-2", "import-3", "import-4"))
    await one.commands.create("over----", URL, ONE)
    clock.now += COUNTED_FOR
    assert await refuses(one.commands.create("over---2", URL, ONE))
    clock.now += timedelta(days=31)
    await two.commands.remove(ONE, ["first---", "over----"])
    assert await refuses(one.commands.create("over---2", URL, ONE)), "they can be restored"
    clock.now += timedelta(days=31)
    assert timedelta(days=31) > NEARLY_FULL_COUNTED_FOR
    await one.commands.create("over---2", URL, ONE)


async def test_an_import_stores_no_more_new_rows_than_its_client_may(
    store: LinkStore, clock: Clock
) -> None:
    service = Service(store, URLS, clock)
    known, more = rows("abcd", "import-1"), rows("abcd", "import-1", "efgh")
    stored = await service.imports.run(ONE, IMPORT, known, RowAllowance(rows=2, short_codes=1))
    assert stored.stored_rows == 2
    again = await service.imports.run(ONE, IMPORT, known, RowAllowance(rows=0, short_codes=0))
    assert again.stored_rows == 0
    for allowance in (RowAllowance(rows=0), RowAllowance(short_codes=0)):
        with pytest.raises(ResourceExhausted) as refused:
            await service.imports.run(ONE, IMPORT, more, allowance)
        assert refused.value.reason == "CLIENT_LIMIT"
    last = await service.imports.run(ONE, IMPORT, more, RowAllowance(rows=1, short_codes=1))
    assert last.stored_rows == 1


async def test_concurrent_calls_do_not_exceed_the_limit(store: LinkStore, clock: Clock) -> None:
    service = Service(store, URLS, clock)
    for number in range(LIMIT + 1):
        await service.commands.create(f"guests-{number}", URL, GUEST)
    new = [NewLink(URL)] * 2
    calls: list[Awaitable[object]] = [
        *(service.creations.run(ONE, f"key{call}".encode(), bytes(32), new) for call in range(3)),
        service.imports.run(ONE, IMPORT, rows("import-1", "import-2")),
        service.commands.claim(GUEST, ONE),
        service.commands.create_all([(f"single{number}", URL, ONE, "") for number in range(LIMIT)]),
    ]
    await asyncio.gather(*calls, return_exceptions=True)
    assert await store.lists.count(ONE, LinkFilter(), clock.now) == LIMIT


async def test_what_is_not_stored_takes_no_room(store: LinkStore, clock: Clock) -> None:
    service = Service(store, URLS, clock)
    await service.commands.create("others--", URL, Account("two"))
    for number in range(LIMIT - 1):
        await service.commands.create(f"single{number}", URL, ONE)
    clock.now += timedelta(seconds=1)
    for _ in range(LIMIT):
        await service.commands.create("single0", URL, ONE)
        with pytest.raises(CodeTaken):
            await service.commands.create("others--", URL, ONE)
    await service.commands.create("last----", URL, ONE)
    assert await refuses(service.commands.create("over----", URL, ONE))


async def test_a_count_contains_what_is_stored_meanwhile(
    store: LinkStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_sizes, "MAX_BATCH", 1)
    accounts = AccountSizes(store, clock)
    counted, go_on = asyncio.Event(), asyncio.Event()
    count_all = store.lists.count_all

    async def slow(*arguments: Any) -> int:
        links = await count_all(*arguments)
        counted.set()
        await go_on.wait()
        return links

    async with accounts.reserve(ONE, LIMIT) as earlier:
        clock.now += COUNTED_FOR
        monkeypatch.setattr(store.lists, "count_all", slow)
        later = accounts.reserve(ONE, LIMIT)
        entering = asyncio.create_task(later.__aenter__())
        await counted.wait()
        earlier.stored = 2
    go_on.set()
    assert (await entering).links == LIMIT - 2
    await later.__aexit__(None, None, None)


async def test_all_links_of_an_account_are_counted(store: LinkStore, clock: Clock) -> None:
    service = Service(store, URLS, clock)
    assert await store.lists.count_all(ONE, clock.now) == 0
    for code in ("kept----", "removed-", "expired-", "purgable"):
        await service.commands.create(code, URL, ONE)
    await service.commands.create("others--", URL, Account("two"))
    await service.commands.remove(ONE, ["purgable"])
    clock.now += timedelta(days=31)
    await service.commands.remove(ONE, ["removed-"])
    expiry = LinkChanges(expires_at=clock.now + timedelta(minutes=1))
    await service.commands.change(ONE, "expired-", expiry)
    clock.now += timedelta(days=1)
    assert await store.lists.count_all(ONE, clock.now) == 4


async def test_concurrent_calls_count_once(
    store: LinkStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_sizes, "MAX_ACCOUNT_LINKS", MAX_ACCOUNT_LINKS)
    service = Service(store, URLS, clock)
    counts = 0
    count_all = store.lists.count_all

    async def counting(*arguments: Any) -> int:
        nonlocal counts
        counts += 1
        return await count_all(*arguments)

    monkeypatch.setattr(store.lists, "count_all", counting)
    await service.commands.create_all([(f"single{number}", URL, ONE, "") for number in range(20)])
    await service.commands.create("single99", URL, ONE)
    assert counts == 1


def test_an_account_has_a_million_links_at_most() -> None:
    assert MAX_ACCOUNT_LINKS == 1_000_000
