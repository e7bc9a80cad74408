"""Visits by the hundred million, as real ones come, and what it takes to read them.

The mix: links, hours, hosts and names are visited as Zipf has it, a million links in all, so that
on each day most have one visit or two and a few have hundreds. A fifth are bots; four in ten people
say where they came from, and nearly all what they came with.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import bson
import grpc
import numpy as np
import numpy.typing as npt
from bson.raw_bson import RawBSONDocument

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from gateway.clients import STATISTICS_SECONDS
from services.analytics import sketch
from services.analytics.days_mongo import WORTH_SUMMING
from services.analytics.documents_mongo import (
    BLOCK_DAYS,
    DayAddition,
    block_of,
    day_of,
    id_of,
    with_days,
)
from services.analytics.domain import Day, DaySums, Dimension, count_names
from services.analytics.runs import pack
from services.analytics.store_mongo import SCHEMA, MongoAnalyticsStore
from services.analytics.store_sqlite import MIGRATIONS
from services.analytics.sums_sqlite import PERIODS, pack_counts
from services.runtime import client, mongo
from services.runtime.mongo import Document
from tests.load.bench import cpu_seconds
from tests.load.fill import code_of, opened
from tests.load.fill_mongo import filled, insert
from tests.processes import Process

_Key = TypeVar("_Key")
_Shares = npt.NDArray[np.float64]

DAYS = 3653
LINKS = 1_000_000
_BOTS = 0.2
_BROWSERS = ("Chrome", "Safari", "Firefox", "Edge", "Samsung Internet")
_SYSTEMS = ("Android", "Windows", "iOS", "macOS", "Linux")
_FEW = 10
_POOL, _LARGE_POOL = 2000, 16
"""How many link days with so `_FEW` visits are made, and with each larger number of them. From then
on one of those comes again: to draw each anew would take hours."""
_BATCH = 5000
_WARM_BATCHES = 20
"""Of which nothing is measured: with a tenth of the links in the store, it has what batches add
to."""
_BATCHES = 20
_TRIES = 5
_FILLED_BY = "f111" * 8
"""The gateway whose batches filled a store: as long as those of gateways are."""
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
_PATIENCE = 120
"""Seconds after which a range is not asked for any more."""
_ASKED_AGAIN = (
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
)


@dataclass(frozen=True)
class LinkDay:
    """What a day of a link holds: visits by hour, people by name, numbers of visitors."""

    people: dict[int, int]
    bots: dict[int, int]
    names: dict[Dimension, dict[str, int]]
    visitors: npt.NDArray[np.uint32]

    @cached_property
    def encoded(self) -> tuple[bytes, bytes, int, int]:
        """As MongoDB has it when one batch brings all of it, encoded: what stands before and behind
        its `_id`, which is as long for all days; and how many people and bots."""
        sums = DaySums(self.people, self.bots, self.names, self.visitors.tolist())
        new = DayAddition(sums, random.Random(0)).new()
        some_id = id_of(code_of(0), 0)
        document = bson.encode({"_id": some_id, **new, "seen": {_FILLED_BY: 1}})
        before, _, behind = document.partition(some_id.encode())
        return before, behind, new["people"], new["bots"]

    @cached_property
    def day(self) -> Day:
        """As the store reads it from there, but for which day it is."""
        before, behind, _, _ = self.encoded
        return day_of(bson.decode(b"".join((before, id_of(code_of(0), 0).encode(), behind))))

    @cached_property
    def stored(self) -> tuple[bytes, bytes, int, int]:
        """As SQLite has it: counts and sketch; and how many people and bots."""
        names = {dimension.value: found for dimension, found in self.names.items()}
        counts = pack_counts((self.people, self.bots, names))
        people, bots = sum(self.people.values()), sum(self.bots.values())
        return counts, sketch.add(b"", self.visitors.tolist()), people, bots


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
        self._pool: dict[int, list[LinkDay]] = {}
        """By the number of visits."""

    def day(self, visits: int) -> tuple[npt.NDArray[np.int32], list[LinkDay]]:
        """The links that have visits on one day, so many in all, and what each holds.

        They come in no order, as batches bring them.
        """
        drawn = np.searchsorted(self._links, np.sort(self._random.random(visits)))
        links, counts = np.unique(np.minimum(drawn, LINKS - 1), return_counts=True)
        order = self._random.permutation(len(links))
        chosen = self._random.random(len(links))
        held = [
            self._one_with(count, choice)
            for count, choice in zip(counts[order].tolist(), chosen.tolist(), strict=True)
        ]
        return links[order].astype(np.int32), held

    def once(self) -> Iterator[tuple[int, dict[Dimension, tuple[str, ...]]]]:
        """Links at random, each visited by one person."""
        while True:
            one = self._one_with(1, self._random.random())
            if one.people:
                names = {dimension: tuple(found) for dimension, found in one.names.items()}
                yield int(self._random.integers(0, LINKS)), names

    def _one_with(self, visits: int, choice: float) -> LinkDay:
        """A link's day with so many visits, by a choice from 0 to 1."""
        pool = self._pool.setdefault(visits, [])
        place = int(choice * (_POOL if visits <= _FEW else _LARGE_POOL))
        if place >= len(pool):
            pool.append(self._draw(visits))
            return pool[-1]
        return pool[place]

    def _draw(self, visits: int) -> LinkDay:
        bots = int(self._random.binomial(visits, _BOTS))
        people = visits - bots
        names = {
            dimension: found
            for dimension, (known, shares) in self._names.items()
            if (found := _stored(self._counted(people, known, shares)))
        }
        # A fifth of the people come twice.
        came = self._random.integers(0, 1 << 32, people - people // 5, dtype=np.uint32)
        hours = list(range(24))
        return LinkDay(
            self._counted(people, hours, self._hours),
            self._counted(bots, hours, self._hours),
            names,
            came,
        )

    def _counted(self, visits: int, keys: Sequence[_Key], shares: _Shares) -> dict[_Key, int]:
        """How many of the visits have which key; past the last key nothing is known of them."""
        counts = self._random.multinomial(visits, shares)
        (found,) = np.nonzero(counts[: len(keys)])
        return {keys[n]: int(counts[n]) for n in found.tolist()}


def _stored(people: dict[str, int]) -> dict[str, int]:
    """Return the names under which a store counts these people."""
    return dict(count_names(people, {}, random.Random(0))[0])


def fill_sqlite(path: Path, visits: int, days: int = DAYS) -> None:
    """Store visits of some days that end today, as the store would, and sum up its months.

    As rows of a day come in no order, pages are as full as they would be. What is written may be
    lost with the machine.
    """
    mix = Mix()
    codes = [code_of(link) for link in range(LINKS)]
    today = int(time.time()) // 86_400
    people, bots = (np.zeros(LINKS, dtype=np.int64) for _ in range(2))
    visited: list[tuple[int, npt.NDArray[np.int32]]] = []
    with closing(opened(path, MIGRATIONS)) as connection:
        for day in range(today - days + 1, today + 1):
            links, held = mix.day(visits // days)
            stored = [one.stored for one in held]
            connection.executemany(
                "INSERT INTO days VALUES (?, ?, ?, ?)",
                (
                    (day, codes[link], counts, visitors)
                    for link, (counts, visitors, _, _) in zip(links.tolist(), stored, strict=True)
                ),
            )
            connection.commit()
            people[links] += [of_people for _, _, of_people, _ in stored]
            bots[links] += [of_bots for _, _, _, of_bots in stored]
            visited.append((day, links))
        _fill_totals(connection, people, bots, visited)
        _sum_up(connection, range(today - days + 1, today))


def fill_mongodb(url: str, visits: int, days: int = DAYS) -> None:
    """The same in a MongoDB database.

    Documents are those that the store makes of a batch that brings a link's whole day, and of such
    days once they are over. Where there were several batches, `seen` has as many gateways as sent
    one, and `hosts` is the same.
    """
    asyncio.run(_counted_from(url))  # Noted ahead of the first batch.
    with filled(url, SCHEMA) as documents:
        filling = _Filling(visits, days)
        insert(documents, "days", filling.days())
        insert(documents, "blocks", filling.blocks())
        insert(documents, "totals", filling.totals)
        gateway = {"_id": _FILLED_BY, "begun": 1, "last_batch": 1, "dropped": 0, "live": True}
        insert(documents, "gateways", [{**gateway, "seen_at": int(time.time())}])


async def _counted_from(url: str) -> None:
    async with mongo.opened(url, "", SCHEMA) as database:
        await database.prepared()
        await MongoAnalyticsStore(database).counted_from()


class _Filling:
    """The documents of visits: those of days first, then blocks, and then totals."""

    def __init__(self, visits: int, days: int) -> None:
        self._today = int(time.time()) // 86_400
        self._days = range(self._today - days + 1, self._today + 1)
        self._visits = visits // days
        self._people, self._bots = (np.zeros(LINKS, dtype=np.int64) for _ in range(2))
        self._visited: list[tuple[int, npt.NDArray[np.int32]]] = []
        self._numbers: list[npt.NDArray[np.int32]] = []
        """Which of `_held` each link had, day by day."""
        self._held: list[LinkDay] = []
        self.totals: list[Document] = []

    def days(self) -> Iterator[RawBSONDocument]:
        mix = Mix()
        codes = [code_of(link).encode() for link in range(LINKS)]
        number_of: dict[int, int] = {}
        for day in self._days:
            links, held = mix.day(self._visits)
            of_day = id_of("", day).encode()
            numbers = []
            for link, one in zip(links.tolist(), held, strict=True):
                before, behind, _, _ = one.encoded
                yield RawBSONDocument(b"".join((before, codes[link], of_day, behind)))
                number = number_of.setdefault(id(one), len(self._held))
                if number == len(self._held):
                    self._held.append(one)
                numbers.append(number)
            self._people[links] += [one.encoded[2] for one in held]
            self._bots[links] += [one.encoded[3] for one in held]
            self._visited.append((day, links))
            self._numbers.append(np.array(numbers, dtype=np.int32))

    def blocks(self) -> Iterator[Document]:
        end = self._today // BLOCK_DAYS
        for link, days, numbers in _by_link(self._visited, self._numbers):
            totals: Document = {
                "_id": code_of(link),
                "people": int(self._people[link]),
                "bots": int(self._bots[link]),
                "noted": int(self._people[link] + self._bots[link]),
                "visited": with_days({}, days),
                "seen": {_FILLED_BY: 1},
            }
            pairs = zip(days, numbers, strict=True)
            for block, of_block in groupby(pairs, lambda pair: pair[0] // BLOCK_DAYS):
                some = list(of_block)
                if block < end and len(some) >= WORTH_SUMMING:
                    held = (replace(self._held[number].day, day=day) for day, number in some)
                    yield block_of(id_of(totals["_id"], block), totals, held)
                    totals["summed"] = end
            self.totals.append(totals)
        random.Random(1).shuffle(self.totals)


def _fill_totals(
    connection: sqlite3.Connection,
    people: npt.NDArray[np.int64],
    bots: npt.NDArray[np.int64],
    visited: list[tuple[int, npt.NDArray[np.int32]]],
) -> None:
    rows = [
        (code_of(link), int(people[link]), int(bots[link]), pack(days))
        for link, days, _ in _by_link(visited, [links for _, links in visited])
    ]
    random.Random(1).shuffle(rows)
    connection.executemany("INSERT INTO totals VALUES (?, ?, ?, ?)", rows)
    connection.commit()


def _by_link(
    visited: list[tuple[int, npt.NDArray[np.int32]]], held: list[npt.NDArray[np.int32]]
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Each link with its days and what it held on them, from each day with its links."""
    links = np.concatenate([some for _, some in visited])
    days = np.concatenate([np.full(len(some), day, dtype=np.int32) for day, some in visited])
    order = np.argsort(links, kind="stable")
    links, days, numbers = links[order], days[order], np.concatenate(held)[order]
    known, starts = np.unique(links, return_index=True)
    ends = np.append(starts[1:], len(links))
    for link, start, end in zip(known.tolist(), starts, ends, strict=True):
        yield link, days[start:end].tolist(), numbers[start:end].tolist()


def _sum_up(connection: sqlite3.Connection, over: range) -> None:
    """Sum up what lies in these days as the store does it in the background."""
    for period in PERIODS:
        numbers = {period.of_day(day) for day in over}
        for number in sorted(numbers - {period.of_day(over.stop)}):
            period.sum_up(connection, number, period.lacking(connection, number))
            connection.commit()


def _zipf(count: int) -> _Shares:
    return _share(1 / np.arange(1, count + 1))


def _share(weights: _Shares) -> _Shares:
    shares: _Shares = weights / weights.sum()
    return shares


def _named(names: list[str], unknown: float = 0.02) -> tuple[list[str], _Shares]:
    """Names and the share of each; the last is that of none."""
    return names, np.append(_zipf(len(names)) * (1 - unknown), unknown)


def measure(setting: str, folder: Path) -> dict[str, dict[str, float]]:
    """Milliseconds of each range, of one link and of many, in a store that was filled.

    Of one link: the most visited ones, and some as they are visited, in turn; the 95th percentile.
    Of many: when nothing is remembered of them, and then again. Of both also how many of a core in
    the service: a machine that does other things meanwhile does not add to those. A range that is
    not told within two minutes, and those after it, are left out.
    """
    env = {"ATAJO_STORE": setting, "ATAJO_LOG_LEVEL": "warning"}
    with Process.start("services.analytics", env, folder / "analytics.log") as process:
        found = asyncio.run(_measure(process))
        assert process.stop() == 0, process.stderr()
    return found


async def _measure(process: Process) -> dict[str, dict[str, float]]:
    drawn = np.searchsorted(np.cumsum(_zipf(LINKS)), np.random.default_rng(2).random(60))
    groups = {"1 link": [[code_of(n)] for n in (*range(40), *drawn.tolist())]}
    for count in (100, 1000, 100_000):
        codes = [[code_of(n * LINKS // 100_000) for n in range(count)]]
        groups |= {f"{count:,} links, first": codes, f"{count:,} links, again": codes}
    found: dict[str, dict[str, float]] = {}
    async with client.open_channel(process.grpc, _SERVICE) as channel:
        stub: pb_grpc.AnalyticsServiceAsyncStub = pb_grpc.AnalyticsServiceStub(channel)
        for title, asked_of in groups.items():
            beside: list[float] = []
            small = asyncio.create_task(_small_calls(stub, beside))
            found[title], found[f"{title}, of a core"] = {}, {}
            for name, asked in _spans().items():
                try:
                    taken, of_a_core = await _asked(stub, asked_of, asked, process.popen.pid)
                except TimeoutError:
                    break
                found[title][name], found[f"{title}, of a core"][name] = taken, of_a_core
            small.cancel()
            await asyncio.wait([small])
            beside.sort()
            found[title]["beside, p99"] = beside[len(beside) * 99 // 100]
    return found


async def _asked(
    stub: pb_grpc.AnalyticsServiceAsyncStub,
    groups: Sequence[Sequence[str]],
    asked: pb.GetStatisticsRequest,
    pid: int,
) -> tuple[float, float]:
    """Milliseconds, of 95 in 100, that it takes to be told a span of these groups of links; and
    those of a core in the service."""
    taken = []
    of_a_core = []
    for codes in groups:
        request = pb.GetStatisticsRequest(codes=codes, timezone="America/Santiago")
        request.MergeFrom(asked)
        request.top = 100 if len(codes) > 1 else 0
        before = cpu_seconds(pid)
        started = time.perf_counter()
        await _told(stub, request)
        taken.append(1000 * (time.perf_counter() - started))
        of_a_core.append(1000 * (cpu_seconds(pid) - before))
    taken.sort()
    of_a_core.sort()
    return taken[len(taken) * 95 // 100], of_a_core[len(taken) * 95 // 100]


async def _told(stub: pb_grpc.AnalyticsServiceAsyncStub, request: pb.GetStatisticsRequest) -> None:
    """Ask, and again where a page would: what takes longer than a gateway waits, of which some is
    remembered by then, or whose connection had served its time."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            try:
                await stub.GetStatistics(request, timeout=STATISTICS_SECONDS)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _ASKED_AGAIN:
                    raise
                await asyncio.sleep(1)
            else:
                return


async def _small_calls(stub: pb_grpc.AnalyticsServiceAsyncStub, taken: list[float]) -> None:
    """Asks for the totals of ten links, twenty times a second, until it is cancelled."""
    codes = [code_of(n) for n in range(10)]
    while True:
        started = time.perf_counter()
        with _unavailable_is_no_end():
            await stub.GetTotals(pb.GetTotalsRequest(codes=codes), timeout=_SECONDS)
            taken.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(0.05)


def _spans() -> dict[str, pb.GetStatisticsRequest]:
    today = datetime.now(UTC).date()
    spans = {name: pb.GetStatisticsRequest(recent=recent) for name, recent in _RANGES.items()}
    for days in (731, DAYS):
        first = today - timedelta(days=days - 1)
        dates = pb.Dates(**{"from": first.isoformat(), "to": today.isoformat()})
        spans[f"{days:,} days"] = pb.GetStatisticsRequest(dates=dates)
    return spans


def measure_batches(settings: tuple[str, str], tree: Path, folder: Path) -> dict[str, float]:
    """Milliseconds that 5,000 visits of as many links take, now and in another tree of the product,
    and those of a core in the services.

    Each has a store of its own, both with the same visits in them; the same batches go to both in
    turn, with all that is known of each visit. The other tree passes over what it does not know.
    """
    other = {"PYTHONPATH": os.pathsep.join((str(tree), str(tree / "proto/gen")))}
    envs: tuple[dict[str, str], ...] = ({}, {**other, "PYTHONSAFEPATH": "1"})
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                Process.start(
                    "services.analytics",
                    {"ATAJO_STORE": setting, "ATAJO_LOG_LEVEL": "warning", **env},
                    folder / f"batches-{number}.log",
                )
            )
            for number, (setting, env) in enumerate(zip(settings, envs, strict=True))
        ]
        return asyncio.run(_batches(processes))


async def _batches(processes: Sequence[Process]) -> dict[str, float]:
    taken: tuple[list[float], list[float]] = ([], [])
    cores: tuple[list[float], list[float]] = ([], [])
    async with AsyncExitStack() as stack:
        stubs: list[pb_grpc.AnalyticsServiceAsyncStub] = [
            pb_grpc.AnalyticsServiceStub(
                await stack.enter_async_context(client.open_channel(process.grpc, _SERVICE))
            )
            for process in processes
        ]
        requests = _requests(Mix())
        for number in range(1, _WARM_BATCHES + _BATCHES + 1):
            request = next(requests)
            request.batch_number = number
            # Each is first as often as second.
            for which in (0, 1) if number % 2 else (1, 0):
                core = cpu_seconds(processes[which].popen.pid)
                started = time.perf_counter()
                await _record(stubs[which], request)
                if number > _WARM_BATCHES:
                    taken[which].append(1000 * (time.perf_counter() - started))
                    cores[which].append(1000 * (cpu_seconds(processes[which].popen.pid) - core))
    found: dict[str, float] = {}
    for kind, (now, before) in (("", taken), (", of a core", cores)):
        found |= {f"now{kind}": statistics.median(now), f"before{kind}": statistics.median(before)}
        ratios = [one / other for one, other in zip(now, before, strict=True)]
        found[f"ratio in pairs{kind}"] = statistics.median(ratios)
    return found


async def _record(stub: pb_grpc.AnalyticsServiceAsyncStub, request: pb.RecordVisitsRequest) -> None:
    """Send a batch, as gateways do again where the store did not answer in time."""
    for _ in range(_TRIES - 1):
        with _unavailable_is_no_end():
            await stub.RecordVisits(request, timeout=_SECONDS)
            return
    await stub.RecordVisits(request, timeout=_SECONDS)


@contextmanager
def _unavailable_is_no_end() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise


def _requests(mix: Mix) -> Iterator[pb.RecordVisitsRequest]:
    """Batches of visits of as many links, each with all that is known of them."""
    hour = int(time.time()) // 3600
    numbers = {
        dimension: pb.Dimension.Value(f"DIMENSION_{dimension.name}") for dimension in Dimension
    }
    visits = mix.once()
    while True:
        request = pb.RecordVisitsRequest(gateway_id="bench")
        some: dict[int, dict[Dimension, tuple[str, ...]]] = {}
        while len(some) < _BATCH:
            link, one = next(visits)
            some[link] = one
        for link, one in some.items():
            known = [pb.Name(dimension=numbers[d], name=n) for d, (n, *_) in one.items()]
            request.visits.add(
                code=code_of(link), hour=hour, kind=pb.VISIT_KIND_PERSON, count=1, names=known
            )
            request.visitors.add(
                code=code_of(link), day=hour // 24, numbers=[random.getrandbits(32)]
            )
        yield request
