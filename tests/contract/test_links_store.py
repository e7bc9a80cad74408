"""What every links store promises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import pytest

from services.links.__main__ import ADAPTERS
from services.links.domain import (
    NOBODY,
    Account,
    CodeTaken,
    Guest,
    InvalidOwner,
    Link,
    Owner,
    Resolution,
    TooManyCodes,
    UrlPolicy,
)
from services.links.service import LinksService
from services.links.store import LinkStore
from tests.contract.conftest import NewStore, opened_anew

Opened = Callable[[], AbstractAsyncContextManager[LinkStore]]


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    """Opens a new, empty store, another one each time."""
    return lambda: opened_anew(new_store, "links", ADAPTERS)


NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)


ONE, TWO = Account("one"), Account("two")
GUEST = Guest(bytes(range(32)))


def link(
    code: str = "abcdefgh", url: str = "http://a.example", owner: Owner = NOBODY, age: int = 0
) -> Link:
    return Link(code, url, owner, NOW - timedelta(microseconds=age))


async def urls(links: LinkStore | LinksService, codes: Sequence[str]) -> dict[str, str]:
    """Where those of the codes lead that answer, each of which must be active."""
    found = await links.resolve(codes)
    assert found == [Resolution.active(one.code, one.url) for one in found]
    return {one.code: one.url for one in found}


async def test_a_link_is_kept_as_it_was_given(opened: Opened) -> None:
    one = link(url="https://example.com/%C3%B1?q=a%20b#ñ\U0001f600", owner=ONE)
    async with opened() as store:
        assert await store.add(one) == one
        assert await urls(store, ["abcdefgh"]) == {"abcdefgh": one.url}
        assert [page async for page in store.by_owner(ONE, 10)] == [[one]]


async def test_a_held_code_stays_with_its_link(opened: Opened) -> None:
    first = link(owner=ONE)
    async with opened() as store:
        await store.add(first)
        assert await store.add(link(url="http://b.example", owner=TWO, age=-5)) == first
        assert await store.add(link(owner=ONE, age=-5)) == first

        assert await urls(store, ["abcdefgh"]) == {"abcdefgh": "http://a.example"}
        assert [page async for page in store.by_owner(TWO, 10)] == []


async def test_a_link_is_found_with_its_owner(opened: Opened) -> None:
    # The last is an account whose id is written like the hash of the guest's key.
    owners: list[Owner] = [NOBODY, ONE, GUEST, Account(GUEST.key_hash.decode())]
    links = [link(f"code{n:04}", owner=owner) for n, owner in enumerate(owners)]
    async with opened() as store:
        for one in links:
            assert await store.add(one) == one
        assert [await store.find(one.code) for one in links] == links
        assert await store.find("unknown-") is None

        await store.remove(["code0001"], NOW)
        assert await store.find("code0001") is None


async def test_lists_of_a_guest_and_of_an_account_have_their_own_links(opened: Opened) -> None:
    owners: list[Account | Guest]
    owners = [ONE, GUEST, Account(GUEST.key_hash.decode()), Guest(bytes(32))]
    links = [link(f"code{n:04}", owner=owners[n % 4], age=n) for n in range(40)]
    async with opened() as store:
        for one in links:
            await store.add(one)
        await store.add(link("nobody--"))

        for n, owner in enumerate(owners):
            pages = [page async for page in store.by_owner(owner, 4)]
            assert [one for page in pages for one in page] == links[n::4]


async def test_a_creation_is_repeated_by_its_owner_alone(opened: Opened) -> None:
    owners: list[Owner] = [ONE, GUEST, NOBODY]
    async with opened() as store:
        service = LinksService(store, UrlPolicy("https://atajo.example"), lambda: NOW)
        for n, owner in enumerate(owners):
            code = f"code{n:04}"
            first = await service.create(code, "a.example", owner)
            for other in owners:
                if other == owner:
                    assert await service.create(code, "a.example", other) == first
                else:
                    with pytest.raises(CodeTaken):
                        await service.create(code, "a.example", other)
        with pytest.raises(InvalidOwner):
            service.by_owner(NOBODY)


async def test_codes_differ_by_case(opened: Opened) -> None:
    async with opened() as store:
        await store.add(link("abcdefgh"))
        assert await urls(store, ["ABCDEFGH"]) == {}
        upper = link("ABCDEFGH", "http://b.example")
        assert await store.add(upper) == upper


async def test_a_thousand_codes_are_looked_up_at_once_unknown_ones_left_out(opened: Opened) -> None:
    codes = [f"code{n:04}" for n in range(1000)]
    async with opened() as store:
        await asyncio.gather(*(store.add(link(code, f"http://{code}")) for code in codes[::2]))

        assert await urls(store, codes) == {code: f"http://{code}" for code in codes[::2]}
        assert await urls(store, ["unknown-"]) == {}


async def test_pages_are_newest_first_and_miss_nothing_made_at_one_moment(opened: Opened) -> None:
    # Groups of seven were made at one moment: the ends of pages fall into groups.
    links = [link(f"code{n:04}", owner=ONE, age=n // 7) for n in range(1201)]
    async with opened() as store:
        await asyncio.gather(*(store.add(one) for one in reversed(links)))
        await store.add(link("other---", owner=TWO))
        await store.add(link("nobody--"))

        pages = [page async for page in store.by_owner(ONE, 500)]

        assert [len(page) for page in pages] == [500, 500, 201]
        found = [one for page in pages for one in page]
        assert [one.created_at for one in found] == [one.created_at for one in links]
        assert sorted(one.code for one in found) == [one.code for one in links]


@pytest.mark.parametrize("count", [0, 4, 5, 10])
async def test_no_page_is_empty(opened: Opened, count: int) -> None:
    async with opened() as store:
        for n in range(count):
            await store.add(link(f"code{n:04}", owner=ONE))

        pages = [page async for page in store.by_owner(ONE, 5)]

        assert all(pages)
        assert sum(len(page) for page in pages) == count


async def test_links_made_while_pages_are_read_do_not_move_them(opened: Opened) -> None:
    links = [link(f"code{n:04}", owner=ONE, age=n) for n in range(6)]
    async with opened() as store:
        for one in links:
            await store.add(one)
        pages = store.by_owner(ONE, 3)

        first = await anext(pages)
        await store.add(link("newest--", owner=ONE, age=-1))

        assert first + [one async for page in pages for one in page] == links


async def test_of_fifty_links_for_one_code_at_once_one_wins(opened: Opened) -> None:
    async with opened() as store:
        service = LinksService(store, UrlPolicy("https://atajo.example"), lambda: NOW)
        results = await asyncio.gather(
            *(service.create("abcdefgh", f"http://{n}.example", NOBODY) for n in range(50)),
            return_exceptions=True,
        )

        won = [result for result in results if isinstance(result, Link)]
        lost = [result for result in results if isinstance(result, CodeTaken)]
        assert (len(won), len(lost)) == (1, 49)
        assert await urls(service, ["abcdefgh"]) == {"abcdefgh": won[0].url}


async def test_one_link_fifty_times_at_once_is_fifty_successes(opened: Opened) -> None:
    async with opened() as store:
        service = LinksService(store, UrlPolicy("https://atajo.example"), lambda: NOW)
        results = await asyncio.gather(
            *(service.create("abcdefgh", "a.example", ONE) for _ in range(50))
        )

        assert set(results) == {link(owner=ONE)}
        assert [page async for page in service.by_owner(ONE)] == [[link(owner=ONE)]]


async def test_a_removed_link_is_gone_and_its_code_is_never_free_again(opened: Opened) -> None:
    one, other = link(owner=ONE), link("other---", owner=ONE, age=1)
    async with opened() as store:
        await store.add(one)
        await store.add(other)
        for _ in range(2):
            assert await store.remove(["abcdefgh", "unknown-"], NOW) == ["abcdefgh"]

            assert await urls(store, ["abcdefgh", "other---"]) == {"other---": other.url}
            assert [page async for page in store.by_owner(ONE, 10)] == [[other]]
            assert await store.add(one) is None
            assert await store.add(link(url="http://b.example", owner=TWO)) is None
        free = link("unknown-")
        assert await store.add(free) == free


async def test_links_removed_while_pages_are_read_do_not_move_them(opened: Opened) -> None:
    links = [link(f"code{n:04}", owner=ONE, age=n) for n in range(7)]
    async with opened() as store:
        for one in links:
            await store.add(one)

        async for page in store.by_owner(ONE, 3):
            codes = [one.code for one in page]
            assert sorted(await store.remove(codes, NOW)) == codes

        assert [page async for page in store.by_owner(ONE, 3)] == []
        assert await urls(store, [one.code for one in links]) == {}


async def test_a_thousand_links_are_removed_at_once(opened: Opened) -> None:
    codes = [f"code{n:04}" for n in range(1000)]
    async with opened() as store:
        await asyncio.gather(*(store.add(link(code)) for code in codes))

        assert sorted(await store.remove(codes, NOW)) == codes
        assert await urls(store, codes) == {}


async def test_a_link_made_and_removed_at_once_is_there_or_was_removed(opened: Opened) -> None:
    one = link()
    async with opened() as store:
        for _ in range(20):
            await asyncio.gather(store.add(one), store.remove(["abcdefgh"], NOW))

        removed = await store.remove(["abcdefgh"], NOW)
        assert removed == ["abcdefgh"]
        assert await store.add(one) is None


async def test_a_removed_code_is_taken_for_whoever_asks(opened: Opened) -> None:
    async with opened() as store:
        service = LinksService(store, UrlPolicy("https://atajo.example"), lambda: NOW)
        await service.create("abcdefgh", "a.example", ONE)
        assert await service.remove(["abcdefgh", "malformed"]) == ["abcdefgh"]

        for owner in (ONE, NOBODY):
            with pytest.raises(CodeTaken):
                await service.create("abcdefgh", "a.example", owner)
        with pytest.raises(TooManyCodes):
            await service.remove(["abcdefgh"] * 1001)
