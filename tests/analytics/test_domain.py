"""The rules a batch of visits keeps to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from services.analytics.domain.visits import (
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
    random_of,
    sums_of,
)

REFERRER, BROWSER = Dimension.REFERRER, Dimension.BROWSER
VISIT = VisitCount("abcdefgh", 490_000, VisitKind.PERSON, {REFERRER: "news.example"}, 1)
BATCH = Batch("gateway-1", 1, (VISIT,))
LAST_HOUR = 70_389_527  # 9999-12-31, 23 h


@pytest.mark.parametrize(
    "fields",
    [
        *({"gateway_id": one} for one in ("A", "a_-9" * 16)),
        {"number": 2**63 - 1},
        *({"visits": (VISIT,) * count} for count in (0, MAX_VISITS)),
    ],
)
def test_batches_of_a_gateway_are_taken(fields: dict[str, Any]) -> None:
    check_batch(replace(BATCH, **fields))


@pytest.mark.parametrize(
    "fields",
    [
        *({"gateway_id": one} for one in ("", "a" * 65, "a.b", "gateway\n")),
        *({"number": one} for one in (0, -1)),
        {"visits": (VISIT,) * (MAX_VISITS + 1)},
    ],
)
def test_other_batches_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidBatch) as refused:
        check_batch(replace(BATCH, **fields))
    assert refused.value.reason == "INVALID_BATCH"


@pytest.mark.parametrize(
    "fields",
    [
        *({"code": one} for one in ("abcd", "a" * 32)),
        *({"hour": one} for one in (0, LAST_HOUR)),
        {"kind": VisitKind.BOT},
        {"count": MAX_COUNT},
        *({"names": {REFERRER: one}} for one in ("", "a" * 253, "españa.example")),
        {"names": {}},
        {"names": {REFERRER: "a.example", BROWSER: "a" * 64}},
    ],
)
def test_visits_of_any_hour_kind_and_host_are_taken(fields: dict[str, Any]) -> None:
    check_batch(replace(BATCH, visits=(replace(VISIT, **fields),)))


@pytest.mark.parametrize(
    "fields",
    [
        *({"code": one} for one in ("", "abc", "a" * 33, "abcdefg\n")),
        *({"hour": one} for one in (-1, LAST_HOUR + 1)),
        *({"count": one} for one in (0, -1, MAX_COUNT + 1)),
        *({"names": {REFERRER: one}} for one in ("a" * 254, "a\x00b", "a\nb", "a\x85b")),
        {"names": {REFERRER: "a.example", BROWSER: "a" * 65}},
        {"names": {BROWSER: "a\nb"}},
    ],
)
def test_one_bad_row_refuses_its_batch(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidBatch) as refused:
        check_batch(replace(BATCH, visits=(VISIT, replace(VISIT, **fields))))
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
        (MAX_NAMES - 1, {"b": 2, "*": 4}),  # The more frequent one has the last place.
    ],
)
def test_new_names_take_free_places(known: int, counted: dict[str, int]) -> None:
    there = {f"known {n}": 10**6 for n in range(known)}
    assert count_names({"a": 1, "b": 2, "*": 3}, there, Random(1)) == (counted, {})
    assert count_names(there, there, Random(1)) == (there, {})


class Referrers:
    """Names of a link's day as a store keeps them, fed by batches of `size` visits."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.names: dict[str, int] = {}
        self._size = size
        self._random = Random(seed)

    def visit(self, *names: str) -> None:
        for start in range(0, len(names), self._size):
            added = Counter(names[start : start + self._size])
            counted, evicted = count_names(added, self.names, self._random)
            for name, people in evicted.items():
                assert self.names.pop(name) == people
                assert name not in counted
            for name, people in counted.items():
                self.names[name] = self.names.get(name, 0) + people
            assert len(self.names.keys() - {"*"}) <= MAX_NAMES

    def counted(self, names: Iterable[str]) -> dict[str, int]:
        return {name: self.names.get(name, 0) for name in names}


REAL = [f"real{n}.example" for n in range(10)]


@pytest.mark.parametrize("size", [1, 7, 500])
@pytest.mark.parametrize("times", [1, 3, 10])
def test_referrers_with_many_visits_are_listed_whatever_came_first(times: int, size: int) -> None:
    """100 invented names come first, and 5,000 more among 5,000 visits of 10 real referrers."""
    for seed in range(3):
        referrers = Referrers(size, seed)
        referrers.visit(*(f"invented{n}.example" for n in range(MAX_NAMES) for _ in range(times)))
        visits = REAL * 500 + [f"more{n}.example" for n in range(5000)]
        Random(seed).shuffle(visits)
        referrers.visit(*visits)
        assert sum(referrers.names.values()) == MAX_NAMES * times + len(visits)
        assert min(referrers.counted(REAL).values()) > 300
        assert max(referrers.counted(REAL).values()) <= 500, "never more than there were"


@pytest.mark.parametrize("size", [1, 7, 500])
def test_a_flood_of_invented_names_evicts_no_established_referrer(size: int) -> None:
    for seed in range(3):
        referrers = Referrers(size, seed)
        referrers.visit(*REAL * 50)
        referrers.visit(*(f"invented{n // 2}.example" for n in range(20_000)))
        assert referrers.counted(REAL) == dict.fromkeys(REAL, 50)
        assert sum(referrers.names.values()) == 20_500


def test_names_above_the_limit_are_removed() -> None:
    there = {f"known {n}": n + 1 for n in range(MAX_NAMES + 2)} | {"*": 5}
    # With the visit that is added, both of the least frequent have two people.
    assert count_names({"known 0": 1}, there, Random(1)) == (
        {"*": 4},
        {"known 0": 1, "known 1": 2},
    )


def test_a_batch_makes_the_same_choices_again() -> None:
    there = dict.fromkeys([f"known {n}" for n in range(MAX_NAMES)], 2)
    new = {f"new {n}": 1 for n in range(50)}
    first = count_names(new, there, random_of(BATCH))
    assert first[1]
    assert count_names(new, there, random_of(BATCH)) == first
    assert count_names(new, there, random_of(replace(BATCH, number=99))) != first


@pytest.mark.parametrize(("length", "stored"), [(100, True), (101, False), (253, False)])
def test_the_people_of_a_long_name_count_as_the_others(length: int, stored: bool) -> None:
    host = "a" * length
    visit = replace(VISIT, names={Dimension.REFERRER: host, BROWSER: "Firefox"}, count=3)
    check_batch(replace(BATCH, visits=(visit,)))
    (added,) = sums_of(replace(BATCH, visits=(visit, visit))).values()
    assert added.names[Dimension.REFERRER] == {host if stored else "*": 6}
    assert added.names[BROWSER] == {"Firefox": 6}


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
