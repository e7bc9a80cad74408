"""Visits over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grpc.aio import ServicerContext

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.analytics.domain import (
    Batch,
    Dimension,
    InvalidBatch,
    InvalidRange,
    Totals,
    VisitCount,
    VisitKind,
)
from services.analytics.service import AnalyticsService
from services.analytics.spans import Dates, Recent, StepLength
from services.analytics.statistics import Figures, Statistics
from services.runtime.server import Servicer, Servicers

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
    """Translates calls; decides nothing."""

    def __init__(self, service: AnalyticsService) -> None:
        self._service = service

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
        return pb.RecordVisitsResponse(applied=await self._service.record(batch))

    async def CloseGateway(
        self, request: pb.CloseGatewayRequest, context: ServicerContext[Any, Any]
    ) -> pb.CloseGatewayResponse:
        await self._service.close_gateway(request.gateway_id, request.batch_number)
        return pb.CloseGatewayResponse()

    async def GetTotals(
        self, request: pb.GetTotalsRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetTotalsResponse:
        totals = await self._service.totals(request.codes)
        return pb.GetTotalsResponse(totals=_totals_to_pb(totals))

    async def GetStatistics(
        self, request: pb.GetStatisticsRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetStatisticsResponse:
        statistics = await self._service.statistics(
            request.codes, _wanted(request), request.timezone, request.top, request.owner
        )
        return _statistics_to_pb(statistics)

    async def GetRecentPeople(
        self, request: pb.GetRecentPeopleRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetRecentPeopleResponse:
        links = await self._service.recent_people(request.codes, request.owner)
        return pb.GetRecentPeopleResponse(
            links={code: pb.DailyPeople(people=people) for code, people in links.items()}
        )

    async def GetVisitorKey(
        self, request: pb.GetVisitorKeyRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetVisitorKeyResponse:
        day, key = await self._service.visitor_key()
        return pb.GetVisitorKeyResponse(day=day, key=key)


class AdminServicer(pb_grpc.AdminServiceServicer):
    """The same for the operator and the reconciler."""

    def __init__(self, service: AnalyticsService) -> None:
        self._service = service

    async def ListVisited(
        self, request: pb.ListVisitedRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListVisitedResponse:
        mark = request.mark if request.HasField("mark") else None
        visited = await self._service.visited(mark)
        return pb.ListVisitedResponse(
            mark=visited.mark,
            totals=_totals_to_pb(visited.totals),
            more=visited.more,
            lost=visited.lost,
        )

    async def RemoveCounts(
        self, request: pb.RemoveCountsRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveCountsResponse:
        await self._service.remove(request.codes)
        return pb.RemoveCountsResponse()


def servicers(service: AnalyticsService) -> Servicers:
    """What a process serves of it."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "AnalyticsService",
            pb_grpc.add_AnalyticsServiceServicer_to_server,
            AnalyticsServicer(service),
        ),
        admin=[
            Servicer.of(
                pb.DESCRIPTOR,
                "AdminService",
                pb_grpc.add_AdminServiceServicer_to_server,
                AdminServicer(service),
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
    counted_from, kept_from = statistics.counted_from, statistics.kept_from
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
        counted_from=counted_from.isoformat() if counted_from else "",
        kept_from=kept_from.isoformat() if kept_from else "",
    )
    setattr(response, "from", statistics.first.isoformat())
    return response


def _figures_to_pb(figures: Figures) -> pb.Figures:
    return pb.Figures(people=figures.people, bots=figures.bots, visitors=figures.visitors)
