"""Visits by the hundred million, as real ones come, and what it takes to read them.

The mix: links, hours, hosts and names are visited as Zipf has it, a million links in all, so that
on each day most have one visit or two and a few have hundreds. A fifth are bots; four in ten people
say where they came from, and nearly all what they came with.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sqlite3
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.analytics import sketch
from services.analytics.domain import MAX_NAMES, Dimension, count_names
from services.analytics.runs import month_of, pack
from services.analytics.store_sqlite import MIGRATIONS, SqliteAnalyticsStore, pack_counts
from services.runtime import client, sqlite
from tests.load.fill import code_of, opened
from tests.processes import Process

_Key = TypeVar("_Key")
_Shares = npt.NDArray[np.float64]

DAYS = 3653
LINKS = 1_000_000
_BOTS = 0.2
_BROWSERS = ("Chrome", "Safari", "Firefox", "Edge", "Samsung Internet")
_SYSTEMS = ("Android", "Windows", "iOS", "macOS", "Linux")
_POOLED = 10
"""Link days with so many visits and fewer are drawn from some that were made before."""
_POOL = 2000
_BATCH = 5000
_SERVICE = pb.DESCRIPTOR.services_by_name["AnalyticsService"]
_RANGES = {
    "24 hours": pb.RECENT_SPAN_24_HOURS,
    "7 days": pb.RECENT_SPAN_7_DAYS,
    "30 days": pb.RECENT_SPAN_30_DAYS,
    "90 days": pb.RECENT_SPAN_90_DAYS,
    "12 months": pb.RECENT_SPAN_12_MONTHS,
    "all": pb.RECENT_SPAN_ALL,
}
_SECONDS = 600


@dataclass(frozen=True)
class LinkDay:
    """What a day of a link holds: visits by hour, people by name, numbers of visitors."""

    people: dict[int, int]
    bots: dict[int, int]
    names: dict[Dimension, dict[str, int]]
    visitors: Sequence[int]

    @cached_property
    def stored(self) -> tuple[bytes, bytes, int, int]:
        """As SQLite has it: counts and sketch; and how many people and bots."""
        names = {dimension.value: found for dimension, found in self.names.items()}
        counts = pack_counts((self.people, self.bots, names))
        people, bots = sum(self.people.values()), sum(self.bots.values())
        return counts, sketch.add(b"", self.visitors), people, bots


class Mix:
    """Draws days as real traffic has them, the same ones each time."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._links = np.cumsum(_zipf(LINKS))
        hour = np.arange(24)
        self._hours = _share(1.2 + np.sin((hour - 9) / 24 * 2 * np.pi))
        self._names = {
            Dimension.REFERRER: _named([f"host-{n}.example" for n in range(5000)], unknown=0.6),
            Dimension.DEVICE: _named(["phone", "desktop", "tablet", "other"]),
            Dimension.BROWSER: _named([*_BROWSERS, *(f"Browser {n}" for n in range(10))]),
            Dimension.SYSTEM: _named([*_SYSTEMS, *(f"System {n}" for n in range(5))]),
            Dimension.LANGUAGE: _named([f"{a}{b}" for a in "esptfr" for b in "nstre"]),
            Dimension.COUNTRY: _named([f"{a}{b}" for a in "CUESMXAR" for b in "LSERXPTG"]),
        }
        self._pool = {
            visits: [self._draw(visits) for _ in range(_POOL)] for visits in range(1, _POOLED + 1)
        }
        """By the number of visits."""

    def day(self, visits: int) -> Iterator[tuple[int, LinkDay]]:
        """The links that have visits on one day, so many in all, each with what it holds."""
        drawn = np.searchsorted(self._links, self._random.random(visits))
        links, counts = np.unique(np.minimum(drawn, LINKS - 1), return_counts=True)
        chosen = self._random.integers(0, _POOL, len(links))
        for link, count, choice in zip(
            links.tolist(), counts.tolist(), chosen.tolist(), strict=True
        ):
            yield link, self._pool[count][choice] if count <= _POOLED else self._draw(count)

    def once(self) -> Iterator[tuple[int, dict[Dimension, tuple[str, ...]]]]:
        """Links at random, each visited by one person."""
        while True:
            one = self._pool[1][self._random.integers(0, _POOL)]
            if one.people:
                names = {dimension: tuple(found) for dimension, found in one.names.items()}
                yield int(self._random.integers(0, LINKS)), names

    def _draw(self, visits: int) -> LinkDay:
        bots = int(self._random.binomial(visits, _BOTS))
        people = visits - bots
        names = {
            dimension: found
            for dimension, (known, shares) in self._names.items()
            if (found := self._told_apart(self._counted(people, known, shares)))
        }
        # A fifth of the people come twice.
        came = self._random.integers(0, 1 << 32, people - people // 5, dtype=np.uint32)
        hours = list(range(24))
        return LinkDay(
            self._counted(people, hours, self._hours),
            self._counted(bots, hours, self._hours),
            names,
            came.tolist(),
        )

    def _told_apart(self, people: dict[str, int]) -> dict[str, int]:
        """The names under which a store counts these people, who come in no order."""
        if len(people) <= MAX_NAMES:
            return people
        # Of so many moments at random, the first.
        came = 1 - self._random.random(len(people)) ** (1 / np.array(list(people.values())))
        order = [name for _, name in sorted(zip(came.tolist(), people, strict=True))]
        return count_names({name: people[name] for name in order}, ())

    def _counted(self, visits: int, keys: Sequence[_Key], shares: _Shares) -> dict[_Key, int]:
        """How many of the visits have which key; past the last key nothing is known of them."""
        counts = self._random.multinomial(visits, shares)
        (found,) = np.nonzero(counts[: len(keys)])
        return {keys[n]: int(counts[n]) for n in found.tolist()}


def fill(path: Path, visits: int, days: int = DAYS) -> None:
    """Store visits of some days that end today, as the store would, and sum up its months.

    Rows of a day come in no order, as batches bring them: so pages are as full as they would be.
    What is written may be lost with the machine.
    """
    mix = Mix()
    today = int(time.time()) // 86_400
    people, bots = (np.zeros(LINKS, dtype=np.int64) for _ in range(2))
    visited: list[tuple[int, npt.NDArray[np.int32]]] = []
    with closing(opened(path, MIGRATIONS)) as connection:
        for day in range(today - days + 1, today + 1):
            rows = []
            links = []
            for link, one in mix.day(visits // days):
                counts, visitors, of_people, of_bots = one.stored
                rows.append((day, code_of(link), counts, visitors))
                people[link] += of_people
                bots[link] += of_bots
                links.append(link)
            random.Random(day).shuffle(rows)
            connection.executemany("INSERT INTO days VALUES (?, ?, ?, ?)", rows)
            connection.commit()
            visited.append((day, np.array(links, dtype=np.int32)))
        _fill_totals(connection, people, bots, visited)
        months = {month_of(day) for day, _ in visited}
        connection.executemany("INSERT INTO due_months VALUES (?, 0)", [(m,) for m in months])
        connection.commit()
    asyncio.run(_sum_up(path, today))


def _fill_totals(
    connection: sqlite3.Connection,
    people: npt.NDArray[np.int64],
    bots: npt.NDArray[np.int64],
    visited: list[tuple[int, npt.NDArray[np.int32]]],
) -> None:
    links = np.concatenate([some for _, some in visited])
    days = np.concatenate([np.full(len(some), day, dtype=np.int32) for day, some in visited])
    order = np.argsort(links, kind="stable")
    links, days = links[order], days[order]
    known, starts = np.unique(links, return_index=True)
    ends = np.append(starts[1:], len(links))
    rows = [
        (code_of(link), int(people[link]), int(bots[link]), pack(days[start:end].tolist()))
        for link, start, end in zip(known.tolist(), starts, ends, strict=True)
    ]
    random.Random(1).shuffle(rows)
    connection.executemany("INSERT INTO totals VALUES (?, ?, ?, ?)", rows)
    connection.commit()


async def _sum_up(path: Path, before: int) -> None:
    async with sqlite.opened(f"sqlite:///{path}", MIGRATIONS) as database:
        store = SqliteAnalyticsStore(database)
        while await store.sum_up(before):
            pass


def _zipf(count: int) -> _Shares:
    return _share(1 / np.arange(1, count + 1))


def _share(weights: _Shares) -> _Shares:
    shares: _Shares = weights / weights.sum()
    return shares


def _named(names: list[str], unknown: float = 0.02) -> tuple[list[str], _Shares]:
    """Names and the share of each; the last is that of none."""
    return names, np.append(_zipf(len(names)) * (1 - unknown), unknown)


def measure(path: Path, visits: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each range, of one link and of many; of batches; and bytes a visit.

    Of one link: the most visited ones, and some as they are visited, in turn; the 95th percentile.
    """
    env = {"ATAJO_STORE": f"sqlite:///{path}", "ATAJO_LOG_LEVEL": "warning"}
    size = path.stat().st_size
    with Process.start("services.analytics", env, path.with_suffix(".log")) as process:
        found = asyncio.run(_measure(process.grpc))
        assert process.stop() == 0, process.stderr()
    return {**found, "store": {"visits": visits, "bytes_a_visit": size / visits}}


async def _measure(address: str) -> dict[str, dict[str, float]]:
    drawn = np.searchsorted(np.cumsum(_zipf(LINKS)), np.random.default_rng(2).random(60))
    single = [[code_of(n)] for n in (*range(40), *drawn.tolist())]
    many = {
        f"{count:,} links": [[code_of(n * LINKS // 100_000) for n in range(count)]]
        for count in (100, 1000, 100_000)
    }
    async with client.open_channel(address, _SERVICE) as channel:
        stub: pb_grpc.AnalyticsServiceAsyncStub = pb_grpc.AnalyticsServiceStub(channel)
        found: dict[str, dict[str, float]] = {}
        for title, groups in {"1 link": single, **many}.items():
            found[title] = {}
            for name, asked in _spans().items():
                taken = []
                for codes in groups:
                    request = pb.GetStatisticsRequest(codes=codes, timezone="America/Santiago")
                    request.MergeFrom(asked)
                    request.top = 100 if len(codes) > 1 else 0
                    started = time.perf_counter()
                    await stub.GetStatistics(request, timeout=_SECONDS)
                    taken.append(1000 * (time.perf_counter() - started))
                taken.sort()
                found[title][name] = taken[len(taken) * 95 // 100]
        found["batch of 5,000 visits"] = {"median": await _batches(stub)}
    return found


def _spans() -> dict[str, pb.GetStatisticsRequest]:
    today = datetime.now(UTC).date()
    spans = {name: pb.GetStatisticsRequest(recent=recent) for name, recent in _RANGES.items()}
    for days in (731, DAYS):
        first = today - timedelta(days=days - 1)
        dates = pb.Dates(**{"from": first.isoformat(), "to": today.isoformat()})
        spans[f"{days:,} days"] = pb.GetStatisticsRequest(dates=dates)
    return spans


async def _batches(stub: pb_grpc.AnalyticsServiceAsyncStub) -> float:
    """Batches of visits of as many links, each with all that is known of them."""
    mix = Mix()
    hour = int(time.time()) // 3600
    numbers = {
        dimension: pb.Dimension.Value(f"DIMENSION_{dimension.name}") for dimension in Dimension
    }
    taken = []
    for number in range(1, 12):
        request = pb.RecordVisitsRequest(gateway_id="bench", batch_number=number)
        for link, one in itertools.islice(mix.once(), _BATCH):
            known = [pb.Name(dimension=numbers[d], name=n) for d, (n, *_) in one.items()]
            request.visits.add(
                code=code_of(link), hour=hour, kind=pb.VISIT_KIND_PERSON, count=1, names=known
            )
            request.visitors.add(
                code=code_of(link), day=hour // 24, numbers=[random.getrandbits(32)]
            )
        started = time.perf_counter()
        reply = await stub.RecordVisits(request, timeout=_SECONDS)
        taken.append(1000 * (time.perf_counter() - started))
        assert reply.applied
    return statistics.median(taken)
