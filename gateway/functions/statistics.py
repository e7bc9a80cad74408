"""showStatistics: visits of one link or of all links of an owner over a period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.auth import AuthClient
from gateway.backends.ports import DateRange, Period, RecentPeriod, Statistics
from gateway.functions.outcomes import NoOwner, Reply
from gateway.functions.owner import OwnerPayload, owner_of
from gateway.functions.protocol import Text
from gateway.use_cases.statistics import DEFAULT_PERIOD, DEFAULT_TIMEZONE, StatisticsReader
from gateway.use_cases.statistics_json import link_statistics_json, statistics_json
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


@dataclass(frozen=True)
class LinkStatistics:
    """Handler of showStatistics, which returns the `data` of the response."""

    auth: AuthClient
    reader: StatisticsReader

    async def show_statistics(self, payload: ShowStatistics, request: Request) -> Reply:
        timezone = DEFAULT_TIMEZONE if payload.timezone is None else payload.timezone
        if payload.code is not None:
            found = await self._of_link(payload, payload.code, timezone)
            return {"success": True, **link_statistics_json(found, timezone)}
        owner = await owner_of(self.auth, payload)
        found = await self.reader.of_all_links(owner, payload.period, timezone)
        return {"success": True, **statistics_json(found, timezone)}

    async def _of_link(self, payload: ShowStatistics, code: str, timezone: str) -> Statistics:
        """Return the statistics of a link if the caller, who may be anonymous, may see them.

        Otherwise raises NotFound, or NoOwner for an anonymous caller. Raises AppError
        (INVALID_TOKEN).
        """
        names_owner = payload.token or payload.guest
        caller = await owner_of(self.auth, payload) if names_owner else None
        try:
            return await self.reader.of_link(caller, code, payload.period, timezone)
        except NotFound:
            if caller is None:
                raise NoOwner("This call needs a session.") from None
            raise
