"""Serves `MaintenanceService` over gRPC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from atajo.links.v1 import links_pb2 as pb
from services.links.application.maintenance import Maintenance
from services.links.domain.owner import Account


@dataclass(frozen=True)
class MaintenanceServicer:
    """Converts messages and calls the use cases."""

    service = pb.DESCRIPTOR.services_by_name["MaintenanceService"]

    _maintenance: Maintenance

    async def PurgeLinks(self, request: pb.PurgeLinksRequest) -> pb.PurgeLinksResponse:
        return pb.PurgeLinksResponse(codes=await self._maintenance.purge(request.codes))

    async def WithdrawLink(self, request: pb.WithdrawLinkRequest) -> pb.WithdrawLinkResponse:
        return pb.WithdrawLinkResponse(code=await self._maintenance.withdraw(request.code))

    async def RemoveAccountLinks(
        self, request: pb.RemoveAccountLinksRequest
    ) -> pb.RemoveAccountLinksResponse:
        account = Account(request.account_id)
        removed, more = await self._maintenance.remove_account_links(account)
        return pb.RemoveAccountLinksResponse(removed=removed, more=more)

    async def ListAccountCodes(
        self, request: pb.ListAccountCodesRequest
    ) -> pb.ListAccountCodesResponse:
        codes = await self._maintenance.account_codes(Account(request.account_id))
        return pb.ListAccountCodesResponse(codes=codes)

    async def ListPurgeable(self, request: pb.ListPurgeableRequest) -> pb.ListPurgeableResponse:
        return pb.ListPurgeableResponse(codes=await self._maintenance.purgeable())

    async def ListCodes(self, request: pb.ListCodesRequest) -> pb.ListCodesResponse:
        return pb.ListCodesResponse(codes=await self._maintenance.codes_after(request.after))

    async def RankLinks(self, request: pb.RankLinksRequest) -> pb.RankLinksResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        await self._maintenance.record_views(request.people, cursor)
        return pb.RankLinksResponse()

    async def GetRankCursor(self, request: pb.GetRankCursorRequest) -> pb.GetRankCursorResponse:
        return pb.GetRankCursorResponse(cursor=await self._maintenance.view_cursor())

    async def TakeLease(self, request: pb.TakeLeaseRequest) -> pb.TakeLeaseResponse:
        duration = timedelta(seconds=request.seconds)
        held = await self._maintenance.take_lease(request.job, request.holder, duration)
        return pb.TakeLeaseResponse(held=held)
