"""Visits over gRPC: protobuf in, domain, protobuf out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grpc.aio import ServicerContext

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.analytics.domain import (
    Batch,
    Day,
    Dimension,
    InvalidBatch,
    Totals,
    VisitCount,
    VisitKind,
)
from services.analytics.service import AnalyticsService
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


class AnalyticsServicer(pb_grpc.AnalyticsServiceServicer):
    """Translates calls; decides nothing."""

    def __init__(self, service: AnalyticsService) -> None:
        self._service = service

    async def RecordVisits(
        self, request: pb.RecordVisitsRequest, context: ServicerContext[Any, Any]
    ) -> pb.RecordVisitsResponse:
        visits = tuple(_from_pb(visit) for visit in request.visits)
        batch = Batch(request.gateway_id, request.batch_number, visits)
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

    async def ListDays(
        self, request: pb.ListDaysRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListDaysResponse:
        days = await self._service.days(request.code, request.first_day, request.last_day)
        return pb.ListDaysResponse(days=[_to_pb(day) for day in days])


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
        admin=Servicer.of(
            pb.DESCRIPTOR,
            "AdminService",
            pb_grpc.add_AdminServiceServicer_to_server,
            AdminServicer(service),
        ),
    )


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


def _to_pb(day: Day) -> pb.Day:
    return pb.Day(
        day=day.day,
        people=day.people,
        bots=day.bots,
        people_by_hour=day.people_by_hour,
        breakdowns=[
            pb.Breakdown(dimension=_NUMBERS[dimension], people=people)
            for dimension, people in day.breakdowns.items()
        ],
    )
