"""Serves `ModerationService` over gRPC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from atajo.links.v1 import links_pb2 as pb
from services.links.api.messages import parse_reason, to_decision, to_explanation, to_report
from services.links.application.moderation import Moderation


@dataclass(frozen=True)
class ModerationServicer:
    """Converts messages and calls the use cases."""

    service = pb.DESCRIPTOR.services_by_name["ModerationService"]

    _moderation: Moderation
    _now: Callable[[], datetime]

    async def BlockLink(self, request: pb.BlockLinkRequest) -> pb.BlockLinkResponse:
        reason = parse_reason(request.reason)
        await self._moderation.block_link(request.code, reason, request.cause)
        return pb.BlockLinkResponse()

    async def UnblockLink(self, request: pb.UnblockLinkRequest) -> pb.UnblockLinkResponse:
        await self._moderation.unblock_link(request.code, request.cause)
        return pb.UnblockLinkResponse()

    async def RecordResetLink(
        self, request: pb.RecordResetLinkRequest
    ) -> pb.RecordResetLinkResponse:
        await self._moderation.record_reset_link(request.account_id)
        return pb.RecordResetLinkResponse()

    async def BlockAddress(self, request: pb.BlockAddressRequest) -> pb.BlockAddressResponse:
        reason = parse_reason(request.reason)
        await self._moderation.block_pattern(request.address, reason, request.cause)
        return pb.BlockAddressResponse()

    async def UnblockAddress(self, request: pb.UnblockAddressRequest) -> pb.UnblockAddressResponse:
        await self._moderation.unblock_pattern(request.address, request.cause)
        return pb.UnblockAddressResponse()

    async def ListReports(self, request: pb.ListReportsRequest) -> pb.ListReportsResponse:
        found, following, waiting = await self._moderation.reports(request.after)
        now = self._now()
        reports = [to_report(link, report, now) for link, report in found]
        return pb.ListReportsResponse(reports=reports, waiting=waiting, next=following)

    async def DismissReports(self, request: pb.DismissReportsRequest) -> pb.DismissReportsResponse:
        decision = await self._moderation.dismiss(request.code, request.cause)
        return pb.DismissReportsResponse(dismissed=decision.reports)

    async def ListDecisions(self, request: pb.ListDecisionsRequest) -> pb.ListDecisionsResponse:
        decisions = await self._moderation.decisions(request.skip, request.text)
        return pb.ListDecisionsResponse(decisions=map(to_decision, decisions))

    async def ExplainBlock(self, request: pb.ExplainBlockRequest) -> pb.ExplainBlockResponse:
        if request.WhichOneof("subject") == "code":
            explanation = await self._moderation.explain_link(request.code)
        else:
            explanation = await self._moderation.explain_url(request.address)
        return to_explanation(explanation, self._now())
