"""What the gateway relies on of links: over the service itself, and over the fake of tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.clients import LinksClient
from gateway.owners import Account, Guest, Owner
from gateway.ports import FormerUrl, Link, LinkChanges, LinkOrder, Links, Page, Query
from gateway.resolution import BlockReason, Changes, LinkState, Resolution
from services.runtime.errors import AlreadyExists, AppError, InvalidArgument, NotFound
from tests import services
from tests.fakes import FakeLinks

PUBLIC_URL = "https://atajo.example"
ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))
OWNERS: tuple[Account | Guest, ...] = (ONE, GUEST)
EARLIER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2086, 1, 2, 3, 4, 5, tzinfo=UTC)
EVERY, REMOVED = Query(), Query(state=LinkState.REMOVED)


@pytest.fixture(params=["fake", "service"])
async def links(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Links]:
    if request.param == "fake":
        yield FakeLinks(PUBLIC_URL)
        return
    async with services.links(tmp_path, PUBLIC_URL) as address:
        client = LinksClient(address)
        yield client
        await client.close()


async def test_it_says_that_it_is_ready(links: Links) -> None:
    await links.check()


async def test_a_link_is_found_under_its_code_as_it_was_stored(links: Links) -> None:
    stored = Resolution.active("http://xn--and-6ma2c.example/x?y=%C3%B1#z")
    made = await links.create("abcdefgh", " ñandú.example/x?y=%C3%B1#z", None)
    assert made == stored
    assert await links.resolve(["abcdefgh", "ABCDEFGH", "unknown-", "malformed"]) == {
        "abcdefgh": stored
    }


async def test_the_same_link_again_is_a_success_and_another_is_not(links: Links) -> None:
    first = await links.create("abcdefgh", "a.example", ONE)
    assert await links.create("abcdefgh", "http://a.example", ONE) == first
    for url, owner in (
        *(("b.example", ONE), ("a.example", TWO), ("a.example", GUEST)),
        ("a.example", None),
    ):
        with pytest.raises(AlreadyExists) as taken:
            await links.create("abcdefgh", url, owner)
        assert taken.value.reason == "CODE_TAKEN"
    assert await links.resolve(["abcdefgh"]) == {"abcdefgh": first}


async def test_of_links_made_at_once_each_ends_as_it_would_alone(links: Links) -> None:
    await links.create("taken---", "b.example", ONE)
    wanted: tuple[tuple[str, str, Owner | None], ...] = (
        ("abcdefgh", "a.example", ONE),
        ("taken---", "a.example", GUEST),
        ("abcdefg/", "a.example", None),
        ("refused-", "javascript:alert(1)", None),
        ("abcdefgh", "a.example", ONE),
        ("nobodys-", "a.example", None),
    )
    ends = await asyncio.gather(*(links.create(*one) for one in wanted), return_exceptions=True)
    made = Resolution.active("http://a.example")
    assert [end.reason if isinstance(end, AppError) else end for end in ends] == [
        *(made, "CODE_TAKEN", "INVALID_CODE", "INVALID_URL", made, made)
    ]
    assert (await links.get(ONE, "abcdefgh"))[0].url == "http://a.example"


async def test_who_leaves_takes_no_link_from_those_beside_them(links: Links) -> None:
    leaving, *staying = (
        asyncio.create_task(links.create(code, "a.example", ONE))
        for code in ("leaving-", "staying1", "staying2")
    )
    await asyncio.sleep(0)
    leaving.cancel()
    assert await asyncio.gather(*staying) == [Resolution.active("http://a.example")] * 2


async def test_a_guest_has_codes_of_eight_characters_and_an_account_of_any_length(
    links: Links,
) -> None:
    await links.create("abcd", "a.example", ONE)
    await links.create("abcdefgh", "a.example", GUEST)
    with pytest.raises(InvalidArgument) as refused:
        await links.create("abcdefg", "a.example", GUEST)
    assert refused.value.reason == "INVALID_CODE"


async def test_a_creation_repeated_says_what_the_address_answers_now(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    await links.change(ONE, "abcdefgh", {"url": "b.example", "expires_at": LATER})
    now = Resolution(LinkState.ACTIVE, "http://b.example", LATER)
    assert await links.create("abcdefgh", "a.example", ONE) == now
    await links.remove(ONE, ["abcdefgh"])
    with pytest.raises(AlreadyExists):
        await links.create("abcdefgh", "a.example", ONE)


@pytest.mark.parametrize(
    ("code", "url", "reason"),
    [
        ("abcdefg/", "a.example", "INVALID_CODE"),
        ("abcdefgh", "javascript:alert(1)", "INVALID_URL"),
        ("abcdefgh", f"{PUBLIC_URL}/zyxwvuts", "INVALID_URL"),
    ],
)
async def test_what_can_never_be_right_has_a_reason(
    links: Links, code: str, url: str, reason: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await links.create(code, url, None)
    assert refused.value.reason == reason
    assert await links.resolve([code]) == {}


async def test_the_code_of_a_page_is_taken(links: Links) -> None:
    with pytest.raises(AlreadyExists) as taken:
        await links.create("register", "a.example", None)
    assert taken.value.reason == "CODE_TAKEN"


async def test_a_thousand_codes_are_the_most_of_one_look_up(links: Links) -> None:
    assert await links.resolve(["unknown-"] * 1000) == {}
    with pytest.raises(InvalidArgument) as refused:
        await links.resolve(["unknown-"] * 1001)
    assert refused.value.reason == "TOO_MANY_CODES"


async def test_changes_are_told_from_a_mark_on_and_a_new_link_is_none(links: Links) -> None:
    first = await links.changes(None)
    assert first == Changes(first.cursor, {}, frozenset(), more=False, truncated=False)
    await links.create("abcdefgh", "a.example", None)
    assert await links.changes(first.cursor) == first


async def all_pages(links: Links, owner: Owner, query: Query) -> list[Page]:
    """The pages of a query from the one that it asks for to the last."""
    pages = [await links.query(owner, query)]
    while cursor := pages[-1].cursor:
        pages.append(await links.query(owner, replace(query, cursor=cursor)))
    return pages


async def codes_of(links: Links, owner: Owner, query: Query = EVERY) -> list[str]:
    return [link.code for page in await all_pages(links, owner, query) for link in page.links]


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_a_new_link_has_nothing_but_its_url(links: Links, owner: Owner) -> None:
    await links.create("abcdefgh", "a.example", owner)
    link, history = await links.get(owner, "abcdefgh")
    assert link == Link("abcdefgh", "http://a.example", link.created_at)
    assert history == []
    assert await links.query(owner, EVERY) == Page([link], 1, "")


async def test_what_changes_is_what_was_named(links: Links) -> None:
    await links.create("abcdefgh", "a.example", GUEST)
    made, _ = await links.get(GUEST, "abcdefgh")
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
    expected = made
    for changes, shown in steps:
        expected = replace(expected, **shown)  # type: ignore[arg-type]
        for _ in range(2):
            assert (await links.change(GUEST, "abcdefgh", changes))[0] == expected, changes
            assert await links.get(GUEST, "abcdefgh") == (expected, [])


async def test_anybody_may_know_a_link_before_following_it(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    changed, _ = await links.change(
        ONE, "abcdefgh", {"url": "b.example", "title": "A title", "tags": ["mine"]}
    )
    assert await links.preview("abcdefgh") == replace(changed, tags=())
    scan_code, _ = await links.create_scan_code(ONE, "abcdefgh")
    assert await links.preview(scan_code) == await links.preview("abcdefgh")
    reports = [await links.report(one, BlockReason.SPAM, "", "") for one in ("abcdefgh", scan_code)]
    assert reports[0] == reports[1]
    await links.change(ONE, "abcdefgh", {"expires_at": EARLIER})
    ended = await links.preview("abcdefgh")
    assert (ended.state, ended.url) == (LinkState.EXPIRED, "http://b.example")
    await links.remove(ONE, ["abcdefgh"])
    assert (await links.preview("abcdefgh")).state is LinkState.REMOVED
    await links.create("nobodys-", "a.example", None)
    assert (await links.preview("nobodys-")).url == "http://a.example"


@pytest.mark.parametrize("code", ["unknown-", "no code", "", "abcdefgH"])
async def test_there_is_no_preview_of_what_no_code_leads_to(links: Links, code: str) -> None:
    await links.create("abcdefgh", "a.example", None)
    with pytest.raises(NotFound) as refused:
        await links.preview(code)
    assert refused.value.reason == "NO_LINK"


async def test_the_urls_of_a_link_are_kept_the_last_one_first(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    for url in ("b.example", "b.example", "a.example"):
        link, _ = await links.change(ONE, "abcdefgh", {"url": url})
        assert link.url == f"http://{url}"
        assert (await links.resolve(["abcdefgh"]))["abcdefgh"] == Resolution.active(link.url)
    link, history = await links.get(ONE, "abcdefgh")
    assert [former.url for former in history] == ["http://b.example", "http://a.example"]
    assert history[0] == FormerUrl("http://b.example", history[0].until)
    assert link.changed_at == history[0].until > history[1].until >= link.created_at


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "NO_CHANGES"),
        ({"url": "javascript:alert(1)"}, "INVALID_URL"),
        ({"url": f"{PUBLIC_URL}/abcdefgh"}, "INVALID_URL"),
        ({"title": "a" * 101}, "INVALID_TITLE"),
        ({"title": "a\nb"}, "INVALID_TITLE"),
        ({"tags": [str(n) for n in range(11)]}, "INVALID_TAGS"),
        ({"tags": ["a" * 31]}, "INVALID_TAGS"),
        ({"tags": [" "]}, "INVALID_TAGS"),
        ({"ended_url": "ftp://a.example"}, "INVALID_ENDED_URL"),
        ({"ended_url": f"{PUBLIC_URL}/abcdefgh"}, "INVALID_ENDED_URL"),
    ],
)
async def test_a_change_that_can_never_be_right_changes_nothing(
    links: Links, changes: LinkChanges, reason: str
) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    before = await links.get(ONE, "abcdefgh")
    with pytest.raises(InvalidArgument) as refused:
        await links.change(ONE, "abcdefgh", changes and {"public_statistics": True, **changes})
    assert refused.value.reason == reason
    assert await links.get(ONE, "abcdefgh") == before


async def test_titles_and_tags_are_counted_in_code_points(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    wide = "\N{GRINNING FACE}"
    tags = [f"{n}{wide * 29}" for n in range(10)]
    link, _ = await links.change(ONE, "abcdefgh", {"title": wide * 100, "tags": tags})
    assert (link.title, link.tags) == (wide * 100, tuple(tags))


async def test_the_years_at_the_rim_are_ends_like_others(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    for year, state in ((1, LinkState.EXPIRED), (9999, LinkState.ACTIVE)):
        end = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
        link, _ = await links.change(ONE, "abcdefgh", {"expires_at": end})
        assert (link.expires_at, link.state) == (end, state)
        assert (await links.get(ONE, "abcdefgh"))[0] == link
        assert (await links.resolve(["abcdefgh"]))["abcdefgh"].expires_at == end


async def test_what_is_not_the_owners_is_not_there_and_nothing_changes(links: Links) -> None:
    await links.create("mine----", "a.example", ONE)
    await links.create("theirs--", "a.example", TWO)
    await links.create("guests--", "a.example", GUEST)
    await links.create("nobodys-", "a.example", None)
    for code in ("theirs--", "guests--", "nobodys-", "unknown-", "no code", ""):
        for call in (
            links.get(ONE, code),
            links.change(ONE, code, {"title": "mine"}),
            links.remove(ONE, ["mine----", code]),
            links.restore(ONE, [code, "mine----"]),
        ):
            with pytest.raises(NotFound) as refused:
                await call
            assert refused.value.reason == "NO_LINK", code
    assert [link.state for link in (await links.query(ONE, EVERY)).links] == [LinkState.ACTIVE]
    assert len(await links.resolve(["theirs--", "guests--", "nobodys-"])) == 3


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_a_removal_and_its_undo_may_be_repeated(links: Links, owner: Owner) -> None:
    for code in ("abcdefgh", "zyxwvuts"):
        await links.create(code, "a.example", owner)
    cursor = (await links.changes(None)).cursor
    for _ in range(2):
        await links.remove(owner, ["abcdefgh", "abcdefgh"])
        gone = {"abcdefgh": Resolution(LinkState.REMOVED)}
        assert await links.resolve(["abcdefgh"]) == gone
        told = await links.changes(cursor)
        assert (told.resolutions, told.gone) == (gone, frozenset())
        assert await codes_of(links, owner) == ["zyxwvuts"]
        removed = await links.query(owner, Query(state=LinkState.REMOVED))
        assert [(link.code, link.state) for link in removed.links] == [
            ("abcdefgh", LinkState.REMOVED)
        ]
        assert (await links.get(owner, "abcdefgh"))[0] == removed.links[0]
    for _ in range(2):
        await links.restore(owner, ["zyxwvuts", "abcdefgh", "zyxwvuts"])
        assert await codes_of(links, owner) == ["zyxwvuts", "abcdefgh"]
        assert (await links.changes(cursor)).resolutions["abcdefgh"].state is LinkState.ACTIVE


async def test_a_hundred_codes_are_the_most_of_one_edit(links: Links) -> None:
    codes = [f"page{n:04}" for n in range(100)]
    for code in codes:
        await links.create(code, "a.example", ONE)
    for edit in (links.remove, links.restore):
        await edit(ONE, codes)
        with pytest.raises(InvalidArgument) as refused:
            await edit(ONE, [*codes, codes[0]])
        assert refused.value.reason == "TOO_MANY_CODES"


@pytest.mark.parametrize("order", LinkOrder)
async def test_pages_have_every_link_once_in_their_order(links: Links, order: LinkOrder) -> None:
    codes = [f"page{n:04}" for n in range(25)]
    for code in codes:
        await links.create(code, f"{code}.example", GUEST)
    pages = await all_pages(links, GUEST, Query(order=order, limit=10))
    assert [len(page.links) for page in pages] == [10, 10, 5]
    assert [page.total for page in pages] == [25, 25, 25]
    found = [link.code for page in pages for link in page.links]
    # None was visited: of those that are alike the newer comes first.
    assert found == (codes if order is LinkOrder.OLDEST else codes[::-1])
    assert (await links.query(GUEST, Query(order=order, limit=25))).cursor == ""


async def test_a_link_is_found_by_what_is_known_of_it_whatever_the_case(links: Links) -> None:
    await links.create("CamelCas", "a.example/Straße", ONE)
    await links.create("abcdefgh", "b.example", ONE)
    await links.change(ONE, "abcdefgh", {"title": "Éclair", "tags": ["Ñandú"]})
    for text, found in (
        *(("", ["abcdefgh", "CamelCas"]), (".EXAMPLE", ["abcdefgh", "CamelCas"])),
        *(("camelcas", ["CamelCas"]), ("STRASSE", ["CamelCas"])),
        *(("éCL", ["abcdefgh"]), ("ÑAND", ["abcdefgh"]), ("nothing", []), ("%", []), ("_", [])),
    ):
        page = await links.query(ONE, Query(text=text))
        assert ([link.code for link in page.links], page.total) == (found, len(found)), text


async def test_a_list_that_is_not_counted_has_longer_pages(links: Links) -> None:
    codes = [f"page{n:04}" for n in range(201)]
    for code in codes:
        await links.create(code, "a.example", ONE)
    pages = await all_pages(links, ONE, Query(limit=200, with_total=False))
    assert [len(page.links) for page in pages] == [200, 1]
    assert [link.code for page in pages for link in page.links] == codes[::-1]
    assert pages[0].total == 0


async def test_a_list_has_those_in_a_state(links: Links) -> None:
    for code in ("active--", "expired-", "removed-"):
        await links.create(code, "a.example", ONE)
    await links.change(ONE, "expired-", {"expires_at": EARLIER})
    await links.remove(ONE, ["removed-"])
    assert await codes_of(links, ONE) == ["expired-", "active--"]
    for state in LinkState:
        expected = [] if state is LinkState.BLOCKED else [f"{state.value:-<8}"]
        assert await codes_of(links, ONE, Query(state=state)) == expected


@pytest.mark.parametrize("order", LinkOrder)
async def test_a_cursor_is_good_for_the_list_that_it_was_made_for(
    links: Links, order: LinkOrder
) -> None:
    for owner in OWNERS:
        for n in range(3):
            code = f"{'one' if owner is ONE else 'gst'}-{n:04}"
            await links.create(code, "a.example", owner)
    made = Query(text="a", order=order, limit=1)
    cursor = (await links.query(ONE, made)).cursor
    wrong: list[tuple[Owner, Query]] = [(GUEST, made), (ONE, replace(made, text=""))]
    wrong += [(ONE, replace(made, state=state)) for state in LinkState]
    wrong += [(ONE, replace(made, order=other)) for other in LinkOrder if other is not order]
    for owner, query in wrong:
        with pytest.raises(InvalidArgument) as refused:
            await links.query(owner, replace(query, cursor=cursor))
        assert refused.value.reason == "INVALID_CURSOR"
    for bad in ("nonsense", "ñ", f"{cursor}x", cursor[:-1], "a" * 5000):
        with pytest.raises(InvalidArgument) as refused:
            await links.query(ONE, replace(made, cursor=bad))
        assert refused.value.reason == "INVALID_CURSOR"
    again = await links.query(ONE, replace(made, cursor=cursor, limit=100))
    assert (len(again.links), again.total, again.cursor) == (2, 3, "")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (Query(limit=0), "INVALID_LIMIT"),
        (Query(limit=-1), "INVALID_LIMIT"),
        (Query(limit=101), "INVALID_LIMIT"),
        (Query(limit=201, with_total=False), "INVALID_LIMIT"),
        (Query(text="a" * 1000), "INVALID_QUERY"),
    ],
)
async def test_a_query_that_can_never_be_right_has_a_reason(
    links: Links, query: Query, reason: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await links.query(ONE, query)
    assert refused.value.reason == reason


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_the_codes_of_an_owner_are_those_in_every_state_but_removed(
    links: Links, owner: Owner
) -> None:
    assert await links.owned_codes(owner) == []
    for code in ("active--", "expired-", "removed-", "restored"):
        await links.create(code, "a.example", owner)
    await links.create("another-", "a.example", TWO)
    await links.create("nobodys-", "a.example", None)
    await links.change(owner, "expired-", {"expires_at": EARLIER})
    await links.remove(owner, ["removed-", "restored"])
    await links.restore(owner, ["restored"])
    assert sorted(await links.owned_codes(owner)) == ["active--", "expired-", "restored"]


async def test_codes_of_many_links_come_all_together(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.links.api.links._CODES_PER_MESSAGE", 400)
    codes = [f"page{n:04}" for n in range(1001)]
    for code in codes:
        await links.create(code, "a.example", GUEST)
    assert sorted(await links.owned_codes(GUEST)) == codes


async def test_an_owner_of_too_many_links_is_told_so(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("domain", "application.queries"):
        monkeypatch.setattr(f"services.links.{module}.MAX_OWNED_CODES", 3)
    for n in range(4):
        assert len(await links.owned_codes(ONE)) == n
        await links.create(f"page{n:04}", "a.example", ONE)
    with pytest.raises(InvalidArgument) as refused:
        await links.owned_codes(ONE)
    assert refused.value.reason == "TOO_MANY_LINKS"
    await links.remove(ONE, ["page0000"])
    assert len(await links.owned_codes(ONE)) == 3


async def may_see(links: Links, caller: Owner | None, code: str) -> bool:
    try:
        await links.check_statistics_access(caller, code)
    except NotFound:
        return False
    return True


@pytest.mark.parametrize("owner", OWNERS, ids=["account", "guest"])
async def test_statistics_are_their_owners_unless_they_are_public(
    links: Links, owner: Owner
) -> None:
    await links.create("abcdefgh", "a.example", owner)
    others = (None, TWO, Guest(bytes(32)))

    async def seen() -> list[bool]:
        return [await may_see(links, caller, "abcdefgh") for caller in (owner, *others)]

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


async def test_nobody_sees_statistics_of_a_link_of_nobody_or_of_none(links: Links) -> None:
    await links.create("abcdefgh", "a.example", None)
    for code in ("abcdefgh", "unknown-", "no code", "", "a\0b"):
        for caller in (None, *OWNERS):
            assert not await may_see(links, caller, code)


async def test_a_scan_code_is_made_once_for_its_owner(links: Links) -> None:
    await links.create("abcdefgh", "a.example", GUEST)
    cursor = (await links.changes(None)).cursor
    scan_code, _ = await links.create_scan_code(GUEST, "abcdefgh")
    assert (await links.create_scan_code(GUEST, "abcdefgh"))[0] == scan_code
    link, _ = await links.get(GUEST, "abcdefgh")
    assert link.scan_code == scan_code
    assert scan_code in (await links.changes(cursor)).resolutions
    for owner, code in ((ONE, "abcdefgh"), (GUEST, "unknown-"), (GUEST, scan_code)):
        with pytest.raises(NotFound) as refused:
            await links.create_scan_code(owner, code)
        assert refused.value.reason == "NO_LINK"
    with pytest.raises(AlreadyExists) as taken:
        await links.create(scan_code, "b.example", ONE)
    assert taken.value.reason == "CODE_TAKEN"


async def test_an_edit_returns_what_its_short_addresses_answer_now(links: Links) -> None:
    codes = ("abcdefgh", "zyxwvuts")
    for code in codes:
        await links.create(code, "a.example", ONE)
    scan_code, resolutions = await links.create_scan_code(ONE, "abcdefgh")
    assert resolutions == await links.resolve([scan_code]) != {}

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


async def test_a_scan_code_answers_what_its_link_answers(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    scan_code, _ = await links.create_scan_code(ONE, "abcdefgh")

    async def answers() -> Resolution:
        found = await links.resolve(["abcdefgh", scan_code])
        assert found[scan_code] == found["abcdefgh"]._replace(link_code="abcdefgh")
        return found["abcdefgh"]

    assert await answers() == Resolution.active("http://a.example")
    cursor = (await links.changes(None)).cursor
    await links.change(ONE, "abcdefgh", {"expires_at": EARLIER, "ended_url": "b.example"})
    ended = Resolution(LinkState.ACTIVE, "http://a.example", EARLIER, "http://b.example")
    assert await answers() == ended
    assert (await links.changes(cursor)).resolutions == {
        "abcdefgh": ended,
        scan_code: ended._replace(link_code="abcdefgh"),
    }
    await links.remove(ONE, ["abcdefgh"])
    assert (await answers()).state is LinkState.REMOVED


async def test_a_guests_links_move_to_an_account_in_every_state(links: Links) -> None:
    for code in ("active--", "expired-", "removed-"):
        await links.create(code, "a.example", GUEST)
    await links.create("theirs--", "a.example", TWO)
    await links.change(GUEST, "expired-", {"expires_at": EARLIER, "title": "kept"})
    await links.remove(GUEST, ["removed-"])
    other = Guest(bytes(32))
    await links.create("another-", "a.example", other)

    assert await links.claim(GUEST, ONE) == (3, False)
    assert await links.claim(GUEST, ONE) == (0, False)
    assert await links.claim(GUEST, TWO) == (0, False)

    assert await codes_of(links, GUEST) == await codes_of(links, GUEST, REMOVED) == []
    assert await codes_of(links, ONE) == ["expired-", "active--"]
    assert await codes_of(links, ONE, REMOVED) == ["removed-"]
    assert (await links.get(ONE, "expired-"))[0].title == "kept"
    assert await codes_of(links, other) == ["another-"]
    with pytest.raises(NotFound):
        await links.get(GUEST, "active--")


async def test_a_claim_of_many_takes_steps(links: Links) -> None:
    codes = [f"page{n:04}" for n in range(1001)]
    for code in codes:
        await links.create(code, "a.example", GUEST)
    claimed, more = 0, True
    while more:
        moved, more = await links.claim(GUEST, ONE)
        assert moved <= 1000
        claimed += moved
    assert claimed == 1001
    assert (await links.query(ONE, EVERY)).total == 1001
    assert (await links.query(GUEST, EVERY)).total == 0


async def test_reports_of_a_link_for_one_reason_have_one_id(links: Links) -> None:
    await links.create("abcdefgh", "a.example", ONE)
    await links.create("another-", "a.example", None)
    ids = {
        (code, reason): await links.report(code, reason, "Ñ" * 1000, "ana@b.example")
        for code in ("abcdefgh", "another-")
        for reason in BlockReason
    }
    assert len(set(ids.values())) == 2 * len(BlockReason)
    for (code, reason), report in ids.items():
        assert await links.report(code, reason, "", "") == report
    await links.remove(ONE, ["abcdefgh"])
    report = await links.report("abcdefgh", BlockReason.SPAM, "", "")
    assert report == ids["abcdefgh", BlockReason.SPAM]
    for code in ("unknown-", "no code", "", "a\0b"):
        with pytest.raises(NotFound) as refused:
            await links.report(code, BlockReason.SPAM, "", "")
        assert refused.value.reason == "NO_LINK"


@pytest.mark.parametrize(
    ("details", "contact", "reason"),
    [
        ("a" * 1001, "", "INVALID_DETAILS"),
        ("a\x1b[2Jb", "", "INVALID_DETAILS"),
        ("", "nobody", "INVALID_CONTACT"),
        ("", "@b.example", "INVALID_CONTACT"),
        ("", "a" * 250 + "@b.example", "INVALID_CONTACT"),
        (" \n" + "a" * 1000 + "\t ", " ana@b.example ", None),
        ("Two\r\nlines\tof it", " ", None),
    ],
)
async def test_what_a_reporter_may_write(
    links: Links, details: str, contact: str, reason: str | None
) -> None:
    await links.create("abcdefgh", "a.example", None)
    if reason is None:
        assert await links.report("abcdefgh", BlockReason.OTHER, details, contact)
        return
    with pytest.raises(InvalidArgument) as refused:
        await links.report("abcdefgh", BlockReason.OTHER, details, contact)
    assert refused.value.reason == reason
