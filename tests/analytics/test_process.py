"""The analytics service as a process, called over gRPC."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from atajo.analytics.v1 import analytics_pb2 as pb
from atajo.analytics.v1 import analytics_pb2_grpc as pb_grpc
from services.shared.errors import InvalidArgument, Unavailable
from services.shared.rpc import channels, client
from tests.support.processes import Process

ADMIN = pb.DESCRIPTOR.services_by_name["AdminService"]
SERVICE = pb.DESCRIPTOR.services_by_name["AnalyticsService"]
PERSON, BOT = pb.VISIT_KIND_PERSON, pb.VISIT_KIND_BOT
DAY = 20_513
HOUR = DAY * 24


class Analytics:
    """The calls of one analytics process, as the gateway makes them."""

    def __init__(self, stub: pb_grpc.AnalyticsServiceAsyncStub) -> None:
        self._stub = stub
        self._caller = client.Caller(SERVICE)

    async def record(self, gateway: str, number: int, *visits: pb.VisitCount) -> bool:
        request = pb.RecordVisitsRequest(gateway_id=gateway, batch_number=number, visits=visits)
        reply = await self._caller.unary("RecordVisits", self._stub.RecordVisits, request, 20)
        return reply.applied

    async def totals(self, *codes: str) -> dict[str, tuple[int, int]]:
        request = pb.GetTotalsRequest(codes=codes)
        reply = await self._caller.unary("GetTotals", self._stub.GetTotals, request, 20)
        return {code: (totals.people, totals.bots) for code, totals in reply.totals.items()}

    async def statistics(self, *codes: str, **fields: Any) -> pb.GetStatisticsResponse:
        """Return statistics of two days, unless `fields` request another period."""
        if not {"recent", "dates"} & fields.keys():
            fields["dates"] = date_range("2026-03-01", "2026-03-02")
        request = pb.GetStatisticsRequest(codes=codes, **{"timezone": "UTC", **fields})
        return await self._caller.unary("GetStatistics", self._stub.GetStatistics, request, 20)

    async def send(self, request: pb.RecordVisitsRequest) -> bool:
        reply = await self._caller.unary("RecordVisits", self._stub.RecordVisits, request, 20)
        return reply.applied

    async def record_lanes(self, *batches: pb.RecordVisitsRequest) -> None:
        lanes = [pb.Lane(number=number, batch=batch) for number, batch in enumerate(batches, 1)]
        request = pb.RecordLanesRequest(lanes=lanes)
        await self._caller.unary("RecordLanes", self._stub.RecordLanes, request, 20)

    async def key(self) -> pb.GetVisitorKeyResponse:
        request = pb.GetVisitorKeyRequest()
        return await self._caller.unary("GetVisitorKey", self._stub.GetVisitorKey, request, 20)


def date_range(first: str, last: str) -> pb.Dates:
    return pb.Dates(**{"from": first, "to": last})


@asynccontextmanager
async def connect(process: Process) -> AsyncIterator[Analytics]:
    async with channels.open_channel(process.grpc, SERVICE) as channel:
        yield Analytics(pb_grpc.AnalyticsServiceStub(channel))


def start(folder: Path) -> Process:
    env = {"ATAJO_STORE": f"sqlite:///{folder}/analytics.db"}
    return Process.start("services.analytics", env, folder / "log")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A process that is shared by all tests in this file that do not stop it."""
    with start(tmp_path_factory.mktemp("analytics")) as process:
        yield process
        assert process.stop() == 0


@pytest.fixture
async def analytics(process: Process) -> AsyncIterator[Analytics]:
    async with connect(process) as analytics:
        yield analytics


def visit(
    code: str,
    kind: pb.VisitKind.ValueType = PERSON,
    hour: int = HOUR,
    host: str = "",
    count: int = 1,
    names: Sequence[pb.Name] = (),
) -> pb.VisitCount:
    return pb.VisitCount(
        code=code, hour=hour, kind=kind, referrer_host=host, count=count, names=names
    )


def breakdown(
    statistics: pb.GetStatisticsResponse, dimension: pb.Dimension.ValueType
) -> list[tuple[str, int]]:
    """Return people by name in one dimension."""
    (found,) = (each for each in statistics.breakdowns if each.dimension == dimension)
    return [(each.name, each.people) for each in found.names]


def name(dimension: pb.Dimension.ValueType, text: str) -> pb.Name:
    return pb.Name(dimension=dimension, name=text)


async def test_visitors_are_counted_once_per_day(analytics: Analytics) -> None:
    request = pb.RecordVisitsRequest(
        gateway_id="apart", batch_number=1, visits=[visit("apart---", count=9)]
    )
    request.visitors.add(code="apart---", day=DAY, numbers=[1 << 20, 2 << 20, 2 << 20])
    for number, applied in ((1, True), (1, False), (2, True)):
        request.batch_number = number
        assert await analytics.send(request) == applied
    found = await analytics.statistics("apart---", dates=date_range("2026-02-20", "2026-03-01"))
    assert found.totals == pb.Figures(people=18, visitors=2)
    assert [step.visitors for step in found.series] == [0] * 9 + [2]

    request.batch_number = 3
    request.visitors.add(code="apart---", day=DAY, numbers=[1])
    with pytest.raises(InvalidArgument) as rejected:
        await analytics.send(request)
    assert rejected.value.reason == "INVALID_BATCH"


async def test_a_visitor_key_survives_the_process(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        with start(tmp_path) as process:
            async with connect(process) as analytics:
                keys += [await analytics.key() for _ in range(2)]
            process.kill()
    assert len(keys[0].key) == 32
    if len({key.day for key in keys}) == 1:  # Unless midnight has passed.
        assert len({key.key for key in keys}) == 1


async def test_names_of_a_visit_are_read_back_by_dimension(analytics: Analytics) -> None:
    row = visit("names---", host="a.example")
    row.names.append(name(pb.DIMENSION_BROWSER, "Firefox"))
    row.names.append(name(pb.DIMENSION_COUNTRY, ""))
    assert await analytics.record("names", 1, row)

    found = await analytics.statistics("names---")
    assert breakdown(found, pb.DIMENSION_REFERRER) == [("a.example", 1)]
    assert breakdown(found, pb.DIMENSION_BROWSER) == [("Firefox", 1)]
    assert breakdown(found, pb.DIMENSION_COUNTRY) == [("", 1)]


async def test_rows_marked_as_alike_share_the_values_of_the_first(analytics: Analytics) -> None:
    chrome = [name(pb.DIMENSION_BROWSER, "Chrome")]
    first = visit("alike-01", hour=HOUR + 3, host="a.example", names=chrome)
    other = visit("alike-02", BOT, count=2)
    first.alike, other.alike = 1, 2
    request = pb.RecordVisitsRequest(gateway_id="alike", batch_number=1)
    request.visits.extend(
        [
            first,
            other,
            pb.VisitCount(code="alike-03", count=3, alike=1),
            pb.VisitCount(code="alike-01", count=4, alike=2),
            visit("alike-03", host="b.example"),
        ]
    )
    assert await analytics.send(request)

    assert await analytics.totals("alike-01", "alike-02", "alike-03") == {
        "alike-01": (1, 4),
        "alike-02": (0, 2),
        "alike-03": (4, 0),
    }
    found = await analytics.statistics("alike-03", dates=date_range("2026-03-01", "2026-03-01"))
    by_hour = [step.people for step in found.series]
    assert {n: people for n, people in enumerate(by_hour) if people} == {0: 1, 3: 3}
    assert breakdown(found, pb.DIMENSION_BROWSER) == [("Chrome", 3), ("", 1)]
    assert breakdown(found, pb.DIMENSION_REFERRER) == [("a.example", 3), ("b.example", 1)]


async def test_metrics_do_not_count_resends(process: Process, analytics: Analytics) -> None:
    visits, batches = "atajo_visits_counted", "atajo_visit_batches_applied"
    before = read_counter(process, visits), read_counter(process, batches)
    for _ in range(3):
        await analytics.record("metric", 1, visit("metric--", count=5), visit("metric--", BOT))
    with pytest.raises(InvalidArgument):
        await analytics.record("metric", 2, visit("no code"))

    assert read_counter(process, visits) - before[0] == Counter(person=5, bot=1)
    assert read_counter(process, batches) - before[1] == Counter(applied=1, repeated=2, refused=1)


async def test_nothing_of_a_call_with_an_invalid_lane_is_counted(analytics: Analytics) -> None:
    def batch(gateway: str, code: str) -> pb.RecordVisitsRequest:
        return pb.RecordVisitsRequest(gateway_id=gateway, batch_number=1, visits=[visit(code)])

    with pytest.raises(InvalidArgument) as refused:
        await analytics.record_lanes(batch("lanes-1", "lanes---"), batch("lanes-2", "no code"))
    assert refused.value.reason == "INVALID_BATCH"
    assert await analytics.totals("lanes---") == {}
    await analytics.record_lanes(batch("lanes-1", "lanes---"), batch("lanes-2", "lanes---"))
    assert await analytics.totals("lanes---") == {"lanes---": (2, 0)}


UNKNOWN_FIELD = b"\xb8\x06\x01"
"""An encoded field with the number 103."""


def of_later_version(encoded: bytes) -> pb.RecordVisitsRequest:
    """Return a batch with a visit that has something that only a later version knows."""
    later = pb.VisitCount.FromString(visit("later---").SerializeToString() + encoded)
    return pb.RecordVisitsRequest(visits=[later])


@pytest.mark.parametrize(
    "later",
    [
        of_later_version(b"\x18\x63"),
        of_later_version(visit("", names=[name(99, "x")]).SerializeToString()),  # type: ignore[arg-type]
        of_later_version(UNKNOWN_FIELD),
        of_later_version(b"\x32\x03" + UNKNOWN_FIELD),
        pb.RecordVisitsRequest(visitors=[pb.Visitors.FromString(UNKNOWN_FIELD)]),
        pb.RecordVisitsRequest.FromString(UNKNOWN_FIELD),
    ],
    ids=["kind", "dimension", "field", "field of name", "field of visitors", "field of batch"],
)
async def test_a_batch_of_a_later_version_waits_for_one_that_knows_it(
    process: Process, analytics: Analytics, later: pb.RecordVisitsRequest
) -> None:
    """Nothing of it is counted, so a later version counts all of it, under the same number."""
    gateway = later.SerializeToString().hex()
    before = read_counter(process, "atajo_visit_batches_applied")
    [counted] = (await analytics.totals("known---") or {"known---": (0, 0)}).values()
    batch = pb.RecordVisitsRequest(gateway_id=gateway, batch_number=1, visits=[visit("known---")])
    batch.MergeFrom(later)
    with pytest.raises(Unavailable) as deferred:
        await analytics.send(batch)
    assert deferred.value.reason == "LATER_VERSION"
    assert await analytics.totals("known---", "later---") in ({}, {"known---": counted})
    deferrals = (read_counter(process, "atajo_visit_batches_applied") - before)["deferred"]
    assert deferrals >= 1, "gRPC may have asked again"

    # Nor is anything of the other lanes that come with it.
    lane = pb.RecordVisitsRequest(gateway_id=f"{gateway}-1", batch_number=1)
    lane.visits.append(visit("known---"))
    with pytest.raises(Unavailable) as deferred:
        await analytics.record_lanes(lane, batch)
    assert deferred.value.reason == "LATER_VERSION"
    assert await analytics.totals("known---", "later---") in ({}, {"known---": counted})

    # Batches of others are counted meanwhile, and so is this one by who knows it all.
    assert await analytics.record(f"{gateway}-other", 1, visit("known---"))
    assert await analytics.record(gateway, 1, visit("known---"))
    people, bots = counted
    assert await analytics.totals("known---") == {"known---": (people + 2, bots)}


@pytest.mark.parametrize(
    "bad",
    [
        visit("readback", pb.VISIT_KIND_UNSPECIFIED),
        visit("register/"),
        visit("readback", hour=-1),
        visit("readback", count=0),
        visit("readback", host="a\x00"),
        visit("readback", host="a", names=[name(pb.DIMENSION_REFERRER, "b")]),
        visit("readback", names=[name(pb.DIMENSION_BROWSER, "a\n")]),
    ],
    ids=["no kind", "code", "hour", "count", "host", "two hosts", "name"],
)
async def test_a_batch_with_an_invalid_row_is_rejected(
    analytics: Analytics, bad: pb.VisitCount
) -> None:
    with pytest.raises(InvalidArgument) as rejected:
        await analytics.record("bad", 1, visit("bad-row-"), bad)
    assert rejected.value.reason == "INVALID_BATCH"
    assert await analytics.totals("bad-row-") == {}


async def test_changed_totals_are_listed_after_a_cursor(
    process: Process, analytics: Analytics
) -> None:
    calls = client.Caller(ADMIN)
    async with channels.open_channel(process.addresses["admin"], ADMIN) as channel:
        stub = pb_grpc.AdminServiceStub(channel)

        async def changed_totals(cursor: str | None) -> pb.ListVisitedResponse:
            request = pb.ListVisitedRequest(cursor=cursor)
            return await calls.unary("ListVisited", stub.ListVisited, request, 20)

        start = await changed_totals(None)
        assert not start.totals
        assert not start.more
        assert not start.truncated
        await analytics.record("changes", 1, visit("chg--one", count=2), visit("chg--one", BOT))
        await analytics.record("changes", 2, visit("chg--two"), visit("chg--one"))
        page = await changed_totals(start.cursor)
        assert dict(page.totals) == {
            "chg--one": pb.Totals(people=3, bots=1),
            "chg--two": pb.Totals(people=1),
        }
        assert not page.more
        assert not page.truncated
        assert not (await changed_totals(page.cursor)).totals

        max_count = 1_000_000_000
        codes = {f"chgd{n:028}" for n in range(20_000)}
        await analytics.record("changes", 3, *(visit(code, count=max_count) for code in codes))
        found: set[str] = set()
        page = pb.ListVisitedResponse(cursor=page.cursor, more=True)
        while page.more:
            page = await changed_totals(page.cursor)
            assert page.ByteSize() < 1 << 20
            assert {totals.people for totals in page.totals.values()} == {max_count}
            found |= page.totals.keys()
        assert found == codes
        # An unknown cursor, as after a restore to an earlier state.
        truncated = await changed_totals("99999999999999999999")
        assert truncated == pb.ListVisitedResponse(cursor=truncated.cursor, truncated=True)


async def test_a_batch_can_be_resent_when_the_store_is_available_again(
    tmp_path: Path,
) -> None:
    with start(tmp_path) as process:
        async with connect(process) as analytics:
            other = sqlite3.connect(tmp_path / "analytics.db", isolation_level=None)
            other.execute("ALTER TABLE totals RENAME TO away")
            with pytest.raises(Unavailable) as unavailable:
                await analytics.record("gateway", 1, visit("abcdefgh"))
            assert unavailable.value.reason == "STORE_UNAVAILABLE"
            other.execute("ALTER TABLE away RENAME TO totals")
            other.close()

            assert await analytics.record("gateway", 1, visit("abcdefgh"))
            assert await analytics.totals("abcdefgh") == {"abcdefgh": (1, 0)}


async def test_after_a_kill_all_batches_of_two_hundred_gateways_count_once(
    tmp_path: Path,
) -> None:
    gateways = [f"gw{n:06}" for n in range(200)]
    acknowledged: Counter[str] = Counter()
    enough = asyncio.Event()

    def batch(gateway: str) -> tuple[pb.VisitCount, pb.VisitCount, pb.VisitCount]:
        # One link per gateway, with the gateway's id as its code, and one that all share.
        return visit(gateway, count=3), visit("hot-link", host="a.example"), visit("hot-link", BOT)

    async def run(analytics: Analytics, gateway: str) -> None:
        while True:
            try:
                number = acknowledged[gateway] + 1
                assert await analytics.record(gateway, number, *batch(gateway))
            except Unavailable:
                return
            acknowledged[gateway] += 1
            if acknowledged.total() >= 1000:
                enough.set()

    with start(tmp_path) as process:
        async with connect(process) as analytics:
            running = [asyncio.create_task(run(analytics, gateway)) for gateway in gateways]
            await enough.wait()
            process.kill()
            await asyncio.gather(*running)

    with start(tmp_path) as process:
        async with connect(process) as analytics:
            found = await analytics.totals(*gateways)
            for gateway in gateways:
                people, _ = found.get(gateway, (0, 0))
                # The last batch may be stored although its response was lost, but never half of it.
                assert people in (3 * acknowledged[gateway], 3 * acknowledged[gateway] + 3)

            for gateway in gateways:
                last = acknowledged[gateway]
                if last:
                    assert not await analytics.record(gateway, last, *batch(gateway))
                await analytics.record(gateway, last + 1, *batch(gateway))
                assert not await analytics.record(gateway, last + 1, *batch(gateway))

            batches = acknowledged.total() + len(gateways)
            assert await analytics.totals(*gateways) == {
                gateway: (3 * acknowledged[gateway] + 3, 0) for gateway in gateways
            }
            assert await analytics.totals("hot-link") == {"hot-link": (batches, batches)}
            hot = await analytics.statistics("hot-link")
            assert hot.totals == pb.Figures(people=batches, bots=batches)
            assert breakdown(hot, pb.DIMENSION_REFERRER) == [("a.example", batches)]


def read_counter(process: Process, counter: str) -> Counter[str]:
    """Return the values of a counter by its only label, as exported to Prometheus."""
    with urllib.request.urlopen(f"http://{process.addresses['metrics']}/metrics") as response:
        text = response.read().decode()
    rows = re.findall(rf'^{counter}_total{{\w+="(\w+)"}} (\S+)$', text, re.MULTILINE)
    return Counter({value: int(float(count)) for value, count in rows})
