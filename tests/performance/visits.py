"""Generates hundreds of millions of realistic visits, and measures reading them.

Links, hours, hosts and names follow Zipf's law. There are a million links, so on each day most have
one or two visits and a few have hundreds. A fifth of the visits are bots; four in ten people have a
referrer, and nearly all have a known browser.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import bson
import grpc
import numpy as np
import numpy.typing as npt
from bson.raw_bson import RawBSONDocument

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from gateway.backends.analytics import STATISTICS_SECONDS
from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application.records import DayRecord, TotalsRecord, pack_counts
from services.analytics.domain import hyperloglog
from services.analytics.domain.day_ranges import pack_days
from services.analytics.domain.name_admission import admit_names
from services.analytics.domain.visits import Dimension
from services.analytics.storage.mongo.store import SCHEMA
from services.analytics.storage.sqlite.schema import MIGRATIONS
from services.shared import stores
from services.shared.rpc import channels
from tests.performance.bench import cpu_seconds
from tests.performance.fill import code_of, opened
from tests.performance.fill_mongo import filled, insert
from tests.support.processes import Process

_Key = TypeVar("_Key")
_Shares = npt.NDArray[np.float64]

DAYS = 3653
LINKS = 1_000_000
_BOTS = 0.2
_BROWSERS = ("Chrome", "Safari", "Firefox", "Edge", "Samsung Internet")
_SYSTEMS = ("Android", "Windows", "iOS", "macOS", "Linux")
_FEW = 10
_POOL, _LARGE_POOL = 2000, 16
"""Number of generated link days with `_FEW` visits, and with each larger number. Further ones
repeat these, because generating each would take hours."""
_BATCH = 5000
_WARM_BATCHES = 20
"""Of which nothing is measured: with a tenth of the links in the store, it has what batches add
to."""
_BATCHES = 20
_TRIES = 5
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
_TIMEOUT = 120
"""Seconds after which a range is not requested any more."""
_ASKED_AGAIN = (
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
)


@dataclass(frozen=True)
class LinkDay:
    """A day of a link: visits by hour, people by name, numbers of visitors."""

    people: dict[int, int]
    bots: dict[int, int]
    names: dict[Dimension, dict[str, int]]
    visitors: npt.NDArray[np.uint32]

    @cached_property
    def stored(self) -> tuple[DayRecord, int, int]:
        """Its form in a store, and the number of people and bots."""
        names = {dimension.value: found for dimension, found in self.names.items()}
        record = DayRecord(
            pack_counts((self.people, self.bots, names)),
            hyperloglog.add(b"", self.visitors.tolist()),
        )
        return record, sum(self.people.values()), sum(self.bots.values())

    @cached_property
    def encoded(self) -> tuple[bytes, bytes]:
        """Its encoded MongoDB document before and after `_id`, which has the same length for all
        days."""
        some_id = f"{code_of(0)}:{20_000}"
        record = self.stored[0]
        fields = {name: value for name, value in record._asdict().items() if value}
        before, _, behind = bson.encode({"_id": some_id, **fields}).partition(some_id.encode())
        return before, behind


class Mix:
    """Generates realistic days, the same ones in each run."""

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
        """Return the links with visits on one day, and the day of each, in random order as in
        batches."""
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
        """Return random links, each visited by one person."""
        while True:
            one = self._one_with(1, self._random.random())
            if one.people:
                names = {dimension: tuple(found) for dimension, found in one.names.items()}
                yield int(self._random.integers(0, LINKS)), names

    def _one_with(self, visits: int, choice: float) -> LinkDay:
        """Return a link's day with a number of visits, chosen by a value from 0 to 1."""
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
        # A fifth of the people visit twice.
        came = self._random.integers(0, 1 << 32, people - people // 5, dtype=np.uint32)
        hours = list(range(24))
        return LinkDay(
            self._counted(people, hours, self._hours),
            self._counted(bots, hours, self._hours),
            names,
            came,
        )

    def _counted(self, visits: int, keys: Sequence[_Key], shares: _Shares) -> dict[_Key, int]:
        """Return the number of visits with each key. Beyond the last key, the value is unknown."""
        counts = self._random.multinomial(visits, shares)
        (found,) = np.nonzero(counts[: len(keys)])
        return {keys[n]: int(counts[n]) for n in found.tolist()}


def _stored(people: dict[str, int]) -> dict[str, int]:
    """Return the names under which a store counts these people."""
    return dict(admit_names(people, {}, random.Random(0))[0])


def fill_sqlite(path: Path, visits: int, days: int = DAYS) -> None:
    """Store visits of a number of days until today, as the store would, and aggregate them.

    Rows of a day are inserted in random order, so that pages are as full as in practice. Writes
    without durability.
    """
    filling = _Filling(visits, days)
    with closing(opened(path, MIGRATIONS)) as connection:
        for day, some in filling.days():
            connection.executemany(
                "INSERT INTO days VALUES (?, ?, ?, ?)",
                ((day, code, *held.stored[0]) for code, held in some),
            )
            connection.commit()
        rows = ((code, *totals) for code, totals in filling.totals())
        connection.executemany("INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    asyncio.run(_maintain(f"sqlite:///{path}"))


def fill_mongodb(url: str, visits: int, days: int = DAYS) -> None:
    """The same in a MongoDB database."""
    filling = _Filling(visits, days)
    with filled(url, SCHEMA) as documents:
        insert(documents, "days", _encoded(filling))
        insert(
            documents,
            "totals",
            [{"_id": code, **totals._asdict()} for code, totals in filling.totals()],
        )
    asyncio.run(_maintain(url))


def _encoded(filling: _Filling) -> Iterator[RawBSONDocument]:
    for day, some in filling.days():
        of_day = f":{day}".encode()
        for code, held in some:
            before, behind = held.encoded
            yield RawBSONDocument(b"".join((before, code.encode(), of_day, behind)))


async def _maintain(setting: str) -> None:
    async with stores.open_stores(setting, "analytics", STORE_FACTORIES) as (store, database):
        await database.wait_for_schema()
        after: str | None = ""
        while after is not None:
            after, _ = await store.maintain(after, int(time.time()) // 86_400, None)


class _Filling:
    """Visits of some days: first those of each link, then totals."""

    def __init__(self, visits: int, days: int) -> None:
        today = int(time.time()) // 86_400
        self._days = range(today - days + 1, today + 1)
        self._visits = visits // days
        self._people, self._bots = (np.zeros(LINKS, dtype=np.int64) for _ in range(2))
        self._visited: list[tuple[int, npt.NDArray[np.int32]]] = []

    def days(self) -> Iterator[tuple[int, list[tuple[str, LinkDay]]]]:
        """Yield each day with its links."""
        mix = Mix()
        codes = [code_of(link) for link in range(LINKS)]
        for day in self._days:
            links, held = mix.day(self._visits)
            yield day, [(codes[link], one) for link, one in zip(links.tolist(), held, strict=True)]
            self._people[links] += [people for _, people, _ in (one.stored for one in held)]
            self._bots[links] += [bots for _, _, bots in (one.stored for one in held)]
            self._visited.append((day, links))

    def totals(self) -> list[tuple[str, TotalsRecord]]:
        rows = [
            (
                code_of(link),
                TotalsRecord(int(self._people[link]), int(self._bots[link]), pack_days(days)),
            )
            for link, days in _by_link(self._visited)
        ]
        random.Random(1).shuffle(rows)
        return rows


def _by_link(
    visited: list[tuple[int, npt.NDArray[np.int32]]],
) -> Iterator[tuple[int, list[int]]]:
    """Yield each link with its days, from each day with its links."""
    links = np.concatenate([some for _, some in visited])
    days = np.concatenate([np.full(len(some), day, dtype=np.int32) for day, some in visited])
    order = np.argsort(links, kind="stable")
    links, days = links[order], days[order]
    known, starts = np.unique(links, return_index=True)
    ends = np.append(starts[1:], len(links))
    for link, start, end in zip(known.tolist(), starts, ends, strict=True):
        yield link, days[start:end].tolist()


def _zipf(count: int) -> _Shares:
    return _share(1 / np.arange(1, count + 1))


def _share(weights: _Shares) -> _Shares:
    shares: _Shares = weights / weights.sum()
    return shares


def _named(names: list[str], unknown: float = 0.02) -> tuple[list[str], _Shares]:
    """Names and the share of each; the last is that of none."""
    return names, np.append(_zipf(len(names)) * (1 - unknown), unknown)


def measure(setting: str, folder: Path) -> dict[str, dict[str, float]]:
    """Return the milliseconds of each range, for one link and for many, in a filled store.

    For one link: the 95th percentile of the most visited links and a weighted sample. For many:
    uncached and then cached. Both also have the CPU time of the service, which other load does not
    affect. A range that takes longer than two minutes, and those after it, are left out.
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
    async with channels.open_channel(process.grpc, _SERVICE) as channel:
        stub: pb_grpc.AnalyticsServiceAsyncStub = pb_grpc.AnalyticsServiceStub(channel)
        for title, asked_of in groups.items():
            beside: list[float] = []
            small = asyncio.create_task(_small_calls(stub, beside))
            found[title], found[f"{title}, of a core"] = {}, {}
            for name, period in _spans().items():
                try:
                    taken, of_a_core = await _asked(stub, asked_of, period, process.popen.pid)
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
    period: pb.GetStatisticsRequest,
    pid: int,
) -> tuple[float, float]:
    """Return the 95th percentile in milliseconds of a range of these groups of links, and the CPU
    time of the service."""
    taken = []
    of_a_core = []
    for codes in groups:
        request = pb.GetStatisticsRequest(codes=codes, timezone="America/Santiago")
        request.MergeFrom(period)
        request.top = 100 if len(codes) > 1 else 0
        before = cpu_seconds(pid)
        started = time.perf_counter()
        await _call(stub, request)
        taken.append(1000 * (time.perf_counter() - started))
        of_a_core.append(1000 * (cpu_seconds(pid) - before))
    taken.sort()
    of_a_core.sort()
    return taken[len(taken) * 95 // 100], of_a_core[len(taken) * 95 // 100]


async def _call(stub: pb_grpc.AnalyticsServiceAsyncStub, request: pb.GetStatisticsRequest) -> None:
    """Call, and retry as a page would: if it takes longer than a gateway waits (part of it is
    cached then), or its connection reached its maximum age."""
    async with asyncio.timeout(_TIMEOUT):
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
    """Request the totals of ten links twenty times a second until cancelled."""
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
    """Return the milliseconds and CPU time for 5,000 visits of as many links, here and in another
    tree of Atajo.

    Each has its own store with the same visits. The same batches go to both in turn, with all names
    of each visit.
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
                await stack.enter_async_context(channels.open_channel(process.grpc, _SERVICE))
            )
            for process in processes
        ]
        requests = _requests(Mix())
        for number in range(1, _WARM_BATCHES + _BATCHES + 1):
            request = next(requests)
            request.batch_number = number
            # Each goes first equally often.
            for which in (0, 1) if number % 2 else (1, 0):
                core = cpu_seconds(processes[which].popen.pid)
                started = time.perf_counter()
                await _record(stubs[which], request)
                if number > _WARM_BATCHES:
                    taken[which].append(1000 * (time.perf_counter() - started))
                    cores[which].append(1000 * (cpu_seconds(processes[which].popen.pid) - core))
    found: dict[str, float] = {}
    for kind, (here, base) in (("", taken), (", of a core", cores)):
        found |= {f"here{kind}": statistics.median(here), f"base{kind}": statistics.median(base)}
        ratios = [one / other for one, other in zip(here, base, strict=True)]
        found[f"ratio in pairs{kind}"] = statistics.median(ratios)
    return found


async def _record(stub: pb_grpc.AnalyticsServiceAsyncStub, request: pb.RecordVisitsRequest) -> None:
    """Send a batch, and resend it as gateways do if the store does not answer in time."""
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
    """Return batches of visits of as many links, each with all names."""
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
