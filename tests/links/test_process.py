"""The links process, called over gRPC.

What the gateway calls is tested in tests/links/test_api.py. Here are the operator's
calls, requests that only the wire can express, the size of messages, and kills.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.application.administration import LINKS_PER_STEP
from services.shared.administrators import Administrator, issue_pass
from services.shared.errors import InvalidArgument, Unavailable
from services.shared.rpc import channels, client
from tests.support.processes import Process
from tests.support.product import ADMINISTRATION_SECRET

SERVICE = pb.DESCRIPTOR.services_by_name["LinksService"]
MAINTENANCE = pb.DESCRIPTOR.services_by_name["MaintenanceService"]


class Links:
    """A client of a links process with the calls of gateway, reconciler and operator."""

    def __init__(
        self,
        stub: pb_grpc.LinksServiceAsyncStub,
        administration: pb_grpc.AdministrationServiceAsyncStub,
        moderation: pb_grpc.ModerationServiceAsyncStub,
        maintenance: pb_grpc.MaintenanceServiceAsyncStub,
    ) -> None:
        self._stub = stub
        self._administration = administration
        self._moderation = moderation
        self._maintenance = maintenance
        self._caller = client.Caller(SERVICE)
        self._operator = client.Caller(MAINTENANCE)

    async def call(self, request: Any) -> Any:
        """Call a method of the gateway's service."""
        method = type(request).__name__.removesuffix("Request")
        return await self._caller.unary(method, getattr(self._stub, method), request, 20)

    async def administer(self, request: Any) -> Any:
        """Call a method of the administrators' service."""
        now = datetime.now(UTC)
        ada = Administrator("1", "ada@example.com", now)
        request.administrator_pass = issue_pass(ADMINISTRATION_SECRET, ada, now)
        method = type(request).__name__.removesuffix("Request")
        return await self._caller.unary(method, getattr(self._administration, method), request, 20)

    async def admin(self, request: Any) -> Any:
        """Call a method of the operator's services."""
        method = type(request).__name__.removesuffix("Request")
        of_maintenance = method in MAINTENANCE.methods_by_name
        stub = self._maintenance if of_maintenance else self._moderation
        return await self._operator.unary(method, getattr(stub, method), request, 20)

    async def all_of(self, account: str) -> list[pb.Link]:
        """Return an account's links in every state, newest first."""
        codes = (await self.admin(pb.ListAccountCodesRequest(account_id=account))).codes
        owner = pb.Owner(account_id=account)
        return [(await self.call(pb.GetLinkRequest(owner=owner, code=code))).link for code in codes]

    async def create(self, code: str, url: str, account: str) -> pb.Resolution:
        request = pb.CreateLinkRequest(code=code, url=url, account_id=account)
        resolution: pb.Resolution = (await self.call(request)).resolution
        return resolution

    async def resolve(self, *codes: str) -> dict[str, str]:
        reply = await self.call(pb.ResolveLinksRequest(codes=codes))
        return {one.code: one.url for one in reply.resolutions}


@asynccontextmanager
async def connected(process: Process) -> AsyncIterator[Links]:
    async with (
        channels.open_channel(process.grpc, SERVICE) as channel,
        channels.open_channel(process.addresses["admin"], MAINTENANCE) as admin,
    ):
        yield Links(
            pb_grpc.LinksServiceStub(channel),
            pb_grpc.AdministrationServiceStub(channel),
            pb_grpc.ModerationServiceStub(admin),
            pb_grpc.MaintenanceServiceStub(admin),
        )


def start(folder: Path) -> Process:
    env = {
        "ATAJO_ADMINISTRATION_SECRET": ADMINISTRATION_SECRET,
        "ATAJO_STORE": f"sqlite:///{folder}/links.db",
        "ATAJO_PUBLIC_URL": "https://atajo.example",
        "ATAJO_MAINTENANCE_LISTEN": "127.0.0.1:0",
    }
    return Process.start("services.links", env, folder / "log")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A process shared by the tests of this module that do not stop it."""
    with start(tmp_path_factory.mktemp("links")) as process:
        yield process
        assert process.stop() == 0


@pytest.fixture
async def links(process: Process) -> AsyncIterator[Links]:
    async with connected(process) as links:
        yield links


def owned_by(account: str) -> pb.Owner:
    return pb.Owner(account_id=account)


def moment(seconds: int) -> Timestamp:
    return Timestamp(seconds=seconds)


async def test_links_pass_through_all_states(
    links: Links,
) -> None:
    account, owner, codes = "states", owned_by("states"), ["state000", "state001"]
    for code in codes:
        await links.create(code, "a.example", account)
    assert list((await links.admin(pb.ListCodesRequest(after="state"))).codes)[:2] == codes
    await links.call(pb.RemoveLinksRequest(owner=owner, codes=codes[1:]))
    assert list((await links.admin(pb.ListPurgeableRequest())).codes) == []
    cursor = (await links.call(pb.ListChangesRequest())).cursor
    await links.admin(pb.BlockLinkRequest(code="state000", reason=SPAM))
    listed = {link.code: (link.state, link.reason) for link in await links.all_of(account)}
    assert listed == {
        "state000": (pb.LINK_STATE_BLOCKED, SPAM),
        "state001": (pb.LINK_STATE_REMOVED, pb.BLOCK_REASON_UNSPECIFIED),
    }
    [changed] = (await links.call(pb.ListChangesRequest(cursor=cursor))).resolutions
    assert (changed.code, changed.state) == ("state000", pb.LINK_STATE_BLOCKED)
    await links.admin(pb.UnblockLinkRequest(code="state000"))
    assert {link.state for link in await links.all_of(account)} == {
        pb.LINK_STATE_ACTIVE,
        pb.LINK_STATE_REMOVED,
    }
    gone = await links.admin(pb.RemoveAccountLinksRequest(account_id=account))
    assert (gone.removed, gone.more) == (2, False), "one that its owner removed before, too"
    purged = await links.admin(pb.PurgeLinksRequest(codes=codes))
    assert sorted(purged.codes) == codes
    assert await links.all_of(account) == []


async def test_views_are_stored_with_a_cursor(links: Links) -> None:
    for n in range(5):
        await links.create(f"order{n:03}", "a.example", "orders")
    await links.admin(pb.RankLinksRequest(people={"order001": 5, "order003": 2}, cursor="7"))
    await links.admin(pb.RankLinksRequest(people={"order003": 3}))
    assert (await links.admin(pb.GetRankCursorRequest())).cursor == "7"
    order = pb.LINK_ORDER_MOST_VIEWED
    request = pb.QueryLinksRequest(owner=owned_by("orders"), order=order, limit=9)
    ranked = [link.code for link in (await links.call(request)).links]
    assert ranked == ["order001", "order003", "order004", "order002", "order000"]


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


def ending(moment: Timestamp) -> pb.LinkChanges:
    return pb.LinkChanges(expiry=pb.Expiry(expires_at=moment))


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.CreateLinkRequest(code="owner000", url="a.example", account_id=""), "INVALID_OWNER"),
        (pb.CreateLinkRequest(code="owner000", guest_key_hash=b"x"), "INVALID_OWNER"),
        (pb.QueryLinksRequest(limit=1), "INVALID_OWNER"),
        (pb.QueryLinksRequest(owner=pb.Owner(guest_key_hash=b"x"), limit=1), "INVALID_OWNER"),
        (pb.QueryLinksRequest(owner=ONES, limit=1, state=99), "INVALID_QUERY"),  # type: ignore[arg-type]
        (pb.QueryLinksRequest(owner=ONES, limit=1, order=99), "INVALID_QUERY"),  # type: ignore[arg-type]
        (pb.GetLinkRequest(code="refused0"), "INVALID_OWNER"),
        (pb.RemoveLinksRequest(codes=["refused0"]), "INVALID_OWNER"),
        (pb.RestoreLinksRequest(codes=["refused0"]), "INVALID_OWNER"),
        (pb.ChangeLinkRequest(owner=ONES, code="refused0", changes=ending(FAR)), "INVALID_EXPIRY"),
        (
            pb.ChangeLinkRequest(owner=ONES, code="refused0", changes=ending(Timestamp(nanos=-1))),
            "INVALID_EXPIRY",
        ),
        (pb.ClaimLinksRequest(guest_key_hash=b"x", account_id="a"), "INVALID_OWNER"),
        (pb.ClaimLinksRequest(guest_key_hash=bytes(32)), "INVALID_OWNER"),
        (pb.ReportLinkRequest(code="refused0"), "INVALID_REASON"),
        (pb.ReportLinkRequest(code="refused0", reason=77), "INVALID_REASON"),  # type: ignore[arg-type]
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
        (pb.BlockAddressRequest(address="atajo.example", reason=SPAM), "INVALID_ADDRESS"),
        (pb.UnblockAddressRequest(address="nothing"), "INVALID_ADDRESS"),
        (pb.ExplainBlockRequest(address="nothing"), "INVALID_ADDRESS"),
        (pb.ExplainBlockRequest(), "INVALID_ADDRESS"),
        (pb.ListDecisionsRequest(text="a\nb"), "INVALID_QUERY"),
        (pb.RemoveAccountLinksRequest(), "INVALID_OWNER"),
        (pb.ListReportsRequest(after="2"), "INVALID_CURSOR"),
        (pb.TakeLeaseRequest(job="Purge", holder="one", seconds=1), "INVALID_LEASE"),
        (pb.TakeLeaseRequest(job="purge", holder="one", seconds=-1), "INVALID_LEASE"),
    ],
)
async def test_invalid_calls_of_the_process_have_a_reason(
    links: Links, request_: Any, reason: str
) -> None:
    is_admins = type(request_).__name__.removesuffix("Request") not in SERVICE.methods_by_name
    with pytest.raises(InvalidArgument) as refused:
        await (links.admin if is_admins else links.call)(request_)
    assert refused.value.reason == reason


async def test_an_address_is_blocked_explained_and_unblocked(links: Links) -> None:
    await links.create("evilcode", "evil.example/a", "evil")
    malware = pb.BLOCK_REASON_MALWARE
    block = pb.BlockAddressRequest(address="https://EVIL.example/", reason=malware, cause="a")
    await links.admin(block)
    (link,) = await links.all_of("evil")
    assert (link.state, link.reason) == (pb.LINK_STATE_BLOCKED, malware)
    with pytest.raises(InvalidArgument) as refused:
        await links.create("evilmore", "http://www.evil.example", "evil")
    assert refused.value.reason == "URL_REFUSED"
    explained = await links.admin(pb.ExplainBlockRequest(code="evilcode"))
    assert (explained.link.code, explained.blocklist) == ("evilcode", "operator/evil.example")
    assert not explained.gone
    assert not explained.exempt
    assert not explained.HasField("decision")
    [match] = explained.matches
    assert (match.url, match.list, match.line, match.key, match.reason, match.exempt) == (
        "http://evil.example/a",
        "operator/evil.example",
        1,
        "evil.example",
        malware,
        False,
    )
    assert (match.decision.address, match.decision.cause) == ("evil.example", "a")
    explained = await links.admin(pb.ExplainBlockRequest(address="www.evil.example"))
    assert not explained.HasField("link")
    assert [one.url for one in explained.matches] == ["http://www.evil.example/"]

    await links.call(pb.RemoveLinksRequest(owner=owned_by("evil"), codes=["evilcode"]))
    explained = await links.admin(pb.ExplainBlockRequest(code="evilcode"))
    assert explained.HasField("removed_at")
    assert not explained.gone
    await links.admin(pb.RemoveAccountLinksRequest(account_id="evil"))
    explained = await links.admin(pb.ExplainBlockRequest(code="evilcode"))
    assert explained.gone
    assert not explained.HasField("removed_at")

    await links.admin(pb.UnblockAddressRequest(address="evil.example", cause="b"))
    decisions = (await links.admin(pb.ListDecisionsRequest(text="EVIL.example"))).decisions
    assert [(one.kind, one.address, one.reason, one.cause) for one in decisions] == [
        (pb.DECISION_KIND_UNBLOCK, "evil.example", pb.BLOCK_REASON_UNSPECIFIED, "b"),
        (pb.DECISION_KIND_BLOCK, "evil.example", malware, "a"),
    ]
    assert {one.WhichOneof("subject") for one in decisions} == {"address"}


async def test_the_longest_links_fit_a_message(links: Links) -> None:
    long, owner = "\U0001f600", owned_by("longest")
    url = "http://a.example/" + long * 982
    codes = [f"longest{n:03}" for n in range(201)]
    await asyncio.gather(*(links.create(code, url, "longest") for code in codes))
    changes = pb.LinkChanges(
        title=long * 100, ended_url=url, tags=pb.Tags(tags=[f"{n}{long * 29}" for n in range(10)])
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
    uncounted = pb.QueryLinksRequest(owner=owner, limit=200, without_total=True)
    assert len((await links.call(uncounted)).links) == 200
    request.changes.url = "one.more.example"
    with pytest.raises(InvalidArgument) as refused:
        await links.call(request)
    assert refused.value.reason == "TOO_MANY_URLS"


async def test_an_unreadable_expiry_is_the_outcome_of_its_link(links: Links) -> None:
    new = [
        pb.NewLink(url="a.example", expires_at=moment(253_402_300_800)),  # The year 10000.
        pb.NewLink(url="a.example", code=""),
        pb.NewLink(url="a.example"),
    ]
    request = pb.CreateAccountLinksRequest(
        account_id="expiry", idempotency_key=b"key", fingerprint=bytes(32), links=new
    )
    for _ in range(2):
        creations = (await links.call(request)).creations
        assert [one.error.reason for one in creations] == ["INVALID_EXPIRY", "INVALID_CODE", ""]


async def test_a_report_is_pending_until_it_is_dismissed(links: Links) -> None:
    await links.create("reported", "a.example", "require_owner")
    said = pb.ReportLinkRequest(
        code="reported",
        reason=pb.BLOCK_REASON_PHISHING,
        details="It asks for my password.",
        contact="ana@b.example",
    )
    report_id = (await links.call(said)).report_id
    await links.call(pb.ReportLinkRequest(code="reported", reason=pb.BLOCK_REASON_PHISHING))

    found = await links.admin(pb.ListReportsRequest())
    [report] = [one for one in found.reports if one.link.code == "reported"]
    assert (found.waiting, found.next) == (len(found.reports), "")
    assert (report.id, report.reason, report.count) == (report_id, pb.BLOCK_REASON_PHISHING, 2)
    assert report.link.state == pb.LINK_STATE_ACTIVE, "reports alone block nothing"
    assert report.first_at.ToDatetime() <= report.last_at.ToDatetime()
    [statement] = report.statements
    assert (statement.details, statement.contact) == (said.details, said.contact)
    assert statement.at == report.first_at

    dismissed = await links.admin(pb.DismissReportsRequest(code="reported"))
    assert dismissed.dismissed == 1
    assert (await links.admin(pb.ListReportsRequest())).waiting == found.waiting - 1


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


async def test_a_cursor_of_the_change_feed_outlives_the_process(tmp_path: Path) -> None:
    codes = ["code0001", "code0002", "code0003"]
    with start(tmp_path) as process:
        async with connected(process) as links:
            for code in codes:
                await links.create(code, "a.example", "one")
            cursor = (await links.call(pb.ListChangesRequest())).cursor
            await links.admin(pb.PurgeLinksRequest(codes=codes[:1]))
            process.kill()
    with start(tmp_path) as process:
        async with connected(process) as links:
            await links.admin(pb.PurgeLinksRequest(codes=codes[1:2]))
            changes = await links.call(pb.ListChangesRequest(cursor=cursor))
            assert (sorted(changes.gone), changes.truncated) == (codes[:2], False)
            assert (await links.resolve(*codes)).keys() == {codes[2]}


async def test_a_kill_during_two_hundred_creations_loses_nothing(tmp_path: Path) -> None:
    acknowledged: dict[str, pb.Resolution] = {}
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
            # Unacknowledged creations can be repeated, whether or not they are stored.
            for creator, code in under_way.items():
                await links.create(code, f"{code}.example", creator)
            for code in codes[:50]:
                creator = str(int(code[:3]))
                assert await links.create(code, f"{code}.example", creator) == acknowledged[code]
            owners = [links.all_of(creator) for creator in under_way]
            listed = [link.code for owned in await asyncio.gather(*owners) for link in owned]
            assert sorted(listed) == sorted({*acknowledged, *under_way.values()})


async def test_a_kill_while_links_of_an_account_are_blocked(tmp_path: Path) -> None:
    """A repetition of the step blocks the rest, and so does a new call by the administrator."""
    codes = [f"their{number:03}" for number in range(3 * LINKS_PER_STEP + 1)]
    key = b"0123456789abcdef"

    def block(cursor: str, key: bytes) -> pb.BlockAccountLinksRequest:
        reason = pb.BLOCK_REASON_SPAM
        return pb.BlockAccountLinksRequest(
            account_id="one", reason=reason, cursor=cursor, idempotency_key=key
        )

    async def count_blocked(links: Links) -> int:
        found = (await links.call(pb.ResolveLinksRequest(codes=codes))).resolutions
        return [link.state for link in found].count(pb.LINK_STATE_BLOCKED)

    with start(tmp_path) as process:
        async with connected(process) as links:
            await asyncio.gather(*(links.create(code, "a.example", "one") for code in codes))
            first = await links.administer(block("", key))
            assert first.blocked == LINKS_PER_STEP
            second = asyncio.create_task(links.administer(block(first.next, key)))
            await asyncio.sleep(0)
            process.kill()
            with suppress(Unavailable):
                await second

    with start(tmp_path) as process:
        async with connected(process) as links:
            assert await count_blocked(links) in (LINKS_PER_STEP, 2 * LINKS_PER_STEP)
            await links.administer(block(first.next, key))
            assert await count_blocked(links) == 2 * LINKS_PER_STEP
            decisions = (await links.admin(pb.ListDecisionsRequest())).decisions
            assert [(decision.account_id, decision.by) for decision in decisions] == [
                ("one", "ada@example.com")
            ]

            # The gateway was killed, too, and the administrator calls again.
            blocked, cursor = 0, ""
            for _ in range(4):
                step = await links.administer(block(cursor, b"another"))
                blocked, cursor = blocked + step.blocked, step.next
            assert (blocked, cursor) == (len(codes) - 2 * LINKS_PER_STEP, "")
            assert await count_blocked(links) == len(codes)
            assert len((await links.admin(pb.ListDecisionsRequest())).decisions) == 2
