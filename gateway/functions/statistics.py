"""showStatistics: visits of one link or of all links of an owner over a period."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.owners import Owner
from gateway.backends.ports import (
    Analytics,
    Auth,
    DateRange,
    Dimension,
    Links,
    People,
    Period,
    RecentPeriod,
    Statistics,
)
from gateway.functions.outcomes import NoOwner, Reply
from gateway.functions.owner import OwnerPayload, owner_of
from gateway.functions.protocol import Text
from gateway.support.single_flight import SingleFlight
from services.shared.errors import InvalidArgument, NotFound

DEFAULT_PERIOD = RecentPeriod.DAYS_30
DEFAULT_TIMEZONE = "UTC"
FRESH_SECONDS = 1.0
"""How long the statistics of one link are cached. Public ones may have many readers, and computing
them takes milliseconds of CPU time."""
MAX_CACHED = 64
"""Maximum cached statistics: 20 kB each, up to 0.5 MB if visitors chose all names."""
TOP = 100
"""Number of most visited links to list in the statistics of all links."""


@dataclass(frozen=True, slots=True)
class _StatisticsQuery:
    """A query for the statistics of one link. Concurrent callers of the same query share a call."""

    code: str
    period: Period
    timezone: str
    caller: Owner | None = field(compare=False)


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


class LinkStatistics:
    """Handler of showStatistics, which returns the `data` of the response."""

    def __init__(self, auth: Auth, links: Links, analytics: Analytics) -> None:
        self._auth = auth
        self._links = links
        self._analytics = analytics
        self._link_statistics = SingleFlight(self._load, FRESH_SECONDS, MAX_CACHED)

    async def show_statistics(self, payload: ShowStatistics, request: Request) -> Reply:
        timezone = DEFAULT_TIMEZONE if payload.timezone is None else payload.timezone
        if payload.code is not None:
            caller = await self._check_access(payload, payload.code)
            query = _StatisticsQuery(payload.code, payload.period, timezone, caller)
            return _statistics_json(await self._link_statistics.get(query), timezone)
        owner = await owner_of(self._auth, payload)
        codes = await self._links.owned_codes(owner)
        found = await self._analytics.statistics(codes, payload.period, timezone, TOP, owner)
        return {**_statistics_json(found, timezone), "top": _ranking("code", found.top)}

    async def _load(self, query: _StatisticsQuery) -> Statistics:
        return await self._analytics.statistics(
            [query.code], query.period, query.timezone, 0, query.caller
        )

    async def _check_access(self, payload: ShowStatistics, code: str) -> Owner | None:
        """Return the caller, None for an anonymous one, if it may see the statistics of a link.

        Otherwise raises NotFound, or NoOwner for an anonymous caller. Raises AppError
        (INVALID_TOKEN).
        """
        names_owner = payload.token or payload.guest
        caller = await owner_of(self._auth, payload) if names_owner else None
        try:
            await self._links.check_statistics_access(caller, code)
        except NotFound:
            if caller is None:
                raise NoOwner("This call needs a session.") from None
            raise
        return caller


def _statistics_json(found: Statistics, timezone: str) -> Reply:
    shown: Reply = {
        "success": True,
        "range": {
            "from": found.first,
            "to": found.last,
            "step": found.step.value,
            "timezone": timezone,
        },
        "totals": asdict(found.totals),
        "previous": asdict(found.previous) if found.previous else None,
        "series": [
            {
                "start": step.start,
                "people": step.people,
                "bots": step.bots,
                "visitors": step.visitors,
            }
            for step in found.series
        ],
        "breakdowns": {
            dimension.value: _ranking("name", found.breakdowns[dimension])
            for dimension in Dimension
        },
    }
    if found.kept_from:
        shown["kept_from"] = found.kept_from
    return shown


def _ranking(key: str, people: People) -> list[dict[str, str | int]]:
    return [{key: name, "people": count} for name, count in people]
