"""Operations on statistics."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from gateway.api import models
from gateway.api.links import CodeInPath
from gateway.api.problems import ApiError, problem_responses
from gateway.api.requests import ServicesOf, StatisticsKey, StrictRoute
from gateway.backends.ports import DateRange, Period
from gateway.support.failures import run_while_connected
from gateway.use_cases.json_values import link_statistics_json, statistics_json
from gateway.use_cases.statistics import DEFAULT_PERIOD

router = APIRouter(tags=["Statistics"], route_class=StrictRoute)

_PROBLEMS = ("invalid_input", "insufficient_scope", "invalid_range", "invalid_timezone")
StatisticsQueryOf = Annotated[models.StatisticsQuery, Query()]


@router.get(
    "/links/{code}/statistics",
    operation_id="getLinkStatistics",
    summary="Get the statistics of a link",
    response_model=models.LinkStatistics,
    response_description="The statistics.",
    response_model_exclude_unset=True,
    responses=problem_responses(*_PROBLEMS, "not_found", "overloaded"),
)
async def get_link_statistics(
    code: CodeInPath, key: StatisticsKey, services: ServicesOf, query: StatisticsQueryOf
) -> Any:
    """Get the visits of a link of the account, or of any link with public statistics."""
    period = _period(query)
    found = await services.statistics.of_link(key.account, code, period, query.timezone)
    return link_statistics_json(found, query.timezone)


@router.get(
    "/statistics",
    operation_id="getStatistics",
    summary="Get the statistics of all links",
    response_model=models.Statistics,
    response_description="The statistics.",
    response_model_exclude_unset=True,
    responses=problem_responses(*_PROBLEMS, "too_many_links", "overloaded"),
)
async def get_statistics(
    request: Request, key: StatisticsKey, services: ServicesOf, query: StatisticsQueryOf
) -> Any:
    """Get the visits of all links of the account, without removed ones."""
    reading = services.statistics.of_all_links(key.account, _period(query), query.timezone)
    found = await run_while_connected(request, reading)
    return statistics_json(found, query.timezone)


def _period(query: models.StatisticsQuery) -> Period:
    """Return the period. Raises ApiError for `range` beside dates, and for one date alone."""
    if query.first is None and query.last is None:
        return query.period or DEFAULT_PERIOD
    if query.period is not None or query.first is None or query.last is None:
        raise ApiError("invalid_range", "Give a range, or both from and to.")
    return DateRange(query.first, query.last)
