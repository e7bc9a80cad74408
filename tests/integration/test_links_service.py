"""The links service as a process of its own, called over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.runtime import client
from services.runtime.errors import AlreadyExists, InvalidArgument, Unavailable
from tests.processes import Process

SERVICE = pb.DESCRIPTOR.services_by_name["LinksService"]


class Links:
    """The calls of one links process, as the gateway makes them."""

    def __init__(self, stub: pb_grpc.LinksServiceAsyncStub) -> None:
        self._stub = stub
        self._caller = client.Caller(SERVICE)

    async def create(
        self, code: str, url: str, account: str | None = None, guest: bytes | None = None
    ) -> pb.Link:
        request = pb.CreateLinkRequest(code=code, url=url)
        if account is not None:
            request.account_id = account
        if guest is not None:
            request.guest_key_hash = guest
        reply = await self._caller.unary("CreateLink", self._stub.CreateLink, request, 20)
        return reply.link

    async def resolve(self, *codes: str) -> dict[str, str]:
        request = pb.ResolveLinksRequest(codes=codes)
        reply = await self._caller.unary("ResolveLinks", self._stub.ResolveLinks, request, 20)
        return {one.code: one.url for one in reply.resolutions}

    async def pages(self, account: str) -> list[list[pb.Link]]:
        return await self.listed(pb.ListLinksRequest(account_id=account))

    async def listed(self, request: pb.ListLinksRequest) -> list[list[pb.Link]]:
        pages = self._caller.stream("ListLinks", self._stub.ListLinks, request, 20)
        return [list(page.links) async for page in pages]


@asynccontextmanager
async def connected(process: Process) -> AsyncIterator[Links]:
    async with client.open_channel(process.grpc, SERVICE) as channel:
        yield Links(pb_grpc.LinksServiceStub(channel))


def start(folder: Path) -> Process:
    env = {
        "ATAJO_STORE": f"sqlite:///{folder}/links.db",
        "ATAJO_PUBLIC_URL": "https://atajo.example",
    }
    return Process.start("services.links", env, folder / "log")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One process, shared by the tests of this file that do not stop it."""
    with start(tmp_path_factory.mktemp("links")) as process:
        yield process
        assert process.stop() == 0


@pytest.fixture
async def links(process: Process) -> AsyncIterator[Links]:
    async with connected(process) as links:
        yield links


async def test_a_link_is_stored_with_a_scheme_and_found(links: Links) -> None:
    created = await links.create("abcdefgh", "example.com/x?y=%C3%B1#z")

    assert created.url == "http://example.com/x?y=%C3%B1#z"
    age = datetime.now(UTC) - created.created_at.ToDatetime(UTC)
    assert timedelta(0) <= age < timedelta(minutes=1)
    assert await links.resolve("abcdefgh", "unknown-", "malformed") == {"abcdefgh": created.url}


async def test_a_repeated_link_is_one_link_and_another_is_refused(links: Links) -> None:
    first = await links.create("repeated", "a.example", "one")
    assert await links.create("repeated", "http://a.example", "one") == first

    for url, creator in (("b.example", "one"), ("a.example", "two"), ("a.example", None)):
        with pytest.raises(AlreadyExists) as refused:
            await links.create("repeated", url, creator)
        assert refused.value.reason == "CODE_TAKEN"


@pytest.mark.parametrize(
    ("code", "url", "reason"),
    [
        ("abcde", "a.example", "INVALID_CODE"),
        ("abcdefg/", "a.example", "INVALID_CODE"),
        ("bad-url-", "javascript:alert(1)", "INVALID_URL"),
        ("bad-url-", "https://atajo.example/abcdefgh", "INVALID_URL"),
        ("bad-url-", "", "INVALID_URL"),
    ],
)
async def test_what_can_never_be_right_has_a_reason(
    links: Links, code: str, url: str, reason: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await links.create(code, url)
    assert refused.value.reason == reason


async def test_a_guest_owns_links_as_an_account_does(links: Links) -> None:
    guest = bytes(range(32))
    made = await links.create("guest000", "a.example", guest=guest)
    assert await links.create("guest000", "a.example", guest=guest) == made
    for other in ({"account": "one"}, {"guest": bytes(32)}, {}):
        with pytest.raises(AlreadyExists):
            await links.create("guest000", "a.example", **other)

    assert await links.listed(pb.ListLinksRequest(guest_key_hash=guest)) == [[made]]
    assert await links.listed(pb.ListLinksRequest(guest_key_hash=bytes(32))) == []


@pytest.mark.parametrize("owner", [{"account_id": ""}, {"guest_key_hash": b"short"}])
async def test_who_can_own_nothing_is_refused(links: Links, owner: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        await links.create(
            "owner000", "a.example", owner.get("account_id"), owner.get("guest_key_hash")
        )
    assert refused.value.reason == "INVALID_OWNER"
    for request in (pb.ListLinksRequest(**owner), pb.ListLinksRequest()):
        with pytest.raises(InvalidArgument) as refused:
            await links.listed(request)
        assert refused.value.reason == "INVALID_OWNER"
    assert await links.resolve("owner000") == {}


@pytest.mark.parametrize("code", ["register", "dashboard", "DashBoard", "www", "robots.txt"])
@pytest.mark.parametrize("creator", ["one", None])
async def test_a_reserved_name_is_taken(links: Links, code: str, creator: str | None) -> None:
    with pytest.raises(AlreadyExists) as refused:
        await links.create(code, "a.example", creator)
    assert refused.value.reason == "CODE_TAKEN"


@pytest.mark.parametrize("code", ["four", "k" * 32])
async def test_an_account_has_codes_of_its_own_length(links: Links, code: str) -> None:
    assert (await links.create(code, "a.example", "one")).code == code
    assert await links.resolve(code) == {code: "http://a.example"}
    with pytest.raises(InvalidArgument) as refused:
        await links.create(code, "a.example")
    assert refused.value.reason == "INVALID_CODE"


async def test_a_thousand_codes_are_the_most_of_one_look_up(links: Links) -> None:
    assert await links.resolve(*["unknown-"] * 1000) == {}
    with pytest.raises(InvalidArgument) as refused:
        await links.resolve(*["unknown-"] * 1001)
    assert refused.value.reason == "TOO_MANY_CODES"


async def test_an_account_with_401_links_is_three_pages_newest_first(links: Links) -> None:
    codes = [f"page{n:04}" for n in range(401)]
    await asyncio.gather(*(links.create(code, f"{code}.example", "pages") for code in codes))

    pages = await links.pages("pages")

    assert [len(page) for page in pages] == [200, 200, 1]
    found = [link for page in pages for link in page]
    assert sorted(link.code for link in found) == codes
    moments = [link.created_at.ToDatetime(UTC) for link in found]
    assert moments == sorted(moments, reverse=True)
    assert await links.pages("nobody") == []


async def test_a_page_of_the_longest_urls_fits_a_message(links: Links) -> None:
    url = "http://a.example/" + "\U0001f600" * 982
    codes = [f"long{n:04}" for n in range(201)]
    await asyncio.gather(*(links.create(code, url, "long") for code in codes))

    pages = await links.pages("long")

    assert [len(page) for page in pages] == [200, 1]
    assert {link.url for page in pages for link in page} == {url}


async def test_of_fifty_callers_for_one_code_one_wins(links: Links) -> None:
    urls = [f"http://{n}.example" for n in range(50)]
    results = await asyncio.gather(
        *(links.create("contest-", url) for url in urls), return_exceptions=True
    )

    (won,) = (result for result in results if isinstance(result, pb.Link))
    reasons = [result.reason for result in results if isinstance(result, AlreadyExists)]
    assert reasons == ["CODE_TAKEN"] * 49
    assert await links.resolve("contest-") == {"contest-": won.url}


async def test_one_link_fifty_times_at_once_is_fifty_successes(links: Links) -> None:
    results = await asyncio.gather(
        *(links.create("manytime", "a.example", "many") for _ in range(50))
    )

    assert all(result == results[0] for result in results)
    assert await links.pages("many") == [[results[0]]]


async def test_a_kill_amid_two_hundred_creators_loses_nothing(tmp_path: Path) -> None:
    acknowledged: dict[str, pb.Link] = {}
    under_way: dict[str, str] = {}
    enough = asyncio.Event()

    async def run(links: Links, creator: int) -> None:
        for number in range(10_000):
            code = f"{creator:03}-{number:04}"
            under_way[str(creator)] = code
            try:
                acknowledged[code] = await links.create(code, f"{code}.example", str(creator))
            except Unavailable:
                return
            if len(acknowledged) >= 1000:
                enough.set()

    with start(tmp_path) as process:
        async with connected(process) as links:
            running = [asyncio.create_task(run(links, creator)) for creator in range(200)]
            await enough.wait()
            process.kill()
            await asyncio.gather(*running)

    with start(tmp_path) as process:
        async with connected(process) as links:
            codes = sorted(acknowledged)
            for start_at in range(0, len(codes), 1000):
                some = codes[start_at : start_at + 1000]
                assert await links.resolve(*some) == {code: acknowledged[code].url for code in some}
            # What was under way can be sent again, whether or not it had reached the disk.
            for creator, code in under_way.items():
                await links.create(code, f"{code}.example", creator)
            for code in codes[:50]:
                creator = str(int(code[:3]))
                assert await links.create(code, f"{code}.example", creator) == acknowledged[code]
            listed = [
                link.code
                for creator in under_way
                for page in await links.pages(creator)
                for link in page
            ]
            assert sorted(listed) == sorted({*acknowledged, *under_way.values()})
