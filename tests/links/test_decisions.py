"""The operator's decisions about links and patterns, on every store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.links.application import enforcement
from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.moderation import ExplainedMatch, Moderation
from services.links.application.ports import LinkStore, UnitOfWork
from services.links.application.rescan import LEASE, Rescanner
from services.links.domain.block import BlockReason
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.decision import (
    MAX_COMMENT_LENGTH,
    BlockedPattern,
    Decision,
    DecisionKind,
    InvalidComment,
    NoBlock,
    TooManyPatterns,
)
from services.links.domain.edit import LinkChanges, block, removal
from services.links.domain.link import RESTORABLE_FOR, NoLink
from services.links.domain.owner import Account
from services.links.domain.pattern import InvalidPattern
from services.links.domain.query import InvalidQuery
from services.links.domain.report import NoReport
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.url import UrlPolicy, UrlRefused
from services.shared.errors import Unavailable
from tests.support import link_operations

ONE = Account("one")
PHISHING, SPAM = BlockReason.PHISHING, BlockReason.SPAM


class Replica:
    """A process over a store. Each reading of its clock advances it by a second."""

    moment = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)

    def __init__(self, store: LinkStore, *named: str) -> None:
        self.store = store
        self.files = link_operations.FakeBlocklist(file=set(named))
        self.blocklist = CompositeBlocklist(self.files, store.decisions)
        self.urls = UrlPolicy("https://atajo.example", self.blocklist)
        self.moderation = Moderation(store, self.blocklist, self.urls, self.now)
        self.service = link_operations.Service(store, self.urls, self.now)

    def now(self) -> datetime:
        Replica.moment += timedelta(seconds=1)
        return Replica.moment

    async def make(self, code: str, url: str) -> None:
        await self.blocklist.refresh()
        await self.service.commands.create(code, url, ONE)

    async def rescan(self) -> None:
        """Rescan all links in a process that has just started."""
        await self.blocklist.refresh()
        await self.rescan_with_known_lists()

    async def rescan_with_known_lists(self) -> None:
        """Rescan all links in a process that may not have loaded the last change of the lists."""
        Replica.moment += LEASE
        # By this clock every other process has loaded the lists, and a step ends when all is done.
        assert not await Rescanner(self.store, self.blocklist, self.now, lambda: 1e12).step()
        progress = await self.store.rescan_progress.get()
        assert progress is not None
        assert progress.fingerprint == self.blocklist.fingerprint
        assert progress.is_done

    async def blocked(self) -> dict[str, str]:
        """Return the blocked codes, each with the name of the blocklist."""
        links = await link_operations.newest(self.store, ONE, 1000)
        return {one.code: one.blocklist for one in links if one.blocked}


def summary(decision: Decision) -> tuple[str, str, str, str]:
    reason = decision.reason.value if decision.reason else ""
    return decision.kind.value, decision.code or decision.pattern, reason, decision.comment


async def test_blocking_a_pattern_blocks_its_links_before_it_returns(store: LinkStore) -> None:
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
    cursor = (await store.change_feed.read_since(None)).cursor
    await one.moderation.block_pattern("Evil.Example", PHISHING, "reported")
    await one.moderation.block_pattern("https://pages.example/%73hop/#x", SPAM, "")
    by = "operator/evil.example"
    page = {"pages001": "operator/pages.example/shop"}
    at_once = {"thehost1": by, "port0001": by, "www00001": by, "below001": by, **page}
    assert await one.blocked() == at_once
    assert set((await store.change_feed.read_since(cursor)).keys) == at_once.keys()
    assert await store.links.resolve(["thehost1"]) == [
        Resolution("thehost1", LinkState.BLOCKED, reason=PHISHING)
    ]
    for url in ("http://evil.example", "http://x.evil.example/", "http://pages.example/shop/"):
        with pytest.raises(UrlRefused):
            await one.service.commands.create("newlink1", url, ONE)
    await one.service.commands.create("newlink1", "http://pages.example/", ONE)
    await one.rescan()
    assert await one.blocked() == at_once

    await one.moderation.unblock_pattern("EVIL.example.", "sorry")
    assert await one.blocked() == page
    await one.service.commands.create("newlink2", "http://evil.example", ONE)
    await one.rescan()
    assert await one.blocked() == page
    assert [summary(each) for each in await one.moderation.decisions(0)] == [
        ("unblock", "evil.example", "", "sorry"),
        ("block", "pages.example/shop", "spam", ""),
        ("block", "evil.example", "phishing", "reported"),
    ]


async def test_a_rescan_with_older_patterns_undoes_nothing(store: LinkStore) -> None:
    one, other = Replica(store), Replica(store)
    await one.make("thehost1", "http://evil.example/")
    await other.blocklist.refresh()
    await one.moderation.block_pattern("evil.example", PHISHING, "")
    await other.rescan_with_known_lists()
    assert await one.blocked() == {"thehost1": "operator/evil.example"}

    await other.blocklist.refresh()
    await one.moderation.unblock_pattern("evil.example", "")
    await other.rescan_with_known_lists()
    assert await one.blocked() == {}
    await other.rescan()
    assert await one.blocked() == {}


async def test_blocking_a_host_blocks_links_to_its_subdomains(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests neighbors in the order of host keys, several pages, and both destinations of a link."""
    below = ["evil.example", "a.evil.example", "z.y.evil.example", "-.evil.example"]
    below += ["%65vil.example.", "www.evil.example:81", "_x.evil.example", "xn--tda.evil.example"]
    beside = ["example", "evil.example.com", "notevil.example", "evil-1.example", "1.evil-.example"]
    beside += ["evil0.example", "evil.examples", "a.evil.exampl", "127.0.0.1", "[::1]"]
    monkeypatch.setattr(enforcement, "BATCH_SIZE", 10)
    one = Replica(store)
    await one.blocklist.refresh()
    for n in range(30):
        await one.service.commands.create(f"many{n:04}", f"http://h{n % 25}.evil.example/{n}", ONE)
    for n, host in enumerate(below):
        await one.service.commands.create(f"below{n:03}", f"http://{host}/", ONE)
    for n, host in enumerate(beside):
        await one.service.commands.create(f"beside{n:02}", f"http://{host}/", ONE)
    await one.make("ended001", "http://good.example/")
    changes = LinkChanges(ended_url="http://later.evil.example/")
    await one.service.commands.change(ONE, "ended001", changes)
    await one.moderation.block_pattern("evil.example", PHISHING, "")
    reached = {f"many{n:04}" for n in range(30)} | {"ended001"}
    reached |= {f"below{n:03}" for n in range(len(below))}
    assert (await one.blocked()).keys() == reached
    await one.moderation.block_pattern("a.evil.example", SPAM, "")
    await one.moderation.unblock_pattern("evil.example", "")
    assert (await one.blocked()).keys() == {"below001"}


async def test_every_replica_knows_a_pattern_after_a_refresh(store: LinkStore) -> None:
    one, two = Replica(store), Replica(store)
    with pytest.raises(Unavailable):
        await two.service.commands.create("early001", "http://evil.example", ONE)
    assert two.blocklist.fingerprint is None
    await two.blocklist.refresh()
    await one.moderation.block_pattern("evil.example", PHISHING, "")
    await two.service.commands.create("early001", "http://evil.example", ONE)
    await two.blocklist.refresh()
    with pytest.raises(UrlRefused):
        await two.service.commands.create("late0001", "http://evil.example", ONE)
    assert two.blocklist.fingerprint == one.blocklist.fingerprint
    # The rescan finds links that a process accepted before it knew the pattern.
    await one.rescan()
    assert await one.blocked() == {"early001": "operator/evil.example"}
    await one.moderation.unblock_pattern("evil.example", "")
    await two.blocklist.refresh()
    await two.service.commands.create("late0001", "http://evil.example", ONE)


async def test_blocking_a_pattern_again_changes_its_reason(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("thehost1", "http://evil.example/a")
    for reason in (PHISHING, SPAM):
        await one.moderation.block_pattern("evil.example", reason, "")
        (found,) = await store.links.resolve(["thehost1"])
        assert found.reason is reason
    assert [each.reason for each in await store.decisions.blocked_patterns()] == [SPAM]


async def test_the_operators_latest_decision_wins(store: LinkStore) -> None:
    one = Replica(store, "evil.example")
    one.files.lists["file"].clear()
    for code in ("blocked1", "spared01", "thehost1"):
        await one.make(code, "http://evil.example/")
    one.files.lists["file"].add("evil.example")
    await one.moderation.block_link("blocked1", SPAM, "by hand")
    await one.moderation.unblock_link("spared01", "innocent")
    await one.rescan()
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}

    # A pattern blocked later overrides the link's exemption, but not its block.
    by = "operator/evil.example"
    await one.moderation.block_pattern("evil.example", PHISHING, "")
    now = {"blocked1": "", "spared01": by, "thehost1": by}
    assert await one.blocked() == now
    await one.rescan()
    assert await one.blocked() == now

    await one.moderation.unblock_link("spared01", "still innocent")
    await one.rescan()
    assert await one.blocked() == {"blocked1": "", "thehost1": by}
    await one.moderation.unblock_pattern("evil.example", "")
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}
    await one.rescan()
    assert await one.blocked() == {"blocked1": "", "thehost1": "file"}

    kinds = [summary(each)[:2] for each in await one.moderation.decisions(0)]
    assert kinds == [
        ("unblock", "evil.example"),
        ("unblock", "spared01"),
        ("block", "evil.example"),
        ("unblock", "spared01"),
        ("block", "blocked1"),
    ]


async def test_no_link_is_unblocked_while_a_list_is_not_loaded(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("listed01", "http://evil.example/")
    one.files.lists["file"].add("evil.example")
    await one.rescan()
    one.files.lists["file"].clear()
    one.files.are_read = False
    await one.moderation.block_pattern("evil.example/other", SPAM, "")
    assert await one.blocked() == {"listed01": "file"}
    one.files.are_read = True
    await one.rescan()
    assert await one.blocked() == {}


async def test_changing_the_url_of_an_exempt_link_unblocks_it(
    store: LinkStore,
) -> None:
    one = Replica(store)
    await one.make("spared01", "http://evil.example/")
    await one.moderation.unblock_link("spared01", "")
    await one.moderation.block_pattern("evil.example", PHISHING, "")
    edit = LinkChanges(url="http://good.example/").edit(one.urls, one.now())
    assert await link_operations.edit(store, ["spared01"], edit, one.now())
    assert await one.blocked() == {}


async def test_patterns_are_normalized_and_never_the_products_own(store: LinkStore) -> None:
    one = Replica(store)
    for given in ("co.uk", "atajo.example", "example", "https://atajo.example/k7Qm2_xB"):
        with pytest.raises(InvalidPattern):
            await one.moderation.block_pattern(given, SPAM, "")
    for given in ("http://user:word@EVIL.example:8080//a/../shop/", "evil.example/shop"):
        await one.moderation.block_pattern(given, SPAM, "")
    addresses = [each.pattern for each in await store.decisions.blocked_patterns()]
    assert addresses == ["evil.example/shop"]
    await one.moderation.unblock_pattern("evil.EXAMPLE/shop/", "")
    with pytest.raises(NoBlock):
        await one.moderation.unblock_pattern("evil.example/shop", "")
    assert len(await one.moderation.decisions(0)) == 3


async def test_failed_calls_store_no_decision(store: LinkStore) -> None:
    one = Replica(store)
    for code in ("gone0001", "purged01"):
        await one.make(code, "http://evil.example/")
    await link_operations.edit(store, ["gone0001"], removal(one.now() - RESTORABLE_FOR), one.now())
    await link_operations.purge(store, ["purged01"], one.now())
    for code in ("unknown1", "gone0001", "purged01", "no code"):
        with pytest.raises(NoLink):
            await one.moderation.block_link(code, SPAM, "")
        with pytest.raises(NoLink):
            await one.moderation.unblock_link(code, "")
    with pytest.raises(NoBlock):
        await one.moderation.unblock_pattern("evil.example", "")
    for cause in ("x" * (MAX_COMMENT_LENGTH + 1), "\x1b[2J"):
        with pytest.raises(InvalidComment):
            await one.moderation.block_pattern("evil.example", SPAM, cause)
    assert await one.moderation.decisions(0) == []


async def test_decisions_accept_scan_codes(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("abcdefgh", "http://evil.example/")
    scan_code = (await one.service.commands.create_scan_code(ONE, "abcdefgh")).scan_code
    await one.moderation.block_link(scan_code, SPAM, "first")
    assert await one.blocked() == {"abcdefgh": ""}
    await one.moderation.unblock_link(scan_code, "second")
    assert await one.blocked() == {}
    await one.service.reporting.report("abcdefgh", PHISHING, "", "")
    assert (await one.moderation.dismiss(scan_code, "third")).reports == 1
    with pytest.raises(NoReport):
        await one.moderation.dismiss(scan_code, "")
    assert [summary(each) for each in await one.moderation.decisions(0)] == [
        ("dismiss", "abcdefgh", "", "third"),
        ("unblock", "abcdefgh", "", "second"),
        ("block", "abcdefgh", "spam", "first"),
    ]


async def test_decisions_outlive_their_link_and_are_paged(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.moderation.DECISIONS_PAGE_SIZE", 3)
    one = Replica(store)
    await one.make("decided1", "http://evil.example/")
    for n in range(4):
        await one.moderation.unblock_link("decided1", str(n))
    await link_operations.purge(store, ["decided1"], one.now())
    first = await one.moderation.decisions(0)
    assert [each.comment for each in first] == [str(n) for n in (3, 2, 1)]
    assert [summary(each) for each in await one.moderation.decisions(len(first))] == [
        ("unblock", "decided1", "", "0")
    ]


async def test_decisions_are_found_by_code_pattern_class_and_comment(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Replica(store)
    await one.make("aBcdefgh", "http://evil.example/")
    await one.moderation.block_pattern("evil.example", PHISHING, "Imitates a BÄNK (100%)")
    await one.moderation.block_pattern("pages.example/shop", SPAM, "")
    await one.moderation.block_link("aBcdefgh", SPAM, ".*")
    await one.moderation.unblock_pattern("evil.example", "")

    async def found(text: str) -> list[tuple[str, str]]:
        return [summary(each)[:2] for each in await one.moderation.decisions(0, text)]

    link, host, path = ("block", "aBcdefgh"), ("block", "evil.example"), "pages.example/shop"
    assert await found("abCD") == [link]
    assert await found("EVIL") == [("unblock", "evil.example"), host]
    assert await found("/shop") == [("block", path)]
    assert await found("spam") == [link, ("block", path)]
    assert await found("bänk (100%") == [host]
    assert await found(".*") == [link]
    assert await found("unblock") == []
    monkeypatch.setattr("services.links.application.moderation.DECISIONS_PAGE_SIZE", 1)
    pages = [await one.moderation.decisions(skip, "spam") for skip in range(3)]
    assert [[each.pattern for each in page] for page in pages] == [[""], [path], []]
    for text in ("x" * 1000, "a\nb"):
        with pytest.raises(InvalidQuery):
            await one.moderation.decisions(0, text)


async def test_a_search_reads_only_the_newest_decisions(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.records.decisions.MAX_SEARCHED_DECISIONS", 2)
    one = Replica(store)
    for name in ("one", "two", "three"):
        await one.moderation.block_pattern(f"{name}.example", SPAM, "")
    found = [each.pattern for each in await one.moderation.decisions(0, "example")]
    assert found == ["three.example", "two.example"]


async def test_an_explanation_names_list_line_key_and_decision(store: LinkStore) -> None:
    one = Replica(store, "evil.example")
    one.files.lists["file"].clear()
    await one.make("listed01", "http://evil.example/a")
    await one.make("blocked1", "http://good.example/")
    await one.make("clean001", "http://clean.example/")
    one.files.lists["file"].add("evil.example")
    await one.rescan()
    of_list = BlocklistMatch(PHISHING, "file", 1, "evil.example")

    listed = await one.moderation.explain_link("listed01")
    assert listed.link is not None
    assert listed.link.blocklist == "file"
    assert list(listed.matches) == [ExplainedMatch("http://evil.example/a", of_list, None)]
    assert listed.decision is None

    await one.moderation.block_pattern("www.good.example/a", SPAM, "")
    await one.moderation.block_pattern("good.example", SPAM, "sells pills")
    await one.moderation.block_link("blocked1", PHISHING, "first")
    await one.moderation.block_link("blocked1", SPAM, "second")
    blocked = await one.moderation.explain_link("blocked1")
    assert blocked.decision is not None
    assert summary(blocked.decision) == ("block", "blocked1", "spam", "second")
    (explained,) = blocked.matches
    assert (explained.match.list, explained.match.key) == ("operator/good.example", "good.example")
    assert explained.decision is not None
    assert summary(explained.decision) == ("block", "good.example", "spam", "sells pills")
    assert explained.decision.at == explained.match.decided_at

    await one.moderation.unblock_link("listed01", "innocent")
    exempt = await one.moderation.explain_link("listed01")
    assert exempt.link is not None
    assert exempt.link.is_exempt_from(exempt.matches[0].match)
    assert exempt.decision is not None
    assert summary(exempt.decision) == ("unblock", "listed01", "", "innocent")

    clean = await one.moderation.explain_link("clean001")
    assert (list(clean.matches), clean.decision) == ([], None)
    with pytest.raises(NoLink):
        await one.moderation.explain_link("unknown-")


async def test_an_explanation_of_a_url_lists_every_match(store: LinkStore) -> None:
    one = Replica(store, "evil.example")
    await one.moderation.block_pattern("evil.example", SPAM, "all of it")
    await one.moderation.block_pattern("evil.example/shop", PHISHING, "the shop")
    explanation = await one.moderation.explain_url("https://evil.example/shop/cart?id=7")
    assert [each.match.list for each in explanation.matches] == [
        "operator/evil.example/shop",
        "operator/evil.example",
        "file",
    ]
    assert explanation.matches[0].match.key == "evil.example/shop"
    assert (explanation.link, explanation.decision) == (None, None)
    await one.moderation.unblock_pattern("evil.example", "not all")
    explanation = await one.moderation.explain_url("EVIL.example")
    assert [each.match.list for each in explanation.matches] == ["file"]
    assert explanation.decision is not None
    assert summary(explanation.decision) == ("unblock", "evil.example", "", "not all")
    assert list((await one.moderation.explain_url("http://[2001:db8::1]/")).matches) == []
    for given in ("ftp://evil.example", "localhost", f"evil.example/{'x' * 999}"):
        with pytest.raises(InvalidPattern):
            await one.moderation.explain_url(given)


async def test_too_many_patterns_are_refused(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.moderation.MAX_BLOCKED_PATTERNS", 2)
    one = Replica(store)
    for host in ("a.example", "b.example", "b.example"):
        await one.moderation.block_pattern(host, SPAM, "")
    with pytest.raises(TooManyPatterns):
        await one.moderation.block_pattern("c.example", SPAM, "")


async def test_concurrent_refreshes_agree(store: LinkStore) -> None:
    one = Replica(store)
    await asyncio.gather(
        *(one.moderation.block_pattern(f"h{n}.example", SPAM, "") for n in range(8)),
        *(one.blocklist.refresh() for _ in range(8)),
    )
    with pytest.raises(UrlRefused):
        await one.service.commands.create("newlink1", "http://h7.example", ONE)
    assert len(await store.decisions.blocked_patterns()) == 8
    assert isinstance((await store.decisions.blocked_patterns())[0], BlockedPattern)
    assert {each.kind for each in await one.moderation.decisions(0)} == {DecisionKind.BLOCK}


async def test_a_block_and_a_dismissal_settle_pending_reports(store: LinkStore) -> None:
    one = Replica(store)
    for code in ("blocked1", "dismiss1", "spared01"):
        await one.make(code, "http://evil.example/")
        for reason in (PHISHING, PHISHING, SPAM):
            await one.service.reporting.report(code, reason, "", "")
    await one.moderation.unblock_link("spared01", "")
    assert await store.reports.count_pending() == 6
    await one.moderation.block_link("blocked1", SPAM, "")
    assert (await one.moderation.dismiss("dismiss1", "a joke")).reports == 2
    for code in ("blocked1", "dismiss1", "unknown1"):
        with pytest.raises(NoReport):
            await one.moderation.dismiss(code, "")
    assert {link.code for link, _ in (await one.moderation.reports(""))[0]} == {"spared01"}
    assert [(*summary(each), each.reports) for each in await one.moderation.decisions(0)] == [
        ("dismiss", "dismiss1", "", "a joke", 2),
        ("block", "blocked1", "spam", "", 2),
        ("unblock", "spared01", "", "", 0),
    ]


async def test_a_failed_unit_of_work_changes_nothing(store: LinkStore) -> None:
    one = Replica(store)
    await one.make("thehost1", "http://evil.example/")
    await one.moderation.block_pattern("other.example", SPAM, "")
    await one.service.reporting.report("thehost1", SPAM, "", "")
    before = (await store.links.find("thehost1"), await one.moderation.decisions(0))
    cursor = (await store.change_feed.read_since(None)).cursor
    now = one.now()

    def work(unit: UnitOfWork) -> None:
        links = unit.links.get(["thehost1"])
        unit.edit(links, ["thehost1"], block(PHISHING), now)
        assert unit.reports.decide(["thehost1"], now) == 1
        unit.decisions.add(Decision(DecisionKind.BLOCK, now, "thehost1", reason=PHISHING))
        unit.decisions.block(BlockedPattern("evil.example", PHISHING, now))
        assert unit.decisions.unblock("other.example")
        unit.links.save_ranking(ONE, "key", ["thehost1"], now)
        assert unit.links.get(["thehost1"])["thehost1"].blocked is PHISHING
        assert unit.links.purge(["thehost1"], now) == ["thehost1"]
        raise NoLink("The process ends here.")

    with pytest.raises(NoLink):
        await store.transactions.run("test", work)
    assert (await store.links.find("thehost1"), await one.moderation.decisions(0)) == before
    assert await store.reports.count_pending() == 1
    blocked = await store.decisions.blocked_patterns()
    assert [each.pattern for each in blocked] == ["other.example"]
    assert await store.lists.stored_ranking(ONE, "key", 0, 1, now) is None
    assert (await store.change_feed.read_since(cursor)).keys == ()
