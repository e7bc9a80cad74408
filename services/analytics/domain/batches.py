"""Batches of visits: their validation, and what each adds to days and totals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random
from typing import NamedTuple

from services.analytics.domain.errors import InvalidBatch
from services.analytics.domain.name_admission import OTHER_NAMES
from services.analytics.domain.visits import (
    HOURS_PER_DAY,
    LAST_HOUR,
    Breakdown,
    Dimension,
    Hours,
    Totals,
    VisitCount,
    VisitKind,
)
from services.shared.characters import CONTROL_CHARACTERS
from services.shared.link_codes import MAX_LENGTH, MIN_LENGTH, is_code

MAX_ROWS = 20_000
"""Maximum rows in a batch."""
MAX_VISITORS = 100_000
"""Maximum visitor numbers in a batch: twice the visits that a gateway puts into one."""
MAX_COUNT = 1_000_000_000
"""Maximum visits in a row, so that sums never approach 64 bits."""
MAX_STORED_NAME_LENGTH = 100
"""Maximum length of a stored name. The longest hosts in common use are generated ones: a label of
63 characters (the maximum in DNS) below a domain such as `cdn.ampproject.org`."""
_MAX_HOST_LENGTH = 253
_MAX_NAME_LENGTH = 64
"""Maximum length of a name in dimensions other than the referrer, in characters."""

_GATEWAY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Batch:
    """A numbered batch of a gateway. A resend has the same number and the same visits."""

    gateway_id: str
    number: int
    visits: tuple[VisitCount, ...]
    visitors: Mapping[tuple[int, str], frozenset[int]] = field(default_factory=dict)
    """By day, in whole UTC days since the Unix epoch, and code: one 32-bit number per visitor. It
    is a hash of client IP address and User-Agent with the day's key."""
    lane: int = 0
    """Batches of different lanes above 0 have no link in common. 0 if the gateway does not divide
    its visits."""

    @property
    def codes(self) -> list[str]:
        """The codes of its links, sorted."""
        return sorted({visit.code for visit in self.visits})

    def part(self, codes: Collection[str]) -> Batch:
        """Return the visits of some of its links."""
        return replace(self, visits=tuple(visit for visit in self.visits if visit.code in codes))


class DayIncrement(NamedTuple):
    """What a batch adds to a UTC day of a link. Days with equal increments may share one."""

    people: Hours
    bots: Hours
    names: Mapping[Dimension, Breakdown]
    visitors: Collection[int] = ()


def validate_batch(batch: Batch) -> None:
    """Reject a batch if any row could not come from a gateway. Raises InvalidBatch."""
    if not _GATEWAY_ID.fullmatch(batch.gateway_id):
        raise InvalidBatch("A gateway's id must have 1 to 64 characters of A-Z, a-z, 0-9, - and _.")
    if batch.number < 1:
        raise InvalidBatch("Batch numbers start at 1.")
    if len(batch.visits) > MAX_ROWS:
        raise InvalidBatch(f"A batch has at most {MAX_ROWS} rows.")
    validated: set[int] = set()
    for visit in batch.visits:
        _validate_row(visit)
        if id(visit.names) not in validated:
            validated.add(id(visit.names))
            _validate_names(visit.names)
    if sum(len(numbers) for numbers in batch.visitors.values()) > MAX_VISITORS:
        raise InvalidBatch(f"A batch has at most {MAX_VISITORS} visitors.")


def merge(batches: Sequence[Batch]) -> Batch:
    """Return the visits of at least one batch, under the number of the first."""
    first = batches[0]
    if len(batches) == 1:
        return first
    visitors: dict[tuple[int, str], frozenset[int]] = {}
    for batch in batches:
        # Otherwise these would count if another batch has people on the day.
        people = {
            (visit.hour // HOURS_PER_DAY, visit.code)
            for visit in batch.visits
            if visit.kind is VisitKind.PERSON
        }
        for key, numbers in batch.visitors.items():
            if key in people:
                visitors[key] = visitors[key] | numbers if key in visitors else numbers
    visits = tuple(chain.from_iterable(batch.visits for batch in batches))
    return replace(first, visits=visits, visitors=visitors)


def day_increments(batch: Batch) -> dict[tuple[int, str], DayIncrement]:
    """Return what a batch adds to days, by day and code.

    Ignores visitors of days to which the batch adds no people.
    """
    rows: dict[tuple[int, str], list[VisitCount]] = {}
    for visit in batch.visits:
        rows.setdefault((visit.hour // HOURS_PER_DAY, visit.code), []).append(visit)
    # Nearly all days have a single row, and most of these rows are equal but for their code.
    shared: dict[tuple[int, bool, int, int], DayIncrement] = {}
    increments: dict[tuple[int, str], DayIncrement] = {}
    for key, day_rows in rows.items():
        first = day_rows[0]
        if len(day_rows) > 1:
            increment = _add_up(day_rows)
        else:
            content = (first.hour, first.kind is VisitKind.BOT, id(first.names), first.count)
            known = shared.get(content)
            increment = shared[content] = _add_up(day_rows) if known is None else known
        if increment.people and (numbers := batch.visitors.get(key)):
            increment = increment._replace(visitors=numbers)
        increments[key] = increment
    return increments


def total_increments(batch: Batch) -> dict[str, Totals]:
    """Return what a batch adds to totals, by code."""
    people: dict[str, int] = {}
    bots: dict[str, int] = {}
    for visit in batch.visits:
        counts = bots if visit.kind is VisitKind.BOT else people
        counts[visit.code] = counts.get(visit.code, 0) + visit.count
    return {code: Totals(people.get(code, 0), bots.get(code, 0)) for code in people | bots}


def batch_random(batch: Batch) -> Random:
    """Return the random generator of a batch. A retry makes the same choices."""
    return Random(f"{batch.gateway_id} {batch.number}")  # noqa: S311


def _add_up(visits: Iterable[VisitCount]) -> DayIncrement:
    """Add up rows of one day of a link, without its visitors."""
    people: dict[int, int] = {}
    bots: dict[int, int] = {}
    breakdowns: dict[Dimension, dict[str, int]] = {}
    for visit in visits:
        hour, count = visit.hour % HOURS_PER_DAY, visit.count
        if visit.kind is VisitKind.BOT:
            bots[hour] = bots.get(hour, 0) + count
            continue
        people[hour] = people.get(hour, 0) + count
        for dimension, name in visit.names.items():
            if name:
                if len(name) > MAX_STORED_NAME_LENGTH:
                    name = OTHER_NAMES
                if names := breakdowns.get(dimension):
                    names[name] = names.get(name, 0) + count
                else:
                    breakdowns[dimension] = {name: count}
    return DayIncrement(people, bots, breakdowns)


def _validate_row(visit: VisitCount) -> None:
    if not is_code(visit.code):
        raise InvalidBatch(
            f"A code must have {MIN_LENGTH} to {MAX_LENGTH} characters of A-Z, a-z, 0-9, - and _."
        )
    if not 0 <= visit.hour <= LAST_HOUR:
        raise InvalidBatch("The hour is outside the calendar.")
    if not 1 <= visit.count <= MAX_COUNT:
        raise InvalidBatch(f"A row must count 1 to {MAX_COUNT} visits.")


def _validate_names(names: Mapping[Dimension, str]) -> None:
    for dimension, name in names.items():
        max_length = _MAX_HOST_LENGTH if dimension is Dimension.REFERRER else _MAX_NAME_LENGTH
        if len(name) > max_length or CONTROL_CHARACTERS.search(name):
            raise InvalidBatch(
                f"The name of a {dimension.name.lower()} must have at most {max_length} "
                "characters and no control characters."
            )
