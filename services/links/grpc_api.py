"""Links over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.blocks import BlockReason, InvalidReason
from services.links.decisions import Decision, DecisionKind
from services.links.domain import NOBODY, Account, Guest, Link, LinkState, Owner, Resolution
from services.links.edits import Expiry, InvalidExpiry, LinkChanges
from services.links.listing import InvalidQuery, LinkOrder
from services.links.moderation import Moderation
from services.links.reports import Report
from services.links.service import LinksService
from services.runtime import interceptors, status
from services.runtime.server import Servicer, Servicers

_SERVICE: str = pb.DESCRIPTOR.services_by_name["LinksService"].full_name
_STATES = {
    LinkState.ACTIVE: pb.LINK_STATE_ACTIVE,
    LinkState.EXPIRED: pb.LINK_STATE_EXPIRED,
    LinkState.REMOVED: pb.LINK_STATE_REMOVED,
    LinkState.BLOCKED: pb.LINK_STATE_BLOCKED,
}
_REASONS = {
    BlockReason.PHISHING: pb.BLOCK_REASON_PHISHING,
    BlockReason.MALWARE: pb.BLOCK_REASON_MALWARE,
    BlockReason.SPAM: pb.BLOCK_REASON_SPAM,
    BlockReason.ILLEGAL: pb.BLOCK_REASON_ILLEGAL,
    BlockReason.OTHER: pb.BLOCK_REASON_OTHER,
}
_KINDS = {
    DecisionKind.BLOCK: pb.DECISION_KIND_BLOCK,
    DecisionKind.UNBLOCK: pb.DECISION_KIND_UNBLOCK,
    DecisionKind.DISMISS: pb.DECISION_KIND_DISMISS,
}
_STATE_OF = {number: state for state, number in _STATES.items()}
_REASON_OF = {number: reason for reason, number in _REASONS.items()}
_CODES_A_MESSAGE = 10_000
"""Codes in one message of a stream: 0.4 MB if all are as long as can be."""
_ORDER_OF = {
    pb.LINK_ORDER_UNSPECIFIED: LinkOrder.NEWEST,
    pb.LINK_ORDER_NEWEST: LinkOrder.NEWEST,
    pb.LINK_ORDER_OLDEST: LinkOrder.OLDEST,
    pb.LINK_ORDER_MOST_VIEWED: LinkOrder.MOST_VIEWED,
}


class LinksServicer(pb_grpc.LinksServiceServicer):
    """Translates calls; decides nothing."""

    def __init__(self, service: LinksService) -> None:
        self._service = service

    async def CreateLink(
        self, request: pb.CreateLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinkResponse:
        link = await self._service.create(request.code, request.url, _owner(request))
        response = pb.CreateLinkResponse()
        _write_link(response.link, link, self._service.now())
        write_resolution(response.resolution, link.resolution())
        return response

    async def CreateLinks(
        self, request: pb.CreateLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinksResponse:
        started = time.perf_counter()
        outcomes = await self._service.create_all(
            [(one.code, one.url, _owner(one)) for one in request.links]
        )
        seconds = time.perf_counter() - started
        response = pb.CreateLinksResponse()
        for outcome in outcomes:
            _write_creation(response.creations.add(), outcome, seconds)
        return response

    async def ResolveLinks(
        self, request: pb.ResolveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ResolveLinksResponse:
        response = pb.ResolveLinksResponse()
        for resolution in await self._service.resolve(request.codes):
            write_resolution(response.resolutions.add(), resolution)
        return response

    async def QueryLinks(
        self, request: pb.QueryLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.QueryLinksResponse:
        order = _ORDER_OF.get(request.order)
        state = _STATE_OF.get(request.state)
        if order is None or (state is None and request.state != pb.LINK_STATE_UNSPECIFIED):
            raise InvalidQuery("There is no such state or order.")
        page = await self._service.query(
            _owner(request.owner),
            request.text,
            state,
            order,
            request.limit,
            request.cursor,
            without_total=request.without_total,
        )
        response = pb.QueryLinksResponse(total=page.total, cursor=page.cursor)
        now = self._service.now()
        for link in page.links:
            _write_link(response.links.add(), link, now)
        return response

    async def GetLink(
        self, request: pb.GetLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetLinkResponse:
        link, history = await self._service.get(_owner(request.owner), request.code)
        response = pb.GetLinkResponse()
        _write_link(response.link, link, self._service.now())
        for former in history:
            response.history.add(url=former.url).until.FromDatetime(former.until)
        return response

    async def PreviewLink(
        self, request: pb.PreviewLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.PreviewLinkResponse:
        link = await self._service.preview(request.code)
        response = pb.PreviewLinkResponse()
        _write_link(response.link, link, self._service.now())
        del response.link.tags[:]  # They are their owner's.
        return response

    async def ListOwnedCodes(
        self, request: pb.ListOwnedCodesRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListOwnedCodesResponse]:
        codes = await self._service.owned_codes(_owner(request.owner))
        for start in range(0, len(codes), _CODES_A_MESSAGE):
            yield pb.ListOwnedCodesResponse(codes=codes[start : start + _CODES_A_MESSAGE])

    async def CheckStatisticsAccess(
        self, request: pb.CheckStatisticsAccessRequest, context: ServicerContext[Any, Any]
    ) -> pb.CheckStatisticsAccessResponse:
        await self._service.check_statistics_access(_owner(request.caller), request.code)
        return pb.CheckStatisticsAccessResponse()

    async def ChangeLink(
        self, request: pb.ChangeLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.ChangeLinkResponse:
        changes = _changes(request.changes)
        link = await self._service.change(_owner(request.owner), request.code, changes)
        response = pb.ChangeLinkResponse()
        _write_link(response.link, link, self._service.now())
        _write_resolutions(response, [link])
        return response

    async def RemoveLinks(
        self, request: pb.RemoveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveLinksResponse:
        removed = await self._service.remove(_owner(request.owner), request.codes)
        response = pb.RemoveLinksResponse()
        _write_resolutions(response, removed)
        return response

    async def RestoreLinks(
        self, request: pb.RestoreLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RestoreLinksResponse:
        restored = await self._service.restore(_owner(request.owner), request.codes)
        response = pb.RestoreLinksResponse()
        _write_resolutions(response, restored)
        return response

    async def ClaimLinks(
        self, request: pb.ClaimLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ClaimLinksResponse:
        claimed, more = await self._service.claim(
            Guest(request.guest_key_hash), Account(request.account_id)
        )
        return pb.ClaimLinksResponse(claimed=claimed, more=more)

    async def ReportLink(
        self, request: pb.ReportLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.ReportLinkResponse:
        reason = _REASON_OF.get(request.reason)
        if reason is None:
            raise InvalidReason("A link is reported for a reason.")
        report_id = await self._service.report(
            request.code, reason, request.details, request.contact
        )
        return pb.ReportLinkResponse(report_id=report_id)

    async def CreateScanCode(
        self, request: pb.CreateScanCodeRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateScanCodeResponse:
        made = await self._service.create_scan_code(_owner(request.owner), request.code)
        response = pb.CreateScanCodeResponse(scan_code=made)
        for resolution in await self._service.resolve([made]):
            write_resolution(response.resolution, resolution)
        return response

    async def ListChanges(
        self, request: pb.ListChangesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListChangesResponse:
        mark = request.mark if request.HasField("mark") else None
        changes = await self._service.changes(mark)
        response = pb.ListChangesResponse(
            mark=changes.mark, gone=changes.gone, more=changes.more, lost=changes.lost
        )
        for resolution in changes.resolutions:
            write_resolution(response.resolutions.add(), resolution)
        return response


class AdminServicer(pb_grpc.AdminServiceServicer):
    """The same for the operator."""

    def __init__(self, service: LinksService, moderation: Moderation) -> None:
        self._service = service
        self._moderation = moderation

    async def ListAccountCodes(
        self, request: pb.ListAccountCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListAccountCodesResponse:
        codes = await self._service.account_codes(Account(request.account_id))
        return pb.ListAccountCodesResponse(codes=codes)

    async def PurgeLinks(
        self, request: pb.PurgeLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.PurgeLinksResponse:
        return pb.PurgeLinksResponse(codes=await self._service.purge(request.codes))

    async def BlockLink(
        self, request: pb.BlockLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.BlockLinkResponse:
        reason = _reason(request.reason)
        await self._moderation.block_link(request.code, reason, request.cause)
        return pb.BlockLinkResponse()

    async def UnblockLink(
        self, request: pb.UnblockLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.UnblockLinkResponse:
        await self._moderation.unblock_link(request.code, request.cause)
        return pb.UnblockLinkResponse()

    async def ListReports(
        self, request: pb.ListReportsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListReportsResponse:
        found, following, waiting = await self._service.reports(request.after)
        now = self._service.now()
        response = pb.ListReportsResponse(waiting=waiting, next=following)
        for link, report in found:
            _write_report(response.reports.add(), link, report, now)
        return response

    async def DismissReports(
        self, request: pb.DismissReportsRequest, context: ServicerContext[Any, Any]
    ) -> pb.DismissReportsResponse:
        dismissed = await self._moderation.dismiss(request.code, request.cause)
        return pb.DismissReportsResponse(dismissed=dismissed)

    async def BlockAddress(
        self, request: pb.BlockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.BlockAddressResponse:
        reason = _reason(request.reason)
        await self._moderation.block_address(request.address, reason, request.cause)
        return pb.BlockAddressResponse()

    async def UnblockAddress(
        self, request: pb.UnblockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.UnblockAddressResponse:
        await self._moderation.unblock_address(request.address, request.cause)
        return pb.UnblockAddressResponse()

    async def ListDecisions(
        self, request: pb.ListDecisionsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListDecisionsResponse:
        decisions = await self._moderation.decisions(request.skip)
        return pb.ListDecisionsResponse(decisions=map(_decision_to_pb, decisions))

    async def RemoveAccountLinks(
        self, request: pb.RemoveAccountLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveAccountLinksResponse:
        account = Account(request.account_id)
        removed, more = await self._service.remove_account_links(account)
        return pb.RemoveAccountLinksResponse(removed=removed, more=more)

    async def ListPurgeable(
        self, request: pb.ListPurgeableRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListPurgeableResponse:
        return pb.ListPurgeableResponse(codes=await self._service.purgeable())

    async def ListCodes(
        self, request: pb.ListCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListCodesResponse:
        return pb.ListCodesResponse(codes=await self._service.codes(request.after))

    async def RankLinks(
        self, request: pb.RankLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RankLinksResponse:
        mark = request.mark if request.HasField("mark") else None
        await self._service.rank(request.people, mark)
        return pb.RankLinksResponse()

    async def GetRankMark(
        self, request: pb.GetRankMarkRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetRankMarkResponse:
        return pb.GetRankMarkResponse(mark=await self._service.rank_mark())

    async def TakeLease(
        self, request: pb.TakeLeaseRequest, context: ServicerContext[Any, Any]
    ) -> pb.TakeLeaseResponse:
        duration = timedelta(seconds=request.seconds)
        held = await self._service.take_lease(request.job, request.holder, duration)
        return pb.TakeLeaseResponse(held=held)


def servicers(service: LinksService, moderation: Moderation) -> Servicers:
    """What a process serves of it."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "LinksService",
            pb_grpc.add_LinksServiceServicer_to_server,
            LinksServicer(service),
        ),
        admin=Servicer.of(
            pb.DESCRIPTOR,
            "AdminService",
            pb_grpc.add_AdminServiceServicer_to_server,
            AdminServicer(service, moderation),
        ),
    )


def _write_creation(message: pb.Creation, outcome: Link | BaseException, seconds: float) -> None:
    """What became of a creation that took so long: it is measured as a call of its own is."""
    if isinstance(outcome, Link):
        interceptors.handled(_SERVICE, "CreateLink", "OK", seconds)
        write_resolution(message.resolution, outcome.resolution())
        return
    if not isinstance(outcome, Exception):
        raise outcome
    known = interceptors.failed(outcome, _SERVICE, "CreateLink", seconds)
    message.error.code = status.number_of(status.code_of(known))
    message.error.reason = known.reason
    message.error.message = known.message


def _owner(request: pb.CreateLinkRequest | pb.Owner) -> Owner:
    match request.WhichOneof("owner"):
        case "account_id":
            return Account(request.account_id)
        case "guest_key_hash":
            return Guest(request.guest_key_hash)
        case _:
            return NOBODY


def _changes(message: pb.LinkChanges) -> LinkChanges:
    return LinkChanges(
        url=message.url if message.HasField("url") else None,
        title=message.title if message.HasField("title") else None,
        tags=message.tags.tags if message.HasField("tags") else None,
        expiry=_expiry(message.expiry) if message.HasField("expiry") else None,
        ended_url=message.ended_url if message.HasField("ended_url") else None,
        public_statistics=(
            message.public_statistics if message.HasField("public_statistics") else None
        ),
    )


def _expiry(message: pb.Expiry) -> Expiry:
    """Raises InvalidExpiry for what is no moment of the years 1 to 9999."""
    if not message.HasField("expires_at"):
        return Expiry(None)
    try:
        return Expiry(message.expires_at.ToDatetime(UTC))
    except (ValueError, OverflowError):
        raise InvalidExpiry("This is no moment.") from None


def _reason(number: pb.BlockReason.ValueType) -> BlockReason:
    """Raises InvalidReason."""
    reason = _REASON_OF.get(number)
    if reason is None:
        raise InvalidReason("What is blocked is blocked for a reason.")
    return reason


def _decision_to_pb(decision: Decision) -> pb.Decision:
    message = pb.Decision(
        kind=_KINDS[decision.kind], cause=decision.cause, reports=decision.reports
    )
    if decision.code:
        message.code = decision.code
    else:
        message.address = decision.address
    if decision.reason is not None:
        message.reason = _REASONS[decision.reason]
    message.at.FromDatetime(decision.at)
    return message


# Messages are written where they belong: one that is made and put there is copied.


def _write_link(message: pb.Link, link: Link, now: datetime) -> None:
    message.code = link.code
    message.url = link.url
    message.title = link.title
    message.tags.extend(link.tags)
    message.ended_url = link.ended_url
    message.public_statistics = link.public_statistics
    message.state = _STATES[link.state_at(now)]
    message.scan_code = link.scan_code
    message.created_at.FromDatetime(link.created_at)
    if link.changed_at is not None:
        message.changed_at.FromDatetime(link.changed_at)
    if link.expires_at is not None:
        message.expires_at.FromDatetime(link.expires_at)
    if link.blocked is not None:
        message.reason = _REASONS[link.blocked]


def _write_report(message: pb.Report, link: Link, report: Report, now: datetime) -> None:
    message.id = report.id
    message.reason = _REASONS[report.reason]
    message.count = report.count
    _write_link(message.link, link, now)
    message.first_at.FromDatetime(report.first_at)
    message.last_at.FromDatetime(report.last_at)
    for said in report.statements:
        statement = message.statements.add(details=said.details, contact=said.contact)
        statement.at.FromDatetime(said.at)


def _write_resolutions(
    response: pb.ChangeLinkResponse | pb.RemoveLinksResponse | pb.RestoreLinksResponse,
    links: Iterable[Link],
) -> None:
    """Write what the short addresses of links answer: those of their codes and scan codes."""
    for link in links:
        resolution = link.resolution()
        write_resolution(response.resolutions.add(), resolution)
        if link.scan_code:
            write_resolution(response.resolutions.add(), resolution.by(link.scan_code))


def write_resolution(message: pb.Resolution, resolution: Resolution) -> None:
    """Write a resolution into a message that is empty."""
    message.code = resolution.code
    message.url = resolution.url
    message.state = _STATES[resolution.state]
    if resolution.expires_at is not None:
        message.expires_at.FromDatetime(resolution.expires_at)
    if resolution.ended_url:
        message.ended_url = resolution.ended_url
    if resolution.reason is not None:
        message.reason = _REASONS[resolution.reason]
    if resolution.link_code:
        message.link_code = resolution.link_code
