"""Translates between the messages of the analytics service and the values of its port."""

from __future__ import annotations

import asyncio
from functools import lru_cache

from atajo.analytics.v1 import analytics_pb2
from gateway.backends.ports import (
    DateRange,
    Dimension,
    Figures,
    People,
    Period,
    RecentPeriod,
    Statistics,
    Step,
    StepLength,
)
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.lines import Kind

_STEP_ROWS = 200
"""Rows that are encoded between two turns of the event loop: about a millisecond."""
_CACHED_ROWS = 4096
"""Encoded rows without their codes that are cached: 3 MB."""
_CACHED_FACTS = 4096
"""Encoded facts that are cached: 3 MB."""

# The enums of the protocol have the names of the gateway's.
_PERIOD_NUMBERS = {
    one: analytics_pb2.RecentSpan.Value(f"RECENT_SPAN_{one.value.upper().replace(' ', '_')}")
    for one in RecentPeriod
}
_STEPS = {analytics_pb2.StepLength.Value(f"STEP_LENGTH_{one.name}"): one for one in StepLength}
_DIMENSION_NUMBERS = {
    one: analytics_pb2.Dimension.Value(f"DIMENSION_{one.name}") for one in Dimension
}
_DIMENSIONS = {number: dimension for dimension, number in _DIMENSION_NUMBERS.items()}
_KIND_NUMBERS = {
    "person": analytics_pb2.VISIT_KIND_PERSON,
    "bot": analytics_pb2.VISIT_KIND_BOT,
}


async def visits_request(batch: Batch) -> analytics_pb2.RecordVisitsRequest:
    """Return the message of a batch. Yields to the event loop between steps."""
    request = analytics_pb2.RecordVisitsRequest(
        gateway_id=batch.gateway_id, batch_number=batch.number
    )
    add = request.visits.add
    alike: dict[bytes, int] = {}
    for number, (visit, count) in enumerate(batch.counts.items(), 1):
        row = add()
        rest = _encoded_row(visit.hour, visit.kind, visit.referrer_host, visit.facts)
        row.MergeFromString(rest)
        row.code = visit.code
        row.count = count
        row.alike = alike.setdefault(rest, len(alike) + 1)
        if number % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    for number, ((day, code), numbers) in enumerate(batch.visitors.items(), 1):
        request.visitors.add(code=code, day=day, numbers=numbers)
        if number % _STEP_ROWS == 0:
            await asyncio.sleep(0)
    return request


def write_period(request: analytics_pb2.GetStatisticsRequest, period: Period) -> None:
    """Set the period of a request."""
    match period:
        case RecentPeriod():
            request.recent = _PERIOD_NUMBERS[period]
        case DateRange(first, last):
            request.dates.CopyFrom(analytics_pb2.Dates(**{"from": first, "to": last}))


def statistics_of(message: analytics_pb2.GetStatisticsResponse) -> Statistics:
    """Return the statistics of a response. Ignores dimensions of a later version."""
    breakdowns: dict[Dimension, People] = {dimension: [] for dimension in Dimension}
    for one in message.breakdowns:
        if dimension := _DIMENSIONS.get(one.dimension):
            breakdowns[dimension] = [(of_name.name, of_name.people) for of_name in one.names]
    return Statistics(
        getattr(message, "from"),
        message.to,
        _STEPS[message.step],
        _figures(message.totals),
        _figures(message.previous) if message.HasField("previous") else None,
        [
            Step(
                one.start,
                one.people,
                one.bots,
                one.visitors if one.HasField("visitors") else None,
            )
            for one in message.series
        ],
        breakdowns,
        [(link.code, link.people) for link in message.top],
        message.kept_from,
    )


def _figures(message: analytics_pb2.Figures) -> Figures:
    return Figures(message.people, message.bots, message.visitors)


@lru_cache(_CACHED_ROWS)
def _encoded_row(hour: int, kind: Kind, host: str, facts: str) -> bytes:
    """Return an encoded row without its code and count, in which most rows differ.

    Setting these fields in each row takes twice as long as everything else.
    """
    row = analytics_pb2.VisitCount(hour=hour, kind=_KIND_NUMBERS[kind], referrer_host=host)
    return row.SerializeToString() + _encoded_facts(facts)


@lru_cache(_CACHED_FACTS)
def _encoded_facts(facts: str) -> bytes:
    """Return the facts of a visit, from their text in the journal, as encoded fields of a row.

    Adding them to a row as messages takes three times as long as everything else.
    """
    names = [
        analytics_pb2.Name(dimension=_DIMENSION_NUMBERS[Dimension(dimension)], name=name)
        for dimension, name in lines.facts_of(facts)._asdict().items()
        if name
    ]
    return analytics_pb2.VisitCount(names=names).SerializeToString()
