"""Random histories of links against a simple model, over both stores."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.links.application import maintenance
from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore
from services.links.application.queries import MAX_SEARCHES, MAX_SEARCHES_WAITING_PER_OWNER, Page
from services.links.domain.block import BlockReason
from services.links.domain.code import CodeTaken
from services.links.domain.edit import LinkChanges, NoChanges
from services.links.domain.link import Link, NoLink, TooManyCodes, TooManyQueries
from services.links.domain.owner import ANONYMOUS, Account, Guest, Owner
from services.links.domain.query import RANKING_TTL, InvalidCursor, LinkFilter, LinkOrder
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.url import UrlPolicy
from services.shared.errors import AppError
from tests.support import link_operations
from tests.support.link_operations import Service

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
URLS = UrlPolicy("https://atajo.example")
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
ACCOUNTS = [Account("one"), Account("two")]
GUESTS = [Guest(bytes(32)), Guest(bytes(range(32)))]
SOMEBODY: list[Account | Guest] = [*ACCOUNTS, *GUESTS]
ONE, TWO = ACCOUNTS
ABSENT = "absent"
"""In place of the value of a field that a change leaves alone."""


class Clock:
    """A clock that stands still until a test advances it."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Replica:
    service: Service
    moderation: Moderation
    store: LinkStore
    clock: Clock


def open_replica(store: LinkStore) -> Replica:
    clock = Clock()
    moderation = Moderation(store, CompositeBlocklist(None, store.decisions), URLS, clock)
    return Replica(Service(store, URLS, clock), moderation, store, clock)


async def listed(
    service: Service,
    owner: Owner = ONE,
    text: str = "",
    state: LinkState | None = None,
    order: LinkOrder = LinkOrder.NEWEST,
    limit: int = 7,
) -> list[str]:
    """Return the codes of a list, read page by page. Every page except the last is full."""
    codes: list[str] = []
    cursor = ""
    while True:
        page = await service.queries.query(owner, text, state, order, limit, cursor)
        codes += [link.code for link in page.links]
        cursor = page.cursor
        if not cursor:
            assert page.total == len(codes)
            return codes
        assert len(page.links) == limit


# Histories.


@dataclass
class LinkModel:
    """The model of a link: its state according to the specification."""

    owner: Owner
    url: str
    made_with: str
    created_at: datetime
    title: str = ""
    tags: tuple[str, ...] = ()
    changed_at: datetime | None = None
    expires_at: datetime | None = None
    ended_url: str = ""
    public_statistics: bool = False
    removed_at: datetime | None = None
    blocked: BlockReason | None = None
    exempt_since: datetime | None = None
    people: int = 0
    scan_code: str = ""
    led: list[tuple[str, datetime]] = field(default_factory=list)

    def is_gone(self, now: datetime) -> bool:
        return self.removed_at is not None and now - self.removed_at >= 30 * DAY

    def answer(self, now: datetime) -> tuple[int, str]:
        if self.blocked is not None:
            return 451, self.blocked.value
        if self.removed_at is not None:
            return 410, "removed"
        if self.expires_at is not None and now >= self.expires_at:
            return (302, self.ended_url) if self.ended_url else (410, "expired")
        return 302, self.url

    def state(self, now: datetime) -> str:
        if self.removed_at is not None:
            return "removed"
        if self.blocked is not None:
            return "blocked"
        return "expired" if self.expires_at is not None and now >= self.expires_at else "active"


def answer(resolution: Resolution, now: datetime) -> tuple[int, str]:
    """Return what a gateway answers for a cached resolution."""
    if resolution.state is LinkState.BLOCKED:
        assert resolution.reason is not None
        return 451, resolution.reason.value
    if resolution.state is LinkState.REMOVED:
        return 410, "removed"
    if resolution.expires_at is not None and now >= resolution.expires_at:
        return (302, resolution.ended_url) if resolution.ended_url else (410, "expired")
    return 302, resolution.url


class History:
    """A random history, applied to a service and to a model."""

    codes = tuple(f"code{n:04}" for n in range(6))
    urls = ("http://a.example", "http://b.example", "https://c.example/%C3%B1?q=a%20b#ñ\U0001f600")
    waits = (SECOND / 2, SECOND, 59 * SECOND, DAY, 29 * DAY, 30 * DAY - SECOND, 30 * DAY, 31 * DAY)

    def __init__(self, replica: Replica, seed: int) -> None:
        self.replica, self.service, self.clock = replica, replica.service, replica.clock
        self.moderation = replica.moderation
        self.random = random.Random(seed)
        self.links: dict[str, LinkModel] = {}
        self.purged: set[str] = set()
        self.scan_codes: list[str] = []
        """Every link that was ever created."""
        self.steps: list[str] = []
        """The steps, for the message of a failure."""
        self.cursor = ""
        self.remembered: dict[str, Resolution] = {}
        """The cache of a gateway that follows the change feed."""

    def some(self) -> tuple[str, Owner]:
        """Return a code, usually with its owner."""
        code = self.random.choice(self.codes)
        link = self.links.get(code)
        if link is not None and link.owner is not ANONYMOUS and self.random.random() < 0.8:
            return code, link.owner
        return code, self.random.choice(SOMEBODY)

    def several(self) -> tuple[list[str], Owner]:
        code, owner = self.some()
        theirs = [c for c in self.codes if c in self.links and self.links[c].owner == owner]
        others = self.random.sample(theirs, self.random.randint(0, len(theirs)))
        return [code, *others], owner

    def of(self, owner: Owner, codes: list[str]) -> list[LinkModel] | None:
        """Return an owner's links; None if one is not the owner's."""
        found = [self.links.get(code) for code in codes]
        theirs = [
            one for one in found if one and one.owner == owner and not one.is_gone(self.clock.now)
        ]
        return theirs if len(theirs) == len(codes) else None

    async def create(self) -> None:
        code, url = self.random.choice(self.codes), self.random.choice(self.urls)
        owner = self.random.choice([*SOMEBODY, ANONYMOUS])
        held = self.links.get(code)
        if held is not None and self.random.random() < 0.5:
            url, owner = held.made_with, held.owner
        self.steps.append(f"create {code} {url} {owner}")
        repeated = held is not None and (
            (held.made_with, held.owner, held.removed_at) == (url, owner, None)
        )
        if self.scan_codes and self.random.random() < 0.2:
            code = self.random.choice(self.scan_codes)
            self.steps[-1] = f"create {code} {url} {owner}"
            with pytest.raises(CodeTaken):
                await self.service.commands.create(code, url, owner)
            return
        if code in self.purged or (held is not None and not repeated):
            with pytest.raises(CodeTaken):
                await self.service.commands.create(code, url, owner)
            return
        made = await self.service.commands.create(code, url, owner)
        if held is None:
            held = self.links[code] = LinkModel(owner, url, url, self.clock.now)
        self.same(code, made, held)

    async def change(self) -> None:
        code, owner = self.some()
        now, pick = self.clock.now, self.random.choice
        whole = now.replace(microsecond=0)
        picked: dict[str, Any] = {
            "url": pick([ABSENT, ABSENT, *self.urls]),
            "title": pick([ABSENT, "", "Año \U0001f600", "b"]),
            "tags": pick([ABSENT, (), ("a", "Ä"), ("b",)]),
            "expires_at": pick([ABSENT, ABSENT, None, now - DAY, whole, now + DAY]),
            "ended_url": pick([ABSENT, ABSENT, "", "http://d.example"]),
            "public_statistics": pick([ABSENT, False, True]),
        }
        choices = LinkChanges({name: value for name, value in picked.items() if value != ABSENT})
        self.steps.append(f"change {code} {owner} {choices}")
        change = self.service.commands.change(owner, code, choices)
        theirs = self.of(owner, [code])
        if not choices:
            with pytest.raises(NoChanges):
                await change
        elif theirs is None:
            with pytest.raises(NoLink):
                await change
        else:
            link = theirs[0]
            new: dict[str, Any] = dict(choices)
            url = new.pop("url", link.url)
            if url != link.url:
                link.led.insert(0, (link.url, now))
                link.url, link.changed_at = url, now
            if at := new.get("expires_at"):
                new["expires_at"] = at.replace(microsecond=0)
            for name, value in new.items():
                setattr(link, name, value)
            self.same(code, await change, link)

    async def remove(self) -> None:
        codes, owner = self.several()
        self.steps.append(f"remove {codes} {owner}")
        theirs = self.of(owner, codes)
        if theirs is None:
            with pytest.raises(NoLink):
                await self.service.commands.remove(owner, codes)
            return
        await self.service.commands.remove(owner, codes)
        for link in theirs:
            link.removed_at = link.removed_at or self.clock.now

    async def restore(self) -> None:
        codes, owner = self.several()
        self.steps.append(f"restore {codes} {owner}")
        theirs = self.of(owner, codes)
        if theirs is None:
            with pytest.raises(NoLink):
                await self.service.commands.restore(owner, codes)
            return
        await self.service.commands.restore(owner, codes)
        for link in theirs:
            link.removed_at = None

    async def block(self) -> None:
        code = self.random.choice(self.codes)
        reason = self.random.choice([None, *BlockReason])
        self.steps.append(f"block {code} {reason}")
        call = (
            self.moderation.block_link(code, reason, "")
            if reason
            else self.moderation.unblock_link(code, "")
        )
        link = self.links.get(code)
        if link is None or link.is_gone(self.clock.now):
            with pytest.raises(NoLink):
                await call
            return
        await call
        link.blocked = reason
        link.exempt_since = self.clock.now if reason is None else None

    async def mark_expired(self) -> None:
        self.steps.append("mark expired links")
        await self.replica.store.lists.mark_expired(self.clock.now, 1000)

    async def scan(self) -> None:
        code, owner = self.some()
        self.steps.append(f"scan {code} {owner}")
        theirs = self.of(owner, [code])
        if theirs is None:
            with pytest.raises(NoLink):
                await self.service.commands.create_scan_code(owner, code)
            return
        made = (await self.service.commands.create_scan_code(owner, code)).scan_code
        if not theirs[0].scan_code:
            assert re.fullmatch("[0-9A-Z][0-9A-Z-]{6}[0-9A-Z]", made)
            assert made not in self.scan_codes
            theirs[0].scan_code = made
            self.scan_codes.append(made)
        assert made == theirs[0].scan_code

    async def claim(self) -> None:
        guest, account = self.random.choice(GUESTS), self.random.choice(ACCOUNTS)
        self.steps.append(f"claim {guest} {account}")
        theirs = [link for link in self.links.values() if link.owner == guest]
        assert await self.service.commands.claim(guest, account) == (len(theirs), False)
        for link in theirs:
            link.owner = account

    async def purge(self) -> None:
        """Purge as the reconciler does, sometimes as the operator does."""
        codes = await self.service.maintenance.purgeable()
        late = self.clock.now - 30 * DAY - timedelta(hours=1)
        due = [c for c, one in self.links.items() if one.removed_at and one.removed_at <= late]
        assert sorted(codes) == sorted(due)
        if self.random.random() < 0.2:
            codes = [*codes, self.random.choice([*self.codes, *self.scan_codes])]
        self.steps.append(f"purge {codes}")
        links_of = {link.scan_code: code for code, link in self.links.items()}
        named = {links_of.get(code, code) for code in codes}
        for code in named:
            if link := self.links.pop(code, None):
                self.purged |= {code, link.scan_code}
        assert set(await self.service.maintenance.purge(codes)) == self.purged & named

    async def remove_account(self) -> None:
        account = self.random.choice(ACCOUNTS)
        self.steps.append(f"remove account links {account}")
        now = self.clock.now
        theirs = [one for one in self.links.values() if one.owner == account]
        theirs = [one for one in theirs if not one.is_gone(now)]
        assert await self.service.maintenance.remove_account_links(account) == (len(theirs), False)
        for link in theirs:
            link.removed_at = now - 30 * DAY - 1800 * SECOND

    async def visit(self) -> None:
        people = {code: self.random.randint(0, 5) for code in self.random.sample(self.codes, 3)}
        self.steps.append(f"rank {people}")
        await self.service.maintenance.record_views(people, None)
        for code, count in people.items():
            link = self.links.get(code)
            if link is not None and link.owner is not ANONYMOUS:
                link.people = max(link.people, count)

    async def wait(self) -> None:
        self.clock.now += self.random.choice(self.waits)
        self.steps.append(f"now {self.clock.now}")

    def same(self, code: str, link: Link, model: LinkModel) -> None:
        made_with = model.made_with if model.led else ""
        assert link == Link(
            code, model.url, model.owner, model.created_at, model.title, model.tags,
            model.changed_at, made_with, model.expires_at, model.ended_url, model.public_statistics,
            model.removed_at, model.blocked, exempt=model.exempt_since is not None,
            exempt_since=model.exempt_since, scan_code=model.scan_code,
        )  # fmt: skip

    async def step(self) -> None:
        does = [self.create, self.create, self.change, self.change, self.change, self.remove,
                self.remove, self.restore, self.restore, self.block, self.claim, self.purge,
                self.visit, self.wait, self.wait, self.scan, self.scan,
                self.mark_expired]  # fmt: skip
        if self.random.random() < 0.02:
            does = [self.remove_account]
        await self.random.choice(does)()

    async def compare(self) -> None:
        """Compare everything that callers can see with the model."""
        now = self.clock.now
        resolved = await self.service.queries.resolve([*self.codes, *self.scan_codes])
        answers = {code: link.answer(now) for code, link in self.links.items()}
        scanned = {link.scan_code: code for code, link in self.links.items() if link.scan_code}
        answers |= {scan_code: answers[code] for scan_code, code in scanned.items()}
        assert {one.code: answer(one, now) for one in resolved} == answers
        assert {one.code: one.link_code for one in resolved if one.link_code} == scanned

        changes = await self.service.queries.changes(self.cursor or None)
        assert not changes.truncated
        assert not changes.more
        self.cursor = changes.cursor
        self.remembered.update({one.code: one for one in changes.resolutions})
        for code in changes.gone:
            self.remembered.pop(code, None)
        assert {c: answer(one, now) for c, one in self.remembered.items()} == {
            code: answers[code] for code in self.remembered
        }
        self.remembered.update({one.code: one for one in resolved})

        code, owner = self.some()
        theirs = self.of(owner, [code])
        if theirs is None:
            with pytest.raises(NoLink):
                await self.service.queries.get(owner, code)
        else:
            link, history = await self.service.queries.get(owner, code)
            self.same(code, link, theirs[0])
            assert [(one.url, one.until) for one in history] == theirs[0].led
        await self.compare_lists()

    async def compare_lists(self) -> None:
        now, pick = self.clock.now, self.random.choice
        owner, state, order = pick(SOMEBODY), pick([None, *LinkState]), pick(list(LinkOrder))
        text = pick(["", "", "", "CODE000", "0003", "ano", "AÑO", "ä", "B.EXAMPLE", "zzz"])
        found = {
            code: link
            for code, link in self.links.items()
            if link.owner == owner
            and not link.is_gone(now)
            and (link.state(now) == state.value if state is not None else link.removed_at is None)
            and any(text.lower() in one.lower() for one in (code, link.url, link.title, *link.tags))
        }
        codes = sorted(found, key=lambda code: (found[code].created_at, code))
        if order is not LinkOrder.OLDEST:
            codes.reverse()
        if order is LinkOrder.MOST_VIEWED:
            codes.sort(key=lambda code: -found[code].people)
        arguments = (owner, text, state, order)
        assert await listed(self.service, *arguments, limit=pick([1, 2, 100])) == codes, arguments

        page = await self.service.queries.query(*arguments, limit=2, cursor="", without_total=True)
        assert [link.code for link in page.links] == codes[:2]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))]
)
async def test_random_histories_agree_with_the_model(
    store: LinkStore, seed: int, request: pytest.FixtureRequest
) -> None:
    history = History(open_replica(store), seed)
    steps = 250 if "sqlite" in request.node.callspec.id else 80
    try:
        for _ in range(steps):
            await history.step()
            await history.compare()
    except BaseException as error:
        error.add_note("\n".join(history.steps))
        raise


# Lists.


async def make(replica: Replica, count: int, first: int = 0, owner: Owner = ONE) -> list[str]:
    """Create links, each a second older than the next."""
    codes = [f"code{n:04}" for n in range(first, first + count)]
    for n, code in enumerate(codes, first):
        await replica.store.links.add(Link(code, "http://a.example", owner, NOW + n * SECOND))
    return codes


@pytest.mark.parametrize("order", LinkOrder)
async def test_paging_returns_every_lasting_link_once_despite_changes(
    store: LinkStore, order: LinkOrder
) -> None:
    rnd = random.Random(order.value)
    one = open_replica(store)
    codes = await make(one, 60)
    throughout = set(codes)
    seen: list[str] = []
    cursor, made = "", 60
    while True:
        page = await one.service.queries.query(ONE, "", None, order, 7, cursor)
        seen += [link.code for link in page.links]
        cursor = page.cursor
        if not cursor:
            break
        assert len(page.links) == 7
        # Between two pages: visits, new links, links removed, some restored, links changed.
        await one.service.maintenance.record_views(
            {code: rnd.randint(0, 99) for code in rnd.sample(codes, 30)}, "1"
        )
        made += len(await make(one, rnd.randint(0, 3), made))
        left = rnd.sample(sorted(throughout), 3)
        await one.service.commands.remove(ONE, left)
        await one.service.commands.restore(ONE, left[:1])
        throughout -= set(left)
        await one.service.commands.change(ONE, rnd.choice(codes), LinkChanges(url="b.example"))

    assert len(seen) == len(set(seen))
    assert throughout <= set(seen)


@pytest.mark.parametrize("order", LinkOrder)
async def test_the_last_page_has_no_cursor(store: LinkStore, order: LinkOrder) -> None:
    one = open_replica(store)
    assert await one.service.queries.query(ONE, "", None, order, 5, "") == Page([], 0, "")
    await make(one, 10)
    page = await one.service.queries.query(ONE, "", None, order, 5, "")
    assert (len(page.links), page.total, bool(page.cursor)) == (5, 10, True)
    page = await one.service.queries.query(ONE, "", None, order, 5, page.cursor)
    assert (len(page.links), page.total, page.cursor) == (5, 10, "")
    page = await one.service.queries.query(ONE, "", None, order, 10, "")
    assert (len(page.links), page.total, page.cursor) == (10, 10, "")


async def test_later_pages_of_a_ranking_are_full_after_removals(
    store: LinkStore,
) -> None:
    one = open_replica(store)
    codes = await make(one, 30)
    order = LinkOrder.MOST_VIEWED
    first = await one.service.queries.query(ONE, "", None, order, 10, "")
    assert [link.code for link in first.links] == codes[:-11:-1]
    await one.service.commands.remove(ONE, codes[10:20])

    page = await one.service.queries.query(ONE, "", None, order, 6, first.cursor)

    assert [link.code for link in page.links] == codes[9:3:-1]
    assert page.total == 20
    page = await one.service.queries.query(ONE, "", None, order, 6, page.cursor)
    assert [link.code for link in page.links] == codes[3::-1]
    assert page.cursor == ""


async def test_the_cursor_of_an_expired_ranking_is_refused(store: LinkStore) -> None:
    one = open_replica(store)
    await make(one, 10)
    page = await one.service.queries.query(ONE, "", None, LinkOrder.MOST_VIEWED, 5, "")
    one.clock.now += RANKING_TTL
    with pytest.raises(InvalidCursor):
        await one.service.queries.query(ONE, "", None, LinkOrder.MOST_VIEWED, 5, page.cursor)


# Invalid calls.


@pytest.mark.parametrize("order", LinkOrder)
async def test_invalid_queries_are_refused(sqlite_store: LinkStore, order: LinkOrder) -> None:
    queries = open_replica(sqlite_store).service.queries
    wrong: list[tuple[str, Owner, str, int]] = [
        ("INVALID_QUERY", ONE, "x" * 1000, 50),
        ("INVALID_QUERY", ONE, "a\nb", 50),
        *(("INVALID_LIMIT", ONE, "", limit) for limit in (0, 101, -1)),
        ("INVALID_OWNER", ANONYMOUS, "", 50),
    ]
    for reason, owner, text, limit in wrong:
        with pytest.raises(AppError) as refused:
            await queries.query(owner, text, None, order, limit, "")
        assert refused.value.reason == reason


async def test_views_of_too_many_links_are_refused(sqlite_store: LinkStore) -> None:
    maintenance = open_replica(sqlite_store).service.maintenance
    with pytest.raises(TooManyCodes):
        await maintenance.record_views({f"code{n:04}": 1 for n in range(1001)}, "1")
    assert await maintenance.view_cursor() is None


async def test_commands_are_idempotent(store: LinkStore) -> None:
    one = open_replica(store)
    service, codes = one.service, await make(one, 3)
    for days in (0, 29):
        one.clock.now = NOW + days * DAY
        await service.commands.remove(ONE, [*codes, codes[0]])
    removed, _ = await service.queries.get(ONE, codes[0])
    assert removed.removed_at == NOW, "to remove it again does not put its end off"
    one.clock.now = NOW + 30 * DAY
    with pytest.raises(NoLink):
        await service.commands.restore(ONE, codes)
    one.clock.now = NOW + 29 * DAY
    for _ in range(2):
        await service.commands.restore(ONE, codes)
        assert await listed(service) == codes[::-1]


async def test_the_links_of_an_account_are_withdrawn_in_batches(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches include links that their owner removed."""
    monkeypatch.setattr(maintenance, "MAX_BATCH", 4)
    one = open_replica(store)
    codes = await make(one, 9)
    await make(one, 1, 5000, TWO)
    await one.service.commands.remove(ONE, codes[::2])
    for expected in ((4, True), (4, True), (1, False), (0, False)):
        assert await one.service.maintenance.remove_account_links(ONE) == expected
    assert await listed(one.service, TWO) == ["code5000"]


async def test_withdrawn_links_are_shown_to_nobody(store: LinkStore) -> None:
    """In every previous state, and with clocks that differ."""
    one = open_replica(store)
    service, codes = one.service, await make(one, 5)
    active, removed, blocked, ended, both = codes
    for code in codes:
        await service.commands.change(ONE, code, LinkChanges(public_statistics=True))
    await service.commands.change(ONE, ended, LinkChanges(expires_at=NOW, ended_url="b.example"))
    await service.commands.remove(ONE, [removed, both])
    for code in (blocked, both):
        await one.moderation.block_link(code, BlockReason.SPAM, "")
    scan_code = (await service.commands.create_scan_code(ONE, active)).scan_code
    cursor = (await service.queries.changes(None)).cursor
    one.clock.now = NOW + DAY

    assert await service.maintenance.remove_account_links(ONE) == (5, False)
    assert await service.maintenance.remove_account_links(ONE) == (0, False)
    changes = await service.queries.changes(cursor)
    assert {link.code for link in changes.resolutions} == {*codes, scan_code}
    for minutes in (-29, 0, 29):
        one.clock.now = NOW + DAY + minutes * 60 * SECOND
        for code in (*codes, scan_code):
            for call in (
                service.queries.preview(code),
                service.queries.get(ONE, code),
                service.commands.restore(ONE, [code]),
                service.commands.change(ONE, code, LinkChanges(title="mine")),
                service.queries.check_statistics_access(ONE, code),
                service.queries.check_statistics_access(ANONYMOUS, code),
                service.reporting.report(code, BlockReason.SPAM, "", ""),
            ):
                with pytest.raises(NoLink):
                    await call
        for state in (None, *LinkState):
            assert await listed(service, ONE, state=state) == []
        resolved = await service.queries.resolve([*codes, scan_code])
        assert len(resolved) == 6
        assert not [one for one in resolved if one.url or one.ended_url]
        assert not await service.maintenance.purgeable(), "its counts settle first"
        assert len(await service.maintenance.account_codes(ONE)) == 5


@pytest.mark.parametrize("owner", [ONE, GUESTS[0], ANONYMOUS])
async def test_a_link_withdrawn_by_its_scan_code_is_gone_and_purgeable(
    store: LinkStore, owner: Owner
) -> None:
    one = open_replica(store)
    service = one.service
    for code in ("abcdefgh", "other---"):
        await store.links.add(Link(code, "https://example.com/", owner, NOW))
    await link_operations.give_scan_code(store, "abcdefgh", "SCAN0001", NOW)
    cursor = (await service.queries.changes(None)).cursor

    assert await service.maintenance.withdraw("SCAN0001") == "abcdefgh"
    withdrawn = await store.links.find("abcdefgh")
    one.clock.now += 60 * SECOND
    assert await service.maintenance.withdraw("abcdefgh") == "abcdefgh"
    assert await store.links.find("abcdefgh") == withdrawn, "a repetition changes nothing"
    changes = await service.queries.changes(cursor)
    assert {link.code for link in changes.resolutions} == {"abcdefgh", "SCAN0001"}
    assert {one.state for one in changes.resolutions} == {LinkState.REMOVED}
    assert withdrawn is not None
    assert withdrawn.is_gone_at(NOW)
    one.clock.now = NOW + 3600 * SECOND
    assert await service.maintenance.purgeable() == ["abcdefgh"]

    assert await service.maintenance.purge(["abcdefgh"]) == ["abcdefgh"]
    for code in ("abcdefgh", "SCAN0001"):
        assert await service.maintenance.withdraw(code) == code, "its purge is no failure"
    for code in ("unknown-", "", "no code"):
        assert await service.maintenance.withdraw(code) == ""
    assert await service.maintenance.purgeable() == []


# Concurrent searches.


class HeldSearches:
    """Holds the searches of a store until a test releases them."""

    def __init__(self, store: LinkStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running = 0
        self.broken_off = 0
        self.started = asyncio.Semaphore(0)
        self.go = asyncio.Semaphore(0)
        page = store.lists.page

        async def held(owner: Account | Guest, link_filter: LinkFilter, *rest: Any) -> list[Link]:
            if link_filter.text:
                self.running += 1
                assert self.running <= MAX_SEARCHES
                self.started.release()
                try:
                    await self.go.acquire()
                except asyncio.CancelledError:
                    self.broken_off += 1
                    raise
                finally:
                    self.running -= 1
            return await page(owner, link_filter, *rest)

        monkeypatch.setattr(store.lists, "page", held)


def searches(service: Service, count: int) -> Iterator[asyncio.Task[list[str]]]:
    for _ in range(count):
        yield asyncio.create_task(listed(service, text="code", limit=100))


async def test_searches_beyond_the_limits_are_refused(
    sqlite_store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = open_replica(sqlite_store)
    codes = await make(one, 3)
    held = HeldSearches(sqlite_store, monkeypatch)
    tasks = list(searches(one.service, MAX_SEARCHES + MAX_SEARCHES_WAITING_PER_OWNER))
    for _ in range(MAX_SEARCHES):
        await held.started.acquire()

    with pytest.raises(TooManyQueries) as refused:
        await listed(one.service, text="code")
    assert refused.value.retry_after
    with pytest.raises(TooManyQueries):
        await listed(one.service, order=LinkOrder.MOST_VIEWED)
    assert await listed(one.service) == codes[::-1], "a list by age is no search"
    assert len(await one.service.queries.resolve(codes)) == 3

    for _ in tasks:
        held.go.release()
    assert [await task for task in tasks] == [codes[::-1]] * len(tasks)
    held.go.release()
    assert await listed(one.service, text="code") == codes[::-1]


async def test_a_cancelled_search_frees_its_slot(
    sqlite_store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = open_replica(sqlite_store)
    codes = await make(one, 3)
    held = HeldSearches(sqlite_store, monkeypatch)
    (left,) = searches(one.service, MAX_SEARCHES)
    await held.started.acquire()
    waiting, stays = searches(one.service, 2)
    await asyncio.sleep(0)
    for task in (left, waiting):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await held.started.acquire()
    assert held.broken_off == 1
    held.go.release()
    assert await stays == codes[::-1]
