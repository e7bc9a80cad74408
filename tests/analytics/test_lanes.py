"""Gateways send lanes to replicas of analytics that come, go, crash, and are of two versions."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import cast

import pytest

from atajo.analytics.v1 import analytics_pb2 as pb
from gateway.backends import replicas as replicas_module
from gateway.backends.analytics import AnalyticsClient
from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch, Visitors
from gateway.visits.journal.lines import Counts, Kind, Visit
from services.analytics.api.servicers import AnalyticsServicer
from services.analytics.application.ingest import Ingest
from services.analytics.application.query import Queries
from services.analytics.application.visitor_keys import VisitorKeys
from services.analytics.domain.batches import Batch as CountedBatch
from services.analytics.domain.visits import Dimension, VisitCount, VisitKind
from services.analytics.storage.mongo import store as mongo_store
from services.shared import mongo
from services.shared.errors import AppError, Unavailable, Unimplemented
from services.shared.rpc.server import Listener
from tests.analytics.cases import DAY, NOW, Model, open_replicas
from tests.support.crashing_database import Crash, CrashingDatabase

CODES = [f"code{n:04}" for n in range(30)]
TARGET = "dns:///analytics:50051"


class CrashingServicer(AnalyticsServicer):
    """Serves until its process crashes."""

    async def RecordVisits(  # noqa: N802
        self, request: pb.RecordVisitsRequest
    ) -> pb.RecordVisitsResponse:
        with _crashing():
            return await super().RecordVisits(request)

    async def RecordLanes(  # noqa: N802
        self, request: pb.RecordLanesRequest
    ) -> pb.RecordLanesResponse:
        with _crashing():
            return await super().RecordLanes(request)


class EarlierServicer(CrashingServicer):
    """Version 1.0, which does not know lanes."""

    async def RecordLanes(  # noqa: N802
        self, request: pb.RecordLanesRequest
    ) -> pb.RecordLanesResponse:
        raise Unimplemented("There is no such method.")


@contextmanager
def _crashing() -> Iterator[None]:
    try:
        yield
    except Crash:
        raise Unavailable("The process is dead.") from None


class Replica:
    """A replica of analytics, which crashes at a write and serves until it is stopped."""

    def __init__(self, database: mongo.Database, *, is_earlier: bool = False) -> None:
        self.faulty = CrashingDatabase(database)
        store = mongo_store.MongoStore(cast("mongo.Database", self.faulty))
        now = lambda: NOW  # noqa: E731
        servicer = EarlierServicer if is_earlier else CrashingServicer
        keys = VisitorKeys(store, now)
        calls = servicer(Ingest(store, now), Queries(store, now, None), keys, database.size)
        self.listener = Listener([calls], "127.0.0.1:0")
        self.address = self.listener.address

    async def start(self) -> None:
        await self.listener.start()
        await self.listener.set_ready(True)

    async def kill(self) -> None:
        """End without finishing running calls."""
        await self.listener.server.stop(None)


def random_batch(chance: random.Random, gateway: str, number: int, *, is_divided: bool) -> Batch:
    """Return a batch as the journal of a gateway has it."""
    counts: Counts = {}
    visitors: Visitors = {}
    for _ in range(chance.randint(1, 40)):
        code, day = chance.choice(CODES), DAY + chance.randint(0, 1)
        kind: Kind = chance.choice(("person", "bot"))
        facts = lines.text_of(lines.Facts(browser=chance.choice(("Firefox", "Chrome"))))
        host = chance.choice(("", "a.example"))
        visit = Visit(code, day * 24 + 5, kind, host, facts if kind == "person" else "")
        counts[visit] = counts.get(visit, 0) + 1
        if kind == "person":
            # Each visitor has its own register, so that estimates are exact.
            visitors.setdefault((day, code), set()).add(chance.randrange(8) << 20)
    return Batch(gateway, number, counts, sum(counts.values()), visitors, is_divided)


def to_counted(batch: Batch) -> CountedBatch:
    """Return a batch as analytics counts it."""

    def to_row(visit: Visit, count: int) -> VisitCount:
        known = lines.facts_of(visit.facts)._asdict()
        names = {Dimension[name.upper()]: value for name, value in known.items() if value}
        names |= {Dimension.REFERRER: visit.referrer_host} if visit.referrer_host else {}
        return VisitCount(visit.code, visit.hour, VisitKind(visit.kind), names, count)

    rows = tuple(to_row(visit, count) for visit, count in batch.counts.items())
    visitors = {key: frozenset(numbers) for key, numbers in batch.visitors.items()}
    return CountedBatch(batch.gateway_id, batch.number, rows, visitors)


@pytest.mark.parametrize("seed", range(4))
async def test_each_visit_counts_once_while_replicas_come_and_go(
    mongo_server: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(mongo_store.MongoStore, "codes_per_transaction", chance.choice((2, 7, 500)))
    monkeypatch.setattr(replicas_module, "RESOLVE_SECONDS", 0.0)
    monkeypatch.setattr(replicas_module, "RESOLVE_AFTER_FAILURE_SECONDS", 0.0)
    model = Model()
    running: list[Replica] = []

    async def find(_: str) -> set[str]:
        """Answer late: without replicas that have just come, with some that have just gone."""
        chosen = chance.sample(running, chance.randint(1, len(running)))
        return {replica.address for replica in chosen} | set(gone[-chance.randint(1, 2) :])

    monkeypatch.setattr(replicas_module, "find_addresses", find)
    gone: list[str] = []

    async def join(databases: Sequence[mongo.Database]) -> None:
        replica = Replica(chance.choice(databases), is_earlier=chance.random() < 0.3)
        await replica.start()
        running.append(replica)

    async def change(databases: Sequence[mongo.Database]) -> None:
        """Start, kill or damage a replica."""
        match chance.randrange(4):
            case 0 if len(running) < 4:
                await join(databases)
            case 1 if len(running) > 1:
                replica = running.pop(chance.randrange(len(running)))
                gone.append(replica.address)
                await replica.kill()
            case 2:
                chance.choice(running).faulty.arm(chance.randint(0, 3), done=chance.random() < 0.5)

    async def gateway(name: str, databases: Sequence[mongo.Database], *, is_divided: bool) -> None:
        client = AnalyticsClient(TARGET if is_divided else running[0].address)
        for number in range(1, 7):
            batch = random_batch(chance, name, number, is_divided=is_divided)
            model.apply(to_counted(batch))
            while True:
                try:
                    sending = asyncio.create_task(client.record(batch))
                    await change(databases)
                    await sending
                    break
                except AppError:
                    for replica in running:
                        replica.faulty.disarm()
                    if not is_divided:
                        await client.close()
                        client = AnalyticsClient(chance.choice(running).address)
        await client.close()

    async with open_replicas(mongo_server, 3) as databases:
        await join(databases)
        await join(databases)
        gateways = [partial(gateway, f"gateway-{n}", databases, is_divided=n > 0) for n in range(4)]
        await asyncio.gather(*(send() for send in gateways))
        for replica in running:
            await replica.kill()
        await model.check(mongo_store.MongoStore(databases[0]), CODES, range(DAY, DAY + 2))
