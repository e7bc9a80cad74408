"""The client of the analytics service, over gRPC."""

from __future__ import annotations

from collections.abc import Sequence

from atajo.analytics.v1 import analytics_pb2, analytics_pb2_grpc
from gateway.backends import analytics_messages as messages
from gateway.backends.owners import Owner, pseudonym_of
from gateway.backends.ports import Period, Statistics
from gateway.backends.view_counts import Totals
from gateway.visits.journal.batch import Batch
from services.shared.rpc.client import ServiceClient

# Timeouts in seconds.
CALL_SECONDS = 5.0
STATISTICS_SECONDS = 10.0
"""The statistics may have to read the days of 100,000 links."""
KEY_SECONDS = 2.0


class AnalyticsClient(ServiceClient["analytics_pb2_grpc.AnalyticsServiceAsyncStub"]):
    """The analytics service: visits."""

    def __init__(self, address: str) -> None:
        service = analytics_pb2.DESCRIPTOR.services_by_name["AnalyticsService"]
        super().__init__(address, service, analytics_pb2_grpc.AnalyticsServiceStub)

    async def record(self, batch: Batch) -> None:
        request = await messages.visits_request(batch)
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
        self,
        codes: Sequence[str],
        period: Period,
        timezone: str,
        top: int,
        owner: Owner | None = None,
    ) -> Statistics:
        """Return the visits of at most 100,000 links over a period, in an IANA time zone.

        `top` is the number of most visited links to list. Owners share the capacity fairly; without
        one, the first link stands for its owner. Reasons: INVALID_RANGE, INVALID_TIMEZONE,
        TOO_MANY_CODES, and TOO_MANY_READS if analytics is at its capacity.
        """
        request = analytics_pb2.GetStatisticsRequest(
            codes=codes, timezone=timezone, top=top, owner=pseudonym_of(owner) if owner else ""
        )
        messages.write_period(request, period)
        reply = await self._call(self._stub.GetStatistics, request, STATISTICS_SECONDS)
        return messages.statistics_of(reply)
