"""What is counted of a link as documents of MongoDB's collections `days`, `blocks` and `totals`.

Of a day:

    _id         "code:day", the day with seven digits: texts of equal length sort like their numbers
    people      visits of people
    bots        visits of bots
    hours       people by hour of the day
    bot_hours   bots by hour of the day; absent for none. The version before writes bots without an
                hour: those that `bots` counts and `bot_hours` does not count at the first hour
    referrers   people by name; devices, browsers, systems, languages, countries and sources are
                the same, and absent where no name is known
    hosts       how many names were ever added to and evicted from the document, in all dimensions.
                (The name comes from a version that knew only referrers.)
    sketch      of the visitors (see `sketch`); absent for none
    seen        the last batch that the document holds, by the gateway's id

Of totals:

    _id         the code
    people, bots, seen   as above
    visited     days that the link has a document of: a bit for each, by the number of its block. A
                day that a batch in the midst of its writes made may lack its bit
    noted       how many visits were of days with a bit. The version before sets no bits: where
                people and bots are more than this, there may be days without one
    summed      the block from which on none in `blocks` is to be believed; absent for none

Of a block, which is 32 days of a link with their names added up:

    _id         "code:block", the block with seven digits
    of          people and bots of the totals when it was made
    visited     the bits of its days
    packed      a `_Block` as MessagePack
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Protocol

from msgspec import Raw, msgpack

from services.analytics.domain import (
    HOURS_A_DAY,
    MAX_NAMES,
    OTHER_NAMES,
    Batch,
    Breakdown,
    Day,
    DaySums,
    Dimension,
    Totals,
    count_names,
    random_of,
    sums_of,
    totals_of,
)
from services.analytics.metrics import note_gathered
from services.analytics.sketch import add, estimate
from services.runtime.mongo import Document

FIELDS = {
    Dimension.REFERRER: "referrers",
    Dimension.DEVICE: "devices",
    Dimension.BROWSER: "browsers",
    Dimension.SYSTEM: "systems",
    Dimension.LANGUAGE: "languages",
    Dimension.COUNTRY: "countries",
    Dimension.SOURCE: "sources",
}
"""Where a day's document has its people by name."""
DAY = dict.fromkeys(("bots", "hours", "bot_hours", "sketch", *FIELDS.values()), 1)
"""The fields of a day that `day_of` reads."""
UNNAMED_DAY = dict.fromkeys(("bots", "hours", "bot_hours", "sketch"), 1)
"""The same without names."""
VISITED = dict.fromkeys(("people", "bots", "visited", "noted", "summed"), 1)
"""The fields of totals that say which days and blocks there are."""
BLOCK_DAYS = 32

_DIGITS = 7
"""Those of the calendar's last day."""
_HOURS = {str(hour): hour for hour in range(HOURS_A_DAY)}
_DIMENSIONS = {dimension.value: dimension for dimension in Dimension}
_BlockDay = tuple[int, dict[int, int], dict[int, int], int]
"""The day with people and bots, each by hour of the day, and visitors."""
_Names = dict[int, dict[str, int]]
_Block = tuple[list[_BlockDay], _Names]
"""Its days, and people by name in each dimension, by the dimension's value."""
_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(tuple[list[_BlockDay], Raw]).decode
_unpack_names = msgpack.Decoder(_Names).decode
_KEYS = 10_000
"""Most names of fields that are remembered with what they stand for, in 3 MB or so."""


@dataclass(slots=True)
class Change:
    """What is done to a document that is there, if the fields of `as_read` say the same still.

    None stands for a field that is absent.
    """

    increments: dict[str, int]
    values: Document = field(default_factory=dict)
    as_read: Document = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    """Fields to delete."""


class Addition(Protocol):
    """What a batch adds to one document."""

    read: Collection[str]
    """The fields from which `change` is decided."""

    def new(self) -> Document:
        """The document that it makes where there is none, without `_id` and `seen`."""
        ...

    def change(self, held: Document) -> Change:
        """What it does to one that is there."""
        ...

    def written(self) -> None:
        """Take note that what was decided last is in the store."""
        ...


class DayAddition:
    """What a batch adds to the document of a day."""

    read: Collection[str] = ("hosts", "visitors", "sketch", *FIELDS.values())

    def __init__(self, sums: DaySums, random: Random) -> None:
        self._random = random
        self._visits = {"people": sum(sums.people.values()), "bots": sum(sums.bots.values())}
        self._hours = _by_hour(sums.people)
        self._bot_hours = _by_hour(sums.bots)
        self._names = {
            dimension: {_key(name): people for name, people in breakdown.items()}
            for dimension, breakdown in sums.names.items()
        }
        self._counted: dict[Dimension, Breakdown] = {}
        self._evicted: dict[str, int] = {}
        """People of names that were evicted, by the field."""
        self._visitors = sums.visitors

    def new(self) -> Document:
        names, told_apart, _ = self._named({})
        document: Document = {**self._visits, "hosts": told_apart, "hours": self._hours}
        # The version before looks for referrers, also where there are none.
        document |= {"referrers": {}, **names}
        if self._bot_hours:
            document["bot_hours"] = self._bot_hours
        if self._visitors:
            document["sketch"] = add(b"", self._visitors)
        return document

    def change(self, held: Document) -> Change:
        names, told_apart, is_full = self._named(held)
        change = Change(dict(self._visits))
        for parent, counts in {"hours": self._hours, "bot_hours": self._bot_hours, **names}.items():
            for key, count in counts.items():
                change.increments[f"{parent}.{key}"] = count
        if told_apart:
            change.increments["hosts"] = told_apart
        if told_apart or is_full:
            change.as_read["hosts"] = held["hosts"]
        if self._evicted:
            change.removed += self._evicted
            change.as_read |= self._evicted
        if self._visitors:
            before = held.get("sketch")
            sketch = add(before or b"", self._visitors)
            if sketch != before:
                change.values["sketch"] = sketch
                change.as_read["sketch"] = before
        return change

    def written(self) -> None:
        for dimension, counted in self._counted.items():
            note_gathered(dimension, self._names[dimension], counted)

    def _named(self, held: Document) -> tuple[dict[str, Breakdown], int, bool]:
        """Return the people to add by field and name, and how many names come and go.

        The last value says whether some dimension is full: another writer may then evict a name.
        """
        names: dict[str, Breakdown] = {}
        new = 0
        is_full = False
        self._evicted.clear()
        for dimension, breakdown in self._names.items():
            parent = FIELDS[dimension]
            known = held.get(parent, {})
            counted, evicted = count_names(breakdown, known, self._random)
            names[parent] = self._counted[dimension] = counted
            new += sum(key not in known and key != OTHER_NAMES for key in counted)
            if evicted:
                new += len(evicted)
                self._evicted |= {f"{parent}.{key}": people for key, people in evicted.items()}
            is_full |= len(known) >= MAX_NAMES
        return names, new, is_full


class TotalsAddition:
    """What a batch adds to the totals of a link."""

    read: Collection[str] = ("visited", "summed")

    def __init__(self, totals: Totals, days: Iterable[int]) -> None:
        self._visits = {
            "people": totals.people,
            "bots": totals.bots,
            "noted": totals.people + totals.bots,
        }
        self._visited = with_days({}, days)

    def new(self) -> Document:
        return {**self._visits, "visited": self._visited}

    def change(self, held: Document) -> Change:
        summed = held.get("summed")
        change = Change(self._visits, as_read={"summed": summed})
        before = held.get("visited", {})
        for block, days in self._visited.items():
            known = before.get(block)
            if (known or 0) | days != known:
                change.values[f"visited.{block}"] = (known or 0) | days
                change.as_read[f"visited.{block}"] = known
        first = min(map(int, self._visited))
        if summed and summed > first:
            change.values["summed"] = first
        return change

    def written(self) -> None:
        pass  # What there is to note is noted of days.


def additions(batch: Batch) -> tuple[dict[str, Addition], dict[str, Addition]]:
    """What a batch adds to the documents of days and of totals, by `_id`."""
    sums = sums_of(batch)
    random = random_of(batch)
    visited: dict[str, list[int]] = {}
    days: dict[str, Addition] = {}
    for (day, code), one in sums.items():
        visited.setdefault(code, []).append(day)
        days[id_of(code, day)] = DayAddition(one, random)
    totals: dict[str, Addition] = {
        code: TotalsAddition(one, visited[code]) for code, one in totals_of(batch).items()
    }
    return days, totals


def id_of(code: str, number: int) -> str:
    """The `_id` of a link's day or block.

    Texts of equal length sort like their numbers.
    """
    return f"{code}:{number:0{_DIGITS}}"


def parts_of(key: str) -> tuple[str, int]:
    """The code and the number that an `_id` is made of."""
    code, _, number = key.partition(":")
    return code, int(number)


def of_link(code: str) -> Document:
    """What is asked of the `_id` of all days or blocks of a link."""
    return {"$gte": f"{code}:", "$lt": f"{code};"}  # A semicolon comes next after the colon.


def day_of(document: Document) -> Day:
    """The day that a document holds in the fields `DAY`."""
    bots = {_HOURS[hour]: count for hour, count in document.get("bot_hours", {}).items()}
    if without_hour := document["bots"] - sum(bots.values()):
        bots[0] = bots.get(0, 0) + without_hour
    breakdowns: dict[Dimension, Breakdown] = {}
    for dimension, field_name in FIELDS.items():
        if people := document.get(field_name):
            breakdowns[dimension] = {_name(key): count for key, count in people.items()}
    return Day(
        day=parts_of(document["_id"])[1],
        people={_HOURS[hour]: count for hour, count in document["hours"].items()},
        bots=bots,
        breakdowns=breakdowns,
        visitors=estimate(document.get("sketch", b"")),
    )


def block_of(key: str, totals: Document, days: Iterable[Day]) -> Document:
    """The document of a block of a link that has these totals and, in the block, these days."""
    counts: list[_BlockDay] = []
    names: dict[int, dict[str, int]] = {}
    for day in days:
        counts.append((day.day, dict(day.people), dict(day.bots), day.visitors))
        for dimension, breakdown in day.breakdowns.items():
            summed = names.setdefault(dimension.value, {})
            for name, people in breakdown.items():
                summed[name] = summed.get(name, 0) + people
    return {
        "_id": key,
        "of": totals["people"] + totals["bots"],
        "visited": totals["visited"][str(parts_of(key)[1])],
        "packed": _pack((counts, names)),
    }


def days_of_block(block: Document, named: bool) -> Iterator[Day]:
    """The days of a block, the first with the names of all of them where names are asked for."""
    counts, names = _unpack(block["packed"])
    breakdowns: dict[Dimension, Breakdown] = {}
    if named:
        for value, breakdown in _unpack_names(names).items():
            breakdowns[_DIMENSIONS[value]] = breakdown
    for day, people, bots, visitors in counts:
        yield Day(day, people, bots, breakdowns, visitors)
        breakdowns = {}


def with_days(visited: Mapping[str, int], days: Iterable[int]) -> dict[str, int]:
    """`visited` with bits for some more days."""
    blocks = dict(visited)
    for day in days:
        block, bit = divmod(day, BLOCK_DAYS)
        blocks[str(block)] = blocks.get(str(block), 0) | 1 << bit
    return blocks


def days_of(visited: Mapping[str, int], first: int, last: int) -> Iterator[int]:
    """The days from `first` to `last`, both included, that have a bit."""
    for run in runs_of(visited, first, last):
        yield from run


def runs_of(visited: Mapping[str, int], first: int, last: int) -> Iterator[range]:
    """The same as runs of days, each within a block."""
    for block, bits in visited.items():
        begin = int(block) * BLOCK_DAYS
        if begin > last or begin + BLOCK_DAYS <= first:
            continue
        skipped = max(0, first - begin)
        left = bits >> skipped << skipped
        if begin + BLOCK_DAYS - 1 > last:
            left &= (1 << last + 1 - begin) - 1
        while left:
            lowest = left & -left
            beyond = left + lowest  # The carry runs up to the first day without a bit.
            past = (beyond & ~left).bit_length() - 1
            start = lowest.bit_length() - 1
            yield range(begin + start, begin + past)
            left &= beyond


def days_from(visited: Mapping[str, int], first: int) -> dict[str, int]:
    """`visited` without the bits of days before `first`."""
    blocks: dict[str, int] = {}
    for block, bits in visited.items():
        earlier = max(0, first - int(block) * BLOCK_DAYS)
        if kept := bits >> earlier << earlier:
            blocks[block] = kept
    return blocks


def first_of(visited: Mapping[str, int]) -> int:
    """The first day that has a bit; there is one."""
    block = min(visited, key=int)
    lowest = visited[block] & -visited[block]
    return int(block) * BLOCK_DAYS + lowest.bit_length() - 1


def is_noted(totals: Document) -> bool:
    """Whether every day of a link has its bit."""
    visits: int = totals["people"] + totals["bots"]
    noted: int = totals.get("noted", 0)
    return noted == visits


def _by_hour(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(hour): count for hour, count in counts.items()}


def _key(name: str) -> str:
    """A name as the name of a field: `a.example` is `a%2Eexample`, as a dot would part fields."""
    return name.replace("%", "%25").replace(".", "%2E").replace("$", "%24")


@lru_cache(_KEYS)
def _name(key: str) -> str:
    return key.replace("%24", "$").replace("%2E", ".").replace("%25", "%")
