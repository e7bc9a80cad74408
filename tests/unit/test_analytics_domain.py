"""The rules a batch of visits keeps to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.analytics.domain import (
    MAX_COUNT,
    MAX_NAMES,
    MAX_VISITORS,
    MAX_VISITS,
    Batch,
    Dimension,
    InvalidBatch,
    VisitCount,
    VisitKind,
    check_batch,
    count_names,
    sums_of,
)

REFERRER, BROWSER = Dimension.REFERRER, Dimension.BROWSER
VISIT = VisitCount("abcdefgh", 490_000, VisitKind.PERSON, {REFERRER: "news.example"}, 1)
BATCH = Batch("gateway-1", 1, (VISIT,))
LAST_HOUR = 70_389_527  # 9999-12-31, 23 h


@pytest.mark.parametrize(
    "batch",
    [
        BATCH,
        replace(BATCH, gateway_id="A"),
        replace(BATCH, gateway_id="a_-9" * 16),
        replace(BATCH, number=2**63 - 1),
        replace(BATCH, visits=()),
        replace(BATCH, visits=(VISIT,) * MAX_VISITS),
    ],
)
def test_batches_of_a_gateway_are_taken(batch: Batch) -> None:
    check_batch(batch)


@pytest.mark.parametrize(
    "batch",
    [
        replace(BATCH, gateway_id=""),
        replace(BATCH, gateway_id="a" * 65),
        replace(BATCH, gateway_id="a.b"),
        replace(BATCH, gateway_id="gateway\n"),
        replace(BATCH, number=0),
        replace(BATCH, number=-1),
        replace(BATCH, visits=(VISIT,) * (MAX_VISITS + 1)),
    ],
)
def test_other_batches_are_refused(batch: Batch) -> None:
    with pytest.raises(InvalidBatch) as refused:
        check_batch(batch)
    assert refused.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize(
    "visit",
    [
        replace(VISIT, code="abcd"),
        replace(VISIT, code="a" * 32),
        replace(VISIT, hour=0),
        replace(VISIT, hour=LAST_HOUR),
        replace(VISIT, kind=VisitKind.BOT),
        replace(VISIT, count=MAX_COUNT),
        replace(VISIT, names={REFERRER: ""}),
        replace(VISIT, names={REFERRER: "a" * 253}),
        replace(VISIT, names={REFERRER: "españa.example"}),
        replace(VISIT, names={}),
        replace(VISIT, names={REFERRER: "a.example", BROWSER: "a" * 64}),
    ],
)
def test_visits_of_any_hour_kind_and_host_are_taken(visit: VisitCount) -> None:
    check_batch(replace(BATCH, visits=(visit,)))


@pytest.mark.parametrize(
    "visit",
    [
        replace(VISIT, code=""),
        replace(VISIT, code="abc"),
        replace(VISIT, code="a" * 33),
        replace(VISIT, code="abcdefg\n"),
        replace(VISIT, hour=-1),
        replace(VISIT, hour=LAST_HOUR + 1),
        replace(VISIT, count=0),
        replace(VISIT, count=-1),
        replace(VISIT, count=MAX_COUNT + 1),
        replace(VISIT, names={REFERRER: "a" * 254}),
        replace(VISIT, names={REFERRER: "a\x00b"}),
        replace(VISIT, names={REFERRER: "a\nb"}),
        replace(VISIT, names={REFERRER: "a\x85b"}),
        replace(VISIT, names={REFERRER: "a.example", BROWSER: "a" * 65}),
        replace(VISIT, names={BROWSER: "a\nb"}),
    ],
)
def test_one_bad_row_refuses_its_batch(visit: VisitCount) -> None:
    with pytest.raises(InvalidBatch) as refused:
        check_batch(replace(BATCH, visits=(VISIT, visit)))
    assert refused.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize("hour", [0, 23, 24, 47, 490_000])
def test_the_day_of_a_visit_is_its_utc_day(hour: int) -> None:
    sums = sums_of(replace(BATCH, visits=(replace(VISIT, hour=hour),)))
    (added,) = sums.values()
    assert set(sums) == {(hour // 24, "abcdefgh")}
    assert added.people == {hour % 24: 1}


@pytest.mark.parametrize(
    ("known", "counted"),
    [
        (0, {"a": 1, "b": 2, "*": 3}),
        (MAX_NAMES - 2, {"a": 1, "b": 2, "*": 3}),
        (MAX_NAMES - 1, {"a": 1, "*": 5}),
        (MAX_NAMES, {"*": 6}),
        (MAX_NAMES + 1, {"*": 6}),  # As many, and those past them.
    ],
)
def test_names_past_the_first_hundred_count_as_the_others(
    known: int, counted: dict[str, int]
) -> None:
    there = dict.fromkeys([*(f"known {n}" for n in range(MAX_NAMES)), "*"][:known], 1)
    assert count_names({"a": 1, "b": 2, "*": 3}, there) == counted
    assert count_names(there, there) == there


def test_visitors_come_with_the_people_of_their_day() -> None:
    bot = replace(VISIT, code="onlybots", kind=VisitKind.BOT)
    day = VISIT.hour // 24
    came = frozenset({1, 2})
    visitors = {(day, VISIT.code): came, (day + 1, VISIT.code): came, (day, bot.code): came}
    sums = sums_of(replace(BATCH, visits=(VISIT, bot), visitors=visitors))
    assert {key: one.visitors for key, one in sums.items()} == {
        (day, VISIT.code): came,
        (day, bot.code): (),
    }


def test_a_batch_has_so_many_visitors_at_most() -> None:
    of = {(day, VISIT.code): frozenset(range(MAX_VISITORS // 2)) for day in (1, 2)}
    check_batch(replace(BATCH, visitors=of))
    with pytest.raises(InvalidBatch) as refused:
        check_batch(replace(BATCH, visitors={**of, (3, VISIT.code): frozenset({1})}))
    assert refused.value.reason == "INVALID_BATCH"
