"""showStatistics: visits of one link or of all links of an owner over a period."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.ports import DateRange, Period, RecentPeriod, Statistics
from gateway.functions.owner import NoOwner, OwnerPayload, find_caller, find_owner
from gateway.functions.protocol import Reply, Text
from gateway.use_cases.json_values import link_statistics_json, statistics_json
from gateway.use_cases.services import Services
from gateway.use_cases.statistics import DEFAULT_PERIOD, DEFAULT_TIMEZONE
from services.shared.errors import InvalidArgument, NotFound

_DATE_KEYS = {"from", "to"}


def _period(value: Any) -> Period:
    """Return the period of a `range`. Raises InvalidArgument. analytics validates dates."""
    if value is None:
        return DEFAULT_PERIOD
    if isinstance(value, dict) and value.keys() == _DATE_KEYS:
        first, last = value["from"], value["to"]
        if isinstance(first, str) and isinstance(last, str):
            return DateRange(first, last)
    elif isinstance(value, str):
        for period in RecentPeriod:
            if period.value == value:
                return period
    words = ", ".join(f"'{period.value}'" for period in RecentPeriod)
    raise InvalidArgument(f"range: one of {words}, or from and to.", "INVALID_RANGE")


class ShowStatistics(OwnerPayload):
    """`code` is required: null means all links, which nobody should request by mistake.

    A code may be any text. An invalid code has no link.
    """

    code: Text | None
    period: Annotated[Period, PlainValidator(_period)] = Field(
        default=DEFAULT_PERIOD, alias="range"
    )
    timezone: Text | None = None


async def show_statistics(services: Services, payload: ShowStatistics, request: Request) -> Reply:
    timezone = DEFAULT_TIMEZONE if payload.timezone is None else payload.timezone
    if payload.code is not None:
        found = await _read_link(services, payload, payload.code, timezone)
        return link_statistics_json(found, timezone)
    owner = await find_owner(services, payload)
    found = await services.statistics.of_all_links(owner, payload.period, timezone)
    return statistics_json(found, timezone)


async def _read_link(
    services: Services, payload: ShowStatistics, code: str, timezone: str
) -> Statistics:
    """Return the statistics of a link if the caller, who may be anonymous, may see them.

    Otherwise raises NotFound, or NoOwner for an anonymous caller. Raises AppError
    (INVALID_TOKEN).
    """
    caller = await find_caller(services, payload)
    try:
        return await services.statistics.of_link(caller, code, payload.period, timezone)
    except NotFound:
        if caller is None:
            raise NoOwner from None
        raise
