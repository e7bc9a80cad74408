"""The gateway's client against the links service, over gRPC."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, closing
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from atajo.links.v1 import links_pb2
from gateway.backends.links import LinksClient
from gateway.backends.owners import Account, Guest, Owner
from gateway.backends.ports import (
    CreatedLinks,
    FormerUrl,
    Import,
    ImportResult,
    ImportRow,
    ImportVerdict,
    Link,
    LinkChanges,
    LinkOrder,
    LinkPreview,
    LinkQuery,
    LinkQueryResult,
    NewLink,
)
from gateway.redirects.resolution import (
    BlockReason,
    ChangeFeedPage,
    LinkState,
    Resolution,
    UnreadableLinks,
)
from services.links.api import large_calls
from services.links.api.large_calls import MAX_LARGE_CALLS, MAX_LARGE_CALLS_BY_ACCOUNT, LargeCalls
from services.links.api.links import LinksServicer
from services.links.domain.imports import Verdict
from services.shared.errors import (
    AlreadyExists,
    AppError,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
)
from tests.support import in_process_services

ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))
OWNERS: tuple[Account | Guest, ...] = (ONE, GUEST)
EARLIER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2086, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
async def links(tmp_path: Path) -> AsyncIterator[LinksClient]:
    async with in_process_services.links(tmp_path, "https://atajo.example") as client:
        yield client


async def test_creations_that_are_too_long_fail_no_others(links: LinksClient) -> None:
    """Together they would exceed gRPC's message limit of 4 MiB."""
    long = "https://a.example/" + "x" * 60_000
    calls = [links.create(f"long{number:04}", long, None) for number in range(80)]
    calls += [links.create(f"short{number:03}", "https://a.example/", None) for number in range(3)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refused, created = outcomes[:80], outcomes[80:]
    assert {one.reason for one in refused if isinstance(one, InvalidArgument)} == {"INVALID_URL"}
    assert not any(isinstance(one, Resolution) for one in refused)
    assert created == [Resolution.active("https://a.example/")] * 3


async def test_get_returns_the_created_link_and_its_changes(links: LinksClient) -> None:
    await links.check()
    stored = Resolution.active("http://xn--and-6ma2c.example/x?y=%C3%B1#z")
    made = await links.create("abcdefgh", " ñandú.example/x?y=%C3%B1#z", ONE)
    assert made == stored
    found = await links.resolve(["abcdefgh", "ABCDEFGH", "unknown-", "malformed"])
    assert found == {"abcdefgh": stored}
    await links.change(ONE, "abcdefgh", {"url": "b.example", "expires_at": LATER})
    now = Resolution(LinkState.ACTIVE, "http://b.example", LATER)
    assert await links.create("abcdefgh", stored.url, ONE) == now, "a creation that is repeated"


async def test_links_that_cannot_be_read_are_named_beside_the_others(
    links: LinksClient, tmp_path: Path
) -> None:
    for code in ("abcdefgh", "damaged-"):
        await links.create(code, "https://example.com/", ONE)
    with closing(sqlite3.connect(tmp_path / "links.sqlite3")) as connection, connection:
        connection.execute("UPDATE links SET blocked = 'unknown' WHERE code = 'damaged-'")
    with pytest.raises(UnreadableLinks) as raised:
        await links.resolve(["abcdefgh", "damaged-", "unknown-"])
    assert raised.value.codes == {"damaged-"}
    assert raised.value.found == {"abcdefgh": Resolution.active("https://example.com/")}


async def test_batched_creations_have_independent_outcomes(links: LinksClient) -> None:
    await links.create("taken---", "b.example", ONE)
    creations: tuple[tuple[str, str, Owner | None], ...] = (
        ("abcdefgh", "a.example", ONE),
        ("taken---", "a.example", GUEST),
        ("abcdefg/", "a.example", None),
        ("refused-", "javascript:alert(1)", None),
        ("abcdefgh", "a.example", ONE),
        ("nobodys-", "a.example", None),
    )
    ends = await asyncio.gather(*(links.create(*one) for one in creations), return_exceptions=True)
    made = Resolution.active("http://a.example")
    assert [end.reason if isinstance(end, AppError) else end for end in ends] == [
        *(made, "CODE_TAKEN", "INVALID_CODE", "INVALID_URL", made, made)
    ]
    assert (await links.get(ONE, "abcdefgh"))[0].url == "http://a.example"


async def test_cancelling_a_creation_spares_others_of_its_batch(
    links: LinksClient,
) -> None:
    leaving, *staying = (
        asyncio.create_task(links.create(code, "a.example", ONE))
        for code in ("leaving-", "staying1", "staying2")
    )
    await asyncio.sleep(0)
    leaving.cancel()
    assert await asyncio.gather(*staying) == [Resolution.active("http://a.example")] * 2


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_a_change_affects_only_the_named_fields(links: LinksClient, owner: Owner) -> None:
    await links.create("abcdefgh", "a.example", owner)
    expected, history = await links.get(owner, "abcdefgh")
    assert expected == Link(
        code="abcdefgh",
        url="http://a.example",
        title="",
        created_at=expected.created_at,
        changed_at=None,
        state=LinkState.ACTIVE,
        reason=None,
    )
    assert history == []
    steps: tuple[tuple[LinkChanges, dict[str, object]], ...] = (
        ({"title": " Ñandú "}, {"title": "Ñandú"}),
        ({"tags": ["b", "a", "b"]}, {"tags": ("b", "a")}),
        ({"expires_at": LATER.replace(microsecond=999_999)}, {"expires_at": LATER}),
        ({"ended_url": "ended.example"}, {"ended_url": "http://ended.example"}),
        ({"public_statistics": True}, {"public_statistics": True}),
        ({"title": "", "tags": []}, {"title": "", "tags": ()}),
        ({"ended_url": None}, {"ended_url": ""}),
        ({"public_statistics": False}, {"public_statistics": False}),
        ({"expires_at": EARLIER}, {"expires_at": EARLIER, "state": LinkState.EXPIRED}),
        ({"expires_at": None}, {"expires_at": None, "state": LinkState.ACTIVE}),
    )
    for changes, shown in steps:
        expected = replace(expected, **shown)  # type: ignore[arg-type]
        assert (await links.change(owner, "abcdefgh", changes))[0] == expected, changes
        assert await links.get(owner, "abcdefgh") == (expected, [])

    link, _ = await links.change(owner, "abcdefgh", {"url": "b.example"})
    assert link.changed_at
    former = FormerUrl("http://a.example", link.changed_at)
    assert await links.get(owner, "abcdefgh") == (link, [former])


async def test_expiry_accepts_the_first_and_last_year(links: LinksClient) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    for year, state in ((1, LinkState.EXPIRED), (9999, LinkState.ACTIVE)):
        end = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
        link, _ = await links.change(ONE, "abcdefgh", {"expires_at": end})
        assert (link.expires_at, link.state) == (end, state)
        assert (await links.get(ONE, "abcdefgh"))[0] == link
        assert (await links.resolve(["abcdefgh"]))["abcdefgh"].expires_at == end


async def test_a_preview_is_available_to_everybody(links: LinksClient) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    changes: LinkChanges = {"url": "b.example", "title": "A title", "tags": ["mine"]}
    changed, _ = await links.change(ONE, "abcdefgh", changes)
    preview = await links.preview("abcdefgh")
    assert preview == LinkPreview(
        **{one.name: getattr(changed, one.name) for one in fields(LinkPreview)}
    )
    scan_code, _ = await links.create_scan_code(ONE, "abcdefgh")
    assert await links.preview(scan_code) == await links.preview("abcdefgh")
    await links.change(ONE, "abcdefgh", {"expires_at": EARLIER})
    ended = await links.preview("abcdefgh")
    assert (ended.state, ended.url) == (LinkState.EXPIRED, "http://b.example")
    await links.remove(ONE, ["abcdefgh"])
    assert (await links.preview("abcdefgh")).state is LinkState.REMOVED
    await links.create("nobodys-", "a.example", None)
    assert (await links.preview("nobodys-")).url == "http://a.example"


async def test_a_preview_is_sent_without_the_fields_of_the_owner(links: LinksClient) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    changes: LinkChanges = {
        "url": "b.example",
        "title": "A title",
        "tags": ["mine"],
        "expires_at": LATER,
        "ended_url": "ended.example",
        "public_statistics": True,
    }
    await links.change(ONE, "abcdefgh", changes)
    await links.create_scan_code(ONE, "abcdefgh")
    reply = await links._call(
        links._stub.PreviewLink, links_pb2.PreviewLinkRequest(code="abcdefgh"), 5.0
    )
    sent = {field.name for field, _ in reply.link.ListFields()}
    assert sent == {one.name for one in fields(LinkPreview)} - {"reason"}, "it is not blocked"


async def test_a_query_passes_text_state_order_and_cursor(links: LinksClient) -> None:
    codes = ("oldest--", "expired-", "removed-", "newest--")
    for code in codes:
        await links.create(code, "a.example", GUEST)
    await links.create("another-", "a.example", ONE)
    await links.change(GUEST, "expired-", {"expires_at": EARLIER})
    await links.remove(GUEST, ["removed-"])

    async def listed(query: LinkQuery) -> list[str]:
        """Return the codes of all pages."""
        page = await links.query(GUEST, query)
        rest = await listed(replace(query, cursor=page.cursor)) if page.cursor else []
        return [*(link.code for link in page.links), *rest]

    for order in LinkOrder:
        expected = ["newest--", "expired-", "oldest--"]
        found = await listed(LinkQuery(order=order, limit=2))
        assert found == expected[:: -1 if order is LinkOrder.OLDEST else 1]
    for state, one in (
        (LinkState.ACTIVE, ["newest--", "oldest--"]),
        (LinkState.EXPIRED, ["expired-"]),
        (LinkState.REMOVED, ["removed-"]),
        (LinkState.BLOCKED, []),
    ):
        assert await listed(LinkQuery(state=state)) == one
    assert await listed(LinkQuery(text="OLD")) == ["oldest--"]
    [link] = (await links.query(GUEST, LinkQuery(text="old"))).links
    assert await links.query(GUEST, LinkQuery(text="old")) == LinkQueryResult([link], 1, "")
    assert len((await links.query(GUEST, LinkQuery(limit=200, with_total=False))).links) == 3
    assert (await links.query(GUEST, LinkQuery(limit=1, with_total=False))).total == 0


Call = Callable[[LinksClient], Awaitable[object]]


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("INVALID_CODE", lambda links: links.create("abcdefg/", "a.example", None)),
        ("INVALID_URL", lambda links: links.create("abcdefgh", "javascript:alert(1)", None)),
        ("TOO_MANY_CODES", lambda links: links.resolve(["unknown-"] * 1001)),
        ("NO_CHANGES", lambda links: links.change(ONE, "mine----", {})),
        ("INVALID_TITLE", lambda links: links.change(ONE, "mine----", {"title": "a" * 101})),
        ("INVALID_TAGS", lambda links: links.change(ONE, "mine----", {"tags": [" "]})),
        (
            "INVALID_ENDED_URL",
            lambda links: links.change(ONE, "mine----", {"ended_url": "ftp://a.example"}),
        ),
        ("TOO_MANY_CODES", lambda links: links.remove(ONE, ["mine----"] * 101)),
        ("TOO_MANY_CODES", lambda links: links.restore(ONE, ["mine----"] * 101)),
        ("INVALID_LIMIT", lambda links: links.query(ONE, LinkQuery(limit=101))),
        ("INVALID_LIMIT", lambda links: links.query(ONE, LinkQuery(limit=201, with_total=False))),
        ("INVALID_QUERY", lambda links: links.query(ONE, LinkQuery(text="a" * 1000))),
        ("INVALID_CURSOR", lambda links: links.query(ONE, LinkQuery(cursor="a" * 5000))),
        (
            "INVALID_DETAILS",
            lambda links: links.report("mine----", BlockReason.SPAM, "a" * 1001, ""),
        ),
        (
            "INVALID_CONTACT",
            lambda links: links.report("mine----", BlockReason.SPAM, "", "nobody"),
        ),
    ],
)
async def test_invalid_calls_have_a_reason(links: LinksClient, reason: str, call: Call) -> None:
    await links.create("mine----", "a.example", ONE)
    before = await links.get(ONE, "mine----")
    with pytest.raises(InvalidArgument) as refused:
        await call(links)
    assert refused.value.reason == reason
    assert await links.get(ONE, "mine----") == before


@pytest.mark.parametrize("code", ["theirs--", "unknown-", "no code", "", "a\0b"])
async def test_unknown_links_are_not_found(links: LinksClient, code: str) -> None:
    await links.create("theirs--", "a.example", TWO)
    calls: list[Call] = [
        lambda links: links.get(ONE, code),
        lambda links: links.change(ONE, code, {"title": "mine"}),
        lambda links: links.remove(ONE, [code]),
        lambda links: links.restore(ONE, [code]),
        lambda links: links.create_scan_code(ONE, code),
        lambda links: links.check_statistics_access(ONE, code),
    ]
    if code != "theirs--":
        calls += [
            lambda links: links.preview(code),
            lambda links: links.report(code, BlockReason.SPAM, "", ""),
        ]
    for call in calls:
        with pytest.raises(NotFound) as refused:
            await call(links)
        assert refused.value.reason == "NO_LINK"


async def test_owned_codes_are_streamed_completely(
    links: LinksClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.api.links._CODES_PER_MESSAGE", 4)
    codes = [f"page{n:04}" for n in range(11)]
    for code in codes:
        await links.create(code, "a.example", GUEST)
    assert sorted(await links.owned_codes(GUEST)) == codes
    assert await links.owned_codes(ONE) == []


async def test_an_owner_of_too_many_links_is_refused(
    links: LinksClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("domain.link", "application.queries"):
        monkeypatch.setattr(f"services.links.{module}.MAX_OWNED_CODES", 3)
    for n in range(4):
        assert len(await links.owned_codes(ONE)) == n
        await links.create(f"page{n:04}", "a.example", ONE)
    with pytest.raises(InvalidArgument) as refused:
        await links.owned_codes(ONE)
    assert refused.value.reason == "TOO_MANY_LINKS"
    await links.remove(ONE, ["page0000"])
    assert len(await links.owned_codes(ONE)) == 3


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_statistics_are_private_unless_public(links: LinksClient, owner: Owner) -> None:
    await links.create("abcdefgh", "a.example", owner)
    await links.create("nobodys-", "a.example", None)
    others = (None, TWO, Guest(bytes(32)))

    async def may_see(caller: Owner | None, code: str = "abcdefgh") -> bool:
        try:
            await links.check_statistics_access(caller, code)
        except NotFound:
            return False
        return True

    async def seen() -> list[bool]:
        return [await may_see(caller) for caller in (owner, *others)]

    assert await seen() == [True, False, False, False]
    await links.change(owner, "abcdefgh", {"public_statistics": True})
    assert await seen() == [True] * 4
    await links.change(owner, "abcdefgh", {"expires_at": EARLIER})
    assert await seen() == [True] * 4
    await links.remove(owner, ["abcdefgh"])
    assert await seen() == [True, False, False, False]
    await links.restore(owner, ["abcdefgh"])
    assert await seen() == [True] * 4
    await links.change(owner, "abcdefgh", {"public_statistics": False})
    assert await seen() == [True, False, False, False]
    assert not await may_see(None, "nobodys-")


async def test_an_edit_returns_the_current_resolutions(links: LinksClient) -> None:
    codes = ("abcdefgh", "zyxwvuts")
    first = await links.changes(None)
    for code in codes:
        await links.create(code, "a.example", ONE)
    assert await links.changes(first.cursor) == first, "a new link is no change"
    scan_code, resolutions = await links.create_scan_code(ONE, "abcdefgh")
    assert (await links.create_scan_code(ONE, "abcdefgh"))[0] == scan_code
    assert (await links.get(ONE, "abcdefgh"))[0].scan_code == scan_code
    scanned = Resolution.active("http://a.example")._replace(link_code="abcdefgh")
    assert resolutions == await links.resolve([scan_code]) == {scan_code: scanned}
    with pytest.raises(AlreadyExists):
        await links.create(scan_code, "b.example", ONE)

    async def answers(*codes: str) -> dict[str, Resolution]:
        found = await links.resolve(codes)
        assert found.keys() == set(codes)
        return dict(found)

    edits: list[LinkChanges] = [
        {"url": "b.example"},
        {"title": "The same destination"},
        {"expires_at": LATER, "ended_url": "c.example"},
        {"expires_at": EARLIER},
    ]
    for edit in edits:
        _, resolutions = await links.change(ONE, "abcdefgh", edit)
        assert resolutions == await answers("abcdefgh", scan_code), edit
    assert (await links.create_scan_code(ONE, "abcdefgh"))[1] == await answers(scan_code)
    assert await links.remove(ONE, codes) == await answers(*codes, scan_code)
    assert await links.restore(ONE, codes) == await answers(*codes, scan_code)

    changes = await links.changes(first.cursor)
    now = await answers(*codes, scan_code)
    assert changes == ChangeFeedPage(changes.cursor, now, frozenset(), more=False, truncated=False)
    assert now[scan_code] == now["abcdefgh"]._replace(link_code="abcdefgh")


async def test_a_claim_returns_its_count_and_whether_more_remain(
    links: LinksClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.commands.MAX_BATCH", 3)
    for code in ("one-----", "two-----", "three---", "four----"):
        await links.create(code, "a.example", GUEST)
    assert [await links.claim(GUEST, ONE) for _ in range(2)] == [(3, True), (1, False)]
    assert len(await links.owned_codes(ONE)) == 4


async def test_reports_of_a_link_for_one_reason_have_one_id(links: LinksClient) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    scan_code, _ = await links.create_scan_code(ONE, "abcdefgh")
    ids = [
        await links.report(code, reason, "Ñ" * 1000, "ana@b.example")
        for reason in BlockReason
        for code in ("abcdefgh", scan_code)
    ]
    assert ids[::2] == ids[1::2]
    assert len(set(ids)) == len(BlockReason)


async def test_a_creation_whose_response_was_lost_is_no_repetition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gRPC repeats the call by itself: the client made one, which counts."""
    create, attempts = LinksServicer.CreateAccountLinks, itertools.count()

    async def lose_first(self: LinksServicer, request: Any) -> links_pb2.CreateAccountLinksResponse:
        response = await create(self, request)
        if next(attempts) == 0:
            raise Unavailable("The response was lost.")
        return response

    monkeypatch.setattr(LinksServicer, "CreateAccountLinks", lose_first)
    async with in_process_services.links(tmp_path, "https://atajo.example") as links:
        created = await links.create_all(ONE, [NewLink("a.example")], b"key", bytes(32))
    assert next(attempts) == 2
    assert not created.is_repetition


async def test_links_of_an_account_are_created_once_per_idempotency_key(
    links: LinksClient,
) -> None:
    await links.create("taken---", "a.example", TWO)
    new = [
        NewLink("a.example", "abcd", "Title", ["b", "a"], LATER, "b.example"),
        NewLink("a.example"),
        NewLink("a.example", "taken---"),
        NewLink("a.example", "login"),
        NewLink("mailto:a@b.example", expires_at=EARLIER),
    ]
    created = await links.create_all(ONE, new, b"key", bytes(32))
    chosen, drawn, *errors = created.outcomes
    assert isinstance(chosen, Link)
    assert isinstance(drawn, Link)
    assert chosen == Link(
        code="abcd",
        url="http://a.example",
        title="Title",
        tags=("b", "a"),
        created_at=chosen.created_at,
        changed_at=None,
        expires_at=LATER,
        ended_url="http://b.example",
        state=LinkState.ACTIVE,
        reason=None,
    )
    assert [await links.get(ONE, link.code) for link in (chosen, drawn)] == [
        (chosen, []),
        (drawn, []),
    ]
    assert [(type(error), error.reason) for error in errors if isinstance(error, AppError)] == [
        (AlreadyExists, "CODE_TAKEN"),
        (InvalidArgument, "CODE_RESERVED"),
        (InvalidArgument, "INVALID_URL"),
    ]
    assert created.resolutions == await links.resolve(["abcd", drawn.code])
    assert len(created.resolutions) == 2
    assert not created.is_repetition

    await links.change(ONE, "abcd", {"title": "Changed"})
    again = await links.create_all(ONE, new, b"key", bytes(32))
    assert again.outcomes[:2] == [chosen, drawn]
    assert [error.message for error in again.outcomes[2:] if isinstance(error, AppError)] == [
        error.message for error in errors if isinstance(error, AppError)
    ]
    assert again.resolutions == {}
    assert again.is_repetition
    with pytest.raises(InvalidArgument) as refused:
        await links.create_all(ONE, new, b"key", bytes([1] * 32))
    assert refused.value.reason == "IDEMPOTENCY_MISMATCH"
    for account, key, count, reason in (
        (Account(""), b"key", 1, "INVALID_OWNER"),
        (ONE, b"", 1, "INVALID_IDEMPOTENCY_KEY"),
        (ONE, b"other", 101, "TOO_MANY_CODES"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            await links.create_all(account, [NewLink("a.example")] * count, key, bytes(32))
        assert refused.value.reason == reason


async def test_a_repeated_creation_has_the_state_that_the_link_had(links: LinksClient) -> None:
    ending = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    new = [NewLink("a.example", "abcd", expires_at=ending)]
    first = await links.create_all(ONE, new, b"key", bytes(32))
    while (await links.get(ONE, "abcd"))[0].state is LinkState.ACTIVE:
        assert datetime.now(UTC) < ending + timedelta(seconds=5)
        await asyncio.sleep(0.05)
    again = await links.create_all(ONE, new, b"key", bytes(32))
    assert again == CreatedLinks(first.outcomes, {}, is_repetition=True)


async def test_a_hundred_of_the_largest_links_fit_a_message(links: LinksClient) -> None:
    url = "https://a.example/" + "\U0001f389" * 981
    tags = ["\U0001f389" * 28 + f"{n:02}" for n in range(10)]
    link = NewLink(url, None, "\U0001f389" * 100, tags, LATER, url)
    first = await links.create_all(ONE, [link] * 100, b"key", bytes(32))
    assert len({one.code for one in first.outcomes if isinstance(one, Link)}) == 100
    assert len(first.resolutions) == 100
    again = await links.create_all(ONE, [link] * 100, b"key", bytes(32))
    assert again.outcomes == first.outcomes


async def test_an_import_is_checked_run_undone_and_listed(
    links: LinksClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.application.imports.MAX_BATCH", 1)
    import_id = "import-aaaaaaaaaaaaaaa"
    rows = [
        ImportRow(7, "abcdefgh", "a.example", "Title", ["b", "a"], EARLIER, LATER),
        ImportRow(0, None, "a.example"),
        ImportRow(2**31 - 1, "abcd", "b.example"),
    ]
    results = [
        ImportResult(7, ImportVerdict.NEW, "abcdefgh"),
        ImportResult(0, ImportVerdict.NOT_A_CODE, None),
        ImportResult(2**31 - 1, ImportVerdict.NEW, "abcd"),
    ]
    assert await links.check_import(ONE, rows) == results
    before = datetime.now(UTC)
    made = {
        "abcdefgh": Resolution(LinkState.ACTIVE, "http://a.example", LATER),
        "abcd": Resolution.active("http://b.example"),
    }
    assert await links.import_links(ONE, import_id, rows) == (results, made, 3)
    assert await links.import_links(ONE, import_id, rows) == (results, {}, 0)
    link, _ = await links.get(ONE, "abcdefgh")
    assert (link.title, link.tags, link.created_at, link.expires_at) == (
        *("Title", ("b", "a"), EARLIER, LATER),
    )
    gone = Resolution(LinkState.REMOVED)
    assert await links.undo_import(ONE, import_id, None) == (1, {"abcdefgh": gone}, 7)
    assert await links.undo_import(ONE, import_id, 7) == (2, {"abcd": gone}, 2**31 - 1)
    assert await links.undo_import(ONE, import_id, 2**31 - 1) == (2, {}, None)
    [listed] = await links.imports(ONE)
    assert before <= listed.started_at <= datetime.now(UTC)
    assert listed == Import(import_id, listed.started_at, 2, 2)
    with pytest.raises(NotFound) as unknown:
        await links.undo_import(TWO, import_id, None)
    assert unknown.value.reason == "NO_IMPORT"
    with pytest.raises(InvalidArgument) as invalid:
        await links.import_links(ONE, "short", rows)
    assert invalid.value.reason == "INVALID_IMPORT"
    verdicts = [one.value for one in Verdict]
    assert [one.value for one in ImportVerdict] == verdicts


def test_large_calls_that_run_at_once_are_limited() -> None:
    calls = LargeCalls()
    with ExitStack() as under_way:
        for number in range(MAX_LARGE_CALLS):
            under_way.enter_context(calls.hold(f"account {number}"))
        with pytest.raises(ResourceExhausted) as refused, calls.hold("other"):
            pass
    assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_REQUESTS", 1)
    with calls.hold("other"):
        pass


def test_one_account_leaves_large_calls_to_others() -> None:
    calls = LargeCalls()
    with ExitStack() as under_way:
        for _ in range(MAX_LARGE_CALLS_BY_ACCOUNT):
            under_way.enter_context(calls.hold("one"))
        with pytest.raises(ResourceExhausted) as refused, calls.hold("one"):
            pass
        with calls.hold("two"):
            pass
    assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_REQUESTS", 1)
    with calls.hold("one"):
        pass


async def test_imports_checks_and_creations_of_many_links_are_large_calls(
    links: LinksClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_calls, "MAX_LARGE_CALLS", 0)
    rows = [ImportRow(1, "abcdefgh", "a.example")]
    for call in (
        links.check_import(ONE, rows),
        links.import_links(ONE, "a" * 22, rows),
        links.create_all(ONE, [NewLink("a.example")], b"k", bytes(32)),
    ):
        with pytest.raises(ResourceExhausted) as refused:
            await call
        assert (refused.value.reason, refused.value.retry_after) == ("TOO_MANY_REQUESTS", 1)
