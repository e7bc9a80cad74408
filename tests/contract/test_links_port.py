"""What the gateway relies on of links: over the service itself, and over the fake of tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.clients import LinksClient
from gateway.ports import Links
from gateway.resolution import Changes, Resolution
from services.runtime.errors import AlreadyExists, InvalidArgument
from tests import services
from tests.fakes import FakeLinks

PUBLIC_URL = "https://atajo.example"


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
    assert await links.create("abcdefgh", " ñandú.example/x?y=%C3%B1#z", None) == (
        "http://xn--and-6ma2c.example/x?y=%C3%B1#z"
    )
    assert await links.resolve(["abcdefgh", "ABCDEFGH", "unknown-", "malformed"]) == {
        "abcdefgh": Resolution.active("http://xn--and-6ma2c.example/x?y=%C3%B1#z")
    }


async def test_the_same_link_again_is_a_success_and_another_is_not(links: Links) -> None:
    first = await links.create("abcdefgh", "a.example", "one")
    assert await links.create("abcdefgh", "http://a.example", "one") == first
    for url, creator in (("b.example", "one"), ("a.example", "two"), ("a.example", None)):
        with pytest.raises(AlreadyExists) as taken:
            await links.create("abcdefgh", url, creator)
        assert taken.value.reason == "CODE_TAKEN"
    assert await links.resolve(["abcdefgh"]) == {"abcdefgh": Resolution.active(first)}


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
    assert first == Changes(first.mark, {}, frozenset(), more=False, lost=False)
    await links.create("abcdefgh", "a.example", None)
    assert await links.changes(first.mark) == first


async def test_an_account_has_its_links_newest_first_in_pages(links: Links) -> None:
    codes = [f"page{n:04}" for n in range(501)]
    for code in codes:
        await links.create(code, f"{code}.example", "one")
    await links.create("another-", "a.example", "two")
    await links.create("nobodys-", "a.example", None)

    pages = [page async for page in links.of_account("one")]

    assert all(1 <= len(page) <= 500 for page in pages)
    found = [link for page in pages for link in page]
    assert [link.code for link in found] == codes[::-1]
    assert found[0].url == "http://page0500.example"
    age = datetime.now(UTC) - found[-1].created_at
    assert timedelta(0) <= age < timedelta(minutes=1)
    assert [page async for page in links.of_account("nobody")] == []
