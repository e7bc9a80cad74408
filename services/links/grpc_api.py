"""Links over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.domain import Link
from services.links.service import LinksService
from services.runtime.server import Served, Servicer


class LinksServicer(pb_grpc.LinksServiceServicer):
    """Translates calls; decides nothing."""

    def __init__(self, service: LinksService) -> None:
        self._service = service

    async def CreateLink(
        self, request: pb.CreateLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.CreateLinkResponse:
        creator = request.creator_id if request.HasField("creator_id") else None
        link = await self._service.create(request.code, request.url, creator)
        return pb.CreateLinkResponse(link=_to_pb(link))

    async def ResolveLinks(
        self, request: pb.ResolveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.ResolveLinksResponse:
        return pb.ResolveLinksResponse(urls=await self._service.resolve(request.codes))

    async def ListLinks(
        self, request: pb.ListLinksRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListLinksResponse]:
        async for page in _pages(self._service, request):
            yield page


class AdminServicer(pb_grpc.AdminServiceServicer):
    """The same for the operator."""

    def __init__(self, service: LinksService) -> None:
        self._service = service

    async def ListLinks(
        self, request: pb.ListLinksRequest, context: ServicerContext[Any, Any]
    ) -> AsyncIterator[pb.ListLinksResponse]:
        async for page in _pages(self._service, request):
            yield page

    async def RemoveLinks(
        self, request: pb.RemoveLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveLinksResponse:
        return pb.RemoveLinksResponse(codes=await self._service.remove(request.codes))


def served(service: LinksService) -> Served:
    """The servicers as a process takes them in."""
    services = pb.DESCRIPTOR.services_by_name
    return Served(
        Servicer(
            services["LinksService"],
            partial(pb_grpc.add_LinksServiceServicer_to_server, LinksServicer(service)),
        ),
        Servicer(
            services["AdminService"],
            partial(pb_grpc.add_AdminServiceServicer_to_server, AdminServicer(service)),
        ),
    )


async def _pages(
    service: LinksService, request: pb.ListLinksRequest
) -> AsyncIterator[pb.ListLinksResponse]:
    async for page in service.by_creator(request.creator_id):
        yield pb.ListLinksResponse(links=[_to_pb(link) for link in page])


def _to_pb(link: Link) -> pb.Link:
    message = pb.Link(code=link.code, url=link.url)
    message.created_at.FromDatetime(link.created_at)
    return message
