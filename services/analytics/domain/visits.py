"""Visits, how they are added up, and the rules a batch of them keeps to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum
from heapq import nlargest
from random import Random
from typing import NamedTuple

from services.shared.codes import MAX_LENGTH, MIN_LENGTH, is_code
from services.shared.errors import InvalidArgument, ResourceExhausted
from services.shared.text import CONTROLS
from services.shared.timestamps import EPOCH

MAX_VISITS = 20_000
"""Most rows in one batch."""
MAX_VISITORS = 100_000
"""Most numbers of visitors in one batch: twice the visits that a gateway puts into one."""
MAX_COUNT = 1_000_000_000
"""Most visits in one row: sums of sums stay far from 64 bits."""
MAX_CODES = 1000
"""Most codes in one look-up of totals."""
MAX_RECENT_CODES = 100
"""Maximum links in one call for recent people: 3,000 days are read in some 0.1 s."""
RECENT_DAYS = 30
MAX_REMOVED = 100
"""Most codes whose counts are removed at once: each has a row for every day of ten years."""
MAX_CHANGES = 5000
"""Maximum codes on one page of the change feed. Their totals are 0.3 MB of gRPC's 4 MB."""
MAX_STATISTICS_CODES = 100_000
"""Most codes whose visits are added up at once: 3.4 MB of gRPC's 4 if all are as long as can be."""
KEY_BYTES = 32
"""Of the key under which visitors of a day are told apart."""
MAX_NAMES = 100
"""Maximum names that a link's day stores in one dimension. Strangers choose some of them."""
MAX_STORED_NAME_LENGTH = 100
"""Maximum length of a stored name. The longest hosts in common use are generated ones: a label of
63 characters (the maximum in DNS) below a domain such as `cdn.ampproject.org`."""
OTHER_NAMES = "*"
"""The name that counts people whose own name is not stored."""
_MAX_CONTENDERS = 20
"""Maximum new names of a batch that compete for a place in a link's day that is full."""
_SAMPLE_SIZE = 8
"""Stored names from which the candidate for eviction is chosen, see `count_names`."""
HOURS_A_DAY = 24
# Any hour a calendar can show. A gateway whose clock is wrong still gets rid of its visits: to
# refuse its batch would keep back all that come after it.
_LAST_HOUR = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(hours=1)
LAST_DAY = _LAST_HOUR // HOURS_A_DAY
_MAX_HOST_LENGTH = 253
_MAX_NAME_LENGTH = 64
"""Of a name in any other dimension, in characters."""

_GATEWAY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class InvalidBatch(InvalidArgument):
    default_reason = "INVALID_BATCH"


class TooManyCodes(InvalidArgument):
    default_reason = "TOO_MANY_CODES"


class InvalidRange(InvalidArgument):
    default_reason = "INVALID_RANGE"


class InvalidTimezone(InvalidArgument):
    default_reason = "INVALID_TIMEZONE"


class TooManyReads(ResourceExhausted):
    default_reason = "TOO_MANY_READS"


class VisitKind(Enum):
    """Who visited."""

    PERSON = "person"
    BOT = "bot"


class Dimension(IntEnum):
    """What the people who followed a link are told apart by, each dimension by itself.

    The values are what stores keep: a value is never given to another dimension. As numbers they
    are keys of mappings that cost no call of Python, six or seven for each visit.
    """

    REFERRER = 1
    """Host of the page they came from, such as `news.example`."""
    DEVICE = 2
    """`desktop`, `phone`, `tablet` or `other`."""
    BROWSER = 3
    """Without its version, such as `Firefox`."""
    SYSTEM = 4
    """The operating system, without its version, such as `Android`."""
    LANGUAGE = 5
    """The primary subtag of the language that they like best, such as `es`."""
    COUNTRY = 6
    """Two letters, such as `CL`."""
    SOURCE = 7
    """`link` or `qr`."""


Breakdown = Mapping[str, int]
"""People by name in one dimension. Those whose name is unknown are left out."""
_NOTHING: Breakdown = {}


@dataclass(slots=True)
class VisitCount:
    """Visits that are alike. `hour` is in whole UTC hours since the Unix epoch.

    `names` has what is known of them: a dimension that is left out is unknown, and so is one whose
    name is empty. Rows that have the same names share them, where that is known: each of them is
    then looked at once for all of a batch.
    """

    code: str
    hour: int
    kind: VisitKind
    names: Mapping[Dimension, str]
    count: int


@dataclass(frozen=True, slots=True)
class Batch:
    """One numbered batch of a gateway. A resend has the same number and the same visits."""

    gateway_id: str
    number: int
    visits: tuple[VisitCount, ...]
    visitors: Mapping[tuple[int, str], frozenset[int]] = field(default_factory=dict)
    """Of each day, in whole UTC days since the Unix epoch, and code: numbers of 32 bits, one for
    each visitor. The key of that day makes them of address and User-Agent."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Visits of a link since it exists."""

    people: int
    bots: int


@dataclass(frozen=True, slots=True)
class Visited:
    """The totals that changed after a cursor, by code, as they are now.

    The rest is as in `services.shared.feed.FeedPage`.
    """

    cursor: str
    totals: dict[str, Totals]
    more: bool
    truncated: bool


Hours = Mapping[int, int]
"""Visits by hour of a UTC day. Hours without visits are absent."""


@dataclass(frozen=True, slots=True)
class Day:
    """One UTC day of a link, in whole days since the Unix epoch."""

    day: int
    people: int
    bots: int
    visitors: int
    """The estimate of the day's sketch; 0 without a sketch."""
    breakdowns: Mapping[Dimension, Breakdown]
    """Dimensions without a known name are absent."""
    hours: Callable[[], tuple[Hours, Hours]] = field(compare=False)
    """Returns people and bots by hour. Decodes them on demand: most readers need the sums alone."""

    @classmethod
    def of(
        cls,
        day: int,
        people: Hours,
        bots: Hours,
        breakdowns: Mapping[Dimension, Breakdown],
        visitors: int,
    ) -> Day:
        """Make a day of its visits by hour."""
        sums = sum(people.values()), sum(bots.values())
        return cls(day, *sums, visitors, breakdowns, lambda: (people, bots))


class DaySums(NamedTuple):
    """What a batch adds to one UTC day of a link: visits by hour of that day, people by name, and
    the numbers of visitors. Days to which the same is added share it."""

    people: Hours
    bots: Hours
    names: Mapping[Dimension, Breakdown]
    visitors: Collection[int] = ()


def check_batch(batch: Batch) -> None:
    """Refuse a whole batch if one row of it is none that our gateways send. Raises InvalidBatch."""
    check_number(batch.gateway_id, batch.number)
    if len(batch.visits) > MAX_VISITS:
        raise InvalidBatch(f"A batch has at most {MAX_VISITS} rows.")
    checked: set[int] = set()
    for visit in batch.visits:
        if fault := _fault(visit):
            raise InvalidBatch(fault)
        if id(visit.names) not in checked:
            checked.add(id(visit.names))
            if fault := _fault_of_names(visit.names):
                raise InvalidBatch(fault)
    if sum(len(numbers) for numbers in batch.visitors.values()) > MAX_VISITORS:
        raise InvalidBatch(f"A batch has at most {MAX_VISITORS} visitors.")


def sums_of(batch: Batch) -> dict[tuple[int, str], DaySums]:
    """What a batch adds to days, by the day and the link's code.

    Visitors are among people: those of a code and day without people in the batch are passed over.
    """
    rows: dict[tuple[int, str], list[VisitCount]] = {}
    for visit in batch.visits:
        rows.setdefault((visit.hour // HOURS_A_DAY, visit.code), []).append(visit)
    # Nearly all days have one row, and most of these are alike.
    of_one: dict[tuple[int, bool, int, int], DaySums] = {}
    sums: dict[tuple[int, str], DaySums] = {}
    for key, of_day in rows.items():
        first = of_day[0]
        if len(of_day) > 1:
            added = _added_up(of_day)
        else:
            like = (first.hour, first.kind is VisitKind.BOT, id(first.names), first.count)
            known = of_one.get(like)
            added = of_one[like] = _added_up(of_day) if known is None else known
        if added.people and (numbers := batch.visitors.get(key)):
            added = DaySums(added.people, added.bots, added.names, numbers)
        sums[key] = added
    return sums


def _added_up(visits: Iterable[VisitCount]) -> DaySums:
    """Visits of a day of a link, without its visitors."""
    people: dict[int, int] = {}
    bots: dict[int, int] = {}
    breakdowns: dict[Dimension, dict[str, int]] = {}
    for visit in visits:
        hour = visit.hour % HOURS_A_DAY
        if visit.kind is VisitKind.BOT:
            bots[hour] = bots.get(hour, 0) + visit.count
            continue
        people[hour] = people.get(hour, 0) + visit.count
        for dimension, name in visit.names.items():
            if name:
                if len(name) > MAX_STORED_NAME_LENGTH:
                    name = OTHER_NAMES
                names = breakdowns.setdefault(dimension, {})
                names[name] = names.get(name, 0) + visit.count
    return DaySums(people, bots, breakdowns)


def totals_of(batch: Batch) -> dict[str, Totals]:
    """What a batch adds to totals, by code."""
    people: dict[str, int] = {}
    bots: dict[str, int] = {}
    for visit in batch.visits:
        counts = bots if visit.kind is VisitKind.BOT else people
        counts[visit.code] = counts.get(visit.code, 0) + visit.count
    return {code: Totals(people.get(code, 0), bots.get(code, 0)) for code in people | bots}


def random_of(batch: Batch) -> Random:
    """Return the source of random choices for a batch: a retry makes the same choices."""
    return Random(f"{batch.gateway_id} {batch.number}")  # noqa: S311


def count_names(added: Breakdown, known: Breakdown, random: Random) -> tuple[Breakdown, Breakdown]:
    """Decide under which names the people of `added` count in a day that has the names `known`.

    Returns the people to add by name, and the known names to delete with the people that each had.
    Those people are among the ones to add to `OTHER_NAMES`.

    A known name counts on, and a new one takes a free place. Once a day has `MAX_NAMES`, a new name
    with `n` people competes with a stored one that has `m`, and replaces it with probability
    n / (n + m). The stored name is the least frequent of `_SAMPLE_SIZE` random ones. People of the
    name that loses count as `OTHER_NAMES`, so the sum of all names stays exact.

    This is randomized admission (Ben Basat et al., "Randomized admission policy for efficient
    top-k and frequency estimation", 2017) with two changes. A new name starts with its own people,
    so no count is an overestimate. And because it therefore starts as the least frequent one, it
    must not be the next to go: the candidate comes from a random sample, which almost never
    contains only frequent names, and seldom the newest.
    """
    if len(added) + len(known) <= MAX_NAMES:  # There is room for all.
        return added, _NOTHING
    new = {name: people for name, people in added.items() if name not in known}
    new.pop(OTHER_NAMES, None)
    stored = len(known) - (OTHER_NAMES in known)
    if not new and stored <= MAX_NAMES:
        return added, _NOTHING
    counted = {name: people for name, people in added.items() if name not in new}
    names = {name: people + counted.get(name, 0) for name, people in known.items()}
    names.pop(OTHER_NAMES, None)
    evicted: dict[str, int] = {}
    others = 0

    def evict(name: str) -> int:
        if name in known:
            evicted[name] = known[name]
        counted.pop(name, None)
        return names.pop(name)

    while len(names) > MAX_NAMES:  # Two writers added names at once.
        others += evict(min(names, key=names.__getitem__))
    places = list(names)
    # The most frequent first. The limit bounds the time that a batch of many names takes.
    free = MAX_NAMES - len(places)
    first = nlargest(free + _MAX_CONTENDERS, new.items(), key=lambda named: named[1])
    for name, people in first:
        if len(places) < MAX_NAMES:
            places.append(name)
        else:
            place = min(
                random.choices(range(MAX_NAMES), k=_SAMPLE_SIZE), key=lambda at: names[places[at]]
            )
            if random.random() * (people + names[places[place]]) >= people:
                others += people
                continue
            others += evict(places[place])
            places[place] = name
        names[name] = counted[name] = people
    others += sum(new.values()) - sum(people for _, people in first)
    if others:
        counted[OTHER_NAMES] = counted.get(OTHER_NAMES, 0) + others
    return counted, evicted


def check_number(gateway_id: str, number: int) -> None:
    """Refuse an id or a batch number that our gateways cannot have. Raises InvalidBatch."""
    if not _GATEWAY_ID.fullmatch(gateway_id):
        raise InvalidBatch("A gateway's id has 1 to 64 characters of A-Z, a-z, 0-9, - and _.")
    if number < 1:
        raise InvalidBatch("Batches are numbered from 1.")


def _fault(visit: VisitCount) -> str | None:
    if not is_code(visit.code):
        return f"A code has {MIN_LENGTH} to {MAX_LENGTH} characters of A-Z, a-z, 0-9, - and _."
    if not 0 <= visit.hour <= _LAST_HOUR:
        return "An hour is on the calendar."
    if not 1 <= visit.count <= MAX_COUNT:
        return f"A row counts 1 to {MAX_COUNT} visits."
    return None


def _fault_of_names(names: Mapping[Dimension, str]) -> str | None:
    for dimension, name in names.items():
        longest = _MAX_HOST_LENGTH if dimension is Dimension.REFERRER else _MAX_NAME_LENGTH
        if len(name) > longest or CONTROLS.search(name):
            return (
                f"The name of a {dimension.name.lower()} has at most {longest} characters, "
                "none of them a control."
            )
    return None
