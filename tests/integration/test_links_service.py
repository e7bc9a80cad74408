"""The links service as a process of its own, called over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.runtime import client
from services.runtime.errors import (
    AlreadyExists,
    InvalidArgument,
    NotFound,
    Unavailable,
)
from tests.processes import Process

SERVICE = pb.DESCRIPTOR.services_by_name["LinksService"]
ADMIN = pb.DESCRIPTOR.services_by_name["AdminService"]


class Links:
    """The calls of one links process, as the gateway, the reconciler and the operator make them."""

    def __init__(
        self, stub: pb_grpc.LinksServiceAsyncStub, admin: pb_grpc.AdminServiceAsyncStub
    ) -> None:
        self._stub = stub
        self._admin = admin
        self._caller = client.Caller(SERVICE)
        self._operator = client.Caller(ADMIN)

    async def call(self, request: Any) -> Any:
        """The answer to a request of the gateway's."""
        method = type(request).__name__.removesuffix("Request")
        return await self._caller.unary(method, getattr(self._stub, method), request, 20)

    async def admin(self, request: Any) -> Any:
        """The answer to a request of the operator's."""
        method = type(request).__name__.removesuffix("Request")
        return await self._operator.unary(method, getattr(self._admin, method), request, 20)

    async def all_of(self, account: str) -> list[pb.Link]:
        """An account's links in every state, newest first."""
        codes = (await self.admin(pb.ListAccountCodesRequest(account_id=account))).codes
        owner = pb.Owner(account_id=account)
        return [(await self.call(pb.GetLinkRequest(owner=owner, code=code))).link for code in codes]

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
    async with (
        client.open_channel(process.grpc, SERVICE) as channel,
        client.open_channel(process.addresses["admin"], ADMIN) as admin,
    ):
        yield Links(pb_grpc.LinksServiceStub(channel), pb_grpc.AdminServiceStub(admin))


def start(folder: Path) -> Process:
    env = {
        "ATAJO_STORE": f"sqlite:///{folder}/links.db",
        "ATAJO_PUBLIC_URL": "https://atajo.example",
        "ATAJO_ADMIN_LISTEN": "127.0.0.1:0",
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

    for pasted in ("\u201chttp://a.example\u201d", "(a.example) ", "\u2022 a.example\u200b"):
        assert await links.create("repeated", pasted, "one") == first

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
        ("bad-url-", "url=https://a.example", "INVALID_URL"),
        ("bad-url-", "http://https//a.example", "INVALID_URL"),
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


def owned_by(account: str) -> pb.Owner:
    return pb.Owner(account_id=account)


def moment(seconds: int) -> Timestamp:
    return Timestamp(seconds=seconds)


async def test_a_link_has_all_that_its_owner_gave_it(links: Links) -> None:
    owner = owned_by("life")
    made = await links.create("wholelnk", "a.example", "life")
    changes = pb.LinkChanges(
        url="b.example/ñ",
        title=" Año ",
        tags=pb.Tags(tags=["b", "a", "b"]),
        expiry=pb.Expiry(expires_at=Timestamp(seconds=4_000_000_000, nanos=999_999_999)),
        ended_url="c.example",
        public_statistics=True,
    )
    request = pb.ChangeLinkRequest(owner=owner, code="wholelnk", changes=changes)
    changed = (await links.call(request)).link
    expected = pb.Link(
        code="wholelnk",
        url="http://b.example/ñ",
        created_at=made.created_at,
        title="Año",
        tags=["b", "a"],
        changed_at=changed.changed_at,
        expires_at=moment(4_000_000_000),
        ended_url="http://c.example",
        public_statistics=True,
        state=pb.LINK_STATE_ACTIVE,
    )
    assert changed == expected
    assert changed.changed_at.ToDatetime(UTC) >= made.created_at.ToDatetime(UTC)
    assert (await links.call(request)).link == expected

    got = await links.call(pb.GetLinkRequest(owner=owner, code="wholelnk"))
    assert got.link == expected
    assert list(got.history) == [pb.FormerUrl(url="http://a.example", until=changed.changed_at)]

    queried = await links.call(pb.QueryLinksRequest(owner=owner, text="AÑO", limit=1))
    assert list(queried.links) == [expected]
    assert (queried.total, queried.cursor) == (1, "")

    resolution = pb.Resolution(
        code="wholelnk",
        url="http://b.example/ñ",
        expires_at=moment(4_000_000_000),
        ended_url="http://c.example",
    )
    found = await links.call(pb.ResolveLinksRequest(codes=["wholelnk"]))
    assert list(found.resolutions) == [resolution]
    again = await links.call(
        pb.CreateLinkRequest(code="wholelnk", url="a.example", account_id="life")
    )
    assert (again.link, again.resolution) == (expected, resolution)
    with pytest.raises(AlreadyExists):
        await links.create("wholelnk", "b.example/ñ", "life")

    emptied = pb.LinkChanges(
        title="", tags=pb.Tags(), expiry=pb.Expiry(), ended_url="", public_statistics=False
    )
    request = pb.ChangeLinkRequest(owner=owner, code="wholelnk", changes=emptied)
    link = (await links.call(request)).link
    assert (link.title, list(link.tags), link.ended_url) == ("", [], "")
    assert not link.HasField("expires_at")
    assert link.url == "http://b.example/ñ"


async def test_a_link_goes_through_every_state(links: Links) -> None:
    account, owner, codes = "states", owned_by("states"), ["state000", "state001"]
    for code in codes:
        await links.create(code, "a.example", account)

    async def states() -> list[tuple[int, int]]:
        listed = {link.code: link for link in await links.all_of(account)}
        return [(listed[code].state, listed[code].reason) for code in codes]

    async def active() -> list[str]:
        return sorted(link.code for page in await links.pages(account) for link in page)

    active_state, removed_state = (pb.LINK_STATE_ACTIVE, 0), (pb.LINK_STATE_REMOVED, 0)
    assert await states() == [active_state] * 2
    for _ in range(2):
        await links.call(pb.RemoveLinksRequest(owner=owner, codes=codes))
        assert await states() == [removed_state] * 2
    assert await active() == []
    assert (await links.call(pb.QueryLinksRequest(owner=owner, limit=9))).total == 0
    removed = await links.call(
        pb.QueryLinksRequest(owner=owner, state=pb.LINK_STATE_REMOVED, limit=9)
    )
    assert sorted(link.code for link in removed.links) == codes
    with pytest.raises(AlreadyExists):
        await links.create("state000", "a.example", account)
    assert list((await links.admin(pb.ListPurgeableRequest())).codes) == []
    for _ in range(2):
        await links.call(pb.RestoreLinksRequest(owner=owner, codes=codes[:1]))
        assert await states() == [active_state, removed_state]

    mark = (await links.call(pb.ListChangesRequest())).mark
    block = pb.BlockLinkRequest(code="state000", reason=pb.BLOCK_REASON_PHISHING)
    await links.admin(block)
    assert (await states())[0] == (pb.LINK_STATE_BLOCKED, pb.BLOCK_REASON_PHISHING)
    told = await links.call(pb.ListChangesRequest(mark=mark))
    assert [(one.code, one.state) for one in told.resolutions] == [
        ("state000", pb.LINK_STATE_BLOCKED)
    ]
    assert await active() == []
    await links.admin(pb.UnblockLinkRequest(code="state000"))
    assert (await states())[0] == active_state
    ended = pb.LinkChanges(expiry=pb.Expiry(expires_at=moment(1)))
    request = pb.ChangeLinkRequest(owner=owner, code="state000", changes=ended)
    assert (await links.call(request)).link.state == pb.LINK_STATE_EXPIRED

    gone = await links.admin(pb.RemoveAccountLinksRequest(account_id=account))
    assert (gone.removed, gone.more) == (2, False), "one that its owner removed before, too"
    for state in (pb.LINK_STATE_UNSPECIFIED, pb.LINK_STATE_REMOVED):
        listed = await links.call(pb.QueryLinksRequest(owner=owner, state=state, limit=9))
        assert list(listed.links) == []
    purged = await links.admin(pb.PurgeLinksRequest(codes=codes))
    assert sorted(purged.codes) == codes
    assert await links.all_of(account) == []


async def test_pages_of_every_order_go_on_with_their_cursors(links: Links) -> None:
    owner, codes = owned_by("orders"), [f"order{n:03}" for n in range(5)]
    for code in codes:
        await links.create(code, "a.example", "orders")
    await links.admin(pb.RankLinksRequest(people={"order001": 5, "order003": 2}, mark=7))
    await links.admin(pb.RankLinksRequest(people={"order003": 3}))
    assert (await links.admin(pb.GetRankMarkRequest())).mark == 7
    by_rank = ["order001", "order003", "order004", "order002", "order000"]
    for order, expected in (
        (pb.LINK_ORDER_UNSPECIFIED, codes[::-1]),
        (pb.LINK_ORDER_NEWEST, codes[::-1]),
        (pb.LINK_ORDER_OLDEST, codes),
        (pb.LINK_ORDER_MOST_VIEWED, by_rank),
    ):
        seen: list[str] = []
        request = pb.QueryLinksRequest(owner=owner, order=order, limit=2)
        while True:
            page = await links.call(request)
            seen += [link.code for link in page.links]
            assert page.total == 5
            if not page.cursor:
                break
            request.cursor = page.cursor
        assert seen == expected


async def test_a_guests_links_are_claimed(links: Links) -> None:
    guest = b"g" * 32
    for code in ("claimed0", "claimed1"):
        await links.create(code, "a.example", guest=guest)
    claim = pb.ClaimLinksRequest(guest_key_hash=guest, account_id="claims")
    for claimed in (2, 0):
        reply = await links.call(claim)
        assert (reply.claimed, reply.more) == (claimed, False)
    assert [link.code for link in await links.all_of("claims")] == ["claimed1", "claimed0"]
    assert await links.listed(pb.ListLinksRequest(guest_key_hash=guest)) == []
    codes = (await links.admin(pb.ListCodesRequest(after="claimed"))).codes
    assert list(codes[:2]) == ["claimed0", "claimed1"]


async def test_a_lease_is_held_by_one(links: Links) -> None:
    def lease(holder: str, seconds: int = 60) -> pb.TakeLeaseRequest:
        return pb.TakeLeaseRequest(job="purge", holder=holder, seconds=seconds)

    held = [(await links.admin(lease(holder))).held for holder in ("one", "two", "one")]
    assert held == [True, False, True]
    assert not (await links.admin(lease("one", 0))).held
    assert (await links.admin(lease("two"))).held


ONES = owned_by("refused")
FAR = Timestamp(seconds=2**62)
SPAM = pb.BLOCK_REASON_SPAM


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.QueryLinksRequest(limit=1), "INVALID_OWNER"),
        (pb.QueryLinksRequest(owner=pb.Owner(guest_key_hash=b"x"), limit=1), "INVALID_OWNER"),
        (pb.QueryLinksRequest(owner=ONES), "INVALID_LIMIT"),
        (pb.QueryLinksRequest(owner=ONES, limit=101), "INVALID_LIMIT"),
        (pb.QueryLinksRequest(owner=ONES, limit=1, text="x" * 1000), "INVALID_QUERY"),
        (pb.QueryLinksRequest(owner=ONES, limit=1, state=99), "INVALID_QUERY"),  # type: ignore[arg-type]
        (pb.QueryLinksRequest(owner=ONES, limit=1, order=99), "INVALID_QUERY"),  # type: ignore[arg-type]
        (pb.QueryLinksRequest(owner=ONES, limit=1, cursor="garbage"), "INVALID_CURSOR"),
        (pb.GetLinkRequest(code="refused0"), "INVALID_OWNER"),
        (pb.ChangeLinkRequest(owner=ONES, code="refused0"), "NO_CHANGES"),
        (pb.RemoveLinksRequest(owner=ONES, codes=["refused0"] * 101), "TOO_MANY_CODES"),
        (pb.RestoreLinksRequest(owner=ONES, codes=["refused0"] * 101), "TOO_MANY_CODES"),
        (pb.RemoveLinksRequest(codes=["refused0"]), "INVALID_OWNER"),
        (pb.RestoreLinksRequest(codes=["refused0"]), "INVALID_OWNER"),
        (pb.ClaimLinksRequest(guest_key_hash=b"x", account_id="a"), "INVALID_OWNER"),
        (pb.ClaimLinksRequest(guest_key_hash=bytes(32)), "INVALID_OWNER"),
        (pb.PurgeLinksRequest(codes=["refused0"] * 1001), "TOO_MANY_CODES"),
        (pb.BlockLinkRequest(code="refused0"), "INVALID_REASON"),
        (pb.BlockLinkRequest(code="refused0", reason=99), "INVALID_REASON"),  # type: ignore[arg-type]
        (
            pb.BlockLinkRequest(code="refused0", reason=pb.BLOCK_REASON_SPAM, cause="x" * 1001),
            "INVALID_CAUSE",
        ),
        (pb.UnblockLinkRequest(code="refused0", cause="\x1b[2J"), "INVALID_CAUSE"),
        (pb.DismissReportsRequest(code="refused0", cause="\n"), "INVALID_CAUSE"),
        (pb.BlockAddressRequest(address="evil.example"), "INVALID_REASON"),
        (pb.BlockAddressRequest(address="co.uk", reason=SPAM), "INVALID_ADDRESS"),
        (
            pb.BlockAddressRequest(address="atajo.example", reason=SPAM),
            "INVALID_ADDRESS",
        ),
        (pb.UnblockAddressRequest(address="nothing"), "INVALID_ADDRESS"),
        (pb.RemoveAccountLinksRequest(), "INVALID_OWNER"),
        (pb.TakeLeaseRequest(job="Purge", holder="one", seconds=1), "INVALID_LEASE"),
        (pb.TakeLeaseRequest(job="purge", holder="one", seconds=-1), "INVALID_LEASE"),
    ],
)
async def test_a_call_that_can_never_be_right_has_a_reason(
    links: Links, request_: Any, reason: str
) -> None:
    is_admins = type(request_).__name__.removesuffix("Request") in ADMIN.methods_by_name
    with pytest.raises(InvalidArgument) as refused:
        await (links.admin if is_admins else links.call)(request_)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (pb.LinkChanges(url=""), "INVALID_URL"),
        (pb.LinkChanges(url="https://atajo.example/abcdefgh"), "INVALID_URL"),
        (pb.LinkChanges(title="x" * 101), "INVALID_TITLE"),
        (pb.LinkChanges(title="a\x00b"), "INVALID_TITLE"),
        (pb.LinkChanges(tags=pb.Tags(tags=[""])), "INVALID_TAGS"),
        (pb.LinkChanges(tags=pb.Tags(tags=["a"] * 11)), "INVALID_TAGS"),
        (pb.LinkChanges(expiry=pb.Expiry(expires_at=FAR)), "INVALID_EXPIRY"),
        (pb.LinkChanges(expiry=pb.Expiry(expires_at=Timestamp(nanos=-1))), "INVALID_EXPIRY"),
        (pb.LinkChanges(ended_url="javascript:alert(1)"), "INVALID_ENDED_URL"),
    ],
)
async def test_a_bad_change_has_a_reason_and_changes_nothing(
    links: Links, changes: pb.LinkChanges, reason: str
) -> None:
    made = await links.create("refused0", "a.example", "refused")
    if not changes.HasField("title"):
        changes.title = "new"
    with pytest.raises(InvalidArgument) as refused:
        await links.call(pb.ChangeLinkRequest(owner=ONES, code="refused0", changes=changes))
    assert refused.value.reason == reason
    got = await links.call(pb.GetLinkRequest(owner=ONES, code="refused0"))
    assert (got.link, list(got.history)) == (made, [])


@pytest.mark.parametrize("code", ["another0", "unknown-", "malformed", ""])
async def test_what_is_not_the_owners_is_not_there(links: Links, code: str) -> None:
    await links.create("refused0", "a.example", "refused")
    other = await links.create("another0", "a.example", "another")
    codes = ["refused0", code]
    for request in (
        pb.GetLinkRequest(owner=ONES, code=code),
        pb.ChangeLinkRequest(owner=ONES, code=code, changes=pb.LinkChanges(title="new")),
        pb.RemoveLinksRequest(owner=ONES, codes=codes),
        pb.RestoreLinksRequest(owner=ONES, codes=codes),
    ):
        with pytest.raises(NotFound) as refused:
            await links.call(request)
        assert refused.value.reason == "NO_LINK"
    assert await links.all_of("another") == [other]
    (link,) = await links.all_of("refused")
    assert link.state == pb.LINK_STATE_ACTIVE
    with pytest.raises(NotFound):
        await links.admin(pb.BlockLinkRequest(code="unknown-", reason=pb.BLOCK_REASON_SPAM))
    with pytest.raises(NotFound):
        await links.admin(pb.UnblockLinkRequest(code="unknown-"))
    for decision, reason in (
        (pb.DismissReportsRequest(code="refused0"), "NO_REPORT"),
        (pb.UnblockAddressRequest(address="a.example"), "NO_BLOCK"),
    ):
        with pytest.raises(NotFound) as refused:
            await links.admin(decision)
        assert refused.value.reason == reason


async def test_a_blocked_address_is_refused_at_once_and_its_decisions_are_told(
    links: Links,
) -> None:
    await links.create("evilcode", "evil.example/a", "evil")
    block = pb.BlockAddressRequest(
        address="https://EVIL.example/", reason=pb.BLOCK_REASON_MALWARE, cause="reported"
    )
    await links.admin(block)
    (link,) = await links.all_of("evil")
    assert (link.state, link.reason) == (pb.LINK_STATE_BLOCKED, pb.BLOCK_REASON_MALWARE)
    with pytest.raises(InvalidArgument) as refused:
        await links.create("evilmore", "http://www.evil.example", "evil")
    assert refused.value.reason == "URL_REFUSED"
    await links.admin(pb.UnblockAddressRequest(address="evil.example", cause="was a mistake"))
    (link,) = await links.all_of("evil")
    assert link.state == pb.LINK_STATE_ACTIVE
    told = (await links.admin(pb.ListDecisionsRequest())).decisions[:2]
    assert [(one.kind, one.WhichOneof("subject"), one.address, one.cause) for one in told] == [
        (pb.DECISION_KIND_UNBLOCK, "address", "evil.example", "was a mistake"),
        (pb.DECISION_KIND_BLOCK, "address", "evil.example", "reported"),
    ]
    assert [one.reason for one in told] == [
        pb.BLOCK_REASON_UNSPECIFIED,
        pb.BLOCK_REASON_MALWARE,
    ]


async def test_the_longest_links_fit_a_message(links: Links) -> None:
    long, owner = "\U0001f600", owned_by("longest")
    url = "http://a.example/" + long * 982
    codes = [f"longest{n:03}" for n in range(201)]
    await asyncio.gather(*(links.create(code, url, "longest") for code in codes))
    changes = pb.LinkChanges(
        title=long * 100,
        ended_url=url,
        tags=pb.Tags(tags=[f"{n}{long * 29}" for n in range(10)]),
    )
    for code in codes:
        await links.call(pb.ChangeLinkRequest(owner=owner, code=code, changes=changes))
    for n in range(500):
        request = pb.ChangeLinkRequest(
            owner=owner, code=codes[0], changes=pb.LinkChanges(url=f"{url[:-3]}{n:03}")
        )
        await links.call(request)

    assert len(await links.all_of("longest")) == 201
    got = await links.call(pb.GetLinkRequest(owner=owner, code=codes[0]))
    assert len(got.history) == 500
    page = await links.call(pb.QueryLinksRequest(owner=owner, limit=100))
    assert (len(page.links), page.total) == (100, 201)
    request.changes.url = "one.more.example"
    with pytest.raises(InvalidArgument) as refused:
        await links.call(request)
    assert refused.value.reason == "TOO_MANY_URLS"


async def test_a_report_waits_until_the_operator_dismisses_it(links: Links) -> None:
    await links.create("reported", "a.example", "somebody")
    said = pb.ReportLinkRequest(
        code="reported",
        reason=pb.BLOCK_REASON_PHISHING,
        details="It asks for my password.",
        contact="ana@b.example",
    )
    report_id = (await links.call(said)).report_id
    again = pb.ReportLinkRequest(code="reported", reason=pb.BLOCK_REASON_PHISHING)
    assert (await links.call(again)).report_id == report_id

    found = await links.admin(pb.ListReportsRequest())
    [report] = [one for one in found.reports if one.link.code == "reported"]
    assert found.waiting == len(found.reports)
    assert (report.id, report.reason, report.count) == (report_id, pb.BLOCK_REASON_PHISHING, 2)
    assert report.link.state == pb.LINK_STATE_ACTIVE, "reports alone block nothing"
    assert report.first_at.ToDatetime() <= report.last_at.ToDatetime()
    [statement] = report.statements
    assert (statement.details, statement.contact) == (said.details, said.contact)
    assert statement.at == report.first_at

    assert found.next == ""
    last = found.reports[-1].link.code
    rest = await links.admin(pb.ListReportsRequest(after=f"1.{last}"))
    assert last not in {one.link.code for one in rest.reports}
    assert rest.waiting == found.waiting
    with pytest.raises(InvalidArgument) as refused_place:
        await links.admin(pb.ListReportsRequest(after="2"))
    assert refused_place.value.reason == "INVALID_CURSOR"
    dismissed = await links.admin(pb.DismissReportsRequest(code="reported"))
    assert dismissed.dismissed == 1
    left = await links.admin(pb.ListReportsRequest())
    assert left.waiting == found.waiting - 1
    assert "reported" not in {one.link.code for one in left.reports}
    for code in ("reported", "unknown-", ""):
        with pytest.raises(NotFound) as refused:
            await links.admin(pb.DismissReportsRequest(code=code))
        assert refused.value.reason == "NO_REPORT"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reason": pb.BLOCK_REASON_UNSPECIFIED}, "INVALID_REASON"),
        ({"reason": 77}, "INVALID_REASON"),
        ({"details": "a" * 1001}, "INVALID_DETAILS"),
        ({"contact": "nobody"}, "INVALID_CONTACT"),
    ],
)
async def test_a_report_that_says_nothing_right_is_refused(
    links: Links, change: dict[str, Any], reason: str
) -> None:
    request = pb.ReportLinkRequest(**{"code": "reported", "reason": pb.BLOCK_REASON_SPAM, **change})
    with pytest.raises(InvalidArgument) as refused:
        await links.call(request)
    assert refused.value.reason == reason


async def test_the_longest_reports_fit_a_message(links: Links) -> None:
    long = "\U0001f600"
    url = "http://a.example/" + long * 982
    changes = pb.LinkChanges(
        title=long * 100, ended_url=url, tags=pb.Tags(tags=[f"{n}{long * 29}" for n in range(10)])
    )
    owner = owned_by("most")
    for n in range(21):
        code = f"most-{n:03}"
        await links.create(code, url, "most")
        await links.call(pb.ChangeLinkRequest(owner=owner, code=code, changes=changes))
        for reason in pb.BlockReason.values()[1:]:
            request = pb.ReportLinkRequest(
                code=code, reason=reason, details=long * 1000, contact=long * 252 + "@b"
            )
            await asyncio.gather(*(links.call(request) for _ in range(6)))
    found = await links.admin(pb.ListReportsRequest())
    assert len(found.reports) == 100
    assert found.waiting >= 105
    assert found.ByteSize() > 3_000_000
    rest = await links.admin(pb.ListReportsRequest(after=found.next))
    assert len(rest.reports) == found.waiting - 100
    for n in range(21):
        await links.admin(pb.DismissReportsRequest(code=f"most-{n:03}"))


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
