"""What every analytics store promises."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.analytics.__main__ import ADAPTERS
from services.analytics.application.ports import AnalyticsStore, Names
from services.analytics.domain.visits import (
    MAX_NAMES,
    Batch,
    Day,
    Dimension,
    Totals,
    VisitCount,
    VisitKind,
)
from services.analytics.storage import store as stores
from services.analytics.storage.mongo import store as mongo_store
from services.shared import sqlite
from tests.analytics.cases import (
    BOT,
    CODE,
    DAY,
    HOUR,
    NOW,
    REFERRER,
    Counted,
    Model,
    added_up,
    changed_after,
    cursor_of,
    database_of,
    days_of,
    maintained,
    over,
    visit,
)
from tests.support.faulty import Crash, Faulty
from tests.support.stores import NewStore, opened_anew, opened_at

Opened = Callable[[], AbstractAsyncContextManager[AnalyticsStore]]


@pytest.fixture
def opened(new_store: NewStore) -> Opened:
    """Opens a new, empty store, another one each time."""
    return lambda: opened_anew(new_store, "analytics", ADAPTERS)


async def test_fifty_resends_at_once_are_one_batch(opened: Opened) -> None:
    visits = (visit(count=3), visit("other---", host="a.example"))
    async with opened() as store:
        for number in (1, 2):  # What it adds to is not there at first, and is then.
            batch = Batch("one", number, visits)
            applied = await asyncio.gather(*(store.apply(batch, NOW) for _ in range(50)))

            assert applied.count(True) == 1
            assert await store.totals([CODE, "other---"]) == {
                CODE: Totals(3 * number, 0),
                "other---": Totals(number, 0),
            }


async def test_fifty_gateways_at_once_lose_nothing(opened: Opened) -> None:
    batches = [Batch(f"g{n}", 1, (visit(host="a.example"), visit(kind=BOT))) for n in range(50)]
    async with opened() as store:
        assert all(await asyncio.gather(*(store.apply(batch, NOW) for batch in batches)))

        assert await store.totals([CODE]) == {CODE: Totals(50, 50)}
        assert await days_of(store, CODE, DAY, DAY) == [
            Counted(DAY, {0: 50}, {0: 50}, {REFERRER: {"a.example": 50}}, 0)
        ]


async def test_each_dimension_is_broken_down_by_itself(opened: Opened) -> None:
    known = {one: f"the {one.name}" for one in Dimension if one is not REFERRER}
    visits = (
        visit(host="a.example", count=2, others=known),
        visit(others={Dimension.DEVICE: "the DEVICE", Dimension.BROWSER: "another"}),
        visit(others={Dimension.DEVICE: "", Dimension.LANGUAGE: "*"}),
        visit(kind=BOT, others={Dimension.DEVICE: "bot", Dimension.COUNTRY: "CL"}),
    )
    async with opened() as store:
        for number in (1, 2):  # The day is not there at first, and is then.
            assert await store.apply(Batch("one", number, visits), NOW)
        assert not await store.apply(Batch("one", 2, visits), NOW)

        (day,) = await days_of(store, CODE, DAY, DAY)
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


async def test_a_dimension_that_has_all_its_names_leaves_the_others_theirs(opened: Opened) -> None:
    async with opened() as store:
        hosts = tuple(visit(host=f"h{n}.example") for n in range(MAX_NAMES + 1))
        await store.apply(Batch("one", 1, hosts), NOW)
        await store.apply(
            Batch("one", 2, (visit(host="new", others={Dimension.BROWSER: "new"}),)), NOW
        )

        (day,) = await days_of(store, CODE, DAY, DAY)
        assert len(day.breakdowns[REFERRER]) == MAX_NAMES + 1
        assert sum(day.breakdowns[REFERRER].values()) == MAX_NAMES + 2
        assert day.breakdowns[Dimension.BROWSER] == {"new": 1}


def names_gathered() -> float:
    """Referrers of people that were counted without their name, since this process began."""
    labels = {"dimension": "referrer"}
    return REGISTRY.get_sample_value("atajo_visit_names_gathered_total", labels) or 0


async def test_a_day_tells_one_hundred_referrers_apart(opened: Opened) -> None:
    first = tuple(visit(host=f"h{n}.example") for n in range(MAX_NAMES - 1))
    strangers = tuple(visit(host=f"x{n}.example", count=2) for n in range(MAX_NAMES + 1))
    before = names_gathered()
    async with opened() as store:
        await store.apply(Batch("one", 1, first), NOW)
        await store.apply(Batch("two", 1, strangers), NOW)
        await store.apply(Batch("two", 2, (visit(host="h0.example"), visit(host="new"))), NOW)
        await store.apply(Batch("two", 3, (visit(hour=HOUR + 24, host="new"),)), NOW)

        today, tomorrow = await days_of(store, CODE, DAY, DAY + 1)
        named = dict(today.breakdowns[REFERRER])
        assert named.pop("*") == names_gathered() - before
        assert len(named) == MAX_NAMES
        people = sum(today.breakdowns[REFERRER].values())
        assert today.people == {0: people}
        assert people == (MAX_NAMES - 1) + 2 * (MAX_NAMES + 1) + 2
        assert tomorrow.breakdowns == {REFERRER: {"new": 1}}


async def test_a_referrer_is_kept_letter_by_letter(opened: Opened) -> None:
    hosts = ("a.b.c", "$set", "a.$b", "*", "'; DROP TABLE totals", "ñ.example")
    async with opened() as store:
        for number in (1, 2):
            await store.apply(Batch("one", number, tuple(visit(host=one) for one in hosts)), NOW)

        (day,) = await days_of(store, CODE, DAY, DAY)
        assert day.breakdowns[REFERRER] == dict.fromkeys(hosts, 2)


async def test_removed_counts_are_gone_and_visits_that_follow_count_from_nothing(
    opened: Opened,
) -> None:
    # A day without visits between, and one far off the calendar of the others.
    hours_visited = (HOUR, HOUR + 23, HOUR + 48, HOUR + 24 * 1_000_000)
    visits = [
        visit(code, hour, host="a.example") for code in (CODE, "other---") for hour in hours_visited
    ]
    async with opened() as store:
        await store.apply(Batch("one", 1, (*visits, visit(kind=BOT))), NOW)
        others = await days_of(store, "other---", DAY, DAY + 2)

        for _ in range(2):
            await store.remove([CODE, "nobody--"])

            assert await store.totals([CODE, "other---"]) == {"other---": Totals(4, 0)}
            assert await days_of(store, CODE, DAY, DAY + 2) == []
            assert await days_of(store, CODE, DAY + 1_000_000, DAY + 1_000_000) == []
            assert await days_of(store, "other---", DAY, DAY + 2) == others

        assert not await store.apply(Batch("one", 1, (visit(),)), NOW)
        assert await store.apply(Batch("one", 2, (visit(host="a.example"),)), NOW)
        assert await store.totals([CODE]) == {CODE: Totals(1, 0)}
        assert await days_of(store, CODE, DAY, DAY + 2) == [
            Counted(DAY, {0: 1}, {}, {REFERRER: {"a.example": 1}}, 0)
        ]


async def test_days_of_many_links_are_handed_out_at_once(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_CODES_PER_READ", 10)
    codes = [f"code{n:04}" for n in range(32)]
    visits = [visit(code, HOUR + 24 * (n % 3), count=n + 1) for n, code in enumerate(codes)]
    visits += [visit("busy----", HOUR + 24 * n) for n in range(3)]
    found: list[tuple[str, int, int]] = []

    def take(code: str, day: Day) -> None:
        found.append((code, day.day, day.people))

    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        asked = [*codes[2:], "busy----", "nobody--"]
        await store.days(asked, DAY, DAY + 1, take, Names.BY_DAY)

    expected = [(codes[n], DAY + n % 3, n + 1) for n in range(2, 32) if n % 3 < 2]
    expected += [("busy----", DAY, 1), ("busy----", DAY + 1, 1)]
    assert sorted(found) == sorted(expected)


async def test_the_first_day_is_that_of_the_link_that_came_first(opened: Opened) -> None:
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
        assert await store.forget_keys(DAY) == 0
        keys = await asyncio.gather(
            *(store.visitor_key(DAY, bytes([n] * 32)) for n in range(10, 30))
        )
        assert len({*keys}) == 1
        assert await store.visitor_key(DAY + 1, first) == first
        assert await store.forget_keys(DAY) == 0
        assert await store.visitor_key(DAY, second) == keys[0]

        assert await store.forget_keys(DAY + 1) == 1
        assert await store.forget_keys(DAY + 1) == 0
        assert await store.visitor_key(DAY + 1, second) == first
        assert await store.visitor_key(DAY, third) == third, "a clock that was put back"
        assert await store.forget_keys(DAY + 2) == 2


async def test_the_key_of_a_day_that_a_wrong_clock_began_goes(opened: Opened) -> None:
    async with opened() as store:
        for day in (DAY, DAY + 1, DAY + 2, DAY + 3650):
            await store.visitor_key(day, bytes([1] * 32))
        assert await store.forget_keys(DAY) == 2
        assert await store.visitor_key(DAY, bytes([2] * 32)) == bytes([1] * 32)
        assert await store.visitor_key(DAY + 1, bytes([2] * 32)) == bytes([1] * 32)
        assert await store.visitor_key(DAY + 3650, bytes([2] * 32)) == bytes([2] * 32)


async def test_days_that_are_deleted_leave_totals_and_later_days(opened: Opened) -> None:
    visits = [visit(code, HOUR + 24 * n) for code in (CODE, "other---") for n in range(40)]
    visits.append(visit("early---"))
    async with opened() as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        await maintained(store, DAY + 1000)
        totals = await store.totals([CODE, "other---", "early---"])
        kept = await added_up(store, [CODE], DAY + 31, DAY + 100)

        assert await maintained(store, DAY, DAY) == 0
        assert await maintained(store, DAY, DAY + 31) == 2 * 31 + 1
        assert await maintained(store, DAY, DAY + 31) == 0
        assert await store.totals([CODE, "other---", "early---"]) == totals
        assert await store.first_day([CODE, "other---", "early---"]) == DAY + 31
        assert await store.first_day(["early---"]) is None
        assert await added_up(store, [CODE], 0, DAY + 100) == kept
        await store.apply(Batch("one", 2, (visit(), visit("early---"))), NOW)
        assert await store.first_day([CODE]) == await store.first_day(["early---"]) == DAY
        assert await maintained(store, DAY, DAY + 1) == 2


@settings(
    max_examples=16, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_aggregated_days_add_up_to_the_same(opened: Opened, data: st.DataObject) -> None:
    """However often, whatever comes late, is deleted or removed."""
    codes = ("busy----", "seldom--")
    steps = st.sampled_from(["maintain", "maintain", "remove", "delete"])
    # Days of about four blocks, most of them visited.
    some = st.lists(st.integers(0, 110), min_size=60, max_size=100)

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
        async with opened() as store, opened() as plain:
            for number in range(1, 6):
                sent = batch(number, data.draw(some))
                for one in (store, plain):
                    await one.apply(sent, NOW)
                for step in data.draw(st.lists(steps, max_size=3)):
                    if step == "maintain":
                        await maintained(store, DAY + data.draw(st.integers(0, 140)))
                    elif step == "remove":
                        for one in (store, plain):
                            await one.remove(codes[:1])
                    elif step == "delete":
                        first = DAY + data.draw(st.integers(0, 50))
                        assert await maintained(store, DAY, first) == await maintained(
                            plain, DAY, first
                        )
                first, last = sorted(data.draw(st.tuples(*[st.integers(-5, 115)] * 2)))
                for begin, end in ((0, DAY + 1000), (DAY + first, DAY + last)):
                    expected = await added_up(plain, codes, begin, end, Names.BY_DAY)
                    for names in Names:
                        found = await added_up(store, codes, begin, end, names)
                        if names is Names.NONE:
                            assert not found.names
                            found.names = expected.names
                        assert found == expected

    with pytest.MonkeyPatch.context() as patch:
        # An era of two blocks, of which one has 64 days.
        patch.setattr(stores, "BLOCKS_PER_ERA", 2)
        patch.setattr(stores, "MIN_ERA_DAYS", 20)
        # Maintenance takes several steps.
        patch.setattr(stores, "_DAYS_PER_STEP", 40)
        asyncio.run(drive())


@pytest.mark.parametrize(("names", "length"), [(Names.TOGETHER, 512), (Names.BY_BLOCK, 32)])
async def test_aggregates_are_read_in_place_of_their_days(
    opened: Opened, names: Names, length: int
) -> None:
    """Also again after a late visit, once the days are aggregated anew."""
    first, last = 41 * 512, 41 * 512 + length - 1
    visits = tuple(visit(hour=24 * day, host=f"h{day % 3}") for day in range(first, last + 1))

    async def with_names() -> int:
        """Return how many days come with names."""
        count = 0

        def take(_: str, day: Day) -> None:
            nonlocal count
            count += bool(day.breakdowns)

        await store.days([CODE], first, last, take, names)
        return count

    async with opened() as store:
        await store.apply(Batch("one", 1, visits), NOW)
        others = (length - 32) // 32
        await maintained(store, last)
        assert await with_names() == others + 32, "the last block is not over"
        await maintained(store, last + 1)
        assert await with_names() == 1
        await store.apply(Batch("one", 2, (visit(hour=24 * last),)), NOW)
        assert await with_names() == others + 32
        await maintained(store, last + 1)
        assert await with_names() == 1


CODES = ("abcdefgh", "ABCDEFGH", "--------")
# Around the end of a day.
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
# Each in a register of its own, so that a sketch tells exactly how many.
visitors = st.dictionaries(
    st.tuples(st.sampled_from([DAY, DAY + 1]), st.sampled_from(CODES)),
    st.frozensets(st.sampled_from([register << 20 for register in range(6)])),
)
Content = tuple[list[VisitCount], dict[tuple[int, str], frozenset[int]]]
# The n-th batch of a gateway is the same whenever it is sent; what is drawn is what is sent when.
contents = st.lists(st.tuples(st.lists(visit_counts, max_size=5), visitors), min_size=8, max_size=8)


def batch_of(gateway: str, number: int, content: Content) -> Batch:
    visits, visitors = content
    return Batch(gateway, number, tuple(visits), visitors)


@dataclass(frozen=True)
class Send:
    """A gateway sends its next batch, after an old one where `replay` says how old.

    The other gateway sends beside it where `beside`; the service crashes at a write where
    `crash` says after how many.
    """

    gateway: str
    replay: int
    beside: bool
    crash: int | None
    done: bool


script = st.lists(
    st.builds(
        Send,
        gateway=st.sampled_from(["one", "two"]),
        replay=st.integers(0, 3),
        beside=st.booleans(),
        crash=st.none() | st.integers(0, 8),
        done=st.booleans(),
    ),
    max_size=12,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(contents=contents, script=script, chunk=st.sampled_from([1, 2, 500]))
def test_a_crash_between_any_two_writes_is_healed_by_the_resend(
    opened: Opened, contents: list[Content], script: list[Send], chunk: int
) -> None:
    """The store is another process after each crash, and gateways resend until acknowledged."""
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
            begin = await cursor_of(store)
            for step in script:
                faulty = Faulty(database_of(store))
                process = over(store, faulty)
                if step.replay and step.replay <= acknowledged[step.gateway]:
                    old = acknowledged[step.gateway] + 1 - step.replay
                    assert not await process.apply(batch(step.gateway, old), NOW)
                if step.crash is not None:
                    faulty.arm(step.crash, done=step.done)
                others = {"one", "two"} - {step.gateway} if step.beside else set()
                ends = await asyncio.gather(
                    *(send(process, gateway) for gateway in (step.gateway, *others)),
                    return_exceptions=True,
                )
                assert all(end is None or isinstance(end, Crash) for end in ends), ends
            for gateway in ("one", "two"):
                await send(store, gateway)
            changed = await changed_after(store, begin)
            assert set(changed) == set(await store.totals(CODES)), "the feed misses none"
            for gateway in ("one", "two"):
                for number in range(1, acknowledged[gateway] + 1):
                    assert not await store.apply(batch(gateway, number), NOW)
                    assert model.apply(batch(gateway, number))

            await model.check(store, CODES, (DAY, DAY + 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mongo_store._Backend, "codes_per_transaction", chunk)
        asyncio.run(drive())


async def test_other_writers_of_a_document_do_not_let_in_more_referrers(opened: Opened) -> None:
    """Also where the writers evict each other's names, and count on names that others evict."""
    hosts = [tuple(visit(host=f"h{g}-{n}.example") for n in range(10)) for g in range(30)]
    async with opened() as store:
        for number in (1, 2, 3):
            await asyncio.gather(
                *(store.apply(Batch(f"g{g}", number, some), NOW) for g, some in enumerate(hosts))
            )

        (day,) = await days_of(store, CODE, DAY, DAY)
        named = dict(day.breakdowns[REFERRER])
        assert day.people == {0: sum(named.values())} == {0: 900}
        del named["*"]
        assert len(named) == MAX_NAMES
        assert max(named.values()) <= 3


async def test_on_sqlite_who_reads_days_holds_up_neither_writers_nor_other_readers(
    tmp_path: Path,
) -> None:
    reached, may = threading.Event(), threading.Event()

    def take(code: str, day: Day) -> None:
        reached.set()
        may.wait(20)

    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        await store.apply(Batch("one", 1, (visit(),)), NOW)
        reading = asyncio.create_task(store.days([CODE], DAY, DAY, take, Names.NONE))
        await asyncio.to_thread(reached.wait, 20)
        await store.apply(Batch("one", 2, (visit(),)), NOW)
        assert await store.totals([CODE]) == {CODE: Totals(2, 0)}
        assert not reading.done()
        may.set()
        await reading


async def test_on_sqlite_many_days_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    codes = [f"code{n:04}" for n in range(600)]
    visits = [visit(code, HOUR + 24 * day) for code in codes for day in range(3)]
    async with opened_at(f"sqlite:///{tmp_path}/store", "analytics", ADAPTERS) as store:
        await store.apply(Batch("one", 1, tuple(visits)), NOW)
        database = database_of(store)
        taken = [0]

        async def read(name: str, operation: Any) -> Any:
            taken.append(0)
            return await sqlite.Database.read(database, name, operation)

        def take(code: str, day: Day) -> None:
            taken[-1] += 1

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "read", read)
            await store.days(codes, DAY, DAY + 2, take, Names.BY_DAY)
    assert sum(taken) == len(visits)
    assert max(taken) <= 500
