"""Validation of batches, and what they add to days."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.analytics.domain.batches import (
    MAX_COUNT,
    MAX_ROWS,
    MAX_VISITORS,
    Batch,
    batch_random,
    day_increments,
    validate_batch,
)
from services.analytics.domain.errors import InvalidBatch
from services.analytics.domain.name_admission import MAX_NAMES, admit_names
from services.analytics.domain.visits import Dimension, VisitCount, VisitKind

REFERRER, BROWSER = Dimension.REFERRER, Dimension.BROWSER
VISIT = VisitCount("abcdefgh", 490_000, VisitKind.PERSON, {REFERRER: "news.example"}, 1)
BATCH = Batch("gateway-1", 1, (VISIT,))
LAST_HOUR = 70_389_527  # 9999-12-31, 23 h


@pytest.mark.parametrize(
    "fields",
    [
        *({"gateway_id": id_} for id_ in ("A", "a_-9" * 16)),
        {"number": 2**63 - 1},
        *({"visits": (VISIT,) * count} for count in (0, MAX_ROWS)),
    ],
)
def test_valid_batches_are_accepted(fields: dict[str, Any]) -> None:
    validate_batch(replace(BATCH, **fields))


@pytest.mark.parametrize(
    "fields",
    [
        *({"gateway_id": id_} for id_ in ("", "a" * 65, "a.b", "gateway\n")),
        *({"number": number} for number in (0, -1)),
        {"visits": (VISIT,) * (MAX_ROWS + 1)},
    ],
)
def test_invalid_batches_are_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidBatch) as rejected:
        validate_batch(replace(BATCH, **fields))
    assert rejected.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize(
    "fields",
    [
        *({"code": code} for code in ("abcd", "a" * 32)),
        *({"hour": hour} for hour in (0, LAST_HOUR)),
        {"kind": VisitKind.BOT},
        {"count": MAX_COUNT},
        *({"names": {REFERRER: host}} for host in ("", "a" * 253, "españa.example")),
        {"names": {}},
        {"names": {REFERRER: "a.example", BROWSER: "a" * 64}},
    ],
)
def test_valid_rows_are_accepted(fields: dict[str, Any]) -> None:
    validate_batch(replace(BATCH, visits=(replace(VISIT, **fields),)))


@pytest.mark.parametrize(
    "fields",
    [
        *({"code": code} for code in ("", "abc", "a" * 33, "abcdefg\n")),
        *({"hour": hour} for hour in (-1, LAST_HOUR + 1)),
        *({"count": count} for count in (0, -1, MAX_COUNT + 1)),
        *({"names": {REFERRER: host}} for host in ("a" * 254, "a\x00b", "a\nb", "a\x85b")),
        {"names": {REFERRER: "a.example", BROWSER: "a" * 65}},
        {"names": {BROWSER: "a\nb"}},
    ],
)
def test_one_invalid_row_rejects_its_batch(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidBatch) as rejected:
        validate_batch(replace(BATCH, visits=(VISIT, replace(VISIT, **fields))))
    assert rejected.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize("hour", [0, 23, 24, 47, 490_000])
def test_the_day_of_a_visit_is_its_utc_day(hour: int) -> None:
    increments = day_increments(replace(BATCH, visits=(replace(VISIT, hour=hour),)))
    (increment,) = increments.values()
    assert set(increments) == {(hour // 24, "abcdefgh")}
    assert increment.people == {hour % 24: 1}


@pytest.mark.parametrize(("length", "stored"), [(100, True), (101, False), (253, False)])
def test_long_names_count_as_other_names(length: int, stored: bool) -> None:
    host = "a" * length
    visit = replace(VISIT, names={Dimension.REFERRER: host, BROWSER: "Firefox"}, count=3)
    validate_batch(replace(BATCH, visits=(visit,)))
    (increment,) = day_increments(replace(BATCH, visits=(visit, visit))).values()
    assert increment.names[Dimension.REFERRER] == {host if stored else "*": 6}
    assert increment.names[BROWSER] == {"Firefox": 6}


def test_visitors_are_ignored_on_days_without_people() -> None:
    bot = replace(VISIT, code="onlybots", kind=VisitKind.BOT)
    day = VISIT.hour // 24
    numbers = frozenset({1, 2})
    keys = [(day, VISIT.code), (day + 1, VISIT.code), (day, bot.code)]
    batch = replace(BATCH, visits=(VISIT, bot), visitors=dict.fromkeys(keys, numbers))
    assert {key: each.visitors for key, each in day_increments(batch).items()} == {
        (day, VISIT.code): numbers,
        (day, bot.code): (),
    }


def test_the_number_of_visitors_is_limited() -> None:
    visitors = {(day, VISIT.code): frozenset(range(MAX_VISITORS // 2)) for day in (1, 2)}
    validate_batch(replace(BATCH, visitors=visitors))
    with pytest.raises(InvalidBatch) as rejected:
        validate_batch(replace(BATCH, visitors={**visitors, (3, VISIT.code): frozenset({1})}))
    assert rejected.value.reason == "INVALID_BATCH"


def test_a_retry_makes_the_same_random_choices() -> None:
    stored = dict.fromkeys([f"known {n}" for n in range(MAX_NAMES)], 2)
    new = {f"new {n}": 1 for n in range(50)}
    first = admit_names(new, stored, batch_random(BATCH))
    assert first[1]
    assert admit_names(new, stored, batch_random(BATCH)) == first
    assert admit_names(new, stored, batch_random(replace(BATCH, number=99))) != first
