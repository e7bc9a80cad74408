"""Creations with an idempotency key: outcomes, repetition, conflicts, deletion, on both stores."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from services.links.__main__ import STORE_FACTORIES
from services.links.application import creations as application
from services.links.application.creations import Created, Creations
from services.links.application.maintenance import Maintenance
from services.links.application.ports import LinkStore, Transactions, UnitOfWork
from services.links.application.records.creations import creation_key
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.code import (
    CodeReserved,
    CodeTaken,
    InvalidCode,
    NoFreeCode,
    random_codes,
)
from services.links.domain.creations import (
    CREATION_RETENTION,
    MAX_CREATED_LINKS,
    Creation,
    CreationInProgress,
    IdempotencyMismatch,
    InvalidIdempotencyKey,
    NewLink,
    Outcome,
    settle,
)
from services.links.domain.edit import InvalidExpiry, LinkChanges
from services.links.domain.imports import ImportRow, Verdict
from services.links.domain.link import Link, TooManyCodes
from services.links.domain.owner import Account, Guest, Owner
from services.links.domain.query import LinkFilter
from services.links.domain.text import InvalidTags, InvalidTitle
from services.links.domain.url import InvalidEndedUrl, InvalidUrl, UrlPolicy, UrlRefused
from services.links.metrics import REFUSED
from services.links.storage.sqlite.reports import SqliteReportReader
from services.shared.errors import AlreadyExists, AppError, InvalidArgument, Unavailable
from services.shared.link_codes import is_code, is_reserved
from tests.support import link_operations
from tests.support.link_operations import FakeBlocklist, Service
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.store_fixtures import NewStore, add_all, open_stores_at

T = TypeVar("T")

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(32))
URLS = UrlPolicy("https://atajo.example", FakeBlocklist(phishing={"evil.example"}))
KEY, OTHER_KEY = b"first-key", b"second-key"
BODY, OTHER_BODY = b"\1" * 32, b"\2" * 32
"""Fingerprints."""
A, B = "https://a.example/", "https://b.example/"
IMPORT = "import-aaaaaaaaaaaaaaa"


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def service_of(store: LinkStore, now: Callable[[], datetime] = lambda: NOW) -> Service:
    return Service(store, URLS, now)


async def create(
    store: LinkStore,
    *links: NewLink | InvalidArgument,
    account: Account = ONE,
    key: bytes = KEY,
    body: bytes = BODY,
    now: Callable[[], datetime] = lambda: NOW,
) -> Created:
    """Create links as a process does that has just started."""
    return await service_of(store, now).creations.run(account, key, body, links)


def shown(outcomes: Sequence[Outcome]) -> list[Link | tuple[bool, str, str]]:
    """Return outcomes in a form that can be compared."""
    return [
        one if isinstance(one, Link) else (isinstance(one, AlreadyExists), one.reason, one.message)
        for one in outcomes
    ]


def reasons(created: Created) -> list[str]:
    """Return the reason of each outcome; empty for a link."""
    return [one.reason if isinstance(one, AppError) else "" for one in created.record.outcomes]


async def stored_links(store: LinkStore, owner: Account = ONE) -> dict[str, Link]:
    return {link.code: link for link in await link_operations.newest(store, owner, 1000)}


async def record_of(store: LinkStore, key: bytes = KEY, account: Account = ONE) -> Creation | None:
    def work(unit: UnitOfWork) -> Creation | None:
        return unit.creations.find(account, key)

    return await store.transactions.run("test", work)


@asynccontextmanager
async def two_replicas(new_store: NewStore) -> AsyncIterator[tuple[LinkStore, LinkStore]]:
    """Open a new store twice, as two processes do."""
    with new_store() as setting:
        async with (
            open_stores_at(setting, "links", STORE_FACTORIES) as one,
            open_stores_at(setting, "links", STORE_FACTORIES) as other,
        ):
            yield one, other


# Domain.


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        (NewLink(A, ""), InvalidCode),
        (NewLink(A, "abc"), InvalidCode),
        (NewLink(A, "a" * 33), InvalidCode),
        (NewLink(A, "a/b-c"), InvalidCode),
        (NewLink(A, "abcd\n"), InvalidCode),
        (NewLink(A, "Login"), CodeReserved),
        (NewLink("", "Login"), CodeReserved),
        (NewLink(""), InvalidUrl),
        (NewLink("mailto:ana@b.example"), InvalidUrl),
        (NewLink("a.example/" + "a" * 990), InvalidUrl),
        (NewLink("atajo.example/abcdefgh"), InvalidUrl),
        (NewLink("https://evil.example/a"), UrlRefused),
        (NewLink(A, values={"title": "x" * 101}), InvalidTitle),
        (NewLink(A, values={"tags": ("",)}), InvalidTags),
        (NewLink(A, values={"tags": [f"tag{n}" for n in range(11)]}), InvalidTags),
        (NewLink(A, values={"ended_url": "mailto:ana@b.example"}), InvalidEndedUrl),
        (NewLink(A, values={"ended_url": "evil.example"}), UrlRefused),
    ],
)
def test_a_faulty_link_is_refused(link: NewLink, fault: type[AppError]) -> None:
    with pytest.raises(fault):
        link.draft(ONE, URLS, NOW)


def test_a_link_is_stored_by_the_rules_of_its_changes() -> None:
    expiry = NOW + timedelta(days=1)
    values = {
        "title": " Título ",
        "tags": ("b", "a", "b"),
        "expires_at": expiry,
        "ended_url": "b.example",
    }
    given = NewLink(" a.example/ñ ", "AbCd", values)
    assert given.draft(ONE, URLS, NOW) == Link(
        code="AbCd",
        url="http://a.example/ñ",
        owner=ONE,
        created_at=NOW,
        title="Título",
        tags=("b", "a"),
        expires_at=expiry.replace(microsecond=0),
        ended_url="http://b.example",
    )
    assert NewLink(A, "a" * 32).draft(ONE, URLS, NOW) == Link("a" * 32, A, ONE, NOW)


def test_each_draft_takes_its_code_from_later_ones() -> None:
    fault = InvalidUrl("This is not a URL.")
    codes = ["mine", "free", "", "free", "mine", "", "FREE"]
    drafts: list[Outcome] = [fault, *(Link(code, A, ONE, NOW) for code in codes)]
    outcomes = settle(drafts, {"mine"}, ["random01", "random02"])
    assert outcomes[0] is fault
    assert [one.code if isinstance(one, Link) else one.reason for one in outcomes[1:]] == [
        *("CODE_TAKEN", "free", "random01", "CODE_TAKEN", "CODE_TAKEN", "random02", "FREE")
    ]


def test_random_codes_are_codes_of_eight_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [code for code, _ in zip(random_codes(), range(2000), strict=False)]
    assert len(set(codes)) == len(codes)
    assert all(is_code(code) and len(code) == 8 for code in codes)
    assert len(set("".join(codes))) == 64
    letters = iter("registerRegister-ABCDEF_")
    monkeypatch.setattr("secrets.choice", lambda _: next(letters))
    assert is_reserved("register")
    assert next(random_codes()) == "-ABCDEF_"


def test_keys_of_accounts_do_not_collide() -> None:
    keys = {creation_key(Account(account), key) for account, key in (("ab", b"c"), ("b", b"ca"))}
    keys |= {creation_key(Account("a"), b"bc"), creation_key(Account("a"), b"bc\0")}
    assert len(keys) == 4


# Both stores.


async def test_links_are_created_with_all_fields(store: LinkStore) -> None:
    expiry = NOW + timedelta(days=1)
    values = {
        "title": "Título",
        "tags": ("b", "a"),
        "expires_at": expiry,
        "ended_url": "b.example",
    }
    given = NewLink("a.example/ñ", "AbCd", values)
    created = await create(store, given)
    expected = given.draft(ONE, URLS, NOW)
    assert created.links == created.record.outcomes == [expected]
    assert await stored_links(store) == {"AbCd": expected}
    found, _ = await store.hosts.at("b.example", None, 10)
    assert [link.code for link in found] == ["AbCd"]


async def test_a_link_without_a_code_gets_a_free_one(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.links.add(Link("taken---", A, TWO, NOW))
    drawn = iter(["taken---", "chosen--", "same----", "free0001", "same----", "free0002"])
    monkeypatch.setattr(application, "random_codes", lambda: drawn)
    created = await create(store, NewLink(A), NewLink(A, "chosen--"), NewLink(A), NewLink(A))
    codes = [link.code for link in created.links]
    assert codes[1] == "chosen--"
    assert {*codes} == {"chosen--", "same----", "free0001", "free0002"}
    assert set(await stored_links(store)) == {*codes}


async def test_without_a_free_code_nothing_is_stored(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.links.add(Link("taken---", A, TWO, NOW))
    with monkeypatch.context() as patch:
        patch.setattr(application, "random_codes", lambda: iter(["taken---"] * 2))
        with pytest.raises(NoFreeCode):
            await create(store, NewLink(A), NewLink(A, "chosen--"))
    assert await record_of(store) is None
    assert await stored_links(store) == {}
    assert len((await create(store, NewLink(A), NewLink(A, "chosen--"))).links) == 2


async def test_each_link_has_an_outcome_of_its_own(store: LinkStore) -> None:
    await store.links.add(Link("theirs", A, TWO, NOW))
    links: list[tuple[NewLink | InvalidArgument, str]] = [
        (NewLink(A), ""),
        (NewLink(A, "abcd"), ""),
        (NewLink(A, "abcd"), "CODE_TAKEN"),
        (NewLink(B, "ABCD"), ""),
        (NewLink(A, "theirs"), "CODE_TAKEN"),
        (NewLink(A, "Login"), "CODE_RESERVED"),
        (NewLink(A, "no"), "INVALID_CODE"),
        (NewLink("mailto:a@b.example", "free0001"), "INVALID_URL"),
        (NewLink("evil.example", "free0001"), "URL_REFUSED"),
        (NewLink(A, "free0001", values={"title": "x" * 101}), "INVALID_TITLE"),
        (NewLink(A, "free0001", values={"tags": ("",)}), "INVALID_TAGS"),
        (NewLink(A, "free0001", values={"ended_url": "x"}), "INVALID_ENDED_URL"),
        (InvalidExpiry("The expiry is not a valid time."), "INVALID_EXPIRY"),
        (NewLink(A, "free0001"), ""),
    ]
    created = await create(store, *(link for link, _ in links))
    assert reasons(created) == [reason for _, reason in links]
    assert len(created.links) == 4
    assert await stored_links(store) == {link.code: link for link in created.links}
    again = await create(store, *(link for link, _ in links))
    assert shown(again.record.outcomes) == shown(created.record.outcomes)


async def test_a_code_that_is_held_in_any_way_is_taken(store: LinkStore) -> None:
    service = service_of(store)
    codes = ["mine", "gone", "purged", "theirs", "guests"]
    owners: list[Owner] = [ONE, ONE, ONE, TWO, GUEST]
    await add_all(store, [Link(code, A, who, NOW) for code, who in zip(codes, owners, strict=True)])
    await link_operations.give_scan_code(store, "theirs", "SCAN-COD", NOW)
    await link_operations.give_scan_code(store, "purged", "PURGEDSC", NOW)
    await service.commands.remove(ONE, ["gone"])
    await link_operations.purge(store, ["purged"], NOW)
    held = [*codes, "SCAN-COD", "PURGEDSC"]
    created = await create(store, *(NewLink(A, code) for code in held), NewLink(A, "free"))
    assert reasons(created) == ["CODE_TAKEN"] * len(held) + [""]
    assert all(isinstance(one, CodeTaken) for one in created.record.outcomes[:-1])
    assert set(await stored_links(store)) == {"mine", "gone", "free"}


async def test_a_repetition_returns_the_first_outcomes_and_writes_nothing(
    store: LinkStore,
) -> None:
    clock = Clock()
    links = [
        NewLink(A),
        NewLink(A, "abcd", values={"tags": ("a",), "expires_at": NOW}),
        NewLink(A, "abcd"),
    ]
    first = await create(store, *links)
    assert first.is_new
    assert reasons(first) == ["", "", "CODE_TAKEN"]
    clock.now += timedelta(hours=1)
    service = service_of(store, clock)
    await service.commands.change(ONE, "abcd", LinkChanges(url=B, title="Changed"))
    await service.commands.remove(ONE, [first.links[0].code])
    before, record = await stored_links(store), await record_of(store)
    for given in (links, links[:1]):  # The fingerprint decides.
        again = await create(store, *given, now=clock)
        assert (again.is_new, again.links) == (False, [])
        assert again.record.created_at == NOW
        assert shown(again.record.outcomes) == shown(first.record.outcomes)
    after = await record_of(store)
    assert record is not None
    assert after is not None
    assert replace(after, outcomes=()) == replace(record, outcomes=())
    assert await stored_links(store) == before


async def test_a_key_belongs_to_one_fingerprint_and_one_account(store: LinkStore) -> None:
    first = await create(store, NewLink(A, "abcd"))
    for links in ([NewLink(A, "abcd")], [NewLink(A)]):
        with pytest.raises(IdempotencyMismatch):
            await create(store, *links, body=OTHER_BODY)
    theirs = await create(store, NewLink(A, "efgh"), account=TWO, body=OTHER_BODY)
    assert theirs.is_new
    others = await create(store, NewLink(A, "abcd"), key=OTHER_KEY)
    assert reasons(others) == ["CODE_TAKEN"], "no upsert"
    again = await create(store, NewLink(A, "abcd"))
    assert shown(again.record.outcomes) == shown(first.record.outcomes)
    assert set(await stored_links(store)) == {"abcd"}
    assert set(await stored_links(store, TWO)) == {"efgh"}


class HeldTransactions:
    """Transactions that start only after a test lets them."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.has_begun, self.may_start = asyncio.Event(), asyncio.Event()

    async def run(self, name: str, work: Callable[[UnitOfWork], T]) -> T:
        self.has_begun.set()
        await self.may_start.wait()
        return await self._transactions.run(name, work)


async def test_a_call_is_refused_while_another_one_with_its_key_runs(store: LinkStore) -> None:
    held = HeldTransactions(store.transactions)
    creations = Creations(replace(store, transactions=held), URLS, lambda: NOW)
    first = asyncio.create_task(creations.run(ONE, KEY, BODY, [NewLink(A, "abcd")]))
    await held.has_begun.wait()
    for body in (BODY, OTHER_BODY):
        with pytest.raises(CreationInProgress) as refused:
            await creations.run(ONE, KEY, body, [NewLink(A, "abcd")])
        assert refused.value.reason == "IN_PROGRESS"
    others = [
        asyncio.create_task(creations.run(account, key, BODY, [NewLink(A)]))
        for account, key in ((ONE, OTHER_KEY), (TWO, KEY))
    ]
    held.may_start.set()
    outcomes = (await first).record.outcomes
    assert all(other.is_new for other in await asyncio.gather(*others))
    again = await creations.run(ONE, KEY, BODY, [NewLink(A, "abcd")])
    assert shown(again.record.outcomes) == shown(outcomes)


async def test_a_call_that_failed_or_was_cancelled_frees_its_key(store: LinkStore) -> None:
    held = HeldTransactions(store.transactions)
    creations = Creations(replace(store, transactions=held), URLS, lambda: NOW)
    leaving = asyncio.create_task(creations.run(ONE, KEY, BODY, [NewLink(A)]))
    await held.has_begun.wait()
    leaving.cancel()
    await asyncio.wait([leaving])
    held.may_start.set()
    assert (await creations.run(ONE, KEY, BODY, [NewLink(A)])).is_new
    for _ in range(2):
        with pytest.raises(IdempotencyMismatch):
            await creations.run(ONE, KEY, OTHER_BODY, [NewLink(A)])


async def test_replicas_create_the_links_of_a_key_once(new_store: NewStore) -> None:
    links = [NewLink(A), NewLink(B, "abcd"), *(NewLink(f"{A}{n}") for n in range(20))]

    async with two_replicas(new_store) as replicas:
        for number in range(10):
            key = bytes([number])
            calls = [
                create(store, *links, key=key, account=account)
                for account in (ONE, TWO)
                for store in replicas
                for _ in range(2)
            ]
            outcomes = await asyncio.gather(*calls)
            for mine in (outcomes[:4], outcomes[4:]):
                # None, if a commit succeeded whose response was late.
                assert [created.is_new for created in mine].count(True) <= 1
                [first, *others] = [shown(created.record.outcomes) for created in mine]
                assert others == [first] * 3
        assert len(await stored_links(replicas[0])) + len(await stored_links(replicas[1], TWO)) == (
            2 * 10 * 21 + 1
        ), "each link once, and the chosen code once"


async def test_of_two_calls_with_one_key_and_other_bodies_one_wins(new_store: NewStore) -> None:
    async with two_replicas(new_store) as replicas:
        for number in range(10):
            key = bytes([number])
            calls = [
                create(store, *[NewLink(url)] * 20, key=key, body=body)
                for store, url, body in zip(replicas, (A, B), (BODY, OTHER_BODY), strict=True)
            ]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            [won] = [one for one in outcomes if isinstance(one, Created)]
            [lost] = [one for one in outcomes if not isinstance(one, Created)]
            assert isinstance(lost, IdempotencyMismatch)
            assert len(won.links) == 20
        assert len(await stored_links(replicas[0])) == 200


async def test_a_code_goes_to_one_of_all_that_take_it(new_store: NewStore) -> None:
    """Two calls, creations without a key, and an import take the same codes at once."""
    async with two_replicas(new_store) as (one, other):
        for number in range(10):
            codes = [f"code{number}{n:03}" for n in range(40)]
            rows = [ImportRow(number * 100 + n, code, A) for n, code in enumerate(codes)]
            links = [NewLink(A, code) for code in codes]
            first, second, imported, single = await asyncio.gather(
                create(one, *links, key=bytes([number])),
                create(other, *links[::-1], key=bytes([number, 1]), account=TWO),
                service_of(other).imports.run(Account("importer"), IMPORT, rows),
                asyncio.gather(*(one.links.add(Link(code, B, GUEST, NOW)) for code in codes[::4])),
            )
            takers = [
                {link.code for link in first.links},
                {link.code for link in second.links},
                {link.code for link in imported.links},
                {link.code for link in single if link is not None and link.owner == GUEST},
            ]
            assert sum(map(len, takers)) == len(codes), "no code twice"
            assert set().union(*takers) == set(codes)
            assert reasons(first) == ["" if code in takers[0] else "CODE_TAKEN" for code in codes]
            verdicts = [result.verdict is Verdict.NEW for result in imported.results]
            assert verdicts == [code in takers[2] for code in codes]


@pytest.mark.parametrize("broken", ["before", "after"])
async def test_a_call_that_broke_off_is_repeated(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Break off between the writes of the transaction, and after its commit."""
    links = [NewLink(A), NewLink(B, "abcd")]
    if broken == "before":

        def fail(*_: object) -> None:
            raise Unavailable("The process ends.")

        with monkeypatch.context() as patch:
            patch.setattr(application, "created_links", fail)
            with pytest.raises(Unavailable):
                await create(store, *links)
        assert await stored_links(store) == {}
        assert await record_of(store) is None
    else:
        await create(store, *links)
    created = await create(store, *links)
    assert created.is_new is (broken == "before")
    assert set(await stored_links(store)) == {
        link.code for link in created.record.outcomes if isinstance(link, Link)
    }
    assert len(await stored_links(store)) == 2


async def test_after_a_day_a_key_is_unused_again(store: LinkStore) -> None:
    clock = Clock()
    await create(store, NewLink(A))
    clock.now += CREATION_RETENTION - MICROSECOND
    assert not (await create(store, NewLink(A), now=clock)).is_new
    clock.now += MICROSECOND
    behind = Clock()
    behind.now = clock.now - timedelta(seconds=1)
    assert not (await create(store, NewLink(A), now=behind)).is_new, "the reader's clock decides"
    second = await create(store, NewLink(B), body=OTHER_BODY, now=clock)
    assert second.is_new
    assert len(await stored_links(store)) == 2
    again = await create(store, NewLink(B), body=OTHER_BODY, now=clock)
    assert again.record.created_at == clock.now
    assert shown(again.record.outcomes) == shown(second.record.outcomes)


async def test_calls_out_of_bounds_are_refused(sqlite_store: LinkStore) -> None:
    for key, body in ((b"", BODY), (b"k" * 65, BODY), (KEY, b""), (KEY, BODY[1:])):
        with pytest.raises(InvalidIdempotencyKey):
            await create(sqlite_store, NewLink(A), key=key, body=body)
    with pytest.raises(TooManyCodes):
        await create(sqlite_store, *[NewLink(A)] * (MAX_CREATED_LINKS + 1))
    created = await create(sqlite_store, *[NewLink(A)] * MAX_CREATED_LINKS, key=b"\xff" * 64)
    assert len(created.links) == MAX_CREATED_LINKS


async def test_the_largest_call_fits_the_store(store: LinkStore) -> None:
    """In MongoDB a document has up to 16 MB, and a transaction 2 s."""
    long = "https://a.example/" + "\U0001f389" * 981
    tags = ["\U0001f389" * 28 + f"{n:02}" for n in range(10)]
    values = {"title": "\U0001f389" * 100, "tags": tags, "expires_at": NOW, "ended_url": long}
    link = NewLink(long, None, values)
    links = [link] * MAX_CREATED_LINKS
    created = await create(store, *links)
    assert len(created.links) == MAX_CREATED_LINKS
    assert created.links[0].url == created.links[0].ended_url == long
    again = await create(store, *links)
    assert shown(again.record.outcomes) == shown(created.record.outcomes)


class UnreadBlocklist(FakeBlocklist):
    """A blocklist that is not loaded yet."""

    def match(self, url: str) -> BlocklistMatch | None:
        raise Unavailable("The blocklists are not read yet.", "BLOCKLISTS_UNREAD")


async def test_until_the_blocklists_are_loaded_only_repetitions_are_answered(
    store: LinkStore,
) -> None:
    first = await create(store, NewLink(A))
    creations = Creations(store, UrlPolicy("https://atajo.example", UnreadBlocklist()), lambda: NOW)
    with pytest.raises(Unavailable) as refused:
        await creations.run(ONE, OTHER_KEY, BODY, [NewLink("mailto:a@b.example"), NewLink(A)])
    assert refused.value.reason == "BLOCKLISTS_UNREAD"
    assert await record_of(store, OTHER_KEY) is None
    again = await creations.run(ONE, KEY, BODY, [NewLink(A)])
    assert shown(again.record.outcomes) == shown(first.record.outcomes)
    with pytest.raises(IdempotencyMismatch):
        await creations.run(ONE, KEY, OTHER_BODY, [NewLink(A)])


async def test_refused_urls_are_counted_once(store: LinkStore) -> None:
    def refused() -> Any:
        return REFUSED.labels("phishing")._value.get()

    before = refused()
    links = [NewLink("evil.example"), NewLink(A, values={"ended_url": "evil.example"}), NewLink(A)]
    for _ in range(2):
        assert reasons(await create(store, *links)) == ["URL_REFUSED", "URL_REFUSED", ""]
    assert refused() == before + 2


async def test_the_total_of_a_list_includes_created_links(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.storage.mongo.counts.MAX_UNCACHED", 1)
    await add_all(store, [Link(f"old{n:05}", A, ONE, NOW - timedelta(days=9)) for n in range(3)])
    assert await store.lists.count(ONE, LinkFilter(), NOW) == 3
    await create(store, NewLink(A), NewLink(B))
    assert await store.lists.count(ONE, LinkFilter(), NOW) == 5


async def test_records_are_removed_with_their_account(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.maintenance._CREATIONS_PER_STEP", 2)
    keys = [bytes([number]) for number in range(5)]
    for key in keys:
        await create(store, NewLink(A), key=key)
    await create(store, NewLink(A), account=TWO)
    maintenance = Maintenance(store, lambda: NOW)
    withdrawn, more = await maintenance.remove_account_links(ONE)
    assert withdrawn == 5
    steps = 1
    while more:
        _, more = await maintenance.remove_account_links(ONE)
        steps += 1
    assert steps == 3
    assert [await record_of(store, key) for key in keys] == [None] * 5
    assert await record_of(store, account=TWO)


async def test_a_purge_deletes_the_record_that_contains_the_link(store: LinkStore) -> None:
    clock = Clock()
    first = await create(store, NewLink(A), NewLink(B))
    clock.now += MICROSECOND
    await create(store, NewLink(A, "kept"), key=OTHER_KEY, now=clock)
    theirs = await create(store, NewLink(A, "theirs"), account=TWO)
    await store.links.add(Link("before", A, ONE, NOW - timedelta(days=9)))
    await link_operations.purge(store, ["before"], clock.now)
    assert await record_of(store)
    await link_operations.purge(store, [first.links[1].code], clock.now)
    assert await record_of(store) is None
    assert await record_of(store, OTHER_KEY)
    assert await record_of(store, account=TWO)
    assert theirs.links


async def test_a_purge_deletes_only_the_records_that_contain_its_links(store: LinkStore) -> None:
    clock = Clock()
    first = await create(store, NewLink(A), now=clock)
    await create(store, NewLink(A), account=TWO, now=clock)
    clock.now += MICROSECOND
    await create(store, NewLink(A), key=OTHER_KEY, now=clock)
    second = await create(store, NewLink(A), account=TWO, key=OTHER_KEY, now=clock)
    purged = [created.links[0].code for created in (first, second)]
    await link_operations.purge(store, purged, clock.now)
    assert await record_of(store, KEY) is None
    assert await record_of(store, OTHER_KEY)
    assert await record_of(store, KEY, TWO)
    assert await record_of(store, OTHER_KEY, TWO) is None


async def test_old_records_are_deleted_in_steps(sqlite_store: LinkStore) -> None:
    clock = Clock()
    keys = [bytes([number]) for number in range(5)]
    for key in keys:
        await create(sqlite_store, NewLink(A), key=key, now=clock)
        clock.now += timedelta(seconds=1)
    creations = sqlite_store.creations
    assert not await creations.delete_older(NOW - MICROSECOND, 2)
    until = NOW + timedelta(seconds=3)
    assert [await creations.delete_older(until, 2) for _ in range(3)] == [True, True, False]
    found = [await record_of(sqlite_store, key) for key in keys]
    assert [one is not None for one in found] == [False, False, False, False, True]


async def test_maintenance_deletes_records_of_a_day_ago(
    sqlite_store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while reports cannot be measured."""

    async def fail(self: SqliteReportReader) -> datetime | None:
        raise ValueError

    monkeypatch.setattr(SqliteReportReader, "oldest_pending", fail)
    clock = Clock()
    clock.now += CREATION_RETENTION
    await create(sqlite_store, NewLink(A))
    await create(sqlite_store, NewLink(A), key=OTHER_KEY, now=lambda: NOW + MICROSECOND)
    async with Maintenance(sqlite_store, clock).running():
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while await record_of(sqlite_store):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
    assert await record_of(sqlite_store, OTHER_KEY)
