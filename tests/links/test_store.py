"""The contract of every links store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.links.application import commands
from services.links.application.ports import LinkStore
from services.links.domain.block import BlockReason
from services.links.domain.code import CodeTaken, NoFreeCode
from services.links.domain.edit import Edit, LinkChanges, block, removal, restoration
from services.links.domain.link import RESTORABLE_FOR, FormerUrl, Link, NoLink, TooManyUrls
from services.links.domain.owner import ANONYMOUS, Account, Guest, Owner
from services.links.domain.query import MAX_STORED_RANKINGS, RANKING_TTL, LinkFilter, LinkOrder
from services.links.domain.resolution import LinkState, Resolution
from services.links.domain.text import fold_case
from services.links.domain.url import UrlPolicy
from tests.support import link_operations
from tests.support.store_fixtures import add_all

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)


ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))


def link(
    code: str = "abcdefgh", url: str = "http://a.example", owner: Owner = ANONYMOUS, age: int = 0
) -> Link:
    return Link(code, url, owner, NOW - timedelta(microseconds=age))


async def urls(store: LinkStore, codes: Sequence[str]) -> dict[str, str]:
    """Return the URLs of those of the codes that exist, which must be active."""
    found = await store.links.resolve(codes)
    assert found == [Resolution(one.code, LinkState.ACTIVE, one.url) for one in found]
    return {one.code: one.url for one in found}


async def test_a_link_is_found_with_its_owner(store: LinkStore) -> None:
    # The last is an account whose id looks like the hash of the guest's key.
    owners: list[Owner] = [ANONYMOUS, ONE, GUEST, Account(GUEST.key_hash.decode())]
    links = [link(f"code{n:04}", owner=owner) for n, owner in enumerate(owners)]
    for one in links:
        assert await store.links.add(one) == one
    assert [await store.links.find(one.code) for one in links] == links
    assert await store.links.find("unknown-") is None

    await link_operations.purge(store, ["code0001"], NOW)
    assert await store.links.find("code0001") is None


async def test_a_scan_code_is_the_first_free_draw(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = ["ABCDEFGH", "PURGED-1", "SCAN0001", "SCAN0002"]
    monkeypatch.setattr(commands, "random_scan_codes", lambda: iter(drawn))
    service = link_operations.Service(store, URLS, lambda: NOW)
    for code, owner in (("ABCDEFGH", ANONYMOUS), ("PURGED-1", TWO), ("code0001", ONE)):
        await store.links.add(link(code, owner=owner))
    for code in ("code0002", "code0003"):
        await store.links.add(link(code, owner=GUEST))
    await link_operations.purge(store, ["PURGED-1"], NOW)

    async def given(owner: Owner, code: str) -> str:
        return (await service.commands.create_scan_code(owner, code)).scan_code

    assert await given(ONE, "code0001") == "SCAN0001"
    assert await given(GUEST, "code0002") == "SCAN0002"
    assert await given(ONE, "code0001") == "SCAN0001"
    for owner, code in ((TWO, "code0001"), (ONE, "unknown-"), (ONE, "SCAN0001")):
        with pytest.raises(NoLink):
            await given(owner, code)
    with pytest.raises(NoFreeCode):
        await given(GUEST, "code0003")
    assert (await store.links.find_all(GUEST, ["code0003"]))[0].scan_code == ""
    drawn.append("SCAN0003")
    assert await given(GUEST, "code0003") == "SCAN0003"


async def test_concurrent_calls_create_one_scan_code(store: LinkStore) -> None:
    service = link_operations.Service(store, URLS, lambda: NOW)
    await store.links.add(link(owner=ONE))
    given = await asyncio.gather(
        *(service.commands.create_scan_code(ONE, "abcdefgh") for _ in range(10))
    )
    assert len({one.scan_code for one in given}) == 1
    (found,) = await store.links.resolve([given[0].scan_code])
    assert found.link_code == "abcdefgh"


async def test_a_scan_code_finds_its_link_and_stays_taken_after_a_purge(
    store: LinkStore,
) -> None:
    await store.links.add(link(owner=ONE))
    await link_operations.give_scan_code(store, "abcdefgh", "SCAN0001", NOW)
    with_scan_code = replace(link(owner=ONE), scan_code="SCAN0001")
    for code in ("abcdefgh", "SCAN0001"):
        assert await store.links.find(code) == with_scan_code
    assert await store.links.add(link("SCAN0001", owner=ONE)) is None
    assert await link_operations.purge(store, ["SCAN0001"], NOW) == [], "it is no link of its own"
    assert await link_operations.newest(store, ONE, 9) == [with_scan_code]
    assert await store.links.codes_after("", 9) == ["abcdefgh"]
    found = {one.code: one.link_code for one in await store.links.resolve(["SCAN0001", "abcdefgh"])}
    assert found == {"SCAN0001": "abcdefgh", "abcdefgh": ""}

    cursor = (await store.change_feed.read_since(None)).cursor
    assert await link_operations.purge(store, ["abcdefgh"], NOW) == ["abcdefgh"]
    page = await store.change_feed.read_since(cursor)
    assert set(page.keys) == {"abcdefgh", "SCAN0001"}
    assert await store.links.resolve(["SCAN0001", "abcdefgh"]) == []
    assert await store.links.find("SCAN0001") is None
    assert await store.links.add(link("SCAN0001", owner=ONE)) is None


async def test_owned_codes_exclude_removed_links(store: LinkStore) -> None:
    for owner in (ONE, GUEST):
        assert await store.links.owned_codes(owner, 10) == []
    for n in range(4):
        await store.links.add(link(f"ones{n:04}", owner=ONE, age=n))
    await store.links.add(link("guests--", owner=GUEST))
    await store.links.add(link("nobodys-"))
    await link_operations.edit(store, ["ones0001"], removal(NOW), NOW)
    await link_operations.edit(store, ["ones0002"], block(BlockReason.SPAM), NOW)
    await link_operations.edit(store, ["ones0000"], block(BlockReason.SPAM), NOW)
    await link_operations.edit(store, ["ones0000"], removal(NOW), NOW)

    assert sorted(await store.links.owned_codes(ONE, 10)) == ["ones0002", "ones0003"]
    assert len(await store.links.owned_codes(ONE, 1)) == 1
    assert await store.links.owned_codes(GUEST, 10) == ["guests--"]
    await link_operations.purge(store, ["guests--"], NOW)
    assert await store.links.owned_codes(GUEST, 10) == []


async def test_a_lookup_of_a_thousand_codes_omits_unknown_ones(
    store: LinkStore,
) -> None:
    codes = [f"code{n:04}" for n in range(1000)]
    await add_all(store, [link(code, f"http://{code}") for code in codes[::50]])

    assert await urls(store, codes) == {code: f"http://{code}" for code in codes[::50]}
    assert await urls(store, ["unknown-", "CODE0000"]) == {}


async def test_one_of_fifty_concurrent_creations_wins_a_code(store: LinkStore) -> None:
    service = link_operations.Service(store, URLS, lambda: NOW)
    results = await asyncio.gather(
        *(service.commands.create("abcdefgh", f"http://{n}.example", ANONYMOUS) for n in range(50)),
        return_exceptions=True,
    )

    won = [result for result in results if isinstance(result, Link)]
    lost = [result for result in results if isinstance(result, CodeTaken)]
    assert (len(won), len(lost)) == (1, 49)
    assert await urls(store, ["abcdefgh"]) == {"abcdefgh": won[0].url}


async def test_fifty_concurrent_repetitions_of_a_creation_succeed(store: LinkStore) -> None:
    service = link_operations.Service(store, URLS, lambda: NOW)
    results = await asyncio.gather(
        *(service.commands.create("abcdefgh", "a.example", ONE) for _ in range(50))
    )

    assert set(results) == {link(owner=ONE)}
    assert await link_operations.newest(store, ONE, 5) == [link(owner=ONE)]


async def test_a_link_created_and_purged_concurrently_exists_or_is_purged(store: LinkStore) -> None:
    one = link()
    for _ in range(20):
        await asyncio.gather(store.links.add(one), link_operations.purge(store, ["abcdefgh"], NOW))

    assert await link_operations.purge(store, ["abcdefgh"], NOW) == ["abcdefgh"]
    assert await store.links.add(one) is None


URLS = UrlPolicy("https://atajo.example")
ALL = LinkFilter()
DAY = timedelta(days=1)
EVERYTHING = LinkChanges(
    url="https://b.example/%C3%B1?q=a%20b#ñ\U0001f600",
    title="Año nuevo \U0001f600",
    tags=["b", "año", "a b"],
    expires_at=NOW + DAY,
    ended_url="https://c.example",
    public_statistics=True,
)


async def codes_of(
    store: LinkStore,
    link_filter: LinkFilter = ALL,
    owner: Account | Guest = ONE,
    order: LinkOrder = LinkOrder.NEWEST,
    now: datetime = NOW,
) -> list[str]:
    """Return the codes of matching links, which count and ranking agree with."""
    codes = [one.code for one in await store.lists.page(owner, link_filter, order, None, 100, now)]
    assert await store.lists.count(owner, link_filter, now) == len(codes)
    assert sorted(await store.lists.ranking(owner, link_filter, now)) == sorted(codes)
    return codes


async def edited(store: LinkStore, code: str, edit: Edit, now: datetime = NOW) -> Link:
    return (await link_operations.edit(store, [code], edit, now))[0]


async def test_a_full_history_refuses_another_url(
    store: LinkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for store_kind in ("mongo", "sqlite"):
        monkeypatch.setattr(f"services.links.storage.{store_kind}.links.MAX_FORMER_URLS", 20)
    await store.links.add(link(owner=ONE))
    for n in range(20):
        await edited(store, "abcdefgh", LinkChanges(url=f"{n}.example").edit(URLS, NOW))
    full = await store.links.find("abcdefgh")

    with pytest.raises(TooManyUrls):
        await edited(store, "abcdefgh", LinkChanges(url="x.ex", title="x").edit(URLS, NOW))

    assert await store.links.find("abcdefgh") == full
    history = await store.links.history("abcdefgh")
    assert len(history) == 20
    assert history[-1].url == "http://a.example"
    titled = LinkChanges(title="b", url="19.example").edit(URLS, NOW)
    assert (await edited(store, "abcdefgh", titled)).title == "b"


async def test_edited_links_are_returned_in_the_given_order(store: LinkStore) -> None:
    codes = [f"code{n:04}" for n in range(10)]
    for code in codes:
        await store.links.add(link(code, owner=ONE))

    asked = [*reversed(codes), codes[3]]
    links = await link_operations.edit(
        store, asked, LinkChanges(url="b.example").edit(URLS, NOW), NOW
    )

    assert [one.code for one in links] == asked
    assert {one.url for one in links} == {"http://b.example"}
    assert await store.links.history(codes[3]) == [FormerUrl("http://a.example", NOW)]


async def test_every_state_has_a_list_of_its_own(
    store: LinkStore,
) -> None:
    ends = NOW.replace(microsecond=0)
    links = {
        "active": link("active--", owner=ONE, age=1),
        "ending": replace(link("ending--", owner=ONE, age=2), expires_at=ends + DAY),
        "expired": replace(link("expired-", owner=ONE, age=3), expires_at=ends),
        "blocked": replace(link("blocked-", owner=ONE, age=4), blocked=BlockReason.SPAM),
        "both": replace(
            link("both----", owner=ONE, age=5), blocked=BlockReason.SPAM, expires_at=ends
        ),
        "removed": replace(link("removed-", owner=ONE, age=6), removed_at=NOW),
        "rest": replace(
            link("rest----", owner=ONE, age=7), removed_at=NOW, blocked=BlockReason.PHISHING
        ),
        "last": replace(
            link("last----", owner=ONE, age=8),
            removed_at=NOW - RESTORABLE_FOR + timedelta(microseconds=1),
        ),
        "gone": replace(link("gone----", owner=ONE, age=9), removed_at=NOW - RESTORABLE_FOR),
    }
    lists: dict[LinkState | None, list[str]] = {
        None: ["active", "ending", "expired", "blocked", "both"],
        LinkState.ACTIVE: ["active", "ending"],
        LinkState.EXPIRED: ["expired"],
        LinkState.BLOCKED: ["blocked", "both"],
        LinkState.REMOVED: ["removed", "rest", "last"],
    }
    for one in links.values():
        await store.links.add(one)
    await store.links.add(link("other---", owner=TWO))
    for state, names in lists.items():
        codes = [links[name].code for name in names]
        assert await codes_of(store, LinkFilter(state=state)) == codes
        assert await codes_of(store, LinkFilter("--", state)) == [c for c in codes if "--" in c]
        assert await codes_of(store, LinkFilter(state=state), order=LinkOrder.OLDEST) == codes[::-1]
        for name, one in links.items():
            assert LinkFilter(state=state).matches(one, NOW) == (name in names)

    tomorrow = await codes_of(store, LinkFilter(state=LinkState.EXPIRED), now=ends + DAY)
    assert tomorrow == ["ending--", "expired-"]
    assert await codes_of(store, LinkFilter(state=LinkState.ACTIVE), now=ends + DAY) == ["active--"]
    await link_operations.edit(store, ["rest----", "removed-"], restoration(), NOW)
    assert len(await codes_of(store)) == 7
    await edited(store, "active--", removal(NOW))
    assert len(await codes_of(store)) == 6
    assert "active--" not in await codes_of(store)


FOUND_BY = {
    "CODE": "0123",
    "0002": "2",
    "EXAMPLE/ABC": "0",
    "HTTP://B.EXMPLE/#ÜNÏQUE": "1",
    "http://d.exmple/kelvin/miss": "3",
    "http://d.exmple/kelvin/miss$": "",
    "straße": "1",
    "STRASSE": "1",
    "ß": "13",
    "ÉTÉ": "2",
    "e\u0301te\u0301": "2",
    "ete": "",
    "Ünïque": "1",
    "tag b": "2",
    **dict.fromkeys(("b%d", "b_d", "b!d", "b.*d", "b\\d"), "3"),
    "bxd": "",
    "examplecode": "",
    "\N{KELVIN SIGN}elvin": "3",
    "\U0001f600": "3",
}
"""By search text: the last digits of the codes that match."""


async def test_a_search_ignores_case_and_finds_any_part(store: LinkStore) -> None:
    links = [
        link("code0000", "http://a.example/Abc", ONE, 1),
        replace(link("code0001", "http://b.exmple/#ÜNÏQUE", ONE, 2), title="Meine Straße"),
        replace(link("code0002", "http://c.exmple", ONE, 3), tags=("Tag a", "Tag B", "été")),
        replace(
            link("code0003", "http://d.exmple/kelvin/MISS", ONE, 4),
            title="b%d b_d b!d b.*d b\\d",
            tags=("\U0001f600",),
        ),
    ]
    for one in (*links, link("code0004", "http://a.example/Abc", TWO)):
        await store.links.add(one)
    for text, digits in FOUND_BY.items():
        codes = [f"code000{digit}" for digit in digits]
        assert await codes_of(store, LinkFilter(fold_case(text))) == codes, text
        link_filter = LinkFilter(fold_case(text), LinkState.ACTIVE)
        assert [one.code for one in links if link_filter.matches(one, NOW)] == codes, text


async def test_links_are_ranked_by_visits_of_people_then_by_age(store: LinkStore) -> None:
    assert await store.lists.view_cursor() is None
    for n in range(6):
        await store.links.add(link(f"code{n:04}", owner=ONE, age=n // 2))
    await store.links.add(link("guests--", owner=GUEST))
    await store.links.add(link("nobodys-"))

    async def ranking(owner: Account | Guest = ONE, text: str = "") -> list[str]:
        return await store.lists.ranking(owner, LinkFilter(text), NOW)

    assert await ranking() == [f"code000{n}" for n in (1, 0, 3, 2, 5, 4)]
    people = {"code0004": 5, "code0002": 7, "code0003": 5, "unknown-": 9, "nobodys-": 9}
    await store.lists.record_views(people | {"guests--": 2**40}, "17")
    await store.lists.record_views({"code0002": 6, "code0005": 0}, None)
    assert await store.lists.view_cursor() == "17"
    assert await ranking() == [f"code000{n}" for n in (2, 3, 4, 1, 0, 5)]
    assert await ranking(text="code0004") == ["code0004"]
    assert await ranking(TWO) == []
    await store.lists.record_views({}, "")
    assert await store.lists.view_cursor() == ""

    # Numbers of visits survive every edit of a link.
    for edit in (EVERYTHING.edit(URLS, NOW), removal(NOW), restoration()):
        await edited(store, "code0004", edit)
    await store.lists.record_views({"code0001": 4}, "18")
    await link_operations.claim(store, GUEST, ONE, 10)
    assert (await ranking())[:4] == ["guests--", "code0002", "code0003", "code0004"]
    assert await store.links.add(link("unknown-", owner=ONE, age=99))
    assert (await ranking())[-1] == "unknown-"


async def test_a_stored_ranking_has_all_codes(store: LinkStore) -> None:
    codes = [f"code{n:04}" for n in range(2345)]
    assert await store.lists.stored_ranking(ONE, "key", 0, 10, NOW) is None
    for _ in range(2):
        await link_operations.store_ranking(store, ONE, "key", codes, NOW)
        for start, most in ((0, 10), (995, 10), (999, 2001), (2000, 1000), (2340, 10), (0, 9999)):
            kept = await store.lists.stored_ranking(ONE, "key", start, most, NOW)
            assert kept == codes[start : start + most]
    for start in (2345, 5000):
        assert await store.lists.stored_ranking(ONE, "key", start, 10, NOW) == []
    for owner, key in ((TWO, "key"), (GUEST, "key"), (ONE, "yek")):
        assert await store.lists.stored_ranking(owner, key, 0, 10, NOW) is None

    await link_operations.store_ranking(store, ONE, "key", codes[:3], NOW)
    assert await store.lists.stored_ranking(ONE, "key", 0, 10, NOW) == codes[:3]


async def test_the_latest_rankings_of_an_owner_are_stored_for_an_hour(store: LinkStore) -> None:
    async def kept(owner: Account | Guest, now: datetime) -> list[int]:
        """Return which rankings are stored after four more than the limit."""
        rankings = [
            await store.lists.stored_ranking(owner, f"key{n}", 0, 10, now)
            for n in range(MAX_STORED_RANKINGS + 4)
        ]
        assert all(codes in (None, [f"code{n:04}"]) for n, codes in enumerate(rankings))
        return [n for n, codes in enumerate(rankings) if codes]

    await link_operations.store_ranking(store, TWO, "key0", ["code0000"], NOW)
    for n in range(MAX_STORED_RANKINGS + 2):
        at = NOW + timedelta(seconds=n)
        await link_operations.store_ranking(store, ONE, f"key{n}", [f"code{n:04}"], at)
    later = NOW + timedelta(minutes=6)
    assert await kept(ONE, later) == list(range(2, MAX_STORED_RANKINGS + 2))
    assert await kept(TWO, later) == [0]

    later = NOW + RANKING_TTL
    assert await kept(TWO, later - timedelta(seconds=1)) == [0]
    assert await kept(TWO, later) == []
    assert await kept(ONE, later + timedelta(seconds=3)) == list(range(4, MAX_STORED_RANKINGS + 2))


async def test_a_guests_links_are_claimed_in_batches(store: LinkStore) -> None:
    links = [link(f"code{n:04}", f"http://{n}.example", GUEST, n) for n in range(7)]
    links[2] = replace(links[2], removed_at=NOW)
    links[3] = replace(links[3], blocked=BlockReason.OTHER)
    links[4] = replace(links[4], expires_at=NOW.replace(microsecond=0), title="t", tags=("a",))
    for one in links:
        await store.links.add(one)
    await store.links.add(link("other---", owner=Guest(bytes(32))))
    await edited(store, "code0005", LinkChanges(url="b.example").edit(URLS, NOW))

    assert [await link_operations.claim(store, GUEST, ONE, 3) for _ in range(4)] == [3, 3, 1, 0]

    claimed = await link_operations.newest(store, ONE, 10)
    assert [one.code for one in claimed] == [one.code for one in links]
    assert claimed[2:5] == [replace(one, owner=ONE) for one in links[2:5]]
    assert await store.links.history("code0005") == [FormerUrl("http://5.example", NOW)]
    assert await codes_of(store, owner=GUEST) == []
    assert await link_operations.newest(store, GUEST, 3) == []
    assert await store.links.add(links[0]) == replace(links[0], owner=ONE)
    assert await codes_of(store, owner=Guest(bytes(32))) == ["other---"]


async def test_concurrent_edits_of_one_link_all_take_effect(store: LinkStore) -> None:
    await store.links.add(link(owner=ONE))
    urls = [f"http://{n}.example" for n in range(8)]
    await asyncio.gather(
        *(
            link_operations.edit(store, ["abcdefgh"], LinkChanges(url=u).edit(URLS, NOW), NOW)
            for u in urls
        ),
        link_operations.edit(store, ["abcdefgh"], LinkChanges(title="t").edit(URLS, NOW), NOW),
        link_operations.edit(store, ["abcdefgh"], block(BlockReason.SPAM), NOW),
        store.lists.record_views({"abcdefgh": 3}, None),
    )

    found = await store.links.find("abcdefgh")
    assert found is not None
    assert (found.title, found.blocked) == ("t", BlockReason.SPAM)
    history = [former.url for former in await store.links.history("abcdefgh")]
    assert sorted([found.url, *history]) == sorted(["http://a.example", *urls])
    assert history[-1] == "http://a.example"


async def test_links_removed_before_a_time_are_listed_in_order_of_removal(
    store: LinkStore,
) -> None:
    for n in (3, 1, 4, 0, 2):
        removed = replace(link(f"code{n:04}", owner=ONE), removed_at=NOW + n * DAY)
        await store.links.add(removed)
    await store.links.add(link("active--", owner=ONE))
    codes = [f"code{n:04}" for n in range(5)]
    assert await store.links.removed_before(NOW - DAY, 10) == []
    assert await store.links.removed_before(NOW + 2 * DAY, 10) == codes[:3]
    assert await store.links.removed_before(NOW + 9 * DAY, 2) == codes[:2]
    await link_operations.edit(store, codes[:1], restoration(), NOW + DAY)
    await link_operations.purge(store, codes[1:2], NOW)
    assert await store.links.removed_before(NOW + 9 * DAY, 10) == codes[2:]


async def test_codes_of_links_with_an_owner_are_listed_in_order(store: LinkStore) -> None:
    codes = ["-aaaaaaa", "0aaaaaaa", "Aaaaaaaa", "_aaaaaaa", "aaaa", "aaaaaaaa", "zaaaaaaa"]
    for n, code in enumerate(reversed(codes)):
        await store.links.add(link(code, owner=ONE if n % 2 else GUEST))
    await store.links.add(link("bbbbbbbb"))
    await edited(store, "Aaaaaaaa", removal(NOW))
    assert await store.links.codes_after("", 10) == codes
    assert await store.links.codes_after("", 3) == codes[:3]
    assert await store.links.codes_after(codes[2], 3) == codes[3:6]
    assert await store.links.codes_after("zaaaaaaa", 3) == []
    await link_operations.purge(store, ["aaaa"], NOW)
    assert "aaaa" not in await store.links.codes_after("", 10)


async def test_a_lease_has_one_holder_until_it_ends_or_is_released(store: LinkStore) -> None:
    minute, none = timedelta(minutes=1), timedelta(0)
    assert await store.leases.take("purge", "one", minute, NOW)
    assert not await store.leases.take("purge", "two", minute, NOW)
    assert await store.leases.take("rank", "two", minute, NOW)
    # A renewal extends it; only the holder can release it.
    assert await store.leases.take("purge", "one", minute, NOW + minute / 2)
    assert not await store.leases.take("purge", "two", none, NOW + minute)
    assert not await store.leases.take("purge", "two", minute, NOW + minute)
    assert await store.leases.take("purge", "two", minute, NOW + minute * 1.5)
    assert not await store.leases.take("purge", "one", minute, NOW + minute * 2)
    assert not await store.leases.take("purge", "two", none, NOW + minute * 2)
    assert await store.leases.take("purge", "one", minute, NOW + minute * 2)


@pytest.mark.parametrize("ahead", [timedelta(minutes=62), timedelta(days=3650)])
async def test_a_lease_set_by_a_clock_that_ran_ahead_has_ended(
    store: LinkStore, ahead: timedelta
) -> None:
    hour = timedelta(hours=1)
    assert await store.leases.take("purge", "one", hour, NOW + ahead)
    assert await store.leases.take("purge", "two", hour, NOW)
    assert not await store.leases.take("purge", "one", hour, NOW)
    # A lease taken by a replica whose clock is a minute ahead is valid.
    assert await store.leases.take("rank", "one", hour, NOW + timedelta(minutes=1))
    assert not await store.leases.take("rank", "two", hour, NOW)


async def test_one_of_twenty_concurrent_holders_gets_a_lease(store: LinkStore) -> None:
    minute = timedelta(minutes=1)
    for at in (NOW, NOW + minute):
        held = await asyncio.gather(
            *(store.leases.take("purge", f"{at:%M}-{n}", minute, at) for n in range(20))
        )
        assert sum(held) == 1


async def test_a_purged_link_leaves_only_its_code(store: LinkStore) -> None:
    await store.links.add(link(owner=ONE))
    await store.links.add(link("stays---", owner=ONE))
    await edited(store, "abcdefgh", EVERYTHING.edit(URLS, NOW))
    await edited(store, "abcdefgh", removal(NOW))
    await store.lists.record_views({"abcdefgh": 3}, "1")
    assert await link_operations.purge(store, ["abcdefgh"], NOW) == ["abcdefgh"]

    assert await codes_of(store) == ["stays---"]
    assert await codes_of(store, LinkFilter(state=LinkState.REMOVED)) == []
    assert await store.links.find_all(ONE, ["abcdefgh"]) == []
    assert await store.links.history("abcdefgh") == []
    assert await store.links.codes_after("", 10) == ["stays---"]
    assert await store.links.removed_before(NOW + DAY, 10) == []
    await store.lists.record_views({"abcdefgh": 5}, "2")
    assert await store.links.resolve(["abcdefgh"]) == []
    assert await store.links.add(link(owner=ONE)) is None
