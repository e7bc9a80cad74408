"""Serves `MaintenanceService` over gRPC."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.application.maintenance import Maintenance
from services.links.domain.owner import Account


class MaintenanceServicer(pb_grpc.MaintenanceServiceServicer):
    """Converts messages and calls the use cases."""

    def __init__(self, maintenance: Maintenance) -> None:
        self._maintenance = maintenance

    async def PurgeLinks(
        self, request: pb.PurgeLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.PurgeLinksResponse:
        return pb.PurgeLinksResponse(codes=await self._maintenance.purge(request.codes))

    async def WithdrawLink(
        self, request: pb.WithdrawLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.WithdrawLinkResponse:
        return pb.WithdrawLinkResponse(code=await self._maintenance.withdraw(request.code))

    async def RemoveAccountLinks(
        self, request: pb.RemoveAccountLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveAccountLinksResponse:
        account = Account(request.account_id)
        removed, more = await self._maintenance.remove_account_links(account)
        return pb.RemoveAccountLinksResponse(removed=removed, more=more)

    async def ListAccountCodes(
        self, request: pb.ListAccountCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListAccountCodesResponse:
        codes = await self._maintenance.account_codes(Account(request.account_id))
        return pb.ListAccountCodesResponse(codes=codes)

    async def ListPurgeable(
        self, request: pb.ListPurgeableRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListPurgeableResponse:
        return pb.ListPurgeableResponse(codes=await self._maintenance.purgeable())

    async def ListCodes(
        self, request: pb.ListCodesRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListCodesResponse:
        return pb.ListCodesResponse(codes=await self._maintenance.codes_after(request.after))

    async def RankLinks(
        self, request: pb.RankLinksRequest, context: ServicerContext[Any, Any]
    ) -> pb.RankLinksResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        await self._maintenance.rank(request.people, cursor)
        return pb.RankLinksResponse()

    async def GetRankCursor(
        self, request: pb.GetRankCursorRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetRankCursorResponse:
        return pb.GetRankCursorResponse(cursor=await self._maintenance.rank_cursor())

    async def TakeLease(
        self, request: pb.TakeLeaseRequest, context: ServicerContext[Any, Any]
    ) -> pb.TakeLeaseResponse:
        duration = timedelta(seconds=request.seconds)
        held = await self._maintenance.take_lease(request.job, request.holder, duration)
        return pb.TakeLeaseResponse(held=held)
