"""The client of the analytics service, over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from gateway.backends.owners import Owner, pseudonym_of
from gateway.backends.ports import (
    DateRange,
    Dimension,
    People,
    Period,
    RecentPeriod,
    Statistics,
    VisitUsage,
)
from gateway.backends.replicas import Replicas, may_be_several
from gateway.backends.view_counts import Totals
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.lines import Kind
from gateway.visits.lanes import find_lane, sender_id
from services.shared.errors import Unimplemented
from services.shared.rpc.client import ServiceClient
from services.shared.rpc.fields import enum_members, enum_numbers, from_message

# Timeouts in seconds.
STATISTICS_SECONDS = 10.0
"""The statistics may have to read the days of 100,000 links."""
KEY_SECONDS = 2.0

_STEP_ROWS = 200
"""Rows that are encoded between two turns of the event loop: about a millisecond."""
_CACHED_ROWS = 4096
"""Encoded rows without their codes that are cached: 3 MB."""
_CACHED_FACTS = 4096
"""Encoded facts that are cached: 3 MB."""

_PERIOD_NUMBERS = {
    period: pb.RecentSpan.Value(f"RECENT_SPAN_{period.value.upper().replace(' ', '_')}")
    for period in RecentPeriod
}
_DIMENSIONS = enum_members(Dimension, pb.Dimension)
_DIMENSION_NUMBERS = enum_numbers(Dimension, pb.Dimension)
_KIND_NUMBERS = {"person": pb.VISIT_KIND_PERSON, "bot": pb.VISIT_KIND_BOT}


class AnalyticsClient(ServiceClient["pb_grpc.AnalyticsServiceAsyncStub"]):
    """The analytics service: visits."""

    service = pb.DESCRIPTOR.services_by_name["AnalyticsService"]
    stub_class = pb_grpc.AnalyticsServiceStub

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._replicas = Replicas(address, _LanesClient)
        self._may_be_several = may_be_several(address)

    async def close(self) -> None:
        await self._replicas.close()
        await super().close()

    @property
    def divides(self) -> bool:
        """Whether replicas share the visits, so that new batches should be divided by lanes."""
        return self._replicas.are_several

    async def record(self, batch: Batch) -> None:
        """Count a batch once, however often it is sent."""
        requests = await _to_visits_requests(batch)
        if not batch.is_divided:
            if self._may_be_several:
                await self._replicas.resolve()
            await self._call(self._stub.RecordVisits, requests[0])
            return

        async def record(replica: _LanesClient, lanes: list[int]) -> None:
            await replica.record({lane: requests[lane] for lane in lanes})

        await self._replicas.call(requests, record)

    async def visitor_key(self) -> tuple[int, bytes]:
        request = pb.GetVisitorKeyRequest()
        reply = await self._call(self._stub.GetVisitorKey, request, KEY_SECONDS)
        return reply.day, reply.key

    async def totals(self, codes: Sequence[str]) -> dict[str, Totals]:
        """Return the visits of at most 1000 codes. May leave out links without visits."""
        reply = await self._call(self._stub.GetTotals, pb.GetTotalsRequest(codes=codes))
        return {code: Totals(views.people, views.bots) for code, views in reply.totals.items()}

    async def usage(self) -> VisitUsage:
        """Return the visits to all links today and yesterday, and the size of the store."""
        reply = await self._call(self._stub.GetUsage, pb.GetUsageRequest())
        return from_message(VisitUsage, reply)

    async def recent_people(
        self, codes: Sequence[str], owner: Owner | None = None
    ) -> dict[str, list[int]]:
        """Return the visits of people on each of the last 30 UTC days, oldest first, by code.

        Takes at most 100 codes, and leaves out links without visits in these days. Owners share the
        capacity fairly.
        """
        request = pb.GetRecentPeopleRequest(codes=codes, owner=pseudonym_of(owner) if owner else "")
        reply = await self._call(self._stub.GetRecentPeople, request)
        return {code: list(days.people) for code, days in reply.links.items()}

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
        request = pb.GetStatisticsRequest(
            codes=codes, timezone=timezone, top=top, owner=pseudonym_of(owner) if owner else ""
        )
        match period:
            case RecentPeriod():
                request.recent = _PERIOD_NUMBERS[period]
            case DateRange(first, last):
                request.dates.CopyFrom(pb.Dates(**{"from": first, "to": last}))
        reply = await self._call(self._stub.GetStatistics, request, STATISTICS_SECONDS)
        return _parse_statistics(reply)


class _LanesClient(ServiceClient["pb_grpc.AnalyticsServiceAsyncStub"]):
    """A replica of the analytics service, which counts some lanes."""

    service = AnalyticsClient.service
    stub_class = AnalyticsClient.stub_class

    async def record(self, batches: Mapping[int, pb.RecordVisitsRequest]) -> None:
        """Count batches by lane."""
        lanes = [pb.Lane(number=number, batch=batch) for number, batch in batches.items()]
        try:
            await self._call(self._stub.RecordLanes, pb.RecordLanesRequest(lanes=lanes))
        except Unimplemented:  # The previous version, to which each lane is a gateway.
            for batch in batches.values():
                await self._call(self._stub.RecordVisits, batch)


async def _to_visits_requests(batch: Batch) -> dict[int, pb.RecordVisitsRequest]:
    """Return the messages of a batch by lane, lane 0 if it is not divided.

    Yields to the event loop between steps.
    """

    def get_request(code: str) -> pb.RecordVisitsRequest:
        lane = find_lane(code)
        if lane not in requests:
            id_ = sender_id(batch.gateway_id, lane)
            requests[lane] = pb.RecordVisitsRequest(gateway_id=id_, batch_number=batch.number)
        return requests[lane]

    requests: dict[int, pb.RecordVisitsRequest] = {}
    whole = None
    if not batch.is_divided:
        whole = pb.RecordVisitsRequest(gateway_id=batch.gateway_id, batch_number=batch.number)
        requests[0] = whole
    alike: dict[bytes, int] = {}
    for number, (visit, count) in enumerate(batch.counts.items(), 1):
        row = (whole or get_request(visit.code)).visits.add()
        rest = _encoded_row(visit.hour, visit.kind, visit.referrer_host, visit.facts)
        row.MergeFromString(rest)
        row.code = visit.code
        row.count = count
        row.alike = alike.setdefault(rest, len(alike) + 1)
        if number % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    for number, ((day, code), numbers) in enumerate(batch.visitors.items(), 1):
        request = whole or get_request(code)
        request.visitors.add(code=code, day=day, numbers=numbers)
        if number % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    return requests


def _parse_statistics(message: pb.GetStatisticsResponse) -> Statistics:
    """Return the statistics of a response. Ignores dimensions of a later version."""
    breakdowns: dict[Dimension, People] = {dimension: [] for dimension in Dimension}
    for breakdown in message.breakdowns:
        if dimension := _DIMENSIONS.get(breakdown.dimension):
            breakdowns[dimension] = [(name.name, name.people) for name in breakdown.names]
    return from_message(
        Statistics,
        message,
        first=getattr(message, "from"),
        last=message.to,
        breakdowns=breakdowns,
        top=[(link.code, link.people) for link in message.top],
    )


@lru_cache(_CACHED_ROWS)
def _encoded_row(hour: int, kind: Kind, host: str, facts: str) -> bytes:
    """Return an encoded row without its code and count, in which most rows differ.

    Setting these fields in each row takes twice as long as everything else.
    """
    row = pb.VisitCount(hour=hour, kind=_KIND_NUMBERS[kind], referrer_host=host)
    return row.SerializeToString() + _encoded_facts(facts)


@lru_cache(_CACHED_FACTS)
def _encoded_facts(facts: str) -> bytes:
    """Return the facts of a visit, from their text in the journal, as encoded fields of a row.

    Adding them to a row as messages takes three times as long as everything else.
    """
    names = [
        pb.Name(dimension=_DIMENSION_NUMBERS[Dimension(dimension)], name=name)
        for dimension, name in lines.facts_of(facts)._asdict().items()
        if name
    ]
    return pb.VisitCount(names=names).SerializeToString()
