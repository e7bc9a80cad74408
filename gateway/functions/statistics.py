"""Statistics: how often links were visited over a span, for whoever may see it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from pydantic import Field, PlainValidator
from starlette.requests import Request

from gateway.backends.owners import Owner
from gateway.backends.ports import (
    Analytics,
    Auth,
    Dates,
    Dimension,
    Links,
    People,
    RecentSpan,
    Span,
    Statistics,
)
from gateway.backends.single_flight import SingleFlight
from gateway.functions.outcomes import NoOwner, Reply
from gateway.functions.owner import Owned, owner_of
from gateway.functions.protocol import Text
from services.shared.errors import InvalidArgument, NotFound

DEFAULT_SPAN = RecentSpan.DAYS_30
DEFAULT_TIMEZONE = "UTC"
FRESH_SECONDS = 1.0
"""How long the statistics of one link are cached. Many may look at public ones, and computing them
takes milliseconds of a core."""
MAX_CACHED = 64
"""Statistics that are cached: 20 kB each, at most 0.5 MB where all names are chosen by visitors."""
TOP = 100
"""How many of an owner's links are listed where all of them are asked for."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked about a link. Callers with the same question share the answer."""

    code: str
    span: Span
    timezone: str
    caller: Owner | None = field(compare=False)


_DATES = {"from", "to"}


def _span(value: Any) -> Span:
    """The span of a `range`. Raises InvalidArgument; which dates are good analytics knows."""
    if value is None:
        return DEFAULT_SPAN
    if isinstance(value, dict) and value.keys() == _DATES:
        first, last = value["from"], value["to"]
        if isinstance(first, str) and isinstance(last, str):
            return Dates(first, last)
    elif isinstance(value, str):
        for span in RecentSpan:
            if span.value == value:
                return span
    words = ", ".join(f"'{span.value}'" for span in RecentSpan)
    raise InvalidArgument(f"range: one of {words}, or from and to.", "INVALID_RANGE")


class ShowStatistics(Owned):
    """`code` must be there, and null asks for all links of the owner: nobody asks that by chance.

    A code may be any text. Under one that is no code, nobody has a link.
    """

    code: Text | None
    span: Annotated[Span, PlainValidator(_span)] = Field(default=DEFAULT_SPAN, alias="range")
    timezone: Text | None = None


class LinkStatistics:
    """The function of statistics, which returns its call's `data`."""

    def __init__(self, auth: Auth, links: Links, analytics: Analytics) -> None:
        self._auth = auth
        self._links = links
        self._analytics = analytics
        self._of_links = SingleFlight(self._of_link, FRESH_SECONDS, MAX_CACHED)

    async def show_statistics(self, payload: ShowStatistics, request: Request) -> Reply:
        timezone = DEFAULT_TIMEZONE if payload.timezone is None else payload.timezone
        if payload.code is not None:
            caller = await self._check_access(payload, payload.code)
            question = _Question(payload.code, payload.span, timezone, caller)
            return _shown(await self._of_links.get(question), timezone)
        owner = await owner_of(self._auth, payload)
        codes = await self._links.owned_codes(owner)
        found = await self._analytics.statistics(codes, payload.span, timezone, TOP, owner)
        return {**_shown(found, timezone), "top": _by("code", found.top)}

    async def _of_link(self, question: _Question) -> Statistics:
        return await self._analytics.statistics(
            [question.code], question.span, question.timezone, 0, question.caller
        )

    async def _check_access(self, payload: ShowStatistics, code: str) -> Owner | None:
        """Return the caller if the caller may see the statistics of a link; None for nobody.

        Raises NotFound for an owner who may not, NoOwner for nobody, AppError (INVALID_TOKEN).
        """
        is_somebody = payload.token or payload.guest
        caller = await owner_of(self._auth, payload) if is_somebody else None
        try:
            await self._links.check_statistics_access(caller, code)
        except NotFound:
            if caller is None:
                raise NoOwner("This call needs a session.") from None
            raise
        return caller


def _shown(found: Statistics, timezone: str) -> Reply:
    """Statistics as callers see them."""
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
            dimension.value: _by("name", found.breakdowns[dimension]) for dimension in Dimension
        },
    }
    if found.kept_from:
        shown["kept_from"] = found.kept_from
    return shown


def _by(key: str, people: People) -> list[dict[str, str | int]]:
    return [{key: name, "people": count} for name, count in people]
