"""Serves `AdministrationService` over gRPC.

The gateway asks auth for a pass before each call, so a demotion holds at the next one. A gateway
that somebody else controls can use a pass for as long as it is valid (`PASS_LIFETIME`), and cannot
make one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from atajo.links.v1 import links_pb2 as pb
from services.links.api.messages import (
    ACTIONS,
    REASONS,
    parse_reason,
    to_decision,
    to_link_file,
    to_reported_link,
)
from services.links.application.administration import Administration, InvalidAction
from services.links.domain.owner import Account
from services.shared.administrators import Administrator, read_pass
from services.shared.observability.store_size import StoreSize
from services.shared.rpc.fields import to_message


@dataclass(frozen=True)
class AdministrationServicer:
    """Checks the pass of each request, converts messages and calls the use cases."""

    service = pb.DESCRIPTOR.services_by_name["AdministrationService"]

    _administration: Administration
    _secret: str
    """Signs the passes; empty for none, and then every pass is refused."""
    _measure: Callable[[], Awaitable[StoreSize]]
    _now: Callable[[], datetime]

    async def ListReportedLinks(
        self, request: pb.ListReportedLinksRequest
    ) -> pb.ListReportedLinksResponse:
        self._check(request.administrator_pass)
        found, following = await self._administration.reported_links(request.cursor)
        now = self._now()
        links = [to_reported_link(reported, now) for reported in found]
        return pb.ListReportedLinksResponse(links=links, next=following)

    async def GetReportedLink(
        self, request: pb.GetReportedLinkRequest
    ) -> pb.GetReportedLinkResponse:
        self._check(request.administrator_pass)
        return to_link_file(await self._administration.link_file(request.code), self._now())

    async def Decide(self, request: pb.DecideRequest) -> pb.DecideResponse:
        administrator = self._check(request.administrator_pass)
        action = ACTIONS.get(request.action)
        if action is None:
            raise InvalidAction("A decision needs an action.")
        decision = await self._administration.decide(
            request.subject,
            action,
            REASONS.get(request.reason),
            request.cause,
            administrator.email,
            request.idempotency_key,
        )
        return pb.DecideResponse(decision=to_decision(decision))

    async def ExplainSubject(self, request: pb.ExplainSubjectRequest) -> pb.ExplainSubjectResponse:
        self._check(request.administrator_pass)
        verdict = await self._administration.explain(request.subject)
        return to_message(pb.ExplainSubjectResponse, verdict)

    async def SearchDecisions(
        self, request: pb.SearchDecisionsRequest
    ) -> pb.SearchDecisionsResponse:
        self._check(request.administrator_pass)
        decisions, following = await self._administration.search_decisions(
            request.text, request.cursor
        )
        return pb.SearchDecisionsResponse(decisions=map(to_decision, decisions), next=following)

    async def BlockAccountLinks(
        self, request: pb.BlockAccountLinksRequest
    ) -> pb.BlockAccountLinksResponse:
        administrator = self._check(request.administrator_pass)
        step = await self._administration.block_account_links(
            Account(request.account_id),
            parse_reason(request.reason),
            request.cause,
            administrator.email,
            request.cursor,
            request.idempotency_key,
        )
        return pb.BlockAccountLinksResponse(blocked=step.blocked, next=step.cursor)

    async def CountLinks(self, request: pb.CountLinksRequest) -> pb.CountLinksResponse:
        self._check(request.administrator_pass)
        links = await self._administration.count_links(request.account_ids)
        return pb.CountLinksResponse(links=links)

    async def GetUsage(self, request: pb.GetUsageRequest) -> pb.GetUsageResponse:
        self._check(request.administrator_pass)
        usage = await self._administration.usage()
        size = await self._measure()
        return to_message(pb.GetUsageResponse, usage, store_bytes=size.bytes)

    def _check(self, administrator_pass: str) -> Administrator:
        """Return who calls. Raises NotAdministrator, ConfirmationNeeded."""
        return read_pass(self._secret, administrator_pass, self._now())
