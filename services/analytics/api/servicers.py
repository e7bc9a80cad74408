"""The gRPC services of analytics: they translate between protobuf and use cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from atajo.analytics.v1 import analytics_pb2 as pb
from services.analytics.application.ingest import Ingest
from services.analytics.application.query import Queries
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.domain.batches import Batch
from services.analytics.domain.errors import InvalidBatch, InvalidRange, LaterVersion
from services.analytics.domain.periods import DateRange, RecentPeriod
from services.analytics.domain.statistics import Statistics
from services.analytics.domain.visits import Dimension, Totals, VisitCount, VisitKind
from services.shared.observability.store_size import StoreSize
from services.shared.rpc.fields import enum_members, enum_numbers, to_message

_KINDS = enum_members(VisitKind, pb.VisitKind)
_DIMENSIONS = enum_members(Dimension, pb.Dimension)
_DIMENSION_NUMBERS = enum_numbers(Dimension, pb.Dimension)
_RECENT_PERIODS = {
    pb.RecentSpan.Value(f"RECENT_SPAN_{period.value.upper().replace(' ', '_')}"): period
    for period in RecentPeriod
}


@dataclass(frozen=True)
class AnalyticsServicer:
    """Serves the gateways."""

    service = pb.DESCRIPTOR.services_by_name["AnalyticsService"]

    _ingest: Ingest
    _queries: Queries
    _keys: VisitorKeys
    _measure: Callable[[], Awaitable[StoreSize]]

    async def RecordVisits(self, request: pb.RecordVisitsRequest) -> pb.RecordVisitsResponse:
        try:
            _check_fields(request)
            batch = _parse_batch(request, 0, {})
        except LaterVersion:
            self._ingest.count_deferred()
            raise
        return pb.RecordVisitsResponse(applied=await self._ingest.record(batch))

    async def RecordLanes(self, request: pb.RecordLanesRequest) -> pb.RecordLanesResponse:
        try:
            _check_fields(request)
            templates: dict[int, VisitCount] = {}
            batches = [_parse_batch(lane.batch, lane.number, templates) for lane in request.lanes]
        except LaterVersion:
            self._ingest.count_deferred()
            raise
        await self._ingest.record_lanes(batches)
        return pb.RecordLanesResponse()

    async def GetTotals(self, request: pb.GetTotalsRequest) -> pb.GetTotalsResponse:
        totals = await self._queries.totals(request.codes)
        return pb.GetTotalsResponse(totals=_to_totals(totals))

    async def GetStatistics(self, request: pb.GetStatisticsRequest) -> pb.GetStatisticsResponse:
        statistics = await self._queries.statistics(
            request.codes, _parse_period(request), request.timezone, request.top, request.owner
        )
        return _to_statistics(statistics)

    async def GetRecentPeople(
        self, request: pb.GetRecentPeopleRequest
    ) -> pb.GetRecentPeopleResponse:
        links = await self._queries.recent_people(request.codes, request.owner)
        return pb.GetRecentPeopleResponse(
            links={code: pb.DailyPeople(people=people) for code, people in links.items()}
        )

    async def GetUsage(self, request: pb.GetUsageRequest) -> pb.GetUsageResponse:
        today, yesterday = await self._queries.recent_visits()
        size = await self._measure()
        return pb.GetUsageResponse(today=today, yesterday=yesterday, store_bytes=size.bytes)

    async def GetVisitorKey(self, request: pb.GetVisitorKeyRequest) -> pb.GetVisitorKeyResponse:
        day, key = await self._keys.current()
        return pb.GetVisitorKeyResponse(day=day, key=key)


@dataclass(frozen=True)
class AdminServicer:
    """Serves the operator's command and the reconciler."""

    service = pb.DESCRIPTOR.services_by_name["AdminService"]

    _ingest: Ingest
    _queries: Queries

    async def ListVisited(self, request: pb.ListVisitedRequest) -> pb.ListVisitedResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        page, totals = await self._queries.changed_totals(cursor)
        return to_message(pb.ListVisitedResponse, page, totals=_to_totals(totals))

    async def RemoveCounts(self, request: pb.RemoveCountsRequest) -> pb.RemoveCountsResponse:
        await self._ingest.remove(request.codes)
        return pb.RemoveCountsResponse()


def _parse_batch(
    request: pb.RecordVisitsRequest, lane: int, templates: dict[int, VisitCount]
) -> Batch:
    """Decode a batch. `templates` has the rows of the call so far by their number `alike`."""
    visits = _parse_visits(request.visits, templates)
    visitors: dict[tuple[int, str], frozenset[int]] = {}
    for row in request.visitors:
        if (key := (row.day, row.code)) in visitors:
            raise InvalidBatch("The visitors of a code and day are duplicated.")
        visitors[key] = frozenset(row.numbers)
    return Batch(request.gateway_id, request.batch_number, visits, visitors, lane)


def _parse_visits(
    rows: Iterable[pb.VisitCount], templates: dict[int, VisitCount]
) -> tuple[VisitCount, ...]:
    """Decode the rows of a batch. Rows that are marked as alike share hour, kind and names."""
    visits: list[VisitCount] = []
    for row in rows:
        alike = row.alike
        template = templates.get(alike)
        if template is None:
            visit = _parse_visit(row)
            if alike:
                templates[alike] = visit
        else:
            visit = VisitCount(row.code, template.hour, template.kind, template.names, row.count)
        visits.append(visit)
    return tuple(visits)


def _check_fields(request: pb.RecordVisitsRequest | pb.RecordLanesRequest) -> None:
    """Raise LaterVersion if a message of a batch has fields that this version does not know.

    Compares sizes without such fields: 1.3 ms for 5,000 visits, and 4.7 ms to ask each message.
    """
    size = request.ByteSize()
    request.DiscardUnknownFields()
    if request.ByteSize() < size:
        raise LaterVersion("A batch has unknown fields.")


def _parse_visit(visit: pb.VisitCount) -> VisitCount:
    kind = _KINDS.get(visit.kind)
    if kind is None:
        if visit.kind == pb.VISIT_KIND_UNSPECIFIED:
            raise InvalidBatch("A visit has no kind.")
        raise LaterVersion("The kind of a visit is unknown.")
    names = {Dimension.REFERRER: visit.referrer_host} if visit.referrer_host else {}
    for name in visit.names:
        dimension = _DIMENSIONS.get(name.dimension)
        if dimension is None:
            if name.dimension == pb.DIMENSION_UNSPECIFIED:
                raise InvalidBatch("A name has no dimension.")
            raise LaterVersion("The dimension of a name is unknown.")
        if dimension in names:
            raise InvalidBatch("A visit has two names in a dimension.")
        names[dimension] = name.name
    return VisitCount(visit.code, visit.hour, kind, names, visit.count)


def _to_totals(totals: Mapping[str, Totals]) -> dict[str, pb.Totals]:
    return {
        code: pb.Totals(people=visits.people, bots=visits.bots) for code, visits in totals.items()
    }


def _parse_period(request: pb.GetStatisticsRequest) -> RecentPeriod | DateRange:
    if request.WhichOneof("span") == "dates":
        # `from` is a keyword of Python.
        return DateRange.parse(getattr(request.dates, "from"), request.dates.to)
    recent = _RECENT_PERIODS.get(request.recent)
    if recent is None:
        raise InvalidRange("The recent period is unknown.")
    return recent


def _to_statistics(statistics: Statistics) -> pb.GetStatisticsResponse:
    return to_message(
        pb.GetStatisticsResponse,
        statistics,
        **{"from": statistics.first.isoformat()},
        to=statistics.last.isoformat(),
        series=[
            to_message(pb.Step, step, start=step.start.isoformat()) for step in statistics.series
        ],
        breakdowns=[
            pb.Breakdown(
                dimension=_DIMENSION_NUMBERS[dimension],
                names=[pb.PeopleOfName(name=name, people=people) for name, people in names],
            )
            for dimension, names in statistics.breakdowns.items()
        ],
        top=[pb.PeopleOfLink(code=code, people=people) for code, people in statistics.top],
        kept_from=statistics.retained_from.isoformat() if statistics.retained_from else "",
    )
