"""Visits of one link or of all links of an owner over a period."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.backends.analytics import AnalyticsClient
from gateway.backends.links import LinksClient
from gateway.backends.owners import Owner
from gateway.backends.ports import Period, RecentPeriod, Statistics
from gateway.support.single_flight import SingleFlight

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
class _Query:
    """A query for the statistics of one link. Concurrent callers of the same query share a call."""

    code: str
    period: Period
    timezone: str
    caller: Owner | None = field(compare=False)


class StatisticsReader:
    """Reads statistics. Raises what `LinksClient` and `AnalyticsClient` raise."""

    def __init__(self, links: LinksClient, analytics: AnalyticsClient) -> None:
        self._links = links
        self._analytics = analytics
        self._of_links = SingleFlight(self._load, FRESH_SECONDS, MAX_CACHED)

    async def of_link(
        self, caller: Owner | None, code: str, period: Period, timezone: str
    ) -> Statistics:
        """Return the statistics of a link.

        Raises NotFound unless they are public or the caller (None: no owner) owns the link.
        """
        await self._links.check_statistics_access(caller, code)
        return await self._of_links.get(_Query(code, period, timezone, caller))

    async def of_all_links(self, owner: Owner, period: Period, timezone: str) -> Statistics:
        """Return the statistics of all links of an owner without removed ones."""
        codes = await self._links.owned_codes(owner)
        return await self._analytics.statistics(codes, period, timezone, TOP, owner)

    async def _load(self, query: _Query) -> Statistics:
        return await self._analytics.statistics(
            [query.code], query.period, query.timezone, 0, query.caller
        )
