"""Serves `ModerationService` over gRPC: protobuf in, use case, protobuf out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.api.messages import decision_message, reason_of, write_report
from services.links.application.moderation import Moderation


class ModerationServicer(pb_grpc.ModerationServiceServicer):
    """Translates calls; decides nothing."""

    def __init__(self, moderation: Moderation, now: Callable[[], datetime]) -> None:
        self._moderation = moderation
        self._now = now

    async def BlockLink(
        self, request: pb.BlockLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.BlockLinkResponse:
        reason = reason_of(request.reason)
        await self._moderation.block_link(request.code, reason, request.cause)
        return pb.BlockLinkResponse()

    async def UnblockLink(
        self, request: pb.UnblockLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.UnblockLinkResponse:
        await self._moderation.unblock_link(request.code, request.cause)
        return pb.UnblockLinkResponse()

    async def BlockAddress(
        self, request: pb.BlockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.BlockAddressResponse:
        reason = reason_of(request.reason)
        await self._moderation.block_address(request.address, reason, request.cause)
        return pb.BlockAddressResponse()

    async def UnblockAddress(
        self, request: pb.UnblockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.UnblockAddressResponse:
        await self._moderation.unblock_address(request.address, request.cause)
        return pb.UnblockAddressResponse()

    async def ListReports(
        self, request: pb.ListReportsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListReportsResponse:
        found, following, waiting = await self._moderation.reports(request.after)
        now = self._now()
        response = pb.ListReportsResponse(waiting=waiting, next=following)
        for link, report in found:
            write_report(response.reports.add(), link, report, now)
        return response

    async def DismissReports(
        self, request: pb.DismissReportsRequest, context: ServicerContext[Any, Any]
    ) -> pb.DismissReportsResponse:
        dismissed = await self._moderation.dismiss(request.code, request.cause)
        return pb.DismissReportsResponse(dismissed=dismissed)

    async def ListDecisions(
        self, request: pb.ListDecisionsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListDecisionsResponse:
        decisions = await self._moderation.decisions(request.skip)
        return pb.ListDecisionsResponse(decisions=map(decision_message, decisions))
