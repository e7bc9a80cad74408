"""The contract of both analytics stores."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.analytics.__main__ import STORE_FACTORIES
from services.analytics.application import day_reader, link_maintenance
from services.analytics.application import store as stores
from services.analytics.application.ports import NameDetail
from services.analytics.application.records import pack_counts
from services.analytics.application.store import AnalyticsStore
from services.analytics.domain.batches import Batch
from services.analytics.domain.name_admission import MAX_NAMES
from services.analytics.domain.visits import (
    Day,
    Dimension,
    Totals,
    VisitCount,
    VisitKind,
    utc_day,
)
from services.analytics.storage.mongo import store as mongo_store
from services.shared import sqlite
from tests.analytics.cases import (
    BOT,
    CODE,
    DAY,
    HOUR,
    NOW,
    REFERRER,
    DecodedDay,
    Model,
    Opened,
    add_up,
    changed_codes,
    count_unreadable,
    current_cursor,
    damage,
    get_database,
    maintain_all,
    read_days,
    stored_codes,
    visit,
    with_database,
)
from tests.support.crashing_database import Crash, CrashingDatabase
from tests.support.store_fixtures import open_stores_at


async def test_concurrent_resends_count_once(opened: Opened) -> None:
    visits = (visit(count=3), visit("other---", host="a.example"))
    async with opened() as store:
        for number in (1, 2):  # First to new links, then to existing ones.
            batch = Batch("one", number, visits)
            applied = await asyncio.gather(*(store.apply(batch, NOW) for _ in range(50)))

            assert applied.count(True) == 1
            assert await store.totals([CODE, "other---"]) == {
                CODE: Totals(3 * number, 0),
                "other---": Totals(number, 0),
            }


async def test_concurrent_batches_of_many_gateways_all_count(opened: Opened) -> None:
    batches = [Batch(f"g{n}", 1, (visit(host="a.example"), visit(kind=BOT))) for n in range(50)]
    async with opened() as store:
        assert all(await asyncio.gather(*(store.apply(batch, NOW) for batch in batches)))

        assert await store.totals([CODE]) == {CODE: Totals(50, 50)}
        assert await read_days(store, CODE, DAY, DAY) == [
            DecodedDay(DAY, {0: 50}, {0: 50}, {REFERRER: {"a.example": 50}}, 0)
        ]


async def test_visits_to_all_links_are_counted_by_day_exactly_once(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each gateway's record has its visits of the current and the previous day."""
    monkeypatch.setattr(mongo_store.MongoStore, "codes_per_transaction", 1)
    async with opened() as store:
        today = utc_day(NOW)
        days = [today - 2, today - 1, today]
        hours = [day * 24 for day in days]
        assert await store.visits_on(days) == [0, 0, 0]
        visits = (
            *(visit(hour=hour, count=2) for hour in hours),
            *(visit("other---", hour=hour, kind=BOT) for hour in hours),
        )
        for gateway in ("one", "two"):
            batch = Batch(gateway, 1, visits)
            await asyncio.gather(*(store.apply(batch, NOW) for _ in range(5)))
        assert await store.visits_on(days) == [0, 6, 6]
        await store.apply(Batch("one", 2, (visit(hour=hours[1] + 23, count=10),)), NOW)
        assert await store.visits_on(days) == [0, 16, 6]
        tomorrow = NOW + timedelta(days=1)
        await store.apply(Batch("one", 3, (visit(hour=hours[2] + 24),)), tomorrow)
        assert await store.visits_on([today, today + 1]) == [6, 1]
        await store.remove([CODE])
        assert await store.visits_on([today]) == [6]


async def test_a_batch_that_cannot_be_stored_does_not_fail_concurrent_ones(opened: Opened) -> None:
    async with opened() as store:
        batches = [Batch(f"gateway {n}", 1, (visit(f"code{n:04}"),)) for n in range(12)]
        for unstorable in (5, 6, 11):
            batches[unstorable] = Batch("unstorable", 1, (visit("unstored", count=2**70),))
        applied = await asyncio.gather(
            *(store.apply(batch, NOW) for batch in batches), return_exceptions=True
        )
        stored = [n for n, result in enumerate(applied) if result is True]
        assert stored == [0, 1, 2, 3, 4, 7, 8, 9, 10]
        assert {type(applied[n]) for n in (5, 6, 11)} == {OverflowError}
        codes = [f"code{n:04}" for n in stored]
        found = await store.totals([*codes, "unstored"])
        assert found == dict.fromkeys(codes, Totals(1, 0))


async def test_an_unreadable_day_is_left_out_and_set_aside(opened: Opened) -> None:
    days = range(DAY, DAY + 40)
    visits = [visit(code, 24 * day) for code in (CODE, "other---") for day in days]
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        for values in ({"counts": b"\xc1"}, {"counts": "text"}):
            await damage(store, "days", CODE, **values)
            before = count_unreadable("day")
            assert await read_days(store, CODE, days[0], days[-1]) == []
            assert count_unreadable("day") == before + 40
        both = await add_up(store, [CODE, "other---"], days[0], days[-1])
        assert sum(both.people.values()) == 40, "other links are read"
        assert await store.totals([CODE]) == {CODE: Totals(40, 0)}

        # A visit to such a day is counted, and so are the others of its batch.
        late = (visit(CODE, 24 * days[0], count=3), visit("other---", 24 * days[0], count=5))
        assert await store.apply(Batch("one", 2, late), NOW)
        assert [day.people for day in await read_days(store, CODE, DAY, DAY + 39)] == [{0: 3}]
        assert await store.totals([CODE, "other---"]) == {
            CODE: Totals(43, 0),
            "other---": Totals(45, 0),
        }
        assert await stored_codes(store, "unreadable_days") == {CODE}

        # Maintenance reaches the last link, and sets the rest aside.
        assert await maintain_all(store, days[-1] + 100) == 0
        before = count_unreadable("day")
        for names in NameDetail:
            sums = await add_up(store, [CODE, "other---"], days[0], days[-1], names)
            assert sum(sums.people.values()) == 48
        assert await maintain_all(store, days[-1] + 100, days[-1]) == 78
        assert count_unreadable("day") == before
        assert await stored_codes(store, "days") == {"other---"}

        await store.remove([CODE])
        assert await stored_codes(store, "unreadable_days") == set()


@pytest.mark.parametrize(
    "values", [{"days": b"\xc1"}, {"days": b"\x92\x00\xce\xff\xff\xff\xff"}, {"revision": "text"}]
)
async def test_unreadable_totals_are_restored_from_days(
    opened: Opened, values: dict[str, Any]
) -> None:
    visits = [visit(code, 24 * (DAY + n)) for code in (CODE, "other---") for n in range(3)]
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        await damage(store, "totals", CODE, **values)
        before = count_unreadable("totals")
        assert await store.totals([CODE, "other---"]) == {"other---": Totals(3, 0)}
        assert await read_days(store, CODE, DAY, DAY + 2) == []
        assert count_unreadable("totals") == before + 2

        await maintain_all(store, DAY)
        assert await store.totals([CODE]) == {CODE: Totals(3, 0)}
        assert len(await read_days(store, CODE, DAY, DAY + 2)) == 3
        assert await stored_codes(store, "unreadable_totals") == {CODE}

        await damage(store, "totals", CODE, **values)
        assert await store.apply(Batch("one", 2, (visit(CODE), visit("other---"))), NOW)
        both = await store.totals([CODE, "other---"])
        assert both == dict.fromkeys((CODE, "other---"), Totals(4, 0))

        await damage(store, "totals", CODE, **values)
        await store.remove([CODE])
        for table in ("totals", "days"):
            assert await stored_codes(store, table) == {"other---"}
        assert await stored_codes(store, "unreadable_totals") == set()


async def test_days_set_aside_are_deleted_without_readable_totals(opened: Opened) -> None:
    days = range(DAY, DAY + 40)
    async with opened() as store:

        async def lose() -> None:
            """Make all days and then the totals of a link unreadable."""
            await damage(store, "days", CODE, counts=b"\xc1")
            await maintain_all(store, days[-1] + 100)
            assert await stored_codes(store, "days") == set()
            assert await stored_codes(store, "unreadable_days") == {CODE}
            await damage(store, "totals", CODE, days=b"\xc1")

        visits = tuple(visit(CODE, 24 * day) for day in days)
        await store.apply(Batch("one", 1, visits), NOW)
        await lose()
        assert await maintain_all(store, days[-1] + 100, days[-1] + 1) == 40
        assert await stored_codes(store, "unreadable_days") == set()

        await store.apply(Batch("one", 2, visits), NOW)
        await lose()
        await store.remove([CODE])
        assert await stored_codes(store, "unreadable_days") == set()


async def test_maintenance_skips_totals_that_cannot_be_restored(opened: Opened) -> None:
    visits = [visit(code, 24 * (DAY + n)) for code in (CODE, "other---") for n in range(3)]
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        await damage(store, "days", CODE, counts=pack_counts(({0: 2**63}, {}, {})))
        await damage(store, "totals", CODE, people="text")
        assert await maintain_all(store, DAY + 100, DAY + 3) == 3
        assert await stored_codes(store, "days") == {CODE}
        await store.remove([CODE])


async def test_a_fault_of_the_program_ends_maintenance(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AttributeError("no such attribute")

    monkeypatch.setattr(link_maintenance, "run_next_task", fail)
    async with opened() as store:
        await store.apply(Batch("one", 1, (visit(),)), NOW)
        before = count_unreadable("totals")
        with pytest.raises(AttributeError):
            await maintain_all(store, DAY + 100, DAY + 1)
        assert count_unreadable("totals") == before


async def test_the_days_of_an_unreadable_aggregate_are_read(opened: Opened) -> None:
    visits = tuple(visit(hour=24 * (DAY + n), host="a.example") for n in range(64))
    async with opened() as store:
        await store.apply(Batch("one", 1, visits), NOW)
        await maintain_all(store, DAY + 100)
        before = await add_up(store, [CODE], DAY, DAY + 63)
        await damage(store, "aggregates", CODE, packed=b"\xc1")
        unreadable = count_unreadable("aggregate")
        assert await add_up(store, [CODE], DAY, DAY + 63) == before
        assert count_unreadable("aggregate") > unreadable
        await store.remove([CODE])


async def test_each_dimension_has_its_own_breakdown(opened: Opened) -> None:
    known = {
        dimension: f"the {dimension.name}" for dimension in Dimension if dimension is not REFERRER
    }
    visits = (
        visit(host="a.example", count=2, others=known),
        visit(others={Dimension.DEVICE: "the DEVICE", Dimension.BROWSER: "another"}),
        visit(others={Dimension.DEVICE: "", Dimension.LANGUAGE: "*"}),
        visit(kind=BOT, others={Dimension.DEVICE: "bot", Dimension.COUNTRY: "CL"}),
    )
    async with opened() as store:
        for number in (1, 2):  # First to a new day, then to an existing one.
            assert await store.apply(Batch("one", number, visits), NOW)
        assert not await store.apply(Batch("one", 2, visits), NOW)

        (day,) = await read_days(store, CODE, DAY, DAY)
        assert day.people == {0: 8}
        assert day.breakdowns == {
            REFERRER: {"a.example": 4},
            Dimension.DEVICE: {"the DEVICE": 6},
            Dimension.BROWSER: {"the BROWSER": 4, "another": 2},
            Dimension.SYSTEM: {"the SYSTEM": 4},
            Dimension.LANGUAGE: {"the LANGUAGE": 4, "*": 2},
            Dimension.COUNTRY: {"the COUNTRY": 4},
            Dimension.SOURCE: {"the SOURCE": 4},
        }


async def test_a_full_dimension_does_not_affect_the_others(opened: Opened) -> None:
    async with opened() as store:
        hosts = tuple(visit(host=f"h{n}.example") for n in range(MAX_NAMES + 1))
        await store.apply(Batch("one", 1, hosts), NOW)
        await store.apply(
            Batch("one", 2, (visit(host="new", others={Dimension.BROWSER: "new"}),)), NOW
        )

        (day,) = await read_days(store, CODE, DAY, DAY)
        assert len(day.breakdowns[REFERRER]) == MAX_NAMES + 1
        assert sum(day.breakdowns[REFERRER].values()) == MAX_NAMES + 2
        assert day.breakdowns[Dimension.BROWSER] == {"new": 1}


def count_unstored_referrers() -> float:
    """Return the people counted without their referrer's name since this process started."""
    labels = {"dimension": "referrer"}
    return REGISTRY.get_sample_value("atajo_visit_names_gathered_total", labels) or 0


async def test_a_day_has_at_most_one_hundred_referrers(opened: Opened) -> None:
    first = tuple(visit(host=f"h{n}.example") for n in range(MAX_NAMES - 1))
    strangers = tuple(visit(host=f"x{n}.example", count=2) for n in range(MAX_NAMES + 1))
    before = count_unstored_referrers()
    async with opened() as store:
        await store.apply(Batch("one", 1, first), NOW)
        await store.apply(Batch("two", 1, strangers), NOW)
        await store.apply(Batch("two", 2, (visit(host="h0.example"), visit(host="new"))), NOW)
        await store.apply(Batch("two", 3, (visit(hour=HOUR + 24, host="new"),)), NOW)

        today, tomorrow = await read_days(store, CODE, DAY, DAY + 1)
        named = dict(today.breakdowns[REFERRER])
        assert named.pop("*") == count_unstored_referrers() - before
        assert len(named) == MAX_NAMES
        people = sum(today.breakdowns[REFERRER].values())
        assert today.people == {0: people}
        assert people == (MAX_NAMES - 1) + 2 * (MAX_NAMES + 1) + 2
        assert tomorrow.breakdowns == {REFERRER: {"new": 1}}


async def test_referrers_are_stored_literally(opened: Opened) -> None:
    hosts = ("a.b.c", "$set", "a.$b", "*", "'; DROP TABLE totals", "ñ.example")
    async with opened() as store:
        for number in (1, 2):
            await store.apply(Batch("one", number, tuple(visit(host=host) for host in hosts)), NOW)

        (day,) = await read_days(store, CODE, DAY, DAY)
        assert day.breakdowns[REFERRER] == dict.fromkeys(hosts, 2)


async def test_visits_after_a_removal_count_from_zero(
    opened: Opened,
) -> None:
    # Two days with a gap, and one in the far future.
    hours_visited = (HOUR, HOUR + 23, HOUR + 48, HOUR + 24 * 1_000_000)
    visits = [
        visit(code, hour, host="a.example") for code in (CODE, "other---") for hour in hours_visited
    ]
    async with opened() as store:
        await store.apply(Batch("one", 1, (*visits, visit(kind=BOT))), NOW)
        others = await read_days(store, "other---", DAY, DAY + 2)

        for _ in range(2):
            await store.remove([CODE, "nobody--"])

            assert await store.totals([CODE, "other---"]) == {"other---": Totals(4, 0)}
            assert await read_days(store, CODE, DAY, DAY + 2) == []
            assert await read_days(store, CODE, DAY + 1_000_000, DAY + 1_000_000) == []
            assert await read_days(store, "other---", DAY, DAY + 2) == others

        assert not await store.apply(Batch("one", 1, (visit(),)), NOW)
        assert await store.apply(Batch("one", 2, (visit(host="a.example"),)), NOW)
        assert await store.totals([CODE]) == {CODE: Totals(1, 0)}
        assert await read_days(store, CODE, DAY, DAY + 2) == [
            DecodedDay(DAY, {0: 1}, {}, {REFERRER: {"a.example": 1}}, 0)
        ]


async def test_days_of_many_links_are_read_in_one_call(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_CODES_PER_READ", 10)
    codes = [f"code{n:04}" for n in range(32)]
    visits = [visit(code, HOUR + 24 * (n % 3), count=n + 1) for n, code in enumerate(codes)]
    visits += [visit("busy----", HOUR + 24 * n) for n in range(3)]
    found: list[tuple[str, int, int]] = []

    def on_day(code: str, day: Day) -> None:
        found.append((code, day.day, day.people))

    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        requested = [*codes[2:], "busy----", "nobody--"]
        await store.read_days(requested, DAY, DAY + 1, on_day, NameDetail.PER_DAY)

    expected = [(codes[n], DAY + n % 3, n + 1) for n in range(2, 32) if n % 3 < 2]
    expected += [("busy----", DAY, 1), ("busy----", DAY + 1, 1)]
    assert sorted(found) == sorted(expected)


async def test_the_first_day_is_the_earliest_of_all_links(opened: Opened) -> None:
    visits = (visit(hour=HOUR + 72), visit("other---", hour=HOUR + 48, kind=BOT))
    async with opened() as store:
        assert await store.first_day([CODE]) is None
        await store.apply(Batch("one", 1, visits), NOW)
        assert await store.first_day([CODE, "nobody--"]) == DAY + 3
        assert await store.first_day([CODE, "other---"]) == DAY + 2
        await store.apply(Batch("one", 2, (visit(),)), NOW)
        assert await store.first_day([CODE, "other---"]) == DAY
        assert await store.first_day([]) is None


async def test_a_day_has_one_key_until_it_is_over(opened: Opened) -> None:
    first, second, third = (bytes([n] * 32) for n in (1, 2, 3))
    async with opened() as store:
        assert await store.delete_visitor_keys(DAY) == 0
        keys = await asyncio.gather(
            *(store.visitor_key(DAY, bytes([n] * 32)) for n in range(10, 30))
        )
        assert len({*keys}) == 1
        assert await store.visitor_key(DAY + 1, first) == first
        assert await store.delete_visitor_keys(DAY) == 0
        assert await store.visitor_key(DAY, second) == keys[0]

        assert await store.delete_visitor_keys(DAY + 1) == 1
        assert await store.delete_visitor_keys(DAY + 1) == 0
        assert await store.visitor_key(DAY + 1, second) == first
        assert await store.visitor_key(DAY, third) == third, "a clock was set back"
        assert await store.delete_visitor_keys(DAY + 2) == 2


async def test_keys_of_future_days_are_deleted(opened: Opened) -> None:
    async with opened() as store:
        for day in (DAY, DAY + 1, DAY + 2, DAY + 3650):
            await store.visitor_key(day, bytes([1] * 32))
        assert await store.delete_visitor_keys(DAY) == 2
        assert await store.visitor_key(DAY, bytes([2] * 32)) == bytes([1] * 32)
        assert await store.visitor_key(DAY + 1, bytes([2] * 32)) == bytes([1] * 32)
        assert await store.visitor_key(DAY + 3650, bytes([2] * 32)) == bytes([2] * 32)


async def test_deleting_days_does_not_change_totals_and_later_days(opened: Opened) -> None:
    visits = [visit(code, HOUR + 24 * n) for code in (CODE, "other---") for n in range(40)]
    visits.append(visit("early---"))
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        await maintain_all(store, DAY + 1000)
        totals = await store.totals([CODE, "other---", "early---"])
        remaining = await add_up(store, [CODE], DAY + 31, DAY + 100)

        assert await maintain_all(store, DAY, DAY) == 0
        assert await maintain_all(store, DAY, DAY + 31) == 2 * 31 + 1
        assert await maintain_all(store, DAY, DAY + 31) == 0
        assert await store.totals([CODE, "other---", "early---"]) == totals
        assert await store.first_day([CODE, "other---", "early---"]) == DAY + 31
        assert await store.first_day(["early---"]) is None
        assert await add_up(store, [CODE], 0, DAY + 100) == remaining
        await store.apply(Batch("one", 2, (visit(), visit("early---"))), NOW)
        assert await store.first_day([CODE]) == await store.first_day(["early---"]) == DAY
        assert await maintain_all(store, DAY, DAY + 1) == 2


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_aggregation_does_not_change_sums(opened: Opened, data: st.DataObject) -> None:
    """Regardless of when maintenance runs, of late visits, and of deleted and removed days."""
    codes = ("busy----", "seldom--")
    steps = st.sampled_from(["maintain", "maintain", "remove", "delete"])
    # Most days of about four blocks.
    days_strategy = st.lists(st.integers(0, 110), min_size=60, max_size=100)

    def batch(number: int, days: Iterable[int]) -> Batch:
        visits = []
        visitors = {}
        for n, day in enumerate(days):
            for code in codes[: 1 + (n % 9 == 0)]:
                host = f"h{n % 7}.example"
                visits.append(visit(code, HOUR + day * 24 + n % 24, host=host, count=1 + n % 3))
                visits.append(visit(code, HOUR + day * 24 + n % 5, kind=BOT))
                visitors[DAY + day, code] = frozenset({n % 20 << 20})
        return Batch("one", number, tuple(visits), visitors)

    async def drive() -> None:
        async with opened() as store, opened() as unaggregated:
            for number in range(1, 6):
                sent = batch(number, data.draw(days_strategy))
                for each in (store, unaggregated):
                    await each.apply(sent, NOW)
                for step in data.draw(st.lists(steps, max_size=3)):
                    if step == "maintain":
                        await maintain_all(store, DAY + data.draw(st.integers(0, 140)))
                    elif step == "remove":
                        for each in (store, unaggregated):
                            await each.remove(codes[:1])
                    elif step == "delete":
                        first = DAY + data.draw(st.integers(0, 50))
                        assert await maintain_all(store, DAY, first) == await maintain_all(
                            unaggregated, DAY, first
                        )
                first, last = sorted(data.draw(st.tuples(*[st.integers(-5, 115)] * 2)))
                for begin, end in ((0, DAY + 1000), (DAY + first, DAY + last)):
                    expected = await add_up(unaggregated, codes, begin, end, NameDetail.PER_DAY)
                    for names in NameDetail:
                        found = await add_up(store, codes, begin, end, names)
                        if names is NameDetail.NONE:
                            assert not found.names
                            found.names = expected.names
                        assert found == expected

    with pytest.MonkeyPatch.context() as patch:
        # An era has two blocks: 64 days.
        patch.setattr(day_reader, "BLOCKS_PER_ERA", 2)
        patch.setattr(day_reader, "MIN_ERA_DAYS", 20)
        # Reads and maintenance take several steps.
        patch.setattr(day_reader, "DAYS_PER_STEP", 40)
        patch.setattr(link_maintenance, "DAYS_PER_STEP", 40)
        asyncio.run(drive())


@pytest.mark.parametrize(
    ("names", "length"), [(NameDetail.COMBINED, 512), (NameDetail.PER_BLOCK, 32)]
)
async def test_aggregates_are_read_in_place_of_their_days(
    opened: Opened, names: NameDetail, length: int
) -> None:
    """After a late visit, the days are aggregated again."""
    first, last = 41 * 512, 41 * 512 + length - 1
    visits = tuple(visit(hour=24 * day, host=f"h{day % 3}") for day in range(first, last + 1))

    async def count_days_with_names() -> int:
        count = 0

        def on_day(_: str, day: Day) -> None:
            nonlocal count
            count += bool(day.breakdowns)

        await store.read_days([CODE], first, last, on_day, names)
        return count

    async with opened() as store:
        await store.apply(Batch("one", 1, visits), NOW)
        others = (length - 32) // 32
        await maintain_all(store, last)
        assert await count_days_with_names() == others + 32, "the last block is not over"
        await maintain_all(store, last + 1)
        assert await count_days_with_names() == 1
        await store.apply(Batch("one", 2, (visit(hour=24 * last),)), NOW)
        assert await count_days_with_names() == others + 32
        await maintain_all(store, last + 1)
        assert await count_days_with_names() == 1


CODES = ("abcdefgh", "ABCDEFGH", "--------")
# In the hours around midnight.
visit_counts = st.builds(
    VisitCount,
    code=st.sampled_from(CODES),
    hour=st.integers(HOUR + 22, HOUR + 25),
    kind=st.sampled_from(VisitKind),
    names=st.dictionaries(
        st.sampled_from([REFERRER, Dimension.BROWSER]), st.sampled_from(["", "a.b", "c.d"])
    ),
    count=st.integers(1, 5),
)
# Each visitor has its own register, so that estimates are exact.
visitors = st.dictionaries(
    st.tuples(st.sampled_from([DAY, DAY + 1]), st.sampled_from(CODES)),
    st.frozensets(st.sampled_from([register << 20 for register in range(6)])),
)
Content = tuple[list[VisitCount], dict[tuple[int, str], frozenset[int]]]
# The contents of the batches. A gateway's n-th batch is the same each time it is sent.
contents = st.lists(st.tuples(st.lists(visit_counts, max_size=5), visitors), min_size=8, max_size=8)


def batch_of(gateway: str, number: int, content: Content) -> Batch:
    visits, visitors = content
    return Batch(gateway, number, tuple(visits), visitors)


@dataclass(frozen=True)
class Send:
    """A gateway sends its next batch.

    If `replay` is not 0, it first sends the batch that many numbers before the next. If
    `concurrent`, the other gateway sends its next batch at the same time. If `crash` is not None,
    the service crashes at a write after that many others; `done` tells whether the write succeeds.
    """

    gateway: str
    replay: int
    concurrent: bool
    crash: int | None
    done: bool


script = st.lists(
    st.builds(
        Send,
        gateway=st.sampled_from(["one", "two"]),
        replay=st.integers(0, 3),
        concurrent=st.booleans(),
        crash=st.none() | st.integers(0, 8),
        done=st.booleans(),
    ),
    max_size=12,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=contents, script=script, chunk=st.sampled_from([1, 2, 500]))
def test_resends_after_a_crash_at_any_write_count_once(
    opened: Opened, contents: list[Content], script: list[Send], chunk: int
) -> None:
    """Each crash is followed by a new process. Gateways resend until acknowledged."""
    acknowledged = Counter[str]()

    def batch(gateway: str, number: int) -> Batch:
        first = 4 * (gateway == "two")
        return batch_of(gateway, number, contents[first + number % 4])

    async def send(store: AnalyticsStore, gateway: str) -> None:
        number = acknowledged[gateway] + 1
        await store.apply(batch(gateway, number), NOW)
        acknowledged[gateway] = number

    async def drive() -> None:
        model = Model()
        async with opened() as store:
            begin = await current_cursor(store)
            for step in script:
                faulty = CrashingDatabase(get_database(store))
                process = with_database(store, faulty)
                if step.replay and step.replay <= acknowledged[step.gateway]:
                    old = acknowledged[step.gateway] + 1 - step.replay
                    assert not await process.apply(batch(step.gateway, old), NOW)
                if step.crash is not None:
                    faulty.arm(step.crash, done=step.done)
                others = {"one", "two"} - {step.gateway} if step.concurrent else set()
                results = await asyncio.gather(
                    *(send(process, gateway) for gateway in (step.gateway, *others)),
                    return_exceptions=True,
                )
                assert all(result is None or isinstance(result, Crash) for result in results), (
                    results
                )
            for gateway in ("one", "two"):
                await send(store, gateway)
            changed = await changed_codes(store, begin)
            assert set(changed) == set(await store.totals(CODES)), "the feed has all changes"
            for gateway in ("one", "two"):
                for number in range(1, acknowledged[gateway] + 1):
                    assert not await store.apply(batch(gateway, number), NOW)
                    assert model.apply(batch(gateway, number))

            await model.check(store, CODES, (DAY, DAY + 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mongo_store.MongoStore, "codes_per_transaction", chunk)
        asyncio.run(drive())


async def test_concurrent_writers_do_not_exceed_the_limit_of_referrers(opened: Opened) -> None:
    """Even if the writers evict each other's names."""
    hosts = [tuple(visit(host=f"h{g}-{n}.example") for n in range(10)) for g in range(30)]
    async with opened() as store:
        for number in (1, 2, 3):
            await asyncio.gather(
                *(store.apply(Batch(f"g{g}", number, some), NOW) for g, some in enumerate(hosts))
            )

        (day,) = await read_days(store, CODE, DAY, DAY)
        named = dict(day.breakdowns[REFERRER])
        assert day.people == {0: sum(named.values())} == {0: 900}
        del named["*"]
        assert len(named) == MAX_NAMES
        assert max(named.values()) <= 3


async def test_sqlite_reads_block_neither_writers_nor_other_readers(
    tmp_path: Path,
) -> None:
    reached, proceed = threading.Event(), threading.Event()

    def on_day(code: str, day: Day) -> None:
        reached.set()
        proceed.wait(20)

    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        await store.apply(Batch("one", 1, (visit(),)), NOW)
        reading = asyncio.create_task(store.read_days([CODE], DAY, DAY, on_day, NameDetail.NONE))
        await asyncio.to_thread(reached.wait, 20)
        await store.apply(Batch("one", 2, (visit(),)), NOW)
        assert await store.totals([CODE]) == {CODE: Totals(2, 0)}
        assert not reading.done()
        proceed.set()
        await reading


async def test_sqlite_reads_many_days_in_steps(tmp_path: Path) -> None:
    codes = [f"code{n:04}" for n in range(600)]
    visits = [visit(code, HOUR + 24 * day) for code in codes for day in range(3)]
    async with open_stores_at(f"sqlite:///{tmp_path}/store", "analytics", STORE_FACTORIES) as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        database = get_database(store)
        days_per_read = [0]

        async def read(name: str, operation: Any) -> Any:
            days_per_read.append(0)
            return await sqlite.Database.read(database, name, operation)

        def on_day(code: str, day: Day) -> None:
            days_per_read[-1] += 1

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "read", read)
            await store.read_days(codes, DAY, DAY + 2, on_day, NameDetail.PER_DAY)
    assert sum(days_per_read) == len(visits)
    assert max(days_per_read) <= 500
