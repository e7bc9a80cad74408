"""Visits over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grpc.aio import ServicerContext

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.analytics.application.ingest import Ingest
from services.analytics.application.maintenance import VisitorKeys
from services.analytics.application.query import Queries
from services.analytics.domain.periods import Dates, Recent, StepLength
from services.analytics.domain.statistics import Figures, Statistics
from services.analytics.domain.visits import (
    Batch,
    Dimension,
    InvalidBatch,
    InvalidRange,
    Totals,
    VisitCount,
    VisitKind,
)
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
_NUMBERS = {dimension: pb.Dimension.ValueType(n) for n, dimension in _DIMENSIONS.items()}

_RECENT: dict[int, Recent] = {
    pb.RECENT_SPAN_24_HOURS: Recent.DAY,
    pb.RECENT_SPAN_7_DAYS: Recent.WEEK,
    pb.RECENT_SPAN_30_DAYS: Recent.MONTH,
    pb.RECENT_SPAN_90_DAYS: Recent.QUARTER,
    pb.RECENT_SPAN_12_MONTHS: Recent.YEAR,
    pb.RECENT_SPAN_ALL: Recent.ALL,
}
_STEP_LENGTHS = {
    StepLength.HOUR: pb.STEP_LENGTH_HOUR,
    StepLength.DAY: pb.STEP_LENGTH_DAY,
    StepLength.WEEK: pb.STEP_LENGTH_WEEK,
    StepLength.MONTH: pb.STEP_LENGTH_MONTH,
}


class AnalyticsServicer(pb_grpc.AnalyticsServiceServicer):
    """Translates the calls of gateways; decides nothing."""

    def __init__(self, ingest: Ingest, queries: Queries, keys: VisitorKeys) -> None:
        self._ingest = ingest
        self._queries = queries
        self._keys = keys

    async def RecordVisits(
        self, request: pb.RecordVisitsRequest, context: ServicerContext[Any, Any]
    ) -> pb.RecordVisitsResponse:
        visits = _visits_from_pb(request.visits)
        visitors: dict[tuple[int, str], frozenset[int]] = {}
        for one in request.visitors:
            if (key := (one.day, one.code)) in visitors:
                raise InvalidBatch("Visitors of a code and day are named once.")
            visitors[key] = frozenset(one.numbers)
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
            request.codes, _wanted(request), request.timezone, request.top, request.owner
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
    """Translates the calls of the operator's command and the reconciler."""

    def __init__(self, ingest: Ingest, queries: Queries) -> None:
        self._ingest = ingest
        self._queries = queries

    async def ListVisited(
        self, request: pb.ListVisitedRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListVisitedResponse:
        cursor = request.cursor if request.HasField("cursor") else None
        visited = await self._queries.visited(cursor)
        return pb.ListVisitedResponse(
            cursor=visited.cursor,
            totals=_totals_to_pb(visited.totals),
            more=visited.more,
            truncated=visited.truncated,
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
    """The rows of a batch; those that are said to be alike share what they have in common."""
    visits: list[VisitCount] = []
    first_alike: dict[int, VisitCount] = {}
    for row in rows:
        alike = row.alike
        first = first_alike.get(alike)
        if first is None:
            visit = _from_pb(row)
            if alike:
                first_alike[alike] = visit
        else:
            visit = VisitCount(row.code, first.hour, first.kind, first.names, row.count)
        visits.append(visit)
    return tuple(visits)


def _from_pb(visit: pb.VisitCount) -> VisitCount:
    kind = _KINDS.get(visit.kind)
    if kind is None:
        raise InvalidBatch("A visit is a person's or a bot's.")
    names = {Dimension.REFERRER: visit.referrer_host} if visit.referrer_host else {}
    for one in visit.names:
        dimension = _DIMENSIONS.get(one.dimension)
        if dimension is None:  # A later version of the gateway knows more of them.
            continue
        if dimension in names:
            raise InvalidBatch("A visit has one name in each dimension.")
        names[dimension] = one.name
    return VisitCount(visit.code, visit.hour, kind, names, visit.count)


def _totals_to_pb(totals: Mapping[str, Totals]) -> dict[str, pb.Totals]:
    return {
        code: pb.Totals(people=visits.people, bots=visits.bots) for code, visits in totals.items()
    }


def _wanted(request: pb.GetStatisticsRequest) -> Recent | Dates:
    if request.WhichOneof("span") == "dates":
        # The first has the name of a keyword.
        return Dates.of(getattr(request.dates, "from"), request.dates.to)
    recent = _RECENT.get(request.recent)
    if recent is None:
        raise InvalidRange("A span that ends now is one of those that are known.")
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
                dimension=_NUMBERS[dimension],
                names=[pb.PeopleOfName(name=name, people=people) for name, people in names],
            )
            for dimension, names in statistics.breakdowns.items()
        ],
        top=[pb.PeopleOfLink(code=code, people=people) for code, people in statistics.top],
        kept_from=statistics.kept_from.isoformat() if statistics.kept_from else "",
    )
    setattr(response, "from", statistics.first.isoformat())
    return response


def _figures_to_pb(figures: Figures) -> pb.Figures:
    return pb.Figures(people=figures.people, bots=figures.bots, visitors=figures.visitors)
