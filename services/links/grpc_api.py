"""Links over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.domain import (
    NOBODY,
    Account,
    BlockReason,
    Guest,
    Link,
    LinkState,
    Owner,
    Resolution,
)
from services.links.service import LinksService
from services.runtime.server import Servicer, Servicers

_STATES = {
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


class LinksServicer(pb_grpc.LinksServiceServicer):
    """Translates calls; decides nothing."""

    def __init__(self, service: LinksService) -> None:
        self._service = service

    async def CreateLink(
        self, request: pb.CreateLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinkResponse:
        link = await self._service.create(request.code, request.url, _owner(request))
        return pb.CreateLinkResponse(link=_to_pb(link))

    async def ResolveLinks(
        self, request: pb.ResolveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ResolveLinksResponse:
        found = await self._service.resolve(request.codes)
        return pb.ResolveLinksResponse(resolutions=map(resolution_to_pb, found))

    async def ListLinks(
        self, request: pb.ListLinksRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListLinksResponse]:
        async for page in _pages(self._service, request):
            yield page

    async def ListChanges(
        self, request: pb.ListChangesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListChangesResponse:
        mark = request.mark if request.HasField("mark") else None
        changes = await self._service.changes(mark)
        return pb.ListChangesResponse(
            mark=changes.mark,
            resolutions=map(resolution_to_pb, changes.resolutions),
            gone=changes.gone,
            more=changes.more,
            lost=changes.lost,
        )


class AdminServicer(pb_grpc.AdminServiceServicer):
    """The same for the operator."""

    def __init__(self, service: LinksService) -> None:
        self._service = service

    async def ListLinks(
        self, request: pb.ListLinksRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListLinksResponse]:
        async for page in _pages(self._service, request):
            yield page

    async def PurgeLinks(
        self, request: pb.PurgeLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.PurgeLinksResponse:
        return pb.PurgeLinksResponse(codes=await self._service.purge(request.codes))


def servicers(service: LinksService) -> Servicers:
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
            AdminServicer(service),
        ),
    )


async def _pages(
    service: LinksService, request: pb.ListLinksRequest
) -> AsyncIterator[pb.ListLinksResponse]:
    async for page in service.by_owner(_owner(request)):
        yield pb.ListLinksResponse(links=[_to_pb(link) for link in page])


def _owner(request: pb.CreateLinkRequest | pb.ListLinksRequest) -> Owner:
    match request.WhichOneof("owner"):
        case "account_id":
            return Account(request.account_id)
        case "guest_key_hash":
            return Guest(request.guest_key_hash)
        case _:
            return NOBODY


def _to_pb(link: Link) -> pb.Link:
    message = pb.Link(code=link.code, url=link.url)
    message.created_at.FromDatetime(link.created_at)
    return message


def resolution_to_pb(resolution: Resolution) -> pb.Resolution:
    """A resolution as it travels.

    An active link without an end is code and URL alone: gateways of the version before read it as
    the entry of a map, and protobuf drops an entry that has a field it does not know.
    """
    message = pb.Resolution(code=resolution.code, url=resolution.url)
    if resolution.state is not LinkState.ACTIVE:
        message.state = _STATES[resolution.state]
    if resolution.expires_at is not None:
        message.expires_at.FromDatetime(resolution.expires_at)
    if resolution.ended_url:
        message.ended_url = resolution.ended_url
    if resolution.reason is not None:
        message.reason = _REASONS[resolution.reason]
    return message
