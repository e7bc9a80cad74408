"""The adapters of the ports (`gateway/backends/ports.py`) that call the services over gRPC.

Plain values in, plain values out, a deadline each. What a method does and raises is documented at
its port. Nothing else in the gateway sees gRPC.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from atajo.links.v1 import links_pb2, links_pb2_grpc
from gateway.backends.batcher import Batches, stopping
from gateway.backends.owners import Account, Guest, Owner, pseudonym_of
from gateway.backends.ports import (
    Dates,
    Dimension,
    Figures,
    FormerUrl,
    Link,
    LinkChanges,
    LinkOrder,
    Page,
    People,
    Query,
    RecentSpan,
    Session,
    Span,
    Statistics,
    Step,
    StepLength,
)
from gateway.backends.view_counts import Totals
from gateway.redirects.resolution import BlockReason, Changes, LinkState, Resolution, Resolutions
from gateway.visits.enrichment.classification import Kind
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from services.shared.errors import Unavailable
from services.shared.rpc.client import ServiceClient
from services.shared.timestamps import EPOCH

# Seconds. A check of a password waits its turn behind others; everything else is a look-up or a few
# writes.
PASSWORD_SECONDS = 60.0
CALL_SECONDS = 5.0
RESOLVE_SECONDS = 2.0
CHANGES_SECONDS = 2.0
"""Changes hold within five seconds, so there must be time to ask another replica."""
LIST_SECONDS = 30.0
STATISTICS_SECONDS = 10.0
"""Days of a hundred thousand links may have to be read."""
CLAIM_SECONDS = 20.0
"""A thousand writes, on MongoDB."""
KEY_SECONDS = 2.0

MOST_CREATIONS = 250
"""Links that one call makes: so many it takes."""
MOST_MAKING = 20_000
"""Links that may be in the making: all that links takes in the time of a call."""

_STEP_ROWS = 200
"""Rows of a message that are made between two turns of the event loop: about a millisecond."""
_REMEMBERED_ROWS = 4096
"""Most rows of visits that are kept ready without their codes: 3 MB."""
_REMEMBERED_FACTS = 4096
"""Most facts of visits whose names are kept ready: 3 MB."""


_Creation = tuple[links_pb2.CreateLinkRequest, asyncio.Future[Resolution]]
"""A link to make, and what its address answers once it is made."""


class AuthClient(ServiceClient["auth_pb2_grpc.AuthServiceAsyncStub"]):
    """The auth service."""

    def __init__(self, address: str) -> None:
        service = auth_pb2.DESCRIPTOR.services_by_name["AuthService"]
        super().__init__(address, service, auth_pb2_grpc.AuthServiceStub)

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        request = auth_pb2.RegisterRequest(
            email=email, password_hash=password_hash, salt=salt, username=username
        )
        await self._call(self._stub.Register, request, CALL_SECONDS)

    async def login(self, email: str, password: str, client_address: str, device: str) -> Session:
        request = auth_pb2.LoginRequest(
            email=email, password=password, client_address=client_address, device=device
        )
        reply = await self._call(self._stub.Login, request, PASSWORD_SECONDS)
        expires_at = _moment(reply.expires_at)
        return Session(reply.token, expires_at, reply.username, reply.device)

    async def account_of(self, token: str) -> str:
        request = auth_pb2.VerifyTokenRequest(token=token)
        reply = await self._call(self._stub.VerifyToken, request, CALL_SECONDS)
        return reply.account_id

    async def change_password(
        self, token: str, password: str, new_hash: str, new_salt: str, client_address: str
    ) -> tuple[str, datetime]:
        request = auth_pb2.ChangePasswordRequest(
            token=token,
            password=password,
            new_password_hash=new_hash,
            new_salt=new_salt,
            client_address=client_address,
        )
        reply = await self._call(self._stub.ChangePassword, request, PASSWORD_SECONDS)
        return reply.token, _moment(reply.expires_at)

    async def close_account(self, token: str, password: str, client_address: str) -> None:
        request = auth_pb2.CloseOwnAccountRequest(
            token=token, password=password, client_address=client_address
        )
        await self._call(self._stub.CloseOwnAccount, request, PASSWORD_SECONDS)


class LinksClient(ServiceClient["links_pb2_grpc.LinksServiceAsyncStub"]):
    """The links service."""

    def __init__(self, address: str) -> None:
        service = links_pb2.DESCRIPTOR.services_by_name["LinksService"]
        super().__init__(address, service, links_pb2_grpc.LinksServiceStub)
        self._creations = Batches(self._create_all, MOST_CREATIONS)
        self._making = 0
        """Links that are being made."""

    async def create(self, code: str, url: str, owner: Owner | None) -> Resolution:
        request = links_pb2.CreateLinkRequest(code=code, url=url)
        match owner:
            case Account(account_id):
                request.account_id = account_id
            case Guest(key_hash):
                request.guest_key_hash = key_hash
        if self._making >= MOST_MAKING:
            raise Unavailable("Too many links are being made.", "CREATIONS_OVERLOADED")
        made: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
        self._creations.bring((request, made))
        self._making += 1
        try:
            return await made
        finally:
            self._making -= 1

    async def close(self) -> None:
        """Close the channel; calls under way end with an error."""
        unsent = await self._creations.close()
        _settle(unsent, [stopping()] * len(unsent))
        await super().close()

    async def _create_all(self, creations: Sequence[_Creation]) -> None:
        """Store links, and hand each outcome to the caller who waits for it."""
        waiting = [one for one in creations if not one[1].done()]  # Some callers have left.
        outcomes: Sequence[Resolution | BaseException] = [stopping()] * len(waiting)
        try:
            outcomes = await self._outcomes([request for request, _ in waiting])
        except Exception as error:  # Every caller receives it.
            outcomes = [error] * len(waiting)
        finally:
            _settle(waiting, outcomes)

    async def _outcomes(
        self, requests: Sequence[links_pb2.CreateLinkRequest]
    ) -> Sequence[Resolution | BaseException]:
        """Store links; returns what became of each, in their order. Raises AppError."""
        if not requests:
            return []
        if len(requests) == 1:
            one = await self._call(self._stub.CreateLink, requests[0], CALL_SECONDS)
            return [_resolution(one.resolution)]
        message = links_pb2.CreateLinksRequest(links=requests)
        reply = await self._call(self._stub.CreateLinks, message, CALL_SECONDS)
        return [
            _resolution(creation.resolution)
            if creation.HasField("resolution")
            else self._caller.failure(
                "CreateLinks", creation.error.code, creation.error.message, creation.error.reason
            )
            for _, creation in zip(requests, reply.creations, strict=True)
        ]

    async def resolve(self, codes: Sequence[str]) -> dict[str, Resolution]:
        request = links_pb2.ResolveLinksRequest(codes=codes)
        reply = await self._call(self._stub.ResolveLinks, request, RESOLVE_SECONDS)
        return _resolutions(reply.resolutions)

    async def changes(self, cursor: str | None) -> Changes:
        """Return the resolutions that changed after the cursor of the previous call.

        Without a cursor only that of now is returned.
        """
        request = links_pb2.ListChangesRequest(cursor=cursor)
        reply = await self._call(self._stub.ListChanges, request, CHANGES_SECONDS)
        return Changes(
            reply.cursor,
            _resolutions(reply.resolutions),
            frozenset(reply.gone),
            reply.more,
            reply.truncated,
        )

    async def get(self, owner: Owner, code: str) -> tuple[Link, list[FormerUrl]]:
        request = links_pb2.GetLinkRequest(owner=_owner(owner), code=code)
        reply = await self._call(self._stub.GetLink, request, CALL_SECONDS)
        history = [FormerUrl(one.url, _moment(one.until)) for one in reply.history]
        return _link(reply.link), history

    async def preview(self, code: str) -> Link:
        request = links_pb2.PreviewLinkRequest(code=code)
        reply = await self._call(self._stub.PreviewLink, request, CALL_SECONDS)
        return _link(reply.link)

    async def query(self, owner: Owner, query: Query) -> Page:
        request = links_pb2.QueryLinksRequest(
            owner=_owner(owner),
            text=query.text,
            state=_STATE_NUMBERS[query.state] if query.state else links_pb2.LINK_STATE_UNSPECIFIED,
            order=_ORDER_NUMBERS[query.order],
            limit=query.limit,
            cursor=query.cursor,
            without_total=not query.with_total,
        )
        reply = await self._call(self._stub.QueryLinks, request, CALL_SECONDS)
        return Page([_link(link) for link in reply.links], reply.total, reply.cursor)

    async def owned_codes(self, owner: Owner) -> list[str]:
        request = links_pb2.ListOwnedCodesRequest(owner=_owner(owner))
        pages = self._caller.stream(
            "ListOwnedCodes", self._stub.ListOwnedCodes, request, LIST_SECONDS
        )
        return [code async for page in pages for code in page.codes]

    async def check_statistics_access(self, caller: Owner | None, code: str) -> None:
        request = links_pb2.CheckStatisticsAccessRequest(
            caller=_owner(caller) if caller else None, code=code
        )
        await self._call(self._stub.CheckStatisticsAccess, request, CALL_SECONDS)

    async def change(
        self, owner: Owner, code: str, changes: LinkChanges
    ) -> tuple[Link, Resolutions]:
        request = links_pb2.ChangeLinkRequest(
            owner=_owner(owner), code=code, changes=_changes(changes)
        )
        reply = await self._call(self._stub.ChangeLink, request, CALL_SECONDS)
        return _link(reply.link), _resolutions(reply.resolutions)

    async def remove(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        request = links_pb2.RemoveLinksRequest(owner=_owner(owner), codes=codes)
        reply = await self._call(self._stub.RemoveLinks, request, CALL_SECONDS)
        return _resolutions(reply.resolutions)

    async def restore(self, owner: Owner, codes: Sequence[str]) -> Resolutions:
        request = links_pb2.RestoreLinksRequest(owner=_owner(owner), codes=codes)
        reply = await self._call(self._stub.RestoreLinks, request, CALL_SECONDS)
        return _resolutions(reply.resolutions)

    async def report(self, code: str, reason: BlockReason, details: str, contact: str) -> str:
        request = links_pb2.ReportLinkRequest(
            code=code, reason=_REASON_NUMBERS[reason], details=details, contact=contact
        )
        reply = await self._call(self._stub.ReportLink, request, CALL_SECONDS)
        return reply.report_id

    async def create_scan_code(self, owner: Owner, code: str) -> tuple[str, Resolutions]:
        request = links_pb2.CreateScanCodeRequest(owner=_owner(owner), code=code)
        reply = await self._call(self._stub.CreateScanCode, request, CALL_SECONDS)
        resolutions = [reply.resolution] if reply.HasField("resolution") else []
        return reply.scan_code, _resolutions(resolutions)

    async def claim(self, guest: Guest, account: Account) -> tuple[int, bool]:
        request = links_pb2.ClaimLinksRequest(guest_key_hash=guest.key_hash, account_id=account.id)
        reply = await self._call(self._stub.ClaimLinks, request, CLAIM_SECONDS)
        return reply.claimed, reply.more


class AnalyticsClient(ServiceClient["analytics_pb2_grpc.AnalyticsServiceAsyncStub"]):
    """The analytics service."""

    def __init__(self, address: str) -> None:
        service = analytics_pb2.DESCRIPTOR.services_by_name["AnalyticsService"]
        super().__init__(address, service, analytics_pb2_grpc.AnalyticsServiceStub)

    async def record(self, batch: Batch) -> None:
        request = analytics_pb2.RecordVisitsRequest(
            gateway_id=batch.gateway_id, batch_number=batch.number
        )
        add = request.visits.add
        alike: dict[bytes, int] = {}
        for place, ((code, hour, kind, host, facts), count) in enumerate(batch.counts.items(), 1):
            row = add()
            rest = _row_without_code(hour, kind, host, facts)
            row.MergeFromString(rest)
            row.code = code
            row.count = count
            row.alike = alike.setdefault(rest, len(alike) + 1)
            if place % _STEP_ROWS == 0:
                await asyncio.sleep(0)
        for place, ((day, code), numbers) in enumerate(batch.visitors.items(), 1):
            request.visitors.add(code=code, day=day, numbers=numbers)
            if place % _STEP_ROWS == 0:
                await asyncio.sleep(0)
        await self._call(self._stub.RecordVisits, request, CALL_SECONDS)

    async def visitor_key(self) -> tuple[int, bytes]:
        request = analytics_pb2.GetVisitorKeyRequest()
        reply = await self._call(self._stub.GetVisitorKey, request, KEY_SECONDS)
        return reply.day, reply.key

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        request = analytics_pb2.GetTotalsRequest(codes=codes)
        reply = await self._call(self._stub.GetTotals, request, CALL_SECONDS)
        return {code: Totals(one.people, one.bots) for code, one in reply.totals.items()}

    async def recent_people(
        self, codes: Sequence[str], owner: Owner | None = None
    ) -> dict[str, list[int]]:
        request = analytics_pb2.GetRecentPeopleRequest(
            codes=codes, owner=pseudonym_of(owner) if owner else ""
        )
        reply = await self._call(self._stub.GetRecentPeople, request, CALL_SECONDS)
        return {code: list(one.people) for code, one in reply.links.items()}

    async def statistics(
        self, codes: Sequence[str], span: Span, timezone: str, top: int, owner: Owner | None = None
    ) -> Statistics:
        request = analytics_pb2.GetStatisticsRequest(
            codes=codes, timezone=timezone, top=top, owner=pseudonym_of(owner) if owner else ""
        )
        match span:
            case RecentSpan():
                request.recent = _SPAN_NUMBERS[span]
            case Dates(first, last):
                request.dates.CopyFrom(analytics_pb2.Dates(**{"from": first, "to": last}))
        reply = await self._call(self._stub.GetStatistics, request, STATISTICS_SECONDS)
        return _statistics(reply)


def _statistics(message: analytics_pb2.GetStatisticsResponse) -> Statistics:
    # Of a later version, dimensions that are not known are passed over.
    breakdowns: dict[Dimension, People] = {dimension: [] for dimension in Dimension}
    for one in message.breakdowns:
        if dimension := _DIMENSIONS.get(one.dimension):
            breakdowns[dimension] = [(of_name.name, of_name.people) for of_name in one.names]
    return Statistics(
        getattr(message, "from"),
        message.to,
        _STEPS[message.step],
        _figures(message.totals),
        _figures(message.previous) if message.HasField("previous") else None,
        [
            Step(
                one.start,
                one.people,
                one.bots,
                one.visitors if one.HasField("visitors") else None,
            )
            for one in message.series
        ],
        breakdowns,
        [(link.code, link.people) for link in message.top],
        message.kept_from,
    )


def _figures(message: analytics_pb2.Figures) -> Figures:
    return Figures(message.people, message.bots, message.visitors)


@lru_cache(_REMEMBERED_ROWS)
def _row_without_code(hour: int, kind: Kind, host: str, facts: str) -> bytes:
    """What is told of visits but for their code and count, in which most rows differ alone.

    To put it into each row, field by field, takes twice as long as all the rest of it.
    """
    row = analytics_pb2.VisitCount(hour=hour, kind=_KIND_NUMBERS[kind], referrer_host=host)
    return row.SerializeToString() + _names(facts)


@lru_cache(_REMEMBERED_FACTS)
def _names(facts: str) -> bytes:
    """What is known of visits, from the text of their facts, as a part of a row.

    Put into a row as messages, they would take three times as long as all the rest of it.
    """
    known = lines.facts_of(facts)._asdict()
    del known["visitor"]
    names = [
        analytics_pb2.Name(dimension=_DIMENSION_NUMBERS[Dimension(dimension)], name=name)
        for dimension, name in known.items()
        if name
    ]
    return analytics_pb2.VisitCount(names=names).SerializeToString()


def _settle(creations: Sequence[_Creation], outcomes: Sequence[Resolution | BaseException]) -> None:
    for (_, made), outcome in zip(creations, outcomes, strict=True):
        if made.done():  # The caller has left.
            continue
        if isinstance(outcome, BaseException):
            made.set_exception(outcome)
        else:
            made.set_result(outcome)


def _owner(owner: Owner) -> links_pb2.Owner:
    match owner:
        case Account(account_id):
            return links_pb2.Owner(account_id=account_id)
        case Guest(key_hash):
            return links_pb2.Owner(guest_key_hash=key_hash)


def _link(message: links_pb2.Link) -> Link:
    return Link(
        message.code,
        message.url,
        _moment(message.created_at),
        message.title,
        tuple(message.tags),
        _STATES.get(message.state, LinkState.EXPIRED),
        _REASONS.get(message.reason),
        _moment(message.changed_at) if message.HasField("changed_at") else None,
        _moment(message.expires_at) if message.HasField("expires_at") else None,
        message.ended_url,
        message.public_statistics,
        message.scan_code,
    )


def _changes(changes: LinkChanges) -> links_pb2.LinkChanges:
    """The changes as they travel: what is left out is absent, what is taken away is empty."""
    message = links_pb2.LinkChanges(
        url=changes.get("url"),
        title=changes.get("title"),
        public_statistics=changes.get("public_statistics"),
    )
    if "tags" in changes:
        message.tags.CopyFrom(links_pb2.Tags(tags=changes["tags"]))
    if "expires_at" in changes:
        message.expiry.SetInParent()
        if expires_at := changes["expires_at"]:
            message.expiry.expires_at.FromDatetime(expires_at)
    if "ended_url" in changes:
        message.ended_url = changes["ended_url"] or ""
    return message


def _moment(timestamp: Timestamp) -> datetime:
    """Convert as `ToDatetime` does, in a third of its time."""
    return EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1000)


def _resolutions(messages: Iterable[links_pb2.Resolution]) -> dict[str, Resolution]:
    return {one.code: _resolution(one) for one in messages}


def _resolution(message: links_pb2.Resolution) -> Resolution:
    if message.state == links_pb2.LINK_STATE_ACTIVE and not message.HasField("expires_at"):  # Most.
        return Resolution(LinkState.ACTIVE, message.url, link_code=message.link_code)
    return Resolution(
        # A later version may send a state that is not known here. The link is not active then.
        _STATES.get(message.state, LinkState.EXPIRED),
        message.url,
        _moment(message.expires_at) if message.HasField("expires_at") else None,
        message.ended_url,
        _REASONS.get(message.reason),
        message.link_code,
    )


# Enums of the wire have the names of the gateway's.
_STATE_NUMBERS = {one: links_pb2.LinkState.Value(f"LINK_STATE_{one.name}") for one in LinkState}
_STATES = {number: state for state, number in _STATE_NUMBERS.items()}
_REASON_NUMBERS = {
    one: links_pb2.BlockReason.Value(f"BLOCK_REASON_{one.name}") for one in BlockReason
}
_REASONS = {number: reason for reason, number in _REASON_NUMBERS.items()}
_ORDER_NUMBERS = {one: links_pb2.LinkOrder.Value(f"LINK_ORDER_{one.name}") for one in LinkOrder}
_SPAN_NUMBERS = {
    one: analytics_pb2.RecentSpan.Value(f"RECENT_SPAN_{one.value.upper().replace(' ', '_')}")
    for one in RecentSpan
}
_STEPS = {analytics_pb2.StepLength.Value(f"STEP_LENGTH_{one.name}"): one for one in StepLength}
_DIMENSION_NUMBERS = {
    one: analytics_pb2.Dimension.Value(f"DIMENSION_{one.name}") for one in Dimension
}
_DIMENSIONS = {number: dimension for dimension, number in _DIMENSION_NUMBERS.items()}
_KIND_NUMBERS = {
    "person": analytics_pb2.VISIT_KIND_PERSON,
    "bot": analytics_pb2.VISIT_KIND_BOT,
}
