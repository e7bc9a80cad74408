"""The gRPC services of analytics: they translate between protobuf and use cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grpc.aio import ServicerContext

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.analytics.application.ingest import Ingest
from services.analytics.application.query import Queries
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.domain.batches import Batch
from services.analytics.domain.errors import InvalidBatch, InvalidRange, LaterVersion
from services.analytics.domain.periods import DateRange, RecentPeriod, StepLength
from services.analytics.domain.statistics import Figures, Statistics
from services.analytics.domain.visits import Dimension, Totals, VisitCount, VisitKind
from services.shared.rpc.server import Servicer, Servicers

_KINDS: dict[int, VisitKind] = {
    pb.VISIT_KIND_PERSON: VisitKind.PERSON,
    pb.VISIT_KIND_BOT: VisitKind.BOT,
}
_DIMENSIONS: dict[int, Dimension] = {
    pb.DIMENSION_REFERRER: Dimension.REFERRER,
    pb.DIMENSION_DEVICE: Dimension.DEVICE,
    pb.DIMENSION_BROWSER: Dimension.BROWSER,
    pb.DIMENSION_SYSTEM: Dimension.SYSTEM,
    pb.DIMENSION_LANGUAGE: Dimension.LANGUAGE,
    pb.DIMENSION_COUNTRY: Dimension.COUNTRY,
    pb.DIMENSION_SOURCE: Dimension.SOURCE,
}
_DIMENSIONS_TO_PB = {dimension: pb.Dimension.ValueType(n) for n, dimension in _DIMENSIONS.items()}

_RECENT_PERIODS: dict[int, RecentPeriod] = {
    pb.RECENT_SPAN_24_HOURS: RecentPeriod.DAY,
    pb.RECENT_SPAN_7_DAYS: RecentPeriod.WEEK,
    pb.RECENT_SPAN_30_DAYS: RecentPeriod.MONTH,
    pb.RECENT_SPAN_90_DAYS: RecentPeriod.QUARTER,
    pb.RECENT_SPAN_12_MONTHS: RecentPeriod.YEAR,
    pb.RECENT_SPAN_ALL: RecentPeriod.ALL,
}
_STEP_LENGTHS = {
    StepLength.HOUR: pb.STEP_LENGTH_HOUR,
    StepLength.DAY: pb.STEP_LENGTH_DAY,
    StepLength.WEEK: pb.STEP_LENGTH_WEEK,
    StepLength.MONTH: pb.STEP_LENGTH_MONTH,
}


class AnalyticsServicer(pb_grpc.AnalyticsServiceServicer):
    """Serves the gateways."""

    def __init__(self, ingest: Ingest, queries: Queries, keys: VisitorKeys) -> None:
        self._ingest = ingest
        self._queries = queries
        self._keys = keys

    async def RecordVisits(
        self, request: pb.RecordVisitsRequest, context: ServicerContext[Any, Any]
    ) -> pb.RecordVisitsResponse:
        try:
            _check_fields(request)
            visits = _visits_from_pb(request.visits)
        except LaterVersion:
            self._ingest.count_deferred()
            raise
        visitors: dict[tuple[int, str], frozenset[int]] = {}
        for row in request.visitors:
            if (key := (row.day, row.code)) in visitors:
                raise InvalidBatch("The visitors of a code and day are duplicated.")
            visitors[key] = frozenset(row.numbers)
        batch = Batch(request.gateway_id, request.batch_number, visits, visitors)
        return pb.RecordVisitsResponse(applied=await self._ingest.record(batch))

    async def GetTotals(
        self, request: pb.GetTotalsRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetTotalsResponse:
        totals = await self._queries.totals(request.codes)
        return pb.GetTotalsResponse(totals=_totals_to_pb(totals))

    async def GetStatistics(
        self, request: pb.GetStatisticsRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetStatisticsResponse:
        statistics = await self._queries.statistics(
            request.codes, _period_from_pb(request), request.timezone, request.top, request.owner
        )
        return _statistics_to_pb(statistics)

    async def GetRecentPeople(
        self, request: pb.GetRecentPeopleRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetRecentPeopleResponse:
        links = await self._queries.recent_people(request.codes, request.owner)
        return pb.GetRecentPeopleResponse(
            links={code: pb.DailyPeople(people=people) for code, people in links.items()}
        )

    async def GetVisitorKey(
        self, request: pb.GetVisitorKeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetVisitorKeyResponse:
        day, key = await self._keys.current()
        return pb.GetVisitorKeyResponse(day=day, key=key)


class AdminServicer(pb_grpc.AdminServiceServicer):
    """Serves the operator's command and the reconciler."""

    def __init__(self, ingest: Ingest, queries: Queries) -> None:
        self._ingest = ingest
        self._queries = queries

    async def ListVisited(
        self, request: pb.ListVisitedRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListVisitedResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        page = await self._queries.changed_totals(cursor)
        return pb.ListVisitedResponse(
            cursor=page.cursor,
            totals=_totals_to_pb(page.totals),
            more=page.more,
            truncated=page.truncated,
        )

    async def RemoveCounts(
        self, request: pb.RemoveCountsRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveCountsResponse:
        await self._ingest.remove(request.codes)
        return pb.RemoveCountsResponse()


def servicers(ingest: Ingest, queries: Queries, keys: VisitorKeys) -> Servicers:
    """Return the gRPC services of the process."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "AnalyticsService",
            pb_grpc.add_AnalyticsServiceServicer_to_server,
            AnalyticsServicer(ingest, queries, keys),
        ),
        admin=[
            Servicer.of(
                pb.DESCRIPTOR,
                "AdminService",
                pb_grpc.add_AdminServiceServicer_to_server,
                AdminServicer(ingest, queries),
            )
        ],
    )


def _visits_from_pb(rows: Iterable[pb.VisitCount]) -> tuple[VisitCount, ...]:
    """Decode the rows of a batch. Rows that are marked as alike share hour, kind and names."""
    visits: list[VisitCount] = []
    templates: dict[int, VisitCount] = {}
    for row in rows:
        alike = row.alike
        template = templates.get(alike)
        if template is None:
            visit = _visit_from_pb(row)
            if alike:
                templates[alike] = visit
        else:
            visit = VisitCount(row.code, template.hour, template.kind, template.names, row.count)
        visits.append(visit)
    return tuple(visits)


def _check_fields(request: pb.RecordVisitsRequest) -> None:
    """Raise LaterVersion if a message of a batch has fields that this version does not know.

    Compares sizes without such fields: 1.3 ms for 5,000 visits, and 4.7 ms to ask each message.
    """
    size = request.ByteSize()
    request.DiscardUnknownFields()
    if request.ByteSize() < size:
        raise LaterVersion("A batch has unknown fields.")


def _visit_from_pb(visit: pb.VisitCount) -> VisitCount:
    kind = _KINDS.get(visit.kind)
    if kind is None:
        if visit.kind == pb.VISIT_KIND_UNSPECIFIED:
            raise InvalidBatch("A visit has no kind.")
        raise LaterVersion("The kind of a visit is unknown.")
    names = {Dimension.REFERRER: visit.referrer_host} if visit.referrer_host else {}
    for each in visit.names:
        dimension = _DIMENSIONS.get(each.dimension)
        if dimension is None:
            if each.dimension == pb.DIMENSION_UNSPECIFIED:
                raise InvalidBatch("A name has no dimension.")
            raise LaterVersion("The dimension of a name is unknown.")
        if dimension in names:
            raise InvalidBatch("A visit has two names in a dimension.")
        names[dimension] = each.name
    return VisitCount(visit.code, visit.hour, kind, names, visit.count)


def _totals_to_pb(totals: Mapping[str, Totals]) -> dict[str, pb.Totals]:
    return {
        code: pb.Totals(people=visits.people, bots=visits.bots) for code, visits in totals.items()
    }


def _period_from_pb(request: pb.GetStatisticsRequest) -> RecentPeriod | DateRange:
    if request.WhichOneof("span") == "dates":
        # `from` is a keyword of Python.
        return DateRange.parse(getattr(request.dates, "from"), request.dates.to)
    recent = _RECENT_PERIODS.get(request.recent)
    if recent is None:
        raise InvalidRange("The recent period is unknown.")
    return recent


def _statistics_to_pb(statistics: Statistics) -> pb.GetStatisticsResponse:
    previous = statistics.previous
    response = pb.GetStatisticsResponse(
        to=statistics.last.isoformat(),
        step=_STEP_LENGTHS[statistics.step],
        totals=_figures_to_pb(statistics.totals),
        previous=_figures_to_pb(previous) if previous else None,
        series=[
            pb.Step(
                start=step.start.isoformat(),
                people=step.people,
                bots=step.bots,
                visitors=step.visitors,
            )
            for step in statistics.series
        ],
        breakdowns=[
            pb.Breakdown(
                dimension=_DIMENSIONS_TO_PB[dimension],
                names=[pb.PeopleOfName(name=name, people=people) for name, people in names],
            )
            for dimension, names in statistics.breakdowns.items()
        ],
        top=[pb.PeopleOfLink(code=code, people=people) for code, people in statistics.top],
        kept_from=statistics.retained_from.isoformat() if statistics.retained_from else "",
    )
    setattr(response, "from", statistics.first.isoformat())
    return response


def _figures_to_pb(figures: Figures) -> pb.Figures:
    return pb.Figures(people=figures.people, bots=figures.bots, visitors=figures.visitors)
