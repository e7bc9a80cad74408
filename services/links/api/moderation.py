"""Serves `ModerationService` over gRPC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from grpc.aio import ServicerContext

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.api.messages import (
    reason_of,
    write_decision,
    write_explanation,
    write_report,
)
from services.links.application.explanation import BlockExplainer
from services.links.application.moderation import Moderation


class ModerationServicer(pb_grpc.ModerationServiceServicer):
    """Converts messages and calls the use cases."""

    def __init__(
        self, moderation: Moderation, explainer: BlockExplainer, now: Callable[[], datetime]
    ) -> None:
        self._moderation = moderation
        self._explainer = explainer
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

    async def RecordResetLink(
        self, request: pb.RecordResetLinkRequest, context: ServicerContext[Any, Any]
    ) -> pb.RecordResetLinkResponse:
        await self._moderation.record_reset_link(request.account_id)
        return pb.RecordResetLinkResponse()

    async def BlockAddress(
        self, request: pb.BlockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.BlockAddressResponse:
        reason = reason_of(request.reason)
        await self._moderation.block_pattern(request.address, reason, request.cause)
        return pb.BlockAddressResponse()

    async def UnblockAddress(
        self, request: pb.UnblockAddressRequest, context: ServicerContext[Any, Any]
    ) -> pb.UnblockAddressResponse:
        await self._moderation.unblock_pattern(request.address, request.cause)
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
        response = pb.ListDecisionsResponse()
        for decision in await self._moderation.decisions(request.skip, request.text):
            write_decision(response.decisions.add(), decision)
        return response

    async def ExplainBlock(
        self, request: pb.ExplainBlockRequest, context: ServicerContext[Any, Any]
    ) -> pb.ExplainBlockResponse:
        if request.WhichOneof("subject") == "code":
            explanation = await self._explainer.explain_link(request.code)
        else:
            explanation = await self._explainer.explain_url(request.address)
        response = pb.ExplainBlockResponse()
        write_explanation(response, explanation, self._now())
        return response
