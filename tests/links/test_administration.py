"""What administrators do about links, on every store."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from services.links.application import administration
from services.links.application.administration import (
    Administration,
    BlockCause,
    InvalidAction,
    Verdict,
)
from services.links.application.composite_blocklist import CompositeBlocklist
from services.links.application.moderation import Moderation
from services.links.application.ports import LinkStore
from services.links.application.rescan import JOB as RESCAN_JOB
from services.links.domain.block import BlockReason, InvalidReason
from services.links.domain.creations import IdempotencyMismatch, InvalidIdempotencyKey
from services.links.domain.decision import (
    MAX_ADMINISTRATOR_COMMENT_LENGTH,
    Decision,
    DecisionKind,
    InvalidComment,
    NoBlock,
)
from services.links.domain.edit import LinkChanges, block, removal
from services.links.domain.link import RESTORABLE_FOR, Link, NoLink, TooManyCodes
from services.links.domain.owner import ANONYMOUS, Account, Guest, Owner
from services.links.domain.pattern import InvalidPattern
from services.links.domain.query import InvalidCursor
from services.links.domain.report import NoReport
from services.links.domain.resolution import LinkState
from services.links.domain.url import UrlPolicy
from services.links.storage.mongo import links as mongo_links
from tests.support import link_operations

ONE, TWO = Account("one"), Account("two")
ADA, BOB = "ada@example.com", "bob@example.com"
BLOCK, UNBLOCK, DISMISS = DecisionKind.BLOCK, DecisionKind.UNBLOCK, DecisionKind.DISMISS
PHISHING, SPAM = BlockReason.PHISHING, BlockReason.SPAM


class Instance:
    """The use cases over a store. Each reading of the clock advances it by a second."""

    def __init__(self, store: LinkStore) -> None:
        self.store = store
        self.moment = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
        self.files = link_operations.FakeBlocklist(file={"listed.example"})
        blocklist = CompositeBlocklist(self.files, store.decisions)
        urls = UrlPolicy("https://atajo.example", blocklist)
        self.service = link_operations.Service(store, urls, self.now)
        self.moderation = Moderation(store, blocklist, urls, self.now)
        origins = ["https://atajo.example", "https://s.example"]
        self.administration = Administration(store, self.moderation, origins, self.now)

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment

    async def create(
        self, code: str, owner: Owner = ONE, url: str = "https://shop.example/"
    ) -> None:
        link = Link(code, url, owner, self.now())
        assert await self.store.links.add(link) == link

    async def report(self, code: str, reason: BlockReason, details: str = "") -> None:
        await self.service.reporting.report(code, reason, details, "")

    async def states(self, *codes: str) -> list[LinkState]:
        found = {one.code: one.state for one in await self.store.links.resolve(codes)}
        return [found[code] for code in codes]

    async def decide(
        self, subject: str, action: DecisionKind, reason: BlockReason | None, comment: str, by: str
    ) -> Decision:
        """Make a decision by a call that repeats none."""
        key = secrets.token_bytes(16)
        return await self.administration.decide(subject, action, reason, comment, by, key)

    async def block_account(self, account: Account, comment: str = "", by: str = ADA) -> int:
        """Block all links of an account; return their number."""
        blocked, cursor, key = 0, "", secrets.token_bytes(16)
        while True:
            step = await self.administration.block_account_links(
                account, SPAM, comment, by, cursor, key
            )
            blocked, cursor = blocked + step.blocked, step.cursor
            if not cursor:
                return blocked

    async def decisions(self, text: str = "") -> list[Decision]:
        found, _ = await self.administration.search_decisions(text, "")
        return list(found)


@pytest.fixture
def instance(store: LinkStore) -> Instance:
    return Instance(store)


async def test_links_with_pending_reports_are_listed_with_their_sums(instance: Instance) -> None:
    for code in ("once----", "thrice--", "decided-", "gone----"):
        await instance.create(code)
        await instance.report(code, PHISHING)
    await instance.report("thrice--", SPAM, "pills")
    await instance.report("thrice--", SPAM)
    await instance.decide("decided-", DISMISS, None, "", ADA)
    gone = removal(instance.now() - RESTORABLE_FOR)
    await link_operations.edit(instance.store, ["gone----"], gone, instance.now())
    found, cursor = await instance.administration.reported_links("")
    assert cursor == ""
    assert [
        (link.code, [(one.reason, one.count) for one in reports]) for link, reports in found
    ] == [
        ("thrice--", [(SPAM, 2), (PHISHING, 1)]),
        ("once----", [(PHISHING, 1)]),
    ]


@pytest.mark.parametrize("owner", [ONE, Guest(bytes(32)), ANONYMOUS])
async def test_a_link_is_shown_with_reports_decisions_and_history(
    instance: Instance, owner: Owner
) -> None:
    await instance.create("abcdefgh", owner)
    edit = LinkChanges(url="https://new.example/").edit(
        UrlPolicy("https://atajo.example"), instance.now()
    )
    await link_operations.edit(instance.store, ["abcdefgh"], edit, instance.now())
    await instance.decide("abcdefgh", UNBLOCK, None, "first", ADA)
    await instance.moderation.block_link("abcdefgh", SPAM, "second")
    await instance.report("abcdefgh", PHISHING, "asks for passwords")
    file = await instance.administration.link_file("abcdefgh")
    assert file.link.owner == owner
    assert [(one.reason, one.statements[0].details) for one in file.reports] == [
        (PHISHING, "asks for passwords")
    ]
    assert [(one.kind, one.comment, one.by) for one in file.decisions] == [
        (BLOCK, "second", ""),
        (UNBLOCK, "first", ADA),
    ]
    assert [former.url for former in file.history] == ["https://shop.example/"]
    for unknown in ("unknown-", "no code"):
        with pytest.raises(NoLink):
            await instance.administration.link_file(unknown)


@pytest.mark.parametrize(
    "subject",
    [
        "abcdefgh",
        "atajo.example/abcdefgh",
        "https://s.example/abcdefgh?x",
        "http://S.example/abcdefgh+",
    ],
)
async def test_a_link_is_decided_on_by_code_or_short_url(instance: Instance, subject: str) -> None:
    await instance.create("abcdefgh")
    await instance.report("abcdefgh", PHISHING)
    decide = instance.decide
    block = await decide(subject, BLOCK, PHISHING, "a bank", ADA)
    assert (block.code, block.by, block.reports) == ("abcdefgh", ADA, 1)
    assert await instance.states("abcdefgh") == [LinkState.BLOCKED]
    await decide(subject, UNBLOCK, None, "", BOB)
    assert await instance.states("abcdefgh") == [LinkState.ACTIVE]
    await instance.report("abcdefgh", PHISHING)
    dismissal = await decide(subject, DISMISS, None, "", BOB)
    assert (await instance.decisions())[0] == dismissal
    with pytest.raises(NoReport):
        await decide(subject, DISMISS, None, "", BOB)


async def test_decisions_are_counted_by_who_made_them(instance: Instance) -> None:
    def count(by: str) -> float:
        labels = {"kind": "block", "by": by}
        value = REGISTRY.get_sample_value("atajo_links_decisions_total", labels)
        assert value is not None
        return value

    for code in ("abcdefgh", "ABCDEFGH"):
        await instance.create(code)
    operator, administrator = count("operator"), count("administrator")
    await instance.moderation.block_link("abcdefgh", SPAM, "")
    assert (count("operator"), count("administrator")) == (operator + 1, administrator)
    await instance.decide("abcdefgh", BLOCK, SPAM, "", ADA)
    await instance.block_account(ONE)
    assert (count("operator"), count("administrator")) == (operator + 1, administrator + 2)


async def test_a_host_or_path_is_decided_on(instance: Instance) -> None:
    await instance.create("abcdefgh")
    decide = instance.decide
    decision = await decide("https://shop.example", BLOCK, SPAM, "", ADA)
    assert (decision.pattern, decision.by) == ("shop.example", ADA)
    assert await instance.states("abcdefgh") == [LinkState.BLOCKED]
    await decide("shop.example", UNBLOCK, None, "", BOB)
    assert await instance.states("abcdefgh") == [LinkState.ACTIVE]
    with pytest.raises(NoBlock):
        await decide("shop.example", UNBLOCK, None, "", BOB)
    with pytest.raises(InvalidAction):
        await decide("shop.example", DISMISS, None, "", BOB)


async def test_a_decision_that_cannot_be_made_is_not_stored(instance: Instance) -> None:
    await instance.create("abcdefgh")
    decide = instance.decide
    for nothing in ("", "abc", "no code", "s.example", "https://s.example/links/abcdefgh"):
        with pytest.raises(InvalidPattern):
            await decide(nothing, BLOCK, SPAM, "", ADA)
    with pytest.raises(NoLink):
        await decide("unknown-", BLOCK, SPAM, "", ADA)
    for subject in ("abcdefgh", "shop.example"):
        with pytest.raises(InvalidReason):
            await decide(subject, BLOCK, None, "", ADA)
        with pytest.raises(InvalidComment):
            await decide(subject, BLOCK, SPAM, "x" * (MAX_ADMINISTRATOR_COMMENT_LENGTH + 1), ADA)
        with pytest.raises(InvalidAction):
            await decide(subject, DecisionKind.RESET_LINK, None, "", ADA)
    assert await instance.decisions() == []


async def test_an_explanation_names_what_blocks(instance: Instance) -> None:
    explain, decide = instance.administration.explain, instance.decide
    await instance.create("abcdefgh")
    await instance.create("removed-", url="https://other.example/")
    await instance.create("listed--", url="https://listed.example/a")
    await instance.create("theirs--", TWO, "https://two.example/")
    assert await explain("abcdefgh") == Verdict(False)
    assert await explain("https://shop.example/a") == Verdict(False)
    await decide("abcdefgh", BLOCK, PHISHING, "a bank", ADA)
    assert await explain("abcdefgh") == Verdict(True, BlockCause.DECISION, PHISHING, "a bank")
    await link_operations.edit(
        instance.store, ["removed-"], removal(instance.now()), instance.now()
    )
    assert await explain("removed-") == Verdict(False, BlockCause.OWNER)
    by_list = Verdict(True, BlockCause.LIST, PHISHING, "file, line 1: listed.example")
    assert await explain("listed.example/b") == by_list
    await decide("removed.example", BLOCK, SPAM, "", ADA)
    assert await explain("removed.example") == Verdict(
        True, BlockCause.DECISION, SPAM, "removed.example"
    )
    # The block also enforces the files for the links of this host.
    await decide("listed.example/a", BLOCK, SPAM, "pills", ADA)
    assert await explain("listed--") in (
        by_list,
        Verdict(True, BlockCause.DECISION, SPAM, "listed.example/a: pills"),
    )
    await instance.block_account(TWO, "all of them")
    assert await explain("theirs--") == Verdict(True, BlockCause.DECISION, SPAM, "all of them")
    with pytest.raises(NoLink):
        await explain("unknown-")


async def test_decisions_are_searched_by_who_made_them(instance: Instance) -> None:
    await instance.create("abcdefgh")
    await instance.decide("abcdefgh", BLOCK, SPAM, "pills", ADA)
    await instance.decide("shop.example", BLOCK, SPAM, "", BOB)
    await instance.moderation.unblock_link("abcdefgh", "by mistake")
    await instance.block_account(ONE, by=BOB)

    async def found(text: str) -> list[tuple[str, str, str, str]]:
        return [
            (one.kind.value, one.code or one.pattern, one.account_id, one.by)
            for one in await instance.decisions(text)
        ]

    of_account = ("block", "", "one", BOB)
    assert await found("BOB@") == [of_account, ("block", "shop.example", "", BOB)]
    assert await found("Operator") == [("unblock", "abcdefgh", "", "")]
    assert await found("one") == [of_account]
    assert await found("pills") == [("block", "abcdefgh", "", ADA)]
    assert len(await found("")) == 4


@pytest.mark.parametrize("text", ["", "example"])
async def test_pages_of_decisions_stay_apart_while_others_are_made(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(administration, "SEARCH_PAGE_SIZE", 2)
    search = instance.administration.search_decisions
    moment = instance.now()
    monkeypatch.setattr(instance.moderation, "_now", lambda: moment)
    made = [
        (await instance.moderation.block_pattern(f"{n}.example", SPAM, "", ADA)).id
        for n in range(5)
    ]
    seen, cursor = await search(text, "")
    ids = [one.id for one in seen]
    await instance.moderation.block_pattern("later.example", SPAM, "", ADA)
    while cursor:
        seen, cursor = await search(text, cursor)
        ids += [one.id for one in seen]
    assert len(ids) == len(set(ids))
    assert set(made) <= set(ids)
    for invalid in ("x", "1", "1.", ".1", "1.a b", "-1.1", "9" * 20 + ".1"):
        with pytest.raises(InvalidCursor):
            await search("", invalid)


async def test_all_links_of_an_account_are_blocked_with_one_decision(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(administration, "LINKS_PER_STEP", 2)
    codes = [f"theirs-{number}" for number in range(5)]
    for code in codes:
        await instance.create(code)
    await instance.create("others--", TWO)
    now = instance.now()
    await link_operations.edit(instance.store, [codes[1]], removal(now), now)
    await link_operations.edit(instance.store, [codes[2]], block(PHISHING), now)
    await instance.report(codes[0], SPAM)
    await instance.report(codes[4], SPAM)
    assert await instance.block_account(ONE, "pills") == 4
    assert await instance.states(*codes) == [LinkState.BLOCKED] * 5
    assert await instance.states("others--") == [LinkState.ACTIVE]
    (decision,) = await instance.decisions()
    assert (decision.kind, decision.account_id, decision.reason) == (BLOCK, "one", SPAM)
    assert (decision.comment, decision.by, decision.reports) == ("pills", ADA, 2)
    kept = await instance.store.links.find(codes[2])
    assert kept is not None
    assert kept.blocked is PHISHING
    assert await instance.store.reports.count_pending() == 0

    assert await instance.block_account(ONE, "pills") == 0, "a repetition"
    assert len(await instance.decisions()) == 1

    await instance.decide(codes[4], UNBLOCK, None, "", BOB)
    assert await instance.states(codes[4]) == [LinkState.ACTIVE]


async def test_a_block_of_an_account_that_breaks_off_continues(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(administration, "LINKS_PER_STEP", 2)
    for number in range(6):
        await instance.create(f"theirs-{number}")
    step = instance.administration.block_account_links
    first = await step(ONE, SPAM, "", ADA, "", b"1")
    assert (await step(ONE, SPAM, "", ADA, "", b"1")).blocked == 0, "its answer was lost"
    await instance.create("later---")
    assert (await step(ONE, SPAM, "", ADA, first.cursor, b"1")).blocked == 2
    assert len(await instance.decisions()) == 1
    assert await instance.block_account(ONE) == 3
    assert len(await instance.decisions()) == 2
    codes = [f"theirs-{number}" for number in range(6)]
    assert await instance.states(*codes, "later---") == [LinkState.BLOCKED] * 7


async def test_a_call_whose_answer_was_lost_is_repeated_without_effect(instance: Instance) -> None:
    await instance.create("abcdefgh")
    await instance.report("abcdefgh", SPAM)
    calls: tuple[tuple[str, DecisionKind, BlockReason | None], ...] = (
        ("abcdefgh", DISMISS, None),
        ("abcdefgh", BLOCK, SPAM),
        ("abcdefgh", UNBLOCK, None),
        ("shop.example", BLOCK, SPAM),
        ("shop.example", UNBLOCK, None),
    )
    for number, (subject, action, reason) in enumerate(calls):
        key = bytes([number])
        made = await instance.administration.decide(subject, action, reason, "", ADA, key)
        again = await instance.administration.decide(subject, action, reason, "", ADA, key)
        assert again == made
        assert len(await instance.decisions()) == number + 1


async def test_an_idempotency_key_is_of_one_decision(instance: Instance) -> None:
    """A gateway could otherwise hide what it does behind an earlier decision."""
    for code in ("abcdefgh", "ABCDEFGH"):
        await instance.create(code)
    decide = instance.administration.decide
    block_links = instance.administration.block_account_links
    await decide("abcdefgh", BLOCK, SPAM, "", ADA, b"1")
    with pytest.raises(IdempotencyMismatch):
        await decide("ABCDEFGH", BLOCK, SPAM, "", ADA, b"1")
    with pytest.raises(IdempotencyMismatch):
        await decide("abcdefgh", BLOCK, SPAM, "", BOB, b"1")
    with pytest.raises(IdempotencyMismatch):
        await block_links(ONE, SPAM, "", ADA, "", b"1")
    assert await instance.states("ABCDEFGH") == [LinkState.ACTIVE]
    for invalid in (b"", bytes(65)):
        with pytest.raises(InvalidIdempotencyKey):
            await decide("abcdefgh", UNBLOCK, None, "", ADA, invalid)
        with pytest.raises(InvalidIdempotencyKey):
            await block_links(ONE, SPAM, "", ADA, "", invalid)
    assert len(await instance.decisions()) == 1


async def test_links_are_counted(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    for code, owner in (("mine----", ONE), ("mine---2", ONE), ("hers----", TWO)):
        await instance.create(code, owner)
    await instance.create("nobodys-", ANONYMOUS)
    await instance.create("purged--", ONE)
    await instance.service.commands.create_scan_code(ONE, "mine----")
    await link_operations.purge(instance.store, ["purged--"], instance.now())
    counts = await instance.administration.count_links(["one", "two", "three"])
    assert counts == {"one": 2, "two": 1, "three": 0}
    with pytest.raises(TooManyCodes):
        await instance.administration.count_links(["one"] * 101)
    usage = await instance.administration.usage()
    assert (usage.links, usage.reconciler_works) == (4, False)
    with monkeypatch.context() as patched:
        patched.setattr(mongo_links, "MAX_EXACTLY_COUNTED", 5)  # Two of six documents are no links.
        assert (await instance.administration.usage()).links == 4
    hour = timedelta(hours=1)
    await instance.store.leases.take(RESCAN_JOB, "links", hour, instance.now())
    assert not (await instance.administration.usage()).reconciler_works
    await instance.store.leases.take("views", "reconciler", hour, instance.now())
    assert (await instance.administration.usage()).reconciler_works
    instance.moment += hour
    assert not (await instance.administration.usage()).reconciler_works
