"""What the operator decides on links and addresses holds, on every store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.links.application import enforcement
from services.links.application.gate import Gate
from services.links.application.links import edit_links
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.rescan import LEASE, Rescanner
from services.links.domain.block import (
    BlockReason,
    InvalidAddress,
    InvalidCause,
    NoBlock,
    TooManyAddresses,
)
from services.links.domain.decision import MAX_CAUSE_LENGTH, BlockedAddress, Decision, DecisionKind
from services.links.domain.edit import LinkChanges, block, removal
from services.links.domain.link import RESTORABLE_FOR, Account, LinkState, NoLink, Resolution
from services.links.domain.report import NoReport
from services.links.domain.url import UrlPolicy, UrlRefused
from services.shared.errors import Unavailable
from tests.support import units

ONE = Account("one")
PHISHING, SPAM = BlockReason.PHISHING, BlockReason.SPAM


class Replica:
    """One of the processes over a store, with clocks that go on by a second with each look."""

    moment = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)

    def __init__(self, store: LinkStore, *named: str) -> None:
        self.store = store
        self.files = units.FakeLists(file=set(named))
        self.gate = Gate(self.files, store.decisions)
        self.urls = UrlPolicy("https://atajo.example", self.gate)
        self.moderation = Moderation(store, self.gate, self.urls, self.now)
        self.service = units.Service(store, self.urls, self.now)

    def now(self) -> datetime:
        Replica.moment += timedelta(seconds=1)
        return Replica.moment

    async def make(self, code: str, url: str) -> None:
        await self.gate.look()
        await self.service.commands.create(code, url, ONE)

    async def swept(self) -> None:
        """All links looked through by a process that was just started."""
        await self.gate.look()
        Replica.moment += LEASE
        # By this clock every other process knows all of it, too, and a step ends when all is done.
        assert not await Rescanner(self.store, self.gate, self.now, lambda: 1e12).step()
        sweep = await self.store.sweep.get()
        assert sweep is not None
        assert sweep.contents == self.gate.contents
        assert sweep.is_done

    async def blocked(self) -> dict[str, str]:
        """The codes that are blocked, each with the list that did it."""
        links = await self.store.links.newest(ONE, 1000)
        return {one.code: one.listed for one in links if one.blocked}


def told(decision: Decision) -> tuple[str, str, str, str]:
    reason = decision.reason.value if decision.reason else ""
    return decision.kind.value, decision.code or decision.address, reason, decision.cause


async def test_a_blocked_address_names_its_links_from_the_answer_on(store: LinkStore) -> None:
    one = Replica(store)
    for code, url in (
        ("thehost1", "http://evil.example/a"),
        ("port0001", "https://user@EVIL.example.:8443/b"),
        ("www00001", "http://www.evil.example/"),
        ("below001", "http://a.b.evil.example/"),
        ("pages001", "http://pages.example/shop/cart?id=1"),
        ("pages002", "http://pages.example/shopping"),
        ("innocent", "http://notevil.example/"),
    ):
        await one.make(code, url)
    cursor = (await store.changes.read_since(None)).cursor
    await one.moderation.block_address("Evil.Example", PHISHING, "reported")
    await one.moderation.block_address("https://pages.example/%73hop/#x", SPAM, "")
    by = "operator/evil.example"
    page = {"pages001": "operator/pages.example/shop"}
    at_once = {"thehost1": by, "port0001": by, "www00001": by, "below001": by, **page}
    assert await one.blocked() == at_once
    assert set((await store.changes.read_since(cursor)).keys) == at_once.keys()
    assert await store.links.resolve(["thehost1"]) == [
        Resolution("thehost1", LinkState.BLOCKED, reason=PHISHING)
    ]
    for url in ("http://evil.example", "http://x.evil.example/", "http://pages.example/shop/"):
        with pytest.raises(UrlRefused):
            await one.service.commands.create("newlink1", url, ONE)
    await one.service.commands.create("newlink1", "http://pages.example/", ONE)
    await one.swept()
    assert await one.blocked() == at_once

    await one.moderation.unblock_address("EVIL.example.", "sorry")
    assert await one.blocked() == page
    await one.service.commands.create("newlink2", "http://evil.example", ONE)
    await one.swept()
    assert await one.blocked() == page
    assert [told(each) for each in await one.moderation.decisions(0)] == [
        ("unblock", "evil.example", "", "sorry"),
        ("block", "pages.example/shop", "spam", ""),
        ("block", "evil.example", "phishing", "reported"),
    ]


async def test_a_block_reaches_what_is_below_a_host_at_once(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands beside it in whichever order, in pages, with both addresses of a link."""
    below = ["evil.example", "a.evil.example", "z.y.evil.example", "-.evil.example"]
    below += ["%65vil.example.", "www.evil.example:81", "_x.evil.example", "xn--tda.evil.example"]
    beside = ["example", "evil.example.com", "notevil.example", "evil-1.example", "1.evil-.example"]
    beside += ["evil0.example", "evil.examples", "a.evil.exampl", "127.0.0.1", "[::1]"]
    monkeypatch.setattr(enforcement, "LINKS", 10)
    one = Replica(store)
    await one.gate.look()
    for n in range(30):
        await one.service.commands.create(f"many{n:04}", f"http://h{n % 25}.evil.example/{n}", ONE)
    for n, host in enumerate(below):
        await one.service.commands.create(f"below{n:03}", f"http://{host}/", ONE)
    for n, host in enumerate(beside):
        await one.service.commands.create(f"beside{n:02}", f"http://{host}/", ONE)
    await one.make("ended001", "http://good.example/")
    changes = LinkChanges(ended_url="http://later.evil.example/")
    await one.service.commands.change(ONE, "ended001", changes)
    await one.moderation.block_address("evil.example", PHISHING, "")
    reached = {f"many{n:04}" for n in range(30)} | {"ended001"}
    reached |= {f"below{n:03}" for n in range(len(below))}
    assert (await one.blocked()).keys() == reached
    await one.moderation.block_address("a.evil.example", SPAM, "")
    await one.moderation.unblock_address("evil.example", "")
    assert (await one.blocked()).keys() == {"below001"}


async def test_every_replica_knows_it_after_a_look(store: LinkStore) -> None:
    one, two = Replica(store), Replica(store)
    with pytest.raises(Unavailable):
        await two.service.commands.create("early001", "http://evil.example", ONE)
    assert two.gate.contents is None
    await two.gate.look()
    await one.moderation.block_address("evil.example", PHISHING, "")
    await two.service.commands.create("early001", "http://evil.example", ONE)
    await two.gate.look()
    with pytest.raises(UrlRefused):
        await two.service.commands.create("late0001", "http://evil.example", ONE)
    assert two.gate.contents == one.gate.contents
    # What was made by a process that did not know it yet is found by the sweep.
    await one.swept()
    assert await one.blocked() == {"early001": "operator/evil.example"}
    await one.moderation.unblock_address("evil.example", "")
    await two.gate.look()
    await two.service.commands.create("late0001", "http://evil.example", ONE)


async def test_an_address_blocked_again_changes_its_reason(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("thehost1", "http://evil.example/a")
    for reason in (PHISHING, SPAM):
        await one.moderation.block_address("evil.example", reason, "")
        (found,) = await store.links.resolve(["thehost1"])
        assert found.reason is reason
    assert [each.reason for each in await store.decisions.blocked_addresses()] == [SPAM]


async def test_the_last_word_of_the_operator_holds(store: LinkStore) -> None:
    one = Replica(store, "evil.example")
    one.files.lists["file"].clear()
    for code in ("blocked1", "spared01", "thehost1"):
        await one.make(code, "http://evil.example/")
    one.files.lists["file"].add("evil.example")
    await one.moderation.block_link("blocked1", SPAM, "by hand")
    await one.moderation.unblock_link("spared01", "innocent")
    await one.swept()
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}

    # A later block of the address stands above the link's freedom, but not above its block.
    by = "operator/evil.example"
    await one.moderation.block_address("evil.example", PHISHING, "")
    now = {"blocked1": "", "spared01": by, "thehost1": by}
    assert await one.blocked() == now
    await one.swept()
    assert await one.blocked() == now

    await one.moderation.unblock_link("spared01", "still innocent")
    await one.swept()
    assert await one.blocked() == {"blocked1": "", "thehost1": by}
    await one.moderation.unblock_address("evil.example", "")
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}
    await one.swept()
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}

    kinds = [told(each)[:2] for each in await one.moderation.decisions(0)]
    assert kinds == [
        ("unblock", "evil.example"),
        ("unblock", "spared01"),
        ("block", "evil.example"),
        ("unblock", "spared01"),
        ("block", "blocked1"),
    ]


async def test_nothing_is_freed_while_a_list_is_not_read(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("listed01", "http://evil.example/")
    one.files.lists["file"].add("evil.example")
    await one.swept()
    one.files.lists["file"].clear()
    one.files.are_read = False
    await one.moderation.block_address("evil.example/other", SPAM, "")
    assert await one.blocked() == {"listed01": "file"}
    one.files.are_read = True
    await one.swept()
    assert await one.blocked() == {}


async def test_a_spared_link_stays_blocked_by_a_later_word_when_it_is_led_elsewhere(
    store: LinkStore,
) -> None:
    one = Replica(store)
    await one.make("spared01", "http://evil.example/")
    await one.moderation.unblock_link("spared01", "")
    await one.moderation.block_address("evil.example", PHISHING, "")
    edit = LinkChanges(url="http://good.example/").edit(one.urls, one.now())
    assert await units.edit(store, ["spared01"], edit, one.now())
    assert await one.blocked() == {}


async def test_an_address_is_kept_in_its_one_form_and_never_one_of_ours(store: LinkStore) -> None:
    one = Replica(store)
    for given in ("co.uk", "atajo.example", "example", "https://atajo.example/k7Qm2_xB"):
        with pytest.raises(InvalidAddress):
            await one.moderation.block_address(given, SPAM, "")
    for given in ("http://user:word@EVIL.example:8080//a/../shop/", "evil.example/shop"):
        await one.moderation.block_address(given, SPAM, "")
    addresses = [each.address for each in await store.decisions.blocked_addresses()]
    assert addresses == ["evil.example/shop"]
    await one.moderation.unblock_address("evil.EXAMPLE/shop/", "")
    with pytest.raises(NoBlock):
        await one.moderation.unblock_address("evil.example/shop", "")
    assert len(await one.moderation.decisions(0)) == 3


async def test_what_is_not_there_leaves_no_decision(store: LinkStore) -> None:
    one = Replica(store)
    for code in ("gone0001", "purged01"):
        await one.make(code, "http://evil.example/")
    await units.edit(store, ["gone0001"], removal(one.now() - RESTORABLE_FOR), one.now())
    await units.purge(store, ["purged01"], one.now())
    for code in ("unknown1", "gone0001", "purged01", "no code"):
        with pytest.raises(NoLink):
            await one.moderation.block_link(code, SPAM, "")
        with pytest.raises(NoLink):
            await one.moderation.unblock_link(code, "")
    with pytest.raises(NoBlock):
        await one.moderation.unblock_address("evil.example", "")
    for cause in ("x" * (MAX_CAUSE_LENGTH + 1), "\x1b[2J"):
        with pytest.raises(InvalidCause):
            await one.moderation.block_address("evil.example", SPAM, cause)
    assert await one.moderation.decisions(0) == []


async def test_a_link_is_named_by_its_scan_code_too(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("abcdefgh", "http://evil.example/")
    scan_code = (await one.service.commands.create_scan_code(ONE, "abcdefgh")).scan_code
    await one.moderation.block_link(scan_code, SPAM, "first")
    assert await one.blocked() == {"abcdefgh": ""}
    await one.moderation.unblock_link(scan_code, "second")
    assert await one.blocked() == {}
    await one.service.commands.report("abcdefgh", PHISHING, "", "")
    assert await one.moderation.dismiss(scan_code, "third") == 1
    with pytest.raises(NoReport):
        await one.moderation.dismiss(scan_code, "")
    assert [told(each) for each in await one.moderation.decisions(0)] == [
        ("dismiss", "abcdefgh", "", "third"),
        ("unblock", "abcdefgh", "", "second"),
        ("block", "abcdefgh", "spam", "first"),
    ]


async def test_decisions_are_kept_for_good_and_told_by_the_page(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.moderation.DECISIONS_A_PAGE", 3)
    one = Replica(store)
    await one.make("decided1", "http://evil.example/")
    for n in range(4):
        await one.moderation.unblock_link("decided1", str(n))
    await units.purge(store, ["decided1"], one.now())
    first = await one.moderation.decisions(0)
    assert [each.cause for each in first] == [str(n) for n in (3, 2, 1)]
    assert [told(each) for each in await one.moderation.decisions(len(first))] == [
        ("unblock", "decided1", "", "0")
    ]


async def test_too_many_addresses_are_a_list(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.moderation.MAX_ADDRESSES", 2)
    one = Replica(store)
    for host in ("a.example", "b.example", "b.example"):
        await one.moderation.block_address(host, SPAM, "")
    with pytest.raises(TooManyAddresses):
        await one.moderation.block_address("c.example", SPAM, "")


async def test_looks_at_once_agree_in_the_end(store: LinkStore) -> None:
    one = Replica(store)
    await asyncio.gather(
        *(one.moderation.block_address(f"h{n}.example", SPAM, "") for n in range(8)),
        *(one.gate.look() for _ in range(8)),
    )
    with pytest.raises(UrlRefused):
        await one.service.commands.create("newlink1", "http://h7.example", ONE)
    assert len(await store.decisions.blocked_addresses()) == 8
    assert isinstance((await store.decisions.blocked_addresses())[0], BlockedAddress)
    assert {each.kind for each in await one.moderation.decisions(0)} == {DecisionKind.BLOCK}


async def test_a_block_and_a_dismissal_decide_on_what_waits(store: LinkStore) -> None:
    one = Replica(store)
    for code in ("blocked1", "dismiss1", "spared01"):
        await one.make(code, "http://evil.example/")
        for reason in (PHISHING, PHISHING, SPAM):
            await one.service.commands.report(code, reason, "", "")
    await one.moderation.unblock_link("spared01", "")
    assert await store.reports.count_waiting() == 6
    await one.moderation.block_link("blocked1", SPAM, "")
    assert await one.moderation.dismiss("dismiss1", "a joke") == 2
    for code in ("blocked1", "dismiss1", "unknown1"):
        with pytest.raises(NoReport):
            await one.moderation.dismiss(code, "")
    assert {link.code for link, _ in (await one.moderation.reports(""))[0]} == {"spared01"}
    assert [(*told(each), each.reports) for each in await one.moderation.decisions(0)] == [
        ("dismiss", "dismiss1", "", "a joke", 2),
        ("block", "blocked1", "spam", "", 2),
        ("unblock", "spared01", "", "", 0),
    ]


async def test_a_unit_of_work_that_fails_changes_nothing(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("thehost1", "http://evil.example/")
    await one.moderation.block_address("other.example", SPAM, "")
    await one.service.commands.report("thehost1", SPAM, "", "")
    before = (await store.links.find("thehost1"), await one.moderation.decisions(0))
    cursor = (await store.changes.read_since(None)).cursor
    now = one.now()

    def work(unit: UnitOfWork) -> None:
        links = unit.links.get(["thehost1"])
        edit_links(unit, links, ["thehost1"], block(PHISHING), now)
        assert unit.reports.decide("thehost1", now) == 1
        unit.decisions.add(Decision(DecisionKind.BLOCK, now, "thehost1", reason=PHISHING))
        unit.decisions.block(BlockedAddress("evil.example", PHISHING, now))
        assert unit.decisions.unblock("other.example")
        unit.rankings.keep(ONE, "key", ["thehost1"], now)
        assert unit.links.get(["thehost1"])["thehost1"].blocked is PHISHING
        assert unit.links.purge(["thehost1"], now) == ["thehost1"]
        raise NoLink("The process ends here.")

    with pytest.raises(NoLink):
        await store.transactions.run("test", work)
    assert (await store.links.find("thehost1"), await one.moderation.decisions(0)) == before
    assert await store.reports.count_waiting() == 1
    blocked = await store.decisions.blocked_addresses()
    assert [each.address for each in blocked] == ["other.example"]
    assert await store.lists.kept_ranking(ONE, "key", 0, 1, now) is None
    assert (await store.changes.read_since(cursor)).keys == ()
